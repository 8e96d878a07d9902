//! OS::Heat::Stack against an orchestration service.

use crate::driving::{Drive, Seam, World};
use crate::stack::{json, members};
use kiln_cloud::{Call, CallError, Method, Reply};
use kiln_resources::behaviour::{OperationKind, SnapshotRecord};
use kiln_resources::declare::{Members, ResourceType};
use kiln_resources::op::Demand;
use kiln_resources::registry::Registry;
use serde_json::{Value as Json, json as body};

/// A service with stacks: what it is told is under way for one look, and done at the next.
#[derive(Default)]
struct Service {
    /// Name, status, when it was last told something, and how often it was looked at since.
    stacks: Vec<(String, String, u32, u32)>,
    snapshots: Vec<String>,
    told: Vec<String>,
    /// The files that came along.
    files: Json,
    /// What becomes of the next thing that it is told.
    fails: bool,
    /// Whether everything happens within the same second.
    is_quick: bool,
    /// Whether the service also tells the microsecond.
    is_exact: bool,
    /// How many actions there were.
    acts: i64,
}

impl Service {
    /// How often a stack was looked at since it was last told something.
    fn looks(&self) -> u32 {
        self.stacks[0].3
    }

    fn show(&mut self, at: usize) -> Json {
        let (name, status, time, looks) = &mut self.stacks[at];
        *looks += 1;
        let how = if *looks > 1 { status.as_str() } else { "IN_PROGRESS" };
        let action = status.split('_').next().expect("as told");
        let status = if how == "IN_PROGRESS" { format!("{action}_{how}") } else { how.into() };
        let outputs = body!([{ "output_key": "url", "output_value": "http://x" }]);
        let mut shown = body!({ "stack": {
            "id": at.to_string(), "stack_name": name, "stack_status": status, "outputs": outputs,
            "updated_time": time.to_string(), "stack_status_reason": "no luck",
        }});
        if self.is_exact {
            shown["stack"]["updated_micros"] = self.acts.into();
        }
        shown
    }

    fn begin(&mut self, at: usize, action: &str) {
        let status = if std::mem::take(&mut self.fails) { "FAILED" } else { "COMPLETE" };
        self.acts += 1;
        let stack = &mut self.stacks[at];
        let time = stack.2 + u32::from(!self.is_quick);
        *stack = (stack.0.clone(), format!("{action}_{status}"), time, 0);
    }
}

impl World for Service {
    fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
        let path = call.request.path.checked().expect("a path");
        if path == "/auth/catalog" {
            let endpoint = body!({ "interface": "public", "url": "http://heat/v1/p" });
            let entry = body!({ "type": "orchestration", "endpoints": [endpoint] });
            return Ok(Reply::new(200, body!({ "catalog": [entry] })));
        }
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let at = parts.get(2).and_then(|id| id.parse::<usize>().ok());
        let sent = call.request.body.clone().unwrap_or_default();
        if call.request.method != Method::Get {
            self.told.push(format!("{} {}", call.request.method, parts.join("/")));
        }
        let reply = match (call.request.method, at, parts.get(3).copied()) {
            (Method::Post, None, _) => {
                self.files = sent["files"].clone();
                self.stacks.push((
                    sent["stack_name"].as_str().expect("as told").into(),
                    String::new(),
                    0,
                    0,
                ));
                self.begin(self.stacks.len() - 1, "CREATE");
                body!({ "stack": { "id": (self.stacks.len() - 1).to_string() } })
            }
            (Method::Get, None, _) => {
                let all = self.stacks.iter().enumerate();
                let all = all.map(|(id, it)| body!({ "id": id.to_string(), "stack_name": it.0 }));
                body!({ "stacks": all.collect::<Vec<_>>() })
            }
            (Method::Put, Some(at), None) => {
                self.begin(at, "UPDATE");
                Json::Null
            }
            (Method::Post, Some(at), Some("actions")) => {
                let action = sent
                    .as_object()
                    .expect("as told")
                    .keys()
                    .next()
                    .expect("as told")
                    .to_uppercase();
                self.begin(at, &action);
                Json::Null
            }
            (Method::Post, Some(_), Some("snapshots")) => {
                self.snapshots.push(sent["name"].as_str().expect("as told").into());
                body!({ "id": (self.snapshots.len() - 1).to_string() })
            }
            (Method::Get, Some(_), Some("snapshots")) if parts.len() == 4 => {
                let all = self.snapshots.iter().enumerate().filter(|(_, name)| !name.is_empty());
                let all = all.map(|(id, name)| body!({ "id": id.to_string(), "name": name }));
                body!({ "snapshots": all.collect::<Vec<_>>() })
            }
            (Method::Get, Some(_), Some("snapshots")) => body!({ "snapshot": {
                "status": "COMPLETE",
                "data": { "template": { "t": 1 }, "environment": { "parameters": { "p": "v" } } },
            }}),
            (Method::Delete, Some(_), Some("snapshots")) => {
                self.snapshots[parts[4].parse::<usize>().expect("as told")] = String::new();
                Json::Null
            }
            (Method::Delete, Some(at), None) => {
                self.begin(at, "DELETE");
                Json::Null
            }
            (Method::Get, Some(at), None) => self.show(at),
            _ => return Err(CallError::NotSent(format!("{call:?}"))),
        };
        Ok(Reply::new(200, reply))
    }
}

fn behaviour() -> ResourceType {
    Registry::builtin().get("OS::Heat::Stack").expect("as told").clone()
}

fn drive() -> Drive {
    let mut drive = Drive::new(members(r#"{"template": "{}", "parameters": {}}"#));
    drive.context.copy_name = "stack-x-copy".into();
    drive
}

#[test]
fn a_stack_of_its_own_lives_and_dies() {
    let (mut drive, mut service) = (drive(), Service::default());
    for operation in [
        OperationKind::Create,
        OperationKind::Update,
        OperationKind::Update,
        OperationKind::Suspend,
        OperationKind::Resume,
        OperationKind::Check,
        OperationKind::Delete,
    ] {
        drive.context.journal = Default::default();
        drive.run(&behaviour(), operation, &mut service);
        assert_eq!(drive.result(), &Ok(()), "{operation:?}");
    }
    let name = "stacks/stack-x-abcdefghijkl/0";
    let told = |rest: &str| rest.replace('@', name);
    let actions = "POST @/actions";
    assert_eq!(
        service.told,
        ["POST stacks", "PUT @", "PUT @", actions, actions, actions, "DELETE @"].map(told)
    );
    let shown = drive.shown.as_map().expect("the stack");
    assert_eq!(shown.get("stack_name"), Some(&"stack-x-abcdefghijkl".into()));
    assert_eq!(
        shown.get("outputs"),
        Some(&json(r#"[{"output_key": "url", "output_value": "http://x"}]"#))
    );
    assert_eq!(drive.context.physical_id, None);
}

#[test]
fn another_action_within_the_same_second_is_not_mistaken_for_the_last_one() {
    let (mut drive, mut service) = (drive(), Service { is_quick: true, ..Service::default() });
    for operation in [
        OperationKind::Create,
        OperationKind::Suspend,
        OperationKind::Resume,
        OperationKind::Update,
        OperationKind::Check,
    ] {
        drive.context.journal = Default::default();
        drive.run(&behaviour(), operation, &mut service);
        assert_eq!(drive.result(), &Ok(()), "{operation:?}");
        assert!(service.looks() <= 3, "{operation:?}: {} looks", service.looks());
    }
}

#[test]
fn the_same_action_within_the_same_second_is_not_mistaken_for_the_last_one() {
    let service = Service { is_quick: true, is_exact: true, ..Service::default() };
    let (mut drive, mut service) = (drive(), service);
    for operation in [
        OperationKind::Create,
        OperationKind::Update,
        OperationKind::Update,
        OperationKind::Check,
        OperationKind::Check,
    ] {
        drive.context.journal = Default::default();
        drive.run(&behaviour(), operation, &mut service);
        assert_eq!(drive.result(), &Ok(()), "{operation:?}");
        assert!(service.looks() <= 3, "{operation:?}: {} looks", service.looks());
    }
    assert!(drive.shown.as_map().is_some_and(|shown| !shown.contains_key("updated_micros")));
}

#[test]
fn the_same_action_on_another_service_waits_for_the_next_second() {
    let (mut drive, mut service) = (drive(), Service::default());
    for (operation, is_repeated) in [
        (OperationKind::Create, false),
        (OperationKind::Check, false),
        (OperationKind::Check, true),
        (OperationKind::Update, false),
        (OperationKind::Update, true),
    ] {
        drive.context.journal = Default::default();
        let (before, seen_at) = (drive.demands.len(), drive.now);
        drive.run(&behaviour(), operation, &mut service);
        assert_eq!(drive.result(), &Ok(()), "{operation:?}");
        let first = &drive.demands[before];
        let waits = matches!(first, Demand::Until(until) if *until == seen_at + 1_000_000);
        assert_eq!(waits, is_repeated, "{operation:?}: {first:?}");
        assert!(service.looks() <= 3, "{operation:?}: {} looks", service.looks());
    }
}

#[test]
fn a_stack_of_the_same_service_shows_its_url() {
    let (mut drive, mut service) = (drive(), Service { is_exact: true, ..Service::default() });
    drive.run(&behaviour(), OperationKind::Create, &mut service);
    let shown = drive.shown.as_map().expect("the stack");
    let links = r#"[{"href": "http://heat/v1/p/stacks/stack-x-abcdefghijkl/0", "rel": "self"}]"#;
    assert_eq!(shown.get("links"), Some(&json(links)));
}

#[test]
fn reading_its_attributes_does_nothing_to_the_stack() {
    let (mut drive, mut service) = (drive(), Service::default());
    drive.run(&behaviour(), OperationKind::Create, &mut service);
    let told = service.told.clone();
    for operation in [OperationKind::Refresh, OperationKind::Observe] {
        drive.context.journal = Default::default();
        drive.run(&behaviour(), operation, &mut service);
        assert_eq!(drive.result(), &Ok(()), "{operation:?}");
    }
    assert_eq!(service.told, told);
}

#[test]
fn the_files_of_the_stack_around_it_come_along() {
    let (mut drive, mut service) = (drive(), Service::default());
    let files = [("file:///inner.yaml".into(), "heat_template_version: rocky".into())];
    drive.context.files = std::sync::Arc::new(files.into());
    drive.run(&behaviour(), OperationKind::Create, &mut service);
    assert_eq!(service.files, body!({ "file:///inner.yaml": "heat_template_version: rocky" }));
}

#[test]
fn a_stack_that_fails_says_why() {
    let (mut drive, mut service) = (drive(), Service { fails: true, ..Service::default() });
    drive.run(&behaviour(), OperationKind::Create, &mut service);
    let why = "ResourceInError: Went to status CREATE_FAILED due to \"no luck\"";
    assert_eq!(drive.what_failed(), why);
    let other = r#"{"template": "{}", "context": {"credential_secret_id": "east"}}"#;
    let mut drive = Drive::new(members(other));
    drive.run(&behaviour(), OperationKind::Create, &mut service);
    assert!(drive.failure().starts_with("NotSupported: stacks with other credentials"));
}

#[test]
fn a_stack_is_made_once_wherever_the_operation_was_interrupted() {
    for at in 0..5 {
        for seam in [Seam::Before(at), Seam::After(at)] {
            let (mut drive, mut service) = (drive(), Service::default());
            drive.run_through(&behaviour(), OperationKind::Create, &mut service, seam);
            assert_eq!(drive.result(), &Ok(()), "{seam:?}");
            assert_eq!(service.stacks.len(), 1, "{seam:?}");
        }
    }
}

#[test]
fn a_stack_is_copied_and_made_of_its_copy() {
    for at in 0..5 {
        for seam in [Seam::Before(at), Seam::After(at)] {
            let (mut drive, mut service) = (drive(), Service::default());
            drive.run(&behaviour(), OperationKind::Create, &mut service);
            drive.context.journal = Default::default();
            (drive.ended, drive.demands) = (None, Vec::new());
            drive.run_through(&behaviour(), OperationKind::Snapshot, &mut service, seam);
            assert_eq!(drive.result(), &Ok(()), "{seam:?}");
            assert_eq!(service.snapshots, ["stack-x-copy"], "{seam:?}");
            let mut properties = Members::new();
            let saved = SnapshotRecord { physical_id: None, data: &drive.context.data };
            behaviour().behaviour.restore.expect("as told")(&mut properties, &saved);
            let restored = r#"{"template": "{\"t\":1}", "parameters": {"p": "v"}}"#;
            assert_eq!(properties, members(restored));
            drive.context.journal = Default::default();
            drive.run(&behaviour(), OperationKind::DeleteSnapshot, &mut service);
            assert_eq!(service.snapshots, [""], "{seam:?}");
        }
    }
}
