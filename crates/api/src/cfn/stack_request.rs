//! The stack that a request describes.

use crate::aws::{AwsFault, Code, Params};
use crate::request::Request;
use kiln_engine::store::StackRow;
use kiln_engine::{Patch, StackRequest, StackSettings, StackView, TemplateSource, TreePart};
use kiln_template::parameters::SuppliedValues;
use kiln_template::{Diagnostic, Limits, Sources, Value, read};
use std::sync::Arc;
use std::time::Duration;

/// The stack that a request wants, and what it keeps of the stack that there is.
pub(super) struct StackInput {
    pub(super) request: StackRequest,
    /// The parameters that keep their values.
    kept: Vec<Arc<str>>,
}

/// The stack that a request wants.
pub(super) async fn stack_input(
    request: &Request,
    params: &Params,
) -> Result<StackInput, AwsFault> {
    // Parameters are checked first, because fetching a template costs more.
    let (settings, (parameters, kept)) = (settings(params)?, parameters(params)?);
    let template = match flag(params, "UsePreviousTemplate")? {
        Some(true) => TemplateSource::Missing,
        _ => TemplateSource::Text(template(request, params).await?),
    };
    let stack_request = StackRequest { template, parameters, settings, ..StackRequest::default() };
    Ok(StackInput { request: stack_request, kept })
}

/// The stack that a request wants, which keeps nothing of another.
pub(super) async fn new_stack(
    request: &Request,
    params: &Params,
) -> Result<StackRequest, AwsFault> {
    let input = stack_input(request, params).await?;
    match input.request.template {
        TemplateSource::Missing => {
            Err(AwsFault::missing("TemplateBody or TemplateUrl were not given."))
        }
        _ => Ok(input.request),
    }
}

/// What an update keeps of a stack.
pub(super) async fn patch(
    request: &Request,
    stack: &StackRow,
    input: &StackInput,
) -> Result<Patch, AwsFault> {
    let has_template = !matches!(input.request.template, TemplateSource::Missing);
    if has_template && input.kept.is_empty() {
        return Ok(Patch::default());
    }
    let names = |_: &StackRow, seen: &StackView<'_>| Ok(seen.parameters());
    let current = request.read_stack(stack, TreePart::Stack, names).await?;
    let is_named =
        |name: &Arc<str>| input.kept.contains(name) || input.request.parameters.contains_key(name);
    let cleared = current.into_keys().filter(|name| !is_named(name)).collect();
    Ok(Patch { is_partial: true, cleared })
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

/// Values for parameters, and the parameters that keep their values; a pair of which one half is missing does not count.
pub(super) fn parameters(params: &Params) -> Result<(SuppliedValues, Vec<Arc<str>>), AwsFault> {
    let (mut values, mut kept) = (SuppliedValues::new(), Vec::new());
    for pair in params.members("Parameters")? {
        let Some(key) = pair.get("ParameterKey") else { continue };
        if flag(&pair, "UsePreviousValue")? == Some(true) {
            kept.push(Arc::from(key));
        } else if let Some(value) = pair.get_raw("ParameterValue") {
            values.insert(Arc::from(key), Value::from(value).into());
        }
    }
    Ok((values, kept))
}

/// A parameter that is true or false.
fn flag(params: &Params, name: &str) -> Result<Option<bool>, AwsFault> {
    match params.get(name) {
        None => Ok(None),
        Some(word) if word.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(word) if word.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(word) => Err(AwsFault::bad(format!(
            "Unrecognized value \"{word}\" for \"{name}\", acceptable values are: true, false."
        ))),
    }
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
pub(super) fn is_rolled_back(params: &Params) -> Result<Option<bool>, AwsFault> {
    let is_disabled = flag(params, "DisableRollback")?;
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
