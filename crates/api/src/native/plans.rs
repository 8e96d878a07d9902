//! Plans: what an action would do, kept until it is applied.

use super::show::{members, wrapped};
use super::stack_body::StackBody;
use crate::fault::Fault;
use crate::request::{Request, link, moment};
use crate::response::Response;
use hyper::StatusCode;
use kiln_engine::preview::PlannedAction;
use kiln_engine::store::StackRow;
use kiln_engine::{ErrorType, StoredPlan};
use kiln_template::{Members, Value};
use std::sync::Arc;
use uuid::Uuid;

/// The size of a plan, which may be large.
const UNKNOWN: usize = usize::MAX;

/// Plans the creation of a stack, or a change of the stack that has this name.
pub(crate) async fn create(request: Request) -> Result<Response, Fault> {
    let name = request.part("stack_name").to_owned();
    let requester = request.requester();
    match request.service().identify(&requester, &name).await {
        Ok(stack) => plan_change(&request, &stack).await,
        Err(error) if error.error_type == ErrorType::EntityNotFound => {
            if is_delete(&request)? {
                return Err(error.into());
            }
            let stack_request = StackBody { request: &request }.new_stack().await?;
            let plan = request.service().plan_create(&requester, &name, stack_request).await?;
            shown(&request, StatusCode::CREATED, &plan).await
        }
        Err(error) => Err(error.into()),
    }
}

/// Plans a change of a stack.
pub(crate) async fn change(request: Request) -> Result<Response, Fault> {
    let stack = request.live_stack().await?;
    plan_change(&request, &stack).await
}

async fn plan_change(request: &Request, stack: &StackRow) -> Result<Response, Fault> {
    let (service, requester) = (request.service(), request.requester());
    let plan = match is_delete(request)? {
        true => service.plan_delete(&requester, stack).await?,
        false => {
            let (stack_request, patch) = StackBody { request }.change(false).await?;
            service.plan_update(&requester, stack, stack_request, &patch).await?
        }
    };
    shown(request, StatusCode::CREATED, &plan).await
}

/// Whether the plan is to delete the stack.
fn is_delete(request: &Request) -> Result<bool, Fault> {
    match request.field("action") {
        None => Ok(false),
        Some(Value::Text(action)) if &**action == "delete" => Ok(true),
        Some(Value::Text(action)) if matches!(&**action, "create" | "update") => Ok(false),
        Some(_) => Err(Fault::bad("The action of a plan is create, update or delete")),
    }
}

pub(crate) async fn index(request: Request) -> Result<Response, Fault> {
    let stack = request.live_stack().await?;
    let plans = request.service().plans(&request.requester(), Some(&stack.summary.name)).await?;
    let listed = plans.iter().map(|plan| {
        let mut listed = head(&request, plan);
        let summary = plan.shown.as_map().and_then(|shown| shown.get("summary")).cloned();
        listed.insert("summary".into(), summary.unwrap_or_default());
        Value::Map(Arc::new(listed))
    });
    Ok(Response::ok(&wrapped("plans", Value::list(listed))))
}

pub(crate) async fn show(request: Request) -> Result<Response, Fault> {
    let plan = request.service().plan(&request.requester(), plan_id(&request)?).await?;
    shown(&request, StatusCode::OK, &plan).await
}

pub(crate) async fn delete(request: Request) -> Result<Response, Fault> {
    request.service().drop_plan(&request.requester(), plan_id(&request)?).await?;
    Ok(Response::no_content())
}

/// Applies a plan. The caller needs the right to apply plans and the right to do what this one does.
pub(crate) async fn apply(request: Request) -> Result<Response, Fault> {
    let (service, requester, id) = (request.service(), request.requester(), plan_id(&request)?);
    let plan = service.plan(&requester, id).await?;
    let rule = match plan.action {
        PlannedAction::Create => "stacks:create",
        PlannedAction::Update => "stacks:update",
        PlannedAction::Delete => "stacks:delete",
    };
    if request.app.allows(rule, &request.caller, &request.caller.project_id).is_err() {
        return Err(Fault::general(ErrorType::HttpForbidden));
    }
    let digest = match request.field("digest") {
        None => None,
        Some(Value::Text(digest)) => Some(&**digest),
        Some(_) => return Err(Fault::malformed()),
    };
    let allows_replacement = request.field_flag("allow_replace")?.unwrap_or(false);
    let applied = service.apply_plan(&requester, id, digest, allows_replacement).await?;
    let stack_id = applied.stack.to_string();
    let url = request.url(&request.caller.project_id, &applied.stack_name, &stack_id);
    let stack = members([
        ("id", stack_id.into()),
        ("stack_name", Value::Text(applied.stack_name)),
        ("links", Value::list([link("self", url)])),
    ]);
    Ok(Response::ok(&wrapped("stack", Value::Map(Arc::new(stack)))))
}

fn plan_id(request: &Request) -> Result<Uuid, Fault> {
    let id = request.part("plan_id");
    let unknown =
        || Fault::new(ErrorType::EntityNotFound, format!("The Plan ({id}) could not be found."));
    Uuid::parse_str(id).map_err(|_| unknown())
}

async fn shown(
    request: &Request,
    status: StatusCode,
    plan: &StoredPlan,
) -> Result<Response, Fault> {
    let render = || {
        let mut all = head(request, plan);
        all.extend(plan.shown.as_map().cloned().unwrap_or_default());
        Response::json(status, &wrapped("plan", Value::Map(Arc::new(all))))
    };
    Ok(request.work_on(UNKNOWN, render).await)
}

fn head(request: &Request, plan: &StoredPlan) -> Members {
    let stack_id = plan.stack.to_string();
    let url = request.url(&request.caller.project_id, &plan.stack_name, &stack_id);
    members([
        ("id", plan.id.to_string().into()),
        ("stack_name", Value::Text(plan.stack_name.clone())),
        ("stack_id", stack_id.into()),
        ("links", Value::list([link("stack", url)])),
        ("action", plan.action.name().into()),
        ("created", moment(plan.created)),
        ("expires", moment(plan.expires)),
        ("digest", Value::Text(plan.digest.clone())),
        ("applied", plan.is_applied.into()),
    ])
}
