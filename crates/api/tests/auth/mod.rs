//! Authentication, against a fake identity service.

mod fake;
mod others;
mod password;
mod revocations;
mod secrets;
mod service_tokens;
mod signature;
mod streams;
mod tokens;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::IntoResponse;
use fake::Fake;
use kiln_api::auth::{AuthScope, EntityRef, IdentityClient, Keystone, Login, Rejection, Settings};
use kiln_template::{Secret, Value};

/// Headers of a request.
fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let header = |(name, value): &(&str, &str)| {
        (HeaderName::try_from(*name).unwrap(), HeaderValue::try_from(*value).unwrap())
    };
    pairs.iter().map(header).collect()
}

fn secret(text: &str) -> Secret {
    Secret::new(Value::text(text))
}

/// Kiln's own account at the fake.
fn own_login(password: &str) -> Login {
    let in_domain =
        |name: &str| EntityRef::NameInDomainId { name: name.into(), domain_id: "default".into() };
    Login {
        user: in_domain("kiln"),
        password: secret(password),
        scope: AuthScope::Project(in_domain("service")),
    }
}

fn settings() -> Settings {
    Settings {
        www_authenticate_uri: "http://identity.example:5000".into(),
        auth_url: kiln_api::auth::AuthUrl::fixed("http://identity.example:5000/v3"),
        ..Settings::default()
    }
}

fn keystone_with(fake: &Fake, settings: Settings) -> Keystone {
    let identity = IdentityClient::new(crate::client(), &fake.url);
    Keystone::new(identity, own_login("own-password"), settings, fake.clock())
}

fn keystone(fake: &Fake) -> Keystone {
    keystone_with(fake, settings())
}

/// A refusal as a client sees it: status, challenge, type and body.
async fn seen(rejection: Rejection) -> (StatusCode, Option<String>, String, String) {
    let response = rejection.into_response();
    let header = |name| response.headers().get(name).map(|v| v.to_str().unwrap().to_owned());
    let (challenge, kind) =
        (header("www-authenticate"), header("content-type").unwrap_or_default());
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, challenge, kind, String::from_utf8(body.to_vec()).unwrap())
}
