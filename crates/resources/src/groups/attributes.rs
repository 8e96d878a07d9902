//! The attributes of groups, from those of their members.

use super::split;
use crate::behaviour::{NestedStack, View};
use crate::declare::{Members, Value};
use kiln_template::codes;
use kiln_template::functions::{Fault, step_into_attribute};
use kiln_template::print;
use std::sync::Arc;

type Answer = Result<Option<Value>, Fault>;

/// Attributes of a group whose members are numbered.
pub(crate) fn numbered(view: &View<'_>, name: &str, path: &[Value]) -> Answer {
    let Some(child) = view.nested else { return Ok(Some(Value::Null)) };
    let mut members = child.members();
    members.sort_by_key(|member| (member.parse::<u64>().unwrap_or(u64::MAX), member.clone()));
    if let Some(rest) = name.strip_prefix("resource.") {
        let (member, attribute) = split(rest, path);
        return of_member(view, child, &member, &member, &attribute).map(Some);
    }
    let answer = match (name, path) {
        ("refs", _) => step_into_attribute(&references(child, &members), path),
        ("refs_map", _) => {
            Value::map(members.iter().filter_map(|m| Some((m.clone(), child.reference(m)?))))
        }
        ("attributes", []) => return Err(incorrect(view, name)),
        ("attributes", _) => Value::Map(each(child, &members, path)?.into()),
        (_, _) => {
            let whole: Vec<Value> =
                [Value::from(name)].into_iter().chain(path.iter().cloned()).collect();
            Value::list(each(child, &members, &whole)?.into_values())
        }
    };
    Ok(Some(answer))
}

/// Attributes of a group of servers.
pub(crate) fn instances(view: &View<'_>, name: &str, _: &[Value]) -> Answer {
    let Some(child) = view.nested.filter(|_| name == "InstanceList") else {
        return Ok((name == "InstanceList").then_some(Value::Null));
    };
    let members = child.members();
    let addresses = each(child, &members, &["PublicIp".into()])?;
    let addresses: Vec<String> = addresses.values().map(print::plain).collect();
    Ok(Some(if addresses.is_empty() { Value::Null } else { addresses.join(",").into() }))
}

/// Attributes of a group that grows and shrinks, whose members are addressed by their position.
pub(crate) fn scaled(view: &View<'_>, name: &str, path: &[Value]) -> Answer {
    let members = view.nested.map(NestedStack::members).unwrap_or_default();
    if name == "current_size" {
        return Ok(Some(crate::property_access::whole(members.len())));
    }
    let Some(child) = view.nested else { return Ok(Some(Value::Null)) };
    if let Some(rest) = name.strip_prefix("resource.") {
        let (place, attribute) = split(rest, path);
        let bad = || Fault::new(format!("invalid literal for int() with base 10: '{place}'"));
        let at: i64 = place.parse().map_err(|_| bad())?;
        // A negative position counts from the end.
        let at = if at < 0 { i64::try_from(members.len()).unwrap_or(0) + at } else { at };
        let member = usize::try_from(at).ok().and_then(|at| members.get(at));
        let member = member.ok_or_else(|| missing(view, &place))?;
        return of_member(view, child, member, &place, &attribute).map(Some);
    }
    let answer = match (name, path) {
        // Heat ignores the rest of the path for these two.
        ("refs", _) => references(child, &members),
        ("refs_map", _) => {
            Value::map(members.iter().filter_map(|m| Some((m.clone(), child.reference(m)?))))
        }
        ("outputs", [_, ..]) => Value::Map(each(child, &members, path)?.into()),
        ("outputs_list", [_, ..]) => Value::list(each(child, &members, path)?.into_values()),
        _ => return Err(incorrect(view, name)),
    };
    Ok(Some(answer))
}

/// Attributes of a group of deployments: each is a map from a server's name to the output of its deployment.
pub(crate) fn deployments(view: &View<'_>, name: &str, path: &[Value]) -> Answer {
    let Some(child) = view.nested else { return Ok(Some(Value::Null)) };
    let of_one = match name {
        "deploy_stdouts" => "deploy_stdout",
        "deploy_stderrs" => "deploy_stderr",
        "deploy_status_codes" => "deploy_status_code",
        other => other,
    };
    let values =
        each(child, &child.members(), &[of_one.into()]).map_err(|_| incorrect(view, name))?;
    Ok(Some(step_into_attribute(&Value::Map(values.into()), path)))
}

/// The error for an attribute that the group does not have.
pub(crate) fn incorrect(view: &View<'_>, attribute: &str) -> Fault {
    let message = format!("The Referenced Attribute ({} {attribute}) is incorrect.", view.name);
    Fault { code: &codes::BAD_ATTRIBUTE, message }
}

/// The references of the members, in their order.
fn references(child: &dyn NestedStack, members: &[Arc<str>]) -> Value {
    Value::list(members.iter().filter_map(|member| child.reference(member)))
}

/// An attribute of each member; the path starts with the attribute's name.
fn each(child: &dyn NestedStack, members: &[Arc<str>], path: &[Value]) -> Result<Members, Fault> {
    let [attribute, path @ ..] = path else { return Ok(Members::new()) };
    let attribute = print::plain(attribute);
    let value =
        |member: &Arc<str>| Ok((member.clone(), child.attribute(member, &attribute, path)?));
    members.iter().map(value).collect()
}

/// The reference of a member, or one of its attributes.
fn of_member(
    view: &View<'_>,
    child: &dyn NestedStack,
    member: &str,
    asked: &str,
    path: &[Value],
) -> Result<Value, Fault> {
    let reference = child.reference(member).ok_or_else(|| missing(view, asked))?;
    match path {
        [] => Ok(reference),
        [attribute, path @ ..] => child.attribute(member, &print::plain(attribute), path),
    }
}

fn missing(view: &View<'_>, member: &str) -> Fault {
    Fault::new(format!("Member '{member}' not found in group resource '{}'.", view.name))
}
