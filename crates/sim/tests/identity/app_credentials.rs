//! Application credentials.

use kiln_sim::identity::{project_id, user_id};
use serde_json::{Value, json};

use super::world::{NOT_LOGGED_IN, World, by_token, forbidden, project, with_scope};

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

/// A credential of demo's, and a token that was got with it.
fn made(world: &World, asked: Value) -> (String, String) {
    let made =
        world.post(&path(), &world.demo(), json!({ "application_credential": asked })).has(201);
    let (id, secret) = (
        made.text_at("/application_credential/id"),
        made.text_at("/application_credential/secret"),
    );
    let token = world.log_in(by_app(json!({ "id": id, "secret": secret }), Value::Null)).token();
    (id, token)
}

#[test]
fn its_secret_is_shown_once() {
    let world = World::new();
    let demo = world.demo();
    let asked = json!({ "application_credential": {
        "name": "ci", "roles": [{ "name": "reader" }], "expires_at": "2035-01-01T00:00:00.000000",
    } });
    let made = world.post(&path(), &demo, asked).has(201);
    let body = &made.body["application_credential"];
    assert_eq!(body["secret"].as_str().unwrap().len(), 86);
    assert_eq!(body["project_id"], project_id("demo"));
    assert_eq!(body["expires_at"], "2035-01-01T00:00:00.000000");
    assert_eq!(body["unrestricted"], Value::Null);
    assert_eq!(body["system"], Value::Null);
    assert_eq!(body["roles"][0]["name"], "reader");
    let id = made.text_at("/application_credential/id");
    let shown = world.get(&format!("{}/{id}", path()), &demo).has(200);
    assert_eq!(shown.body["application_credential"].get("secret"), None);
    let listed = world.get(&format!("{}?name=ci", path()), &demo).has(200);
    assert_eq!(listed.column("application_credentials", "id"), [id]);
    assert!(!listed.text.contains("secret"));
    assert_eq!(
        world.get(&format!("{}?name=x", path()), &demo).body["application_credentials"],
        json!([])
    );
}

#[test]
fn a_login_with_it_has_its_project_and_its_roles() {
    let world = World::new();
    let asked = json!({ "name": "ci", "secret": "s", "roles": [{ "name": "member" }] });
    let (id, token) = made(&world, asked);
    let told = world.validate(&token).has(200);
    assert_eq!(told.body["token"]["methods"], json!(["application_credential"]));
    assert_eq!(told.body["token"]["project"]["name"], "demo");
    let own = json!({ "id": id, "name": "ci", "restricted": true });
    assert_eq!(told.body["token"]["application_credential"], own);
    assert_eq!(told.roles(), ["member", "reader"]);
    let user = json!({ "name": "demo", "domain": { "id": "default" } });
    let named = json!({ "name": "ci", "secret": "s", "user": user });
    world.log_in(by_app(named, Value::Null)).has(201);
}

#[test]
fn without_roles_it_has_all_of_them() {
    let world = World::new();
    let (_, token) = made(&world, json!({ "name": "ci" }));
    assert_eq!(world.validate(&token).roles(), ["heat_stack_owner", "member", "reader"]);
}

#[test]
fn a_wrong_login_is_refused() {
    let world = World::new();
    let (id, _) = made(&world, json!({ "name": "ci", "secret": "s" }));
    let log_in = |which: Value, scope: Value| world.log_in(by_app(which, scope));
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
    let world = World::new();
    let asked = json!({ "name": "ci", "secret": "s", "expires_at": "2026-11-16T09:00:00Z" });
    let (id, token) = made(&world, asked);
    assert_eq!(world.validate(&token).body["token"]["expires_at"], "2026-11-16T09:00:00.000000Z");
    world.later(3600);
    world.validate(&token).has(404);
    world.log_in(by_app(json!({ "id": id, "secret": "s" }), Value::Null)).says(401, NOT_LOGGED_IN);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let world = World::new();
    let (admin, demo) = (world.admin(), world.demo());
    let make =
        |asked: Value| world.post(&path(), &demo, json!({ "application_credential": asked }));
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
    world.post(&path(), &admin, own).says(403, &rule);
    let others = format!("/v3/users/{}/application_credentials", user_id("admin"));
    world.get(&others, &demo).says(403, &forbidden("identity:list_application_credentials"));
    world
        .get(&format!("{}/nope", path()), &demo)
        .says(404, "Could not find Application Credential: nope.");
    world.get(&path(), &admin).has(200);
}

#[test]
fn it_is_removed_with_its_tokens_by_its_owner_or_an_administrator() {
    let world = World::new();
    for name in ["one", "two"] {
        let (id, token) = made(&world, json!({ "name": name }));
        let caller = if name == "one" { world.demo() } else { world.admin() };
        let own = format!("{}/{id}", path());
        world.delete(&own, &caller).has(204);
        let gone = format!("Could not find Application Credential: {id}.");
        world.validate(&token).says(404, &gone);
        world.delete(&own, &caller).says(404, &gone);
    }
}

#[test]
fn it_makes_nothing_lasting_unless_it_is_unrestricted() {
    let world = World::new();
    let (_, restricted) = made(&world, json!({ "name": "one" }));
    let (_, unrestricted) = made(&world, json!({ "name": "two", "unrestricted": true }));
    let more = |token: &str, name: &str| {
        world.post(&path(), token, json!({ "application_credential": { "name": name } }))
    };
    let why = "Using method 'application_credential' is not allowed for managing additional application credentials.";
    more(&restricted, "three").says(403, &forbidden(why));
    more(&unrestricted, "three").has(201);
    let exchange = forbidden("Using a delegated token to create another token is not allowed.");
    world.log_in(by_token(&unrestricted, project("demo"))).says(403, &exchange);
    let secrets = forbidden("Delegated tokens cannot access credentials directly");
    world.get("/v3/credentials", &unrestricted).says(403, &secrets);
}
