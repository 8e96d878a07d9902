//! OS::Heat::ScalingPolicy: a rule that resizes a scaling group when it is signalled.

use crate::declare::*;
use crate::scaling;
use crate::types::heat::signals::{owner_endpoint, policy, url, with_user};
use kiln_template::functions::step_into_attribute;

pub(super) fn scaling_policy() -> ResourceType {
    ResourceType::new("OS::Heat::ScalingPolicy")
        .about("A rule that resizes a scaling group when it is signalled.")
        .suspendable()
        .props([
            prop("adjustment_type", Str, "Whether the adjustment is added to the size, replaces it, or is a percentage of it.").required().updatable().one_of([
                "change_in_capacity",
                "exact_capacity",
                "percent_change_in_capacity",
            ]),
            prop("auto_scaling_group_id", Str, "Reference to the scaling group that the policy resizes.").required(),
            prop("cooldown", Num, "Seconds after an adjustment during which further ones are ignored; the group's own if omitted.").updatable(),
            prop("min_adjustment_step", Int, "Fewest members to add or remove when the adjustment is a percentage.").updatable().min(0),
            prop("scaling_adjustment", Num, "Number or percentage to grow by, negative to shrink, or the new size with `exact_capacity`.").required().updatable(),
        ])
        .attrs([attr("alarm_url", Str, "Signed URL that runs the policy when it is called with POST, without a token.").uncached().handed_out(), attr("signal_url", Str, "URL of the orchestration API that runs the policy when called with a token.").since("5.0.0")])
        .with(with_user)
        .creates(|op| Box::pin(policy(op)))
        .attributes(|view, name, path| {
            let answer = match name {
                "alarm_url" => url(view),
                "signal_url" => owner_endpoint(view),
                _ => Value::Null,
            };
            Ok(Some(step_into_attribute(&answer, path)))
        })
        .on_signal(|view, signal| scaling::on_signal(&WORDS, view, signal))
}

const WORDS: scaling::Words = scaling::Words {
    group: "auto_scaling_group_id",
    kind: "adjustment_type",
    adjustment: "scaling_adjustment",
    step: "min_adjustment_step",
    cooldown: "cooldown",
};
