//! The smaller services.

use serde_json::{Value, json};

use super::test_cloud::TestCloud;

#[test]
fn zones_and_records_are_pending_for_a_while() {
    let cloud = TestCloud::new();
    let zones = "/dns/v2/zones";
    let made = cloud
        .demo(&format!("POST {zones}"), json!({ "name": "example.org.", "email": "a@example.org" }))
        .has(202)
        .body;
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!((&made["status"], &made["action"]), (&json!("PENDING"), &json!("CREATE")));
    let twin = cloud
        .demo(&format!("POST {zones}"), json!({ "name": "example.org.", "email": "a@example.org" }))
        .has(409)
        .body;
    assert_eq!(
        (&twin["type"], &twin["message"]),
        (&json!("duplicate_zone"), &json!("Duplicate Zone"))
    );
    cloud.demo(&format!("POST {zones}"), json!({ "name": "nodot", "email": "a@b" })).has(400);
    cloud.later(11);
    assert_eq!(cloud.get(&format!("{zones}/{id}"))["status"], "ACTIVE");
    let records = format!("{zones}/{id}/recordsets");
    let fields = json!({ "name": "www.example.org.", "type": "A", "records": ["192.0.2.1"] });
    let record = cloud.demo(&format!("POST {records}"), fields.clone()).has(202).body["id"].clone();
    let record = record.as_str().unwrap();
    cloud.demo(&format!("POST {records}"), fields).has(409);
    cloud.later(11);
    let changed = cloud
        .demo(&format!("PUT {records}/{record}"), json!({ "records": ["192.0.2.2"], "ttl": 60 }))
        .has(202)
        .body;
    assert_eq!(
        (&changed["action"], &changed["records"]),
        (&json!("UPDATE"), &json!(["192.0.2.2"]))
    );
    assert_eq!(cloud.get(&records)["metadata"]["total_count"], 3, "with those of the zone itself");
    cloud.demo(&format!("PATCH {zones}/{id}"), json!({ "ttl": 300 })).has(202);
    cloud.later(11);
    cloud.demo(&format!("DELETE {records}/{record}"), Value::Null).has(202);
    cloud.demo(&format!("DELETE {zones}/{id}"), Value::Null).has(202);
    cloud.later(11);
    let gone = cloud.demo(&format!("GET {zones}/{id}"), Value::Null).has(404).body;
    assert_eq!(
        (&gone["type"], &gone["message"]),
        (&json!("zone_not_found"), &json!("Could not find Zone"))
    );
    assert_eq!((cloud.count("dns/zones"), cloud.count("dns/recordsets")), (0, 0));
}

#[test]
fn secrets_orders_and_containers_go_by_reference() {
    let cloud = TestCloud::new();
    let v1 = "/key-manager/v1";
    assert_eq!(cloud.get(v1)["version"]["id"], "v1");
    let local = |value: &Value| {
        value.as_str().unwrap().strip_prefix("http://cloud.example").unwrap().to_owned()
    };
    let fields = json!({ "name": "s", "payload": "hush", "payload_content_type": "text/plain" });
    let made = cloud.demo(&format!("POST {v1}/secrets"), fields).has(201).body;
    let secret = local(&made["secret_ref"]);
    let shown = cloud.get(&secret);
    assert_eq!(
        (&shown["status"], &shown["content_types"]["default"]),
        (&json!("ACTIVE"), &json!("text/plain"))
    );
    assert!(shown.get("payload").is_none());
    assert_eq!(cloud.demo(&format!("GET {secret}/payload"), Value::Null).has(200).text, "hush");
    let refused =
        cloud.demo(&format!("POST {v1}/secrets"), json!({ "payload": "x" })).has(400).body;
    assert_eq!((&refused["code"], &refused["title"]), (&json!(400), &json!("Bad Request")));
    let order =
        json!({ "type": "key", "meta": { "name": "k", "algorithm": "aes", "bit_length": 256 } });
    let order = local(&cloud.demo(&format!("POST {v1}/orders"), order).has(202).body["order_ref"]);
    assert_eq!(cloud.get(&order)["status"], "PENDING");
    let pair = json!({ "type": "asymmetric", "meta": { "name": "k", "algorithm": "rsa", "bit_length": 2048 } });
    let pair = local(&cloud.demo(&format!("POST {v1}/orders"), pair).has(202).body["order_ref"]);
    cloud.later(11);
    let shown = cloud.get(&order);
    assert_eq!(shown["status"], "ACTIVE");
    cloud.get(&local(&shown["secret_ref"]));
    let held = cloud.get(&local(&cloud.get(&pair)["container_ref"]));
    assert_eq!(held["secret_refs"].as_array().unwrap().len(), 2);
    let container = json!({ "type": "generic", "secret_refs": [{ "name": "a", "secret_ref": made["secret_ref"] }] });
    let container = local(
        &cloud.demo(&format!("POST {v1}/containers"), container).has(201).body["container_ref"],
    );
    assert_eq!(cloud.get(&container)["secret_refs"][0]["name"], "a");
    for path in [&secret, &order, &container] {
        cloud.demo(&format!("DELETE {path}"), Value::Null).has(204);
        cloud.demo(&format!("GET {path}"), Value::Null).has(404);
    }
    assert_eq!(cloud.get(&format!("{v1}/secrets"))["total"], 3);
}

#[test]
fn alarms_are_checked_by_their_type() {
    let cloud = TestCloud::new();
    let alarms = "/alarming/v2/alarms";
    let rule = json!({
        "metric": "cpu", "threshold": 5.0, "aggregation_method": "mean", "resource_type": "instance", "resource_id": "x",
    });
    let fields = json!({
        "name": "a", "type": "gnocchi_resources_threshold", "gnocchi_resources_threshold_rule": rule,
        "alarm_actions": ["http://example.com/signal"],
    });
    let made = cloud.demo(&format!("POST {alarms}"), fields.clone()).has(201).body;
    let id = made["alarm_id"].as_str().unwrap().to_owned();
    assert_eq!((&made["state"], &made["enabled"]), (&json!("insufficient data"), &json!(true)));
    let mut other = fields.clone();
    other["enabled"] = json!(false);
    assert_eq!(cloud.demo(&format!("PUT {alarms}/{id}"), other).has(200).body["enabled"], false);
    cloud.demo(&format!("PUT {alarms}/{id}/state"), json!("\"alarm\"")).has(200);
    assert_eq!(cloud.get(&format!("{alarms}/{id}"))["state"], "alarm");
    assert_eq!(cloud.get(&format!("{alarms}?q.field=name&q.value=a")).as_array().unwrap().len(), 1);
    let wrong = json!({ "name": "b", "type": "nonsense" });
    let refused = cloud.demo(&format!("POST {alarms}"), wrong).has(400).body;
    assert!(refused["error_message"]["faultstring"].as_str().unwrap().contains("nonsense"));
    for (kind, rule) in [
        ("event", json!({ "event_type": "compute.*" })),
        ("composite", json!({ "or": [] })),
        ("prometheus", json!({ "query": "up", "threshold": 1 })),
        (
            "loadbalancer_member_health",
            json!({ "pool_id": "p", "stack_id": "s", "autoscaling_group_id": "g" }),
        ),
    ] {
        let body = json!({ "name": kind, "type": kind, format!("{kind}_rule"): rule });
        cloud.demo(&format!("POST {alarms}"), body).has(201);
    }
    cloud.demo(&format!("DELETE {alarms}/{id}"), Value::Null).has(204);
    cloud.demo(&format!("GET {alarms}/{id}"), Value::Null).has(404);
    let metric =
        cloud.demo("POST /metric/v1/metric", json!({ "name": "m" })).has(201).body["id"].clone();
    cloud.get(&format!("/metric/v1/metric/{}", metric.as_str().unwrap()));
}

#[test]
fn messages_are_posted_claimed_and_shared() {
    let cloud = TestCloud::new();
    let queues = "/messaging/v2/queues";
    let client = [("Client-ID", "3381af92-2b9e-11e3-b191-71861300734c")];
    let other = [("Client-ID", "99999999-2b9e-11e3-b191-71861300734c")];
    cloud.demo(&format!("PUT {queues}/q"), json!({ "colour": "red" })).has(201);
    assert_eq!(cloud.get(&format!("{queues}/q"))["colour"], "red");
    let patch = json!([{ "op": "replace", "path": "/metadata/colour", "value": "blue" }]);
    assert_eq!(cloud.demo(&format!("PATCH {queues}/q"), patch).has(200).body["colour"], "blue");
    let sent = json!({ "messages": [{ "ttl": 300, "body": { "n": 1 } }, { "ttl": 5, "body": 2 }] });
    cloud.demo(&format!("POST {queues}/q/messages"), sent.clone()).has(400);
    let made = cloud.demo_with(&format!("POST {queues}/q/messages"), &client, sent).has(201).body;
    assert_eq!(made["resources"].as_array().unwrap().len(), 2);
    let list = |who: &[(&str, &str)]| {
        let found =
            cloud.demo_with(&format!("GET {queues}/q/messages"), who, Value::Null).has(200).body;
        found["messages"].as_array().unwrap().len()
    };
    assert_eq!((list(&client), list(&other)), (0, 2), "a client does not receive its own messages");
    cloud.later(6);
    assert_eq!(list(&other), 1, "one of them is too old");
    let claim = cloud
        .demo_with(&format!("POST {queues}/q/claims"), &other, json!({ "ttl": 60, "grace": 60 }))
        .has(201);
    let path = claim.headers["location"].to_str().unwrap().to_owned();
    let message = claim.body["messages"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(list(&other), 0);
    cloud.demo_with(&format!("DELETE {queues}/q/messages/{message}"), &other, Value::Null).has(403);
    cloud.demo_with(&format!("DELETE /messaging{path}"), &other, Value::Null).has(204);
    assert_eq!(list(&other), 1);

    let share = json!({ "paths": ["messages"], "methods": ["GET", "POST"] });
    let shared = cloud.demo(&format!("POST {queues}/q/share"), share).has(200).body;
    let words = |name: &str| {
        let list = shared[name].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        list.collect::<Vec<_>>().join(",")
    };
    let (methods, paths) = (words("methods"), words("paths"));
    let signed = [
        other[0],
        ("URL-Signature", shared["signature"].as_str().unwrap()),
        ("URL-Expires", shared["expires"].as_str().unwrap()),
        ("URL-Methods", &methods),
        ("URL-Paths", &paths),
        ("X-Project-Id", shared["project"].as_str().unwrap()),
    ];
    cloud
        .ask_with("", "GET", &format!("{queues}/q/messages"), &signed, Value::Null)
        .unwrap()
        .has(200);
    cloud.ask_with("", "GET", &format!("{queues}/q"), &signed, Value::Null).unwrap().has(401);
    cloud
        .ask_with("", "GET", &format!("{queues}/q/messages"), &other, Value::Null)
        .unwrap()
        .has(401);

    let subscription = json!({ "subscriber": "http://example.com", "ttl": 60 });
    let id = cloud
        .demo(&format!("POST {queues}/q/subscriptions"), subscription.clone())
        .has(201)
        .body["subscription_id"]
        .clone();
    cloud.demo(&format!("POST {queues}/q/subscriptions"), subscription).has(409);
    cloud
        .demo(&format!("POST {queues}/q/subscriptions"), json!({ "subscriber": "ftp://x" }))
        .has(400);
    cloud
        .demo(
            &format!("PATCH {queues}/q/subscriptions/{}", id.as_str().unwrap()),
            json!({ "ttl": 90 }),
        )
        .has(204);
    assert_eq!(cloud.get(&format!("{queues}/q/subscriptions"))["subscriptions"][0]["ttl"], 90);
    cloud.demo(&format!("DELETE {queues}/q"), Value::Null).has(204);
    assert_eq!((cloud.count("messaging/messages"), cloud.count("messaging/subscriptions")), (0, 0));
}

#[test]
fn shares_have_types_networks_and_rules() {
    let cloud = TestCloud::new();
    let v2 = "/share/v2";
    let version = [("X-OpenStack-Manila-API-Version", "2.13")];
    let root = cloud.demo_with(&format!("GET {v2}/types"), &version, Value::Null).has(200);
    assert_eq!(root.headers["x-openstack-manila-api-version"], "2.13");
    let id = cloud.make(
        &format!("{v2}/shares"),
        "share",
        json!({ "size": 1, "share_proto": "nfs", "metadata": { "a": "b" }, "scheduler_hints": {} }),
    );
    let status = || cloud.get(&format!("{v2}/shares/{id}"))["share"]["status"].clone();
    assert_eq!(status(), "creating");
    let act =
        |body: Value| cloud.demo_with(&format!("POST {v2}/shares/{id}/action"), &version, body);
    let allow = json!({ "allow_access": { "access_type": "ip", "access_to": "10.0.0.0/8", "access_level": "ro" } });
    act(allow.clone()).has(400);
    cloud.later(11);
    assert_eq!(status(), "available");
    let rule = act(allow).has(200).body["access"]["id"].clone();
    cloud.later(11);
    assert_eq!(
        act(json!({ "access_list": null })).has(200).body["access_list"][0]["state"],
        "active"
    );
    act(json!({ "deny_access": { "access_id": rule } })).has(202);
    cloud
        .demo(&format!("PUT {v2}/shares/{id}/metadata"), json!({ "metadata": { "c": "d" } }))
        .has(200);
    cloud
        .demo(&format!("PUT {v2}/shares/{id}"), json!({ "share": { "display_name": "n" } }))
        .has(200);
    cloud
        .demo(&format!("POST {v2}/shares"), json!({ "share": { "size": 1, "share_proto": "ftp" } }))
        .has(400);
    let found = cloud.get("/network/v2.0/networks?name=private")["networks"][0].clone();
    let net = cloud.make(
        &format!("{v2}/share-networks"),
        "share_network",
        json!({
            "neutron_net_id": found["id"], "neutron_subnet_id": found["subnets"][0],
        }),
    );
    let service = cloud.make(
        &format!("{v2}/security-services"),
        "security_service",
        json!({ "type": "ldap" }),
    );
    let add = json!({ "add_security_service": { "security_service_id": service } });
    cloud.demo(&format!("POST {v2}/share-networks/{net}/action"), add).has(200);
    cloud.demo(&format!("DELETE {v2}/security-services/{service}"), Value::Null).has(403);
    cloud.demo(&format!("DELETE {v2}/share-networks/{net}"), Value::Null).has(202);
    cloud.demo(&format!("DELETE {v2}/security-services/{service}"), Value::Null).has(202);
    let kind = json!({ "share_type": { "name": "t", "extra_specs": { "driver_handles_share_servers": "False" } } });
    cloud.demo(&format!("POST {v2}/types"), kind.clone()).has(403);
    let kind =
        cloud.admin(&format!("POST {v2}/types"), kind).has(200).body["share_type"]["id"].clone();
    cloud
        .admin(
            &format!("POST {v2}/types/{}/extra_specs", kind.as_str().unwrap()),
            json!({ "extra_specs": { "x": "y" } }),
        )
        .has(200);
    cloud.admin(&format!("DELETE {v2}/types/{}", kind.as_str().unwrap()), Value::Null).has(202);
    cloud.demo(&format!("DELETE {v2}/shares/{id}"), Value::Null).has(202);
    cloud.later(11);
    cloud.demo(&format!("GET {v2}/shares/{id}"), Value::Null).fault(
        404,
        "itemNotFound",
        &format!("Share {id} could not be found."),
    );
}

#[test]
fn workflows_are_kept_and_executions_succeed() {
    let cloud = TestCloud::new();
    let v2 = "/workflow/v2";
    let yaml = [("Content-Type", "text/plain")];
    let definition = json!("version: '2.0'\nflow:\n  type: direct\n  tasks: {}\n");
    cloud.demo_with(&format!("POST {v2}/workflows"), &yaml, definition.clone()).has(201);
    cloud.demo_with(&format!("POST {v2}/workflows"), &yaml, definition.clone()).has(409);
    cloud.demo_with(&format!("PUT {v2}/workflows"), &yaml, definition).has(200);
    assert_eq!(cloud.get(&format!("{v2}/workflows/flow"))["name"], "flow");
    let made = cloud
        .demo(&format!("POST {v2}/executions"), json!({ "workflow_name": "flow", "input": "{}" }))
        .has(201)
        .body;
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!(made["state"], "RUNNING");
    cloud.demo(&format!("DELETE {v2}/executions/{id}"), Value::Null).has(403);
    cloud.later(11);
    assert_eq!(cloud.get(&format!("{v2}/executions/{id}"))["state"], "SUCCESS");
    cloud.demo(&format!("POST {v2}/executions"), json!({ "workflow_name": "nope" })).has(404);
    // Requests with the same id result in one execution.
    let own = "8e5a4f0c-9a6b-4f0e-9d0a-0c2f3f1b7d11";
    for _ in 0..2 {
        let wanted = json!({ "id": own, "workflow_name": "flow" });
        let made = cloud.demo(&format!("POST {v2}/executions"), wanted).has(201).body;
        assert_eq!(made["id"], own);
    }
    let all = cloud.get(&format!("{v2}/executions"));
    assert_eq!(all["executions"].as_array().map(Vec::len), Some(2));
    let trigger = json!({ "name": "t", "workflow_name": "flow", "pattern": "* * * * *" });
    cloud.demo(&format!("POST {v2}/cron_triggers"), trigger.clone()).has(201);
    cloud.demo(&format!("POST {v2}/cron_triggers"), trigger).has(409);
    cloud.demo(&format!("DELETE {v2}/workflows/flow"), Value::Null).has(400);
    cloud.demo(&format!("DELETE {v2}/cron_triggers/t"), Value::Null).has(204);
    cloud.demo(&format!("DELETE {v2}/executions/{id}"), Value::Null).has(204);
    cloud.demo(&format!("DELETE {v2}/workflows/flow"), Value::Null).has(204);
}

#[test]
fn clusters_follow_their_template() {
    let cloud = TestCloud::new();
    let v1 = "/container-infra/v1";
    let template = json!({ "name": "t", "image_id": "fedora-atomic", "coe": "kubernetes", "labels": { "a": "b" } });
    let made = cloud.demo(&format!("POST {v1}/clustertemplates"), template).has(201).body;
    let template = made["uuid"].as_str().unwrap().to_owned();
    cloud.get(&format!("{v1}/clustertemplates/t"));
    let patch = json!([{ "op": "replace", "path": "/labels", "value": { "c": "d" } }]);
    assert_eq!(
        cloud.demo(&format!("PATCH {v1}/clustertemplates/{template}"), patch).has(200).body["labels"],
        json!({ "c": "d" })
    );
    let made = cloud
        .demo(
            &format!("POST {v1}/clusters"),
            json!({ "name": "c", "cluster_template_id": "t", "node_count": 2 }),
        )
        .has(202)
        .body;
    let id = made["uuid"].as_str().unwrap().to_owned();
    let status = || cloud.get(&format!("{v1}/clusters/{id}"))["status"].clone();
    assert_eq!(status(), "CREATE_IN_PROGRESS");
    let grow = json!([{ "op": "replace", "path": "/node_count", "value": 3 }]);
    cloud.demo(&format!("PATCH {v1}/clusters/{id}"), grow.clone()).has(400);
    cloud.later(11);
    assert_eq!(status(), "CREATE_COMPLETE");
    cloud.demo(&format!("PATCH {v1}/clusters/{id}"), grow).has(202);
    cloud.later(11);
    assert_eq!(
        cloud.get(&format!("{v1}/clusters/{id}"))["node_addresses"].as_array().unwrap().len(),
        3
    );
    let refused =
        cloud.demo(&format!("DELETE {v1}/clustertemplates/{template}"), Value::Null).has(400).body;
    assert_eq!(refused["errors"][0]["status"], 400);
    cloud.demo(&format!("DELETE {v1}/clusters/{id}"), Value::Null).has(204);
    cloud.later(11);
    cloud.demo(&format!("GET {v1}/clusters/{id}"), Value::Null).has(404);
    cloud.demo(&format!("DELETE {v1}/clustertemplates/{template}"), Value::Null).has(204);
}

#[test]
fn databases_are_built_resized_and_filled() {
    let cloud = TestCloud::new();
    let v1 = format!("/database/v1.0/{}", cloud.demo_project());
    let fields = json!({ "name": "d", "flavorRef": "1", "volume": { "size": 1 }, "databases": [{ "name": "x" }],
        "users": [{ "name": "u", "password": "p", "databases": [{ "name": "x" }] }] });
    let id = cloud.make(&format!("{v1}/instances"), "instance", fields);
    let path = format!("{v1}/instances/{id}");
    cloud.demo(&format!("GET {path}/databases"), Value::Null).has(422);
    cloud.later(11);
    assert_eq!(cloud.get(&path)["instance"]["status"], "ACTIVE");
    assert_eq!(cloud.get(&path)["instance"]["region_name"], "RegionOne");
    cloud
        .demo(&format!("POST {path}/databases"), json!({ "databases": [{ "name": "y" }] }))
        .has(202);
    cloud.demo(&format!("DELETE {path}/databases/x"), Value::Null).has(202);
    assert_eq!(cloud.get(&format!("{path}/databases"))["databases"], json!([{ "name": "y" }]));
    cloud
        .demo(&format!("PUT {path}/users/u/databases"), json!({ "databases": [{ "name": "y" }] }))
        .has(202);
    cloud.demo(&format!("DELETE {path}/users/u/databases/x"), Value::Null).has(202);
    assert_eq!(
        cloud.get(&format!("{path}/users"))["users"][0]["databases"],
        json!([{ "name": "y" }])
    );
    cloud
        .demo(&format!("POST {path}/action"), json!({ "resize": { "volume": { "size": 2 } } }))
        .has(202);
    assert_eq!(cloud.get(&path)["instance"]["status"], "RESIZE");
    cloud.later(11);
    cloud.demo(&format!("PATCH {path}"), json!({ "instance": { "name": "e" } })).has(202);
    let shown = cloud.get(&path)["instance"].clone();
    assert_eq!((&shown["name"], &shown["volume"]["size"]), (&json!("e"), &json!(2)));
    cloud.demo(&format!("DELETE {path}"), Value::Null).has(202);
    cloud.later(11);
    cloud.demo(&format!("GET {path}"), Value::Null).has(404);
    let cluster = json!({ "name": "c", "datastore": { "type": "mongodb", "version": "3" }, "instances": [{ "flavorRef": "1" }] });
    let id = cloud.make(&format!("{v1}/clusters"), "cluster", cluster);
    cloud.demo(&format!("DELETE {v1}/clusters/{id}"), Value::Null).has(422);
    cloud.later(11);
    assert_eq!(
        cloud.get(&format!("{v1}/clusters/{id}"))["cluster"]["instances"][0]["status"],
        "ACTIVE"
    );
    cloud.demo(&format!("DELETE {v1}/clusters/{id}"), Value::Null).has(202);
    cloud.get(&format!("{v1}/flavors"));
    cloud.get(&format!("{v1}/datastores"));
}

#[test]
fn containers_run_on_networks() {
    let cloud = TestCloud::new();
    let v1 = "/container/v1/containers";
    let ports = cloud.count("network/ports");
    let net = cloud.private();
    let fields = json!({ "name": "c", "image": "cirros", "nets": [{ "network": net }] });
    let made = cloud.demo(&format!("POST {v1}?run=true"), fields).has(202).body;
    let id = made["uuid"].as_str().unwrap().to_owned();
    assert_eq!(made["status"], "Creating");
    cloud.later(11);
    let shown = cloud.get(&format!("{v1}/{id}"));
    assert_eq!(shown["status"], "Running");
    assert_eq!(shown["addresses"][&net].as_array().unwrap().len(), 1);
    cloud.demo(&format!("PATCH {v1}/{id}"), json!({ "name": "d", "memory": "64" })).has(200);
    cloud.demo(&format!("POST {v1}/{id}/network_attach?network={net}"), Value::Null).has(202);
    assert_eq!(
        cloud.get(&format!("{v1}/{id}/network_list"))["networks"].as_array().unwrap().len(),
        2
    );
    cloud.demo(&format!("DELETE {v1}/{id}"), Value::Null).has(409);
    cloud.demo(&format!("DELETE {v1}/{id}?stop=true"), Value::Null).has(204);
    cloud.later(11);
    cloud.demo(&format!("GET {v1}/{id}"), Value::Null).has(404);
    assert_eq!(cloud.count("network/ports"), ports);
}

#[test]
fn leases_need_hosts() {
    let cloud = TestCloud::new();
    let v1 = "/reservation/v1";
    let lease = json!({
        "name": "l", "start_date": "2027-01-01 00:00", "end_date": "2027-01-02 00:00", "events": [],
        "reservations": [{ "resource_type": "physical:host", "min": 1, "max": 1 }],
    });
    let refused = cloud.demo(&format!("POST {v1}/leases"), lease.clone()).has(400).body;
    assert_eq!(
        (&refused["error_code"], &refused["error_message"]),
        (&json!(400), &json!("Not enough hosts available"))
    );
    let host = cloud
        .admin(&format!("POST {v1}/os-hosts"), json!({ "name": "compute-1", "gpu": "True" }))
        .has(201)
        .body;
    assert_eq!(host["host"]["gpu"], "True");
    let made = cloud.demo(&format!("POST {v1}/leases"), lease).has(201).body;
    let id = made["lease"]["id"].as_str().unwrap().to_owned();
    cloud.later(11);
    assert_eq!(cloud.get(&format!("{v1}/leases/{id}"))["lease"]["status"], "ACTIVE");
    assert_eq!(cloud.get(&format!("{v1}/leases"))["leases"].as_array().unwrap().len(), 1);
    assert_eq!(
        cloud.demo(&format!("PUT {v1}/leases/{id}"), json!({ "name": "m" })).has(200).body["lease"]
            ["name"],
        "m"
    );
    cloud.demo(&format!("DELETE {v1}/leases/{id}"), Value::Null).has(200);
    cloud
        .admin(
            &format!("DELETE {v1}/os-hosts/{}", host["host"]["id"].as_str().unwrap()),
            Value::Null,
        )
        .has(200);
}

#[test]
fn bare_metal_is_for_administrators() {
    let cloud = TestCloud::new();
    let v1 = "/baremetal/v1";
    cloud.demo(&format!("GET {v1}/nodes"), Value::Null).has(403);
    let node = cloud
        .admin(&format!("POST {v1}/nodes"), json!({ "name": "n", "driver": "fake-hardware" }))
        .has(201)
        .body["uuid"]
        .clone();
    let group = cloud
        .admin(&format!("POST {v1}/portgroups"), json!({ "name": "g", "node_uuid": node }))
        .has(201)
        .body["uuid"]
        .clone();
    let port =
        json!({ "address": "52:54:00:00:00:01", "node_uuid": node, "portgroup_uuid": group });
    let made = cloud.admin(&format!("POST {v1}/ports"), port.clone()).has(201).body;
    cloud.admin(&format!("POST {v1}/ports"), port).has(409);
    let id = made["uuid"].as_str().unwrap();
    let patch = json!([{ "op": "add", "path": "/extra/a", "value": "b" }]);
    assert_eq!(
        cloud.admin(&format!("PATCH {v1}/ports/{id}"), patch).has(200).body["extra"],
        json!({ "a": "b" })
    );
    cloud.admin(&format!("GET {v1}/nodes/n"), Value::Null).has(200);
    cloud.admin(&format!("GET {v1}/ports/detail"), Value::Null).has(200);
    cloud.admin(&format!("DELETE {v1}/ports/{id}"), Value::Null).has(204);
    cloud.admin(&format!("DELETE {v1}/portgroups/g"), Value::Null).has(204);
    cloud.admin(&format!("DELETE {v1}/nodes/n"), Value::Null).has(204);
    let missing = cloud.admin(&format!("GET {v1}/nodes/n"), Value::Null).has(404).body;
    assert_eq!(missing["error_message"]["faultstring"], "Node n could not be found.");
}

#[test]
fn every_service_of_the_catalogue_answers_at_its_root() {
    let cloud = TestCloud::new();
    let rows = kiln_sim::cloud::Cloud::catalogue("http://cloud.example/");
    let types: Vec<&str> = rows.iter().map(|(kind, ..)| kind.as_str()).collect();
    for kind in [
        "compute",
        "network",
        "volumev3",
        "block-storage",
        "image",
        "object-store",
        "load-balancer",
        "dns",
        "key-manager",
        "messaging",
        "alarming",
        "sharev2",
        "shared-file-system",
        "container-infra",
        "workflowv2",
        "workflow",
        "database",
        "container",
        "reservation",
        "baremetal",
    ] {
        assert!(types.contains(&kind), "{kind}");
    }
    for (kind, _, url) in &rows {
        let prefix = url.strip_prefix("http://cloud.example/").unwrap().split('/').next().unwrap();
        if prefix == "object-store" {
            continue;
        }
        let answer = cloud.ask("", "GET", &format!("/{prefix}/"), Value::Null).unwrap();
        assert!([200, 300].contains(&answer.status), "{kind}: {}", answer.text);
        assert!(answer.text.contains("\"versions\""), "{kind}: {}", answer.text);
        // A link without the host would lead clients past the prefix.
        assert!(!answer.text.contains("\"/v"), "{kind}: {}", answer.text);
    }
    let body = cloud.identity.validate(cloud.demo_token()).unwrap();
    assert!(body["token"]["catalog"].to_string().contains("/object-store/v1/AUTH_"));
}
