//! Hidden parameters: the values of parameters that a template of the tree hides are stored as secrets.

use super::StackRequest;
use kiln_template::environment::{Environment, Setting, Statements};
use kiln_template::{Limits, Secret, Sources, Template, Value, lower, read};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Hides the values of all parameters that the root template, or a template that it refers to, hides.
pub(super) fn hide(request: &StackRequest, root: Option<&Template>, environment: &mut Environment) {
    let mut names: BTreeSet<Arc<str>> = root.map(hidden_names).unwrap_or_default();
    for template in referenced_templates(request, environment) {
        names.extend(hidden_names(&template));
    }
    for values in [&mut environment.parameters, &mut environment.parameter_defaults] {
        for (name, supplied) in values {
            if names.contains(name) && !supplied.value.is_null() {
                supplied.value = Value::Secret(Secret::new(supplied.value.clone()));
            }
        }
    }
}

fn hidden_names(template: &Template) -> BTreeSet<Arc<str>> {
    let hidden = template.parameters.values().filter(|parameter| parameter.hidden);
    hidden.map(|parameter| parameter.name.clone()).collect()
}

/// The templates among the files of a request that the root template or the environment names, directly or through
/// other files. A file is named by a text anywhere in a template: as a type, in the definition of a group's members,
/// or for `get_file`.
fn referenced_templates(request: &StackRequest, environment: &Environment) -> Vec<Template> {
    let files = &request.files;
    let mut open: Vec<Arc<str>> = Vec::new();
    let mut seen: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut name_file = |name: &str, open: &mut Vec<Arc<str>>| {
        if let Some((name, _)) = files.get_key_value(name)
            && seen.insert(name.clone())
        {
            open.push(name.clone());
        }
    };
    texts(&root_value(request), &mut |text| name_file(text, &mut open));
    type_names(&environment.resource_registry, &mut |text| name_file(text, &mut open));
    let mut templates = Vec::new();
    while let Some(name) = open.pop() {
        let Some(text) = files.get(&name) else { continue };
        let file = Sources::new().add("template", text.clone());
        let Some(node) = read::read(file, text, &Limits::default()).0 else { continue };
        texts(&Value::from(&node), &mut |text| name_file(text, &mut open));
        templates.extend(lower::template(node).0);
    }
    templates
}

fn root_value(request: &StackRequest) -> Value {
    match &request.template {
        super::TemplateSource::Object(value) => value.clone(),
        super::TemplateSource::Text(text) => {
            let file = Sources::new().add("template", text.clone());
            let node = read::read(file, text, &Limits::default()).0;
            node.as_ref().map(Value::from).unwrap_or_default()
        }
        super::TemplateSource::Missing => Value::Null,
    }
}

/// Visits every text in a value.
fn texts(value: &Value, visit: &mut impl FnMut(&str)) {
    match value {
        Value::Text(text) => visit(text),
        Value::List(items) => items.iter().for_each(|item| texts(item, visit)),
        Value::Map(members) => members.values().for_each(|member| texts(member, visit)),
        _ => {}
    }
}

/// Visits every type that a registry maps to.
fn type_names(statements: &Statements, visit: &mut impl FnMut(&str)) {
    for statement in statements.values() {
        match &statement.setting {
            Setting::Type(name) => visit(name),
            Setting::Inner(inner) => type_names(inner, visit),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::TemplateSource;

    const NESTED: &str = "heat_template_version: 2018-08-31\n\
        parameters: {secret: {type: string, hidden: true}}";

    fn hidden(template: &str, registry: &str, files: &[(&str, &str)]) -> Vec<String> {
        let text = format!("parameters: {{secret: a, open: b}}\nresource_registry: {{{registry}}}");
        let file = Sources::new().add("environment", text.as_str());
        let mut environment = Environment::read(file, &text, &Limits::default()).0;
        let request = StackRequest {
            template: TemplateSource::Text(template.into()),
            files: files.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect(),
            ..StackRequest::default()
        };
        hide(&request, None, &mut environment);
        let parameters = environment.parameters.iter();
        let hidden = parameters.filter(|(_, it)| matches!(it.value, Value::Secret(_)));
        hidden.map(|(name, _)| name.to_string()).collect()
    }

    #[test]
    fn the_parameters_of_referenced_templates_are_hidden() {
        let by_type = "resources: {a: {type: file:///a.yaml}}";
        assert_eq!(hidden(by_type, "", &[("file:///a.yaml", NESTED)]), ["secret"]);
        let in_group = "resources: {a: {type: OS::Heat::ResourceGroup, properties: \
            {resource_def: {type: file:///a.yaml}}}}";
        assert_eq!(hidden(in_group, "", &[("file:///a.yaml", NESTED)]), ["secret"]);
        let by_alias = "resources: {a: {type: My::Type}}";
        let registry = "My::Type: file:///a.yaml";
        assert_eq!(hidden(by_alias, registry, &[("file:///a.yaml", NESTED)]), ["secret"]);
        let between = "heat_template_version: 2018-08-31\n\
            resources: {b: {type: file:///b.yaml}}";
        let files = [("file:///a.yaml", between), ("file:///b.yaml", NESTED)];
        assert_eq!(hidden(by_type, "", &files), ["secret"]);
    }

    #[test]
    fn a_file_that_no_template_names_hides_nothing() {
        let template = "resources: {a: {type: OS::Heat::None}}";
        assert!(hidden(template, "", &[("file:///a.yaml", NESTED)]).is_empty());
        // A template may name itself.
        let ring = "heat_template_version: 2018-08-31\nresources: {a: {type: file:///a.yaml}}";
        assert!(hidden(ring, "", &[("file:///a.yaml", ring)]).is_empty());
    }
}
