//! The common behaviour of all services: tokens, faults, time, the control API, persistence.

use kiln_sim::cloud::{FaultKind, FaultRule, FaultWhen};
use serde_json::{Value, json};

use super::test_cloud::TestCloud;

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
    let cloud = TestCloud::new();
    let answer = cloud.ask("", "GET", NETS, Value::Null).unwrap().has(401);
    assert!(answer.headers.contains_key("www-authenticate"));
    cloud.ask("nonsense", "GET", NETS, Value::Null).unwrap().has(401);
    cloud.demo("GET /sim/objects", Value::Null).has(403);
    cloud.demo("GET /nowhere/v1", Value::Null).has(404);
}

#[test]
fn every_answer_has_a_request_id() {
    let cloud = TestCloud::new();
    for path in [NETS, "/network/v2.0/networks/nope", "/network/"] {
        let answer = cloud.demo(&format!("GET {path}"), Value::Null);
        let id = answer.headers["x-openstack-request-id"].to_str().unwrap();
        assert!(id.starts_with("req-") && id.len() == 40, "{id}");
    }
}

#[test]
fn the_same_seed_gives_the_same_ids() {
    let make = |seed: u64| {
        let cloud = TestCloud::with(|options| options.seed = seed);
        cloud.make(NETS, "network", json!({}))
    };
    assert_eq!(make(1), make(1));
    assert_ne!(make(1), make(2));
}

#[test]
fn a_status_is_answered_instead_of_doing_it() {
    let cloud = TestCloud::with(|options| {
        options.faults.rules = vec![rule("POST", FaultWhen::First(1), FaultKind::Status(503))];
    });
    let before = cloud.count("network/networks");
    let refused = cloud.demo(&format!("POST {NETS}"), net("a")).has(503);
    assert!(refused.body["NeutronError"]["message"].is_string());
    assert_eq!(cloud.count("network/networks"), before);
    cloud.demo(&format!("POST {NETS}"), net("a")).has(201);
}

#[test]
fn an_answer_is_lost_after_the_deed_or_before_it() {
    for (kind, made) in [(FaultKind::Lost, 1), (FaultKind::Dropped, 0)] {
        let cloud = TestCloud::with(|options| {
            options.faults.rules = vec![rule("POST", FaultWhen::Always, kind.clone())];
        });
        let before = cloud.count("network/networks");
        assert!(cloud.ask(cloud.demo_token(), "POST", NETS, net("a")).is_none());
        assert_eq!(cloud.count("network/networks"), before + made, "{kind:?}");
    }
}

#[test]
fn a_late_request_is_carried_out_when_nobody_expects_it_any_more() {
    let cloud = TestCloud::with(|options| {
        options.faults.rules = vec![rule("POST", FaultWhen::First(1), FaultKind::Late(5_000))];
    });
    let before = cloud.count("network/networks");
    assert!(cloud.ask(cloud.demo_token(), "POST", NETS, net("a")).is_none());
    assert_eq!(cloud.count("network/networks"), before);
    cloud.later(6);
    assert_eq!(cloud.count("network/networks"), before + 1);
}

#[test]
fn garbage_is_no_json_and_nothing_is_done() {
    let cloud = TestCloud::with(|options| {
        options.faults.rules = vec![rule("POST", FaultWhen::Always, FaultKind::Garbage)];
    });
    let before = cloud.count("network/networks");
    let answer = cloud.demo(&format!("POST {NETS}"), net("a")).has(200);
    assert!(answer.body.is_null() && answer.text.contains("html"));
    assert_eq!(cloud.count("network/networks"), before);
}

#[test]
fn faults_are_drawn_at_their_rate() {
    let cloud = TestCloud::with(|options| {
        options.faults.rules = vec![rule("GET", FaultWhen::Rate(0.25), FaultKind::Status(500))];
    });
    let failed =
        (0..400).filter(|_| cloud.demo(&format!("GET {NETS}"), Value::Null).status == 500).count();
    assert!((60..140).contains(&failed), "{failed}");
}

#[test]
fn administrators_look_behind_and_meddle() {
    let cloud = TestCloud::new();
    let id = cloud.make(NETS, "network", json!({ "name": "a" }));
    let calls = cloud.admin("GET /sim/calls", Value::Null).has(200).body;
    assert_eq!(calls["calls"]["POST /network/v2.0/networks"], 1);
    let all = cloud.admin("GET /sim/objects", Value::Null).has(200).body;
    let mine = &all["objects"]["network/networks"]["projects"][cloud.demo_project()];
    assert!(mine.as_array().unwrap().contains(&json!(id)));
    let broken =
        json!({ "collection": "network/networks", "id": id, "fields": { "status": "ERROR" } });
    cloud.admin("POST /sim/break", broken).has(200);
    assert_eq!(cloud.get(&format!("{NETS}/{id}"))["network"]["status"], "ERROR");
    cloud.admin("POST /sim/break", json!({ "collection": "network/networks", "id": id })).has(200);
    cloud.demo(&format!("GET {NETS}/{id}"), Value::Null).has(404);
    cloud.admin("POST /sim/break", json!({ "collection": "network/networks", "id": id })).has(404);
    let rules = json!({ "faults": [{ "service": "network", "kind": { "status": 500 } }] });
    cloud.admin("POST /sim/faults", rules).has(204);
    cloud.demo(&format!("GET {NETS}"), Value::Null).has(500);
    cloud.admin("POST /sim/faults", json!([])).has(204);
    cloud.admin("POST /sim/faults", json!([{ "kind": "nonsense" }])).has(400);
    cloud.make(NETS, "network", json!({ "name": "a" }));
    cloud.admin("POST /sim/reset", Value::Null).has(204);
    assert_eq!(cloud.count("network/networks"), 2);
}

#[test]
fn a_service_survives_what_was_broken_behind_its_back() {
    let cloud = TestCloud::new();
    let v2 = "/network/v2.0";
    let router =
        cloud.get(&format!("{v2}/routers"))["routers"][0]["id"].as_str().unwrap().to_owned();
    let subnet =
        cloud.get(&format!("{v2}/subnets?name=private-subnet"))["subnets"][0]["id"].clone();
    cloud
        .admin("POST /sim/break", json!({ "collection": "network/subnets", "id": subnet }))
        .has(200);
    let net = cloud.make(NETS, "network", json!({}));
    let fields = json!({ "network_id": net, "cidr": "10.7.0.0/24", "ip_version": 4 });
    let subnet = cloud.make(&format!("{v2}/subnets"), "subnet", fields);
    let add = format!("PUT {v2}/routers/{router}/add_router_interface");
    cloud.demo(&add, json!({ "subnet_id": subnet })).has(200);
    let share = cloud.make("/share/v2/shares", "share", json!({ "size": 1, "share_proto": "NFS" }));
    let broken = json!({ "collection": "share/shares", "id": share, "fields": { "status": 5, "metadata": [] } });
    cloud.admin("POST /sim/break", broken).has(200);
    let answer = cloud.demo(&format!("DELETE /share/v2/shares/{share}"), Value::Null);
    assert!(answer.status >= 400, "{}", answer.text);
    cloud.get(&format!("{v2}/networks"));
}

#[test]
fn without_a_limit_there_is_room_for_any_number() {
    let cloud = TestCloud::with(|options| options.quota = Some(-1));
    let zones = "/dns/v2/zones";
    let zone = json!({ "name": "z.example.", "email": "a@z.example" });
    let zone = cloud.demo(&format!("POST {zones}"), zone).has(202).body;
    let id = zone["id"].as_str().unwrap();
    let record = json!({ "name": "a.z.example.", "type": "A", "records": ["192.0.2.1"] });
    cloud.demo(&format!("POST {zones}/{id}/recordsets"), record).has(202);
    let quotas = cloud.get(&format!("/dns/v2/quotas/{}", cloud.demo_project()));
    assert_eq!(quotas["zone_recordsets"], -1);
}

#[test]
fn quotas_are_kept_and_can_be_set() {
    let cloud = TestCloud::with(|options| options.quota = Some(2));
    cloud.make(NETS, "network", json!({}));
    let refused = cloud.demo(&format!("POST {NETS}"), net("b"));
    refused.neutron(409, "OverQuota", "Quota exceeded for resources: ['network'].");
    let quota = json!({ "service": "network", "name": "network", "limit": 3 });
    cloud.admin("POST /sim/quota", quota).has(204);
    cloud.make(NETS, "network", json!({}));
}

#[test]
fn the_state_is_there_again_after_a_restart() {
    let folder = std::env::temp_dir().join(format!("kiln-cloud-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("cloud.json");
    let cloud = TestCloud::with(|options| options.file = Some(file.clone()));
    let id = cloud.make(NETS, "network", json!({ "name": "kept" }));
    cloud.cloud.close().unwrap();
    let again = TestCloud::with(|options| options.file = Some(file.clone()));
    assert_eq!(again.get(&format!("{NETS}/{id}"))["network"]["name"], "kept");
    assert_eq!(again.count("network/networks"), 3, "seed data is not added twice");
    assert_ne!(again.make(NETS, "network", json!({})), id);
    std::fs::write(&file, "nonsense").unwrap();
    let opened =
        std::panic::catch_unwind(|| TestCloud::with(|options| options.file = Some(file.clone())));
    assert!(opened.is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_lost_answer_closes_a_real_connection_without_a_byte() {
    use std::io::{Read, Write};
    let cloud = TestCloud::with(|options| {
        options.faults.rules = vec![rule("GET", FaultWhen::First(1), FaultKind::Lost)];
    });
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let router = cloud.cloud.router();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move { axum::serve(listener, router).await });
    let ask = || {
        let mut socket = std::net::TcpStream::connect(address).unwrap();
        let head = format!(
            "GET {NETS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Auth-Token: {}\r\n\r\n",
            cloud.demo_token()
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
    let cloud = TestCloud::new();
    let ids: Vec<String> =
        (0..3).map(|_| cloud.make(NETS, "network", json!({ "name": "same" }))).collect();
    let found = cloud.get(&format!("{NETS}?name=same&fields=id"));
    assert_eq!(found["networks"], json!([{ "id": ids[0] }, { "id": ids[1] }, { "id": ids[2] }]));
    let page = cloud.get(&format!("{NETS}?name=same&limit=2"));
    assert_eq!(page["networks"].as_array().unwrap().len(), 2);
    let next = page["networks_links"][0]["href"].as_str().unwrap();
    let rest = cloud.get(next.strip_prefix("http://cloud.example").unwrap());
    assert_eq!(rest["networks"][0]["id"], json!(ids[2]));
    let both = cloud.get(&format!("{NETS}?id={}&id={}", ids[0], ids[2]));
    assert_eq!(both["networks"].as_array().unwrap().len(), 2);
    let sorted = cloud.get(&format!("{NETS}?sort_key=name&sort_dir=desc&fields=name"));
    assert_eq!(sorted["networks"][0]["name"], "same");
    let refused = cloud.demo(&format!("GET {NETS}?colour=red"), Value::Null);
    refused.neutron(400, "HTTPBadRequest", "['colour'] is invalid attribute for filtering");
}

/// Lists that read most objects.
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
        let cloud = TestCloud::new();
        send_requests(&cloud);
        for object in objects(&cloud).into_iter().step_by(2) {
            break_object(&cloud, object, mangled.as_ref());
        }
        send_requests(&cloud);
        for object in objects(&cloud) {
            break_object(&cloud, object, mangled.as_ref());
        }
        send_requests(&cloud);
    }
}

/// Sends various requests. Many are rejected, but all of them are answered.
fn send_requests(cloud: &TestCloud) {
    for list in LISTS {
        let list = list.replace("PROJECT", &cloud.demo_project());
        let answer = cloud.demo(&format!("GET {list}"), Value::Null);
        assert_ne!(answer.status, 500, "{list}: {}", answer.text);
    }
    let id = |answer: Value, one: &str| answer[one]["id"].clone();
    let net = id(cloud.demo(&format!("POST {NETS}"), net("n")).body, "network");
    let subnet = json!({ "network_id": net, "cidr": "10.9.0.0/24", "ip_version": 4 });
    cloud.demo("POST /network/v2.0/subnets", json!({ "subnet": subnet }));
    cloud.demo("POST /network/v2.0/ports", json!({ "port": { "network_id": net } }));
    let flavors = cloud.demo("GET /compute/v2.1/flavors", Value::Null).body;
    let images = cloud.demo("GET /image/v2/images", Value::Null).body;
    let server = json!({
        "name": "s", "flavorRef": flavors["flavors"][0]["id"], "imageRef": images["images"][0]["id"],
        "networks": [{ "uuid": net }],
    });
    let server = cloud.demo("POST /compute/v2.1/servers", json!({ "server": server })).body;
    cloud.later(20);
    let server = id(server, "server");
    cloud.demo(&format!("GET /compute/v2.1/servers/{}", server.as_str().unwrap_or("?")), json!({}));
}

/// Returns the collection and the key of every object.
fn objects(cloud: &TestCloud) -> Vec<(String, String)> {
    let all = cloud.admin("GET /sim/objects", Value::Null).has(200).body;
    let mut found = Vec::new();
    for (collection, rows) in all["objects"].as_object().unwrap() {
        for keys in rows["projects"].as_object().unwrap().values() {
            let keys = keys.as_array().unwrap().iter().map(|key| key.as_str().unwrap());
            found.extend(keys.map(|key| (collection.clone(), key.to_owned())));
        }
    }
    found
}

/// Removes an object, or overwrites all its fields but the id with a value.
fn break_object(cloud: &TestCloud, (collection, id): (String, String), mangled: Option<&Value>) {
    let mut body = json!({ "collection": collection, "id": id });
    if let Some(mangled) = mangled {
        body["fields"] = json!({});
        let shown = cloud.admin("POST /sim/break", body.clone()).has(200).body;
        for name in shown["object"].as_object().unwrap().keys().filter(|name| *name != "id") {
            body["fields"][name] = mangled.clone();
        }
    }
    cloud.admin("POST /sim/break", body).has(200);
}
