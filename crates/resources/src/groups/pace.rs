//! The pace of a group: how many of its members may change at a time.

use crate::declare::{Int, Members, Num, Prop, prop};
use crate::property_access::{count, given, seconds};
use std::time::Duration;

/// How fast a group may change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The largest number of members that change or are created in one stage; `max_batch_size` in Heat.
    pub(crate) batch: usize,
    /// The smallest number of members that stay unchanged in each stage.
    pub(crate) min_in_service: usize,
    /// The time between two stages.
    pub(crate) pause: Duration,
}

impl Pace {
    /// The properties of a rolling update, which [`Pace::of`] reads.
    pub(crate) fn props() -> [Prop; 3] {
        [
            prop(
                "max_batch_size",
                Int,
                "Largest number of members that are updated at the same time.",
            )
            .default(1)
            .min(1),
            prop(
                "min_in_service",
                Int,
                "Number of members that must stay in service while others are being updated.",
            )
            .default(0)
            .min(0),
            prop("pause_time", Num, "Seconds between two batches of updates.").default(0).min(0),
        ]
    }

    /// The pace that a policy asks for.
    pub(crate) fn of(policy: &Members) -> Pace {
        Pace {
            batch: count(policy, "max_batch_size").unwrap_or(1),
            min_in_service: count(policy, "min_in_service").unwrap_or(0),
            pause: given(policy, "pause_time").map(seconds).unwrap_or_default(),
        }
    }
}
