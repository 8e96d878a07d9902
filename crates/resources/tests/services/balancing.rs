//! `AWS::ElasticLoadBalancing::LoadBalancer`: a nested stack with a server that balances.

use super::{kind, refusal};
use crate::stack::{json, members};
use kiln_resources::behaviour::{Group, InService, OperationKind, Siblings, View};
use kiln_resources::declare::{Members, Value};
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "AWS::ElasticLoadBalancing::LoadBalancer";

/// A stack with a server `web`, whose id is `id-1`, groups, and a key.
struct Around;

impl Siblings for Around {
    fn by_reference(&self, reference: &str) -> Option<Arc<str>> {
        (reference == "id-1").then(|| "web".into())
    }

    fn properties(&self, _: &str) -> Option<Arc<Members>> {
        None
    }

    fn metadata(&self, _: &str) -> Option<Value> {
        None
    }

    fn size(&self, _: &str) -> Option<usize> {
        None
    }

    fn is_complete(&self, _: &str) -> bool {
        true
    }

    fn attribute(&self, name: &str, attribute: &str) -> Option<Value> {
        (name == "web" && attribute == "PublicIp").then(|| "10.0.0.7".into())
    }

    fn parameter(&self, name: &str) -> Option<Value> {
        (name == "KeyName").then(|| "mine".into())
    }

    /// Two groups, of which one names the balancer.
    fn groups(&self, kinds: &[&str], attributes: &[&str]) -> Vec<InService> {
        assert!(kinds.contains(&"AWS::AutoScaling::AutoScalingGroup"));
        assert!(attributes.contains(&"PublicIp"));
        let group = |balancer: &str, members: &[&str]| InService {
            properties: Arc::new(
                [("LoadBalancerNames".into(), Value::list([balancer.into()]))]
                    .into_iter()
                    .collect(),
            ),
            members: members.iter().map(|it| Value::from(*it)).collect(),
        };
        let (ours, other) =
            (group("lb", &["10.0.0.8", "0.0.0.0", "10.0.0.9"]), group("other", &["10.0.0.10"]));
        vec![ours, other]
    }
}

#[test]
fn the_server_balances_the_members_that_have_an_address() {
    let properties = members(
        r#"{"Listeners": [{"InstancePort": 8080, "LoadBalancerPort": 80, "Protocol": "HTTP"}], "Instances": ["id-1", "gone"],
            "HealthCheck": {"HealthyThreshold": 3, "UnhealthyThreshold": 5, "Interval": 30, "Timeout": 5, "Target": "HTTP:80/"},
            "SecurityGroups": ["sg"]}"#,
    );
    let empty = Members::new();
    let mut group = Group {
        name: "lb",
        operation: OperationKind::Create,
        reference: "lb",
        properties: &properties,
        update_policy: &empty,
        data: &empty,
        members: &[],
        is_new: true,
        wanted_size: None,
        max_size: 1000,
        siblings: &Around,
        timeout: Duration::from_secs(3600),
        new_id: &mut String::new,
    };
    let stages = kind(NAME).behaviour.stages.expect("a nested stack");
    let stage = stages(&mut group).expect("a stage");
    assert!(stage.is_last);
    let at = |path: &[&str]| {
        path.iter().fold(stage.template.clone(), |value, key| {
            value.as_map().and_then(|map| map.get(*key)).cloned().unwrap_or_default()
        })
    };
    let server = |part: &str| at(&["Resources", "LB_instance", "Properties", part]);
    assert_eq!(server("KeyName"), Value::from("mine"));
    assert_eq!(server("SecurityGroups"), json(r#"["sg"]"#));
    let init =
        ["Resources", "LB_instance", "Metadata", "AWS::CloudFormation::Init", "config", "files"];
    let file = at(&[&init[..], &["/etc/haproxy/haproxy.cfg", "content"]].concat());
    let file = file.as_text().expect("a configuration").to_string();
    assert!(file.contains("bind *:80\n"), "{file}");
    let member = "    server server1 10.0.0.7:8080 check inter 30s fall 5 rise 3\n";
    assert!(file.ends_with(member), "{file}");
}

#[test]
fn the_server_is_told_of_the_groups_that_name_the_balancer() {
    let properties = members(
        r#"{"Listeners": [{"InstancePort": 8080, "LoadBalancerPort": 80, "Protocol": "HTTP"}], "Instances": ["id-1"]}"#,
    );
    let nothing = Members::new();
    let view = View {
        name: "lb",
        physical_name: "s-lb-abcdefghijkl",
        physical_id: None,
        properties: &properties,
        data: &nothing,
        metadata: &Value::Null,
        remote: &Value::Null,
        arn: "",
        nested: None,
        siblings: &Around,
    };
    let inside = kind(NAME).behaviour.nested_metadata.expect("what is told inside");
    assert_eq!(inside(&view, "another", &Value::Null), None);
    let before = json(
        r#"{"AWS::CloudFormation::Init": {"config": {"files": {"/etc/haproxy/haproxy.cfg": {"mode": "000644"}, "/kept": {}}}}}"#,
    );
    let told = inside(&view, "LB_instance", &before).expect("metadata");
    let told = kiln_template::print::plain(&told);
    assert!(told.contains("/kept") && told.contains("000644"), "{told}");
    let servers: Vec<&str> =
        told.split("\\n").map(str::trim).filter(|it| it.starts_with("server ")).collect();
    let expected = [
        "server server1 10.0.0.7:8080",
        "server server2 10.0.0.8:8080",
        "server server3 10.0.0.9:8080",
    ];
    assert_eq!(servers, expected, "{told}");
}

#[test]
fn a_test_must_be_able_to_end_before_the_next() {
    let health = |interval: u32, timeout: u32| {
        refusal(
            NAME,
            &format!(r#"{{"HealthCheck": {{"Interval": {interval}, "Timeout": {timeout}}}}}"#),
        )
    };
    assert_eq!(health(5, 30).as_deref(), Some("Interval must be larger than Timeout"));
    assert_eq!(health(30, 5), None);
}
