//! Stacks that make others by way of the service: this very one.

use crate::test_api::TestApi;
use serde_json::{Value as Json, json};

const OUTER: &str = r#"
heat_template_version: 2021-04-16
resources:
  inner:
    type: OS::Heat::Stack
    properties:
      CONTEXT
      template: {get_file: inner.yaml}
outputs:
  value: {value: {get_attr: [inner, outputs, given]}}
"#;

const INNER: &str = r#"
heat_template_version: 2021-04-16
resources:
  value: {type: OS::Heat::Value, properties: {value: VALUE}}
outputs:
  given: {value: {get_attr: [value, value]}}
"#;

fn body(context: &str, inner: &str) -> Json {
    let template = OUTER.replace("CONTEXT", context);
    json!({"stack_name": "s", "template": template, "files": {"inner.yaml": inner}})
}

async fn value(api: &TestApi, path: &str) -> Json {
    api.get(path).await.json()["stack"]["outputs"][0]["output_value"].clone()
}

#[tokio::test]
async fn a_stack_makes_changes_and_removes_another() {
    let api = TestApi::new();
    let path = api.create_with(body("", &INNER.replace("VALUE", "one"))).await;
    assert_eq!(api.status(&path).await, "CREATE_COMPLETE", "{:?}", api.get(&path).await);
    assert_eq!(value(&api, &path).await, "one");
    let resource = api.get(&format!("{path}/resources/inner")).await.json();
    let id = resource["resource"]["physical_resource_id"].as_str().unwrap().to_owned();
    let listed = api.get("/demo/stacks").await.json();
    assert_eq!(listed["stacks"].as_array().unwrap().len(), 2);

    let changed = body("context: {region_name: here}", &INNER.replace("VALUE", "two"));
    let reply = api.send("demo", "PUT", &path, Some(changed)).await;
    assert_eq!(reply.status, 202, "{reply:?}");
    api.rest(&path).await;
    assert_eq!(api.status(&path).await, "UPDATE_COMPLETE", "{:?}", api.get(&path).await);
    assert_eq!(value(&api, &path).await, "two");

    assert_eq!(api.send("demo", "DELETE", &path, None).await.status, 204);
    api.rest(&path).await;
    let listed = api.get(&format!("/demo/stacks?show_deleted=true&id={id}")).await.json();
    assert_eq!(listed["stacks"][0]["stack_status"], "DELETE_COMPLETE");
}

/// A stack in a group is made with a request of its own: what it contains is not known before.
#[tokio::test]
async fn a_group_of_stacks_that_make_themselves_ends_at_the_depth_limit() {
    let api = TestApi::new();
    let itself = "heat_template_version: 2021-04-16\nresources:\n  g:\n    type: OS::Heat::ResourceGroup\n    properties:\n      \
                  count: 1\n      resource_def: {type: OS::Heat::Stack, properties: {template: {get_file: f.yaml}}}\n";
    let path = api
        .create_with(json!({"stack_name": "s", "template": itself, "files": {"f.yaml": itself}}))
        .await;
    let stack = api.get(&path).await.json();
    assert_eq!(stack["stack"]["stack_status"], "CREATE_FAILED", "{stack}");
    let reason = stack["stack"]["stack_status_reason"].as_str().unwrap();
    assert!(reason.contains("Went to status CREATE_FAILED due to"), "{reason}");
    let listed = api.get("/demo/stacks").await.json();
    let listed = listed["stacks"].as_array().unwrap();
    assert_eq!(listed.len(), 6, "the root and five inside: {listed:?}");
    let reasons = listed.iter().filter_map(|it| it["stack_status_reason"].as_str());
    let too_deep = reasons.filter(|reason| reason.contains("Recursion depth exceeds 5."));
    assert!(too_deep.count() > 0, "{listed:?}");
    assert_eq!(api.send("demo", "DELETE", &path, None).await.status, 204);
    api.rest(&path).await;
    let left = api.get("/demo/stacks").await.json();
    assert_eq!(left["stacks"], json!([]));
}

#[tokio::test]
async fn what_cannot_be_made_elsewhere_is_refused_at_once() {
    let api = TestApi::new();
    let good = INNER.replace("VALUE", "one");
    for (context, inner, message) in [
        (
            "context: {region_name: there}",
            good.clone(),
            "Cannot establish connection to Heat endpoint at region \"there\" due to \"public endpoint \
             for orchestration service in there region not found\"",
        ),
        (
            "context: {region_name: here}",
            good.replace("resources", "resource"),
            "Failed validating stack template using Heat endpoint at region \"here\" due to \"ERROR: The \
             template section is invalid: resource\"",
        ),
        (
            "parameters: {x: 1}",
            good.clone(),
            "Failed validating stack template using Heat endpoint at region \"None\" due to \"ERROR: The \
             Parameter (x) was not defined in template.\"",
        ),
        (
            "context: {credential_secret_id: x}",
            good.clone(),
            "Cannot establish connection to Heat endpoint at remote cloud due to \"credentials that are \
             kept as secrets are not supported yet\"",
        ),
    ] {
        let reply = api.send("demo", "POST", "/demo/stacks", Some(body(context, &inner))).await;
        let error = reply.json()["error"].clone();
        assert_eq!((reply.status, error["message"].as_str()), (400, Some(message)), "{context}");
        assert_eq!(error["type"], "StackValidationFailed");
    }
}

#[tokio::test]
async fn a_region_that_turns_out_late_to_be_another_fails_the_stack() {
    let api = TestApi::new();
    let outer =
        OUTER.replace("CONTEXT", "context: {region_name: {get_attr: [where, value]}}").replace(
            "outputs:",
            "  where: {type: OS::Heat::Value, properties: {value: there}}\noutputs:",
        );
    let inner = INNER.replace("VALUE", "one");
    let body = json!({"stack_name": "s", "template": outer, "files": {"inner.yaml": inner}});
    let path = api.create_with(body).await;
    let shown = api.get(&path).await.json();
    assert_eq!(shown["stack"]["stack_status"], "CREATE_FAILED");
    let reason = shown["stack"]["stack_status_reason"].as_str().unwrap();
    assert!(reason.contains("orchestration service in there region not found"), "{reason}");
}
