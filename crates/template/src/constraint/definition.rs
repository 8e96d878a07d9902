//! Rules as parameter definitions write them, read into [`Constraint`]s.
//!
//! All errors are reported, in the order in which Heat would find them; a rule that is
//! wrong is left out.

use super::cast;
use super::{Constraint, Rule};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::document::{Data, Entry, Map, Node};
use crate::print;
use crate::source::Span;
use crate::suggest;
use crate::value::Value;
use kiln_yaql::Integer;
use std::borrow::Cow;

/// A rule and its span.
pub(crate) struct SpannedConstraint {
    pub(crate) constraint: Constraint,
    pub(crate) span: Span,
}

/// The keys of an entry of `constraints`.
const ENTRY_KEYS: &[&str] = &[
    "allowed_pattern",
    "allowed_values",
    "custom_constraint",
    "description",
    "length",
    "modulo",
    "range",
];

/// Reads `constraints` of a native template's parameter.
pub(crate) fn parse_hot(
    parameter: &str,
    node: &Node,
    modulo: bool,
    out: &mut Vec<Diagnostic>,
) -> Vec<SpannedConstraint> {
    let items = match &node.data {
        Data::Null => return Vec::new(),
        Data::List(items) => items,
        _ => {
            let text =
                format!("Invalid parameter constraints for parameter {parameter}, expected a list");
            out.push(
                definition_error(text, node.span)
                    .help("write each rule as an item that begins with `-`"),
            );
            return Vec::new();
        }
    };
    items.iter().filter_map(|item| entry(item, "parameter constraints", modulo, out)).collect()
}

/// Reads a rule from an item of `constraints`; `what` names those in errors.
pub(super) fn entry(
    node: &Node,
    what: &str,
    modulo: bool,
    out: &mut Vec<Diagnostic>,
) -> Option<SpannedConstraint> {
    let faults = out.len();
    let map = mapping(node, ENTRY_KEYS, what, out)?;
    // If an entry holds several rules, the first of this order applies and the others are ignored.
    let order: [(&str, ReadRule); 6] = [
        ("modulo", read_modulo),
        ("range", |entry, out| {
            let map = mapping(&entry.value, &["min", "max"], "range constraint", out)?;
            read_range(map.entry("min"), map.entry("max"), entry.key_span, out)
        }),
        ("length", |entry, out| {
            let map = mapping(&entry.value, &["min", "max"], "length constraint", out)?;
            read_length(map.entry("min"), map.entry("max"), entry.key_span, out)
        }),
        ("allowed_values", read_allowed_values),
        ("allowed_pattern", read_allowed_pattern),
        ("custom_constraint", |entry, _| {
            Some(Rule::Custom(print::plain(&Value::from(&entry.value)).into()))
        }),
    ];
    let known = order.into_iter().filter(|(name, _)| modulo || *name != "modulo");
    let chosen = known.into_iter().find_map(|(name, read)| Some((map.entry(name)?, read)));
    let Some((entry, read)) = chosen else {
        // A misspelt rule has been reported already.
        if out.len() == faults {
            out.push(no_rule(map, node));
        }
        return None;
    };
    let rule = read(entry, out)?;
    let span = entry.key_span.to(entry.value.span);
    let description = description(map.get("description"));
    Some(SpannedConstraint { constraint: Constraint { rule, description }, span })
}

type ReadRule = fn(&Entry, &mut Vec<Diagnostic>) -> Option<Rule>;

fn no_rule(map: &Map, node: &Node) -> Diagnostic {
    let help = match map.entry("modulo") {
        Some(_) => "`modulo` needs heat_template_version 2017-02-24 or later".to_owned(),
        None => {
            let rules = ENTRY_KEYS.iter().filter(|key| !matches!(**key, "description" | "modulo"));
            let rules: Vec<&str> = rules.copied().collect();
            format!("add one of: {}", rules.join(", "))
        }
    };
    definition_error("No constraint expressed".into(), node.span).help(help)
}

/// Reads the rules among the keys of a CloudFormation template's parameter.
pub(crate) fn parse_cfn(map: &Map, out: &mut Vec<Diagnostic>) -> Vec<SpannedConstraint> {
    let description = description(map.get("ConstraintDescription"));
    let mut placed = Vec::new();
    let mut add = |rule: Option<Rule>, span: Span| {
        if let Some(rule) = rule {
            let constraint = Constraint { rule, description: description.clone() };
            placed.push(SpannedConstraint { constraint, span });
        }
    };
    let pairs: [(&str, &str, ReadBounds); 2] =
        [("MinValue", "MaxValue", read_range), ("MinLength", "MaxLength", read_length)];
    for (min, max, read) in pairs {
        let (min, max) = (map.entry(min), map.entry(max));
        if let Some(first) = min.or(max) {
            let span = first.key_span.to(first.value.span);
            add(read(min, max, span, out), span);
        }
    }
    let singles: [(&str, ReadRule); 2] =
        [("AllowedValues", read_allowed_values), ("AllowedPattern", read_allowed_pattern)];
    for (key, read) in singles {
        if let Some(entry) = map.entry(key) {
            add(read(entry, out), entry.key_span.to(entry.value.span));
        }
    }
    placed
}

type ReadBounds = fn(Option<&Entry>, Option<&Entry>, Span, &mut Vec<Diagnostic>) -> Option<Rule>;

/// The mapping of a node whose keys are reported; `what` names it in errors.
pub(crate) fn mapping<'a>(
    node: &'a Node,
    keys: &[&str],
    what: &str,
    out: &mut Vec<Diagnostic>,
) -> Option<&'a Map> {
    let Some(map) = node.as_map() else {
        out.push(definition_error(format!("Invalid {what}, expected a mapping"), node.span));
        return None;
    };
    for entry in map.iter().filter(|entry| !keys.contains(&&*entry.key)) {
        let text = format!("Invalid key '{}' for {what}", entry.key);
        let help = suggest::help(&entry.key, keys.iter().copied());
        out.push(definition_error(text, entry.key_span).help(help));
    }
    Some(map)
}

/// An error in a definition.
pub(crate) fn definition_error(text: String, span: Span) -> Diagnostic {
    Diagnostic::error(&codes::PARAMETER_SCHEMA, text).at(span)
}

/// A description, unless it is empty in some way.
fn description(node: Option<&Node>) -> Option<Cow<'static, str>> {
    let value = Value::from(node?);
    value.is_truthy().then(|| print::plain(&value).into())
}

/// A bound: a number, or text that holds one. Null is no bound; `Err` means that the fault was
/// reported.
fn bound(
    entry: Option<&Entry>,
    what: &str,
    out: &mut Vec<Diagnostic>,
) -> Result<Option<Value>, ()> {
    let Some(entry) = entry.filter(|entry| !entry.value.is_null()) else {
        return Ok(None);
    };
    cast::number(&Value::from(&entry.value)).map(Some).map_err(|_| {
        out.push(definition_error(format!("{what} must be numeric"), entry.value.span));
    })
}

fn read_range(
    min: Option<&Entry>,
    max: Option<&Entry>,
    span: Span,
    out: &mut Vec<Diagnostic>,
) -> Option<Rule> {
    let (min, max) = (bound(min, "min/max", out), bound(max, "min/max", out));
    let (min, max) = (min.ok()?, max.ok()?);
    if min.is_none() && max.is_none() {
        let text = "A range constraint must have a min value and/or a max value specified.";
        out.push(definition_error(text.into(), span));
        return None;
    }
    Some(Rule::Range { min, max })
}

fn read_length(
    min: Option<&Entry>,
    max: Option<&Entry>,
    span: Span,
    out: &mut Vec<Diagnostic>,
) -> Option<Rule> {
    let bounds = [(min, bound(min, "min/max", out)), (max, bound(max, "min/max", out))];
    let [(min_entry, min), (max_entry, max)] = bounds;
    let (min, max) = (min.ok()?, max.ok()?);
    if min.is_none() && max.is_none() {
        let text = "A length constraint must have a min value and/or a max value specified.";
        out.push(definition_error(text.into(), span));
        return None;
    }
    let mut whole = |bound: Option<Value>, entry: Option<&Entry>| match bound {
        None => Some(None),
        Some(Value::Bool(flag)) => Some(Some(i64::from(flag))),
        // No text is that long, so the nearest bound that fits has the same effect.
        Some(Value::Int(number)) => Some(Some(nearest(&number))),
        Some(_) => {
            let span = entry.map_or(span, |entry| entry.value.span);
            out.push(definition_error("min/max length must be integral".into(), span));
            None
        }
    };
    let (min, max) = (whole(min, min_entry), whole(max, max_entry));
    Some(Rule::Length { min: min?, max: max? })
}

fn nearest(number: &Integer) -> i64 {
    let far = if *number < Integer::from(0) { i64::MIN } else { i64::MAX };
    number.as_i64().unwrap_or(far)
}

fn read_modulo(entry: &Entry, out: &mut Vec<Diagnostic>) -> Option<Rule> {
    let map = mapping(&entry.value, &["step", "offset"], "modulo constraint", out)?;
    let what = "step/offset";
    let step = bound(map.entry("step"), what, out);
    let offset = bound(map.entry("offset"), what, out);
    let (step, offset) = (step.ok()?, offset.ok()?);
    let refuse = |text: &str, out: &mut Vec<Diagnostic>| {
        out.push(definition_error(text.into(), entry.value.span));
        None
    };
    let (Some(step), Some(offset)) = (step, offset) else {
        let text = "A modulo constraint must have a step value and an offset value specified.";
        return refuse(text, out);
    };
    let (Some(step), Some(offset)) = (whole(&step), whole(&offset)) else {
        return refuse("step/offset must be integer", out);
    };
    if step == 0 {
        return refuse("step cannot be 0.", out);
    }
    if offset.unsigned_abs() >= step.unsigned_abs() {
        return refuse("offset must be smaller (by absolute value) than step.", out);
    }
    if offset != 0 && (offset < 0) != (step < 0) {
        return refuse("step and offset must be both positive or both negative.", out);
    }
    Some(Rule::Modulo { step, offset })
}

/// A number without a fraction that fits in 64 bits.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(flag) => Some(i64::from(*flag)),
        Value::Int(number) => number.as_i64(),
        Value::Float(number) if number.fract() == 0.0 => Integer::from_f64(*number)?.as_i64(),
        _ => None,
    }
}

fn read_allowed_values(entry: &Entry, out: &mut Vec<Diagnostic>) -> Option<Rule> {
    let Some(items) = entry.value.as_list() else {
        out.push(definition_error("AllowedValues must be a list".into(), entry.value.span));
        return None;
    };
    Some(Rule::AllowedValues(items.iter().map(Value::from).collect()))
}

fn read_allowed_pattern(entry: &Entry, out: &mut Vec<Diagnostic>) -> Option<Rule> {
    let Some(text) = entry.value.as_text() else {
        let error = definition_error("AllowedPattern must be a string".into(), entry.value.span);
        out.push(error.help("write the pattern in quotes"));
        return None;
    };
    let pattern = super::Pattern::from(text.to_string());
    if let Some(reason) = pattern.fault() {
        let text = format!("AllowedPattern is not a regular expression: {reason}");
        out.push(definition_error(text, entry.value.span));
        return None;
    }
    Some(Rule::AllowedPattern(pattern))
}
