//! AWS::ElasticLoadBalancing::LoadBalancer: a load balancer that runs as a HAProxy server in a
//! nested stack.

use crate::declare::*;

pub(super) fn load_balancer() -> ResourceType {
    ResourceType::new("AWS::ElasticLoadBalancing::LoadBalancer")
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
}
