//! Groups that grow and shrink. Their members are alike and have random names.

use super::batch::{Batch, Rolling, fits, members};
use super::{Dialect, Member, Pace, template};
use crate::behaviour::{Group, GroupMember, OperationKind, Stage};
use crate::declare::{Members, Value};
use crate::op::OpError;
use crate::property_access::{count, whole};
use std::sync::Arc;

/// The size that a group had before a rolling update, which may make it larger for a while.
const SIZE_BEFORE: &str = "size_before_rolling_update";

/// The wanted state of a group.
pub(crate) struct Goal {
    /// The definition of a new member.
    pub(crate) definition: Value,
    /// The size from the template; `None` if a scaling policy decides.
    pub(crate) desired: Option<usize>,
    /// The size of a new group without a size in its template.
    pub(crate) initial: usize,
    /// The smallest and the largest size.
    pub(crate) bounds: (usize, usize),
    /// The pace of changes to old members; without one they keep their definitions.
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

/// Computes the next template of the group's stack.
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

/// The stage that resizes a group. Old members keep their definitions.
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

/// The next batch of a rolling update. The group has its new size after the last one.
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
/// A smaller group loses failed members first, then the oldest. In a rolling update, members with an outdated
/// definition go before the others; Heat keeps some of those if the update made the group larger for a while.
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
