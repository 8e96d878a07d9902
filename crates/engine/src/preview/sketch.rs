//! A resource as it is, or as it would be.

use super::{Place, Users};
use crate::ids::{PhysicalId, ResourceId, StackId};
use crate::machine::Goal;
use crate::state::State;
use crate::time::Time;
use crate::tree::{Slot, Tree};
use kiln_resources::behaviour::{Siblings, View};
use kiln_resources::constraints::offline;
use kiln_template::{Definition, Dependents, Members, Path, Resolver, Value, convert_properties};
use std::sync::Arc;

/// A resource as it is, or as it would be.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// Its name.
    pub name: Arc<str>,
    /// Its type, as written.
    pub type_name: Arc<str>,
    /// The name of its stack.
    pub stack_name: Arc<str>,
    /// The id of its stack, if there is one.
    pub stack: Option<StackId>,
    /// The parent resource of its stack, if that is nested.
    pub parent_resource: Option<Arc<str>>,
    /// The names of the resources that need it.
    pub required_by: Vec<Arc<str>>,
    /// Its description in the template.
    pub description: Arc<str>,
    /// The metadata.
    pub metadata: Value,
    /// Its attributes: null, if it does not exist.
    pub attributes: Members,
    /// All properties that its type has, as far as their values are known.
    pub properties: Members,
    /// Its recorded state, if it exists.
    pub current: Option<Current>,
}

/// The recorded state of a resource.
#[derive(Clone, Debug)]
pub struct Current {
    /// Its id.
    pub id: ResourceId,
    /// Its action and status.
    pub state: State,
    /// Why it is in that state.
    pub reason: Arc<str>,
    /// The id that its service gave to its object, as readers see it.
    pub physical_id: Option<Arc<str>>,
    /// When it was added.
    pub created: Time,
    /// When its state last changed.
    pub updated: Time,
    /// Its nested stack: the id and the name.
    pub nested: Option<(StackId, Arc<str>)>,
}

impl Tree {
    /// A resource as its definition describes it.
    pub(super) fn sketch(
        &self,
        place: &Place,
        definition: &Definition,
        goal: &Goal<'_>,
        users: &Dependents,
    ) -> Sketch {
        let resource = definition.resource_at(goal.at);
        let properties = all_properties(goal);
        let required_by = users.get(goal.at).iter().filter_map(|at| definition.resource_at(*at));
        Sketch {
            name: resource.map(|it| it.name.clone()).unwrap_or_default(),
            type_name: goal.definition.type_name.clone(),
            stack_name: place.name.clone(),
            stack: place.key.map(|key| self.stack(key).id),
            parent_resource: place.parent_resource.clone(),
            required_by: required_by.map(|it| it.name.clone()).collect(),
            description: resource.and_then(|it| it.description.clone()).unwrap_or_default(),
            metadata: or_empty(&goal.definition.metadata),
            attributes: attributes_before(goal, &properties),
            properties,
            current: None,
        }
    }

    /// A resource as it is.
    pub(super) fn sketch_current(&self, slot: Slot, users: &Users) -> Sketch {
        let resource = self.resource(slot);
        let stack = self.stack(resource.stack);
        let description = stack.blueprint.as_ref().and_then(|blueprint| {
            blueprint.definition.resource(&resource.summary.name)?.description.clone()
        });
        let attributes =
            self.scope(resource.stack).attributes(&resource.summary.name).unwrap_or_default();
        let resource_type = resource
            .definition
            .as_ref()
            .map_or(&resource.summary.type_name, |resolved| &resolved.type_name);
        Sketch {
            name: resource.summary.name.clone(),
            type_name: resource_type.clone(),
            stack_name: stack.summary.name.clone(),
            stack: Some(stack.id),
            parent_resource: stack
                .parent_resource
                .map(|(_, slot)| self.resource(slot).summary.name.clone()),
            required_by: users.get(&resource.id).cloned().unwrap_or_default(),
            description: description.unwrap_or_default(),
            metadata: or_empty(&resource.metadata),
            attributes: attributes.as_map().cloned().unwrap_or_default(),
            properties: (*self.properties(slot)).clone(),
            current: self.current_of(slot),
        }
    }

    /// The recorded state of a resource.
    pub(super) fn current_of(&self, slot: Slot) -> Option<Current> {
        let resource = self.resource(slot);
        let nested = resource.child.map(|child| self.stack(child));
        Some(Current {
            id: resource.id,
            state: resource.summary.state,
            reason: resource.summary.reason.clone(),
            physical_id: resource.summary.physical_id.as_ref().map(PhysicalId::shown),
            created: resource.summary.created,
            updated: resource.summary.updated,
            nested: nested.map(|stack| (stack.id, stack.summary.name.clone())),
        })
    }
}

/// The attributes of a resource that does not exist: null, except for those that follow from its properties.
fn attributes_before(goal: &Goal<'_>, properties: &Members) -> Members {
    let names =
        goal.resolved_type.schema().map(|schema| schema.attributes.iter()).into_iter().flatten();
    let names = names.map(|it| Arc::<str>::from(&*it.name));
    // The attributes of objects and of groups are unknown, because neither exists yet.
    let plain = goal
        .resolved_type
        .builtin()
        .filter(|resource_type| resource_type.service.is_none() && !goal.resolved_type.is_nested());
    let Some(attribute) = plain.and_then(|resource_type| resource_type.behaviour.attribute) else {
        return names.map(|name| (name, Value::Null)).collect();
    };
    let data = Members::new();
    let view = View {
        name: "",
        physical_name: "",
        physical_id: None,
        properties,
        data: &data,
        metadata: &Value::Null,
        remote: &Value::Null,
        arn: "",
        nested: None,
        siblings: &NoSiblings,
    };
    let value = |name: &str| attribute(&view, name, &[]).ok().flatten().unwrap_or_default();
    names.map(|name| (name.clone(), value(&name))).collect()
}

/// The siblings of a resource that does not exist yet: none.
struct NoSiblings;

impl Siblings for NoSiblings {
    fn by_reference(&self, _: &str) -> Option<Arc<str>> {
        None
    }

    fn properties(&self, _: &str) -> Option<Arc<Members>> {
        None
    }

    fn metadata(&self, _: &str) -> Option<Value> {
        None
    }

    fn size(&self, _: &str) -> Option<usize> {
        None
    }

    fn is_complete(&self, _: &str) -> bool {
        false
    }
}

/// The properties that a resource is to have, and those that it might have.
pub(super) fn all_properties(goal: &Goal<'_>) -> Members {
    let Some(schema) = goal.resolved_type.schema() else {
        return (*goal.definition.properties).clone();
    };
    let (given, _) =
        convert_properties(schema, &goal.definition.properties, &offline(0), &Path::Root);
    if schema.any_property {
        return given;
    }
    let value = |name: &str| given.get(name).cloned().unwrap_or_default();
    schema.properties.iter().map(|it| (Arc::from(&*it.name), value(&it.name))).collect()
}

fn or_empty(metadata: &Value) -> Value {
    match metadata {
        Value::Null => Value::map([("", Value::Null); 0]),
        metadata => metadata.clone(),
    }
}
