//! Software configurations and deployments of resources.

use super::Local;
use crate::error_type::ErrorType;
use crate::service::{RequestError, SoftwareObject};
use kiln_cloud::Method;
use kiln_resources::wire;
use kiln_template::Value;
use serde_json::{Value as Json, json};
use uuid::Uuid;

/// Answers a call about a deployment.
pub(super) async fn deployment_call(local: &Local<'_>, id: &str) -> Result<Json, RequestError> {
    let (service, owner) = (local.service, local.owner());
    match local.method() {
        Method::Put => {
            let body = local.body();
            let deployment = wire::value(&body["software_deployment"]);
            let (Ok(id), Some(deployment)) = (Uuid::parse_str(id), deployment.as_map()) else {
                return Err(RequestError::new(ErrorType::HttpBadRequest, "this is no deployment"));
            };
            service.put_deployment(&owner, id, deployment, &hidden_parts(body)).await?;
            Ok(Json::Null)
        }
        Method::Delete => service.delete_deployment(&owner, id).await.map(|()| Json::Null),
        _ => {
            let stored = service.deployment(&owner, id).await?;
            let hidden = wire::hidden_parts(&Value::Map(stored.body.clone()));
            Ok(json!({ "software_deployment": deployment_json(&stored), "hidden": hidden }))
        }
    }
}

/// Answers a call for the configurations that a server has to apply.
pub(super) async fn server_call(local: &Local<'_>, server: &str) -> Result<Json, RequestError> {
    let configs = local.service.project_server_configs(&local.owner().project, server).await?;
    let configs: Vec<Json> = configs.iter().map(config_json).collect();
    Ok(json!({ "metadata": configs }))
}

/// A deployment as its resource sees it: hidden parts are exposed.
fn deployment_json(stored: &SoftwareObject) -> Json {
    let part = |name: &str| wire::json(&stored.get(name));
    let mut shown = json!({
        "id": stored.row.id.to_string(),
        "server_id": *stored.row.subject,
        "config_id": stored.row.uses.map(|id| id.to_string()),
        "input_values": part("input_values"),
        "output_values": part("output_values"),
        "action": part("action"),
        "status": part("status"),
        "status_reason": part("status_reason"),
        "creation_time": stored.row.created.to_string(),
    });
    if let Some(updated) = stored.row.updated {
        shown["updated_time"] = updated.to_string().into();
    }
    shown
}

/// A configuration as a server sees it.
fn config_json(stored: &SoftwareObject) -> Json {
    let part = |name: &str| wire::json(&stored.get(name));
    json!({
        "id": stored.row.id.to_string(),
        "name": part("name"),
        "group": part("group"),
        "creation_time": stored.row.created.to_string(),
        "config": part("config"),
        "inputs": part("inputs"),
        "outputs": part("outputs"),
        "options": part("options"),
    })
}

/// Answers a call about a configuration.
pub(super) async fn config_call(local: &Local<'_>, id: &str) -> Result<Json, RequestError> {
    let (service, owner) = (local.service, local.owner());
    match local.method() {
        Method::Put => {
            let body = local.body();
            let config = wire::value(&body["software_config"]);
            let (Ok(key), Some(config)) = (Uuid::parse_str(id), config.as_map()) else {
                return Err(RequestError::new(
                    ErrorType::HttpBadRequest,
                    "this is no configuration",
                ));
            };
            service.put_config(&owner, key, config, &hidden_parts(body)).await?;
            service.config_by_id(&owner, id).await.map(|stored| with_hidden(&stored))
        }
        Method::Delete => service.delete_config(&owner, id).await.map(|()| Json::Null),
        _ => service.config_by_id(&owner, id).await.map(|stored| with_hidden(&stored)),
    }
}

/// The paths of the hidden parts in a body.
fn hidden_parts(body: &Json) -> Vec<&str> {
    body["hidden"].as_array().into_iter().flatten().filter_map(Json::as_str).collect()
}

/// A configuration as its resource sees it: hidden parts are exposed, and their paths are named.
fn with_hidden(stored: &SoftwareObject) -> Json {
    let hidden = wire::hidden_parts(&Value::Map(stored.body.clone()));
    json!({ "software_config": config_json(stored), "hidden": hidden })
}
