//! Starting, and what is counted.

use super::keys::execute;
use crate::test_store::{TestDatabase, TestStore, at, batch};
use kiln_engine::store::{Batch, NewTree, Store};
use kiln_store::{OpenError, SqlStore};
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
