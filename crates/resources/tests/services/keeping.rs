//! What keeps data: the object store, the key manager, shares.

use super::rest::Rest;
use super::{drive, kind, made, refusal, update};
use crate::driving::{Seam, World};
use kiln_cloud::{Call, CallError, Method, Reply};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::Value;
use serde_json::{Value as Json, json};

// --- object store ---

#[test]
fn a_container_that_is_not_empty_is_emptied_at_once_or_kept() {
    /// A store with a container of three objects.
    struct Store(Vec<&'static str>, Vec<String>);
    impl World for Store {
        fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
            self.1.push(format!("{} {}", call.request.method, call.request.path));
            let ok = |body| Ok(Reply::new(200, body));
            match (call.request.method, call.request.path.checked().expect("a path")) {
                (Method::Delete, "/c") if !self.0.is_empty() => {
                    Err(CallError::Refused(Reply::new(409, Json::Null)))
                }
                (Method::Get, "/c") => {
                    ok(self.0.iter().map(|name| json!({ "name": name })).collect::<Json>())
                }
                (Method::Post, "") => {
                    assert_eq!(call.request.body, Some("/c/a\n/c/b/c\n/c/d%20e".into()));
                    self.0.clear();
                    ok(json!({ "Number Deleted": 3 }))
                }
                _ => ok(Json::Null),
            }
        }
    }
    let name = "OS::Swift::Container";
    for is_purged in [true, false] {
        let mut store = Store(vec!["a", "b/c", "d e"], Vec::new());
        let mut drive = drive(kind(name), &format!(r#"{{"PurgeOnDelete": {is_purged}}}"#));
        drive.context.physical_id = Some("c".into());
        drive.run(kind(name), OperationKind::Delete, &mut store);
        if is_purged {
            assert_eq!(drive.result(), &Ok(()));
            assert_eq!(store.1, ["DELETE /c", "GET /c", "POST ", "GET /c", "DELETE /c"]);
        } else {
            let told = "ResourceActionNotSupported: Deleting non-empty container (c) when PurgeOnDelete is \
                        False is not supported for resource.";
            assert_eq!(drive.failure(), told);
        }
    }
}

// --- key manager ---

#[test]
fn an_order_tells_what_was_made_of_it() {
    let container = json!({ "secret_refs": [
        { "name": "private_key", "secret_ref": "http://key/v1/secrets/1" },
        { "name": "other", "secret_ref": "http://key/v1/secrets/2" },
    ]});
    let name = "OS::Barbican::Order";
    let mut world = Rest::of(kind(name).behaviour.rest.as_deref());
    world.addresses = Some("http://key/v1");
    let order = json!({ "status": "ACTIVE", "container_ref": "http://key/v1/containers/7" });
    world.answers = vec![
        (Method::Get, "/orders/", order),
        (Method::Get, "/containers/7", container),
        (Method::Get, "/secrets/1/payload", json!("pem")),
    ];
    let properties = r#"{"type": "asymmetric", "algorithm": "rsa", "bit_length": 2048}"#;
    let drive = made(name, properties, &mut world);
    assert_eq!(drive.context.physical_id.as_deref(), Some("http://key/v1/orders/made-1"));
    let shown = drive.shown.as_map().expect("something is shown");
    let Some(Value::Secret(key)) = shown.get("private_key") else { panic!("no key: {shown:?}") };
    assert_eq!(key.expose(), &Value::from("pem"));
    let sent = world.only("/orders");
    assert_eq!(sent["meta"]["name"], "stack-x-abcdefghijkl");
    assert_eq!(sent["type"], "asymmetric");
}

#[test]
fn an_order_that_fails_is_not_tried_again() {
    let name = "OS::Barbican::Order";
    let mut world = Rest::of(kind(name).behaviour.rest.as_deref());
    let broken =
        json!({ "status": "ERROR", "error_status_code": "400", "error_reason": "no such" });
    world.answers = vec![(Method::Get, "/orders/", broken)];
    let drive = made(name, r#"{"type": "key", "algorithm": "x", "bit_length": 1}"#, &mut world);
    assert_eq!(drive.what_failed(), "Error: Order 'x' failed: 400 - no such");
}

#[test]
fn secrets_are_what_they_are_said_to_be() {
    let secret = |rest: &str| refusal("OS::Barbican::Secret", rest);
    let binary = r#""payload_content_type": "application/octet-stream""#;
    assert_eq!(
        secret(r#"{"payload_content_type": "text/plain"}"#).as_deref(),
        Some("payload_content_type cannot be specified without payload.")
    );
    assert!(secret(&format!(r#"{{"payload": "YQ==", {binary}}}"#)).is_some(), "no encoding");
    let encoded = r#""payload_content_encoding": "base64""#;
    assert!(secret(&format!(r#"{{"payload": "Y!", {binary}, {encoded}}}"#)).is_some());
    assert_eq!(secret(&format!(r#"{{"payload": "YQ==", {binary}, {encoded}}}"#)), None);
    let orders = refusal(
        "OS::Barbican::Order",
        r#"{"type": "key", "algorithm": "a", "bit_length": 1, "ca_id": "c"}"#,
    );
    let told = "Unexpected properties: ca_id. Only these properties are allowed for key type of order: \
                algorithm, bit_length, expiration, mode, name, payload_content_type.";
    assert_eq!(orders.as_deref(), Some(told));
    let twice = r#"{"secrets": [{"name": "a", "ref": "r"}, {"name": "b", "ref": "r"}]}"#;
    assert_eq!(
        refusal("OS::Barbican::GenericContainer", twice).as_deref(),
        Some("Duplicate refs are not allowed.")
    );
    let twice = r#"{"private_key_ref": "r", "private_key_passphrase_ref": "r"}"#;
    for name in ["OS::Barbican::CertificateContainer", "OS::Barbican::RSAContainer"] {
        assert_eq!(refusal(name, twice).as_deref(), Some("Duplicate refs are not allowed."));
        assert_eq!(refusal(name, r#"{"private_key_ref": "r"}"#), None);
    }
}

// --- shares ---

#[test]
fn access_to_a_share_is_what_is_asked_for_and_what_others_gave() {
    /// A share service with rules of access.
    #[derive(Default)]
    struct Shares(Vec<Json>);
    impl World for Shares {
        fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
            let sent = call.request.body.clone().unwrap_or_default();
            let body = match (call.request.method, call.request.path.checked().expect("a path")) {
                (Method::Post, "/shares") => json!({ "share": { "id": "1" } }),
                (Method::Post, "/shares/1/action") => {
                    if let Some(rule) = sent.get("allow_access") {
                        let mut rule = rule.clone();
                        rule["id"] = format!("rule {}", self.0.len()).into();
                        self.0.push(rule);
                    }
                    self.0.retain(|rule| rule["id"] != sent["deny_access"]["access_id"]);
                    json!({ "access_list": self.0 })
                }
                (Method::Get, "/shares/1/export_locations") => {
                    json!({ "export_locations": [{ "path": "10.0.0.9:/share" }] })
                }
                (Method::Get, "/shares/detail") => json!({ "shares": [] }),
                _ => json!({ "share": { "id": "1", "status": "available" } }),
            };
            Ok(Reply::new(200, body))
        }
    }
    let rule =
        |to: &str| format!(r#"{{"access_type": "ip", "access_to": "{to}", "access_level": "rw"}}"#);
    let with = |rules: &str| {
        format!(r#"{{"share_protocol": "NFS", "size": 1, "access_rules": [{rules}]}}"#)
    };
    let name = "OS::Manila::Share";
    for at in 0..12 {
        for seam in [Seam::Before(at), Seam::After(at)] {
            let theirs = json!({ "id": "theirs", "access_to": "10.9.9.9" });
            let mut shares = Shares(vec![theirs]);
            let mut drive =
                drive(kind(name), &with(&format!("{}, {}", rule("10.0.0.1"), rule("10.0.0.2"))));
            drive.run_through(kind(name), OperationKind::Create, &mut shares, seam);
            assert_eq!(drive.result(), &Ok(()), "{seam:?}");
            assert_eq!(shares.0.len(), 3, "{seam:?}");
            drive.context.journal = Default::default();
            drive.ended = None;
            update(&mut drive, kind(name), &with(&rule("10.0.0.3")));
            drive.run_through(kind(name), OperationKind::Update, &mut shares, seam);
            let to: Vec<_> = shares.0.iter().map(|rule| rule["access_to"].clone()).collect();
            assert_eq!(to, ["10.9.9.9", "10.0.0.3"], "{seam:?}");
            let shown = drive.shown.as_map().expect("something is shown");
            assert!(shown.contains_key("export_locations"), "{seam:?}");
        }
    }
}
