//! Event streams end with the tokens that they were opened with.

use super::fake::{Fake, at};
use super::keystone;
use crate::counting_store::CountingStore;
use crate::streams::{api, read_until_it_waits, wait_for_end, waiting_stack};
use crate::test_api::TestApi;
use axum::body::Body;
use kiln_api::Options;
use kiln_api::auth::{Keystone, RevocationPoll};
use kiln_api::policy::Policy;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// An API whose callers have tokens of this identity service, and a stream that is open.
async fn opened(fake: &Fake) -> (Arc<Keystone>, TestApi, Body) {
    let keystone = Arc::new(keystone(fake));
    let options =
        Options { stream_check_interval: Duration::from_millis(10), ..Options::default() };
    let api = api(Arc::new(CountingStore::default()), keystone.clone(), options);
    let url = waiting_stack(&api, "t1", "p1").await;
    let mut body = api.open_stream("t1", &url, None).await.into_body();
    read_until_it_waits(&mut body).await;
    (keystone, api, body)
}

#[tokio::test]
async fn a_stream_ends_when_its_token_is_revoked() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["member", "reader"], 3600);
    let (keystone, _api, mut body) = opened(&fake).await;
    fake.token_key().tokens.remove("t1");
    let moment = at(1).to_string();
    fake.token_key().events = vec![json!({ "audit_id": "audit-of-bob", "issued_before": moment })];
    assert_eq!(keystone.poll_revocations().await, RevocationPoll::Dropped(1));
    wait_for_end(&mut body).await;
}

#[tokio::test]
async fn a_stream_ends_when_its_token_expires() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["member", "reader"], 100);
    let (_keystone, _api, mut body) = opened(&fake).await;
    fake.set_time(101);
    wait_for_end(&mut body).await;
}

/// The stack is there and its token is good, but the operator no longer lets the user see its events.
#[tokio::test]
async fn a_stream_ends_when_the_policy_hides_its_stack() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["member", "reader"], 3600);
    let (_keystone, api, mut body) = opened(&fake).await;
    let denying = Policy::load("policy.yaml", "'events:index': '!'", Default::default());
    api.app.policy.replace(denying.expect("a policy"));
    wait_for_end(&mut body).await;
}
