//! How a server gets its metadata: the configuration of `os-collect-config`, and the place from which it reads.
//!
//! The metadata from the template and the configuration of the agent are stored separately and merged at each
//! read, so a change of one does not overwrite the other.

use super::signals::hidden;
use super::{addresses, credentials, mailbox, stack_user};
use crate::behaviour::View;
use crate::declare::{self, Members, Prop, Str, SupportStatus, Value, map, prop};
use crate::op::{Op, OpError};
use crate::property_access::{section, text};
use crate::{random, wire};
use kiln_cloud::{CallPath, Credential, Service, delete, post, put};
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

/// The entry of the resource's data with the configuration of the agent.
const COLLECT: &str = "collect";

/// The entry of the resource's data with the place to which the metadata is delivered.
const DELIVERY: &str = "delivery";

/// The entry of the resource's data with the place of delivery before an update.
const FORMER: &str = "former_delivery";

/// The key of the agent's configuration in the metadata.
const SECTION: &str = "os-collect-config";

/// The key of the deployments in the metadata.
const DEPLOYMENTS: &str = "deployments";

/// The lifetime of a message for the server, in seconds.
const MESSAGE_LASTS: u32 = 3600;

/// The place to which metadata is delivered for servers that do not poll the API.
#[derive(Clone, Debug)]
pub(crate) enum Delivery {
    /// An object: its container and name.
    Object(String, String),
    /// A queue, with the credential of the server's stack user.
    Queue(String, Box<Credential>),
}

impl Delivery {
    /// The place of delivery in a server's data; `None` for servers that poll the API.
    pub(crate) fn of(data: &Members) -> Option<Delivery> {
        Delivery::under(data, DELIVERY)
    }

    fn under(data: &Members, name: &str) -> Option<Delivery> {
        let said = section(data, name)?;
        let part = |name: &str| text(said, name).map(str::to_owned);
        if let (Some(container), Some(object)) = (part("container"), part("object")) {
            return Some(Delivery::Object(container, object));
        }
        let user = |name: &str| text(data, name).unwrap_or_default();
        let by = Credential::with_password(user("user_id"), user("password"), user("user_project"));
        Some(Delivery::Queue(part("queue")?, Box::new(by)))
    }

    /// Delivers metadata.
    pub(crate) async fn deliver(
        &self,
        op: &mut Op,
        step: &str,
        metadata: &Json,
    ) -> Result<(), OpError> {
        let call = match self {
            Delivery::Object(container, object) => {
                mailbox::write(container, object, &metadata.to_string())
            }
            Delivery::Queue(queue, by) => {
                let message = json!({ "body": metadata, "ttl": MESSAGE_LASTS });
                let path = CallPath::from("/queues").id(queue).then("/messages");
                let call = post(Service::Messaging, path, json!({ "messages": [message] }));
                call.may_be_repeated().with_credential((**by).clone())
            }
        };
        op.call(step, call).await.map(drop)
    }

    async fn remove(&self, op: &mut Op) -> Result<(), OpError> {
        match self {
            Delivery::Object(container, object) => {
                let path = CallPath::from("").id(container).object(object);
                op.remove("remove metadata object", delete(Service::ObjectStore, path)).await?;
                let path = CallPath::from("").id(container);
                let call = delete(Service::ObjectStore, path);
                match op.remove("remove metadata container", call).await {
                    // The container still has objects of other resources.
                    Err(stop) if stop.is_conflict() => Ok(()),
                    removed => removed,
                }
            }
            Delivery::Queue(queue, by) => {
                let path = CallPath::from("/queues").id(queue);
                let call = delete(Service::Messaging, path).with_credential((**by).clone());
                op.remove("remove metadata queue", call).await
            }
        }
    }
}

/// The properties that choose how a server gets its metadata.
pub(crate) fn transport_props() -> [Prop; 2] {
    [
        prop(
            "deployment_swift_data",
            declare::Map,
            "Where the server's metadata are put for the transport `POLL_TEMP_URL`.",
        )
        .updatable()
        .default_empty()
        .since("9.0.0")
        .members([
            prop("container", Str, "Name of the container for the metadata; the server's own name if omitted.")
                .min_length(1),
            prop("object", Str, "Name of the object for the metadata; a random one if omitted.")
                .min_length(1),
        ]),
        prop("software_config_transport", Str, "How the server gets its deployments: by polling one of the APIs or an object, or by messages.")
            .updatable()
            .default("POLL_SERVER_CFN")
            .one_of(["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE"]),
    ]
}

/// Prepares the transport of a server's metadata. `kinds` are further collectors of the agent.
pub(crate) async fn prepare(op: &mut Op, kinds: &[&str]) -> Result<(), OpError> {
    if !stack_user::are_there(op) {
        return Ok(());
    }
    let transport =
        op.nonempty_text("software_config_transport").unwrap_or("POLL_SERVER_CFN").to_owned();
    let (collector, said) = match transport.as_str() {
        "POLL_SERVER_HEAT" => ("heat", by_heat(op).await?),
        "POLL_TEMP_URL" => ("request", by_object(op).await?),
        "ZAQAR_MESSAGE" => ("zaqar", by_queue(op).await?),
        _ => ("cfn", by_cfn(op).await?),
    };
    let former = section(&op.context().data, COLLECT).cloned().unwrap_or_default();
    let collectors = kinds.iter().copied().chain([collector, "local"]);
    let mut told = Map::new();
    // The agent removes a setting of the former transport if its new value is null.
    for (name, value) in former.iter().filter(|(name, _)| &***name != "collectors") {
        let nulls =
            value.as_map().into_iter().flatten().map(|(name, _)| (name.to_string(), Json::Null));
        told.insert(name.to_string(), Json::Object(nulls.collect()));
    }
    told.insert("collectors".into(), collectors.collect::<Vec<_>>().into());
    told.insert(collector.into(), said);
    op.set_data(COLLECT, wire::value(&Json::Object(told)));
    Ok(())
}

async fn by_cfn(op: &mut Op) -> Result<Json, OpError> {
    let user = stack_user::beside(op).await?;
    let key = stack_user::key(op, &user).await?;
    Ok(json!({
        "metadata_url": addresses::metadata(op).await?,
        "access_key_id": key.access,
        "secret_access_key": key.secret,
        "stack_name": *op.stack().name,
        "path": format!("{}.Metadata", op.context().resource),
    }))
}

async fn by_heat(op: &mut Op) -> Result<Json, OpError> {
    let user = stack_user::beside(op).await?;
    let known = credentials::of(op, &user).await?;
    let place = op.stack();
    Ok(json!({
        "user_id": known["user_id"],
        "password": known["password"],
        "auth_url": known["auth_url"],
        "project_id": known["project_id"],
        "stack_id": format!("{}/{}", place.name, place.id),
        "resource_name": *op.context().resource,
        "region_name": known["region_name"],
    }))
}

async fn by_object(op: &mut Op) -> Result<Json, OpError> {
    let chosen = op.section("deployment_swift_data").cloned();
    let chosen = chosen.unwrap_or_default();
    let own = op.context().physical_name.to_string();
    let container = text(&chosen, "container").map_or(own, str::to_owned);
    let object = match (text(&chosen, "object"), Delivery::of(&op.context().data)) {
        (Some(object), _) => object.to_owned(),
        (None, Some(Delivery::Object(_, object))) => object,
        _ => random::uuid(op).await?.to_string(),
    };
    op.set_data(DELIVERY, map([("container", container.as_str()), ("object", object.as_str())]));
    let path = CallPath::from("").id(&container);
    op.call("metadata container", put(Service::ObjectStore, path, Json::Null).empty()).await?;
    Ok(json!({ "metadata_url": addresses::object(op, "GET", &container, &object).await? }))
}

async fn by_queue(op: &mut Op) -> Result<Json, OpError> {
    let user = stack_user::beside(op).await?;
    let known = credentials::of(op, &user).await?;
    let queue = op.context().physical_name.to_string();
    op.set_data(DELIVERY, map([("queue", queue.as_str())]));
    let path = CallPath::from("/queues").id(&queue);
    let call = put(Service::Messaging, path, json!({})).with_credential(user.credential());
    op.call("metadata queue", call).await?;
    Ok(json!({
        "user_id": known["user_id"],
        "password": known["password"],
        "auth_url": known["auth_url"],
        "project_id": known["project_id"],
        "queue_id": queue,
        "region_name": known["region_name"],
    }))
}

/// Changes the transport of a server's metadata if an update does.
pub(crate) async fn change(op: &mut Op, kinds: &[&str]) -> Result<(), OpError> {
    let is_other = op.changes("software_config_transport") || op.changes("deployment_swift_data");
    if is_other {
        if op.context().journal.is_empty() {
            let former = op.data(DELIVERY).cloned().unwrap_or_default();
            op.set_data(FORMER, former);
            op.set_data(DELIVERY, Value::Null);
        }
        if let Some(former) = Delivery::under(&op.context().data, FORMER) {
            former.remove(op).await?;
            op.set_data(FORMER, Value::Null);
        }
        prepare(op, kinds).await?;
    }
    deliver(op, "deliver").await
}

/// Delivers the metadata, unless the server polls the API.
pub(crate) async fn deliver(op: &mut Op, step: &str) -> Result<(), OpError> {
    let Some(delivery) = Delivery::of(&op.context().data) else { return Ok(()) };
    let metadata = wire::json(&whole(&op.context().metadata, &op.context().data));
    delivery.deliver(op, step, &metadata).await
}

/// Deletes the objects and users that the transport of a server's metadata needed.
pub(crate) async fn remove(op: &mut Op) -> Result<(), OpError> {
    for name in [FORMER, DELIVERY] {
        if let Some(delivery) = Delivery::under(&op.context().data, name) {
            delivery.remove(op).await?;
            op.set_data(name, Value::Null);
        }
    }
    stack_user::remove_beside(op).await
}

/// The metadata of a server, complete.
pub(crate) fn metadata(view: &View<'_>) -> Value {
    whole(view.metadata, view.data)
}

/// Merges the metadata from the template with the agent's configuration and an empty list of deployments.
pub(crate) fn whole(written: &Value, data: &Members) -> Value {
    let Some(collect) = section(data, COLLECT) else { return written.clone() };
    let mut all = written.as_map().cloned().unwrap_or_default();
    if !all.contains_key(DEPLOYMENTS) {
        all.insert(DEPLOYMENTS.into(), Value::list([]));
    }
    let mut told = section(&all, SECTION).cloned().unwrap_or_default();
    told.extend(collect.iter().map(|(name, value)| (name.clone(), with_credentials(value))));
    all.insert(SECTION.into(), Value::Map(Arc::new(told)));
    Value::Map(Arc::new(all))
}

/// The settings of a collector, with the credentials in them hidden.
fn with_credentials(settings: &Value) -> Value {
    let Value::Map(settings) = settings else { return settings.clone() };
    let is_credential = |name: &str, value: &Value| match name {
        "password" | "secret_access_key" => true,
        // The URL of an object is signed, that of an API is not.
        "metadata_url" => value.as_text().is_some_and(|url| url.contains("temp_url_sig=")),
        _ => false,
    };
    Value::map(settings.iter().map(|(name, value)| {
        let is_hidden = !value.is_null() && is_credential(name, value);
        (name.clone(), if is_hidden { hidden(value.clone()) } else { value.clone() })
    }))
}

/// The configuration of the agent, as the attribute `os_collect_config`.
pub(crate) fn told(view: &View<'_>) -> Value {
    let all = whole(view.metadata, view.data);
    let section = all.as_map().and_then(|it| it.get(SECTION)).cloned();
    section.unwrap_or_else(|| map::<Value>([]))
}
