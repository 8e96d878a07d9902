//! The template of a group's stack.

use crate::declare::{Value, map};
use std::sync::Arc;

/// A member: its name and its definition.
pub(crate) type Member = (Arc<str>, Value);

/// The language that a group's template is written in.
///
/// Definitions are values: the functions of the parent's template are resolved. A map in them that looks like a
/// function is a function of the group's template, as in Heat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `heat_template_version: 2015-04-30`.
    Hot,
    /// `HeatTemplateFormatVersion: 2012-12-12`.
    Cfn,
}

/// A template with these members.
pub(crate) fn template(dialect: Dialect, members: &[Member]) -> Value {
    template_with_outputs(dialect, members, [])
}

/// A template with these members, and with outputs besides the one that every group has.
pub(crate) fn template_with_outputs(
    dialect: Dialect,
    members: &[Member],
    more: impl IntoIterator<Item = (Arc<str>, Value)>,
) -> Value {
    let resources = Value::map(members.iter().cloned());
    match dialect {
        Dialect::Hot => {
            let more = more.into_iter().map(|(name, value)| (name, map([("value", value)])));
            let own = (Arc::from("refs_map"), map([("value", references(members))]));
            map([
                ("heat_template_version", Value::from("2015-04-30")),
                ("resources", resources),
                ("outputs", Value::map(more.chain([own]))),
            ])
        }
        Dialect::Cfn => map([
            ("HeatTemplateFormatVersion", Value::from("2012-12-12")),
            ("Resources", resources),
        ]),
    }
}

/// The references of the members, as the output `refs_map` that clients expect in every group's stack.
fn references(members: &[Member]) -> Value {
    let reference = |name: &Arc<str>| map([("get_resource", Value::Text(name.clone()))]);
    Value::map(members.iter().map(|(name, _)| (name.clone(), reference(name))))
}
