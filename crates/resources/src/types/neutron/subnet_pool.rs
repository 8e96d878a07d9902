//! OS::Neutron::SubnetPool: a pool of addresses from which subnets get their blocks.

use super::common::{adjust_fields, keep, tagged};
use super::fragments::{shared_prop, tags};
use super::prefixes::covers;
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::number;
use crate::rest;
use crate::types::fragments::{name_prop, tenant_id_prop};
use kiln_template::print;
use serde_json::{Map as Fields, Value as Json};

pub(super) fn subnet_pool() -> ResourceType {
    ResourceType::new("OS::Neutron::SubnetPool")
        .about("A pool of addresses from which subnets get their blocks.")
        .service(Service::Network)
        .extension("subnet_allocation")
        .entity("subnetpool")
        .detects_drift()
        .since("6.0.0")
        .with(tags)
        .props([
            prop(
                "address_scope",
                Str,
                "Address scope within which the pool's addresses are unique, by name or ID.",
            )
            .updatable()
            .is(ADDRESS_SCOPE),
            prop("default_prefixlen", Int, "Prefix length of subnets that ask for none.")
                .updatable()
                .min(0),
            prop(
                "default_quota",
                Int,
                "Most that one project may take: IPv4 addresses, or /64 blocks of IPv6.",
            )
            .updatable()
            .min(0),
            prop(
                "is_default",
                Bool,
                "Whether this is the default pool of its IP version; administrators only.",
            )
            .updatable()
            .default(false),
            prop(
                "max_prefixlen",
                Int,
                "Longest prefix, that is the smallest block, a subnet may take.",
            )
            .updatable()
            .min(0),
            prop(
                "min_prefixlen",
                Int,
                "Shortest prefix, that is the largest block, a subnet may take.",
            )
            .updatable()
            .min(0),
            name_prop().updatable(),
            prop(
                "prefixes",
                List,
                "Address blocks of the pool, in CIDR notation; it may grow but never shrink.",
            )
            .required()
            .updatable()
            .min_length(1)
            .each(item(Str).is(NET_CIDR)),
            shared_prop().default(false),
            tenant_id_prop(),
        ])
        .check(bounds_fit)
        .updates(|op| Box::pin(update(op)))
        .rest(
            tagged("/subnetpools", "subnetpool")
                .field("address_scope", "address_scope_id")
                .finds("address_scope", ADDRESS_SCOPE)
                .adjust_fields(fields),
        )
}

fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    keep(fields, &["default_prefixlen", "default_quota", "max_prefixlen", "min_prefixlen"]);
}

/// Updates the pool. Its prefixes may grow and never shrink, because subnets have addresses from them.
async fn update(op: &mut Op) -> Result<(), OpError> {
    let before = super::common::texts(
        op.context().previous_properties.get("prefixes").unwrap_or(&Value::Null),
    );
    let after = super::common::texts(op.prop("prefixes"));
    if op.changes("prefixes") && !covers(&after, &before) {
        let shown = |prefixes: &[String]| {
            let mut prefixes = prefixes.to_vec();
            prefixes.sort();
            print::repr(&list(prefixes))
        };
        let message = format!(
            "Property prefixes updated value {} should be superset of existing value {}.",
            shown(&after),
            shown(&before)
        );
        return Err(OpError::failed(FailureClass::StackValidationFailed, message));
    }
    rest::update(op).await
}

fn bounds_fit(members: &Members) -> Result<(), PropertyError> {
    let length = |name: &str| members.get(name).and_then(number).filter(|length| *length > 0.0);
    let bounds = [
        ("min_prefixlen", "max_prefixlen", ["max_prefixlen", "min_prefixlen"]),
        ("default_prefixlen", "max_prefixlen", ["max_prefixlen", "default_prefixlen"]),
        ("min_prefixlen", "default_prefixlen", ["min_prefixlen", "default_prefixlen"]),
    ];
    for (low, high, told) in bounds {
        if let (Some(smaller), Some(greater)) = (length(low), length(high))
            && smaller > greater
        {
            let told = told.map(|name| format!("{name}={}", length(name).unwrap_or_default()));
            return Err(PropertyError::new(format!("Illegal prefix bounds: {}.", told.join(", "))));
        }
    }
    Ok(())
}
