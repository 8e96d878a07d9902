//! One stack of the tree: its resource types, references, properties and outputs.

use super::loader::Loader;
use super::nested::NestedTemplate;
use super::properties::{self, WrittenProperties};
use super::siblings::Siblings;
use super::{Checks, Context, PropertyError};
use crate::check;
use crate::codes;
use crate::definition::{Definition, UnknownResolver};
use crate::diagnostic::{Diagnostic, Severity};
use crate::environment::{Implementation, Registry, Unresolved};
use crate::eval::{Checker, Existence, Scope, Truth};
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

/// The implementation of a resource's type.
pub(super) enum ResolvedType<'a> {
    /// A built-in type.
    Builtin(&'a TypeSchema),
    /// A template.
    Template(Arc<NestedTemplate>),
}

impl ResolvedType<'_> {
    /// The schema: of a built-in type, or made from a template.
    pub(super) fn schema(&self) -> &TypeSchema {
        match self {
            ResolvedType::Builtin(schema) => schema,
            ResolvedType::Template(child) => &child.interface,
        }
    }
}

/// The context of the checks of resources and outputs.
struct Checking<'c> {
    scope: &'c Scope<'c>,
    /// The types of the resources by index.
    types: &'c [Option<ResolvedType<'c>>],
    /// Spans of references to resources that do not exist, which were reported.
    reported: &'c BTreeSet<Span>,
}

impl Checking<'_> {
    /// Whether the resource at an index has an attribute, if one is named.
    fn has_attribute(&self, at: usize, attribute: Option<&str>) -> Existence {
        match (&self.types[at], attribute) {
            (Some(resolved), Some(name)) if !resolved.schema().has_attribute(name) => {
                Existence::NoAttribute
            }
            _ => Existence::Exists,
        }
    }
}

impl<'a> Stack<'a> {
    /// Checks the stack and all stacks below it. Returns the indexes of the resources that no
    /// resource waits for.
    pub(super) fn check(&self, loader: &mut Loader<'_>) -> (Findings, BTreeSet<usize>) {
        let mut findings = Findings::new();
        let types = self.resolve_types(loader, &mut findings);
        self.duplicate_names(&mut findings);
        let unawaited = unawaited(&types);
        let mut graph = Cow::Borrowed(self.definition.graph());
        if !unawaited.is_empty() {
            graph = Cow::Owned(graph.without_dependencies_on(&unawaited));
        }
        let order = graph.order().unwrap_or_else(|cycles| {
            let cycles = cycles.iter().map(|cycle| cycle.diagnostic(|at| self.name(at)));
            findings.extend(Stage::References, cycles);
            (0..graph.len()).collect()
        });
        let budget = loader.budget.clone();
        let scope = Scope::new(self.definition, &UnknownResolver).with_budget(&budget);
        let reported = &self.definition.dangling;
        let checking = Checking { scope: &scope, types: &types, reported };
        // Heat checks in the order of dependencies. The order of the template is faster in memory,
        // so only the findings are sorted by dependencies.
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
            order.iter().enumerate().for_each(|(position, at)| rank[*at] = position);
            found.sort_by_key(|(at, _)| rank[*at]);
            found.into_iter().for_each(|(_, inside)| findings.append(inside));
        }
        self.check_outputs(&checking, &mut findings);
        (findings, unawaited)
    }

    fn name(&self, at: usize) -> &str {
        self.definition.resource_at(at).map_or("", |resource| &resource.name)
    }

    /// The index of the resource with a name. Most often it is one of the few dependencies of the
    /// resource that refers to it, and is found without searching all resources.
    fn position(&self, name: &str, user: usize) -> Option<usize> {
        const MAX_CHECKED: usize = 4;
        let needed = self.definition.graph().dependencies(user).iter().take(MAX_CHECKED);
        let is_named = |at: &usize| self.name(*at) == name;
        needed.map(|edge| edge.to).find(is_named).or_else(|| self.definition.position(name))
    }

    pub(super) fn keywords(&self) -> &'static crate::version::Keywords {
        self.definition.template.version.keywords()
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

    /// The types of the resources by index; a resource whose condition does not hold has none.
    fn resolve_types(
        &self,
        loader: &mut Loader<'_>,
        findings: &mut Findings,
    ) -> Vec<Option<ResolvedType<'a>>> {
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
    ) -> Result<ResolvedType<'a>, Box<Findings>> {
        let is_builtin = |name: &str| self.context.types.schema(name).is_some();
        let kind = &resource.type_name.value;
        match self.registry.resolve(kind, Some(&resource.name), &is_builtin) {
            Ok(Implementation::Builtin(name)) => match self.context.types.schema(&name) {
                Some(schema) => self.available(resource, schema),
                None => Err(self.unknown_type(resource, None, loader)),
            },
            Ok(Implementation::Template { url, entry, .. }) => {
                self.template_type(resource, url, entry, loader)
            }
            Err(unresolved) => Err(self.unknown_type(resource, Some(&unresolved), loader)),
        }
    }

    /// The type, unless its service is missing from the cloud.
    fn available(
        &self,
        resource: &Resource,
        schema: &'a TypeSchema,
    ) -> Result<ResolvedType<'a>, Box<Findings>> {
        let Some(message) = self.context.types.unavailable(&schema.name) else {
            return Ok(ResolvedType::Builtin(schema));
        };
        let mut findings = Findings::new();
        let diagnostic = Diagnostic::error(&codes::TYPE_UNAVAILABLE, message);
        findings.add(Stage::Types, diagnostic.at(resource.type_name.span));
        Err(Box::new(findings))
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
        resolved: &ResolvedType<'_>,
        loader: &mut Loader<'_>,
        findings: &mut Findings,
    ) {
        let words = self.keywords();
        let section = Path::Root.key(words.resources);
        let path = section.key(&resource.name);
        let mut problems = Vec::new();
        self.check_names(checking, at, resource, &path, &mut problems);
        if resource.external_id.is_some() {
            // The object exists already: the engine creates nothing from this definition.
            findings.extend(Stage::Properties, problems);
            return;
        }
        let policy = self.definition.deletion_policy(resource, &UnknownResolver);
        let policy = policy.unwrap_or_default();
        if policy == DeletionPolicy::Snapshot && !resolved.schema().snapshots {
            problems.push(no_snapshots(resource, &path.key(words.deletion_policy)));
        }
        self.check_update_policy(checking, resource, resolved, &path, &mut problems);
        let values = self.check_properties(checking, resource, resolved, &path, &mut problems);
        let sound = problems.iter().all(|problem| !problem.is_error());
        findings.extend(Stage::Properties, problems);
        match resolved {
            ResolvedType::Template(child) => {
                self.check_child(resource, child, &values, loader, findings);
            }
            ResolvedType::Builtin(schema) if sound && self.context.checks.values => {
                self.check_type(checking, resource, schema, &values, loader, findings);
            }
            ResolvedType::Builtin(_) => {}
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
        let words = self.keywords();
        let existence = |name: &str, attribute: Option<&str>| match self.position(name, at) {
            Some(position) => checking.has_attribute(position, attribute),
            // Missing resources were reported with the references.
            None => Existence::Exists,
        };
        let checker = Checker { scope: checking.scope, existence: &existence };
        let fields = [
            (words.properties, resource.properties.as_ref()),
            (words.metadata, resource.metadata.as_ref()),
            (words.update_policy, resource.update_policy.as_deref()),
        ];
        for (key, field) in fields {
            if let Some(expr) = field {
                check::check_names(&checker, expr, &path.key(key), problems);
            }
        }
    }

    fn check_update_policy(
        &self,
        checking: &Checking<'_>,
        resource: &Resource,
        resolved: &ResolvedType<'_>,
        path: &Path<'_>,
        problems: &mut Vec<Diagnostic>,
    ) {
        if resource.update_policy.is_none() {
            return;
        }
        let path = path.key(self.keywords().update_policy);
        let written =
            WrittenProperties::new(resource.update_policy.as_deref(), &path, resource.name_span);
        let values = properties::values(checking.scope, &written, checking.reported, problems);
        let schema = resolved.schema();
        let policy = &schema.update_policy;
        properties::check(self.context, schema, policy, &values, &written, None, problems);
    }

    fn check_properties(
        &self,
        checking: &Checking<'_>,
        resource: &Resource,
        resolved: &ResolvedType<'_>,
        path: &Path<'_>,
        problems: &mut Vec<Diagnostic>,
    ) -> Members {
        let resource_path = path;
        let path = path.key(self.keywords().properties);
        let written =
            WrittenProperties::new(resource.properties.as_ref(), &path, resource.name_span);
        let schema = resolved.schema();
        if schema.any_property {
            return Members::new();
        }
        let before = problems.iter().filter(|problem| problem.is_error()).count();
        let mut failures = Vec::new();
        let mut values =
            properties::values(checking.scope, &written, checking.reported, &mut failures);
        let untranslated = properties::translate(self.context, schema, &mut values, &written);
        // The paths of authors lead to the value, those of the API to the resource, as in Heat.
        let is_nested = self.depth > 0 && self.context.checks != Checks::AUTHOR;
        let nested_resource = is_nested.then_some(resource_path);
        if nested_resource.is_some() {
            for failure in &mut failures {
                failure.class = "ValueError".into();
                failure.path = resource_path.to_string();
            }
        }
        if (self.context.checks.values || self.depth > 0) && before == 0 {
            problems.append(&mut failures);
        }
        let (context, properties) = (self.context, &schema.properties);
        let checked = properties::check(
            context,
            schema,
            properties,
            &values,
            &written,
            nested_resource,
            problems,
        );
        problems.extend(untranslated);
        if schema.from_template { values.members } else { checked }
    }

    fn check_type(
        &self,
        checking: &Checking<'_>,
        resource: &Resource,
        schema: &TypeSchema,
        values: &Members,
        loader: &mut Loader<'_>,
        findings: &mut Findings,
    ) {
        let (types, name) = (self.context.types, &*schema.name);
        let siblings = Siblings {
            own_name: &resource.name,
            definition: self.definition,
            scope: checking.scope,
            context: self.context,
        };
        if let Err(error) = types.check(name, values, &siblings) {
            findings.add(Stage::Properties, self.refused(resource, error));
            return;
        }
        if let Some(expansion) = types.expansion(name, values, &siblings) {
            self.check_expansion(resource, &expansion, loader, findings);
        }
    }

    fn refused(&self, resource: &Resource, error: PropertyError) -> Diagnostic {
        let properties = resource.properties.as_ref();
        let diagnostic = Diagnostic::error(error.code, error.message);
        let words = self.keywords();
        let section = Path::Root.key(words.resources);
        let resource_path = section.key(&resource.name);
        let Some(property) = error.property else {
            let diagnostic = match error.class {
                Some(class) => diagnostic.class(class).path(resource_path),
                None => diagnostic,
            };
            return diagnostic.at(resource.name_span);
        };
        let path = resource_path.key(words.properties);
        let value = properties.and_then(|expr| expr.get(property));
        diagnostic
            .class("Property error")
            .path(path.key(property))
            .at(value.map_or(resource.name_span, |expr| expr.span))
    }

    // --- outputs ---

    fn check_outputs(&self, checking: &Checking<'_>, findings: &mut Findings) {
        let words = self.keywords();
        let section = Path::Root.key(words.outputs);
        let scope = checking.scope;
        let existence = |name: &str, attribute: Option<&str>| match self.definition.position(name) {
            Some(position) => checking.has_attribute(position, attribute),
            None => Existence::NoResource,
        };
        let checker = Checker { scope, existence: &existence };
        for output in self.definition.template.outputs.values() {
            let condition = output.condition.as_ref().map(|condition| scope.holds(condition));
            if matches!(condition, Some(Ok(Truth::Known(false)) | Err(_))) {
                continue;
            }
            let name = section.key(&output.name);
            let mut problems = Vec::new();
            check::check_names(&checker, &output.value, &name.key(words.value), &mut problems);
            findings.extend(Stage::OutputValues, problems);
        }
    }
}

/// The indexes of the resources whose reference ids are known before they are created.
fn unawaited(types: &[Option<ResolvedType<'_>>]) -> BTreeSet<usize> {
    let is_unawaited = |it: &Option<ResolvedType<'_>>| {
        it.as_ref().is_some_and(|it| it.schema().reference_known_early)
    };
    types.iter().enumerate().filter(|(_, it)| is_unawaited(it)).map(|(at, _)| at).collect()
}

fn no_snapshots(resource: &Resource, path: &Path<'_>) -> Diagnostic {
    let span = resource.deletion_policy.as_ref().map_or(resource.name_span, |policy| policy.span);
    let message = "\"Snapshot\" deletion policy not supported";
    let help =
        format!("{} objects have no snapshots: use Delete or Retain", resource.type_name.value);
    Diagnostic::error(&codes::DELETION_POLICY, message).path(path).at(span).help(help)
}

/// The warning about a deprecated type.
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
    Some(
        match help.or_else(|| is_retired.then(|| removed_service_help(&resource.type_name.value))) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        },
    )
}

/// The help for a type whose service is gone without a successor.
fn removed_service_help(kind: &str) -> String {
    let service = kind.split("::").nth(1).unwrap_or(kind);
    format!("{service} no longer offers this and nothing is created for it: remove it")
}
