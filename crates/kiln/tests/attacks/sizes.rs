//! Stacks with too many resources, and with too much to keep.

use super::Target;
use crate::cloud::kiln_process::{KilnProcess, Who};
use crate::cloud::life::{delete, ended, path};
use crate::cloud::signals::create;
use crate::cloud::users::User;
use serde_json::json;

/// A stack of 40 groups with 40 members each, where 1000 resources are allowed.
const GRID: &str = "
heat_template_version: 2021-04-16
resources:
  grid:
    type: OS::Heat::ResourceGroup
    properties:
      count: 40
      resource_def:
        type: OS::Heat::ResourceGroup
        properties: {count: 40, resource_def: {type: OS::Heat::None}}
";

const SMALL: &str = "{heat_template_version: 2021-04-16, resources: {n: {type: 'OS::Heat::None'}}}";

/// Groups of groups in every request that has a template.
pub(super) async fn groups_of_groups_are_refused(kiln: &KilnProcess) {
    create(kiln, "small", SMALL).await;
    ended(kiln, Who::Demo, "small", "CREATE_COMPLETE").await.expect("created");
    let stack = path(kiln, Who::Demo, "small").await;
    let (body, new) =
        (json!({ "template": GRID }), json!({ "template": GRID, "stack_name": "grid" }));
    for (method, path, body) in [
        ("POST", "/stacks", &new),
        ("POST", "/stacks/preview", &new),
        ("POST", "/validate", &body),
        ("PUT", &*stack, &body),
        ("PUT", &*format!("{stack}/preview"), &body),
    ] {
        let reply = kiln.ask(Who::Demo, method, path, Some(body.clone())).await;
        assert_eq!(reply.status, 400, "{method} {path}");
        assert_eq!(reply.body["error"]["type"], "RequestLimitExceeded", "{method} {path}");
    }
    delete(kiln, Who::Demo, "small").await.expect("deleted");
}

/// A value of 10 MiB, made of a parameter of 256 KiB, and 30 copies of it.
pub(super) async fn large_values_are_not_kept(target: &Target) {
    let kiln = &target.kiln;
    let before = target.size();
    let parts = ["{get_param: p}"; 40].join(", ");
    let mut template = format!(
        "heat_template_version: 2021-04-16\nparameters: {{p: {{type: string}}}}\nresources:\n  \
         big: {{type: OS::Heat::Value, properties: {{value: {{list_join: ['', [{parts}]]}}}}}}\n"
    );
    for copy in 0..30 {
        template += &format!(
            "  copy{copy}: {{type: OS::Heat::Value, properties: {{value: {{get_attr: [big, value]}}}}}}\n"
        );
    }
    let body = json!({
        "stack_name": "large", "template": template, "parameters": { "p": "x".repeat(256 << 10) },
    });
    for path in ["/validate", "/stacks/preview"] {
        let reply = kiln.ask(Who::Demo, "POST", path, Some(body.clone())).await;
        let message = reply.body["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(reply.status, 400, "{path}: {message}");
        assert!(
            message.contains("the limit [kiln] max_value_bytes is 4194304"),
            "{path}: {message}"
        );
    }
    assert_eq!(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await.status, 201);
    let (status, reason) = kiln.rest(Who::Demo, "large").await.expect("a stack");
    assert_eq!(status, "CREATE_FAILED");
    assert!(reason.contains("the limit [kiln] max_value_bytes is 4194304"), "{reason}");
    let grown = target.size().saturating_sub(before);
    assert!(grown < 16 << 20, "the database has {grown} bytes more");
    delete(kiln, Who::Demo, "large").await.expect("deleted");
}

/// Signals of 200 KB each to one handle, until one is refused.
pub(super) async fn signals_are_limited(kiln: &KilnProcess) {
    let user = User::member(kiln, "wanda").await;
    let template = "
heat_template_version: 2021-04-16
resources:
  h: {type: OS::Heat::WaitConditionHandle}
  w: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: h}, count: 1000, timeout: 3600}}
";
    let body = json!({ "stack_name": "signals", "template": template });
    let made = user.ask(kiln, "POST", "/stacks", Some(body)).await.body;
    let handle =
        format!("/stacks/signals/{}/resources/h", made["stack"]["id"].as_str().expect("an id"));
    let mut accepted = 0;
    let refusal = loop {
        let details = json!({ "id": accepted.to_string(), "data": "x".repeat(200 << 10) });
        let reply = user.ask(kiln, "POST", &format!("{handle}/signal"), Some(details)).await;
        match reply.status {
            200 => accepted += 1,
            // The handle may have yet to be created.
            404 => {}
            _ => break reply,
        }
        assert!(accepted < 50, "the handle takes all signals");
    };
    assert_eq!(refusal.status, 400, "{}", refusal.body);
    let message = refusal.body["error"]["message"].as_str().expect("a message");
    assert!(message.contains("[kiln] max_signal_bytes_per_resource is 1048576"), "{message}");
    let metadata = user.ask(kiln, "GET", &format!("{handle}/metadata"), None).await.body;
    assert!(metadata["metadata"].as_object().expect("signals").len() <= 5);
}

/// A service answers with a value of 5 MiB.
pub(super) async fn large_answers_are_not_kept(kiln: &KilnProcess) {
    const NET: &str =
        "{heat_template_version: 2021-04-16, resources: {n: {type: 'OS::Neutron::Net'}}}";
    create(kiln, "answers", NET).await;
    ended(kiln, Who::Demo, "answers", "CREATE_COMPLETE").await.expect("created");
    let stack = path(kiln, Who::Demo, "answers").await;
    let shown = kiln.ask(Who::Demo, "GET", &format!("{stack}/resources/n"), None).await.body;
    let id = shown["resource"]["physical_resource_id"].as_str().expect("an id").to_owned();
    kiln.meddle("network/networks", &id, json!({ "description": "x".repeat(5 << 20) })).await;
    // The reply to a change is the whole object.
    const CHANGED: &str = "{heat_template_version: 2021-04-16, resources: {n: {type: 'OS::Neutron::Net', \
                           properties: {admin_state_up: false}}}}";
    let change = Some(json!({ "template": CHANGED }));
    let asked = kiln.ask(Who::Demo, "PUT", &stack, change).await;
    assert_eq!(asked.status, 202, "{}", asked.body);
    let (status, reason) = kiln.rest(Who::Demo, "answers").await.expect("a stack");
    assert_eq!(status, "UPDATE_FAILED");
    assert!(reason.contains("the limit [kiln] max_value_bytes is 4194304"), "{reason}");
    delete(kiln, Who::Demo, "answers").await.expect("deleted");
}
