//! Application credentials.

use kiln_sim::identity::{project_id, user_id};
use serde_json::{Value, json};

use super::test_identity::{NOT_LOGGED_IN, TestIdentity, by_token, forbidden, project, with_scope};

const MALFORMED: &str = "The server could not comply with the request since it is either malformed or otherwise \
                         incorrect. The client is assumed to be in error.";

fn path() -> String {
    format!("/v3/users/{}/application_credentials", user_id("demo"))
}

fn by_app(which: Value, scope: Value) -> Value {
    with_scope(
        json!({ "methods": ["application_credential"], "application_credential": which }),
        scope,
    )
}

/// Creates a credential for demo, and a token with it.
fn made(service: &TestIdentity, asked: Value) -> (String, String) {
    let made =
        service.post(&path(), &service.demo(), json!({ "application_credential": asked })).has(201);
    let (id, secret) = (
        made.text_at("/application_credential/id"),
        made.text_at("/application_credential/secret"),
    );
    let token = service.log_in(by_app(json!({ "id": id, "secret": secret }), Value::Null)).token();
    (id, token)
}

#[test]
fn its_secret_is_shown_once() {
    let service = TestIdentity::new();
    let demo = service.demo();
    let asked = json!({ "application_credential": {
        "name": "ci", "roles": [{ "name": "reader" }], "expires_at": "2035-01-01T00:00:00.000000",
    } });
    let made = service.post(&path(), &demo, asked).has(201);
    let body = &made.body["application_credential"];
    assert_eq!(body["secret"].as_str().unwrap().len(), 86);
    assert_eq!(body["project_id"], project_id("demo"));
    assert_eq!(body["expires_at"], "2035-01-01T00:00:00.000000");
    assert_eq!(body["unrestricted"], Value::Null);
    assert_eq!(body["system"], Value::Null);
    assert_eq!(body["roles"][0]["name"], "reader");
    let id = made.text_at("/application_credential/id");
    let shown = service.get(&format!("{}/{id}", path()), &demo).has(200);
    assert_eq!(shown.body["application_credential"].get("secret"), None);
    let listed = service.get(&format!("{}?name=ci", path()), &demo).has(200);
    assert_eq!(listed.column("application_credentials", "id"), [id]);
    assert!(!listed.text.contains("secret"));
    assert_eq!(
        service.get(&format!("{}?name=x", path()), &demo).body["application_credentials"],
        json!([])
    );
}

#[test]
fn a_login_with_it_has_its_project_and_its_roles() {
    let service = TestIdentity::new();
    let asked = json!({ "name": "ci", "secret": "s", "roles": [{ "name": "member" }] });
    let (id, token) = made(&service, asked);
    let document = service.validate(&token).has(200);
    assert_eq!(document.body["token"]["methods"], json!(["application_credential"]));
    assert_eq!(document.body["token"]["project"]["name"], "demo");
    let own = json!({ "id": id, "name": "ci", "restricted": true });
    assert_eq!(document.body["token"]["application_credential"], own);
    assert_eq!(document.roles(), ["member", "reader"]);
    let user = json!({ "name": "demo", "domain": { "id": "default" } });
    let named = json!({ "name": "ci", "secret": "s", "user": user });
    service.log_in(by_app(named, Value::Null)).has(201);
}

#[test]
fn without_roles_it_has_all_of_them() {
    let service = TestIdentity::new();
    let (_, token) = made(&service, json!({ "name": "ci" }));
    assert_eq!(service.validate(&token).roles(), ["heat_stack_owner", "member", "reader"]);
}

#[test]
fn a_wrong_login_is_refused() {
    let service = TestIdentity::new();
    let (id, _) = made(&service, json!({ "name": "ci", "secret": "s" }));
    let log_in = |which: Value, scope: Value| service.log_in(by_app(which, scope));
    log_in(json!({ "id": id, "secret": "x" }), Value::Null).says(401, NOT_LOGGED_IN);
    log_in(json!({ "id": id }), Value::Null).says(401, NOT_LOGGED_IN);
    log_in(json!({ "id": "nope", "secret": "s" }), Value::Null)
        .says(404, "Could not find Application Credential: nope.");
    let why = "Error authenticating with application credential: Application credentials cannot request a scope.";
    log_in(json!({ "id": id, "secret": "s" }), project("demo")).says(401, why);
    log_in(json!({}), Value::Null)
        .says(400, &format!("Expecting to find name or ID in application credential. {MALFORMED}"));
    log_in(json!({ "name": "ci", "secret": "s" }), Value::Null)
        .says(400, &format!("Expecting to find user in application credential. {MALFORMED}"));
}

#[test]
fn it_ends_when_it_says() {
    let service = TestIdentity::new();
    let asked = json!({ "name": "ci", "secret": "s", "expires_at": "2026-11-16T09:00:00Z" });
    let (id, token) = made(&service, asked);
    assert_eq!(service.validate(&token).body["token"]["expires_at"], "2026-11-16T09:00:00.000000Z");
    service.later(3600);
    service.validate(&token).has(404);
    service
        .log_in(by_app(json!({ "id": id, "secret": "s" }), Value::Null))
        .says(401, NOT_LOGGED_IN);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let service = TestIdentity::new();
    let (admin, demo) = (service.admin(), service.demo());
    let make =
        |asked: Value| service.post(&path(), &demo, json!({ "application_credential": asked }));
    make(json!({ "name": "ci" })).has(201);
    make(json!({ "name": "ci" })).says(
        409,
        "Conflict occurred attempting to store application_credential - Duplicate entry found with name ci.",
    );
    make(json!({})).says(
        400,
        "Invalid input for field/attribute application_credential. Value: {}. 'name' is a required property",
    );
    let unassigned = "Invalid application credential: Cannot create an application credential with unassigned role";
    make(json!({ "name": "x", "roles": [{ "name": "admin" }] })).says(400, unassigned);
    make(json!({ "name": "x", "roles": [{ "id": "zzz" }] })).says(400, unassigned);
    make(json!({ "name": "x", "roles": [{ "name": "zzz" }] })).says(404, "Role zzz is not defined");
    let time = format!("Timestamp not in expected format. {MALFORMED}");
    make(json!({ "name": "x", "expires_at": "x" })).says(400, &time);
    let past = format!("The 'expires_at' must not be before now. {MALFORMED}");
    make(json!({ "name": "x", "expires_at": "2005-01-01T00:00:00" })).says(400, &past);
    make(json!({ "name": "x", "access_rules": [{ "path": "/" }] })).has(400);
    let own = json!({ "application_credential": { "name": "x" } });
    let rule = forbidden("identity:create_application_credential");
    service.post(&path(), &admin, own).says(403, &rule);
    let others = format!("/v3/users/{}/application_credentials", user_id("admin"));
    service.get(&others, &demo).says(403, &forbidden("identity:list_application_credentials"));
    service
        .get(&format!("{}/nope", path()), &demo)
        .says(404, "Could not find Application Credential: nope.");
    service.get(&path(), &admin).has(200);
}

#[test]
fn it_is_removed_with_its_tokens_by_its_owner_or_an_administrator() {
    let service = TestIdentity::new();
    for name in ["one", "two"] {
        let (id, token) = made(&service, json!({ "name": name }));
        let caller = if name == "one" { service.demo() } else { service.admin() };
        let own = format!("{}/{id}", path());
        service.delete(&own, &caller).has(204);
        let gone = format!("Could not find Application Credential: {id}.");
        service.validate(&token).says(404, &gone);
        service.delete(&own, &caller).says(404, &gone);
    }
}

#[test]
fn it_makes_nothing_lasting_unless_it_is_unrestricted() {
    let service = TestIdentity::new();
    let (_, restricted) = made(&service, json!({ "name": "one" }));
    let (_, unrestricted) = made(&service, json!({ "name": "two", "unrestricted": true }));
    let more = |token: &str, name: &str| {
        service.post(&path(), token, json!({ "application_credential": { "name": name } }))
    };
    let why = "Using method 'application_credential' is not allowed for managing additional application credentials.";
    more(&restricted, "three").says(403, &forbidden(why));
    more(&unrestricted, "three").has(201);
    let exchange = forbidden("Using a delegated token to create another token is not allowed.");
    service.log_in(by_token(&unrestricted, project("demo"))).says(403, &exchange);
    let secrets = forbidden("Delegated tokens cannot access credentials directly");
    service.get("/v3/credentials", &unrestricted).says(403, &secrets);
}
