//! Who has which role where, and what the administrator of a domain may.

use kiln_sim::identity::{project_id, user_id};
use serde_json::{Value, json};

use super::world::{BASE, World, forbidden, password};

#[test]
fn a_role_is_given_and_taken_on_projects_domains_and_the_system() {
    let world = World::new();
    let (admin, user, role) = (world.admin(), world.user("joe", ""), world.role("member"));
    for (place, name) in [
        (format!("/v3/projects/{}", project_id("demo")), project_id("demo")),
        ("/v3/domains/default".to_owned(), "default".to_owned()),
        ("/v3/system".to_owned(), "system".to_owned()),
    ] {
        let roles = format!("{place}/users/{user}/roles");
        let path = format!("{roles}/{role}");
        assert_eq!(world.get(&roles, &admin).has(200).body["roles"], json!([]));
        world.put(&path, &admin).has(204);
        world.put(&path, &admin).has(204);
        world.head(&path, &admin).has(204);
        world.get(&path, &admin).has(204);
        assert_eq!(world.get(&roles, &admin).column("roles", "name"), ["member"]);
        world.delete(&path, &admin).has(204);
        let gone = format!(
            "Could not find role assignment with role: {role}, user or group: {user}, project, domain, or system: {name}."
        );
        world.get(&path, &admin).says(404, &gone);
        world.delete(&path, &admin).says(404, &gone);
        assert_eq!(world.head(&path, &admin).has(404).text, "");
    }
}

#[test]
fn a_grant_needs_all_its_parts() {
    let world = World::new();
    let (admin, demo) = (world.admin(), world.demo());
    let (user, role, home) = (user_id("demo"), world.role("member"), project_id("demo"));
    let path = |project: &str, user: &str, role: &str| {
        format!("/v3/projects/{project}/users/{user}/roles/{role}")
    };
    world.put(&path(&home, &user, "nope"), &admin).says(404, "Could not find role: nope.");
    world.put(&path(&home, "nope", &role), &admin).says(404, "Could not find user: nope.");
    world.put(&path("nope", &user, &role), &admin).says(404, "Could not find project: nope.");
    let domain = format!("/v3/domains/nope/users/{user}/roles");
    world.get(&domain, &admin).says(404, "Could not find domain: nope.");
    let own = path(&home, &user, &world.role("admin"));
    world.put(&own, &demo).says(403, &forbidden("identity:create_grant"));
    world.get(&own, &demo).says(403, &forbidden("identity:check_grant"));
    world.delete(&own, &demo).says(403, &forbidden("identity:revoke_grant"));
    let list = format!("/v3/projects/{home}/users/{user}/roles");
    world.get(&list, &demo).says(403, &forbidden("identity:list_grants"));
}

#[test]
fn assignments_are_listed_with_names_and_what_they_imply() {
    let world = World::new();
    let (admin, demo) = (world.admin(), world.demo());
    let (user, home) = (user_id("demo"), project_id("demo"));
    let list = |query: &str| world.get(&format!("/v3/role_assignments?{query}"), &admin).has(200);
    let mine = format!("user.id={user}");
    let rows = list(&mine).body["role_assignments"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 2);
    let named = list(&format!("{mine}&include_names&role.id={}", world.role("member")));
    let default = json!({ "id": "default", "name": "Default" });
    assert_eq!(
        named.body["role_assignments"],
        json!([{
            "links": {
                "assignment": format!("{BASE}/v3/projects/{home}/users/{user}/roles/{}", world.role("member")),
            },
            "scope": { "project": { "id": home, "name": "demo", "domain": default } },
            "user": { "id": user, "name": "demo", "domain": default },
            "role": { "id": world.role("member"), "name": "member" },
        }])
    );
    let reader = list(&format!("{mine}&effective&role.id={}", world.role("reader")));
    let links = &reader.body["role_assignments"][0]["links"];
    let prior =
        format!("{BASE}/v3/prior_role/{}/implies/{}", world.role("reader"), world.role("member"));
    assert_eq!(links["prior_role"], prior);
    let system = list("scope.system=all").body["role_assignments"].clone();
    assert_eq!(system[0]["scope"], json!({ "system": { "all": true } }));
    assert_eq!(system.as_array().unwrap().len(), 1);
    let there = list(&format!("scope.project.id={home}"));
    assert_eq!(there.body["role_assignments"].as_array().unwrap().len(), 4);
    assert_eq!(list("user.id=nope").body["role_assignments"], json!([]));
    assert_eq!(list("group.id=x").body["role_assignments"], json!([]));
    let both = format!("/v3/role_assignments?scope.domain.id=default&scope.project.id={home}");
    world.get(&both, &admin).says(400, "Specify a domain or project, not both");
    world
        .get("/v3/role_assignments?effective&group.id=x", &admin)
        .says(400, "Combining effective and group filter will always result in an empty list.");
    let rule = forbidden("identity:list_role_assignments");
    world.get("/v3/role_assignments", &demo).says(403, &rule);
}

#[test]
fn roles_imply_roles() {
    let world = World::new();
    let (admin, demo) = (world.admin(), world.demo());
    let made = world.post("/v3/roles", &admin, json!({ "role": { "name": "r" } }));
    let (role, member) = (made.text_at("/role/id"), world.role("member"));
    let path = format!("/v3/roles/{role}/implies/{member}");
    let said = world.put(&path, &admin).has(201);
    let brief = |id: &str, name: &str| json!({ "id": id, "links": { "self": format!("{BASE}/v3/roles/{id}") }, "name": name });
    let inference = json!({ "prior_role": brief(&role, "r"), "implies": brief(&member, "member") });
    let links = json!({ "self": format!("{BASE}{path}") });
    assert_eq!(said.body, json!({ "role_inference": inference, "links": links }));
    assert_eq!(world.get(&path, &admin).has(200).body, said.body);
    world.head(&path, &admin).has(204);
    let list = world.get(&format!("/v3/roles/{role}/implies"), &admin).has(200);
    assert_eq!(list.body["role_inference"]["implies"], json!([brief(&member, "member")]));
    let all = world.get("/v3/role_inferences", &admin).has(200);
    assert_eq!(all.body["role_inferences"].as_array().unwrap().len(), 4);
    // It goes all the way down.
    let id = world.user("joe", "");
    let grant = format!("/v3/projects/{}/users/{id}/roles/{role}", project_id("demo"));
    world.put(&grant, &admin).has(204);
    let login = password("joe", "joe", super::world::project("demo"));
    assert_eq!(world.log_in(login).roles(), ["member", "r", "reader"]);
    world.delete(&path, &admin).has(204);
    let gone = format!("{role} does not imply {member}.");
    world.delete(&path, &admin).says(404, &gone);
    world.get(&path, &admin).says(404, &gone);
    let top = world.role("admin");
    let refused = format!("{top} cannot be an implied roles.");
    world.put(&format!("/v3/roles/{role}/implies/{top}"), &admin).says(403, &refused);
    let rule = forbidden("identity:list_role_inference_rules");
    world.get("/v3/role_inferences", &demo).says(403, &rule);
}

#[test]
fn the_administrator_of_a_domain_rules_it() {
    let world = World::new();
    let owner = world.domain_admin();
    let heat = world.identity.stack_domain_id().to_owned();
    // What orchestration does for a stack.
    let project = json!({ "project": { "name": "p", "domain_id": heat, "description": "Heat stack user project" } });
    let project = world.post("/v3/projects", &owner, project).has(201).text_at("/project/id");
    let options = json!({
        "ignore_change_password_upon_first_use": true, "ignore_password_expiry": true,
        "ignore_lockout_failure_attempts": true,
    });
    let user = json!({ "user": {
        "name": "u", "domain_id": heat, "password": "p", "default_project_id": project, "options": options,
    } });
    let user = world.post("/v3/users", &owner, user).has(201).text_at("/user/id");
    let role = world.get("/v3/roles?name=heat_stack_user", &owner).has(200).text_at("/roles/0/id");
    world.put(&format!("/v3/projects/{project}/users/{user}/roles/{role}"), &owner).has(204);
    let blob = json!({ "access": "a".repeat(32), "secret": "s" }).to_string();
    let key = json!({ "credential": { "type": "ec2", "blob": blob, "user_id": user, "project_id": project } });
    let key = world.post("/v3/credentials", &owner, key).has(201).text_at("/credential/id");
    let path = format!("/v3/users/{user}");
    world.patch(&path, &owner, json!({ "user": { "enabled": false } })).has(200);
    world.patch(&path, &owner, json!({ "user": { "enabled": true } })).has(200);
    world.get(&format!("/v3/credentials/{key}"), &owner).has(200);
    let seen = world.get("/v3/users", &owner).has(200);
    let mut names = seen.column("users", "name");
    names.sort();
    assert_eq!(names, ["heat_domain_admin", "u"], "only their own");
    assert_eq!(world.get("/v3/projects", &owner).column("projects", "name"), ["p"]);
    assert_eq!(world.get("/v3/domains", &owner).column("domains", "name"), ["heat"]);
    let rows = world.get("/v3/role_assignments", &owner).body["role_assignments"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 2);
    let inside = json!({ "user": { "name": "v" } });
    let made = world.post("/v3/users", &owner, inside).has(201);
    assert_eq!(made.body["user"]["domain_id"], heat, "their domain is meant");
    world.delete(&format!("/v3/credentials/{key}"), &owner).has(204);
    world.delete(&path, &owner).has(204);
    world.delete(&format!("/v3/projects/{project}"), &owner).has(204);
}

#[test]
fn the_administrator_of_a_domain_is_nothing_outside_of_it() {
    let world = World::new();
    let owner = world.domain_admin();
    let (demo, home) = (user_id("demo"), project_id("demo"));
    let rule = |word: &str| forbidden(&format!("identity:{word}"));
    let path = format!("/v3/users/{demo}");
    world.get(&path, &owner).says(403, &rule("get_user"));
    world
        .patch(&path, &owner, json!({ "user": { "password": "mine" } }))
        .says(403, &rule("update_user"));
    world.delete(&path, &owner).says(403, &rule("delete_user"));
    let user = json!({ "user": { "name": "x", "domain_id": "default" } });
    world.post("/v3/users", &owner, user).says(403, &rule("create_user"));
    world.get(&format!("/v3/projects/{home}"), &owner).says(403, &rule("get_project"));
    world.delete(&format!("/v3/projects/{home}"), &owner).says(403, &rule("delete_project"));
    world.get("/v3/services", &owner).says(403, &rule("list_services"));
    let token = world.demo();
    let show = world.ask_about("GET", "/v3/auth/tokens", &owner, &token, Value::Null);
    show.says(403, &rule("validate_token"));
    let own = world.identity.domain_admin_login().user_id.clone();
    for role in ["member", "admin"] {
        let grant = format!("/v3/projects/{home}/users/{own}/roles/{}", world.role(role));
        world.put(&grant, &owner).says(403, &rule("create_grant"));
    }
}

#[test]
fn the_administrator_of_a_domain_cannot_make_themselves_more() {
    let world = World::new();
    let owner = world.domain_admin();
    let own = world.identity.domain_admin_login().user_id.clone();
    let project = json!({ "project": { "name": "p" } });
    let project = world.post("/v3/projects", &owner, project).has(201).text_at("/project/id");
    for (role, status) in
        [("admin", 403), ("service", 403), ("member", 204), ("heat_stack_user", 204)]
    {
        let grant = format!("/v3/projects/{project}/users/{own}/roles/{}", world.role(role));
        world.put(&grant, &owner).has(status);
    }
    let grant = format!("/v3/system/users/{own}/roles/{}", world.role("reader"));
    world.put(&grant, &owner).says(403, &forbidden("identity:create_system_grant_for_user"));
}
