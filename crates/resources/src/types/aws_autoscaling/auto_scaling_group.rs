//! AWS::AutoScaling::AutoScalingGroup: a group of servers that grows and shrinks between two
//! bounds.

use crate::declare::*;
use crate::types::aws_ec2::key_value;

pub(super) fn auto_scaling_group() -> ResourceType {
    ResourceType::new("AWS::AutoScaling::AutoScalingGroup")
        .about("A group of servers that grows and shrinks between two bounds.")
        .nested()
        .since("2014.1")
        .props([
            prop("AvailabilityZones", List).required(),
            prop("Cooldown", Int).updatable(),
            prop("DesiredCapacity", Int).updatable(),
            prop("HealthCheckGracePeriod", Int).unimplemented(),
            prop("HealthCheckType", Str).unimplemented().one_of(["EC2", "ELB"]),
            prop("InstanceId", Str).is("nova.server"),
            prop("LaunchConfigurationName", Str).updatable(),
            prop("LoadBalancerNames", List),
            prop("MaxSize", Int).required().updatable(),
            prop("MinSize", Int).required().updatable(),
            prop("Tags", List).each(key_value()),
            prop("VPCZoneIdentifier", List).each(item(Str)),
        ])
        .attrs([attr("InstanceList", Str)])
        .update_policy([prop("AutoScalingRollingUpdate", Map).members([
            prop("MaxBatchSize", Int).default(1),
            prop("MinInstancesInService", Int).default(0),
            prop("PauseTime", Str).default("PT0S"),
        ])])
}
