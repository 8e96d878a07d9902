//! Requests that are signed: who examines them, and in which order.

use super::fake::Fake;
use super::{headers, keystone, own_login};
use kiln_api::auth::{Authenticator, IdentityClient, NoAuth, SignatureAuth, SignatureError};
use serde_json::{Value, json};
use std::sync::Arc;

fn signed_request(access: &str, signature: &str) -> Value {
    json!({ "ec2Credentials": { "access": access, "signature": signature } })
}

/// Asks identity services, one after the other.
fn asking(fakes: &[&Fake]) -> SignatureAuth {
    let nobody = SignatureAuth::beside(Arc::new(NoAuth::default()));
    fakes.iter().fold(nobody, |signed, fake| {
        let identity = IdentityClient::new(crate::client(), &fake.url);
        signed.asking(identity, own_login("own-password"), &fake.url, fake.clock())
    })
}

#[tokio::test]
async fn whoever_signed_a_request_has_a_token_from_then_on() {
    let fake = Fake::start().await;
    fake.token_key().keys.insert("k1".into(), ("good".into(), "ann".into()));
    let keystone = keystone(&fake);
    let caller = keystone.authenticate_signed(&signed_request("k1", "good")).await.unwrap();
    assert_eq!((caller.user_name.as_str(), caller.project_id.as_str()), ("ann", "p1"));
    let token = caller.token.as_ref().and_then(|token| token.expose().as_text().cloned());
    assert_eq!(token.as_deref(), Some("token-for-k1"));
    assert_eq!(caller.auth_url, "http://identity.example:5000/v3");
    let why = |result: Result<_, SignatureError>| {
        result.map(|_: kiln_api::caller::Caller| ()).unwrap_err()
    };
    assert_eq!(
        why(keystone.authenticate_signed(&signed_request("k1", "bad")).await),
        SignatureError::Wrong
    );
    assert_eq!(
        why(keystone.authenticate_signed(&signed_request("k2", "good")).await),
        SignatureError::UnknownKey
    );
    // The client does not notice that the service account has to log in again.
    fake.end_own();
    assert!(keystone.authenticate_signed(&signed_request("k1", "good")).await.is_ok());
}

#[tokio::test]
async fn several_clouds_are_asked_in_turn() {
    let (mut first, second) = (Fake::start().await, Fake::start().await);
    first.token_key().keys.insert("k1".into(), ("good".into(), "ann".into()));
    second.token_key().keys.insert("k2".into(), ("good".into(), "bob".into()));
    let signed = asking(&[&first, &second]);
    let ann = signed.authenticate_signed(&signed_request("k1", "good")).await.unwrap();
    assert_eq!((ann.user_name.as_str(), &ann.auth_url), ("ann", &first.url));
    assert_eq!(second.counts(), (0, 0), "it need not be asked");
    let bob = signed.authenticate_signed(&signed_request("k2", "good")).await.unwrap();
    assert_eq!((bob.user_name.as_str(), &bob.auth_url), ("bob", &second.url));
    let why =
        signed.authenticate_signed(&signed_request("k2", "bad")).await.map(|_| ()).unwrap_err();
    assert_eq!(why, SignatureError::Wrong, "the last one's word counts");
    first.stop().await;
    assert!(signed.authenticate_signed(&signed_request("k2", "good")).await.is_ok());
}

#[tokio::test]
async fn whoever_signs_nothing_is_known_by_other_means() {
    let signed = asking(&[]);
    let caller = signed.authenticate(&headers(&[("x-auth-user", "ann")]), None).await.unwrap();
    assert_eq!(caller.user_name, "ann");
    let why =
        signed.authenticate_signed(&signed_request("k1", "good")).await.map(|_| ()).unwrap_err();
    assert_eq!(why, SignatureError::Unsupported);
}
