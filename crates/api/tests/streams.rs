//! Event streams: how many there may be, what they cost, and when they end.

use crate::counting_store::CountingStore;
use crate::test_api::{TestApi, Tokens};
use axum::body::{Body, HttpBody};
use axum::response::Response as HttpResponse;
use kiln_api::Options;
use kiln_api::auth::Authenticator;
use kiln_cloud::NoCloud;
use kiln_engine::Rules;
use kiln_engine::store::Store;
use serde_json::json;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// How long a test waits for something that should come at once.
const LIMIT: Duration = Duration::from_secs(20);

/// A stack that stays in progress.
const WAITING: &str = r#"
heat_template_version: 2021-04-16
resources:
  wait: {type: OS::Heat::Delay, properties: {min_wait: 3600}}
"#;

/// An API on these parts.
pub(crate) fn api(
    store: Arc<dyn Store>,
    auth: Arc<dyn Authenticator>,
    options: Options,
) -> TestApi {
    TestApi::assembled((store, Arc::new(NoCloud), auth), Rules::default(), options, Vec::new())
}

/// Makes a stack that stays in progress; gives the path of its events.
pub(crate) async fn waiting_stack(api: &TestApi, token: &str, project: &str) -> String {
    let body = json!({"stack_name": "s", "template": WAITING});
    let reply = api.send(token, "POST", &format!("/{project}/stacks"), Some(body)).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    let path = reply.header("location").split_once("/v1").expect("a path").1;
    format!("/v1{path}/events?nested_depth=3")
}

/// Reads a stream until it has told that the resource is in progress.
pub(crate) async fn read_until_it_waits(body: &mut Body) {
    let mut text = String::new();
    let told = async {
        while !text.contains("\"resource_name\": \"wait\"") {
            text.push_str(&next(body).await.expect("the stream goes on"));
        }
    };
    tokio::time::timeout(LIMIT, told).await.expect("the event comes");
}

/// The next part of a stream; none at its end.
pub(crate) async fn next(body: &mut Body) -> Option<String> {
    let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
    let data = frame.expect("a part").into_data().expect("data");
    Some(String::from_utf8(data.to_vec()).expect("UTF-8"))
}

/// Reads a stream to its end, which must come soon.
pub(crate) async fn wait_for_end(body: &mut Body) {
    let ended = async { while next(body).await.is_some() {} };
    tokio::time::timeout(LIMIT, ended).await.expect("the stream ends");
}

fn is_refused(response: &HttpResponse) -> bool {
    let retry_after = response.headers().get("retry-after");
    response.status() == 429 && retry_after.is_some_and(|value| value == "1")
}

#[tokio::test]
async fn a_project_has_so_many_streams_and_no_more() {
    let api = api(Arc::new(CountingStore::default()), Arc::new(Tokens), Options::default());
    let (url, others) =
        (waiting_stack(&api, "demo", "demo").await, waiting_stack(&api, "other", "other").await);
    let mut open = Vec::new();
    for _ in 0..32 {
        let response = api.open_stream("demo", &url, None).await;
        assert_eq!(response.status(), 200);
        open.push(response);
    }
    assert!(is_refused(&api.open_stream("demo", &url, None).await), "the 33rd");
    assert!(is_refused(&api.open_stream("reader", &url, None).await), "of the same project");
    assert_eq!(api.open_stream("other", &others, None).await.status(), 200);
    open.pop();
    assert_eq!(api.open_stream("demo", &url, None).await.status(), 200, "one has gone");
}

#[tokio::test]
async fn all_projects_together_have_a_limit() {
    let options = Options { max_streams: 2, ..Options::default() };
    let api = api(Arc::new(CountingStore::default()), Arc::new(Tokens), options);
    let (url, others) =
        (waiting_stack(&api, "demo", "demo").await, waiting_stack(&api, "other", "other").await);
    let first = api.open_stream("demo", &url, None).await;
    let second = api.open_stream("other", &others, None).await;
    assert_eq!((first.status().as_u16(), second.status().as_u16()), (200, 200));
    assert!(is_refused(&api.open_stream("demo", &url, None).await));
    drop((first, second));
    assert_eq!(api.open_stream("demo", &url, None).await.status(), 200);
}

/// The reads that streams cause while nothing happens, and then for one event.
async fn reads_of(streams: usize) -> (u64, u64) {
    let store = Arc::new(CountingStore::default());
    let api = api(store.clone(), Arc::new(Tokens), Options::default());
    let url = waiting_stack(&api, "demo", "demo").await;
    let mut open = Vec::new();
    for _ in 0..streams {
        let mut body = api.open_stream("demo", &url, None).await.into_body();
        read_until_it_waits(&mut body).await;
        open.push(body);
    }
    let polled = async |count: u64| {
        let until = store.polls() + count;
        store.wait_for_polls(until).await;
    };
    // The first poll of a tree counts as a change.
    polled(3).await;
    let before = store.stream_reads();
    polled(4).await;
    let idle = store.stream_reads() - before;
    let path = url.trim_start_matches("/v1").replace("/events?nested_depth=3", "");
    let before = store.stream_reads();
    let cancel = json!({"cancel_without_rollback": null});
    api.send("demo", "POST", &format!("{path}/actions"), Some(cancel)).await;
    for body in &mut open {
        wait_for_end(body).await;
    }
    (idle, store.stream_reads() - before)
}

#[tokio::test]
async fn streams_of_the_same_stack_share_their_reads() {
    let (alone, together) = tokio::join!(reads_of(1), reads_of(30));
    assert_eq!((alone.0, together.0), (0, 0), "while nothing happens");
    assert!(together.1 <= alone.1 + 20, "for an event: {} and {}", alone.1, together.1);
}

#[tokio::test]
async fn a_stream_that_nobody_reads_ends() {
    let options = Options {
        stream_keep_alive: Duration::from_millis(5),
        stream_send_timeout: Duration::from_millis(50),
        ..Options::default()
    };
    let api = api(Arc::new(CountingStore::default()), Arc::new(Tokens), options);
    let url = waiting_stack(&api, "demo", "demo").await;
    let before = Arc::strong_count(&api.app);
    let mut body = api.open_stream("demo", &url, None).await.into_body();
    assert!(Arc::strong_count(&api.app) > before + 1, "the body, and the task that fills it");
    let ended = async {
        while Arc::strong_count(&api.app) > before + 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, ended).await.expect("the task ends");
    wait_for_end(&mut body).await;
}
