//! A tree as its templates see it: what resources are called and what attributes they have.

use crate::blueprint::{Blueprint, Kind};
use crate::ids::ResourceId;
use crate::state::{Action, Status};
use crate::tree::{Slot, StackKey, Tree};
use kiln_cloud::ActingFor;
use kiln_resources::behaviour::{Child, InService, Siblings, View};
use kiln_resources::constraints::offline;
use kiln_resources::guard::guarded;
use kiln_resources::op;
use kiln_template::codes;
use kiln_template::eval::{Resolver, Scope};
use kiln_template::functions::{Facade, Fault, step_into_attribute};
use kiln_template::path::Path;
use kiln_template::resolved::convert_properties;
use kiln_template::value::{Members, Value};
use std::sync::Arc;
use uuid::Uuid;

/// One stack of a tree, seen from inside.
pub(crate) struct World<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) stack: StackKey,
}

impl Tree {
    pub(crate) fn world(&self, stack: StackKey) -> World<'_> {
        World { tree: self, stack }
    }

    /// The properties of a resource as its type expects them.
    pub(crate) fn properties(&self, slot: Slot) -> Arc<Members> {
        let resource = self.resource(slot);
        let (Some(frozen), Some(kind)) = (&resource.frozen, self.config.types.get(&resource.kind))
        else {
            return Arc::default();
        };
        let (members, _) =
            convert_properties(&kind.schema, &frozen.properties, &offline(0), &Path::Root);
        Arc::new(members)
    }

    /// The ARN of a stack.
    pub(crate) fn arn(&self, stack: StackKey) -> String {
        let (project, stack) = (&self.project, self.stack(stack));
        format!("arn:openstack:heat::{project}:stacks/{}/{}", stack.name, stack.id)
    }

    /// What a resource is called by others; by its name, if its type cannot tell.
    pub(crate) fn reference(&self, slot: Slot) -> Value {
        let told = self.told_reference(slot);
        told.unwrap_or_else(|_| Value::Text(self.resource(slot).name.clone()))
    }

    /// What a resource is called by others.
    pub(crate) fn told_reference(&self, slot: Slot) -> Result<Value, Fault> {
        let resource = self.resource(slot);
        if let Some(child) = resource.child
            && self.config.types.get(&resource.kind).is_none()
        {
            return Ok(match self.world(child).output("OS::stack_id") {
                Some(Ok(value)) => value,
                _ => self.arn(child).into(),
            });
        }
        let kind = self.config.types.get(&resource.kind);
        match kind.and_then(|kind| kind.behaviour.reference) {
            Some(reference)
                if resource.state.action != Action::Init
                    || kind.is_some_and(|kind| kind.schema.reference_known_early) =>
            {
                self.with_view(slot, "reference", reference).map_err(broken)
            }
            _ => match &resource.physical_id {
                Some(id) => Ok(Value::Text(id.clone())),
                None => Ok(Value::Text(resource.name.clone())),
            },
        }
    }

    /// What whoever watches a resource sees: its metadata, or what it keeps for itself if that is where it
    /// keeps what it is told. Nothing if it is not there.
    pub(crate) fn watched_at(&self, slot: Slot) -> Option<Value> {
        let resource = self.resources.get(slot.0 as usize)?.as_ref()?;
        let kind = self.config.types.get(&resource.kind);
        Some(match kind.is_some_and(|kind| kind.behaviour.hears_in_data) {
            true => Value::Map(resource.data.clone()),
            false => resource.metadata.clone(),
        })
    }

    /// Another resource of the same stack, or else of the tree, as operations see it.
    pub(crate) fn sibling(&self, slot: Slot, reference: &str) -> Option<op::Sibling> {
        let elsewhere = || {
            let keys = (0..self.stacks.len() as u32).map(StackKey);
            let mut keys = keys.filter(|key| self.stacks[key.0 as usize].is_some());
            keys.find_map(|key| {
                let name = self.world(key).named(reference)?;
                self.current(key, &name)
            })
        };
        let slot = self.sibling_called(slot, reference).or_else(elsewhere)?;
        let (name, data) = (self.resource(slot).name.clone(), self.resource(slot).data.clone());
        let metadata = self.told_metadata(slot);
        Some(op::Sibling { name, properties: self.properties(slot), data, metadata })
    }

    /// The metadata of a resource, as those who read it see it.
    pub(crate) fn told_metadata(&self, slot: Slot) -> Value {
        let resource = self.resource(slot);
        let kind = self.config.types.get(&resource.kind);
        let told = kind.and_then(|kind| kind.behaviour.metadata);
        let told = told.and_then(|told| self.with_view(slot, "metadata", told).ok());
        told.or_else(|| self.metadata_by_holder(slot)).unwrap_or_else(|| resource.metadata.clone())
    }

    /// The metadata of a resource, if the one that holds its stack knows better.
    fn metadata_by_holder(&self, slot: Slot) -> Option<Value> {
        let resource = self.resource(slot);
        let (_, slot) = self.stack(resource.stack).holder?;
        let holder = self.resources.get(slot.0 as usize)?.as_ref()?;
        let inside = self.config.types.get(&holder.kind)?.behaviour.inside?;
        // Until it is made, nothing but what it makes its stack of is certain.
        holder.frozen.as_ref().filter(|_| holder.child == Some(resource.stack))?;
        self.with_view(slot, "metadata", |view| inside(view, &resource.name, &resource.metadata))
            .ok()?
    }

    /// On whose behalf the tree's calls are made.
    pub(crate) fn behalf(&self) -> ActingFor {
        ActingFor {
            project: self.project.clone(),
            user_name: self.user_name.clone(),
            author: self.stack(self.root_key()).recipe.author.clone(),
            origin: None,
        }
    }

    /// On whose behalf calls for a resource are made.
    pub(crate) fn behalf_for(&self, slot: Slot) -> ActingFor {
        let resource = self.resources.get(slot.0 as usize).and_then(Option::as_ref);
        let stack = resource.map(|resource| self.stack(resource.stack).id.to_string().into());
        ActingFor { origin: stack, ..self.behalf() }
    }

    /// The resource of the same stack that is called so by others.
    pub(crate) fn sibling_called(&self, slot: Slot, reference: &str) -> Option<Slot> {
        let resource = self.resources.get(slot.0 as usize)?.as_ref()?;
        // What is replaced may still be there: the newest is meant.
        let mut newest_first = self.stack(resource.stack).resources.values().rev().copied();
        let is_called =
            |slot: Slot| matches!(self.reference(slot), Value::Text(text) if &*text == reference);
        newest_first.find(|slot| is_called(*slot))
    }

    /// Shows a resource to its type, for what it wants to know; a type that panics fails.
    pub(crate) fn with_view<T>(
        &self,
        slot: Slot,
        what: &str,
        look: impl FnOnce(&View<'_>) -> T,
    ) -> Result<T, op::Failure> {
        let resource = self.resource(slot);
        let properties = self.properties(slot);
        let world = self.world(resource.stack);
        let child = resource.child.map(|child| self.world(child));
        let view = View {
            name: &resource.name,
            physical_name: &self.physical_name(slot),
            physical_id: resource.physical_id.as_deref(),
            properties: &properties,
            data: &resource.data,
            metadata: &resource.metadata,
            shown: &resource.shown,
            arn: &format!("{}/resources/{}", self.arn(resource.stack), resource.name),
            child: child.as_ref().map(|child| child as &dyn Child),
            siblings: &world,
        };
        guarded(what, || look(&view))
    }

    /// An attribute of a resource.
    pub(crate) fn attribute(&self, slot: Slot, name: &str, keys: &[Value]) -> Result<Value, Fault> {
        let resource = self.resource(slot);
        if resource.state.action == Action::Init {
            return Ok(Value::Null);
        }
        let Some(kind) = self.config.types.get(&resource.kind) else {
            return match resource.child {
                Some(child) => self.world(child).seen_from_outside(&resource.name, name, keys),
                None => Ok(Value::Null),
            };
        };
        if let Some(attribute) = kind.behaviour.attribute
            && let Some(value) = self
                .with_view(slot, "attribute", |view| attribute(view, name, keys))
                .map_err(broken)??
        {
            return Ok(value);
        }
        if kind.placeholder {
            return Ok(Value::Null);
        }
        let shown = resource.shown.as_map();
        match shown.and_then(|shown| if name == "show" { None } else { shown.get(name) }) {
            Some(value) => Ok(step_into_attribute(value, keys)),
            None if name == "show" => Ok(step_into_attribute(&resource.shown, keys)),
            None if kind.schema.has_attribute(name) => Ok(Value::Null),
            None => Err(bad_attribute(&resource.name, name)),
        }
    }
}

/// What a template is told of a type that broke down.
fn broken(failure: op::Failure) -> Fault {
    Fault::new(failure.to_string())
}

pub(crate) fn bad_attribute(resource: &str, attribute: &str) -> Fault {
    Fault {
        code: &codes::BAD_ATTRIBUTE,
        message: format!("The Referenced Attribute ({resource} {attribute}) is incorrect."),
    }
}

impl World<'_> {
    pub(crate) fn blueprint(&self) -> Option<&Arc<Blueprint>> {
        self.tree.stack(self.stack).blueprint.as_ref()
    }

    fn current(&self, name: &str) -> Option<Slot> {
        self.tree.current(self.stack, name)
    }

    /// What a resource will be called by others, if that can be told before it is there.
    fn name_beforehand(&self, resource: &str) -> Option<Value> {
        let blueprint = self.blueprint()?;
        let kind = blueprint.kind(blueprint.definition.position(resource)?).builtin()?;
        let reference = kind.behaviour.reference.filter(|_| kind.schema.reference_known_early)?;
        let stack = &self.tree.stack(self.stack).name;
        // Whatever its id will be, nobody is told of it.
        let id = ResourceId(Uuid::nil());
        let (properties, data) = (Members::new(), Members::new());
        let view = View {
            name: resource,
            physical_name: &id.physical_name(stack, resource, kind.name_limit),
            physical_id: None,
            properties: &properties,
            data: &data,
            metadata: &Value::Null,
            shown: &Value::Null,
            arn: &format!("{}/resources/{resource}", self.tree.arn(self.stack)),
            child: None,
            siblings: self,
        };
        guarded("reference", || reference(&view)).ok()
    }

    /// An output of the stack; nothing if it has no such output.
    pub(crate) fn output(&self, name: &str) -> Option<Result<Value, Fault>> {
        let definition = &self.blueprint()?.definition;
        let output = definition.template.outputs.get(name)?;
        Some(Scope::new(definition, self).output(output))
    }

    /// An attribute of the resource that holds the stack: an output, or something inside.
    fn seen_from_outside(
        &self,
        holder: &str,
        attribute: &str,
        keys: &[Value],
    ) -> Result<Value, Fault> {
        if let Some(inner) = attribute.strip_prefix("resource.") {
            let (name, rest) = inner.split_once('.').unwrap_or((inner, ""));
            let slot = self.current(name).ok_or_else(|| bad_attribute(holder, attribute))?;
            return match (rest, keys) {
                ("", []) => self.tree.told_reference(slot),
                ("", [Value::Text(attribute), keys @ ..]) => {
                    self.tree.attribute(slot, attribute, keys)
                }
                (attribute, keys) => self.tree.attribute(slot, attribute, keys),
            };
        }
        match self.output(attribute) {
            Some(Ok(value)) => Ok(step_into_attribute(&value, keys)),
            Some(Err(fault)) => {
                Err(Fault::new(format!("Error in {holder} output {attribute}: {}", fault.message)))
            }
            None if attribute == "show" => Ok(Value::Null),
            None => Err(bad_attribute(holder, attribute)),
        }
    }
}

impl Resolver for World<'_> {
    fn reference(&self, resource: &str) -> Result<Value, Fault> {
        match self.current(resource) {
            Some(slot) => self.tree.told_reference(slot),
            None => Ok(self.name_beforehand(resource).unwrap_or_else(|| resource.into())),
        }
    }

    fn attribute(&self, resource: &str, attribute: &str, keys: &[Value]) -> Result<Value, Fault> {
        match self.current(resource) {
            Some(slot) => self.tree.attribute(slot, attribute, keys),
            None => Ok(Value::Null),
        }
    }

    fn attributes(&self, resource: &str) -> Result<Value, Fault> {
        let Some(slot) = self.current(resource) else { return Ok(Value::Null) };
        let resource = self.tree.resource(slot);
        let kind = self.tree.config.types.get(&resource.kind);
        let declared = kind.map(|kind| kind.schema.attributes.iter()).into_iter().flatten();
        let declared = declared.map(|it| &*it.name).filter(|name| *name != "show");
        // What a template tells are its outputs.
        let child = resource.child.filter(|_| kind.is_none());
        let child = child.and_then(|child| self.tree.stack(child).blueprint.as_deref());
        let outputs = child.into_iter().flat_map(|it| it.definition.template.outputs.keys());
        let mut members = Members::new();
        for name in declared.chain(outputs.map(|name| &**name)) {
            members.insert(name.into(), self.tree.attribute(slot, name, &[]).unwrap_or_default());
        }
        Ok(Value::Map(Arc::new(members)))
    }

    fn facade(&self, part: Facade) -> Result<Value, Fault> {
        let Some((_, slot)) = self.tree.stack(self.stack).holder else {
            return Err(Fault::new("the stack is in no resource of another"));
        };
        let resource = self.tree.resource(slot);
        let target = resource.op.as_ref().and_then(|op| op.target.clone());
        let frozen = target.or_else(|| resource.frozen.clone());
        let Some(frozen) = frozen else { return Ok(Value::Null) };
        let or_empty = |value: &Value| match value {
            Value::Null => Value::map([("", Value::Null); 0]),
            value => value.clone(),
        };
        Ok(match part {
            Facade::Metadata => or_empty(&frozen.metadata),
            Facade::UpdatePolicy => or_empty(&frozen.update_policy),
            Facade::DeletionPolicy => frozen.deletion_policy.name().into(),
        })
    }

    fn availability_zones(&self) -> Result<Value, Fault> {
        Ok(Value::list([]))
    }
}

impl Child for World<'_> {
    fn members(&self) -> Vec<Arc<str>> {
        let stack = self.tree.stack(self.stack);
        if let Some(gaps) = &self.tree.gaps {
            gaps.miss_all();
        }
        // One that the template has no place for any more is there until nobody uses it.
        let wanted = stack.resources.values().filter(|slot| self.tree.is_wanted(**slot));
        let live = wanted.map(|slot| self.tree.resource(*slot)).filter(|it| {
            it.replaced_by.is_none()
                && it.state.status != Status::Failed
                && !matches!(it.state.action, Action::Delete | Action::Init)
        });
        let mut members: Vec<_> = live.map(|it| (it.created, it.name.clone())).collect();
        members.sort();
        members.into_iter().map(|(_, name)| name).collect()
    }

    fn reference(&self, member: &str) -> Option<Value> {
        Some(self.tree.reference(self.current(member)?))
    }

    fn attribute(&self, member: &str, attribute: &str, keys: &[Value]) -> Result<Value, Fault> {
        Resolver::attribute(self, member, attribute, keys)
    }

    fn output(&self, name: &str) -> Option<Result<Value, Fault>> {
        World::output(self, name)
    }

    fn arn(&self) -> String {
        self.tree.arn(self.stack)
    }
}

impl Siblings for World<'_> {
    fn named(&self, reference: &str) -> Option<Arc<str>> {
        let stack = self.tree.stack(self.stack);
        if let Some(gaps) = &self.tree.gaps {
            gaps.miss_all();
        }
        let is_meant = |slot: &&Slot| matches!(self.tree.reference(**slot), Value::Text(text) if &*text == reference);
        let slot = stack.resources.values().find(is_meant)?;
        Some(self.tree.resource(*slot).name.clone())
    }

    fn properties(&self, name: &str) -> Option<Arc<Members>> {
        Some(self.tree.properties(self.current(name)?))
    }

    fn metadata(&self, name: &str) -> Option<Value> {
        Some(self.tree.resource(self.current(name)?).metadata.clone())
    }

    fn size(&self, name: &str) -> Option<usize> {
        let child = self.tree.resource(self.current(name)?).child?;
        Some(self.tree.world(child).members().len())
    }

    fn is_complete(&self, name: &str) -> bool {
        let slot = self.current(name);
        slot.is_some_and(|slot| self.tree.resource(slot).state.status == Status::Complete)
    }

    fn attribute(&self, name: &str, attribute: &str) -> Option<Value> {
        self.tree.attribute(self.current(name)?, attribute, &[]).ok()
    }

    fn parameter(&self, name: &str) -> Option<Value> {
        self.blueprint()?.definition.parameter(name).ok()
    }

    fn kind(&self, name: &str) -> Option<Arc<str>> {
        self.blueprint()?.kind_called(name)
    }

    fn groups(&self, kinds: &[&str], attributes: &[&str]) -> Vec<InService> {
        if let Some(gaps) = &self.tree.gaps {
            gaps.miss_all();
        }
        self.tree.groups_in_service(self.stack, kinds, attributes)
    }
}

impl Blueprint {
    /// What the type of the resource at a place of the template is.
    pub(crate) fn kind(&self, at: usize) -> &Kind {
        &self.kinds[at]
    }

    /// The type of the resource that the template has by a name: of a built-in one, or as written.
    pub(crate) fn kind_called(&self, name: &str) -> Option<Arc<str>> {
        let at = self.definition.position(name)?;
        Some(match self.kind(at) {
            Kind::Builtin(kind) => kind.name().into(),
            Kind::Template(kind) => kind.label.clone(),
            Kind::Unknown(_) => self.definition.resource_at(at)?.type_name.value.clone(),
        })
    }
}
