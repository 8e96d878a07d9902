//! Hidden values of a stack that is abandoned or exported, and adopted again.

use crate::test_api::TestApi;
use kiln_engine::Rules;
use serde_json::{Value as Json, json};

const CANARY: &str = "c4n4ry-of-abandoned-stacks";

const HIDDEN: &str = "
heat_template_version: 2021-04-16
parameters:
  password: {type: string, hidden: true}
  pins: {type: comma_delimited_list, hidden: true, default: '1,2'}
resources:
  value: {type: OS::Heat::Value, properties: {value: {get_param: password}}}
outputs:
  password: {value: {get_param: password}}
  pins: {value: {get_param: pins}}
";

async fn create(api: &TestApi) -> String {
    let parameters = json!({"password": CANARY, "pins": ["7", CANARY]});
    let body = json!({"stack_name": "s", "template": HIDDEN, "parameters": parameters});
    api.create_with(body).await
}

async fn export(api: &TestApi, token: &str, path: &str) -> Json {
    let reply = api.send(token, "GET", &format!("{path}/export"), None).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()
}

async fn output(api: &TestApi, path: &str, name: &str) -> Json {
    let shown = api.get(&format!("{path}/outputs/{name}")).await.json();
    shown["output"]["output_value"].clone()
}

/// The message with which an adoption is refused.
async fn refusal(api: &TestApi, token: &str, document: &Json, parameters: Json) -> String {
    let body = json!({
        "stack_name": "t", "adopt_stack_data": document.to_string(), "parameters": parameters,
    });
    let reply = api.send(token, "POST", &format!("/{token}/stacks"), Some(body)).await;
    assert_eq!(reply.status, 400, "{reply:?}");
    reply.json()["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn hidden_values_of_an_abandoned_stack_come_back_when_it_is_adopted() {
    let api = TestApi::new();
    let path = create(&api).await;
    let reply = api.send("demo", "DELETE", &format!("{path}/abandon"), None).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(!reply.text.contains(CANARY) && !reply.text.contains("******"), "{reply:?}");
    let sealed = reply.json()["environment"]["parameters"]["password"].clone();
    assert!(sealed.as_str().unwrap().starts_with("kiln-sealed:"), "{sealed}");
    api.rest(&path).await;

    let path = api.create_with(json!({"stack_name": "t", "adopt_stack_data": reply.text})).await;
    assert_eq!(output(&api, &path, "password").await, CANARY);
    assert_eq!(output(&api, &path, "pins").await, json!(["7", CANARY]));
    let environment = api.get(&format!("{path}/environment")).await;
    assert!(!environment.text.contains(CANARY), "they are still hidden: {environment:?}");
}

#[tokio::test]
async fn sealed_values_are_opened_only_where_they_belong() {
    let api = TestApi::new();
    let path = create(&api).await;
    let document = export(&api, "demo", &path).await;

    let other_project = refusal(&api, "other", &document, json!({})).await;
    assert!(
        other_project.contains("/environment/parameters/password cannot be opened")
            && other_project.contains("another project or stack"),
        "{other_project}"
    );
    let mut other_stack = document.clone();
    other_stack["id"] = "8c0c1c3e-0000-4000-8000-000000000000".into();
    let refused = refusal(&api, "demo", &other_stack, json!({})).await;
    assert!(refused.contains("another project or stack"), "{refused}");
    let mut moved = document.clone();
    let password = moved["environment"]["parameters"]["password"].take();
    moved["template"]["parameters"]["shown"] = json!({"type": "string"});
    moved["environment"]["parameters"] = json!({"shown": password, "password": "x"});
    let refused = refusal(&api, "demo", &moved, json!({})).await;
    assert!(refused.contains("/environment/parameters/shown cannot be opened"), "{refused}");

    let other_service = TestApi::new();
    let refused = refusal(&other_service, "demo", &document, json!({})).await;
    assert!(refused.contains("which this service does not have"), "{refused}");
}

#[tokio::test]
async fn stars_are_no_values() {
    let api = TestApi::new();
    let path = create(&api).await;
    let mut document = export(&api, "demo", &path).await;
    document["environment"]["parameters"] = json!({"password": "******"});
    let refused = refusal(&api, "demo", &document, json!({})).await;
    assert_eq!(
        refused,
        "Invalid adopt data: the value of parameter password was hidden when the document was written. Give it with \
         the request."
    );
    let mut in_data = document.clone();
    in_data["environment"] = json!({});
    in_data["resources"]["value"]["resource_data"] = json!({"token": "******"});
    let refused = refusal(&api, "demo", &in_data, json!({"password": "x"})).await;
    assert!(refused.contains("token of resource value was hidden"), "{refused}");

    let body = json!({
        "stack_name": "t", "adopt_stack_data": document.to_string(),
        "parameters": {"password": "given"},
    });
    let path = api.create_with(body).await;
    assert_eq!(output(&api, &path, "password").await, "given");
}

#[tokio::test]
async fn an_operator_may_have_hidden_values_exported_in_clear() {
    let rules = Rules { allows_adopt: true, allows_abandon: true, ..Rules::default() };
    let api = TestApi::with(Rules { exports_in_clear: true, ..rules });
    let path = create(&api).await;
    let for_member = export(&api, "demo", &path).await.to_string();
    assert!(!for_member.contains(CANARY), "a member may not see them: {for_member}");
    let for_admin = export(&api, "demo-admin", &path).await;
    assert_eq!(for_admin["environment"]["parameters"]["password"], CANARY);
    assert_eq!(for_admin["environment"]["parameters"]["pins"], json!(["7", CANARY]));
}
