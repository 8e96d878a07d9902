//! AWS::EC2::SecurityGroup: a set of IPv4 rules that say which traffic may reach and leave a
//! server.

use super::network::{by_name, rest_spec};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{items, open, text};
use crate::types::neutron::{differs, have_rules, push};
use crate::{lookup, rest};
use serde_json::{Map as Fields, Value as Json};

pub(super) fn security_group() -> ResourceType {
    ResourceType::new("AWS::EC2::SecurityGroup")
        .about("A set of IPv4 rules that say which traffic may reach and leave a server.")
        .props([
            prop("GroupDescription", Str, "Free text that describes the security group.")
                .required(),
            rules("SecurityGroupEgress"),
            rules("SecurityGroupIngress"),
            prop("VpcId", Str, "ID of the VPC that the security group is meant for."),
        ])
        .finder(by_name)
        .updates(|op| Box::pin(update(op)))
        .rest(
            rest_spec("/security-groups", "security_group")
                .field("GroupDescription", "description")
                .unsent(["SecurityGroupEgress", "SecurityGroupIngress", "VpcId"])
                .after_write(|op| Box::pin(set_rules(op))),
        )
}

/// Updates the rules; no property of the group itself can change.
async fn update(op: &mut Op) -> Result<(), OpError> {
    rest::update_with(op, Fields::new()).await
}

async fn set_rules(op: &mut Op) -> Result<(), OpError> {
    let directions = [("SecurityGroupIngress", "ingress"), ("SecurityGroupEgress", "egress")];
    if !directions.iter().any(|(property, _)| differs(op, property)) {
        return Ok(());
    }
    let group = op.id().cloned().unwrap_or_default();
    let properties = op.context().properties.clone();
    let mut wanted = Vec::new();
    for (property, direction) in directions {
        for rule in items(&properties, property).iter().filter_map(|rule| open(rule).as_map()) {
            let mut rule = converted(op, rule).await?;
            rule.insert("direction".into(), direction.into());
            rule.insert("security_group_id".into(), (*group).into());
            push(&mut wanted, rule);
        }
    }
    // As in Heat, an update to an empty list closes the group for egress. Without a list, everything may leave.
    let is_closed =
        matches!(op.prop("SecurityGroupEgress"), Value::List(rules) if rules.is_empty());
    have_rules(op, &group, wanted, is_closed).await
}

/// Converts a rule to that of the network service. A negative number means any.
async fn converted(op: &mut Op, rule: &Members) -> Result<Fields<String, Json>, OpError> {
    let remote = match text(rule, "SourceSecurityGroupId").or(text(rule, "SourceSecurityGroupName"))
    {
        Some(name) => Some(lookup::find_id(op, SECURITY_GROUP, name).await?),
        None => None,
    };
    let port = |name: &str| text(rule, name).filter(|port| !port.starts_with('-'));
    let protocol = text(rule, "IpProtocol").filter(|it| *it != "-1").map(str::to_lowercase);
    let fields = [
        ("ethertype", Some("IPv4".to_owned())),
        ("remote_ip_prefix", text(rule, "CidrIp").map(Into::into)),
        ("remote_group_id", remote.map(|id| id.to_string())),
        ("port_range_min", port("FromPort").map(Into::into)),
        ("port_range_max", port("ToPort").map(Into::into)),
        ("protocol", protocol),
    ];
    let given =
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
    Ok(given.collect())
}

fn rules(name: &'static str) -> Prop {
    prop(name, List, "Rules for the traffic that is allowed in this direction.")
        .updatable()
        .each(record([
        prop(
            "CidrIp",
            Str,
            "IPv4 range of the other side, such as `10.0.0.0/8`; any address if omitted.",
        ),
        prop("FromPort", Str, "First port of the range, or the ICMP type; any if negative."),
        prop(
            "IpProtocol",
            Str,
            "Protocol that is allowed, such as `tcp`, `udp` or `icmp`; `-1` means any.",
        ),
        prop(
            "SourceSecurityGroupId",
            Str,
            "ID of the security group whose members are the other side.",
        ),
        prop(
            "SourceSecurityGroupName",
            Str,
            "Name of the security group whose members are the other side.",
        ),
        prop(
            "SourceSecurityGroupOwnerId",
            Str,
            "Account that owns the security group of the other side; it is accepted and ignored.",
        )
        .unimplemented(),
        prop("ToPort", Str, "Last port of the range, or the ICMP code; any if negative."),
    ]))
}
