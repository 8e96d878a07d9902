//! The resource types that the operator's environment adds to the built-in ones, or takes away.

use super::{RequestError, Service};
use crate::blueprint::sent_template;
use crate::error_type::ErrorType;
use kiln_resources::declare::ResourceType;
use kiln_template::environment::{GlobalEnvironment, Implementation, Layer, Owner, Registry};
use kiln_template::parameters::SuppliedValues;
use kiln_template::schema::TypeSchema;
use kiln_template::{nested, print};
use std::sync::Arc;

impl Service {
    /// The declared types that the operator left as they are, in order of name.
    pub fn declared_types(&self) -> impl Iterator<Item = &'static ResourceType> {
        let global = self.config.global.get();
        self.config.types.iter().filter(move |it| is_declared(&global, it.name()))
    }

    /// The declared type that a name stands for: its own, or another name in the operator's environment.
    pub fn declared_type(&self, name: &str) -> Option<&'static ResourceType> {
        match self.meaning(name)? {
            Implementation::Builtin(name) => self.config.types.get(&name),
            Implementation::Template { .. } => None,
        }
    }

    /// What a type means where no user says otherwise.
    fn meaning(&self, name: &str) -> Option<Implementation> {
        let registry = Registry::new(Layer::default(), self.config.global.get());
        registry.resolve(name, None, &|name| self.config.types.get(name).is_some()).ok()
    }

    /// The types that are templates of the operator.
    pub fn template_types(&self) -> Vec<Arc<str>> {
        self.config.global.get().template_types().map(|(name, _)| name.clone()).collect()
    }

    /// The schema of a type that is a template of the operator, if it is one.
    pub fn template_type(&self, name: &str) -> Option<Result<TypeSchema, RequestError>> {
        let Implementation::Template { url, entry, .. } = self.meaning(name)? else { return None };
        // The name of a file is a type for those who send the file.
        if entry.owner == Owner::User {
            return None;
        }
        let global = self.config.global.get();
        let not_found = |why: &str| {
            let message = format!("Could not fetch remote template \"{url}\": {why}");
            RequestError::new(ErrorType::NotFound, message)
        };
        let Some(text) = global.template(&url) else {
            return Some(Err(not_found("Failed to retrieve template")));
        };
        let template = match sent_template(&self.config, text) {
            Ok(template) => template,
            Err(why) => return Some(Err(not_found(&why))),
        };
        let mut schema = nested::interface(name, &template, &SuppliedValues::new());
        schema.dynamic_attributes = false;
        let about = template.description.as_ref().map(print::plain).unwrap_or_default();
        schema.about = about.into();
        Some(Ok(schema))
    }
}

/// Whether a type is not removed, and means no template.
fn is_declared(global: &GlobalEnvironment, name: &str) -> bool {
    !global.removes(name) && !global.template_types().any(|(it, _)| **it == *name)
}
