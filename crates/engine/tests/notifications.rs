//! What others are told of stacks: when, in which order, and what.

use kiln_cloud::{
    Auth, Call, CallError, CreatedBy, Credential, Reply, Service as CloudService, Transport,
    UserToken,
};
use kiln_engine::store::{EventQuery, Store};
use kiln_engine::{
    Command, Config, Engine, EngineSettings as Pace, MemoryStore, Notification,
    NotificationListener, Requester, Rules, Service, StackId, StackRequest, Status, TemplateSource,
};
use kiln_template::Value;
use kiln_template::environment::Environment;
use serde_json::{Value as Json, json};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::watch;

/// Somebody who listens, and looks up at once whether what they hear is written down.
#[derive(Debug, Default)]
struct Ear {
    store: Arc<MemoryStore>,
    heard: Mutex<Vec<Notification>>,
    count: watch::Sender<usize>,
}

impl NotificationListener for Ear {
    fn notify(&self, notifications: Vec<Notification>) {
        for notice in &notifications {
            assert!(self.is_written(notice), "{notice:?} is told of before it is durable");
        }
        let mut heard = self.heard.lock().unwrap();
        heard.extend(notifications);
        self.count.send_replace(heard.len());
    }
}

impl Ear {
    fn is_written(&self, notice: &Notification) -> bool {
        let (stacks, filters) = (vec![notice.stack], Vec::new());
        let query = EventQuery { stacks, filters, descending: false, marker: None, limit: None };
        let events = self.store.events(&query);
        // A store in memory answers at once.
        match pin!(events).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(events) => events.unwrap().iter().any(|it| it.state == notice.state),
            Poll::Pending => false,
        }
    }

    /// The next so many, as soon as they came.
    async fn next(&self, count: usize) -> Vec<Notification> {
        self.count.subscribe().wait_for(|it| *it >= count).await.unwrap();
        let mut heard = self.heard.lock().unwrap();
        let rest = heard.split_off(count);
        self.count.send_replace(rest.len());
        std::mem::replace(&mut heard, rest)
    }
}

/// What matters of a notice, in a line. Names of nested stacks end in something random.
fn line(notice: &Notification) -> String {
    let name = notice.name.rsplit_once('-').map_or(&*notice.name, |(name, _)| name);
    match &notice.scaling {
        None => format!("{name} {}", notice.state),
        Some(it) => {
            assert!(it.group.starts_with("web-group-"), "{}", it.group);
            let failure = it.failure.as_deref().unwrap_or("-");
            format!("{name} {} {} {} {} {failure}", it.kind, it.adjustment, it.status, it.capacity)
        }
    }
}

async fn lines(ear: &Ear, count: usize) -> Vec<String> {
    let heard = tokio::time::timeout(Duration::from_secs(60), ear.next(count)).await;
    heard.expect("more is told").iter().map(line).collect()
}

/// A cloud with queues, and a book of what happens to it.
#[derive(Default)]
struct Queues {
    book: Mutex<Vec<Json>>,
    is_refusing: bool,
}

#[async_trait::async_trait]
impl Transport for Queues {
    async fn send(&self, by: &Credential, call: Call) -> Result<Reply, CallError> {
        assert_eq!((call.request.service, &*by.user), (CloudService::Messaging, "ana-id"));
        assert_eq!(call.request.path, "/queues/mine/messages");
        tokio::task::yield_now().await;
        if self.is_refusing {
            return Err(CallError::Refused(Reply::new(503, Json::Null)));
        }
        let body = call.request.body.unwrap_or_default();
        self.book.lock().unwrap().extend(body["messages"].as_array().unwrap().iter().cloned());
        Ok(Reply::new(201, Json::Null))
    }

    async fn delegate(
        &self,
        user_token: &UserToken,
        _: &kiln_cloud::PendingDelegation,
    ) -> Result<Credential, CallError> {
        let auth = Auth::Trust("t".into());
        let (user, project) = (user_token.user.clone(), user_token.project.clone());
        Ok(Credential { project, user, auth, is_inherited: false })
    }

    async fn revoke(&self, _: &Credential) -> Result<(), CallError> {
        self.book.lock().unwrap().push(json!("given back"));
        Ok(())
    }
}

struct Site {
    ear: Arc<Ear>,
    cloud: Arc<Queues>,
    config: Arc<Config>,
    store: Arc<MemoryStore>,
}

impl Site {
    fn new(cloud: Queues) -> Site {
        let ear = Arc::new(Ear::default());
        let config = Config { listener: Some(ear.clone()), retries: 0, ..Config::default() };
        let store = ear.store.clone();
        Site { ear, cloud: Arc::new(cloud), config: Arc::new(config), store }
    }

    fn engine(&self) -> Engine {
        let pace = Pace { scan_interval: Duration::from_millis(20), ..Pace::default() };
        Engine::start(self.config.clone(), self.store.clone(), self.cloud.clone(), pace)
    }

    fn service(&self, engine: Option<&Engine>) -> Service {
        let (store, cloud) = (self.store.clone(), self.cloud.clone());
        Service::new(store, self.config.clone(), Rules::default(), cloud, engine.cloned())
    }

    async fn create(&self, service: &Service, mut request: StackRequest) -> StackId {
        request.settings.is_rolled_back = Some(true);
        request.settings.tags = Some(vec!["red".into()]);
        service.create(&asker(), "web", request).await.unwrap_or_else(|refusal| {
            panic!("{:?}", refusal.message);
        })
    }
}

fn asker() -> Requester {
    Requester {
        project: "p".into(),
        user_name: "ana".into(),
        is_admin: false,
        stack_user_project: None,
        user_token: UserToken {
            user: "ana-id".into(),
            project: "p".into(),
            ..UserToken::default()
        },
        created_by: Arc::new(CreatedBy {
            user_id: "ana-id".into(),
            user_name: "ana".into(),
            roles: vec!["member".into()],
            ..CreatedBy::default()
        }),
        may_use: Arc::new(|_| true),
        has_service: Arc::new(|_| true),
    }
}

fn template(text: &str) -> StackRequest {
    StackRequest { template: TemplateSource::Text(text.into()), ..StackRequest::default() }
}

const SCALING: &str = concat!(
    "
heat_template_version: 2021-04-16
description: a group
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties: {min_size: 1, max_size: 2, resource: {type: OS::Heat::RandomString}}
",
    include_str!("../../../tests/samples/scaling_policy.yaml"),
);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_life_with_a_nested_stack_and_a_group_that_grows() {
    let site = Site::new(Queues::default());
    let engine = site.engine();
    let service = site.service(Some(&engine));
    let id = site.create(&service, template(SCALING)).await;
    let first = site.ear.next(1).await.remove(0);
    assert_eq!((line(&first).as_str(), first.stack), ("web CREATE_IN_PROGRESS", id));
    assert_eq!(first.description.as_deref(), Some("a group"));
    assert_eq!((&*first.user_id, &*first.user_name, &*first.project), ("ana-id", "ana", "p"));
    assert_eq!((&*first.reason, first.tags), ("Stack CREATE started", vec!["red".into()]));
    assert_eq!(first.updated, None);
    let nested = site.ear.next(1).await.remove(0);
    assert_eq!(line(&nested), "web-group CREATE_IN_PROGRESS");
    assert_eq!(nested.description.as_deref(), Some("No description"));
    assert!(nested.tags.is_empty());
    assert_eq!(lines(&site.ear, 2).await, ["web-group CREATE_COMPLETE", "web CREATE_COMPLETE"]);
    let stack = site.store.stack(id).await.unwrap().unwrap();
    service.signal(&stack, "up", Value::Null).await.unwrap();
    let grown = [
        "web change_in_capacity 1 IN_PROGRESS 1 -",
        "web-group UPDATE_IN_PROGRESS",
        "web-group UPDATE_COMPLETE",
        "web change_in_capacity 1 COMPLETE 2 -",
    ];
    assert_eq!(lines(&site.ear, 4).await, grown);
    // It has as many as it may have: nothing is done, and nothing told.
    service.signal(&stack, "up", Value::Null).await.unwrap();
    engine.command(id, Command::Delete).await.unwrap();
    let gone = [
        "web DELETE_IN_PROGRESS",
        "web-group DELETE_IN_PROGRESS",
        "web-group DELETE_COMPLETE",
        "web DELETE_COMPLETE",
    ];
    assert_eq!(lines(&site.ear, 4).await, gone);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_that_is_rolled_back() {
    let site = Site::new(Queues::default());
    let engine = site.engine();
    let text = "heat_template_version: 2021-04-16\ndescription: bad\n\
                resources: {r: {type: OS::Heat::TestResource, properties: {fail: true}}}\n";
    site.create(&site.service(Some(&engine)), template(text)).await;
    let heard = site.ear.next(4).await;
    let told = [
        "web CREATE_IN_PROGRESS",
        "web CREATE_FAILED",
        "web ROLLBACK_IN_PROGRESS",
        "web ROLLBACK_COMPLETE",
    ];
    assert_eq!(heard.iter().map(line).collect::<Vec<_>>(), told);
    assert!(heard[1].reason.starts_with("Resource CREATE failed: "), "{}", heard[1].reason);
    assert_eq!(heard[1].description.as_deref(), Some("bad"));
    // It goes back to nothing, which says nothing of itself.
    assert_eq!(heard[3].description.as_deref(), Some("No description"));
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_cannot_grow_is_reported_with_the_reason() {
    let site = Site::new(Queues::default());
    let engine = site.engine();
    let service = site.service(Some(&engine));
    let text = SCALING.replace(
        "OS::Heat::RandomString",
        "OS::Heat::TestResource, properties: {action_wait_secs: {update: 0}}",
    );
    // The second member is one too many for the whole tree.
    let mut config = (*site.config).clone();
    config.max_resources = Some(3);
    let site = Site { config: Arc::new(config), ..site };
    engine.stop().await;
    drop(service);
    let engine = site.engine();
    let service = site.service(Some(&engine));
    let id = site.create(&service, template(&text)).await;
    lines(&site.ear, 4).await;
    let stack = site.store.stack(id).await.unwrap().unwrap();
    service.signal(&stack, "up", Value::Null).await.unwrap();
    let first = lines(&site.ear, 1).await;
    assert_eq!(first, ["web change_in_capacity 1 IN_PROGRESS 1 -"]);
    loop {
        let notice = site.ear.next(1).await.remove(0);
        let Some(scaling) = notice.scaling else { continue };
        assert_eq!((scaling.status, scaling.capacity), (Status::Failed, 1));
        assert!(scaling.failure.is_some_and(|why| !why.is_empty()));
        break;
    }
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_without_an_engine_sends_the_notifications_it_records() {
    let site = Site::new(Queues::default());
    let text =
        "heat_template_version: 2021-04-16\nresources: {r: {type: OS::Heat::RandomString}}\n";
    site.create(&site.service(None), template(text)).await;
    assert_eq!(lines(&site.ear, 1).await, ["web CREATE_IN_PROGRESS"]);
    let engine = site.engine();
    assert_eq!(lines(&site.ear, 1).await, ["web CREATE_COMPLETE"]);
    engine.stop().await;
}

fn with_sink(text: &str) -> StackRequest {
    let sink = [("type", "zaqar-queue"), ("target", "mine")];
    let sink = Value::map(sink.map(|(name, value)| (name, Value::from(value))));
    let environment = Environment { event_sinks: vec![sink], ..Environment::default() };
    StackRequest { environment, ..template(text) }
}

/// What matters of what was sent to a queue.
fn sent(message: &Json) -> String {
    let payload = &message["body"]["payload"];
    match payload.is_null() {
        true => message.as_str().unwrap_or_default().to_owned(),
        false => {
            let part = |name: &str| payload[name].as_str().unwrap_or_default();
            assert_eq!(message["ttl"], 3600);
            format!(
                "{} {} {}",
                part("resource_name"),
                part("resource_action"),
                part("resource_status")
            )
        }
    }
}

const FAILING: &str = "heat_template_version: 2021-04-16\n\
    resources: {r: {type: OS::Heat::TestResource, properties: {fail: true}}}\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_sent_to_the_users_queue_before_the_delegation_is_revoked() {
    let site = Site::new(Queues::default());
    // The first event is recorded by somebody without an engine.
    let id = site.create(&site.service(None), with_sink(FAILING)).await;
    let is_sent = |count: usize| {
        let cloud = site.cloud.clone();
        async move {
            while cloud.book.lock().unwrap().len() < count {
                tokio::task::yield_now().await;
            }
        }
    };
    is_sent(1).await;
    let engine = site.engine();
    is_sent(8).await;
    engine.command(id, Command::Delete).await.unwrap();
    is_sent(11).await;
    let book: Vec<String> = site.cloud.book.lock().unwrap().iter().map(sent).collect();
    let expected = [
        "web CREATE IN_PROGRESS",
        "r CREATE IN_PROGRESS",
        "r CREATE FAILED",
        "web CREATE FAILED",
        "web ROLLBACK IN_PROGRESS",
        "r DELETE IN_PROGRESS",
        "r DELETE COMPLETE",
        "web ROLLBACK COMPLETE",
        "web DELETE IN_PROGRESS",
        "web DELETE COMPLETE",
        "given back",
    ];
    assert_eq!(book, expected);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreachable_queue_delays_no_stack() {
    let site = Site::new(Queues { is_refusing: true, ..Queues::default() });
    let engine = site.engine();
    let id = site.create(&site.service(Some(&engine)), with_sink(FAILING)).await;
    lines(&site.ear, 4).await;
    engine.command(id, Command::Delete).await.unwrap();
    assert_eq!(lines(&site.ear, 2).await, ["web DELETE_IN_PROGRESS", "web DELETE_COMPLETE"]);
    engine.stop().await;
}
