//! Values for a template's parameters: which one counts, and whether it may.

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

/// A value that someone gave, and where they wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct SuppliedValue {
    /// The value.
    pub value: Value,
    /// Where it stands, if it stands in a file.
    pub span: Option<Span>,
}

impl From<Value> for SuppliedValue {
    fn from(value: Value) -> SuppliedValue {
        SuppliedValue { value, span: None }
    }
}

/// Values by the names of parameters.
pub type SuppliedValues = IndexMap<Arc<str>, SuppliedValue>;

/// What was given for a template's parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuppliedParameters {
    /// With the request: these count first.
    pub request: SuppliedValues,
    /// Under `parameters` of the environment.
    pub environment: SuppliedValues,
    /// Under `parameter_defaults` of the environment: they replace the template's defaults.
    pub defaults: SuppliedValues,
}

impl SuppliedParameters {
    /// Values given with a request and nothing else.
    pub fn with_request(members: &Members) -> SuppliedParameters {
        let request = members.iter().map(|(name, value)| (name.clone(), value.clone().into()));
        SuppliedParameters { request: request.collect(), ..SuppliedParameters::default() }
    }

    /// The value given for a name, before defaults.
    ///
    /// A null in the request hides what the environment says, and then counts as not given.
    fn value(&self, name: &str) -> Option<&SuppliedValue> {
        let given = self.request.get(name).or_else(|| self.environment.get(name));
        given.filter(|given| !given.value.is_null())
    }

    /// The same with the values of hidden parameters as secrets.
    fn covered(mut self, definitions: &Definitions) -> SuppliedParameters {
        for values in [&mut self.request, &mut self.environment, &mut self.defaults] {
            for (name, given) in values {
                let is_hidden = definitions.get(name).is_some_and(|parameter| parameter.hidden);
                if is_hidden && !given.value.is_null() {
                    given.value = Value::Secret(Secret::new(given.value.clone()));
                }
            }
        }
        self
    }

    fn fallback(&self, name: &str) -> Option<&SuppliedValue> {
        self.defaults.get(name).filter(|given| !given.value.is_null())
    }
}

/// What is known of the stack itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pseudo {
    /// The stack's name; empty if there is none.
    pub stack_name: Arc<str>,
    /// The stack's id, unless it has none yet, as in previews.
    pub stack_id: Option<Arc<str>>,
    /// The project's id.
    pub project_id: Arc<str>,
    /// The template's language, which names these things.
    pub dialect: Dialect,
}

impl Pseudo {
    /// The pseudo parameters, in the order they are shown.
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

/// How much is asked of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Every parameter needs a value that it accepts, as for a stack.
    Values,
    /// Values that are given must be accepted; none need be.
    Supplied,
    /// Only undeclared names and wrong definitions are told, as when a template is validated.
    NamesOnly,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lookup<'a> {
    /// A value.
    Value(&'a Value),
    /// A parameter that has no value, or none that can be used.
    NoValue,
    /// Nothing.
    Undeclared,
}

/// The parameters of a template with their values.
#[derive(Clone, Debug)]
pub struct Parameters {
    definitions: Arc<Definitions>,
    pseudo: Members,
    values: Members,
    given: SuppliedParameters,
}

impl Parameters {
    /// Brings definitions and given values together; what is wrong comes in the reference's order.
    ///
    /// Values are converted ([`Parameter::coerce`]), those of hidden parameters are secrets. Without
    /// [`Check::Values`], parameters may lack a value, and a value that cannot be converted counts
    /// as lacking.
    pub fn bind(
        definitions: Arc<Definitions>,
        given: SuppliedParameters,
        pseudo: &Pseudo,
        custom: &dyn CustomConstraints,
        check: Check,
    ) -> (Parameters, Vec<Diagnostic>) {
        let given = given.covered(&definitions);
        let mut out = undeclared(&definitions, &given);
        let mut values = Members::new();
        for parameter in definitions.values() {
            out.extend(parameter.flaws().iter().cloned());
            if parameter.broken {
                continue;
            }
            match bound(parameter, &given, custom, check) {
                Ok(value) => values.extend(value.map(|value| (parameter.name.clone(), value))),
                Err(refusal) => out.push(*refusal),
            }
        }
        (Parameters { definitions, pseudo: pseudo.members(), values, given }, out)
    }

    /// What a name stands for; pseudo parameters included.
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

    /// Every name and its value as stack details show it, pseudo parameters first.
    pub fn shown(&self) -> IndexMap<Arc<str>, String> {
        let show = |(name, value): (&Arc<str>, &Value)| {
            let shown = match self.definitions.get(name) {
                Some(parameter) => parameter.shown(value),
                None => crate::print::plain(value),
            };
            (name.clone(), shown)
        };
        self.iter().map(show).collect()
    }

    /// What template validation answers for every parameter.
    pub fn describe(&self) -> Members {
        let describe = |parameter: &Parameter| {
            let supplied = self.given.value(&parameter.name).map(|given| &given.value);
            let default = self.given.fallback(&parameter.name).map(|given| &given.value);
            (parameter.name.clone(), parameter.describe_with(supplied, default))
        };
        self.definitions.values().map(describe).collect()
    }

    /// The refusal of an update that changes immutable parameters.
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
        let refusal = Diagnostic::error(&codes::PARAMETER_IMMUTABLE, text);
        Some(changed.iter().fold(refusal, |refusal, parameter| {
            refusal.label(parameter.span, "declared immutable here")
        }))
    }
}

/// Values for names that the template does not declare.
fn undeclared(definitions: &Definitions, given: &SuppliedParameters) -> Vec<Diagnostic> {
    let later = given.request.iter().filter(|(name, _)| !given.environment.contains_key(*name));
    let names = given.environment.iter().chain(later);
    let unknown = names.filter(|(name, _)| !definitions.contains_key(*name));
    let tell = |(at, (name, value)): (usize, (&Arc<str>, &SuppliedValue))| {
        let text = format!("The Parameter ({name}) was not defined in template.");
        let mut refusal = Diagnostic::error(&codes::PARAMETER_UNKNOWN, text);
        if let Some(span) = value.span {
            refusal = refusal.at(span);
        }
        // Suggestions cost a walk over all names: not for every one of many faults.
        if at < 20 {
            refusal.help = suggest::did_you_mean(name, definitions.keys().map(|key| &**key));
        }
        refusal
    };
    unknown.enumerate().map(tell).collect()
}

/// The value of one parameter, or why it has none.
fn bound(
    parameter: &Parameter,
    given: &SuppliedParameters,
    custom: &dyn CustomConstraints,
    check: Check,
) -> Result<Option<Value>, Box<Diagnostic>> {
    let given = given.value(&parameter.name).or_else(|| given.fallback(&parameter.name));
    let (value, span) = match (given, &parameter.default) {
        (Some(given), _) => (&given.value, given.span),
        (None, Some(default)) => (default, parameter.default_span),
        (None, None) if check != Check::Values => return Ok(None),
        (None, None) => return Err(Box::new(missing(parameter))),
    };
    // A default that its own rules refuse was told with the definition.
    let told = given.is_none() && !parameter.flaws().is_empty();
    if check != Check::NamesOnly && !told {
        let refuse = |(refusal, rule)| Box::new(refused(parameter, refusal, rule, span));
        parameter.test(value, custom).map_err(refuse)?;
    }
    // Whatever passed can be converted.
    let value = parameter.coerce(value).ok();
    Ok(match parameter.hidden {
        true => value.map(|value| Value::Secret(Secret::new(value))),
        false => value,
    })
}

fn missing(parameter: &Parameter) -> Diagnostic {
    let text = format!("The Parameter ({}) was not provided.", parameter.name);
    Diagnostic::error(&codes::PARAMETER_MISSING, text)
        .at(parameter.span)
        .help("give it a value with the request or in an environment, or a default")
}

fn refused(
    parameter: &Parameter,
    refusal: CastError,
    rule: Option<usize>,
    span: Option<Span>,
) -> Diagnostic {
    let name = &parameter.name;
    let diagnostic = match refusal {
        CastError::Invalid(text) => {
            let text = format!("Parameter '{name}' is invalid: {text}");
            Diagnostic::error(&codes::PARAMETER_VALUE, text)
        }
        CastError::WrongKind(text) => {
            let sentence = "The server could not comply with the request since it is either \
                            malformed or otherwise incorrect.";
            Diagnostic::error(&codes::PARAMETER_UNJUDGED, sentence).help(format!(
                "a rule of parameter '{name}' cannot judge this kind of value ({text}); if text is \
                 meant, write it in quotes"
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
