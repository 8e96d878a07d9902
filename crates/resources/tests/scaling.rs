//! What scaling policies do when they are signalled.

use crate::driving::START;
use crate::stack::{Nested, Sibling, Stack, json, members, view};
use kiln_resources::behaviour::{Resize, Signal, SignalOutcome, View};
use kiln_resources::declare::Value;
use kiln_resources::registry::Registry;

const RESTING: &str =
    r#"{"cooldown_end": {"2030-01-01T00:00:00": "x : 1"}, "scaling_in_progress": false}"#;

fn group() -> Sibling {
    let mut group = Sibling::new("g", "group-id");
    group.properties = members(r#"{"min_size": 1, "max_size": 4, "cooldown": 60}"#);
    group.size = 2;
    group
}

fn signalled(policy: &str, group: Sibling) -> Result<SignalOutcome, String> {
    let (properties, stack) = (members(policy), Stack(vec![group]));
    let kind = Registry::builtin();
    let kind = kind.get("OS::Heat::ScalingPolicy").expect("the type");
    let details = json(r#"{"current": "ok"}"#);
    let signal = Signal { details: &details, now: START, is_busy: false };
    kind.behaviour.signal.expect("signals")(&view("p", &properties, &stack), &signal)
}

fn resize(policy: &str, group: Sibling) -> Option<Resize> {
    let heard = signalled(policy, group).expect("heard");
    assert_eq!(heard.is_ignored, heard.resize.is_none(), "nothing leaves no event");
    heard.resize
}

const UP: &str = r#"{"auto_scaling_group_id": "group-id", "adjustment_type": "change_in_capacity",
                     "scaling_adjustment": 1}"#;

#[test]
fn a_policy_resizes_its_group_and_lets_it_rest() {
    let resize = resize(UP, group()).expect("a resize");
    assert_eq!((&*resize.group, resize.size), ("g", 3));
    assert_eq!(resize.metadata, json(r#"{"scaling_in_progress": true}"#));
    let after = resize.cooldown.after_resize(&resize.metadata, START + 5_000_000);
    let end = r#"{"scaling_in_progress": false, "cooldown_end": {"2026-11-16T00:58:43": "change_in_capacity : 1"}}"#;
    assert_eq!(after, json(end));
}

#[test]
fn a_policy_does_nothing_where_nothing_can_be_done() {
    let full = Sibling { size: 4, ..group() };
    assert!(resize(UP, full).is_none(), "the group is as large as it may be");
    let busy = Sibling { is_complete: false, ..group() };
    assert!(resize(UP, busy).is_none(), "something is done with the group");
    let resting = Sibling { metadata: json(RESTING), ..group() };
    assert!(resize(UP, resting).is_none(), "the group was resized lately");
    let scaling = Sibling { metadata: json(r#"{"scaling_in_progress": true}"#), ..group() };
    assert!(resize(UP, scaling).is_none(), "the group is being resized");
}

#[test]
fn a_policy_needs_a_group_of_its_stack() {
    let error = signalled(UP, Sibling::new("g", "another")).err();
    assert_eq!(error.as_deref(), Some("Alarm p could not find scaling group named \"group-id\""));
}

#[test]
fn a_group_rests_after_it_was_made() {
    let nested = Nested(vec![("a", Value::Null), ("b", Value::Null)]);
    let (properties, stack) = (members(r#"{"cooldown": 10}"#), Stack::default());
    let view = View { nested: Some(&nested), ..view("g", &properties, &stack) };
    for name in ["OS::Heat::AutoScalingGroup", "AWS::AutoScaling::AutoScalingGroup"] {
        let registry = Registry::builtin();
        let rests = registry.get(name).and_then(|kind| kind.behaviour.cooldown).expect("a rest");
        let cooldown = rests(&view);
        assert_eq!(cooldown.reason, "ExactCapacity : 2");
        assert_eq!(cooldown.length.as_secs(), 10);
    }
}
