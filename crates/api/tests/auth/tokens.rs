//! Tokens.

use super::fake::{Fake, at};
use super::{headers, keystone, keystone_with, own_login, seen, settings};
use axum::http::StatusCode;
use kiln_api::auth::{Authenticator, IdentityClient, Keystone, Reason, Settings};
use kiln_api::caller::Scope;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const REFUSED: &str = "{\"error\": {\"code\": 401, \"title\": \"Unauthorized\", \"message\": \"The request you \
                       have made requires authentication.\"}}";

#[tokio::test]
async fn a_caller_is_what_the_token_says() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["member", "reader"], 3600);
    let keystone = keystone(&fake);
    let request = [
        ("x-auth-token", "t1"),
        ("x-region-name", "North"),
        ("x-auth-user", "bobby"),
        ("x-auth-key", "for later"),
        ("x-auth-url", "http://evil.example"),
    ];
    let caller = keystone.authenticate(&headers(&request), Some("p1")).await.unwrap();
    assert_eq!((caller.user_id.as_str(), caller.user_name.as_str()), ("id-of-bob", "bob"));
    assert_eq!((caller.project_id.as_str(), caller.project_name.as_str()), ("p1", "demo"));
    assert_eq!(caller.scope, Scope::Project);
    assert_eq!(caller.roles, ["member", "reader"]);
    assert_eq!(caller.role_ids, ["id-of-member", "id-of-reader"]);
    assert!(caller.is_admin_project);
    assert_eq!(*caller.catalog, json!([{ "type": "orchestration", "endpoints": [] }]));
    assert_eq!(caller.token.unwrap().expose().as_text().unwrap().as_ref(), "t1");
    assert_eq!(caller.region.as_deref(), Some("North"));
    assert_eq!(caller.login_name.as_deref(), Some("bobby"));
    assert_eq!(caller.password.unwrap().expose().as_text().unwrap().as_ref(), "for later");
    assert_eq!(caller.auth_url, "http://identity.example:5000/v3");
}

#[tokio::test]
async fn what_clients_say_of_themselves_is_not_believed() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["reader"], 3600);
    let keystone = keystone(&fake);
    let lies = [
        ("x-identity-status", "Confirmed"),
        ("x-service-identity-status", "Confirmed"),
        ("x-user-id", "root"),
        ("x-user-name", "root"),
        ("x-user", "root"),
        ("x-user-domain-id", "root"),
        ("x-project-id", "other"),
        ("x-project-name", "other"),
        ("x-project-domain-id", "other"),
        ("x-tenant-id", "other"),
        ("x-tenant-name", "other"),
        ("x-tenant", "other"),
        ("x-domain-id", "other"),
        ("openstack-system-scope", "all"),
        ("x-roles", "admin"),
        ("x-role", "admin"),
        ("x-service-roles", "service"),
        ("x-is-admin-project", "True"),
        ("x-service-catalog", "[]"),
    ];
    let rejection = keystone.authenticate(&headers(&lies), Some("other")).await.unwrap_err();
    assert_eq!(rejection.status(), StatusCode::UNAUTHORIZED);
    let honest = keystone.authenticate(&headers(&[("x-auth-token", "t1")]), None).await.unwrap();
    let mut request = headers(&lies);
    request.insert("x-auth-token", "t1".parse().unwrap());
    let liar = keystone.authenticate(&request, Some("other")).await.unwrap();
    assert_eq!(format!("{liar:?}"), format!("{honest:?}"));
}

#[tokio::test]
async fn without_a_valid_token_nobody_gets_in() {
    let fake = Fake::start().await;
    fake.give("over", "bob", &["reader"], 0);
    let keystone = keystone(&fake);
    let long = "x".repeat(20_000);
    for request in [
        headers(&[("accept", "text/html")]),
        headers(&[("x-auth-token", "")]),
        headers(&[("x-auth-token", "made-up")]),
        headers(&[("x-auth-token", "over")]),
        headers(&[("x-auth-token", &long)]),
        headers(&[("x-auth-user", "ann"), ("x-auth-key", "ann-password")]),
    ] {
        let rejection = keystone.authenticate(&request, Some("p1")).await.unwrap_err();
        let (status, challenge, kind, body) = seen(rejection).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
        assert_eq!(challenge.as_deref(), Some("Keystone uri=\"http://identity.example:5000\""));
        assert_eq!((kind.as_str(), body.as_str()), ("application/json", REFUSED));
    }
    assert_eq!(fake.token_key().validations, 2);
}

#[tokio::test]
async fn tokens_are_remembered_for_a_while_but_not_beyond_their_end() {
    let fake = Fake::start().await;
    fake.give("long", "bob", &["reader"], 3600);
    fake.give("short", "bob", &["reader"], 100);
    let keystone = keystone(&fake);
    let request = async |token: &str| {
        let answer = keystone.authenticate(&headers(&[("x-auth-token", token)]), None).await;
        (answer.is_ok(), fake.token_key().validations)
    };
    assert_eq!(request("long").await, (true, 1));
    assert_eq!(request("short").await, (true, 2));
    fake.set_time(99);
    assert_eq!(request("long").await, (true, 2));
    assert_eq!(request("short").await, (true, 2));
    fake.set_time(100);
    assert_eq!(request("short").await, (false, 3));
    fake.set_time(299);
    assert_eq!(request("long").await, (true, 3));
    fake.set_time(300);
    assert_eq!(request("long").await, (true, 4));
    assert_eq!(fake.token_key().logins.len(), 1);
}

#[tokio::test]
async fn a_clock_that_is_behind_does_not_make_tokens_live_longer() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["reader"], 60);
    let behind = fake.clock();
    let clock = Arc::new(move || behind() - Duration::from_secs(200));
    let identity = IdentityClient::new(crate::client(), &fake.url);
    let keystone = Keystone::new(identity, own_login("own-password"), settings(), clock);
    let request = headers(&[("x-auth-token", "t1")]);
    assert!(keystone.authenticate(&request, None).await.is_ok());
    fake.set_time(60);
    assert!(keystone.authenticate(&request, None).await.is_err());
}

#[tokio::test]
async fn a_burst_of_one_client_is_one_question() {
    let fake = Arc::new(Fake::start().await);
    fake.give("t1", "bob", &["reader"], 3600);
    fake.hold();
    let keystone = Arc::new(keystone(&fake));
    let request = |token: &'static str| {
        let keystone = keystone.clone();
        tokio::spawn(async move {
            keystone.authenticate(&headers(&[("x-auth-token", token)]), None).await.is_ok()
        })
    };
    let burst: Vec<_> = (0..50).map(|_| request("t1")).collect();
    let strangers: Vec<_> = (0..50).map(|_| request("made-up")).collect();
    while fake.token_key().validations < 2 {
        tokio::task::yield_now().await;
    }
    fake.release();
    for answer in burst {
        assert!(answer.await.unwrap());
    }
    for answer in strangers {
        assert!(!answer.await.unwrap());
    }
    assert_eq!(fake.counts(), (2, 1));
}

#[tokio::test]
async fn that_a_token_is_not_valid_is_remembered_shortly() {
    let fake = Fake::start().await;
    let keystone = keystone(&fake);
    let request = headers(&[("x-auth-token", "t1")]);
    for _ in 0..3 {
        assert!(keystone.authenticate(&request, None).await.is_err());
    }
    assert_eq!(fake.token_key().validations, 1);
    fake.give("t1", "bob", &["reader"], 3600);
    fake.set_time(5);
    assert!(keystone.authenticate(&request, None).await.is_ok());
}

#[tokio::test]
async fn made_up_tokens_do_not_push_valid_ones_out() {
    let fake = Fake::start().await;
    for token in ["t1", "t2", "t3"] {
        fake.give(token, "bob", &["reader"], 3600);
    }
    let keystone = keystone_with(&fake, Settings { cache_size: 2, ..settings() });
    let request = async |token: String| {
        keystone.authenticate(&headers(&[("x-auth-token", &token)]), None).await.is_ok()
    };
    assert!(request("t1".into()).await && request("t2".into()).await);
    for n in 0..20 {
        assert!(!request(format!("made-up-{n}")).await);
    }
    let before = fake.token_key().validations;
    assert!(request("t1".into()).await && request("t2".into()).await);
    assert_eq!(fake.token_key().validations, before);
    // The oldest goes first.
    assert!(request("t3".into()).await && request("t2".into()).await);
    assert_eq!(fake.token_key().validations, before + 1);
    assert!(request("t1".into()).await);
    assert_eq!(fake.token_key().validations, before + 2);
}

#[tokio::test]
async fn nothing_is_remembered_where_it_is_switched_off() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["reader"], 3600);
    let keystone = keystone_with(&fake, Settings { cache_time: Duration::ZERO, ..settings() });
    for n in 1..4 {
        assert!(keystone.authenticate(&headers(&[("x-auth-token", "t1")]), None).await.is_ok());
        assert_eq!(fake.token_key().validations, n);
    }
}

#[tokio::test]
async fn our_own_login_is_renewed() {
    let fake = Fake::start().await;
    for token in ["t1", "t2", "t3"] {
        fake.give(token, "bob", &["reader"], 100_000);
    }
    let keystone = keystone(&fake);
    let request = async |token: &str| {
        keystone.authenticate(&headers(&[("x-auth-token", token)]), None).await.is_ok()
    };
    assert!(request("t1").await);
    // The identity service forgot it.
    fake.end_own();
    assert!(request("t2").await);
    assert_eq!(fake.counts(), (3, 2));
    // It ends by itself: 3600 seconds, renewed a minute before.
    fake.set_time(3540);
    assert!(request("t3").await);
    assert_eq!(fake.counts(), (4, 3));
    let scope = &fake.token_key().logins[0]["auth"]["scope"];
    assert_eq!(*scope, json!({ "project": { "name": "service", "domain": { "id": "default" } } }));
}

#[tokio::test]
async fn if_the_identity_service_refuses_our_own_login_it_is_not_pestered() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["reader"], 3600);
    let identity = IdentityClient::new(crate::client(), &fake.url);
    let keystone = Keystone::new(identity, own_login("wrong"), settings(), fake.clock());
    let request = headers(&[("x-auth-token", "t1")]);
    for _ in 0..3 {
        let rejection = keystone.authenticate(&request, None).await.unwrap_err();
        assert_eq!(rejection.reason, Reason::Unavailable);
    }
    assert_eq!(fake.token_key().logins.len(), 1);
    fake.token_key().passwords.insert("kiln".into(), "wrong".into());
    fake.set_time(10);
    assert!(keystone.authenticate(&request, None).await.is_ok());
}

#[tokio::test]
async fn if_the_identity_service_cannot_be_asked_the_answer_is_503() {
    let mut fake = Fake::start().await;
    fake.give("t1", "bob", &["reader"], 3600);
    let keystone = keystone(&fake);
    let token_key = headers(&[("x-auth-token", "t1")]);
    assert!(keystone.authenticate(&token_key, None).await.is_ok());
    fake.stop().await;
    let request = headers(&[("x-auth-token", "t2"), ("accept", "application/json")]);
    let rejection = keystone.authenticate(&request, None).await.unwrap_err();
    let (status, challenge, kind, body) = seen(rejection).await;
    assert_eq!((status, challenge), (StatusCode::SERVICE_UNAVAILABLE, None));
    assert_eq!(kind, "application/json");
    assert_eq!(
        body,
        "{\"message\": \"The server is currently unavailable. Please try again at a later time.<br /><br \
         />\\nThe Keystone service is temporarily unavailable.\\n\\n\", \"code\": \"503 Service Unavailable\", \
         \"title\": \"Service Unavailable\"}"
    );
    // A cached token is accepted nevertheless.
    assert!(keystone.authenticate(&token_key, None).await.is_ok());
}

#[tokio::test]
async fn an_identity_service_that_does_not_answer_is_not_waited_for() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["reader"], 3600);
    let identity = IdentityClient::new(crate::client(), &fake.url);
    let identity = identity.timeout(Duration::from_millis(200));
    let keystone = Keystone::new(identity, own_login("own-password"), settings(), fake.clock());
    fake.hold();
    let rejection =
        keystone.authenticate(&headers(&[("x-auth-token", "t1")]), None).await.unwrap_err();
    assert_eq!(rejection.reason, Reason::Unavailable);
    assert_eq!(fake.token_key().now, at(0));
}
