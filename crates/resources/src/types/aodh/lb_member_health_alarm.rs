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
            prop("autoscaling_group_id", Str).required().updatable(),
            prop("pool", Str).required().updatable().names("octavia.pool"),
            prop("stack", Str).required(),
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
