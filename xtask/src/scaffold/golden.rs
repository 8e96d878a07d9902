//! Files that scaffold writes for some types. They are modules, so the compiler checks what scaffold writes.
//!
//! `KILN_BLESS=1 cargo nextest run -p xtask scaffold` writes them.

mod lease;
mod taas_tap_flow;

use super::constants::Constants;
use super::{Description, folder, formatted, names, object, read, render};
use kiln_resources::declare::ResourceType;
use kiln_resources::registry::Registry;
use std::path::Path;

/// The declarations in the golden files.
const DECLARATIONS: [fn() -> ResourceType; 2] = [lease::lease, taas_tap_flow::taas_tap_flow];

#[test]
fn scaffold_writes_declarations_that_compile() {
    let facts = read(&folder().join("types.json")).expect("facts");
    let constants = Constants::read().expect("constants");
    for declared in DECLARATIONS.map(|declaration| declaration()) {
        let name = declared.name();
        let kind = Registry::builtin().get(name).expect("a type");
        let description = Description { sentence: kind.schema.about.to_string(), instead: None };
        let text = render::type_file(name, &facts["types"][name], &description, &constants);
        let text = formatted(&text.expect("a text")).expect("a layout");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/scaffold/golden");
        let path = path.join(format!("{}.rs", names::file(name)));
        if std::env::var_os("KILN_BLESS").is_some() {
            std::fs::write(&path, &text).expect("a file");
        }
        let golden = std::fs::read_to_string(&path).expect("a golden file");
        assert_eq!(text, golden, "{name}");
        let names = |kind: &ResourceType| -> Vec<String> {
            kind.schema.properties.iter().map(|property| property.name.to_string()).collect()
        };
        assert_eq!(names(&declared), names(kind));
    }
}

#[test]
fn every_type_of_the_facts_can_be_written() {
    let facts = read(&folder().join("types.json")).expect("facts");
    let constants = Constants::read().expect("constants");
    for (name, fact) in object(&facts["types"]) {
        let description = Description { sentence: "A type.".to_owned(), instead: None };
        let text = render::type_file(&name, &fact, &description, &constants);
        assert!(text.as_ref().is_ok_and(|text| !text.contains(".is(\"")), "{name}: {text:?}");
    }
}
