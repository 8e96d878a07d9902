//! Types whose services are gone: they stand for what was, and do nothing.

use super::drive;
use crate::driving::Nothing;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::registry::Registry;
use kiln_template::schema::Status;

const FAMILIES: [&str; 4] = ["OS::Monasca::", "OS::Sahara::", "OS::Senlin::", "OS::Vitrage::"];

#[test]
fn a_retired_type_says_so_takes_anything_and_calls_nobody() {
    let mut seen = 0;
    for kind in Registry::builtin().iter() {
        let name = kind.name();
        let is_retired = FAMILIES.iter().any(|family| name.starts_with(family));
        assert!(!is_retired || kind.placeholder, "{name} has no service any more");
        if !kind.placeholder || name == "OS::Heat::None" {
            continue;
        }
        seen += 1;
        assert!(kind.schema.about.starts_with("What is left of "), "{name}: {}", kind.schema.about);
        assert_eq!(kind.schema.support.status, Status::Hidden, "{name}");
        assert!(kind.schema.any_property && kind.schema.has_attribute("whatever"), "{name}");
        let mut drive = drive(kind, r#"{"whatever": [1]}"#);
        for operation in [
            OperationKind::Create,
            OperationKind::Update,
            OperationKind::Check,
            OperationKind::Delete,
        ] {
            drive.context.journal = Default::default();
            drive.run(kind, operation, &mut Nothing);
            assert_eq!(drive.result(), &Ok(()), "{operation:?} of {name}");
            assert!(drive.context.physical_id.is_some(), "{name} has an id of its own");
        }
        assert!(drive.context.data.contains_key("is_placeholder"), "{name}");
    }
    assert!(seen > 25, "only {seen}");
}
