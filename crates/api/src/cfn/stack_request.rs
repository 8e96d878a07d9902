//! The stack that a request describes.

use crate::aws::{AwsFault, Code, Params};
use crate::request::Request;
use kiln_engine::{StackRequest, StackSettings, TemplateSource};
use kiln_template::parameters::SuppliedValues;
use kiln_template::{Diagnostic, Limits, Sources, Value, read};
use std::sync::Arc;
use std::time::Duration;

/// The stack that a request wants.
pub(super) async fn stack_request(
    request: &Request,
    params: &Params,
) -> Result<StackRequest, AwsFault> {
    // Parameters are checked first, because fetching a template costs more.
    let (settings, parameters) = (settings(params)?, parameters(params)?);
    let template = TemplateSource::Text(template(request, params).await?);
    Ok(StackRequest { template, parameters, settings, ..StackRequest::default() })
}

/// The template in a request, or at the URL that it names.
pub(super) async fn template(request: &Request, params: &Params) -> Result<Arc<str>, AwsFault> {
    // AWS writes the name in another way than the reference.
    let url = params.get("TemplateUrl").or_else(|| params.get("TemplateURL"));
    let text: Arc<str> = match (params.get("TemplateBody"), url) {
        (Some(text), _) => text.into(),
        (None, Some(url)) => {
            let failed = |why| AwsFault::bad(format!("Failed to fetch template: {why}"));
            request.app.fetch(url).await.map_err(failed)?
        }
        (None, None) => {
            return Err(AwsFault::missing("TemplateBody or TemplateUrl were not given."));
        }
    };
    match text.len() > request.service().rules().max_template_bytes || is_document(&text) {
        // The service refuses a template that is too long.
        true => Ok(text),
        false => Err(AwsFault::bad("The Template must be a JSON or YAML document.")),
    }
}

fn is_document(text: &str) -> bool {
    let file = Sources::new().add("template", text);
    let (node, found) =
        read::read(file, text, &Limits { max_bytes: usize::MAX, ..Limits::default() });
    node.is_some() && !found.iter().any(Diagnostic::is_error)
}

/// Values for parameters; a pair of which one half is missing does not count.
pub(super) fn parameters(params: &Params) -> Result<SuppliedValues, AwsFault> {
    let pairs = params.members("Parameters")?;
    let pairs = pairs.iter().filter_map(|pair| {
        let (key, value) = (pair.get("ParameterKey")?, pair.get_raw("ParameterValue")?);
        Some((Arc::from(key), Value::from(value).into()))
    });
    Ok(pairs.collect())
}

fn settings(params: &Params) -> Result<StackSettings, AwsFault> {
    let timeout = match params.get("TimeoutInMinutes") {
        None => None,
        Some(text) => Some(
            text.trim()
                .parse::<u64>()
                .map_err(|_| AwsFault::bad("Only integer is acceptable by 'TimeoutInMinutes'."))?,
        ),
    };
    let timeout = timeout.filter(|minutes| *minutes > 0);
    Ok(StackSettings {
        timeout: timeout.map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
        is_rolled_back: is_rolled_back(params)?,
        ..StackSettings::default()
    })
}

/// Whether a failure is rolled back, if the request says so.
fn is_rolled_back(params: &Params) -> Result<Option<bool>, AwsFault> {
    let is_disabled = match params.get("DisableRollback") {
        None => None,
        Some(word) if word.eq_ignore_ascii_case("true") => Some(true),
        Some(word) if word.eq_ignore_ascii_case("false") => Some(false),
        Some(word) => {
            return Err(AwsFault::bad(format!(
                "Unrecognized value \"{word}\" for \"DisableRollback\", acceptable values are: true, false."
            )));
        }
    };
    match (is_disabled, params.get("OnFailure")) {
        (Some(_), Some(_)) => Err(AwsFault::new(
            Code::InvalidParameterCombination,
            "DisableRollback and OnFailure may not be used together",
        )),
        (is_disabled, None) => Ok(is_disabled.map(|it| !it)),
        (None, Some("DO_NOTHING")) => Ok(Some(false)),
        (None, Some("ROLLBACK" | "DELETE")) => Ok(Some(true)),
        (None, Some(word)) => Err(AwsFault::bad(format!(
            "Unrecognized value \"{word}\" for \"OnFailure\", acceptable values are: DO_NOTHING, \
             ROLLBACK, DELETE."
        ))),
    }
}
