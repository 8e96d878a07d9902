//! Software configurations and deployments.

use super::resources::tagged;
use super::show::{members, wrapped};
use crate::fault::Fault;
use crate::long_poll;
use crate::request::{Request, moment};
use crate::response::Response;
use futures_util::stream::{self, Stream, StreamExt};
use kiln_engine::{ErrorType, ObjectRow, RequestError, Requester, SoftwareObject};
use kiln_template::{Members, Secret, Value};
use std::sync::Arc;
use uuid::Uuid;

pub(crate) fn config(stored: &SoftwareObject) -> Value {
    let part = |name: &str| stored.get(name);
    Value::Map(Arc::new(members([
        ("id", stored.row.id.to_string().into()),
        ("name", part("name")),
        ("group", part("group")),
        ("creation_time", moment(stored.row.created)),
        ("config", part("config")),
        ("inputs", part("inputs")),
        ("outputs", part("outputs")),
        ("options", part("options")),
    ])))
}

/// The inputs by which a server proves who it is when it reports the result of a deployment.
const CREDENTIALS: [&str; 2] = ["deploy_password", "deploy_signal_id"];

/// A configuration as a caller may see it: those who may only read see no credentials in it.
fn visible_config(request: &Request, stored: &SoftwareObject) -> Value {
    let mut shown = config(stored);
    if request.may_have_credentials() {
        return shown;
    }
    if let Value::Map(members) = &mut shown
        && let Some(Value::List(inputs)) = Arc::make_mut(members).get_mut("inputs")
    {
        *inputs = Arc::new(inputs.iter().map(without_credential).collect());
    }
    shown
}

/// A configuration for the server that applies it, which needs the hidden values.
pub(crate) fn applied_config(request: &Request, stored: &SoftwareObject) -> Value {
    let shown = visible_config(request, stored);
    if request.may_have_credentials() { shown.exposed() } else { shown }
}

/// An input, with its value hidden if it is a credential.
fn without_credential(input: &Value) -> Value {
    let mut input = input.clone();
    if let Value::Map(members) = &mut input
        && let Some(name) = members.get("name").and_then(Value::as_text)
        && CREDENTIALS.contains(&&**name)
        && let Some(value) = Arc::make_mut(members).get_mut("value")
    {
        *value = Value::Secret(Secret::new(std::mem::take(value)));
    }
    input
}

pub(crate) async fn list_configs(request: Request) -> Result<Response, Fault> {
    let is_global = request.query.flag("global_tenant")?.unwrap_or(false);
    if is_global {
        request.app.allow(
            "software_configs:global_index",
            &request.caller,
            &request.caller.project_id,
        )?;
    }
    let marker = request.query.get("marker").and_then(|id| Uuid::parse_str(id).ok());
    let limit = request.query.count("limit")?;
    let mut requester = request.requester();
    requester.is_admin |= is_global;
    let rows = request.service().configs(&requester, marker, limit).await?;
    let is_admin = request.is_admin;
    let shown = move |stored: SoftwareObject| {
        let mut shown = members([
            ("id", Value::from(stored.row.id.to_string())),
            ("name", stored.get("name")),
            ("group", stored.get("group")),
            ("creation_time", moment(stored.row.created)),
        ]);
        if is_admin {
            shown.insert("project".into(), Value::Text(stored.row.project.clone()));
        }
        Value::Map(Arc::new(shown))
    };
    let rows = objects(&request, requester, rows, shown);
    Response::list(request.share(), "software_configs", rows, Members::new()).await
}

pub(crate) async fn create_config(request: Request) -> Result<Response, Fault> {
    let stored = request.service().create_config(&request.requester(), request.object()?).await?;
    Ok(Response::ok(&wrapped("software_config", config(&stored))))
}

pub(crate) async fn show_config(request: Request) -> Result<Response, Fault> {
    let stored =
        request.service().config_by_id(&request.requester(), request.part("config_id")).await?;
    Ok(Response::ok(&wrapped("software_config", visible_config(&request, &stored))))
}

pub(crate) async fn delete_config(request: Request) -> Result<Response, Fault> {
    request.service().delete_config(&request.requester(), request.part("config_id")).await?;
    Ok(Response::no_content())
}

fn deployment(stored: &SoftwareObject) -> Value {
    let config = stored.row.uses.map(|id| Value::from(id.to_string()));
    let mut shown = members([
        ("id", stored.row.id.to_string().into()),
        ("server_id", Value::Text(stored.row.subject.clone())),
        ("config_id", config.unwrap_or_default()),
        ("input_values", stored.get("input_values")),
        ("output_values", stored.get("output_values")),
        ("action", stored.get("action")),
        ("status", stored.get("status")),
        ("status_reason", stored.get("status_reason")),
        ("creation_time", moment(stored.row.created)),
    ]);
    if let Some(updated) = stored.row.updated {
        shown.insert("updated_time".into(), moment(updated));
    }
    Value::Map(Arc::new(shown))
}

pub(crate) async fn list_deployments(request: Request) -> Result<Response, Fault> {
    let requester = request.requester();
    let server = request.query.get("server_id");
    let rows = request.service().deployment_rows(&requester, server).await?;
    let rows = objects(&request, requester, rows, |stored| deployment(&stored));
    Response::list(request.share(), "software_deployments", rows, Members::new()).await
}

/// How many configurations or deployments are read at once.
const AT_ONCE: usize = 16;

/// The objects of rows as they are shown, a few of them at a time.
fn objects(
    request: &Request,
    requester: Requester,
    rows: Vec<ObjectRow>,
    shown: impl Fn(SoftwareObject) -> Value + Clone + Send + 'static,
) -> impl Stream<Item = Result<Value, Fault>> + Send + 'static {
    let service = request.service().clone();
    stream::unfold(rows.into_iter(), move |mut rows| {
        let (service, requester, shown) = (service.clone(), requester.clone(), shown.clone());
        async move {
            let page: Vec<ObjectRow> = rows.by_ref().take(AT_ONCE).collect();
            if page.is_empty() {
                return None;
            }
            let read = service.software_objects(&requester, &page).await;
            let page: Vec<Result<Value, Fault>> = match read {
                Ok(objects) => objects.into_iter().map(|it| Ok(shown(it))).collect(),
                Err(error) => vec![Err(error.into())],
            };
            Some((stream::iter(page), rows))
        }
    })
    .flatten()
}

pub(crate) async fn create_deployment(request: Request) -> Result<Response, Fault> {
    let stored =
        request.service().create_deployment(&request.requester(), request.object()?).await?;
    Ok(Response::ok(&wrapped("software_deployment", deployment(&stored))))
}

pub(crate) async fn show_deployment(request: Request) -> Result<Response, Fault> {
    let stored =
        request.service().deployment(&request.requester(), request.part("deployment_id")).await?;
    Ok(Response::ok(&wrapped("software_deployment", deployment(&stored))))
}

pub(crate) async fn update_deployment(request: Request) -> Result<Response, Fault> {
    let id = request.part("deployment_id");
    let stored =
        request.service().update_deployment(&request.requester(), id, request.object()?).await?;
    Ok(Response::ok(&wrapped("software_deployment", deployment(&stored))))
}

pub(crate) async fn delete_deployment(request: Request) -> Result<Response, Fault> {
    request
        .service()
        .delete_deployment(&request.requester(), request.part("deployment_id"))
        .await?;
    Ok(Response::no_content())
}

pub(crate) async fn metadata(request: Request) -> Result<Response, Fault> {
    let seconds = request.query.count("wait")?;
    let server = request.part("server_id");
    let (requester, user) = (request.requester(), &request.caller.user_id);
    if request.app.options.is_guest(&request.caller)
        && !request.service().is_user_of_server(&requester, user, server).await?
    {
        let message = "You are not authorized to use this action.";
        return Err(RequestError::new(ErrorType::Forbidden, message).into());
    }
    let read = || async {
        let configs = request.service().server_configs(&requester, server).await?;
        let configs = configs.iter().map(|stored| applied_config(&request, stored));
        Ok((Some(server.into()), Value::list(configs)))
    };
    let metadata = long_poll::wait_for_change(
        &request,
        (None, server),
        request.known.as_deref(),
        seconds,
        read,
    )
    .await?;
    Ok(tagged(&request, &metadata))
}
