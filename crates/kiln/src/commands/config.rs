//! `kiln config`: the options of a configuration file, their effective values, and a sample file.

use crate::cli::{ConfigCommand, ConfigList};
use crate::client::{self, Listing};
use crate::config::{
    self, ACCEPTED, AcceptedRow, ConfigFile, OptionRow, Settings, ValueSource, rows,
};
use crate::stdio::{CommandError, Streams, Verdict};
use serde_json::{Value, json};

pub(crate) fn run(
    command: &ConfigCommand,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let list = match command {
        ConfigCommand::Sample => {
            streams.out.write_all(config::sample().as_bytes())?;
            return Ok(Verdict::Good);
        }
        ConfigCommand::List(list) => list,
    };
    let (columns, objects) = match &list.config {
        None => (DESCRIBED, described()),
        Some(_) => (EFFECTIVE, effective(list)?),
    };
    client::print_list(Listing::of(columns, &objects), &list.output_format, streams)
}

/// The columns of the table of options.
const DESCRIBED: &[(&str, &str)] = &[
    ("Section", "section"),
    ("Option", "option"),
    ("Status", "status"),
    ("Type", "type"),
    ("Default", "default"),
    ("Description", "description"),
];

/// The columns of effective values.
const EFFECTIVE: &[(&str, &str)] =
    &[("Section", "section"), ("Option", "option"), ("Value", "value"), ("Source", "source")];

/// The options that work, and those of Heat that set nothing, with the reason.
fn described() -> Vec<Value> {
    let working = rows().map(|row| {
        let object = json!({
            "section": row.section,
            "option": row.name,
            "status": "works",
            "type": type_of(row),
            "default": row.setting.default(),
            "description": row.help,
        });
        ((row.section, row.name), object)
    });
    let accepted = |row: &'static AcceptedRow| {
        row.names.iter().map(move |name| {
            let object = json!({
                "section": row.section,
                "option": name,
                "status": row.acceptance.to_string(),
                "type": "",
                "default": "",
                "description": row.reason,
            });
            ((row.section, *name), object)
        })
    };
    let mut all: Vec<_> = working.chain(ACCEPTED.iter().flat_map(accepted)).collect();
    all.sort_by_key(|(key, _)| *key);
    all.into_iter().map(|(_, object)| object).collect()
}

/// The type with the permitted range.
fn type_of(row: &OptionRow) -> String {
    let name = row.setting.type_name();
    row.setting.range().map_or(name.to_owned(), |range| format!("{name} ({range})"))
}

/// The values that a file results in. Files that a server would not start with are errors here, too.
fn effective(list: &ConfigList) -> Result<Vec<Value>, CommandError> {
    let file = ConfigFile::load(list.config.as_deref())?;
    Settings::from_file(&file)?;
    let mut all: Vec<_> = rows().collect();
    all.sort_by_key(|row| (row.section, row.name));
    let object = |row: &&OptionRow| {
        let (values, source) = file.values(row, row.section);
        let value = match source {
            ValueSource::Default => row.setting.default(),
            ValueSource::File { .. } => row.setting.shown(&values.join(",")),
        };
        let source = match source {
            ValueSource::Default => "default".to_owned(),
            ValueSource::File { section, name, origin }
                if (&*section, name) == (row.section, row.name) =>
            {
                format!("{}:{}", file.path_of(origin), origin.line)
            }
            ValueSource::File { section, name, origin } => {
                let path = file.path_of(origin);
                format!("{path}:{} as [{section}] {name}", origin.line)
            }
        };
        json!({ "section": row.section, "option": row.name, "value": value, "source": source })
    };
    Ok(all.iter().map(object).collect())
}
