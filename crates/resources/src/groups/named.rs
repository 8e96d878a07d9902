//! Groups whose members have predictable names: numbers, or the names of servers.

use super::batch::{Batch, Rolling, fits, members};
use super::{Dialect, Member, Pace, template};
use crate::behaviour::{Group, OperationKind, Stage};
use crate::declare::{Members, Value};
use crate::op::OpError;
use crate::property_access::section;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The wanted state of a group.
pub(crate) struct Goal<'g> {
    /// The wanted number of members.
    pub(crate) size: usize,
    /// Returns the names of a number of members; fewer if the group cannot have so many.
    pub(crate) names: &'g dyn Fn(usize) -> Vec<Arc<str>>,
    /// Returns the definition of a member.
    pub(crate) define: &'g dyn Fn(&str) -> Value,
    /// Whether a member is removed even if the size does not change; Heat's `removal_policies`.
    pub(crate) is_removed: &'g dyn Fn(&str) -> bool,
    /// Whether members are created and removed in batches even if no definition changes.
    pub(crate) always_rolls: bool,
    /// The data of the resource after the stage.
    pub(crate) data: Members,
}

/// Computes the next template of the group's stack.
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
    // A rolling update may have created members beyond the target, which stay for a while.
    let current = wanted.len() + extra.len();
    let rolling = Rolling { target: goal.size, current, updated };
    let stages = rolling.stages(pace, false);
    fits(stages, pace.pause, group.timeout)?;
    match rolling.next(pace) {
        Some(batch) => Ok(rolled(goal, old, batch, pace, stages == 1)),
        None => Ok(at_once(goal)),
    }
}

/// The stage that brings all members up to date at once.
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

/// The next batch of a rolling update: it creates new members, removes unwanted ones, and then changes old ones
/// from the last to the first.
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
