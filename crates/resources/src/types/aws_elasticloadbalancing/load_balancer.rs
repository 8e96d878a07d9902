//! AWS::ElasticLoadBalancing::LoadBalancer: a load balancer that runs as a HAProxy server in a
//! nested stack.

use super::{LOAD_BALANCER, haproxy, server};
use crate::behaviour::Stage;
use crate::declare::*;
use kiln_template::functions::step_into_attribute;

pub(super) fn load_balancer() -> ResourceType {
    ResourceType::new(LOAD_BALANCER)
        .about("A load balancer that runs as a HAProxy server in a nested stack.")
        .nested()
        .props([
            prop("AppCookieStickinessPolicy", Str).unimplemented(),
            prop("AvailabilityZones", List).required(),
            prop("HealthCheck", Map).members([
                prop("HealthyThreshold", Int).required(),
                prop("Interval", Int).required(),
                prop("Target", Str).required(),
                prop("Timeout", Int).required(),
                prop("UnhealthyThreshold", Int).required(),
            ]),
            prop("Instances", List).updatable(),
            prop("LBCookieStickinessPolicy", Str).unimplemented(),
            prop("Listeners", List).required().each(record([
                prop("InstancePort", Int).required(),
                prop("LoadBalancerPort", Int).required(),
                prop("PolicyNames", List).unimplemented(),
                prop("Protocol", Str).required().one_of(["TCP", "HTTP"]),
                prop("SSLCertificateId", Str).unimplemented(),
            ])),
            prop("SecurityGroups", List).updatable(),
            prop("Subnets", List).unimplemented(),
        ])
        .attrs([
            attr("CanonicalHostedZoneName", Str),
            attr("CanonicalHostedZoneNameID", Str),
            attr("DNSName", Str),
            attr("SourceSecurityGroup.GroupName", Str),
            attr("SourceSecurityGroup.OwnerAlias", Str),
        ])
        .check(haproxy::check)
        .staged(|group| {
            Ok(Stage { template: server::template(group), is_last: true, ..Stage::default() })
        })
        .nested_metadata(server::inside)
        .reference(|view| view.name.into())
        .attributes(|view, name, path| {
            let value = match (name, view.nested) {
                ("DNSName", Some(child)) => {
                    child.output("PublicIp").transpose()?.unwrap_or_default()
                }
                ("DNSName", None) => Value::Null,
                _ if !KNOWN.contains(&name) => return Ok(None),
                _ => "".into(),
            };
            Ok(Some(step_into_attribute(&value, path)))
        })
}

/// What is asked of balancers that have more than an address.
const KNOWN: [&str; 4] = [
    "CanonicalHostedZoneName",
    "CanonicalHostedZoneNameID",
    "SourceSecurityGroup.GroupName",
    "SourceSecurityGroup.OwnerAlias",
];
