//! Dropping what nobody needs any more.

use crate::test_store::{TestStore, at, batch, text};
use kiln_engine::store::{Batch, EventQuery, EventRow, Lease, StackRow, Store};

async fn numbers(store: &dyn Store, stack: &StackRow) -> Vec<u64> {
    let stacks = vec![stack.id];
    let query =
        EventQuery { stacks, filters: Vec::new(), descending: false, marker: None, limit: None };
    store.events(&query).await.unwrap().iter().map(|event| event.number).collect()
}

pub(crate) async fn the_oldest_events_are_dropped(test: TestStore) {
    let (root, lease) = test.owned("p", "root").await;
    let child = test.nested(&root, "child");
    let mut events: Vec<_> = (1..=8).map(|number| test.event(&root, number)).collect();
    events.extend((9..=11).map(|number| test.event(&child, number)));
    test.write(Batch { stacks: vec![child.clone()], events, ..batch(lease) }).await;
    assert_eq!(test.store.prune_events(8, 100).await.unwrap(), 0);
    assert_eq!(test.store.prune_events(3, 2).await.unwrap(), 2);
    assert_eq!(numbers(&*test.store, &root).await, [3, 4, 5, 6, 7, 8]);
    assert_eq!(test.other.prune_events(3, 100).await.unwrap(), 3);
    assert_eq!(numbers(&*test.store, &root).await, [6, 7, 8]);
    assert_eq!(numbers(&*test.store, &child).await, [9, 10, 11]);
    assert_eq!(test.store.prune_events(0, 100).await.unwrap(), 6);
    assert_eq!(test.store.prune_events(0, 100).await.unwrap(), 0);
    let tree = test.store.load_tree(root.id).await.unwrap().unwrap();
    assert_eq!(tree.last_event, 11);
}

pub(crate) async fn the_oldest_events_of_a_large_tree_are_dropped(test: TestStore) {
    let (root, lease) = test.owned("p", "root").await;
    let (small, other_lease) = test.owned("p", "small").await;
    let child = test.nested(&root, "child");
    let large = |stack: &StackRow, number: u64| EventRow {
        body: vec![7; 10_000],
        ..test.event(stack, number)
    };
    let mut events: Vec<_> = (1..=4).map(|number| large(&root, number)).collect();
    events.extend((5..=6).map(|number| large(&child, number)));
    test.write(Batch { stacks: vec![child.clone()], events, ..batch(lease) }).await;
    test.write(Batch { events: vec![large(&small, 1)], ..batch(other_lease) }).await;
    assert_eq!(test.store.prune_event_bytes(100_000, 100).await.unwrap(), 0);
    assert_eq!(test.store.prune_event_bytes(35_000, 2).await.unwrap(), 2);
    assert_eq!(test.other.prune_event_bytes(35_000, 100).await.unwrap(), 1);
    assert_eq!(numbers(&*test.store, &root).await, [4]);
    assert_eq!(numbers(&*test.store, &child).await, [5, 6]);
    assert_eq!(numbers(&*test.store, &small).await, [1]);
    assert_eq!(test.store.prune_event_bytes(35_000, 100).await.unwrap(), 0);
    // Those that come later are counted with those that are left.
    test.write(Batch { events: vec![large(&child, 7)], ..batch(lease) }).await;
    assert_eq!(test.other.prune_event_bytes(35_000, 100).await.unwrap(), 1);
    assert_eq!(numbers(&*test.store, &root).await, [0; 0]);
}

pub(crate) async fn deleted_trees_are_purged(test: TestStore) {
    let mut trees = Vec::new();
    for (project, name, deleted) in [
        ("p", "late", Some(9)),
        ("p", "first", Some(1)),
        ("q", "other", Some(2)),
        ("p", "second", Some(3)),
        ("p", "live", None),
    ] {
        let (root, lease) = test.owned(project, name).await;
        let child = test.nested(&root, "child");
        let resources = vec![test.resource(&child, 1)];
        let events = vec![test.event(&child, 1)];
        test.write(Batch { stacks: vec![child.clone()], resources, events, ..batch(lease) }).await;
        test.store.submit(test.command(root.id)).await.unwrap();
        if let Some(deleted) = deleted {
            test.delete(&root, lease, at(deleted)).await;
        }
        trees.push((root, child, lease));
    }
    let there = async || {
        let mut names = Vec::new();
        for (root, child, _) in &trees {
            let stack = test.store.stack(root.id).await.unwrap();
            let rest = (
                stack.is_some(),
                stack.is_some(),
                stack.is_some(),
                stack.is_some(),
                stack.is_some(),
            );
            let found = (
                test.store.stack(child.id).await.unwrap().is_some(),
                !test.store.resources(&[child.id]).await.unwrap().is_empty(),
                !numbers(&*test.store, child).await.is_empty(),
                test.store.recipe(root.recipe).await.unwrap().is_some(),
                !test.store.commands(root.id).await.unwrap().is_empty(),
            );
            assert_eq!(found, rest, "{}", root.summary.name);
            names.extend(stack.map(|stack| stack.summary.name.to_string()));
        }
        names
    };
    assert_eq!(test.store.purge(at(1), None, 10).await.unwrap(), 0);
    assert_eq!(test.store.purge(at(9), Some("p"), 1).await.unwrap(), 1);
    assert_eq!(there().await, ["late", "other", "second", "live"]);
    assert_eq!(test.store.purge(at(9), Some("p"), 10).await.unwrap(), 1);
    assert_eq!(there().await, ["late", "other", "live"]);
    assert_eq!(test.other.purge(at(10), None, 10).await.unwrap(), 2);
    assert_eq!(there().await, ["live"]);
    let (_, _, lease) = trees[0];
    assert_eq!(test.store.commit(&[batch(lease)]).await.unwrap(), [false]);
    assert!(test.store.load_tree(lease.root).await.unwrap().is_none());
}

pub(crate) async fn shared_texts_stay(test: TestStore) {
    let (shared, own) = (text("shared"), text("own"));
    let mut leases = Vec::new();
    for name in ["a", "b"] {
        let mut tree = test.tree("p", name);
        tree.contents = vec![shared.clone()];
        if name == "a" {
            tree.contents.push(own.clone());
        }
        tree.recipe.contents = tree.contents.iter().map(|content| content.hash).collect();
        let engine = test.engine();
        tree.owner = Some((engine, at(99)));
        leases.push((tree.stack.clone(), engine));
        test.store.create_tree(tree).await.unwrap();
    }
    let there = async |content: &kiln_engine::store::Content| {
        test.store.content(content.hash).await.unwrap().is_some()
    };
    let (root, engine) = &leases[0];
    let lease = test.store.renew(*engine, at(99)).await.unwrap()[0];
    test.delete(root, lease, at(1)).await;
    assert!(there(&shared).await && there(&own).await);
    assert_eq!(test.store.purge(at(2), None, 10).await.unwrap(), 1);
    assert!(there(&shared).await && !there(&own).await);
    // A recipe that is dropped lets go of its texts too.
    let (root, engine) = &leases[1];
    let lease = test.store.renew(*engine, at(99)).await.unwrap()[0];
    test.write(Batch { dropped_recipes: vec![root.recipe], ..batch(lease) }).await;
    assert_eq!(test.store.purge(at(2), None, 10).await.unwrap(), 0);
    assert!(!there(&shared).await);
}

/// While the last tree that needs a text is purged, another is created with the same text: whoever is
/// first, the new tree has its text.
pub(crate) async fn a_text_in_use_is_never_purged(test: TestStore) {
    let shared = text("the same");
    let mut last: Option<(StackRow, Lease)> = None;
    for round in 0..30 {
        let engine = test.engine();
        let mut tree = test.tree("p", &round.to_string());
        tree.contents = vec![shared.clone()];
        tree.recipe.contents = vec![shared.hash];
        tree.owner = Some((engine, at(99)));
        let root = tree.stack.clone();
        // Events take their time: that is when the other side could do harm.
        tree.events = (0..round * 10).map(|number| test.event(&root, number)).collect();
        if let Some((root, lease)) = last {
            test.delete(&root, lease, at(1)).await;
        }
        let (created, purged) =
            tokio::join!(test.store.create_tree(tree), test.other.purge(at(2), None, 9));
        created.unwrap();
        assert_eq!(purged.unwrap(), u64::from(round > 0));
        let content = test.store.content(shared.hash).await.unwrap();
        assert!(content.is_some(), "the text of tree {round} is gone");
        last = Some((root.clone(), Lease { root: root.id, engine, fence: 1, until: at(99) }));
    }
}
