//! The database, its schema and its keys.

use super::finding::Finding;
use crate::config::Settings;
use kiln_store::{Inspection, KeyError, OpenError, SqlStore};

/// The findings about the database and its keys.
pub(super) async fn check(settings: &Settings) -> Vec<Finding> {
    match SqlStore::inspect(&settings.database, &settings.keys).await {
        Ok(inspection) => inspected(settings, inspection),
        Err(error) => vec![unusable(&error)],
    }
}

fn unusable(error: &OpenError) -> Finding {
    let next = match error {
        OpenError::Unreachable { .. } => {
            "start the database server, or correct [database] connection"
        }
        OpenError::Directory { .. } => {
            "create the directory for the user of the server, or correct [database] connection"
        }
        OpenError::Database(_) => {
            "check user, password and name of the database in [database] connection"
        }
        _ => "correct [database] connection",
    };
    Finding::problem("database", error.to_string(), next)
}

fn inspected(settings: &Settings, inspection: Inspection) -> Vec<Finding> {
    let Inspection { schema, known_schema: known, keys } = inspection;
    let key_file = settings.keys.display();
    let database = Finding::ok("database", "can be reached");
    let schema = match schema {
        None => {
            Finding::ok("schema", format!("no tables yet: the first start creates schema {known}"))
        }
        Some(schema) if schema < known => {
            let text = format!("{schema}; the next start upgrades it to {known}");
            Finding::warning("schema", text, "back up the database before that (docs/store.md)")
        }
        Some(schema) if schema > known => Finding::problem(
            "schema",
            format!("{schema}, but this program knows {known}"),
            "upgrade Kiln on this machine",
        ),
        Some(schema) => Finding::ok("schema", format!("{schema}, the newest")),
    };
    let keys = match keys {
        None if settings.keys.exists() => Finding::ok("keys", format!("{key_file} exists")),
        None => Finding::ok("keys", format!("none yet: the first start creates {key_file}")),
        Some(Ok(())) => Finding::ok("keys", format!("{key_file} has the keys of the database")),
        Some(Err(error)) => unusable_keys(&error),
    };
    vec![database, schema, keys]
}

fn unusable_keys(error: &KeyError) -> Finding {
    let message = error.to_string();
    match (error, message.rsplit_once(": ")) {
        (
            KeyError::Missing(_) | KeyError::Exposed { .. } | KeyError::Wrong(_),
            Some((text, next)),
        ) => Finding::problem("keys", text, next),
        _ => {
            Finding::problem("keys", message, "correct [kiln] keys_file, or restore a backup of it")
        }
    }
}
