//! What an expression is made of: the parameters and resources that its functions name.
//!
//! This is for people who ask why a value changes. Dependencies are collected elsewhere, with all their rules.

use crate::definition::Definition;
use crate::expr::{Expr, ExprKind};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A parameter or a resource that an expression names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// The value of a parameter.
    Parameter(Arc<str>),
    /// The reference of a resource.
    Reference(Arc<str>),
    /// An attribute of a resource, by the names of both.
    Attribute(Arc<str>, Arc<str>),
    /// The text of a file.
    File(Arc<str>),
}

impl Expr {
    /// The parameters and resources that the expression names, those of the conditions that it asks included.
    pub fn uses(&self, definition: &Definition) -> BTreeSet<Use> {
        let mut found = Found { definition, uses: BTreeSet::new(), conditions: BTreeSet::new() };
        found.visit(self);
        found.uses
    }

    /// Whether another expression is written the same way, wherever it stands.
    pub fn is_same(&self, other: &Expr) -> bool {
        match (&self.kind, &other.kind) {
            (ExprKind::Scalar(one), ExprKind::Scalar(two)) => one == two,
            (ExprKind::List(one), ExprKind::List(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.is_same(two))
            }
            (ExprKind::Map(one), ExprKind::Map(two)) => {
                one.len() == two.len()
                    && one
                        .iter()
                        .zip(two)
                        .all(|(one, two)| one.key == two.key && one.value.is_same(&two.value))
            }
            (ExprKind::Call(one), ExprKind::Call(two)) => {
                one.function.name == two.function.name && one.args.is_same(&two.args)
            }
            (ExprKind::If(one), ExprKind::If(two)) => {
                let otherwise = match (&one.otherwise, &two.otherwise) {
                    (Some(one), Some(two)) => one.is_same(two),
                    (None, None) => true,
                    _ => false,
                };
                one.condition.is_same(&two.condition) && one.then.is_same(&two.then) && otherwise
            }
            (ExprKind::Invalid(one), ExprKind::Invalid(two)) => one.message == two.message,
            _ => false,
        }
    }
}

struct Found<'d> {
    definition: &'d Definition,
    uses: BTreeSet<Use>,
    /// The conditions that were looked into.
    conditions: BTreeSet<Arc<str>>,
}

impl Found<'_> {
    fn visit(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Scalar(_) | ExprKind::Invalid(_) => {}
            ExprKind::List(items) => items.iter().for_each(|item| self.visit(item)),
            ExprKind::Map(members) => members.iter().for_each(|it| self.visit(&it.value)),
            ExprKind::Call(call) => {
                self.uses.extend(self.named(call.function.name, &call.args));
                self.visit(&call.args);
            }
            ExprKind::If(choice) => {
                self.visit_condition(&choice.condition);
                self.visit(&choice.then);
                choice.otherwise.iter().for_each(|otherwise| self.visit(otherwise));
            }
        }
    }

    fn visit_condition(&mut self, condition: &Expr) {
        let definition = self.definition;
        match condition.as_text() {
            Some(name) if self.conditions.insert(name.clone()) => {
                if let Some(named) = definition.template.conditions.get(name) {
                    self.visit_condition(&named.definition);
                }
            }
            Some(_) => {}
            None => self.visit(condition),
        }
    }

    /// What a function names, as far as its argument is literal.
    fn named(&self, function: &str, args: &Expr) -> Option<Use> {
        let first = args.as_text().or_else(|| args.as_list()?.first()?.as_text())?;
        match function {
            "get_param" => Some(Use::Parameter(first.clone())),
            "get_resource" => Some(Use::Reference(first.clone())),
            "Ref" if self.definition.template.resources.contains_key(first) => {
                Some(Use::Reference(first.clone()))
            }
            "Ref" => Some(Use::Parameter(first.clone())),
            "get_attr" | "Fn::GetAtt" => {
                let attribute = args.as_list().and_then(|args| args.get(1)?.as_text().cloned());
                Some(Use::Attribute(first.clone(), attribute.unwrap_or_default()))
            }
            "get_file" => Some(Use::File(first.clone())),
            _ => None,
        }
    }
}
