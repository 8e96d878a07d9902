//! A tree as one document: what abandoning a stack gives, what adopting one takes, what a snapshot
//! keeps.
//!
//! In a document for an adoption, the data of a resource are texts, because Heat can store nothing else. What only this
//! service may read is in the member `sealed` of the resource, as a secret; `service/sealing.rs` encrypts it.

use crate::blueprint::Source;
use crate::ids::PhysicalId;
use crate::tree::{Slot, StackKey, Tree};
use kiln_template::print::{self, Keys};
use kiln_template::{Limits, Members, Secret, Sources, Value, read};
use std::sync::Arc;

/// What a document is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A snapshot of the stack, without credentials.
    Snapshot,
    /// An adoption by this service.
    Adoption,
    /// An adoption by Heat, which reads credentials in clear.
    AdoptionByHeat,
}

impl Tree {
    /// The root stack and all that is in it. The credentials of its resources are secrets in it.
    pub fn export(&self) -> Value {
        self.export_stack(self.root_key(), Purpose::Adoption)
    }

    pub(crate) fn export_stack(&self, key: StackKey, purpose: Purpose) -> Value {
        self.export_with(key, self.export_resources(key, purpose))
    }

    /// The resources of a stack.
    pub(crate) fn export_resources(&self, key: StackKey, purpose: Purpose) -> Members {
        let mut resources = Members::new();
        for name in self.stack(key).by_name.keys() {
            if let Some(slot) = self.current(key, name) {
                let exported = match self.resource(slot).child {
                    Some(child) => self.export_stack(child, purpose),
                    None => self.export_resource(slot, purpose),
                };
                resources.insert(name.clone(), exported);
            }
        }
        resources
    }

    /// A stack with these resources.
    pub(crate) fn export_with(&self, key: StackKey, resources: Members) -> Value {
        let stack = self.stack(key);
        let users = self.users.as_ref().filter(|users| !users.is_empty());
        let files = stack.recipe.files.iter().map(|(n, t)| (n.clone(), Value::Text(t.clone())));
        Value::map([
            ("name", Value::Text(stack.summary.name.clone())),
            ("id", stack.id.to_string().into()),
            ("action", stack.summary.state.action.name().into()),
            ("status", stack.summary.state.status.name().into()),
            ("template", template(&stack.recipe.template)),
            ("environment", stack.recipe.environment.to_value()),
            ("files", Value::map(files)),
            ("project_id", Value::Text(self.project.clone())),
            ("stack_user_project_id", Value::Text(users.unwrap_or(&self.project).clone())),
            ("tags", Value::list(stack.summary.tags.iter().cloned().map(Value::Text))),
            ("resources", Value::Map(Arc::new(resources))),
        ])
    }

    fn export_resource(&self, slot: Slot, purpose: Purpose) -> Value {
        let resource = self.resource(slot);
        let resource_type = resource
            .definition
            .as_ref()
            .map_or(&resource.summary.type_name, |resolved| &resolved.type_name);
        let metadata = match &resource.metadata {
            Value::Null => Value::map([("", Value::Null); 0]),
            metadata => metadata.clone(),
        };
        let mut data = self.plain_data(slot, &resource.data);
        let mut hidden = (*resource.data).clone();
        hidden.retain(|name, value| !data.contains_key(name) && !value.is_null());
        if purpose != Purpose::Snapshot {
            data.values_mut().for_each(|value| *value = to_text(value));
        }
        if purpose == Purpose::AdoptionByHeat {
            let texts = hidden.iter().filter(|(_, value)| value.exposed().as_text().is_some());
            data.extend(texts.map(|(name, value)| (name.clone(), value.clone())));
        }
        let mut exported = Members::from_iter([
            ("name".into(), Value::Text(resource.summary.name.clone())),
            (
                "resource_id".into(),
                resource.summary.physical_id.as_ref().map(PhysicalId::value).unwrap_or_default(),
            ),
            ("type".into(), Value::Text(resource_type.clone())),
            ("action".into(), resource.summary.state.action.name().into()),
            ("status".into(), resource.summary.state.status.name().into()),
            ("metadata".into(), metadata),
            ("resource_data".into(), Value::Map(Arc::new(data))),
        ]);
        if purpose != Purpose::Snapshot {
            let sealed = self.sealed(slot, hidden).map(|it| Value::Secret(Secret::new(it)));
            exported.extend(sealed.map(|sealed| (SEALED.into(), sealed)));
        }
        Value::Map(Arc::new(exported))
    }

    /// What only this service may read of a resource: data that are or may be credentials and, of an object that holds
    /// authority, how its service showed it. None for the resources of stack users: those act for this stack alone, and
    /// a stack that adopts the resource gets users of its own.
    fn sealed(&self, slot: Slot, hidden: Members) -> Option<Value> {
        let resource = self.resource(slot);
        let has_authority = self
            .config
            .types
            .get(&resource.summary.type_name)
            .is_some_and(|it| it.created_on_adopt);
        if hidden.contains_key(STACK_USER) || resource.summary.physical_id.is_none() {
            return None;
        }
        let remote = if has_authority { resource.remote.clone() } else { Value::Null };
        let is_empty = hidden.is_empty() && !has_authority;
        (!is_empty)
            .then(|| Value::map([("data", Value::Map(Arc::new(hidden))), ("remote", remote)]))
    }
}

/// The member of a resource with what only this service may read.
pub(crate) const SEALED: &str = "sealed";
/// The entry in the data of a resource that has a stack user.
const STACK_USER: &str = "user_project";
/// How a value that is no text begins as text.
const AS_JSON: &str = "json:";

/// A value as text: itself, or as JSON if it is no text.
fn to_text(value: &Value) -> Value {
    match value {
        Value::Text(text) if !text.starts_with(AS_JSON) => value.clone(),
        value => format!("{AS_JSON}{}", print::json(value, Keys::Ordered)).into(),
    }
}

/// The value of a text that was exported.
pub(crate) fn from_text(value: &Value) -> Value {
    let Some(json) = value.as_text().and_then(|text| text.strip_prefix(AS_JSON)) else {
        return value.clone();
    };
    let file = Sources::new().add("resource_data", json);
    let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
    read::read(file, json, &limits).0.map_or_else(|| value.clone(), |node| Value::from(&node))
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
