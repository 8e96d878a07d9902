//! OS::Aodh::LBMemberHealthAlarm: an alarm that fires when a member of a load balancer pool turns
//! unhealthy.

use super::common::any_alarm;
use crate::declare::*;

pub(super) fn lb_member_health_alarm() -> ResourceType {
    ResourceType::new("OS::Aodh::LBMemberHealthAlarm")
        .about("An alarm that fires when a member of a load balancer pool turns unhealthy.")
        .since("13.0.0")
        .with(any_alarm)
        .props([
            prop("autoscaling_group_id", Str).required().updatable(),
            prop("pool", Str).required().updatable().names("octavia.pool"),
            prop("stack", Str).required(),
        ])
}
