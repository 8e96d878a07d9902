//! OS::Nova::Flavor: a size of server: memory, processors and disk.

use super::common::among_all;
use crate::behaviour::{OperationKind, View};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{items, open, section};
use crate::rest::RestSpec;
use crate::wire;
use kiln_cloud::{CallPath, Marker, delete, post};
use kiln_template::functions::{Fault, step_into_attribute};
use kiln_template::print;
use serde_json::{Map, Value as Json, json};

pub(super) fn flavor() -> ResourceType {
    ResourceType::new("OS::Nova::Flavor")
        .about("A size of server: memory, processors and disk.")
        .service(Service::Compute)
        .entity("flavors")
        .detects_drift()
        .since("2014.2")
        .props([
            prop("disk", Int, "Size of the root disk in GiB; 0 means that of the image.").default(0),
            prop("ephemeral", Int, "Size of the additional ephemeral disk in GiB.").default(0),
            prop("extra_specs", Map, "Keys and values that guide scheduling and the hypervisor, such as `hw:cpu_policy`.").updatable(),
            prop("flavorid", Str, "ID that the flavor gets; the service chooses a UUID if omitted.").since("7.0.0"),
            prop("is_public", Bool, "Whether all projects may use the flavor.").default(true).since("6.0.0"),
            prop("name", Str, "Name of the flavor; made from the stack and resource names if omitted.").since("7.0.0"),
            prop("ram", Int, "Memory of servers in MiB.").required(),
            prop("rxtx_factor", Num, "Factor on the network bandwidth of servers, which most networks ignore.").default(1.0),
            prop("swap", Int, "Size of the swap disk in MiB.").default(0),
            prop("tenants", List, "Names or IDs of the projects that may use a flavor that is not public.")
                .updatable()
                .default_empty()
                .since("8.0.0")
                .each(item(Str).is(PROJECT).by_name()),
            prop("vcpus", Int, "Number of virtual CPUs of servers.").required(),
        ])
        .attrs([attr("extra_specs", Map, "Keys and values that guide scheduling and the hypervisor.").since("7.0.0"), attr("is_public", Bool, "Whether all projects may use the flavor.").since("6.0.0")])
        .finder(marker)
        .rest(
            RestSpec::new(Service::Compute, "/flavors", "flavor")
                .field("flavorid", "id")
                .field("ephemeral", "OS-FLV-EXT-DATA:ephemeral")
                .field("is_public", "os-flavor-access:is_public")
                .unsent(["extra_specs", "tenants"])
                .mark_field("description")
                .marks_then_renames()
                .deleted_at_once()
                .adjust_fields(adjust_fields)
                .after_write(|op| Box::pin(afterwards(op))),
        )
        .attributes(attribute)
}

/// Finds the flavor among public and private ones; the service lists private flavors only on request.
fn marker(op: &Op) -> Option<Marker> {
    let mut marker = among_all(op)?;
    marker.list = marker.list.query("is_public", "None");
    Some(marker)
}

fn adjust_fields(op: &Op, operation: OperationKind, fields: &mut Map<String, Json>) {
    // Clients replace `auto` by a random id; the service would take it for an id.
    if operation == OperationKind::Create && op.nonempty_text("flavorid") == Some("auto") {
        fields.remove("id");
    }
}

fn path(op: &Op) -> CallPath {
    CallPath::from("/flavors").id(op.id().map_or("", |id| id))
}

async fn afterwards(op: &mut Op) -> Result<(), OpError> {
    set_extra_specs(op).await?;
    // All projects can use a public flavor.
    if !op.prop("is_public").equals(&Value::Bool(true)) {
        set_tenants(op).await?;
    }
    Ok(())
}

async fn set_extra_specs(op: &mut Op) -> Result<(), OpError> {
    let context = op.context().clone();
    let (empty, path) = (Members::new(), path(op).then("/os-extra_specs"));
    let old = section(&context.previous_properties, "extra_specs").unwrap_or(&empty);
    let new = section(&context.properties, "extra_specs").unwrap_or(&empty);
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        let call = delete(Service::Compute, path.clone().id(key));
        op.remove(&format!("unset {key}"), call).await?;
    }
    if !new.is_empty() && old != new {
        let specs =
            new.iter().map(|(key, value)| (key.to_string(), print::plain(open(value)).into()));
        let body = json!({ "extra_specs": Json::Object(specs.collect()) });
        op.call("specs", post(Service::Compute, path, body).may_be_repeated()).await?;
    }
    Ok(())
}

async fn set_tenants(op: &mut Op) -> Result<(), OpError> {
    let names = |members: &Members| -> Vec<String> {
        items(members, "tenants").iter().map(|it| print::plain(open(it))).collect()
    };
    let (old, new) = (names(&op.context().previous_properties), names(&op.context().properties));
    let action = path(op).then("/action");
    for tenant in old.iter().filter(|tenant| !new.contains(tenant)) {
        let body = json!({ "removeTenantAccess": { "tenant": tenant } });
        let call = post(Service::Compute, action.clone(), body).may_be_repeated();
        op.remove(&format!("refuse {tenant}"), call).await?;
    }
    for tenant in new.iter().filter(|tenant| !old.contains(tenant)) {
        let body = json!({ "addTenantAccess": { "tenant": tenant } });
        let call = post(Service::Compute, action.clone(), body).may_be_repeated();
        match op.call(&format!("admit {tenant}"), call).await {
            // The project has access already.
            Err(stop) if stop.is_conflict() => {}
            done => _ = done?,
        }
    }
    Ok(())
}

fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let shown = view.remote.as_map();
    let shown = |field: &str| shown.and_then(|shown| shown.get(field)).cloned();
    let answer = match name {
        "is_public" => shown("os-flavor-access:is_public"),
        // The service shows the specifications only to some users.
        "extra_specs" => shown("extra_specs").or_else(|| {
            let specs = section(view.properties, "extra_specs")?;
            Some(wire::value(&wire::json(&Value::Map(specs.clone().into()))))
        }),
        _ => return Ok(None),
    };
    Ok(Some(step_into_attribute(&answer.unwrap_or_default(), path)))
}
