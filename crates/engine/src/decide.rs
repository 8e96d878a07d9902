//! The decision what to do with a resource so that it gets the definition of a template.
//!
//! The same decision is made when a stack is updated and when an update is previewed.

use crate::blueprint::ResolvedType;
use crate::drift::{Observed, suspected};
use crate::state::{Action, Status};
use crate::tree::{HalfDone, Resource};
use kiln_resources::behaviour::{DefinitionChange, OperationKind};
use kiln_resources::constraints::offline;
use kiln_resources::declare::ResourceType;
use kiln_resources::guard::guarded;
use kiln_resources::op::{self, FailureClass};
use kiln_template::{Members, Path, ResolvedDefinition, Value, convert_properties, environment};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is to be done with a resource.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    /// Nothing: it has the definition already.
    Keep,
    /// Nothing but its state: it is marked as failed, and has the definition.
    MarkComplete,
    /// Update it; these properties differ.
    Update(Vec<Arc<str>>),
    /// Replace it by another one.
    Replace(Announcement),
    /// It cannot get this definition: the class of the error, and the message.
    Reject(FailureClass, String),
    /// The environment forbids the update or the replacement.
    Restricted(environment::Action),
}

/// How the replacement of a resource shows in its events.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Announcement {
    /// Not at all: there is no object that could be lost, or the update asks for another type of object.
    Silent,
    /// As an update that needs a replacement.
    Update,
    /// As an event that says why an object is given up after a failure.
    Because(String),
}

/// A resource, its former definition and the new one.
pub(crate) struct Case<'a> {
    pub(crate) resource: &'a Resource,
    /// The built-in type that it is of; `None` if that is a template.
    pub(crate) former_type: Option<&'static ResourceType>,
    pub(crate) before: &'a ResolvedDefinition,
    pub(crate) after: &'a ResolvedDefinition,
    /// The type that it is to be of.
    pub(crate) resolved_type: &'a ResolvedType,
    pub(crate) restricted: BTreeSet<environment::Action>,
    /// A check found something wrong inside the nested stack.
    pub(crate) is_nested_check_failed: bool,
    /// What was observed of its object, if it was read.
    pub(crate) observed: Option<&'a Observed>,
}

/// Decides what to do with a resource.
pub(crate) fn decide(case: &Case<'_>) -> Decision {
    let decision = decide_freely(case);
    let restricted = match decision {
        Decision::Update(_) => environment::Action::Update,
        Decision::Replace(_) => environment::Action::Replace,
        _ => return decision,
    };
    if case.restricted.contains(&restricted) { Decision::Restricted(restricted) } else { decision }
}

fn decide_freely(case: &Case<'_>) -> Decision {
    let (resource, before, after) = (case.resource, case.before, case.after);
    let silently = Decision::Replace(Announcement::Silent);
    if !keeps_object(resource, case.former_type, case.resolved_type) {
        return silently;
    }
    if before.external_id != after.external_id {
        let message = format!(
            "Update to property external_id of {} ({}) is not supported.",
            resource.summary.name, resource.summary.type_name
        );
        return Decision::Reject(FailureClass::NotSupported, message);
    }
    if after.external_id.is_some() {
        return Decision::Keep;
    }
    let is_failed = resource.summary.state.status == Status::Failed;
    if let Some(decision) = give_up(case) {
        return decision;
    }
    if resource.summary.state.action == Action::Delete && !is_failed {
        return silently;
    }
    if case.observed == Some(&Observed::Gone) {
        return silently;
    }
    let asks_always = case
        .resolved_type
        .builtin()
        .is_some_and(|resource_type| resource_type.behaviour.replaces.is_some());
    // An update goes into every nested stack, as in Heat: nothing else finds out whether it is what it should be.
    let builtin = case.resolved_type.builtin();
    let is_entered =
        resource.child.is_some() || builtin.is_some_and(|it| it.behaviour.updates_always);
    let is_as_defined = before.equals(after) && !is_entered && !differs(case);
    if is_as_defined && asks_always {
        match is_replaced(case) {
            // Nothing about it is updated, so there is no event of an update.
            Ok(true) => return silently,
            Ok(false) => {}
            Err(failure) => return Decision::Reject(FailureClass::InternalError, failure.message),
        }
    }
    match resource.summary.state.action {
        _ if !is_as_defined => decide_change(case),
        _ if !is_failed => Decision::Keep,
        // What was to be deleted is in use again.
        Action::Delete => Decision::Update(Vec::new()),
        _ => Decision::MarkComplete,
    }
}

/// Whether the object differs from the definition that it should have already, as far as that is known.
fn differs(case: &Case<'_>) -> bool {
    let is_suspect = case.resource.half_done.is_some()
        || matches!(case.observed, Some(Observed::Read(read)) if !read.drifted.is_empty());
    is_suspect && !Converted::of(case).changed.is_empty()
}

/// Whether a resource can be brought to a type without another object: if it is of that type, if the type is the
/// successor of its own, or if both are templates. A nested stack is updated from any template to any other.
pub(crate) fn keeps_object(
    resource: &Resource,
    former_type: Option<&ResourceType>,
    resolved_type: &ResolvedType,
) -> bool {
    match (former_type, resolved_type) {
        (Some(former), ResolvedType::Builtin(resource_type)) => {
            former.name() == resource_type.name()
                || former.successor.as_deref() == Some(resource_type.name())
        }
        (None, ResolvedType::Template(resource_type)) => {
            resource.child.is_some() || resource.summary.type_name == resource_type.label
        }
        _ => false,
    }
}

/// Decides whether the object of a resource that failed is given up: it is kept as long as it is healthy. A failed
/// resource is decided on as if it were healthy until its object was read (`Tree::must_observe`).
fn give_up(case: &Case<'_>) -> Option<Decision> {
    let resource = case.resource;
    if resource.summary.state.status != Status::Failed && resource.half_done.is_none() {
        return None;
    }
    let because = |why: String| Some(Decision::Replace(Announcement::Because(why)));
    let is_marked =
        resource.summary.state.is(Action::Check, Status::Failed) && !case.is_nested_check_failed;
    if resource.child.is_some() && !is_marked {
        // A failed resource of the nested stack is replaced there.
        return None;
    }
    let builtin = case.resolved_type.builtin();
    if is_marked {
        // The event of the check, or of the mark, says why.
        let is_replaced = builtin.is_none_or(|it| it.replace_on_failed_check);
        return is_replaced.then_some(Decision::Replace(Announcement::Silent));
    }
    if resource.summary.physical_id.is_none() {
        return Some(Decision::Replace(Announcement::Silent));
    }
    let Some(resource_type) =
        builtin.filter(|it| it.behaviour.handler(OperationKind::Observe).is_some())
    else {
        // It is replaced as in the reference.
        return because("it failed, and objects of this type cannot be read".to_owned());
    };
    match case.observed {
        Some(Observed::Gone) => because("its object does not exist any more".to_owned()),
        Some(Observed::Broken(why)) => because(format!("its object is in error: {why}")),
        Some(Observed::Unreadable(failure)) => {
            Some(Decision::Reject(failure.class.clone(), failure.message.clone()))
        }
        None | Some(Observed::Read(_)) => {
            // Nothing tells what a create that failed has yet to do.
            let is_vague = resource.half_done == Some(HalfDone::Create)
                && resource_type.compared().next().is_none();
            if is_vague { because("it was not created completely".to_owned()) } else { None }
        }
    }
}

fn decide_change(case: &Case<'_>) -> Decision {
    let Some(schema) = case.resolved_type.schema() else { return Decision::Update(Vec::new()) };
    let converted = Converted::of(case);
    let changed = &converted.changed;
    let properties = changed.iter().filter_map(|name| schema.property(name));
    let immutable: Vec<&str> =
        properties.clone().filter(|property| property.immutable).map(|it| &*it.name).collect();
    if !immutable.is_empty() {
        let message = format!(
            "Update to properties {} of {} ({}) is not supported.",
            immutable.join(", "),
            case.resource.summary.name,
            case.resource.summary.type_name
        );
        return Decision::Reject(FailureClass::NotSupported, message);
    }
    match is_replaced(case) {
        Ok(true) => return Decision::Replace(Announcement::Update),
        Ok(false) => {}
        Err(failure) => return Decision::Reject(FailureClass::InternalError, failure.message),
    }
    let mut fixed = properties.filter(|property| !property.update_allowed);
    if fixed.next().is_some() && !schema.any_property {
        return Decision::Replace(Announcement::Update);
    }
    Decision::Update(converted.changed)
}

/// A part of a definition that differs from what it was.
pub(crate) struct ChangedPart {
    /// Its path below the resource: `properties.size`, `metadata`.
    pub(crate) path: String,
    pub(crate) before: Value,
    pub(crate) after: Value,
    /// Whether it is a reason to make another object.
    pub(crate) forces_replacement: bool,
    /// Whether the object has another value than the definition that it should have already.
    pub(crate) is_drifted: bool,
}

/// The parts of the definition that differ, each with whether it alone would have another object made.
pub(crate) fn changed_parts(case: &Case<'_>) -> Vec<ChangedPart> {
    let (before, after) = (case.before, case.after);
    let part = |path: &str, before: Value, after: Value| ChangedPart {
        path: path.to_owned(),
        before,
        after,
        forces_replacement: false,
        is_drifted: false,
    };
    let mut parts = Vec::new();
    if !keeps_object(case.resource, case.former_type, case.resolved_type) {
        let former = Value::Text(case.resource.summary.type_name.clone());
        let changed = part("type", former, Value::Text(after.type_name.clone()));
        parts.push(ChangedPart { forces_replacement: true, ..changed });
        return parts;
    }
    let converted = Converted::of(case);
    for name in &converted.changed {
        let value = |members: &Members| members.get(name).cloned().unwrap_or_default();
        let path = format!("properties.{name}");
        parts.push(ChangedPart {
            forces_replacement: forces_replacement(case, &converted, name),
            is_drifted: matches!(case.observed, Some(Observed::Read(read)) if read.drifted.contains_key(name)),
            ..part(&path, value(&converted.before), value(&converted.after))
        });
    }
    let names = |names: &[Arc<str>]| Value::list(names.iter().cloned().map(Value::Text));
    let policy = |of: &ResolvedDefinition| Value::from(of.deletion_policy.name());
    let others = [
        ("metadata", before.metadata.clone(), after.metadata.clone()),
        ("update_policy", before.update_policy.clone(), after.update_policy.clone()),
        ("deletion_policy", policy(before), policy(after)),
        ("depends_on", names(&before.depends_on), names(&after.depends_on)),
    ];
    let differing = others.into_iter().filter(|(_, before, after)| !before.equals(after));
    parts.extend(differing.map(|(path, before, after)| part(path, before, after)));
    parts
}

/// Whether another value of one property has another object made.
fn forces_replacement(case: &Case<'_>, converted: &Converted, name: &Arc<str>) -> bool {
    let schema = case.resolved_type.schema();
    let is_fixed = schema.is_some_and(|schema| {
        let property = schema.property(name);
        !schema.any_property && property.is_some_and(|property| !property.update_allowed)
    });
    let replaces = case.resolved_type.builtin().and_then(|it| it.behaviour.replaces);
    is_fixed
        || replaces.is_some_and(|replaces| {
            let mut after = converted.before.clone();
            after.insert(name.clone(), converted.after.get(name).cloned().unwrap_or_default());
            let changed = [name.clone()];
            let change = DefinitionChange {
                before: &converted.before,
                after: &after,
                changed: &changed,
                metadata_changed: false,
            };
            guarded("rule of replacement", || replaces(&change)).unwrap_or(false)
        })
}

/// Properties before and after, as the type expects them.
struct Converted {
    before: Members,
    after: Members,
    changed: Vec<Arc<str>>,
}

impl Converted {
    /// As the definitions say.
    fn by_definition(case: &Case<'_>) -> Converted {
        let convert = |members: &Arc<Members>| match case.resolved_type.schema() {
            Some(schema) => convert_properties(schema, members, &offline(0), &Path::Root).0,
            None => Members::new(),
        };
        let (before, after) = (convert(&case.before.properties), convert(&case.after.properties));
        let changed = differing(&before, &after);
        Converted { before, after, changed }
    }

    /// As the definitions say, and what is known of the object.
    fn of(case: &Case<'_>) -> Converted {
        let mut converted = Converted::by_definition(case);
        let Converted { before, after, changed } = &mut converted;
        if let Some(resource_type) = case.resolved_type.builtin() {
            let found = suspected(case.resource, resource_type, case.observed, before, after);
            before.extend(found);
            *changed = differing(before, after);
        }
        converted
    }
}

/// Whether the type has another object made.
fn is_replaced(case: &Case<'_>) -> Result<bool, op::Failure> {
    let replaces =
        case.resolved_type.builtin().and_then(|resource_type| resource_type.behaviour.replaces);
    let Some(replaces) = replaces else { return Ok(false) };
    // What a failed update left undone is repaired in place: only another definition has another object made.
    let converted = match case.resource.half_done {
        Some(_) => Converted::by_definition(case),
        None => Converted::of(case),
    };
    let change = DefinitionChange {
        before: &converted.before,
        after: &converted.after,
        changed: &converted.changed,
        metadata_changed: !case.before.metadata.equals(&case.after.metadata),
    };
    guarded("rule of replacement", || replaces(&change))
}

/// The names of members that differ, or that only one side has.
pub(crate) fn differing(old: &Members, new: &Members) -> Vec<Arc<str>> {
    let null = Value::Null;
    let mut names: Vec<Arc<str>> = new
        .iter()
        .filter(|(name, value)| !old.get(*name).unwrap_or(&null).equals(value))
        .map(|(name, _)| name.clone())
        .collect();
    let gone = old.iter().filter(|(name, value)| !new.contains_key(*name) && !value.is_null());
    names.extend(gone.map(|(name, _)| name.clone()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_away_differs_as_well() {
        let of = |members: &[(&str, Value)]| -> Members {
            members.iter().map(|(name, value)| (Arc::from(*name), value.clone())).collect()
        };
        let old = of(&[("a", 1.into()), ("b", 2.into()), ("c", 3.into()), ("d", Value::Null)]);
        let new = of(&[("a", 1.into()), ("b", 3.into()), ("e", 4.into()), ("f", Value::Null)]);
        assert_eq!(differing(&old, &new), ["b", "e", "c"].map(Arc::from));
    }
}
