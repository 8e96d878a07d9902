//! The edge between the API and the network: proxies, pages of other origins, templates of other hosts.

use crate::test_api::TestApi;
use axum::body::Body;
use axum::http::Request as HttpRequest;
use axum::response::Response as HttpResponse;
use kiln_api::{Options, UrlFetcher};
use kiln_engine::{Config, Rules};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

async fn request(api: &TestApi, headers: &[(&str, &str)], method: &str) -> HttpResponse {
    let mut request = HttpRequest::builder().method(method).uri("/").header("host", "inner:1");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::empty()).expect("a request");
    kiln_api::answer(api.app.clone(), request).await
}

async fn link(api: &TestApi, headers: &[(&str, &str)]) -> String {
    let body = request(api, headers, "GET").await.into_body();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    let body: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    body["versions"][0]["links"][0]["href"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_proxy_is_believed_only_if_the_operator_says_so() {
    let told = [
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "cloud.example, inner"),
        ("x-forwarded-prefix", "/heat"),
    ];
    let api = TestApi::new();
    assert_eq!(link(&api, &told).await, "http://inner:1/v1/");
    let api = TestApi::made(Rules::default(), Options { trusts_proxy: true, ..Options::default() });
    assert_eq!(link(&api, &told).await, "https://cloud.example/heat/v1/");
    assert_eq!(link(&api, &[]).await, "http://inner:1/v1/");
    // The standard's header counts alone.
    let standard = ("forwarded", "for=10.0.0.1; Proto=https;host=\"c.example:8004\", for=x;host=y");
    assert_eq!(link(&api, &[told[2], standard]).await, "https://c.example:8004/v1/");
    assert_eq!(link(&api, &[("forwarded", "for=10.0.0.1")]).await, "http://inner:1/v1/");
}

#[tokio::test]
async fn a_file_keeps_requests_away() {
    let health = async |file: Option<&str>| {
        let health_file = file.map(Into::into);
        let options = Options { health_file, ..Options::default() };
        let api = TestApi::made(Rules::default(), options);
        let reply = api.raw("", "GET", "/healthcheck", "").await;
        (reply.status, reply.text)
    };
    assert_eq!(health(None).await, (200, String::new()));
    assert_eq!(health(Some("/no/such/file")).await, (200, "OK".to_owned()));
    let there = env!("CARGO_MANIFEST_DIR");
    assert_eq!(health(Some(there)).await, (503, "DISABLED BY FILE".to_owned()));
}

#[tokio::test]
async fn pages_of_allowed_origins_may_read_answers() {
    let origins = vec!["https://ui.example".to_owned()];
    let api = TestApi::made(Rules::default(), Options { origins, ..Options::default() });
    let header = |response: &HttpResponse, name: &str| {
        response.headers().get(name).map(|it| it.to_str().unwrap_or_default().to_owned())
    };
    let reply = request(&api, &[("origin", "https://ui.example")], "GET").await;
    let allowed = header(&reply, "access-control-allow-origin");
    assert_eq!(allowed.as_deref(), Some("https://ui.example"));
    let reply = request(&api, &[("origin", "https://evil.example")], "GET").await;
    assert_eq!(header(&reply, "access-control-allow-origin"), None);
    let beforehand = [("origin", "https://ui.example"), ("access-control-request-method", "PATCH")];
    let reply = request(&api, &beforehand, "OPTIONS").await;
    assert_eq!(reply.status(), 200);
    let methods = header(&reply, "access-control-allow-methods").unwrap_or_default();
    assert!(methods.contains("PATCH"), "{methods}");
}

#[tokio::test]
async fn templates_are_fetched_from_where_the_operator_allows() {
    let text = "heat_template_version: 2021-04-16\noutputs: {o: {value: fetched}}\n";
    let long = "x".repeat(600_000);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let port = listener.local_addr().expect("an address").port();
    let router = axum::Router::new()
        .route("/good.yaml", axum::routing::get(move || async move { text }))
        .route("/long.yaml", axum::routing::get(move || async move { long.clone() }))
        .route(
            "/away.yaml",
            axum::routing::get(|| async { axum::response::Redirect::temporary("/good.yaml") }),
        )
        .route(
            "/out.yaml",
            axum::routing::get(move || async move {
                axum::response::Redirect::temporary(&format!("http://localhost:{port}/good.yaml"))
            }),
        )
        .route(
            "/round.yaml",
            axum::routing::get(|| async { axum::response::Redirect::temporary("/round.yaml") }),
        );
    let url = format!("http://127.0.0.1:{port}");
    tokio::spawn(async move { axum::serve(listener, router).await });

    let fetching = |prefixes: Vec<String>| {
        TestApi::configured(Rules::default(), Options::default(), |config| Config {
            template_fetcher: Arc::new(UrlFetcher::new(prefixes, true, Duration::from_secs(60))),
            ..config
        })
    };
    let allowed = fetching(vec![format!("{url}/")]);
    let refused = fetching(Vec::new());
    let open = fetching(vec!["*".into()]);
    let create = async |api: &TestApi, url: &str| {
        let body = json!({"stack_name": "s", "template_url": url});
        let reply = api.send("demo", "POST", "/demo/stacks", Some(body)).await;
        let message = reply.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        (reply.status, message)
    };
    let good = format!("{url}/good.yaml");
    let failed = |url: &str| {
        let rule = "(allowed are public addresses, and the prefixes in [kiln] fetch_allowed)";
        let failed = format!("Failed to retrieve template from {url} {rule}");
        (400, format!("Could not retrieve template: {failed}"))
    };
    assert_eq!(create(&refused, &good).await, failed(&good));
    assert_eq!(create(&allowed, &good).await.0, 201);
    assert_eq!(create(&open, &format!("{url}/out.yaml")).await.0, 201);
    let allowed = fetching(vec![format!("{url}/")]);
    assert_eq!(create(&allowed, &format!("{url}/away.yaml")).await.0, 201);
    let allowed = fetching(vec![format!("{url}/")]);
    for missing in ["none.yaml", "out.yaml", "round.yaml"].map(|it| format!("{url}/{it}")) {
        assert_eq!(create(&allowed, &missing).await, failed(&missing));
    }
    let expected =
        "Could not retrieve template: Template exceeds maximum allowed size (524288 bytes)";
    assert_eq!(create(&allowed, &format!("{url}/long.yaml")).await, (400, expected.into()));
    let expected = "Could not retrieve template: Invalid URL scheme file";
    assert_eq!(create(&allowed, "file:///etc/passwd").await, (400, expected.into()));
}

/// A client may send its body after the headers, and go on with the next request on the same connection.
#[tokio::test]
async fn a_connection_goes_on_after_a_body_that_nobody_looks_at() {
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    let api = TestApi::new();
    let template = "heat_template_version: 2021-04-16";
    let path = api.create("s", template).await;
    let (app, id) = (api.app.clone(), path.rsplit('/').next().unwrap_or_default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let address = listener.local_addr().expect("an address");
    let router = axum::Router::new().fallback(move |it| kiln_api::answer(app.clone(), it));
    tokio::spawn(async move { axum::serve(listener, router).await });

    let stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
    let mut stream = BufReader::new(stream);
    let head = |method: &str, path: &str, length: usize| {
        format!(
            "{method} /v1{path} HTTP/1.1\r\nHost: k\r\nX-Auth-Token: demo\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    for (request, body, expected) in [
        (head("POST", &format!("/demo/stacks/{id}/actions"), 15), "{\"check\": null}", "302"),
        (head("PUT", "/demo/nowhere", 2), "{}", "404"),
        (head("GET", "/demo/stacks", 0), "", "200"),
    ] {
        stream.write_all(request.as_bytes()).await.expect("sent");
        stream.flush().await.expect("sent");
        stream.write_all(body.as_bytes()).await.expect("sent");
        let mut line = String::new();
        stream.read_line(&mut line).await.expect("an answer");
        assert!(line.contains(expected), "{request}: {line}");
        let mut length = 0;
        while line != "\r\n" {
            line.clear();
            stream.read_line(&mut line).await.expect("a header");
            let lower = line.to_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        stream.read_exact(&mut vec![0; length]).await.expect("a body");
    }
}
