//! Requests to create or update a stack, and their validation.

use super::cloud_constraints::{self, CloudAnswers, CloudConstraints};
use super::hidden_parameters;
use super::{RequestError, Requester, Service};
use crate::blueprint::{Recipe, Source};
use crate::config::Config;
use crate::error_type::ErrorType;
use crate::ids::{Ids, RecipeId, StackId};
use crate::machine::StackSettings;
use crate::preview::Oversize;
use crate::runtime::SystemIds;
use crate::workers::TooMuchWork;
use kiln_template::document::{Node, SecretHandling};
use kiln_template::environment::{Environment, Implementation};
use kiln_template::parameters::SuppliedValues;
use kiln_template::print::{self, Keys};
use kiln_template::validate::{Checks, Context, Input, Report, Root, validate};
use kiln_template::{Files, Limits, Resource, Sources, Span, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A request to create or update a stack.
#[derive(Clone, Debug, Default)]
pub struct StackRequest {
    /// The template.
    pub template: TemplateSource,
    /// The environment.
    pub environment: Environment,
    /// Names of files that are merged to an environment; then `environment` is ignored.
    pub environment_files: Vec<Arc<str>>,
    /// Values for parameters.
    pub parameters: SuppliedValues,
    /// The files of the request.
    pub files: Files,
    /// Tags, timeout and the like.
    pub settings: StackSettings,
    /// Whether an update compares the objects with their definitions first.
    pub converge: bool,
}

/// The template of a request.
#[derive(Clone, Debug, Default)]
pub enum TemplateSource {
    /// As text.
    Text(Arc<str>),
    /// As an object.
    Object(Value),
    /// The request has no template.
    #[default]
    Missing,
}

impl TemplateSource {
    /// The text of the template, as it is stored.
    pub fn text(&self) -> Arc<str> {
        match self {
            TemplateSource::Text(text) => text.clone(),
            TemplateSource::Object(value) => print::json(value, Keys::Ordered).into(),
            TemplateSource::Missing => "".into(),
        }
    }
}

/// A request that was validated, with or without errors.
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
    /// Validates a request, with the answers of the cloud to constraints that only the cloud can check.
    pub(super) async fn validate_request(
        &self,
        requester: &Requester,
        subject: &Subject<'_>,
        request: &StackRequest,
        checks: Checks,
    ) -> Result<ValidatedRequest, RequestError> {
        // The answers may lead to further questions.
        const ROUNDS: usize = 3;
        let by = requester.user_token.credential();
        let mut answers = CloudAnswers::new();
        for _ in 0..ROUNDS {
            let validate = || self.validate_once(subject, request, checks, &answers);
            let (validated, open) = self.work(&requester.project, validate).await?;
            if open.is_empty() || !self.transport.has_cloud() {
                return Ok(validated);
            }
            answers.extend(cloud_constraints::ask(&self.transport, &by, open).await);
        }
        let validate = || self.validate_once(subject, request, checks, &answers).0;
        self.work(&requester.project, validate).await
    }

    /// Whether a template has no resources that are nested stacks.
    pub(super) fn is_flat(&self, report: &Report) -> bool {
        let types = self.config.types;
        let is_builtin = |name: &str| types.get(name).is_some();
        let is_nested = |resource: &Resource| {
            let (kind, name) = (&resource.type_name.value, Some(&*resource.name));
            match report.registry.resolve(kind, name, &is_builtin) {
                Ok(Implementation::Builtin(name)) => {
                    types.get(&name).is_some_and(|kind| kind.behaviour.stages.is_some())
                }
                Ok(Implementation::Template { .. }) => true,
                Err(_) => false,
            }
        };
        let resources = report.definition.iter().flat_map(|definition| definition.resources());
        !resources.map(|(_, resource)| resource).any(is_nested)
    }

    /// Does long work for a project, on a thread that serves no sockets. All work of requests whose amount depends on
    /// templates goes through here.
    pub(super) async fn work<T>(
        &self,
        project: &Arc<str>,
        work: impl FnOnce() -> T,
    ) -> Result<T, RequestError> {
        self.workers.run(project, work).await.map_err(|TooMuchWork| RequestError::too_much_work())
    }

    /// Validates a request; returns the questions for the cloud that are open.
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

impl From<Oversize> for RequestError {
    fn from(Oversize(message): Oversize) -> RequestError {
        RequestError::new(ErrorType::RequestLimitExceeded, message)
    }
}

impl ValidatedRequest {
    /// Refuses a request that has errors, or that uses types that the requester may not use.
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
    /// The error for a type that the requester may not use.
    pub fn forbidden_type(kind: &str) -> RequestError {
        let message = format!("You are not authorized to use resource_types:{kind}.");
        RequestError::new(ErrorType::Forbidden, message)
    }
}

/// The recipe of a stack, from a validated request.
pub(super) fn recipe(
    config: &Config,
    requester: &Requester,
    request: &StackRequest,
    report: &mut Report,
) -> Recipe {
    let names = config.types.iter().map(|kind| kind.name());
    let forbidden = names.filter(|name| !(requester.may_use)(name)).map(Arc::from).collect();
    hidden_parameters::hide(request, report.template.as_deref(), &mut report.environment);
    Recipe {
        id: RecipeId(SystemIds::default().next()),
        template: Source::Text(request.template.text()),
        files: Arc::new(request.files.clone()),
        environment: Arc::new(std::mem::take(&mut report.environment)),
        parameters: Arc::default(),
        aliases: Vec::new(),
        forbidden: Arc::new(forbidden),
        created_by: requester.created_by.clone(),
    }
}

/// Refuses an invalid stack name.
pub(super) fn check_name(name: &str) -> Result<(), RequestError> {
    let mut characters = name.chars();
    let is_good = characters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && characters.all(|it| it.is_ascii_alphanumeric() || "_.-".contains(it))
        && name.len() <= 255;
    match is_good {
        true => Ok(()),
        false => Err(RequestError::new(
            ErrorType::StackValidationFailed,
            format!(
                "Invalid stack name {name} must contain only alphanumeric or \"_-.\" characters, must \
                 start with alpha and must be 255 characters or less."
            ),
        )),
    }
}
