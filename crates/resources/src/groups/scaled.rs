//! Groups that grow and shrink: members are alike, with names that say nothing.

use super::batch::{Batch, Rolling, fits, members};
use super::{Dialect, Member, Pace, template};
use crate::behaviour::{Group, GroupMember, OperationKind, Stage};
use crate::declare::{Members, Value};
use crate::op::OpError;
use crate::property_access::{count, whole};
use std::sync::Arc;

/// The size that a group had before a rolling update, which may make it larger for a while.
const SIZE_BEFORE: &str = "size_before_rolling_update";

/// What a group should have.
pub(crate) struct Goal {
    /// The definition of a member.
    pub(crate) definition: Value,
    /// The size that is asked for.
    pub(crate) desired: Option<usize>,
    /// The size of a new group if none is asked for.
    pub(crate) initial: usize,
    /// The bounds of the size.
    pub(crate) bounds: (usize, usize),
    /// How fast old members may change; they do not if nothing is said.
    pub(crate) pace: Option<Pace>,
    /// The language of the group's template.
    pub(crate) dialect: Dialect,
}

impl Goal {
    fn clamp(&self, size: usize) -> usize {
        let (min, max) = self.bounds;
        size.max(min).min(max)
    }
}

/// What the group's stack should be next.
pub(crate) fn stage(group: &mut Group<'_>, goal: &Goal) -> Result<Stage, OpError> {
    if let Some(size) = group.wanted_size {
        return resized(group, goal, size);
    }
    if group.operation == OperationKind::Create {
        let size = goal.clamp(goal.desired.unwrap_or(goal.initial));
        return resized(group, goal, size);
    }
    let before = count(group.data, SIZE_BEFORE);
    let stale = group.members.iter().filter(|member| is_stale(member, goal)).count();
    if let Some(pace) = goal.pace
        && stale > 0
    {
        let before = before.unwrap_or(group.members.len());
        return rolled(group, goal, pace, before, group.members.len() - stale);
    }
    let healthy = group.members.iter().filter(|member| !member.is_failed).count();
    let size = goal.desired.or(before).unwrap_or(healthy);
    resized(group, goal, goal.clamp(size))
}

/// A group of another size: old members keep the definitions they have.
fn resized(group: &mut Group<'_>, goal: &Goal, size: usize) -> Result<Stage, OpError> {
    group.check_size(size)?;
    let data = if group.data.contains_key(SIZE_BEFORE) {
        Members::from_iter([(SIZE_BEFORE.into(), Value::Null)])
    } else {
        Members::new()
    };
    let template = next(group, goal, Batch { capacity: size, changes: 0 });
    Ok(Stage { template, data, is_last: true, ..Stage::default() })
}

/// The next batch of a rolling update. The group has its new size afterwards.
fn rolled(
    group: &mut Group<'_>,
    goal: &Goal,
    pace: Pace,
    before: usize,
    updated: usize,
) -> Result<Stage, OpError> {
    let target = goal.desired.map_or(before, |desired| desired.min(before));
    let rolling = Rolling { target, current: group.members.len(), updated };
    let stages = rolling.stages(pace, true);
    fits(stages, pace.pause, group.timeout)?;
    let size = goal.clamp(goal.desired.unwrap_or(target));
    group.check_size(size)?;
    let Some(batch) = rolling.next(pace) else { return resized(group, goal, size) };
    let is_last = stages == 1 && batch.capacity == size;
    let kept = if is_last { Value::Null } else { whole(before) };
    let data = Members::from_iter([(SIZE_BEFORE.into(), kept)]);
    let pause = if stages == 1 { Default::default() } else { pace.pause };
    let template = next(group, goal, batch);
    Ok(Stage { template, data, pause, is_last, ..Stage::default() })
}

/// The group's template after a batch.
///
/// Failed members go first, then the oldest. Where old members change at all, those that are not up to
/// date go before the others: the reference keeps some of them if a rolling update made the group
/// larger for a while.
fn next(group: &mut Group<'_>, goal: &Goal, batch: Batch) -> Value {
    let mut old: Vec<&GroupMember> = group.members.iter().collect();
    let rolls = goal.pace.is_some();
    old.sort_by_key(|member| (!member.is_failed, rolls && !is_stale(member, goal)));
    let old: Vec<Member> =
        old.into_iter().map(|m| (m.name.clone(), m.definition.clone())).collect();
    let fresh = || Some(Arc::from((group.new_id)()));
    let made = members(old, batch, |_| goal.definition.clone(), fresh);
    template(goal.dialect, &made)
}

fn is_stale(member: &GroupMember, goal: &Goal) -> bool {
    !member.definition.equals(&goal.definition)
}
