//! Questions about the kind of a value.

use crate::arguments::Arguments;
use crate::error::Error;
use crate::signature::{Function, Parameter, Type, any, f};
use crate::value::Value;

const VALUE: &[Parameter] = &[any("value")];
const ARG: &[Parameter] = &[any("arg")];

pub(crate) static TABLE: &[Function] = &[
    f("isBoolean", VALUE, |args| is(args, Type::Bool)),
    f("isDatetime", VALUE, |args| is(args, Type::Date)),
    f("isDict", ARG, |args| is(args, Type::Map)),
    f("isInteger", VALUE, |args| is(args, Type::StrictInt)),
    f("isIterable", VALUE, |args| is(args, Type::Iterable)),
    f("isList", ARG, |args| is(args, Type::Sequence)),
    f("isNumber", VALUE, |args| is(args, Type::Number)),
    f("isRegex", VALUE, |args| is(args, Type::Regex)),
    f("isSet", ARG, |args| is(args, Type::Set)),
    f("isString", ARG, |args| is(args, Type::Text)),
    f("isTimespan", VALUE, |args| is(args, Type::Span)),
];

fn is(args: &mut Arguments<'_>, type_: Type) -> Result<Value, Error> {
    Ok(type_.accepts(&args.value(0)).into())
}
