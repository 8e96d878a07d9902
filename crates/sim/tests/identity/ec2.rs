//! Credentials, EC2 keys, and tokens for signed requests.

use base64::Engine as _;
use hmac::{Hmac, KeyInit, Mac};
use kiln_sim::identity::{project_id, user_id};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::test_identity::{
    BASE, NOT_LOGGED_IN, TestIdentity, by_token, forbidden, password, project,
};

const HOST: &str = "cfn.example:8000";

fn sha256(text: &[u8]) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sign(key: &[u8], text: &str) -> Vec<u8> {
    Hmac::<Sha256>::new_from_slice(key).unwrap().chain_update(text).finalize().into_bytes().to_vec()
}

fn keys() -> String {
    format!("/v3/users/{}/credentials/OS-EC2", user_id("demo"))
}

/// Creates a key for demo: access and secret.
fn key(service: &TestIdentity) -> (String, String) {
    let made =
        service.post(&keys(), &service.demo(), json!({ "tenant_id": project_id("demo") })).has(201);
    (made.text_at("/credential/access"), made.text_at("/credential/secret"))
}

/// Describes a request with a signature of version 2, made at this time for this host.
fn version_2((access, secret): &(String, String), time: &str, host: &str) -> Value {
    let text = format!(
        "GET\n{host}\n/v1/\nAWSAccessKeyId={access}&Action=ListStacks&Odd=a%20b%2A~%C3%BC%2F&\
         SignatureMethod=HmacSHA256&SignatureVersion=2&Timestamp={}",
        time.replace(':', "%3A")
    );
    let signature =
        base64::engine::general_purpose::STANDARD.encode(sign(secret.as_bytes(), &text));
    json!({ "ec2Credentials": {
        "access": access, "signature": signature, "host": HOST, "verb": "GET", "path": "/v1/",
        "params": {
            "Action": "ListStacks", "AWSAccessKeyId": access, "SignatureMethod": "HmacSHA256",
            "SignatureVersion": "2", "Timestamp": time, "Odd": "a b*~ü/",
        },
        "headers": {}, "body_hash": "",
    } })
}

/// Describes a request with a signature of version 4, in the header or in the query.
fn version_4((access, secret): &(String, String), time: &str, in_query: bool) -> Value {
    let day = &time[..8];
    let scope = format!("{day}/RegionOne/cloudformation/aws4_request");
    let credential = format!("{access}/{scope}");
    let signed = if in_query { "host" } else { "host;x-amz-date" };
    let body = sha256(if in_query { b"" } else { b"Action=ListStacks" });
    let (verb, query, lines) = if in_query {
        let escaped = credential.replace('/', "%2F");
        let query = format!(
            "Action=ListStacks&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={escaped}&X-Amz-Date={time}&\
             X-Amz-SignedHeaders=host"
        );
        ("GET", query, format!("host:{HOST}\n"))
    } else {
        ("POST", String::new(), format!("host:{HOST}\nx-amz-date:{time}\n"))
    };
    let request = format!("{verb}\n/v1/\n{query}\n{lines}\n{signed}\n{body}");
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", sha256(request.as_bytes()));
    let start = format!("AWS4{secret}").into_bytes();
    let steps = [day, "RegionOne", "cloudformation", "aws4_request", &text];
    let tag = steps.iter().fold(start, |key, step| sign(&key, step));
    let signature: String = tag.iter().map(|byte| format!("{byte:02x}")).collect();
    let (params, headers) = if in_query {
        let params = json!({
            "Action": "ListStacks", "X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Credential": credential,
            "X-Amz-Date": time, "X-Amz-SignedHeaders": "host",
        });
        (params, json!({ "Host": HOST }))
    } else {
        let line = format!(
            "AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={signed}, Signature={signature}"
        );
        let headers = json!({ "Host": HOST, "X-Amz-Date": time, "Authorization": line });
        (json!({ "Action": "ListStacks" }), headers)
    };
    json!({ "ec2Credentials": {
        "access": access, "signature": signature, "host": HOST, "verb": verb, "path": "/v1/",
        "params": params, "headers": headers, "body_hash": body,
    } })
}

#[test]
fn a_credential_is_kept_for_its_owner() {
    let service = TestIdentity::new();
    let (admin, demo) = (service.admin(), service.demo());
    let blob = json!({ "access": "a".repeat(32), "secret": "s" }).to_string();
    let asked = json!({ "credential": {
        "type": "ec2", "blob": blob, "project_id": project_id("demo"), "user_id": user_id("demo"),
    } });
    let id = sha256("a".repeat(32).as_bytes());
    let made = service.post("/v3/credentials", &demo, asked.clone()).has(201);
    let shown = json!({ "credential": {
        "id": id, "user_id": user_id("demo"), "project_id": project_id("demo"), "type": "ec2",
        "blob": blob, "links": { "self": format!("{BASE}/v3/credentials/{id}") },
    } });
    assert_eq!(made.body, shown);
    let path = format!("/v3/credentials/{id}");
    for caller in [&admin, &demo] {
        assert_eq!(service.get(&path, caller).has(200).body, shown);
    }
    let twice = format!(
        "Conflict occurred attempting to store credential - Duplicate entry found with ID {id}."
    );
    service.post("/v3/credentials", &demo, asked).says(409, &twice);
    service.user("joe", "member");
    let joe = service.log_in(password("joe", "joe", project("demo"))).token();
    service.get(&path, &joe).says(403, &forbidden("identity:get_credential"));
    service.delete(&path, &joe).says(403, &forbidden("identity:delete_credential"));
    assert_eq!(service.get("/v3/credentials", &joe).has(200).body["credentials"], json!([]));
    assert_eq!(service.get("/v3/credentials?type=ec2", &demo).column("credentials", "id"), [id]);
    assert_eq!(service.get("/v3/credentials?type=x", &demo).body["credentials"], json!([]));
    let blob = json!({ "access": "a".repeat(32), "secret": "t" }).to_string();
    let changed = service.patch(&path, &demo, json!({ "credential": { "blob": blob } })).has(200);
    assert_eq!(changed.body["credential"]["blob"], blob);
    let other = json!({ "access": "b", "secret": "t" }).to_string();
    service.patch(&path, &demo, json!({ "credential": { "blob": other } })).has(400);
    service.delete(&path, &demo).has(204);
    service.delete(&path, &demo).says(403, &forbidden("identity:delete_credential"));
    service.delete(&path, &admin).has(404);
}

#[test]
fn a_credential_that_makes_no_sense_is_refused() {
    let service = TestIdentity::new();
    let demo = service.demo();
    let make = |credential: Value| {
        service.post("/v3/credentials", &demo, json!({ "credential": credential }))
    };
    make(json!({})).says(
        400,
        "Invalid input for field/attribute credential. Value: {}. 'blob' is a required property",
    );
    make(json!({ "type": "ec2", "blob": "x", "project_id": "p" }))
        .says(400, "Invalid blob in credential");
    let no_access = make(json!({ "type": "ec2", "blob": "{}", "project_id": "p" })).has(400);
    assert!(
        no_access.text_at("/error/message").starts_with("Expecting to find blob in credential.")
    );
    let no_project = make(json!({ "type": "ec2", "blob": "{}" })).has(400);
    assert!(no_project.text_at("/error/message").ends_with("'project_id' is a required property"));
    make(json!({ "type": "cert", "blob": "x", "user_id": user_id("admin") }))
        .says(403, &forbidden("identity:create_credential"));
    let plain = make(json!({ "type": "cert", "blob": "x" })).has(201);
    assert_eq!(plain.body["credential"]["user_id"], user_id("demo"));
    assert_eq!(plain.body["credential"]["project_id"], Value::Null);
    service.get("/v3/credentials/nope", &demo).says(403, &forbidden("identity:get_credential"));
    service
        .get("/v3/credentials/nope", &service.admin())
        .says(404, "Could not find credential: nope.");
}

#[test]
fn a_key_is_made_shown_and_removed() {
    let service = TestIdentity::new();
    let (admin, demo) = (service.admin(), service.demo());
    let made = service.post(&keys(), &demo, json!({ "tenant_id": project_id("demo") })).has(201);
    let access = made.text_at("/credential/access");
    assert_eq!(access.len(), 32);
    assert_eq!(made.body["credential"]["tenant_id"], project_id("demo"));
    assert_eq!(made.body["credential"]["user_id"], user_id("demo"));
    assert_eq!(made.body["credential"]["trust_id"], Value::Null);
    let own = format!("{}/{access}", keys());
    assert_eq!(made.text_at("/credential/links/self"), format!("{BASE}{own}"));
    for caller in [&admin, &demo] {
        assert_eq!(service.get(&own, caller).has(200).body, made.body);
        assert_eq!(
            service.get(&keys(), caller).has(200).column("credentials", "access"),
            [access.as_str()]
        );
    }
    service
        .post(&keys(), &demo, json!({ "tenant_id": "nope" }))
        .says(404, "Could not find project: nope.");
    service.post(&keys(), &demo, json!({})).says(404, "Could not find project: None.");
    let unscoped = service.log_in(password("demo", "demo", Value::Null)).token();
    let rule = forbidden("identity:ec2_create_credential");
    service.post(&keys(), &unscoped, json!({ "tenant_id": project_id("demo") })).says(403, &rule);
    let others = format!("/v3/users/{}/credentials/OS-EC2", user_id("admin"));
    service.get(&others, &demo).says(403, &forbidden("identity:ec2_list_credentials"));
    service.delete(&own, &demo).has(204);
    let gone = format!("Could not find credential: {}.", sha256(access.as_bytes()));
    service.get(&own, &demo).says(404, &gone);
    service.delete(&own, &demo).says(404, &gone);
}

#[test]
fn a_signed_request_becomes_a_token() {
    let service = TestIdentity::new();
    let key = key(&service);
    let heat = service.heat();
    for body in [
        version_2(&key, "2026-11-16T08:00:00Z", HOST),
        version_2(&key, "2026-11-16T08:00:00Z", "cfn.example"),
        version_4(&key, "20261116T080000Z", false),
        version_4(&key, "20261116T080000Z", true),
        json!({ "credentials": version_2(&key, "2026-11-16T08:00:00Z", HOST)["ec2Credentials"] }),
    ] {
        let answer = service.post("/v3/ec2tokens", &heat, body).has(200);
        assert_eq!(answer.body["token"]["methods"], json!(["ec2credential"]));
        assert_eq!(answer.body["token"]["user"]["name"], "demo");
        assert_eq!(answer.body["token"]["project"]["name"], "demo");
        assert_eq!(answer.roles(), ["heat_stack_owner", "member", "reader"]);
        assert_eq!(service.validate(&answer.token()).has(200).body, answer.body);
        let exchange = forbidden("Using a delegated token to create another token is not allowed.");
        service.log_in(by_token(&answer.token(), project("demo"))).says(403, &exchange);
    }
}

#[test]
fn a_signature_that_is_wrong_or_old_is_refused() {
    let service = TestIdentity::new();
    let own = key(&service);
    let heat = service.heat();
    let ask = |body: Value| service.post("/v3/ec2tokens", &heat, body);
    let good = version_2(&own, "2026-11-16T08:00:00Z", HOST);
    for (field, value) in [
        ("signature", json!("x")),
        ("signature", Value::Null),
        ("path", json!("/v2/")),
        ("verb", json!("POST")),
        ("host", json!("other.example")),
    ] {
        let mut bad = good.clone();
        bad["ec2Credentials"][field] = value;
        ask(bad).says(401, NOT_LOGGED_IN);
    }
    let mut bad = good.clone();
    bad["ec2Credentials"]["params"]["Action"] = json!("DeleteStack");
    ask(bad).says(401, NOT_LOGGED_IN);
    let mut bad = version_4(&own, "20261116T080000Z", false);
    bad["ec2Credentials"]["body_hash"] = json!("x");
    ask(bad).says(401, NOT_LOGGED_IN);
    ask(version_2(&own, "2026-11-16T07:44:59Z", HOST)).says(401, NOT_LOGGED_IN);
    ask(version_2(&own, "2026-11-16T07:45:00Z", HOST)).has(200);
    ask(version_2(&own, "nonsense", HOST)).says(401, NOT_LOGGED_IN);
    ask(version_4(&own, "20261116T070000Z", true)).says(401, NOT_LOGGED_IN);
    let mut bad = good.clone();
    bad["ec2Credentials"]["access"] = json!("nope");
    ask(bad).says(404, "EC2 access key not found.");
    ask(json!({ "ec2Credentials": {} })).says(401, NOT_LOGGED_IN);
    ask(json!({})).says(400, "request must include a request body");
    service.post("/v3/ec2tokens", "", good.clone()).says(401, NOT_LOGGED_IN);
    let rule = forbidden("identity:ec2tokens_validate");
    service.post("/v3/ec2tokens", &service.demo(), good.clone()).says(403, &rule);
    let admin = service.admin();
    let user = format!("/v3/users/{}", user_id("demo"));
    service.patch(&user, &admin, json!({ "user": { "enabled": false } })).has(200);
    ask(good).says(401, NOT_LOGGED_IN);
}

#[test]
fn a_token_from_a_key_makes_a_trust_only_where_that_is_allowed() {
    for (allowed, status) in [(true, 201), (false, 403)] {
        let service = TestIdentity::with(|settings| settings.delegated_trusts = allowed);
        let body = version_2(&key(&service), "2026-11-16T08:00:00Z", HOST);
        let token = service.post("/v3/ec2tokens", &service.heat(), body).token();
        let trust = json!({ "trust": {
            "trustor_user_id": user_id("demo"), "trustee_user_id": user_id("heat"),
            "project_id": project_id("demo"), "impersonation": true, "roles": [{ "name": "member" }],
        } });
        service.post("/v3/OS-TRUST/trusts", &token, trust).has(status);
    }
}
