//! Cutting collections into parts.

use super::queries::stop;
use crate::arguments::Arguments;
use crate::error::Error;
use crate::iterate::Iter;
use crate::python::boundary;
use crate::signature::{Function, Parameter, int, iter, lambda, m};
use crate::value::Value;

const PREDICATE: &[Parameter] = &[iter("collection"), lambda("predicate")];

pub(crate) static TABLE: &[Function] = &[
    m("slice", &[iter("collection"), int("length")], slice),
    m("sliceWhere", PREDICATE, slice_where),
    m("splitAt", &[iter("collection"), int("index")], split_at),
    m("splitWhere", PREDICATE, split_where),
];

fn slice(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walk = args.walk(0)?;
    let length = args.index(1)?;
    Ok(Iter::over(move |machine| {
        let length = stop(length)?;
        let mut part = Vec::new();
        while (part.len() as u64) < length {
            match walk.next(machine)? {
                Some(member) => part.push(member),
                None => break,
            }
        }
        if part.is_empty() { Ok(None) } else { Value::sequence(part, true).map(Some) }
    }))
}

fn split_where(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, predicate) = (args.walk(0)?, args.lambda(1)?);
    Ok(Iter::over(move |machine| {
        let mut part = Vec::new();
        while let Some(member) = walk.next(machine)? {
            if machine.apply(&predicate, vec![member.clone()])?.truth() {
                return Value::sequence(part, true).map(Some);
            }
            part.push(member);
        }
        if part.is_empty() { Ok(None) } else { Value::sequence(part, true).map(Some) }
    }))
}

fn slice_where(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, predicate) = (args.walk(0)?, args.lambda(1)?);
    // The first member of the next part, with what the predicate gave for it.
    let mut ahead: Option<(Value, Value)> = None;
    Ok(Iter::over(move |machine| {
        let mut part = Vec::new();
        let mut kind = None;
        if let Some((member, found)) = ahead.take() {
            part.push(member);
            kind = Some(found);
        }
        while let Some(member) = walk.next(machine)? {
            let found = machine.apply(&predicate, vec![member.clone()])?;
            match &kind {
                Some(kind) if *kind != found => {
                    ahead = Some((member, found));
                    break;
                }
                Some(_) => {}
                None => kind = Some(found),
            }
            part.push(member);
        }
        if part.is_empty() { Ok(None) } else { Value::sequence(part, true).map(Some) }
    }))
}

fn split_at(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut left = args.walk(0)?.collect(args.machine)?;
    let right = left.split_off(boundary(args.index(1)?, left.len()));
    Value::sequence(vec![Value::sequence(left, true)?, Value::sequence(right, true)?], true)
}
