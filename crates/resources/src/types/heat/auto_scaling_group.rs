//! OS::Heat::AutoScalingGroup: a group of like resources of any type that grows and shrinks between
//! two bounds.

use crate::declare::*;

pub(super) fn auto_scaling_group() -> ResourceType {
    ResourceType::new("OS::Heat::AutoScalingGroup")
        .about("A group of like resources of any type that grows and shrinks between two bounds.")
        .nested()
        .any_attribute()
        .since("2014.1")
        .props([
            prop("cooldown", Int).updatable(),
            prop("desired_capacity", Int).updatable(),
            prop("max_size", Int).required().updatable().min(0),
            prop("min_size", Int).required().updatable().min(0),
            prop("resource", Map).required().updatable(),
            prop("rolling_updates", Map)
                .updatable()
                .default(map([("max_batch_size", 1), ("min_in_service", 0), ("pause_time", 0)]))
                .members([
                    prop("max_batch_size", Int).default(1).min(1),
                    prop("min_in_service", Int).default(0).min(0),
                    prop("pause_time", Num).default(0).min(0),
                ]),
        ])
        .attrs([
            attr("current_size", Int).since("2015.1"),
            attr("outputs", Map).since("2014.2"),
            attr("outputs_list", List).since("2014.2"),
            attr("refs", List).since("7.0.0"),
            attr("refs_map", Map).since("7.0.0"),
        ])
}
