//! A disk without room: SQLite's own bound stands in for it, and refuses with the same code.

use super::keys::execute;
use crate::test_store::{TestDatabase, TestStore};
use kiln_cloud::{Call, CallError, Credential, Reply, Transport};
use kiln_engine::store::Store;
use kiln_engine::{
    Action, Command, Config, Engine, EngineSettings as Pace, NewStack, Recipe, RecipeId, Source,
    StackId, StackSettings, Status,
};
use sqlx::Row;
use std::fmt::Write;
use std::sync::Arc;

/// How long a page is that SQLite writes.
const PAGE: u64 = 8192;

/// No cloud: the types of the test need none.
struct Nowhere;

#[async_trait::async_trait]
impl Transport for Nowhere {
    async fn send(&self, _: &Credential, _: Call) -> Result<Reply, CallError> {
        Err(CallError::NotSent("there is no cloud".into()))
    }
}

/// A stack with so many resources, and a template that is longer by some bytes.
fn new_stack(test: &TestStore, name: &str, resources: usize, longer_by: usize) -> NewStack {
    let padding = format!("# {}\n", "x".repeat(longer_by));
    let mut template = String::from("heat_template_version: 2021-04-16\nresources:\n");
    for number in 0..resources {
        _ = writeln!(template, "  r{number}: {{type: OS::Heat::RandomString}}");
    }
    template.push_str(&padding);
    let template = Source::Text(template.into());
    NewStack {
        id: StackId(test.id()),
        name: name.into(),
        project: "p".into(),
        user_name: "u".into(),
        recipe: Arc::new(Recipe { template, ..Recipe::nothing(RecipeId(test.id())) }),
        settings: StackSettings::default(),
        adopted: None,
        makers: 0,
        request: None,
    }
}

async fn until(store: &dyn Store, id: StackId, action: Action) {
    loop {
        let stack = store.stack(id).await.unwrap().unwrap();
        if stack.summary.state.is(action, Status::Complete) {
            return;
        }
        assert_ne!(stack.summary.state.status, Status::Failed, "{}", stack.summary.reason);
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn a_full_disk_delays_and_loses_nothing(database: TestDatabase) {
    if !database.url.starts_with("sqlite") {
        return;
    }
    let store = Arc::new(database.open().await);
    let test = TestStore::new(store.clone(), store.clone());
    let config = Arc::new(Config::default());
    let engine = Engine::start(config, store.clone(), Arc::new(Nowhere), Pace::default());
    let pages = execute(&database, "SELECT page_count FROM pragma_page_count").await;
    let used = u64::try_from(pages[0].get::<i64, _>(0)).unwrap() * PAGE;
    // Room for the stack itself, and not for what becomes of it.
    store.limit_size(Some(used + 30 * PAGE)).await.unwrap();
    let new = new_stack(&test, "first", 900, 0);
    let first = new.id;
    engine.create(new, None).await.unwrap();
    let refused = loop {
        // It eats up what is left, if the engine does not.
        if let Err(error) =
            engine.create(new_stack(&test, &test.id().to_string(), 1, 50_000), None).await
        {
            break error.to_string();
        }
    };
    assert!(refused.contains("database or disk is full"), "{refused}");
    assert!(refused.contains("make some"), "{refused}");
    let refused = engine.command(first, Command::Delete).await;
    if let Err(error) = &refused {
        assert!(error.to_string().contains("disk is full"), "{error}");
    }
    let stack = store.stack(first).await.unwrap().unwrap();
    assert!(stack.summary.state.is(Action::Create, Status::InProgress), "{}", stack.summary.state);
    store.limit_size(None).await.unwrap();
    if refused.is_err() {
        until(&*store, first, Action::Create).await;
        assert_eq!(store.resources(&[first]).await.unwrap().len(), 900);
        engine.command(first, Command::Delete).await.unwrap();
    }
    until(&*store, first, Action::Delete).await;
    assert!(store.resources(&[first]).await.unwrap().is_empty());
    engine.stop().await;
}
