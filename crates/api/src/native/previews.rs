//! Previews of the creation or update of a stack.

use super::show::{members, output, texts, wrapped};
use super::stack_body::StackBody;
use crate::fault::Fault;
use crate::request::{Request, link, moment};
use crate::response::Response;
use kiln_engine::preview::{Fate, Forecast, Sketch};
use kiln_engine::{Action, StackPreview, StackRequest, State, Status, now};
use kiln_template::{Members, Value};
use std::sync::Arc;

/// The size of a preview, which may be large.
const UNKNOWN: usize = usize::MAX;

pub(crate) async fn create(request: Request) -> Result<Response, Fault> {
    let body = StackBody { request: &request };
    let name = body.name()?;
    let stack_request = body.new_stack().await?;
    let previewed = request.service().preview(&request.requester(), &name, &stack_request).await?;
    let render = || created(&request, &stack_request, &previewed);
    Ok(request.work_on(UNKNOWN, render).await)
}

/// The response with the preview of a new stack.
fn created(request: &Request, stack_request: &StackRequest, previewed: &StackPreview) -> Response {
    let template = &previewed.definition.template;
    let description = template.description.clone().unwrap_or_else(|| "No description".into());
    let settings = &stack_request.settings;
    let timeout = settings.timeout.map(|it| Value::from((it.as_secs() / 60) as i64));
    let tags = settings.tags.iter().flatten().cloned().map(Value::Text);
    let url = request.url(&request.caller.project_id, &previewed.name, "None");
    let shown = members([
        ("id", "None".into()),
        ("links", Value::list([link("self", url)])),
        ("stack_name", Value::Text(previewed.name.clone())),
        ("description", description.clone()),
        ("template_description", description),
        ("creation_time", moment(now())),
        ("updated_time", Value::Null),
        ("deletion_time", Value::Null),
        ("stack_owner", request.caller.user_name.as_str().into()),
        ("parent", Value::Null),
        ("stack_user_project_id", Value::Null),
        ("tags", Value::list(tags)),
        ("parameters", texts(previewed.definition.parameters.display_values())),
        ("outputs", Value::list(previewed.outputs.iter().map(|it| output(request, it)))),
        ("capabilities", Value::list([])),
        ("notification_topics", Value::list([])),
        ("disable_rollback", (!settings.is_rolled_back.unwrap_or(false)).into()),
        ("timeout_mins", timeout.unwrap_or_default()),
        ("resources", nested_lists(request, &previewed.resources)),
    ]);
    Response::ok(&wrapped("stack", Value::Map(Arc::new(shown))))
}

/// The resources of a stack; in place of one that holds a nested stack, those of that stack.
fn nested_lists(request: &Request, forecasts: &[Forecast]) -> Value {
    Value::list(forecasts.iter().map(|forecast| {
        if forecast.is_nested {
            nested_lists(request, &forecast.inside)
        } else {
            let mut shown = element(request, &forecast.resource, None);
            let properties = Value::Map(Arc::new(forecast.resource.properties.clone()));
            shown.insert("properties".into(), properties);
            Value::Map(Arc::new(shown))
        }
    }))
}

pub(crate) async fn update(request: Request) -> Result<Response, Fault> {
    change(request, false).await
}

pub(crate) async fn patch(request: Request) -> Result<Response, Fault> {
    change(request, true).await
}

async fn change(request: Request, is_patch: bool) -> Result<Response, Fault> {
    let with_nested = request.query.flag("show_nested")?.unwrap_or(false);
    let (stack_request, patch) = StackBody { request: &request }.change(is_patch).await?;
    let stack = request.live_stack().await?;
    let service = request.service();
    let forecasts =
        service.preview_update(&request.requester(), &stack, stack_request, &patch).await?;
    let render = || changed(&request, &forecasts, with_nested);
    Ok(request.work_on(UNKNOWN, render).await)
}

/// The response with the preview of a change.
fn changed(request: &Request, forecasts: &[Forecast], with_nested: bool) -> Response {
    const FATES: [(&str, Fate); 5] = [
        ("unchanged", Fate::Unchanged),
        ("updated", Fate::Updated),
        ("replaced", Fate::Replaced),
        ("added", Fate::Added),
        ("deleted", Fate::Deleted),
    ];
    let mut all = Vec::new();
    gather(forecasts, with_nested, &mut all);
    let lists = FATES.map(|(name, fate)| {
        let of_fate = all.iter().filter(|forecast| forecast.fate == fate);
        let shown =
            of_fate.map(|it| Value::Map(Arc::new(element(request, &it.resource, Some(fate)))));
        (name, Value::list(shown))
    });
    Response::ok(&wrapped("resource_changes", Value::map(lists)))
}

fn gather<'f>(forecasts: &'f [Forecast], with_nested: bool, all: &mut Vec<&'f Forecast>) {
    for forecast in forecasts {
        all.push(forecast);
        if with_nested {
            gather(&forecast.inside, with_nested, all);
        }
    }
}

/// A resource in the shape that it has inside the reference: states apart, identities as objects.
fn element(request: &Request, sketch: &Sketch, fate: Option<Fate>) -> Members {
    // Only what changes or goes is shown as it is.
    let is_current = matches!(fate, Some(Fate::Updated | Fate::Deleted));
    let current = sketch.current.as_ref().filter(|_| is_current);
    let state = current.map_or(State::new(Action::Init, Status::Complete), |it| it.state);
    let physical = current.and_then(|it| it.physical_id.clone());
    let required_by = sketch.required_by.iter().cloned().map(Value::Text);
    let stack = sketch.stack.map_or_else(|| "None".to_owned(), |id| id.to_string());
    let identity = |path: String| identity(request, &sketch.stack_name, &stack, path);
    let mut shown = members([
        ("updated_time", current.map(|it| moment(it.updated)).unwrap_or_default()),
        ("creation_time", current.map(|it| moment(it.created)).unwrap_or_default()),
        ("resource_name", Value::Text(sketch.name.clone())),
        ("physical_resource_id", physical.map_or_else(|| "".into(), Value::Text)),
        ("resource_action", state.action.name().into()),
        ("resource_status", state.status.name().into()),
        (
            "resource_status_reason",
            current.map_or_else(|| "".into(), |it| Value::Text(it.reason.clone())),
        ),
        ("resource_type", Value::Text(sketch.type_name.clone())),
        ("resource_identity", identity(format!("/resources/{}", sketch.name))),
        ("stack_identity", identity(String::new())),
        ("stack_name", Value::Text(sketch.stack_name.clone())),
        ("required_by", Value::list(required_by)),
        ("description", Value::Text(sketch.description.clone())),
        ("metadata", sketch.metadata.clone()),
        ("attributes", Value::Map(Arc::new(sketch.attributes.clone()))),
    ]);
    if let Some(parent) = &sketch.parent_resource {
        shown.insert("parent_resource".into(), Value::Text(parent.clone()));
    }
    if let Some((id, name)) = sketch.current.as_ref().and_then(|it| it.nested.as_ref()) {
        let nested = self::identity(request, name, &id.to_string(), String::new());
        shown.insert("nested_stack_id".into(), nested);
    }
    shown
}

fn identity(request: &Request, name: &str, id: &str, path: String) -> Value {
    Value::map([
        ("tenant", Value::from(request.caller.project_id.as_str())),
        ("stack_name", name.into()),
        ("stack_id", id.into()),
        ("path", path.into()),
    ])
}
