//! Nested templates: a template as a resource type, and its parameters as properties.
//!
//! To its parent, a template's parameters are properties and its outputs attributes. Its stack has
//! a definition of its own, bound to the values that the properties pass down.

use crate::constraint::CustomConstraints;
use crate::definition::{Definition, Files, UnsetParameters};
use crate::diagnostic::Diagnostic;
use crate::findings::{Findings, Stage};
use crate::parameters::{
    self, ParameterCheck, Parameters, PseudoParameters, SuppliedParameters, SuppliedValue,
    SuppliedValues,
};
use crate::print;
use crate::property;
use crate::schema::{Attribute, Cache, Support, TypeSchema};
use crate::template::Template;
use crate::value::{Members, Secret, Value};
use std::sync::Arc;

/// The schema made of a template's parameters and outputs; `defaults` are the environment's.
pub fn interface(name: &str, template: &Template, defaults: &SuppliedValues) -> TypeSchema {
    let mut schema = TypeSchema::new(name.to_string());
    schema.dynamic_attributes = true;
    schema.from_template = true;
    for parameter in template.parameters.values() {
        let supplied =
            defaults.get(&parameter.name).is_some_and(|supplied| !supplied.value.is_null());
        let mut property = property::from_parameter(parameter);
        property.required &= !supplied;
        schema.properties.push(property);
    }
    for output in template.outputs.values() {
        let about = output.description.as_ref().map(print::plain).unwrap_or_default();
        schema.attributes.push(Attribute {
            name: output.name.to_string().into(),
            kind: None,
            about: about.into(),
            cache: Cache::Local,
            is_handed_out: false,
            support: Support::default(),
        });
    }
    schema
}

/// The value that a parameter of a nested template gets from the property of its name.
pub(crate) fn pass_down(kind: parameters::ParameterType, value: &Value) -> Value {
    match (kind, value) {
        (parameters::ParameterType::CommaDelimitedList, Value::List(items)) => {
            if value.unknown().is_some() {
                return value.clone();
            }
            let joined = Value::from(joined(&value.exposed()));
            if items.iter().any(Value::has_secret) {
                return Value::Secret(Secret::new(joined));
            }
            joined
        }
        // A null becomes the empty value of the parameter's type.
        (parameters::ParameterType::String, Value::Null) => "".into(),
        (parameters::ParameterType::Number, Value::Null) => 0.into(),
        (parameters::ParameterType::Boolean, Value::Null) => false.into(),
        (parameters::ParameterType::CommaDelimitedList, Value::Null) => Value::list([]),
        (parameters::ParameterType::Json, Value::Null) => Value::map([("", Value::Null); 0]),
        (_, value) => value.clone(),
    }
}

/// A list as the text that a list parameter splits again: members that hold commas fall apart.
fn joined(list: &Value) -> String {
    let items = list.as_list().unwrap_or_default();
    let texts: Vec<String> = match items {
        [Value::Map(_), ..] => flattened(items),
        _ => items
            .iter()
            .map(|item| if item.is_null() { String::new() } else { print::plain(item) })
            .collect(),
    };
    texts.join(",")
}

/// Maps in a list as texts `.member.I.KEY=VALUE`.
fn flattened(items: &[Value]) -> Vec<String> {
    let mut texts = Vec::new();
    for (at, item) in items.iter().enumerate() {
        for (key, value) in item.as_map().into_iter().flatten() {
            texts.push(format!(".member.{at}.{key}={}", print::plain(value)));
        }
    }
    texts
}

/// The parts of a nested stack.
pub struct NestedStack<'a> {
    /// The template.
    pub template: Arc<Template>,
    /// The properties of the resource that it belongs to.
    pub properties: &'a Members,
    /// The environment's defaults for parameters of any template.
    pub defaults: &'a SuppliedValues,
    /// The files of the whole tree.
    pub files: Arc<Files>,
    /// The stack's pseudo parameters.
    pub pseudo: PseudoParameters,
}

impl NestedStack<'_> {
    /// Binds the template to the properties of its resource.
    pub fn bind(
        self,
        custom: &dyn CustomConstraints,
        check: ParameterCheck,
    ) -> (Definition, Findings) {
        let passed = self.properties.iter().filter_map(|(name, value)| {
            let parameter = self.template.parameters.get(name)?;
            let value = pass_down(parameter.kind, value);
            Some((name.clone(), SuppliedValue { value, span: None }))
        });
        let supplied = SuppliedParameters {
            request: passed.collect(),
            environment: SuppliedValues::new(),
            defaults: self.defaults.clone(),
        };
        let definitions = self.template.parameters.clone();
        let (parameters, problems): (Parameters, Vec<Diagnostic>) =
            Parameters::bind(definitions, supplied, &self.pseudo, custom, check);
        let mut findings = Findings::new();
        findings.extend(Stage::ParameterValues, problems);
        let (definition, problems) =
            Definition::bind(self.template, parameters, self.files, UnsetParameters::Unknown);
        findings.append(problems);
        (definition, findings)
    }
}
