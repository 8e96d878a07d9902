//! Stacks from their beginning to their end, as a client sees them.

use crate::world::World;
use serde_json::json;

const HELLO: &str = r#"
heat_template_version: 2021-04-16
description: One random string and a value derived from it
parameters:
  length: {type: number, default: 8}
  password: {type: string, hidden: true, default: canary-4711}
resources:
  secret:
    type: OS::Heat::RandomString
    properties: {length: {get_param: length}}
  echo:
    type: OS::Heat::Value
    properties: {value: {str_replace: {template: "it is X", params: {X: {get_attr: [secret, value]}}}}}
outputs:
  text: {description: What it is, value: {get_attr: [echo, value]}}
"#;

#[tokio::test]
async fn a_stack_is_made_shown_and_deleted() {
    let world = World::new();
    let path = world.create("hello", HELLO).await;

    let shown = world.get(&path).await.json()["stack"].clone();
    assert_eq!(shown["stack_status"], "CREATE_COMPLETE");
    assert_eq!(shown["stack_status_reason"], "Stack CREATE completed successfully");
    assert_eq!(shown["description"], "One random string and a value derived from it");
    assert_eq!(shown["parameters"]["length"], "8");
    assert_eq!(shown["parameters"]["password"], "******");
    assert_eq!(shown["parameters"]["OS::stack_name"], "hello");
    assert_eq!(shown["disable_rollback"], true);
    assert_eq!(shown["timeout_mins"], json!(null));
    let href = shown["links"][0]["href"].as_str().unwrap();
    assert_eq!(href, format!("http://kiln.example:8004/v1{path}"));

    let found = world.get("/demo/stacks/hello").await;
    assert_eq!(found.status, 302);
    assert_eq!(found.header("location"), href);
    let found = world.get("/demo/stacks/hello/resources?type=Value").await;
    assert_eq!(found.header("location"), format!("{href}/resources?type=Value"));

    let deleted = world.send("demo", "DELETE", &path, None).await;
    assert_eq!((deleted.status, deleted.text.as_str()), (204, ""));
    world.rest(&path).await;
    assert_eq!(world.status(&path).await, "DELETE_COMPLETE");
    assert_eq!(world.get("/demo/stacks/hello").await.status, 404);
    assert_eq!(world.send("demo", "DELETE", &path, None).await.status, 404);
}

#[tokio::test]
async fn outputs_tell_of_nested_stacks_as_a_whole_and_of_no_holder_where_there_is_none() {
    let world = World::new();
    let template = "heat_template_version: rocky
resources: {n: {type: child.yaml}}
outputs:
  all: {value: {get_attr: [n]}}
  facade: {value: {resource_facade: metadata}}
";
    let child = "heat_template_version: rocky
resources: {v: {type: OS::Heat::Value, properties: {value: 1}}}
outputs: {a: {value: 1}, b: {value: {get_attr: [v, value]}}}
";
    let files = json!({"child.yaml": child});
    let body = json!({"stack_name": "s", "template": template, "files": files});
    let path = world.create_with(body).await;
    let output = async |name: &str| {
        let shown = world.get(&format!("{path}/outputs/{name}")).await.json();
        shown["output"].clone()
    };
    assert_eq!(output("all").await["output_value"], json!({"a": 1, "b": 1}));
    let facade = output("facade").await;
    assert_eq!(facade["output_value"], json!(null));
    assert!(facade["output_error"].is_string(), "{facade}");
}
