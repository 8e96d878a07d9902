//! A definition: a template bound to its parameters.
//!
//! From here on it is known which resources exist, which branch every `if` takes and what
//! `get_param` returns. Only values that come from the cloud remain unknown.

use crate::check;
use crate::codes;
use crate::conditions::{self, Conditions};
use crate::dependencies;
use crate::diagnostic::Diagnostic;
use crate::eval::{Budget, Resolver, Scope, Truth};
use crate::expr::{Expr, ExprKind};
use crate::findings::{Findings, Stage};
use crate::functions::{Facade, Fault};
use crate::graph::{Cycle, Edge, Graph};
use crate::lower;
use crate::parameters::{Lookup, Parameters};
use crate::path::Path;
use crate::source::Span;
use crate::template::{DeletionPolicy, Resource, Template};
use crate::value::{Unknown, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The files that came with a template, by the exact text that names them.
pub type Files = BTreeMap<Arc<str>, Arc<str>>;

/// A template bound to its parameters.
#[derive(Debug)]
pub struct Definition {
    /// The template.
    pub template: Arc<Template>,
    /// The values of its parameters.
    pub parameters: Parameters,
    /// The files that came with it.
    pub files: Arc<Files>,
    /// The limits of its YAQL queries.
    pub query_limits: QueryLimits,
    pub(crate) conditions: Conditions,
    absent: UnsetParameters,
    enabled: Vec<bool>,
    graph: Graph,
    /// Spans of references to resources that do not exist.
    pub(crate) dangling: BTreeSet<Span>,
}

/// The limits of a YAQL query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// The most elements that a collection may have when it is walked or returned.
    pub elements: usize,
    /// The most bytes that one value may take.
    pub bytes: usize,
}

impl Default for QueryLimits {
    /// Heat's default limits.
    fn default() -> QueryLimits {
        QueryLimits { elements: 200, bytes: 10_000 }
    }
}

/// What functions make of a declared parameter without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsetParameters {
    /// The value is not known yet.
    Unknown,
    /// The function fails, as in Heat.
    Error,
}

impl Definition {
    /// Binds a template: conditions are decided, the form of everything in use is checked, and
    /// references become a graph.
    pub fn bind(
        template: Arc<Template>,
        parameters: Parameters,
        files: Arc<Files>,
        absent: UnsetParameters,
    ) -> (Definition, Findings) {
        let mut definition = Definition {
            query_limits: QueryLimits::default(),
            enabled: vec![true; template.resources.len()],
            template,
            parameters,
            files,
            conditions: Conditions::new(),
            absent,
            graph: Graph::default(),
            dangling: BTreeSet::new(),
        };
        let mut findings = Findings::new();
        definition.enabled = definition.decide_resources(&mut findings);
        let problems = definition.connect_resources(&mut findings);
        definition.dangling = problems.iter().filter_map(Diagnostic::span).collect();
        findings.extend(Stage::References, problems);
        definition.check_other_forms(&mut findings);
        (definition, findings)
    }

    /// The value of a parameter, pseudo parameters included.
    pub fn parameter(&self, name: &str) -> Result<Value, Fault> {
        match self.parameters.get(name) {
            Lookup::Value(value) => Ok(value.clone()),
            Lookup::NoValue if self.absent == UnsetParameters::Unknown => {
                Ok(Value::Unknown(Unknown::Parameter(name.into())))
            }
            Lookup::NoValue | Lookup::Undeclared => Err(Fault {
                code: &codes::PARAMETER_MISSING,
                message: format!("The Parameter ({name}) was not provided."),
            }),
        }
    }

    /// Whether there is a resource of this name, and its condition holds.
    pub fn has_resource(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// The index of the resource with a name, if its condition holds.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.template.resources.get_index_of(name).filter(|at| self.enabled[*at])
    }

    /// Whether the condition of the resource at an index holds.
    pub fn is_enabled(&self, at: usize) -> bool {
        self.enabled[at]
    }

    /// The dependencies between the resources; a resource whose condition does not hold has none.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Removes every dependency on the resources at these indexes.
    pub fn ignore_dependencies_on(&mut self, positions: &BTreeSet<usize>) {
        if !positions.is_empty() {
            self.graph = self.graph.without_dependencies_on(positions);
        }
    }

    /// Adds dependencies that the template does not state, as pairs of dependent and dependency. A
    /// pair that would close a cycle is left out, because the template's own dependencies take
    /// precedence.
    pub fn add_dependencies(&mut self, pairs: &[(usize, usize)]) {
        let Ok(order) = self.graph.order() else { return };
        let joined = |keep: &dyn Fn(usize, usize) -> bool| {
            let mut more: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for (dependent, dependency) in pairs
                .iter()
                .copied()
                .filter(|(dependent, dependency)| keep(*dependent, *dependency))
            {
                more.entry(dependent).or_default().push(dependency);
            }
            let mut graph = Graph::with_capacity(self.graph.len());
            for at in 0..self.graph.len() {
                let mut edges = self.graph.dependencies(at).to_vec();
                let added = more.get(&at).into_iter().flatten();
                edges.extend(added.map(|to| Edge { to: *to, span: None }));
                graph.push(&edges);
            }
            graph
        };
        let mut graph = joined(&|_, _| true);
        if graph.order().is_err() {
            let mut positions = vec![0; order.len()];
            for (position, at) in order.iter().enumerate() {
                positions[*at] = position;
            }
            graph = joined(&|dependent, dependency| positions[dependency] < positions[dependent]);
        }
        self.graph = graph;
    }

    /// The indexes of the resources whose conditions hold, each after its dependencies.
    pub fn order(&self) -> Result<Vec<usize>, Vec<Cycle>> {
        let mut order = self.graph.order()?;
        order.retain(|at| self.enabled[*at]);
        Ok(order)
    }

    /// The resource with a name, if its condition holds.
    pub fn resource(&self, name: &str) -> Option<&Resource> {
        self.resource_at(self.template.resources.get_index_of(name)?)
    }

    /// The resource at an index, if its condition holds.
    pub fn resource_at(&self, at: usize) -> Option<&Resource> {
        self.template.resources.get_index(at).map(|(_, it)| it).filter(|_| self.enabled[at])
    }

    /// The resources whose conditions hold, with their indexes, in the order of the template.
    pub fn resources(&self) -> impl Iterator<Item = (usize, &Resource)> {
        let all = self.template.resources.values().enumerate();
        all.filter(|(at, _)| self.enabled[*at])
    }

    /// The deletion policy of a resource; `Delete` where it is not known yet.
    pub fn deletion_policy(
        &self,
        resource: &Resource,
        resolver: &dyn Resolver,
    ) -> Result<DeletionPolicy, Fault> {
        if resource.external_id.is_some() {
            return Ok(DeletionPolicy::Retain);
        }
        let Some(expr) = &resource.deletion_policy else { return Ok(DeletionPolicy::Delete) };
        let value = self.word(expr, resolver)?;
        let parse = |text: &Arc<str>| DeletionPolicy::parse(text, self.template.version);
        Ok(value.as_text().and_then(parse).unwrap_or_default())
    }

    /// The value of an expression that should be a single word, evaluated with a small budget.
    fn word(&self, expr: &Expr, resolver: &dyn Resolver) -> Result<Value, Fault> {
        Scope::new(self, resolver).with_budget(&Budget::new(1 << 16)).value(expr)
    }

    fn decide_resources(&self, findings: &mut Findings) -> Vec<bool> {
        let scope = Scope::new(self, &UnknownResolver);
        let words = self.template.version.keywords();
        let section = Path::Root.key(words.resources);
        let mut enabled = Vec::with_capacity(self.template.resources.len());
        for resource in self.template.resources.values() {
            let Some(condition) = &resource.condition else {
                enabled.push(true);
                continue;
            };
            let name = section.key(&resource.name);
            let path = name.key(words.condition);
            let mut problems = Vec::new();
            check::check_forms(&scope, condition, &path, &mut problems);
            let decided = scope.holds(condition);
            if let (Err(fault), true) = (&decided, problems.is_empty()) {
                problems.push(check::undecided_condition(fault, &path, condition.span));
            }
            findings.extend(Stage::ResourceDefinitions, problems);
            enabled.push(!matches!(decided, Ok(Truth::Known(false))));
        }
        enabled
    }

    /// Checks the forms of the resources' fields and fills the graph, in one pass over what may be
    /// a lot of memory. Returns the references that lead nowhere.
    fn connect_resources(&mut self, findings: &mut Findings) -> Vec<Diagnostic> {
        let scope = Scope::new(self, &UnknownResolver);
        let mut graph = Graph::with_capacity(self.template.resources.len());
        let (mut edges, mut problems) = (Vec::new(), Vec::new());
        for (at, resource) in self.template.resources.values().enumerate() {
            self.check_resource_forms(&scope, resource, findings);
            if self.enabled[at] {
                dependencies::collect(&scope, resource, &mut edges, &mut problems);
            }
            graph.push(&edges);
            edges.clear();
        }
        self.graph = graph;
        problems
    }

    fn check_resource_forms(
        &self,
        scope: &Scope<'_>,
        resource: &Resource,
        findings: &mut Findings,
    ) {
        let words = self.template.version.keywords();
        let section = Path::Root.key(words.resources);
        let path = section.key(&resource.name);
        // Where the references are known without parameters, every form is right.
        let open = resource.references.is_none();
        let fields = [
            (words.properties, resource.properties.as_ref().filter(|_| open)),
            (words.metadata, resource.metadata.as_ref().filter(|_| open)),
            (words.update_policy, resource.update_policy.as_deref()),
            (words.deletion_policy, resource.deletion_policy.as_deref()),
            ("external_id", resource.external_id.as_deref()),
        ];
        let mut problems = Vec::new();
        for (key, field) in fields {
            if let Some(expr) = field {
                check::check_forms(scope, expr, &path.key(key), &mut problems);
            }
        }
        if problems.iter().all(|problem| !problem.is_error()) {
            problems.extend(self.bad_deletion_policy(resource));
        }
        findings.extend(Stage::ResourceDefinitions, problems);
    }

    fn check_other_forms(&self, findings: &mut Findings) {
        let scope = Scope::new(self, &UnknownResolver);
        self.check_condition_forms(&scope, findings);
        self.check_output_forms(&scope, findings);
    }

    /// A deletion policy that a function gave and that does not exist.
    fn bad_deletion_policy(&self, resource: &Resource) -> Option<Diagnostic> {
        let expr = resource.deletion_policy.as_ref().filter(|expr| expr.is_function())?;
        let text = match self.word(expr, &UnknownResolver) {
            Ok(Value::Unknown(_)) => return None,
            Ok(value) => crate::print::plain(&value),
            Err(fault) => {
                return Some(Diagnostic::error(fault.code, fault.message).at(expr.span));
            }
        };
        match DeletionPolicy::parse(&text, self.template.version) {
            Some(_) => None,
            None => Some(lower::bad_deletion_policy(&text, expr.span)),
        }
    }

    /// Deletion policies that are those of the parent resource, in the template of a root stack.
    pub(crate) fn policies_of_no_parent(&self) -> Vec<Diagnostic> {
        let policies = self.resources().filter_map(|(_, it)| it.deletion_policy.as_deref());
        let unknown = policies.filter(|expr| {
            expr.is_function()
                && matches!(self.word(expr, &UnknownResolver), Ok(Value::Unknown(Unknown::Facade)))
        });
        let problem = |expr: &Expr| {
            let message =
                "The template of a root stack has no parent resource whose policy it could use";
            let help =
                "write Delete, Retain or Snapshot, or use the template as the type of a resource";
            Diagnostic::error(&codes::DELETION_POLICY, message).at(expr.span).help(help)
        };
        unknown.map(problem).collect()
    }

    fn check_condition_forms(&self, scope: &Scope<'_>, findings: &mut Findings) {
        let section = Path::Root.key(self.template.version.keywords().conditions);
        let checker =
            crate::eval::Checker { scope, existence: &|_, _| crate::eval::Existence::Exists };
        for (name, condition) in &self.template.conditions {
            let definition = &condition.definition;
            let mut problems = Vec::new();
            match &definition.kind {
                ExprKind::Scalar(Value::Bool(_)) => {}
                ExprKind::Scalar(_) | ExprKind::List(_) | ExprKind::Map(_) => {
                    let fault = conditions::bad_definition(name, &definition.literal());
                    problems.push(
                        check::undecided_condition(&fault, &Path::Root, definition.span)
                            .help("a condition is true, false, or a function such as equals"),
                    );
                }
                _ => {
                    let path = section.key(name);
                    check::check_forms(scope, definition, &path, &mut problems);
                    // Heat loses the path to what it finds here.
                    check::check_names(&checker, definition, &Path::Root, &mut problems);
                }
            }
            findings.extend(Stage::Conditions, problems);
        }
    }

    fn check_output_forms(&self, scope: &Scope<'_>, findings: &mut Findings) {
        let words = self.template.version.keywords();
        let section = Path::Root.key(words.outputs);
        for output in self.template.outputs.values() {
            let name = section.key(&output.name);
            let mut problems = Vec::new();
            let mut wanted = true;
            if let Some(condition) = &output.condition {
                let path = name.key(words.condition);
                check::check_forms(scope, condition, &path, &mut problems);
                match scope.holds(condition) {
                    Ok(truth) => wanted = truth != Truth::Known(false),
                    Err(fault) if problems.is_empty() => {
                        problems.push(check::undecided_condition(&fault, &path, condition.span));
                    }
                    Err(_) => {}
                }
            }
            // The value of an output that is not wanted is not even examined.
            if wanted {
                check::check_forms(scope, &output.value, &name.key(words.value), &mut problems);
            }
            findings.extend(Stage::OutputDefinitions, problems);
        }
    }
}

/// A resolver that knows nothing yet: for expressions that depend on parameters alone.
pub struct UnknownResolver;

impl Resolver for UnknownResolver {
    fn reference(&self, resource: &str) -> Result<Value, Fault> {
        Ok(Value::Unknown(Unknown::Reference(resource.into())))
    }

    fn attribute(&self, resource: &str, attribute: &str, _: &[Value]) -> Result<Value, Fault> {
        Ok(Value::Unknown(Unknown::attribute(resource, attribute)))
    }

    fn attributes(&self, resource: &str) -> Result<Value, Fault> {
        Ok(Value::Unknown(Unknown::attribute(resource, "")))
    }

    fn facade(&self, _: Facade) -> Result<Value, Fault> {
        Ok(Value::Unknown(Unknown::Facade))
    }

    fn availability_zones(&self) -> Result<Value, Fault> {
        Ok(Value::Unknown(Unknown::AvailabilityZones))
    }
}
