//! Starting, and what is counted.

use super::keys::execute;
use crate::test_store::{TestDatabase, TestStore, at, batch};
use kiln_engine::PhysicalId;
use kiln_engine::store::{
    Batch, EventQuery, EventRow, NewTree, ResourceRow, StackField, StackQuery, Store,
};
use kiln_store::{OpenError, SqlStore};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

pub(crate) async fn two_processes_start_at_once(database: TestDatabase) {
    let database = Arc::new(database);
    let starts: Vec<_> = (0..4)
        .map(|_| {
            let database = database.clone();
            tokio::spawn(async move { database.open().await })
        })
        .collect();
    let mut stores = Vec::new();
    for start in starts {
        stores.push(Arc::new(start.await.unwrap()));
    }
    let test = TestStore::new(stores[0].clone(), stores[1].clone());
    let (stack, _) = test.owned("p", "a").await;
    for store in &stores {
        assert_eq!(store.stack(stack.id).await.unwrap().as_ref(), Some(&stack));
    }
}

pub(crate) async fn a_newer_schema_is_refused(database: TestDatabase) {
    database.open().await.close().await;
    execute(&database, "INSERT INTO migrations (number) VALUES (999)").await;
    let error = SqlStore::open(&database.url, &database.keys).await.unwrap_err();
    assert!(matches!(error, OpenError::Newer { found: 999, .. }), "{error}");
    assert!(error.to_string().contains("upgrade"), "{error}");
    let error = SqlStore::open("oracle://x", &database.keys).await.unwrap_err();
    assert!(error.to_string().contains("sqlite:///"), "{error}");
}

pub(crate) async fn transactions_are_counted(database: TestDatabase) {
    let store = Arc::new(database.open().await);
    let test = TestStore::new(store.clone(), store.clone());
    assert_eq!(store.commits(), 0);
    let engine = test.engine();
    assert_eq!(store.claim(engine, at(1), at(2), 5).await.unwrap(), []);
    assert_eq!(store.commits(), 0);
    let tree = NewTree { owner: Some((engine, at(9))), ..test.tree("p", "a") };
    let stack = tree.stack.clone();
    store.create_tree(tree).await.unwrap();
    assert_eq!(store.commits(), 1);
    let lease = store.renew(engine, at(9)).await.unwrap()[0];
    let resources = (0..500).map(|number| test.resource(&stack, number)).collect();
    test.write(Batch { resources, ..batch(lease) }).await;
    assert_eq!(store.commits(), 3);
    assert_eq!(store.commit(&[Batch { fence: 5, ..batch(lease) }]).await.unwrap(), [false]);
    assert!(store.create_tree(test.tree("p", "a")).await.is_err());
    assert_eq!(store.commits(), 3);
}

/// The tables with texts, and whether their rows have physical ids.
const WITH_TEXTS: [(&str, bool); 4] =
    [("stacks", false), ("resources", true), ("events", true), ("snapshots", false)];

/// Makes a store one of the schema before texts were sealed: all reasons and ids are these.
async fn downgrade(database: &TestDatabase, reason: &str, id: &str) {
    let text = if database.url.starts_with("mysql") { "LONGTEXT" } else { "TEXT" };
    for (table, has_id) in WITH_TEXTS {
        let columns = if has_id {
            &[("reason", reason), ("physical_id", id)][..]
        } else {
            &[("reason", reason)]
        };
        for (column, value) in columns {
            execute(database, &format!("ALTER TABLE {table} ADD COLUMN {column} {text}")).await;
            execute(database, &format!("UPDATE {table} SET {column} = '{value}'")).await;
        }
        execute(database, &format!("ALTER TABLE {table} DROP COLUMN texts")).await;
    }
    execute(database, "ALTER TABLE stacks DROP COLUMN reason_key").await;
    execute(database, "ALTER TABLE trees DROP COLUMN event_bytes").await;
    execute(database, "DROP TABLE quotas").await;
    execute(database, "DELETE FROM migrations WHERE number > 4").await;
}

pub(crate) async fn the_texts_of_an_earlier_version_are_sealed(database: TestDatabase) {
    let store = Arc::new(database.open().await);
    let test = TestStore::new(store.clone(), store.clone());
    let (stack, lease) = test.owned("p", "a").await;
    // More rows than are sealed at once.
    let resources = (0..700).map(|number| test.resource(&stack, number)).collect();
    let events = (1..700).map(|number| test.event(&stack, number)).collect();
    let snapshots = vec![test.snapshot(&stack, "s")];
    test.write(Batch { resources, events, snapshots, ..batch(lease) }).await;
    store.close().await;
    downgrade(&database, "PLAIN reason", "PLAIN id").await;
    let store = database.open().await;
    let read = store.stack(stack.id).await.unwrap().unwrap();
    assert_eq!(&*read.summary.reason, "PLAIN reason");
    let resources = store.resources(&[stack.id]).await.unwrap();
    assert_eq!(resources.len(), 700);
    for row in resources.iter().chain(&store.lean_resources(stack.id).await.unwrap().0) {
        assert_eq!(&*row.summary.reason, "PLAIN reason");
        assert_eq!(row.summary.physical_id, Some(PhysicalId::new("PLAIN id")));
    }
    let query = EventQuery {
        stacks: vec![stack.id],
        filters: Vec::new(),
        descending: false,
        marker: None,
        limit: None,
    };
    let events = store.events(&query).await.unwrap();
    assert_eq!(events.len(), 699);
    assert!(
        events.iter().all(|it| &*it.reason == "PLAIN reason" && &*it.physical_id == "PLAIN id")
    );
    assert_eq!(&*store.snapshots(stack.id).await.unwrap()[0].reason, "PLAIN reason");
    let filters = vec![(StackField::Reason, vec!["PLAIN reason".into()])];
    let query = StackQuery { filters, ..StackQuery::default() };
    assert_eq!(store.stacks(&query).await.unwrap().len(), 1);
    // Nothing of them is left in the file or in its journal.
    if let Some(path) = database.url.strip_prefix("sqlite://") {
        for suffix in ["", "-wal"] {
            let bytes = std::fs::read(format!("{path}{suffix}")).unwrap_or_default();
            assert!(!bytes.windows(5).any(|part| part == b"PLAIN"), "kiln.db{suffix}");
        }
    }
    store.close().await;
    database.open().await.close().await;
}

pub(crate) async fn only_the_owner_can_read_the_files(database: TestDatabase) {
    let Some(path) = database.url.strip_prefix("sqlite://").map(str::to_owned) else { return };
    let mode = |suffix: &str| {
        let seen = std::fs::metadata(format!("{path}{suffix}")).unwrap();
        seen.permissions().mode() & 0o777
    };
    let store = database.open().await;
    for suffix in ["", "-wal", "-shm"] {
        assert_eq!(mode(suffix), 0o600, "kiln.db{suffix}");
    }
    store.close().await;
    // A file that an earlier version made.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let store = database.open().await;
    for suffix in ["", "-wal", "-shm"] {
        assert_eq!(mode(suffix), 0o600, "kiln.db{suffix}");
    }
    store.close().await;
}

/// A resource that hides the text `hunter2`.
const HIDING: &[u8] = include_bytes!("../../../engine/tests/records/v1/resource.hidden_value.bin");

pub(crate) async fn the_texts_of_an_earlier_version_are_masked(database: TestDatabase) {
    let store = Arc::new(database.open().await);
    let test = TestStore::new(store.clone(), store.clone());
    let (stack, lease) = test.owned("p", "a").await;
    let (other, others) = test.owned("p", "b").await;
    let row = |stack| {
        let mut row = test.resource(stack, 1);
        row.summary.reason = "refused: hunter2".into();
        row.summary.physical_id = Some(PhysicalId::new("id-of-hunter2"));
        row
    };
    let hiding = ResourceRow { body: HIDING.to_vec(), ..row(&stack) };
    let event = EventRow { reason: "refused: hunter2".into(), ..test.event(&stack, 1) };
    let events = vec![event];
    test.write(Batch { resources: vec![hiding], events, ..batch(lease) }).await;
    let foreign = row(&other);
    test.write(Batch { resources: vec![foreign.clone()], ..batch(others) }).await;
    store.close().await;
    execute(&database, "DELETE FROM settings WHERE name = 'texts_masked'").await;
    let store = database.open().await;
    let listed = store.lean_resources(stack.id).await.unwrap().0.remove(0);
    assert_eq!(&*listed.summary.reason, "refused: ******");
    assert_eq!(listed.summary.physical_id, Some(PhysicalId::hidden("id-of-hunter2")));
    let query = EventQuery {
        stacks: vec![stack.id],
        filters: Vec::new(),
        descending: false,
        marker: None,
        limit: None,
    };
    assert_eq!(&*store.events(&query).await.unwrap()[0].reason, "refused: ******");
    // Another stack does not hide it.
    let listed = store.lean_resources(other.id).await.unwrap().0.remove(0);
    assert_eq!(listed, ResourceRow { body: Vec::new(), ..foreign });
    store.close().await;
}

/// The process ended after a migration, and before the file was written anew.
pub(crate) async fn a_file_that_was_not_written_anew_is_so_at_the_next_start(
    database: TestDatabase,
) {
    let Some(path) = database.url.strip_prefix("sqlite://").map(str::to_owned) else { return };
    database.open().await.close().await;
    execute(&database, "CREATE TABLE dropped (text TEXT)").await;
    execute(&database, "INSERT INTO dropped VALUES ('PLAIN')").await;
    execute(&database, "DROP TABLE dropped").await;
    execute(&database, "INSERT INTO settings (name, body) VALUES ('wipe_due', x'31')").await;
    database.open().await.close().await;
    for suffix in ["", "-wal"] {
        let bytes = std::fs::read(format!("{path}{suffix}")).unwrap_or_default();
        assert!(!bytes.windows(5).any(|part| part == b"PLAIN"), "kiln.db{suffix}");
    }
    let due = execute(&database, "SELECT name FROM settings WHERE name = 'wipe_due'").await;
    assert!(due.is_empty());
}
