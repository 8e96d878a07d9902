//! Plans over HTTP: made, shown, applied, and refused where the world has moved.

use crate::test_api::{Reply, TestApi};
use serde_json::{Value as Json, json};

const TEMPLATE: &str = r#"
heat_template_version: 2021-04-16
parameters:
  first: {type: string, default: one}
  word: {type: string, hidden: true, default: canary}
resources:
  a: {type: OS::Heat::Value, properties: {value: {get_param: first}}}
  b: {type: OS::Heat::Value, properties: {value: {get_attr: [a, value]}}}
  s: {type: OS::Heat::Value, properties: {value: {get_param: word}}}
"#;

async fn plan(api: &TestApi, path: &str, body: Json) -> Json {
    let reply = api.send("demo", "POST", path, Some(body)).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    assert!(!reply.text.contains("canary"), "{}", reply.text);
    reply.json()["plan"].clone()
}

async fn apply(api: &TestApi, plan: &Json, body: Json) -> Reply {
    let path = format!("/demo/plans/{}/apply", plan["id"].as_str().unwrap());
    api.send("demo", "POST", &path, Some(body)).await
}

fn acts(plan: &Json) -> Vec<String> {
    let steps = plan["resources"].as_array().unwrap().iter();
    let told = |step: &Json, name: &str| step[name].as_str().unwrap().to_owned();
    let mut acts: Vec<String> =
        steps.map(|step| format!("{} {}", told(step, "action"), told(step, "path"))).collect();
    acts.sort();
    acts
}

fn message(reply: &Reply) -> String {
    reply.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_stack_is_created_changed_and_deleted_by_plans() {
    let api = TestApi::new();
    let created = plan(&api, "/demo/stacks/s/plans", json!({"template": TEMPLATE})).await;
    assert_eq!(created["summary"]["text"], "+3 ~0 ±0 -0");
    assert_eq!(acts(&created), ["create a", "create b", "create s"]);
    assert_eq!(api.get("/demo/stacks/s").await.status, 404, "nothing is there yet");
    let reply = apply(&api, &created, json!({"digest": created["digest"]})).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let id = reply.json()["stack"]["id"].as_str().unwrap().to_owned();
    assert_eq!(created["stack_id"], id.as_str());
    let path = format!("/demo/stacks/s/{id}");
    api.rest(&path).await;

    let body = json!({"existing": true, "parameters": {"first": "two"}});
    let changed = plan(&api, &format!("{path}/plans"), body).await;
    assert_eq!(acts(&changed), ["no-op s", "update a", "update b"]);
    let steps = changed["resources"].as_array().unwrap();
    let part =
        |name: &str| steps.iter().find(|it| it["path"] == name).unwrap()["changes"][0].clone();
    assert_eq!(part("a")["causes"], json!([{"kind": "parameter", "name": "first"}]));
    assert_eq!((&part("a")["before"], &part("a")["after"]), (&json!("one"), &json!("two")));
    assert_eq!(part("a")["location"]["line"], 7);
    let cause = json!([{"kind": "resource", "name": "a", "attribute": "value"}]);
    assert_eq!(part("b")["causes"], cause);
    assert!(part("b")["after"]["unknown"].is_string());
    let listed = api.get(&format!("{path}/plans")).await.json();
    assert_eq!(listed["plans"].as_array().unwrap().len(), 2);
    assert_eq!(apply(&api, &changed, json!({})).await.status, 200);
    api.rest(&path).await;
    assert_eq!(api.status(&path).await, "UPDATE_COMPLETE");

    let again = apply(&api, &changed, json!({})).await;
    assert_eq!(again.status, 409);
    assert!(message(&again).contains("it was applied already"), "{}", again.text);
    let removal = plan(&api, &format!("{path}/plans"), json!({"action": "delete"})).await;
    assert_eq!(removal["summary"]["text"], "+0 ~0 ±0 -3");
    assert_eq!(apply(&api, &removal, json!({})).await.status, 200);
}

#[tokio::test]
async fn a_plan_is_refused_where_the_world_has_moved() {
    let api = TestApi::new();
    let created = plan(&api, "/demo/stacks/s/plans", json!({"template": TEMPLATE})).await;
    let body = json!({"stack_name": "s", "template": TEMPLATE});
    let path = api.create_with(body).await;
    let reply = apply(&api, &created, json!({})).await;
    assert_eq!(reply.status, 409);
    assert!(message(&reply).contains("there is a stack s by now"), "{}", reply.text);

    let body = json!({"existing": true, "parameters": {"first": "two"}});
    let stale = plan(&api, &format!("{path}/plans"), body).await;
    let edited = apply(&api, &stale, json!({"digest": "0"})).await;
    assert_eq!(edited.status, 400, "{}", edited.text);
    let patch = json!({"parameters": {"first": "three"}});
    assert_eq!(api.send("demo", "PATCH", &path, Some(patch)).await.status, 202);
    api.rest(&path).await;
    let reply = apply(&api, &stale, json!({})).await;
    assert_eq!((reply.status, &reply.json()["error"]["type"]), (409, &json!("PlanMoved")));
    assert!(message(&reply).contains("the record of the stack has changed"), "{}", reply.text);

    let orphan = plan(&api, &format!("{path}/plans"), json!({"action": "delete"})).await;
    assert_eq!(api.send("demo", "DELETE", &path, None).await.status, 204);
    api.rest(&path).await;
    let reply = apply(&api, &orphan, json!({})).await;
    assert!(message(&reply).contains("the stack was deleted"), "{}", reply.text);
    for id in ["nonsense", "00000000-0000-4000-8000-000000000000"] {
        let reply = apply(&api, &json!({"id": id}), json!({})).await;
        assert_eq!(reply.status, 404, "{}", reply.text);
    }
    let bad = json!({"action": "explode"});
    assert_eq!(api.send("demo", "POST", "/demo/stacks/s/plans", Some(bad)).await.status, 400);
}
