//! The load balancing service.

use serde_json::{Value, json};

use super::test_cloud::TestCloud;

const LBAAS: &str = "/load-balancer/v2/lbaas";

impl TestCloud {
    fn octavia(&self, path: &str, one: &str, fields: Value) -> String {
        let id = self.make(&format!("{LBAAS}/{path}"), one, fields);
        self.later(11);
        id
    }

    fn balancer(&self) -> String {
        let found = self.get("/network/v2.0/subnets?name=private-subnet");
        let subnet = found["subnets"][0]["id"].clone();
        self.octavia(
            "loadbalancers",
            "loadbalancer",
            json!({ "vip_subnet_id": subnet, "name": "lb" }),
        )
    }
}

#[test]
fn everything_below_a_balancer_waits_for_it() {
    let cloud = TestCloud::new();
    let found = cloud.get("/network/v2.0/subnets?name=private-subnet");
    let subnet = found["subnets"][0]["id"].clone();
    let lb = cloud.make(
        &format!("{LBAAS}/loadbalancers"),
        "loadbalancer",
        json!({ "vip_subnet_id": subnet }),
    );
    let shown = cloud.get(&format!("{LBAAS}/loadbalancers/{lb}"))["loadbalancer"].clone();
    assert_eq!(shown["provisioning_status"], "PENDING_CREATE");
    assert!(shown["vip_address"].as_str().unwrap().starts_with("10.0.0."));
    let listener =
        json!({ "listener": { "loadbalancer_id": lb, "protocol": "HTTP", "protocol_port": 80 } });
    let refused = cloud.demo(&format!("POST {LBAAS}/listeners"), listener.clone()).has(409).body;
    assert_eq!(
        refused,
        json!({
            "faultcode": "Client", "debuginfo": null,
            "faultstring": format!("Load Balancer {lb} is immutable and cannot be updated."),
        })
    );
    cloud.demo(&format!("DELETE {LBAAS}/loadbalancers/{lb}"), Value::Null).has(409);
    cloud.later(11);
    cloud.demo(&format!("POST {LBAAS}/listeners"), listener.clone()).has(201);
    assert_eq!(
        cloud.get(&format!("{LBAAS}/loadbalancers/{lb}"))["loadbalancer"]["provisioning_status"],
        "PENDING_UPDATE"
    );
    cloud.later(11);
    cloud.demo(&format!("POST {LBAAS}/listeners"), listener).has(409);
}

#[test]
fn a_whole_tree_is_made_shown_and_removed() {
    let cloud = TestCloud::new();
    let ports = cloud.count("network/ports");
    let lb = cloud.balancer();
    let listener = cloud.octavia(
        "listeners",
        "listener",
        json!({ "loadbalancer_id": lb, "protocol": "HTTP", "protocol_port": 80 }),
    );
    let pool = cloud.octavia(
        "pools",
        "pool",
        json!({ "listener_id": listener, "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN" }),
    );
    let member = cloud.octavia(
        &format!("pools/{pool}/members"),
        "member",
        json!({ "address": "10.0.0.9", "protocol_port": 80 }),
    );
    let monitor = cloud.octavia(
        "healthmonitors",
        "healthmonitor",
        json!({
            "pool_id": pool, "type": "HTTP", "delay": 5, "timeout": 3, "max_retries": 2,
        }),
    );
    let policy = cloud.octavia(
        "l7policies",
        "l7policy",
        json!({ "listener_id": listener, "action": "REJECT" }),
    );
    let rule = cloud.octavia(
        &format!("l7policies/{policy}/rules"),
        "rule",
        json!({
            "type": "PATH", "compare_type": "STARTS_WITH", "value": "/x",
        }),
    );
    let shown = cloud.get(&format!("{LBAAS}/pools/{pool}"))["pool"].clone();
    assert_eq!(
        (&shown["members"], &shown["healthmonitor_id"]),
        (&json!([{ "id": member }]), &json!(monitor))
    );
    assert_eq!(shown["listeners"], json!([{ "id": listener }]));
    assert_eq!(
        cloud.get(&format!("{LBAAS}/listeners/{listener}"))["listener"]["default_pool_id"],
        json!(pool)
    );
    let batch = json!({ "members": [{ "address": "10.0.0.9", "protocol_port": 80, "weight": 5 }, { "address": "10.0.0.8", "protocol_port": 80 }] });
    cloud.demo(&format!("PUT {LBAAS}/pools/{pool}/members"), batch).has(202);
    cloud.later(11);
    let members = cloud.get(&format!("{LBAAS}/pools/{pool}/members"))["members"].clone();
    assert_eq!(
        (
            members.as_array().unwrap().len(),
            &members[0]["weight"],
            &members[0]["provisioning_status"]
        ),
        (2, &json!(5), &json!("ACTIVE"))
    );
    cloud
        .demo(
            &format!("PUT {LBAAS}/listeners/{listener}"),
            json!({ "listener": { "name": "new" } }),
        )
        .has(200);
    cloud.later(11);
    cloud.get(&format!("{LBAAS}/loadbalancers/{lb}/status"));
    cloud.demo(&format!("DELETE {LBAAS}/loadbalancers/{lb}"), Value::Null).has(400);
    for path in [
        format!("l7policies/{policy}/rules/{rule}"),
        format!("l7policies/{policy}"),
        format!("healthmonitors/{monitor}"),
        format!("pools/{pool}/members/{member}"),
        format!("pools/{pool}"),
        format!("listeners/{listener}"),
    ] {
        cloud.demo(&format!("DELETE {LBAAS}/{path}"), Value::Null).has(204);
        cloud.demo(&format!("DELETE {LBAAS}/{path}"), Value::Null).has(409);
        cloud.later(11);
        cloud.demo(&format!("GET {LBAAS}/{path}"), Value::Null).has(404);
    }
    cloud.demo(&format!("DELETE {LBAAS}/loadbalancers/{lb}"), Value::Null).has(204);
    cloud.later(11);
    cloud.demo(&format!("GET {LBAAS}/loadbalancers/{lb}"), Value::Null).has(404);
    assert_eq!((cloud.count("network/ports"), cloud.count("load-balancer/members")), (ports, 0));
}

#[test]
fn a_tree_goes_at_once_if_asked_to_and_offers_are_for_administrators() {
    let cloud = TestCloud::new();
    let lb = cloud.balancer();
    cloud.octavia(
        "listeners",
        "listener",
        json!({ "loadbalancer_id": lb, "protocol": "TCP", "protocol_port": 1 }),
    );
    cloud.demo(&format!("DELETE {LBAAS}/loadbalancers/{lb}?cascade=true"), Value::Null).has(204);
    cloud.later(11);
    assert_eq!(
        (cloud.count("load-balancer/loadbalancers"), cloud.count("load-balancer/listeners")),
        (0, 0)
    );
    let profile = json!({ "flavorprofile": { "name": "p", "provider_name": "amphora", "flavor_data": "{}" } });
    cloud.demo(&format!("POST {LBAAS}/flavorprofiles"), profile.clone()).has(403);
    let made = cloud.admin(&format!("POST {LBAAS}/flavorprofiles"), profile).has(201).body;
    let id = made["flavorprofile"]["id"].clone();
    let flavor = json!({ "flavor": { "name": "f", "flavor_profile_id": id } });
    cloud.admin(&format!("POST {LBAAS}/flavors"), flavor).has(201);
    cloud
        .admin(&format!("DELETE {LBAAS}/flavorprofiles/{}", id.as_str().unwrap()), Value::Null)
        .has(409);
    let profile = json!({ "availability_zone_profile": { "name": "p", "provider_name": "amphora", "availability_zone_data": "{}" } });
    let made =
        cloud.admin(&format!("POST {LBAAS}/availabilityzoneprofiles"), profile).has(201).body;
    let zone = json!({ "availability_zone": { "name": "z", "availability_zone_profile_id": made["availability_zone_profile"]["id"] } });
    cloud.admin(&format!("POST {LBAAS}/availabilityzones"), zone).has(201);
    cloud.get(&format!("{LBAAS}/availabilityzones/z"));
    cloud.admin(&format!("DELETE {LBAAS}/availabilityzones/z"), Value::Null).has(204);
    let quotas = format!("{LBAAS}/quotas/{}", cloud.demo_project());
    cloud.admin(&format!("PUT {quotas}"), json!({ "quota": { "load_balancer": 0 } })).has(202);
    assert_eq!(cloud.get(&quotas)["quota"]["load_balancer"], 0);
    let subnet = cloud.get("/network/v2.0/subnets?name=private-subnet")["subnets"][0]["id"].clone();
    cloud
        .demo(
            &format!("POST {LBAAS}/loadbalancers"),
            json!({ "loadbalancer": { "vip_subnet_id": subnet } }),
        )
        .has(403);
}
