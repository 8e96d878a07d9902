//! Tokens and passwords are seen nowhere: not in what is printed for debugging, not in logs, not in refusals.

use super::fake::Fake;
use super::{headers, keystone, own_login, seen, settings};
use kiln_api::auth::{AuthUrl, Authenticator, IdentityClient, Keystone, NoAuth, Password};
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Everything that is logged, as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{field}={value:?}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn secrets_are_seen_nowhere() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let mut text = String::new();
    let mut fake = Fake::start().await;
    fake.give("canary-token", "bob", &["reader"], 3600);
    fake.token_key().passwords.insert("canary-user".into(), "canary-key".into());
    let request = headers(&[
        ("x-auth-token", "canary-token"),
        ("x-auth-user", "canary-user"),
        ("x-auth-key", "canary-key"),
    ]);
    let wrong = headers(&[
        ("x-auth-token", "canary-wrong-token"),
        ("x-service-token", "canary-service"),
        ("x-auth-user", "ann"),
        ("x-auth-key", "canary-wrong-key"),
    ]);
    let identity = || IdentityClient::new(crate::client(), &fake.url);
    let keystone = keystone(&fake);
    let refusing = Keystone::new(identity(), own_login("canary-own"), settings(), fake.clock());
    let auth_url = AuthUrl::fixed(&fake.url);
    let password =
        Password::new(identity(), auth_url, Duration::from_secs(5), fake.clock()).unwrap();
    let ways: [&dyn Authenticator; 4] = [&keystone, &refusing, &password, &NoAuth::default()];
    writeln!(text, "{:?} {:?} {:?}", own_login("canary-own"), settings(), identity()).unwrap();
    for round in 0..2 {
        for way in ways {
            for request in [&request, &wrong] {
                match way.authenticate(request, Some("p1")).await {
                    Ok(caller) => writeln!(text, "{:?}", caller).unwrap(),
                    Err(rejection) => {
                        writeln!(text, "{rejection:?}").unwrap();
                        writeln!(text, "{:?}", seen(rejection).await).unwrap();
                    }
                }
            }
        }
        keystone.poll_revocations().await;
        if round == 0 {
            fake.stop().await;
            fake.set_time(10_000);
        }
    }
    text.push_str(&log.0.lock().unwrap());
    // The name that was sent along is no secret, and shows that there is something to be seen.
    let shown = text.replace("canary-user", "USER");
    assert!(
        shown.contains("USER")
            && shown.contains("******")
            && shown.contains("refuses the login of the service account")
    );
    assert!(!shown.contains("canary"), "{shown}");
    assert!(!shown.contains("of-canary") && !shown.contains("own-password"), "{shown}");
}
