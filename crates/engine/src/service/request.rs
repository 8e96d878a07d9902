//! Requests to create or update a stack, and their validation.

use super::availability::{AvailableTypes, Extensions};
use super::cloud_constraints::{self, CloudAnswers, CloudConstraints};
use super::hidden_parameters;
use super::{RequestError, Requester, Service};
use crate::blueprint::{Recipe, Source, forbidden_type};
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
use std::collections::{BTreeMap, BTreeSet};
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
    /// How many stacks make the new one, one through the other: none if a user does.
    pub makers: u64,
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

/// What is known beside the request itself.
#[derive(Default)]
pub(super) struct Answers {
    /// The cloud's answers to constraints.
    verdicts: CloudAnswers,
    /// The extensions of the network service.
    extensions: Option<Extensions>,
    /// The templates that were fetched, by URL.
    pub(super) fetched: Files,
    /// Why other templates were not fetched, by URL.
    pub(super) unfetched: BTreeMap<Arc<str>, Arc<str>>,
}

/// What a validation has to know beside the request.
pub(super) struct OpenQuestions {
    /// Constraints that the cloud has to check.
    constraints: BTreeSet<(String, Arc<str>)>,
    /// Whether the extensions of the network service are needed.
    extensions: bool,
    /// URLs of templates.
    templates: BTreeSet<Arc<str>>,
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
        // The answers may lead to further questions, and a template that was fetched to further templates.
        const ROUNDS: usize = 8;
        let mut answers = Answers::default();
        for _ in 0..ROUNDS {
            let validate = || self.validate_once(requester, subject, request, checks, &answers);
            let (validated, open) = self.work(&requester.project, validate).await?;
            if !self.answer(requester, open, &mut answers).await {
                return Ok(validated);
            }
        }
        let validate = || self.validate_once(requester, subject, request, checks, &answers).0;
        self.work(&requester.project, validate).await
    }

    /// Answers the open questions of a validation; returns whether there are new answers.
    async fn answer(
        &self,
        requester: &Requester,
        open: OpenQuestions,
        answers: &mut Answers,
    ) -> bool {
        let mut is_new = self.fetch_templates(open.templates, answers).await;
        if open.extensions && answers.extensions.is_none() {
            answers.extensions = self.network_extensions(requester).await;
            is_new |= answers.extensions.is_some();
        }
        if !open.constraints.is_empty() && self.transport.has_cloud() {
            let by = requester.user_token.credential();
            let verdicts = cloud_constraints::ask(&self.transport, &by, open.constraints).await;
            is_new |= !verdicts.is_empty();
            answers.verdicts.extend(verdicts);
        }
        is_new
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
    pub(super) async fn work<T: Send>(
        &self,
        project: &Arc<str>,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, RequestError> {
        self.workers.run(project, work).await.map_err(|TooMuchWork| RequestError::too_much_work())
    }

    /// Validates a request; returns the questions for the cloud that are open.
    pub(super) fn validate_once(
        &self,
        requester: &Requester,
        subject: &Subject<'_>,
        request: &StackRequest,
        checks: Checks,
        answers: &Answers,
    ) -> (ValidatedRequest, OpenQuestions) {
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
        input.global = self.config.global.get();
        let mut files = request.files.clone();
        files.extend(answers.fetched.iter().map(|(url, text)| (url.clone(), text.clone())));
        input.files = Arc::new(files);
        input.unfetched = answers.unfetched.clone();
        input.stack_name = subject.name.into();
        input.stack_id = subject.id.map(|id| id.to_string().into());
        input.project_id = subject.project.clone();
        let custom = CloudConstraints::new(&answers.verdicts);
        let types = match self.transport.has_cloud() {
            true => AvailableTypes::new(self.config.types, requester, answers.extensions.clone()),
            // Without a cloud, templates are checked for one that has everything.
            false => AvailableTypes::all(self.config.types),
        };
        let limits = Limits { max_bytes: self.rules.max_template_bytes, ..Limits::default() };
        let context = Context {
            limits,
            max_depth: self.config.max_depth,
            max_resources: self.config.max_resources,
            query_limits: self.config.query_limits,
            timeout: Some(request.settings.timeout.unwrap_or(self.config.action_timeout)),
            ..Context::new(&types, &custom, checks)
        };
        let report = validate(&context, &mut sources, input);
        let open = OpenQuestions {
            templates: report.missing_templates.clone(),
            extensions: types.needs_extensions(),
            constraints: custom.into_open(),
        };
        (ValidatedRequest { report, sources }, open)
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
        RequestError::new(ErrorType::Forbidden, forbidden_type(kind))
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
        // With the templates that were fetched: later operations on the stack use the same texts.
        files: match &report.definition {
            Some(definition) => definition.files.clone(),
            None => Arc::new(request.files.clone()),
        },
        environment: Arc::new(std::mem::take(&mut report.environment)),
        parameters: Arc::default(),
        aliases: Vec::new(),
        forbidden: Arc::new(forbidden),
        contract: None,
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
