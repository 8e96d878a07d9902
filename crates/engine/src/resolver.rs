//! A tree as its templates see it: the references and attributes of its resources.

use crate::blueprint::{Blueprint, ResolvedType};
use crate::ids::{PhysicalId, ResourceId};
use crate::state::{Action, Status};
use crate::time::Time;
use crate::tree::{Slot, StackKey, Tree};
use kiln_cloud::{ActingFor, Secret};
use kiln_resources::behaviour::{InService, NestedStack, Siblings, SignalStorage, View};
use kiln_resources::constraints::offline;
use kiln_resources::guard::guarded;
use kiln_resources::op::{self, OpError};
use kiln_template::functions::{Facade, Fault, step_into_attribute};
use kiln_template::{
    HiddenTexts, Members, Path, Resolver, Scope, Value, codes, convert_properties,
};
use std::sync::Arc;
use uuid::Uuid;

/// One stack of a tree, as the scope in which its template is resolved.
pub(crate) struct StackScope<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) stack: StackKey,
}

impl Tree {
    pub(crate) fn scope(&self, stack: StackKey) -> StackScope<'_> {
        StackScope { tree: self, stack }
    }

    /// The properties of a resource as its type expects them.
    pub(crate) fn properties(&self, slot: Slot) -> Arc<Members> {
        let resource = self.resource(slot);
        let (Some(resolved), Some(resource_type)) =
            (&resource.definition, self.config.types.get(&resource.summary.type_name))
        else {
            return Arc::default();
        };
        let (members, _) = convert_properties(
            &resource_type.schema,
            &resolved.properties,
            &offline(0),
            &Path::Root,
        );
        Arc::new(members)
    }

    /// The ARN of a stack.
    pub(crate) fn arn(&self, stack: StackKey) -> String {
        let (project, stack) = (&self.project, self.stack(stack));
        format!("arn:openstack:heat::{project}:stacks/{}/{}", stack.summary.name, stack.id)
    }

    /// The reference of a resource; its name, if its type cannot compute one.
    pub(crate) fn reference(&self, slot: Slot) -> Value {
        let reference = self.resolve_reference(slot);
        reference.unwrap_or_else(|_| Value::Text(self.resource(slot).summary.name.clone()))
    }

    /// Whether a text is the reference of a resource, which may be hidden: that of a handle is a signed URL.
    fn is_called(&self, slot: Slot, reference: &str) -> bool {
        matches!(self.reference(slot).exposed(), Value::Text(text) if &*text == reference)
    }

    /// The reference of a resource.
    pub(crate) fn resolve_reference(&self, slot: Slot) -> Result<Value, Fault> {
        let resource = self.resource(slot);
        if let Some(child) = resource.child
            && self.config.types.get(&resource.summary.type_name).is_none()
        {
            return Ok(match self.scope(child).output("OS::stack_id") {
                Some(Ok(value)) => value,
                _ => self.arn(child).into(),
            });
        }
        let resource_type = self.config.types.get(&resource.summary.type_name);
        let reference =
            match resource_type.and_then(|resource_type| resource_type.behaviour.reference) {
                Some(reference)
                    if resource.summary.state.action != Action::Init
                        || resource_type.is_some_and(|resource_type| {
                            resource_type.schema.reference_known_early
                        }) =>
                {
                    self.with_view(slot, "reference", reference).map_err(broken)?
                }
                _ => match &resource.summary.physical_id {
                    Some(id) => return Ok(id.value()),
                    None => return Ok(Value::Text(resource.summary.name.clone())),
                },
            };
        Ok(self.hidden_texts(slot).hide_in(reference))
    }

    /// The texts that the definition of a resource hides: no reason, id or log line may show them.
    pub(crate) fn hidden_texts(&self, slot: Slot) -> HiddenTexts {
        // An operation may end after its resource is gone.
        let resource = self.resources.get(slot.0 as usize).and_then(Option::as_ref);
        let target = resource.and_then(|it| it.op.as_ref()?.target.as_ref());
        let applied = resource.and_then(|it| it.definition.as_ref());
        let definitions = [applied, target].into_iter().flatten();
        HiddenTexts::of(definitions.flat_map(|it| it.properties.values().chain([&it.metadata])))
    }

    /// The error of an operation without the texts that the resource's definition hides: services repeat what they
    /// were sent.
    pub(crate) fn mask_error(&self, slot: Slot, error: OpError) -> OpError {
        match error {
            OpError::Failed(mut failure) => {
                failure.message = self.hidden_texts(slot).mask(&failure.message);
                OpError::Failed(failure)
            }
            OpError::Replace => OpError::Replace,
        }
    }

    /// The id that a service gave to the object of a resource.
    pub(crate) fn physical_id(&self, slot: Slot, id: Arc<str>) -> PhysicalId {
        match self.hidden_texts(slot).occur_in(&id) {
            true => PhysicalId::hidden(id),
            false => PhysicalId::new(id),
        }
    }

    /// The value that operations watch: the metadata of a resource, or its data if its type keeps signals there.
    /// `None` if the resource is gone.
    pub(crate) fn watched_value(&self, slot: Slot) -> Option<Value> {
        let resource = self.resources.get(slot.0 as usize)?.as_ref()?;
        let resource_type = self.config.types.get(&resource.summary.type_name);
        Some(match resource_type.map(|resource_type| resource_type.behaviour.signals_kept_in) {
            Some(SignalStorage::Data) => Value::Map(resource.data.clone()),
            _ => resource.metadata.clone(),
        })
    }

    /// Another resource of the same stack, or else of the tree, as operations see it.
    pub(crate) fn sibling(&self, slot: Slot, reference: &str) -> Option<op::Sibling> {
        let elsewhere = || {
            let keys = (0..self.stacks.len() as u32).map(StackKey);
            let mut keys = keys.filter(|key| self.stacks[key.0 as usize].is_some());
            keys.find_map(|key| {
                let name = self.scope(key).by_reference(reference)?;
                self.current(key, &name)
            })
        };
        let beside = self.find_sibling(slot, reference);
        let slot = beside.or_else(elsewhere)?;
        let (name, data) =
            (self.resource(slot).summary.name.clone(), self.resource(slot).data.clone());
        let metadata = self.resolve_metadata(slot);
        Some(op::Sibling {
            name,
            is_in_same_stack: beside.is_some(),
            properties: self.properties(slot),
            data,
            metadata,
        })
    }

    /// The metadata of a resource, as those who read it see it.
    pub(crate) fn resolve_metadata(&self, slot: Slot) -> Value {
        let resource = self.resource(slot);
        let resource_type = self.config.types.get(&resource.summary.type_name);
        let metadata = resource_type.and_then(|resource_type| resource_type.behaviour.metadata);
        let metadata = metadata.and_then(|it| self.with_view(slot, "metadata", it).ok());
        metadata
            .or_else(|| self.metadata_by_parent(slot))
            .unwrap_or_else(|| resource.metadata.clone())
    }

    /// The metadata of a resource, if the type of its parent resource changes it.
    fn metadata_by_parent(&self, slot: Slot) -> Option<Value> {
        let resource = self.resource(slot);
        let (_, slot) = self.stack(resource.stack).parent_resource?;
        let parent_resource = self.resources.get(slot.0 as usize)?.as_ref()?;
        let inside =
            self.config.types.get(&parent_resource.summary.type_name)?.behaviour.nested_metadata?;
        // Until the parent resource has a definition, its view is not complete.
        parent_resource
            .definition
            .as_ref()
            .filter(|_| parent_resource.child == Some(resource.stack))?;
        self.with_view(slot, "metadata", |view| {
            inside(view, &resource.summary.name, &resource.metadata)
        })
        .ok()?
    }

    /// The user for whom the tree's calls are made.
    pub(crate) fn acting_for(&self) -> ActingFor {
        ActingFor {
            project: self.project.clone(),
            user_name: self.user_name.clone(),
            created_by: self.stack(self.root_key()).recipe.created_by.clone(),
            stack_id: None,
            resource: None,
            hidden: Arc::default(),
        }
    }

    /// The user for whom calls for a resource are made.
    pub(crate) fn acting_for_resource(&self, slot: Slot) -> ActingFor {
        let resource = self.resources.get(slot.0 as usize).and_then(Option::as_ref);
        let stack = resource.map(|resource| self.stack(resource.stack).id.to_string().into());
        let name = resource.map(|resource| resource.summary.name.clone());
        let hidden = self.hidden_texts(slot);
        let hidden = hidden.expose().iter().map(|text| Secret::from(text.as_str())).collect();
        ActingFor { stack_id: stack, resource: name, hidden, ..self.acting_for() }
    }

    /// The resource of the same stack that has a reference.
    pub(crate) fn find_sibling(&self, slot: Slot, reference: &str) -> Option<Slot> {
        let resource = self.resources.get(slot.0 as usize)?.as_ref()?;
        // A replaced resource may still be there: the newest is meant.
        let mut newest_first = self.stack(resource.stack).resources.values().rev().copied();
        let is_called = |slot: Slot| self.is_called(slot, reference);
        newest_first.find(|slot| is_called(*slot))
    }

    /// Calls a function of a type with a view of a resource; a panic becomes a failure.
    pub(crate) fn with_view<T>(
        &self,
        slot: Slot,
        what: &str,
        look: impl FnOnce(&View<'_>) -> T,
    ) -> Result<T, op::Failure> {
        let resource = self.resource(slot);
        let properties = self.properties(slot);
        let world = self.scope(resource.stack);
        let child = resource.child.map(|child| self.scope(child));
        let view = View {
            name: &resource.summary.name,
            physical_name: &self.physical_name(slot),
            physical_id: resource.summary.physical_id.as_ref().map(|id| &**id.text()),
            properties: &properties,
            data: &resource.data,
            metadata: &resource.metadata,
            remote: &resource.remote,
            arn: &format!("{}/resources/{}", self.arn(resource.stack), resource.summary.name),
            nested: child.as_ref().map(|child| child as &dyn NestedStack),
            siblings: &world,
        };
        guarded(what, || look(&view))
    }

    /// An attribute of a resource.
    pub(crate) fn attribute(&self, slot: Slot, name: &str, keys: &[Value]) -> Result<Value, Fault> {
        let value = self.plain_attribute(slot, name, keys)?;
        Ok(self.hidden_texts(slot).hide_in(value))
    }

    /// An attribute in which hidden texts of the resource's definition may be plain texts.
    fn plain_attribute(&self, slot: Slot, name: &str, keys: &[Value]) -> Result<Value, Fault> {
        let resource = self.resource(slot);
        if let Some(evaluated) = &self.evaluated {
            evaluated.lock().insert(slot);
        }
        if resource.summary.state.action == Action::Init || self.has_lost_object(slot) {
            return Ok(Value::Null);
        }
        let Some(resource_type) = self.config.types.get(&resource.summary.type_name) else {
            return match resource.child {
                Some(child) => {
                    self.scope(child).nested_attribute(&resource.summary.name, name, keys)
                }
                None => Ok(Value::Null),
            };
        };
        if let Some(attribute) = resource_type.behaviour.attribute
            && let Some(value) = self
                .with_view(slot, "attribute", |view| attribute(view, name, keys))
                .map_err(broken)??
        {
            return Ok(value);
        }
        if resource_type.placeholder || name == "show" && !resource_type.shows_object() {
            return Ok(Value::Null);
        }
        let shown = resource.remote.as_map();
        match shown.and_then(|shown| if name == "show" { None } else { shown.get(name) }) {
            Some(value) => Ok(step_into_attribute(value, keys)),
            None if name == "show" => Ok(step_into_attribute(&resource.remote, keys)),
            None if resource_type.schema.has_attribute(name) => Ok(Value::Null),
            None => Err(bad_attribute(&resource.summary.name, name)),
        }
    }
}

/// The fault of a function whose type failed.
fn broken(failure: op::Failure) -> Fault {
    Fault::new(failure.to_string())
}

pub(crate) fn bad_attribute(resource: &str, attribute: &str) -> Fault {
    Fault {
        code: &codes::BAD_ATTRIBUTE,
        message: format!("The Referenced Attribute ({resource} {attribute}) is incorrect."),
    }
}

impl StackScope<'_> {
    pub(crate) fn blueprint(&self) -> Option<&Arc<Blueprint>> {
        self.tree.stack(self.stack).blueprint.as_ref()
    }

    fn current(&self, name: &str) -> Option<Slot> {
        self.tree.current(self.stack, name)
    }

    /// The reference that a resource will have, if its type knows it before the resource exists.
    fn early_reference(&self, resource: &str) -> Option<Value> {
        let blueprint = self.blueprint()?;
        let resource_type =
            blueprint.type_at(blueprint.definition.position(resource)?).builtin()?;
        let reference = resource_type
            .behaviour
            .reference
            .filter(|_| resource_type.schema.reference_known_early)?;
        let stack = &self.tree.stack(self.stack).summary.name;
        // The id is not known yet, and does not show in the reference.
        let id = ResourceId(Uuid::nil());
        let (properties, data) = (Members::new(), Members::new());
        let view = View {
            name: resource,
            physical_name: &id.physical_name(stack, resource, resource_type.name_limit),
            physical_id: None,
            properties: &properties,
            data: &data,
            metadata: &Value::Null,
            remote: &Value::Null,
            arn: &format!("{}/resources/{resource}", self.tree.arn(self.stack)),
            nested: None,
            siblings: self,
        };
        guarded("reference", || reference(&view)).ok()
    }

    /// An output of the stack; `None` if it has no such output.
    pub(crate) fn output(&self, name: &str) -> Option<Result<Value, Fault>> {
        let definition = &self.blueprint()?.definition;
        let output = definition.template.outputs.get(name)?;
        let value = Scope::new(definition, self).output(output);
        Some(value.and_then(|value| self.check_output_size(value)))
    }

    /// Fails if an output is larger than the operator allows.
    fn check_output_size(&self, value: Value) -> Result<Value, Fault> {
        let (bytes, max) = (value.byte_size(), self.tree.config.byte_limits.value);
        if bytes <= max {
            return Ok(value);
        }
        Err(Fault::new(format!(
            "Request limit exceeded: the value is {bytes} bytes, the limit [kiln] max_value_bytes is {max}. Next step: show less \
             in one output, or ask the operator to raise the limit."
        )))
    }

    /// An attribute of the resource that holds the stack: an output, or something inside.
    fn nested_attribute(
        &self,
        parent_resource: &str,
        attribute: &str,
        keys: &[Value],
    ) -> Result<Value, Fault> {
        if let Some(inner) = attribute.strip_prefix("resource.") {
            let (name, rest) = inner.split_once('.').unwrap_or((inner, ""));
            let slot =
                self.current(name).ok_or_else(|| bad_attribute(parent_resource, attribute))?;
            return match (rest, keys) {
                ("", []) => self.tree.resolve_reference(slot),
                ("", [Value::Text(attribute), keys @ ..]) => {
                    self.tree.attribute(slot, attribute, keys)
                }
                (attribute, keys) => self.tree.attribute(slot, attribute, keys),
            };
        }
        match self.output(attribute) {
            Some(Ok(value)) => Ok(step_into_attribute(&value, keys)),
            Some(Err(fault)) => Err(Fault::new(format!(
                "Error in {parent_resource} output {attribute}: {}",
                fault.message
            ))),
            None if attribute == "show" => Ok(Value::Null),
            None => Err(bad_attribute(parent_resource, attribute)),
        }
    }
}

impl Resolver for StackScope<'_> {
    fn moment(&self) -> Option<i64> {
        self.tree.moment.map(Time::micros)
    }

    fn reference(&self, resource: &str) -> Result<Value, Fault> {
        match self.current(resource) {
            Some(slot) => self.tree.resolve_reference(slot),
            None => Ok(self.early_reference(resource).unwrap_or_else(|| resource.into())),
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
        let resource_type = self.tree.config.types.get(&resource.summary.type_name);
        let declared = resource_type
            .map(|resource_type| resource_type.schema.attributes.iter())
            .into_iter()
            .flatten();
        let declared = declared.map(|it| &*it.name).filter(|name| *name != "show");
        // The attributes of a template as a type are its outputs.
        let child = resource.child.filter(|_| resource_type.is_none());
        let child = child.and_then(|child| self.tree.stack(child).blueprint.as_deref());
        let outputs = child.into_iter().flat_map(|it| it.definition.template.outputs.keys());
        let mut members = Members::new();
        for name in declared.chain(outputs.map(|name| &**name)) {
            members.insert(name.into(), self.tree.attribute(slot, name, &[]).unwrap_or_default());
        }
        Ok(Value::Map(Arc::new(members)))
    }

    fn facade(&self, part: Facade) -> Result<Value, Fault> {
        let Some((_, slot)) = self.tree.stack(self.stack).parent_resource else {
            return Err(Fault::new("the stack is in no resource of another"));
        };
        let resource = self.tree.resource(slot);
        let target = resource.op.as_ref().and_then(|op| op.target.clone());
        let resolved = target.or_else(|| resource.definition.clone());
        let Some(resolved) = resolved else { return Ok(Value::Null) };
        let or_empty = |value: &Value| match value {
            Value::Null => Value::map([("", Value::Null); 0]),
            value => value.clone(),
        };
        Ok(match part {
            Facade::Metadata => or_empty(&resolved.metadata),
            Facade::UpdatePolicy => or_empty(&resolved.update_policy),
            Facade::DeletionPolicy => resolved.deletion_policy.name().into(),
        })
    }

    fn availability_zones(&self) -> Result<Value, Fault> {
        Ok(Value::list([]))
    }
}

impl NestedStack for StackScope<'_> {
    fn members(&self) -> Vec<Arc<str>> {
        let stack = self.tree.stack(self.stack);
        if let Some(missing) = &self.tree.missing {
            missing.record_all();
        }
        // A resource that is not in the template any more stays until no other one uses it.
        let wanted = stack.resources.values().filter(|slot| self.tree.is_wanted(**slot));
        let live = wanted.map(|slot| self.tree.resource(*slot)).filter(|it| {
            it.replaced_by.is_none()
                && it.summary.state.status != Status::Failed
                && !matches!(it.summary.state.action, Action::Delete | Action::Init)
        });
        let mut members: Vec<_> =
            live.map(|it| (it.summary.created, it.summary.name.clone())).collect();
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
        StackScope::output(self, name)
    }

    fn arn(&self) -> String {
        self.tree.arn(self.stack)
    }
}

impl Siblings for StackScope<'_> {
    fn by_reference(&self, reference: &str) -> Option<Arc<str>> {
        let stack = self.tree.stack(self.stack);
        if let Some(missing) = &self.tree.missing {
            missing.record_all();
        }
        let is_meant = |slot: &&Slot| self.tree.is_called(**slot, reference);
        let slot = stack.resources.values().find(is_meant)?;
        Some(self.tree.resource(*slot).summary.name.clone())
    }

    fn properties(&self, name: &str) -> Option<Arc<Members>> {
        Some(self.tree.properties(self.current(name)?))
    }

    fn metadata(&self, name: &str) -> Option<Value> {
        Some(self.tree.resource(self.current(name)?).metadata.clone())
    }

    fn size(&self, name: &str) -> Option<usize> {
        let child = self.tree.resource(self.current(name)?).child?;
        Some(self.tree.scope(child).members().len())
    }

    fn is_complete(&self, name: &str) -> bool {
        let slot = self.current(name);
        slot.is_some_and(|slot| self.tree.resource(slot).summary.state.status == Status::Complete)
    }

    fn attribute(&self, name: &str, attribute: &str) -> Option<Value> {
        self.tree.attribute(self.current(name)?, attribute, &[]).ok()
    }

    fn parameter(&self, name: &str) -> Option<Value> {
        self.blueprint()?.definition.parameter(name).ok()
    }

    fn type_name(&self, name: &str) -> Option<Arc<str>> {
        self.blueprint()?.type_name_of(name)
    }

    fn groups(&self, types: &[&str], attributes: &[&str]) -> Vec<InService> {
        if let Some(missing) = &self.tree.missing {
            missing.record_all();
        }
        self.tree.groups_in_service(self.stack, types, attributes)
    }
}

impl Blueprint {
    /// The type of the resource at a place of the template.
    pub(crate) fn type_at(&self, at: usize) -> &ResolvedType {
        &self.types[at]
    }

    /// The type of the resource that the template has by a name: of a built-in one, or as written.
    pub(crate) fn type_name_of(&self, name: &str) -> Option<Arc<str>> {
        let at = self.definition.position(name)?;
        Some(match self.type_at(at) {
            ResolvedType::Builtin(resource_type) => resource_type.name().into(),
            ResolvedType::Template(resource_type) => resource_type.label.clone(),
            ResolvedType::Unknown(_) => self.definition.resource_at(at)?.type_name.value.clone(),
        })
    }
}
