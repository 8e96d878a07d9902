//! The configuration of HAProxy: a balancer's first listener, and the members that have an address.

use crate::behaviour::{InService, Siblings, View};
use crate::declare::*;
use crate::property_access::{given, items, open, section};
use crate::types::heat::instances;
use kiln_template::print;
use std::sync::Arc;

/// The current configuration: the balancer's own members, and those of the groups that name it.
pub(super) fn current(view: &View<'_>) -> String {
    let mut addresses = own(view.properties, view.siblings);
    let groups = view.siblings.groups(&instances::GROUPS, &ADDRESSES);
    let groups =
        groups.iter().filter(|group| instances::is_balanced_by(&group.properties, view.name));
    addresses.extend(groups.flat_map(|group: &InService| &group.members).filter_map(address));
    configuration(view.properties, &addresses)
}

/// The configuration with members at these addresses.
pub(super) fn configuration(properties: &Members, addresses: &[String]) -> String {
    let empty = Members::new();
    let listener = items(properties, "Listeners").first().map(open);
    let listener = listener.and_then(Value::as_map).unwrap_or(&empty);
    let number = |members: &Members, name: &str| given(members, name).map(print::plain);
    let port = number(listener, "InstancePort").unwrap_or_default();
    let bound = number(listener, "LoadBalancerPort").unwrap_or_default();
    let mut text = format!(
        "global\n    daemon\n    maxconn 256\n    stats socket /tmp/.haproxy-stats\n\n\
         defaults\n    mode http\n    timeout connect 5s\n    timeout client 50s\n    timeout server 50s\n\n\
         frontend http\n    bind *:{bound}\n    default_backend servers\n\n\
         backend servers\n    balance roundrobin\n    option http-server-close\n    option forwardfor\n    \
         option httpchk\n"
    );
    let mut tested = String::new();
    if let Some(health) = section(properties, "HealthCheck") {
        let part = |name: &str| number(health, name).unwrap_or_default();
        text.push_str(&format!("    timeout check {}s\n", part("Timeout")));
        let (interval, fall, rise) =
            (part("Interval"), part("UnhealthyThreshold"), part("HealthyThreshold"));
        tested = format!(" check inter {interval}s fall {fall} rise {rise}");
    }
    for (at, address) in addresses.iter().enumerate() {
        text.push_str(&format!("    server server{} {address}:{port}{tested}\n", at + 1));
    }
    text
}

/// The attributes with a server's first address, by the type of the server.
const ADDRESSES: [&str; 2] = ["PublicIp", "first_address"];

/// The first addresses of the members in the balancer's own definition, as far as they are known.
pub(super) fn own(properties: &Members, siblings: &dyn Siblings) -> Vec<String> {
    let members = items(properties, "Instances").iter().filter_map(|it| open(it).as_text());
    let first_address = |member: &Arc<str>| {
        let name = siblings.by_reference(member)?;
        ADDRESSES.iter().find_map(|attribute| address(&siblings.attribute(&name, attribute)?))
    };
    members.filter_map(first_address).collect()
}

/// An address, unless it is the placeholder of a server without one.
fn address(value: &Value) -> Option<String> {
    let text = open(value).as_text().filter(|text| !["", "0.0.0.0"].contains(&&***text));
    text.map(|text| text.to_string())
}

/// Checks that the timeout of a health check does not exceed its interval.
pub(super) fn check(members: &Members) -> Result<(), PropertyError> {
    let Some(health) = section(members, "HealthCheck") else { return Ok(()) };
    let number = |name: &str| crate::property_access::number(health.get(name)?);
    match (number("Interval"), number("Timeout")) {
        (Some(interval), Some(timeout)) if interval < timeout => {
            Err(PropertyError::new("Interval must be larger than Timeout"))
        }
        _ => Ok(()),
    }
}
