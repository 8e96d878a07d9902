//! OS::Heat::ScalingPolicy: a rule that resizes a scaling group when it is signalled.

use crate::declare::*;

pub(super) fn scaling_policy() -> ResourceType {
    ResourceType::new("OS::Heat::ScalingPolicy")
        .about("A rule that resizes a scaling group when it is signalled.")
        .signalled()
        .suspendable()
        .props([
            prop("adjustment_type", Str).required().updatable().one_of([
                "change_in_capacity",
                "exact_capacity",
                "percent_change_in_capacity",
            ]),
            prop("auto_scaling_group_id", Str).required(),
            prop("cooldown", Num).updatable(),
            prop("min_adjustment_step", Int).updatable().min(0),
            prop("scaling_adjustment", Num).required().updatable(),
        ])
        .attrs([attr("alarm_url", Str).uncached(), attr("signal_url", Str).since("5.0.0")])
}
