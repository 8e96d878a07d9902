//! Snapshots, and the copies of objects that belong to them.

use crate::test_store::{COMPLETE, TestStore, at, batch};
use kiln_engine::store::{Batch, SnapshotRow, Store};
use kiln_engine::{SnapshotId, StackId};

async fn names(store: &dyn Store, stack: StackId) -> Vec<String> {
    let snapshots = store.snapshots(stack).await.unwrap();
    snapshots.iter().map(|it| it.name.as_deref().unwrap_or("-").to_owned()).collect()
}

pub(crate) async fn snapshots_are_listed_by_stack_and_dropped(test: TestStore) {
    let (root, lease) = test.owned("p", "root").await;
    let child = test.nested(&root, "child");
    let late = SnapshotRow { created: at(9), ..test.snapshot(&root, "late") };
    let early = SnapshotRow { created: at(1), name: None, ..test.snapshot(&root, "") };
    let inner = test.snapshot(&child, "inner");
    test.write(Batch {
        stacks: vec![child.clone()],
        snapshots: vec![late.clone(), early.clone(), inner.clone()],
        ..batch(lease)
    })
    .await;
    let listed = |row: &SnapshotRow| SnapshotRow { body: Vec::new(), ..row.clone() };
    assert_eq!(test.other.snapshots(root.id).await.unwrap(), [listed(&early), listed(&late)]);
    assert_eq!(test.other.snapshot(early.id).await.unwrap(), Some(early));
    assert_eq!(names(&*test.store, child.id).await, ["inner"]);
    assert_eq!(test.store.snapshot(late.id).await.unwrap().as_ref(), Some(&late));
    assert_eq!(test.store.snapshot(SnapshotId(test.id())).await.unwrap(), None);
    let done = SnapshotRow {
        state: COMPLETE,
        reason: "Stack SNAPSHOT completed successfully".into(),
        body: vec![7; 300_000],
        ..late
    };
    test.write(Batch { snapshots: vec![done.clone()], ..batch(lease) }).await;
    assert_eq!(test.other.snapshot(done.id).await.unwrap().as_ref(), Some(&done));
    let stale = kiln_engine::store::Lease { fence: 0, ..lease };
    let drop = |lease| Batch { dropped_snapshots: vec![done.id], ..batch(lease) };
    assert_eq!(test.store.commit(&[drop(stale)]).await.unwrap(), [false]);
    assert_eq!(names(&*test.store, root.id).await, ["-", "late"]);
    test.write(drop(lease)).await;
    assert_eq!(names(&*test.store, root.id).await, ["-"]);
    assert_eq!(test.store.snapshot(done.id).await.unwrap(), None);
}

pub(crate) async fn copies_come_with_the_tree_and_not_with_the_stack(test: TestStore) {
    let (root, lease) = test.owned("p", "root").await;
    let (own, snapshot) = (test.resource(&root, 1), test.snapshot(&root, "s"));
    let copy = test.copy(&snapshot, 2);
    test.write(Batch {
        resources: vec![copy.clone(), own.clone()],
        snapshots: vec![snapshot.clone()],
        ..batch(lease)
    })
    .await;
    let visible = test.store.resources(&[root.id]).await.unwrap();
    assert_eq!(visible, std::slice::from_ref(&own));
    let tree = test.other.load_tree(root.id).await.unwrap().unwrap();
    assert_eq!(tree.resources, [own, copy]);
    assert_eq!(tree.snapshots, [snapshot]);
}

pub(crate) async fn snapshots_go_with_their_tree(test: TestStore) {
    let (root, lease) = test.owned("p", "root").await;
    let (kept, _) = test.owned("p", "kept").await;
    let snapshot = test.snapshot(&root, "s");
    let copy = test.copy(&snapshot, 2);
    let (resources, snapshots) = (vec![copy], vec![snapshot.clone()]);
    test.write(Batch { resources, snapshots, ..batch(lease) }).await;
    test.delete(&root, lease, at(1)).await;
    assert_eq!(names(&*test.store, root.id).await, ["s"]);
    assert_eq!(test.store.purge(at(2), None, 10).await.unwrap(), 1);
    assert_eq!(names(&*test.store, root.id).await, Vec::<String>::new());
    assert_eq!(test.store.snapshot(snapshot.id).await.unwrap(), None);
    assert_eq!(test.store.resources(&[StackId(snapshot.id.0)]).await.unwrap(), []);
    assert!(test.store.stack(kept.id).await.unwrap().is_some());
}
