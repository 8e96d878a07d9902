//! Text.

use crate::arguments::Arguments;
use crate::collections::Set;
use crate::error::{Error, FailureClass};
use crate::iterate::BoundedIter;
use crate::machine::Machine;
use crate::python::{boundary, is_blank};
use crate::render;
use crate::signature::{
    Default, Function, Parameter, Type, any, b, f, int, iter, m, map, text, typed,
};
use crate::value::Value;
use std::sync::Arc;

const fn chars() -> Parameter {
    text("chars").or(Default::Null)
}

const fn flag(name: &'static str) -> Parameter {
    typed(name, Type::Bool).or(Default::Bool(false)).nullable()
}

const SPLIT: &[Parameter] =
    &[text("string"), text("separator").or(Default::Null), int("maxSplits").or(Default::Int(-1))];

pub(crate) static TABLE: &[Function] = &[
    f(
        "characters",
        &[
            flag("digits"),
            flag("hexdigits"),
            flag("asciiLowercase"),
            flag("asciiUppercase"),
            flag("asciiLetters"),
            flag("letters"),
            flag("octdigits"),
            flag("punctuation"),
            flag("printable"),
            flag("lowercase"),
            flag("uppercase"),
            flag("whitespace"),
        ],
        characters,
    ),
    f("concat", &[text("args").rest()], concat),
    m("endsWith", &[text("string"), text("suffixes").rest()], ends_with),
    m("indexOf", &[text("string"), text("sub"), int("start").or(Default::Int(0))], index_of),
    m("indexOf", &[text("string"), text("sub"), int("start"), int("length")], index_of_within),
    b(
        "isEmpty",
        &[text("string").nullable(), typed("trim", Type::Bool).or(Default::Bool(true)), chars()],
        is_empty,
    ),
    m("join", &[iter("sequence"), text("separator")], join),
    m("join", &[text("separator"), iter("sequence")], join_by),
    m(
        "lastIndexOf",
        &[text("string"), text("sub"), int("start").or(Default::Int(0))],
        last_index_of,
    ),
    m(
        "lastIndexOf",
        &[text("string"), text("sub"), int("start"), int("length")],
        last_index_within,
    ),
    b("len", &[text("string")], len),
    b("norm", &[text("string").nullable(), chars()], norm),
    m(
        "replace",
        &[text("string"), text("old"), text("new"), int("count").or(Default::Int(-1))],
        replace,
    ),
    m(
        "replace",
        &[text("string"), map("replacements"), int("count").or(Default::Int(-1))],
        replace_all,
    ),
    m("rightSplit", SPLIT, right_split),
    m("split", SPLIT, split),
    m("startsWith", &[text("string"), text("prefixes").rest()], starts_with),
    f("str", &[any("value")], str_),
    m("substring", &[text("string"), int("start"), int("length").or(Default::Int(-1))], substring),
    m("toCharArray", &[text("string")], to_char_array),
    m("toLower", &[text("string")], |args| Ok(args.text(0)?.to_lowercase().into())),
    m("toUpper", &[text("string")], |args| Ok(args.text(0)?.to_uppercase().into())),
    m("trim", &[text("string"), chars()], |args| trim(args, true, true)),
    m("trimLeft", &[text("string"), chars()], |args| trim(args, true, false)),
    m("trimRight", &[text("string"), chars()], |args| trim(args, false, true)),
];

/// A value as `str` returns it.
pub(crate) fn to_text(value: &Value) -> Result<Arc<str>, Error> {
    Ok(match value {
        Value::Text(text) => text.clone(),
        Value::Null => "null".into(),
        Value::Bool(true) => "true".into(),
        Value::Bool(false) => "false".into(),
        other => render::text(other)?.into(),
    })
}

fn str_(args: &mut Arguments<'_>) -> Result<Value, Error> {
    to_text(&args.value(0)).map(Value::Text)
}

fn len(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Ok(args.text(0)?.chars().count().into())
}

fn concat(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let texts = args.values(0);
    let parts: Result<Vec<_>, _> = texts.iter().map(to_text).collect();
    Ok(parts?.concat().into())
}

fn join(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (walk, separator) = (args.walk(0)?, args.text(1)?);
    join_texts(args.machine, walk, &separator)
}

fn join_by(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (separator, walk) = (args.text(0)?, args.walk(1)?);
    join_texts(args.machine, walk, &separator)
}

fn join_texts(
    machine: &Machine<'_>,
    mut walk: BoundedIter,
    separator: &str,
) -> Result<Value, Error> {
    let mut out = String::new();
    let mut first = true;
    while let Some(member) = walk.next(machine)? {
        if !std::mem::take(&mut first) {
            out.push_str(separator);
        }
        out.push_str(&to_text(&member)?);
        machine.fits(out.len())?;
    }
    Ok(out.into())
}

/// Texts as a list of the kind that `split` makes.
pub(crate) fn split_list<'a>(parts: impl IntoIterator<Item = &'a str>) -> Result<Value, Error> {
    Value::sequence(parts.into_iter().map(Value::from).collect(), false)
}

/// The number of parts a limit on splits allows.
fn most_parts(args: &mut Arguments<'_>) -> Result<usize, Error> {
    let splits = args.index(2)?;
    Ok(usize::try_from(splits).map_or(usize::MAX, |splits| splits.saturating_add(1)))
}

fn split(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (text, separator, most) = (args.text(0)?, args.text_or_null(1)?, most_parts(args)?);
    match separator.as_deref() {
        Some("") => Err(Error::value("empty separator")),
        Some(separator) => split_list(text.splitn(most, separator)),
        None => {
            let mut parts = Vec::new();
            let mut rest = text.trim_start_matches(is_blank);
            while !rest.is_empty() {
                if parts.len() + 1 == most {
                    parts.push(rest);
                    break;
                }
                let (part, after) = rest.split_once(is_blank).unwrap_or((rest, ""));
                parts.push(part);
                rest = after.trim_start_matches(is_blank);
            }
            split_list(parts)
        }
    }
}

fn right_split(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (text, separator, most) = (args.text(0)?, args.text_or_null(1)?, most_parts(args)?);
    let mut parts: Vec<&str> = Vec::new();
    match separator.as_deref() {
        Some("") => return Err(Error::value("empty separator")),
        Some(separator) => parts.extend(text.rsplitn(most, separator)),
        None => {
            let mut rest = text.trim_end_matches(is_blank);
            while !rest.is_empty() {
                if parts.len() + 1 == most {
                    parts.push(rest);
                    break;
                }
                let (before, part) = rest.rsplit_once(is_blank).unwrap_or(("", rest));
                parts.push(part);
                rest = before.trim_end_matches(is_blank);
            }
        }
    }
    parts.reverse();
    split_list(parts)
}

fn trimmed<'a>(text: &'a str, chars: Option<&str>, left: bool, right: bool) -> &'a str {
    let unwanted = |c: char| chars.map_or_else(|| is_blank(c), |chars| chars.contains(c));
    let text = if left { text.trim_start_matches(unwanted) } else { text };
    if right { text.trim_end_matches(unwanted) } else { text }
}

fn trim(args: &mut Arguments<'_>, left: bool, right: bool) -> Result<Value, Error> {
    let (text, chars) = (args.text(0)?, args.text_or_null(1)?);
    Ok(trimmed(&text, chars.as_deref(), left, right).into())
}

fn norm(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (Some(text), chars) = (args.text_or_null(0)?, args.text_or_null(1)?) else {
        return Ok(Value::Null);
    };
    let trimmed = trimmed(&text, chars.as_deref(), true, true);
    Ok((!trimmed.is_empty()).then_some(trimmed).into())
}

fn is_empty(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (text, trim, chars) = (args.text_or_null(0)?, args.truth(1), args.text_or_null(2)?);
    Ok(match text {
        None => true,
        Some(text) if trim => trimmed(&text, chars.as_deref(), true, true).is_empty(),
        Some(text) => text.is_empty(),
    }
    .into())
}

/// Replaces up to `count` times, always if it is negative.
fn replaced(
    machine: &Machine<'_>,
    text: &str,
    old: &str,
    new: &str,
    count: i64,
) -> Result<String, Error> {
    let times = usize::try_from(count).unwrap_or(usize::MAX);
    let found = if old.is_empty() { text.chars().count() + 1 } else { text.matches(old).count() };
    let grown = found.min(times).saturating_mul(new.len());
    machine.fits(grown.saturating_add(text.len()).saturating_sub(found.min(times) * old.len()))?;
    Ok(text.replacen(old, new, times))
}

fn replace(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (text, old, new) = (args.text(0)?, args.text(1)?, args.text(2)?);
    let count = args.index(3)?;
    Ok(replaced(args.machine, &text, &old, &new, count)?.into())
}

fn replace_all(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (text, replacements, count) = (args.text(0)?, args.map(1)?, args.index(2)?);
    let mut text = text.to_string();
    for (old, new) in replacements.iter() {
        args.machine.charge(1)?;
        text = replaced(args.machine, &text, &to_text(old)?, &to_text(new)?, count)?;
    }
    Ok(text.into())
}

/// The part of a text between two characters.
fn slice(text: &str, start: usize, end: usize) -> &str {
    let byte = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte);
    if start >= end {
        return "";
    }
    text.get(byte(start)..byte(end)).unwrap_or_default()
}

fn substring(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (text, start, length) = (args.text(0)?, args.index(1)?, args.index(2)?);
    let count = text.chars().count();
    let size = i64::try_from(count).unwrap_or(i64::MAX);
    // Start and end are counted from the end again if they are still negative.
    let start = if start < 0 { start.saturating_add(size) } else { start };
    let end = start.saturating_add(if length < 0 { size } else { length });
    Ok(slice(&text, boundary(start, count), boundary(end, count)).into())
}

/// The range of a search: the characters, and the number of those before them.
fn range(text: &str, start: i64, end: i64) -> Option<(&str, usize)> {
    let count = text.chars().count();
    if start > i64::try_from(count).unwrap_or(i64::MAX) {
        return None;
    }
    let (start, end) = (boundary(start, count), boundary(end, count));
    (start <= end).then(|| (slice(text, start, end), start))
}

fn position(found: Option<usize>, within: &str, before: usize) -> Value {
    match found.and_then(|byte| within.get(..byte)) {
        Some(part) => (before + part.chars().count()).into(),
        None => (-1).into(),
    }
}

/// Start and end of a search with a length; a negative length goes to the end of the text.
fn within(args: &mut Arguments<'_>, text: &str) -> Result<(i64, i64), Error> {
    let (start, length) = (args.index(2)?, args.index(3)?);
    let size = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let start = if start < 0 { start.saturating_add(size) } else { start };
    let length = if length < 0 { size.saturating_sub(start) } else { length };
    Ok((start, start.saturating_add(length)))
}

fn find(args: &mut Arguments<'_>, bounded: bool, last: bool) -> Result<Value, Error> {
    let (text, sub) = (args.text(0)?, args.text(1)?);
    let (start, end) = if bounded { within(args, &text)? } else { (args.index(2)?, i64::MAX) };
    let Some((part, before)) = range(&text, start, end) else {
        return Ok((-1).into());
    };
    let found = if last { part.rfind(&*sub) } else { part.find(&*sub) };
    Ok(position(found, part, before))
}

fn index_of(args: &mut Arguments<'_>) -> Result<Value, Error> {
    find(args, false, false)
}

fn index_of_within(args: &mut Arguments<'_>) -> Result<Value, Error> {
    find(args, true, false)
}

fn last_index_of(args: &mut Arguments<'_>) -> Result<Value, Error> {
    find(args, false, true)
}

fn last_index_within(args: &mut Arguments<'_>) -> Result<Value, Error> {
    find(args, true, true)
}

fn any_of(args: &mut Arguments<'_>, fits: fn(&str, &str) -> bool) -> Result<Value, Error> {
    let text = args.text(0)?;
    let fits = |part: &Value| matches!(part, Value::Text(part) if fits(&text, part));
    Ok(args.values(1).iter().any(fits).into())
}

fn starts_with(args: &mut Arguments<'_>) -> Result<Value, Error> {
    any_of(args, |text, part| text.starts_with(part))
}

fn ends_with(args: &mut Arguments<'_>) -> Result<Value, Error> {
    any_of(args, |text, part| text.ends_with(part))
}

fn to_char_array(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let text = args.text(0)?;
    Value::sequence(text.chars().map(|c| c.to_string().into()).collect(), true)
}

const PUNCTUATION: &str = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const WHITE: &str = " \t\n\r\u{b}\u{c}";

/// Characters by parameter; the reference knows those without characters but cannot make them.
const CLASSES: [(&str, &[&str]); 12] = [
    ("digits", &["0123456789"]),
    ("hexdigits", &["0123456789abcdefABCDEF"]),
    ("asciiLowercase", &[LOWER]),
    ("asciiUppercase", &[UPPER]),
    ("asciiLetters", &[LOWER, UPPER]),
    ("letters", &[]),
    ("octdigits", &["01234567"]),
    ("punctuation", &[PUNCTUATION]),
    ("printable", &["0123456789", LOWER, UPPER, PUNCTUATION, WHITE]),
    ("lowercase", &[]),
    ("uppercase", &[]),
    ("whitespace", &[WHITE]),
];

fn characters(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut wanted = Vec::new();
    for (at, (name, classes)) in CLASSES.into_iter().enumerate() {
        if !args.truth(at) {
            continue;
        }
        if classes.is_empty() {
            let message = format!("module 'string' has no attribute '{name}'");
            return Err(Error::failure(FailureClass::Attribute, message));
        }
        wanted.extend(classes.iter().flat_map(|class| class.chars()));
    }
    let set = Set::new(wanted.into_iter().map(|c| c.to_string().into()))?;
    Value::sequence(set.iter().cloned().collect(), true)
}
