//! Requests without a login.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use super::test_identity::{BASE, TestIdentity};

#[test]
fn the_versions_are_told_to_everybody() {
    let service = TestIdentity::new();
    let version = json!({
        "id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z",
        "links": [{ "rel": "self", "href": format!("{BASE}/v3/") }],
        "media-types": [{
            "base": "application/json", "type": "application/vnd.openstack.identity-v3+json",
        }],
    });
    let all = service.get("/", "").has(300);
    assert_eq!(all.body, json!({ "versions": { "values": [version] } }));
    assert_eq!(all.headers["location"], format!("{BASE}/v3/"));
    for path in ["/v3", "/v3/"] {
        assert_eq!(service.get(path, "").has(200).body, json!({ "version": version }));
    }
    // An invalid token has no effect here.
    service.get("/v3", "nonsense").has(200);
}

#[test]
fn links_begin_with_the_host_that_the_client_used() {
    let service = TestIdentity::new();
    let ask = |host: &str, scheme: &str| {
        let request = Request::get("/v3").header("Host", host).header("X-Forwarded-Proto", scheme);
        service.send(request.body(Body::empty()).unwrap()).text_at("/version/links/0/href")
    };
    assert_eq!(ask("cloud.test:77", "http"), "http://cloud.test:77/v3/");
    assert_eq!(ask("[::1]:5000", "https"), "https://[::1]:5000/v3/");
    assert_eq!(ask("bad\"host", "http"), format!("{BASE}/v3/"), "not a host");
    let bare = service.send(Request::get("/v3").body(Body::empty()).unwrap());
    assert_eq!(bare.text_at("/version/links/0/href"), format!("{BASE}/v3/"));
}

#[test]
fn every_answer_has_the_headers_that_clients_log() {
    let service = TestIdentity::new();
    for path in ["/v3", "/v3/users", "/nope"] {
        let answer = service.get(path, "");
        assert_eq!(answer.headers["vary"], "X-Auth-Token");
        let id = answer.headers["x-openstack-request-id"].to_str().unwrap();
        assert!(id.starts_with("req-") && id.len() == 40, "{id}");
    }
}

#[test]
fn what_is_not_there_is_told_apart_from_what_cannot_be_done_with_it() {
    let service = TestIdentity::new();
    let page = service.get("/v3/nope", "").has(404);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let other = service.ask("PUT", "/v3/auth/tokens", "", json!({})).has(405);
    let message = json!({ "message": "The method is not allowed for the requested URL." });
    assert_eq!(other.body, message);
    assert_eq!(other.headers["allow"], "DELETE, GET, HEAD, OPTIONS, POST");
    let options = service.ask("OPTIONS", "/v3/users", "", Value::Null).has(200);
    assert_eq!(options.headers["allow"], "GET, HEAD, OPTIONS, POST");
    assert_eq!(options.text, "");
}

#[test]
fn a_slash_at_the_end_does_not_matter() {
    let service = TestIdentity::new();
    let admin = service.admin();
    let list = service.get("/v3/regions/", &admin).has(200);
    assert_eq!(list.text_at("/links/self"), format!("{BASE}/v3/regions"));
}

#[test]
fn a_body_has_to_be_a_json_object_of_a_sensible_size() {
    let service = TestIdentity::new();
    let send = |kind: &str, body: Vec<u8>| {
        let request = Request::post("/v3/auth/tokens").header("Content-Type", kind);
        service.send(request.body(Body::from(body)).unwrap())
    };
    let malformed = "The server could not comply with the request since it is either malformed or otherwise \
                     incorrect. The client is assumed to be in error.";
    let no_json = format!("Expecting to find valid JSON in request body. {malformed}");
    send("application/json", b"{".to_vec()).says(400, &no_json);
    send("application/json", b"[]".to_vec()).says(400, &no_json);
    let deep = format!("{{\"auth\": {}{}}}", "[".repeat(1000), "]".repeat(1000));
    send("application/json", deep.into_bytes()).says(400, &no_json);
    let kind = format!("Expecting to find application/json in Content-Type header. {malformed}");
    send("text/plain", b"x".to_vec()).says(400, &kind);
    send("application/json", vec![b' '; 1024 * 1024 + 1]).says(413, "Request is too large.");
}
