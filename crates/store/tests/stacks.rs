//! Whole stacks on a store: the service and the engine, without a cloud.

use crate::suite::Case;
use crate::test_store::{TestDatabase, TestStore};
use kiln_cloud::{CreatedBy, NoCloud, UserToken};
use kiln_engine::store::{StackRow, Store};
use kiln_engine::{
    Config, Engine, EngineSettings, Requester, Rules, Service, StackId, StackRequest, Status,
    TemplateSource, TreePart,
};
use kiln_template::{Members, Value};
use std::sync::Arc;
use std::time::Instant;

pub(crate) const CASES: &[(&str, Case<TestStore>)] = &[("signals_are_rows_of_their_own", |test| {
    Box::pin(async move { signals_are_rows_of_their_own(&test.store).await })
})];

/// A service and an engine on a store.
struct Site {
    service: Service,
    engine: Engine,
}

impl Site {
    fn new(store: &Arc<dyn Store>) -> Site {
        let config = Arc::new(Config::default());
        let settings = EngineSettings::default();
        let engine = Engine::start(config.clone(), store.clone(), Arc::new(NoCloud), settings);
        let rules = Rules::default();
        let service =
            Service::new(store.clone(), config, rules, Arc::new(NoCloud), Some(engine.clone()));
        Site { service, engine }
    }

    /// Creates a stack with one parameter, and waits until it is created or has failed.
    async fn create(&self, template: &str, parameter: &str) -> StackRow {
        let requester = Requester {
            project: "p".into(),
            user_name: "u".into(),
            is_admin: false,
            stack_user_project: None,
            user_token: UserToken::default(),
            created_by: Arc::new(CreatedBy::default()),
            may_use: Arc::new(|_| true),
            has_service: Arc::new(|_| true),
        };
        let mut request = StackRequest {
            template: TemplateSource::Text(template.into()),
            ..StackRequest::default()
        };
        if !parameter.is_empty() {
            request.parameters.insert("p".into(), Value::from(parameter).into());
        }
        let id = self.service.create(&requester, "s", request).await.unwrap();
        self.rest(id).await
    }

    /// The stack when nothing is being done with it.
    async fn rest(&self, id: StackId) -> StackRow {
        loop {
            // An engine gives a tree up that is large and idle, or whose lease it could not renew in time.
            self.engine.wait_until_idle(id, 0).await;
            let stack = self.service.store().stack(id).await.unwrap().unwrap();
            if stack.summary.state.status != Status::InProgress {
                return stack;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn signal(&self, stack: &StackRow, id: &str, data: &str) -> Result<(), String> {
        let details = Value::map([("id", Value::from(id)), ("data", data.into())]);
        let told = self.service.signal(stack, "h", details).await;
        self.engine.wait_until_idle(stack.root, 0).await;
        told.map_err(|error| error.message.unwrap_or_default().to_string())
    }

    /// The metadata of the handle.
    async fn metadata(&self, stack: &StackRow) -> Arc<Members> {
        let view = self.service.part(stack, TreePart::Resource("h")).await.unwrap();
        let seen = view.stack(stack.id).unwrap();
        match seen.metadata(&seen.resource("h").unwrap()) {
            Value::Map(members) => members,
            other => panic!("{other:?} is no map"),
        }
    }
}

const HANDLE: &str =
    "heat_template_version: 2018-08-31\nresources: {h: {type: OS::Heat::WaitConditionHandle}}\n";

async fn signals_are_rows_of_their_own(store: &Arc<dyn Store>) {
    let site = Site::new(store);
    let stack = site.create(HANDLE, "").await;
    assert_eq!(stack.summary.state.status, Status::Complete, "{}", stack.summary.reason);
    for at in 0..30 {
        site.signal(&stack, &at.to_string(), "first").await.unwrap();
    }
    site.engine.stop().await;
    // Another engine finds them, and a repeated signal replaces the first one.
    let site = Site::new(store);
    site.signal(&stack, "7", "again").await.unwrap();
    site.signal(&stack, "30", "last").await.unwrap();
    let metadata = site.metadata(&stack).await;
    let ids: Vec<&str> = metadata.keys().map(|id| &**id).collect();
    let expected: Vec<String> = (0..=30).map(|at| at.to_string()).collect();
    assert_eq!(ids, expected);
    let data = |id: &str| metadata[id].as_map().unwrap()["data"].clone();
    assert_eq!([data("6"), data("7"), data("30")], ["first", "again", "last"].map(Value::from));
    let handle = store.resources(&[stack.id]).await.unwrap().remove(0);
    assert_eq!(store.resources(&[StackId(handle.id.0)]).await.unwrap().len(), 31);
    let bytes = store.tree_bytes(stack.root).await.unwrap();
    assert!(bytes > handle.body.len() as u64, "{bytes} bytes");
    site.service.delete(&stack).await.unwrap();
    site.engine.wait_until_all_idle().await;
    assert_eq!(store.resources(&[StackId(handle.id.0)]).await.unwrap(), []);
    site.engine.stop().await;
}

/// A thousand signals, and those for which there is no room; prints what they cost.
pub(crate) async fn signal_a_thousand_times(database: TestDatabase) {
    let store: Arc<dyn Store> = Arc::new(database.open().await);
    let site = Site::new(&store);
    let stack = site.create(HANDLE, "").await;
    let data = "x".repeat(200);
    let mut times = Vec::new();
    for at in 0..1000 {
        let start = Instant::now();
        site.signal(&stack, &at.to_string(), &data).await.unwrap();
        times.push(start.elapsed());
    }
    let mean = |times: &[std::time::Duration]| times.iter().sum::<std::time::Duration>() / 10;
    eprintln!("a signal of 10..20: {:?}", mean(&times[10..20]));
    eprintln!("a signal of 990..1000: {:?}", mean(&times[990..]));
    let large = "x".repeat(900 << 10);
    let start = Instant::now();
    for at in 0..10 {
        let refused = site.signal(&stack, &format!("large {at}"), &large).await.unwrap_err();
        assert!(refused.contains("max_signal"), "{refused}");
    }
    eprintln!("a signal that is refused: {:?}", start.elapsed() / 10);
    assert_eq!(site.metadata(&stack).await.len(), 1000);
    site.engine.stop().await;
}

/// A template whose resource joins a parameter, and whose other resources copy the result, takes no more of the disk than
/// the limit says.
pub(crate) async fn copy_a_large_value(database: TestDatabase) {
    let joined = vec!["{get_param: p}"; 15].join(", ");
    let mut template = format!(
        "heat_template_version: 2018-08-31\nparameters: {{p: {{type: string}}}}\nresources:\n  big: {{type: \
         OS::Heat::Value, properties: {{value: {{list_join: ['', [{joined}]]}}}}}}\n"
    );
    for at in 0..30 {
        let copy = "{type: OS::Heat::Value, properties: {value: {get_attr: [big, value]}}}";
        template.push_str(&format!("  c{at}: {copy}\n"));
    }
    let opened = Arc::new(database.open().await);
    let store: Arc<dyn Store> = opened.clone();
    let site = Site::new(&store);
    let stack = site.create(&template, &"x".repeat(256 << 10)).await;
    assert_eq!(stack.summary.state.status, Status::Failed);
    assert!(
        stack.summary.reason.contains("max_stack_bytes is 67108864"),
        "{}",
        stack.summary.reason
    );
    site.engine.stop().await;
    drop((site, store));
    // The last connection moves the log of the database into its file.
    opened.close().await;
    let bytes = database.bytes();
    eprintln!("{} MiB on disk", bytes >> 20);
    assert!(bytes < (64 << 20) + (8 << 20), "{bytes} bytes");
}
