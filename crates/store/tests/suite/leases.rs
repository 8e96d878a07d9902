//! Who owns a tree.

use crate::test_store::{LONG, TestStore, at, batch};
use kiln_engine::store::{Batch, Lease, NewTree};
use kiln_engine::{StackId, now};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) async fn the_time_is_that_of_the_database(test: TestStore) {
    // The database runs on this machine.
    let second = std::time::Duration::from_secs(1);
    let before = now() - second;
    let told = [test.store.time().await.unwrap(), test.other.time().await.unwrap()];
    let after = now() + second;
    assert!(told.iter().all(|time| (before..after).contains(time)), "{before} {told:?} {after}");
}

pub(crate) async fn a_tree_with_work_is_claimed_once(test: TestStore) {
    let (one, two) = (test.engine(), test.engine());
    let tree = test.tree("p", "a");
    let root = tree.stack.id;
    test.store.create_tree(tree).await.unwrap();
    let taken = test.store.claim(one, at(10), at(20), 5).await.unwrap();
    assert_eq!(taken, [Lease { root, engine: one, fence: 1, until: at(20) }]);
    // The lease is valid until it runs out, and at that moment.
    assert_eq!(test.other.claim(two, at(20), at(30), 5).await.unwrap(), []);
    let taken = test.other.claim(two, at(21), at(30), 5).await.unwrap();
    assert_eq!(taken, [Lease { root, engine: two, fence: 2, until: at(30) }]);
    // Without work there is no reason to take it.
    let idle = Batch { has_work: false, ..batch(taken[0]) };
    test.write(idle).await;
    assert_eq!(test.store.claim(one, at(40), at(50), 5).await.unwrap(), []);
}

pub(crate) async fn the_trees_with_work_of_each_engine_are_counted(test: TestStore) {
    let (one, two) = (test.engine(), test.engine());
    assert_eq!(test.store.owned_trees().await.unwrap(), []);
    for (name, engine) in [("a", Some(one)), ("b", Some(one)), ("c", Some(two)), ("d", None)] {
        let owner = engine.map(|engine| (engine, at(20)));
        let tree = NewTree { owner, ..test.tree("p", name) };
        test.store.create_tree(tree).await.unwrap();
    }
    let mut counts = test.other.owned_trees().await.unwrap();
    counts.sort();
    let mut expected = [(one, 2), (two, 1)];
    expected.sort();
    assert_eq!(counts, expected);
}

pub(crate) async fn claims_take_the_longest_unattended_first(test: TestStore) {
    let engine = test.engine();
    let mut roots = Vec::new();
    for (name, created) in [("c", 30), ("a", 10), ("b", 20)] {
        let mut tree = test.tree("p", name);
        tree.stack.summary.created = at(created);
        roots.push((created, tree.stack.id));
        test.store.create_tree(tree).await.unwrap();
    }
    let owned = NewTree { owner: Some((test.engine(), at(15))), ..test.tree("p", "expired") };
    roots.push((15, owned.stack.id));
    test.store.create_tree(owned).await.unwrap();
    roots.sort();
    let expected: Vec<StackId> = roots.into_iter().map(|(_, root)| root).collect();
    let mut taken = Vec::new();
    for _ in 0..2 {
        let leases = test.store.claim(engine, at(100), LONG, 2).await.unwrap();
        assert_eq!(leases.len(), 2);
        taken.extend(leases.into_iter().map(|lease| lease.root));
    }
    assert_eq!(taken, expected);
    assert_eq!(test.store.claim(engine, at(100), LONG, 2).await.unwrap(), []);
}

pub(crate) async fn a_tree_is_claimed_by_name_unless_another_has_it(test: TestStore) {
    let (one, two) = (test.engine(), test.engine());
    let tree = test.tree("p", "a");
    let root = tree.stack.id;
    test.store.create_tree(tree).await.unwrap();
    let nothing = StackId(test.id());
    assert_eq!(test.store.claim_tree(one, nothing, at(1), at(2)).await.unwrap(), None);
    let lease = test.store.claim_tree(one, root, at(1), at(10)).await.unwrap().unwrap();
    assert_eq!(lease, Lease { root, engine: one, fence: 1, until: at(10) });
    test.write(Batch { has_work: false, ..batch(lease) }).await;
    assert_eq!(test.other.claim_tree(two, root, at(10), at(20)).await.unwrap(), None);
    // Whoever has it already gets a new fence.
    let again = test.store.claim_tree(one, root, at(5), at(12)).await.unwrap().unwrap();
    assert_eq!((again.fence, again.until), (2, at(12)));
    // Work or not.
    let lease = test.other.claim_tree(two, root, at(13), at(20)).await.unwrap().unwrap();
    assert_eq!((lease.fence, lease.engine), (3, two));
}

pub(crate) async fn leases_are_renewed(test: TestStore) {
    let (one, two) = (test.engine(), test.engine());
    for name in ["a", "b", "c"] {
        let owner = Some((if name == "c" { two } else { one }, at(10)));
        test.store.create_tree(NewTree { owner, ..test.tree("p", name) }).await.unwrap();
    }
    let renewed = test.store.renew(one, at(50)).await.unwrap();
    assert_eq!(renewed.len(), 2);
    assert!(
        renewed.iter().all(|lease| (lease.engine, lease.fence, lease.until) == (one, 1, at(50)))
    );
    // The third was not renewed; once it is taken, its former owner has nothing left.
    assert_eq!(test.other.claim(one, at(40), at(50), 9).await.unwrap().len(), 1);
    assert_eq!(test.store.renew(two, at(99)).await.unwrap(), []);
}

pub(crate) async fn a_released_tree_cannot_be_written(test: TestStore) {
    let (_, lease) = test.owned("p", "a").await;
    let stale = Lease { fence: 7, ..lease };
    test.store.release(stale).await.unwrap();
    test.write(batch(lease)).await;
    test.store.release(lease).await.unwrap();
    assert_eq!(test.store.commit(&[batch(lease)]).await.unwrap(), [false]);
    assert_eq!(test.store.renew(lease.engine, LONG).await.unwrap(), []);
    let engine = test.engine();
    let taken = test.other.claim(engine, at(1), LONG, 1).await.unwrap();
    assert_eq!(taken, [Lease { root: lease.root, engine, fence: 2, until: LONG }]);
}

pub(crate) async fn two_engines_claim_each_tree_once(test: TestStore) {
    const TREES: usize = 200;
    for number in 0..TREES {
        test.store.create_tree(test.tree("p", &format!("s{number}"))).await.unwrap();
    }
    let claims = [&test.store, &test.other, &test.store, &test.other].map(|store| {
        let (store, engine) = (Arc::clone(store), test.engine());
        tokio::spawn(async move {
            let mut taken = Vec::new();
            loop {
                let leases = store.claim(engine, at(2000), LONG, 7).await.unwrap();
                if leases.is_empty() {
                    return taken;
                }
                taken.extend(leases);
            }
        })
    });
    let mut taken = Vec::new();
    for claim in claims {
        taken.extend(claim.await.unwrap());
    }
    // Who meets only trees that are just being taken may give up early; nobody takes one twice.
    let engine = test.engine();
    taken.extend(test.store.claim(engine, at(2000), LONG, TREES).await.unwrap());
    let roots: BTreeSet<StackId> = taken.iter().map(|lease| lease.root).collect();
    assert_eq!((taken.len(), roots.len()), (TREES, TREES));
    assert!(taken.iter().all(|lease| lease.fence == 1));
}

/// Four engines take the tree from each other and write at the same time: what the last owner wrote is never
/// overwritten by one before.
pub(crate) async fn a_former_owner_never_writes_over_a_later_one(test: TestStore) {
    let (stack, _) = test.owned("p", "a").await;
    let row = test.resource(&stack, 1);
    let test = Arc::new(test);
    let after = LONG + LONG.since(at(0));
    let engines = [0, 1, 2, 3].map(|number| {
        let (test, row) = (test.clone(), row.clone());
        tokio::spawn(async move {
            let store = if number % 2 == 0 { &test.store } else { &test.other };
            let (engine, mut seen) = (test.engine(), 0);
            for _ in 0..40 {
                let lease = store.claim_tree(engine, row.root, after, LONG).await.unwrap().unwrap();
                let mut row = row.clone();
                row.number = lease.fence;
                store.commit(&[Batch { resources: vec![row], ..batch(lease) }]).await.unwrap();
                let now = store.resources(&[stack.id]).await.unwrap();
                let now = now.first().map_or(0, |row| row.number);
                assert!(now >= seen, "what owner {seen} wrote was overwritten by owner {now}");
                seen = now;
            }
        })
    });
    for engine in engines {
        engine.await.unwrap();
    }
}

/// A command comes at the very moment when the owner finds that there is nothing to do.
pub(crate) async fn no_command_is_lost_between_two_looks(test: TestStore) {
    let (stack, mut lease) = test.owned("p", "a").await;
    for _ in 0..40 {
        let command = test.command(stack.id);
        let idle = [Batch { has_work: false, ..batch(lease) }];
        let (submitted, written) =
            tokio::join!(test.store.submit(command.clone()), test.other.commit(&idle));
        submitted.unwrap();
        assert_eq!(written.unwrap(), [true]);
        test.store.release(lease).await.unwrap();
        let taken = test.store.claim(lease.engine, at(1), LONG, 1).await.unwrap();
        assert_eq!(taken.len(), 1, "the tree has a command and no work");
        lease = taken[0];
        test.write(Batch { done: vec![command.id], ..batch(lease) }).await;
    }
}
