//! Groups whose members have names that are known beforehand: numbers, or names of servers.

use super::batch::{Batch, Rolling, fits, members};
use super::{Dialect, Member, Pace, template};
use crate::behaviour::{Group, OperationKind, Stage};
use crate::declare::{Members, Value};
use crate::op::OpError;
use crate::property_access::section;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a group should have.
pub(crate) struct Goal<'g> {
    /// How many members.
    pub(crate) size: usize,
    /// The names of so many members; fewer if there are not so many.
    pub(crate) names: &'g dyn Fn(usize) -> Vec<Arc<str>>,
    /// The definition of a member.
    pub(crate) define: &'g dyn Fn(&str) -> Value,
    /// Whether a member of that name is to go whatever the size.
    pub(crate) is_removed: &'g dyn Fn(&str) -> bool,
    /// Whether members come and go in batches even if no definition changes.
    pub(crate) always_rolls: bool,
    /// What the group keeps for itself from now on.
    pub(crate) data: Members,
}

/// What the group's stack should be next.
pub(crate) fn stage(group: &Group<'_>, goal: Goal<'_>) -> Result<Stage, OpError> {
    group.check_size(goal.size)?;
    let creating = group.operation == OperationKind::Create;
    let policy = if creating { "batch_create" } else { "rolling_update" };
    let Some(pace) = section(group.update_policy, policy).map(Pace::of) else {
        return Ok(at_once(goal));
    };
    if creating && group.is_new {
        let is_last = goal.size == 0;
        let template = template(Dialect::Hot, &[]);
        return Ok(Stage { template, data: goal.data, is_last, ..Stage::default() });
    }
    let targets: BTreeSet<Arc<str>> = (goal.names)(goal.size).into_iter().collect();
    let old: Vec<Member> = group
        .members
        .iter()
        .filter(|member| !(goal.is_removed)(&member.name))
        .map(|member| (member.name.clone(), member.definition.clone()))
        .collect();
    let is_new = |(name, definition): &&Member| definition.equals(&(goal.define)(name));
    let (wanted, extra): (Vec<_>, Vec<_>) =
        old.iter().partition(|(name, _)| targets.contains(name));
    let updated = wanted.iter().filter(|member| is_new(member)).count();
    if !creating && !goal.always_rolls && updated == wanted.len() {
        return Ok(at_once(goal));
    }
    // Members beyond the target are there for a while, if a rolling update made them.
    let current = wanted.len() + extra.len();
    let rolling = Rolling { target: goal.size, current, updated };
    let stages = rolling.stages(pace, false);
    fits(stages, pace.pause, group.timeout)?;
    match rolling.next(pace) {
        Some(batch) => Ok(rolled(goal, old, batch, pace, stages == 1)),
        None => Ok(at_once(goal)),
    }
}

/// All members as they should be.
fn at_once(goal: Goal<'_>) -> Stage {
    let members: Vec<Member> = (goal.names)(goal.size)
        .into_iter()
        .map(|name| {
            let definition = (goal.define)(&name);
            (name, definition)
        })
        .collect();
    let template = template(Dialect::Hot, &members);
    Stage { template, data: goal.data, is_last: true, ..Stage::default() }
}

/// New members first; those not wanted any more go; then old ones change, the last first.
fn rolled(goal: Goal<'_>, mut old: Vec<Member>, batch: Batch, pace: Pace, is_last: bool) -> Stage {
    let names = (goal.names)(batch.capacity);
    let places: BTreeMap<&str, usize> =
        names.iter().enumerate().map(|(at, n)| (&**n, at)).collect();
    let place = |name: &str| places.get(name).copied();
    old.sort_by_key(|(name, _)| std::cmp::Reverse(place(name).unwrap_or(usize::MAX)));
    let known: BTreeSet<Arc<str>> = old.iter().map(|(name, _)| name.clone()).collect();
    let mut new = names.iter().filter(|name| !known.contains(*name)).cloned();
    let mut made = members(old, batch, goal.define, || new.next());
    made.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
    let template = template(Dialect::Hot, &made);
    let pause = if is_last { Default::default() } else { pace.pause };
    Stage { template, data: goal.data, pause, is_last, ..Stage::default() }
}
