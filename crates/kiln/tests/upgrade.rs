//! The database of an earlier version: this one opens it, goes on where that one was killed, and everything ends well.
//!
//! `upgrade/make_state.py` made the files, with the last version before records had versions.

use crate::cloud::life::{delete, path};
use crate::cloud::world::{Who, World};
use crate::place::Place;
use flate2::read::GzDecoder;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;

const PACKED: [(&str, &[u8]); 3] = [
    ("state/kiln.db", include_bytes!("upgrade/kiln.db.gz")),
    ("state/identity.json", include_bytes!("upgrade/identity.json.gz")),
    ("state/cloud.json", include_bytes!("upgrade/cloud.json.gz")),
];

/// How every stack ends, whatever was under way in it.
const ENDS: [(&str, &str); 34] = [
    ("access", "CREATE_COMPLETE"),
    ("checked", "SNAPSHOT_COMPLETE"),
    ("checking", "CHECK_COMPLETE"),
    ("creating", "CREATE_COMPLETE"),
    ("delete-failed", "DELETE_FAILED"),
    ("deployed", "CREATE_COMPLETE"),
    ("failed", "CREATE_FAILED"),
    ("hooked", "CREATE_COMPLETE"),
    ("kept", "UPDATE_COMPLETE"),
    // What it waits for is in the queue; if it was opened too late, its time is over.
    ("old-waiting", "CREATE_COMPLETE or CREATE_FAILED"),
    ("plain", "CREATE_COMPLETE"),
    ("promised-0", "CREATE_COMPLETE"),
    ("promised-1", "CREATE_COMPLETE"),
    ("promised-2", "CREATE_COMPLETE"),
    ("promised-3", "CREATE_COMPLETE"),
    ("promised-4", "CREATE_COMPLETE"),
    ("promised-5", "CREATE_COMPLETE"),
    ("promised-6", "CREATE_COMPLETE"),
    ("queued", "UPDATE_COMPLETE"),
    ("replacing", "UPDATE_COMPLETE"),
    ("restoring", "RESTORE_COMPLETE"),
    ("rolled-back", "ROLLBACK_COMPLETE"),
    ("rolling", "UPDATE_COMPLETE"),
    ("rolling-back", "ROLLBACK_COMPLETE"),
    ("scaling", "CREATE_COMPLETE"),
    ("sinks", "CREATE_COMPLETE"),
    ("snapping", "SNAPSHOT_COMPLETE"),
    ("suspended", "SUSPEND_COMPLETE"),
    ("suspending", "SUSPEND_COMPLETE"),
    ("unhealthy", "CREATE_COMPLETE"),
    ("update-failed", "CHECK_COMPLETE"),
    ("updating", "UPDATE_COMPLETE"),
    ("waiting", "CREATE_COMPLETE or CREATE_FAILED"),
    ("watched", "CREATE_COMPLETE"),
];

async fn opened() -> World {
    let place = Place::with(&[]);
    for (name, packed) in PACKED {
        let mut bytes = Vec::new();
        GzDecoder::new(packed).read_to_end(&mut bytes).expect("a packed file");
        place.put(name, &bytes);
    }
    place.put("state/kiln.keys", include_bytes!("upgrade/kiln.keys"));
    let keys = place.path().join("state/kiln.keys");
    std::fs::set_permissions(keys, PermissionsExt::from_mode(0o600)).expect("a mode");
    World::open(place, &["--state", "state", "--quiet", "1"]).await
}

async fn signal(world: &World, stack: &str, resource: &str, body: Json) {
    let path = format!("{}/resources/{resource}/signal", path(world, Who::Demo, stack).await);
    // Whoever waited may have given up.
    world.ask(Who::Demo, "POST", &path, Some(body)).await;
}

/// The states of all stacks, by their names.
async fn states(world: &World) -> BTreeMap<String, String> {
    let reply = world.ask(Who::Demo, "GET", "/stacks", None).await;
    let stacks = reply.body["stacks"].as_array().expect("stacks").clone();
    let text = |stack: &Json, name: &str| stack[name].as_str().unwrap_or_default().to_owned();
    stacks.iter().map(|it| (text(it, "stack_name"), text(it, "stack_status"))).collect()
}

#[tokio::test]
async fn what_an_earlier_version_was_killed_at_ends_as_it_would_have() {
    let world = opened().await;
    signal(&world, "hooked", "second", json!({ "unset_hook": "pre-create" })).await;
    let told = json!({ "status": "SUCCESS", "reason": "two", "data": "d", "id": "2" });
    signal(&world, "waiting", "handle", told).await;
    signal(&world, "deployed", "deployment", json!({ "deploy_status_code": 0, "result": "x" }))
        .await;
    for (stack, wanted) in ENDS {
        let (status, reason) = world.rest(Who::Demo, stack).await.expect(stack);
        let is_wanted = wanted.split(" or ").any(|it| it == status);
        assert!(is_wanted, "{stack} is {status} ({reason}), not {wanted}");
    }
    let all = states(&world).await;
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    assert_eq!(names, ENDS.map(|(name, _)| name), "others are there, or some are missing");

    // What was hidden is known, and hidden.
    let path = format!("{}/outputs/out", path(&world, Who::Demo, "plain").await);
    let shown = world.ask(Who::Demo, "GET", &path, None).await.body;
    assert_eq!(shown["output"]["output_value"], "hunter2");

    for (stack, _) in ENDS {
        delete(&world, Who::Demo, stack).await.unwrap_or_else(|why| panic!("{stack}: {why}"));
    }
    assert_eq!(states(&world).await, BTreeMap::new());
    // Trusts are revoked a moment after their stacks are gone, and those that no stack has after a while.
    let mut left = counts(&world).await;
    for _ in 0..2000 {
        if left == LEFT.map(|(name, count)| (name.to_owned(), count)) {
            return;
        }
        left = counts(&world).await;
    }
    assert_eq!(left, LEFT.map(|(name, count)| (name.to_owned(), count)));
}

/// How many objects of each kind there are, but for those that a user's queue holds.
async fn counts(world: &World) -> Vec<(String, usize)> {
    let objects = world.objects().await.into_iter();
    let of_cloud = objects.filter(|(name, _)| {
        !name.starts_with("messaging/") && (!name.starts_with("identity.") || is_of_users(name))
    });
    of_cloud.map(|(name, ids)| (name, ids.len())).collect()
}

fn is_of_users(name: &str) -> bool {
    ["users", "projects", "credentials", "trusts"].iter().any(|it| name.ends_with(it))
}

/// What a cloud has before there is any stack.
const LEFT: [(&str, usize); 14] = [
    ("compute/flavors", 15),
    ("identity.projects", 3),
    ("identity.users", 4),
    ("image/images", 28),
    ("network/networks", 2),
    ("network/ports", 2),
    ("network/routers", 1),
    ("network/security_group_rules", 8),
    ("network/security_groups", 2),
    ("network/segments", 2),
    ("network/subnetpools", 1),
    ("network/subnets", 2),
    ("share/types", 1),
    ("volume/types", 2),
];
