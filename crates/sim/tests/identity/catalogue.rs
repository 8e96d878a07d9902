//! Services, endpoints, regions, and the catalogue.

use kiln_sim::identity::project_id;
use serde_json::{Value, json};

use super::test_identity::{BASE, TestIdentity, domain_admin, forbidden, password, project};

const MALFORMED: &str = "The server could not comply with the request since it is either malformed or otherwise \
                         incorrect. The client is assumed to be in error.";

fn orchestration(catalog: &Value) -> Value {
    let services = catalog.as_array().unwrap();
    services.iter().find(|service| service["type"] == "orchestration").unwrap().clone()
}

#[test]
fn the_catalogue_is_that_of_the_project() {
    let identity = TestIdentity::new();
    let demo = identity.demo();
    let catalog = identity.get("/v3/auth/catalog", &demo).has(200);
    assert_eq!(catalog.text_at("/links/self"), format!("{BASE}/v3/auth/catalog"));
    let heat = orchestration(&catalog.body["catalog"]);
    assert_eq!(heat["name"], "heat");
    let rows = heat["endpoints"].as_array().unwrap();
    let interfaces: Vec<_> = rows.iter().map(|row| row["interface"].as_str().unwrap()).collect();
    assert_eq!(interfaces, ["admin", "internal", "public"]);
    for row in rows {
        assert_eq!(row["url"], format!("http://heat.example:8004/v1/{}", project_id("demo")));
        assert_eq!(row["region"], "RegionOne");
        assert_eq!(row["region_id"], "RegionOne");
    }
    assert_eq!(identity.validate(&demo).body["token"]["catalog"], catalog.body["catalog"]);
}

#[test]
fn an_address_that_needs_a_project_is_left_out_where_there_is_none() {
    let identity = TestIdentity::new();
    for login in [domain_admin(), password("admin", "admin", json!({ "system": { "all": true } }))]
    {
        let answer = identity.log_in(login).has(201);
        let catalog = answer.body["token"]["catalog"].clone();
        assert_eq!(orchestration(&catalog)["endpoints"], json!([]));
        assert_eq!(catalog.as_array().unwrap().len(), 3);
        let plain = "You are not authorized to perform the requested action.";
        identity.get("/v3/auth/catalog", &answer.token()).says(403, plain);
    }
}

#[test]
fn a_service_and_its_endpoints_come_and_go() {
    let identity = TestIdentity::new();
    let (admin, demo) = (identity.admin(), identity.demo());
    let made = identity.post(
        "/v3/services",
        &admin,
        json!({ "service": { "type": "compute", "name": "nova" } }),
    );
    let service = made.text_at("/service/id");
    let shown = json!({ "service": {
        "name": "nova", "id": service, "type": "compute", "enabled": true,
        "links": { "self": format!("{BASE}/v3/services/{service}") },
    } });
    assert_eq!(made.has(201).body, shown);
    let path = format!("/v3/services/{service}");
    assert_eq!(identity.get(&path, &admin).has(200).body, shown);
    for query in ["type=compute", "name=nova"] {
        let found = identity.get(&format!("/v3/services?{query}"), &admin);
        assert_eq!(found.column("services", "id"), [service.as_str()]);
    }
    let described =
        identity.patch(&path, &admin, json!({ "service": { "description": "d" } })).has(200);
    assert_eq!(described.body["service"]["description"], "d");

    let new = json!({ "endpoint": {
        "service_id": service, "interface": "public", "url": "http://nova/$(project_id)s", "region_id": "RegionOne",
    } });
    let made = identity.post("/v3/endpoints", &admin, new).has(201);
    let endpoint = made.text_at("/endpoint/id");
    assert_eq!(
        made.body["endpoint"],
        json!({
            "id": endpoint, "interface": "public", "region_id": "RegionOne", "service_id": service,
            "url": "http://nova/$(project_id)s", "enabled": true, "region": "RegionOne",
            "links": { "self": format!("{BASE}/v3/endpoints/{endpoint}") },
        })
    );
    let catalog = identity.get("/v3/auth/catalog", &demo).text;
    assert!(catalog.contains(&format!("http://nova/{}", project_id("demo"))));
    let path = format!("/v3/endpoints/{endpoint}");
    identity.patch(&path, &admin, json!({ "endpoint": { "enabled": false } })).has(200);
    assert!(!identity.get("/v3/auth/catalog", &demo).text.contains("http://nova"));
    let found =
        identity.get(&format!("/v3/endpoints?interface=public&service_id={service}"), &admin);
    assert_eq!(found.column("endpoints", "id"), [endpoint.as_str()]);
    identity.get(&path, &admin).has(200);
    identity.delete(&format!("/v3/services/{service}"), &admin).has(204);
    identity.get(&path, &admin).says(404, &format!("Could not find endpoint: {endpoint}."));
    identity.delete(&path, &admin).has(404);
}

#[test]
fn a_service_or_endpoint_that_makes_no_sense_is_refused() {
    let identity = TestIdentity::new();
    let (admin, demo) = (identity.admin(), identity.demo());
    let service = |body: Value| identity.post("/v3/services", &admin, json!({ "service": body }));
    service(json!({ "name": "x" })).says(
        400,
        "Invalid input for field/attribute service. Value: {'name': 'x'}. 'type' is a required property",
    );
    let id = service(json!({ "type": "t" })).text_at("/service/id");
    let endpoint = |service: &str, interface: &str, url: &str, region: Value| {
        let body = json!({ "service_id": service, "interface": interface, "url": url, "region_id": region });
        identity.post("/v3/endpoints", &admin, json!({ "endpoint": body }))
    };
    let table = |what: &str, table: &str| {
        format!("Expecting to find endpoint {what} in {table} table. {MALFORMED}")
    };
    endpoint("nope", "public", "http://h", Value::Null).says(400, &table("service_id", "service"));
    endpoint(&id, "public", "http://h", json!("nope")).says(400, &table("region_id", "region"));
    endpoint(&id, "x", "http://h", Value::Null).says(
        400,
        "Invalid input for field/attribute interface. Value: x. 'x' is not one of ['admin', 'internal', 'public']",
    );
    endpoint(&id, "public", "http://h/%(nope)s", Value::Null)
        .says(400, "Cannot create an endpoint with an invalid URL: http://h/%(nope)s.");
    identity.get("/v3/services/nope", &admin).says(404, "Could not find service: nope.");
    for (method, path, rule) in [
        ("GET", "/v3/services", "list_services"),
        ("GET", "/v3/services/x", "get_service"),
        ("DELETE", "/v3/services/x", "delete_service"),
        ("GET", "/v3/endpoints", "list_endpoints"),
        ("GET", "/v3/endpoints/x", "get_endpoint"),
        ("DELETE", "/v3/endpoints/x", "delete_endpoint"),
        ("DELETE", "/v3/regions/x", "delete_region"),
    ] {
        let rule = forbidden(&format!("identity:{rule}"));
        identity.ask(method, path, &demo, Value::Null).says(403, &rule);
    }
}

#[test]
fn regions_come_and_go() {
    let identity = TestIdentity::new();
    let (admin, demo) = (identity.admin(), identity.demo());
    assert_eq!(identity.get("/v3/regions", &demo).has(200).column("regions", "id"), ["RegionOne"]);
    let make = |body: Value| identity.post("/v3/regions", &admin, json!({ "region": body }));
    let made = make(json!({ "id": "R 2", "description": "two" })).has(201);
    assert_eq!(
        made.body["region"],
        json!({
            "id": "R 2", "description": "two", "parent_region_id": null,
            "links": { "self": format!("{BASE}/v3/regions/R 2") },
        })
    );
    let twice = "Conflict occurred attempting to store region - Duplicate ID, R 2..";
    make(json!({ "id": "R 2" })).says(409, twice);
    let child = make(json!({ "parent_region_id": "R 2" })).has(201).text_at("/region/id");
    make(json!({ "parent_region_id": "nope" })).says(404, "Could not find region: nope.");
    let path = "/v3/regions/R%202";
    identity.get(path, &demo).has(200);
    identity.patch(path, &admin, json!({ "region": { "description": "zwei" } })).has(200);
    let loops = json!({ "region": { "parent_region_id": child } });
    identity.patch(path, &admin, loops).says(400, "A region cannot be within itself.");
    identity.ask("PUT", "/v3/regions/R3", &admin, json!({ "region": {} })).has(201);
    identity.ask("PUT", "/v3/regions/R4", &admin, json!({ "region": { "id": "R5" } })).has(400);
    identity.delete(path, &admin).has(204);
    identity.get(&format!("/v3/regions/{child}"), &admin).has(404);
    identity.delete("/v3/regions/RegionOne", &admin).says(
        403,
        "Unable to delete region RegionOne because it or its child regions have associated endpoints.",
    );
    let login = identity.log_in(password("demo", "demo", project("demo")));
    login.has(201);
}
