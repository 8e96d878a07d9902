//! Groups: who is in them, and what their members may.
//!
//! Unlike the rest, what is asserted here was not recorded from a Keystone: forms follow its documentation and schemas,
//! the sentences have yet to be compared.

use kiln_sim::identity::{project_id, user_id};
use serde_json::{Value, json};

use super::world::{BASE, World, forbidden, password, project};

impl World {
    fn group(&self, name: &str) -> String {
        let group = json!({ "group": { "name": name } });
        self.post("/v3/groups", &self.admin(), group).has(201).text_at("/group/id")
    }
}

#[test]
fn a_group_lives() {
    let world = World::new();
    let admin = world.admin();
    let fields = json!({ "group": { "name": "g", "description": "d", "colour": "red" } });
    let made = world.post("/v3/groups", &admin, fields.clone()).has(201);
    let id = made.text_at("/group/id");
    let path = format!("/v3/groups/{id}");
    assert_eq!(
        made.body["group"],
        json!({
            "id": id, "name": "g", "description": "d", "domain_id": "default", "colour": "red",
            "links": { "self": format!("{BASE}{path}") },
        })
    );
    assert_eq!(world.get(&path, &admin).has(200).body, made.body);
    let taken = "Conflict occurred attempting to store group - Duplicate entry found with name g at domain ID default.";
    world.post("/v3/groups", &admin, fields).says(409, taken);
    let changed = world.patch(&path, &admin, json!({ "group": { "description": null } })).has(200);
    assert_eq!(changed.body["group"]["description"], Value::Null);
    assert_eq!(changed.body["group"]["name"], "g");
    let elsewhere = json!({ "group": { "domain_id": "other" } });
    world.patch(&path, &admin, elsewhere).says(400, "Cannot change Domain ID");
    let nowhere = json!({ "group": { "name": "h", "domain_id": "nope" } });
    world.post("/v3/groups", &admin, nowhere).says(404, "Could not find domain: nope.");
    world.post("/v3/groups", &admin, json!({ "group": {} })).has(400);
    world.delete(&path, &admin).has(204);
    world.get(&path, &admin).says(404, &format!("Could not find group: {id}."));
    world.delete(&path, &admin).says(404, &format!("Could not find group: {id}."));
}

#[test]
fn groups_are_listed_by_name_and_domain() {
    let world = World::new();
    let (admin, owner) = (world.admin(), world.domain_admin());
    world.group("a");
    world.group("b");
    let inside = world.post("/v3/groups", &owner, json!({ "group": { "name": "a" } })).has(201);
    assert_eq!(inside.body["group"]["description"], "");
    let heat = world.identity.stack_domain_id();
    assert_eq!(inside.body["group"]["domain_id"], heat, "their domain is meant");
    let names = |query: &str, token: &str| {
        let mut names = world.get(&format!("/v3/groups{query}"), token).column("groups", "name");
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
    let world = World::new();
    let (admin, group, joe) = (world.admin(), world.group("g"), world.user("joe", ""));
    let path = format!("/v3/groups/{group}/users/{joe}");
    let stranger = format!("User '{joe}' not found in group '{group}'");
    world.get(&path, &admin).says(404, &stranger);
    world.head(&path, &admin).has(404);
    world.delete(&path, &admin).says(404, &stranger);
    world.put(&path, &admin).has(204);
    world.put(&path, &admin).has(204);
    world.get(&path, &admin).has(204);
    world.head(&path, &admin).has(204);
    let members = || world.get(&format!("/v3/groups/{group}/users"), &admin).has(200);
    assert_eq!(members().column("users", "name"), ["joe"]);
    let own = world.get(&format!("/v3/users/{joe}/groups"), &admin).has(200);
    assert_eq!(own.column("groups", "name"), ["g"]);
    world.delete(&path, &admin).has(204);
    assert_eq!(members().body["users"], json!([]));
    let nobody = format!("/v3/groups/{group}/users/nope");
    world.put(&nobody, &admin).says(404, "Could not find user: nope.");
    let nothing = format!("/v3/groups/nope/users/{joe}");
    world.put(&nothing, &admin).says(404, "Could not find group: nope.");
    // Whoever is gone is in no group.
    world.put(&path, &admin).has(204);
    world.delete(&format!("/v3/users/{joe}"), &admin).has(204);
    assert_eq!(members().body["users"], json!([]));
}

#[test]
fn a_group_has_roles_on_projects_and_domains() {
    let world = World::new();
    let (admin, group, role) = (world.admin(), world.group("g"), world.role("member"));
    let home = project_id("demo");
    for (place, name) in
        [(format!("projects/{home}"), home.as_str()), ("domains/default".to_owned(), "default")]
    {
        let roles = format!("/v3/{place}/groups/{group}/roles");
        let path = format!("{roles}/{role}");
        assert_eq!(world.get(&roles, &admin).has(200).body["roles"], json!([]));
        world.put(&path, &admin).has(204);
        world.head(&path, &admin).has(204);
        world.get(&path, &admin).has(204);
        assert_eq!(world.get(&roles, &admin).column("roles", "name"), ["member"]);
        world.delete(&path, &admin).has(204);
        let gone = format!(
            "Could not find role assignment with role: {role}, user or group: {group}, project, domain, or system: {name}."
        );
        world.get(&path, &admin).says(404, &gone);
        world.delete(&path, &admin).says(404, &gone);
        let nobody = format!("/v3/{place}/groups/nope/roles/{role}");
        world.put(&nobody, &admin).says(404, "Could not find group: nope.");
    }
}

#[test]
fn members_have_the_roles_of_their_group() {
    let world = World::new();
    let (admin, group, joe) = (world.admin(), world.group("g"), world.user("joe", ""));
    let (home, role) = (project_id("demo"), world.role("member"));
    let member = format!("/v3/groups/{group}/users/{joe}");
    let grant = format!("/v3/projects/{home}/groups/{group}/roles/{role}");
    let login = || world.log_in(password("joe", "joe", project("demo")));
    world.put(&grant, &admin).has(204);
    login().has(401);
    world.put(&member, &admin).has(204);
    let token = login().has(201);
    assert_eq!(token.roles(), ["member", "reader"]);
    let projects = world.get("/v3/auth/projects", &token.token()).has(200);
    assert_eq!(projects.column("projects", "name"), ["demo"]);
    world.delete(&member, &admin).has(204);
    world.validate(&token.token()).has(404);
    world.put(&member, &admin).has(204);
    world.delete(&format!("/v3/groups/{group}"), &admin).has(204);
    login().has(401);
    let all = world.get("/v3/role_assignments", &admin).text;
    assert!(!all.contains(&group), "{all}");
}

#[test]
fn assignments_show_groups_and_in_effect_their_members() {
    let world = World::new();
    let (admin, group, joe) = (world.admin(), world.group("g"), world.user("joe", ""));
    let (home, role) = (project_id("demo"), world.role("reader"));
    let grant = format!("/v3/projects/{home}/groups/{group}/roles/{role}");
    world.put(&grant, &admin).has(204);
    world.put(&format!("/v3/groups/{group}/users/{joe}"), &admin).has(204);
    let list = |query: &str| {
        let answer = world.get(&format!("/v3/role_assignments?{query}"), &admin).has(200);
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
    world.get(&both, &admin).says(400, "Specify a user or group, not both");
}

#[test]
fn groups_are_for_administrators() {
    let world = World::new();
    let (demo, owner, group) = (world.demo(), world.domain_admin(), world.group("g"));
    let path = format!("/v3/groups/{group}");
    let member = format!("{path}/users/{}", user_id("demo"));
    let rule = |word: &str| forbidden(&format!("identity:{word}"));
    let body = json!({ "group": { "name": "h", "domain_id": "default" } });
    for token in [&demo, &owner] {
        world.post("/v3/groups", token, body.clone()).says(403, &rule("create_group"));
        world.get(&path, token).says(403, &rule("get_group"));
        world.patch(&path, token, body.clone()).says(403, &rule("update_group"));
        world.delete(&path, token).says(403, &rule("delete_group"));
        world.put(&member, token).says(403, &rule("add_user_to_group"));
        world.get(&member, token).says(403, &rule("check_user_in_group"));
        world.delete(&member, token).says(403, &rule("remove_user_from_group"));
        world.get(&format!("{path}/users"), token).says(403, &rule("list_users_in_group"));
    }
    world.get("/v3/groups", &demo).says(403, &rule("list_groups"));
    let grant =
        format!("/v3/projects/{}/groups/{group}/roles/{}", project_id("demo"), world.role("admin"));
    world.put(&grant, &demo).says(403, &rule("create_grant"));
}
