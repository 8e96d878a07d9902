//! What an update would do, without doing it.
//!
//! The same decisions as in earnest, on values as far as they are known: what a resource that changes
//! will be called is not, so whatever uses it is told to change, too.

use crate::blueprint::{Blueprint, Identity, Kind, Recipe, Source};
use crate::decide::Decision;
use crate::failure::Failure;
use crate::ids::RecipeId;
use crate::machine::Goal;
use crate::tree::{Slot, StackKey, Tree};
use crate::world::World;
use kiln_template::eval::{Resolver, Scope};
use kiln_template::frozen::Frozen;
use kiln_template::functions::{Facade, Fault};
use kiln_template::value::{Unknown, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// What would become of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Nothing.
    Unchanged,
    /// It would be changed.
    Updated,
    /// Another would take its place.
    Replaced,
    /// It would be made.
    Added,
    /// It would go.
    Deleted,
}

/// A resource and what would become of it.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Its name.
    pub name: Arc<str>,
    /// Its type, as written.
    pub kind: Arc<str>,
    /// What would become of it.
    pub fate: Fate,
    /// The resource as it is, if it exists.
    pub slot: Option<Slot>,
    /// The same for the resources of its nested stack.
    pub inside: Vec<Forecast>,
}

impl Tree {
    /// What an update of the root stack to a recipe would do; or why it would be refused.
    pub fn preview(&mut self, recipe: &Recipe) -> Result<Vec<Forecast>, String> {
        let key = self.root_key();
        let config = self.config.clone();
        let mut templates = std::mem::take(&mut self.templates);
        let stack = self.stack(key);
        let identity = Identity { name: &stack.name, id: stack.id, project: &self.project };
        let former = stack.blueprint.as_deref();
        let blueprint = Blueprint::of_root(&config, &mut templates, recipe, &identity, former);
        self.templates = templates;
        self.forecast(Some(key), &blueprint?)
    }

    fn forecast(
        &mut self,
        key: Option<StackKey>,
        blueprint: &Blueprint,
    ) -> Result<Vec<Forecast>, String> {
        let definition = &blueprint.definition;
        let order = definition.order().map_err(|_| "Circular Dependency Found".to_owned())?;
        let mut fates: BTreeMap<Arc<str>, Fate> = BTreeMap::new();
        let mut forecasts = Vec::new();
        for at in order {
            let Some(resource) = definition.resource_at(at) else { continue };
            let current = key.and_then(|key| self.current(key, &resource.name));
            let frozen = self.foresee(key, blueprint, at, &fates)?;
            let goal = Goal { at, kind: blueprint.kind(at), frozen, requires: Vec::new() };
            let fate = match current {
                None => Fate::Added,
                Some(slot) => match self.decision(blueprint, &goal, slot) {
                    Decision::Keep | Decision::Mend => Fate::Unchanged,
                    Decision::Update(_) => Fate::Updated,
                    Decision::Replace { .. } => Fate::Replaced,
                    Decision::Refuse(_, message) => return Err(message),
                    Decision::Restricted(what) => {
                        return Err(format!("{} is restricted for resource.", what.name()));
                    }
                },
            };
            let inside = match goal.kind {
                Kind::Template(_) if fate != Fate::Unchanged => {
                    let kept = current.filter(|_| fate == Fate::Updated);
                    let child = kept.and_then(|slot| self.resource(slot).child);
                    self.forecast_inside(child, blueprint, &goal, &resource.name)?
                }
                _ => Vec::new(),
            };
            fates.insert(resource.name.clone(), fate);
            let (name, kind) = (resource.name.clone(), resource.kind.value.clone());
            forecasts.push(Forecast { name, kind, fate, slot: current, inside });
        }
        forecasts.extend(self.forecast_removal(key, blueprint));
        Ok(forecasts)
    }

    fn forecast_inside(
        &mut self,
        child: Option<StackKey>,
        outer: &Blueprint,
        goal: &Goal<'_>,
        holder: &str,
    ) -> Result<Vec<Forecast>, String> {
        let Kind::Template(kind) = goal.kind else { return Ok(Vec::new()) };
        let recipe = Recipe {
            template: Source::File(kind.url.clone(), kind.text.clone()),
            parameters: goal.frozen.properties.clone(),
            ..Recipe::nothing(RecipeId(Uuid::nil()))
        };
        let config = self.config.clone();
        let mut templates = std::mem::take(&mut self.templates);
        let named: Arc<str> = holder.into();
        let (name, id) = match child {
            Some(child) => (&self.stack(child).name, self.stack(child).id),
            None => (&named, crate::ids::StackId(Uuid::nil())),
        };
        let identity = Identity { name, id, project: &self.project };
        let entry = (holder, Some(&kind.entry));
        let blueprint = outer.of_child(&config, &mut templates, &recipe, &identity, entry);
        self.templates = templates;
        // What cannot be told before there are values is not told.
        match blueprint {
            Ok(blueprint) => self.forecast(child, &blueprint),
            Err(_) => Ok(Vec::new()),
        }
    }

    fn forecast_removal(&self, key: Option<StackKey>, blueprint: &Blueprint) -> Vec<Forecast> {
        let Some(key) = key else { return Vec::new() };
        let names = self.stack(key).by_name.keys();
        let gone = names.filter(|name| !blueprint.definition.has_resource(name));
        gone.filter_map(|name| {
            let slot = self.current(key, name)?;
            let resource = self.resource(slot);
            let kind = resource.frozen.as_ref().map_or(&resource.kind, |frozen| &frozen.kind);
            Some(Forecast {
                name: name.clone(),
                kind: kind.clone(),
                fate: Fate::Deleted,
                slot: Some(slot),
                inside: Vec::new(),
            })
        })
        .collect()
    }

    /// The definition of a resource as far as it can be told.
    fn foresee(
        &self,
        key: Option<StackKey>,
        blueprint: &Blueprint,
        at: usize,
        fates: &BTreeMap<Arc<str>, Fate>,
    ) -> Result<Arc<Frozen>, String> {
        let world = Foreseen { world: key.map(|key| self.world(key)), fates };
        let scope = Scope::new(&blueprint.definition, &world);
        let Some(resource) = blueprint.definition.resource_at(at) else {
            return Err("the resource is not there".into());
        };
        let frozen = Frozen::of(&scope, resource).map_err(|unfrozen| {
            let message = format!("{}: {}", unfrozen.path, unfrozen.fault.message);
            Failure::new(unfrozen.fault.code.kind, &resource.name, message).to_string()
        })?;
        Ok(Arc::new(frozen))
    }
}

/// A stack as its template would see it in the middle of the update.
struct Foreseen<'t> {
    world: Option<World<'t>>,
    fates: &'t BTreeMap<Arc<str>, Fate>,
}

impl<'t> Foreseen<'t> {
    /// The world as it is, if it tells something about a resource of this fate.
    fn known(&self, resource: &str, stays: &[Fate]) -> Option<&World<'t>> {
        let fate = self.fates.get(resource)?;
        self.world.as_ref().filter(|_| stays.contains(fate))
    }
}

impl Resolver for Foreseen<'_> {
    fn reference(&self, resource: &str) -> Result<Value, Fault> {
        match self.known(resource, &[Fate::Unchanged, Fate::Updated]) {
            Some(world) => Resolver::reference(world, resource),
            None => Ok(Value::Unknown(Unknown::Reference(resource.into()))),
        }
    }

    fn attribute(&self, resource: &str, attribute: &str, keys: &[Value]) -> Result<Value, Fault> {
        match self.known(resource, &[Fate::Unchanged]) {
            Some(world) => Resolver::attribute(world, resource, attribute, keys),
            None => Ok(Value::Unknown(Unknown::attribute(resource, attribute))),
        }
    }

    fn attributes(&self, resource: &str) -> Result<Value, Fault> {
        match self.known(resource, &[Fate::Unchanged]) {
            Some(world) => world.attributes(resource),
            None => Ok(Value::Unknown(Unknown::attribute(resource, ""))),
        }
    }

    fn facade(&self, part: Facade) -> Result<Value, Fault> {
        self.world.as_ref().map_or(Ok(Value::Null), |world| world.facade(part))
    }

    fn availability_zones(&self) -> Result<Value, Fault> {
        Ok(Value::Unknown(Unknown::AvailabilityZones))
    }
}
