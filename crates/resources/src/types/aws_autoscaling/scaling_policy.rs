//! AWS::AutoScaling::ScalingPolicy: a rule that resizes a scaling group when its signed URL is
//! called.

use crate::declare::*;
use crate::scaling;
use crate::types::heat::signals::{called_by_url, policy, url, with_user};
use kiln_template::functions::step_into_attribute;

pub(super) fn scaling_policy() -> ResourceType {
    ResourceType::new("AWS::AutoScaling::ScalingPolicy")
        .about("A rule that resizes a scaling group when its signed URL is called.")
        .suspendable()
        .props([
            prop("AdjustmentType", Str, "Whether the adjustment is added to the size, replaces it, or is a percentage of it.").required().updatable().one_of([
                "ChangeInCapacity",
                "ExactCapacity",
                "PercentChangeInCapacity",
            ]),
            prop("AutoScalingGroupName", Str, "Reference to the scaling group that the policy resizes.").required(),
            prop("Cooldown", Int, "Seconds after an adjustment during which further ones are ignored; the group's own if omitted.").updatable(),
            prop("MinAdjustmentStep", Int, "Fewest servers to add or remove when the adjustment is a percentage.").updatable().min(0),
            prop("ScalingAdjustment", Int, "Number or percentage to grow by, negative to shrink, or the new size with `ExactCapacity`.").required().updatable(),
        ])
        .attrs([attr("AlarmUrl", Str, "Signed URL that runs the policy when it is called with POST.").uncached().handed_out()])
        .with(with_user)
        .creates(|op| Box::pin(policy(op)))
        .reference(called_by_url)
        .attributes(|view, name, path| {
            let answer = if name == "AlarmUrl" { url(view) } else { Value::Null };
            Ok(Some(step_into_attribute(&answer, path)))
        })
        .on_signal(|view, signal| scaling::on_signal(&WORDS, view, signal))
}

const WORDS: scaling::Words = scaling::Words {
    group: "AutoScalingGroupName",
    kind: "AdjustmentType",
    adjustment: "ScalingAdjustment",
    step: "MinAdjustmentStep",
    cooldown: "Cooldown",
};
