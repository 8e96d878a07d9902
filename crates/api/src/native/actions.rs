//! Actions on stacks.

use crate::fault::Fault;
use crate::request::Request;
use crate::response::Response;
use kiln_engine::Action;
use kiln_template::Value;

/// The actions, and the rules that allow them.
const ACTIONS: [(&str, &str); 5] = [
    ("cancel_update", "actions:cancel_update"),
    ("cancel_without_rollback", "actions:cancel_without_rollback"),
    ("check", "actions:check"),
    ("resume", "actions:resume"),
    ("suspend", "actions:suspend"),
];

/// The action of a request.
fn action(request: &Request) -> Result<(&'static str, &'static str), Fault> {
    let Some(body) = request.body.as_deref().filter(|body| !body.is_empty()) else {
        return Err(Fault::bad("No action specified"));
    };
    let mut names = body.keys();
    let (Some(name), None) = (names.next(), names.next()) else {
        return Err(Fault::bad("Multiple actions specified"));
    };
    let known = ACTIONS.into_iter().find(|(action, _)| **action == **name);
    known.ok_or_else(|| Fault::bad(format!("Invalid action {name} specified")))
}

/// The policy rule of the action of a request.
pub(crate) fn rule(request: &Request) -> Result<&'static str, Fault> {
    action(request).map(|(_, rule)| rule)
}

pub(crate) async fn act(request: Request) -> Result<Response, Fault> {
    let (name, _) = action(&request)?;
    let stack = request.live_stack().await?;
    let service = request.service();
    match name {
        "cancel_update" => service.cancel(&stack, true).await?,
        "cancel_without_rollback" => service.cancel(&stack, false).await?,
        "check" => service.run_on_each(&stack, Action::Check).await?,
        "resume" => service.run_on_each(&stack, Action::Resume).await?,
        _ => service.run_on_each(&stack, Action::Suspend).await?,
    }
    Ok(Response::ok(&Value::Null))
}
