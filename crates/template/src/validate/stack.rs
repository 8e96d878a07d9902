//! One stack of the tree: its resource types, references, properties and outputs.

use super::nested::{Child, Loader};
use super::properties::{self, Written};
use super::{Context, PropertyError};
use crate::check;
use crate::codes;
use crate::definition::{Definition, UnknownResolver};
use crate::diagnostic::{Diagnostic, Severity};
use crate::environment::{Implementation, Registry, Unresolved};
use crate::eval::{Checker, Known, Scope, Truth};
use crate::findings::{Findings, Stage};
use crate::parameters::SuppliedValues;
use crate::path::Path;
use crate::schema::{Status, TypeSchema};
use crate::source::Span;
use crate::template::{DeletionPolicy, Resource};
use crate::value::Members;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A stack of the tree.
pub(super) struct Stack<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) definition: &'a Definition,
    pub(super) registry: &'a Registry,
    /// Defaults that the environment has for parameters of any template.
    pub(super) defaults: &'a SuppliedValues,
    /// How deep it is nested; the root is at depth 0.
    pub(super) depth: usize,
}

/// What a resource's type turned out to be.
pub(super) enum Resolved<'a> {
    /// A built-in type.
    Builtin(&'a TypeSchema),
    /// A template.
    Template(Arc<Child>),
}

impl Resolved<'_> {
    /// The schema: of a built-in type, or made from a template.
    pub(super) fn schema(&self) -> &TypeSchema {
        match self {
            Resolved::Builtin(schema) => schema,
            Resolved::Template(child) => &child.interface,
        }
    }
}

/// What the checks of resources and outputs look at.
struct Checking<'c> {
    scope: &'c Scope<'c>,
    /// The types of the resources by their places.
    types: &'c [Option<Resolved<'c>>],
    /// Places of references that were found to lead nowhere.
    told: &'c BTreeSet<Span>,
}

impl Checking<'_> {
    /// Whether the resource at a place has an attribute, if one is asked for.
    fn has_attribute(&self, at: usize, attribute: Option<&str>) -> Known {
        match (&self.types[at], attribute) {
            (Some(resolved), Some(name)) if !resolved.schema().has_attribute(name) => {
                Known::NoAttribute
            }
            _ => Known::Yes,
        }
    }
}

impl<'a> Stack<'a> {
    /// Checks the stack and all stacks below it. Tells the places of the resources that nobody waits for.
    pub(super) fn check(&self, loader: &mut Loader<'_>) -> (Findings, BTreeSet<usize>) {
        let mut findings = Findings::new();
        let types = self.resolve_types(loader, &mut findings);
        self.duplicate_names(&mut findings);
        let unawaited = unawaited(&types);
        let mut graph = Cow::Borrowed(self.definition.graph());
        if !unawaited.is_empty() {
            graph = Cow::Owned(graph.without_needs_of(&unawaited));
        }
        let order = graph.order().unwrap_or_else(|cycles| {
            let rings = cycles.iter().map(|cycle| cycle.diagnostic(|at| self.name(at)));
            findings.extend(Stage::References, rings);
            (0..graph.len()).collect()
        });
        let budget = loader.budget.clone();
        let scope = Scope::new(self.definition, &UnknownResolver).with_budget(&budget);
        let told = &self.definition.dangling;
        let checking = Checking { scope: &scope, types: &types, told };
        // The reference goes by dependencies. Memory is kinder to the order of the template, and only
        // what is found has to be told in the other one.
        let mut found: Vec<(usize, Findings)> = Vec::new();
        for (at, resource) in self.definition.resources() {
            let Some(resolved) = &types[at] else { continue };
            let mut inside = Findings::new();
            self.check_resource(&checking, at, resource, resolved, loader, &mut inside);
            if !inside.is_empty() {
                found.push((at, inside));
            }
        }
        if !found.is_empty() {
            let mut rank = vec![0; order.len()];
            order.iter().enumerate().for_each(|(place, at)| rank[*at] = place);
            found.sort_by_key(|(at, _)| rank[*at]);
            found.into_iter().for_each(|(_, inside)| findings.append(inside));
        }
        self.check_outputs(&checking, &mut findings);
        (findings, unawaited)
    }

    fn name(&self, at: usize) -> &str {
        self.definition.resource_at(at).map_or("", |resource| &resource.name)
    }

    /// The place of the resource of a name. What a resource refers to is among the few that it needs, most
    /// often: there it is found without a search among all.
    fn place(&self, name: &str, user: usize) -> Option<usize> {
        const FEW: usize = 4;
        let needed = self.definition.graph().needs(user).iter().take(FEW);
        let is_named = |at: &usize| self.name(*at) == name;
        needed.map(|edge| edge.to).find(is_named).or_else(|| self.definition.position(name))
    }

    pub(super) fn words(&self) -> &'static crate::version::Words {
        self.definition.template.version.words()
    }

    fn duplicate_names(&self, findings: &mut Findings) {
        let template = &self.definition.template;
        let mut shared: Vec<_> = template
            .parameters
            .values()
            .filter_map(|parameter| {
                Some((template.resources.get_full(&parameter.name)?, parameter))
            })
            .collect();
        if shared.is_empty() {
            return;
        }
        shared.sort_by_key(|((at, ..), _)| *at);
        let names: Vec<String> =
            shared.iter().map(|((_, name, _), _)| format!("'{name}'")).collect();
        let message = format!("Duplicate names {{{}}}", names.join(", "));
        let mut diagnostic = Diagnostic::error(&codes::DUPLICATE_NAMES, message)
            .help("rename the parameter or the resource");
        for ((_, _, resource), parameter) in shared {
            diagnostic = diagnostic
                .label(resource.name_span, "this resource")
                .label(parameter.span, "has the name of this parameter");
        }
        findings.add(Stage::Types, diagnostic);
    }

    // --- types ---

    /// The types of the resources by their places; those that do not count have none.
    fn resolve_types(
        &self,
        loader: &mut Loader<'_>,
        findings: &mut Findings,
    ) -> Vec<Option<Resolved<'a>>> {
        let mut types = Vec::new();
        types.resize_with(self.definition.template.resources.len(), || None);
        for (at, resource) in self.definition.resources() {
            let resolved = self.resolve_type(resource, loader).map_err(|problem| {
                findings.append(*problem);
            });
            if let Ok(resolved) = &resolved {
                findings.extend(Stage::Types, deprecation(resource, resolved.schema()));
            }
            types[at] = resolved.ok();
        }
        types
    }

    fn resolve_type(
        &self,
        resource: &Resource,
        loader: &mut Loader<'_>,
    ) -> Result<Resolved<'a>, Box<Findings>> {
        let is_builtin = |name: &str| self.context.types.schema(name).is_some();
        let kind = &resource.type_name.value;
        match self.registry.resolve(kind, Some(&resource.name), &is_builtin) {
            Ok(Implementation::Builtin(name)) => match self.context.types.schema(&name) {
                Some(schema) => Ok(Resolved::Builtin(schema)),
                None => Err(self.unknown_type(resource, None, loader)),
            },
            Ok(Implementation::Template { url, entry, .. }) => {
                self.template_type(resource, url, entry, loader)
            }
            Err(unresolved) => Err(self.unknown_type(resource, Some(&unresolved), loader)),
        }
    }

    fn unknown_type(
        &self,
        resource: &Resource,
        why: Option<&Unresolved>,
        loader: &mut Loader<'_>,
    ) -> Box<Findings> {
        let kind = &resource.type_name;
        let message = format!("The Resource Type ({}) could not be found.", kind.value);
        let diagnostic = match why {
            Some(unresolved) => unresolved.diagnostic(Some(kind.span)),
            None => Diagnostic::error(&codes::UNKNOWN_TYPE, message).at(kind.span),
        };
        let help = diagnostic.help.clone().or_else(|| {
            let near = loader.suggest(&kind.value, self.context.types.names());
            near.map(|near| format!("did you mean {near}?"))
        });
        let help = help.unwrap_or_else(|| {
            if kind.value.contains("::") {
                "map it to a template or another type in the environment's resource_registry".into()
            } else {
                "a template used as a type ends in .yaml or .template".into()
            }
        });
        let mut findings = Findings::new();
        findings.add(Stage::Types, diagnostic.help(help));
        Box::new(findings)
    }

    // --- resources ---

    fn check_resource(
        &self,
        checking: &Checking<'_>,
        at: usize,
        resource: &Resource,
        resolved: &Resolved<'_>,
        loader: &mut Loader<'_>,
        findings: &mut Findings,
    ) {
        let words = self.words();
        let section = Path::Root.key(words.resources);
        let path = section.key(&resource.name);
        let mut problems = Vec::new();
        self.check_names(checking, at, resource, &path, &mut problems);
        if resource.external_id.is_some() {
            // Its object is there already: nothing is made of what is said here.
            findings.extend(Stage::Properties, problems);
            return;
        }
        let policy = self.definition.deletion_policy(resource);
        if policy == DeletionPolicy::Snapshot && !resolved.schema().snapshots {
            problems.push(no_snapshots(resource, &path.key(words.deletion_policy)));
        }
        self.check_update_policy(checking, resource, resolved, &path, &mut problems);
        let values = self.check_properties(checking, resource, resolved, &path, &mut problems);
        let sound = problems.iter().all(|problem| !problem.is_error());
        findings.extend(Stage::Properties, problems);
        match resolved {
            Resolved::Template(child) => {
                self.check_child(resource, child, &values, loader, findings);
            }
            Resolved::Builtin(schema) if sound && self.context.checks.values => {
                self.check_type(resource, schema, &values, loader, findings);
            }
            Resolved::Builtin(_) => {}
        }
    }

    fn check_names(
        &self,
        checking: &Checking<'_>,
        at: usize,
        resource: &Resource,
        path: &Path<'_>,
        problems: &mut Vec<Diagnostic>,
    ) {
        let words = self.words();
        let knows = |name: &str, attribute: Option<&str>| match self.place(name, at) {
            Some(place) => checking.has_attribute(place, attribute),
            // Missing resources were told with the references.
            None => Known::Yes,
        };
        let checker = Checker { scope: checking.scope, knows: &knows };
        let fields = [
            (words.properties, resource.properties.as_ref()),
            (words.metadata, resource.metadata.as_ref()),
            (words.update_policy, resource.update_policy.as_deref()),
        ];
        for (key, field) in fields {
            if let Some(expr) = field {
                check::names(&checker, expr, &path.key(key), problems);
            }
        }
    }

    fn check_update_policy(
        &self,
        checking: &Checking<'_>,
        resource: &Resource,
        resolved: &Resolved<'_>,
        path: &Path<'_>,
        problems: &mut Vec<Diagnostic>,
    ) {
        if resource.update_policy.is_none() {
            return;
        }
        let path = path.key(self.words().update_policy);
        let written = Written::new(resource.update_policy.as_deref(), &path, resource.name_span);
        let values = properties::values(checking.scope, &written, checking.told, problems);
        let schema = resolved.schema();
        properties::check(self.context, schema, &schema.update_policy, &values, &written, problems);
    }

    fn check_properties(
        &self,
        checking: &Checking<'_>,
        resource: &Resource,
        resolved: &Resolved<'_>,
        path: &Path<'_>,
        problems: &mut Vec<Diagnostic>,
    ) -> Members {
        let resource_path = path;
        let path = path.key(self.words().properties);
        let written = Written::new(resource.properties.as_ref(), &path, resource.name_span);
        let schema = resolved.schema();
        if schema.any_property {
            return Members::new();
        }
        let before = problems.iter().filter(|problem| problem.is_error()).count();
        let mut failures = Vec::new();
        let mut values = properties::values(checking.scope, &written, checking.told, &mut failures);
        let untranslated = properties::translate(self.context, schema, &mut values, &written);
        if self.context.checks.values && before == 0 {
            problems.append(&mut failures);
        } else if self.depth > 0 && before == 0 {
            // Values inside nested stacks wait; functions that fail on them do not.
            problems.extend(failures.into_iter().map(|failure| Diagnostic {
                class: "ValueError".into(),
                path: resource_path.to_string(),
                ..failure
            }));
        }
        let properties = &schema.properties;
        let checked =
            properties::check(self.context, schema, properties, &values, &written, problems);
        problems.extend(untranslated);
        if schema.from_template { values.members } else { checked }
    }

    fn check_type(
        &self,
        resource: &Resource,
        schema: &TypeSchema,
        values: &Members,
        loader: &mut Loader<'_>,
        findings: &mut Findings,
    ) {
        if let Err(refusal) = self.context.types.check(&schema.name, values) {
            findings.add(Stage::Properties, self.refused(resource, refusal));
            return;
        }
        if let Some(template) = self.context.types.expansion(&schema.name, values) {
            self.check_expansion(resource, &template, loader, findings);
        }
    }

    fn refused(&self, resource: &Resource, refusal: PropertyError) -> Diagnostic {
        let properties = resource.properties.as_ref();
        let diagnostic = Diagnostic::error(refusal.code, refusal.message);
        let Some(property) = refusal.property else {
            return diagnostic.at(resource.name_span);
        };
        let words = self.words();
        let section = Path::Root.key(words.resources);
        let resource_path = section.key(&resource.name);
        let path = resource_path.key(words.properties);
        let value = properties.and_then(|expr| expr.get(property));
        diagnostic
            .class("Property error")
            .path(path.key(property))
            .at(value.map_or(resource.name_span, |expr| expr.span))
    }

    // --- outputs ---

    fn check_outputs(&self, checking: &Checking<'_>, findings: &mut Findings) {
        let words = self.words();
        let section = Path::Root.key(words.outputs);
        let scope = checking.scope;
        let knows = |name: &str, attribute: Option<&str>| match self.definition.position(name) {
            Some(place) => checking.has_attribute(place, attribute),
            None => Known::NoResource,
        };
        let checker = Checker { scope, knows: &knows };
        for output in self.definition.template.outputs.values() {
            let condition = output.condition.as_ref().map(|condition| scope.holds(condition));
            if matches!(condition, Some(Ok(Truth::Known(false)) | Err(_))) {
                continue;
            }
            let name = section.key(&output.name);
            let mut problems = Vec::new();
            check::names(&checker, &output.value, &name.key(words.value), &mut problems);
            findings.extend(Stage::OutputValues, problems);
        }
    }
}

/// The places of the resources whose names can be told before they are made.
fn unawaited(types: &[Option<Resolved<'_>>]) -> BTreeSet<usize> {
    let is_unawaited =
        |it: &Option<Resolved<'_>>| it.as_ref().is_some_and(|it| it.schema().reference_known_early);
    types.iter().enumerate().filter(|(_, it)| is_unawaited(it)).map(|(at, _)| at).collect()
}

fn no_snapshots(resource: &Resource, path: &Path<'_>) -> Diagnostic {
    let span = resource.deletion_policy.as_ref().map_or(resource.name_span, |policy| policy.span);
    let message = "\"Snapshot\" deletion policy not supported";
    let help =
        format!("{} objects have no snapshots: use Delete or Retain", resource.type_name.value);
    Diagnostic::error(&codes::DELETION_POLICY, message).path(path).at(span).help(help)
}

/// What should be said of a type that is on its way out.
fn deprecation(resource: &Resource, schema: &TypeSchema) -> Option<Diagnostic> {
    if schema.still_supported {
        return None;
    }
    let state = match schema.support.status {
        Status::Supported => return None,
        Status::Deprecated => "deprecated",
        Status::Hidden => "no longer supported",
        Status::Unsupported => "not supported",
    };
    let message = format!("The resource type {} is {state}", resource.type_name.value);
    let diagnostic = Diagnostic::warning(&codes::DEPRECATED, message).at(resource.type_name.span);
    debug_assert_eq!(diagnostic.severity, Severity::Warning);
    let is_retired = schema.support.status == Status::Hidden && schema.any_property;
    let help = schema.support.message.as_ref().map(|message| message.to_string());
    Some(match help.or_else(|| is_retired.then(|| take_it_out(&resource.type_name.value))) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    })
}

/// What to do with a type whose service is gone and has no heir.
fn take_it_out(kind: &str) -> String {
    let service = kind.split("::").nth(1).unwrap_or(kind);
    format!("{service} no longer offers this and nothing is made for it: take it out")
}
