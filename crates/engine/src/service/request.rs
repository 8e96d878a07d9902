//! What a stack is asked to be, and whether it can be that.

use super::cloud_constraints::{self, CloudAnswers, CloudConstraints};
use super::{RequestError, Requester, Service};
use crate::blueprint::{Recipe, Source};
use crate::config::Config;
use crate::ids::{Ids, RecipeId, StackId};
use crate::machine::Settings;
use crate::runtime::SystemIds;
use kiln_template::definition::Files;
use kiln_template::document::{Node, SecretHandling};
use kiln_template::environment::Environment;
use kiln_template::limits::Limits;
use kiln_template::parameters::SuppliedValues;
use kiln_template::print::{self, Keys};
use kiln_template::validate::{Checks, Context, Input, Report, Root, validate};
use kiln_template::value::Secret;
use kiln_template::{Sources, Span, Value, lower, read};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a stack is asked to be.
#[derive(Clone, Debug, Default)]
pub struct StackRequest {
    /// The template.
    pub template: TemplateSource,
    /// The environment.
    pub environment: Environment,
    /// Names of files that are merged to an environment; then the one above does not count.
    pub environment_files: Vec<Arc<str>>,
    /// Values for parameters.
    pub parameters: SuppliedValues,
    /// The files that came along.
    pub files: Files,
    /// What else is said.
    pub settings: Settings,
    /// Whether it is compared with reality first.
    pub converge: bool,
}

/// A template as it came.
#[derive(Clone, Debug, Default)]
pub enum TemplateSource {
    /// As text.
    Text(Arc<str>),
    /// As an object.
    Object(Value),
    /// Not at all.
    #[default]
    Missing,
}

impl TemplateSource {
    /// The template as the text that is stored.
    pub fn text(&self) -> Arc<str> {
        match self {
            TemplateSource::Text(text) => text.clone(),
            TemplateSource::Object(value) => print::json(value, Keys::Ordered).into(),
            TemplateSource::Missing => "".into(),
        }
    }
}

/// A request that was looked at.
pub(super) struct ValidatedRequest {
    pub(super) report: Report,
    pub(super) sources: Sources,
}

/// The stack that a request is for.
pub(super) struct Subject<'a> {
    pub(super) name: &'a str,
    pub(super) id: Option<StackId>,
    pub(super) project: &'a Arc<str>,
}

impl Service {
    /// Looks at a request, and asks the cloud where only that can tell.
    pub(super) async fn validate_request(
        &self,
        requester: &Requester,
        subject: &Subject<'_>,
        request: &StackRequest,
        checks: Checks,
    ) -> ValidatedRequest {
        // A mistake that is found by what the cloud says may lead to more that it has to be asked.
        const ROUNDS: usize = 3;
        let by = requester.visitor.credential();
        let mut answers = CloudAnswers::new();
        for _ in 0..ROUNDS {
            let (validated, open) = self.validate_once(subject, request, checks, &answers);
            if open.is_empty() || !self.transport.has_cloud() {
                return validated;
            }
            answers.extend(cloud_constraints::ask(&self.transport, &by, open).await);
        }
        self.validate_once(subject, request, checks, &answers).0
    }

    /// Looks at a request, and tells what the cloud has to be asked.
    pub(super) fn validate_once(
        &self,
        subject: &Subject<'_>,
        request: &StackRequest,
        checks: Checks,
        answers: &CloudAnswers,
    ) -> (ValidatedRequest, BTreeSet<(String, Arc<str>)>) {
        let mut sources = Sources::new();
        let text = request.template.text();
        let file = sources.add("template", text.clone());
        let mut input = Input::new(file);
        if let TemplateSource::Object(value) = &request.template {
            let node = Node::from_value(value, Span::start_of(file), SecretHandling::Expose);
            input.template = Root::Object(node);
        }
        input.parameters = request.parameters.clone();
        input.environment = request.environment.clone();
        input.environment_files = request.environment_files.clone();
        input.global = self.config.global.clone();
        input.files = Arc::new(request.files.clone());
        input.stack_name = subject.name.into();
        input.stack_id = subject.id.map(|id| id.to_string().into());
        input.project_id = subject.project.clone();
        let custom = CloudConstraints::new(answers);
        let limits = Limits { max_bytes: self.rules.max_template_bytes, ..Limits::default() };
        let context = Context {
            limits,
            max_depth: self.config.max_depth,
            max_resources: self.config.max_resources,
            ..Context::new(self.config.types, &custom, checks)
        };
        let report = validate(&context, &mut sources, input);
        (ValidatedRequest { report, sources }, custom.into_open())
    }
}

impl ValidatedRequest {
    /// Refuses a request in which something is wrong, or that uses types that the requester may not.
    pub(super) fn into_report(self, requester: &Requester) -> Result<Report, RequestError> {
        let forbidden = self.report.definition.as_ref().and_then(|definition| {
            let mut kinds = definition.resources().map(|(_, resource)| &*resource.type_name.value);
            kinds.find(|kind| !(requester.may_use)(kind))
        });
        if let Some(kind) = forbidden {
            return Err(RequestError::forbidden_type(kind));
        }
        if self.report.has_errors() {
            return Err(RequestError::from_diagnostics(
                &self.report.diagnostics,
                &self.sources,
                false,
            ));
        }
        Ok(self.report)
    }
}

impl RequestError {
    /// A type that the requester may not use.
    pub fn forbidden_type(kind: &str) -> RequestError {
        let message = format!("You are not authorized to use resource_types:{kind}.");
        RequestError::new("Forbidden", message)
    }
}

/// What a stack is made of, once the request was approved.
pub(super) fn recipe(
    config: &Config,
    requester: &Requester,
    request: &StackRequest,
    mut report: Report,
) -> Recipe {
    let names = config.types.iter().map(|kind| kind.name());
    let forbidden = names.filter(|name| !(requester.may_use)(name)).map(Arc::from).collect();
    hide_parameters(request, &mut report);
    Recipe {
        id: RecipeId(SystemIds::default().next()),
        template: Source::Text(request.template.text()),
        files: Arc::new(request.files.clone()),
        environment: Arc::new(report.environment),
        parameters: Arc::default(),
        aliases: Vec::new(),
        forbidden: Arc::new(forbidden),
        author: requester.author.clone(),
    }
}

/// Hides the values of all parameters that a template of the tree hides: from now on nobody is told.
fn hide_parameters(request: &StackRequest, report: &mut Report) {
    let nested = request.files.values().filter(|text| text.contains("emplate"));
    let nested = nested.filter_map(|text| {
        let file = Sources::new().add("template", text.clone());
        lower::template(read::read(file, text, &Limits::default()).0?).0
    });
    let nested: Vec<_> = nested.collect();
    let templates = report.template.iter().map(|it| &**it).chain(&nested);
    let parameters = templates.flat_map(|template| template.parameters.values());
    let names: BTreeSet<Arc<str>> =
        parameters.filter(|it| it.hidden).map(|it| it.name.clone()).collect();
    let environment = &mut report.environment;
    for values in [&mut environment.parameters, &mut environment.parameter_defaults] {
        for (name, given) in values {
            if names.contains(name) && !given.value.is_null() {
                given.value = Value::Secret(Secret::new(given.value.clone()));
            }
        }
    }
}

/// Whether a stack may be called so.
pub(super) fn check_name(name: &str) -> Result<(), RequestError> {
    let mut characters = name.chars();
    let is_good = characters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && characters.all(|it| it.is_ascii_alphanumeric() || "_.-".contains(it))
        && name.len() <= 255;
    match is_good {
        true => Ok(()),
        false => Err(RequestError::new(
            "StackValidationFailed",
            format!(
                "Invalid stack name {name} must contain only alphanumeric or \"_-.\" characters, must \
                 start with alpha and must be 255 characters or less."
            ),
        )),
    }
}
