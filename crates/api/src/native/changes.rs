//! Changing stacks.

use super::request::StackBody;
use crate::answer::{Answer, accepted};
use crate::ask::Ask;
use crate::fault::Fault;

/// What a PATCH that changes nothing must not have.
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
pub(crate) fn patch_rule(ask: &Ask) -> Result<&'static str, Fault> {
    let body = ask.object()?;
    let is_said = |value: &kiln_template::Value| value.is_truthy();
    let settles = ["clear_parameters", "disable_rollback", "timeout_mins", "tags", "converge"];
    let has = |names: &[&str]| names.iter().any(|name| body.get(*name).is_some_and(is_said));
    Ok(match has(&CHANGES) || has(&settles) {
        true => "stacks:update_patch",
        false => "stacks:update_no_change",
    })
}

pub(crate) async fn update(ask: Ask) -> Result<Answer, Fault> {
    change(ask, false).await
}

pub(crate) async fn patch(ask: Ask) -> Result<Answer, Fault> {
    change(ask, true).await
}

async fn change(ask: Ask, is_patch: bool) -> Result<Answer, Fault> {
    let (request, patch) = StackBody { ask: &ask }.change(is_patch).await?;
    let stack = ask.live_stack().await?;
    ask.service().update(&ask.asker(), &stack, request, &patch).await?;
    Ok(accepted(&ask.accept))
}
