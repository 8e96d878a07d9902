//! Tokens are void as soon as what they hang on is gone.

use kiln_sim::identity::project_id;
use serde_json::{Value, json};

use super::world::{NOT_LOGGED_IN, World, password, project};

/// A token of the user joe, who is a member of demo.
fn joe(world: &World) -> String {
    world.log_in(password("joe", "joe", project("demo"))).token()
}

#[test]
fn with_a_disabled_user_and_they_stay_so() {
    let world = World::new();
    let path = format!("/v3/users/{}", world.user("joe", "member"));
    let (admin, token) = (world.admin(), joe(&world));
    world.patch(&path, &admin, json!({ "user": { "enabled": false } })).has(200);
    world.validate(&token).says(404, "Failed to validate token");
    world.get("/v3/auth/projects", &token).says(401, NOT_LOGGED_IN);
    world.log_in(password("joe", "joe", Value::Null)).says(401, NOT_LOGGED_IN);
    world.patch(&path, &admin, json!({ "user": { "enabled": true } })).has(200);
    world.validate(&token).has(404);
    world.validate(&joe(&world)).has(200);
}

#[test]
fn with_another_password() {
    let world = World::new();
    let path = format!("/v3/users/{}", world.user("joe", "member"));
    let token = joe(&world);
    world.patch(&path, &world.admin(), json!({ "user": { "password": "new" } })).has(200);
    world.validate(&token).says(404, "Failed to validate token");
    let token = world.log_in(password("joe", "new", project("demo"))).token();
    let change = json!({ "user": { "original_password": "new", "password": "newer" } });
    world.post(&format!("{path}/password"), "", change).has(204);
    world.validate(&token).says(404, "Failed to validate token");
    world.log_in(password("joe", "newer", Value::Null)).has(201);
}

#[test]
fn with_a_deleted_user() {
    let world = World::new();
    let id = world.user("joe", "member");
    let token = joe(&world);
    world.delete(&format!("/v3/users/{id}"), &world.admin()).has(204);
    world.validate(&token).says(404, &format!("Could not find user: {id}."));
    world.get("/v3/auth/projects", &token).says(401, NOT_LOGGED_IN);
}

#[test]
fn with_a_disabled_or_deleted_project() {
    let world = World::new();
    let admin = world.admin();
    let new = json!({ "project": { "name": "p" } });
    let id = world.post("/v3/projects", &admin, new).text_at("/project/id");
    let user = world.user("joe", "");
    let role = world.role("member");
    world.put(&format!("/v3/projects/{id}/users/{user}/roles/{role}"), &admin).has(204);
    let log_in = || world.log_in(password("joe", "joe", project("p")));
    let (token, path) = (log_in().token(), format!("/v3/projects/{id}"));
    world.patch(&path, &admin, json!({ "project": { "enabled": false } })).has(200);
    let why = format!("Unable to validate token because project {id} is disabled");
    world.validate(&token).says(404, &why);
    log_in().says(401, NOT_LOGGED_IN);
    world.patch(&path, &admin, json!({ "project": { "enabled": true } })).has(200);
    world.validate(&token).says(404, "Failed to validate token");
    let token = log_in().token();
    world.delete(&path, &admin).has(204);
    world.validate(&token).says(404, &format!("Could not find project: {id}."));
}

#[test]
fn with_the_last_role() {
    let world = World::new();
    let (admin, id) = (world.admin(), world.user("joe", "member"));
    let owner = world.grant_path("demo", &id, "heat_stack_owner");
    let member = world.grant_path("demo", &id, "member");
    world.put(&owner, &admin).has(204);
    let token = joe(&world);
    world.delete(&member, &admin).has(204);
    assert_eq!(world.validate(&token).has(200).roles(), ["heat_stack_owner"]);
    world.put(&member, &admin).has(204);
    assert_eq!(world.validate(&token).roles(), ["heat_stack_owner", "member", "reader"]);
    world.delete(&member, &admin).has(204);
    world.delete(&owner, &admin).has(204);
    world.validate(&token).has(404);
    world.get("/v3/auth/projects", &token).says(401, NOT_LOGGED_IN);
}

#[test]
fn with_a_role_that_is_deleted() {
    let world = World::new();
    let admin = world.admin();
    let role = world.post("/v3/roles", &admin, json!({ "role": { "name": "r" } }));
    let role = role.text_at("/role/id");
    let user = world.user("joe", "");
    let demo = project_id("demo");
    world.put(&format!("/v3/projects/{demo}/users/{user}/roles/{role}"), &admin).has(204);
    let token = joe(&world);
    world.delete(&format!("/v3/roles/{role}"), &admin).has(204);
    world.validate(&token).has(404);
}

#[test]
fn with_a_disabled_domain_and_they_stay_so() {
    let world = World::new();
    let admin = world.admin();
    let domain = world.post("/v3/domains", &admin, json!({ "domain": { "name": "d" } }));
    let domain = domain.text_at("/domain/id");
    let user = json!({ "user": { "name": "ann", "password": "ann", "domain_id": domain } });
    world.post("/v3/users", &admin, user).has(201);
    let log_in = || {
        let user = json!({ "name": "ann", "password": "ann", "domain": { "id": domain } });
        world.log_in(super::world::by_user(user, Value::Null))
    };
    let token = log_in().token();
    let path = format!("/v3/domains/{domain}");
    world.patch(&path, &admin, json!({ "domain": { "enabled": false } })).has(200);
    world.validate(&token).has(404);
    log_in().says(401, NOT_LOGGED_IN);
    world.patch(&path, &admin, json!({ "domain": { "enabled": true } })).has(200);
    world.validate(&token).has(404);
    log_in().has(201);
}
