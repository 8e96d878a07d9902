//! The order of members: clients print what they get in the order in which they get it.

use crate::test_api::TestApi;
use kiln_engine::{Config, SharedGlobalEnvironment};
use kiln_template::environment::GlobalEnvironment;
use serde_json::{Value as Json, json};
use std::sync::Arc;

const TEMPLATE: &str = r#"
heat_template_version: 2021-04-16
parameters: {size: {type: number, default: 3}}
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties: {count: 2, resource_def: {type: child.yaml}}
  single: {type: child.yaml, properties: {n: 7}}
  word: {type: OS::Heat::RandomString, properties: {length: {get_param: size}}}
outputs: {word: {value: {get_attr: [word, value]}}}
"#;

const CHILD: &str = r#"
heat_template_version: 2021-04-16
description: One word
parameters: {n: {type: number, default: 5}}
resources: {inner: {type: OS::Heat::RandomString, properties: {length: {get_param: n}}}}
"#;

fn body() -> Json {
    json!({"stack_name": "s", "template": TEMPLATE, "files": {"child.yaml": CHILD}})
}

/// Asserts that members come in this order.
#[track_caller]
fn in_order(text: &str, names: &[&str]) {
    let mut rest = text;
    for name in names {
        let at = rest.find(&format!("\"{name}\": "));
        rest = &rest[at.unwrap_or_else(|| panic!("{name} does not follow in {text}"))..];
    }
}

#[tokio::test]
async fn stacks_resources_and_events_are_printed_as_ever() {
    let api = TestApi::new();
    let path = api.create_with(body()).await;
    let shown = api.get(&path).await.text;
    in_order(&shown, &["deletion_time", "notification_topics", "capabilities"]);
    in_order(&shown, &["disable_rollback", "timeout_mins", "stack_owner", "parent"]);
    in_order(&shown, &["parent", "stack_user_project_id", "tags"]);
    let shown = api.get(&format!("{path}/resources/word")).await.text;
    in_order(&shown, &["updated_time", "creation_time", "logical_resource_id", "resource_name"]);
    in_order(&shown, &["resource_name", "physical_resource_id", "resource_status"]);
    in_order(&shown, &["resource_type", "links", "required_by", "description", "attributes"]);
    let shown = api.get(&format!("{path}/resources/word/events?limit=1")).await.text;
    in_order(&shown, &["id", "links", "event_time", "logical_resource_id", "resource_name"]);
    in_order(&shown, &["resource_name", "physical_resource_id", "resource_status"]);
}

#[tokio::test]
async fn previews_and_documents_are_printed_as_ever() {
    let api = TestApi::new();
    let shown = api.send("demo", "POST", "/demo/stacks/preview", Some(body())).await.text;
    in_order(&shown, &["updated_time", "creation_time", "resource_name", "physical_resource_id"]);
    in_order(&shown, &["resource_type", "resource_identity", "stack_identity", "stack_name"]);
    in_order(&shown, &["required_by", "metadata", "attributes", "properties"]);
    let path = api.create_with(body()).await;
    let document = ["name", "id", "action", "environment", "resource_registry", "parameters"];
    let exported = api.get(&format!("{path}/export")).await.text;
    in_order(&exported, &document);
    in_order(&exported, &["parameter_defaults", "event_sinks", "files", "status", "template"]);
    let taken = format!("{path}/snapshots");
    let id = api.send("demo", "POST", &taken, Some(json!({}))).await.json()["id"].clone();
    api.rest(&path).await;
    let shown = api.get(&format!("{taken}/{}", id.as_str().unwrap())).await;
    in_order(&shown.text, &document);
    let data = &shown.json()["snapshot"]["data"];
    assert_eq!((&data["action"], &data["status"]), (&json!("SNAPSHOT"), &json!("COMPLETE")));
    assert_eq!(data["environment"].get("encrypted_param_names"), None);
}

#[tokio::test]
async fn functions_are_listed_as_they_came_into_the_language() {
    let api = TestApi::new();
    let path = "/demo/template_versions/heat_template_version.2021-04-16/functions";
    let shown = api.get(&format!("{path}?with_condition_func=true")).await.json();
    let names: Vec<&str> = shown["template_functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["functions"].as_str().unwrap())
        .collect();
    assert_eq!(names[..3], ["get_attr", "get_file", "get_param"]);
    assert_eq!(names[names.len() - 5..], ["contains", "equals", "not", "and", "or"]);
}

#[tokio::test]
async fn a_type_has_its_show_attribute_in_the_template_made_of_it() {
    let api = TestApi::new();
    let path = "/demo/resource_types/OS::Heat::RandomString/template?template_type=hot";
    let shown = api.get(path).await;
    let value = &shown.json()["outputs"]["show"]["value"];
    assert_eq!(*value, json!({"get_attr": ["RandomString", "show"]}));
    in_order(&shown.text, &["parameters", "outputs", "resources"]);
}

#[tokio::test]
async fn validation_tells_what_nested_templates_ask_for() {
    let api = TestApi::new();
    let mut request = body();
    request["environment"] = json!({"parameter_defaults": {"n": 9}});
    let path = "/demo/validate";
    let shown = api.send("demo", "POST", path, Some(request.clone())).await;
    assert_eq!(shown.json().get("NestedParameters"), None);
    in_order(&shown.text, &["resource_registry", "parameters", "parameter_defaults"]);
    let path = "/demo/validate?show_nested=true";
    let shown = api.send("demo", "POST", path, Some(request)).await;
    in_order(&shown.text, &["Parameters", "NestedParameters", "Environment"]);
    let parameter = |value: Option<i64>| {
        let mut told = json!({
            "Type": "Number", "Description": "", "NoEcho": "false", "Label": "n", "Default": 9,
        });
        if let Some(value) = value {
            told["Value"] = json!(value);
        }
        json!({"Type": "child.yaml", "Description": "One word", "Parameters": {"n": told}})
    };
    let expected = json!({
        "single": parameter(Some(7)),
        "group": {
            "Type": "OS::Heat::ResourceGroup",
            "Description": "No description",
            "Parameters": {},
            "NestedParameters": {"0": parameter(None)},
        },
    });
    assert_eq!(shown.json()["NestedParameters"], expected);
}

/// Templates may use such a name, so the reference shows the type under it as well.
#[tokio::test]
async fn a_type_is_shown_under_its_other_names() {
    let aliases = [("OS::Older*", "OS::Heat*")];
    let global = GlobalEnvironment::from_aliases(aliases);
    let global = Arc::new(SharedGlobalEnvironment::new(global));
    let api = TestApi::new().with_config(|config| Config { global, ..config }).await;
    let shown = async |name: &str| api.get(&format!("/demo/resource_types/{name}")).await;
    let own = shown("OS::Heat::RandomString").await.json();
    let alias = shown("OS::Older::RandomString").await.json();
    assert_eq!(alias["resource_type"], "OS::Older::RandomString");
    assert_eq!(alias["properties"], own["properties"]);
    assert_eq!(alias["attributes"], own["attributes"]);
    assert_eq!(shown("OS::Older::Nothing").await.status, 404);
}
