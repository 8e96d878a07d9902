//! Previews of the resources of nested stacks.

use super::room::Room;
use super::{Fate, Forecast, Place, Seen};
use crate::blueprint::{Blueprint, Identity, Recipe, ResolvedType, Source};
use crate::ids::RecipeId;
use crate::machine::Goal;
use crate::resolver::StackScope;
use crate::tree::{Slot, StackKey, Tree};
use kiln_resources::behaviour::{
    Group, GroupMember, OperationKind, Siblings, Stage, StageFn, TOO_MANY,
};
use kiln_resources::guard::guarded;
use kiln_resources::op::{Failure, FailureClass, OpError, merge_data};
use kiln_template::{Members, Value};
use std::sync::Arc;
use uuid::Uuid;

/// How many stages of a group are looked at: each brings it closer to what it should be.
const MAX_STAGES: usize = 10_000;

/// What would be in a nested stack.
#[derive(Default)]
pub(super) struct Inside {
    /// The description of its template.
    pub(super) nested: Option<Value>,
    /// The fates of its resources.
    pub(super) forecasts: Vec<Forecast>,
    /// Why its resources are not known yet.
    pub(super) unknown: Option<String>,
}

impl Tree {
    pub(super) fn forecast_nested(
        &mut self,
        place: &Place,
        parent_blueprint: &Blueprint,
        goal: &Goal<'_>,
        (existing, seen): ((Option<Slot>, Fate), &Seen),
        room: &mut Room,
    ) -> Result<Inside, String> {
        match self.nested_stack(place, parent_blueprint, goal, existing, seen) {
            Ok(Some((inner, blueprint))) => {
                let inside = self.forecast(&inner, &blueprint, room)?;
                let nested = Some(super::described(&blueprint.definition));
                Ok(Inside { nested, forecasts: inside, unknown: None })
            }
            Ok(None) => Ok(Inside::default()),
            // What depends on values that are not known yet is left out.
            Err(Unforeseen::NotKnownYet(why)) if !place.is_new => {
                Ok(Inside { unknown: Some(why), ..Inside::default() })
            }
            Err(
                Unforeseen::Limit(why) | Unforeseen::Refused(why) | Unforeseen::NotKnownYet(why),
            ) => Err(why),
        }
    }

    /// The nested stack of a resource when it is what it should be; nothing if the resource has none.
    pub(super) fn nested_stack(
        &mut self,
        place: &Place,
        parent_blueprint: &Blueprint,
        goal: &Goal<'_>,
        (current, fate): (Option<Slot>, Fate),
        seen: &Seen,
    ) -> Result<Option<(Place, Blueprint)>, Unforeseen> {
        if !goal.resolved_type.is_nested() {
            return Ok(None);
        }
        let Some(name) = parent_blueprint.definition.resource_at(goal.at).map(|it| it.name.clone())
        else {
            return Ok(None);
        };
        let kept = current.filter(|_| matches!(fate, Fate::Updated | Fate::Unchanged));
        let child = kept.and_then(|slot| self.resource(slot).child);
        if place.depth >= self.config.max_depth {
            let limit = self.config.max_depth;
            let message = format!("Request limit exceeded: Recursion depth exceeds {limit}.");
            return Err(Unforeseen::Limit(message));
        }
        let nothing = Recipe::nothing(RecipeId(Uuid::nil()));
        let (recipe, entry) = match goal.resolved_type {
            ResolvedType::Template(resource_type) => {
                let template = Source::File(resource_type.url.clone(), resource_type.text.clone());
                let parameters = goal.definition.properties.clone();
                (Recipe { template, parameters, ..nothing }, Some(&resource_type.entry))
            }
            ResolvedType::Builtin(resource_type) => {
                let Some(stages) = resource_type.behaviour.stages else { return Ok(None) };
                let world = place.key.map(|key| self.scope(key));
                let siblings = Drawn { world, parent_blueprint, seen };
                let stage = match self.last_stage(stages, &name, (kept, child), &siblings) {
                    Ok(stage) => stage,
                    Err(OpError::Failed(failure)) => return Err(failure.into()),
                    Err(OpError::Replace) => return Ok(None),
                };
                let template = match stage.file {
                    Some(url) => match parent_blueprint.shared.files.get(&url) {
                        Some(text) => Source::File(url, text.clone()),
                        None => {
                            let message = format!("Could not fetch remote template \"{url}\"");
                            return Err(Unforeseen::Refused(message));
                        }
                    },
                    None => Source::Made(stage.template),
                };
                let parameters = Arc::new(stage.parameters);
                (Recipe { template, parameters, aliases: stage.aliases, ..nothing }, None)
            }
            ResolvedType::Unknown(_) => return Ok(None),
        };
        let inner = Place {
            key: child,
            name: match child {
                Some(child) => self.stack(child).summary.name.clone(),
                None => format!("{}-{name}", place.name).into(),
            },
            parent_resource: Some(name.clone()),
            depth: place.depth + 1,
            is_new: place.is_new,
            is_planned: place.is_planned,
            sources: place.sources.as_ref().and_then(|_| super::plan::sources(&recipe.template)),
        };
        let id = child.map(|child| self.stack(child).id);
        let config = self.config.clone();
        let mut templates = std::mem::take(&mut self.templates);
        let kept_text = &|resource: &str, url: &str| self.kept_text(child?, resource, url);
        let identity = Identity { name: &inner.name, id, project: &self.project, kept_text };
        let parent_resource = (&*name, entry);
        let blueprint =
            parent_blueprint.of_child(&config, &mut templates, &recipe, &identity, parent_resource);
        self.templates = templates;
        match blueprint {
            Ok(blueprint) => Ok(Some((inner, blueprint))),
            Err(why) => Err(Unforeseen::NotKnownYet(why)),
        }
    }

    /// What the stack of a group is when it is what it should be.
    fn last_stage(
        &self,
        stages: StageFn,
        name: &str,
        (kept, child): (Option<Slot>, Option<StackKey>),
        siblings: &Drawn<'_>,
    ) -> Result<Stage, OpError> {
        let properties = siblings.seen.properties.get(name).cloned().unwrap_or_default();
        let reference = kept.map(|slot| self.reference(slot));
        let reference = reference.as_ref().and_then(Value::as_text).map_or(name, |text| text);
        let mut members = child.map(|child| self.group_members(child)).unwrap_or_default();
        let limit = self.largest_group(members.len());
        let mut data = kept.map(|slot| (*self.resource(slot).data).clone()).unwrap_or_default();
        let mut drawn = 0;
        let mut is_new = child.is_none();
        for _ in 0..MAX_STAGES {
            let mut fresh = || {
                drawn += 1;
                // No name that is drawn has a hyphen.
                format!("new-{drawn}")
            };
            let mut group = Group {
                name,
                operation: if kept.is_some() {
                    OperationKind::Update
                } else {
                    OperationKind::Create
                },
                reference,
                properties: &properties,
                // An update may take many stages; the last one is the same.
                update_policy: &Members::new(),
                data: &data,
                members: &members,
                is_new,
                wanted_size: None,
                max_size: limit,
                siblings,
                timeout: self.config.action_timeout,
                new_id: &mut fresh,
            };
            let stage = guarded("stages", || stages(&mut group)).map_err(OpError::Failed)??;
            let made = made_members(&stage.template);
            if made.len() > limit {
                return Err(OpError::failed(FailureClass::RequestLimitExceeded, TOO_MANY));
            }
            if stage.is_last {
                return Ok(stage);
            }
            (members, is_new) = (made, false);
            merge_data(&mut data, stage.data);
        }
        Err(OpError::failed(FailureClass::Error, "the group does not come to an end"))
    }
}

/// Why it is not known what a nested stack will be.
pub(super) enum Unforeseen {
    /// It would exceed a limit.
    Limit(String),
    /// It cannot be made.
    Refused(String),
    /// It cannot be made of the values that are known.
    NotKnownYet(String),
}

impl From<Failure> for Unforeseen {
    fn from(failure: Failure) -> Unforeseen {
        match failure.class {
            FailureClass::RequestLimitExceeded => Unforeseen::Limit(failure.message),
            _ => Unforeseen::NotKnownYet(failure.message),
        }
    }
}

/// The members in a group's template.
fn made_members(template: &Value) -> Vec<GroupMember> {
    let part = |name: &str| template.as_map().and_then(|it| it.get(name)).and_then(Value::as_map);
    let members = part("resources").or_else(|| part("Resources")).into_iter().flatten();
    let member = |(name, definition): (&Arc<str>, &Value)| GroupMember {
        name: name.clone(),
        definition: definition.clone(),
        reference: Value::Text(name.clone()),
        is_failed: false,
    };
    members.map(member).collect()
}

/// The resources of a stack as far as they are known.
struct Drawn<'t> {
    world: Option<StackScope<'t>>,
    parent_blueprint: &'t Blueprint,
    seen: &'t Seen,
}

impl Siblings for Drawn<'_> {
    fn by_reference(&self, reference: &str) -> Option<Arc<str>> {
        let known = self.world.as_ref().and_then(|world| world.by_reference(reference));
        // The reference of a resource that does not exist yet is its name.
        known.or_else(|| self.seen.properties.get_key_value(reference).map(|it| it.0.clone()))
    }

    fn properties(&self, name: &str) -> Option<Arc<Members>> {
        self.seen.properties.get(name).cloned()
    }

    fn metadata(&self, name: &str) -> Option<Value> {
        self.world.as_ref().and_then(|world| world.metadata(name))
    }

    fn size(&self, name: &str) -> Option<usize> {
        self.world.as_ref().and_then(|world| world.size(name))
    }

    fn is_complete(&self, name: &str) -> bool {
        self.world.as_ref().is_some_and(|world| world.is_complete(name))
    }

    fn type_name(&self, name: &str) -> Option<Arc<str>> {
        self.parent_blueprint.type_name_of(name)
    }
}
