//! Attributes that a template asks of a group and that belong to the members: validation checks that the members have them.

use super::Member;
use crate::declare::{Value, map};
use kiln_template::print;
use std::sync::Arc;

/// How the attributes of a group name those of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addressing {
    /// By their numbers; any other attribute is one of the members.
    Numbered,
    /// By their positions, or after `outputs` and `outputs_list`.
    Scaled,
}

/// The outputs of a group's stack, as in Heat, that the attributes in `asked` need.
pub(crate) fn forwarded(
    addressing: Addressing,
    members: &[Member],
    asked: &[Vec<Value>],
) -> Vec<(Arc<str>, Value)> {
    let one = |asked: &Vec<Value>| {
        let is_known = |it: &Value| matches!(it, Value::Text(_) | Value::Int(_));
        let [Value::Text(name), path @ ..] = &asked[..] else { return None };
        if !path.iter().all(is_known) {
            return None;
        }
        let label = asked.iter().map(print::plain).collect::<Vec<_>>().join(", ").into();
        match name.strip_prefix("resource.").map(|rest| split(rest, path)) {
            Some((number, attribute)) => {
                let is_asked =
                    |(name, _): &&Member| addressing == Addressing::Scaled || **name == *number;
                let member = members.iter().find(is_asked)?;
                Some((label, of_member(member, attribute.first()?)))
            }
            None => {
                let attribute = attribute_of_all(addressing, name, path)?;
                let values =
                    members.iter().map(|member| (member.0.clone(), of_member(member, &attribute)));
                let value = match addressing {
                    Addressing::Numbered => Value::list(values.map(|(_, value)| value)),
                    Addressing::Scaled => Value::map(values),
                };
                Some((label, value))
            }
        }
    };
    asked.iter().filter_map(one).collect()
}

/// Splits off the member: the name may contain the beginning of the path, as in `0.addresses`.
pub(crate) fn split(rest: &str, path: &[Value]) -> (String, Vec<Value>) {
    let (member, attribute) = match rest.split_once('.') {
        Some((member, attribute)) => (member, Some(Value::from(attribute))),
        None => (rest, None),
    };
    (member.to_owned(), attribute.into_iter().chain(path.iter().cloned()).collect())
}

/// The attribute that is asked of each member, unless it is one of the group itself.
fn attribute_of_all(addressing: Addressing, name: &str, path: &[Value]) -> Option<Value> {
    match (addressing, name) {
        (Addressing::Numbered, "refs" | "refs_map" | "removed_rsrc_list") => None,
        (Addressing::Numbered, "attributes") => path.first().cloned(),
        (Addressing::Numbered, name) => Some(name.into()),
        (Addressing::Scaled, "outputs" | "outputs_list") => path.first().cloned(),
        (Addressing::Scaled, _) => None,
    }
}

fn of_member((name, _): &Member, attribute: &Value) -> Value {
    map([("get_attr", Value::list([Value::Text(name.clone()), attribute.clone()]))])
}
