//! The constants of custom constraints, by the names that templates use.
//!
//! They are read from the source of `kiln-resources`, so there is no second list to keep up to date.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The files that declare constraints, below `crates/resources/src`.
const FILES: [&str; 2] = ["constraints.rs", "lookup/kinds.rs"];

/// The constants of all constraints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constants(BTreeMap<String, String>);

impl Constants {
    /// Reads the constants from the source of the resource types.
    pub(crate) fn read() -> Result<Constants, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/resources/src");
        let mut constants = Constants::default();
        for file in FILES {
            let path = folder.join(file);
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            constants.0.extend(declared(&text));
        }
        Ok(constants)
    }

    /// Returns the constant of a constraint.
    pub(crate) fn of(&self, constraint: &str) -> Result<&str, String> {
        self.0.get(constraint).map(String::as_str).ok_or_else(|| {
            format!(
                "there is no constant for the constraint `{constraint}`: declare it in one of {}",
                FILES.join(", ")
            )
        })
    }
}

/// Returns the name of each constraint that a source file declares, with its constant.
fn declared(source: &str) -> impl Iterator<Item = (String, String)> {
    source.split("pub const ").skip(1).filter_map(|item| {
        let (constant, rest) = item.split_once(": CustomConstraint =")?;
        let (_, rest) = rest.split_once("CustomConstraint::new(\"")?;
        let (constraint, _) = rest.split_once('"')?;
        Some((constraint.to_owned(), constant.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_resources::constraints::NAMES;

    #[test]
    fn every_constraint_has_a_constant() {
        let constants = Constants::read().expect("constants");
        for name in NAMES {
            assert!(constants.of(name).is_ok(), "{name}");
        }
        assert_eq!(constants.of("neutron.network"), Ok("NETWORK"));
        assert_eq!(constants.of("neutron.lbaas.pool"), Ok("LBAAS_POOL"));
        let error = constants.of("neutron.netwrok").expect_err("an error");
        assert!(error.contains("no constant for the constraint `neutron.netwrok`"), "{error}");
    }
}
