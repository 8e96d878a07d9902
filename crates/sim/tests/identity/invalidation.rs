//! Tokens become invalid as soon as a record that they depend on is gone.

use kiln_sim::identity::project_id;
use serde_json::{Value, json};

use super::test_identity::{NOT_LOGGED_IN, TestIdentity, password, project};

/// Returns a token of the user joe, who is a member of demo.
fn joe(service: &TestIdentity) -> String {
    service.log_in(password("joe", "joe", project("demo"))).token()
}

#[test]
fn with_a_disabled_user_and_they_stay_so() {
    let service = TestIdentity::new();
    let path = format!("/v3/users/{}", service.user("joe", "member"));
    let (admin, token) = (service.admin(), joe(&service));
    service.patch(&path, &admin, json!({ "user": { "enabled": false } })).has(200);
    service.validate(&token).says(404, "Failed to validate token");
    service.get("/v3/auth/projects", &token).says(401, NOT_LOGGED_IN);
    service.log_in(password("joe", "joe", Value::Null)).says(401, NOT_LOGGED_IN);
    service.patch(&path, &admin, json!({ "user": { "enabled": true } })).has(200);
    service.validate(&token).has(404);
    service.validate(&joe(&service)).has(200);
}

#[test]
fn with_another_password() {
    let service = TestIdentity::new();
    let path = format!("/v3/users/{}", service.user("joe", "member"));
    let token = joe(&service);
    service.patch(&path, &service.admin(), json!({ "user": { "password": "new" } })).has(200);
    service.validate(&token).says(404, "Failed to validate token");
    let token = service.log_in(password("joe", "new", project("demo"))).token();
    let change = json!({ "user": { "original_password": "new", "password": "newer" } });
    service.post(&format!("{path}/password"), "", change).has(204);
    service.validate(&token).says(404, "Failed to validate token");
    service.log_in(password("joe", "newer", Value::Null)).has(201);
}

#[test]
fn with_a_deleted_user() {
    let service = TestIdentity::new();
    let id = service.user("joe", "member");
    let token = joe(&service);
    service.delete(&format!("/v3/users/{id}"), &service.admin()).has(204);
    service.validate(&token).says(404, &format!("Could not find user: {id}."));
    service.get("/v3/auth/projects", &token).says(401, NOT_LOGGED_IN);
}

#[test]
fn with_a_disabled_or_deleted_project() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let new = json!({ "project": { "name": "p" } });
    let id = service.post("/v3/projects", &admin, new).text_at("/project/id");
    let user = service.user("joe", "");
    let role = service.role("member");
    service.put(&format!("/v3/projects/{id}/users/{user}/roles/{role}"), &admin).has(204);
    let log_in = || service.log_in(password("joe", "joe", project("p")));
    let (token, path) = (log_in().token(), format!("/v3/projects/{id}"));
    service.patch(&path, &admin, json!({ "project": { "enabled": false } })).has(200);
    let why = format!("Unable to validate token because project {id} is disabled");
    service.validate(&token).says(404, &why);
    log_in().says(401, NOT_LOGGED_IN);
    service.patch(&path, &admin, json!({ "project": { "enabled": true } })).has(200);
    service.validate(&token).says(404, "Failed to validate token");
    let token = log_in().token();
    service.delete(&path, &admin).has(204);
    service.validate(&token).says(404, &format!("Could not find project: {id}."));
}

#[test]
fn with_the_last_role() {
    let service = TestIdentity::new();
    let (admin, id) = (service.admin(), service.user("joe", "member"));
    let owner = service.grant_path("demo", &id, "heat_stack_owner");
    let member = service.grant_path("demo", &id, "member");
    service.put(&owner, &admin).has(204);
    let token = joe(&service);
    service.delete(&member, &admin).has(204);
    assert_eq!(service.validate(&token).has(200).roles(), ["heat_stack_owner"]);
    service.put(&member, &admin).has(204);
    assert_eq!(service.validate(&token).roles(), ["heat_stack_owner", "member", "reader"]);
    service.delete(&member, &admin).has(204);
    service.delete(&owner, &admin).has(204);
    service.validate(&token).has(404);
    service.get("/v3/auth/projects", &token).says(401, NOT_LOGGED_IN);
}

#[test]
fn with_a_role_that_is_deleted() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let role = service.post("/v3/roles", &admin, json!({ "role": { "name": "r" } }));
    let role = role.text_at("/role/id");
    let user = service.user("joe", "");
    let demo = project_id("demo");
    service.put(&format!("/v3/projects/{demo}/users/{user}/roles/{role}"), &admin).has(204);
    let token = joe(&service);
    service.delete(&format!("/v3/roles/{role}"), &admin).has(204);
    service.validate(&token).has(404);
}

#[test]
fn with_a_disabled_domain_and_they_stay_so() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let domain = service.post("/v3/domains", &admin, json!({ "domain": { "name": "d" } }));
    let domain = domain.text_at("/domain/id");
    let user = json!({ "user": { "name": "ann", "password": "ann", "domain_id": domain } });
    service.post("/v3/users", &admin, user).has(201);
    let log_in = || {
        let user = json!({ "name": "ann", "password": "ann", "domain": { "id": domain } });
        service.log_in(super::test_identity::by_user(user, Value::Null))
    };
    let token = log_in().token();
    let path = format!("/v3/domains/{domain}");
    service.patch(&path, &admin, json!({ "domain": { "enabled": false } })).has(200);
    service.validate(&token).has(404);
    log_in().says(401, NOT_LOGGED_IN);
    service.patch(&path, &admin, json!({ "domain": { "enabled": true } })).has(200);
    service.validate(&token).has(404);
    log_in().has(201);
}
