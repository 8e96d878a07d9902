//! OS::Neutron::FirewallPolicy: an ordered list of firewall rules.

use crate::declare::*;

pub(super) fn firewall_policy() -> ResourceType {
    ResourceType::new("OS::Neutron::FirewallPolicy")
        .about("An ordered list of firewall rules.")
        .service(Service::Network)
        .extension("fwaas")
        .entity("firewall_policy")
        .observable()
        .props([
            prop("audited", Bool).updatable().default(false),
            prop("description", Str).updatable(),
            prop("firewall_rules", List).updatable(),
            prop("name", Str).updatable(),
            prop("shared", Bool).updatable().default(false),
        ])
        .attrs([
            attr("audited", Str),
            attr("description", Str),
            attr("firewall_rules", List),
            attr("name", Str),
            attr("shared", Str),
            attr("tenant_id", Str),
        ])
}
