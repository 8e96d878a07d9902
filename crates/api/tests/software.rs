//! Software configurations and deployments.

use crate::world::World;
use serde_json::{Value as Json, json};

async fn send(world: &World, method: &str, path: &str, body: Json) -> (u16, Json) {
    let body = Some(body).filter(|body| !body.is_null());
    let reply = world.send("demo", method, &format!("/demo/{path}"), body).await;
    (reply.status, serde_json::from_str(&reply.text).unwrap_or_default())
}

#[tokio::test]
async fn a_configuration_in_use_stays_and_that_is_not_the_servers_fault() {
    let world = World::new();
    let (_, made) = send(&world, "POST", "software_configs", json!({"name": "c"})).await;
    let id = made["software_config"]["id"].as_str().unwrap().to_owned();
    let body = json!({"config_id": id, "server_id": "s"});
    let (_, made) = send(&world, "POST", "software_deployments", body).await;
    let config = format!("software_configs/{id}");
    let (status, refusal) = send(&world, "DELETE", &config, Json::Null).await;
    assert_eq!((status, &refusal["error"]["type"]), (400, &json!("InvalidRestrictedAction")));
    let deployment = made["software_deployment"]["id"].as_str().unwrap();
    let deployment = format!("software_deployments/{deployment}");
    assert_eq!(send(&world, "DELETE", &deployment, Json::Null).await.0, 204);
    assert_eq!(send(&world, "DELETE", &config, Json::Null).await.0, 204);
}

#[tokio::test]
async fn what_is_no_text_or_no_map_is_refused() {
    let world = World::new();
    for part in ["name", "group"] {
        let (status, _) = send(&world, "POST", "software_configs", json!({part: [1]})).await;
        assert_eq!(status, 400, "{part}");
    }
    let (_, made) = send(&world, "POST", "software_deployments", json!({"server_id": "s"})).await;
    let id = made["software_deployment"]["id"].as_str().unwrap();
    for part in ["input_values", "output_values", "action", "status", "status_reason"] {
        let body = json!({"server_id": "s", part: [1]});
        let (status, _) = send(&world, "POST", "software_deployments", body).await;
        assert_eq!(status, 400, "{part}");
        let path = format!("software_deployments/{id}");
        let (status, _) = send(&world, "PUT", &path, json!({part: [1]})).await;
        assert_eq!(status, 400, "{part}");
    }
}
