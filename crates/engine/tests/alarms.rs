//! Alarms that the service keeps itself, looked at by engines in real time.

mod webhooks;

use crate::reader;
use kiln_cloud::{Call, CallError, CreatedBy, Credential, Method, Reply, Transport, UserToken};
use kiln_engine::alarms::{
    Alarm, AlarmChange, AlarmRow, AlarmState, Alarms, HistoryQuery, Series, Totals, Verdict,
};
use kiln_engine::store::{EventQuery, StackRow, Store};
use kiln_engine::{
    Action, Command, Config, Engine, EngineSettings as Pace, Ids, MemoryStore, MetricDatum,
    NewStack, Recipe, RecipeId, RequestError, Requester, Rules, Service, Source, StackAlarm,
    StackId, StackSettings, State, Status, SystemIds, Time, now,
};
use kiln_template::{Members, Value};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// A cloud with keys, if it likes.
#[derive(Default)]
struct Keys {
    is_refusing: std::sync::atomic::AtomicBool,
}

#[async_trait::async_trait]
impl Transport for Keys {
    async fn send(&self, _: &Credential, call: Call) -> Result<Reply, CallError> {
        let name = call.request.body.as_ref().map(|body| body["keypair"]["name"].clone());
        let is_refusing = self.is_refusing.load(std::sync::atomic::Ordering::SeqCst);
        match (call.request.method, name) {
            (Method::Post, Some(_)) if is_refusing => {
                Err(CallError::Refused(Reply::new(403, serde_json::json!({ "message": "full" }))))
            }
            (Method::Post, Some(name)) => {
                Ok(Reply::new(200, serde_json::json!({ "keypair": { "name": name } })))
            }
            (Method::Get, _) => {
                Ok(Reply::new(200, serde_json::json!({ "keypair": { "name": "k" } })))
            }
            _ => Err(CallError::Refused(Reply::new(404, serde_json::Value::Null))),
        }
    }
}

/// A cloud that is never asked.
struct Nowhere;

#[async_trait::async_trait]
impl Transport for Nowhere {
    async fn send(&self, _: &Credential, _: Call) -> Result<Reply, CallError> {
        Err(CallError::NotSent("there is no cloud".into()))
    }
}

const TEMPLATE: &str = concat!(
    "
heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties: {min_size: 1, max_size: 4, resource: {type: OS::Heat::RandomString}}
",
    include_str!("../../../tests/samples/scaling_policy.yaml"),
    "  down:
    type: OS::Heat::ScalingPolicy
    properties:
      adjustment_type: change_in_capacity
      scaling_adjustment: -1
      auto_scaling_group_id: {get_resource: group}
",
);

struct Site {
    store: Arc<MemoryStore>,
    config: Arc<Config>,
}

impl Site {
    fn new() -> Site {
        let config = Config { alarm_scan_interval: Duration::from_millis(20), ..Config::default() };
        Site { store: Arc::default(), config: Arc::new(config) }
    }

    fn engine(&self) -> Engine {
        self.engine_in(Arc::new(Nowhere))
    }

    fn engine_in(&self, cloud: Arc<dyn Transport>) -> Engine {
        let pace = Pace { scan_interval: Duration::from_millis(20), ..Pace::default() };
        Engine::start(self.config.clone(), self.store.clone(), cloud, pace)
    }

    fn service(&self, engine: &Engine) -> Service {
        let (store, transport) = (self.store.clone(), Arc::new(Nowhere));
        let engine = Some(engine.clone());
        Service::new(store, self.config.clone(), Rules::default(), transport, engine)
    }

    async fn stack(&self, engine: &Engine) -> StackRow {
        self.stack_of(engine, TEMPLATE).await
    }

    async fn stack_of(&self, engine: &Engine, template: &str) -> StackRow {
        let id = StackId(SystemIds::default().next());
        let template = Source::Text(template.into());
        let recipe = Recipe { template, ..Recipe::nothing(RecipeId(SystemIds::default().next())) };
        let new = NewStack {
            id,
            name: "web".into(),
            project: "p".into(),
            user_name: "u".into(),
            recipe: Arc::new(recipe),
            settings: StackSettings::default(),
            adopted: None,
            makers: 0,
            request: None,
        };
        engine.create(new, None).await.unwrap();
        self.until(async || {
            let stack = self.store.stack(id).await.unwrap().unwrap();
            assert_ne!(stack.summary.state.status, Status::Failed, "{}", stack.summary.reason);
            stack.summary.state.is(Action::Create, Status::Complete).then_some(stack)
        })
        .await
    }

    /// Waits until something is so.
    async fn until<T>(&self, mut look: impl AsyncFnMut() -> Option<T>) -> T {
        let mut commits = self.store.watch_commits();
        loop {
            commits.mark_unchanged();
            if let Some(found) = look().await {
                return found;
            }
            commits.changed().await.unwrap();
        }
    }

    /// How many members the group has.
    async fn size(&self, root: StackId) -> usize {
        let rows = self.store.load_tree(root).await.unwrap().unwrap();
        let members = rows.resources.iter().filter(|row| row.stack != root);
        let is_there = |state: State| state.action != Action::Delete;
        members.filter(|row| is_there(row.summary.state)).count()
    }

    async fn until_size(&self, root: StackId, size: usize) {
        self.until(async || (self.size(root).await == size).then_some(())).await;
    }

    /// How many signals a policy heard.
    async fn signals(&self, root: StackId, policy: &str) -> Vec<String> {
        let query = EventQuery {
            stacks: vec![root],
            filters: Vec::new(),
            descending: false,
            marker: None,
            limit: None,
        };
        let events = self.store.events(&query).await.unwrap();
        let of_policy =
            events.iter().filter(|it| &*it.resource == policy && it.state.action == Action::Signal);
        of_policy.map(|event| event.reason.to_string()).collect()
    }

    /// Has an alarm looked at now.
    async fn hurry(&self, id: Uuid) {
        loop {
            let row = self.store.alarm(id).await.unwrap().unwrap();
            let was = Some(row.version);
            let alarm = AlarmRow { due: now(), ..row };
            let (history, commands, webhooks) = (Vec::new(), Vec::new(), Vec::new());
            let change = AlarmChange {
                alarm,
                expected_version: was,
                max_alarms: None,
                is_deleted: false,
                history,
                commands,
                webhooks,
            };
            if self.store.write_alarms(&[change]).await.unwrap() == [true] {
                return;
            }
        }
    }

    async fn until_state(&self, id: Uuid, state: AlarmState) -> AlarmRow {
        self.until(async || self.store.alarm(id).await.unwrap().filter(|it| it.state == state))
            .await
    }
}

fn asker(guest_in: Option<&str>) -> Requester {
    Requester {
        project: if guest_in.is_some() { "users".into() } else { "p".into() },
        user_name: "u".into(),
        is_admin: false,
        stack_user_project: guest_in.map(Into::into),
        user_token: UserToken::default(),
        created_by: Arc::new(CreatedBy::default()),
        may_use: Arc::new(|_| true),
        has_service: Arc::new(|_| true),
    }
}

/// An alarm that is looked at once an hour, unless somebody hurries.
fn rule(parts: &[(&str, Value)]) -> Members {
    let usual = [
        ("MetricName", Value::from("CPU")),
        ("Namespace", "system/linux".into()),
        ("Statistic", "Average".into()),
        ("Period", "3600".into()),
        ("EvaluationPeriods", "1".into()),
        ("Threshold", "50".into()),
        ("ComparisonOperator", "GreaterThanThreshold".into()),
        ("AlarmActions", Value::list(["up".into()])),
    ];
    let mut given: Members = usual
        .into_iter()
        .chain(parts.iter().cloned())
        .map(|(name, value)| (name.into(), value))
        .collect();
    Alarm::use_last_period_only(&mut given);
    given
}

async fn put(service: &Service, stack: &StackRow, name: &str, given: Members) -> Uuid {
    let id = SystemIds::default().next();
    let resources = ["up", "down"].map(|it| (it.into(), it.into())).into();
    let new = StackAlarm {
        name: name.into(),
        stack: stack.id,
        definition: given,
        resources,
        is_active: true,
    };
    service.put_stack_alarm(&asker(None), id, new).await.unwrap();
    id
}

fn datum(value: f64, alarm: Option<&str>) -> MetricDatum {
    let series = Series {
        project: "".into(),
        namespace: "system/linux".into(),
        metric: "CPU".into(),
        unit: Some("Percent".into()),
        alarm: alarm.map(Into::into),
        dimensions: Default::default(),
    };
    MetricDatum { series, totals: Totals::single(value), time: None }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alarm_that_fires_scales_once_whichever_engine_evaluates_it() {
    let site = Site::new();
    let (one, other) = (site.engine(), site.engine());
    let service = site.service(&one);
    let stack = site.stack(&one).await;
    let id = put(&service, &stack, "web-high", rule(&[])).await;
    service.put_metrics(&asker(None), vec![datum(80.0, None)]).await.unwrap();
    site.hurry(id).await;
    site.until_state(id, AlarmState::Alarm).await;
    site.until_size(stack.id, 2).await;
    // It lasts, and tells again a period later.
    site.hurry(id).await;
    site.until_size(stack.id, 3).await;
    let said = site.signals(stack.id, "up").await;
    assert_eq!(said, ["alarm state changed to ALARM"; 2]);
    let query = HistoryQuery {
        project: "p".into(),
        alarm: Some("web-high".into()),
        kind: None,
        from: None,
        until: None,
        descending: false,
        marker: None,
        limit: 10,
    };
    let history = site.store.alarm_history(&query).await.unwrap();
    let kinds: Vec<&str> = history.iter().map(|it| it.kind.name()).collect();
    assert_eq!(kinds, ["ConfigurationUpdate", "StateUpdate", "Action"]);
    one.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_engine_sends_the_signals_of_a_committed_evaluation() {
    let site = Site::new();
    let engine = site.engine();
    let service = site.service(&engine);
    let stack = site.stack(&engine).await;
    let id = put(&service, &stack, "web-high", rule(&[])).await;
    engine.stop().await;
    // The engine that evaluated the alarm dies right after the commit.
    let row = site.store.alarm(id).await.unwrap().unwrap();
    let verdict = Verdict { state: AlarmState::Alarm, reason: "hot".into() };
    let occasion = kiln_engine::alarms::EvaluationContext { now: now(), notifies: true };
    let change = Alarm::from_row(row).unwrap().apply(&verdict, occasion, &mut SystemIds::default());
    assert_eq!(site.store.write_alarms(std::slice::from_ref(&change)).await.unwrap(), [true]);
    assert_eq!(site.store.write_alarms(&[change]).await.unwrap(), [false]);
    let engine = site.engine();
    site.until_size(stack.id, 2).await;
    assert_eq!(site.signals(stack.id, "up").await.len(), 1);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_alarm_fires_for_the_time_without_an_engine() {
    let site = Site::new();
    let engine = site.engine();
    let service = site.service(&engine);
    let stack = site.stack(&engine).await;
    // A heartbeat that is not heard.
    let silence = rule(&[
        ("Statistic", "SampleCount".into()),
        ("Threshold", "1".into()),
        ("ComparisonOperator", "LessThanThreshold".into()),
    ]);
    let id = put(&service, &stack, "web-silent", silence).await;
    engine.stop().await;
    site.hurry(id).await;
    let engine = site.engine();
    let reset =
        site.until(async || site.store.alarm(id).await.unwrap().filter(|it| it.due > now())).await;
    assert_eq!(reset.state, AlarmState::NoData);
    site.hurry(id).await;
    site.until_state(id, AlarmState::Alarm).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_alarm_is_not_evaluated_and_takes_no_samples() {
    let site = Site::new();
    let engine = site.engine();
    let service = site.service(&engine);
    let stack = site.stack(&engine).await;
    let id = put(&service, &stack, "web-high", rule(&[])).await;
    service.set_alarm_active(&asker(None), id, false).await.unwrap();
    let row = site.store.alarm(id).await.unwrap().unwrap();
    assert_eq!((row.state, row.due), (AlarmState::Suspended, Time::NEVER));
    service.put_metrics(&asker(None), vec![datum(80.0, Some("web-high"))]).await.unwrap();
    let given = site.store.samples(&[id], Time::default(), Time::NEVER).await.unwrap();
    assert_eq!(given, []);
    service.set_alarm_active(&asker(None), id, true).await.unwrap();
    let row = site.store.alarm(id).await.unwrap().unwrap();
    assert_eq!(row.state, AlarmState::NoData);
    assert!(row.due > now() && row.due < Time::NEVER);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn samples_reach_every_alarm_that_selects_them() {
    let site = Site::new();
    let engine = site.engine();
    let service = site.service(&engine);
    let stack = site.stack(&engine).await;
    let (high, low) = (
        put(&service, &stack, "web-high", rule(&[])).await,
        put(&service, &stack, "web-low", rule(&[])).await,
    );
    let other = put(&service, &stack, "web-memory", rule(&[("MetricName", "Memory".into())])).await;
    let given = async |id| {
        let samples = site.store.samples(&[id], Time::default(), Time::NEVER).await.unwrap();
        samples.iter().map(|it| it.totals.count).sum::<f64>()
    };
    service.put_metrics(&asker(None), vec![datum(1.0, None)]).await.unwrap();
    service.put_metrics(&asker(None), vec![datum(1.0, Some("web-low"))]).await.unwrap();
    // A sample of another metric is not for an alarm, though it was named.
    service.put_metrics(&asker(None), vec![datum(1.0, Some("web-memory"))]).await.unwrap();
    assert_eq!((given(high).await, given(low).await, given(other).await), (1.0, 2.0, 0.0));

    let missing = |refused: RequestError| refused.message.unwrap_or_default();
    let refused = service.put_metrics(&asker(None), vec![datum(1.0, Some("nobody"))]).await;
    let told = missing(refused.unwrap_err());
    assert_eq!(told, "The Watch Rule (nobody) could not be found.");

    // A guest reaches the alarms of its own stack alone, and measures for nobody else.
    let users = format!("p-{}", stack.id);
    let guest = asker(Some(&users.chars().take(64).collect::<String>()));
    service.put_metrics(&guest, vec![datum(1.0, Some("web-high"))]).await.unwrap();
    assert_eq!(given(high).await, 2.0);
    let stranger = asker(Some("p-00000000-0000-0000-0000-000000000000"));
    for (alarm, name) in [(Some("web-high"), "web-high"), (None, "Unknown")] {
        let refused = service.put_metrics(&stranger, vec![datum(1.0, alarm)]).await;
        let told = missing(refused.unwrap_err());
        assert_eq!(told, format!("The Watch Rule ({name}) could not be found."));
    }
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alarms_scale_both_ways_and_record_why_they_did_not() {
    let site = Site::new();
    let engine = site.engine();
    let service = site.service(&engine);
    let stack = site.stack(&engine).await;
    let high = put(&service, &stack, "web-high", rule(&[])).await;
    let low = rule(&[
        ("ComparisonOperator", "LessThanOrEqualToThreshold".into()),
        ("AlarmActions", Value::list(["down".into()])),
    ]);
    let low = put(&service, &stack, "web-low", low).await;
    service.put_metrics(&asker(None), vec![datum(99.0, None)]).await.unwrap();
    site.hurry(high).await;
    site.until_size(stack.id, 2).await;
    site.hurry(low).await;
    site.until_state(low, AlarmState::Normal).await;
    // Now it is quiet: what was measured before counts no more.
    for _ in 0..20 {
        service.put_metrics(&asker(None), vec![datum(0.0, None)]).await.unwrap();
    }
    site.hurry(low).await;
    site.until_size(stack.id, 1).await;
    // It cannot be smaller; that is told once, however often the alarm tells.
    for _ in 0..3 {
        let version = site.store.alarm(low).await.unwrap().unwrap().version;
        site.hurry(low).await;
        site.until(async || {
            let row = site.store.alarm(low).await.unwrap().unwrap();
            (row.version >= version + 2).then_some(())
        })
        .await;
    }
    site.until(async || site.store.commands(stack.id).await.unwrap().is_empty().then_some(()))
        .await;
    let said = site.signals(stack.id, "down").await;
    let why =
        "Signal: nothing was scaled, because the group has 1 members, the least that it may have";
    assert_eq!(said, ["alarm state changed to ALARM", why]);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abandoned_stack_leaves_no_alarm() {
    let site = Site::new();
    let engine = site.engine();
    let service = site.service(&engine);
    let stack = site.stack(&engine).await;
    let id = put(&service, &stack, "web-high", rule(&[])).await;
    engine.command(stack.id, Command::Abandon).await.unwrap();
    site.until(async || {
        let row = site.store.stack(stack.id).await.unwrap();
        row.is_none_or(|it| it.summary.deleted.is_some()).then_some(())
    })
    .await;
    site.hurry(id).await;
    site.until(async || site.store.alarm(id).await.unwrap().is_none().then_some(())).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_can_set_the_state_of_an_alarm() {
    let site = Site::new();
    let engine = site.engine();
    let service = site.service(&engine);
    let stack = site.stack(&engine).await;
    let id = put(&service, &stack, "web-high", rule(&[])).await;
    let verdict = Verdict { state: AlarmState::Alarm, reason: "I say so".into() };
    for _ in 0..2 {
        let who = asker(None);
        service.set_alarm_state(&who, "web-high", &verdict, Value::Null).await.unwrap();
    }
    site.until_size(stack.id, 2).await;
    let row = site.store.alarm(id).await.unwrap().unwrap();
    assert!(row.due > now(), "it is looked at when it would have been");
    assert_eq!(site.signals(stack.id, "up").await.len(), 1, "what is not news is not told");
    // A rule that tells nobody changes its mind all the same.
    service.enable_alarms(&asker(None), &["web-high".into()], false).await.unwrap();
    site.hurry(id).await;
    site.until_state(id, AlarmState::NoData).await;
    service.put_metrics(&asker(None), vec![datum(80.0, None)]).await.unwrap();
    site.hurry(id).await;
    site.until_state(id, AlarmState::Alarm).await;
    assert_eq!(site.size(stack.id).await, 2);
    engine.stop().await;
}

/// The metadata of the group.
async fn flag(site: &Site, root: StackId) -> String {
    let view =
        kiln_engine::View::open(&reader(&*site.store, &site.config), root).await.unwrap().unwrap();
    let stack = view.stack(root).unwrap();
    let group = stack.resource("group").unwrap();
    kiln_template::print::plain(&stack.metadata(&group))
}

async fn signal(site: &Site, engine: &Engine, stack: &StackRow, policy: &str) {
    let service = site.service(engine);
    service.signal(stack, policy, Value::Null).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_could_not_grow_can_shrink() {
    let config = Config { retries: 0, ..Config::default() };
    let site = Site { store: Arc::default(), config: Arc::new(config) };
    let cloud = Arc::new(Keys::default());
    let engine = site.engine_in(cloud.clone());
    let template = TEMPLATE
        .replace("min_size: 1", "min_size: 1, desired_capacity: 2")
        .replace("OS::Heat::RandomString", "OS::Nova::KeyPair, properties: {name: k}");
    let stack = site.stack_of(&engine, &template).await;
    assert_eq!(site.size(stack.id).await, 2);
    cloud.is_refusing.store(true, std::sync::atomic::Ordering::SeqCst);
    signal(&site, &engine, &stack, "up").await;
    let is_failed = async || {
        let rows = site.store.load_tree(stack.id).await.unwrap().unwrap();
        let is_failed =
            rows.resources.iter().any(|it| it.summary.state.is(Action::Create, Status::Failed));
        is_failed.then_some(())
    };
    site.until(is_failed).await;
    site.until(async || {
        flag(&site, stack.id).await.contains("'scaling_in_progress': False").then_some(())
    })
    .await;
    // Refused again, it is no smaller for that; and then it may shrink: what failed goes first.
    signal(&site, &engine, &stack, "down").await;
    site.until_size(stack.id, 1).await;
    let rows = site.store.load_tree(stack.id).await.unwrap().unwrap();
    assert!(
        rows.resources.iter().all(|it| it.summary.state.status != Status::Failed),
        "what failed is gone"
    );
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_engine_finishes_an_interrupted_scaling() {
    let site = Site::new();
    let engine = site.engine();
    let slow = TEMPLATE.replace(
        "OS::Heat::RandomString",
        "OS::Heat::TestResource, properties: {action_wait_secs: {create: 1}}",
    );
    let stack = site.stack_of(&engine, &slow).await;
    signal(&site, &engine, &stack, "up").await;
    site.until(async || {
        flag(&site, stack.id).await.contains("'scaling_in_progress': True").then_some(())
    })
    .await;
    engine.stop().await;
    assert!(flag(&site, stack.id).await.contains("'scaling_in_progress': True"));
    let engine = site.engine();
    site.until(async || {
        flag(&site, stack.id).await.contains("'scaling_in_progress': False").then_some(())
    })
    .await;
    site.until_size(stack.id, 2).await;
    assert_eq!(site.signals(stack.id, "up").await.len(), 1);
    engine.stop().await;
}
