//! `POST /v3/auth/tokens`.

use kiln_sim::identity::{project_id, user_id};
use serde_json::{Value, json};

use super::test_identity::{
    NOT_LOGGED_IN, TestIdentity, by_token, by_user, domain_admin, forbidden, password, project,
    with_scope,
};

#[test]
fn a_user_logs_in_to_a_project() {
    let service = TestIdentity::new();
    let answer = service.log_in(password("demo", "demo", project("demo"))).has(201);
    let token = &answer.body["token"];
    let home = json!({ "id": "default", "name": "Default" });
    assert_eq!(token["methods"], json!(["password"]));
    assert_eq!(
        token["user"],
        json!({ "domain": home, "id": user_id("demo"), "name": "demo", "password_expires_at": null })
    );
    assert_eq!(
        token["project"],
        json!({ "domain": home, "id": project_id("demo"), "name": "demo" })
    );
    assert_eq!(token["is_domain"], false);
    assert_eq!(answer.roles(), ["heat_stack_owner", "member", "reader"]);
    assert_eq!(token["issued_at"], "2026-11-16T08:00:00.000000Z");
    assert_eq!(token["expires_at"], "2026-11-17T08:00:00.000000Z");
    assert_eq!(token["audit_ids"].as_array().unwrap().len(), 1);
    assert_eq!(token["audit_ids"][0].as_str().unwrap().len(), 22);
    assert_eq!(token["catalog"].as_array().unwrap().len(), 3);
}

#[test]
fn names_and_ids_say_the_same() {
    let service = TestIdentity::new();
    let scope = json!({ "project": { "id": project_id("demo") } });
    let user = json!({ "id": user_id("demo"), "password": "demo" });
    let by_ids = service.log_in(by_user(user, scope)).has(201);
    let user = json!({ "name": "demo", "password": "demo", "domain": { "name": "Default" } });
    let scope = json!({ "project": { "name": "demo", "domain": { "name": "Default" } } });
    let by_names = service.log_in(by_user(user, scope)).has(201);
    assert_eq!(by_ids.body["token"]["project"], by_names.body["token"]["project"]);
}

#[test]
fn a_token_comes_without_its_catalogue_if_asked() {
    let service = TestIdentity::new();
    let body = password("demo", "demo", project("demo"));
    let answer = service.post("/v3/auth/tokens?nocatalog", "", body).has(201);
    assert_eq!(answer.body["token"].get("catalog"), None);
}

#[test]
fn there_are_scopes_besides_projects() {
    let service = TestIdentity::new();
    let system = service.log_in(password("admin", "admin", json!({ "system": { "all": true } })));
    assert_eq!(system.body["token"]["system"], json!({ "all": true }));
    assert_eq!(system.roles(), ["admin", "manager", "member", "reader"]);
    let domain = service.log_in(domain_admin()).has(201);
    assert_eq!(domain.body["token"]["domain"]["name"], "heat");
    assert_eq!(domain.body["token"].get("project"), None);
    for scope in [Value::Null, json!("unscoped"), json!({ "unscoped": {} })] {
        let answer = service.log_in(password("demo", "demo", scope)).has(201);
        for absent in ["project", "roles", "catalog"] {
            assert_eq!(answer.body["token"].get(absent), None);
        }
    }
}

#[test]
fn without_a_scope_the_default_project_is_meant_if_it_is_of_use() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let id = service.user("joe", "");
    let default = json!({ "user": { "default_project_id": project_id("demo") } });
    service.patch(&format!("/v3/users/{id}"), &admin, default).has(200);
    let nothing = service.log_in(password("joe", "joe", Value::Null)).has(201);
    assert_eq!(nothing.body["token"].get("project"), None, "no role there");
    service.put(&service.grant_path("demo", &id, "member"), &admin).has(204);
    let project = service.log_in(password("joe", "joe", Value::Null)).has(201);
    assert_eq!(project.body["token"]["project"]["name"], "demo");
    let unscoped = service.log_in(password("joe", "joe", json!("unscoped"))).has(201);
    assert_eq!(unscoped.body["token"].get("project"), None);
}

#[test]
fn a_failed_login_does_not_say_why() {
    let service = TestIdentity::new();
    let elsewhere = json!({ "project": { "name": "demo", "domain": { "id": "nope" } } });
    let nobody = json!({ "id": "f".repeat(32), "password": "x" });
    let homeless = json!({ "name": "demo", "password": "demo", "domain": { "name": "nope" } });
    let silent = json!({ "id": user_id("demo") });
    for body in [
        password("demo", "wrong", project("demo")),
        password("nobody", "x", project("demo")),
        password("demo", "demo", project("nope")),
        password("demo", "demo", project("admin")),
        password("demo", "demo", elsewhere),
        password("demo", "demo", json!({ "project": { "id": "nope" } })),
        password("demo", "demo", json!({ "domain": { "id": "default" } })),
        password("demo", "demo", json!({ "system": { "all": true } })),
        by_user(nobody, Value::Null),
        by_user(homeless, Value::Null),
        by_user(silent, Value::Null),
        with_scope(json!({ "methods": [] }), Value::Null),
    ] {
        let answer = service.log_in(body).says(401, NOT_LOGGED_IN);
        assert_eq!(
            answer.headers["www-authenticate"],
            "Keystone uri=\"http://identity.example:5000/v3\""
        );
    }
}

#[test]
fn a_login_that_makes_no_sense_is_told_what_is_missing() {
    let service = TestIdentity::new();
    let long = "The server could not comply with the request since it is either malformed or otherwise incorrect. \
                The client is assumed to be in error.";
    let login = |payload: Value| json!({ "methods": ["password"], "password": payload });
    let scoped = |scope: Value| password("demo", "demo", scope);
    let no_scope =
        "Expecting to find system, project, domain, OS-TRUST:trust or unscoped in scope. ~";
    for (body, message) in [
        (json!({}), "Expecting to find auth in request body. ~"),
        (json!({ "auth": null }), "Expecting to find auth in request body. ~"),
        (json!({ "auth": "x" }), "'x' is not of type 'object'"),
        (json!({ "auth": {} }), "'identity' is a required property"),
        (
            json!({ "auth": { "identity": {} } }),
            "Invalid input for field 'identity': 'methods' is a required property",
        ),
        (
            with_scope(json!({ "methods": ["password"] }), Value::Null),
            "Expecting to find password in identity. ~",
        ),
        (with_scope(login(json!({})), Value::Null), "Expecting to find user in None. ~"),
        (
            by_user(json!({ "name": "demo", "password": "demo" }), Value::Null),
            "Expecting to find domain in user. ~",
        ),
        (
            by_user(json!({ "id": "x", "password": 5 }), Value::Null),
            "Invalid input for field 'identity/password/user/password': 5 is not of type 'string'",
        ),
        (
            by_user(json!({ "name": "demo", "password": "x", "domain": {} }), Value::Null),
            "Invalid input for field identity/password/user/domain: id or name must be present.",
        ),
        (
            with_scope(json!({ "methods": ["token"], "token": {} }), Value::Null),
            "Invalid input for field 'identity/token': 'id' is a required property",
        ),
        (scoped(json!({})), no_scope),
        (scoped(json!("x")), no_scope),
        (scoped(json!({ "project": { "id": "x" }, "domain": { "id": "y" } })), no_scope),
        (
            scoped(json!([])),
            "Invalid input for field 'scope': [] is not of type 'object', 'string'",
        ),
        (
            scoped(json!({ "project": { "name": "demo" } })),
            "Expecting to find domain in project. ~",
        ),
        (
            scoped(json!({ "project": {} })),
            "Invalid input for field scope/project: id or name must be present.",
        ),
        (
            scoped(json!({ "domain": {} })),
            "Invalid input for field scope/domain: id or name must be present.",
        ),
        (scoped(json!({ "OS-TRUST:trust": {} })), "Expecting to find trust_id in trust. ~"),
    ] {
        service.log_in(body).says(400, &message.replace('~', long));
    }
}

#[test]
fn an_unknown_method_is_answered_with_the_known_ones() {
    let service = TestIdentity::new();
    let answer =
        service.log_in(with_scope(json!({ "methods": ["magic"], "magic": {} }), Value::Null));
    let answer = answer.says(401, "Attempted to authenticate with an unsupported method.");
    let known = json!(["password", "token", "application_credential"]);
    assert_eq!(answer.body["error"]["identity"]["methods"], known);
}

#[test]
fn a_token_is_exchanged_for_another_scope_but_not_for_a_longer_life() {
    let service = TestIdentity::new();
    let first = service.log_in(password("admin", "admin", json!("unscoped"))).has(201);
    service.later(3600);
    let second = service.log_in(by_token(&first.token(), project("demo"))).has(201);
    let token = &second.body["token"];
    assert_eq!(token["methods"], json!(["token", "password"]));
    assert_eq!(token["expires_at"], first.body["token"]["expires_at"]);
    assert_eq!(token["issued_at"], "2026-11-16T09:00:00.000000Z");
    assert_eq!(token["audit_ids"][1], first.body["token"]["audit_ids"][0]);
    let third = service.log_in(by_token(&second.token(), project("admin"))).has(201);
    assert_eq!(third.body["token"]["audit_ids"][1], first.body["token"]["audit_ids"][0]);
    let unscoped = service.log_in(by_token(&third.token(), Value::Null)).has(201);
    assert_eq!(unscoped.body["token"].get("project"), None);
    service.log_in(by_token(&first.token(), json!({ "system": {} }))).has(201);
    service.log_in(by_token("nonsense", Value::Null)).says(404, "Could not recognize Fernet token");
}

#[test]
fn a_token_for_the_system_is_not_exchanged_for_one_for_a_project() {
    let service = TestIdentity::new();
    let system = service.log_in(password("admin", "admin", json!({ "system": { "all": true } })));
    let answer = service.log_in(by_token(&system.token(), project("admin"))).has(403);
    let why = "Using a system-scoped token to create a project-scoped or domain-scoped token is not allowed.";
    assert_eq!(answer.body["error"]["message"], forbidden(why));
}

#[test]
fn two_proofs_have_to_be_about_the_same_user() {
    let service = TestIdentity::new();
    let both = |token: &str, user: &str| {
        let user = json!({ "id": user_id(user), "password": user });
        let identity = json!({
            "methods": ["token", "password"], "token": { "id": token }, "password": { "user": user },
        });
        service.log_in(with_scope(identity, Value::Null))
    };
    let demo = service.demo();
    let answer = both(&demo, "demo").has(201);
    assert_eq!(answer.body["token"]["methods"], json!(["token", "password"]));
    both(&demo, "admin").says(401, NOT_LOGGED_IN);
}
