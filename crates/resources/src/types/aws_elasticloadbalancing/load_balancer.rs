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
            prop("AppCookieStickinessPolicy", Str, "Session stickiness by a cookie of the application; not supported.").unimplemented(),
            prop("AvailabilityZones", List, "Names of the availability zones that the load balancer serves.").required(),
            prop("HealthCheck", Map, "How members are tested; they are never tested if omitted.").members([
                prop("HealthyThreshold", Int, "Number of good answers in a row after which a member counts as healthy.").required(),
                prop("Interval", Int, "Seconds between two health checks of a member.").required(),
                prop("Target", Str, "Protocol, port and path that are checked, such as `HTTP:80/`.").required(),
                prop("Timeout", Int, "Seconds after which a check without an answer fails; not more than the interval.").required(),
                prop("UnhealthyThreshold", Int, "Number of failed checks in a row after which a member counts as unhealthy.").required(),
            ]),
            prop("Instances", List, "IDs of the servers among which requests are distributed.").updatable(),
            prop("LBCookieStickinessPolicy", Str, "Session stickiness by a cookie of the load balancer; not supported.").unimplemented(),
            prop("Listeners", List, "Ports that the load balancer listens on, of which the first one is used.").required().each(record([
                prop("InstancePort", Int, "Port on the servers that requests are passed on to.").required(),
                prop("LoadBalancerPort", Int, "Port on which the load balancer accepts requests.").required(),
                prop("PolicyNames", List, "Policies that apply to the listener; not supported.").unimplemented(),
                prop("Protocol", Str, "Protocol of the requests, `TCP` or `HTTP`.").required().one_of(["TCP", "HTTP"]),
                prop("SSLCertificateId", Str, "Certificate with which the listener offers TLS; not supported.").unimplemented(),
            ])),
            prop("SecurityGroups", List, "Security groups that filter the traffic of the load balancer.").updatable(),
            prop("Subnets", List, "Subnets to which the load balancer is connected; not supported.").unimplemented(),
        ])
        .attrs([
            attr("CanonicalHostedZoneName", Str, "DNS zone of the load balancer, which is empty here."),
            attr("CanonicalHostedZoneNameID", Str, "ID of the DNS zone of the load balancer, which is empty here."),
            attr("DNSName", Str, "IP address under which the load balancer is reached."),
            attr("SourceSecurityGroup.GroupName", Str, "Security group that the load balancer's requests come from, which is empty here."),
            attr("SourceSecurityGroup.OwnerAlias", Str, "Owner of the security group that requests come from, which is empty here."),
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

/// Attributes of AWS that are empty here, because the balancer has nothing to show for them.
const KNOWN: [&str; 4] = [
    "CanonicalHostedZoneName",
    "CanonicalHostedZoneNameID",
    "SourceSecurityGroup.GroupName",
    "SourceSecurityGroup.OwnerAlias",
];
