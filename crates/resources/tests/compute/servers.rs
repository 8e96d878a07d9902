//! What is special about servers.

use super::lives::{Lifecycle, check_snapshots, differing, kind, properties, seams};
use crate::driving::Seam;
use crate::stack::{Stack, json, members, view};
use kiln_cloud::{Method, Service};
use kiln_resources::behaviour::{DefinitionChange, OperationKind};
use kiln_resources::declare::{Members, SiblingDefinitions, Value};
use kiln_resources::op::{Demand, OpError};
use kiln_template::print;
use serde_json::{Value as Json, json as body};
use std::sync::Arc;

const SERVER: &str = "OS::Nova::Server";

fn server(text: &str) -> Lifecycle {
    Lifecycle::new(SERVER, text)
}

/// The body of the call that made the server.
fn sent(life: &Lifecycle) -> Json {
    let call = life.drive.demands.iter().find_map(|demand| match demand {
        Demand::Call { call, .. } if call.request.path == "/servers" => Some(call.clone()),
        _ => None,
    });
    call.and_then(|call| call.request.body).expect("a server was asked for")
}

fn made(life: &mut Lifecycle) -> &mut Json {
    let id = life.drive.context.physical_id.clone().expect("there is a server");
    life.cloud.get(Service::Compute, "/servers", &id).expect("there is a server")
}

fn attribute(life: &Lifecycle, name: &str) -> Value {
    let (properties, stack) = (Members::new(), Stack::default());
    let mut view = view("x", &properties, &stack);
    (view.remote, view.data) = (&life.drive.shown, &life.drive.context.data);
    let attribute = life.kind.behaviour.attribute.expect("as told");
    attribute(&view, name, &[]).expect("an answer").expect("an attribute")
}

#[test]
fn a_server_is_asked_for_as_it_is_described() {
    let mut life = server(
        r#"{"flavor": "m1.small", "image": "image-1", "key_name": "k", "config_drive": true,
            "metadata": {"a": "b", "n": 1}, "security_groups": ["web"], "admin_pass": "p",
            "diskConfig": "AUTO", "availability_zone": "az", "scheduler_hints": {"group": "g"},
            "user_data": "hi", "user_data_format": "RAW"}"#,
    );
    life.does(OperationKind::Create, None);
    assert_eq!(
        sent(&life),
        body!({
            "server": {
                "name": "stack-x-abcdefghijkl", "imageRef": "image-1", "flavorRef": "small",
                "networks": "auto", "metadata": { "a": "b", "n": "1" }, "min_count": 1,
                "max_count": 1, "key_name": "k", "availability_zone": "az", "config_drive": true,
                "adminPass": "p", "OS-DCF:diskConfig": "AUTO",
                "security_groups": [{ "name": "web" }], "user_data": "aGk=",
            },
            "os:scheduler_hints": { "group": "g" },
        })
    );
}

#[test]
fn files_need_an_older_version_of_the_api() {
    let text = r#"{"flavor": "small", "image": "image-1", "personality": {"/etc/motd": "hi"}}"#;
    let mut life = server(text);
    life.does(OperationKind::Create, None);
    let files = body!([{ "path": "/etc/motd", "contents": "aGk=" }]);
    assert_eq!(sent(&life)["server"]["personality"], files);
    let version = life.drive.demands.iter().find_map(|demand| match demand {
        Demand::Call { call, .. } if call.request.path == "/servers" => {
            call.request.microversion.clone()
        }
        _ => None,
    });
    assert_eq!(version.as_deref(), Some("2.56"));
}

#[test]
fn a_server_gets_the_ports_that_it_needs_and_takes_them_along() {
    let mut life = server(
        r#"{"flavor": "small", "image": "image-1", "networks": [
            {"port": "port-1", "network": "net-1"},
            {"network": "net-2", "fixed_ip": "10.0.0.7", "tag": "t"},
            {"subnet": "subnet-1", "fixed_ip": "10.0.0.8", "floating_ip": "fip-1",
             "port_extra_properties": {"value_specs": {"k": "v"}, "mac_address": "00:00:00:00:00:01"}}]}"#,
    );
    let before = life.cloud.population();
    life.does(OperationKind::Create, None);
    let networks = sent(&life)["server"]["networks"].clone();
    let ports = life.drive.context.data.get("internal_ports").and_then(Value::as_text).cloned();
    let ports: Json = serde_json::from_str(&ports.expect("ports")).expect("JSON");
    let own = ports[0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(
        networks,
        body!([{ "port": "port-1", "uuid": "net-1" },
               { "tag": "t", "uuid": "net-2", "fixed_ip": "10.0.0.7" },
               { "port": own }])
    );
    let port = life.cloud.get(Service::Network, "/ports", &own).expect("a port").clone();
    assert_eq!(port["name"], "x-port-2");
    assert_eq!((&port["network_id"], &port["k"]), (&body!("net-1"), &body!("v")));
    assert_eq!(port["fixed_ips"], body!([{ "ip_address": "10.0.0.8", "subnet_id": "subnet-1" }]));
    let floating = life.cloud.get(Service::Network, "/floatingips", "fip-1").expect("as told");
    assert_eq!(floating["port_id"], own.as_str());
    assert_eq!(floating["fixed_ip_address"], "10.0.0.8");
    life.does(OperationKind::Delete, None);
    assert_eq!(life.cloud.population(), before);
    assert_eq!(
        life.cloud.get(Service::Network, "/ports", "port-1").expect("it stays")["device_id"],
        ""
    );
}

#[test]
fn a_port_whose_making_is_in_doubt_goes_with_the_server() {
    let text = r#"{"flavor": "small", "image": "image-1", "networks": [{"subnet": "subnet-1"}]}"#;
    let mut life = server(text);
    life.tries(OperationKind::Create, None);
    let at = life.drive.demands.iter().position(|demand| match demand {
        Demand::Call { call, .. } => {
            call.request.path == "/ports" && call.request.method == Method::Post
        }
        _ => false,
    });
    let mut life = server(text);
    let before = life.cloud.population();
    // The engine dies when the port was made, and the stack is deleted then.
    life.drive.run_until(
        &life.kind,
        OperationKind::Create,
        &mut life.cloud,
        Seam::After(at.expect("a port")),
    );
    assert_eq!(life.cloud.population(), before + 1);
    life.drive.context.is_doubtful = true;
    life.does(OperationKind::Delete, None);
    assert_eq!(life.cloud.population(), before);
}

#[test]
fn a_server_that_fails_says_why() {
    let mut life = server(r#"{"flavor": "small", "image": "image-1", "name": "broken"}"#);
    life.tries(OperationKind::Create, None);
    let why = "ResourceInError: Went to status ERROR due to \"Message: No valid host, Code: 500\"";
    assert_eq!(life.drive.what_failed(), why);
    let next = "Next: find the cause in what nova shows of /servers/";
    assert!(life.drive.failure().contains(next), "{}", life.drive.failure());
    assert!(matches!(life.drive.result(), Err(OpError::Failed(it)) if it.is_retryable));
    let mut life = server(r#"{"flavor": "small", "image": "image-1"}"#);
    life.does(OperationKind::Create, None);
    made(&mut life)["status"] = "PAUSED".into();
    life.tries(OperationKind::Check, None);
    assert_eq!(life.drive.failure(), "Error: 'status': expected 'ACTIVE', got 'PAUSED'");
    life.tries(OperationKind::Suspend, None);
    assert!(life.drive.failure().starts_with("Conflict: cannot suspend while PAUSED"));
}

#[test]
fn a_server_that_nobody_has_room_for_stays_as_it_is_and_says_so() {
    let mut life = server(r#"{"flavor": "small", "image": "image-1"}"#);
    life.does(OperationKind::Create, None);
    life.cloud.add(Service::Compute, "/flavors", body!({ "id": "huge", "name": "m1.huge" }));
    life.becomes(r#"{"flavor": "huge", "image": "image-1"}"#);
    life.tries(OperationKind::Update, None);
    assert!(life.drive.failure().contains("Resizing to 'huge' failed, status 'ACTIVE'"));
}

#[test]
fn a_server_is_not_asked_for_again_before_the_first_could_appear() {
    let text = r#"{"flavor": "small", "image": "image-1"}"#;
    let is_wish = |demand: &Demand| matches!(demand, Demand::Call { call, .. } if call.request.path == "/servers" && call.request.method == Method::Post);
    let mut life = server(text);
    life.does(OperationKind::Create, None);
    let at = life.drive.demands.iter().position(is_wish).expect("a wish");
    let mut life = server(text);
    life.tries(OperationKind::Create, Some(Seam::Before(at)));
    let wishes = life.drive.demands.iter().enumerate().filter(|it| is_wish(it.1));
    let wishes: Vec<usize> = wishes.map(|it| it.0).collect();
    assert_eq!(wishes.len(), 2);
    let between = &life.drive.demands[wishes[0]..wishes[1]];
    assert!(between.iter().any(|demand| matches!(demand, Demand::Until(_))), "{between:?}");
}

#[test]
fn a_server_must_have_one_thing_to_boot_from() {
    let mut life = server(r#"{"flavor": "small"}"#);
    life.tries(OperationKind::Create, None);
    let why = "Neither image nor bootable volume is specified for instance stack-x-abcdefghijkl";
    assert_eq!(life.drive.failure(), format!("StackValidationFailed: {why}"));
    let mut life =
        server(r#"{"flavor": "small", "block_device_mapping_v2": [{"volume_id": "volume-1"}]}"#);
    life.does(OperationKind::Create, None);
    let asked = sent(&life);
    assert_eq!(asked["server"]["imageRef"], "");
    assert_eq!(asked["server"]["block_device_mapping_v2"][0]["uuid"], "volume-1");
}

#[test]
fn what_a_server_tells_comes_from_both_services() {
    let mut life = server(
        r#"{"flavor": "small", "image": "image-1", "name": "web", "tags": ["t"], "networks": [
            {"port": "port-1", "floating_ip": "fip-1"}]}"#,
    );
    life.cloud.get(Service::Network, "/floatingips", "fip-1").expect("as told")["fixed_ip_address"] =
        "10.9.0.0".into();
    life.does(OperationKind::Create, None);
    let entry = |addr: &str, kind: &str, port: &str| {
        format!(
            r#"{{"addr": "{addr}", "OS-EXT-IPS-MAC:mac_addr": "00:0",
            "OS-EXT-IPS:type": "{kind}", "port": {port}, "version": [4],
            "subnets": [{{"id": "subnet-1", "name": "subnet-1", "network_id": "net-1"}}],
            "network": {{"id": "net-1", "name": "name-net-1"}}}}"#
        )
    };
    let all = format!(
        "[{}, {}]",
        entry("172.24.4.9", "floating", "null"),
        entry("10.9.0.0", "fixed", "\"port-1\"")
    );
    let expected = json(&format!(r#"{{"name-net-1": {all}, "net-1": {all}}}"#));
    assert_eq!(attribute(&life, "addresses"), expected);
    let expected = json(r#"{"name-net-1": ["10.9.0.0"], "net-1": ["10.9.0.0"]}"#);
    assert_eq!(attribute(&life, "networks"), expected);
    assert_eq!(attribute(&life, "first_address"), "10.9.0.0".into());
    assert_eq!(attribute(&life, "name"), "web".into());
    assert_eq!(attribute(&life, "tags"), json(r#"["t"]"#));
    // Nova tells it only to administrators.
    assert_eq!(attribute(&life, "instance_name"), Value::Null);
    assert_eq!(attribute(&life, "os_collect_config"), json("{}"));
    assert!(print::plain(&attribute(&life, "show")).contains("'status': 'ACTIVE'"));
}

#[test]
fn policies_say_which_changes_need_another_server() {
    let kind = kind(SERVER);
    let replaces = kind.behaviour.replaces.expect("as told");
    let base = r#"{"flavor": "small", "image": "image-1", "user_data": "a"}"#;
    let needs = |text: &str| {
        let (before, after) = (properties(&kind, base), properties(&kind, text));
        let changed = differing(&before, &after);
        replaces(&DefinitionChange {
            before: &before,
            after: &after,
            changed: &changed,
            metadata_changed: false,
        })
    };
    let with = |more: &str| {
        let mut all = members(base);
        all.extend(members(more));
        print::json(&Value::Map(Arc::new(all)), print::Keys::Ordered)
    };
    assert!(!needs(base));
    assert!(!needs(&with(r#"{"flavor": "large"}"#)));
    assert!(needs(&with(r#"{"flavor": "large", "flavor_update_policy": "REPLACE"}"#)));
    assert!(!needs(&with(r#"{"image": "image-2"}"#)));
    assert!(needs(&with(r#"{"image": "image-2", "image_update_policy": "REPLACE"}"#)));
    assert!(needs(&with(r#"{"image": null}"#)));
    assert!(needs(&with(r#"{"user_data": "b"}"#)));
    assert!(!needs(&with(r#"{"user_data": "b", "user_data_update_policy": "IGNORE"}"#)));
}

#[test]
fn user_data_may_be_changed_by_a_rebuild() {
    let raw = r#""flavor": "small", "image": "image-1", "user_data_format": "RAW""#;
    let mut life = server(&format!(r#"{{{raw}, "user_data": "a"}}"#));
    life.does(OperationKind::Create, None);
    life.becomes(&format!(r#"{{{raw}, "user_data": "b", "user_data_update_policy": "REBUILD"}}"#));
    life.does(OperationKind::Update, None);
    let rebuild = life.drive.demands.iter().find_map(|demand| match demand {
        Demand::Call { step, call } if &**step == "rebuild" => call.request.body.clone(),
        _ => None,
    });
    let rebuild = rebuild.expect("a rebuild");
    assert_eq!(rebuild["rebuild"]["imageRef"], "image-1");
    assert_eq!(rebuild["rebuild"]["user_data"], "Yg==");
}

#[test]
fn a_server_rests_and_wakes_wherever_it_was_interrupted() {
    for operation in [OperationKind::Suspend, OperationKind::Resume] {
        let began = || {
            let mut life = server(r#"{"flavor": "small", "image": "image-1"}"#);
            life.does(OperationKind::Create, None);
            if operation == OperationKind::Resume {
                life.does(OperationKind::Suspend, None);
            }
            life
        };
        let mut life = began();
        life.does(operation, None);
        for seam in seams(life.drive.demands.len()) {
            let mut life = began();
            life.does(operation, Some(seam));
            let status = if operation == OperationKind::Suspend { "SUSPENDED" } else { "ACTIVE" };
            assert_eq!(made(&mut life)["status"], status, "{operation:?} {seam:?}");
            // Once more does nothing.
            let told = life.cloud.told.len();
            life.does(operation, None);
            assert_eq!(life.cloud.told.len(), told);
        }
    }
}

#[test]
fn a_server_is_copied_once_and_made_of_its_copy() {
    let properties = r#"{"flavor": "small", "image": "image-1"}"#;
    check_snapshots(SERVER, properties, "snapshot_image_id", "image");
}

#[test]
fn ports_move_to_a_replacement_and_back() {
    let text = r#"{"flavor": "small", "image": "image-1", "networks": [{"port": "port-1"}]}"#;
    let holder = |life: &mut Lifecycle| {
        let port = life.cloud.get(Service::Network, "/ports", "port-1").expect("as told");
        port["device_id"].as_str().expect("a device").to_owned()
    };
    let began = || {
        let mut old = server(text);
        old.does(OperationKind::Create, None);
        old
    };
    let replaced = |mut old: Lifecycle, seam: Option<Seam>| {
        let mut new = server(text);
        new.drive.context.physical_name = "stack-x-other".into();
        new.drive.context.predecessor = old.drive.context.physical_id.clone();
        new.drive.context.is_replacement = true;
        std::mem::swap(&mut new.cloud, &mut old.cloud);
        new.does(OperationKind::Create, seam);
        (old, new)
    };
    let (_, new) = replaced(began(), None);
    for seam in seams(new.drive.demands.len()).map(Some).chain([None]) {
        let (_, mut new) = replaced(began(), seam);
        let id = new.drive.context.physical_id.clone().expect("an id");
        assert_eq!(holder(&mut new), *id, "{seam:?}");
    }
    let back = |seam: Option<Seam>| {
        let (mut old, mut new) = replaced(began(), None);
        std::mem::swap(&mut new.cloud, &mut old.cloud);
        old.drive.context.predecessor = new.drive.context.physical_id.clone();
        old.drive.context.is_replacement = true;
        old.has_become();
        old.does(OperationKind::Update, seam);
        let id = old.drive.context.physical_id.clone().expect("an id");
        assert_eq!(holder(&mut old), *id, "{seam:?}");
        old.drive.demands.len()
    };
    seams(back(None)).for_each(|seam| _ = back(Some(seam)));
}

#[test]
fn connections_change_as_they_are_described() {
    let with = |networks: &str| {
        format!(r#"{{"flavor": "small", "image": "image-1", "networks": {networks}}}"#)
    };
    let ports = |life: &mut Lifecycle| {
        let id = life.drive.context.physical_id.clone().expect("an id");
        let ports = life.cloud.collection(Service::Network, "/ports").iter();
        let ports = ports.filter(|port| port["device_id"] == *id);
        ports.map(|port| port["network_id"].as_str().unwrap_or("").to_owned()).collect::<Vec<_>>()
    };
    for (before, after, expected) in [
        (r#"[{"network": "net-2"}]"#, "[]", vec!["net-1"]),
        ("[]", r#"[{"network": "net-2"}]"#, vec!["net-2"]),
        (r#"[{"network": "net-2"}]"#, r#"[{"allocate_network": "none"}]"#, vec![]),
        (r#"[{"network": "net-2"}]"#, r#"[{"allocate_network": "auto"}]"#, vec!["net-1"]),
        (
            r#"[{"network": "net-2"}]"#,
            r#"[{"network": "net-2"}, {"network": "net-2", "fixed_ip": "10.0.0.9"}]"#,
            vec!["net-2", "net-2"],
        ),
    ] {
        let lived = |seam: Option<Seam>| {
            let mut life = server(&with(before));
            let population = life.cloud.population();
            life.does(OperationKind::Create, None);
            life.becomes(&with(after));
            life.does(OperationKind::Update, seam);
            assert_eq!(ports(&mut life), expected, "{before} {after} {seam:?}");
            let demands = life.drive.demands.len();
            life.has_become();
            life.does(OperationKind::Delete, None);
            assert_eq!(life.cloud.population(), population, "{before} {after} {seam:?}");
            demands
        };
        seams(lived(None)).for_each(|seam| _ = lived(Some(seam)));
    }
}

/// A stack of one server.
struct Alone;

impl SiblingDefinitions for Alone {
    fn own_name(&self) -> &str {
        "server"
    }

    fn type_name(&self, _: &str) -> Option<Arc<str>> {
        None
    }

    fn properties(&self, _: &str) -> Option<Members> {
        None
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let kind = kind(SERVER);
    let check = kind.sibling_check.expect("as told");
    let check = |members: &Members| check(members, &Alone);
    for (text, message) in [
        (
            r#"{"networks": [{"port": "p", "fixed_ip": "10.0.0.1"}]}"#,
            "Cannot define the following properties at the same time: networks/fixed_ip, networks/port.",
        ),
        (
            r#"{"networks": [{"port": "p"}], "security_groups": ["g"]}"#,
            "Cannot define the following properties at the same time: security_groups, networks/port.",
        ),
        (
            r#"{"block_device_mapping_v2": [{"volume_id": "v", "swap_size": 1}]}"#,
            "Cannot define the following properties at the same time: volume_id, snapshot_id, image, swap_size, ephemeral_size, ephemeral_format.",
        ),
    ] {
        let refused = check(&members(text)).expect_err(text);
        assert_eq!(refused.message, message);
    }
    for text in [
        r#"{"networks": [{"fixed_ip": "10.0.0.1"}]}"#,
        r#"{"networks": [{"allocate_network": "auto"}, {"network": "n"}]}"#,
        r#"{"networks": [{"network": "n", "floating_ip": "f"}]}"#,
        r#"{"block_device_mapping": [{"device_name": "vda"}]}"#,
        r#"{"block_device_mapping_v2": [{"device_name": "vda"}]}"#,
    ] {
        assert!(check(&members(text)).is_err(), "{text}");
    }
}
