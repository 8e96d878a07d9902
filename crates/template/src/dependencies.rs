//! From a definition to its graph: what `depends_on` says and what functions refer to.

use crate::check::{self, Need};
use crate::codes;
use crate::definition::{Definition, Nowhere};
use crate::diagnostic::Diagnostic;
use crate::eval::Scope;
use crate::functions::bad_reference;
use crate::graph::{Edge, Graph};
use crate::path::Path;
use crate::print;
use crate::source::Span;
use crate::suggest;
use crate::template::Resource;

/// The graph of a definition's resources, and the references that lead nowhere.
pub fn of(definition: &Definition) -> (Graph, Vec<Diagnostic>) {
    let scope = Scope::new(definition, &Nowhere);
    let mut graph = Graph::new(definition.resources().map(|resource| resource.name.clone()));
    let mut problems: Vec<Diagnostic> = Vec::new();
    for (at, resource) in definition.resources().enumerate() {
        let mut edges = Vec::new();
        for name in &resource.depends_on {
            if let Some(to) = graph.position(&name.value) {
                edges.push(Edge { to, span: Some(name.span) });
            } else if !definition.template.resources.contains_key(&name.value) {
                let many = problems.len() >= suggest::MANY;
                problems.push(missing(definition, &name.value, &resource.name, name.span, many));
            }
        }
        for need in needs(&scope, resource) {
            match need.resource.as_ref().map(|name| (name, graph.position(name))) {
                Ok((_, Some(to))) => edges.push(Edge { to, span: Some(need.span) }),
                Ok((name, None)) => {
                    let many = problems.len() >= suggest::MANY;
                    problems.push(missing(definition, name, &need.path, need.span, many));
                }
                Err(fault) => {
                    let message = fault.message.clone();
                    problems.push(Diagnostic::error(fault.code, message).at(need.span));
                }
            }
        }
        if resource.external_id.is_some() && !resource.depends_on.is_empty() {
            problems.push(external(&scope, resource));
        }
        graph.set_needs(at, edges);
    }
    (graph, problems)
}

/// What a resource's properties and metadata refer to.
fn needs(scope: &Scope<'_>, resource: &Resource) -> Vec<Need> {
    let mut needs = Vec::new();
    let exists = |name: &str| scope.definition.has_resource(name);
    let root = Path::Root.key(&resource.name);
    // The reference spells these paths in the words of the older dialect.
    for (word, field) in [("Properties", &resource.properties), ("Metadata", &resource.metadata)] {
        if let Some(expr) = field {
            check::needs(scope, expr, &root.key(word), &exists, &mut needs);
        }
    }
    needs
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
        resource.kind.value,
        id.map_or_else(String::new, |id| print::plain(&id)),
    );
    let span = resource.depends_on.first().map_or(resource.name_span, |name| name.span);
    Diagnostic::error(&codes::EXTERNAL_DEPENDENCY, message)
        .at(span)
        .help("an external resource exists already: take its depends_on away")
}
