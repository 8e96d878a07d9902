//! Snapshots, and the copies of objects that belong to them.

use crate::world::{COMPLETE, World, at, batch};
use kiln_engine::ids::{SnapshotId, StackId};
use kiln_engine::store::{Batch, SnapshotRow, Store};

async fn names(store: &dyn Store, stack: StackId) -> Vec<String> {
    let snapshots = store.snapshots(stack).await.unwrap();
    snapshots.iter().map(|it| it.name.as_deref().unwrap_or("-").to_owned()).collect()
}

pub(crate) async fn snapshots_are_listed_by_stack_and_dropped(world: World) {
    let (root, lease) = world.owned("p", "root").await;
    let child = world.nested(&root, "child");
    let late = SnapshotRow { created: at(9), ..world.snapshot(&root, "late") };
    let early = SnapshotRow { created: at(1), name: None, ..world.snapshot(&root, "") };
    let inner = world.snapshot(&child, "inner");
    world
        .write(Batch {
            stacks: vec![child.clone()],
            snapshots: vec![late.clone(), early.clone(), inner.clone()],
            ..batch(lease)
        })
        .await;
    assert_eq!(world.other.snapshots(root.id).await.unwrap(), [early.clone(), late.clone()]);
    assert_eq!(names(&*world.store, child.id).await, ["inner"]);
    assert_eq!(world.store.snapshot(late.id).await.unwrap().as_ref(), Some(&late));
    assert_eq!(world.store.snapshot(SnapshotId(world.id())).await.unwrap(), None);
    let done = SnapshotRow {
        state: COMPLETE,
        reason: "Stack SNAPSHOT completed successfully".into(),
        body: vec![7; 300_000],
        ..late
    };
    world.write(Batch { snapshots: vec![done.clone()], ..batch(lease) }).await;
    assert_eq!(world.other.snapshot(done.id).await.unwrap().as_ref(), Some(&done));
    let stale = kiln_engine::store::Lease { fence: 0, ..lease };
    let drop = |lease| Batch { dropped_snapshots: vec![done.id], ..batch(lease) };
    assert_eq!(world.store.commit(&[drop(stale)]).await.unwrap(), [false]);
    assert_eq!(names(&*world.store, root.id).await, ["-", "late"]);
    world.write(drop(lease)).await;
    assert_eq!(names(&*world.store, root.id).await, ["-"]);
    assert_eq!(world.store.snapshot(done.id).await.unwrap(), None);
}

pub(crate) async fn copies_come_with_the_tree_and_not_with_the_stack(world: World) {
    let (root, lease) = world.owned("p", "root").await;
    let (own, snapshot) = (world.resource(&root, 1), world.snapshot(&root, "s"));
    let copy = world.copy(&snapshot, 2);
    world
        .write(Batch {
            resources: vec![copy.clone(), own.clone()],
            snapshots: vec![snapshot.clone()],
            ..batch(lease)
        })
        .await;
    let visible = world.store.resources(root.id).await.unwrap();
    assert_eq!(visible, std::slice::from_ref(&own));
    let tree = world.other.load_tree(root.id).await.unwrap().unwrap();
    assert_eq!(tree.resources, [own, copy]);
    assert_eq!(tree.snapshots, [snapshot]);
}

pub(crate) async fn snapshots_go_with_their_tree(world: World) {
    let (root, lease) = world.owned("p", "root").await;
    let (kept, _) = world.owned("p", "kept").await;
    let snapshot = world.snapshot(&root, "s");
    let copy = world.copy(&snapshot, 2);
    let (resources, snapshots) = (vec![copy], vec![snapshot.clone()]);
    world.write(Batch { resources, snapshots, ..batch(lease) }).await;
    world.delete(&root, lease, at(1)).await;
    assert_eq!(names(&*world.store, root.id).await, ["s"]);
    assert_eq!(world.store.purge(at(2), None, 10).await.unwrap(), 1);
    assert_eq!(names(&*world.store, root.id).await, Vec::<String>::new());
    assert_eq!(world.store.snapshot(snapshot.id).await.unwrap(), None);
    assert_eq!(world.store.resources(StackId(snapshot.id.0)).await.unwrap(), []);
    assert!(world.store.stack(kept.id).await.unwrap().is_some());
}
