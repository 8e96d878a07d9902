//! What guests are given: users, addresses, mailboxes, configurations; and nothing twice, wherever an operation
//! was interrupted.

mod cloud;
mod deployments;
mod handles;

use crate::driving::{Drive, Seam};
use cloud::Cloud;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::{Members, ResourceType};
use kiln_resources::op::{Domain, GuestAccess, StackContext};
use kiln_resources::registry::Registry;
use uuid::Uuid;

fn kind(name: &str) -> ResourceType {
    Registry::builtin().get(name).expect("a type").clone()
}

/// A resource of a stack that may have users.
fn drive(properties: Members) -> Drive {
    let mut drive = Drive::new(properties);
    drive.context.stack = StackContext {
        project: "owner".into(),
        name: "web".into(),
        id: Uuid::from_u128(7),
        root: Uuid::from_u128(7),
        users_project: None,
        guests: GuestAccess {
            domain: Some(Domain::Name("heat".into())),
            role: "heat_stack_user".into(),
            auth_url: "http://identity/v3".into(),
            region: Some("One".into()),
            ..GuestAccess::default()
        }
        .into(),
    };
    drive
}

/// Creates and deletes a resource, each interrupted at every seam: what there is in between is always the same,
/// and in the end there is nothing but the project of the users, which goes with the stack.
fn comes_and_goes(name: &str, properties: &Members, world: &dyn Fn() -> Cloud) {
    let kind = kind(name);
    let (mut straight, mut cloud) = (drive(properties.clone()), world());
    straight.run(&kind, OperationKind::Create, &mut cloud);
    assert_eq!(straight.result(), &Ok(()), "{name}");
    let made = cloud.counts();
    let create_demands = straight.demands.len();
    for at in 0..create_demands {
        for seam in [Seam::Before(at), Seam::After(at)] {
            let (mut drive, mut cloud) = (drive(properties.clone()), world());
            drive.run_through(&kind, OperationKind::Create, &mut cloud, seam);
            assert_eq!(drive.result(), &Ok(()), "create of {name} at {seam:?}");
            assert_eq!(cloud.counts(), made, "create of {name} at {seam:?}");
            let keys = |drive: &Drive| -> Vec<String> {
                drive.context.data.keys().map(|key| key.to_string()).collect()
            };
            assert_eq!(keys(&drive), keys(&straight), "create of {name} at {seam:?}");
        }
    }
    let demands = straight.demands.len();
    let deletes = |seam: Option<Seam>| {
        let (mut drive, mut cloud) = (drive(properties.clone()), world());
        drive.run(&kind, OperationKind::Create, &mut cloud);
        (drive.context.journal, drive.ended) = Default::default();
        match seam {
            None => drive.run(&kind, OperationKind::Delete, &mut cloud),
            Some(seam) => drive.run_through(&kind, OperationKind::Delete, &mut cloud, seam),
        }
        assert_eq!(drive.result(), &Ok(()), "delete of {name} at {seam:?}");
        assert_eq!(cloud.left(), Vec::<String>::new(), "delete of {name} at {seam:?}");
        assert!(drive.context.physical_id.is_none(), "delete of {name} at {seam:?}");
        drive.demands.len()
    };
    for at in 0..deletes(None) - demands {
        deletes(Some(Seam::Before(at)));
        deletes(Some(Seam::After(at)));
    }
    // One that was given up in the middle is removed as well: what is doubtful is looked for.
    for at in 0..create_demands {
        for seam in [Seam::Before(at), Seam::After(at)] {
            let (mut drive, mut cloud) = (drive(properties.clone()), world());
            drive.run_until(&kind, OperationKind::Create, &mut cloud, seam);
            drive.context.is_doubtful = drive.context.journal.is_doubtful();
            drive.context.journal = Default::default();
            drive.run(&kind, OperationKind::Delete, &mut cloud);
            assert_eq!(drive.result(), &Ok(()), "delete after {seam:?} of {name}");
            assert_eq!(cloud.left(), Vec::<String>::new(), "delete after {seam:?} of {name}");
        }
    }
}
