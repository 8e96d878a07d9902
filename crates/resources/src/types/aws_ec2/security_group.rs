//! AWS::EC2::SecurityGroup: a set of IPv4 rules that say which traffic may reach and leave a
//! server.

use crate::declare::*;

pub(super) fn security_group() -> ResourceType {
    ResourceType::new("AWS::EC2::SecurityGroup")
        .about("A set of IPv4 rules that say which traffic may reach and leave a server.")
        .props([
            prop("GroupDescription", Str).required(),
            rules("SecurityGroupEgress"),
            rules("SecurityGroupIngress"),
            prop("VpcId", Str),
        ])
}

fn rules(name: &'static str) -> Prop {
    prop(name, List).updatable().each(record([
        prop("CidrIp", Str),
        prop("FromPort", Str),
        prop("IpProtocol", Str),
        prop("SourceSecurityGroupId", Str),
        prop("SourceSecurityGroupName", Str),
        prop("SourceSecurityGroupOwnerId", Str).unimplemented(),
        prop("ToPort", Str),
    ]))
}
