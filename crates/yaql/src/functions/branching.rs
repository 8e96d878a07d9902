//! Choosing among values: `switch`, `coalesce` and their kin.

use crate::arguments::{Arguments, Slot};
use crate::error::Error;
use crate::iterate::Iter;
use crate::python;
use crate::signature::{Function, Type, any, f, int, lambda, m, typed};
use crate::value::Value;

pub(crate) static TABLE: &[Function] = &[
    f("bool", &[any("value")], bool_),
    f("coalesce", &[lambda("args").rest()], coalesce),
    f("examine", &[lambda("args").rest()], examine),
    f("selectAllCases", &[lambda("args").rest()], select_all_cases),
    f("selectCase", &[lambda("args").rest()], select_case),
    f("switch", &[typed("args", Type::LazyPair).rest()], switch).with_pairs(),
    m("switchCase", &[int("case"), lambda("args").rest()], switch_case),
];

fn bool_(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Ok(args.truth(0).into())
}

fn coalesce(args: &mut Arguments<'_>) -> Result<Value, Error> {
    for lambda in args.lambdas(0) {
        let value = args.machine.apply(&lambda, Vec::new())?;
        if !matches!(value, Value::Null) {
            return Ok(value);
        }
    }
    Ok(Value::Null)
}

fn examine(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut lambdas = args.lambdas(0).into_iter();
    Ok(Iter::over(move |machine| match lambdas.next() {
        Some(lambda) => Ok(Some(machine.apply(&lambda, Vec::new())?.truth().into())),
        None => Ok(None),
    }))
}

fn select_all_cases(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut lambdas = args.lambdas(0).into_iter().enumerate();
    Ok(Iter::over(move |machine| {
        for (index, lambda) in lambdas.by_ref() {
            if machine.apply(&lambda, Vec::new())?.truth() {
                return Ok(Some(index.into()));
            }
        }
        Ok(None)
    }))
}

fn select_case(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let lambdas = args.lambdas(0);
    for (index, lambda) in lambdas.iter().enumerate() {
        if args.machine.apply(lambda, Vec::new())?.truth() {
            return Ok(index.into());
        }
    }
    Ok(lambdas.len().into())
}

fn switch(args: &mut Arguments<'_>) -> Result<Value, Error> {
    for case in args.rest(0) {
        if let Slot::LazyPair(condition, value) = case
            && args.machine.apply(&condition, Vec::new())?.truth()
        {
            return args.machine.apply(&value, Vec::new());
        }
    }
    Ok(Value::Null)
}

fn switch_case(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let case = args.index(0)?;
    let lambdas = args.lambdas(1);
    let chosen = if case < 0 { None } else { python::position(case, lambdas.len()) };
    match chosen.and_then(|at| lambdas.get(at)).or(lambdas.last()) {
        Some(lambda) => args.machine.apply(lambda, Vec::new()),
        None => Ok(Value::Null),
    }
}
