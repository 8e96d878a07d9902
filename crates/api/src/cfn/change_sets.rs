//! Change sets: creates and updates that are looked at before they are executed.

use super::names::{arn_of, live_stack};
use super::stack_request::{is_rolled_back, patch, stack_input};
use crate::aws::{AwsFault, Code, Params};
use crate::native::show::{members, wrapped};
use crate::request::{Request, moment};
use kiln_engine::{Change, ChangeKind, ChangeSet, ChangeSetState, NewChangeSet, Patch};
use kiln_template::Value;
use std::sync::Arc;
use uuid::Uuid;

/// The part of an ARN before the name of a change set.
const CHANGE_SETS: &str = ":changeSets/";

pub(super) async fn create(request: Request, params: Params) -> Result<Value, AwsFault> {
    let (stack_name, name) = (params.need("StackName")?, params.need("ChangeSetName")?);
    let creates = match params.get("ChangeSetType") {
        Some("CREATE") => true,
        Some("UPDATE") | None => false,
        Some(word) => {
            return Err(AwsFault::bad(format!(
                "Unrecognized value \"{word}\" for \"ChangeSetType\", acceptable values are: CREATE, UPDATE."
            )));
        }
    };
    let input = stack_input(&request, &params).await?;
    let requester = request.requester();
    let new = |request, patch| NewChangeSet {
        name: name.into(),
        description: params.get("Description").map(Into::into),
        request,
        patch,
    };
    let made = if creates {
        let new = new(input.request, Patch::default());
        request.service().add_create_change_set(&requester, stack_name, new).await?
    } else {
        let stack = live_stack(&request, &params).await.map_err(|_| no_stack(stack_name))?;
        let patch = patch(&request, &stack, &input).await?;
        let new = new(input.request, patch);
        request.service().add_update_change_set(&requester, &stack, new).await?
    };
    Ok(Value::map([("Id", arn(&request, &made)), ("StackId", stack_arn(&request, &made))]))
}

pub(super) async fn describe(request: Request, params: Params) -> Result<Value, AwsFault> {
    let found = named(&request, &params).await?;
    let mut shown = members(summary(&request, &found));
    let parameters = found.parameters.iter().map(|name| {
        // Values are those of the stack once the change set is executed; hidden ones are not shown before.
        Value::map([("ParameterKey", Value::Text(name.clone())), ("ParameterValue", "****".into())])
    });
    shown.insert("Parameters".into(), Value::list(parameters));
    shown.insert("Changes".into(), Value::list(found.changes.iter().map(change)));
    Ok(Value::Map(Arc::new(shown)))
}

pub(super) async fn list(request: Request, params: Params) -> Result<Value, AwsFault> {
    let name = params.need("StackName")?;
    let name = super::names::Named::read(name).map_or(name, |named| named.stack);
    let found = request.service().change_sets(&request.requester(), name).await?;
    if found.is_empty() && live_stack(&request, &params).await.is_err() {
        return Err(no_stack(name));
    }
    let shown = found.iter().map(|it| Value::Map(Arc::new(members(summary(&request, it)))));
    Ok(wrapped("Summaries", Value::list(shown)))
}

pub(super) async fn execute(request: Request, params: Params) -> Result<Value, AwsFault> {
    let found = named(&request, &params).await?;
    if found.state != ChangeSetState::Available {
        let (status, execution, _) = status(&found.state);
        let message = format!(
            "ChangeSet [{}] cannot be executed in its current status of [{status}], execution status {execution}",
            found.name
        );
        return Err(AwsFault::new(Code::InvalidChangeSetStatus, message));
    }
    let is_rolled_back = is_rolled_back(&params)?;
    let requester = request.requester();
    request.service().execute_change_set(&requester, found.id, is_rolled_back).await?;
    Ok("".into())
}

pub(super) async fn delete(request: Request, params: Params) -> Result<Value, AwsFault> {
    match named(&request, &params).await {
        Ok(found) => request.service().delete_change_set(found.id).await?,
        // What is not there needs no deletion.
        Err(fault) if fault.code == Code::ChangeSetNotFound => {}
        Err(fault) => return Err(fault),
    }
    Ok("".into())
}

/// The change set that a request names: by its ARN, or by its name and its stack.
async fn named(request: &Request, params: &Params) -> Result<ChangeSet, AwsFault> {
    let name = params.need("ChangeSetName")?;
    let missing =
        || AwsFault::new(Code::ChangeSetNotFound, format!("ChangeSet [{name}] does not exist"));
    let requester = request.requester();
    if let Some((_, rest)) = name.split_once(CHANGE_SETS) {
        let id = rest.rsplit('/').next().and_then(|id| Uuid::parse_str(id).ok());
        let found = request.service().change_set(&requester, id.ok_or_else(missing)?).await?;
        return found.ok_or_else(missing);
    }
    let stack = params.need("StackName")?;
    let stack = super::names::Named::read(stack).map_or(stack, |named| named.stack);
    let found = request.service().change_sets(&requester, stack).await?;
    found.into_iter().find(|it| *it.name == *name).ok_or_else(missing)
}

/// The fault for a stack that does not exist.
pub(super) fn no_stack(name: &str) -> AwsFault {
    AwsFault::new(Code::ValidationError, format!("Stack with id {name} does not exist"))
}

/// A stack that is to be created by a change set, as the stacks that exist are shown.
pub(super) fn reviewed_stack(request: &Request, found: &ChangeSet) -> Value {
    Value::map([
        ("CreationTime", moment(found.created)),
        ("StackId", stack_arn(request, found)),
        ("StackName", Value::Text(found.stack_name.clone())),
        ("StackStatus", "REVIEW_IN_PROGRESS".into()),
        ("StackStatusReason", "User Initiated".into()),
        ("DisableRollback", false.into()),
        ("Capabilities", Value::list([])),
        ("NotificationARNs", Value::list([])),
        ("Parameters", Value::list([])),
        ("Outputs", Value::list([])),
    ])
}

fn arn(request: &Request, found: &ChangeSet) -> Value {
    let project = &request.caller.project_id;
    format!("arn:openstack:heat::{project}{CHANGE_SETS}{}/{}", found.name, found.id).into()
}

fn stack_arn(request: &Request, found: &ChangeSet) -> Value {
    arn_of(&request.caller.project_id, &found.stack_name, &found.stack.to_string()).into()
}

/// The status, the execution status, and the reason of the status.
fn status(state: &ChangeSetState) -> (&'static str, &'static str, Option<&Arc<str>>) {
    match state {
        ChangeSetState::Available => ("CREATE_COMPLETE", "AVAILABLE", None),
        ChangeSetState::Executed => ("CREATE_COMPLETE", "EXECUTE_COMPLETE", None),
        ChangeSetState::Obsolete => ("CREATE_COMPLETE", "OBSOLETE", None),
        ChangeSetState::Failed(why) => ("FAILED", "UNAVAILABLE", Some(why)),
    }
}

fn summary(request: &Request, found: &ChangeSet) -> [(&'static str, Value); 9] {
    let (status, execution, reason) = status(&found.state);
    [
        ("ChangeSetId", arn(request, found)),
        ("ChangeSetName", Value::Text(found.name.clone())),
        ("StackId", stack_arn(request, found)),
        ("StackName", Value::Text(found.stack_name.clone())),
        ("Description", found.description.clone().map(Value::Text).unwrap_or_default()),
        ("CreationTime", moment(found.created)),
        ("Status", status.into()),
        ("StatusReason", reason.cloned().map(Value::Text).unwrap_or_default()),
        ("ExecutionStatus", execution.into()),
    ]
}

fn change(change: &Change) -> Value {
    let (action, replacement) = match change.kind {
        ChangeKind::Add => ("Add", None),
        ChangeKind::Update => ("Modify", Some("False")),
        ChangeKind::Replace => ("Modify", Some("True")),
        ChangeKind::Remove => ("Remove", None),
    };
    let mut shown = members([
        ("Action", action.into()),
        ("LogicalResourceId", Value::Text(change.resource.clone())),
        ("ResourceType", Value::Text(change.type_name.clone())),
        ("Scope", Value::list([])),
        ("Details", Value::list([])),
    ]);
    let id = change.physical_id.clone().map(Value::Text);
    shown.extend(id.map(|id| ("PhysicalResourceId".into(), id)));
    shown.extend(replacement.map(|it| ("Replacement".into(), it.into())));
    Value::map([("Type", "Resource".into()), ("ResourceChange", Value::Map(Arc::new(shown)))])
}
