//! `kiln admin`: what operators see of a service through its database, and what they do about a stack that stands still.

use crate::kills::Story;
use crate::leases::{Server, wait};
use crate::networks::Door;
use kiln_engine::store::Store;
use kiln_engine::{Action, Command, Status};

/// How many calls wait in the engine.
const CALLS: u64 = 10;

#[test]
fn an_operator_sees_what_waits_and_gives_up_a_stack_that_stands_still() {
    wait(async {
        let mut story = Story::new("admin").await;
        let id = story.root.to_string();
        story.create().await;
        let (status, out) = story.run(&["admin", "trees", "-f", "json"]);
        assert_eq!(status, 0, "{out}");
        let trees: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(trees[0]["Stack"], *id);
        assert_eq!((&trees[0]["Engine"], &trees[0]["Parked"]), (&"".into(), &false.into()));

        // An engine that waits for a service, and is killed.
        let door = Door::held();
        let server = Server(story.spawn(&story.networks.start_door(door.clone()), &[], &[]));
        door.wait_for_changing(CALLS);
        let (_, out) = story.run(&["admin", "stack", "inspect", &id]);
        for part in ["CREATE_IN_PROGRESS", "Owner:      engine ", "Requests that wait: 0"] {
            assert!(out.contains(part), "{part:?} is not in {out}");
        }
        drop(server);
        story.wish(Command::Cancel { with_rollback: true }).await;
        let (_, out) =
            story.run(&["admin", "queue", "-f", "value", "-c", "Stack", "-c", "Command"]);
        assert_eq!(out, format!("{id} cancel\n"));

        let (status, out) = story.run(&["admin", "stack", "fail", &id]);
        assert_eq!(status, 0, "{out}");
        assert!(out.contains("requests dropped: 1. No object"), "{out}");
        let stack = story.store.stack(story.root).await.expect("a store").expect("a stack");
        assert!(stack.summary.state.is(Action::Create, Status::Failed), "{}", stack.summary.state);
        assert!(stack.summary.reason.contains("ended by an operator"), "{}", stack.summary.reason);
        let (_, out) = story.run(&["admin", "trees", "-f", "value"]);
        assert_eq!(out, "", "nothing is to be done");

        // What the calls made meanwhile is found, and goes with the stack.
        door.open();
        story.wish(Command::Delete).await;
        let mut server = story.spawn(&story.address, &["--once"], &[]);
        assert!(server.wait().expect("it ends").success());
        let stack = story.store.stack(story.root).await.expect("a store").expect("a stack");
        assert!(
            stack.summary.state.is(Action::Delete, Status::Complete),
            "{}",
            stack.summary.reason
        );
        assert_eq!(story.networks.with(|inside| inside.networks.len()), 0);
    });
}

#[test]
fn a_stack_is_taken_from_its_engine_and_tried_again() {
    wait(async {
        let mut story = Story::new("admin-release").await;
        let id = story.root.to_string();
        story.create().await;
        let door = Door::held();
        let _stuck = Server(story.spawn(&story.networks.start_door(door.clone()), &[], &[]));
        door.wait_for_changing(CALLS);
        let before = story.store.tree(story.root).await.expect("a store").expect("a tree");
        let (status, out) = story.run(&["admin", "stack", "release", &id]);
        assert_eq!(
            (status, &*out),
            (0, &*format!("Released stack {id}: the engines try it again.\n"))
        );
        let after = story.store.tree(story.root).await.expect("a store").expect("a tree");
        assert!(after.fence > before.fence, "{after:?}");
        let (status, out) =
            story.run(&["admin", "stack", "inspect", "00000000-0000-0000-0000-000000000000"]);
        assert!(status == 2 && out.contains("there is no stack"), "{out}");
        let (_, out) = story.run(&["admin", "engines", "-f", "value", "-c", "State"]);
        assert_eq!(out, "up\n");
    });
}
