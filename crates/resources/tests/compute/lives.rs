//! What holds of every type of these families: an operation may be interrupted anywhere, and there is
//! exactly one object afterwards, or none.

use super::cases::{CASES, Case};
use super::cloud::Cloud;
use crate::driving::{Drive, Seam};
use crate::stack::members;
use kiln_resources::behaviour::{OperationKind, SnapshotRecord};
use kiln_resources::constraints::offline;
use kiln_resources::declare::{Members, ResourceType};
use kiln_resources::registry::Registry;
use kiln_template::{Path, convert_properties};
use std::sync::Arc;

pub(super) fn kind(name: &str) -> ResourceType {
    Registry::builtin().get(name).unwrap_or_else(|| panic!("there is no {name}")).clone()
}

/// Properties with their defaults.
pub(super) fn properties(kind: &ResourceType, text: &str) -> Members {
    let (members, problems) =
        convert_properties(&kind.schema, &members(text), &offline(0), &Path::Root);
    assert!(problems.is_empty(), "{}: {problems:?}", kind.name());
    if let Some(check) = kind.check {
        assert!(check(&members).is_ok(), "{}: {:?}", kind.name(), check(&members));
    }
    members
}

/// The names of properties that differ, or that only one side has.
pub(super) fn differing(before: &Members, after: &Members) -> Vec<Arc<str>> {
    let differs = |name: &&Arc<str>| before.get(*name) != after.get(*name);
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    after.keys().filter(differs).chain(gone).cloned().collect()
}

/// A resource, its type and its cloud.
pub(super) struct Lifecycle {
    pub(super) kind: ResourceType,
    pub(super) drive: Drive,
    pub(super) cloud: Cloud,
}

impl Lifecycle {
    pub(super) fn new(name: &str, text: &str) -> Lifecycle {
        let kind = kind(name);
        let mut drive = Drive::new(properties(&kind, text));
        drive.context.copy_name = "stack-x-copy".into();
        Lifecycle { kind, drive, cloud: Cloud::new() }
    }

    /// Does something with the resource, interrupted if so wished; it must end well.
    pub(super) fn does(&mut self, operation: OperationKind, seam: Option<Seam>) {
        self.tries(operation, seam);
        let place = format!("{operation:?} of {} at {seam:?}", self.kind.name());
        assert_eq!(self.drive.result(), &Ok(()), "{place}: {:#?}", self.cloud.told);
    }

    /// Does something with the resource, however it ends.
    pub(super) fn tries(&mut self, operation: OperationKind, seam: Option<Seam>) {
        self.drive.context.journal = Default::default();
        (self.drive.ended, self.drive.demands) = (None, Vec::new());
        match seam {
            Some(seam) => self.drive.run_through(&self.kind, operation, &mut self.cloud, seam),
            None => self.drive.run(&self.kind, operation, &mut self.cloud),
        }
    }

    /// Its properties are to become others.
    pub(super) fn becomes(&mut self, text: &str) {
        let (before, after) = (self.drive.context.properties.clone(), properties(&self.kind, text));
        self.drive.context.changed = differing(&before, &after).into();
        self.drive.context.previous_properties = before;
        self.drive.context.properties = after.into();
    }

    /// After an update, what was changed is what there is.
    pub(super) fn has_become(&mut self) {
        self.drive.context.previous_properties = self.drive.context.properties.clone();
        self.drive.context.changed = Arc::default();
    }
}

/// The seams of an operation that had so many demands.
pub(super) fn seams(demands: usize) -> impl Iterator<Item = Seam> {
    (0..demands).flat_map(|at| [Seam::Before(at), Seam::After(at)])
}

fn lived(
    case: &Case,
    create: Option<Seam>,
    update: Option<Seam>,
    delete: Option<Seam>,
) -> [usize; 3] {
    let mut life = Lifecycle::new(case.kind, case.properties);
    let before = life.cloud.population();
    let mut demands = [0; 3];
    let place = format!("{} {create:?} {update:?} {delete:?}", case.kind);
    life.does(OperationKind::Create, create);
    demands[0] = life.drive.demands.len();
    assert!(life.drive.context.physical_id.is_some(), "{place}");
    assert_eq!(life.cloud.population(), before + case.objects, "{place}: {:#?}", life.cloud.told);
    life.does(OperationKind::Check, None);
    if let Some(changed) = case.changed {
        life.becomes(changed);
        life.does(OperationKind::Update, update);
        demands[1] = life.drive.demands.len();
        life.has_become();
        life.does(OperationKind::Check, None);
    }
    life.does(OperationKind::Delete, delete);
    demands[2] = life.drive.demands.len();
    assert_eq!(life.drive.context.physical_id, None, "{place}");
    assert_eq!(life.cloud.population(), before, "{place}: {:#?}", life.cloud.told);
    // What is gone is removed once more without a fuss.
    life.does(OperationKind::Delete, None);
    demands
}

/// Takes a snapshot of an object, interrupted anywhere: there is one copy, whose id is kept as `data` and which
/// `property` names after a restore, and none once the snapshot is deleted.
pub(super) fn check_snapshots(kind: &str, properties: &str, data: &str, property: &str) {
    let began = || {
        let mut life = Lifecycle::new(kind, properties);
        life.does(OperationKind::Create, None);
        life
    };
    let mut life = began();
    life.does(OperationKind::Snapshot, None);
    for seam in seams(life.drive.demands.len()) {
        let mut life = began();
        let before = life.cloud.population();
        life.does(OperationKind::Snapshot, Some(seam));
        assert_eq!(life.cloud.population(), before + 1, "{seam:?}");
        let copy = life.drive.context.data.get(data).cloned().expect("a copy");
        let mut properties = Members::new();
        let saved = SnapshotRecord { physical_id: None, data: &life.drive.context.data };
        life.kind.behaviour.restore.expect("as told")(&mut properties, &saved);
        assert_eq!(properties.get(property), Some(&copy));
        life.does(OperationKind::DeleteSnapshot, None);
        assert_eq!(life.cloud.population(), before, "{seam:?}");
    }
}

#[test]
fn every_type_lives_and_dies_and_leaves_nothing() {
    for case in &CASES {
        lived(case, None, None, None);
    }
}

#[test]
fn every_type_lives_the_same_wherever_it_was_interrupted() {
    for case in &CASES {
        let [create, update, delete] = lived(case, None, None, None);
        seams(create).for_each(|seam| _ = lived(case, Some(seam), None, None));
        seams(update).for_each(|seam| _ = lived(case, None, Some(seam), None));
        seams(delete).for_each(|seam| _ = lived(case, None, None, Some(seam)));
    }
}

#[test]
fn what_was_updated_is_what_a_new_one_would_be() {
    for case in &CASES {
        let Some(changed) = case.changed else { continue };
        let mut life = Lifecycle::new(case.kind, case.properties);
        life.does(OperationKind::Create, None);
        life.becomes(changed);
        life.does(OperationKind::Update, None);
        let told = life.cloud.told.len();
        life.has_become();
        // Nothing is left to be done.
        life.does(OperationKind::Update, None);
        let idle = &life.cloud.told[told..];
        let sets = |call: &String| call.starts_with("PUT") || call.contains("tenants");
        assert!(idle.iter().all(sets), "{}: {idle:?}", case.kind);
    }
}
