//! Groups: their members and the roles of their members.
//!
//! Unlike the other tests, the assertions here were not recorded from a Keystone: formats follow its documentation
//! and schemas, and the messages have yet to be compared.

use kiln_sim::identity::{project_id, user_id};
use serde_json::{Value, json};

use super::test_identity::{BASE, TestIdentity, forbidden, password, project};

impl TestIdentity {
    fn group(&self, name: &str) -> String {
        let group = json!({ "group": { "name": name } });
        self.post("/v3/groups", &self.admin(), group).has(201).text_at("/group/id")
    }
}

#[test]
fn a_group_lives() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let fields = json!({ "group": { "name": "g", "description": "d", "colour": "red" } });
    let made = service.post("/v3/groups", &admin, fields.clone()).has(201);
    let id = made.text_at("/group/id");
    let path = format!("/v3/groups/{id}");
    assert_eq!(
        made.body["group"],
        json!({
            "id": id, "name": "g", "description": "d", "domain_id": "default", "colour": "red",
            "links": { "self": format!("{BASE}{path}") },
        })
    );
    assert_eq!(service.get(&path, &admin).has(200).body, made.body);
    let taken = "Conflict occurred attempting to store group - Duplicate entry found with name g at domain ID default.";
    service.post("/v3/groups", &admin, fields).says(409, taken);
    let changed =
        service.patch(&path, &admin, json!({ "group": { "description": null } })).has(200);
    assert_eq!(changed.body["group"]["description"], Value::Null);
    assert_eq!(changed.body["group"]["name"], "g");
    let elsewhere = json!({ "group": { "domain_id": "other" } });
    service.patch(&path, &admin, elsewhere).says(400, "Cannot change Domain ID");
    let nowhere = json!({ "group": { "name": "h", "domain_id": "nope" } });
    service.post("/v3/groups", &admin, nowhere).says(404, "Could not find domain: nope.");
    service.post("/v3/groups", &admin, json!({ "group": {} })).has(400);
    service.delete(&path, &admin).has(204);
    service.get(&path, &admin).says(404, &format!("Could not find group: {id}."));
    service.delete(&path, &admin).says(404, &format!("Could not find group: {id}."));
}

#[test]
fn groups_are_listed_by_name_and_domain() {
    let service = TestIdentity::new();
    let (admin, owner) = (service.admin(), service.domain_admin());
    service.group("a");
    service.group("b");
    let in_process =
        service.post("/v3/groups", &owner, json!({ "group": { "name": "a" } })).has(201);
    assert_eq!(in_process.body["group"]["description"], "");
    let heat = service.identity.stack_domain_id();
    assert_eq!(in_process.body["group"]["domain_id"], heat, "their domain is meant");
    let names = |query: &str, token: &str| {
        let mut names = service.get(&format!("/v3/groups{query}"), token).column("groups", "name");
        names.sort();
        names
    };
    assert_eq!(names("", &admin), ["a", "a", "b"]);
    assert_eq!(names("?name=a", &admin), ["a", "a"]);
    assert_eq!(names("?domain_id=default", &admin), ["a", "b"]);
    assert_eq!(names(&format!("?domain_id={heat}&name=b"), &admin), [""; 0]);
    assert_eq!(names("", &owner), ["a"], "only their own");
}

#[test]
fn users_come_and_go() {
    let service = TestIdentity::new();
    let (admin, group, joe) = (service.admin(), service.group("g"), service.user("joe", ""));
    let path = format!("/v3/groups/{group}/users/{joe}");
    let stranger = format!("User '{joe}' not found in group '{group}'");
    service.get(&path, &admin).says(404, &stranger);
    service.head(&path, &admin).has(404);
    service.delete(&path, &admin).says(404, &stranger);
    service.put(&path, &admin).has(204);
    service.put(&path, &admin).has(204);
    service.get(&path, &admin).has(204);
    service.head(&path, &admin).has(204);
    let members = || service.get(&format!("/v3/groups/{group}/users"), &admin).has(200);
    assert_eq!(members().column("users", "name"), ["joe"]);
    let own = service.get(&format!("/v3/users/{joe}/groups"), &admin).has(200);
    assert_eq!(own.column("groups", "name"), ["g"]);
    service.delete(&path, &admin).has(204);
    assert_eq!(members().body["users"], json!([]));
    let nobody = format!("/v3/groups/{group}/users/nope");
    service.put(&nobody, &admin).says(404, "Could not find user: nope.");
    let nothing = format!("/v3/groups/nope/users/{joe}");
    service.put(&nothing, &admin).says(404, "Could not find group: nope.");
    // A deleted user is in no group.
    service.put(&path, &admin).has(204);
    service.delete(&format!("/v3/users/{joe}"), &admin).has(204);
    assert_eq!(members().body["users"], json!([]));
}

#[test]
fn a_group_has_roles_on_projects_and_domains() {
    let service = TestIdentity::new();
    let (admin, group, role) = (service.admin(), service.group("g"), service.role("member"));
    let home = project_id("demo");
    for (scope_path, name) in
        [(format!("projects/{home}"), home.as_str()), ("domains/default".to_owned(), "default")]
    {
        let roles = format!("/v3/{scope_path}/groups/{group}/roles");
        service.check_grant(&roles, &group, name);
        let nobody = format!("/v3/{scope_path}/groups/nope/roles/{role}");
        service.put(&nobody, &admin).says(404, "Could not find group: nope.");
    }
}

#[test]
fn members_have_the_roles_of_their_group() {
    let service = TestIdentity::new();
    let (admin, group, joe) = (service.admin(), service.group("g"), service.user("joe", ""));
    let (home, role) = (project_id("demo"), service.role("member"));
    let member = format!("/v3/groups/{group}/users/{joe}");
    let grant = format!("/v3/projects/{home}/groups/{group}/roles/{role}");
    let login = || service.log_in(password("joe", "joe", project("demo")));
    service.put(&grant, &admin).has(204);
    login().has(401);
    service.put(&member, &admin).has(204);
    let token = login().has(201);
    assert_eq!(token.roles(), ["member", "reader"]);
    let projects = service.get("/v3/auth/projects", &token.token()).has(200);
    assert_eq!(projects.column("projects", "name"), ["demo"]);
    service.delete(&member, &admin).has(204);
    service.validate(&token.token()).has(404);
    service.put(&member, &admin).has(204);
    service.delete(&format!("/v3/groups/{group}"), &admin).has(204);
    login().has(401);
    let all = service.get("/v3/role_assignments", &admin).text;
    assert!(!all.contains(&group), "{all}");
}

#[test]
fn assignments_show_groups_and_in_effect_their_members() {
    let service = TestIdentity::new();
    let (admin, group, joe) = (service.admin(), service.group("g"), service.user("joe", ""));
    let (home, role) = (project_id("demo"), service.role("reader"));
    let grant = format!("/v3/projects/{home}/groups/{group}/roles/{role}");
    service.put(&grant, &admin).has(204);
    service.put(&format!("/v3/groups/{group}/users/{joe}"), &admin).has(204);
    let list = |query: &str| {
        let answer = service.get(&format!("/v3/role_assignments?{query}"), &admin).has(200);
        answer.body["role_assignments"].clone()
    };
    let default = json!({ "id": "default", "name": "Default" });
    assert_eq!(
        list(&format!("group.id={group}&include_names")),
        json!([{
            "links": { "assignment": format!("{BASE}{grant}") },
            "scope": { "project": { "id": home, "name": "demo", "domain": default } },
            "group": { "id": group, "name": "g", "domain": default },
            "role": { "id": role, "name": "reader" },
        }])
    );
    assert_eq!(list(&format!("user.id={joe}")), json!([]));
    assert_eq!(
        list(&format!("user.id={joe}&effective")),
        json!([{
            "links": {
                "assignment": format!("{BASE}{grant}"),
                "membership": format!("{BASE}/v3/groups/{group}/users/{joe}"),
            },
            "scope": { "project": { "id": home } }, "user": { "id": joe }, "role": { "id": role },
        }])
    );
    let both = format!("/v3/role_assignments?user.id={joe}&group.id={group}");
    service.get(&both, &admin).says(400, "Specify a user or group, not both");
}

#[test]
fn groups_are_for_administrators() {
    let service = TestIdentity::new();
    let (demo, owner, group) = (service.demo(), service.domain_admin(), service.group("g"));
    let path = format!("/v3/groups/{group}");
    let member = format!("{path}/users/{}", user_id("demo"));
    let rule = |word: &str| forbidden(&format!("identity:{word}"));
    let body = json!({ "group": { "name": "h", "domain_id": "default" } });
    for token in [&demo, &owner] {
        service.post("/v3/groups", token, body.clone()).says(403, &rule("create_group"));
        service.get(&path, token).says(403, &rule("get_group"));
        service.patch(&path, token, body.clone()).says(403, &rule("update_group"));
        service.delete(&path, token).says(403, &rule("delete_group"));
        service.put(&member, token).says(403, &rule("add_user_to_group"));
        service.get(&member, token).says(403, &rule("check_user_in_group"));
        service.delete(&member, token).says(403, &rule("remove_user_from_group"));
        service.get(&format!("{path}/users"), token).says(403, &rule("list_users_in_group"));
    }
    service.get("/v3/groups", &demo).says(403, &rule("list_groups"));
    let grant = format!(
        "/v3/projects/{}/groups/{group}/roles/{}",
        project_id("demo"),
        service.role("admin")
    );
    service.put(&grant, &demo).says(403, &rule("create_grant"));
}
