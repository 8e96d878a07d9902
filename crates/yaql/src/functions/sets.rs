//! Sets.

use super::lists::unpacked;
use crate::arguments::Arguments;
use crate::collections::Set;
use crate::equality::set_like;
use crate::error::Error;
use crate::signature::{Function, Parameter, Type, any, f, iter, m, typed};
use crate::value::Value;
use std::sync::Arc;

const TWO: &[Parameter] = &[typed("left", Type::Set), typed("right", Type::Set)];
const VALUES: &[Parameter] = &[typed("set", Type::Set), any("values").rest()];

pub(crate) static TABLE: &[Function] = &[
    m("add", VALUES, add),
    m("difference", TWO, difference),
    m("intersect", TWO, intersect),
    m("remove", VALUES, remove),
    f("set", &[any("args").rest()], set),
    m("symmetricDifference", TWO, symmetric_difference),
    m("toSet", &[iter("collection")], to_set),
    m("union", TWO, union),
];

fn made(members: impl IntoIterator<Item = Value>) -> Result<Value, Error> {
    Ok(Value::Set(Arc::new(Set::new(members)?)))
}

fn set_of(args: &mut Arguments<'_>, parameter: usize) -> Result<Arc<Set>, Error> {
    let value = args.value(parameter);
    // A view that is no set has members that cannot be hashed.
    set_like(&value).ok_or_else(|| Error::type_("unhashable type: 'list'"))
}

fn set(args: &mut Arguments<'_>) -> Result<Value, Error> {
    made(unpacked(args)?)
}

fn to_set(args: &mut Arguments<'_>) -> Result<Value, Error> {
    made(args.walk(0)?.collect(args.machine)?)
}

fn add(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let set = set_of(args, 0)?;
    made(set.iter().cloned().chain(args.values(1)))
}

fn remove(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (set, unwanted) = (set_of(args, 0)?, Set::new(args.values(1))?);
    difference_of(&set, &unwanted)
}

/// The members of one set that are not in another.
pub(crate) fn difference_of(left: &Set, right: &Set) -> Result<Value, Error> {
    made(left.iter().filter(|member| !right.contains(member)).cloned())
}

fn difference(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (left, right) = (set_of(args, 0)?, set_of(args, 1)?);
    difference_of(&left, &right)
}

fn union(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (left, right) = (set_of(args, 0)?, set_of(args, 1)?);
    made(left.iter().chain(right.iter()).cloned())
}

fn intersect(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (left, right) = (set_of(args, 0)?, set_of(args, 1)?);
    made(left.iter().filter(|member| right.contains(member)).cloned())
}

fn symmetric_difference(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (left, right) = (set_of(args, 0)?, set_of(args, 1)?);
    let ours = left.iter().filter(|member| !right.contains(member));
    let theirs = right.iter().filter(|member| !left.contains(member));
    made(ours.chain(theirs).cloned())
}
