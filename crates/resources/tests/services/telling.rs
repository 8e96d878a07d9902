//! What tells others: alarms, messages, workflows.

use super::rest::Rest;
use super::{drive, kind, made, refusal};
use crate::driving::Seam;
use kiln_cloud::Method;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::Value;
use kiln_resources::op::Demand;
use serde_json::json;

// --- alarms ---

#[test]
fn an_alarm_is_sent_as_a_whole() {
    let name = "OS::Aodh::Alarm";
    let mut world = Rest::of(kind(name).behaviour.rest.as_deref());
    let properties = r#"{"meter_name": "cpu_util", "threshold": 5, "alarm_actions": ["http://a", "", null],
        "alarm_queues": ["q 1"], "matching_metadata": {"metadata.metering.group": 7}}"#;
    let mut drive = made(name, properties, &mut world);
    let alarm = world.only("/alarms").clone();
    assert_eq!(alarm["name"], "stack-x-abcdefghijkl");
    assert_eq!(alarm["type"], "threshold");
    assert_eq!(alarm["enabled"], true);
    assert_eq!(alarm["alarm_actions"], json!(["http://a", "trust+zaqar://?queue_name=q%201"]));
    let query = json!([{ "field": "metadata.user_metadata.group", "op": "eq", "value": "7" }]);
    assert_eq!(alarm["threshold_rule"]["query"], query);
    for (operation, enabled) in [(OperationKind::Suspend, false), (OperationKind::Resume, true)] {
        drive.context.journal = Default::default();
        drive.run(kind(name), operation, &mut world);
        assert_eq!(world.only("/alarms")["enabled"], enabled, "{operation:?}");
    }
}

// --- messages ---

#[test]
fn a_signed_url_lasts_as_long_as_was_asked_for() {
    let signed = json!({ "signature": "abc", "expires": "2026-11-16T01:57:38", "paths": ["/v2/queues/q/messages"],
                         "methods": ["GET", "POST"], "project": "p" });
    let mut world = Rest::default();
    world.answers = vec![(Method::Post, "/queues/q/share", signed)];
    let drive = made("OS::Zaqar::SignedQueueURL", r#"{"queue": "q", "ttl": 3600}"#, &mut world);
    let Some(Demand::Call { call, .. }) = drive.demands.first() else {
        panic!("nothing is signed")
    };
    assert_eq!(call.request.body, Some(json!({ "expires": "2026-11-16T01:57:38" })));
    let shown = drive.shown.as_map().expect("something is shown");
    let Some(Value::Secret(query)) = shown.get("query_str") else { panic!("no query: {shown:?}") };
    let query = query.expose().as_text().expect("a text");
    assert!(
        query.starts_with("signature=abc&expires=2026-11-16T01%3A57%3A38&paths=")
            && query.contains("&methods=GET%2CPOST&project_id=p&"),
        "{query}"
    );
}

#[test]
fn subscribers_have_an_address_that_can_be_told() {
    let told =
        "The subscriber type of must be one of: http, https, mailto, trust+http, trust+https.";
    let refusal =
        |it: &str| refusal("OS::Zaqar::Subscription", &format!(r#"{{"subscriber": "{it}"}}"#));
    assert_eq!(refusal("ftp://a").as_deref(), Some(told));
    assert_eq!(refusal("mailto:a@b.c"), None);
}

// --- workflows ---

#[test]
fn an_external_resource_is_what_workflows_make_of_it() {
    let name = "OS::Mistral::ExternalResource";
    let output = r#"{"resource_id": "outside-7", "address": "10.0.0.7"}"#;
    let properties = r#"{"actions": {"CREATE": {"workflow": "make", "params": {}}, "DELETE": {"workflow": "unmake"}},
        "input": {"size": 1}}"#;
    for at in 0..4 {
        for seam in [Seam::Before(at), Seam::After(at)] {
            let mut world = Rest::default();
            let ended = json!({ "state": "SUCCESS", "output": output });
            world.answers = vec![(Method::Get, "/executions/", ended)];
            let mut drive = drive(kind(name), properties);
            drive.run_through(kind(name), OperationKind::Create, &mut world, seam);
            assert_eq!(drive.result(), &Ok(()), "{seam:?}");
            assert_eq!(drive.context.physical_id.as_deref(), Some("outside-7"), "{seam:?}");
            assert_eq!(world.summary().len(), 1, "{seam:?}: {:?}", world.told);
            let made = world.summary()[0].1.clone();
            assert_eq!(
                (&made["workflow_name"], &made["input"]),
                (&json!("make"), &json!({ "size": 1 }))
            );
            drive.context.journal = Default::default();
            drive.run(kind(name), OperationKind::Delete, &mut world);
            let all = world.summary();
            let last =
                all.iter().find(|it| it.1["workflow_name"] == "unmake").expect("it is unmade");
            assert_eq!(last.1["params"]["env"]["heat_extresource_data"]["address"], "10.0.0.7");
            assert_eq!(drive.context.physical_id, None);
        }
    }
}

#[test]
fn a_workflow_that_fails_fails_its_resource() {
    let name = "OS::Mistral::ExternalResource";
    let mut world = Rest::default();
    let ended = json!({ "state": "ERROR", "state_info": "no luck" });
    world.answers = vec![(Method::Get, "/executions/", ended)];
    let drive = made(name, r#"{"actions": {"CREATE": {"workflow": "make"}}}"#, &mut world);
    assert_eq!(drive.what_failed(), "ResourceInError: Went to status ERROR due to \"no luck\"");
}
