//! Types of the smaller services: each lives its life against a service in memory, straight and interrupted at every seam.

mod balancing;
mod cases;
mod identity;
mod keeping;
mod rest;
mod retired;
mod running;
mod telling;

use crate::driving::{Drive, Seam};
use crate::stack::members;
use cases::{CASES, Case};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::{Members, ResourceType, Value};
use kiln_resources::registry::Registry;
use rest::Rest;

pub(crate) fn kind(name: &str) -> &'static ResourceType {
    Registry::builtin().get(name).unwrap_or_else(|| panic!("no type {name}"))
}

/// Properties as a handler gets them: defaults are filled in.
pub(crate) fn properties(kind: &ResourceType, given: &str) -> Members {
    let mut all = Members::new();
    for property in &kind.schema.properties {
        all.insert(property.name.as_ref().into(), property.default.clone().unwrap_or_default());
    }
    all.extend(members(given));
    all
}

/// A resource of a type.
pub(crate) fn drive(kind: &ResourceType, given: &str) -> Drive {
    Drive::new(properties(kind, given))
}

/// Has the next operation be an update to these properties.
pub(crate) fn update(drive: &mut Drive, kind: &ResourceType, given: &str) {
    let after = properties(kind, given);
    let before = drive.context.properties.clone();
    let null = Value::Null;
    let changed =
        after.iter().filter(|(name, value)| !before.get(*name).unwrap_or(&null).equals(value));
    drive.context.changed = changed.map(|(name, _)| name.clone()).collect();
    drive.context.previous_properties = before;
    drive.context.properties = after.into();
}

/// A resource whose create was run.
pub(crate) fn made(name: &str, given: &str, world: &mut Rest) -> Drive {
    let mut drive = drive(kind(name), given);
    drive.run(kind(name), OperationKind::Create, world);
    drive
}

/// Why a type refuses properties, if it does.
pub(crate) fn refusal(name: &str, given: &str) -> Option<String> {
    let check = kind(name).check.unwrap_or_else(|| panic!("{name} checks nothing"));
    check(&members(given)).err().map(|refusal| refusal.message)
}

/// Runs a life up to a verb, the verb itself interrupted at a seam, and gives what there is then.
fn live(case: &Case, last: OperationKind, seam: Option<Seam>) -> (Drive, Rest) {
    let kind = kind(case.kind);
    let mut world = (case.world)(Rest::of(kind.behaviour.rest.as_deref()));
    let mut drive = drive(kind, case.first);
    for operation in
        [OperationKind::Create, OperationKind::Update, OperationKind::Check, OperationKind::Delete]
    {
        drive.context.journal = Default::default();
        drive.demands.clear();
        drive.ended = None;
        if operation == OperationKind::Update {
            update(&mut drive, kind, case.then);
        }
        match seam.filter(|_| operation == last) {
            Some(seam) => drive.run_through(kind, operation, &mut world, seam),
            None => drive.run(kind, operation, &mut world),
        }
        assert_eq!(
            drive.result(),
            &Ok(()),
            "{operation:?} of {} {seam:?}: {:?}",
            case.kind,
            world.told
        );
        if operation == last {
            break;
        }
    }
    (drive, world)
}

#[test]
fn every_type_lives_and_leaves_nothing_behind_wherever_it_is_interrupted() {
    for case in CASES {
        let before = (case.world)(Rest::default()).summary();
        for operation in [
            OperationKind::Create,
            OperationKind::Update,
            OperationKind::Check,
            OperationKind::Delete,
        ] {
            let (straight, expected) = live(case, operation, None);
            if operation == OperationKind::Delete {
                assert_eq!(expected.summary(), before, "{}", case.kind);
            }
            for at in 0..straight.demands.len() {
                for seam in [Seam::Before(at), Seam::After(at)] {
                    let (drive, world) = live(case, operation, Some(seam));
                    let place =
                        format!("{operation:?} of {} at {seam:?}: {:?}", case.kind, world.told);
                    assert_eq!(world.summary(), expected.summary(), "{place}");
                    let ids = (&drive.context.physical_id, &straight.context.physical_id);
                    assert_eq!(ids.0.is_some(), ids.1.is_some(), "{place}");
                }
            }
        }
    }
}

#[test]
fn every_type_of_these_services_has_a_case() {
    const FAMILIES: [&str; 16] = [
        "AWS::S3::",
        "OS::Aodh::",
        "OS::Barbican::",
        "OS::Blazar::",
        "OS::Designate::",
        "OS::Ironic::",
        "OS::Keystone::",
        "OS::Magnum::",
        "OS::Manila::",
        // What workflows do is their own affair: `OS::Mistral::ExternalResource` has a test to itself.
        "OS::Mistral::Cron",
        "OS::Mistral::Workflow",
        "OS::Octavia::",
        "OS::Swift::",
        "OS::Trove::",
        "OS::Zaqar::",
        "OS::Zun::",
    ];

    for kind in Registry::builtin().iter().filter(|kind| !kind.placeholder) {
        let is_ours = FAMILIES.iter().any(|family| kind.name().starts_with(family));
        assert!(
            !is_ours || CASES.iter().any(|case| case.kind == kind.name()),
            "{} has no case",
            kind.name()
        );
    }
}
