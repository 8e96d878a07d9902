//! OS::Zaqar::SignedQueueURL: a signed URL that gives access to a queue without further
//! credentials.

use crate::declare::*;
use crate::op::{Op, OpError};
use crate::wire;
use kiln_cloud::{CallPath, post};
use kiln_template::Secret;
use serde_json::{Value as Json, json};

pub(super) fn signed_queue_url() -> ResourceType {
    ResourceType::new("OS::Zaqar::SignedQueueURL")
        .about("A signed URL that gives access to a queue without further credentials.")
        .service(Service::Messaging)
        .since("8.0.0")
        .props([
            prop("methods", List, "HTTP methods that the URL allows; only `GET` if omitted.").each(item(Str).one_of(["GET", "DELETE", "PATCH", "POST", "PUT"])),
            prop("paths", List, "Parts of the queue that the URL gives access to, such as `messages` or `subscriptions`."),
            prop("queue", Str, "Name of the queue that the URL gives access to.").required(),
            prop("ttl", Int, "Seconds for which the URL is valid; one day if omitted."),
        ])
        .attrs([
            attr("expires", None, "Time at which the URL stops being valid."),
            attr("methods", None, "HTTP methods that the URL allows."),
            attr("paths", None, "Paths below the service's address that the URL gives access to."),
            attr("project", None, "ID of the project that the queue belongs to."),
            attr("query_str", None, "Query string with the signature, to be appended to the service's address."),
            attr("signature", None, "Signature that proves the access to be granted."),
        ])
        .created_on_adopt()
        .creates(|op| Box::pin(create(op)))
}

/// Creates a signature. It cannot be revoked, so there is nothing to delete.
async fn create(op: &mut Op) -> Result<(), OpError> {
    let mut body = json!({});
    for name in ["methods", "paths"] {
        if !op.prop(name).is_null() {
            body[name] = wire::json(op.prop(name));
        }
    }
    if !op.prop("ttl").is_null() {
        let until = op.deadline("expires", op.seconds("ttl"));
        let until = jiff::Timestamp::from_microsecond(until).unwrap_or_default();
        body["expires"] = until.strftime("%Y-%m-%dT%H:%M:%S").to_string().into();
    }
    let queue = op.text("queue").unwrap_or_default().to_owned();
    let path = CallPath::from("/queues").id_or_url(&queue).then("/share");
    let call = post(Service::Messaging, path, body).may_be_repeated();
    let signed = op.call("sign", call).await?.body;
    let joined = |name: &str| {
        let all = signed[name].as_array().into_iter().flatten().filter_map(Json::as_str);
        all.collect::<Vec<_>>().join(",")
    };
    let text = |name: &str| signed[name].as_str().unwrap_or_default().to_owned();
    let query = [
        ("signature", text("signature")),
        ("expires", text("expires")),
        ("paths", joined("paths")),
        ("methods", joined("methods")),
        ("project_id", text("project")),
        ("queue_name", queue),
    ];
    let query = query.map(|(name, value)| format!("{name}={}", wire::segment(&value))).join("&");
    let hidden = |text: String| Value::Secret(Secret::new(text.into()));
    op.set_remote(map([
        ("expires", wire::value(&signed["expires"])),
        ("methods", wire::value(&signed["methods"])),
        ("paths", wire::value(&signed["paths"])),
        ("project", wire::value(&signed["project"])),
        ("query_str", hidden(query)),
        ("signature", hidden(text("signature"))),
    ]));
    op.set_id(op.context().physical_name.clone());
    Ok(())
}
