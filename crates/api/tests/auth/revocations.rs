//! Tokens that are ended before their time.

use super::fake::{Fake, at};
use super::{headers, keystone, keystone_with, settings};
use kiln_api::auth::{Authenticator, Keystone, RevocationPoll, Settings};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

async fn gets_in(keystone: &Keystone, token: &str) -> bool {
    keystone.authenticate(&headers(&[("x-auth-token", token)]), None).await.is_ok()
}

#[tokio::test]
async fn revoked_tokens_are_forgotten() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["reader"], 3600);
    fake.give("t2", "eve", &["reader"], 3600);
    let keystone = keystone(&fake);
    assert_eq!(keystone.poll_revocations().await, RevocationPoll::Idle);
    assert!(fake.token_key().since.is_empty());
    assert!(gets_in(&keystone, "t1").await && gets_in(&keystone, "t2").await);
    assert_eq!(keystone.poll_revocations().await, RevocationPoll::Dropped(0));
    fake.token_key().tokens.remove("t1");
    assert!(gets_in(&keystone, "t1").await);
    let moment = at(1).to_string();
    fake.token_key().events = vec![json!({ "audit_id": "audit-of-bob", "issued_before": moment })];
    assert_eq!(keystone.poll_revocations().await, RevocationPoll::Dropped(1));
    assert!(!gets_in(&keystone, "t1").await);
    let before = fake.token_key().validations;
    assert!(gets_in(&keystone, "t2").await);
    assert_eq!(fake.token_key().validations, before);
}

#[tokio::test]
async fn events_are_asked_for_since_the_last_time_and_a_little_before() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["reader"], 3600);
    let keystone = keystone(&fake);
    assert!(gets_in(&keystone, "t1").await);
    keystone.poll_revocations().await;
    fake.set_time(100);
    keystone.poll_revocations().await;
    fake.set_time(105);
    keystone.poll_revocations().await;
    let since: Vec<_> = [-360, -60, 40].map(|seconds| at(seconds).to_string()).into();
    assert_eq!(fake.token_key().since, since);
    // No token is cached any more, so the service is not asked.
    fake.set_time(300);
    assert_eq!(keystone.poll_revocations().await, RevocationPoll::Idle);
    assert_eq!(fake.token_key().since, since);
}

#[tokio::test]
async fn where_events_are_not_told_tokens_stay_for_their_full_time() {
    for status in [404, 403] {
        let fake = Fake::start().await;
        fake.give("t1", "bob", &["reader"], 7200);
        let settings = Settings { cache_time: Duration::from_secs(3600), ..settings() };
        let keystone = keystone_with(&fake, settings);
        fake.token_key().events_status = status;
        assert!(gets_in(&keystone, "t1").await);
        for _ in 0..3 {
            assert_eq!(keystone.poll_revocations().await, RevocationPoll::Unsupported);
        }
        assert_eq!(fake.token_key().since.len(), 1);
        assert!(gets_in(&keystone, "t1").await);
        assert_eq!(fake.token_key().validations, 1);
        // Operators mend things: it is tried again after ten minutes.
        fake.token_key().events_status = 200;
        fake.set_time(600);
        assert_eq!(keystone.poll_revocations().await, RevocationPoll::Dropped(0));
    }
}

#[tokio::test]
async fn what_was_missed_while_the_service_was_ill_is_asked_for_later() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["reader"], 3600);
    let keystone = keystone(&fake);
    assert!(gets_in(&keystone, "t1").await);
    keystone.poll_revocations().await;
    fake.token_key().events_status = 500;
    fake.set_time(100);
    assert_eq!(keystone.poll_revocations().await, RevocationPoll::Failed);
    fake.token_key().events_status = 200;
    fake.end_own();
    fake.set_time(200);
    assert_eq!(keystone.poll_revocations().await, RevocationPoll::Dropped(0));
    let since = fake.token_key().since.clone();
    assert_eq!(since[1..], vec![at(-60).to_string(); 3]);
}

#[tokio::test]
async fn the_watch_looks_by_itself() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["reader"], 3600);
    let settings = Settings { revocation_interval: Duration::from_millis(1), ..settings() };
    let keystone = Arc::new(keystone_with(&fake, settings));
    let watch = tokio::spawn({
        let keystone = keystone.clone();
        async move { keystone.watch().await }
    });
    assert!(gets_in(&keystone, "t1").await);
    fake.token_key().tokens.clear();
    fake.token_key().events = vec![json!({ "user_id": "id-of-bob" })];
    while gets_in(&keystone, "t1").await {
        tokio::task::yield_now().await;
    }
    watch.abort();
}

#[tokio::test]
async fn the_watch_can_be_switched_off() {
    let fake = Fake::start().await;
    let settings = Settings { revocation_interval: Duration::ZERO, ..settings() };
    keystone_with(&fake, settings).watch().await;
}
