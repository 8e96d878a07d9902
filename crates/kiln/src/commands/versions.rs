//! `kiln template versions`: the versions of the template language.

use crate::cli::{TextOrJson, Versions};
use crate::render::table;
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_template::version::{self, Dialect, Position, Version, VersionInfo};
use serde_json::{Value, json};

pub(super) fn run(
    arguments: &Versions,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    match arguments.format {
        TextOrJson::Text => {
            let head = ["KEY", "VALUE", "ALIAS", "DIALECT", "FUNCTIONS"];
            let rows: Vec<_> = version::ALL.iter().map(row).collect();
            table::write(streams.out, streams.out_styled, head, &rows)?;
        }
        TextOrJson::Json => {
            let all: Value = version::ALL.iter().map(as_json).collect();
            writeln!(streams.out, "{all:#}")?;
        }
    }
    Ok(Verdict::Good)
}

fn row(written: &VersionInfo) -> [String; 5] {
    [
        written.key.to_owned(),
        written.date.to_owned(),
        written.alias.unwrap_or("-").to_owned(),
        dialect(written.version).to_owned(),
        functions(written.version).to_string(),
    ]
}

fn as_json(written: &VersionInfo) -> Value {
    json!({
        "key": written.key,
        "value": written.date,
        "alias": written.alias,
        "dialect": dialect(written.version),
        "functions": functions(written.version),
    })
}

fn dialect(version: Version) -> &'static str {
    match version.dialect() {
        Dialect::Hot => "hot",
        Dialect::Cfn => "cfn",
    }
}

/// The number of functions that resources and outputs may use.
fn functions(version: Version) -> usize {
    version.functions(Position::Value).count()
}
