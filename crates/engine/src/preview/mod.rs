//! Previews: the effects of a create or an update, without performing it.
//!
//! A preview takes the same decisions as an update, on values as far as they are known. The reference of a resource that would
//! be replaced is unknown, so its dependents are shown as changed, too.

mod contract;
mod detail;
mod foreseen;
mod nested;
mod plan;
mod plan_value;
mod room;
mod size;
mod sketch;

pub use contract::{Allowed, Contract};
pub use detail::{Cause, Detail, PartChange};
pub use plan::{Act, Plan, PlannedAction, Step, Tally, shown};
pub(crate) use size::Oversize;
pub use sketch::{Current, Sketch};

use crate::blueprint::{Blueprint, Identity, Recipe, ResolvedType, no_kept_text};
use crate::config::Config;
use crate::decide::Decision;
use crate::failure::Failure;
use crate::ids::ResourceId;
use crate::ids::StackId;
use crate::machine::{Goal, comes_back};
use crate::tree::{Slot, StackKey, Tree};
use crate::view::OutputView;
use foreseen::Foreseen;
use kiln_resources::op::FailureClass;
use kiln_template::functions::{Facade, Fault, step_into_attribute};
use kiln_template::{Definition, Members, ResolvedDefinition, Resolver, Scope, Sources, Value};
use nested::Inside;
use room::Room;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use uuid::Uuid;

/// The fate of a resource in an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It would stay unchanged.
    Unchanged,
    /// It would be changed.
    Updated,
    /// It would be replaced.
    Replaced,
    /// It would be created.
    Added,
    /// It would be deleted.
    Deleted,
    /// It would be refused. Only plans show that: a preview fails as a whole.
    Refused,
}

/// A resource and its fate.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Its fate.
    pub fate: Fate,
    /// The resource: as it is if it would be updated or deleted, otherwise as it would be.
    pub resource: Sketch,
    /// Whether it has a nested stack, or would have one.
    pub is_nested: bool,
    /// Whether that stack is a group, whose type generates the template.
    pub(crate) is_group: bool,
    /// Whether its reference and its attributes would stay the same: an update goes into every nested stack, also if
    /// there is nothing to do.
    keeps_values: bool,
    /// The description and the parameters of the template of its nested stack.
    pub nested: Option<Value>,
    /// The same for the resources of its nested stack.
    pub inside: Vec<Forecast>,
    /// What else a plan shows.
    detail: Option<Box<Detail>>,
}

/// A root stack that would be created.
#[derive(Clone, Copy, Debug)]
pub struct NewRoot<'a> {
    /// Its name.
    pub name: &'a Arc<str>,
    /// The project that it would belong to.
    pub project: &'a Arc<str>,
    /// Its recipe.
    pub recipe: &'a Recipe,
}

/// Previews a create: every resource is [`Fate::Added`], those of nested stacks inside their parents; the error is the reason for
/// which the create would be refused. The reference of a resource is its name, and its attributes are null.
pub fn create(config: &Arc<Config>, new: NewRoot<'_>) -> Result<Vec<Forecast>, String> {
    let (mut tree, place, blueprint) = new.into_parts(config)?;
    let mut room = Room::of(&tree);
    tree.forecast(&place, &blueprint, &mut room)
}

/// Plans the creation of a stack: as a preview, but values that are not known beforehand are shown as such.
pub fn plan_create(config: &Arc<Config>, new: NewRoot<'_>) -> Result<Plan, String> {
    let sources = plan::sources(&new.recipe.template);
    let (mut tree, place, blueprint) = new.into_parts(config)?;
    let place = Place { is_new: false, is_planned: true, sources, ..place };
    let mut room = Room::of(&tree);
    let forecasts = tree.forecast(&place, &blueprint, &mut room)?;
    Ok(Plan::new(PlannedAction::Create, forecasts))
}

/// Refuses to create a tree that would have more resources, or would be nested deeper, than the operator allows. Resources
/// whose number is not known yet are not counted.
pub(crate) fn check_size(config: &Arc<Config>, new: NewRoot<'_>) -> Result<(), Oversize> {
    // What is wrong with a template that cannot be read is reported elsewhere.
    let Ok((mut tree, place, blueprint)) = new.into_parts(config) else { return Ok(()) };
    tree.check_size_of(&place, &blueprint)
}

/// Refuses a stack that would be created if a value of its resources is larger than the operator allows, as far as values
/// are known. Nested stacks are left to their previews.
pub(crate) fn check_values(config: &Arc<Config>, new: NewRoot<'_>) -> Result<(), Oversize> {
    // What is wrong with a template that cannot be read is reported elsewhere.
    let Ok((tree, place, blueprint)) = new.into_parts(config) else { return Ok(()) };
    tree.check_values_of(&place, &blueprint)
}

impl NewRoot<'_> {
    /// A tree without resources, and the root stack that it would get.
    fn into_parts(self, config: &Arc<Config>) -> Result<(Tree, Place, Blueprint), String> {
        let (project, id) = (self.project.clone(), StackId(Uuid::nil()));
        let mut tree = Tree::empty(config.clone(), id, project, "".into());
        let identity =
            Identity { name: self.name, id: None, project: self.project, kept_text: &no_kept_text };
        let mut templates = std::mem::take(&mut tree.templates);
        let blueprint = Blueprint::of_root(config, &mut templates, self.recipe, &identity, None);
        tree.templates = templates;
        Ok((tree, Place::new(self.name.clone(), true), blueprint?))
    }
}

/// The outputs of a stack that would be created, as far as their values are known.
pub fn outputs(definition: &Definition, resources: &[Forecast]) -> Vec<OutputView> {
    let world = Imagined { resources };
    let scope = Scope::new(definition, &world);
    let outputs = definition.template.outputs.values();
    outputs
        .map(|output| OutputView {
            name: output.name.clone(),
            description: crate::view::output_description(output),
            value: scope.output(output).map_err(|fault| fault.message),
        })
        .collect()
}

/// A stack whose resources do not exist.
struct Imagined<'t> {
    resources: &'t [Forecast],
}

impl Resolver for Imagined<'_> {
    fn reference(&self, resource: &str) -> Result<Value, Fault> {
        Ok(resource.into())
    }

    fn attribute(&self, resource: &str, attribute: &str, keys: &[Value]) -> Result<Value, Fault> {
        let sketches = self.resources.iter().map(|it| &it.resource);
        let known = sketches.into_iter().find(|it| &*it.name == resource);
        let value = known.and_then(|it| it.attributes.get(attribute));
        Ok(value.map(|value| step_into_attribute(value, keys)).unwrap_or_default())
    }

    fn attributes(&self, resource: &str) -> Result<Value, Fault> {
        let known = self.resources.iter().find(|it| &*it.resource.name == resource);
        Ok(known.map(|it| Value::Map(Arc::new(it.resource.attributes.clone()))).unwrap_or_default())
    }

    fn facade(&self, _: Facade) -> Result<Value, Fault> {
        Ok(Value::Null)
    }

    fn availability_zones(&self) -> Result<Value, Fault> {
        Ok(Value::list([]))
    }
}

/// A stack that is previewed.
struct Place {
    /// The stack as it is.
    key: Option<StackKey>,
    name: Arc<str>,
    parent_resource: Option<Arc<str>>,
    depth: usize,
    /// Whether the whole tree is new: then nothing is unknown, only not there.
    is_new: bool,
    /// Whether it is planned: causes are looked for, and everything that would be deleted is shown.
    is_planned: bool,
    /// The text of its template, if it has one and is planned.
    sources: Option<Sources>,
}

impl Place {
    fn new(name: Arc<str>, is_new: bool) -> Place {
        let (key, parent_resource, depth) = (None, None, 0);
        Place { key, name, parent_resource, depth, is_new, is_planned: false, sources: None }
    }
}

impl Tree {
    /// Previews an update of the root stack to a recipe; the error is the reason for which it would be refused.
    pub fn preview(&mut self, recipe: &Recipe) -> Result<Vec<Forecast>, String> {
        let (place, blueprint) = self.next_root(recipe)?;
        let mut room = Room::of(self);
        self.forecast(&place, &blueprint, &mut room)
    }

    /// Plans an update of the root stack to a recipe.
    pub fn plan(&mut self, recipe: &Recipe) -> Result<Plan, String> {
        let (place, blueprint) = self.next_root(recipe)?;
        let sources = plan::sources(&recipe.template);
        let place = Place { is_planned: true, sources, ..place };
        let mut room = Room::of(self);
        let forecasts = self.forecast(&place, &blueprint, &mut room)?;
        Ok(Plan::new(PlannedAction::Update, forecasts))
    }

    /// Plans the removal of the tree.
    pub fn plan_delete(&self) -> Result<Plan, String> {
        let mut room = Room::of(self);
        let forecasts = self.forecast_removal_of(self.root_key(), &mut room)?;
        Ok(Plan::new(PlannedAction::Delete, forecasts))
    }

    /// Refuses to update the tree to a recipe with which it would have more resources, or would be nested deeper, than the
    /// operator allows. A tree that has more already may become smaller.
    pub(crate) fn check_size(&mut self, recipe: &Recipe) -> Result<(), Oversize> {
        // What is wrong with a template that cannot be read is reported elsewhere.
        let Ok((place, blueprint)) = self.next_root(recipe) else { return Ok(()) };
        self.check_size_of(&place, &blueprint)
    }

    /// The root stack as a recipe describes it.
    fn next_root(&mut self, recipe: &Recipe) -> Result<(Place, Blueprint), String> {
        let key = self.root_key();
        let config = self.config.clone();
        let mut templates = std::mem::take(&mut self.templates);
        let stack = self.stack(key);
        let kept_text = &|resource: &str, url: &str| self.kept_text(key, resource, url);
        let identity = Identity {
            name: &stack.summary.name,
            id: Some(stack.id),
            project: &self.project,
            kept_text,
        };
        let former = stack.blueprint.as_deref();
        let blueprint = Blueprint::of_root(&config, &mut templates, recipe, &identity, former);
        let place = Place { key: Some(key), ..Place::new(stack.summary.name.clone(), false) };
        self.templates = templates;
        Ok((place, blueprint?))
    }

    fn forecast(
        &mut self,
        place: &Place,
        blueprint: &Blueprint,
        room: &mut Room,
    ) -> Result<Vec<Forecast>, String> {
        let definition = &blueprint.definition;
        room.take_resources(definition.resources().count())?;
        let order = definition.order().map_err(|_| "Circular Dependency Found".to_owned())?;
        let users = definition.graph().dependents();
        let former_users = place.key.map(|key| self.users_of(key)).unwrap_or_default();
        let (mut seen, mut forecasts, mut kept) = (Seen::default(), Vec::new(), BTreeSet::new());
        for at in order {
            let Some(resource) = definition.resource_at(at) else { continue };
            let resolved = self.resolve_preview(place, blueprint, at, &seen)?;
            let goal = Goal {
                at,
                resolved_type: blueprint.type_at(at),
                definition: resolved,
                requires: Vec::new(),
            };
            let chosen = self.chosen(place, blueprint, &goal, &resource.name);
            let current = chosen.as_ref().map(|(slot, _)| *slot);
            if let (Some(key), Some(slot)) = (place.key, current)
                && self.current(key, &resource.name) != Some(slot)
            {
                seen.back.insert(resource.name.clone(), slot);
            }
            let fate = match fate_of(goal.resolved_type, chosen.as_ref().map(|it| &it.1)) {
                Ok(fate) => fate,
                Err(_) if place.is_planned => Fate::Refused,
                Err(why) => return Err(why),
            };
            let sketch = self.sketch(place, definition, &goal, &users);
            room.take_bytes(&sketch)?;
            seen.fates.insert(resource.name.clone(), fate);
            seen.properties.insert(resource.name.clone(), Arc::new(sketch.properties.clone()));
            let mut detail = match place.is_planned {
                true => {
                    Some(Box::new(self.detail(place, blueprint, &goal, chosen.as_ref(), &seen)))
                }
                false => None,
            };
            let known = ((current, fate), &seen);
            let inside = match fate {
                Fate::Refused => Inside::default(),
                _ => self.forecast_nested(place, blueprint, &goal, known, room)?,
            };
            let Inside { nested, forecasts: mut inside, unknown } = inside;
            if let Some(detail) = &mut detail {
                detail.inside_unknown = unknown;
            }
            let keeps_values = self.may_keep_values(blueprint, &goal, (current, fate))
                && inside.iter().all(|forecast| forecast.keeps_values);
            if keeps_values {
                seen.fates.insert(resource.name.clone(), Fate::Unchanged);
            }
            let resource = match (fate, current) {
                (Fate::Updated, Some(slot)) => self.sketch_current(slot, &former_users),
                (Fate::Unchanged | Fate::Refused, Some(slot)) => {
                    Sketch { current: self.current_of(slot), ..sketch }
                }
                _ => sketch,
            };
            if let (Fate::Replaced, Some(slot)) = (fate, current) {
                inside.extend(self.forecast_removal_inside(slot, room)?);
            }
            let is_nested = goal.resolved_type.is_nested();
            let is_group = is_nested && goal.resolved_type.builtin().is_some();
            forecasts.push(Forecast {
                fate,
                resource,
                is_nested,
                is_group,
                keeps_values,
                nested,
                inside,
                detail,
            });
            kept.extend(current);
        }
        let Some(key) = place.key else { return Ok(forecasts) };
        let gone = match place.is_planned {
            // Nothing else that a former update has left behind stays.
            true => self.removed(key, |slot| kept.contains(&slot)),
            false => {
                let names = self.stack(key).by_name.keys();
                let gone = names.filter(|name| !definition.has_resource(name));
                gone.filter_map(|name| self.current(key, name)).collect()
            }
        };
        for slot in gone {
            forecasts.push(self.forecast_removal(slot, &former_users, room)?);
        }
        Ok(forecasts)
    }

    /// Of the resources of a name, the one that would be brought to the definition, and what would be done with it.
    fn chosen(
        &self,
        place: &Place,
        blueprint: &Blueprint,
        goal: &Goal<'_>,
        name: &str,
    ) -> Option<(Slot, Decision)> {
        let key = place.key?;
        let (slot, decision) = self.choose(blueprint, goal, self.stack(key).by_name.get(name)?)?;
        let is_back = self.current(key, name) != Some(slot) && comes_back(goal.resolved_type);
        match decision {
            Decision::Keep | Decision::MarkComplete if is_back => {
                Some((slot, Decision::Update(Vec::new())))
            }
            decision => Some((slot, decision)),
        }
    }

    /// The names of the resources of a stack that need others, by the ids of those.
    fn users_of(&self, key: StackKey) -> Users {
        let mut users = Users::new();
        for slot in self.stack(key).resources.values() {
            let user = self.resource(*slot);
            for id in &user.requires {
                users.entry(*id).or_default().push(user.summary.name.clone());
            }
        }
        users
    }

    fn fate(
        &self,
        blueprint: &Blueprint,
        goal: &Goal<'_>,
        current: Option<Slot>,
    ) -> Result<Fate, String> {
        let decision = current.map(|slot| self.decision(blueprint, goal, slot));
        fate_of(goal.resolved_type, decision.as_ref())
    }

    /// A resource that would be deleted, with its nested stack.
    fn forecast_removal(
        &self,
        slot: Slot,
        users: &Users,
        room: &mut Room,
    ) -> Result<Forecast, String> {
        let child = self.resource(slot).child;
        let inside = self.forecast_removal_inside(slot, room)?;
        let resource = self.sketch_current(slot, users);
        room.take_bytes(&resource)?;
        Ok(Forecast {
            fate: Fate::Deleted,
            resource,
            is_nested: child.is_some(),
            is_group: false,
            keeps_values: false,
            nested: None,
            inside,
            detail: Some(Box::new(self.removal_detail(slot))),
        })
    }

    /// The resources of a nested stack that would be deleted.
    fn forecast_removal_inside(
        &self,
        slot: Slot,
        room: &mut Room,
    ) -> Result<Vec<Forecast>, String> {
        let Some(child) = self.resource(slot).child else { return Ok(Vec::new()) };
        let users = self.users_of(child);
        let names = self.stack(child).by_name.keys();
        let current = names.filter_map(|name| self.current(child, name));
        current.map(|slot| self.forecast_removal(slot, &users, room)).collect()
    }

    /// The resources of a stack that would be deleted, those that replaced ones included.
    fn forecast_removal_of(&self, key: StackKey, room: &mut Room) -> Result<Vec<Forecast>, String> {
        let users = self.users_of(key);
        let removed = self.removed(key, |_| false).into_iter();
        removed.map(|slot| self.forecast_removal(slot, &users, room)).collect()
    }

    /// Whether a resource with a fate may keep its reference and its attributes: a nested stack does, unless its definition
    /// or its template changes, or something inside it.
    fn may_keep_values(
        &self,
        blueprint: &Blueprint,
        goal: &Goal<'_>,
        (current, fate): (Option<Slot>, Fate),
    ) -> bool {
        let Some(slot) = current else { return false };
        let resource = self.resource(slot);
        let is_same = || {
            let before = resource.definition.as_ref();
            resource.child.is_some()
                && before.is_some_and(|before| before.equals(&goal.definition))
                && !self.nested_stack_differs(slot, blueprint, goal.resolved_type)
        };
        fate == Fate::Unchanged || fate == Fate::Updated && is_same()
    }

    /// The definition of a resource, as far as its values are known.
    fn resolve_preview(
        &self,
        place: &Place,
        blueprint: &Blueprint,
        at: usize,
        seen: &Seen,
    ) -> Result<Arc<ResolvedDefinition>, String> {
        self.resolve_within_limits(place, blueprint, at, seen)
            .map_err(|failure| failure.to_string())
    }

    fn resolve_within_limits(
        &self,
        place: &Place,
        blueprint: &Blueprint,
        at: usize,
        seen: &Seen,
    ) -> Result<Arc<ResolvedDefinition>, Box<Failure>> {
        let world = place.key.map(|key| self.scope(key));
        let world = Foreseen { world, seen, is_new: place.is_new };
        let Some(resource) = blueprint.definition.resource_at(at) else {
            let message = "the resource is not there";
            return Err(Box::new(Failure::new(FailureClass::NotFound, "", message)));
        };
        let slot = place.key.and_then(|key| self.current(key, &resource.name));
        let budget = self.evaluation_budget(slot);
        let scope = Scope::new(&blueprint.definition, &world).with_budget(&budget);
        let resolved =
            blueprint.type_at(at).resolve_definition(&scope, resource).map_err(|unfrozen| {
                let message = format!("{}: {}", unfrozen.path, unfrozen.fault.message);
                Box::new(Failure::new(
                    FailureClass::from_name(unfrozen.fault.code.kind),
                    &resource.name,
                    message,
                ))
            })?;
        self.check_definition_size(slot, &resource.name, &resolved)?;
        Ok(Arc::new(resolved))
    }
}

/// The names of resources that need others, by the ids of those.
type Users = BTreeMap<ResourceId, Vec<Arc<str>>>;

/// The fate that a decision means; the error is the reason for which the resource would be refused.
fn fate_of(resolved_type: &ResolvedType, decision: Option<&Decision>) -> Result<Fate, String> {
    if let ResolvedType::Unknown(why) = resolved_type {
        return Err(why.to_string());
    }
    let Some(decision) = decision else { return Ok(Fate::Added) };
    match decision {
        Decision::Keep | Decision::MarkComplete => Ok(Fate::Unchanged),
        Decision::Update(_) => Ok(Fate::Updated),
        Decision::Replace(_) => Ok(Fate::Replaced),
        Decision::Reject(_, message) => Err(message.clone()),
        Decision::Restricted(what) => Err(format!("{} is restricted for resource.", what.name())),
    }
}

/// The description and the parameters of a template.
fn described(definition: &Definition) -> Value {
    let template = &definition.template;
    let description = template.description.clone().unwrap_or_else(|| "No description".into());
    let mut document = Members::new();
    document.insert("Description".into(), description);
    document.insert("Parameters".into(), Value::Map(definition.parameters.describe().into()));
    if !template.parameter_groups.is_empty() {
        let groups = template.parameter_groups.iter().map(|group| group.describe());
        document.insert("ParameterGroups".into(), Value::list(groups));
    }
    Value::Map(document.into())
}

/// What is known of the resources of a stack that were looked at.
#[derive(Default)]
struct Seen {
    fates: BTreeMap<Arc<str>, Fate>,
    properties: BTreeMap<Arc<str>, Arc<Members>>,
    /// The resources that come back, although others have replaced them.
    back: BTreeMap<Arc<str>, Slot>,
}
