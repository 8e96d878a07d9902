//! OS::Octavia::LoadBalancer: a load balancer with its virtual IP address.

use super::common::{by_tag, provisioned, tag};
use crate::declare::*;
use crate::op::{Op, OpError, Progress};
use crate::rest::{self, RestSpec};
use kiln_cloud::{delete, get};

pub(super) fn load_balancer() -> ResourceType {
    ResourceType::new("OS::Octavia::LoadBalancer")
        .about("A load balancer with its virtual IP address.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            prop("admin_state_up", Bool).updatable().default(true),
            prop("availability_zone", Str).is("octavia.availabilityzone").since("17.0.0"),
            prop("description", Str).updatable().default_empty(),
            prop("flavor", Str).is("octavia.flavor").by_name().since("14.0.0"),
            prop("name", Str).updatable(),
            prop("provider", Str),
            prop("tenant_id", Str).is("keystone.project"),
            prop("vip_address", Str).is("ip_addr"),
            prop("vip_subnet", Str).required().is("neutron.subnet").by_name(),
        ])
        .attrs([
            attr("flavor_id", Str),
            attr("pools", List),
            attr("vip_address", Str),
            attr("vip_port_id", Str),
            attr("vip_subnet_id", Str),
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

/// While it is made, a conflict means that its address is taken; later, that it is busy.
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
