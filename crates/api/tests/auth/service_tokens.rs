//! Services that ask on behalf of users whose tokens have ended.

use super::fake::Fake;
use super::{headers, keystone};
use kiln_api::auth::{Authenticator, Reason};

#[tokio::test]
async fn a_service_may_bring_a_token_that_has_ended() {
    let fake = Fake::start().await;
    fake.give("over", "bob", &["member"], 10);
    fake.give("service", "nova", &["service", "reader"], 3600);
    fake.give("user", "eve", &["member"], 3600);
    let keystone = keystone(&fake);
    fake.set_time(20);
    let request = async |service: Option<&str>| {
        let mut request = headers(&[("x-auth-token", "over")]);
        if let Some(service) = service {
            request.insert("x-service-token", service.parse().unwrap());
        }
        keystone.authenticate(&request, None).await
    };
    assert!(request(None).await.is_err());
    let caller = request(Some("service")).await.unwrap();
    assert_eq!(
        (caller.user_id.as_str(), caller.roles.as_slice()),
        ("id-of-bob", &["member".into()][..])
    );
    assert_eq!(caller.service_roles, ["service", "reader"]);
    // It is not remembered: without the service it is still over.
    assert!(request(None).await.is_err());
    let before = fake.token_key().validations;
    assert!(request(Some("service")).await.is_ok());
    assert_eq!(fake.token_key().validations, before + 1);
    // Not every token is one of a service, and one that is not valid is none.
    for wrong in ["user", "made-up"] {
        let rejection = request(Some(wrong)).await.unwrap_err();
        assert!(matches!(rejection.reason, Reason::Token(_)), "{wrong}");
    }
}

#[tokio::test]
async fn a_wrong_service_token_is_refused_even_with_a_valid_token() {
    let fake = Fake::start().await;
    fake.give("t1", "bob", &["member"], 3600);
    fake.give("user", "eve", &["member"], 3600);
    let keystone = keystone(&fake);
    for service in ["user", "made-up"] {
        let request = headers(&[("x-auth-token", "t1"), ("x-service-token", service)]);
        assert!(keystone.authenticate(&request, None).await.is_err(), "{service}");
    }
    let alone = headers(&[("x-service-token", "t1")]);
    assert!(keystone.authenticate(&alone, None).await.is_err());
}
