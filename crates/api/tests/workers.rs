//! Long work of requests does not hold up others.

use crate::test_api::TestApi;
use futures_util::future::{FutureExt, join_all};
use kiln_api::Options;
use kiln_engine::{Rules, WorkLimits};
use serde_json::json;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::available_parallelism;
use tokio::task::JoinHandle;

const TEMPLATE: &str =
    "heat_template_version: 2021-04-16\nresources: {r: {type: OS::Heat::None}}\n";

fn api(running: usize, waiting: usize) -> TestApi {
    let work = WorkLimits { running, waiting };
    TestApi::made(Rules { work, ..Rules::default() }, Options::default())
}

/// Work of a project that ends when its gate opens.
struct Work {
    gate: mpsc::Sender<()>,
    done: JoinHandle<()>,
}

impl Work {
    /// Begins work, and waits until it runs.
    async fn begin(api: &TestApi, project: &str) -> Work {
        let (gate, closed) = mpsc::channel();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (app, project): (_, Arc<str>) = (api.app.clone(), project.into());
        let done = tokio::spawn(async move {
            let work = move || {
                begun.send(()).expect("a test that waits");
                closed.recv().expect("a gate");
            };
            app.service.workers().run(&project, work).await.expect("a turn");
        });
        has_begun.await.expect("work that has begun");
        Work { gate, done }
    }

    async fn end(self) {
        self.gate.send(()).expect("work behind the gate");
        self.done.await.expect("work that ends");
    }
}

async fn validate(api: &TestApi, caller: &str) -> u16 {
    let path = format!("/{caller}/validate");
    api.send(caller, "POST", &path, Some(json!({"template": TEMPLATE}))).await.status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn requests_are_answered_while_all_workers_are_busy() {
    let api = api(1000, 1000);
    let mut busy = Vec::new();
    // A project has half of the threads at most.
    for project in 0..available_parallelism().map_or(2, |cores| cores.get().max(2)) {
        busy.push(Work::begin(&api, &project.to_string()).await);
    }
    let app = api.app.clone();
    // The test itself is no task of the runtime's worker: what it asks is.
    let health = tokio::spawn(async move {
        let request =
            axum::http::Request::builder().uri("/healthcheck").body(axum::body::Body::empty());
        kiln_api::answer(app, request.expect("a request")).await.status()
    });
    assert_eq!(health.await.expect("an answer"), 200);
    for work in busy {
        work.end().await;
    }
    assert_eq!(validate(&api, "demo").await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_with_too_many_requests_is_told_to_come_again() {
    let api = api(1, 0);
    let work = Work::begin(&api, "demo").await;
    let body = json!({"template": TEMPLATE, "stack_name": "s"});
    for (method, path) in
        [("POST", "/demo/stacks"), ("POST", "/demo/stacks/preview"), ("POST", "/demo/validate")]
    {
        let reply = api.send("demo", method, path, Some(body.clone())).await;
        assert_eq!((reply.status, reply.header("retry-after")), (429, "1"), "{reply:?}");
        let error = &reply.json()["error"];
        assert_eq!(error["type"], "HTTPTooManyRequests");
        assert!(
            error["message"].as_str().is_some_and(|it| it.contains("again later")),
            "{reply:?}"
        );
    }
    assert_eq!(validate(&api, "other").await, 200);
    work.end().await;
    assert_eq!(validate(&api, "demo").await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_may_wait_are_answered_in_the_end() {
    let api = api(1, 8);
    let work = Work::begin(&api, "demo").await;
    let mut waiting: Vec<_> = (0..8).map(|_| Box::pin(validate(&api, "demo"))).collect();
    for request in &mut waiting {
        assert!(request.as_mut().now_or_never().is_none(), "the project's turn is taken");
    }
    // All eight wait: there is no room for another one.
    assert_eq!(validate(&api, "demo").await, 429);
    work.end().await;
    assert_eq!(join_all(waiting).await, [200; 8]);
}
