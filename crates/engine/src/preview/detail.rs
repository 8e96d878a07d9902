//! What a plan shows of a resource besides its fate: what changes, and why.

use super::{Place, Seen};
use crate::blueprint::Blueprint;
use crate::decide::{Announcement, ChangedPart, Decision, changed_parts};
use crate::machine::Goal;
use crate::preview::Fate;
use crate::tree::{Slot, Tree};
use kiln_template::{DeletionPolicy, Expr, Location, Resource, Use, Value};
use std::sync::Arc;

/// What a plan shows of a resource besides its fate.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// The parts of its definition that differ. Of a new resource, these are its properties.
    pub changes: Vec<PartChange>,
    /// Why its object is given up, if no part of its definition is the reason.
    pub because: Option<String>,
    /// Why it is refused.
    pub refusal: Option<String>,
    /// Where it is defined.
    pub location: Option<Location>,
    /// The names of the resources of its stack that are finished before it.
    pub waits_for: Vec<Arc<str>>,
    /// Why it is not known what is in its nested stack.
    pub inside_unknown: Option<String>,
    /// Whether its object stays when the resource goes.
    pub keeps_object: bool,
    /// Whether there is no object yet, although there is a record.
    pub(super) is_unmade: bool,
}

/// A part of a definition that would change.
#[derive(Clone, Debug)]
pub struct PartChange {
    /// Its path below the resource: `properties.size`, `metadata`.
    pub path: String,
    /// The value that it has.
    pub before: Value,
    /// The value that it would have.
    pub after: Value,
    /// Whether it is a reason to make another object.
    pub forces_replacement: bool,
    /// Why it changes.
    pub causes: Vec<Cause>,
    /// Where the new value is defined.
    pub location: Option<Location>,
}

/// Why a value changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A parameter of its stack has another value.
    Parameter(Arc<str>),
    /// A resource of its stack changes: its reference, or an attribute of it.
    Resource(Arc<str>, Option<Arc<str>>),
    /// A file has another text.
    File(Arc<str>),
    /// The template is written in another way.
    Template,
    /// The parent resource generates another template.
    Parent,
    /// The object has another value than its definition.
    Object,
}

impl Tree {
    /// What a plan shows of a resource of the template.
    pub(super) fn detail(
        &self,
        place: &Place,
        blueprint: &Blueprint,
        goal: &Goal<'_>,
        chosen: Option<&(Slot, Decision)>,
        seen: &Seen,
    ) -> Detail {
        let definition = &blueprint.definition;
        let Some(resource) = definition.resource_at(goal.at) else { return Detail::default() };
        let needs = definition.graph().dependencies(goal.at).iter();
        let waits_for =
            needs.filter_map(|edge| Some(definition.resource_at(edge.to)?.name.clone()));
        let mut detail = Detail {
            location: place.locate(resource.name_span),
            waits_for: waits_for.collect(),
            ..Detail::default()
        };
        let former = place.key.and_then(|key| self.stack(key).blueprint.clone());
        let reasons = Reasons { place, blueprint, former: former.as_deref(), resource, seen };
        let Some((slot, decision)) = chosen else {
            let given = goal.definition.properties.iter();
            detail.changes = given.map(|(name, value)| reasons.given(name, value)).collect();
            return detail;
        };
        match decision {
            Decision::Keep | Decision::MarkComplete => return detail,
            Decision::Replace(Announcement::Because(why)) => detail.because = Some(why.clone()),
            Decision::Reject(_, why) => detail.refusal = Some(why.clone()),
            Decision::Restricted(what) => {
                detail.refusal = Some(format!("{} is restricted for resource.", what.name()));
            }
            Decision::Update(_) | Decision::Replace(_) => {}
        }
        match self.case(blueprint, goal, *slot) {
            Some(case) => {
                let parts = changed_parts(&case).into_iter();
                detail.changes = parts.map(|part| reasons.of(part)).collect();
            }
            None => detail.is_unmade = true,
        }
        let state = self.resource(*slot).summary.state;
        if state.action == crate::state::Action::Init {
            detail.is_unmade = true;
        }
        let is_replaced = matches!(decision, Decision::Replace(_));
        let is_explained = detail.changes.iter().any(|change| change.forces_replacement);
        if is_replaced && !is_explained && detail.because.is_none() && !detail.is_unmade {
            detail.because = Some(self.loss(*slot));
        }
        detail
    }

    /// Why the object of a resource is replaced, if neither its definition nor an event says so.
    fn loss(&self, slot: Slot) -> String {
        match self.has_lost_object(slot) {
            true => "its object does not exist any more".to_owned(),
            false => format!("it is in the state {}", self.resource(slot).summary.state),
        }
    }

    /// What a plan shows of a resource that would be deleted.
    pub(super) fn removal_detail(&self, slot: Slot) -> Detail {
        let definition = self.resource(slot).definition.as_ref();
        let keeps_object = definition.is_some_and(|it| {
            it.deletion_policy == DeletionPolicy::Retain || it.external_id.is_some()
        });
        Detail { keeps_object, ..Detail::default() }
    }
}

impl Place {
    fn locate(&self, span: kiln_template::Span) -> Option<Location> {
        self.sources.as_ref()?.locate(span)
    }
}

/// What the causes of changes are found with.
struct Reasons<'a> {
    place: &'a Place,
    blueprint: &'a Blueprint,
    former: Option<&'a Blueprint>,
    resource: &'a Resource,
    seen: &'a Seen,
}

impl Reasons<'_> {
    /// A property of a new resource.
    fn given(&self, name: &str, value: &Value) -> PartChange {
        let path = format!("properties.{name}");
        let location = part_of(self.resource, &path).and_then(|expr| self.place.locate(expr.span));
        PartChange {
            path,
            before: Value::Null,
            after: value.clone(),
            forces_replacement: false,
            causes: Vec::new(),
            location,
        }
    }

    fn of(&self, part: ChangedPart) -> PartChange {
        let expr = part_of(self.resource, &part.path);
        let mut causes = match (expr, &self.place.sources) {
            // The template was generated.
            (_, None) if self.place.key.is_some() && self.place.depth > 0 => vec![Cause::Parent],
            (Some(expr), _) => self.causes(expr, &part.path),
            (None, _) => match self.former_part(&part.path) {
                Some(_) => vec![Cause::Template],
                None => Vec::new(),
            },
        };
        if part.is_drifted {
            causes.push(Cause::Object);
        }
        PartChange {
            location: expr.and_then(|expr| self.place.locate(expr.span)),
            path: part.path,
            before: part.before,
            after: part.after,
            forces_replacement: part.forces_replacement,
            causes,
        }
    }

    fn former_part(&self, path: &str) -> Option<&Expr> {
        part_of(self.former?.definition.resource(&self.resource.name)?, path)
    }

    /// Why an expression has another value.
    fn causes(&self, expr: &Expr, path: &str) -> Vec<Cause> {
        let uses = expr.uses(&self.blueprint.definition);
        let mut causes: Vec<Cause> = uses.into_iter().filter_map(|it| self.cause(it)).collect();
        let is_rewritten = self.former_part(path).is_none_or(|former| !former.is_same(expr));
        if is_rewritten && self.former.is_some() {
            causes.push(Cause::Template);
        }
        causes
    }

    fn cause(&self, used: Use) -> Option<Cause> {
        let fate = |name: &str| self.seen.fates.get(name).copied();
        match used {
            Use::Parameter(name) => {
                let now = self.blueprint.definition.parameter(&name).ok();
                let before = self.former.and_then(|it| it.definition.parameter(&name).ok());
                let is_same = match (before, now) {
                    (Some(before), Some(now)) => before.equals(&now),
                    (before, now) => before.is_none() && now.is_none(),
                };
                (!is_same).then_some(Cause::Parameter(name))
            }
            Use::Reference(name) => {
                let stays = matches!(fate(&name), Some(Fate::Unchanged | Fate::Updated));
                (!stays).then_some(Cause::Resource(name, None))
            }
            Use::Attribute(name, attribute) => {
                let stays = fate(&name) == Some(Fate::Unchanged);
                (!stays).then_some(Cause::Resource(name, Some(attribute)))
            }
            Use::File(name) => {
                let now = self.blueprint.shared.files.get(&name);
                let before = self.former.and_then(|it| it.shared.files.get(&name));
                (now != before).then_some(Cause::File(name))
            }
        }
    }
}

/// The expression of a part of a resource.
fn part_of<'r>(resource: &'r Resource, path: &str) -> Option<&'r Expr> {
    match path {
        "metadata" => resource.metadata.as_ref(),
        "update_policy" => resource.update_policy.as_deref(),
        "deletion_policy" => resource.deletion_policy.as_deref(),
        path => {
            let properties = resource.properties.as_ref()?;
            // A function may stand in the place of all properties.
            match properties.as_map() {
                Some(_) => properties.get(path.strip_prefix("properties.")?),
                None => Some(properties),
            }
        }
    }
}
