//! What is kept beside stacks.

use crate::test_store::TestStore;
use kiln_engine::{ObjectKind, ObjectQuery, ObjectRow, Time};
use std::sync::Arc;
use uuid::Uuid;

fn object(kind: ObjectKind, number: u128, project: &str) -> ObjectRow {
    ObjectRow {
        id: Uuid::from_u128(number),
        kind,
        project: project.into(),
        subject: if number.is_multiple_of(2) { "even".into() } else { "odd é".into() },
        uses: (number > 3).then(|| Uuid::from_u128(number / 2)),
        created: Time::from_micros((number / 3) as i64),
        updated: (number > 5).then(|| Time::from_micros(7)),
        body: vec![number as u8; 3],
    }
}

pub(crate) async fn an_object_is_added_once_and_old_ones_are_dropped(test: TestStore) {
    let spent = |number: u128| ObjectRow {
        created: Time::from_micros(number as i64),
        ..object(ObjectKind::UsedSignatures, number, "")
    };
    for number in [3, 1, 2, 4] {
        // Several who add the same at once, from two processes.
        let adding: [_; 4] = std::array::from_fn(|at| {
            let store = if at % 2 == 0 { test.store.clone() } else { test.other.clone() };
            tokio::spawn(async move { store.add_object(spent(number)).await })
        });
        let mut added = 0;
        for one in adding {
            added += usize::from(one.await.unwrap().unwrap());
        }
        assert_eq!(added, 1, "{number}");
    }
    let store = &test.store;
    store.put_object(object(ObjectKind::Config, 100, "p")).await.unwrap();
    let drop = async |before, limit| {
        let before = Time::from_micros(before);
        store.drop_objects(ObjectKind::UsedSignatures, before, limit).await.unwrap()
    };
    assert_eq!((drop(1, 9).await, drop(4, 2).await), (0, 2));
    let left = store.objects(&ObjectQuery::new(ObjectKind::UsedSignatures)).await.unwrap();
    assert_eq!(left, [spent(3), spent(4)]);
    assert_eq!((drop(i64::MAX, 9).await, drop(i64::MAX, 9).await), (2, 0));
    assert!(store.add_object(spent(1)).await.unwrap());
    assert_eq!(store.count_objects(&ObjectQuery::new(ObjectKind::Config)).await.unwrap(), 1);
}

pub(crate) async fn objects_are_kept_listed_and_dropped(test: TestStore) {
    let store = &test.store;
    for number in 0..20 {
        let project = if number < 10 { "p" } else { "q" };
        store.put_object(object(ObjectKind::Config, number, project)).await.unwrap();
    }
    let deployment = object(ObjectKind::Deployment, 100, "p");
    store.put_object(deployment.clone()).await.unwrap();

    let found = test.other.object(ObjectKind::Deployment, deployment.id).await.unwrap();
    assert_eq!(found, Some(deployment.clone()));
    assert_eq!(store.object(ObjectKind::Config, deployment.id).await.unwrap(), None);

    let changed = ObjectRow { body: b"other".to_vec(), ..object(ObjectKind::Config, 4, "p") };
    store.put_object(changed.clone()).await.unwrap();
    assert_eq!(store.object(ObjectKind::Config, changed.id).await.unwrap(), Some(changed));

    for descending in [false, true] {
        let mut query = ObjectQuery {
            project: Some("p".into()),
            limit: Some(3),
            descending,
            ..ObjectQuery::new(ObjectKind::Config)
        };
        assert_eq!(store.count_objects(&query).await.unwrap(), 10);
        let mut all = Vec::new();
        loop {
            let page = store.objects(&query).await.unwrap();
            let Some(last) = page.last() else { break };
            query.marker = Some(last.id);
            all.extend(page.into_iter().map(|it| it.id.as_u128()));
        }
        let mut expected: Vec<u128> = (0..10).collect();
        if descending {
            expected.reverse();
        }
        assert_eq!(all, expected);
    }

    let query =
        ObjectQuery { subject: Some("even".into()), ..ObjectQuery::new(ObjectKind::Config) };
    assert_eq!(store.count_objects(&query).await.unwrap(), 10);
    let uses = Some(Uuid::from_u128(3));
    let query = ObjectQuery { uses, ..ObjectQuery::new(ObjectKind::Config) };
    let users = store.objects(&query).await.unwrap();
    assert_eq!(users.iter().map(|it| it.id.as_u128()).collect::<Vec<_>>(), [6, 7]);

    let servers = ["even", "odd é", "nobody"].map(Arc::from);
    let deployed = store.deployed_on(&servers).await.unwrap();
    assert_eq!(deployed, [("even".into(), deployment.id, deployment.uses)]);
    assert!(store.drop_object(ObjectKind::Deployment, deployment.id).await.unwrap());
    assert!(!store.drop_object(ObjectKind::Deployment, deployment.id).await.unwrap());
    assert_eq!(store.object(ObjectKind::Deployment, deployment.id).await.unwrap(), None);
}
