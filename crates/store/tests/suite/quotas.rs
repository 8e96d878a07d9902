//! Quotas: however many are added at the same time, there are never more than allowed.

use super::alarms::{alarm, change};
use crate::test_store::{TestStore, batch};
use kiln_engine::store::{Batch, CreateError, NewTree, StackQuery, Store};
use kiln_engine::{ObjectKind, ObjectQuery, ObjectRow, Time};
use std::sync::Arc;
use uuid::Uuid;

/// How many there may be, how many there are, and how many are added at once.
const LIMIT: u64 = 24;
const THERE: u64 = 12;
const ADDED: u64 = 60;

/// Runs something many times at once, on both views of the store; returns how often it was done.
async fn at_once<F>(test: &TestStore, add: impl Fn(Arc<dyn Store>, u64) -> F) -> u64
where
    F: Future<Output = bool> + Send + 'static,
{
    let tasks: Vec<_> = (0..ADDED)
        .map(|number| {
            let store = if number % 2 == 0 { &test.store } else { &test.other };
            tokio::spawn(add(store.clone(), number))
        })
        .collect();
    let mut done = 0;
    for task in tasks {
        done += u64::from(task.await.unwrap());
    }
    done
}

pub(crate) async fn stacks_of_a_project_are_limited(test: TestStore) {
    for number in 0..THERE {
        test.store.create_tree(test.tree("p", &format!("old-{number}"))).await.unwrap();
        test.store.create_tree(test.tree("q", &format!("old-{number}"))).await.unwrap();
    }
    // A deleted stack does not count.
    let (mut gone, lease) = test.owned("p", "gone").await;
    gone.summary.deleted = Some(Time::from_micros(1));
    test.write(Batch { stacks: vec![gone], ..batch(lease) }).await;
    let created = at_once(&test, |store, number| {
        let tree = test.tree("p", &format!("new-{number}"));
        let tree = NewTree { max_stacks: Some(LIMIT), ..tree };
        async move {
            match store.create_tree(tree).await {
                Ok(()) => true,
                Err(CreateError::QuotaExceeded(LIMIT)) => false,
                Err(other) => panic!("{other}"),
            }
        }
    });
    assert_eq!(created.await, LIMIT - THERE);
    let query = StackQuery { project: Some("p".into()), ..StackQuery::default() };
    assert_eq!(test.store.count_stacks(&query).await.unwrap(), LIMIT);
    // A name that is taken is the error even if the quota is exceeded, and others have their own quota.
    let again = NewTree { max_stacks: Some(LIMIT), ..test.tree("p", "old-1") };
    let error = test.store.create_tree(again).await.unwrap_err();
    assert!(matches!(error, CreateError::NameTaken(_)), "{error}");
    let other = NewTree { max_stacks: Some(LIMIT), ..test.tree("q", "new") };
    test.store.create_tree(other).await.unwrap();
    test.store.create_tree(test.tree("p", "unlimited")).await.unwrap();
}

pub(crate) async fn objects_of_a_project_are_limited(test: TestStore) {
    let object = |kind: ObjectKind, number: u64| ObjectRow {
        id: Uuid::from_u64_pair(kind as u64 + 1, number),
        kind,
        project: "p".into(),
        subject: "".into(),
        uses: None,
        created: Time::from_micros(1),
        updated: None,
        body: Vec::new(),
    };
    for kind in [ObjectKind::Config, ObjectKind::Deployment] {
        for number in 0..THERE {
            test.store.put_object(object(kind, number)).await.unwrap();
        }
        let written = at_once(&test, |store, number| {
            let row = object(kind, 1000 + number);
            async move { store.put_object_within(row, LIMIT).await.unwrap() }
        });
        assert_eq!(written.await, LIMIT - THERE);
        let query = ObjectQuery { project: Some("p".into()), ..ObjectQuery::new(kind) };
        assert_eq!(test.store.count_objects(&query).await.unwrap(), LIMIT);
        // An object that exists is written again.
        assert!(test.store.put_object_within(object(kind, 1), LIMIT).await.unwrap());
        assert!(!test.store.put_object_within(object(kind, 9999), LIMIT).await.unwrap());
    }
}

pub(crate) async fn alarms_of_a_project_are_limited(test: TestStore) {
    for number in 0..THERE {
        let new = change(&alarm(u128::from(number), "p", &number.to_string()), None);
        assert_eq!(test.store.write_alarms(&[new]).await.unwrap(), [true]);
    }
    let written = at_once(&test, |store, number| {
        let row = alarm(1000 + u128::from(number), "p", &format!("new-{number}"));
        let mut new = change(&row, None);
        new.max_alarms = Some(LIMIT);
        async move { store.write_alarms(&[new]).await.unwrap() == [true] }
    });
    assert_eq!(written.await, LIMIT - THERE);
    assert_eq!(test.store.count_alarms("p").await.unwrap(), LIMIT);
}
