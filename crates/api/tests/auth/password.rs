//! Names and passwords.

use super::fake::Fake;
use super::{headers, seen};
use axum::http::StatusCode;
use kiln_api::auth::{AuthUrl, Authenticator, IdentityClient, Password, Reason};
use serde_json::json;
use std::time::Duration;

fn password(fake: &Fake) -> Password {
    let auth_url = AuthUrl::fixed(format!("{}/v3", fake.url));
    let identity = IdentityClient::new(crate::client(), &fake.url);
    Password::new(identity, auth_url, Duration::from_secs(5), fake.clock()).unwrap()
}

const ANN: [(&str, &str); 2] = [("x-auth-user", "ann"), ("x-auth-key", "ann-password")];

#[tokio::test]
async fn a_password_is_a_login_for_the_project_in_the_address() {
    let fake = Fake::start().await;
    let password = password(&fake);
    let mut request = headers(&ANN);
    request.insert("x-user-domain-id", "d7".parse().unwrap());
    request.insert("x-roles", "admin".parse().unwrap());
    request.insert("x-project-id", "p9".parse().unwrap());
    request.insert("x-region-name", "North".parse().unwrap());
    let caller = password.authenticate(&request, Some("p1")).await.unwrap();
    assert_eq!((caller.user_id.as_str(), caller.project_id.as_str()), ("id-of-ann", "p1"));
    assert_eq!(caller.roles, ["member", "reader"]);
    assert_eq!(caller.token.unwrap().expose().as_text().unwrap().as_ref(), "token-1-of-ann");
    assert_eq!(caller.login_name.as_deref(), Some("ann"));
    assert_eq!(caller.password.unwrap().expose().as_text().unwrap().as_ref(), "ann-password");
    assert_eq!(caller.region.as_deref(), Some("North"));
    assert_eq!(caller.auth_url, format!("{}/v3", fake.url));
    let expected = json!({
        "identity": { "methods": ["password"], "password": { "user": {
            "name": "ann", "domain": { "id": "d7" }, "password": "ann-password",
        } } },
        "scope": { "project": { "id": "p1" } },
    });
    assert_eq!(fake.token_key().logins[0]["auth"], expected);
}

#[tokio::test]
async fn a_login_is_remembered_for_seconds_and_for_exactly_what_was_sent() {
    let fake = Fake::start().await;
    let password = password(&fake);
    let request = async |key: &str, project: &str| {
        let request = headers(&[("x-auth-user", "ann"), ("x-auth-key", key)]);
        let answer = password.authenticate(&request, Some(project)).await;
        (answer.is_ok(), fake.token_key().logins.len())
    };
    assert_eq!(request("ann-password", "p1").await, (true, 1));
    assert_eq!(request("ann-password", "p1").await, (true, 1));
    assert_eq!(request("ann-password", "p2").await, (true, 2));
    assert_eq!(request("wrong", "p1").await, (false, 3));
    assert_eq!(request("wrong", "p1").await, (false, 3));
    fake.token_key().passwords.insert("ann".into(), "new".into());
    fake.set_time(4);
    assert_eq!(request("ann-password", "p1").await, (true, 3));
    assert_eq!(request("new", "p1").await, (true, 4));
    fake.set_time(5);
    assert_eq!(request("ann-password", "p1").await, (false, 5));
}

#[tokio::test]
async fn refusals_are_the_frameworks() {
    let fake = Fake::start().await;
    let password = password(&fake);
    let explanation = "This server could not verify that you are authorized to access the document you \
                       requested. Either you supplied the wrong credentials (e.g., bad password), or your \
                       browser does not understand how to supply the credentials required.";
    let cases = [
        (headers(&[("x-auth-user", "ann"), ("x-auth-key", "wrong")]), Some("p1")),
        (headers(&ANN), None),
        (headers(&ANN), Some("")),
        (headers(&[("x-auth-user", "ann")]), Some("p1")),
        (headers(&[("x-auth-key", "ann-password")]), Some("p1")),
        (headers(&[("x-auth-token", "t1")]), Some("p1")),
    ];
    for (mut request, project) in cases {
        request.insert("accept", "application/json".parse().unwrap());
        let rejection = password.authenticate(&request, project).await.unwrap_err();
        let (status, challenge, kind, body) = seen(rejection).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
        assert_eq!(challenge, Some(format!("Keystone uri='{}/v3'", fake.url)));
        assert_eq!(kind, "application/json");
        assert_eq!(
            body,
            format!(
                "{{\"message\": \"{explanation}<br /><br />\\nAuthentication required\\n\\n\", \"code\": \"401 \
                 Unauthorized\", \"title\": \"Unauthorized\"}}"
            )
        );
    }
    let rejection = password.authenticate(&headers(&[]), None).await.unwrap_err();
    let (_, _, kind, body) = seen(rejection).await;
    assert_eq!(kind, "text/plain; charset=UTF-8");
    assert_eq!(body, format!("401 Unauthorized\n\n{explanation}\n\n Authentication required  "));
}

#[tokio::test]
async fn without_an_identity_service_nobody_is_refused_for_a_wrong_password() {
    let mut fake = Fake::start().await;
    let password = password(&fake);
    fake.stop().await;
    let rejection = password.authenticate(&headers(&ANN), Some("p1")).await.unwrap_err();
    assert_eq!(rejection.reason, Reason::Unavailable);
}

#[tokio::test]
async fn with_many_clouds_the_login_is_at_the_one_that_was_chosen() {
    let (one, other) = (Fake::start().await, Fake::start().await);
    let identity = IdentityClient::new(crate::client(), &one.url);
    let auth_url = AuthUrl {
        configured: one.url.clone(),
        multi_cloud: true,
        allowed: vec![one.url.clone(), other.url.clone()],
    };
    let password = Password::new(identity, auth_url, Duration::from_secs(5), one.clock()).unwrap();
    for fake in [&one, &other] {
        let mut request = headers(&ANN);
        request.insert("x-auth-url", fake.url.parse().unwrap());
        let caller = password.authenticate(&request, Some("p1")).await.unwrap();
        assert_eq!(caller.auth_url, fake.url);
        assert_eq!(fake.token_key().logins.len(), 1);
    }
}
