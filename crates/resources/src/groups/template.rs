//! The template of a group's stack.

use crate::declare::{Value, map};
use std::sync::Arc;

/// A member: its name and its definition.
pub(crate) type Member = (Arc<str>, Value);

/// The language that a group's template is written in.
///
/// Definitions are values in which the functions of the parent are resolved already. A map in them
/// that looks like a function is one in the group's template: so it is in the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `heat_template_version: 2015-04-30`.
    Hot,
    /// `HeatTemplateFormatVersion: 2012-12-12`.
    Cfn,
}

/// A template with these members.
pub(crate) fn template(dialect: Dialect, members: &[Member]) -> Value {
    let resources = Value::map(members.iter().cloned());
    match dialect {
        Dialect::Hot => map([
            ("heat_template_version", Value::from("2015-04-30")),
            ("resources", resources),
            ("outputs", map([("refs_map", map([("value", references(members))]))])),
        ]),
        Dialect::Cfn => map([
            ("HeatTemplateFormatVersion", Value::from("2012-12-12")),
            ("Resources", resources),
        ]),
    }
}

/// What the members are called by others: an output that clients find in every group's stack.
fn references(members: &[Member]) -> Value {
    let reference = |name: &Arc<str>| map([("get_resource", Value::Text(name.clone()))]);
    Value::map(members.iter().map(|(name, _)| (name.clone(), reference(name))))
}
