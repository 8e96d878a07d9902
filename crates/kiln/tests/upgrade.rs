//! The database of an earlier version: this one opens it, goes on where that one was killed, and everything ends well.
//!
//! `upgrade/make_state.py` made the files, with the last version before records had versions.

use crate::cloud::kiln_process::{KilnProcess, Who};
use crate::cloud::life::{delete, path};
use crate::test_directory::TestDirectory;
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
    // The signal that it waits for is in the queue; if the state was opened too late, its timeout is over.
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
    ("update-failed", "CHECK_FAILED"),
    ("updating", "UPDATE_COMPLETE"),
    ("waiting", "CREATE_COMPLETE or CREATE_FAILED"),
    ("watched", "CREATE_COMPLETE"),
];

async fn opened() -> KilnProcess {
    let directory = TestDirectory::with(&[]);
    for (name, packed) in PACKED {
        let mut bytes = Vec::new();
        GzDecoder::new(packed).read_to_end(&mut bytes).expect("a packed file");
        directory.put(name, &bytes);
    }
    directory.put("state/kiln.keys", include_bytes!("upgrade/kiln.keys"));
    let keys = directory.path().join("state/kiln.keys");
    std::fs::set_permissions(keys, PermissionsExt::from_mode(0o600)).expect("a mode");
    KilnProcess::open(directory, &["--state", "state", "--quiet", "1"]).await
}

async fn signal(kiln: &KilnProcess, stack: &str, resource: &str, body: Json) {
    let path = format!("{}/resources/{resource}/signal", path(kiln, Who::Demo, stack).await);
    // The resource that waited may have failed by now.
    kiln.ask(Who::Demo, "POST", &path, Some(body)).await;
}

/// The states of all stacks, by their names.
async fn states(kiln: &KilnProcess) -> BTreeMap<String, String> {
    let reply = kiln.ask(Who::Demo, "GET", "/stacks", None).await;
    let stacks = reply.body["stacks"].as_array().expect("stacks").clone();
    let text = |stack: &Json, name: &str| stack[name].as_str().unwrap_or_default().to_owned();
    stacks.iter().map(|it| (text(it, "stack_name"), text(it, "stack_status"))).collect()
}

#[tokio::test]
async fn what_an_earlier_version_was_killed_at_ends_as_it_would_have() {
    let kiln = opened().await;
    signal(&kiln, "hooked", "second", json!({ "unset_hook": "pre-create" })).await;
    let told = json!({ "status": "SUCCESS", "reason": "two", "data": "d", "id": "2" });
    signal(&kiln, "waiting", "handle", told).await;
    signal(&kiln, "deployed", "deployment", json!({ "deploy_status_code": 0, "result": "x" }))
        .await;
    for (stack, wanted) in ENDS {
        let (status, reason) = kiln.rest(Who::Demo, stack).await.expect(stack);
        let is_wanted = wanted.split(" or ").any(|it| it == status);
        assert!(is_wanted, "{stack} is {status} ({reason}), not {wanted}");
    }
    let all = states(&kiln).await;
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    assert_eq!(names, ENDS.map(|(name, _)| name), "others are there, or some are missing");

    // A hidden value is known, and stays hidden.
    let path = format!("{}/outputs/out", path(&kiln, Who::Demo, "plain").await);
    let shown = kiln.ask(Who::Demo, "GET", &path, None).await.body;
    assert_eq!(shown["output"]["output_value"], "hunter2");

    for (stack, _) in ENDS {
        delete(&kiln, Who::Demo, stack).await.unwrap_or_else(|why| panic!("{stack}: {why}"));
    }
    assert_eq!(states(&kiln).await, BTreeMap::new());
    // Trusts are revoked a moment after their stacks are gone, and those that no stack has after a while.
    let mut left = counts(&kiln).await;
    for _ in 0..2000 {
        if left == LEFT.map(|(name, count)| (name.to_owned(), count)) {
            return;
        }
        left = counts(&kiln).await;
    }
    assert_eq!(left, LEFT.map(|(name, count)| (name.to_owned(), count)));
}

/// How many objects of each kind there are, but for those that a user's queue holds.
async fn counts(kiln: &KilnProcess) -> Vec<(String, usize)> {
    let objects = kiln.objects().await.into_iter();
    let of_cloud = objects.filter(|(name, _)| {
        !name.starts_with("messaging/") && (!name.starts_with("identity.") || is_of_users(name))
    });
    of_cloud.map(|(name, ids)| (name, ids.len())).collect()
}

fn is_of_users(name: &str) -> bool {
    ["users", "projects", "credentials", "trusts"].iter().any(|it| name.ends_with(it))
}

/// The objects of a cloud before there is any stack.
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
