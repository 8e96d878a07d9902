//! Trees that write what the store does not accept.

use crate::runtime::{Site, plan, run};
use crate::simulation::script::wish;
use crate::simulation::world::config;
use kiln_engine::store::{Batch, Store};
use kiln_engine::{Action, Command, EndedWork, StackSettings, Status, fail_tree};

/// Whether a batch has the object of a resource: its service may have shown what does not fit into a column.
fn has_object_of_r7(batch: &Batch) -> bool {
    let mut rows = batch.resources.iter();
    rows.any(|row| &*row.summary.name == "r7" && row.summary.physical_id.is_some())
}

#[test]
fn what_the_store_does_not_accept_harms_its_tree_alone() {
    run(async {
        let mut site = Site::new();
        site.store.set_refused(Some(has_object_of_r7));
        let engine = site.engine();
        let bad = site.create(&engine, "bad", &plan(8)).await;
        let good = site.create(&engine, "good", &plan(5)).await;
        site.until(good, Action::Create, Status::Complete).await;
        site.until(bad, Action::Create, Status::Failed).await;
        let told = site.reasons(bad, Action::Create, Status::Failed).await;
        let inspect = format!("`kiln admin stack inspect {bad}`");
        for part in ["does not accept", &inspect, "It was IN_PROGRESS", "told to refuse"] {
            assert!(told.len() == 1 && told[0].contains(part), "{part:?} is not in {told:?}");
        }
        // The engine goes on with other trees, and with this one when the cause is gone and a command comes.
        engine.command(good, Command::Delete).await.unwrap();
        site.until(good, Action::Delete, Status::Complete).await;
        site.store.set_refused(None);
        engine.command(bad, Command::Delete).await.unwrap();
        site.until(bad, Action::Delete, Status::Complete).await;
        assert_eq!(site.things(), 0);
        engine.stop().await;
    });
}

#[test]
fn a_parked_tree_is_tried_again_when_another_process_submits_a_command() {
    run(async {
        let mut site = Site::new();
        site.store.set_refused(Some(|batch| {
            batch.resources.iter().any(|row| row.summary.physical_id.is_some())
        }));
        let engine = site.engine();
        let id = site.create(&engine, "s", &plan(3)).await;
        site.until(id, Action::Create, Status::Failed).await;
        site.store.set_refused(None);
        site.submit(id, Command::Delete).await;
        site.until(id, Action::Delete, Status::Complete).await;
        assert_eq!(site.things(), 0);
        engine.stop().await;
    });
}

#[test]
fn a_command_that_leads_to_what_the_store_does_not_accept_leaves_the_queue() {
    run(async {
        let mut site = Site::new();
        site.store.set_refused(Some(|batch| {
            batch.resources.iter().any(|row| &*row.summary.name == "r4")
        }));
        let engine = site.engine();
        let id = site.create(&engine, "s", &plan(3)).await;
        site.until(id, Action::Create, Status::Complete).await;
        engine.stop().await;

        // Three commands wait; the second is the one at fault.
        let (recipe, settings) = (wish(&mut site.rng, &plan(2)), StackSettings::default());
        site.submit(id, Command::Update { recipe, settings }).await;
        let (recipe, settings) = (wish(&mut site.rng, &plan(6)), StackSettings::default());
        let bad = site.submit(id, Command::Update { recipe, settings }).await;
        let (recipe, settings) = (wish(&mut site.rng, &plan(1)), StackSettings::default());
        site.submit(id, Command::Update { recipe, settings }).await;
        let engine = site.engine();
        site.until(id, Action::Update, Status::Complete).await;
        while !site.store.commands(id).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        while site.things() != 1 {
            tokio::task::yield_now().await;
        }
        let told = site.reasons(id, Action::Signal, Status::Failed).await;
        assert!(told.len() == 1 && told[0].contains("change it and send it again"), "{told:?}");
        assert!(!site.store.commands(id).await.unwrap().iter().any(|row| row.id == bad));

        engine.command(id, Command::Delete).await.unwrap();
        site.until(id, Action::Delete, Status::Complete).await;
        assert_eq!(site.things(), 0);
        engine.stop().await;
    });
}

#[test]
fn an_operator_gives_up_a_parked_tree_and_it_can_be_deleted() {
    run(async {
        let mut site = Site::new();
        site.store.set_refused(Some(has_object_of_r7));
        let engine = site.engine();
        let id = site.create(&engine, "s", &plan(8)).await;
        site.until(id, Action::Create, Status::Failed).await;
        site.store.set_refused(None);
        let given_up = fail_tree(&*site.store, &config(), id, "given up").await.unwrap().unwrap();
        assert!(given_up.operations > 0, "{given_up:?}");
        assert_eq!(given_up.commands, 0);
        let stack = site.store.stack(id).await.unwrap().unwrap();
        assert!(stack.summary.state.is(Action::Create, Status::Failed));
        assert_eq!(&*stack.summary.reason, "given up");
        let again = fail_tree(&*site.store, &config(), id, "again").await.unwrap();
        assert_eq!(again, Some(EndedWork { operations: 0, commands: 0 }));
        // What was created without a record of it is found.
        assert!(site.things() > 0);
        engine.command(id, Command::Delete).await.unwrap();
        site.until(id, Action::Delete, Status::Complete).await;
        assert_eq!(site.things(), 0);
        engine.stop().await;
    });
}
