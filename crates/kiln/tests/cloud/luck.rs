//! Bad luck in the cloud: services that break down, lose answers, refuse, or change things behind our back.
//!
//! A call that can be repeated is repeated, and succeeds when the fault ends. A failure names the resource, the service's
//! own words and the next step. After any fault, a delete leaves nothing.

use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, ended, expect, path};
use serde_json::{Value as Json, json};

/// A cloud in which lost calls are not waited for long.
async fn kiln() -> KilnProcess {
    KilnProcess::start(&["--quiet", "2"]).await
}

fn template(resources: &str) -> Json {
    let text = format!("heat_template_version: 2021-04-16\nresources:\n{resources}");
    json!({ "template": text, "timeout_mins": 10 })
}

async fn create(kiln: &KilnProcess, stack: &str, body: &Json) {
    let mut body = body.clone();
    body["stack_name"] = stack.into();
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
}

async fn update(kiln: &KilnProcess, stack: &str, body: &Json) {
    let path = path(kiln, Who::Demo, stack).await;
    let reply = kiln.ask(Who::Demo, "PUT", &path, Some(body.clone())).await;
    expect(reply, "update").expect("an update");
}

async fn check(kiln: &KilnProcess, stack: &str) {
    let actions = format!("{}/actions", path(kiln, Who::Demo, stack).await);
    let reply = kiln.ask(Who::Demo, "POST", &actions, Some(json!({ "check": null }))).await;
    expect(reply, "check").expect("a check");
}

/// Waits until a stack has come to rest in a state, and gives the reason.
async fn rest(kiln: &KilnProcess, stack: &str, wanted: &str) -> String {
    let (status, reason) = kiln.rest(Who::Demo, stack).await.expect("a stack");
    assert_eq!(status, wanted, "{reason}");
    reason
}

/// The physical id of a resource.
async fn id_of(kiln: &KilnProcess, stack: &str, resource: &str) -> String {
    let path = path(kiln, Who::Demo, stack).await;
    let path = format!("{path}/resources/{resource}");
    let reply = kiln.ask(Who::Demo, "GET", &path, None).await;
    let id = reply.body["resource"]["physical_resource_id"].as_str();
    id.unwrap_or_else(|| panic!("{}", reply.body)).to_owned()
}

/// A failure names the resource, the service's words, the request and the next step.
fn assert_told(reason: &str, place: &str, words: &str, next: &str) {
    for part in [place, words, "Next: ", next] {
        assert!(reason.contains(part), "{part:?} is not in {reason:?}");
    }
    // The client of Neutron has a form of its own, with the ids of requests and without the status.
    let is_neutrons = reason.contains("\nNeutron server returns request_ids: ['req-");
    let is_usual = reason.contains("(HTTP ") && reason.contains("(Request-ID: req-");
    assert!(is_neutrons || is_usual, "no request is named in {reason:?}");
}

// --- objects of others ---

/// Objects whose names, and descriptions if they have any, the user chose: a resource, and the collection of its object.
const NAMED: &[(&str, &str)] = &[
    ("OS::Cinder::Volume, properties: {name: data, description: mine, size: 1}", "*/volumes"),
    ("OS::Neutron::Net, properties: {name: data}", "*/networks"),
    (
        "OS::Neutron::SecurityGroup, properties: {name: data, description: mine}",
        "*/security-groups",
    ),
    ("OS::Nova::ServerGroup, properties: {name: data, policies: [affinity]}", "*/os-server-groups"),
    (
        "OS::Barbican::Secret, properties: {name: data, payload: x, payload_content_type: text/plain}",
        "*/secrets",
    ),
    (
        "OS::Trove::Instance, properties: {name: data, flavor: m1.small, size: 1, networks: [{network: private}]}",
        "*/instances",
    ),
    (
        "OS::Zun::Container, properties: {name: data, image: cirros, command: sleep 1}",
        "*/containers",
    ),
    (
        "OS::Magnum::ClusterTemplate, properties: {name: data, coe: kubernetes, image: cirros, external_network: public}",
        "*/clustertemplates",
    ),
];

/// A name is no proof: an object that somebody else gave the same name is neither taken over nor deleted.
#[tokio::test]
async fn an_object_of_the_same_name_is_left_alone() {
    for (resource, path) in NAMED {
        let kiln = kiln().await;
        let before = kiln.objects().await;
        let body = template(&format!("  it: {{type: {resource}}}\n"));
        create(&kiln, "theirs", &body).await;
        rest(&kiln, "theirs", "CREATE_COMPLETE").await;
        let theirs = id_of(&kiln, "theirs", "it").await;
        let with_theirs = kiln.objects().await;
        for (number, kind) in ["dropped", "lost"].into_iter().enumerate() {
            let stack = format!("mine{number}");
            kiln.set_faults(json!([rule("POST", path, 1, json!(kind))])).await;
            create(&kiln, &stack, &body).await;
            rest(&kiln, &stack, "CREATE_COMPLETE").await;
            assert_ne!(id_of(&kiln, &stack, "it").await, theirs, "{resource} {kind}");
            delete(&kiln, Who::Demo, &stack).await.expect("deleted");
            assert_eq!(
                kiln.changed_since(&with_theirs).await,
                Vec::<String>::new(),
                "{resource} {kind}"
            );
        }
        delete(&kiln, Who::Demo, "theirs").await.expect("deleted");
        assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new(), "{resource}");
    }
}

/// Objects with names show the descriptions of their templates, and no marks.
#[tokio::test]
async fn marks_are_not_seen() {
    let kiln = kiln().await;
    let body = template(
        "  net: {type: OS::Neutron::Net, properties: {name: n}}
  router: {type: OS::Neutron::Router, properties: {name: r}}
  pool: {type: OS::Neutron::SubnetPool, properties: {name: p, prefixes: [10.50.0.0/16]}}
  address: {type: OS::Neutron::FloatingIP, properties: {floating_network: public}}
  volume: {type: OS::Cinder::Volume, properties: {name: v, size: 1}}
  group: {type: OS::Neutron::SecurityGroup, properties: {name: g, description: mine}}
  image: {type: OS::Glance::WebImage, properties: {name: i, location: 'http://example.com/i', disk_format: raw, container_format: bare}}
",
    );
    create(&kiln, "plain", &body).await;
    rest(&kiln, "plain", "CREATE_COMPLETE").await;
    for (resource, path, field, wanted) in [
        ("net", "/network/v2.0/networks", "network", json!("")),
        ("router", "/network/v2.0/routers", "router", json!("")),
        ("pool", "/network/v2.0/subnetpools", "subnetpool", json!("")),
        ("address", "/network/v2.0/floatingips", "floatingip", json!("")),
        ("group", "/network/v2.0/security-groups", "security_group", json!("mine")),
        ("volume", "/volume/v3/volumes", "volume", Json::Null),
        ("image", "/image/v2/images", "", Json::Null),
    ] {
        let id = id_of(&kiln, "plain", resource).await;
        let shown = kiln.cloud(Who::Demo, "GET", &format!("{path}/{id}"), None).await.body;
        let object = if field.is_empty() { &shown } else { &shown[field] };
        assert_eq!(object["description"], wanted, "{resource}: {shown}");
        assert!(!shown.to_string().contains("kiln "), "{resource}: {shown}");
    }
    delete(&kiln, Who::Demo, "plain").await.expect("deleted");
}

// --- what passes ---

/// Every resource meets another kind of bad luck.
const UNLUCKY: &str = "
  net: {type: OS::Neutron::Net}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.40.0.0/24}}
  port: {type: OS::Neutron::Port, properties: {network: {get_resource: net}, fixed_ips: [{subnet: {get_resource: subnet}}]}}
  group: {type: OS::Neutron::SecurityGroup, properties: {rules: [{protocol: tcp, port_range_min: 22, port_range_max: 22}]}}
  router: {type: OS::Neutron::Router}
  scope: {type: OS::Neutron::AddressScope, properties: {ip_version: 4}}
  pool: {type: OS::Neutron::SubnetPool, properties: {prefixes: [10.50.0.0/16]}}
  volume: {type: OS::Cinder::Volume, properties: {size: 1}}
  server: {type: OS::Nova::Server, properties: {flavor: m1.small, image: cirros, networks: [{port: {get_resource: port}}]}}
  zone: {type: OS::Designate::Zone, properties: {name: luck.example., email: a@example.com}}
";

fn rule(method: &str, path: &str, times: u32, kind: Json) -> Json {
    json!({ "method": method, "path": path, "when": { "first": times }, "kind": kind })
}

#[tokio::test]
async fn what_goes_wrong_for_a_while_is_done_in_the_end() {
    let kiln = kiln().await;
    let before = kiln.objects().await;
    let status = |code: u16| json!({ "status": code });
    kiln.set_faults(json!([
        rule("POST", "*/networks", 2, status(500)),
        rule("POST", "*/subnets", 2, status(503)),
        rule("POST", "*/ports", 2, status(429)),
        rule("POST", "*/security-groups", 1, json!("garbage")),
        rule("POST", "*/routers", 1, json!("dropped")),
        rule("POST", "*/address-scopes", 1, json!("lost")),
        rule("POST", "*/subnetpools", 1, json!({ "late": 500 })),
        rule("POST", "*/volumes", 1, status(504)),
        rule("GET", "*/volumes/*", 2, status(500)),
        rule("POST", "*/servers", 1, json!("lost")),
        rule("GET", "*/servers/*", 1, json!("garbage")),
        rule("GET", "*/flavors", 1, status(502)),
        rule("POST", "*/zones", 1, status(502)),
        rule("GET", "*/zones/*", 2, json!("dropped")),
    ]))
    .await;
    create(&kiln, "unlucky", &template(UNLUCKY)).await;
    rest(&kiln, "unlucky", "CREATE_COMPLETE").await;
    let after = kiln.objects().await;
    for (collection, more) in [
        ("network/networks", 1),
        ("network/subnets", 1),
        ("network/routers", 1),
        ("network/address_scopes", 1),
        ("network/subnetpools", 1),
        ("volume/volumes", 1),
        ("compute/servers", 1),
        ("dns/zones", 1),
    ] {
        let count = |objects: &super::kiln_process::Objects| {
            objects.get(collection).map_or(0, |it| it.len())
        };
        assert_eq!(
            count(&after),
            count(&before) + more,
            "{collection}: {:?}",
            after.get(collection)
        );
    }
    kiln.set_faults(json!([
        rule("DELETE", "*/networks/*", 1, status(500)),
        rule("DELETE", "*/subnets/*", 1, status(503)),
        rule("DELETE", "*/ports/*", 1, json!("lost")),
        rule("DELETE", "*/routers/*", 1, json!("dropped")),
        rule("DELETE", "*/servers/*", 1, json!("garbage")),
        rule("DELETE", "*/volumes/*", 1, status(504)),
        rule("DELETE", "*/zones/*", 1, status(429)),
    ]))
    .await;
    delete(&kiln, Who::Demo, "unlucky").await.expect("it is gone");
    assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new());
}

// --- what stays ---

const NESTED: &str =
    "heat_template_version: 2021-04-16\nresources:\n  net: {type: OS::Neutron::Net}\n";

/// A stack that fails, with something wrong meanwhile; then it is deleted.
async fn fails(kiln: &KilnProcess, stack: &str, body: &Json) -> String {
    create(kiln, stack, body).await;
    let reason = rest(kiln, stack, "CREATE_FAILED").await;
    delete(kiln, Who::Demo, stack).await.expect("it is gone");
    reason
}

#[tokio::test]
async fn what_is_refused_says_where_and_why_and_what_next() {
    let kiln = kiln().await;
    let before = kiln.objects().await;
    let mut nested =
        template("  inner: {type: inner.yaml}\n  other: {type: OS::Neutron::Router}\n");
    nested["files"] = json!({ "inner.yaml": NESTED });
    let words = "The service was told to refuse this request";
    for (status, next) in [
        (400, "change what the template asks for"),
        (403, "ask for the role"),
        (404, "look for what is missing"),
        (500, "its operator finds it by the id"),
    ] {
        let kind = json!({ "status": status });
        kiln.set_faults(json!([{ "method": "POST", "path": "*/networks", "kind": kind }])).await;
        let reason = fails(&kiln, "refused", &nested).await;
        assert_told(&reason, "resources.inner.resources.net: ", words, next);
        // The client of the network service names the request and not the status, and so does Heat.
        assert!(reason.contains("request_ids: ['req-"), "{reason}");
        assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new(), "{status}");
    }
}

#[tokio::test]
async fn a_quota_that_is_used_up_is_told_in_the_words_of_the_service() {
    let kiln = kiln().await;
    let before = kiln.objects().await;
    for (service, name, kind, properties) in [
        ("network", "network", "OS::Neutron::Net", "{}"),
        ("volume", "volumes", "OS::Cinder::Volume", "{size: 1}"),
        (
            "compute",
            "instances",
            "OS::Nova::Server",
            "{flavor: m1.small, image: cirros, networks: [{network: private}]}",
        ),
    ] {
        let quota = |limit: i64| json!({ "service": service, "name": name, "limit": limit });
        kiln.cloud(Who::Admin, "POST", "/sim/quota", Some(quota(0))).await;
        let body = template(&format!("  it: {{type: {kind}, properties: {properties}}}\n"));
        let reason = fails(&kiln, "full", &body).await;
        assert_told(
            &reason,
            "resources.it: ",
            "uota",
            "ask for a higher quota, or remove something",
        );
        assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new(), "{service}");
        kiln.cloud(Who::Admin, "POST", "/sim/quota", Some(quota(-1))).await;
    }
}

#[tokio::test]
async fn a_service_that_the_cloud_has_not_is_named() {
    let kiln = kiln().await;
    let services = kiln.identity(Who::Admin, "GET", "/services", None).await.body;
    let services = services["services"].as_array().cloned().unwrap_or_default();
    for service in services.iter().filter(|it| it["type"] == "dns") {
        let path = format!("/services/{}", service["id"].as_str().unwrap_or_default());
        assert_eq!(kiln.identity(Who::Admin, "DELETE", &path, None).await.status, 204);
    }
    let before = kiln.objects().await;
    let zone = "  it: {type: OS::Designate::Zone, properties: {name: no.example., email: a@example.com}}\n";
    let mut body = template(zone);
    body["stack_name"] = "missing".into();
    let reply = kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await;
    let expected = "HEAT-E99001 Service designate is not available for resource type OS::Designate::Zone, \
                    reason: designate dns endpoint is not in service catalog.";
    assert_eq!(reply.status, 400);
    assert_eq!(reply.body["error"]["message"], expected);
    assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_image_that_vanishes_on_the_way_is_missed_by_name() {
    let kiln = kiln().await;
    let image = json!({ "name": "fleeting", "disk_format": "raw", "container_format": "bare" });
    let image = kiln.cloud(Who::Demo, "POST", "/image/v2/images", Some(image)).await;
    let image = image.body["id"].as_str().expect("an image").to_owned();
    kiln.meddle("image/images", &image, json!({ "status": "active" })).await;
    let server = "  it: {type: OS::Nova::Server, properties: {flavor: m1.small, image: fleeting, networks: [{network: private}]}}\n";
    let mut body = template(server);
    body["environment"] =
        json!({ "resource_registry": { "resources": { "it": { "hooks": "pre-create" } } } });
    create(&kiln, "late", &body).await;
    // The resource waits until a user clears its hook.
    let path = path(&kiln, Who::Demo, "late").await;
    let events = format!("{path}/resources/it/events");
    let is_waiting = |reply: &Json| reply.to_string().contains("paused until Hook pre-create");
    while !is_waiting(&kiln.ask(Who::Demo, "GET", &events, None).await.body) {}
    kiln.meddle("image/images", &image, Json::Null).await;
    let before = kiln.objects().await;
    let signal = json!({ "unset_hook": "pre-create" });
    kiln.ask(Who::Demo, "POST", &format!("{path}/resources/it/signal"), Some(signal)).await;
    let reason = rest(&kiln, "late", "CREATE_FAILED").await;
    for part in ["resources.it: ", "mage", "Next: "] {
        assert!(reason.contains(part), "{part:?} is not in {reason:?}");
    }
    delete(&kiln, Who::Demo, "late").await.expect("it is gone");
    let left = kiln.changed_since(&before).await;
    assert!(left.iter().all(|it| it.starts_with("lost: identity.OS-TRUST")), "{left:?}");
}

// --- what happens behind our back ---

const PAIR: &str = "
  net: {type: OS::Neutron::Net, properties: {admin_state_up: true}}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.41.0.0/24}}
  server: {type: OS::Nova::Server, properties: {flavor: m1.small, image: cirros, networks: [{subnet: {get_resource: subnet}}]}}
  volume: {type: OS::Cinder::Volume, properties: {size: 1, description: one}}
";

#[tokio::test]
async fn what_was_removed_behind_our_back_is_missed_made_anew_and_no_obstacle() {
    let kiln = kiln().await;
    let before = kiln.objects().await;
    create(&kiln, "robbed", &template(PAIR)).await;
    rest(&kiln, "robbed", "CREATE_COMPLETE").await;
    let (server, volume) =
        (id_of(&kiln, "robbed", "server").await, id_of(&kiln, "robbed", "volume").await);
    let servers = format!("/compute/v2.1/servers/{server}");
    assert_eq!(kiln.cloud(Who::Demo, "DELETE", &servers, None).await.status, 204);
    kiln.meddle("volume/volumes", &volume, Json::Null).await;
    check(&kiln, "robbed").await;
    let reason = rest(&kiln, "robbed", "CHECK_FAILED").await;
    for part in ["server: Resource CHECK failed: ", "volume: Resource CHECK failed: ", "(HTTP 404)"]
    {
        assert!(reason.contains(part), "{part:?} is not in {reason:?}");
    }
    assert_told(
        &reason,
        "resources.server: ",
        "could not be found",
        "update the stack, which makes another",
    );
    update(&kiln, "robbed", &template(PAIR)).await;
    rest(&kiln, "robbed", "UPDATE_COMPLETE").await;
    assert_ne!(id_of(&kiln, "robbed", "server").await, server);
    assert_ne!(id_of(&kiln, "robbed", "volume").await, volume);
    check(&kiln, "robbed").await;
    rest(&kiln, "robbed", "CHECK_COMPLETE").await;
    // The update changes an object that is gone, without reading it first.
    let volume = id_of(&kiln, "robbed", "volume").await;
    kiln.meddle("volume/volumes", &volume, Json::Null).await;
    update(&kiln, "robbed", &template(&PAIR.replace("one", "two"))).await;
    rest(&kiln, "robbed", "UPDATE_COMPLETE").await;
    assert_ne!(id_of(&kiln, "robbed", "volume").await, volume);
    // Nor does it matter to a delete.
    let server = id_of(&kiln, "robbed", "server").await;
    let servers = format!("/compute/v2.1/servers/{server}");
    assert_eq!(kiln.cloud(Who::Demo, "DELETE", &servers, None).await.status, 204);
    delete(&kiln, Who::Demo, "robbed").await.expect("it is gone");
    assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new());
}

#[tokio::test]
async fn what_broke_behind_our_back_is_told_of_and_replaced() {
    let kiln = kiln().await;
    let before = kiln.objects().await;
    create(&kiln, "broken", &template(PAIR)).await;
    rest(&kiln, "broken", "CREATE_COMPLETE").await;
    let server = id_of(&kiln, "broken", "server").await;
    let fault = json!({ "code": 500, "message": "the host is on fire" });
    kiln.meddle("compute/servers", &server, json!({ "status": "ERROR", "fault": fault })).await;
    check(&kiln, "broken").await;
    let reason = rest(&kiln, "broken", "CHECK_FAILED").await;
    assert!(reason.contains("resources.server: "), "{reason}");
    assert!(reason.contains("ERROR"), "{reason}");
    update(&kiln, "broken", &template(PAIR)).await;
    rest(&kiln, "broken", "UPDATE_COMPLETE").await;
    assert_ne!(id_of(&kiln, "broken", "server").await, server);
    ended(&kiln, Who::Demo, "broken", "UPDATE_COMPLETE").await.expect("it rests");
    delete(&kiln, Who::Demo, "broken").await.expect("it is gone");
    assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new());
}
