//! Binding of values to a template's parameters: which value applies, and whether it is valid.

use super::{Definitions, Dialect, Parameter};
use crate::codes;
use crate::constraint::CustomConstraints;
use crate::constraint::cast::CastError;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::suggest;
use crate::value::{Members, Secret, Value};
use indexmap::IndexMap;
use std::sync::Arc;

/// A value for a parameter, and its span.
#[derive(Clone, Debug, PartialEq)]
pub struct SuppliedValue {
    /// The value.
    pub value: Value,
    /// Its span, if it comes from a file.
    pub span: Option<Span>,
}

impl From<Value> for SuppliedValue {
    fn from(value: Value) -> SuppliedValue {
        SuppliedValue { value, span: None }
    }
}

/// Values by the names of parameters.
pub type SuppliedValues = IndexMap<Arc<str>, SuppliedValue>;

/// The values supplied for a template's parameters, by source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuppliedParameters {
    /// From the request: they take precedence.
    pub request: SuppliedValues,
    /// From `parameters` of the environment.
    pub environment: SuppliedValues,
    /// From `parameter_defaults` of the environment: they replace the template's defaults.
    pub defaults: SuppliedValues,
}

impl SuppliedParameters {
    /// Values from a request alone.
    pub fn with_request(members: &Members) -> SuppliedParameters {
        let request = members.iter().map(|(name, value)| (name.clone(), value.clone().into()));
        SuppliedParameters { request: request.collect(), ..SuppliedParameters::default() }
    }

    /// The value supplied for a name, before defaults.
    ///
    /// A null in the request overrides the environment's value, and then counts as not supplied.
    fn value(&self, name: &str) -> Option<&SuppliedValue> {
        let supplied = self.request.get(name).or_else(|| self.environment.get(name));
        supplied.filter(|supplied| !supplied.value.is_null())
    }

    /// The same with the values of hidden parameters as secrets.
    fn covered(mut self, definitions: &Definitions) -> SuppliedParameters {
        for values in [&mut self.request, &mut self.environment, &mut self.defaults] {
            for (name, supplied) in values {
                let is_hidden = definitions.get(name).is_some_and(|parameter| parameter.hidden);
                if is_hidden && !supplied.value.is_null() {
                    supplied.value = Value::Secret(Secret::new(supplied.value.clone()));
                }
            }
        }
        self
    }

    fn fallback(&self, name: &str) -> Option<&SuppliedValue> {
        self.defaults.get(name).filter(|supplied| !supplied.value.is_null())
    }
}

/// The values of the pseudo parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PseudoParameters {
    /// The stack's name; empty if there is none.
    pub stack_name: Arc<str>,
    /// The stack's id, unless it has none yet, as in previews.
    pub stack_id: Option<Arc<str>>,
    /// The project's id.
    pub project_id: Arc<str>,
    /// The dialect, which decides the names.
    pub dialect: Dialect,
}

impl PseudoParameters {
    /// The pseudo parameters, in the order of the API's answers.
    fn members(&self) -> Members {
        let id = self.stack_id.as_deref().unwrap_or("None");
        let name = Value::Text(self.stack_name.clone());
        let named = !self.stack_name.is_empty();
        let all = match self.dialect {
            Dialect::Hot => vec![
                ("OS::stack_id", Value::from(id), true),
                ("OS::project_id", Value::Text(self.project_id.clone()), true),
                ("OS::stack_name", name, named),
            ],
            Dialect::Cfn => {
                let project = &self.project_id;
                let arn = format!("arn:openstack:heat::{project}:stacks/{}/{id}", self.stack_name);
                vec![
                    ("AWS::StackId", if named { arn.into() } else { "None".into() }, true),
                    ("AWS::StackName", name, named),
                    ("AWS::Region", "ap-southeast-1".into(), named),
                ]
            }
        };
        let there = all.into_iter().filter(|(_, _, there)| *there);
        there.map(|(name, value, _)| (name.into(), value)).collect()
    }
}

/// The extent of the checks of parameter values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterCheck {
    /// Every parameter needs a valid value, as for a stack.
    Values,
    /// Values that are supplied must be valid; none is required.
    Supplied,
    /// Only undeclared names and wrong definitions are reported, as when a template is validated.
    NamesOnly,
}

/// The result of looking up a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lookup<'a> {
    /// A value.
    Value(&'a Value),
    /// A parameter that has no value, or none that can be used.
    NoValue,
    /// There is no parameter of this name.
    Undeclared,
}

/// The parameters of a template with their values.
#[derive(Clone, Debug)]
pub struct Parameters {
    definitions: Arc<Definitions>,
    pseudo: Members,
    values: Members,
    supplied: SuppliedParameters,
}

impl Parameters {
    /// Binds supplied values to definitions; errors come in Heat's order.
    ///
    /// Values are converted (`Parameter::coerce`), those of hidden parameters are secrets.
    /// Without [`ParameterCheck::Values`], parameters may lack a value, and a value that cannot be converted
    /// counts as lacking.
    pub fn bind(
        definitions: Arc<Definitions>,
        supplied: SuppliedParameters,
        pseudo: &PseudoParameters,
        custom: &dyn CustomConstraints,
        check: ParameterCheck,
    ) -> (Parameters, Vec<Diagnostic>) {
        let supplied = supplied.covered(&definitions);
        let mut out = undeclared(&definitions, &supplied);
        let mut values = Members::new();
        for parameter in definitions.values() {
            out.extend(parameter.flaws().iter().cloned());
            if parameter.broken {
                continue;
            }
            match bound(parameter, &supplied, custom, check) {
                Ok(value) => values.extend(value.map(|value| (parameter.name.clone(), value))),
                Err(error) => out.push(*error),
            }
        }
        (Parameters { definitions, pseudo: pseudo.members(), values, supplied }, out)
    }

    /// Looks up a parameter or pseudo parameter.
    pub fn get(&self, name: &str) -> Lookup<'_> {
        match self.values.get(name) {
            Some(value) => Lookup::Value(value),
            None if self.definitions.contains_key(name) => Lookup::NoValue,
            None => self.pseudo.get(name).map_or(Lookup::Undeclared, Lookup::Value),
        }
    }

    /// The definitions.
    pub fn definitions(&self) -> &Arc<Definitions> {
        &self.definitions
    }

    /// Every name and value, pseudo parameters first.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Value)> {
        let pseudo = self.pseudo.iter().filter(|(name, _)| !self.definitions.contains_key(*name));
        pseudo.chain(&self.values)
    }

    /// Every name and its value as text for the stack's details, pseudo parameters first.
    pub fn display_values(&self) -> IndexMap<Arc<str>, String> {
        let show = |(name, value): (&Arc<str>, &Value)| {
            let printed = match self.definitions.get(name) {
                Some(parameter) => parameter.display(value),
                None => crate::print::plain(value),
            };
            (name.clone(), printed)
        };
        self.iter().map(show).collect()
    }

    /// The description of every parameter in the API's template validation.
    pub fn describe(&self) -> Members {
        let describe = |parameter: &Parameter| {
            let supplied = self.supplied.value(&parameter.name).map(|supplied| &supplied.value);
            let default = self.supplied.fallback(&parameter.name).map(|supplied| &supplied.value);
            (parameter.name.clone(), parameter.describe_with(supplied, default))
        };
        self.definitions.values().map(describe).collect()
    }

    /// The error for an update that changes immutable parameters.
    ///
    /// The new template says which are immutable; one that the old template did not have may take
    /// any value.
    pub fn changed_immutable(old: &Parameters, new: &Parameters) -> Option<Diagnostic> {
        let changed = new.definitions.values().filter(|parameter| {
            let values = (old.values.get(&parameter.name), new.values.get(&parameter.name));
            match values {
                (Some(was), Some(is)) if parameter.immutable => {
                    was.unknown().is_none() && is.unknown().is_none() && !was.equals(is)
                }
                _ => false,
            }
        });
        let changed: Vec<&Parameter> = changed.collect();
        if changed.is_empty() {
            return None;
        }
        let names: Vec<&str> = changed.iter().map(|parameter| &*parameter.name).collect();
        let text = format!(
            "The following parameters are immutable and may not be updated: {}",
            names.join(", ")
        );
        let error = Diagnostic::error(&codes::PARAMETER_IMMUTABLE, text);
        Some(
            changed.iter().fold(error, |error, parameter| {
                error.label(parameter.span, "declared immutable here")
            }),
        )
    }
}

/// Values for names that the template does not declare.
fn undeclared(definitions: &Definitions, supplied: &SuppliedParameters) -> Vec<Diagnostic> {
    let later =
        supplied.request.iter().filter(|(name, _)| !supplied.environment.contains_key(*name));
    let names = supplied.environment.iter().chain(later);
    let unknown = names.filter(|(name, _)| !definitions.contains_key(*name));
    let tell = |(at, (name, value)): (usize, (&Arc<str>, &SuppliedValue))| {
        let text = format!("The Parameter ({name}) was not defined in template.");
        let mut error = Diagnostic::error(&codes::PARAMETER_UNKNOWN, text);
        if let Some(span) = value.span {
            error = error.at(span);
        }
        // A suggestion compares all names: too expensive for every one of many errors.
        if at < 20 {
            error.help = suggest::did_you_mean(name, definitions.keys().map(|key| &**key));
        }
        error
    };
    unknown.enumerate().map(tell).collect()
}

/// The value of one parameter, or why it has none.
fn bound(
    parameter: &Parameter,
    supplied: &SuppliedParameters,
    custom: &dyn CustomConstraints,
    check: ParameterCheck,
) -> Result<Option<Value>, Box<Diagnostic>> {
    let supplied = supplied.value(&parameter.name).or_else(|| supplied.fallback(&parameter.name));
    let (value, span) = match (supplied, &parameter.default) {
        (Some(supplied), _) => (&supplied.value, supplied.span),
        (None, Some(default)) => (default, parameter.default_span),
        (None, None) if check != ParameterCheck::Values => return Ok(None),
        (None, None) => return Err(Box::new(missing(parameter))),
    };
    // A default that its own rules reject was reported with the definition.
    let reported = supplied.is_none() && !parameter.flaws().is_empty();
    if check != ParameterCheck::NamesOnly && !reported {
        let refuse = |(error, rule)| Box::new(refused(parameter, error, rule, span));
        parameter.test(value, custom).map_err(refuse)?;
    }
    // A value that passed the checks can be converted.
    let value = parameter.coerce(value).ok();
    if parameter.hidden {
        return Ok(value.map(|value| Value::Secret(Secret::new(value))));
    }
    Ok(value)
}

fn missing(parameter: &Parameter) -> Diagnostic {
    let text = format!("The Parameter ({}) was not provided.", parameter.name);
    Diagnostic::error(&codes::PARAMETER_MISSING, text)
        .at(parameter.span)
        .help("supply a value in the request or in an environment, or declare a default")
}

fn refused(
    parameter: &Parameter,
    error: CastError,
    rule: Option<usize>,
    span: Option<Span>,
) -> Diagnostic {
    let name = &parameter.name;
    let diagnostic = match error {
        CastError::Invalid(text) => {
            let text = format!("Parameter '{name}' is invalid: {text}");
            Diagnostic::error(&codes::PARAMETER_VALUE, text)
        }
        CastError::WrongKind(text) => {
            let sentence = "The server could not comply with the request since it is either \
                            malformed or otherwise incorrect.";
            Diagnostic::error(&codes::PARAMETER_UNJUDGED, sentence).help(format!(
                "a rule of parameter '{name}' does not apply to this type of value ({text}); if text is \
                 intended, write it in quotes"
            ))
        }
    };
    let rule = rule.and_then(|rule| parameter.constraint_spans.get(rule));
    match (span, rule) {
        (Some(span), Some(rule)) => diagnostic.at(span).label(*rule, "by this rule"),
        (Some(span), None) => diagnostic.at(span).label(parameter.span, "declared here"),
        (None, Some(rule)) => diagnostic.at(parameter.span).label(*rule, "by this rule"),
        (None, None) => diagnostic.at(parameter.span),
    }
}
