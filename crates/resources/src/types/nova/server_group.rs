//! OS::Nova::ServerGroup: a group of servers to be placed together or apart.

use super::common::among_all;
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::Op;
use crate::rest::{RestSpec, UpdateMethod};
use crate::wire;
use serde_json::{Map, Value as Json};

pub(super) fn server_group() -> ResourceType {
    ResourceType::new("OS::Nova::ServerGroup")
        .about("A group of servers to be placed together or apart.")
        .service(Service::Compute)
        .entity("server_groups")
        .since("2014.2")
        .props([
            prop(
                "name",
                Str,
                "Name of the server group; made from the stack and resource names if omitted.",
            ),
            prop(
                "policies",
                List,
                "Whether members share a host or keep apart, strictly or if possible (`soft-`).",
            )
            .default(list(["anti-affinity"]))
            .one_of(["anti-affinity", "affinity", "soft-anti-affinity", "soft-affinity"])
            .each(item(Str)),
            prop("rules", Map, "Further settings of the chosen policy.").since("17.0.0").members([
                prop(
                    "max_server_per_host",
                    Num,
                    "Largest number of members on one host, with the policy `anti-affinity`.",
                ),
            ]),
        ])
        .finder(among_all)
        .rest(
            RestSpec::new(Service::Compute, "/os-server-groups", "server_group")
                .unsent(["policies"])
                .update_method(UpdateMethod::Never)
                .deleted_at_once()
                .adjust_fields(adjust_fields),
        )
}

/// Sends the first policy: the property is a list, but the service takes one.
fn adjust_fields(op: &Op, _: OperationKind, fields: &mut Map<String, Json>) {
    if let Some(policy) = op.items("policies").first() {
        fields.insert("policy".into(), wire::json(policy));
    }
}
