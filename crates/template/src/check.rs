//! Checks of expressions: their form, the names in them, and the resources they depend on.

use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::eval::{Branches, Checker, Scope};
use crate::expr::{Call, Expr, ExprKind, Invalid};
use crate::functions::Fault;
use crate::path::Path;
use crate::source::Span;
use crate::template::Spanned;
use crate::value::Value;
use std::sync::Arc;

/// Reports functions of the wrong form, and conditions that cannot be decided.
///
/// Mistakes in a branch that is not taken are warnings.
pub(crate) fn check_forms(
    scope: &Scope<'_>,
    expr: &Expr,
    path: &Path<'_>,
    out: &mut Vec<Diagnostic>,
) {
    match &expr.kind {
        ExprKind::Scalar(_) => {}
        ExprKind::List(items) => {
            for (at, item) in items.iter().enumerate() {
                check_forms(scope, item, &path.index(at), out);
            }
        }
        ExprKind::Map(members) => {
            for member in members {
                check_forms(scope, &member.value, &path.key(&member.key), out);
            }
        }
        ExprKind::Call(call) => check_forms(scope, &call.args, &path.key(call.function.name), out),
        ExprKind::If(choice) => {
            let here = path.key(choice.function.name);
            let before = out.len();
            // Heat loses the path to a condition's own functions.
            let name = Path::Root.key(choice.function.name);
            check_forms(scope, &choice.condition, &name, out);
            if out.len() > before {
                return;
            }
            let taken = match scope.branches(choice) {
                Ok(taken) => taken,
                Err(fault) => {
                    out.push(undecided_condition(&fault, &here, choice.condition.span));
                    return;
                }
            };
            for branch in [Some(&choice.then), choice.otherwise.as_ref()].into_iter().flatten() {
                let start = out.len();
                check_forms(scope, branch, &here, out);
                if !taken.contains(branch) {
                    out[start..].iter_mut().for_each(|found| found.severity = Severity::Warning);
                }
            }
        }
        ExprKind::Invalid(invalid) if invalid.code != &codes::FUNCTION_REMOVED => {
            out.push(invalid_form(invalid).path(path.key(&invalid.name)));
        }
        ExprKind::Invalid(_) => {}
    }
}

fn invalid_form(invalid: &Invalid) -> Diagnostic {
    let diagnostic = Diagnostic::error(invalid.code, invalid.message.clone()).at(invalid.name_span);
    Diagnostic { help: invalid.help.clone(), ..diagnostic }
}

/// The error for a condition that cannot be decided, with the class or path that Heat prints for
/// it.
pub(crate) fn undecided_condition(fault: &Fault, path: &Path<'_>, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(fault.code, fault.message.clone()).at(span);
    match fault.code {
        code if code == &codes::CONDITION_DEFINITION || code == &codes::CONDITION_CYCLE => {
            diagnostic.class("Condition validation error")
        }
        code if code == &codes::PARAMETER_MISSING || code == &codes::BAD_REFERENCE => diagnostic,
        _ => diagnostic.path(path),
    }
}

/// A function inside another function, with the path that leads to it.
struct Frame<'f> {
    path: &'f Path<'f>,
    outer: Option<&'f Frame<'f>>,
}

impl Frame<'_> {
    /// The path of the outermost function, and the paths from there to this one.
    fn paths(&self) -> (String, Vec<String>) {
        match self.outer {
            None => (self.path.to_string(), Vec::new()),
            Some(outer) => {
                let (first, mut inner) = outer.paths();
                inner.push(self.path.to_string());
                (first, inner)
            }
        }
    }

    fn diagnostic(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let (path, mut parts) = self.paths();
        parts.push(diagnostic.message);
        diagnostic.message = parts.join(": ");
        diagnostic.path(path)
    }
}

/// Reports names in function arguments that do not exist.
pub(crate) fn check_names(
    checker: &Checker<'_>,
    expr: &Expr,
    path: &Path<'_>,
    out: &mut Vec<Diagnostic>,
) {
    walk_names(checker, expr, path, None, out);
}

fn walk_names(
    checker: &Checker<'_>,
    expr: &Expr,
    path: &Path<'_>,
    outer: Option<&Frame<'_>>,
    out: &mut Vec<Diagnostic>,
) {
    match &expr.kind {
        ExprKind::Scalar(_) => {}
        ExprKind::List(items) => {
            for (at, item) in items.iter().enumerate() {
                walk_names(checker, item, &path.index(at), outer, out);
            }
        }
        ExprKind::Map(members) => {
            for member in members {
                walk_names(checker, &member.value, &path.key(&member.key), outer, out);
            }
        }
        ExprKind::Call(call) => {
            let here = path.key(call.function.name);
            let frame = Frame { path: &here, outer };
            let before = out.len();
            walk_names(checker, &call.args, &Path::Root, Some(&frame), out);
            if out.len() > before {
                return;
            }
            if let Err(fault) = call.function.check(checker, call) {
                out.push(frame.diagnostic(function_error(&fault, call)));
            }
        }
        ExprKind::If(choice) => {
            let here = path.key(choice.function.name);
            let frame = Frame { path: &here, outer };
            for branch in checker.scope.branches(choice).iter().flat_map(Branches::iter) {
                walk_names(checker, branch, &Path::Root, Some(&frame), out);
            }
        }
        ExprKind::Invalid(invalid) if invalid.code == &codes::FUNCTION_REMOVED => {
            let here = path.key(&invalid.name);
            let frame = Frame { path: &here, outer };
            out.push(frame.diagnostic(invalid_form(invalid)));
        }
        ExprKind::Invalid(_) => {}
    }
}

fn function_error(fault: &Fault, call: &Call) -> Diagnostic {
    let span = match call.args.as_list() {
        Some([_, attribute, ..]) if fault.code == &codes::BAD_ATTRIBUTE => attribute.span,
        Some([resource, ..]) if fault.code == &codes::BAD_REFERENCE_IN_FUNCTION => resource.span,
        _ => call.args.get("expression").map_or(call.name_span, |expression| expression.span),
    };
    Diagnostic::error(fault.code, fault.message.clone()).at(span)
}

/// A resource that an expression depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The resource's name, or why it cannot be evaluated.
    pub resource: Result<Arc<str>, Fault>,
    /// The resource's index in the template, if it exists.
    pub at: Option<usize>,
    /// The span of the name.
    pub span: Span,
    /// The path to the function that names it, without that function.
    pub path: String,
}

/// Collects the resources that an expression refers to, in the branches that are taken.
///
/// `find` returns the index of the resource with a name; paths are made only for unknown names.
pub fn collect_dependencies(
    scope: &Scope<'_>,
    expr: &Expr,
    path: &Path<'_>,
    find: &dyn Fn(&str) -> Option<usize>,
    out: &mut Vec<Dependency>,
) {
    match &expr.kind {
        ExprKind::Scalar(_) | ExprKind::Invalid(_) => {}
        ExprKind::List(items) => {
            for (at, item) in items.iter().enumerate() {
                collect_dependencies(scope, item, &path.index(at), find, out);
            }
        }
        ExprKind::Map(members) => {
            for member in members {
                collect_dependencies(scope, &member.value, &path.key(&member.key), find, out);
            }
        }
        ExprKind::If(choice) => {
            for branch in scope.branches(choice).iter().flat_map(Branches::iter) {
                collect_dependencies(scope, branch, &path.key(choice.function.name), find, out);
            }
        }
        ExprKind::Call(call) => {
            collect_dependencies(scope, &call.args, &path.key(call.function.name), find, out);
            let Some(named) = named(call) else { return };
            let Some(resource) = resource_name(scope, named) else { return };
            let at = resource.as_ref().ok().and_then(|name| find(name));
            // A name that is no resource may be a parameter.
            if at.is_some() || call.function.name != "Ref" {
                let path = if at.is_some() { String::new() } else { path.to_string() };
                out.push(Dependency { resource, at, span: named.span, path });
            }
        }
    }
}

/// Collects the attributes that an expression asks of a resource, in the branches that are taken: the name of each, and the path into it.
pub(crate) fn collect_attributes(
    scope: &Scope<'_>,
    expr: &Expr,
    resource: &str,
    out: &mut Vec<Vec<Value>>,
) {
    match &expr.kind {
        ExprKind::Scalar(_) | ExprKind::Invalid(_) => {}
        ExprKind::List(items) => {
            items.iter().for_each(|item| collect_attributes(scope, item, resource, out))
        }
        ExprKind::Map(members) => {
            members
                .iter()
                .for_each(|member| collect_attributes(scope, &member.value, resource, out));
        }
        ExprKind::If(choice) => {
            for branch in scope.branches(choice).iter().flat_map(Branches::iter) {
                collect_attributes(scope, branch, resource, out);
            }
        }
        ExprKind::Call(call) => {
            collect_attributes(scope, &call.args, resource, out);
            let Some([name, path @ ..]) = call.args.as_list() else { return };
            let is_asked = matches!(call.function.name, "get_attr" | "Fn::GetAtt")
                && matches!(resource_name(scope, name), Some(Ok(name)) if &*name == resource);
            if let (true, Ok(path)) = (is_asked, path.iter().map(|it| scope.value(it)).collect()) {
                out.push(path);
            }
        }
    }
}

/// The argument that names a resource, if the function takes one.
fn named(call: &Call) -> Option<&Expr> {
    match call.function.name {
        "get_resource" | "Ref" => Some(&call.args),
        "get_attr" | "Fn::GetAtt" => call.args.as_list().and_then(|args| args.first()),
        _ => None,
    }
}

/// The resources that expressions refer to, if that is known without parameters.
pub(crate) fn collect_references<'e>(
    exprs: impl Iterator<Item = &'e Expr>,
) -> Option<Box<[Spanned<Arc<str>>]>> {
    let mut found = Vec::new();
    for expr in exprs {
        add_references(expr, &mut found)?;
    }
    Some(found.into())
}

fn add_references(expr: &Expr, out: &mut Vec<Spanned<Arc<str>>>) -> Option<()> {
    match &expr.kind {
        ExprKind::Scalar(_) => {}
        ExprKind::List(items) => {
            for item in items {
                add_references(item, out)?;
            }
        }
        ExprKind::Map(members) => {
            for member in members {
                add_references(&member.value, out)?;
            }
        }
        ExprKind::Call(call) => {
            add_references(&call.args, out)?;
            if let Some(named) = named(call) {
                // A name in `Ref` may be a parameter's.
                let name = named.as_text().filter(|_| call.function.name != "Ref")?;
                out.push(Spanned { value: name.clone(), span: named.span });
            }
        }
        ExprKind::If(_) | ExprKind::Invalid(_) => return None,
    }
    Some(())
}

fn resource_name(scope: &Scope<'_>, named: &Expr) -> Option<Result<Arc<str>, Fault>> {
    if let Some(text) = named.as_text() {
        return Some(Ok(text.clone()));
    }
    match scope.value(named) {
        Ok(value) => value.as_text().cloned().map(Ok),
        Err(fault) if fault.code == &codes::PARAMETER_MISSING => Some(Err(fault)),
        Err(_) => None,
    }
}
