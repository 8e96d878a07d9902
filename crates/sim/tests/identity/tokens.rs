//! Tokens: validation, revocation, and the scopes of their users.

use kiln_sim::identity::project_id;
use serde_json::{Value, json};

use super::test_identity::{NOT_LOGGED_IN, TestIdentity, forbidden, password, project};

#[test]
fn a_token_is_shown_to_its_holder_to_services_and_to_administrators() {
    let service = TestIdentity::new();
    let issued = service.log_in(password("demo", "demo", project("demo")));
    let demo = issued.token();
    for caller in [demo.clone(), service.admin(), service.heat()] {
        let shown =
            service.ask_about("GET", "/v3/auth/tokens", &caller, &demo, Value::Null).has(200);
        assert_eq!(shown.body, issued.body);
        assert_eq!(shown.token(), demo);
        let head =
            service.ask_about("HEAD", "/v3/auth/tokens", &caller, &demo, Value::Null).has(200);
        assert_eq!(head.text, "");
    }
    let bare = service.ask_about("GET", "/v3/auth/tokens?nocatalog", &demo, &demo, Value::Null);
    assert_eq!(bare.body["token"].get("catalog"), None);
}

#[test]
fn a_token_is_not_shown_to_others() {
    let service = TestIdentity::new();
    let (demo, admin) = (service.demo(), service.admin());
    let show = |caller: &str, subject: &str| {
        service.ask_about("GET", "/v3/auth/tokens", caller, subject, Value::Null)
    };
    show(&demo, &admin).says(403, &forbidden("identity:validate_token"));
    show("", &admin).says(401, NOT_LOGGED_IN);
    show("nonsense", &admin).says(401, NOT_LOGGED_IN);
    show(&admin, "").says(404, "No token in the request");
    show(&admin, "nonsense").says(404, "Could not recognize Fernet token");
}

#[test]
fn a_token_ends() {
    let service = TestIdentity::new();
    let demo = service.demo();
    service.later(24 * 3600 - 1);
    service.validate(&demo).has(200);
    service.later(1);
    service.validate(&demo).says(404, "Failed to validate token");
    service.get("/v3/auth/projects", &demo).says(401, NOT_LOGGED_IN);
    let admin = service.admin();
    let late = |path: &str| service.ask_about("GET", path, &admin, &demo, Value::Null);
    late("/v3/auth/tokens?allow_expired=1").has(200);
    late("/v3/auth/tokens?allow_expired=0").has(404);
    service.later(48 * 3600);
    let admin = service.admin();
    service
        .ask_about("GET", "/v3/auth/tokens?allow_expired=1", &admin, &demo, Value::Null)
        .has(404);
}

#[test]
fn a_token_is_revoked() {
    let service = TestIdentity::new();
    let (demo, other, admin) = (service.demo(), service.demo(), service.admin());
    let revoke = |caller: &str, subject: &str| {
        service.ask_about("DELETE", "/v3/auth/tokens", caller, subject, Value::Null)
    };
    revoke(&demo, &admin).says(403, &forbidden("identity:revoke_token"));
    let done = revoke(&demo, &demo).has(204);
    assert_eq!(done.text, "");
    service.validate(&demo).says(404, "Failed to validate token");
    service.get("/v3/auth/projects", &demo).says(401, NOT_LOGGED_IN);
    revoke(&admin, &demo).says(404, "Failed to validate token");
    revoke(&admin, "").says(404, "No token in the request");
    service.validate(&other).has(200);
    let events = service.get("/v3/OS-REVOKE/events", &admin).has(200);
    let event = &events.body["events"][0];
    assert_eq!(event["revoked_at"], "2026-11-16T08:00:00.000000Z");
    assert!(event["audit_id"].is_string());
    let since = service.get("/v3/OS-REVOKE/events?since=2036-01-01T00:00:00Z", &admin);
    assert_eq!(since.body["events"], json!([]));
    service.get("/v3/OS-REVOKE/events?since=x", &admin).has(400);
    service
        .get("/v3/OS-REVOKE/events", &other)
        .says(403, &forbidden("identity:list_revoke_events"));
}

#[test]
fn a_holder_is_told_what_they_can_reach() {
    let service = TestIdentity::new();
    let (admin, demo) = (service.admin(), service.demo());
    let mut projects = service.get("/v3/auth/projects", &admin).has(200).column("projects", "name");
    projects.sort();
    assert_eq!(projects, ["admin", "demo"]);
    let unscoped = service.log_in(password("demo", "demo", Value::Null)).token();
    let own = service.get("/v3/auth/projects", &unscoped).has(200);
    assert_eq!(own.column("projects", "id"), [project_id("demo")]);
    assert_eq!(own.text_at("/links/self"), "http://identity.example:5000/v3/auth/projects");
    assert_eq!(service.get("/v3/auth/domains", &demo).has(200).body["domains"], json!([]));
    let owner = service.domain_admin();
    assert_eq!(service.get("/v3/auth/domains", &owner).column("domains", "name"), ["heat"]);
    let system =
        |token: &str| service.get("/v3/auth/system", token).has(200).body["system"].clone();
    assert_eq!(system(&admin), json!([{ "all": true }]));
    assert_eq!(system(&demo), json!([]));
    for path in ["catalog", "domains", "projects", "system"] {
        service.get(&format!("/v3/auth/{path}"), "").says(401, NOT_LOGGED_IN);
    }
}
