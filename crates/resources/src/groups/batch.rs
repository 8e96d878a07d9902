//! The arithmetic of groups: which members stay, which change, which are new.

use super::{Member, Pace};
use crate::declare::Value;
use crate::op::{FailureClass, OpError};
use std::sync::Arc;
use std::time::Duration;

/// The progress of a rolling update, in numbers of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rolling {
    /// The number of members after the update.
    pub(crate) target: usize,
    /// The number of members now.
    pub(crate) current: usize,
    /// The number of members that have the new definition.
    pub(crate) updated: usize,
}

/// A stage of a rolling update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// The number of members after the stage; it may exceed the target for a while.
    pub(crate) capacity: usize,
    /// The number of members that the stage creates or changes.
    pub(crate) changes: usize,
}

impl Rolling {
    /// The next stage; `None` after the last.
    pub(crate) fn next(self, pace: Pace) -> Option<Batch> {
        let Rolling { target, current, updated } = self;
        if updated >= current && current == target {
            return None;
        }
        let in_service = pace.min_in_service.min(target).min(current);
        let changes = pace.batch.max(1).min(target.saturating_sub(updated));
        // If too few members would stay unchanged, the group grows for a while.
        let others = current.min(target - changes).max(in_service);
        Some(Batch { capacity: changes + others, changes })
    }

    /// The progress after a stage; `extra_count` says whether members beyond the target count as updated.
    fn after(self, batch: Batch, extra_count: bool) -> Rolling {
        let extra = batch.capacity.saturating_sub(self.current.max(self.target));
        let gained = if extra_count { batch.changes } else { batch.changes.saturating_sub(extra) };
        Rolling { current: batch.capacity, updated: self.updated + gained, ..self }
    }

    /// The number of stages that are left; `extra_count` says whether members beyond the target count as
    /// updated.
    pub(crate) fn stages(mut self, pace: Pace, extra_count: bool) -> usize {
        let mut stages = 0;
        while let Some(batch) = self.next(pace) {
            self = self.after(batch, extra_count);
            stages += 1;
        }
        stages
    }
}

/// Refuses an update whose pauses alone exceed the timeout of the stack.
pub(crate) fn fits(stages: usize, pause: Duration, timeout: Duration) -> Result<(), OpError> {
    let pauses = u32::try_from(stages.saturating_sub(1)).unwrap_or(u32::MAX);
    if pause.is_zero() || pause.saturating_mul(pauses) < timeout {
        return Ok(());
    }
    let message = "The current update policy will result in stack update timeout.";
    Err(OpError::failed(FailureClass::ValueError, message))
}

/// The members of a group's next template.
///
/// The last of the old members stay, as many as fit. The changes that new members do not need go to the first
/// old members with an outdated definition.
pub(crate) fn members(
    mut old: Vec<Member>,
    batch: Batch,
    define: impl Fn(&str) -> Value,
    mut fresh: impl FnMut() -> Option<Arc<str>>,
) -> Vec<Member> {
    let Batch { capacity, changes } = batch;
    old.drain(..old.len().saturating_sub(capacity));
    let created = capacity - old.len();
    let mut changes = changes.saturating_sub(created);
    for (name, definition) in &mut old {
        let new = define(name);
        if changes > 0 && !definition.equals(&new) {
            *definition = new;
            changes -= 1;
        }
    }
    old.extend((0..created).map_while(|_| fresh()).map(|name| {
        let definition = define(&name);
        (name, definition)
    }));
    old
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn pace(batch: usize, min_in_service: usize) -> Pace {
        Pace { batch, min_in_service, pause: Duration::ZERO }
    }

    fn all(mut rolling: Rolling, pace: Pace, extra_count: bool) -> Vec<(usize, usize)> {
        let mut seen = Vec::new();
        while let Some(batch) = rolling.next(pace) {
            seen.push((batch.capacity, batch.changes));
            rolling = rolling.after(batch, extra_count);
            assert!(seen.len() < 10_000, "{rolling:?} never ends");
        }
        seen
    }

    #[test]
    fn batches_are_as_the_reference_makes_them() {
        for (target, current, pace, extra_count, expected) in [
            // A group that grows from 2 to 4, one at a time.
            (4, 2, pace(1, 0), false, vec![(3, 1), (4, 1), (4, 1), (4, 1)]),
            // All three must stay in service: the group gets a fourth member, changes three, and removes one.
            (3, 3, pace(1, 3), false, vec![(4, 1), (4, 1), (4, 1), (4, 1), (3, 0)]),
            // The same update if the fourth member counts as updated.
            (3, 3, pace(1, 3), true, vec![(4, 1), (4, 1), (4, 1), (3, 0)]),
            (2, 2, pace(1, 2), true, vec![(3, 1), (3, 1), (2, 0)]),
            (2, 4, pace(1, 0), true, vec![(2, 1), (2, 1)]),
            (3, 0, pace(2, 0), false, vec![(2, 2), (3, 1)]),
            (0, 3, pace(1, 0), false, vec![(0, 0)]),
            (3, 3, pace(9, 9), false, vec![(6, 3), (6, 3), (3, 0)]),
        ] {
            let rolling = Rolling { target, current, updated: 0 };
            assert_eq!(all(rolling, pace, extra_count), expected, "{rolling:?} {pace:?}");
        }
        let done = Rolling { target: 3, current: 3, updated: 3 };
        assert_eq!(done.next(pace(1, 3)), None);
    }

    #[test]
    fn pauses_that_take_all_the_time_are_refused() {
        let minute = Duration::from_secs(60);
        assert!(fits(3, minute, 3 * minute).is_ok());
        assert!(fits(4, minute, 3 * minute).is_err());
        assert!(fits(4, Duration::ZERO, Duration::ZERO).is_ok());
    }

    #[test]
    fn the_last_stay_and_the_first_of_them_change() {
        let old = ["a", "b", "c"].map(|name| (Arc::from(name), Value::from("old")));
        let mut names = ["x", "y"].into_iter().map(Arc::from);
        let batch = Batch { capacity: 2, changes: 1 };
        let made = members(old.to_vec(), batch, |_| "new".into(), || names.next());
        assert_eq!(made, [("b".into(), "new".into()), ("c".into(), "old".into())]);
        let batch = Batch { capacity: 5, changes: 3 };
        let made = members(old.to_vec(), batch, |_| "new".into(), || names.next());
        let shown: Vec<_> = made.iter().map(|(name, value)| (&**name, value.clone())).collect();
        let [new, old] = ["new", "old"].map(Value::from);
        assert_eq!(
            shown,
            [("a", new.clone()), ("b", old.clone()), ("c", old), ("x", new.clone()), ("y", new)]
        );
    }

    proptest! {
        #[test]
        fn a_rolling_update_ends_at_its_target(
            target in 0..20_usize, current in 0..20_usize, updated in 0..20_usize,
            batch in 1..8_usize, min in 0..25_usize, extra_count: bool,
        ) {
            let updated = updated.min(current);
            let pace = pace(batch, min);
            let mut rolling = Rolling { target, current, updated };
            let mut stages = 0;
            while let Some(batch) = rolling.next(pace) {
                prop_assert!(batch.changes <= pace.batch);
                prop_assert!(batch.capacity <= target.max(current) + pace.batch);
                // Members that neither change nor go stay in service.
                let left_alone = (batch.capacity - batch.changes).min(rolling.current);
                prop_assert!(left_alone >= min.min(target).min(rolling.current));
                rolling = rolling.after(batch, extra_count);
                stages += 1;
                prop_assert!(stages <= 2 * (target + current) + 2);
            }
            prop_assert_eq!(rolling.current, target);
            prop_assert!(rolling.updated >= target);
        }
    }
}
