//! `kiln template functions`: the functions of a template version.

use crate::cli::{Functions, TextOrJson};
use crate::render::{BOLD, FAINT, styled};
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_template::functions::{self, Function};
use kiln_template::suggest;
use kiln_template::version::{self, Position, Version};
use serde_json::{Value, json};
use std::io;

pub(super) fn run(
    arguments: &Functions,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let version = match &arguments.version {
        Some(words) => find(words)?,
        None => Version::Hot20210416,
    };
    let is_listed = |function: &&Function| {
        function.exists_in(version)
            && (function.allowed_in(Position::Value, version)
                || arguments.with_conditions && function.allowed_in(Position::Condition, version))
    };
    let listed: Vec<&Function> = functions::ALL.iter().filter(is_listed).collect();
    match arguments.format {
        TextOrJson::Text => write_text(&listed, streams)?,
        TextOrJson::Json => {
            let all: Value = listed.iter().map(|function| as_json(function, version)).collect();
            writeln!(streams.out, "{all:#}")?;
        }
    }
    Ok(Verdict::Good)
}

/// Writes a line with the purpose of each function, and a line with its syntax.
fn write_text(listed: &[&Function], streams: &mut Streams<'_>) -> io::Result<()> {
    let widest = listed.iter().map(|function| function.name.len()).max().unwrap_or(0);
    for function in listed {
        let Function { name, usage, about, .. } = function;
        let blanks = " ".repeat(widest - name.len());
        let name = styled(streams.out_styled, BOLD, name);
        let usage = styled(streams.out_styled, FAINT, usage);
        writeln!(streams.out, "{name}{blanks}  {about}\n{:widest$}  {usage}", "")?;
    }
    Ok(())
}

fn as_json(function: &Function, version: Version) -> Value {
    json!({
        "name": function.name,
        "usage": function.usage,
        "about": function.about,
        "in_values": function.allowed_in(Position::Value, version),
        "in_conditions": function.allowed_in(Position::Condition, version),
    })
}

/// Parses a version: a date, a release name, or a key with one of these.
fn find(words: &str) -> Result<Version, CommandError> {
    let found = match words.split_once(['.', '=']) {
        Some((key, value)) => version::find(key, value),
        None => version::KEYS.iter().find_map(|key| version::find(key, words)),
    };
    found.ok_or_else(|| {
        let known = version::KEYS.iter().flat_map(|key| version::values(key));
        let help = suggest::did_you_mean(words, known);
        let help = help.unwrap_or_else(|| "`kiln template versions` lists them".into());
        CommandError::usage(format!("there is no template version {words:?}: {help}"))
    })
}
