//! Changing stacks.

use super::stack_body::StackBody;
use crate::fault::Fault;
use crate::request::Request;
use crate::response::{Response, accepted};

/// The members of a body that change nothing: that a request is a PATCH, and the name that the path has, too.
const NO_CHANGES: [&str; 2] = ["existing", "stack_name"];

/// The rule for a PATCH: one that changes nothing is allowed to more people.
///
/// A member counts by its presence, whatever its value: `disable_rollback: false` is a change, too.
pub(crate) fn patch_rule(request: &Request) -> Result<&'static str, Fault> {
    let mut names = request.object()?.keys();
    let is_change = names.any(|name| !NO_CHANGES.contains(&&**name));
    Ok(if is_change { "stacks:update_patch" } else { "stacks:update_no_change" })
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
