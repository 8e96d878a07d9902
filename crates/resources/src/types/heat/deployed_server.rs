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
        .props([
            prop("deployment_swift_data", Map)
                .updatable()
                .default_empty()
                .since("9.0.0")
                .members([prop("container", Str).min_length(1), prop("object", Str).min_length(1)]),
            prop("metadata", Map).updatable().since("8.0.0").deprecated("9.0.0"),
            prop("name", Str).updatable(),
            prop("software_config_transport", Str).updatable().default("POLL_SERVER_CFN").one_of([
                "POLL_SERVER_CFN",
                "POLL_SERVER_HEAT",
                "POLL_TEMP_URL",
                "ZAQAR_MESSAGE",
            ]),
        ])
        .attrs([attr("name", Str), attr("os_collect_config", Map).uncached().since("9.0.0")])
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(collecting::change(op, &[])))
        .deletes(|op| Box::pin(remove(op)))
        .metadata(collecting::metadata)
        .attributes(attribute)
}

/// There is nothing to make but the way on which the machine gets its metadata.
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
