//! The smaller services.

use serde_json::{Value, json};

use super::world::World;

#[test]
fn zones_and_records_are_pending_for_a_while() {
    let world = World::new();
    let zones = "/dns/v2/zones";
    let made = world
        .demo(&format!("POST {zones}"), json!({ "name": "example.org.", "email": "a@example.org" }))
        .has(202)
        .body;
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!((&made["status"], &made["action"]), (&json!("PENDING"), &json!("CREATE")));
    let twin = world
        .demo(&format!("POST {zones}"), json!({ "name": "example.org.", "email": "a@example.org" }))
        .has(409)
        .body;
    assert_eq!(
        (&twin["type"], &twin["message"]),
        (&json!("duplicate_zone"), &json!("Duplicate Zone"))
    );
    world.demo(&format!("POST {zones}"), json!({ "name": "nodot", "email": "a@b" })).has(400);
    world.later(11);
    assert_eq!(world.get(&format!("{zones}/{id}"))["status"], "ACTIVE");
    let records = format!("{zones}/{id}/recordsets");
    let fields = json!({ "name": "www.example.org.", "type": "A", "records": ["192.0.2.1"] });
    let record = world.demo(&format!("POST {records}"), fields.clone()).has(202).body["id"].clone();
    let record = record.as_str().unwrap();
    world.demo(&format!("POST {records}"), fields).has(409);
    world.later(11);
    let changed = world
        .demo(&format!("PUT {records}/{record}"), json!({ "records": ["192.0.2.2"], "ttl": 60 }))
        .has(202)
        .body;
    assert_eq!(
        (&changed["action"], &changed["records"]),
        (&json!("UPDATE"), &json!(["192.0.2.2"]))
    );
    assert_eq!(world.get(&records)["metadata"]["total_count"], 3, "with those of the zone itself");
    world.demo(&format!("PATCH {zones}/{id}"), json!({ "ttl": 300 })).has(202);
    world.later(11);
    world.demo(&format!("DELETE {records}/{record}"), Value::Null).has(202);
    world.demo(&format!("DELETE {zones}/{id}"), Value::Null).has(202);
    world.later(11);
    let gone = world.demo(&format!("GET {zones}/{id}"), Value::Null).has(404).body;
    assert_eq!(
        (&gone["type"], &gone["message"]),
        (&json!("zone_not_found"), &json!("Could not find Zone"))
    );
    assert_eq!((world.count("dns/zones"), world.count("dns/recordsets")), (0, 0));
}

#[test]
fn secrets_orders_and_containers_go_by_reference() {
    let world = World::new();
    let v1 = "/key-manager/v1";
    let local = |value: &Value| {
        value.as_str().unwrap().strip_prefix("http://cloud.example").unwrap().to_owned()
    };
    let fields = json!({ "name": "s", "payload": "hush", "payload_content_type": "text/plain" });
    let made = world.demo(&format!("POST {v1}/secrets"), fields).has(201).body;
    let secret = local(&made["secret_ref"]);
    let shown = world.get(&secret);
    assert_eq!(
        (&shown["status"], &shown["content_types"]["default"]),
        (&json!("ACTIVE"), &json!("text/plain"))
    );
    assert!(shown.get("payload").is_none());
    assert_eq!(world.demo(&format!("GET {secret}/payload"), Value::Null).has(200).text, "hush");
    let refused =
        world.demo(&format!("POST {v1}/secrets"), json!({ "payload": "x" })).has(400).body;
    assert_eq!((&refused["code"], &refused["title"]), (&json!(400), &json!("Bad Request")));
    let order =
        json!({ "type": "key", "meta": { "name": "k", "algorithm": "aes", "bit_length": 256 } });
    let order = local(&world.demo(&format!("POST {v1}/orders"), order).has(202).body["order_ref"]);
    assert_eq!(world.get(&order)["status"], "PENDING");
    let pair = json!({ "type": "asymmetric", "meta": { "name": "k", "algorithm": "rsa", "bit_length": 2048 } });
    let pair = local(&world.demo(&format!("POST {v1}/orders"), pair).has(202).body["order_ref"]);
    world.later(11);
    let shown = world.get(&order);
    assert_eq!(shown["status"], "ACTIVE");
    world.get(&local(&shown["secret_ref"]));
    let held = world.get(&local(&world.get(&pair)["container_ref"]));
    assert_eq!(held["secret_refs"].as_array().unwrap().len(), 2);
    let container = json!({ "type": "generic", "secret_refs": [{ "name": "a", "secret_ref": made["secret_ref"] }] });
    let container = local(
        &world.demo(&format!("POST {v1}/containers"), container).has(201).body["container_ref"],
    );
    assert_eq!(world.get(&container)["secret_refs"][0]["name"], "a");
    for path in [&secret, &order, &container] {
        world.demo(&format!("DELETE {path}"), Value::Null).has(204);
        world.demo(&format!("GET {path}"), Value::Null).has(404);
    }
    assert_eq!(world.get(&format!("{v1}/secrets"))["total"], 3);
}
