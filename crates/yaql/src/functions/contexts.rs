//! Variables, functions, assertions, and calls by name.

use crate::arguments::Arguments;
use crate::context::Body;
use crate::error::{Error, FailureClass};
use crate::render;
use crate::signature::{Default, Function, Type, any, f, iter, lambda, m, map, text, typed};
use crate::syntax::{Node, NodeKind};
use crate::value::Value;
use std::sync::Arc;

pub(crate) static TABLE: &[Function] = &[
    m(
        "assert",
        &[any("obj"), lambda("condition"), text("message").or(Default::Text("Assertion failed"))],
        assert,
    ),
    f(
        "call",
        &[
            text("name"),
            typed("args", Type::Sequence),
            map("kwargs"),
            any("receiver").or(Default::Unset),
        ],
        call,
    ),
    f("def", &[text("name"), lambda("func")], def),
    f("let", &[any("args").rest(), any("kwargs").keyword_rest()], let_),
    m("unpack", &[iter("sequence"), text("args").rest()], unpack),
    f("with", &[any("args").rest()], with),
];

fn assert(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let value = args.value(0);
    let condition = args.lambda(1)?;
    if args.machine.apply(&condition, vec![value.clone()])?.truth() {
        return Ok(value);
    }
    Err(Error::failure(FailureClass::Assertion, args.text(2)?.to_string()))
}

fn call(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let name = args.text(0)?;
    let values = match args.value(1) {
        Value::List(list) => list.items().to_vec(),
        _ => Vec::new(),
    };
    let mut named = Vec::new();
    for (key, value) in args.map(2)?.iter() {
        match key {
            Value::Text(name) => named.push((name.clone(), value.clone())),
            other => {
                return Err(Error::type_(format!(
                    "expected string or bytes-like object, got '{}'",
                    other.type_name()
                )));
            }
        }
    }
    let receiver = args.optional(3);
    let machine = args.machine;
    machine.nested(|| machine.call_by_name(&name, receiver, values, named, args.context))
}

fn def(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let name = args.text(0)?;
    let body = match args.lambda(1)?.body {
        Body::Node(node) => node,
        Body::Value(value) => Arc::new(Node { kind: NodeKind::Literal(value), span: 0..0 }),
    };
    Ok(Value::Context(args.context.with_function(name, body)))
}

fn let_(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Ok(Value::Context(args.context.child(args.values(0), args.keywords(1))))
}

fn with(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Ok(Value::Context(args.context.child(args.values(0), Vec::new())))
}

fn unpack(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walk = args.walk(0)?;
    let names = args.values(1);
    if names.is_empty() {
        let members = walk.collect(args.machine)?;
        return Ok(Value::Context(args.context.child(members, Vec::new())));
    }
    // One more than there are names is enough to see that there are too many.
    let mut members = Vec::new();
    while members.len() <= names.len()
        && let Some(member) = walk.next(args.machine)?
    {
        members.push(member);
    }
    if names.len() != members.len() {
        return Err(Error::value(format!(
            "Cannot unpack {} elements into {}",
            members.len(),
            names.len()
        )));
    }
    let name = |value: Value| match value {
        Value::Text(name) => Ok(name),
        other => render::text(&other).map(Arc::from),
    };
    let names: Result<Vec<Arc<str>>, Error> = names.into_iter().map(name).collect();
    let named = names?.into_iter().zip(members).collect();
    Ok(Value::Context(args.context.child(Vec::new(), named)))
}
