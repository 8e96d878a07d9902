//! What is special about volumes.

use super::lives::{Lifecycle, check_snapshots, kind, seams};
use crate::driving::Seam;
use crate::stack::{Stack, json, members, view};
use kiln_cloud::Service;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::{Members, Value};
use serde_json::{Value as Json, json as body};

const VOLUME: &str = "OS::Cinder::Volume";

fn made(life: &mut Lifecycle) -> &mut Json {
    let id = life.drive.context.physical_id.clone().expect("there is a volume");
    life.cloud.get(Service::Volume, "/volumes", &id).expect("there is a volume")
}

fn attribute(life: &Lifecycle, name: &str) -> Value {
    let (properties, stack) = (Members::new(), Stack::default());
    let mut view = view("x", &properties, &stack);
    view.remote = &life.drive.shown;
    let attribute = life.kind.behaviour.attribute.expect("as told");
    attribute(&view, name, &[]).expect("an answer").expect("an attribute")
}

#[test]
fn attributes_are_texts() {
    let mut life = Lifecycle::new(VOLUME, r#"{"size": 2, "metadata": {"a": "b"}, "name": "n"}"#);
    life.does(OperationKind::Create, None);
    assert_eq!(attribute(&life, "size"), "2".into());
    assert_eq!(attribute(&life, "metadata"), r#"{"a": "b"}"#.into());
    assert_eq!(attribute(&life, "metadata_values"), json(r#"{"a": "b"}"#));
    assert_eq!(attribute(&life, "display_name"), "n".into());
    assert_eq!(attribute(&life, "attachments"), "[]".into());
    assert_eq!(attribute(&life, "attachments_list"), json("[]"));
}

#[test]
fn a_volume_in_use_stays_and_does_not_shrink() {
    let mut life = Lifecycle::new(VOLUME, r#"{"size": 2}"#);
    life.does(OperationKind::Create, None);
    made(&mut life)["status"] = "in-use".into();
    life.tries(OperationKind::Delete, None);
    assert_eq!(life.drive.failure(), "Error: Volume in use");
    life.becomes(r#"{"size": 1}"#);
    life.tries(OperationKind::Update, None);
    assert_eq!(life.drive.failure(), "NotSupported: Shrinking volume is not supported.");
    made(&mut life)["status"] = "error".into();
    life.tries(OperationKind::Check, None);
    let why = "Error: 'status': expected '['available', 'in-use']', got 'error'";
    assert_eq!(life.drive.failure(), why);
}

#[test]
fn an_attached_volume_goes_back_to_its_server() {
    let story = |seam: Option<Seam>| {
        let mut life = Lifecycle::new(VOLUME, r#"{"size": 1}"#);
        life.does(OperationKind::Create, None);
        *made(&mut life) = body!({ "id": made(&mut life)["id"], "status": "in-use", "size": 1,
            "attachments": [{ "server_id": "server-1", "device": "/dev/vdb" }] });
        life.becomes(r#"{"size": 3, "read_only": true, "backup_id": "backup-1"}"#);
        life.does(OperationKind::Update, seam);
        let volume = made(&mut life).clone();
        assert_eq!(volume["attachments"][0]["server_id"], "server-1", "{seam:?}");
        assert_eq!(volume["attachments"][0]["device"], "/dev/vdb", "{seam:?}");
        let now = (&volume["status"], &volume["size"], &volume["readonly"], &volume["filled"]);
        assert_eq!(now, (&body!("in-use"), &body!(3), &body!(true), &body!(true)), "{seam:?}");
        assert!(!life.drive.context.data.contains_key("attached_to"));
        life.drive.demands.len()
    };
    seams(story(None)).for_each(|seam| _ = story(Some(seam)));
}

#[test]
fn a_volume_is_backed_up_once_and_filled_from_its_backup() {
    check_snapshots(VOLUME, r#"{"size": 1}"#, "backup_id", "backup_id");
}

#[test]
fn a_volume_is_made_from_one_thing_that_tells_its_size() {
    let check = kind(VOLUME).check.expect("as told");
    for text in [
        "{}",
        r#"{"image": "i"}"#,
        r#"{"size": 1, "image": "i", "snapshot_id": "s"}"#,
        r#"{"snapshot_id": "s", "source_volid": "v"}"#,
    ] {
        assert!(check(&members(text)).is_err(), "{text}");
    }
    for text in [r#"{"size": 1}"#, r#"{"size": 1, "image": "i"}"#, r#"{"source_volid": "v"}"#] {
        assert!(check(&members(text)).is_ok(), "{text}");
    }
}

#[test]
fn a_limit_below_what_is_in_use_is_refused() {
    let mut life = Lifecycle::new("OS::Cinder::Quota", r#"{"project": "p1", "volumes": 2}"#);
    life.tries(OperationKind::Create, None);
    assert_eq!(life.drive.failure(), "ValueError: The limit on volumes is below what is in use: 3");
}
