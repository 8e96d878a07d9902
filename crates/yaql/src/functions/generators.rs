//! Functions that generate collections.

use crate::arguments::Arguments;
use crate::collections::{Key, Set};
use crate::error::Error;
use crate::iterate::Iter;
use crate::signature::{Default, Function, Parameter, Type, any, f, int, lambda, typed};
use crate::value::Value;
use std::collections::VecDeque;

const fn selector() -> Parameter {
    lambda("selector").or(Default::Null)
}

const fn flag(name: &'static str) -> Parameter {
    typed(name, Type::Bool).or(Default::Bool(false))
}

pub(crate) static TABLE: &[Function] = &[
    f(
        "generate",
        &[any("initial"), lambda("predicate"), lambda("producer"), selector(), flag("decycle")],
        generate,
    ),
    f(
        "generateMany",
        &[any("initial"), lambda("producer"), selector(), flag("decycle"), flag("depthFirst")],
        generate_many,
    ),
    f("range", &[int("stop")], range_to),
    f("range", &[int("start"), int("stop"), int("step").or(Default::Int(1))], range),
    f("sequence", &[int("start").or(Default::Int(0)), int("step").or(Default::Int(1))], sequence),
];

fn range_to(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let stop = args.int(0)?;
    let mut next = crate::Integer::from(0);
    Ok(Iter::over(move |_| {
        if next >= stop {
            return Ok(None);
        }
        let after = &next + &1.into();
        Ok(Some(std::mem::replace(&mut next, after).into()))
    }))
}

fn range(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut next, stop, step) = (args.int(0)?, args.int(1)?, args.int(2)?);
    if step.is_zero() {
        return Err(Error::value("range() arg 3 must not be zero"));
    }
    Ok(Iter::over(move |_| {
        let over = if step.is_negative() { next <= stop } else { next >= stop };
        if over {
            return Ok(None);
        }
        let after = &next + &step;
        Ok(Some(std::mem::replace(&mut next, after).into()))
    }))
}

fn sequence(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut next, step) = (args.int(0)?, args.int(1)?);
    Ok(Iter::over(move |_| {
        let after = &next + &step;
        Ok(Some(std::mem::replace(&mut next, after).into()))
    }))
}

fn generate(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut current = Some(args.value(0));
    let (predicate, producer) = (args.lambda(1)?, args.lambda(2)?);
    let (selector, decycle) = (args.lambda_or_none(3), args.truth(4));
    let mut seen = Set::default();
    let mut started = false;
    Ok(Iter::over(move |machine| {
        let Some(mut value) = current.take() else {
            return Ok(None);
        };
        if std::mem::replace(&mut started, true) {
            value = machine.apply(&producer, vec![value])?;
        }
        if !machine.apply(&predicate, vec![value.clone()])?.truth()
            || decycle && !seen.insert(Key::new(value.clone())?)?
        {
            return Ok(None);
        }
        current = Some(value.clone());
        match &selector {
            Some(selector) => machine.apply(selector, vec![value]).map(Some),
            None => Ok(Some(value)),
        }
    }))
}

fn generate_many(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut waiting = VecDeque::from([args.value(0)]);
    let (producer, selector) = (args.lambda(1)?, args.lambda_or_none(2));
    let (decycle, depth_first) = (args.truth(3), args.truth(4));
    let mut seen = Set::default();
    Ok(Iter::over(move |machine| {
        while let Some(value) = waiting.pop_front() {
            machine.charge(1)?;
            if decycle && !seen.insert(Key::new(value.clone())?)? {
                continue;
            }
            let produced = machine.apply(&producer, vec![value.clone()])?;
            let produced = machine.walk(&produced)?.collect(machine)?;
            if depth_first {
                produced.into_iter().rev().for_each(|value| waiting.push_front(value));
            } else {
                waiting.extend(produced);
            }
            return match &selector {
                Some(selector) => machine.apply(selector, vec![value]).map(Some),
                None => Ok(Some(value)),
            };
        }
        Ok(None)
    }))
}
