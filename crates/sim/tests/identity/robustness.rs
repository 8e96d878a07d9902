//! No request crashes the service, and none is answered with an internal error.

use axum::body::Body;
use axum::http::Request;
use kiln_sim::identity::{project_id, user_id};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::test_identity::TestIdentity;

/// Segments of paths, chosen so that most paths exist.
const PATHS: &[&str] = &[
    "OS-REVOKE/events",
    "OS-TRUST/trusts",
    "OS-TRUST/trusts/ID",
    "OS-TRUST/trusts/ID/roles",
    "OS-TRUST/trusts/ID/roles/ID",
    "auth/catalog",
    "auth/domains",
    "auth/projects",
    "auth/system",
    "auth/tokens",
    "credentials",
    "credentials/ID",
    "domains",
    "domains/ID",
    "domains/ID/groups/ID/roles",
    "domains/ID/groups/ID/roles/ID",
    "domains/ID/users/ID/roles",
    "domains/ID/users/ID/roles/ID",
    "ec2tokens",
    "endpoints",
    "endpoints/ID",
    "groups",
    "groups/ID",
    "groups/ID/users",
    "groups/ID/users/ID",
    "projects",
    "projects/ID",
    "projects/ID/groups/ID/roles",
    "projects/ID/groups/ID/roles/ID",
    "projects/ID/users/ID/roles",
    "projects/ID/users/ID/roles/ID",
    "regions",
    "regions/ID",
    "role_assignments",
    "role_inferences",
    "roles",
    "roles/ID",
    "roles/ID/implies",
    "roles/ID/implies/ID",
    "services",
    "services/ID",
    "system/users/ID/roles",
    "system/users/ID/roles/ID",
    "users",
    "users/ID",
    "users/ID/application_credentials",
    "users/ID/application_credentials/ID",
    "users/ID/credentials/OS-EC2",
    "users/ID/credentials/OS-EC2/ID",
    "users/ID/groups",
    "users/ID/password",
    "users/ID/projects",
];

/// Words for bodies.
const KEYS: &[&str] = &[
    "access",
    "allow_redelegation",
    "application_credential",
    "auth",
    "blob",
    "body_hash",
    "credential",
    "credentials",
    "default_project_id",
    "description",
    "domain",
    "domain_id",
    "ec2Credentials",
    "enabled",
    "endpoint",
    "expires_at",
    "headers",
    "host",
    "id",
    "identity",
    "impersonation",
    "interface",
    "methods",
    "name",
    "options",
    "OS-TRUST:trust",
    "params",
    "parent_id",
    "parent_region_id",
    "password",
    "path",
    "project",
    "project_id",
    "region",
    "region_id",
    "remaining_uses",
    "role",
    "roles",
    "scope",
    "secret",
    "service",
    "service_id",
    "signature",
    "system",
    "tags",
    "tenant_id",
    "token",
    "trust",
    "trustee_user_id",
    "trustor_user_id",
    "type",
    "unrestricted",
    "url",
    "user",
    "user_id",
    "verb",
    "Authorization",
    "X-Amz-Date",
    "SignatureVersion",
    "X-Amz-Algorithm",
];

fn word() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "admin".to_owned(),
        "demo".to_owned(),
        "default".to_owned(),
        "password".to_owned(),
        "token".to_owned(),
        "application_credential".to_owned(),
        "ec2".to_owned(),
        "public".to_owned(),
        "2".to_owned(),
        "AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=x".to_owned(),
        "{\"access\":\"a\"}".to_owned(),
        "http://h/%(project_id)s".to_owned(),
        "http://h/%(".to_owned(),
        "2035-01-01T00:00:00Z".to_owned(),
        "RegionOne".to_owned(),
        user_id("demo"),
        user_id("admin"),
        project_id("demo"),
    ]);
    prop_oneof![4 => known, 1 => ".{0,20}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let key =
            prop_oneof![8 => prop::sample::select(KEYS).prop_map(str::to_owned), 1 => ".{0,8}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn body_for(path: &str, inner: Value) -> Value {
    let key = match path.split('/').find(|part| *part != "ID" && *part != "v3").unwrap_or("x") {
        "auth" => "auth",
        "OS-TRUST" => "trust",
        "users" if path.contains("application_credentials") => "application_credential",
        other => other.trim_end_matches('s'),
    };
    json!({ key: inner })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn requests_made_of_known_words(
        asks in prop::collection::vec(
            (prop::sample::select(PATHS), prop::sample::select(vec!["GET", "POST", "PUT", "PATCH", "DELETE"]),
             word(), word(), value(), any::<bool>(), 0..4_usize), 40),
    ) {
        let service = TestIdentity::new();
        let tokens = [service.admin(), service.demo(), service.domain_admin(), String::new()];
        for (path, method, first, second, inner, wrapped, who) in asks {
            let plain = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
            let path = path.replacen("ID", &plain(&first), 1).replacen("ID", &plain(&second), 1);
            let body = if wrapped { body_for(&path, inner) } else { inner };
            let path = format!("/v3/{path}?{}={}&limit={}", "name", plain(&second), second.len());
            let answer = service.ask_about(method, &path, &tokens[who], &tokens[first.len() % 4], body);
            prop_assert!(answer.status < 500, "{} {}: {}", method, path, answer.text);
        }
    }

    #[test]
    fn requests_made_of_anything(path in "/[ -~]{0,40}", body in prop::collection::vec(any::<u8>(), 0..200)) {
        let service = TestIdentity::new();
        let Ok(request) = Request::post(&path).header("X-Auth-Token", "é").body(Body::from(body)) else {
            return Ok(());
        };
        let answer = service.send(request);
        prop_assert!((300..500).contains(&answer.status));
    }
}
