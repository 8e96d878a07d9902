//! The nested stack of a load balancer: one server that runs HAProxy, and a user who reads its metadata.
//!
//! The members are in the metadata of the server, from which its tools write the configuration of HAProxy; they
//! read the metadata every minute. Kiln computes the metadata at each read, so there is no copy to keep up to
//! date.

use super::haproxy;
use crate::behaviour::{Group, View};
use crate::declare::*;
use crate::property_access::items;

/// The name of the server in the template.
const SERVER: &str = "LB_instance";

/// The names of the user who reads its metadata, and of the user's key.
const USER: &str = "CfnLBUser";
const KEY: &str = "CfnLBAccessKey";

/// The configuration file of HAProxy.
const CONFIGURATION: &str = "/etc/haproxy/haproxy.cfg";

/// The parameters of the parent stack that the server uses, with their defaults.
const PARAMETERS: [(&str, &str); 3] = [
    ("KeyName", ""),
    ("LbFlavor", "m1.small"),
    ("LbImageId", "Fedora-Cloud-Base-20141203-21.x86_64"),
];

/// The script that the server runs at its first boot.
const BOOT: &str = "#!/bin/bash\n\
                    PATH=$PATH:/opt/aws/bin\n\
                    for i in 1 2 3 4 5; do cfn-init -s ${stack} -r LB_instance --region ${region} && break; sleep 10; done\n";

/// The configuration of `cfn-hup`: the stack whose metadata it reads.
const WATCHED: &str = "[main]\nstack=${stack}\nregion=${region}\ncredential-file=/etc/cfn/cfn-credentials\ninterval=1\n";

/// The hook of `cfn-hup`, which runs after the metadata changed.
const HOOK: &str = "[balancer]\ntriggers=post.update\npath=Resources.LB_instance.Metadata\n\
                    action=PATH=$PATH:/opt/aws/bin; cfn-init -s ${stack} -r LB_instance --region ${region} \
                    && systemctl reload-or-restart haproxy.service\nrunas=root\n";

/// The crontab entry that runs `cfn-hup` every minute.
const EVERY_MINUTE: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/aws/bin\n\
                            * * * * * root cfn-hup -f\n";

/// The template of the stack.
pub(super) fn template(group: &Group<'_>) -> Value {
    let members = haproxy::own(group.properties, group.siblings);
    let server = map([
        ("Type", Value::from("AWS::EC2::Instance")),
        ("Metadata", metadata(&haproxy::configuration(group.properties, &members))),
        ("Properties", Value::Map(properties(group).into())),
    ]);
    let key = map([
        ("Type", Value::from("AWS::IAM::AccessKey")),
        ("Properties", map([("UserName", reference(USER))])),
    ]);
    let address = map([("Fn::GetAtt", list([SERVER, "PublicIp"]))]);
    map([
        ("AWSTemplateFormatVersion", Value::from("2010-09-09")),
        ("Description", "A load balancer.".into()),
        (
            "Resources",
            map([(USER, map([("Type", "AWS::IAM::User")])), (KEY, key), (SERVER, server)]),
        ),
        ("Outputs", map([("PublicIp", map([("Value", address)]))])),
    ])
}

fn properties(group: &Group<'_>) -> Members {
    let parameter = |name: &str| {
        let (_, otherwise) = PARAMETERS.into_iter().find(|it| it.0 == name).unwrap_or_default();
        let given = group.siblings.parameter(name).filter(Value::is_truthy);
        given.unwrap_or_else(|| otherwise.into())
    };
    let mut properties: Members = [
        ("ImageId", parameter("LbImageId")),
        ("InstanceType", parameter("LbFlavor")),
        ("UserData", map([("Fn::Base64", here(BOOT))])),
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
    properties
}

/// The metadata for `cfn-init`: packages, files and services.
fn metadata(configuration: &str) -> Value {
    let written = |content: Value, mode: &str| {
        map([
            ("content", content),
            ("mode", mode.into()),
            ("owner", "root".into()),
            ("group", Value::from("root")),
        ])
    };
    let secret = map([("Fn::GetAtt", list([KEY, "SecretAccessKey"]))]);
    let key =
        ["AWSAccessKeyId=".into(), reference(KEY), "\nAWSSecretKey=".into(), secret, "\n".into()];
    let key = map([("Fn::Join", list([Value::from(""), Value::list(key)]))]);
    let running = [("enabled", Value::from("true")), ("ensureRunning", "true".into())];
    let haproxy = running.iter().cloned().chain([("files", list([CONFIGURATION]))]);
    let config = map([
        ("packages", map([("yum", map([("haproxy", Value::list([]))]))])),
        (
            "files",
            map([
                (CONFIGURATION, written(configuration.into(), "000644")),
                ("/etc/cfn/cfn-credentials", written(key, "000400")),
                ("/etc/cfn/cfn-hup.conf", written(here(WATCHED), "000400")),
                ("/etc/cfn/hooks.d/balancer.conf", written(here(HOOK), "000400")),
                ("/etc/cron.d/cfn-hup", written(EVERY_MINUTE.into(), "000644")),
            ]),
        ),
        (
            "services",
            map([(
                "systemd",
                map([("crond", Value::map(running.clone())), ("haproxy", Value::map(haproxy))]),
            )]),
        ),
    ]);
    map([("AWS::CloudFormation::Init", map([("config", config)]))])
}

/// The current metadata of the server.
pub(super) fn inside(view: &View<'_>, member: &str, metadata: &Value) -> Option<Value> {
    let path = ["AWS::CloudFormation::Init", "config", "files", CONFIGURATION, "content"];
    (member == SERVER).then(|| with(metadata, &path, haproxy::current(view).into()))
}

/// Returns a copy of a value with another value at a path.
fn with(value: &Value, path: &[&str], new: Value) -> Value {
    let [first, rest @ ..] = path else { return new };
    let mut members = value.as_map().cloned().unwrap_or_default();
    let inner = members.get(*first).cloned().unwrap_or_default();
    members.insert((*first).into(), with(&inner, rest, new));
    Value::Map(members.into())
}

fn reference(name: &str) -> Value {
    map([("Ref", name)])
}

/// A text with the id of the stack and its region filled in; nested stacks cannot be found by name.
fn here(text: &str) -> Value {
    let names =
        map([("${stack}", reference("AWS::StackId")), ("${region}", reference("AWS::Region"))]);
    map([("Fn::Replace", list([names, text.into()]))])
}
