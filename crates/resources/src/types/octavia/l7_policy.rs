//! OS::Octavia::L7Policy: what a listener does with requests that match the policy's rules.

use super::common::{by_tag, is, part};
use crate::declare::*;
use crate::refusals::{is_given, may_be_given};
use crate::types::fragments::{admin_state_up_prop, description_prop, name_prop};

pub(super) fn l7_policy() -> ResourceType {
    ResourceType::new("OS::Octavia::L7Policy")
        .about("What a listener does with requests that match the policy's rules.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            prop(
                "action",
                Str,
                "What happens to matching requests: rejection, or redirection to a pool or URL.",
            )
            .required()
            .updatable()
            .one_of(["REJECT", "REDIRECT_TO_POOL", "REDIRECT_TO_URL"]),
            admin_state_up_prop(),
            description_prop().updatable(),
            prop("listener", Str, "Listener whose requests the policy handles, by name or ID.")
                .required()
                .is(LISTENER)
                .by_name(),
            name_prop().updatable(),
            prop(
                "position",
                Num,
                "Place among the listener's policies, counted from 1; last if omitted.",
            )
            .updatable()
            .min(1),
            prop(
                "redirect_pool",
                Str,
                "Pool that requests go to with `REDIRECT_TO_POOL`, by name or ID.",
            )
            .updatable()
            .is(POOL)
            .by_name(),
            prop("redirect_url", Str, "URL that clients are sent to with `REDIRECT_TO_URL`.")
                .updatable(),
        ])
        .attrs([attr("rules", List, "Rules that the policy currently has.")])
        .check(target_suits_action)
        .finder(by_tag)
        .rest(
            part("/lbaas/l7policies", "l7policy")
                .field("listener", "listener_id")
                .field("redirect_pool", "redirect_pool_id")
                .list_envelope("l7policies"),
        )
}

/// Checks that a policy has the target for its action, and no other.
fn target_suits_action(members: &Members) -> Result<(), PropertyError> {
    let needs = |action: &str, wanted: &str, other: &str, others: &str| {
        if !is(members, "action", action) {
            return Ok(());
        }
        if is_given(members, other) {
            let message = format!(
                "{other} property should only be specified for action with value {others}."
            );
            return Err(PropertyError::new(message));
        }
        if !may_be_given(members, wanted) {
            let message =
                format!("Property {wanted} is required when action type is set to {action}.");
            return Err(PropertyError::new(message));
        }
        Ok(())
    };
    if is(members, "action", "REJECT")
        && (is_given(members, "redirect_pool") || is_given(members, "redirect_url"))
    {
        let message = "Properties redirect_pool and redirect_url are not required when action type is set to \
                       REJECT.";
        return Err(PropertyError::new(message));
    }
    needs("REDIRECT_TO_POOL", "redirect_pool", "redirect_url", "REDIRECT_TO_URL")?;
    needs("REDIRECT_TO_URL", "redirect_url", "redirect_pool", "REDIRECT_TO_POOL")
}
