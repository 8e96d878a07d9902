//! The nested stack of a load balancer: one server that runs HAProxy.
//!
//! What it balances is in the server's metadata, from which its agent writes the configuration. That is put together
//! when it is read: whatever becomes of the members, there is nothing to keep in step.

use crate::behaviour::{Group, InService, Siblings, View};
use crate::declare::*;
use crate::given::{given, items, open, section};
use crate::types::heat::instances;
use kiln_template::print;
use std::sync::Arc;

/// The one resource of the stack.
const SERVER: &str = "LB_instance";

/// The parameters of the stack around that the server is made with, and what they are if it has none.
const PARAMETERS: [(&str, &str); 3] = [
    ("KeyName", ""),
    ("LbFlavor", "m1.small"),
    ("LbImageId", "Fedora-Cloud-Base-20141203-21.x86_64"),
];

/// What the server does first.
const BOOT: &str = "#!/bin/bash\n\
                    for i in 1 2 3 4 5; do /opt/aws/bin/cfn-init -s ${stack} -r LB_instance --region ${region} && break; sleep 10; done\n\
                    /opt/aws/bin/cfn-hup\n";

/// The template of the stack.
pub(super) fn template(group: &Group<'_>) -> Value {
    let parameter = |name: &str| {
        let (_, otherwise) = PARAMETERS.into_iter().find(|it| it.0 == name).unwrap_or_default();
        let given = group.siblings.parameter(name).filter(Value::is_truthy);
        given.unwrap_or_else(|| otherwise.into())
    };
    let script = map([(
        "Fn::Replace",
        list([
            map([
                ("${stack}", map([("Ref", "AWS::StackName")])),
                ("${region}", map([("Ref", "AWS::Region")])),
            ]),
            Value::from(BOOT),
        ]),
    )]);
    let mut properties: Members = [
        ("ImageId", parameter("LbImageId")),
        ("InstanceType", parameter("LbFlavor")),
        ("UserData", map([("Fn::Base64", script)])),
    ]
    .map(|(name, value)| (name.into(), value))
    .into_iter()
    .collect();
    let key = parameter("KeyName");
    if key.is_truthy() {
        properties.insert("KeyName".into(), key);
    }
    let groups = items(group.properties, "SecurityGroups");
    if !groups.is_empty() {
        properties.insert("SecurityGroups".into(), Value::list(groups.iter().cloned()));
    }
    let server = map([
        ("Type", Value::from("AWS::EC2::Instance")),
        (
            "Metadata",
            metadata(&configuration(group.properties, &own(group.properties, group.siblings))),
        ),
        ("Properties", Value::Map(properties.into())),
    ]);
    let address = map([("Fn::GetAtt", list([SERVER, "PublicIp"]))]);
    map([
        ("AWSTemplateFormatVersion", Value::from("2010-09-09")),
        ("Description", "A load balancer.".into()),
        ("Resources", map([(SERVER, server)])),
        ("Outputs", map([("PublicIp", map([("Value", address)]))])),
    ])
}

/// What the server's agent installs, writes and keeps running.
fn metadata(configuration: &str) -> Value {
    let written = |content: &str| {
        map([
            ("content", content.into()),
            ("mode", "000644".into()),
            ("owner", "root".into()),
            ("group", Value::from("root")),
        ])
    };
    let watched = "[cfn-auto-reloader-hook]\ntriggers=post.update\npath=Resources.LB_instance.Metadata\n\
                   action=/opt/aws/bin/cfn-init -r LB_instance\nrunas=root\n";
    let enabled = map([("enabled", "true"), ("ensureRunning", "true")]);
    let mut service = enabled.as_map().cloned().unwrap_or_default();
    service.insert("files".into(), list(["/etc/haproxy/haproxy.cfg"]));
    let config = map([
        ("packages", map([("yum", map([("haproxy", Value::list([]))]))])),
        (
            "files",
            map([
                ("/etc/haproxy/haproxy.cfg", written(configuration)),
                ("/etc/cfn/hooks.d/cfn-auto-reloader.conf", written(watched)),
            ]),
        ),
        ("services", map([("systemd", map([("haproxy", Value::Map(service.into()))]))])),
    ]);
    map([("AWS::CloudFormation::Init", map([("config", config)]))])
}

/// The server's metadata at this moment: it balances its own members, and those of the groups that name it.
pub(super) fn inside(view: &View<'_>, member: &str) -> Option<Value> {
    if member != SERVER {
        return None;
    }
    let mut addresses = own(view.properties, view.siblings);
    let groups = view.siblings.groups(&instances::GROUPS, &ADDRESSES);
    let groups =
        groups.iter().filter(|group| instances::is_balanced_by(&group.properties, view.name));
    addresses.extend(groups.flat_map(|group: &InService| &group.members).filter_map(address));
    Some(metadata(&configuration(view.properties, &addresses)))
}

/// The configuration of HAProxy: the first listener, and the members.
fn configuration(properties: &Members, addresses: &[String]) -> String {
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

/// The attributes that have a server's first address, whatever stands for the server.
const ADDRESSES: [&str; 2] = ["PublicIp", "first_address"];

/// The first addresses of the members that the balancer itself names, those that are known.
fn own(properties: &Members, siblings: &dyn Siblings) -> Vec<String> {
    let members = items(properties, "Instances").iter().filter_map(|it| open(it).as_text());
    let first_address = |member: &Arc<str>| {
        let name = siblings.named(member)?;
        ADDRESSES.iter().find_map(|attribute| address(&siblings.attribute(&name, attribute)?))
    };
    members.filter_map(first_address).collect()
}

/// An address that can be reached: a server without one shows another that cannot.
fn address(value: &Value) -> Option<String> {
    let text = open(value).as_text().filter(|text| !["", "0.0.0.0"].contains(&&***text));
    text.map(|text| text.to_string())
}

/// A load balancer must have the time to wait for an answer before it asks again.
pub(super) fn check(members: &Members) -> Result<(), Refusal> {
    let Some(health) = section(members, "HealthCheck") else { return Ok(()) };
    let number = |name: &str| crate::given::number(health.get(name)?);
    match (number("Interval"), number("Timeout")) {
        (Some(interval), Some(timeout)) if interval < timeout => {
            Err(Refusal::new("Interval must be larger than Timeout"))
        }
        _ => Ok(()),
    }
}
