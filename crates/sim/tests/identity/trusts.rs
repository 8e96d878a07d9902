//! Trusts.

use kiln_sim::identity::{project_id, user_id};
use serde_json::{Value, json};

use super::test_identity::{
    BASE, NOT_LOGGED_IN, TestIdentity, by_token, forbidden, password, project, with_scope,
};

const PATH: &str = "/v3/OS-TRUST/trusts";
const PLAIN: &str = "You are not authorized to perform the requested action.";
const MALFORMED: &str = "The server could not comply with the request since it is either malformed or otherwise \
                         incorrect. The client is assumed to be in error.";

/// A trust from demo to heat; the fields replace the usual ones.
fn trust(fields: Value) -> Value {
    let mut trust = json!({
        "trustor_user_id": user_id("demo"), "trustee_user_id": user_id("heat"),
        "project_id": project_id("demo"), "impersonation": true, "roles": [{ "name": "member" }],
    });
    trust.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({ "trust": trust })
}

fn made(service: &TestIdentity, fields: Value) -> String {
    service.post(PATH, &service.demo(), trust(fields)).has(201).text_at("/trust/id")
}

fn scope(id: &str) -> Value {
    json!({ "OS-TRUST:trust": { "id": id } })
}

#[test]
fn a_trust_is_made_and_shown() {
    let service = TestIdentity::new();
    let owner = service.role("heat_stack_owner");
    let fields = json!({
        "roles": [{ "name": "member" }, { "id": owner }], "expires_at": "2035-01-01T00:00:00.000000Z",
        "remaining_uses": 2,
    });
    let answer = service.post(PATH, &service.demo(), trust(fields)).has(201);
    let id = answer.text_at("/trust/id");
    let body = &answer.body["trust"];
    let names: Vec<_> =
        body["roles"].as_array().unwrap().iter().map(|role| &role["name"]).collect();
    assert_eq!(names, ["member", "heat_stack_owner"]);
    for (field, value) in [
        ("trustor_user_id", json!(user_id("demo"))),
        ("trustee_user_id", json!(user_id("heat"))),
        ("project_id", json!(project_id("demo"))),
        ("impersonation", json!(true)),
        ("expires_at", json!("2035-01-01T00:00:00.000000Z")),
        ("remaining_uses", json!(2)),
        ("deleted_at", Value::Null),
        ("redelegated_trust_id", Value::Null),
        ("redelegation_count", json!(0)),
        ("links", json!({ "self": format!("{BASE}{PATH}/{id}") })),
    ] {
        assert_eq!(body[field], value, "{field}");
    }
    for caller in [service.demo(), service.heat(), service.admin()] {
        assert_eq!(service.get(&format!("{PATH}/{id}"), &caller).has(200).body, answer.body);
    }
    let roles = service.get(&format!("{PATH}/{id}/roles"), &service.demo()).has(200);
    assert_eq!(roles.column("roles", "name"), ["member", "heat_stack_owner"]);
    let path = format!("{PATH}/{id}/roles/{owner}");
    assert_eq!(
        service.get(&path, &service.demo()).has(200).body["role"]["name"],
        "heat_stack_owner"
    );
    service.head(&path, &service.demo()).has(200);
    let other = service.role("admin");
    let missing = format!("Could not find role: {other}.");
    service.get(&format!("{PATH}/{id}/roles/{other}"), &service.demo()).says(404, &missing);
}

#[test]
fn the_trustee_acts_for_the_trustor() {
    let service = TestIdentity::new();
    let id = made(&service, json!({}));
    let answer = service.log_in(password("heat", "secret", scope(&id))).has(201);
    let token = &answer.body["token"];
    assert_eq!(token["user"]["name"], "demo");
    assert_eq!(token["project"]["name"], "demo");
    assert_eq!(answer.roles(), ["member", "reader"], "what was handed on, and what it implies");
    assert_eq!(
        token["OS-TRUST:trust"],
        json!({
            "id": id, "trustor_user": { "id": user_id("demo") }, "trustee_user": { "id": user_id("heat") },
            "impersonation": true,
        })
    );
    assert_eq!(service.validate(&answer.token()).has(200).body, answer.body);
    service.get(&format!("/v3/users/{}", user_id("demo")), &answer.token()).has(200);
    let by_token = service.log_in(by_token(&service.heat(), scope(&id))).has(201);
    assert_eq!(by_token.body["token"]["user"]["name"], "demo");
}

#[test]
fn without_impersonation_the_trustee_stays_who_they_are() {
    let service = TestIdentity::new();
    let id = made(&service, json!({ "impersonation": false }));
    let answer = service.log_in(password("heat", "secret", scope(&id))).has(201);
    assert_eq!(answer.body["token"]["user"]["name"], "heat");
    assert_eq!(answer.roles(), ["member", "reader"]);
}

#[test]
fn a_trust_is_for_its_trustee_only() {
    let service = TestIdentity::new();
    let id = made(&service, json!({}));
    service.log_in(password("demo", "demo", scope(&id))).says(403, PLAIN);
    service.log_in(password("heat", "secret", scope("nope"))).says(401, NOT_LOGGED_IN);
    service.user("joe", "member");
    let joe = service.log_in(password("joe", "joe", project("demo"))).token();
    let own = format!("{PATH}/{id}");
    service.get(&own, &joe).says(403, &forbidden("identity:get_trust"));
    service.delete(&own, &joe).says(403, &forbidden("identity:delete_trust"));
    service.get(&format!("{PATH}/nope"), &joe).says(404, "Could not find trust: nope.");
}

#[test]
fn trusts_are_listed_by_those_they_concern() {
    let service = TestIdentity::new();
    let id = made(&service, json!({}));
    let (demo, heat) = (user_id("demo"), user_id("heat"));
    let list = |query: &str, token: &str| service.get(&format!("{PATH}{query}"), token);
    let by_trustor = format!("?trustor_user_id={demo}");
    let by_trustee = format!("?trustee_user_id={heat}");
    for (query, token) in
        [("", service.admin()), (&*by_trustor, service.demo()), (&*by_trustee, service.heat())]
    {
        let rows = list(query, &token).has(200);
        assert_eq!(rows.column("trusts", "id"), [id.as_str()]);
        assert_eq!(rows.body["trusts"][0].get("roles"), None);
    }
    list("", &service.demo()).says(403, &forbidden("identity:list_trusts"));
    list(&by_trustee, &service.demo()).says(403, &forbidden("identity:list_trusts_for_trustee"));
    let others = format!("?trustor_user_id={heat}");
    list(&others, &service.demo()).says(403, &forbidden("identity:list_trusts_for_trustor"));
}

#[test]
fn a_trust_that_makes_no_sense_is_refused() {
    let service = TestIdentity::new();
    let (admin, demo) = (service.admin(), service.demo());
    let make = |fields: Value| service.post(PATH, &demo, trust(fields));
    service.post(PATH, &admin, trust(json!({}))).says(403, &forbidden("identity:create_trust"));
    make(json!({ "roles": [] })).says(403, &forbidden("At least one role should be specified"));
    let top = service.role("admin");
    make(json!({ "roles": [{ "name": "admin" }] }))
        .says(404, &format!("Could not find role: {top}."));
    make(json!({ "roles": [{ "name": "zzz" }] })).says(404, "Role zzz is not defined");
    make(json!({ "roles": [{ "id": "zzz" }] })).says(404, "Could not find role: zzz.");
    make(json!({ "trustee_user_id": "nope" })).says(404, "Could not find user: nope.");
    make(json!({ "project_id": "nope" })).says(404, "Could not find project: nope.");
    make(json!({ "expires_at": "x" }))
        .says(400, &format!("Timestamp not in expected format. {MALFORMED}"));
    make(json!({ "expires_at": "2005-01-01T00:00:00.000000Z" }))
        .says(400, &format!("The 'expires_at' must not be before now. {MALFORMED}"));
    make(json!({ "remaining_uses": 0 })).says(
        400,
        "Invalid input for field/attribute remaining_uses. Value: 0. 0 is less than the minimum of 1",
    );
    make(json!({ "remaining_uses": 1, "allow_redelegation": true }))
        .says(400, "remaining_uses must not be set if redelegation is allowed");
    service.post(PATH, &demo, json!({ "trust": {} })).says(
        400,
        "Invalid input for field/attribute trust. Value: {}. 'trustor_user_id' is a required property",
    );
    make(json!({ "roles": [{ "name": "reader" }] })).has(201);
}

#[test]
fn a_trust_is_used_as_often_as_it_says() {
    let service = TestIdentity::new();
    let id = made(&service, json!({ "remaining_uses": 2 }));
    let log_in = || service.log_in(password("heat", "secret", scope(&id)));
    log_in().has(201);
    log_in().has(201);
    log_in().says(401, NOT_LOGGED_IN);
}

#[test]
fn a_trust_ends_when_it_says() {
    let service = TestIdentity::new();
    let id = made(&service, json!({ "expires_at": "2026-11-16T09:00:00Z" }));
    let answer = service.log_in(password("heat", "secret", scope(&id))).has(201);
    assert_eq!(answer.body["token"]["expires_at"], "2026-11-16T09:00:00.000000Z");
    service.later(3600);
    service.log_in(password("heat", "secret", scope(&id))).says(401, NOT_LOGGED_IN);
    service.get(&format!("{PATH}/{id}"), &service.demo()).has(404);
    assert_eq!(service.get(PATH, &service.admin()).body["trusts"], json!([]));
}

#[test]
fn a_trust_is_removed_with_its_tokens() {
    let service = TestIdentity::new();
    for by in ["trustor", "administrator", "holder"] {
        let id = made(&service, json!({}));
        let token = service.log_in(password("heat", "secret", scope(&id))).token();
        let caller = match by {
            "trustor" => service.demo(),
            "administrator" => service.admin(),
            _ => token.clone(),
        };
        let own = format!("{PATH}/{id}");
        service.delete(&own, &caller).has(204);
        let gone = format!("Could not find trust: {id}.");
        service.validate(&token).says(404, &gone);
        service.get(&format!("/v3/users/{}", user_id("demo")), &token).says(401, NOT_LOGGED_IN);
        service.log_in(password("heat", "secret", scope(&id))).says(401, NOT_LOGGED_IN);
        service.delete(&own, &service.admin()).says(404, &gone);
    }
}

#[test]
fn a_trust_does_not_hand_on_what_the_trustor_no_longer_has() {
    let service = TestIdentity::new();
    let (admin, joe) = (service.admin(), service.user("joe", "member"));
    let owner = service.grant_path("demo", &joe, "heat_stack_owner");
    service.put(&owner, &admin).has(204);
    let token = service.log_in(password("joe", "joe", project("demo"))).token();
    let fields = json!({
        "trustor_user_id": joe, "roles": [{ "name": "member" }, { "name": "heat_stack_owner" }],
    });
    let id = service.post(PATH, &token, trust(fields)).has(201).text_at("/trust/id");
    let log_in = || service.log_in(password("heat", "secret", scope(&id)));
    let token = log_in().token();
    service.delete(&owner, &admin).has(204);
    service.validate(&token).has(404);
    log_in().says(403, PLAIN);
    service.put(&owner, &admin).has(204);
    service.validate(&token).has(200);
    service
        .patch(&format!("/v3/users/{joe}"), &admin, json!({ "user": { "enabled": false } }))
        .has(200);
    service.validate(&token).has(404);
    service.delete(&format!("/v3/users/{joe}"), &admin).has(204);
    service.get(&format!("{PATH}/{id}"), &admin).says(404, &format!("Could not find trust: {id}."));
}

#[test]
fn a_token_with_a_trust_is_good_for_that_only() {
    let service = TestIdentity::new();
    let id = made(&service, json!({}));
    let token = service.log_in(password("heat", "secret", scope(&id))).token();
    let why =
        "Using trust-scoped token to create another token. Create a new trust-scoped token instead";
    for scope in [project("demo"), Value::Null] {
        service.log_in(by_token(&token, scope)).says(403, &forbidden(why));
    }
    service.post(PATH, &token, trust(json!({}))).says(403, PLAIN);
    let apps = format!("/v3/users/{}/application_credentials", user_id("demo"));
    let app = json!({ "application_credential": { "name": "x" } });
    service.post(&apps, &token, app).says(403, PLAIN);
    let secrets = forbidden("Delegated tokens cannot access credentials directly");
    let keys = format!("/v3/users/{}/credentials/OS-EC2", user_id("demo"));
    service.post(&keys, &token, json!({ "tenant_id": project_id("demo") })).says(403, &secrets);
    service.get("/v3/credentials", &token).says(403, &secrets);
    let own = service.ask_about("GET", "/v3/auth/tokens", &token, &token, Value::Null);
    own.says(403, &forbidden("identity:validate_token"));
}

#[test]
fn a_trust_is_handed_on_where_it_allows_that() {
    let service = TestIdentity::new();
    let first = made(&service, json!({ "allow_redelegation": true, "redelegation_count": 1 }));
    let token = service.log_in(password("heat", "secret", scope(&first))).token();
    let more = |token: &str, fields: Value| service.post(PATH, token, trust(fields));
    let wider =
        json!({ "trustee_user_id": user_id("admin"), "roles": [{ "name": "heat_stack_owner" }] });
    more(&token, wider).says(403, PLAIN);
    let next = json!({ "trustee_user_id": user_id("admin"), "allow_redelegation": true });
    let answer = more(&token, next).has(201);
    assert_eq!(answer.body["trust"]["redelegated_trust_id"], first);
    assert_eq!(answer.body["trust"]["redelegation_count"], 0);
    let second = answer.text_at("/trust/id");
    let token = service.log_in(password("admin", "admin", scope(&second))).token();
    more(&token, json!({})).says(403, PLAIN);
    service.delete(&format!("{PATH}/{first}"), &service.demo()).has(204);
    service.get(&format!("{PATH}/{second}"), &service.admin()).has(404);
}

#[test]
fn a_login_by_something_narrower_makes_a_trust_only_where_that_is_allowed() {
    for (allowed, unrestricted, status) in
        [(true, true, 201), (true, false, 403), (false, true, 403), (false, false, 403)]
    {
        let service = TestIdentity::with(|settings| settings.delegated_trusts = allowed);
        let apps = format!("/v3/users/{}/application_credentials", user_id("demo"));
        let app = json!({ "name": "x", "secret": "s", "unrestricted": unrestricted });
        let app = service.post(&apps, &service.demo(), json!({ "application_credential": app }));
        let which = json!({ "id": app.text_at("/application_credential/id"), "secret": "s" });
        let identity =
            json!({ "methods": ["application_credential"], "application_credential": which });
        let token = service.log_in(with_scope(identity, Value::Null)).token();
        let answer = service.post(PATH, &token, trust(json!({}))).has(status);
        if status == 403 {
            answer.says(403, &forbidden("Delegated tokens cannot manage trusts."));
        }
    }
}
