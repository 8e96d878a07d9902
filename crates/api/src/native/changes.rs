//! Changing stacks.

use super::stack_body::StackBody;
use crate::fault::Fault;
use crate::request::Request;
use crate::response::{Response, accepted};

/// The members of a body that make a PATCH a change.
const CHANGES: [&str; 7] = [
    "template",
    "template_url",
    "parameters",
    "environment",
    "files",
    "environment_files",
    "files_container",
];

/// The rule for a PATCH: one that changes nothing is allowed to more people.
pub(crate) fn patch_rule(request: &Request) -> Result<&'static str, Fault> {
    let body = request.object()?;
    let is_said = |value: &kiln_template::Value| value.is_truthy();
    let settles = ["clear_parameters", "disable_rollback", "timeout_mins", "tags", "converge"];
    let has = |names: &[&str]| names.iter().any(|name| body.get(*name).is_some_and(is_said));
    Ok(if has(&CHANGES) || has(&settles) {
        "stacks:update_patch"
    } else {
        "stacks:update_no_change"
    })
}

pub(crate) async fn update(request: Request) -> Result<Response, Fault> {
    change(request, false).await
}

pub(crate) async fn patch(request: Request) -> Result<Response, Fault> {
    change(request, true).await
}

async fn change(request: Request, is_patch: bool) -> Result<Response, Fault> {
    let (stack_request, patch) = StackBody { request: &request }.change(is_patch).await?;
    let stack = request.live_stack().await?;
    request.service().update(&request.requester(), &stack, stack_request, &patch).await?;
    Ok(accepted(&request.accept))
}
