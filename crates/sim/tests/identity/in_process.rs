//! The interface for programs that run the service in their own process.

use axum::body::Bytes;
use axum::http::Request;
use kiln_sim::identity::{project_id, user_id};
use serde_json::Value;

use super::test_identity::{TestIdentity, by_user};

#[test]
fn somebody_is_logged_in_without_a_password() {
    let service = TestIdentity::new();
    let token = service.identity.login("demo", "demo").unwrap();
    assert_eq!(token.user_id, user_id("demo"));
    assert_eq!(token.project_id, project_id("demo"));
    assert_eq!(token.roles, ["heat_stack_owner", "member", "reader"]);
    assert_eq!(token.expires_at, (super::test_identity::MORNING + 24 * 3600) * 1_000_000);
    let document = service.identity.validate(&token.id).unwrap();
    assert_eq!(document, service.validate(&token.id).has(200).body);
    assert_eq!(service.identity.validate("nonsense").unwrap_err(), 404);
    for (user, project, reason) in [
        (
            "nobody",
            "demo",
            "user nobody cannot log in to project demo: Could not find user: nobody.",
        ),
        ("demo", "nope", "user demo cannot log in to project nope: Could not find project: nope."),
        (
            "demo",
            "admin",
            "user demo cannot log in to project admin: one of them is disabled, or the user has no role there",
        ),
    ] {
        assert_eq!(service.identity.login(user, project).unwrap_err().to_string(), reason);
    }
    assert!(!format!("{token:?}").contains(&token.id), "tokens are not logged");
}

#[test]
fn services_are_told_how_to_log_in() {
    let service = TestIdentity::with(|settings| {
        settings.seed.service_password = None;
        settings.seed.domain_admin_password = None;
    });
    for login in [service.identity.service_login(), service.identity.domain_admin_login()] {
        assert_eq!(login.password.len(), 32);
        assert!(!format!("{login:?}").contains(&login.password));
        let user = serde_json::json!({ "id": login.user_id, "password": login.password });
        let scope = match (&login.project_id, &login.domain_id) {
            (Some(id), _) => serde_json::json!({ "project": { "id": id } }),
            (None, Some(id)) => serde_json::json!({ "domain": { "id": id } }),
            (None, None) => Value::Null,
        };
        let answer = service.log_in(by_user(user, scope)).has(201);
        assert!(answer.roles().contains(&"admin".to_owned()));
    }
    let one = service.identity.service_login().password.clone();
    let other = TestIdentity::with(|settings| settings.seed.service_password = None);
    assert_ne!(one, other.identity.service_login().password, "drawn at random");
}

#[test]
fn a_request_is_answered_without_a_server() {
    let service = TestIdentity::new();
    let request = Request::get("/v3").body(Bytes::new()).unwrap();
    let response = service.identity.answer(&request);
    assert_eq!(response.status(), 200);
    let body: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(body["version"]["id"], "v3.14");
}
