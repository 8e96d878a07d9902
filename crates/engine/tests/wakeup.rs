//! Processes without an engine, and engines that learn of their requests by wake-ups alone.

use crate::runtime::{Site, plan, run};
use kiln_engine::store::{CommandRow, NewTree, Store};
use kiln_engine::{
    Action, Command, CommandId, Config, Env, Ids, StackId, Status, SystemIds, Tree, Wakeup, now,
};
use std::sync::Arc;
use std::time::Duration;

/// An engine does not look for work of its own accord while a test runs.
const NEVER: Duration = Duration::from_secs(3600);

/// What a process without an engine does to create a stack.
async fn create(site: &mut Site, name: &str) -> StackId {
    let new = site.new_stack(name, &plan(20));
    let (id, mut ids) = (new.id, SystemIds::default());
    let mut env = Env { now: now(), ids: &mut ids };
    let batch = Tree::create(Arc::new(Config::default()), new, &mut env).take_batch(1);
    let tree = NewTree {
        stack: batch.stacks[0].clone(),
        recipe: batch.recipes[0].clone(),
        contents: batch.contents,
        events: batch.events,
        owner: None,
        max_stacks: None,
    };
    site.store.create_tree(tree).await.unwrap();
    id
}

#[test]
fn an_engine_learns_of_new_stacks_and_commands_at_once() {
    run(async {
        let mut site = Site::new();
        let engine = site.starter(site.cloud.clone(), NEVER)();
        // Its first look finds nothing.
        engine.wait_until_scanned().await;
        let id = create(&mut site, "s").await;
        site.wakeups.send(Wakeup::Work(id));
        site.until(id, Action::Create, Status::Complete).await;

        let body = Command::Delete.encode();
        let command = CommandId(SystemIds::default().next());
        site.store.submit(CommandRow { id: command, root: id, time: now(), body }).await.unwrap();
        site.wakeups.send(Wakeup::Work(id));
        site.until(id, Action::Delete, Status::Complete).await;
        assert_eq!(site.things(), 0);
        engine.stop().await;
    });
}

#[test]
fn an_engine_polls_when_wakeups_may_have_been_lost() {
    run(async {
        let mut site = Site::new();
        let engine = site.starter(site.cloud.clone(), NEVER)();
        engine.wait_until_scanned().await;
        let id = create(&mut site, "s").await;
        site.wakeups.send(Wakeup::Anything);
        site.until(id, Action::Create, Status::Complete).await;
        engine.stop().await;
    });
}

#[test]
fn listeners_are_woken_after_every_commit() {
    run(async {
        let mut site = Site::new();
        let mut listener = site.wakeups.listen();
        let engine = site.engine();
        let id = site.create(&engine, "s", &plan(3)).await;
        while listener.recv().await != Wakeup::Change(id) {}
        engine.stop().await;
    });
}
