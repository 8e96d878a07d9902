//! The dependencies of a resource: the names in `depends_on` and the resources that functions refer
//! to.

use crate::check::{self, Dependency};
use crate::codes;
use crate::definition::Definition;
use crate::diagnostic::Diagnostic;
use crate::eval::Scope;
use crate::functions::bad_reference;
use crate::graph::Edge;
use crate::path::Path;
use crate::print;
use crate::source::Span;
use crate::suggest;
use crate::template::Resource;

/// Collects the dependencies of a resource, and its references to resources that do not exist.
pub(crate) fn collect(
    scope: &Scope<'_>,
    resource: &Resource,
    edges: &mut Vec<Edge>,
    problems: &mut Vec<Diagnostic>,
) {
    let definition = scope.definition;
    let resources = &definition.template.resources;
    for name in &resource.depends_on {
        match resources.get_index_of(&name.value) {
            Some(to) if definition.is_enabled(to) => {
                edges.push(Edge { to, span: Some(name.span) });
            }
            Some(_) => {}
            None => {
                let many = problems.len() >= suggest::MAX_SUGGESTIONS;
                problems.push(missing(definition, &name.value, &resource.name, name.span, many));
            }
        }
    }
    if !add_references(definition, resource, edges) {
        search(scope, resource, edges, problems);
    }
    if resource.external_id.is_some() && !resource.depends_on.is_empty() {
        problems.push(external(scope, resource));
    }
}

/// Adds the references of properties and metadata, if lowering has collected them and all exist.
/// Then the expressions need not be visited, which is a lot of memory in a large template.
fn add_references(definition: &Definition, resource: &Resource, edges: &mut Vec<Edge>) -> bool {
    let Some(references) = &resource.references else { return false };
    let before = edges.len();
    for name in references {
        let Some(to) = definition.position(&name.value) else {
            edges.truncate(before);
            return false;
        };
        edges.push(Edge { to, span: Some(name.span) });
    }
    true
}

/// Collects the references in properties and metadata.
fn search(
    scope: &Scope<'_>,
    resource: &Resource,
    edges: &mut Vec<Edge>,
    problems: &mut Vec<Diagnostic>,
) {
    for dependency in dependencies(scope, resource) {
        match (dependency.resource, dependency.at) {
            (_, Some(to)) => edges.push(Edge { to, span: Some(dependency.span) }),
            (Ok(name), None) => {
                let many = problems.len() >= suggest::MAX_SUGGESTIONS;
                problems.push(missing(
                    scope.definition,
                    &name,
                    &dependency.path,
                    dependency.span,
                    many,
                ));
            }
            (Err(fault), None) => {
                problems.push(Diagnostic::error(fault.code, fault.message).at(dependency.span));
            }
        }
    }
}

/// The references of a resource's properties and metadata.
fn dependencies(scope: &Scope<'_>, resource: &Resource) -> Vec<Dependency> {
    let mut dependencies = Vec::new();
    let find = |name: &str| scope.definition.position(name);
    let root = Path::Root.key(&resource.name);
    // Heat spells these paths in the words of the older dialect.
    for (word, field) in [("Properties", &resource.properties), ("Metadata", &resource.metadata)] {
        if let Some(expr) = field {
            check::collect_dependencies(scope, expr, &root.key(word), &find, &mut dependencies);
        }
    }
    dependencies
}

fn missing(definition: &Definition, name: &str, user: &str, span: Span, many: bool) -> Diagnostic {
    let template = &definition.template;
    let diagnostic = Diagnostic::error(&codes::BAD_REFERENCE, bad_reference(name, user)).at(span);
    if let Some(disabled) = template.resources.get(name) {
        return diagnostic
            .label(disabled.name_span, "its condition does not hold")
            .help("refer to it inside an `if` with the same condition");
    }
    if template.parameters.contains_key(name) {
        return diagnostic.help(format!("`{name}` is a parameter: use get_param"));
    }
    if many {
        return diagnostic;
    }
    match suggest::closest(name, template.resources.keys().map(|name| &**name)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help("there is no resource of this name in the template"),
    }
}

fn external(scope: &Scope<'_>, resource: &Resource) -> Diagnostic {
    let id = resource.external_id.as_ref().and_then(|expr| scope.value(expr).ok());
    let message = format!(
        "Invalid dependency with external {} resource: {}",
        resource.type_name.value,
        id.map_or_else(String::new, |id| print::plain(&id)),
    );
    let span = resource.depends_on.first().map_or(resource.name_span, |name| name.span);
    Diagnostic::error(&codes::EXTERNAL_DEPENDENCY, message)
        .at(span)
        .help("an external resource exists already: remove its depends_on")
}
