//! What the types do that need no cloud, as the reference does it.

use crate::driving::{Configs, Drive, Nothing, START, World};
use crate::stack::{Nested, Sibling, Stack, json, members, view};
use kiln_resources::behaviour::{DefinitionChange, OperationKind, Signal, SignalOutcome, View};
use kiln_resources::declare::{Members, ResourceType, Value};
use kiln_resources::op::Answer;
use kiln_resources::registry::Registry;
use kiln_template::Secret;
use kiln_template::print::{Keys, json as written};
use std::collections::BTreeSet;

fn kind(name: &str) -> ResourceType {
    Registry::builtin().get(name).unwrap_or_else(|| panic!("no {name}")).clone()
}

fn created(name: &str, properties: &str) -> Drive {
    let mut drive = Drive::new(members(properties));
    drive.run(&kind(name), OperationKind::Create, &mut Nothing);
    drive
}

/// An attribute of a resource as it is after an operation.
fn attribute(name: &str, drive: &Drive, attribute: &str) -> Value {
    let stack = Stack::default();
    let view = View {
        data: &drive.context.data,
        physical_id: drive.context.physical_id.as_deref(),
        ..view("x", &drive.context.properties, &stack)
    };
    let answer = kind(name).behaviour.attribute.expect("attributes")(&view, attribute, &[]);
    answer.expect("an answer").expect("such an attribute")
}

fn reference(name: &str, drive: &Drive) -> Value {
    let stack = Stack::default();
    let view = View { data: &drive.context.data, ..view("x", &drive.context.properties, &stack) };
    kind(name).behaviour.reference.expect("a reference of its own")(&view)
}

// --- values ---

#[test]
fn a_value_is_its_property() {
    let drive = created("OS::Heat::Value", r#"{"value": {"a": [1]}}"#);
    assert_eq!(drive.context.physical_id.as_deref(), Some("stack-x-abcdefghijkl"));
    assert_eq!(attribute("OS::Heat::Value", &drive, "value"), json(r#"{"a": [1]}"#));
}

fn drawn(properties: &str) -> String {
    let drive = created("OS::Heat::RandomString", properties);
    assert_eq!(drive.result(), &Ok(()), "{properties}");
    let value = attribute("OS::Heat::RandomString", &drive, "value");
    assert_eq!(reference("OS::Heat::RandomString", &drive), value);
    value.as_text().expect("a text").to_string()
}

#[test]
fn a_random_string_has_what_was_asked_for() {
    let text = drawn(
        r#"{"length": 60, "character_classes": [{"class": "digits", "min": 2}],
            "character_sequences": [{"sequence": "+-", "min": 3}]}"#,
    );
    assert_eq!(text.len(), 60);
    assert!(text.chars().filter(char::is_ascii_digit).count() >= 2, "{text}");
    assert!(text.chars().filter(|c| "+-".contains(*c)).count() >= 3, "{text}");
    assert!(text.chars().all(|c| c.is_ascii_digit() || "+-".contains(c)), "{text}");
    assert_eq!(
        drawn(r#"{"length": 1, "character_classes": [{"class": "digits", "min": 1}]}"#).len(),
        1
    );
}

#[test]
fn every_character_of_a_class_can_be_drawn_and_no_other() {
    let (upper, lower, digits) = ('A'..='Z', 'a'..='z', '0'..='9');
    let classes: [(&str, BTreeSet<char>); 7] = [
        ("lettersdigits", upper.clone().chain(lower.clone()).chain(digits.clone()).collect()),
        ("letters", upper.clone().chain(lower.clone()).collect()),
        ("lowercase", lower.collect()),
        ("uppercase", upper.collect()),
        ("digits", digits.clone().collect()),
        ("hexdigits", digits.chain('A'..='F').collect()),
        ("octdigits", ('0'..='7').collect()),
    ];
    for (class, expected) in classes {
        let text = drawn(&format!(
            r#"{{"length": 512, "character_classes": [{{"class": "{class}", "min": 1}}]}}"#
        ));
        assert_eq!(text.chars().collect::<BTreeSet<_>>(), expected, "{class}");
    }
}

#[test]
fn nothing_can_be_drawn_from_nothing() {
    let drive = created(
        "OS::Heat::RandomString",
        r#"{"length": 8, "character_classes": [], "character_sequences": []}"#,
    );
    assert_eq!(drive.failure(), "IndexError: Cannot choose from an empty sequence");
}

#[test]
fn a_placeholder_gets_an_id_and_nothing_else() {
    let drive = created("OS::Heat::None", r#"{"foo": "bar"}"#);
    let id = drive.context.physical_id.as_deref().expect("an id");
    assert_eq!((id.len(), id.matches('-').count(), &id[14..15]), (36, 4, "4"), "{id}");
    assert_eq!(attribute("OS::Heat::None", &drive, "anything"), Value::Null);
    assert_eq!(drive.context.data["is_placeholder"], "True".into());
}

// --- waiting and failing as told ---

#[test]
fn a_test_resource_waits_fails_and_is_replaced_as_told() {
    let name = "OS::Heat::TestResource";
    let drive =
        created(name, r#"{"value": "a", "wait_secs": 5, "action_wait_secs": {"create": 2}}"#);
    assert_eq!(drive.now, START + 2_000_000);
    assert_eq!(attribute(name, &drive, "output"), "a".into());
    let drive = created(name, r#"{"value": "a", "wait_secs": 5, "fail": true}"#);
    assert_eq!(drive.now, START + 5_000_000);
    assert_eq!(drive.failure(), "ValueError: Test Resource failed x");
    assert_eq!(drive.context.physical_id, None);
    let mut drive = Drive::new(members(r#"{"fail": true}"#));
    drive.run(&kind(name), OperationKind::Update, &mut Nothing);
    assert_eq!(drive.failure(), "ValueError: Test Resource failed x");
    drive.run(&kind(name), OperationKind::Delete, &mut Nothing);
    assert_eq!(drive.result(), &Ok(()));

    let replaces = kind(name).behaviour.replaces.expect("a rule");
    let before = Members::new();
    for (after, changed, expected) in [
        (r#"{"update_replace": true}"#, "update_replace", false),
        (r#"{"update_replace": false, "value": "b"}"#, "value", false),
        (r#"{"update_replace": true, "value": "b"}"#, "value", true),
    ] {
        let (after, changed) = (members(after), [changed.into()]);
        let change = DefinitionChange {
            before: &before,
            after: &after,
            changed: &changed,
            metadata_changed: false,
        };
        assert_eq!(replaces(&change), expected, "{after:?}");
    }
}

#[test]
fn a_delay_waits_on_its_actions_only() {
    let behaviour = kind("OS::Heat::Delay");
    let properties = r#"{"actions": ["CREATE", "RESUME"], "min_wait": 3, "max_jitter": 2, "jitter_multiplier": 10}"#;
    for (operation, waits) in [
        (OperationKind::Create, true),
        (OperationKind::Delete, false),
        (OperationKind::Suspend, false),
        (OperationKind::Resume, true),
    ] {
        let mut drive = Drive::new(members(properties));
        drive.run(&behaviour, operation, &mut Nothing);
        assert_eq!(drive.result(), &Ok(()));
        let waited = drive.now - START;
        assert_eq!(waited > 0, waits, "{operation:?}");
        assert!(!waits || (3_000_000..23_000_000).contains(&waited), "{operation:?} {waited}");
    }
}

// --- configurations ---

#[test]
fn configurations_are_kept_as_they_are_written() {
    for (name, properties, config) in [
        ("SoftwareConfig", r##"{"config": "#!/bin/sh", "group": "script"}"##, r##""#!/bin/sh""##),
        ("SoftwareConfig", r#"{"group": "Heat::Ungrouped"}"#, "null"),
        (
            "StructuredConfig",
            r#"{"config": {"a": {"get_input": "x"}}}"#,
            r#"{"a": {"get_input": "x"}}"#,
        ),
        ("SoftwareComponent", r#"{"configs": [{"config": "x", "tool": "script"}]}"#, "null"),
        (
            "CloudConfig",
            r#"{"cloud_config": {"b": 1, "a": ["x"]}}"#,
            r##""#cloud-config\na:\n- x\nb: 1\n""##,
        ),
        ("CloudConfig", r#"{"cloud_config": null}"#, r##""#cloud-config\nnull\n""##),
    ] {
        let name = format!("OS::Heat::{name}");
        let mut drive = Drive::new(members(properties));
        let (behaviour, mut world) = (kind(&name), Configs::default());
        drive.run(&behaviour, OperationKind::Create, &mut world);
        assert_eq!(written(&attribute(&name, &drive, "config"), Keys::Ordered), config, "{name}");
        // Others find it by its id, until it goes.
        let id = drive.context.physical_id.clone().expect("an id");
        let kept = &world.0[&*id]["software_config"];
        assert_eq!(kept["name"], "stack-x-abcdefghijkl", "{name}");
        let mut going = Drive::new(members(properties));
        going.context.physical_id = Some(id);
        going.run(&behaviour, OperationKind::Delete, &mut world);
        assert_eq!(going.result(), &Ok(()));
        assert!(world.0.is_empty(), "{name}");
        let shown = attribute(&name, &drive, "show");
        let id = shown.as_map().and_then(|shown| shown.get("id")).and_then(Value::as_text);
        assert_eq!(id.map(|id| &**id), drive.context.physical_id.as_deref());
    }
}

#[test]
fn a_message_holds_the_configurations_that_it_names() {
    let id = "6509a887-bfe5-48c2-90c1-aff0f78a804f";
    let stored = serde_json::json!({"software_config": {"config": "echo stored"}});
    let mut world = Configs([(id.to_owned(), stored)].into());
    let properties = r#"{"group": "g", "parts": [
        {"config": "6509a887-bfe5-48c2-90c1-aff0f78a804f", "type": "text"},
        {"config": "7509a887-bfe5-48c2-90c1-aff0f78a804f", "type": "text", "subtype": "x-lost"},
        {"config": "Content-Type: multipart/mixed; boundary=\"b\"\n\n--b\nContent-Type: text/x-inner\n\ninner\n--b--\n", "type": "multipart"}
    ]}"#;
    let mut drive = Drive::new(members(properties));
    drive.run(&kind("OS::Heat::MultipartMime"), OperationKind::Create, &mut world);
    let config = attribute("OS::Heat::MultipartMime", &drive, "config");
    let text = config.as_text().expect("a text");
    for part in [
        "text/plain; charset=\"us-ascii\"\nMIME-Version: 1.0\nContent-Transfer-Encoding: 7bit\n\necho stored\n--",
        "text/x-lost; charset=\"us-ascii\"\nMIME-Version: 1.0\nContent-Transfer-Encoding: 7bit\n\n7509a887-",
        "text/x-inner; charset=\"us-ascii\"\nMIME-Version: 1.0\nContent-Transfer-Encoding: 7bit\n\ninner\n--",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn what_is_made_of_something_hidden_is_hidden() {
    let hidden = Value::Secret(Secret::new("hunter2".into()));
    let part = Value::map([("config", hidden.clone()), ("type", "text".into())]);
    for (name, property, value) in [
        ("OS::Heat::CloudConfig", "cloud_config", Value::map([("password", hidden.clone())])),
        ("OS::Heat::MultipartMime", "parts", Value::list([part])),
    ] {
        let mut drive = Drive::new([(property.into(), value)].into_iter().collect());
        let mut world = Configs::default();
        drive.run(&kind(name), OperationKind::Create, &mut world);
        assert_eq!(world.0.values().next().expect("one")["hidden"][0], "config");
        let Value::Secret(config) = attribute(name, &drive, "config") else {
            panic!("{name} is seen")
        };
        assert!(config.expose().as_text().is_some_and(|text| text.contains("hunter2")), "{name}");
    }
}

// --- signals and wait conditions ---

fn signalled(name: &str, metadata: &Value, details: &Value) -> Result<SignalOutcome, String> {
    let (properties, stack) = (Members::new(), Stack::default());
    let view = View { metadata, ..view("h", &properties, &stack) };
    kind(name).behaviour.signal.expect("signals")(
        &view,
        &Signal { details, now: START, is_busy: false },
    )
}

#[test]
fn a_native_handle_fills_in_what_a_signal_leaves_out() {
    let mut metadata = Members::new();
    for (details, reason) in [
        (r#"{"data": {"x": 1}}"#, "status:SUCCESS reason:Signal 1 received"),
        (r#"{"id": "1", "data": "again"}"#, "status:SUCCESS reason:Signal 2 received"),
        ("null", "status:SUCCESS reason:Signal 2 received"),
        (r#"{"id": 9, "reason": "r9", "status": "FAILURE"}"#, "status:FAILURE reason:r9"),
    ] {
        let heard = signalled(
            "OS::Heat::WaitConditionHandle",
            &Value::Map(metadata.clone().into()),
            &json(details),
        )
        .expect(details);
        assert_eq!(heard.reason.as_deref(), Some(reason), "{details}");
        metadata.extend(heard.signal);
    }
    assert_eq!(
        Value::Map(metadata.into()),
        json(
            r#"{"1": {"status": "SUCCESS", "reason": "Signal 2 received", "data": "again"},
                "2": {"status": "SUCCESS", "reason": "Signal 2 received", "data": null},
                "9": {"status": "FAILURE", "reason": "r9", "data": null}}"#
        )
    );
}

#[test]
fn handles_refuse_what_they_do_not_understand() {
    for (name, details) in [
        ("OS::Heat::WaitConditionHandle", r#"{"status": "NOPE"}"#),
        ("OS::Heat::WaitConditionHandle", r#"{"foo": 1}"#),
        ("AWS::CloudFormation::WaitConditionHandle", "null"),
        (
            "AWS::CloudFormation::WaitConditionHandle",
            r#"{"Status": "SUCCESS", "Data": "d", "UniqueId": "u"}"#,
        ),
        ("OS::Heat::UpdateWaitConditionHandle", r#"{"status": "SUCCESS"}"#),
    ] {
        let answer = signalled(name, &Value::Null, &json(details));
        assert_eq!(answer.err().as_deref(), Some("Metadata format invalid"), "{details}");
    }
    let details = json(r#"{"Status": "SUCCESS", "Reason": "ok", "Data": "d", "UniqueId": 2}"#);
    let heard = signalled("AWS::CloudFormation::WaitConditionHandle", &Value::Null, &details)
        .expect("heard");
    let kept = json(r#"{"Status": "SUCCESS", "Reason": "ok", "Data": "d"}"#);
    assert_eq!(heard.signal, Some(("2".into(), kept)));
}

/// A handle whose metadata changes as written, and then no more.
struct Handle(Vec<Value>);

impl World for Handle {
    fn metadata(&mut self, reference: &str, _: Option<&Value>) -> Option<Answer> {
        assert_eq!(reference, "handle");
        (!self.0.is_empty()).then(|| Answer::Metadata(Some(self.0.remove(0))))
    }
}

fn awaited(states: &[&str]) -> Drive {
    let mut drive = Drive::new(members(r#"{"handle": "handle", "count": 2, "timeout": 60}"#));
    let mut handle = Handle(states.iter().map(|state| json(state)).collect());
    drive.run(&kind("OS::Heat::WaitCondition"), OperationKind::Create, &mut handle);
    drive
}

#[test]
fn a_wait_condition_waits_for_enough_signals() {
    let one = r#"{"1": {"status": "SUCCESS", "reason": "first", "data": null}}"#;
    let two =
        r#"{"1": {"status": "SUCCESS", "reason": "a"}, "2": {"status": "SUCCESS", "reason": "b"}}"#;
    assert_eq!(awaited(&["null", one, two]).result(), &Ok(()));
    assert_eq!(awaited(&["null"]).failure(), "WaitConditionTimeout: 0 of 2 received");
    let late = awaited(&["null", one]);
    assert_eq!(late.failure(), "WaitConditionTimeout: 1 of 2 received - first");
    assert_eq!(late.now, START + 60_000_000);
    let bad = r#"{"1": {"status": "SUCCESS", "reason": "a"}, "5": {"status": "FAILURE", "reason": "bad"},
                  "6": {"status": "FAILURE", "reason": "worse"}}"#;
    assert_eq!(awaited(&["null", bad]).failure(), "WaitConditionFailure: bad;worse");
    // The handle may be one of the other dialect.
    let other = r#"{"1": {"Status": "SUCCESS", "Reason": "a"}, "2": {"Status": "SUCCESS"}}"#;
    assert_eq!(awaited(&["null", other]).result(), &Ok(()));
    let bad = r#"{"1": {"Status": "FAILURE", "Reason": "bad"}}"#;
    assert_eq!(awaited(&["null", bad]).failure(), "WaitConditionFailure: bad");
}

#[test]
fn a_wait_condition_tells_the_data_and_forgets_the_signals_when_it_goes() {
    let properties = members(r#"{"Handle": "url"}"#);
    let mut handle = Sibling::new("h", "url");
    handle.metadata = json(
        r#"{"u1": {"Status": "SUCCESS", "Data": "d1"}, "2": {"Status": "SUCCESS", "Data": null}}"#,
    );
    let stack = Stack(vec![handle]);
    let behaviour = kind("AWS::CloudFormation::WaitCondition");
    let answer = behaviour.behaviour.attribute.expect("attributes")(
        &view("w", &properties, &stack),
        "Data",
        &[],
    );
    assert_eq!(answer, Ok(Some(r#"{"u1": "d1", "2": null}"#.into())));
    let mut drive = Drive::new(properties);
    drive.run(&behaviour, OperationKind::Delete, &mut Nothing);
    assert_eq!(drive.others, [("url".into(), json("{}"))]);
}

#[test]
fn some_types_are_replaced_for_reasons_of_their_own() {
    let (before, after) = (Members::new(), Members::new());
    for (name, metadata_changed, expected) in [
        ("OS::Heat::UpdateWaitConditionHandle", false, true),
        ("AWS::AutoScaling::LaunchConfiguration", false, false),
        ("AWS::AutoScaling::LaunchConfiguration", true, true),
    ] {
        let change =
            DefinitionChange { before: &before, after: &after, changed: &[], metadata_changed };
        assert_eq!(kind(name).behaviour.replaces.expect("a rule")(&change), expected, "{name}");
    }
}

// --- attributes of groups ---

/// An attribute of a group with members `0`, `2` and `10`, or what is wrong with asking for it.
fn of_group(name: &str, path: &str) -> String {
    let nested = Nested(vec![("2", "v-2".into()), ("10", "v-10".into()), ("0", "v-0".into())]);
    let (properties, stack) = (Members::new(), Stack::default());
    let data = members(r#"{"name_blacklist": "1"}"#);
    let view = View { nested: Some(&nested), data: &data, ..view("g", &properties, &stack) };
    let path = json(path);
    let [attribute, path @ ..] = path.as_list().expect("a path") else { panic!("no attribute") };
    let attribute = attribute.as_text().expect("a name");
    match kind(name).behaviour.attribute.expect("attributes")(&view, attribute, path) {
        Ok(Some(value)) => written(&value, Keys::Ordered),
        Ok(None) => "no such attribute".into(),
        Err(fault) => fault.message,
    }
}

#[test]
fn attributes_of_a_group_are_those_of_its_members() {
    for (path, expected) in [
        (r#"["refs"]"#, r#"["ref-0", "ref-2", "ref-10"]"#),
        (r#"["refs", 1]"#, r#""ref-2""#),
        (r#"["refs", 9]"#, "null"),
        (r#"["refs_map"]"#, r#"{"0": "ref-0", "2": "ref-2", "10": "ref-10"}"#),
        (r#"["attributes"]"#, "The Referenced Attribute (g attributes) is incorrect."),
        (r#"["attributes", "output"]"#, r#"{"0": "v-0", "2": "v-2", "10": "v-10"}"#),
        (r#"["output"]"#, r#"["v-0", "v-2", "v-10"]"#),
        (r#"["output", 0]"#, r#"["v", "v", "v"]"#),
        (r#"["resource.0"]"#, r#""ref-0""#),
        (r#"["resource.0", "output"]"#, r#""v-0""#),
        (r#"["resource.0.output"]"#, r#""v-0""#),
        (r#"["resource.9"]"#, "Member '9' not found in group resource 'g'."),
        (r#"["resource.9", "output"]"#, "Member '9' not found in group resource 'g'."),
        (r#"["removed_rsrc_list"]"#, r#"["1"]"#),
    ] {
        assert_eq!(of_group("OS::Heat::ResourceGroup", path), expected, "{path}");
    }
}

#[test]
fn members_of_a_scaling_group_go_by_their_place() {
    for (path, expected) in [
        (r#"["current_size"]"#, "3"),
        (r#"["refs"]"#, r#"["ref-2", "ref-10", "ref-0"]"#),
        (r#"["refs", 1]"#, r#"["ref-2", "ref-10", "ref-0"]"#),
        (r#"["outputs"]"#, "The Referenced Attribute (g outputs) is incorrect."),
        (r#"["outputs", "output"]"#, r#"{"2": "v-2", "10": "v-10", "0": "v-0"}"#),
        (r#"["outputs_list"]"#, "The Referenced Attribute (g outputs_list) is incorrect."),
        (r#"["outputs_list", "output"]"#, r#"["v-2", "v-10", "v-0"]"#),
        (r#"["resource.0"]"#, r#""ref-2""#),
        (r#"["resource.0.output"]"#, r#""v-2""#),
        (r#"["resource.9"]"#, "Member '9' not found in group resource 'g'."),
        (r#"["resource.x"]"#, "invalid literal for int() with base 10: 'x'"),
        (r#"["show"]"#, "The Referenced Attribute (g show) is incorrect."),
    ] {
        assert_eq!(of_group("OS::Heat::AutoScalingGroup", path), expected, "{path}");
    }
    let addresses = of_group("AWS::AutoScaling::AutoScalingGroup", r#"["InstanceList"]"#);
    assert_eq!(addresses, r#""v-2,v-10,v-0""#);
}

#[test]
fn deployments_of_a_group_go_by_their_servers() {
    let name = "OS::Heat::SoftwareDeploymentGroup";
    let all = r#"{"2": "v-2", "10": "v-10", "0": "v-0"}"#;
    assert_eq!(of_group(name, r#"["deploy_stdouts"]"#), all);
    assert_eq!(of_group(name, r#"["deploy_stdouts", "2"]"#), r#""v-2""#);
    assert_eq!(of_group(name, r#"["foo"]"#), "The Referenced Attribute (g foo) is incorrect.");
}
