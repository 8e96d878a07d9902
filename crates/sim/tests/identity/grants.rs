//! Grants, and the rights of the administrator of a domain.

use kiln_sim::identity::{project_id, user_id};
use serde_json::{Value, json};

use super::test_identity::{BASE, TestIdentity, forbidden, password};

#[test]
fn a_role_is_given_and_taken_on_projects_domains_and_the_system() {
    let service = TestIdentity::new();
    let (admin, user, role) = (service.admin(), service.user("joe", ""), service.role("member"));
    for (scope_path, name) in [
        (format!("/v3/projects/{}", project_id("demo")), project_id("demo")),
        ("/v3/domains/default".to_owned(), "default".to_owned()),
        ("/v3/system".to_owned(), "system".to_owned()),
    ] {
        let roles = format!("{scope_path}/users/{user}/roles");
        service.check_grant(&roles, &user, &name);
        assert_eq!(service.head(&format!("{roles}/{role}"), &admin).has(404).text, "");
    }
}

#[test]
fn a_grant_needs_all_its_parts() {
    let service = TestIdentity::new();
    let (admin, demo) = (service.admin(), service.demo());
    let (user, role, home) = (user_id("demo"), service.role("member"), project_id("demo"));
    let path = |project: &str, user: &str, role: &str| {
        format!("/v3/projects/{project}/users/{user}/roles/{role}")
    };
    service.put(&path(&home, &user, "nope"), &admin).says(404, "Could not find role: nope.");
    service.put(&path(&home, "nope", &role), &admin).says(404, "Could not find user: nope.");
    service.put(&path("nope", &user, &role), &admin).says(404, "Could not find project: nope.");
    let domain = format!("/v3/domains/nope/users/{user}/roles");
    service.get(&domain, &admin).says(404, "Could not find domain: nope.");
    let own = path(&home, &user, &service.role("admin"));
    service.put(&own, &demo).says(403, &forbidden("identity:create_grant"));
    service.get(&own, &demo).says(403, &forbidden("identity:check_grant"));
    service.delete(&own, &demo).says(403, &forbidden("identity:revoke_grant"));
    let list = format!("/v3/projects/{home}/users/{user}/roles");
    service.get(&list, &demo).says(403, &forbidden("identity:list_grants"));
}

#[test]
fn assignments_are_listed_with_names_and_what_they_imply() {
    let service = TestIdentity::new();
    let (admin, demo) = (service.admin(), service.demo());
    let (user, home) = (user_id("demo"), project_id("demo"));
    let list = |query: &str| service.get(&format!("/v3/role_assignments?{query}"), &admin).has(200);
    let mine = format!("user.id={user}");
    let rows = list(&mine).body["role_assignments"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 2);
    let named = list(&format!("{mine}&include_names&role.id={}", service.role("member")));
    let default = json!({ "id": "default", "name": "Default" });
    assert_eq!(
        named.body["role_assignments"],
        json!([{
            "links": {
                "assignment": format!("{BASE}/v3/projects/{home}/users/{user}/roles/{}", service.role("member")),
            },
            "scope": { "project": { "id": home, "name": "demo", "domain": default } },
            "user": { "id": user, "name": "demo", "domain": default },
            "role": { "id": service.role("member"), "name": "member" },
        }])
    );
    let reader = list(&format!("{mine}&effective&role.id={}", service.role("reader")));
    let links = &reader.body["role_assignments"][0]["links"];
    let prior = format!(
        "{BASE}/v3/prior_role/{}/implies/{}",
        service.role("reader"),
        service.role("member")
    );
    assert_eq!(links["prior_role"], prior);
    let system = list("scope.system=all").body["role_assignments"].clone();
    assert_eq!(system[0]["scope"], json!({ "system": { "all": true } }));
    assert_eq!(system.as_array().unwrap().len(), 1);
    let there = list(&format!("scope.project.id={home}"));
    assert_eq!(there.body["role_assignments"].as_array().unwrap().len(), 4);
    assert_eq!(list("user.id=nope").body["role_assignments"], json!([]));
    assert_eq!(list("group.id=x").body["role_assignments"], json!([]));
    let both = format!("/v3/role_assignments?scope.domain.id=default&scope.project.id={home}");
    service.get(&both, &admin).says(400, "Specify a domain or project, not both");
    service
        .get("/v3/role_assignments?effective&group.id=x", &admin)
        .says(400, "Combining effective and group filter will always result in an empty list.");
    let rule = forbidden("identity:list_role_assignments");
    service.get("/v3/role_assignments", &demo).says(403, &rule);
}

#[test]
fn roles_imply_roles() {
    let service = TestIdentity::new();
    let (admin, demo) = (service.admin(), service.demo());
    let made = service.post("/v3/roles", &admin, json!({ "role": { "name": "r" } }));
    let (role, member) = (made.text_at("/role/id"), service.role("member"));
    let path = format!("/v3/roles/{role}/implies/{member}");
    let said = service.put(&path, &admin).has(201);
    let brief = |id: &str, name: &str| json!({ "id": id, "links": { "self": format!("{BASE}/v3/roles/{id}") }, "name": name });
    let inference = json!({ "prior_role": brief(&role, "r"), "implies": brief(&member, "member") });
    let links = json!({ "self": format!("{BASE}{path}") });
    assert_eq!(said.body, json!({ "role_inference": inference, "links": links }));
    assert_eq!(service.get(&path, &admin).has(200).body, said.body);
    service.head(&path, &admin).has(204);
    let list = service.get(&format!("/v3/roles/{role}/implies"), &admin).has(200);
    assert_eq!(list.body["role_inference"]["implies"], json!([brief(&member, "member")]));
    let all = service.get("/v3/role_inferences", &admin).has(200);
    assert_eq!(all.body["role_inferences"].as_array().unwrap().len(), 4);
    // Implications are transitive.
    let id = service.user("joe", "");
    let grant = format!("/v3/projects/{}/users/{id}/roles/{role}", project_id("demo"));
    service.put(&grant, &admin).has(204);
    let login = password("joe", "joe", super::test_identity::project("demo"));
    assert_eq!(service.log_in(login).roles(), ["member", "r", "reader"]);
    service.delete(&path, &admin).has(204);
    let gone = format!("{role} does not imply {member}.");
    service.delete(&path, &admin).says(404, &gone);
    service.get(&path, &admin).says(404, &gone);
    let top = service.role("admin");
    let refused = format!("{top} cannot be an implied roles.");
    service.put(&format!("/v3/roles/{role}/implies/{top}"), &admin).says(403, &refused);
    let rule = forbidden("identity:list_role_inference_rules");
    service.get("/v3/role_inferences", &demo).says(403, &rule);
}

#[test]
fn the_administrator_of_a_domain_rules_it() {
    let service = TestIdentity::new();
    let owner = service.domain_admin();
    let heat = service.identity.stack_domain_id().to_owned();
    // Orchestration sends these requests for a stack.
    let project = json!({ "project": { "name": "p", "domain_id": heat, "description": "Heat stack user project" } });
    let project = service.post("/v3/projects", &owner, project).has(201).text_at("/project/id");
    let options = json!({
        "ignore_change_password_upon_first_use": true, "ignore_password_expiry": true,
        "ignore_lockout_failure_attempts": true,
    });
    let user = json!({ "user": {
        "name": "u", "domain_id": heat, "password": "p", "default_project_id": project, "options": options,
    } });
    let user = service.post("/v3/users", &owner, user).has(201).text_at("/user/id");
    let role =
        service.get("/v3/roles?name=heat_stack_user", &owner).has(200).text_at("/roles/0/id");
    service.put(&format!("/v3/projects/{project}/users/{user}/roles/{role}"), &owner).has(204);
    let blob = json!({ "access": "a".repeat(32), "secret": "s" }).to_string();
    let key = json!({ "credential": { "type": "ec2", "blob": blob, "user_id": user, "project_id": project } });
    let key = service.post("/v3/credentials", &owner, key).has(201).text_at("/credential/id");
    let path = format!("/v3/users/{user}");
    service.patch(&path, &owner, json!({ "user": { "enabled": false } })).has(200);
    service.patch(&path, &owner, json!({ "user": { "enabled": true } })).has(200);
    service.get(&format!("/v3/credentials/{key}"), &owner).has(200);
    let seen = service.get("/v3/users", &owner).has(200);
    let mut names = seen.column("users", "name");
    names.sort();
    assert_eq!(names, ["heat_domain_admin", "u"], "only their own");
    assert_eq!(service.get("/v3/projects", &owner).column("projects", "name"), ["p"]);
    assert_eq!(service.get("/v3/domains", &owner).column("domains", "name"), ["heat"]);
    let rows = service.get("/v3/role_assignments", &owner).body["role_assignments"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 2);
    let in_process = json!({ "user": { "name": "v" } });
    let made = service.post("/v3/users", &owner, in_process).has(201);
    assert_eq!(made.body["user"]["domain_id"], heat, "their domain is meant");
    service.delete(&format!("/v3/credentials/{key}"), &owner).has(204);
    service.delete(&path, &owner).has(204);
    service.delete(&format!("/v3/projects/{project}"), &owner).has(204);
}

#[test]
fn the_administrator_of_a_domain_is_nothing_outside_of_it() {
    let service = TestIdentity::new();
    let owner = service.domain_admin();
    let (demo, home) = (user_id("demo"), project_id("demo"));
    let rule = |word: &str| forbidden(&format!("identity:{word}"));
    let path = format!("/v3/users/{demo}");
    service.get(&path, &owner).says(403, &rule("get_user"));
    service
        .patch(&path, &owner, json!({ "user": { "password": "mine" } }))
        .says(403, &rule("update_user"));
    service.delete(&path, &owner).says(403, &rule("delete_user"));
    let user = json!({ "user": { "name": "x", "domain_id": "default" } });
    service.post("/v3/users", &owner, user).says(403, &rule("create_user"));
    service.get(&format!("/v3/projects/{home}"), &owner).says(403, &rule("get_project"));
    service.delete(&format!("/v3/projects/{home}"), &owner).says(403, &rule("delete_project"));
    service.get("/v3/services", &owner).says(403, &rule("list_services"));
    let token = service.demo();
    let show = service.ask_about("GET", "/v3/auth/tokens", &owner, &token, Value::Null);
    show.says(403, &rule("validate_token"));
    let own = service.identity.domain_admin_login().user_id.clone();
    for role in ["member", "admin"] {
        let grant = format!("/v3/projects/{home}/users/{own}/roles/{}", service.role(role));
        service.put(&grant, &owner).says(403, &rule("create_grant"));
    }
}

#[test]
fn the_administrator_of_a_domain_cannot_make_themselves_more() {
    let service = TestIdentity::new();
    let owner = service.domain_admin();
    let own = service.identity.domain_admin_login().user_id.clone();
    let project = json!({ "project": { "name": "p" } });
    let project = service.post("/v3/projects", &owner, project).has(201).text_at("/project/id");
    for (role, status) in
        [("admin", 403), ("service", 403), ("member", 204), ("heat_stack_user", 204)]
    {
        let grant = format!("/v3/projects/{project}/users/{own}/roles/{}", service.role(role));
        service.put(&grant, &owner).has(status);
    }
    let grant = format!("/v3/system/users/{own}/roles/{}", service.role("reader"));
    service.put(&grant, &owner).says(403, &forbidden("identity:create_system_grant_for_user"));
}
