//! Groups, stage by stage, as the reference makes them and better where it leaves members behind.

use crate::stack::{Sibling, Stack, json, members};
use kiln_resources::behaviour::{Group, GroupMember, OperationKind, Stage, StageFn};
use kiln_resources::declare::{Members, Value};
use kiln_resources::op::{FailureClass, OpError};
use kiln_resources::registry::Registry;
use kiln_template::print::{Keys, json as written};
use proptest::prelude::*;
use std::time::Duration;

/// A group with its nested stack, to which stages are applied.
struct World {
    stages: StageFn,
    properties: Members,
    update_policy: Members,
    data: Members,
    members: Vec<GroupMember>,
    has_stack: bool,
    stack: Stack,
    timeout: Duration,
    drawn: usize,
}

impl World {
    fn new(kind: &str, properties: &str, update_policy: &str) -> World {
        let registry = Registry::builtin();
        World {
            stages: registry.get(kind).and_then(|kind| kind.behaviour.stages).expect("stages"),
            properties: members(properties),
            update_policy: members(update_policy),
            data: Members::new(),
            members: Vec::new(),
            has_stack: false,
            stack: Stack::default(),
            timeout: Duration::from_secs(3600),
            drawn: 0,
        }
    }

    fn set(&mut self, property: &str, value: &str) -> &mut World {
        self.properties.insert(property.into(), json(value));
        self
    }

    /// What the nested stack should be next.
    fn stage(
        &mut self,
        operation: OperationKind,
        wanted_size: Option<usize>,
    ) -> Result<Stage, OpError> {
        let drawn = &mut self.drawn;
        (self.stages)(&mut Group {
            name: "g",
            operation,
            reference: "group-id",
            properties: &self.properties,
            update_policy: &self.update_policy,
            data: &self.data,
            members: &self.members,
            is_new: !self.has_stack,
            max_size: 1000,
            wanted_size,
            siblings: &self.stack,
            timeout: self.timeout,
            new_id: &mut || {
                *drawn += 1;
                format!("m{drawn}")
            },
        })
    }

    /// Makes the nested stack what a stage says, and tells what was done: `+` made, `~` changed, `-` gone.
    fn apply(&mut self, stage: &Stage) -> String {
        let template = stage.template.as_map().expect("a template");
        let resources = template.get("resources").or_else(|| template.get("Resources"));
        let wanted = resources.and_then(Value::as_map).expect("members");
        let mut done = Vec::new();
        for member in &self.members {
            if !wanted.contains_key(&member.name) {
                done.push(format!("-{}", member.name));
            }
        }
        self.members.retain(|member| wanted.contains_key(&member.name));
        for (name, definition) in wanted {
            match self.members.iter_mut().find(|member| member.name == *name) {
                Some(member) => {
                    if member.definition != *definition {
                        done.push(format!("~{name}"));
                    }
                    member.definition = definition.clone();
                    member.is_failed = false;
                }
                None => {
                    done.push(format!("+{name}"));
                    let reference = format!("ref-{name}").into();
                    let (name, definition) = (name.clone(), definition.clone());
                    self.members.push(GroupMember {
                        name,
                        definition,
                        reference,
                        is_failed: false,
                    });
                }
            }
        }
        for (key, value) in &stage.data {
            if value.is_null() {
                self.data.shift_remove(key);
            } else {
                self.data.insert(key.clone(), value.clone());
            }
        }
        self.has_stack = true;
        done.join(" ")
    }

    /// Carries out all stages and tells what was done in each.
    fn run(&mut self, operation: OperationKind, wanted_size: Option<usize>) -> Vec<String> {
        let mut done = Vec::new();
        loop {
            let stage = self.stage(operation, wanted_size).expect("a stage");
            done.push(self.apply(&stage));
            if stage.is_last {
                return done;
            }
            assert!(done.len() < 1000, "never ends: {done:?}");
        }
    }

    fn create(&mut self) -> Vec<String> {
        self.run(OperationKind::Create, None)
    }

    fn update(&mut self) -> Vec<String> {
        self.run(OperationKind::Update, None)
    }

    fn names(&self) -> Vec<&str> {
        self.members.iter().map(|member| &*member.name).collect()
    }
}

fn resource_group(count: usize, update_policy: &str) -> World {
    let properties = format!(
        r#"{{"count": {count}, "index_var": "%index%", "removal_policies": [], "removal_policies_mode": "append",
             "resource_def": {{"type": "OS::Heat::TestResource", "properties": {{"value": "a"}}}}}}"#
    );
    World::new("OS::Heat::ResourceGroup", &properties, update_policy)
}

const OTHER_DEF: &str = r#"{"type": "OS::Heat::TestResource", "properties": {"value": "b"}}"#;

#[test]
fn no_member_is_made_up_of_a_group_that_is_too_large() {
    for (name, properties) in [
        ("OS::Heat::ResourceGroup", r#"{"count": 1000000000, "resource_def": {"type": "T"}}"#),
        (
            "OS::Heat::ResourceGroup",
            r#"{"count": 1000000000000000000000, "resource_def": {"type": "T"}}"#,
        ),
        (
            "OS::Heat::AutoScalingGroup",
            r#"{"min_size": 1000000, "max_size": 2000000, "resource": {"type": "T"}}"#,
        ),
    ] {
        let Err(OpError::Failed(failure)) =
            World::new(name, properties, "{}").stage(OperationKind::Create, None)
        else {
            panic!("no failure")
        };
        assert_eq!(failure.class, FailureClass::RequestLimitExceeded);
    }
}

#[test]
fn members_are_numbered_and_know_their_numbers() {
    let mut group = resource_group(2, "{}");
    let definition = r#"{"type": "T", "metadata": {"a": "%index%"},
                         "properties": {"value": "v-%index%", "deep": [{"k": "%index%"}], "fail": null}}"#;
    group.set("resource_def", definition);
    let stage = group.stage(OperationKind::Create, None).expect("a stage");
    assert!(stage.is_last);
    let template = json(
        r#"{"heat_template_version": "2015-04-30", "resources": {
            "0": {"type": "T", "metadata": {"a": "%index%"}, "properties": {"value": "v-0", "deep": [{"k": "0"}]}},
            "1": {"type": "T", "metadata": {"a": "%index%"}, "properties": {"value": "v-1", "deep": [{"k": "1"}]}}},
            "outputs": {"refs_map": {"value": {"0": {"get_resource": "0"}, "1": {"get_resource": "1"}}}}}"#,
    );
    assert_eq!(stage.template, template);
}

#[test]
fn a_hidden_size_is_a_size() {
    let mut group = resource_group(1, "{}");
    group.properties.insert("count".into(), Value::Secret(kiln_template::Secret::new(2.into())));
    assert_eq!(group.create(), ["+0 +1"]);
}

#[test]
fn removed_members_are_remembered() {
    let mut group = resource_group(3, "{}");
    assert_eq!(group.create(), ["+0 +1 +2"]);
    assert_eq!(group.set("count", "2").update(), ["-2"]);
    let removal = r#"[{"resource_list": ["0"]}]"#;
    assert_eq!(group.set("removal_policies", removal).update(), ["-0 +2"]);
    assert_eq!(group.data["name_blacklist"], "0".into());
    assert_eq!(group.set("removal_policies", "[]").update(), [""]);
    assert_eq!(group.names(), ["1", "2"]);
    assert_eq!(group.set("removal_policies_mode", r#""update""#).update(), ["-2 +0"]);
    assert_eq!(group.data["name_blacklist"], "".into());
}

#[test]
fn members_are_removed_by_number_or_by_what_they_are_called() {
    let mut group = resource_group(3, "{}");
    group.create();
    group.set(
        "removal_policies",
        r#"[{"resource_list": [1, "nobody"]}, {"resource_list": ["ref-2"]}]"#,
    );
    group.set("removal_policies_mode", r#""update""#);
    assert_eq!(group.update(), ["-1 -2 +3 +4"]);
    assert_eq!(group.update(), [""], "what is gone stays gone while it is listed");
    assert_eq!(group.data["name_blacklist"], "1,2".into());
    let mut new = resource_group(2, "{}");
    new.set("removal_policies", r#"[{"resource_list": ["1", "nobody"]}]"#);
    assert_eq!(new.create(), ["+0 +2"]);
}

#[test]
fn without_a_policy_everything_changes_at_once() {
    let mut group = resource_group(3, "{}");
    group.create();
    assert_eq!(group.set("resource_def", OTHER_DEF).set("count", "2").update(), ["-2 ~0 ~1"]);
}

#[test]
fn a_group_is_created_in_batches() {
    let mut group =
        resource_group(3, r#"{"batch_create": {"max_batch_size": 2, "pause_time": 7}}"#);
    let empty = group.stage(OperationKind::Create, None).expect("a stage");
    assert_eq!((empty.is_last, empty.pause), (false, Duration::ZERO));
    assert_eq!(group.apply(&empty), "");
    let first = group.stage(OperationKind::Create, None).expect("a stage");
    assert_eq!((first.is_last, first.pause), (false, Duration::from_secs(7)));
    assert_eq!(group.apply(&first), "+0 +1");
    let second = group.stage(OperationKind::Create, None).expect("a stage");
    assert_eq!((second.is_last, second.pause), (true, Duration::ZERO));
    assert_eq!(group.apply(&second), "+2");
    // The policy is for creation only.
    assert_eq!(group.set("count", "6").update(), ["+3 +4 +5"]);
    let mut none = resource_group(0, r#"{"batch_create": {"max_batch_size": 2}}"#);
    assert_eq!(none.create(), [""]);
}

#[test]
fn a_rolling_update_makes_new_members_first_and_changes_old_ones_from_the_last() {
    let policy =
        r#"{"rolling_update": {"max_batch_size": 1, "min_in_service": 0, "pause_time": 0}}"#;
    let mut group = resource_group(2, policy);
    group.set("removal_policies", r#"[{"resource_list": ["1"]}]"#);
    assert_eq!(group.create(), ["+0 +2"]);
    group.set("resource_def", OTHER_DEF).set("count", "4");
    assert_eq!(group.update(), ["+3", "+4", "~2", "~0"]);
    // Without a change of the definition it is done at once.
    assert_eq!(group.set("count", "1").update(), ["-2 -3 -4"]);
}

#[test]
fn a_group_grows_for_a_while_to_keep_enough_in_service() {
    let policy = r#"{"rolling_update": {"max_batch_size": 1, "min_in_service": 3}}"#;
    let mut group = resource_group(3, policy);
    group.create();
    assert_eq!(group.set("resource_def", OTHER_DEF).update(), ["+3", "~2", "~1", "~0", "-3"]);
}

#[test]
fn a_rolling_update_that_was_given_up_goes_on_where_it_was() {
    let policy = r#"{"rolling_update": {"max_batch_size": 1, "min_in_service": 3}}"#;
    let mut group = resource_group(3, policy);
    group.create();
    group.set("resource_def", OTHER_DEF);
    for _ in 0..2 {
        let stage = group.stage(OperationKind::Update, None).expect("a stage");
        group.apply(&stage);
    }
    assert_eq!(group.update(), ["~1", "~0", "-3"]);
}

#[test]
fn pauses_that_take_all_the_time_fail_at_once() {
    let mut group =
        resource_group(3, r#"{"rolling_update": {"max_batch_size": 1, "pause_time": 2000}}"#);
    group.create();
    let stop = group
        .set("resource_def", OTHER_DEF)
        .stage(OperationKind::Update, None)
        .expect_err("too long");
    let expected = "The current update policy will result in stack update timeout.";
    assert_eq!(stop, OpError::failed(FailureClass::ValueError, expected));
}

// --- chains and deployments ---

#[test]
fn a_chain_is_made_one_after_the_other() {
    let properties = r#"{"resources": ["A", "B", "C"], "resource_properties": {"value": "c"}, "concurrent": false}"#;
    let mut chain = World::new("OS::Heat::ResourceChain", properties, "{}");
    assert_eq!(chain.create(), ["+0 +1 +2"]);
    let definitions: Vec<String> =
        chain.members.iter().map(|member| written(&member.definition, Keys::Ordered)).collect();
    assert_eq!(
        definitions,
        [
            r#"{"type": "A", "properties": {"value": "c"}}"#,
            r#"{"type": "B", "properties": {"value": "c"}, "depends_on": ["0"]}"#,
            r#"{"type": "C", "properties": {"value": "c"}, "depends_on": ["1"]}"#,
        ]
    );
    chain.set("concurrent", "true").update();
    assert!(
        chain.members.iter().all(|m| !written(&m.definition, Keys::Ordered).contains("depends_on"))
    );
    assert_eq!(chain.set("resources", r#"["A"]"#).update(), ["-1 -2"]);
}

#[test]
fn a_group_of_deployments_has_one_for_each_server() {
    let properties = r#"{"servers": {"b": "srv-b", "a": "srv-a"}, "config": "c1", "name": null,
                         "actions": ["CREATE"], "signal_transport": "NO_SIGNAL"}"#;
    let policy = r#"{"rolling_update": {"max_batch_size": 1, "pause_time": 0}}"#;
    let mut group = World::new("OS::Heat::SoftwareDeploymentGroup", properties, policy);
    assert_eq!(group.create(), ["+b +a"]);
    assert_eq!(
        group.members[0].definition,
        json(
            r#"{"type": "OS::Heat::SoftwareDeployment", "properties":
                {"config": "c1", "actions": ["CREATE"], "signal_transport": "NO_SIGNAL", "server": "srv-b"}}"#
        )
    );
    assert_eq!(group.set("config", r#""c2""#).update(), ["~a", "~b"]);
    group.set("servers", r#"{"b": "srv-b", "c": "srv-c", "d": "srv-d"}"#);
    assert_eq!(group.update(), ["-a +c", "+d"], "servers come in batches");
    let structured = World::new("OS::Heat::StructuredDeploymentGroup", properties, "{}").create();
    assert_eq!(structured, ["+b +a"]);
}

// --- scaling groups ---

fn scaling_group(rest: &str) -> World {
    let properties = format!(
        r#"{{"min_size": 1, "max_size": 6, "resource": {{"type": "T", "properties": {{"value": "a"}}}}, {rest}}}"#
    );
    World::new("OS::Heat::AutoScalingGroup", &properties, "{}")
}

const OTHER: &str = r#"{"type": "T", "properties": {"value": "b"}}"#;
const IN_SERVICE: &str =
    r#""rolling_updates": {"min_in_service": 3, "max_batch_size": 1, "pause_time": 0}"#;

#[test]
fn a_scaling_group_starts_with_what_is_desired_or_the_least() {
    assert_eq!(scaling_group(r#""desired_capacity": 3"#).create(), ["+m1 +m2 +m3"]);
    assert_eq!(scaling_group(r#""desired_capacity": null"#).create(), ["+m1"]);
    assert_eq!(scaling_group(r#""desired_capacity": 9"#).create().concat().matches('+').count(), 6);
}

#[test]
fn a_resize_takes_failed_members_first_then_the_oldest() {
    let mut group = scaling_group(r#""desired_capacity": 4"#);
    group.create();
    group.members[2].is_failed = true;
    assert_eq!(group.run(OperationKind::Update, Some(2)), ["-m1 -m3"]);
    assert_eq!(group.run(OperationKind::Update, Some(3)), ["+m5"]);
    // An update without a desired size keeps the size that scaling made.
    assert_eq!(group.set("desired_capacity", "null").update(), [""]);
    assert_eq!(group.set("max_size", "2").update(), ["-m2"]);
}

#[test]
fn a_rolling_update_leaves_no_member_behind() {
    let mut group = scaling_group(&format!(r#""desired_capacity": 3, {IN_SERVICE}"#));
    group.create();
    group.set("resource", OTHER);
    assert_eq!(group.update(), ["+m4", "~m1", "~m2", "-m3"]);
    assert!(group.members.iter().all(|member| member.definition == json(OTHER)));
    assert!(group.data.is_empty(), "{:?}", group.data);
}

#[test]
fn a_group_gets_its_new_size_after_its_old_members_changed() {
    let mut group = scaling_group(&format!(r#""desired_capacity": 2, {IN_SERVICE}"#));
    group.create();
    group.set("resource", OTHER).set("desired_capacity", "4");
    assert_eq!(group.update(), ["+m3", "~m1", "-m2", "+m4 +m5"]);
    group.set("resource", r#"{"type": "T"}"#).set("desired_capacity", "1");
    assert_eq!(group.update(), ["-m1 -m3 ~m4", "-m5"]);
}

#[test]
fn a_group_that_grew_for_a_while_does_not_stay_so() {
    let mut group =
        scaling_group(&format!(r#""desired_capacity": null, "min_size": 3, {IN_SERVICE}"#));
    group.create();
    group.set("resource", OTHER);
    for expected in ["+m4", "~m1"] {
        let stage = group.stage(OperationKind::Update, None).expect("a stage");
        assert_eq!(group.apply(&stage), expected);
    }
    // The update failed here; another one takes the change back.
    group.set("resource", r#"{"type": "T", "properties": {"value": "a"}}"#);
    group.update();
    assert_eq!(group.members.len(), 3);
    assert!(group.data.is_empty(), "{:?}", group.data);
}

fn instance_group(kind: &str, rest: &str, policy: &str) -> World {
    let properties = format!(
        r#"{{"AvailabilityZones": ["z"], "LaunchConfigurationName": "conf-ref", "Tags": null, {rest}}}"#
    );
    let mut group = World::new(kind, &properties, policy);
    let mut configuration = Sibling::new("conf", "conf-ref");
    configuration.properties = members(r#"{"ImageId": "i", "InstanceType": "f", "KeyName": null}"#);
    configuration.metadata = json(r#"{"m": 1}"#);
    group.stack = Stack(vec![configuration]);
    group
}

#[test]
fn servers_are_made_from_a_launch_configuration() {
    let mut group = instance_group(
        "AWS::AutoScaling::AutoScalingGroup",
        r#""MinSize": 1, "MaxSize": 3, "DesiredCapacity": 2, "VPCZoneIdentifier": ["subnet"]"#,
        "{}",
    );
    let stage = group.stage(OperationKind::Create, None).expect("a stage");
    assert_eq!(stage.aliases, [("OS::Heat::ScaledResource".into(), "AWS::EC2::Instance".into())]);
    assert!(
        written(&stage.template, Keys::Ordered)
            .starts_with(r#"{"HeatTemplateFormatVersion": "2012-12-12", "#)
    );
    assert_eq!(group.apply(&stage), "+m1 +m2");
    assert_eq!(
        group.members[0].definition,
        json(
            r#"{"Type": "OS::Heat::ScaledResource", "Metadata": {"m": 1}, "Properties":
                {"ImageId": "i", "InstanceType": "f", "SubnetId": "subnet",
                 "Tags": [{"Key": "metering.AutoScalingGroupName", "Value": "group-id"}]}}"#
        )
    );
    // Without a policy, old members keep what they have.
    group.stack.0[0].properties = members(r#"{"ImageId": "j", "InstanceType": "f"}"#);
    assert_eq!(group.set("DesiredCapacity", "3").update(), ["+m3"]);
}

#[test]
fn servers_change_one_after_the_other_if_a_policy_says_so() {
    let policy = r#"{"RollingUpdate": {"MaxBatchSize": 1, "MinInstancesInService": 0, "PauseTime": "PT1M"}}"#;
    let mut group = instance_group("OS::Heat::InstanceGroup", r#""Size": 2"#, policy);
    group.create();
    group.stack.0[0].properties = members(r#"{"ImageId": "j"}"#);
    let stage = group.stage(OperationKind::Update, None).expect("a stage");
    assert_eq!(stage.pause, Duration::from_secs(60));
    assert_eq!(group.update(), ["~m1", "~m2"]);
    for (pause, message) in [
        ("PT2H", "Maximum PauseTime is 1 hour."),
        ("soon", "PauseTime \"soon\" is no length of time such as PT5M"),
    ] {
        group.update_policy = members(&policy.replace("PT1M", pause));
        let stop = group.stage(OperationKind::Update, None).expect_err("a bad pause");
        assert_eq!(stop, OpError::failed(FailureClass::ValueError, message));
    }
}

#[test]
fn a_launch_configuration_is_needed_by_reference() {
    let mut group = instance_group("OS::Heat::InstanceGroup", r#""Size": 2"#, "{}");
    group.set("LaunchConfigurationName", r#""conf""#);
    let Err(OpError::Failed(failure)) = group.stage(OperationKind::Create, None) else {
        panic!("no failure")
    };
    let end = "requires a reference to the configuration not just the name of the resource.";
    assert!(failure.message.ends_with(end), "{failure}");
}

#[test]
fn only_balancers_that_are_told_of_members_can_be_named() {
    let mut group = instance_group("OS::Heat::InstanceGroup", r#""Size": 1"#, "{}");
    let mut refusal = |names: &str| {
        group.set("LoadBalancerNames", names);
        match group.stage(OperationKind::Create, None) {
            Err(OpError::Failed(failure)) => failure.message,
            _ => String::new(),
        }
    };
    assert_eq!(refusal(r#"["lb"]"#), "");
    assert_eq!(
        refusal(r#"["lb", "conf"]"#),
        "Unsupported resource 'conf' in LoadBalancerNames: it is of the type OS::Heat::None; only \
         AWS::ElasticLoadBalancing::LoadBalancer takes members of a group"
    );
    assert_eq!(
        refusal(r#"["lost"]"#),
        "Unsupported resource 'lost' in LoadBalancerNames: there is no resource of this name in the stack"
    );
}

proptest! {
    #[test]
    fn every_update_of_every_group_ends_at_its_target(
        before in 0..8_usize, after in 0..8_usize, batch in 1..4_usize, min in 0..9_usize,
        failed in prop::collection::vec(any::<bool>(), 8),
        changes: bool, removed in prop::collection::vec(0..9_usize, 0..3), interrupted in 0..6_usize,
    ) {
        let policy = format!(r#"{{"rolling_update": {{"max_batch_size": {batch}, "min_in_service": {min}}}}}"#);
        let mut numbered = resource_group(before, &policy);
        numbered.set("removal_policies", &format!(r#"[{{"resource_list": {removed:?}}}]"#));
        let mut scaled = scaling_group(&format!(
            r#""desired_capacity": {before}, "min_size": 0, "max_size": 9,
               "rolling_updates": {{"max_batch_size": {batch}, "min_in_service": {min}, "pause_time": 0}}"#
        ));
        for (group, size, definition) in
            [(&mut numbered, "count", "resource_def"), (&mut scaled, "desired_capacity", "resource")]
        {
            group.create();
            prop_assert_eq!(group.members.len(), before);
            for (member, failed) in group.members.iter_mut().zip(&failed) {
                member.is_failed = *failed;
            }
            group.set(size, &after.to_string());
            if changes {
                group.set(definition, OTHER);
            }
            // Some stages of an update that fails, and then another update.
            for _ in 0..interrupted {
                let stage = group.stage(OperationKind::Update, None).expect("a stage");
                group.apply(&stage);
                if stage.is_last {
                    break;
                }
            }
            group.update();
            prop_assert_eq!(group.members.len(), after);
            let wanted = group.properties[definition].clone();
            prop_assert!(group.members.iter().all(|member| member.definition == wanted));
            prop_assert_eq!(group.update(), [""]);
        }
    }
}
