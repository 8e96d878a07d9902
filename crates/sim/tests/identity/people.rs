//! Users, projects, domains and roles.

use kiln_sim::identity::{project_id, user_id};
use serde_json::{Value, json};

use super::test_identity::{BASE, NOT_LOGGED_IN, TestIdentity, forbidden, password};

#[test]
fn a_user_is_made_shown_changed_and_removed() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let demo = project_id("demo");
    let asked = json!({ "user": {
        "name": "joe", "password": "p", "domain_id": "default", "default_project_id": demo,
        "email": "joe@example.com", "description": "one", "options": { "lock_password": true },
    } });
    let made = service.post("/v3/users", &admin, asked).has(201);
    let id = made.text_at("/user/id");
    let shown = json!({ "user": {
        "email": "joe@example.com", "description": "one", "id": id, "name": "joe",
        "domain_id": "default", "enabled": true, "default_project_id": demo,
        "password_expires_at": null, "options": { "lock_password": true },
        "links": { "self": format!("{BASE}/v3/users/{id}") },
    } });
    assert_eq!(made.body, shown);
    let path = format!("/v3/users/{id}");
    assert_eq!(service.get(&path, &admin).has(200).body, shown);
    let change = json!({ "user": {
        "name": "jim", "description": null, "default_project_id": null, "options": { "lock_password": null },
    } });
    let changed = service.patch(&path, &admin, change).has(200);
    assert_eq!(changed.body["user"]["name"], "jim");
    assert_eq!(changed.body["user"]["description"], Value::Null);
    assert_eq!(changed.body["user"].get("default_project_id"), None);
    assert_eq!(changed.body["user"]["options"], json!({}));
    assert_eq!(changed.body["user"]["email"], "joe@example.com");
    service.log_in(password("jim", "p", Value::Null)).has(201);
    service.delete(&path, &admin).has(204);
    let gone = format!("Could not find user: {id}.");
    service.get(&path, &admin).says(404, &gone);
    service.delete(&path, &admin).says(404, &gone);
    service.patch(&path, &admin, json!({ "user": { "name": "x" } })).says(404, &gone);
}

#[test]
fn a_user_that_makes_no_sense_is_refused() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let long = "x".repeat(256);
    let too_long =
        format!("Invalid input for field/attribute name. Value: {long}. '{long}' is too long");
    for (body, message) in [
        (json!({}), "'user' is a required property"),
        (
            json!({ "user": null }),
            "Invalid input for field/attribute user. Value: None. None is not of type 'object'",
        ),
        (
            json!({ "user": [] }),
            "Invalid input for field/attribute user. Value: []. [] is not of type 'object'",
        ),
        (
            json!({ "user": { "name": "u" }, "x": 1 }),
            "Additional properties are not allowed ('x' was unexpected)",
        ),
        (
            json!({ "user": { "password": "p" } }),
            "Invalid input for field/attribute user. Value: {'password': 'p'}. 'name' is a required property",
        ),
        (
            json!({ "user": { "name": "" } }),
            "Invalid input for field/attribute name. Value: . '' should be non-empty",
        ),
        (
            json!({ "user": { "name": 5 } }),
            "Invalid input for field/attribute name. Value: 5. 5 is not of type 'string'",
        ),
        (
            json!({ "user": { "name": "  " } }),
            "Invalid input for field/attribute name. Value:   . '  ' does not match '[\\\\S]+'",
        ),
        (json!({ "user": { "name": long } }), &too_long),
        (
            json!({ "user": { "name": "u", "enabled": 1 } }),
            "Invalid input for field/attribute enabled. Value: 1. 1 is not of type 'boolean', 'string', 'null'",
        ),
        (
            json!({ "user": { "name": "u", "password": 1 } }),
            "Invalid input for field/attribute password. Value: 1. 1 is not of type 'string', 'null'",
        ),
        (
            json!({ "user": { "name": "u", "options": { "nope": true } } }),
            "Invalid input for field/attribute options. Value: {'nope': True}. Additional properties are not \
             allowed ('nope' was unexpected)",
        ),
        (
            json!({ "user": { "name": "u", "options": { "lock_password": "x" } } }),
            "Invalid input for field/attribute lock_password. Value: x. 'x' is not of type 'boolean', 'null'",
        ),
    ] {
        service.post("/v3/users", &admin, body).says(400, message);
    }
    let elsewhere = json!({ "user": { "name": "u", "domain_id": "nope" } });
    service.post("/v3/users", &admin, elsewhere).says(404, "Could not find domain: nope.");
    service.post("/v3/users", &admin, json!({ "user": { "name": "demo" } })).says(
        409,
        "Conflict occurred attempting to store user - Duplicate entry found with name demo at domain ID default.",
    );
}

#[test]
fn a_change_of_a_user_that_makes_no_sense_is_refused() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let path = format!("/v3/users/{}", service.user("joe", ""));
    let change = |user: Value| service.patch(&path, &admin, json!({ "user": user }));
    change(json!({ "id": "x" })).says(400, "Cannot change ID");
    change(json!({ "domain_id": "x" })).says(400, "Cannot change Domain ID");
    change(json!({}))
        .says(400, "Invalid input for field/attribute user. Value: {}. {} should be non-empty");
    change(json!({ "name": "demo" })).says(
        409,
        "Conflict occurred attempting to store user - Duplicate entry found with name demo.",
    );
    change(json!({ "name": "joe" })).has(200);
}

#[test]
fn users_see_themselves_and_administrators_see_all() {
    let service = TestIdentity::new();
    let (admin, demo) = (service.admin(), service.demo());
    let own = format!("/v3/users/{}", user_id("demo"));
    let other = format!("/v3/users/{}", user_id("admin"));
    service.get(&own, &demo).has(200);
    service.get(&other, &demo).says(403, &forbidden("identity:get_user"));
    service.get("/v3/users/nope", &demo).says(403, &forbidden("identity:get_user"));
    service.get("/v3/users", &demo).says(403, &forbidden("identity:list_users"));
    service.get("/v3/users", "").says(401, NOT_LOGGED_IN);
    let user = json!({ "user": { "name": "u" } });
    service.post("/v3/users", &demo, user.clone()).says(403, &forbidden("identity:create_user"));
    service.patch(&own, &demo, user).says(403, &forbidden("identity:update_user"));
    service.delete(&other, &demo).says(403, &forbidden("identity:delete_user"));
    let projects = service.get(&format!("{own}/projects"), &demo).has(200);
    assert_eq!(projects.column("projects", "name"), ["demo"]);
    let rule = forbidden("identity:list_user_projects");
    service.get(&format!("{other}/projects"), &demo).says(403, &rule);
    assert_eq!(service.get(&format!("{own}/groups"), &demo).has(200).body["groups"], json!([]));
    assert_eq!(service.get("/v3/groups", &admin).has(200).body["groups"], json!([]));
}

#[test]
fn lists_are_filtered_and_paged() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let names = |query: &str| {
        let mut names =
            service.get(&format!("/v3/users?{query}"), &admin).has(200).column("users", "name");
        names.sort();
        names
    };
    assert_eq!(names("name=demo"), ["demo"]);
    assert_eq!(names("name=demo&domain_id=default"), ["demo"]);
    assert_eq!(names("name=demo&domain_id=nope"), Vec::<String>::new());
    assert_eq!(names("domain_id=default"), ["admin", "demo", "heat"]);
    assert_eq!(names("name__contains=em"), ["demo"]);
    assert_eq!(names("name__startswith=heat"), ["heat", "heat_domain_admin"]);
    assert_eq!(names("name__icontains=DEM"), ["demo"]);
    assert_eq!(names("enabled=false"), Vec::<String>::new());
    assert_eq!(names("enabled=1&frob=x").len(), 4);
    service.get("/v3/users?enabled=x", &admin).has(400);

    let mut path = "/v3/users?limit=3".to_owned();
    let mut seen = Vec::new();
    loop {
        let page = service.get(&path, &admin).has(200);
        seen.extend(page.column("users", "name"));
        let Some(next) = page.body["links"]["next"].as_str() else { break };
        assert_eq!(page.body["truncated"], true);
        path = next.strip_prefix(BASE).unwrap().to_owned();
    }
    seen.sort();
    assert_eq!(seen, ["admin", "demo", "heat", "heat_domain_admin"]);
    service.get("/v3/users?marker=nope", &admin).says(404, "Marker nope could not be found.");
    service.get("/v3/users?limit=x", &admin).has(400);
}

#[test]
fn a_password_is_changed_by_whoever_knows_it() {
    let service = TestIdentity::new();
    let path = format!("/v3/users/{}/password", user_id("demo"));
    let change = |old: &str, new: &str| {
        service.post(&path, "", json!({ "user": { "original_password": old, "password": new } }))
    };
    change("wrong", "new").says(401, NOT_LOGGED_IN);
    service.post(&path, "", json!({ "user": { "password": "new" } })).has(400);
    service
        .post(
            "/v3/users/nope/password",
            "",
            json!({ "user": {
        "original_password": "x", "password": "y",
    } }),
        )
        .says(401, NOT_LOGGED_IN);
    change("demo", "new").has(204);
    service.log_in(password("demo", "demo", Value::Null)).has(401);
    service.log_in(password("demo", "new", Value::Null)).has(201);
}

#[test]
fn a_project_is_made_shown_changed_and_removed() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let asked =
        json!({ "project": { "name": "p", "description": "d", "more": "x", "tags": ["a", "b"] } });
    let made = service.post("/v3/projects", &admin, asked).has(201);
    let id = made.text_at("/project/id");
    let shown = json!({ "project": {
        "more": "x", "id": id, "name": "p", "domain_id": "default", "description": "d",
        "enabled": true, "parent_id": "default", "is_domain": false, "tags": ["a", "b"], "options": {},
        "links": { "self": format!("{BASE}/v3/projects/{id}") },
    } });
    assert_eq!(made.body, shown);
    let path = format!("/v3/projects/{id}");
    assert_eq!(service.get(&path, &admin).has(200).body, shown);
    let tagged = service.get("/v3/projects?tags=a", &admin).column("projects", "name");
    assert_eq!(tagged, ["p"]);
    let changed = service.patch(&path, &admin, json!({ "project": { "name": "q", "tags": [] } }));
    assert_eq!(changed.has(200).body["project"]["name"], "q");
    let found = service.get("/v3/projects?name=q&domain_id=default&enabled=true", &admin);
    assert_eq!(found.column("projects", "id"), [id.as_str()]);
    service.delete(&path, &admin).has(204);
    service.delete(&path, &admin).says(404, &format!("Could not find project: {id}."));
}

#[test]
fn projects_lie_within_projects() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let make = |project: Value| service.post("/v3/projects", &admin, json!({ "project": project }));
    let parent = make(json!({ "name": "p" })).text_at("/project/id");
    let child = make(json!({ "name": "c", "parent_id": parent })).text_at("/project/id");
    let path = format!("/v3/projects/{parent}");
    let listed = service.get(&format!("/v3/projects?parent_id={parent}"), &admin);
    assert_eq!(listed.column("projects", "id"), [child.as_str()]);
    service.delete(&path, &admin).says(
        403,
        &format!(
            "Cannot delete the project {parent} since it is not a leaf in the hierarchy. Use the cascade option if \
             you want to delete a whole subtree."
        ),
    );
    service.patch(&path, &admin, json!({ "project": { "enabled": false } })).says(
        403,
        &format!("Cannot disable project {parent} since its subtree contains enabled projects."),
    );
    service.delete(&format!("/v3/projects/{child}"), &admin).has(204);
    service.delete(&path, &admin).has(204);
    make(json!({ "name": "x", "parent_id": "nope" })).says(400, "Could not find project: nope.");
    make(json!({ "name": "x", "domain_id": "nope" })).says(400, "Could not find domain: nope.");
}

#[test]
fn a_project_that_makes_no_sense_is_refused() {
    let service = TestIdentity::new();
    let (admin, demo) = (service.admin(), service.demo());
    let make = |project: Value| service.post("/v3/projects", &admin, json!({ "project": project }));
    make(json!({})).says(
        400,
        "Invalid input for field/attribute project. Value: {}. 'name' is a required property",
    );
    make(json!({ "name": "x".repeat(65) })).has(400);
    make(json!({ "name": "x", "tags": ["a/b"] })).says(
        400,
        "Invalid input for field/attribute 0. Value: a/b. 'a/b' does not match '^[^,/]*$'",
    );
    let twice = make(json!({ "name": "demo" })).has(409);
    let message = twice.text_at("/error/message");
    assert!(
        message.starts_with("Conflict occurred attempting to store project - it is not permitted")
    );
    let path = format!("/v3/projects/{}", project_id("demo"));
    let change = |project: Value| service.patch(&path, &admin, json!({ "project": project }));
    change(json!({ "name": "admin" })).has(409);
    change(json!({ "id": "x" })).says(400, "Cannot change ID");
    change(json!({ "domain_id": "x" })).says(400, "Cannot change Domain ID");
    change(json!({ "parent_id": "x" })).says(403, "Update of `parent_id` is not allowed.");
    let rule = |word: &str| forbidden(&format!("identity:{word}_project"));
    service.get(&path, &demo).has(200);
    service.get(&format!("/v3/projects/{}", project_id("admin")), &demo).says(403, &rule("get"));
    service.get("/v3/projects/nope", &demo).says(403, &rule("get"));
    service.get("/v3/projects", &demo).says(403, &forbidden("identity:list_projects"));
    let new = json!({ "project": { "name": "x" } });
    service.post("/v3/projects", &demo, new.clone()).says(403, &rule("create"));
    service.patch(&path, &demo, new).says(403, &rule("update"));
    service.delete(&path, &demo).says(403, &rule("delete"));
}

#[test]
fn what_is_immutable_stays() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let made = service.post(
        "/v3/projects",
        &admin,
        json!({ "project": { "name": "p", "options": { "immutable": true } } }),
    );
    let path = format!("/v3/projects/{}", made.text_at("/project/id"));
    service.delete(&path, &admin).has(403);
    service.patch(&path, &admin, json!({ "project": { "name": "q" } })).has(403);
    let free = json!({ "project": { "options": { "immutable": false } } });
    service.patch(&path, &admin, free).has(200);
    service.delete(&path, &admin).has(204);
    let member = service.role("member");
    let path = format!("/v3/roles/{member}");
    let why = |verb: &str| {
        format!(
            "Unable to {verb} immutable role resource: `{member}. Set resource option \"immutable\" to false first."
        )
    };
    service.delete(&path, &admin).says(403, &why("delete"));
    service.patch(&path, &admin, json!({ "role": { "name": "x" } })).says(403, &why("update"));
}

#[test]
fn a_domain_is_made_shown_changed_and_removed() {
    let service = TestIdentity::new();
    let (admin, demo) = (service.admin(), service.demo());
    let made = service.post(
        "/v3/domains",
        &admin,
        json!({ "domain": { "name": "d", "description": "x" } }),
    );
    let id = made.text_at("/domain/id");
    let shown = json!({ "domain": {
        "id": id, "name": "d", "description": "x", "enabled": true, "tags": [], "options": {},
        "links": { "self": format!("{BASE}/v3/domains/{id}") },
    } });
    assert_eq!(made.has(201).body, shown);
    let path = format!("/v3/domains/{id}");
    assert_eq!(service.get(&path, &admin).has(200).body, shown);
    assert_eq!(service.get("/v3/domains?name=d", &admin).column("domains", "id"), [id.as_str()]);
    let as_projects = service.get("/v3/projects?is_domain=true&name=d", &admin);
    assert_eq!(as_projects.column("projects", "id"), [id.as_str()]);
    let twice = "Conflict occurred attempting to store project - it is not permitted to have two projects acting as \
                 domains with the same name: d.";
    service.post("/v3/domains", &admin, json!({ "domain": { "name": "d" } })).says(409, twice);
    let user = json!({ "user": { "name": "ann", "domain_id": id } });
    let user = service.post("/v3/users", &admin, user).text_at("/user/id");
    service
        .delete(&path, &admin)
        .says(403, "Cannot delete a domain that is enabled, please disable it first.");
    service.patch(&path, &admin, json!({ "domain": { "enabled": false } })).has(200);
    service.delete(&path, &admin).has(204);
    service.delete(&path, &admin).says(404, &format!("Could not find domain: {id}."));
    service.get(&format!("/v3/users/{user}"), &admin).has(404);
    service.get("/v3/domains/default", &demo).has(200);
    service.get("/v3/domains", &demo).says(403, &forbidden("identity:list_domains"));
    let new = json!({ "domain": { "name": "e" } });
    service.post("/v3/domains", &demo, new).says(403, &forbidden("identity:create_domain"));
}

#[test]
fn a_role_is_made_shown_changed_and_removed() {
    let service = TestIdentity::new();
    let (admin, demo) = (service.admin(), service.demo());
    let made =
        service.post("/v3/roles", &admin, json!({ "role": { "name": "r", "description": "x" } }));
    let id = made.text_at("/role/id");
    let shown = json!({ "role": {
        "id": id, "name": "r", "domain_id": null, "description": "x", "options": {},
        "links": { "self": format!("{BASE}/v3/roles/{id}") },
    } });
    assert_eq!(made.has(201).body, shown);
    let path = format!("/v3/roles/{id}");
    assert_eq!(service.get(&path, &admin).has(200).body, shown);
    let twice = "Conflict occurred attempting to store role - Duplicate entry found with name r.";
    service.post("/v3/roles", &admin, json!({ "role": { "name": "r" } })).says(409, twice);
    service.patch(&path, &admin, json!({ "role": { "name": "s" } })).has(200);
    assert_eq!(service.get("/v3/roles?name=s", &admin).column("roles", "id"), [id.as_str()]);
    assert_eq!(service.get("/v3/roles?name=r", &admin).body["roles"], json!([]));
    let own = json!({ "role": { "name": "s", "domain_id": "default" } });
    service.post("/v3/roles", &admin, own).has(201);
    assert_eq!(service.get("/v3/roles?domain_id=default", &admin).column("roles", "name"), ["s"]);
    service.delete(&path, &admin).has(204);
    service.get(&path, &admin).says(404, &format!("Could not find role: {id}."));
    service.get("/v3/roles", &demo).says(403, &forbidden("identity:list_roles"));
    service.get(&path, &demo).says(403, &forbidden("identity:get_role"));
    let names = service.get("/v3/roles", &admin).column("roles", "name");
    assert_eq!(
        names,
        ["admin", "heat_stack_owner", "heat_stack_user", "manager", "member", "reader", "service"]
    );
}
