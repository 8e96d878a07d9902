//! OS::Aodh::LBMemberHealthAlarm: an alarm that fires when a member of a load balancer pool turns
//! unhealthy.

use super::common::{any_alarm, rest_alarm, ruled};
use crate::declare::*;
use serde_json::json;

pub(super) fn lb_member_health_alarm() -> ResourceType {
    let kind = ResourceType::new("OS::Aodh::LBMemberHealthAlarm")
        .about("An alarm that fires when a member of a load balancer pool turns unhealthy.")
        .since("13.0.0")
        .with(any_alarm)
        .props([
            prop(
                "autoscaling_group_id",
                Str,
                "ID of the scaling group whose servers are the members of the pool.",
            )
            .required()
            .updatable(),
            prop("pool", Str, "Name or ID of the Octavia pool whose members are watched.")
                .required()
                .updatable()
                .finds(POOL),
            prop(
                "stack",
                Str,
                "ID of the root stack that is updated to replace an unhealthy member.",
            )
            .required(),
        ]);
    rest_alarm(kind, |op, _, fields| {
        let rule = json!({
            "autoscaling_group_id": op.text("autoscaling_group_id"),
            "pool_id": op.text("pool"),
            "stack_id": op.text("stack"),
        });
        ruled(op, fields, "loadbalancer_member_health", rule);
    })
}
