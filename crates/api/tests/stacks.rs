//! Stacks from their beginning to their end, as a client sees them.

use crate::test_api::TestApi;
use serde_json::{Value, json};

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
    let api = TestApi::new();
    let path = api.create("hello", HELLO).await;

    let shown = api.get(&path).await.json()["stack"].clone();
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

    let found = api.get("/demo/stacks/hello").await;
    assert_eq!(found.status, 302);
    assert_eq!(found.header("location"), href);
    let found = api.get("/demo/stacks/hello/resources?type=Value").await;
    assert_eq!(found.header("location"), format!("{href}/resources?type=Value"));
    let found = api.get("/demo/stacks/hello/templates").await;
    assert_eq!(found.header("location"), format!("{href}/template"));

    let deleted = api.send("demo", "DELETE", &path, None).await;
    assert_eq!((deleted.status, deleted.text.as_str()), (204, ""));
    api.rest(&path).await;
    assert_eq!(api.status(&path).await, "DELETE_COMPLETE");
    assert_eq!(api.get("/demo/stacks/hello").await.status, 404);
    assert_eq!(api.send("demo", "DELETE", &path, None).await.status, 404);
}

/// The resources of a stack as the list shows them, and as the list with details does, without those.
async fn both_lists(api: &TestApi, path: &str) -> (Value, Value) {
    let list = async |query: &str| {
        let reply = api.get(&format!("{path}/resources{query}")).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let mut list = reply.json()["resources"].clone();
        for resource in list.as_array_mut().into_iter().flatten() {
            let members = resource.as_object_mut().expect("an object");
            members.remove("attributes");
            members.remove("description");
        }
        list
    };
    (list("").await, list("?with_detail=True").await)
}

#[tokio::test]
async fn a_list_shows_the_same_whether_much_is_read_for_it_or_little() {
    let api = TestApi::new();
    let template =
        |resources: &str| format!("heat_template_version: rocky\nresources: {resources}");
    let path = api
        .create(
            "s",
            &template("{a: {type: OS::Heat::None}, b: {type: OS::Heat::None, depends_on: a}}"),
        )
        .await;
    let mut seen = Vec::new();
    let steps = [
        ("UPDATE_COMPLETE", "{a: {type: OS::Heat::RandomString}, b: {type: OS::Heat::None}}"),
        // It fails before the type of the second one is changed.
        (
            "UPDATE_FAILED",
            "{a: {type: OS::Heat::TestResource, properties: {fail: true}}, \
             b: {type: OS::Heat::RandomString, depends_on: a}, c: {type: OS::Heat::None, depends_on: b}}",
        ),
        ("CHECK_FAILED", ""),
        ("SUSPEND_FAILED", ""),
        ("DELETE_COMPLETE", ""),
    ];
    let (few, all) = both_lists(&api, &path).await;
    assert_eq!(few, all);
    assert_eq!(few[0]["required_by"], json!(["b"]));
    for (state, resources) in steps {
        let action = state.split('_').next().unwrap_or_default().to_lowercase();
        let reply = match &*action {
            "update" => {
                let body = json!({"template": template(resources)});
                api.send("demo", "PUT", &path, Some(body)).await
            }
            "delete" => api.send("demo", "DELETE", &path, None).await,
            action => {
                let body = json!({action: null});
                api.send("demo", "POST", &format!("{path}/actions"), Some(body)).await
            }
        };
        assert!(reply.status < 300, "{reply:?}");
        api.rest(&path).await;
        assert_eq!(api.status(&path).await, state);
        let (few, all) = both_lists(&api, &path).await;
        assert_eq!(few, all, "{state}");
        let kinds = few.as_array().into_iter().flatten().map(|it| it["resource_type"].to_string());
        seen.push(kinds.collect::<Vec<_>>().join(" "));
    }
    assert_eq!(seen[0], r#""OS::Heat::None" "OS::Heat::RandomString""#);
    assert!(seen[1].contains("OS::Heat::None"), "{seen:?}");
}

#[tokio::test]
async fn outputs_tell_of_nested_stacks_as_a_whole_and_of_no_holder_where_there_is_none() {
    let api = TestApi::new();
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
    let path = api.create_with(body).await;
    let output = async |name: &str| {
        let shown = api.get(&format!("{path}/outputs/{name}")).await.json();
        shown["output"].clone()
    };
    assert_eq!(output("all").await["output_value"], json!({"a": 1, "b": 1}));
    let facade = output("facade").await;
    assert_eq!(facade["output_value"], json!(null));
    assert!(facade["output_error"].is_string(), "{facade}");
}

#[tokio::test]
async fn what_is_read_is_what_was_written_last() {
    let api = TestApi::new();
    let path = api.create("hello", HELLO).await;
    for length in [3, 5, 4] {
        let patch = json!({"parameters": {"length": length}});
        assert_eq!(api.send("demo", "PATCH", &path, Some(patch)).await.status, 202);
        let state = api.status(&path).await;
        assert!(state.starts_with("UPDATE_"), "{state}");
        api.rest(&path).await;
        let shown = api.get(&path).await.json()["stack"].clone();
        assert_eq!(shown["parameters"]["length"], length.to_string());
        let echo = api.get(&format!("{path}/resources/echo")).await.json()["resource"].clone();
        assert_eq!(shown["outputs"][0]["output_value"], echo["attributes"]["value"]);
        let text = shown["outputs"][0]["output_value"].as_str().unwrap().to_owned();
        assert_eq!(text.len(), "it is ".len() + length, "{text}");
        let output = api.get(&format!("{path}/outputs/text")).await.json();
        assert_eq!(output["output"]["output_value"], text);
    }
}

#[tokio::test]
async fn a_part_of_a_stack_is_shown_as_in_the_whole() {
    let api = TestApi::new();
    let template = "heat_template_version: rocky
resources:
  handle: {type: OS::Heat::WaitConditionHandle}
  told: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: handle}, timeout: 60}}
  one: {type: OS::Heat::Value, properties: {value: {get_attr: [told, data]}}}
  other: {type: OS::Heat::Value, properties: {value: 2}, depends_on: one}
outputs:
  heard: {value: {get_attr: [told, data]}}
  other: {value: {get_attr: [other, value]}}
";
    let body = json!({"stack_name": "s", "template": template});
    let made = api.send("demo", "POST", "/demo/stacks", Some(body)).await.json();
    let path = format!("/demo/stacks/s/{}", made["stack"]["id"].as_str().unwrap());
    // A resource that is not created yet is shown as well.
    let one = api.get(&format!("{path}/resources/one")).await.json()["resource"].clone();
    assert_eq!(one["resource_status"], "INIT_COMPLETE");
    let handle = format!("{path}/resources/handle");
    while api.get(&handle).await.json()["resource"]["resource_status"] != "CREATE_COMPLETE" {
        tokio::task::yield_now().await;
    }
    let signal = json!({"id": "1", "data": "hello", "status": "SUCCESS"});
    let url = format!("{handle}/signal");
    assert_eq!(api.send("demo", "POST", &url, Some(signal)).await.status, 200);
    api.rest(&path).await;

    let all = api.get(&format!("{path}/resources?with_detail=true")).await.json();
    for whole in all["resources"].as_array().unwrap() {
        let name = whole["resource_name"].as_str().unwrap();
        let part = api.get(&format!("{path}/resources/{name}")).await.json();
        assert_eq!(part["resource"], *whole);
    }
    assert_eq!(api.get(&format!("{path}/resources/nothing")).await.status, 404);
    // The attribute of one resource is the data that another one was signalled with.
    let heard = api.get(&format!("{path}/outputs/heard")).await.json();
    assert_eq!(heard["output"]["output_value"], r#"{"1": "hello"}"#);
    let shown = api.get(&path).await.json()["stack"]["outputs"].clone();
    assert_eq!(shown[0]["output_value"], r#"{"1": "hello"}"#);
    assert_eq!(shown[1]["output_value"], 2);
}
