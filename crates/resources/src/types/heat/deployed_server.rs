//! OS::Heat::DeployedServer: a machine that already exists, to which software deployments can be
//! sent.

use super::collecting;
use crate::behaviour::View;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::word;
use crate::random;
use kiln_template::functions::{Fault, step_into_attribute};

pub(super) fn deployed_server() -> ResourceType {
    ResourceType::new("OS::Heat::DeployedServer")
        .about("A machine that already exists, to which software deployments can be sent.")
        .service(Service::Orchestration)
        .entity("servers")
        .name_limit(53)
        .snapshot_on_delete()
        .suspendable()
        .props(collecting::transport_props())
        .props([
            prop("metadata", Map, "Keys and values that are kept with the server.")
                .updatable()
                .since("8.0.0")
                .deprecated("9.0.0"),
            prop(
                "name",
                Str,
                "Name of the server; made from the stack and resource names if omitted.",
            )
            .updatable(),
        ])
        .attrs([
            attr("name", Str, "Name of the server."),
            attr(
                "os_collect_config",
                Map,
                "Settings with which `os-collect-config` on the server fetches its metadata.",
            )
            .uncached()
            .handed_out()
            .since("9.0.0"),
        ])
        .creates(|op| Box::pin(create(op)))
        .created_on_adopt()
        .updates(|op| Box::pin(collecting::change(op, &[])))
        .deletes(|op| Box::pin(remove(op)))
        .metadata(collecting::metadata)
        .attributes(attribute)
}

/// Prepares the transport of the metadata; the machine itself exists already.
async fn create(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        let id = random::uuid(op).await?.to_string();
        op.set_id(id);
    }
    collecting::prepare(op, &[]).await?;
    collecting::deliver(op, "deliver").await
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    collecting::remove(op).await?;
    op.clear_id();
    Ok(())
}

fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let answer = match name {
        "name" => word(view.properties, "name").unwrap_or(view.physical_name).into(),
        "os_collect_config" => collecting::told(view),
        _ => return Ok(None),
    };
    Ok(Some(step_into_attribute(&answer, path)))
}
