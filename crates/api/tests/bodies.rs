//! Bodies are received from callers who are known, and from no more of them than there is memory for.

use crate::test_api::{TestApi, reply};
use axum::body::{Body, Bytes};
use axum::http::Request as HttpRequest;
use axum::response::Response as HttpResponse;
use futures_util::FutureExt;
use kiln_api::Options;
use kiln_engine::Rules;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A body that goes on for ever, and the number of bytes that were taken of it.
fn endless() -> (Body, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let taken = count.clone();
    let stream = futures_util::stream::repeat_with(move || {
        taken.fetch_add(1024, Ordering::Relaxed);
        Ok::<_, Infallible>(Bytes::from_static(&[b' '; 1024]))
    });
    (Body::from_stream(stream), count)
}

/// A body whose rest does not come.
fn unfinished(start: &'static [u8]) -> Body {
    use futures_util::StreamExt;
    let start = futures_util::stream::iter([Ok::<_, Infallible>(Bytes::from_static(start))]);
    Body::from_stream(start.chain(futures_util::stream::pending()))
}

fn request(method: &str, path: &str, token: &str, body: Body) -> HttpRequest<Body> {
    let request = HttpRequest::builder().method(method).uri(path).header("x-auth-token", token);
    request.header("content-length", 900_000).body(body).expect("a request")
}

#[tokio::test]
async fn no_body_is_taken_from_somebody_unknown() {
    let api = TestApi::new();
    for (method, path, status) in [
        ("POST", "/v1/demo/stacks", 401),
        ("PUT", "/v1/demo/stacks/s/1", 401),
        ("PUT", "/v1/demo/stacks", 401),
        ("GET", "/healthcheck", 200),
        ("GET", "/", 300),
        ("POST", "/v1", 404),
        ("POST", "/v9/x", 300),
    ] {
        let (body, taken) = endless();
        let request = request(method, path, "unknown", body);
        let response = reply(kiln_api::answer(api.app.clone(), request).await).await;
        assert_eq!(response.status, status, "{method} {path}: {response:?}");
        assert_eq!(taken.load(Ordering::Relaxed), 0, "{method} {path}");
    }
    for (path, status) in [("/healthcheck", 200), ("/", 300), ("/v2/", 300), ("/x", 404)] {
        let (body, taken) = endless();
        let response = api.cfn_raw(request("POST", path, "unknown", body)).await;
        assert_eq!(response.status, status, "{path}: {response:?}");
        assert_eq!(taken.load(Ordering::Relaxed), 0, "{path}");
    }
}

#[tokio::test]
async fn a_body_is_taken_up_to_its_limit() {
    let options = Options { max_body_bytes: 100_000, ..Options::default() };
    let api = TestApi::made(Rules::default(), options);
    let (body, taken) = endless();
    let mut chunked = request("POST", "/v1/demo/stacks", "demo", body);
    chunked.headers_mut().remove("content-length");
    chunked.headers_mut().insert("transfer-encoding", "chunked".parse().expect("a value"));
    let response = reply(kiln_api::answer(api.app.clone(), chunked).await).await;
    assert_eq!(response.status, 400, "{response:?}");
    assert!(response.text.contains("RequestLimitExceeded"), "{response:?}");
    let taken = taken.load(Ordering::Relaxed);
    assert!((100_000..110_000).contains(&taken), "{taken}");
    assert_eq!(api.app.body_bytes.count(), 0);
}

#[tokio::test]
async fn all_bodies_together_have_a_limit() {
    let options =
        Options { max_body_bytes: 1_000_000, max_bodies_bytes: 1_000_000, ..Options::default() };
    let api = TestApi::made(Rules::default(), options);
    static START: [u8; 600_000] = [b' '; 600_000];
    let send = |token: &'static str, body: Body| {
        kiln_api::answer(api.app.clone(), request("POST", "/v1/demo/stacks", token, body))
    };
    let mut held = Box::pin(send("demo", unfinished(&START)));
    // The first body is on its way, and takes most of the room.
    assert!((&mut held).now_or_never().is_none());
    while api.app.body_bytes.count() < START.len() {
        tokio::task::yield_now().await;
        assert!((&mut held).now_or_never().is_none());
    }
    let retry_after = |response: &HttpResponse| {
        response.headers().get("retry-after").is_some_and(|value| value == "1")
    };
    let response = send("demo", Body::from(&START[..])).await;
    assert!(response.status() == 503 && retry_after(&response), "{response:?}");
    let signed = request("POST", "/v1/", "", Body::from(&START[..]));
    let response = kiln_api::cfn::answer(api.app.clone(), signed).await;
    assert!(response.status() == 503 && retry_after(&response), "{response:?}");
    // A small body fits, and an unknown caller is told so as ever.
    let small = reply(send("demo", Body::from("{}")).await).await;
    assert_eq!(small.status, 400, "{small:?}");
    let unknown = tokio::time::timeout(Duration::from_secs(5), send("x", unfinished(&START)));
    assert_eq!(unknown.await.expect("an answer").status(), 401);
    drop(held);
    assert_eq!(api.app.body_bytes.count(), 0, "room again");
}
