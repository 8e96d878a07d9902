//! The stack that a request describes.

use crate::fault::Fault;
use crate::query::count;
use crate::request::Request;
use kiln_engine::{ErrorType, Patch, StackRequest, StackSettings, TemplateSource};
use kiln_template::environment::Environment;
use kiln_template::parameters::SuppliedValues;
use kiln_template::{Diagnostic, Files, Limits, Sources, Value, print};
use std::sync::Arc;
use std::time::Duration;

/// The longest tag.
const MAX_TAG: usize = 80;

/// The body of a request that makes or changes a stack.
pub(crate) struct StackBody<'a> {
    pub(crate) request: &'a Request,
}

impl StackBody<'_> {
    /// The name of the stack.
    pub(crate) fn name(&self) -> Result<String, Fault> {
        self.request.object()?;
        match self.request.field("stack_name") {
            None => Err(Fault::bad("No stack name specified")),
            Some(Value::Text(name)) if name.is_empty() => {
                Err(Fault::bad("No stack name specified"))
            }
            Some(Value::Text(name)) => Ok(name.to_string()),
            Some(other) => {
                let name = print::plain(other);
                let message = format!("Invalid stack name {name}, must be a string");
                Err(Fault::new(ErrorType::StackValidationFailed, message))
            }
        }
    }

    /// A stack that does not exist yet.
    pub(crate) async fn new_stack(&self) -> Result<StackRequest, Fault> {
        if self.request.field_flag("converge")?.is_some() {
            let message =
                "converge flag only supported in stack update (or update preview) request.";
            return Err(Fault::bad(message));
        }
        let mut stack_request = self.stack_request().await?;
        if matches!(stack_request.template, TemplateSource::Missing) {
            return Err(Fault::bad("No template specified"));
        }
        stack_request.settings.is_rolled_back.get_or_insert(false);
        Ok(stack_request)
    }

    /// A stack whose template comes from elsewhere.
    pub(crate) async fn without_template(&self) -> Result<StackRequest, Fault> {
        let mut stack_request = self.all_but_template().await?;
        stack_request.settings.is_rolled_back.get_or_insert(false);
        Ok(stack_request)
    }

    /// A stack that is only validated.
    pub(crate) async fn to_validate(&self) -> Result<StackRequest, Fault> {
        let stack_request = self.stack_request().await?;
        match stack_request.template {
            TemplateSource::Missing => Err(Fault::bad("No template specified")),
            _ => Ok(stack_request),
        }
    }

    /// A change of a stack.
    pub(crate) async fn change(&self, is_patch: bool) -> Result<(StackRequest, Patch), Fault> {
        let mut stack_request = self.stack_request().await?;
        stack_request.converge = self.request.field_flag("converge")?.unwrap_or(false);
        let is_partial = is_patch || self.request.field_flag("existing")?.unwrap_or(false);
        if matches!(stack_request.template, TemplateSource::Missing) && !is_partial {
            return Err(Fault::bad("No template specified"));
        }
        let cleared = match self.request.field("clear_parameters") {
            None => Vec::new(),
            Some(Value::List(names)) => names.iter().filter_map(Value::as_text).cloned().collect(),
            Some(_) => return Err(Fault::malformed()),
        };
        Ok((stack_request, Patch { is_partial, cleared }))
    }

    async fn stack_request(&self) -> Result<StackRequest, Fault> {
        self.request.object()?;
        let template = self.template().await?;
        Ok(StackRequest { template, ..self.all_but_template().await? })
    }

    async fn all_but_template(&self) -> Result<StackRequest, Fault> {
        let files = self.all_files().await?;
        let environment_files = match self.request.field("environment_files") {
            None => Vec::new(),
            Some(Value::List(names)) => names.iter().filter_map(Value::as_text).cloned().collect(),
            Some(_) => return Err(Fault::malformed()),
        };
        let environment =
            if environment_files.is_empty() { self.environment()? } else { Environment::default() };
        Ok(StackRequest {
            template: TemplateSource::Missing,
            environment,
            environment_files,
            parameters: self.parameters()?,
            files,
            settings: self.settings()?,
            converge: false,
            makers: 0,
        })
    }

    async fn template(&self) -> Result<TemplateSource, Fault> {
        match self.request.field("template") {
            Some(Value::Text(text)) if text.is_empty() => Ok(TemplateSource::Missing),
            Some(Value::Text(text)) => Ok(TemplateSource::Text(text.clone())),
            Some(object @ Value::Map(_)) => Ok(TemplateSource::Object(object.clone())),
            Some(_) => Err(Fault::bad(
                "Template not in valid format: The template is not a JSON object or YAML mapping.",
            )),
            None => match self.request.field("template_url") {
                Some(Value::Text(url)) => {
                    let bad = |why| Fault::bad(format!("Could not retrieve template: {why}"));
                    self.request.app.fetch(url).await.map(TemplateSource::Text).map_err(bad)
                }
                _ => Ok(TemplateSource::Missing),
            },
        }
    }

    fn environment(&self) -> Result<Environment, Fault> {
        let (environment, found) = match self.request.field("environment") {
            None => return Ok(Environment::default()),
            Some(Value::Text(text)) => {
                let file = Sources::new().add("environment", text.clone());
                let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
                Environment::read(file, text, &limits)
            }
            Some(object) => Environment::from_value(object),
        };
        match found.iter().find(|found| Diagnostic::is_error(found)) {
            Some(found) => Err(Fault::new(found.into(), found.wire_text())),
            None => Ok(environment),
        }
    }

    fn parameters(&self) -> Result<SuppliedValues, Fault> {
        let Some(parameters) = self.request.body.as_deref().and_then(|body| body.get("parameters"))
        else {
            return Ok(SuppliedValues::new());
        };
        let parameters = parameters.as_map().ok_or_else(Fault::malformed)?;
        Ok(parameters.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect())
    }

    /// The files of the request, and those of the container that it names.
    async fn all_files(&self) -> Result<Files, Fault> {
        let files = self.files()?;
        match self.request.field("files_container") {
            None => Ok(files),
            Some(Value::Text(name)) if name.is_empty() => Ok(files),
            Some(Value::Text(name)) => {
                let limit = self.request.app.options.max_body_bytes;
                let service = self.request.service();
                Ok(service.with_container(&self.request.requester(), files, name, limit).await?)
            }
            Some(_) => Err(Fault::malformed()),
        }
    }

    fn files(&self) -> Result<Files, Fault> {
        let Some(files) = self.request.field("files") else { return Ok(Files::new()) };
        let files = files.as_map().ok_or_else(|| Fault::bare(ErrorType::ValueError))?;
        let text = |value: &Value| match value {
            Value::Text(text) => text.clone(),
            other => print::json(other, print::Keys::Ordered).into(),
        };
        Ok(files.iter().map(|(name, value)| (name.clone(), text(value))).collect())
    }

    fn settings(&self) -> Result<StackSettings, Fault> {
        let timeout = self.request.field("timeout_mins").map(|it| count("timeout_mins", it));
        let timeout = timeout.transpose()?.filter(|minutes| *minutes > 0);
        let is_rolled_back = match self.request.field("disable_rollback") {
            None => None,
            Some(value) => match crate::query::flag("disable_rollback", value) {
                Ok(is_disabled) => Some(!is_disabled),
                Err(_) => return Err(Fault::bare(ErrorType::ValueError)),
            },
        };
        Ok(StackSettings {
            tags: self.tags()?,
            timeout: timeout.map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
            is_rolled_back,
            ..StackSettings::default()
        })
    }

    fn tags(&self) -> Result<Option<Vec<Arc<str>>>, Fault> {
        let Some(tags) = self.request.field("tags") else { return Ok(None) };
        let Value::Text(tags) = tags else { return Err(Fault::bare(ErrorType::AttributeError)) };
        let tags: Vec<Arc<str>> = tags.split(',').map(Arc::from).collect();
        match tags.iter().find(|tag| tag.chars().count() > MAX_TAG) {
            None => Ok(Some(tags)),
            Some(tag) => Err(Fault::bad(format!(
                "Invalid tag, \"{tag}\" is longer than {MAX_TAG} characters"
            ))),
        }
    }
}

/// The data of the stack to adopt, as text.
pub(crate) fn adopt_data(request: &Request) -> Result<Option<Arc<str>>, Fault> {
    match request.field("adopt_stack_data") {
        None => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Fault::malformed()),
    }
}
