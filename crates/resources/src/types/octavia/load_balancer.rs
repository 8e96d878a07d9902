//! OS::Octavia::LoadBalancer: a load balancer with its virtual IP address.

use super::common::{by_tag, provisioned, tag};
use crate::declare::*;
use crate::op::{Op, OpError, Progress};
use crate::rest::{self, RestSpec};
use crate::types::fragments::{admin_state_up_prop, description_prop, name_prop, tenant_id_prop};
use kiln_cloud::{delete, get};

pub(super) fn load_balancer() -> ResourceType {
    ResourceType::new("OS::Octavia::LoadBalancer")
        .about("A load balancer with its virtual IP address.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            admin_state_up_prop(),
            prop(
                "availability_zone",
                Str,
                "Availability zone of the load balancing service to place it in.",
            )
            .is(LB_AVAILABILITY_ZONE)
            .since("17.0.0"),
            description_prop().updatable().default_empty(),
            prop("flavor", Str, "Octavia flavor that sets its size and abilities, by name or ID.")
                .is(LB_FLAVOR)
                .by_name()
                .since("14.0.0"),
            name_prop().updatable(),
            prop(
                "provider",
                Str,
                "Driver that implements the load balancer; the cloud's default if omitted.",
            ),
            tenant_id_prop().is(PROJECT),
            prop(
                "vip_address",
                Str,
                "Virtual IP address to ask for; chosen from the subnet if omitted.",
            )
            .is(IP_ADDR),
            prop("vip_subnet", Str, "Subnet of the virtual IP address, by name or ID.")
                .required()
                .is(SUBNET)
                .by_name(),
        ])
        .attrs([
            attr("flavor_id", Str, "ID of the load balancer's flavor, if any."),
            attr("pools", List, "Pools of the load balancer."),
            attr(
                "vip_address",
                Str,
                "Virtual IP address at which clients reach the load balancer.",
            ),
            attr("vip_port_id", Str, "ID of the Neutron port that holds the virtual IP address."),
            attr("vip_subnet_id", Str, "ID of the subnet of the virtual IP address."),
        ])
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .finder(by_tag)
        .rest(
            RestSpec::new(Service::LoadBalancer, "/lbaas/loadbalancers", "loadbalancer")
                .field("flavor", "flavor_id")
                .field("tenant_id", "project_id")
                .field("vip_subnet", "vip_subnet_id")
                .adjust_fields(tag)
                .readiness(provisioned()),
        )
}

/// Updates the load balancer. A conflict means that it is busy; on create it means that the address is in use.
async fn update(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let fields = rest::changed_fields(op, &spec);
    if let Some(call) = rest::change(op, &spec, fields) {
        op.call_retrying_conflicts("change", call).await?;
    }
    rest::until_ready(op).await
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let (Some(_), Some(spec)) = (op.id(), op.rest_spec()) else { return Ok(()) };
    let path = rest::path(op, &spec);
    match op.call_retrying_conflicts("delete", delete(Service::LoadBalancer, path.clone())).await {
        Err(stop) if stop.is_not_found() => {}
        Err(stop) => return Err(stop),
        Ok(_) => {
            let look = get(Service::LoadBalancer, path);
            rest::until_gone(op, look, |reply| {
                match reply.text("/loadbalancer/provisioning_status") {
                    Some("DELETED") => Progress::Ready,
                    Some("ERROR") => {
                        Progress::Failed("Went to status ERROR due to \"Unknown\"".into())
                    }
                    _ => Progress::NotYet,
                }
            })
            .await?;
        }
    }
    op.clear_id();
    Ok(())
}
