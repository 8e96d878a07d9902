//! The common parts of groups of servers, whose members come from a launch configuration.

use crate::behaviour::{Group, Stage};
use crate::declare::*;
use crate::groups::{Dialect, Pace, attributes, template};
use crate::op::{FailureClass, OpError};
use crate::property_access::{count, given, items, open, text};
use crate::types::aws_ec2::key_value;
use crate::types::aws_elasticloadbalancing::LOAD_BALANCER;
use kiln_template::{Unknown, print};
use std::sync::Arc;
use std::time::Duration;

/// The type of a group's members inside the group's stack.
const MEMBER_TYPE: &str = "OS::Heat::ScaledResource";

/// The types of the groups whose members a load balancer can have.
pub(crate) const GROUPS: [&str; 2] =
    ["AWS::AutoScaling::AutoScalingGroup", "OS::Heat::InstanceGroup"];

/// The longest pause between two batches.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// Declares a group of servers: where they are placed, and what they are registered with.
pub(crate) fn server_group(kind: ResourceType) -> ResourceType {
    kind.props([
        prop(
            "AvailabilityZones",
            List,
            "Names of the availability zones in which servers may be placed.",
        )
        .required(),
        prop(
            "LoadBalancerNames",
            List,
            "Load balancers of the same stack among which the servers are kept as members.",
        ),
        prop("Tags", List, "Tags that every server of the group gets as metadata.")
            .each(key_value()),
    ])
    .attrs([attr("InstanceList", Str, "Comma-separated addresses of the servers of the group.")])
    .attributes(attributes::instances)
}

/// The launch configuration of the servers.
pub(crate) fn launch_configuration_prop() -> Prop {
    prop(
        "LaunchConfigurationName",
        Str,
        "Reference to the launch configuration that new servers are made from.",
    )
    .updatable()
}

/// The members of an update policy that [`pace`] reads.
pub(crate) fn rolling_update_props() -> [Prop; 3] {
    [
        prop("MaxBatchSize", Int, "Largest number of servers that are replaced at the same time.")
            .default(1),
        prop(
            "MinInstancesInService",
            Int,
            "Number of servers that must stay in service while others are being replaced.",
        )
        .default(0),
        prop(
            "PauseTime",
            Str,
            "Pause between two batches as an ISO 8601 duration, one hour at most.",
        )
        .default("PT0S"),
    ]
}

/// The definition of a member of a group of servers, tagged with the group.
pub(crate) fn member(group: &Group<'_>, group_tag: &'static str) -> Result<Value, OpError> {
    let name = text(group.properties, "LaunchConfigurationName").unwrap_or_default();
    let missing = || {
        let message = format!(
            "{}: LaunchConfigurationName ({name}) requires a reference to the configuration not just \
             the name of the resource.",
            group.name
        );
        OpError::failed(FailureClass::ValueError, message)
    };
    let configuration = group.siblings.by_reference(name).ok_or_else(missing)?;
    let written = group.siblings.properties(&configuration).ok_or_else(missing)?;
    let mut properties: Members = written
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    properties.insert("Tags".into(), tags(group, group_tag));
    if let [subnet] = items(group.properties, "VPCZoneIdentifier") {
        properties.insert("SubnetId".into(), subnet.clone());
    }
    let mut definition: Members =
        [("Type".into(), MEMBER_TYPE.into()), ("Properties".into(), Value::Map(properties.into()))]
            .into_iter()
            .collect();
    let metadata = group.siblings.metadata(&configuration);
    if let Some(metadata) = metadata.filter(Value::is_truthy) {
        definition.insert("Metadata".into(), metadata);
    }
    Ok(Value::Map(definition.into()))
}

/// The configuration of a group of servers: the name of the resource that the group refers to.
fn configuration_of(properties: &Members) -> Option<Result<Arc<str>, Arc<str>>> {
    match properties.get("LaunchConfigurationName").map(open)? {
        Value::Unknown(Unknown::Reference(name)) => Some(Ok(name.clone())),
        Value::Text(name) if !name.is_empty() => Some(Err(name.clone())),
        _ => None,
    }
}

/// Refuses a group whose launch configuration is not referred to, or is not there.
pub(crate) fn check_configuration(
    properties: &Members,
    siblings: &dyn SiblingDefinitions,
) -> Result<(), PropertyError> {
    let Some(Err(name)) = configuration_of(properties) else { return Ok(()) };
    let why = match siblings.type_name(&name) {
        None => "reference can not be found.",
        Some(_) => "requires a reference to the configuration not just the name of the resource.",
    };
    let message = format!("LaunchConfigurationName ({name}) {why}");
    Err(PropertyError::exception("ValueError", message))
}

/// The stack of a group of servers for validation, with one member.
pub(crate) fn expansion(
    properties: &Members,
    siblings: &dyn SiblingDefinitions,
    size: usize,
) -> Option<Expansion> {
    let name = configuration_of(properties)?.ok().filter(|_| size > 0)?;
    let mut written = siblings.properties(&name)?;
    written.retain(|_, value| !value.is_null());
    let definition =
        map([("Type", Value::from(MEMBER_TYPE)), ("Properties", Value::Map(written.into()))]);
    let template = template(Dialect::Cfn, &[("member".into(), definition)]);
    let sample = Some(Sample { shown: 1, total: size });
    Some(Expansion { aliases: aliases(), sample, ..Expansion::generated(template) })
}

/// Checks that the load balancers of a group exist and have a type that supports groups.
pub(crate) fn check_balancers(group: &Group<'_>) -> Result<(), OpError> {
    for name in balancers(group.properties) {
        let why = match group.siblings.type_name(name).as_deref() {
            Some(LOAD_BALANCER) => continue,
            Some(kind) => {
                format!("it is of the type {kind}; only {LOAD_BALANCER} takes members of a group")
            }
            None => "there is no resource of this name in the stack".to_owned(),
        };
        let message = format!("Unsupported resource '{name}' in LoadBalancerNames: {why}");
        return Err(OpError::failed(FailureClass::Error, message));
    }
    Ok(())
}

/// Whether a group names a load balancer.
pub(crate) fn is_balanced_by(group: &Members, balancer: &str) -> bool {
    balancers(group).any(|name| name == balancer)
}

fn balancers(group: &Members) -> impl Iterator<Item = &str> {
    items(group, "LoadBalancerNames").iter().filter_map(|it| open(it).as_text()).map(|it| &**it)
}

/// The tags of a member: those of the group, and one with the group's name unless the template has a tag that
/// starts with `metering.`.
fn tags(group: &Group<'_>, group_tag: &'static str) -> Value {
    let own = items(group.properties, "Tags");
    let is_metered = own
        .iter()
        .filter_map(Value::as_map)
        .any(|tag| given(tag, "Key").is_some_and(|key| print::plain(key).starts_with("metering.")));
    let by_group = map([("Key", Value::from(group_tag)), ("Value", Value::from(group.reference))]);
    Value::list(own.iter().cloned().chain((!is_metered).then_some(by_group)))
}

/// Reads the pace from an update policy; it is an error if the pause exceeds an hour.
pub(crate) fn pace(policy: &Members) -> Result<Pace, OpError> {
    let written = text(policy, "PauseTime").unwrap_or("PT0S");
    let bad = |message: String| OpError::failed(FailureClass::ValueError, message);
    let pause: jiff::SignedDuration = written
        .parse()
        .map_err(|_| bad(format!("PauseTime {written:?} is no length of time such as PT5M")))?;
    let pause = Duration::try_from(pause).unwrap_or_default();
    if pause > LONGEST_PAUSE {
        return Err(bad("Maximum PauseTime is 1 hour.".to_owned()));
    }
    Ok(Pace {
        batch: count(policy, "MaxBatchSize").unwrap_or(1),
        min_in_service: count(policy, "MinInstancesInService").unwrap_or(0),
        pause,
    })
}

/// Maps the type of the members to `AWS::EC2::Instance`, which the user may map to another type.
pub(crate) fn aliased(stage: Stage) -> Stage {
    Stage { aliases: aliases(), ..stage }
}

fn aliases() -> Vec<(Arc<str>, Arc<str>)> {
    vec![(MEMBER_TYPE.into(), "AWS::EC2::Instance".into())]
}
