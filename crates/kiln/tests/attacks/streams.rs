//! Streams of events: how many a project may have, and when they end.

use crate::cloud::kiln_process::{KilnProcess, Who};
use crate::cloud::users::User;
use serde_json::json;
use std::time::Duration;

/// A stack that stays in progress.
const WAITING: &str = "
heat_template_version: 2021-04-16
resources: {wait: {type: OS::Heat::Delay, properties: {min_wait: 3600}}}
";

/// How long a stream may take to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many streams a project may have.
const MAX_STREAMS: usize = 32;

/// Creates a stack that stays in progress; gives its path.
async fn waiting(kiln: &KilnProcess, user: &User) -> String {
    let body = json!({ "stack_name": "waiting", "template": WAITING });
    let made = user.ask(kiln, "POST", "/stacks", Some(body)).await;
    assert_eq!(made.status, 201, "{}", made.body);
    format!("/stacks/waiting/{}", made.body["stack"]["id"].as_str().expect("an id"))
}

async fn open(kiln: &KilnProcess, user: &User, stack: &str) -> reqwest::Response {
    let url = format!("{}/{}{stack}/events?nested_depth=3", kiln.orchestration(), user.project);
    let request = kiln.client().get(url).header("X-Auth-Token", &user.token);
    request.header("Accept", "text/event-stream").send().await.expect("an answer")
}

/// Reads a stream to its end.
async fn read(mut stream: reqwest::Response) {
    let read = async { while stream.chunk().await.expect("a part").is_some() {} };
    tokio::time::timeout(PATIENCE, read).await.expect("the stream ends");
}

/// A user opens one stream after the other.
pub(super) async fn a_project_has_a_limit(kiln: &KilnProcess) {
    let (user, other) = (User::member(kiln, "stella").await, User::member(kiln, "otto").await);
    let (stack, others) = (waiting(kiln, &user).await, waiting(kiln, &other).await);
    let mut streams = Vec::new();
    for _ in 0..MAX_STREAMS {
        streams.push(open(kiln, &user, &stack).await);
    }
    assert!(streams.iter().all(|stream| stream.status() == 200));
    let refused = open(kiln, &user, &stack).await;
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(open(kiln, &other, &others).await.status(), 200, "of another project");
}

/// A stream goes on after its stack was deleted, or after its token was revoked.
pub(super) async fn they_end_with_the_right(kiln: &KilnProcess) {
    let user = User::member(kiln, "stanley").await;
    let stack = waiting(kiln, &user).await;
    let (one, two) =
        (open(kiln, &user, &stack).await, User::with(kiln, "steve", "reader", &user.project).await);
    let readers = open(kiln, &two, &stack).await;
    assert_eq!((one.status().as_u16(), readers.status().as_u16()), (200, 200));
    let url = format!("{}/auth/tokens", kiln.identity);
    let revoked = kiln.request(Who::Admin, "DELETE", url).header("X-Subject-Token", &two.token);
    assert_eq!(revoked.send().await.expect("an answer").status(), 204);
    read(readers).await;
    let refused = open(kiln, &two, &stack).await;
    assert_eq!(refused.status(), 401, "the stream has ended because the token is revoked");
    let shown = user.ask(kiln, "GET", &stack, None).await.body;
    assert_eq!(shown["stack"]["stack_status"], "CREATE_IN_PROGRESS");
    assert_eq!(user.ask(kiln, "DELETE", &stack, None).await.status, 204);
    read(one).await;
}
