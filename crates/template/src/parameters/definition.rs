//! Definitions of parameters, read from a template's section.
//!
//! All errors are reported: those of the form at once, those of rules and defaults later (see the
//! module above). A parameter whose definition is wrong still counts as declared.

use super::{Definitions, Dialect, Features, Parameter, ParameterType};
use crate::codes;
use crate::constraint::definition::{self, SpannedConstraint, definition_error, mapping};
use crate::constraint::{Offline, Rule};
use crate::diagnostic::Diagnostic;
use crate::document::{Data, Entry, Node};
use crate::print;
use crate::source::Span;
use crate::suggest;
use crate::value::{Secret, Value};

const CFN_KEYS: &[&str] = &[
    "AllowedPattern",
    "AllowedValues",
    "ConstraintDescription",
    "Default",
    "Description",
    "Label",
    "MaxLength",
    "MaxValue",
    "MinLength",
    "MinValue",
    "NoEcho",
    "Type",
];

const HOT_KEYS: &[&str] = &[
    "constraints",
    "default",
    "description",
    "hidden",
    "immutable",
    "label",
    "schema",
    "tags",
    "type",
];

/// Reads `parameters` of a native template.
pub fn parse_hot(section: &Node, features: Features) -> (Definitions, Vec<Diagnostic>) {
    let mut out = Vec::new();
    let definitions =
        read(section, "parameters", &mut out, |entry, out| hot_parameter(entry, features, out));
    (definitions, out)
}

/// Reads `Parameters` of a CloudFormation template.
pub(crate) fn parse_cfn(section: &Node) -> (Definitions, Vec<Diagnostic>) {
    let mut out = Vec::new();
    let definitions = read(section, "Parameters", &mut out, cfn_parameter);
    (definitions, out)
}

fn read(
    section: &Node,
    name: &str,
    out: &mut Vec<Diagnostic>,
    parameter: impl Fn(&Entry, &mut Vec<Diagnostic>) -> Parameter,
) -> Definitions {
    let map = match &section.data {
        Data::Map(map) => map,
        _ if !Value::from(section).is_truthy() => return Definitions::new(),
        _ => {
            let found = Value::from(section).python_type();
            let text =
                format!("\"{name}\" must contain a map of parameters. Found a {found} instead");
            out.push(Diagnostic::error(&codes::BAD_SECTION, text).at(section.span));
            return Definitions::new();
        }
    };
    let read = |entry: &Entry| {
        let mut read = parameter(entry, out);
        read.flaws = flaws(&read);
        (entry.key.clone(), read)
    };
    map.iter().map(read).collect()
}

fn hot_parameter(entry: &Entry, features: Features, out: &mut Vec<Diagnostic>) -> Parameter {
    let mut parameter = blank(entry, Dialect::Hot);
    let keys: Vec<&str> =
        HOT_KEYS.iter().copied().filter(|key| features.tags || *key != "tags").collect();
    let what = format!("parameter ({})", entry.key);
    let Some(map) = mapping(&entry.value, &keys, &what, out) else {
        return parameter;
    };
    if map.entry("type").is_none() {
        out.push(no_type(entry, Dialect::Hot));
    }
    if let Some(tags) = map.get("tags").filter(|_| features.tags) {
        match tags.as_list() {
            Some(tags) => parameter.tags = tags.iter().map(Value::from).collect(),
            None => {
                let text = format!("Tags property should be a list for parameter: {}", entry.key);
                out.push(definition_error(text, tags.span));
            }
        }
    }
    if let Some(constraints) = map.get("constraints") {
        let rules = definition::parse_hot(&entry.key, constraints, features.modulo, out);
        parameter.set_rules(rules);
    }
    parameter.set_kind(map.get("type"), out);
    parameter.set_default(map.get("default"));
    parameter.label = filled(map.get("label"));
    parameter.description = filled(map.get("description"));
    parameter.hidden = filled(map.get("hidden")).is_some();
    parameter.immutable = filled(map.get("immutable")).is_some();
    parameter
}

fn cfn_parameter(entry: &Entry, out: &mut Vec<Diagnostic>) -> Parameter {
    let mut parameter = blank(entry, Dialect::Cfn);
    let what = format!("parameter ({})", entry.key);
    let Some(map) = mapping(&entry.value, CFN_KEYS, &what, out) else {
        return parameter;
    };
    if map.entry("Type").is_none() {
        out.push(no_type(entry, Dialect::Cfn));
    }
    parameter.set_rules(definition::parse_cfn(map, out));
    parameter.set_kind(map.get("Type"), out);
    parameter.set_default(map.get("Default"));
    parameter.label = filled(map.get("Label"));
    parameter.description = filled(map.get("Description"));
    let echo = map.get("NoEcho").map(|node| print::plain(&Value::from(node)));
    parameter.hidden = echo.is_some_and(|echo| echo.eq_ignore_ascii_case("true"));
    parameter
}

impl Parameter {
    fn set_rules(&mut self, rules: Vec<SpannedConstraint>) {
        let pairs = rules.into_iter().map(|placed| (placed.constraint, placed.span));
        (self.constraints, self.constraint_spans) = pairs.unzip();
    }

    /// Sets the type; until then the definition counts as broken.
    fn set_kind(&mut self, node: Option<&Node>, out: &mut Vec<Diagnostic>) {
        let Some(node) = node else { return };
        let written = print::plain(&Value::from(node));
        let text = node.as_text().map_or("", |text| text);
        let dialect = self.dialect;
        match ParameterType::ALL.into_iter().find(|kind| kind.spelling(dialect) == text) {
            Some(kind) => (self.kind, self.broken) = (kind, false),
            None => {
                let names = ParameterType::ALL.map(|kind| kind.spelling(dialect));
                let help = suggest::help(&written, names);
                out.push(
                    definition_error(format!("Invalid type ({written})"), node.span).help(help),
                );
            }
        }
    }

    fn set_default(&mut self, node: Option<&Node>) {
        if let Some(node) = node.filter(|node| !node.is_null()) {
            self.default = Some(Value::from(node));
            self.default_span = Some(node.span);
        }
    }
}

/// A parameter with a name and nothing else.
fn blank(entry: &Entry, dialect: Dialect) -> Parameter {
    Parameter {
        name: entry.key.clone(),
        span: entry.key_span,
        dialect,
        kind: ParameterType::String,
        label: None,
        description: None,
        default: None,
        default_span: None,
        hidden: false,
        immutable: false,
        tags: Vec::new(),
        constraints: Vec::new(),
        constraint_spans: Vec::new(),
        broken: true,
        flaws: Vec::new(),
    }
}

fn no_type(entry: &Entry, dialect: Dialect) -> Diagnostic {
    let names = ParameterType::ALL.map(|kind| kind.spelling(dialect));
    let key = if dialect == Dialect::Hot { "type" } else { "Type" };
    let text = format!("Missing parameter type for parameter: {}", entry.key);
    definition_error(text, entry.key_span)
        .help(format!("add `{key}`, one of: {}", names.join(", ")))
}

/// The value, unless it is null, false, zero or empty.
fn filled(node: Option<&Node>) -> Option<Value> {
    node.map(Value::from).filter(Value::is_truthy)
}

/// Rules that do not fit the type, then what is wrong with the default.
fn flaws(parameter: &Parameter) -> Vec<Diagnostic> {
    if parameter.broken {
        return Vec::new();
    }
    let kind = parameter.value_kind();
    let rules = parameter.constraints.iter().zip(&parameter.constraint_spans);
    let unfit = rules.filter(|(constraint, _)| !constraint.rule.fits(kind));
    let mut flaws: Vec<Diagnostic> =
        unfit.map(|(constraint, span)| unfit_rule(parameter, &constraint.rule, *span)).collect();
    flaws.extend(default_flaw(parameter));
    flaws
}

fn unfit_rule(parameter: &Parameter, rule: &Rule, span: Span) -> Diagnostic {
    let (name, kind) = (&parameter.name, parameter.value_kind());
    let fitting = ParameterType::ALL.into_iter().filter_map(|kind| {
        let value_kind = crate::constraint::ValueKind::from_parameter(kind, parameter.dialect);
        rule.fits(value_kind).then(|| value_kind.name())
    });
    let fitting: Vec<&str> = fitting.collect();
    let rule = rule.name();
    let text =
        format!("Parameter '{name}' is invalid: {rule} constraint invalid for {}", kind.name());
    definition_error(text, span)
        .label(parameter.span, "declared here")
        .help(format!("this rule applies to: {}", fitting.join(", ")))
}

fn default_flaw(parameter: &Parameter) -> Option<Diagnostic> {
    let default = parameter.default.as_ref()?;
    let span = parameter.default_span.unwrap_or(parameter.span);
    let printed = if parameter.hidden {
        Value::Secret(Secret::new(default.clone()))
    } else {
        default.clone()
    };
    let name = &parameter.name;
    let judged = match (parameter.kind, default) {
        (ParameterType::CommaDelimitedList, Value::List(items)) => {
            Value::list(items.iter().map(|item| Value::from(print::plain(item))))
        }
        // Empty text is a list of one empty member here, though it is an empty list as a value.
        (ParameterType::CommaDelimitedList, Value::Text(text)) => {
            Value::list(text.split(',').map(Value::from))
        }
        (ParameterType::CommaDelimitedList, other) => {
            let text = format!(
                "Parameter '{name}' is invalid: Default must be a comma-delimited list string: \
                 '{}' object has no attribute 'split'",
                other.python_type()
            );
            return Some(definition_error(text, span));
        }
        (_, other) => other.clone(),
    };
    let judged = if parameter.hidden { Value::Secret(Secret::new(judged)) } else { judged };
    let kind = parameter.value_kind();
    let rules = parameter.constraints.iter().zip(&parameter.constraint_spans);
    let mut checked = rules.filter(|(constraint, _)| {
        constraint.rule.fits(kind) && !matches!(constraint.rule, Rule::Custom(_))
    });
    checked.find_map(|(constraint, rule)| {
        let error = constraint.check(&judged, kind, &Offline::new(0)).err()?;
        let default = print::plain(&printed);
        let text = format!("Parameter '{name}' is invalid: Invalid default {default} ({error})");
        Some(definition_error(text, span).label(*rule, "by this rule"))
    })
}
