//! Handles, policies and users: what each way to signal gives, and that it goes again.

use super::cloud::Cloud;
use super::{comes_and_goes, drive, kind};
use crate::driving::Drive;
use crate::stack::{Stack, json, members, view};
use kiln_resources::behaviour::{OperationKind, View};
use kiln_resources::declare::{Members, Value};
use kiln_resources::op::Sibling;
use serde_json::Value as Json;

fn attribute(name: &str, drive: &Drive, attribute: &str) -> Value {
    let (properties, stack) = (Members::new(), Stack::default());
    let view = View { data: &drive.context.data, ..view("x", &properties, &stack) };
    let told = kind(name).behaviour.attribute.expect("attributes")(&view, attribute, &[]);
    told.expect("a good answer").expect("an attribute").exposed()
}

fn reference(name: &str, drive: &Drive) -> String {
    let (properties, stack) = (Members::new(), Stack::default());
    let view = View { data: &drive.context.data, ..view("x", &properties, &stack) };
    let told = kind(name).behaviour.reference.expect("a reference")(&view);
    told.exposed().as_text().expect("a text").to_string()
}

const HANDLE: &str = "OS::Heat::WaitConditionHandle";

fn handle(transport: &str) -> (Drive, Cloud) {
    let mut cloud = Cloud::default();
    let mut drive = drive(members(&format!(r#"{{"signal_transport": "{transport}"}}"#)));
    drive.run(&kind(HANDLE), OperationKind::Create, &mut cloud);
    assert_eq!(drive.result(), &Ok(()));
    (drive, cloud)
}

fn signal(transport: &str) -> Json {
    let (drive, _) = handle(transport);
    let told = attribute(HANDLE, &drive, "signal");
    serde_json::from_str(told.as_text().expect("a text")).expect("JSON")
}

#[test]
fn a_handle_tells_a_command_that_signals_it() {
    let (drive, cloud) = handle("TOKEN_SIGNAL");
    let url = "http://heat:8004/v1/project-1/stacks/web/00000000-0000-0000-0000-000000000007/resources/x/signal";
    assert_eq!(attribute(HANDLE, &drive, "endpoint"), url.into());
    assert_eq!(attribute(HANDLE, &drive, "token"), "tok".into());
    assert_eq!(attribute(HANDLE, &drive, "signal"), Value::Null);
    let command = format!(
        "curl -i -X POST -H 'X-Auth-Token: tok' -H 'Content-Type: application/json' -H 'Accept: \
         application/json' {url}"
    );
    assert_eq!(attribute(HANDLE, &drive, "curl_cli"), command.into());
    let user = cloud.one("user");
    assert_eq!(drive.context.physical_id.as_deref(), user["id"].as_str());
    assert_eq!(user["name"], "stack-x-abcdefghijkl");
    assert_eq!(
        (&user["role"], &user["default_project_id"]),
        (&"project-1".into(), &"project-1".into())
    );
    let project = cloud.one("project");
    assert_eq!(project["name"], "owner-00000000-0000-0000-0000-000000000007");
}

#[test]
fn every_way_to_signal_a_handle_tells_what_it_takes() {
    let cfn = signal("CFN_SIGNAL");
    let url = cfn["alarm_url"].as_str().expect("an address");
    assert!(
        url.starts_with(
            "http://cfn:8000/v1/signal/arn%3Aopenstack%3Aheat%3A%3Aowner%3Astacks/web/"
        )
    );
    assert!(!url.contains("Timestamp"), "it must not end before the wait does");
    let temp = signal("TEMP_URL_SIGNAL");
    let url = temp["alarm_url"].as_str().expect("an address");
    let path = "http://swift/v1/AUTH_a/00000000-0000-0000-0000-000000000007/stack-x-abcdefghijkl?";
    assert!(url.starts_with(path), "{url}");
    assert!(url.ends_with("&temp_url_expires=2147483647"), "{url}");
    let heat = signal("HEAT_SIGNAL");
    let names =
        ["auth_url", "username", "user_id", "password", "project_id", "domain_id", "region_name"];
    for name in names.iter().chain(&["alarm_url"]) {
        assert!(heat[*name].is_string(), "{name}: {heat}");
    }
    let queue = signal("ZAQAR_SIGNAL");
    assert_eq!(queue["queue_id"], "stack-x-abcdefghijkl");
    assert!(names.iter().all(|name| queue[*name].is_string()));
    assert_eq!(signal("NO_SIGNAL"), serde_json::json!({}));
}

#[test]
fn handles_come_and_go_wherever_they_were_interrupted() {
    for transport in [
        "TOKEN_SIGNAL",
        "CFN_SIGNAL",
        "HEAT_SIGNAL",
        "TEMP_URL_SIGNAL",
        "ZAQAR_SIGNAL",
        "NO_SIGNAL",
    ] {
        let properties = members(&format!(r#"{{"signal_transport": "{transport}"}}"#));
        comes_and_goes(HANDLE, &properties, &Cloud::default);
    }
    for name in [
        "AWS::CloudFormation::WaitConditionHandle",
        "OS::Heat::UpdateWaitConditionHandle",
        "OS::Heat::SwiftSignalHandle",
        "OS::Heat::ScalingPolicy",
        "AWS::AutoScaling::ScalingPolicy",
        "AWS::IAM::User",
    ] {
        comes_and_goes(name, &Members::new(), &Cloud::default);
    }
    for transport in ["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE"] {
        let properties = members(&format!(r#"{{"software_config_transport": "{transport}"}}"#));
        comes_and_goes("OS::Heat::DeployedServer", &properties, &Cloud::default);
    }
}

#[test]
fn a_signed_handle_is_called_by_its_address() {
    let name = "AWS::CloudFormation::WaitConditionHandle";
    let (mut drive, mut cloud) = (drive(Members::new()), Cloud::default());
    drive.run(&kind(name), OperationKind::Create, &mut cloud);
    let url = reference(name, &drive);
    assert!(url.starts_with("http://cfn:8000/v1/waitcondition/arn%3Aopenstack"), "{url}");
    drive.context.journal = Default::default();
    drive.run(&kind(name), OperationKind::Suspend, &mut cloud);
    assert_eq!(cloud.one("user")["enabled"], false);
    drive.context.journal = Default::default();
    drive.run(&kind(name), OperationKind::Resume, &mut cloud);
    assert_eq!(cloud.one("user")["enabled"], true);
    assert_eq!(reference(name, &drive), url, "it stays the same");
}

#[test]
fn a_key_belongs_to_the_user_it_is_for() {
    let (mut owner, mut cloud) = (drive(Members::new()), Cloud::default());
    owner.run(&kind("AWS::IAM::User"), OperationKind::Create, &mut cloud);
    let sibling = Sibling { data: owner.context.data.clone(), ..Sibling::default() };
    cloud.sibling = Some(sibling.clone());
    let mut foreign = drive(members(r#"{"UserName": "u"}"#));
    foreign.context.stack.users_project = Some("other".into());
    foreign.run(&kind("AWS::IAM::AccessKey"), OperationKind::Create, &mut cloud);
    assert!(foreign.failure().starts_with("NotFound: u is not a user of this stack"));
    assert!(!cloud.counts().contains_key("key"), "no key of another stack's user is made");
    let mut key = drive(members(r#"{"UserName": "u"}"#));
    key.context.stack.users_project = owner.context.stack.users_project.clone();
    key.run(&kind("AWS::IAM::AccessKey"), OperationKind::Create, &mut cloud);
    assert_eq!(key.result(), &Ok(()));
    let made = cloud.one("key");
    assert_eq!(Some(&made["user_id"]), cloud.one("user").get("id"));
    let blob: Json = serde_json::from_str(made["blob"].as_str().expect("a blob")).expect("JSON");
    assert_eq!(blob["access"].as_str(), key.context.physical_id.as_deref());
    let secret = attribute("AWS::IAM::AccessKey", &key, "SecretAccessKey");
    assert_eq!(blob["secret"].as_str(), secret.as_text().map(|it| &**it));
    key.context.journal = Default::default();
    key.run(&kind("AWS::IAM::AccessKey"), OperationKind::Delete, &mut cloud);
    assert!(!cloud.counts().contains_key("key"));
    let mut nobodys = drive(members(r#"{"UserName": "u"}"#));
    nobodys.run(&kind("AWS::IAM::AccessKey"), OperationKind::Create, &mut Cloud::default());
    assert_eq!(nobodys.failure(), "NotFound: could not find user u");
}

#[test]
fn conditions_look_into_mailboxes_of_handles() {
    for transport in ["TEMP_URL_SIGNAL", "ZAQAR_SIGNAL"] {
        let (handle, mut cloud) = handle(transport);
        cloud.sibling = Some(Sibling { data: handle.context.data.clone(), ..Sibling::default() });
        cloud.letter = Some(serde_json::json!({ "status": "SUCCESS", "data": "hi" }));
        let mut wait = drive(members(r#"{"handle": "h", "count": 1, "timeout": 60}"#));
        wait.run(&kind("OS::Heat::WaitCondition"), OperationKind::Create, &mut cloud);
        assert_eq!(wait.result(), &Ok(()), "{transport}");
        let told =
            json(r#"{"1": {"status": "SUCCESS", "reason": "Signal 1 received", "data": "hi"}}"#);
        assert_eq!(wait.others.last(), Some(&("h".into(), told)), "{transport}");
        cloud.letter = None;
        let mut wait = drive(members(r#"{"handle": "h", "count": 1, "timeout": 60}"#));
        wait.run(&kind("OS::Heat::WaitCondition"), OperationKind::Create, &mut cloud);
        assert_eq!(wait.failure(), "WaitConditionTimeout: 0 of 1 received", "{transport}");
    }
    let (handle, mut cloud) = handle("NO_SIGNAL");
    cloud.sibling = Some(Sibling { data: handle.context.data.clone(), ..Sibling::default() });
    let mut wait = drive(members(r#"{"handle": "h", "count": 3, "timeout": 60}"#));
    wait.run(&kind("OS::Heat::WaitCondition"), OperationKind::Create, &mut cloud);
    assert_eq!(wait.result(), &Ok(()));
}

#[test]
fn a_swift_signal_reads_what_lies_there() {
    let (mut handle, mut cloud) = (drive(Members::new()), Cloud::default());
    handle.run(&kind("OS::Heat::SwiftSignalHandle"), OperationKind::Create, &mut cloud);
    let url = reference("OS::Heat::SwiftSignalHandle", &handle);
    let curl = attribute("OS::Heat::SwiftSignalHandle", &handle, "curl_cli");
    assert_eq!(curl, format!("curl -i -X PUT '{url}'").into());
    cloud.sibling = Some(Sibling { data: handle.context.data.clone(), ..Sibling::default() });
    let wait = |cloud: &mut Cloud| {
        let mut wait = drive(members(r#"{"handle": "h", "count": 1, "timeout": 60}"#));
        wait.run(&kind("OS::Heat::SwiftSignal"), OperationKind::Create, cloud);
        wait
    };
    assert_eq!(wait(&mut cloud).failure(), "SwiftSignalTimeout: 0 of 1 received");
    cloud.letter = Some(serde_json::json!({ "data": 5 }));
    let done = wait(&mut cloud);
    assert_eq!(done.result(), &Ok(()));
    assert_eq!(attribute("OS::Heat::SwiftSignal", &done, "data"), r#"{"1": 5}"#.into());
    cloud.letter = Some(serde_json::json!({ "status": "FAILURE", "reason": "broken" }));
    assert_eq!(wait(&mut cloud).failure(), "SwiftSignalFailure: broken");
}
