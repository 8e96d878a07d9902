//! OS::Manila::ShareType: a kind of share that users can choose, with the specifications behind it.

use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::section;
use crate::rest::{self, RestSpec, UpdateMethod};
use crate::wire;
use kiln_cloud::{CallPath, delete, post};
use serde_json::json;

pub(super) fn share_type() -> ResourceType {
    ResourceType::new("OS::Manila::ShareType")
        .about("A kind of share that users can choose, with the specifications behind it.")
        .service(Service::Share)
        .entity("share_types")
        .detects_drift()
        .since("5.0.0")
        .props([
            prop(
                "driver_handles_share_servers",
                Bool,
                "Whether back ends must start share servers of their own for the shares.",
            )
            .required(),
            prop("extra_specs", Map, "Abilities that a back end must have, as key-value pairs.")
                .updatable(),
            prop("is_public", Bool, "Whether all projects can use the share type.").default(true),
            prop("name", Str, "Name by which users choose the share type.").required(),
            prop("snapshot_support", Bool, "Whether back ends must be able to take snapshots.")
                .default(true)
                .since("6.0.0"),
        ])
        .updates(|op| Box::pin(update(op)))
        .rest(
            RestSpec::new(Service::Share, "/types", "share_type")
                .field("is_public", "share_type_access:is_public")
                .unsent(["driver_handles_share_servers", "snapshot_support"])
                .list_suffix("?is_public=all")
                .update_method(UpdateMethod::Never)
                .adjust_fields(|op, _, fields| {
                    let mut specs = wire::json(op.prop("extra_specs"));
                    if !specs.is_object() {
                        specs = json!({});
                    }
                    for name in ["driver_handles_share_servers", "snapshot_support"] {
                        specs[name] = wire::json(op.prop(name));
                    }
                    fields.insert("extra_specs".into(), specs);
                }),
        )
}

/// Replaces the extra specifications.
async fn update(op: &mut Op) -> Result<(), OpError> {
    let (before, after) =
        (op.context().previous_properties.clone(), op.context().properties.clone());
    let path = CallPath::from("/types").id(op.id().map_or("", |id| id)).then("/extra_specs");
    let empty = Members::new();
    let had = section(&before, "extra_specs").unwrap_or(&empty);
    let wanted = section(&after, "extra_specs").unwrap_or(&empty);
    for name in had.keys().filter(|name| !wanted.contains_key(&***name)) {
        let call = delete(Service::Share, path.clone().id(name));
        op.remove(&format!("unset {name}"), call).await?;
    }
    if !wanted.is_empty() {
        let specs = wire::json(op.prop("extra_specs"));
        let call = post(Service::Share, path, json!({ "extra_specs": specs })).may_be_repeated();
        op.call("set", call).await?;
    }
    rest::until_ready(op).await
}
