//! The output formats of `heat`: tables with the API's field names, details by property, JSON.

use super::super::Client;
use super::super::error::Result;
use super::super::format::table::{Align, table};
use super::super::format::text::{Json, json, plain};
use super::super::format::wrap::wrap;
use super::super::heat::text;
use serde_json::Value;

/// Prints objects as a table with these fields, optionally sorted by one of them.
pub(super) fn list(
    client: &mut Client<'_, '_>,
    columns: &[&str],
    objects: &[Value],
    sort: Option<&str>,
) -> Result<()> {
    let cell = |object: &Value, key: &str| object.get(key).map(shown).unwrap_or_default();
    let row = |object: &Value| columns.iter().map(|key| cell(object, key)).collect();
    let mut rows: Vec<Vec<String>> = objects.iter().map(row).collect();
    if let Some(at) = sort.and_then(|sort| columns.iter().position(|column| *column == sort)) {
        rows.sort_by(|a, b| (&a[at], a).cmp(&(&b[at], b)));
    }
    let names: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
    let aligns = vec![Align::Left; columns.len()];
    client.console.line(&table(&names, &aligns, &rows, None, true))
}

/// Maps as JSON, other values as Python prints them.
fn shown(value: &Value) -> String {
    if value.is_object() { json(value, Json::InCell) } else { plain(value) }
}

/// Prints an object, one row for each property.
pub(super) fn details(client: &mut Client<'_, '_>, object: &Value) -> Result<()> {
    let mut rows: Vec<Vec<String>> = object
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| vec![name.clone(), property(name, value)])
        .collect();
    rows.sort();
    let names = ["Property".to_owned(), "Value".to_owned()];
    client.console.line(&table(&names, &[Align::Left; 2], &rows, None, true))
}

/// A property: links and names one per line, long texts wrapped, maps and lists as JSON.
fn property(name: &str, value: &Value) -> String {
    match (name, value) {
        ("description" | "template_description" | "stack_status_reason", Value::String(text)) => {
            wrap(text, 55).join("\n")
        }
        ("links", Value::Array(links)) => {
            let line = |link: &Value| format!("{} ({})", text(link, "href"), text(link, "rel"));
            links.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        ("required_by", Value::Array(names)) => {
            names.iter().map(plain).collect::<Vec<_>>().join("\n")
        }
        ("output_value", value) => plain(value),
        (_, Value::Array(_) | Value::Object(_)) => json(value, Json::InCell),
        (_, value) => plain(value),
    }
}

/// Prints a document.
pub(super) fn document(client: &mut Client<'_, '_>, document: &Value) -> Result<()> {
    client.console.line(&json(document, Json::Indented))
}

/// Prints a value alone: strings unquoted, everything else as JSON.
pub(super) fn value(client: &mut Client<'_, '_>, value: &Value) -> Result<()> {
    match value {
        Value::String(text) => client.console.line(text),
        value => client.console.line(&json(value, Json::InCell)),
    }
}
