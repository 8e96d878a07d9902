//! Regular expressions.

use crate::arguments::Arguments;
use crate::context::{Context, Lambda};
use crate::error::Error;
use crate::iterate::Iter;
use crate::machine::Machine;
use crate::regex::{Flags, Match, Regex, Replacement, escape};
use crate::signature::{Default, Function, Parameter, Type, f, int, lambda, m, text, typed};
use crate::value::Value;
use std::sync::Arc;

const fn regexp() -> Parameter {
    typed("regexp", Type::Regex)
}

const fn flag(name: &'static str) -> Parameter {
    typed(name, Type::Bool).or(Default::Bool(false)).nullable()
}

const fn count(name: &'static str) -> Parameter {
    int(name).or(Default::Int(0))
}

const fn selector() -> Parameter {
    lambda("selector").or(Default::Null)
}

pub(crate) static TABLE: &[Function] = &[
    f("escapeRegex", &[text("string")], |args| Ok(escape(&args.text(0)?).into())),
    m("matches", &[regexp(), text("string")], matches),
    m("matches", &[text("string"), text("regexp")], matches_pattern),
    f("regex", &[text("pattern"), flag("ignoreCase"), flag("multiLine"), flag("dotAll")], regex),
    m("replace", &[regexp(), text("string"), text("repl"), count("count")], |args| {
        let (regex, text) = (args.regex(0)?, args.text(1)?);
        replace(args, &regex, &text)
    }),
    m("replace", &[text("string"), regexp(), text("repl"), count("count")], |args| {
        let (text, regex) = (args.text(0)?, args.regex(1)?);
        replace(args, &regex, &text)
    }),
    m("replaceBy", &[regexp(), text("string"), lambda("repl"), count("count")], |args| {
        let (regex, text) = (args.regex(0)?, args.text(1)?);
        replace_by(args, &regex, &text)
    }),
    m("replaceBy", &[text("string"), regexp(), lambda("repl"), count("count")], |args| {
        let (text, regex) = (args.text(0)?, args.regex(1)?);
        replace_by(args, &regex, &text)
    }),
    m("search", &[regexp(), text("string"), selector()], search),
    m("searchAll", &[regexp(), text("string"), selector()], search_all),
    m("split", &[regexp(), text("string"), count("maxSplit")], |args| {
        let (regex, text) = (args.regex(0)?, args.text(1)?);
        split(args, &regex, &text)
    }),
    m("split", &[text("string"), regexp(), count("maxSplit")], |args| {
        let (text, regex) = (args.text(0)?, args.regex(1)?);
        split(args, &regex, &text)
    }),
];

/// Counts a search, which may take a while even in a short text.
pub(crate) fn charge(machine: &Machine<'_>, text: &str) -> Result<(), Error> {
    machine.charge(20 + text.len() as u64 / 16)
}

/// Walks over matches from left to right; after an empty one it goes on with the next character.
struct Matches {
    regex: Regex,
    text: Arc<str>,
    at: usize,
}

impl Matches {
    fn new(regex: &Regex, text: &Arc<str>) -> Matches {
        Matches { regex: regex.clone(), text: text.clone(), at: 0 }
    }

    fn next(&mut self, machine: &Machine<'_>) -> Result<Option<Match>, Error> {
        let Some(rest) = self.text.get(self.at..) else {
            return Ok(None);
        };
        charge(machine, rest)?;
        let Some(found) = self.regex.find_from(&self.text, self.at)? else {
            self.at = self.text.len() + 1;
            return Ok(None);
        };
        let range = found.whole();
        self.at = range.end;
        if range.is_empty() {
            let next = self.text.get(range.end..).and_then(|rest| rest.chars().next());
            self.at += next.map_or(1, char::len_utf8);
        }
        Ok(Some(found))
    }
}

fn regex(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let pattern = args.text(0)?;
    let flags =
        Flags { ignore_case: args.truth(1), multi_line: args.truth(2), dot_all: args.truth(3) };
    let regex = args.machine.pattern(&pattern, flags)?;
    if regex.is_ascii() {
        return Err(Error::value("ASCII and UNICODE flags are incompatible"));
    }
    Ok(Value::Regex(regex))
}

fn matches(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (regex, text) = (args.regex(0)?, args.text(1)?);
    charge(args.machine, &text)?;
    regex.is_match(&text).map(Value::Bool)
}

fn matches_pattern(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (text, pattern) = (args.text(0)?, args.text(1)?);
    charge(args.machine, &text)?;
    args.machine.pattern(&pattern, Flags::default())?.is_match(&text).map(Value::Bool)
}

/// The text of a match.
fn matched(text: &str, found: &Match) -> Value {
    text.get(found.whole()).unwrap_or_default().into()
}

/// Evaluates a lambda where `$1` is the match and `$2`, ... are its groups, each by name too.
fn select(
    machine: &Machine<'_>,
    context: &Arc<Context>,
    selector: &Lambda,
    regex: &Regex,
    text: &str,
    found: &Match,
) -> Result<Value, Error> {
    let position = |byte: usize| Value::from(text.get(..byte).map_or(0, |t| t.chars().count()));
    let group = |range: &Option<std::ops::Range<usize>>| {
        let (value, start, end) = match range {
            Some(range) => {
                (text.get(range.clone()).into(), position(range.start), position(range.end))
            }
            None => (Value::Null, (-1).into(), (-1).into()),
        };
        Value::map([("value", value), ("start", start), ("end", end)])
    };
    let groups: Vec<Value> = found.groups.iter().map(group).collect();
    let named = regex
        .names()
        .iter()
        .filter_map(|(name, number)| Some((name.clone(), groups.get(*number)?.clone())))
        .collect();
    machine.apply_in(selector, &context.child(groups, named))
}

fn search(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (regex, text, selector) = (args.regex(0)?, args.text(1)?, args.lambda_or_none(2));
    match (Matches::new(&regex, &text).next(args.machine)?, selector) {
        (None, _) => Ok(Value::Null),
        (Some(found), None) => Ok(matched(&text, &found)),
        (Some(found), Some(selector)) => {
            select(args.machine, args.context, &selector, &regex, &text, &found)
        }
    }
}

fn search_all(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (regex, text, selector) = (args.regex(0)?, args.text(1)?, args.lambda_or_none(2));
    let mut matches = Matches::new(&regex, &text);
    let context = args.context.clone();
    Ok(Iter::over(move |machine| match (matches.next(machine)?, &selector) {
        (None, _) => Ok(None),
        (Some(found), None) => Ok(Some(matched(&text, &found))),
        (Some(found), Some(selector)) => {
            select(machine, &context, selector, &regex, &text, &found).map(Some)
        }
    }))
}

/// Whether a limit of matches, which zero lifts, is reached.
fn reached(limit: i64, done: i64) -> bool {
    limit < 0 || limit > 0 && done >= limit
}

fn split(args: &mut Arguments<'_>, regex: &Regex, text: &Arc<str>) -> Result<Value, Error> {
    let limit = args.index(2)?;
    let mut matches = Matches::new(regex, text);
    let mut parts: Vec<Value> = Vec::new();
    let (mut from, mut done) = (0, 0);
    while !reached(limit, done)
        && let Some(found) = matches.next(args.machine)?
    {
        let range = found.whole();
        parts.push(text.get(from..range.start).unwrap_or_default().into());
        let group = |range: &Option<std::ops::Range<usize>>| {
            range.clone().map_or(Value::Null, |range| text.get(range).into())
        };
        parts.extend(found.groups.iter().skip(1).map(group));
        args.machine.fits(parts.len() * 8)?;
        from = range.end;
        done += 1;
    }
    parts.push(text.get(from..).unwrap_or_default().into());
    Value::sequence(parts, false)
}

/// Replaces matches.
fn substitute(
    args: &Arguments<'_>,
    regex: &Regex,
    text: &Arc<str>,
    limit: i64,
    mut put: impl FnMut(&Match, &mut String) -> Result<(), Error>,
) -> Result<Value, Error> {
    let mut matches = Matches::new(regex, text);
    let mut out = String::with_capacity(text.len());
    let (mut from, mut done) = (0, 0);
    while !reached(limit, done)
        && let Some(found) = matches.next(args.machine)?
    {
        let range = found.whole();
        out.push_str(text.get(from..range.start).unwrap_or_default());
        put(&found, &mut out)?;
        args.machine.fits(out.len())?;
        from = range.end;
        done += 1;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Ok(out.into())
}

fn replace(args: &mut Arguments<'_>, regex: &Regex, text: &Arc<str>) -> Result<Value, Error> {
    let (replacement, limit) = (args.text(2)?, args.index(3)?);
    let replacement = Replacement::new(&replacement, regex)?;
    substitute(args, regex, text, limit, |found, out| {
        replacement.expand(text, &found.groups, out);
        Ok(())
    })
}

fn replace_by(args: &mut Arguments<'_>, regex: &Regex, text: &Arc<str>) -> Result<Value, Error> {
    let (lambda, limit) = (args.lambda(2)?, args.index(3)?);
    // The reference joins the parts at the end and names the first that is no text.
    let (mut parts, mut from) = (0, 0);
    let mut wrong = None;
    let result = substitute(args, regex, text, limit, |found, out| {
        let range = found.whole();
        parts += usize::from(range.start > from);
        from = range.end;
        match select(args.machine, args.context, &lambda, regex, text, found)? {
            Value::Null => return Ok(()),
            Value::Text(text) => out.push_str(&text),
            other => {
                wrong.get_or_insert((parts, other.type_name()));
            }
        }
        parts += 1;
        Ok(())
    })?;
    match wrong {
        Some((part, name)) => {
            Err(Error::type_(format!("sequence item {part}: expected str instance, {name} found")))
        }
        None => Ok(result),
    }
}
