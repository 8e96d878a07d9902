//! A tree as one document: what abandoning a stack gives, what adopting one takes, what a snapshot
//! keeps.

use crate::blueprint::Source;
use crate::ids::PhysicalId;
use crate::tree::{Slot, StackKey, Tree};
use kiln_template::{Limits, Members, Sources, Value, read};
use std::sync::Arc;

impl Tree {
    /// The root stack and all that is in it, without the credentials of its resources.
    pub fn export(&self) -> Value {
        self.export_stack(self.root_key())
    }

    pub(crate) fn export_stack(&self, key: StackKey) -> Value {
        self.export_with(key, self.export_resources(key))
    }

    /// The resources of a stack.
    pub(crate) fn export_resources(&self, key: StackKey) -> Members {
        let mut resources = Members::new();
        for name in self.stack(key).by_name.keys() {
            if let Some(slot) = self.current(key, name) {
                let exported = match self.resource(slot).child {
                    Some(child) => self.export_stack(child),
                    None => self.export_resource(slot),
                };
                resources.insert(name.clone(), exported);
            }
        }
        resources
    }

    /// A stack with these resources.
    pub(crate) fn export_with(&self, key: StackKey, resources: Members) -> Value {
        let stack = self.stack(key);
        let files = stack.recipe.files.iter().map(|(n, t)| (n.clone(), Value::Text(t.clone())));
        Value::map([
            ("name", Value::Text(stack.name.clone())),
            ("id", stack.id.to_string().into()),
            ("action", stack.state.action.name().into()),
            ("status", stack.state.status.name().into()),
            ("template", template(&stack.recipe.template)),
            ("environment", stack.recipe.environment.to_value()),
            ("files", Value::map(files)),
            ("project_id", Value::Text(self.project.clone())),
            ("stack_user_project_id", Value::Text(self.project.clone())),
            ("tags", Value::list(stack.tags.iter().cloned().map(Value::Text))),
            ("resources", Value::Map(Arc::new(resources))),
        ])
    }

    fn export_resource(&self, slot: Slot) -> Value {
        let resource = self.resource(slot);
        let resource_type = resource
            .definition
            .as_ref()
            .map_or(&resource.type_name, |resolved| &resolved.type_name);
        let metadata = match &resource.metadata {
            Value::Null => Value::map([("", Value::Null); 0]),
            metadata => metadata.clone(),
        };
        Value::map([
            ("name", Value::Text(resource.name.clone())),
            (
                "resource_id",
                resource.physical_id.as_ref().map(PhysicalId::value).unwrap_or_default(),
            ),
            ("type", Value::Text(resource_type.clone())),
            ("action", resource.state.action.name().into()),
            ("status", resource.state.status.name().into()),
            ("metadata", metadata),
            ("resource_data", Value::Map(Arc::new(self.plain_data(slot, &resource.data)))),
        ])
    }
}

/// A template as data.
pub(crate) fn template(source: &Source) -> Value {
    let text = match source {
        Source::Text(text) | Source::File(_, text) => text,
        Source::Made(template) => return template.clone(),
        Source::Nothing => return Value::map([("", Value::Null); 0]),
    };
    let file = Sources::new().add("template", text.clone());
    let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
    read::read(file, text, &limits).0.map(|node| Value::from(&node)).unwrap_or_default()
}
