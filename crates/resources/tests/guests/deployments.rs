//! Deployments: what a server gets, what it answers, and what comes of that.

use super::cloud::Cloud;
use super::{comes_and_goes, drive, kind};
use crate::driving::Drive;
use crate::stack::{Stack, json, members, view};
use kiln_resources::behaviour::{OperationKind, Signal, View};
use kiln_resources::declare::{Members, Value};
use kiln_resources::op::{OpError, Sibling};
use serde_json::{Value as Json, json as literal};

const KIND: &str = "OS::Heat::SoftwareDeployment";

fn properties(more: &str) -> Members {
    let mut all = members(
        r#"{"server": "s1", "config": "source", "actions": ["CREATE", "UPDATE"],
            "input_values": {"word": "hi", "more": 1, "disk": "d"}, "signal_transport": "CFN_SIGNAL"}"#,
    );
    all.extend(members(more));
    all
}

/// A server that answers at once.
fn answering(answer: &str) -> Cloud {
    let shows = vec![json(r#"{"status": "IN_PROGRESS"}"#), json(answer)];
    Cloud { shows, ..Cloud::default() }
}

const WELL: &str = r#"{"status": "COMPLETE", "reason": "Outputs received",
                       "outputs": {"result": "42", "deploy_stdout": "hi"}}"#;

fn well() -> Cloud {
    answering(WELL)
}

#[test]
fn a_deployment_without_input_values_has_an_empty_map_of_them() {
    let (mut drive, mut cloud) = (drive(properties(r#"{"input_values": null}"#)), well());
    drive.run(&kind(KIND), OperationKind::Create, &mut cloud);
    assert_eq!(drive.result(), &Ok(()));
    assert_eq!(cloud.one("deployment")["input_values"], literal!({}));
}

fn input<'c>(config: &'c Json, name: &str) -> &'c Json {
    let mut inputs = config["inputs"].as_array().expect("inputs").iter();
    inputs.find(|input| input["name"] == name).map_or(&Json::Null, |input| &input["value"])
}

#[test]
fn a_server_gets_a_configuration_with_all_that_it_needs() {
    let (mut drive, mut cloud) = (drive(properties("{}")), well());
    drive.run(&kind(KIND), OperationKind::Create, &mut cloud);
    assert_eq!(drive.result(), &Ok(()));
    let config = &cloud.one("config")["software_config"];
    assert_eq!((&config["name"], &config["group"]), (&"install".into(), &"script".into()));
    assert_eq!(config["config"], "echo $word");
    let names: Vec<&str> = config["inputs"]
        .as_array()
        .expect("inputs")
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "word",
            "disk",
            "more",
            "deploy_server_id",
            "deploy_action",
            "deploy_stack_id",
            "deploy_resource_name",
            "deploy_signal_transport",
            "deploy_signal_id",
            "deploy_signal_verb"
        ]
    );
    assert_eq!(input(config, "word"), "hi");
    assert_eq!(input(config, "deploy_stack_id"), "web/00000000-0000-0000-0000-000000000007");
    assert_eq!(input(config, "deploy_signal_verb"), "POST");
    let row = cloud.one("deployment");
    assert_eq!((&row["server_id"], &row["action"]), (&"s1".into(), &"CREATE".into()));
    assert_eq!(
        (&row["status"], &row["status_reason"]),
        (&"COMPLETE".into(), &"Outputs received".into())
    );
    assert_eq!(row["output_values"]["result"], "42");
    assert_eq!(row["stack_user_project_id"], "project-1");
    let (none, stack) = (Members::new(), Stack::default());
    let view = View { data: &drive.context.data, ..view("x", &none, &stack) };
    let told = |name: &str| kind(KIND).behaviour.attribute.expect("attributes")(&view, name, &[]);
    assert_eq!(told("result"), Ok(Some("42".into())));
    assert_eq!(told("deploy_stderr"), Ok(Some(Value::Null)));
    for name in ["unknown", "show"] {
        let fault = told(name).expect_err("no output of this name");
        assert_eq!(fault.message, format!("The Referenced Attribute (x {name}) is incorrect."));
    }
}

#[test]
fn every_way_to_answer_tells_what_it_takes() {
    for (transport, wanted) in [
        (
            "HEAT_SIGNAL",
            &["deploy_auth_url", "deploy_user_id", "deploy_password", "deploy_project_id"][..],
        ),
        ("TEMP_URL_SIGNAL", &["deploy_signal_id", "deploy_signal_verb"]),
        ("ZAQAR_SIGNAL", &["deploy_queue_id", "deploy_username", "deploy_region_name"]),
        ("NO_SIGNAL", &[]),
    ] {
        let mut cloud = Cloud { letter: Some(literal!({ "result": "42" })), ..well() };
        let mut drive = drive(properties(&format!(r#"{{"signal_transport": "{transport}"}}"#)));
        drive.run(&kind(KIND), OperationKind::Create, &mut cloud);
        assert_eq!(drive.result(), &Ok(()), "{transport}");
        let config = &cloud.one("config")["software_config"];
        for name in wanted {
            assert!(input(config, name).is_string(), "{transport}: {name}");
        }
        assert_eq!(input(config, "deploy_domain_id"), &Json::Null);
    }
}

#[test]
fn deployments_come_and_go_wherever_they_were_interrupted() {
    for transport in ["CFN_SIGNAL", "HEAT_SIGNAL", "TEMP_URL_SIGNAL", "ZAQAR_SIGNAL", "NO_SIGNAL"] {
        let properties = properties(&format!(r#"{{"signal_transport": "{transport}"}}"#));
        comes_and_goes(KIND, &properties, &well);
    }
    let undone = properties(r#"{"actions": ["CREATE", "DELETE"]}"#);
    comes_and_goes(KIND, &undone, &well);
}

fn created(cloud: &mut Cloud) -> Drive {
    let mut drive = drive(properties("{}"));
    drive.run(&kind(KIND), OperationKind::Create, cloud);
    assert_eq!(drive.result(), &Ok(()));
    drive.context.journal = Default::default();
    drive
}

#[test]
fn an_update_deploys_anew_and_forgets_what_was_before() {
    let mut cloud = well();
    let mut drive = created(&mut cloud);
    let before = drive.context.data["asked"].clone();
    drive.context.properties =
        properties(r#"{"input_values": {"word": "new", "disk": "d"}}"#).into();
    drive.run(&kind(KIND), OperationKind::Update, &mut cloud);
    assert_eq!(drive.result(), &Ok(()));
    assert_ne!(drive.context.data["asked"], before);
    let config = &cloud.one("config")["software_config"];
    assert_eq!(
        (input(config, "word"), input(config, "deploy_action")),
        (&"new".into(), &"UPDATE".into())
    );
    let mut drive = created(&mut well());
    drive.context.properties = properties(r#"{"input_values": {"disk": "other"}}"#).into();
    drive.run(&kind(KIND), OperationKind::Update, &mut well());
    assert_eq!(drive.result(), &Err(OpError::Replace), "an input says so");
    let mut drive = created(&mut well());
    drive.context.properties = properties(r#"{"actions": ["CREATE"]}"#).into();
    drive.run(&kind(KIND), OperationKind::Update, &mut Cloud::default());
    assert_eq!(drive.result(), &Ok(()), "it is not for updates");
}

#[test]
fn a_deployment_whose_operation_was_stopped_is_cancelled_unless_it_has_an_outcome() {
    for (status, is_cancelled) in [("IN_PROGRESS", true), ("COMPLETE", false)] {
        let mut cloud = well();
        let mut drive = created(&mut cloud);
        let id = drive.context.physical_id.clone().expect("an id").to_string();
        cloud.things.insert(("deployment", id), literal!({ "status": status }));
        drive.run(&kind(KIND), OperationKind::Cancel, &mut cloud);
        assert_eq!(drive.result(), &Ok(()));
        let row = cloud.one("deployment");
        let told = (&row["status"], &row["status_reason"]);
        let expected = (&"FAILED".into(), &"Deployment cancelled.".into());
        assert_eq!(told == expected, is_cancelled, "{row}");
    }
}

#[test]
fn a_failure_is_told_in_the_words_of_the_server() {
    let answer = r#"{"status": "FAILED", "reason": "deploy_status_code : Deployment exited with non-zero status code: 1",
                     "outputs": {"deploy_stderr": "boom\n"}}"#;
    let (mut drive, mut cloud) = (drive(properties("{}")), answering(answer));
    drive.run(&kind(KIND), OperationKind::Create, &mut cloud);
    assert_eq!(
        drive.failure(),
        "Error: Deployment to server failed: deploy_status_code : Deployment exited with non-zero status code: \
         1 (it said: boom)"
    );
    assert_eq!(cloud.one("deployment")["status"], "FAILED");
}

#[test]
fn a_signal_counts_while_it_is_waited_for() {
    let told = |data: &Members, details: &str, is_busy| {
        let (none, stack) = (Members::new(), Stack::default());
        let view = View { data, physical_id: Some("d1"), ..view("x", &none, &stack) };
        let signal = Signal { details: &json(details), now: 0, is_busy };
        kind(KIND).behaviour.signal.expect("signals")(&view, &signal).expect("heard")
    };
    let heard = |data: &Members, details: &str| told(data, details, true);
    let waiting = members(r#"{"status": "IN_PROGRESS", "declared": [{"name": "result"}]}"#);
    let good = heard(&waiting, r#"{"result": 1}"#);
    assert_eq!(good.reason.as_deref(), Some("deployment d1 succeeded"));
    assert_eq!(good.data["status"], "COMPLETE".into());
    let bad = heard(&waiting, r#"{"deploy_status_code": 2}"#);
    assert_eq!(bad.reason.as_deref(), Some("deployment d1 failed (2)"));
    let late = heard(&members(r#"{"status": "COMPLETE"}"#), r#"{"result": 2}"#);
    assert!(late.is_ignored && late.data.is_empty());
    // Before anything was asked of the server, while it is about to be: that is kept.
    let early = heard(&members("{}"), r#"{"result": 3}"#);
    assert_eq!((early.is_ignored, early.data.len()), (true, 1));
    assert!(told(&members("{}"), r#"{"result": 3}"#, false).data.is_empty(), "nothing is asked");
}

#[test]
fn a_signal_that_came_early_is_the_answer() {
    let shows = vec![json(
        r#"{"status": "IN_PROGRESS", "declared": [{"name": "result"}],
            "early": {"result": "42", "deploy_status_code": 0}}"#,
    )];
    let (mut drive, mut cloud) = (drive(properties("{}")), Cloud { shows, ..Cloud::default() });
    drive.run(&kind(KIND), OperationKind::Create, &mut cloud);
    assert_eq!(drive.result(), &Ok(()));
    let row = cloud.one("deployment");
    assert_eq!(
        (&row["status"], &row["output_values"]["result"]),
        (&"COMPLETE".into(), &"42".into())
    );
    assert_eq!(drive.context.data.get("early"), None);
}

#[test]
fn a_structure_has_its_inputs_filled_in() {
    let more = r#"{"input_key": "get_input", "input_values_validate": "LAX", "config": null}"#;
    let (mut drive, mut cloud) = (drive(properties(more)), well());
    drive.run(&kind("OS::Heat::StructuredDeployment"), OperationKind::Create, &mut cloud);
    assert_eq!(drive.result(), &Ok(()));
    assert_eq!(cloud.one("config")["software_config"]["config"], literal!({}));
}

#[test]
fn a_server_that_does_not_ask_is_sent_what_it_has_to_apply() {
    let mut server = drive(members(r#"{"software_config_transport": "POLL_TEMP_URL"}"#));
    let mut cloud = well();
    server.run(&kind("OS::Heat::DeployedServer"), OperationKind::Create, &mut cloud);
    assert_eq!(server.result(), &Ok(()));
    let (data, metadata) = (server.context.data.clone(), json(r#"{"own": 1}"#));
    cloud.sibling = Some(Sibling { data, metadata, ..Sibling::default() });
    let mut deployment = drive(properties("{}"));
    deployment.run(&kind(KIND), OperationKind::Create, &mut cloud);
    assert_eq!(deployment.result(), &Ok(()));
    let object = cloud.one("object").as_str().expect("a text");
    let object: Json = serde_json::from_str(object).expect("JSON");
    assert_eq!((&object["own"], &object["deployments"][0]["name"]), (&1.into(), &"install".into()));
}
