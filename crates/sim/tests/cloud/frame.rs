//! What all services have in common: tokens, faults, time, the control API, the disk.

use kiln_sim::cloud::{FaultKind, FaultRule, FaultWhen};
use serde_json::{Value, json};

use super::world::World;

const NETS: &str = "/network/v2.0/networks";

fn net(name: &str) -> Value {
    json!({ "network": { "name": name } })
}

fn rule(method: &str, when: FaultWhen, kind: FaultKind) -> FaultRule {
    let service = Some("network".to_owned());
    FaultRule { service, method: Some(method.to_owned()), path: None, when, kind }
}

#[test]
fn nobody_is_served_without_a_token() {
    let world = World::new();
    let answer = world.ask("", "GET", NETS, Value::Null).unwrap().has(401);
    assert!(answer.headers.contains_key("www-authenticate"));
    world.ask("nonsense", "GET", NETS, Value::Null).unwrap().has(401);
    world.demo("GET /sim/objects", Value::Null).has(403);
    world.demo("GET /nowhere/v1", Value::Null).has(404);
}

#[test]
fn every_answer_has_a_request_id() {
    let world = World::new();
    for path in [NETS, "/network/v2.0/networks/nope", "/network/"] {
        let answer = world.demo(&format!("GET {path}"), Value::Null);
        let id = answer.headers["x-openstack-request-id"].to_str().unwrap();
        assert!(id.starts_with("req-") && id.len() == 40, "{id}");
    }
}

#[test]
fn the_same_seed_gives_the_same_ids() {
    let make = |seed: u64| {
        let world = World::with(|options| options.seed = seed);
        world.make(NETS, "network", json!({}))
    };
    assert_eq!(make(1), make(1));
    assert_ne!(make(1), make(2));
}

#[test]
fn a_status_is_answered_instead_of_doing_it() {
    let world = World::with(|options| {
        options.faults.rules = vec![rule("POST", FaultWhen::First(1), FaultKind::Status(503))];
    });
    let before = world.count("network/networks");
    let refused = world.demo(&format!("POST {NETS}"), net("a")).has(503);
    assert!(refused.body["NeutronError"]["message"].is_string());
    assert_eq!(world.count("network/networks"), before);
    world.demo(&format!("POST {NETS}"), net("a")).has(201);
}

#[test]
fn an_answer_is_lost_after_the_deed_or_before_it() {
    for (kind, made) in [(FaultKind::Lost, 1), (FaultKind::Dropped, 0)] {
        let world = World::with(|options| {
            options.faults.rules = vec![rule("POST", FaultWhen::Always, kind.clone())];
        });
        let before = world.count("network/networks");
        assert!(world.ask(world.demo_token(), "POST", NETS, net("a")).is_none());
        assert_eq!(world.count("network/networks"), before + made, "{kind:?}");
    }
}

#[test]
fn a_late_request_is_carried_out_when_nobody_expects_it_any_more() {
    let world = World::with(|options| {
        options.faults.rules = vec![rule("POST", FaultWhen::First(1), FaultKind::Late(5_000))];
    });
    let before = world.count("network/networks");
    assert!(world.ask(world.demo_token(), "POST", NETS, net("a")).is_none());
    assert_eq!(world.count("network/networks"), before);
    world.later(6);
    assert_eq!(world.count("network/networks"), before + 1);
}

#[test]
fn garbage_is_no_json_and_nothing_is_done() {
    let world = World::with(|options| {
        options.faults.rules = vec![rule("POST", FaultWhen::Always, FaultKind::Garbage)];
    });
    let before = world.count("network/networks");
    let answer = world.demo(&format!("POST {NETS}"), net("a")).has(200);
    assert!(answer.body.is_null() && answer.text.contains("html"));
    assert_eq!(world.count("network/networks"), before);
}

#[test]
fn faults_are_drawn_at_their_rate() {
    let world = World::with(|options| {
        options.faults.rules = vec![rule("GET", FaultWhen::Rate(0.25), FaultKind::Status(500))];
    });
    let failed =
        (0..400).filter(|_| world.demo(&format!("GET {NETS}"), Value::Null).status == 500).count();
    assert!((60..140).contains(&failed), "{failed}");
}

#[test]
fn administrators_look_behind_and_meddle() {
    let world = World::new();
    let id = world.make(NETS, "network", json!({ "name": "a" }));
    let calls = world.admin("GET /sim/calls", Value::Null).has(200).body;
    assert_eq!(calls["calls"]["POST /network/v2.0/networks"], 1);
    let all = world.admin("GET /sim/objects", Value::Null).has(200).body;
    let mine = &all["objects"]["network/networks"]["projects"][world.demo_project()];
    assert!(mine.as_array().unwrap().contains(&json!(id)));
    let broken =
        json!({ "collection": "network/networks", "id": id, "fields": { "status": "ERROR" } });
    world.admin("POST /sim/break", broken).has(200);
    assert_eq!(world.get(&format!("{NETS}/{id}"))["network"]["status"], "ERROR");
    world.admin("POST /sim/break", json!({ "collection": "network/networks", "id": id })).has(200);
    world.demo(&format!("GET {NETS}/{id}"), Value::Null).has(404);
    world.admin("POST /sim/break", json!({ "collection": "network/networks", "id": id })).has(404);
    let rules = json!({ "faults": [{ "service": "network", "kind": { "status": 500 } }] });
    world.admin("POST /sim/faults", rules).has(204);
    world.demo(&format!("GET {NETS}"), Value::Null).has(500);
    world.admin("POST /sim/faults", json!([])).has(204);
    world.admin("POST /sim/faults", json!([{ "kind": "nonsense" }])).has(400);
    world.make(NETS, "network", json!({ "name": "a" }));
    world.admin("POST /sim/reset", Value::Null).has(204);
    assert_eq!(world.count("network/networks"), 2);
}

#[test]
fn a_service_survives_what_was_broken_behind_its_back() {
    let world = World::new();
    let v2 = "/network/v2.0";
    let router =
        world.get(&format!("{v2}/routers"))["routers"][0]["id"].as_str().unwrap().to_owned();
    let subnet =
        world.get(&format!("{v2}/subnets?name=private-subnet"))["subnets"][0]["id"].clone();
    world
        .admin("POST /sim/break", json!({ "collection": "network/subnets", "id": subnet }))
        .has(200);
    let net = world.make(NETS, "network", json!({}));
    let fields = json!({ "network_id": net, "cidr": "10.7.0.0/24", "ip_version": 4 });
    let subnet = world.make(&format!("{v2}/subnets"), "subnet", fields);
    let add = format!("PUT {v2}/routers/{router}/add_router_interface");
    world.demo(&add, json!({ "subnet_id": subnet })).has(200);
    let share = world.make("/share/v2/shares", "share", json!({ "size": 1, "share_proto": "NFS" }));
    let broken = json!({ "collection": "share/shares", "id": share, "fields": { "status": 5, "metadata": [] } });
    world.admin("POST /sim/break", broken).has(200);
    let answer = world.demo(&format!("DELETE /share/v2/shares/{share}"), Value::Null);
    assert!(answer.status >= 400, "{}", answer.text);
    world.get(&format!("{v2}/networks"));
}

#[test]
fn without_a_limit_there_is_room_for_any_number() {
    let world = World::with(|options| options.quota = Some(-1));
    let zones = "/dns/v2/zones";
    let zone = json!({ "name": "z.example.", "email": "a@z.example" });
    let zone = world.demo(&format!("POST {zones}"), zone).has(202).body;
    let id = zone["id"].as_str().unwrap();
    let record = json!({ "name": "a.z.example.", "type": "A", "records": ["192.0.2.1"] });
    world.demo(&format!("POST {zones}/{id}/recordsets"), record).has(202);
    let quotas = world.get(&format!("/dns/v2/quotas/{}", world.demo_project()));
    assert_eq!(quotas["zone_recordsets"], -1);
}

#[test]
fn quotas_are_kept_and_can_be_set() {
    let world = World::with(|options| options.quota = Some(2));
    world.make(NETS, "network", json!({}));
    let refused = world.demo(&format!("POST {NETS}"), net("b"));
    refused.neutron(409, "OverQuota", "Quota exceeded for resources: ['network'].");
    let quota = json!({ "service": "network", "name": "network", "limit": 3 });
    world.admin("POST /sim/quota", quota).has(204);
    world.make(NETS, "network", json!({}));
}

#[test]
fn the_state_is_there_again_after_a_restart() {
    let folder = std::env::temp_dir().join(format!("kiln-cloud-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("cloud.json");
    let world = World::with(|options| options.file = Some(file.clone()));
    let id = world.make(NETS, "network", json!({ "name": "kept" }));
    world.cloud.close().unwrap();
    let again = World::with(|options| options.file = Some(file.clone()));
    assert_eq!(again.get(&format!("{NETS}/{id}"))["network"]["name"], "kept");
    assert_eq!(again.count("network/networks"), 3, "what is sown is not sown twice");
    assert_ne!(again.make(NETS, "network", json!({})), id);
    std::fs::write(&file, "nonsense").unwrap();
    let opened =
        std::panic::catch_unwind(|| World::with(|options| options.file = Some(file.clone())));
    assert!(opened.is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_lost_answer_closes_a_real_connection_without_a_byte() {
    use std::io::{Read, Write};
    let world = World::with(|options| {
        options.faults.rules = vec![rule("GET", FaultWhen::First(1), FaultKind::Lost)];
    });
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let router = world.cloud.router();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move { axum::serve(listener, router).await });
    let ask = || {
        let mut socket = std::net::TcpStream::connect(address).unwrap();
        let head = format!(
            "GET {NETS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Auth-Token: {}\r\n\r\n",
            world.demo_token()
        );
        socket.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = socket.read_to_string(&mut answer);
        answer
    };
    assert_eq!(ask(), "");
    assert!(ask().starts_with("HTTP/1.1 200"));
}

#[test]
fn lists_are_filtered_cut_and_paged() {
    let world = World::new();
    let ids: Vec<String> =
        (0..3).map(|_| world.make(NETS, "network", json!({ "name": "same" }))).collect();
    let found = world.get(&format!("{NETS}?name=same&fields=id"));
    assert_eq!(found["networks"], json!([{ "id": ids[0] }, { "id": ids[1] }, { "id": ids[2] }]));
    let page = world.get(&format!("{NETS}?name=same&limit=2"));
    assert_eq!(page["networks"].as_array().unwrap().len(), 2);
    let next = page["networks_links"][0]["href"].as_str().unwrap();
    let rest = world.get(next.strip_prefix("http://cloud.example").unwrap());
    assert_eq!(rest["networks"][0]["id"], json!(ids[2]));
    let both = world.get(&format!("{NETS}?id={}&id={}", ids[0], ids[2]));
    assert_eq!(both["networks"].as_array().unwrap().len(), 2);
    let sorted = world.get(&format!("{NETS}?sort_key=name&sort_dir=desc&fields=name"));
    assert_eq!(sorted["networks"][0]["name"], "same");
    let refused = world.demo(&format!("GET {NETS}?colour=red"), Value::Null);
    refused.neutron(400, "HTTPBadRequest", "['colour'] is invalid attribute for filtering");
}

/// Lists that look at most of what there is.
const LISTS: &[&str] = &[
    "/compute/v2.1/os-aggregates",
    "/compute/v2.1/os-keypairs",
    "/compute/v2.1/os-server-groups",
    "/compute/v2.1/servers/detail",
    "/dns/v2/zones",
    "/image/v2/images",
    "/network/v2.0/floatingips",
    "/network/v2.0/networks",
    "/network/v2.0/ports",
    "/network/v2.0/routers",
    "/network/v2.0/security-groups",
    "/network/v2.0/subnets",
    "/volume/v3/PROJECT/volumes/detail",
];

#[test]
fn nothing_trips_over_objects_that_are_gone_or_mangled() {
    for mangled in [None, Some(Value::Null), Some(json!("?")), Some(json!(i64::MAX))] {
        let world = World::new();
        use_it(&world);
        for object in objects(&world).into_iter().step_by(2) {
            break_it(&world, object, mangled.as_ref());
        }
        use_it(&world);
        for object in objects(&world) {
            break_it(&world, object, mangled.as_ref());
        }
        use_it(&world);
    }
}

/// Asks for this and that. Much of it is refused, but all of it is answered.
fn use_it(world: &World) {
    for list in LISTS {
        let list = list.replace("PROJECT", &world.demo_project());
        let answer = world.demo(&format!("GET {list}"), Value::Null);
        assert_ne!(answer.status, 500, "{list}: {}", answer.text);
    }
    let id = |answer: Value, one: &str| answer[one]["id"].clone();
    let net = id(world.demo(&format!("POST {NETS}"), net("n")).body, "network");
    let subnet = json!({ "network_id": net, "cidr": "10.9.0.0/24", "ip_version": 4 });
    world.demo("POST /network/v2.0/subnets", json!({ "subnet": subnet }));
    world.demo("POST /network/v2.0/ports", json!({ "port": { "network_id": net } }));
    let flavors = world.demo("GET /compute/v2.1/flavors", Value::Null).body;
    let images = world.demo("GET /image/v2/images", Value::Null).body;
    let server = json!({
        "name": "s", "flavorRef": flavors["flavors"][0]["id"], "imageRef": images["images"][0]["id"],
        "networks": [{ "uuid": net }],
    });
    let server = world.demo("POST /compute/v2.1/servers", json!({ "server": server })).body;
    world.later(20);
    let server = id(server, "server");
    world.demo(&format!("GET /compute/v2.1/servers/{}", server.as_str().unwrap_or("?")), json!({}));
}

/// The collection and the key of every object.
fn objects(world: &World) -> Vec<(String, String)> {
    let all = world.admin("GET /sim/objects", Value::Null).has(200).body;
    let mut found = Vec::new();
    for (collection, rows) in all["objects"].as_object().unwrap() {
        for keys in rows["projects"].as_object().unwrap().values() {
            let keys = keys.as_array().unwrap().iter().map(|key| key.as_str().unwrap());
            found.extend(keys.map(|key| (collection.clone(), key.to_owned())));
        }
    }
    found
}

/// Removes an object, or has all its fields but its id say this.
fn break_it(world: &World, (collection, id): (String, String), mangled: Option<&Value>) {
    let mut wish = json!({ "collection": collection, "id": id });
    if let Some(mangled) = mangled {
        wish["fields"] = json!({});
        let shown = world.admin("POST /sim/break", wish.clone()).has(200).body;
        for name in shown["object"].as_object().unwrap().keys().filter(|name| *name != "id") {
            wish["fields"][name] = mangled.clone();
        }
    }
    world.admin("POST /sim/break", wish).has(200);
}
