//! A template that stands in for a type: it must have the type's properties and attributes.

use super::loader::{Loaded, Loader};
use super::nested::NestedTemplate;
use super::stack::Stack;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::environment::{Implementation, Owner};
use crate::nested;
use crate::schema::{PropertyType, TypeSchema};
use crate::template::Resource;
use std::borrow::Cow;

impl Stack<'_> {
    /// The differences between a template and the type that it stands in for: a built-in one, or the
    /// template that the type has for all other resources.
    pub(super) fn facade_mismatch(
        &self,
        resource: &Resource,
        child: &NestedTemplate,
        loader: &mut Loader<'_>,
    ) -> Option<Diagnostic> {
        let types = self.context.types;
        let is_builtin = |name: &str| types.schema(name).is_some();
        let kind = &resource.type_name.value;
        // An operator's template takes the place of a type, and need not look like it.
        let entry = child.entry.as_ref().filter(|entry| entry.owner == Owner::User)?;
        let hidden =
            self.registry.resolve_without(kind, Some(&resource.name), entry, &is_builtin).ok()?;
        let facade = match hidden {
            Implementation::Builtin(name) => Cow::Borrowed(types.schema(&name)?),
            Implementation::Template { url, .. } => match loader.load(&url)? {
                Loaded::Template(template, _) => {
                    Cow::Owned(nested::interface(kind, template, self.defaults))
                }
                Loaded::Unreadable(_) => return None,
            },
        };
        let message = mismatch(kind, &facade, &child.interface)?;
        let diagnostic = Diagnostic::error(&codes::FACADE_MISMATCH, message)
            .at(resource.type_name.span)
            .help(format!("{} must have the parameters and outputs of {kind}", child.url));
        Some(diagnostic)
    }
}

fn mismatch(name: &str, facade: &TypeSchema, provider: &TypeSchema) -> Option<String> {
    for property in &facade.properties {
        match provider.property(&property.name) {
            None if property.required => {
                let property = &property.name;
                return Some(format!(
                    "Required property {property} for facade {name} missing in provider"
                ));
            }
            None => {}
            Some(own) => {
                let wanted = match property.kind {
                    PropertyType::Integer => PropertyType::Number,
                    kind => kind,
                };
                if wanted != own.kind && property.kind != PropertyType::Any {
                    return Some(format!(
                        "Property {} type mismatch between facade {name} ({}) and provider ({})",
                        property.name,
                        property.kind.name(),
                        own.kind.name()
                    ));
                }
            }
        }
    }
    for own in provider.properties.iter().filter(|own| own.required) {
        if facade.property(&own.name).is_none() {
            let own = &own.name;
            return Some(format!("Provider requires property {own} unknown in facade {name}"));
        }
    }
    let missing = facade
        .attributes
        .iter()
        .find(|attribute| !provider.attributes.iter().any(|own| own.name == attribute.name))?;
    Some(format!("Attribute {} for facade {name} missing in provider", missing.name))
}
