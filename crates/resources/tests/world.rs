//! A world small enough for tests: `OS::Heat::Value` and `OS::Heat::TestResource` show their value,
//! `OS::Heat::None` shows nothing, and templates that are types make worlds inside it.

use kiln_resources::constraints::offline;
use kiln_resources::registry::Registry as Types;
use kiln_template::environment::{Implementation, Registry};
use kiln_template::functions::{Facade, Fault, step_into_attribute};
use kiln_template::nested::NestedStack;
use kiln_template::parameters::{ParameterCheck, PseudoParameters, SuppliedValues};
use kiln_template::{
    Definition, Limits, Members, Resolver, Resource, Scope, Sources, UnknownResolver, Value, lower,
    read,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The id of every stack.
pub(crate) const STACK_ID: &str = "01234567-89ab-cdef-0123-456789abcdef";

/// The resources that exist.
#[derive(Default)]
pub(crate) struct World {
    name: String,
    made: BTreeMap<String, Made>,
    facade: Option<Members>,
}

enum Made {
    Nothing,
    Value(Value),
    Stack(Box<Definition>, Box<World>),
}

impl World {
    /// Creates the resources in order, or names the type that would need an engine.
    pub(crate) fn run(
        name: &str,
        definition: &Definition,
        registry: &Registry,
        defaults: &SuppliedValues,
    ) -> Result<World, String> {
        let mut world = World { name: name.into(), ..World::default() };
        world.fill(definition, registry, defaults)?;
        Ok(world)
    }

    fn fill(
        &mut self,
        definition: &Definition,
        registry: &Registry,
        defaults: &SuppliedValues,
    ) -> Result<(), String> {
        for at in definition.order().unwrap_or_default() {
            let Some(resource) = definition.resource_at(at) else { continue };
            let made = self.make(definition, resource, registry, defaults)?;
            self.made.insert(resource.name.to_string(), made);
        }
        Ok(())
    }

    fn make(
        &self,
        definition: &Definition,
        resource: &Resource,
        registry: &Registry,
        defaults: &SuppliedValues,
    ) -> Result<Made, String> {
        if resource.external_id.is_some() {
            return Err("an object that exists".into());
        }
        let is_builtin = |name: &str| Types::builtin().get(name).is_some();
        let kind = registry.resolve(&resource.type_name.value, Some(&resource.name), &is_builtin);
        let scope = Scope::new(definition, self);
        let failed = |fault: Fault| fault.message;
        match kind.map_err(|_| "a known type")? {
            Implementation::Builtin(kind) if &*kind == "OS::Heat::None" => Ok(Made::Nothing),
            Implementation::Builtin(kind)
                if matches!(&*kind, "OS::Heat::Value" | "OS::Heat::TestResource") =>
            {
                let value = resource.properties.as_ref().and_then(|expr| expr.get("value"));
                let value = value.map(|expr| scope.value(expr)).transpose().map_err(failed)?;
                Ok(Made::Value(value.unwrap_or(Value::Null)))
            }
            Implementation::Builtin(kind) => Err(kind.to_string()),
            Implementation::Template { url, entry, .. } => {
                let text = definition.files.get(&url).ok_or("a template")?;
                let file = Sources::new().add(url.clone(), text.clone());
                let (node, _) = read::read(file, text, &Limits::default());
                let (template, _) = lower::template(node.ok_or("a template")?);
                let template = template.ok_or("a template")?;
                let properties = resource.properties.as_ref().map(|expr| scope.value(expr));
                let properties = properties.transpose().map_err(failed)?;
                let properties = properties.and_then(|value| value.as_map().cloned());
                let name = format!("{}-{}-abcdefghijkl", self.name, resource.name);
                let child = NestedStack {
                    pseudo: PseudoParameters {
                        stack_name: name.as_str().into(),
                        stack_id: Some(STACK_ID.into()),
                        project_id: "project".into(),
                        dialect: template.version.dialect(),
                    },
                    template: Arc::new(template),
                    properties: &properties.unwrap_or_default(),
                    defaults,
                    files: definition.files.clone(),
                };
                let (inner, _) = child.bind(&offline(0), ParameterCheck::Values);
                let registry = registry.child(&resource.name, Some(&entry));
                let mut world = World { name, ..World::default() };
                world.facade = Some(facade_of(definition, &scope, resource)?);
                world.fill(&inner, &registry, defaults)?;
                Ok(Made::Stack(Box::new(inner), Box::new(world)))
            }
        }
    }

    /// The values of outputs, and the errors of those that fail.
    pub(crate) fn outputs(
        &self,
        definition: &Definition,
    ) -> (BTreeMap<String, Value>, BTreeMap<String, String>) {
        let scope = Scope::new(definition, self);
        let (mut values, mut errors) = (BTreeMap::new(), BTreeMap::new());
        for output in definition.template.outputs.values() {
            let name = output.name.to_string();
            match scope.output(output) {
                Ok(value) => _ = values.insert(name, value),
                Err(fault) => _ = errors.insert(name, fault.message),
            }
        }
        (values, errors)
    }

    /// An attribute of a nested stack: an output, or something of a resource inside.
    fn of_stack(
        &self,
        resource: &str,
        definition: &Definition,
        attribute: &str,
        keys: &[Value],
    ) -> Result<Value, Fault> {
        if let Some(inner) = attribute.strip_prefix("resource.") {
            let (name, rest) = inner.split_once('.').unwrap_or((inner, ""));
            let (attribute, keys) = match (rest, keys) {
                ("", []) => return self.reference(name),
                ("", [Value::Text(attribute), keys @ ..]) => (&**attribute, keys),
                (attribute, keys) => (attribute, keys),
            };
            return self.attribute(name, attribute, keys);
        }
        let Some(output) = definition.template.outputs.get(attribute) else {
            let message =
                format!("The Referenced Attribute ({resource} {attribute}) is incorrect.");
            return Err(Fault::new(message));
        };
        let value = Scope::new(definition, self).output(output).map_err(|fault| {
            Fault::new(format!("Error in {resource} output {attribute}: {}", fault.message))
        })?;
        Ok(step_into_attribute(&value, keys))
    }
}

fn facade_of(
    definition: &Definition,
    scope: &Scope<'_>,
    resource: &Resource,
) -> Result<Members, String> {
    let value = |expr: Option<&kiln_template::Expr>| match expr {
        Some(expr) => scope.value(expr).map_err(|fault| fault.message),
        None => Ok(Value::map([("", Value::Null); 0])),
    };
    let mut facade = Members::new();
    facade.insert("metadata".into(), value(resource.metadata.as_ref())?);
    facade.insert("update_policy".into(), value(resource.update_policy.as_deref())?);
    let policy = definition.deletion_policy(resource, &UnknownResolver);
    let policy = policy.map_err(|fault| fault.message)?.name();
    facade.insert("deletion_policy".into(), policy.into());
    Ok(facade)
}

impl Resolver for World {
    fn reference(&self, resource: &str) -> Result<Value, Fault> {
        match self.made.get(resource) {
            Some(Made::Nothing) => Ok(STACK_ID.into()),
            Some(Made::Stack(definition, world)) => {
                match definition.template.outputs.get("OS::stack_id") {
                    Some(output) => Scope::new(definition, &**world).output(output),
                    None => {
                        let name = &world.name;
                        let arn = format!("arn:openstack:heat::project:stacks/{name}/{STACK_ID}");
                        Ok(arn.into())
                    }
                }
            }
            _ => Ok(format!("{}-{resource}-abcdefghijkl", self.name).into()),
        }
    }

    fn attribute(&self, resource: &str, attribute: &str, keys: &[Value]) -> Result<Value, Fault> {
        match (self.made.get(resource), attribute) {
            (_, "show") => Ok(Value::Null),
            (Some(Made::Value(value)), "value" | "output") => Ok(step_into_attribute(value, keys)),
            (Some(Made::Stack(definition, world)), _) => {
                world.of_stack(resource, definition, attribute, keys)
            }
            _ => Ok(Value::Null),
        }
    }

    fn attributes(&self, resource: &str) -> Result<Value, Fault> {
        match self.made.get(resource) {
            Some(Made::Value(value)) => Ok(Value::map([("value", value.clone())])),
            Some(Made::Stack(definition, world)) => {
                let names = definition.template.outputs.keys();
                let outputs = names.map(|name| {
                    Ok((name.clone(), world.of_stack(resource, definition, name, &[])?))
                });
                Ok(Value::map(outputs.collect::<Result<Vec<_>, Fault>>()?))
            }
            _ => Ok(Value::map([("", Value::Null); 0])),
        }
    }

    fn facade(&self, part: Facade) -> Result<Value, Fault> {
        let name = match part {
            Facade::Metadata => "metadata",
            Facade::DeletionPolicy => "deletion_policy",
            Facade::UpdatePolicy => "update_policy",
        };
        let facade = self.facade.as_ref().ok_or_else(|| Fault::new("no facade"))?;
        Ok(facade.get(name).cloned().unwrap_or(Value::Null))
    }

    fn availability_zones(&self) -> Result<Value, Fault> {
        Ok(Value::list(["nova".into()]))
    }
}
