//! AWS::AutoScaling::ScalingPolicy: a rule that resizes a scaling group when its signed URL is
//! called.

use crate::declare::*;

pub(super) fn scaling_policy() -> ResourceType {
    ResourceType::new("AWS::AutoScaling::ScalingPolicy")
        .about("A rule that resizes a scaling group when its signed URL is called.")
        .signalled()
        .suspendable()
        .props([
            prop("AdjustmentType", Str).required().updatable().one_of([
                "ChangeInCapacity",
                "ExactCapacity",
                "PercentChangeInCapacity",
            ]),
            prop("AutoScalingGroupName", Str).required(),
            prop("Cooldown", Int).updatable(),
            prop("MinAdjustmentStep", Int).updatable().min(0),
            prop("ScalingAdjustment", Int).required().updatable(),
        ])
        .attrs([attr("AlarmUrl", Str).uncached()])
}
