//! OS::Octavia::L7Rule: one condition of a layer-7 policy.

use super::common::{by_tag, is, part};
use crate::declare::*;
use crate::refusals::may_be_given;
use crate::types::fragments::admin_state_up_prop;

pub(super) fn l7_rule() -> ResourceType {
    ResourceType::new("OS::Octavia::L7Rule")
        .about("One condition of a layer-7 policy.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            admin_state_up_prop(),
            prop(
                "compare_type",
                Str,
                "How the request's part is compared with `value`, such as `STARTS_WITH`.",
            )
            .required()
            .updatable()
            .one_of(["REGEX", "STARTS_WITH", "ENDS_WITH", "CONTAINS", "EQUAL_TO"]),
            prop("invert", Bool, "Whether the rule matches exactly when the comparison fails.")
                .updatable()
                .default(false),
            prop("key", Str, "Name of the header or cookie to look at; for these two types only.")
                .updatable(),
            prop("l7policy", Str, "Policy that the rule belongs to, by name or ID.")
                .required()
                .is(L7_POLICY)
                .by_name(),
            prop("type", Str, "Part of the request to look at, such as `PATH` or `HOST_NAME`.")
                .required()
                .updatable()
                .one_of(["HOST_NAME", "PATH", "FILE_TYPE", "HEADER", "COOKIE"]),
            prop("value", Str, "Text or regular expression to compare with.")
                .required()
                .updatable(),
        ])
        .check(key_where_there_is_one)
        .finder(by_tag)
        .rest(part("/lbaas/l7policies/{l7policy}/rules", "rule"))
}

fn key_where_there_is_one(members: &Members) -> Result<(), PropertyError> {
    let has_key = is(members, "type", "HEADER") || is(members, "type", "COOKIE");
    if has_key && !may_be_given(members, "key") {
        let message = "Property key is missing. This property should be specified for rules of HEADER and \
                       COOKIE types.";
        return Err(PropertyError::new(message));
    }
    Ok(())
}
