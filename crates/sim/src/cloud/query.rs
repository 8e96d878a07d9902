//! Lists: filters, pages, and the fields that were asked for.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ask::{Answer, Refusal, Reply, Turn, text};
use super::check;
use super::rest;
use super::schema::Collection;
use super::table::Obj;

/// Parameters that are no filters.
const RESERVED: &[&str] = &[
    "fields",
    "limit",
    "marker",
    "sort_key",
    "sort_dir",
    "sort",
    "page_reverse",
    "offset",
    "all_tenants",
    "all_projects",
    "with_count",
    "is_public",
    "detail",
    "deleted",
];

/// Answers a list.
pub(super) fn list(
    turn: &mut Turn<'_>,
    of: &'static Collection,
    parents: &rest::Parents,
) -> Answer {
    let rows = rows(turn, of, parents)?;
    let (rows, next) = page(turn, of, rows)?;
    let rows: Vec<Value> = rows.into_iter().map(|row| Value::from(picked(turn, row))).collect();
    let mut body = json!({ of.many: rows });
    if let Some(next) = next {
        body[format!("{}_links", of.many)] = json!([{ "rel": "next", "href": next }]);
    }
    Ok(Reply::ok(body))
}

/// All that the caller sees and the filters keep, as clients see it.
pub(super) fn rows(
    turn: &Turn<'_>,
    of: &'static Collection,
    parents: &rest::Parents,
) -> Result<Vec<Obj>, Refusal> {
    let mut filters: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in &turn.ask.query {
        let name = if name == "tenant_id" { "project_id" } else { name.as_str() };
        if !RESERVED.contains(&name) {
            filters.entry(name).or_default().push(value);
        }
    }
    let schema = turn.world.schema();
    let shape = schema.get(of.name);
    for name in filters.keys() {
        let known = *name == "id" || is_tag_filter(name);
        let known = known || shape.is_some_and(|shape| shape.field(name).is_some());
        if !known && let Some(refusal) = of.dialect.unknown_filter(of, name) {
            return Err(refusal);
        }
    }
    let table = turn.world.table(of.name);
    let narrowing = |(name, values): (&&str, &Vec<&str>)| match values.as_slice() {
        [one] if *name == of.key => Some(table.get(one).into_iter().collect()),
        [one] => table.narrowed(name, one),
        _ => None,
    };
    let candidates: Vec<&Obj> =
        filters.iter().find_map(narrowing).unwrap_or_else(|| table.iter().collect());
    let belongs = |row: &Obj| parents.iter().all(|(field, id)| text(row, field) == id);
    let mut kept = Vec::new();
    for row in candidates {
        if !belongs(row) || !turn.sees(of, row) {
            continue;
        }
        let row = rest::shown(turn, of, row.clone());
        if filters.iter().all(|(name, wanted)| keeps(&row, name, wanted)) {
            kept.push(row);
        }
    }
    Ok(kept)
}

fn is_tag_filter(name: &str) -> bool {
    ["tags", "tags-any", "not-tags", "not-tags-any"].contains(&name)
}

fn keeps(row: &Obj, name: &str, wanted: &[&str]) -> bool {
    if is_tag_filter(name) && row.get("tags").is_some_and(Value::is_array) {
        let tags = super::ask::words(row, "tags");
        let mut asked = wanted.iter().flat_map(|words| words.split(','));
        let has = |tag: &str| tags.iter().any(|own| own == tag);
        return match name {
            "tags" => asked.all(has),
            "tags-any" => asked.any(has),
            "not-tags" => !asked.all(has),
            _ => !asked.any(has),
        };
    }
    match row.get(name) {
        Some(value) => wanted.iter().any(|wanted| says(value, wanted)),
        // A filter that nobody knows filters nothing.
        None => true,
    }
}

/// Whether a value is what the text of a filter asks for.
fn says(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        Value::Bool(flag) => check::truth(wanted) == Some(*flag),
        Value::Number(number) => number.to_string() == wanted,
        Value::Null => wanted.is_empty() || wanted == "None" || wanted == "null",
        Value::Array(list) => match wanted.split_once('=') {
            Some((field, wanted)) => {
                list.iter().any(|one| one.get(field).is_some_and(|value| says(value, wanted)))
            }
            None => list.iter().any(|one| says(one, wanted)),
        },
        Value::Object(_) => false,
    }
}

/// The page that was asked for, and the link to the next one.
pub(super) fn page(
    turn: &Turn<'_>,
    of: &Collection,
    mut rows: Vec<Obj>,
) -> Result<(Vec<Obj>, Option<String>), Refusal> {
    sort(turn, &mut rows);
    if let Some(marker) = turn.ask.query("marker").filter(|marker| !marker.is_empty()) {
        let at = rows.iter().position(|row| text(row, of.key) == marker);
        let at = at.ok_or_else(|| of.dialect.absent(of, marker))?;
        rows.drain(..=at);
    }
    let Some(limit) = turn.ask.query("limit") else { return Ok((rows, None)) };
    let Ok(limit) = limit.parse::<usize>() else {
        return Err(of.dialect.plain(400, &format!("limit must be an integer: {limit}")));
    };
    if limit == 0 || rows.len() <= limit {
        return Ok((rows, None));
    }
    rows.truncate(limit);
    let last = rows.last().map(|row| text(row, of.key)).unwrap_or_default();
    let next = next_link(turn, last);
    Ok((rows, Some(next)))
}

/// The address of this list from this marker on.
fn next_link(turn: &Turn<'_>, marker: &str) -> String {
    let ask = turn.ask;
    let kept = ask.query.iter().filter(|(name, _)| name != "marker");
    let mut words: Vec<String> = kept.map(|(name, value)| format!("{name}={value}")).collect();
    words.push(format!("marker={marker}"));
    format!("{}{}/{}?{}", ask.base, ask.service, ask.path.join("/"), words.join("&"))
}

fn sort(turn: &Turn<'_>, rows: &mut [Obj]) {
    let (key, way) = match turn.ask.query("sort") {
        Some(sort) => {
            sort.split(',').next().unwrap_or_default().split_once(':').unwrap_or((sort, "asc"))
        }
        None => match turn.ask.query("sort_key") {
            Some(key) => (key, turn.ask.query("sort_dir").unwrap_or("asc")),
            None => return,
        },
    };
    let of = |row: &Obj| match row.get(key) {
        Some(Value::String(text)) => (0.0, text.clone()),
        Some(Value::Number(number)) => (number.as_f64().unwrap_or_default(), String::new()),
        Some(other) => (0.0, other.to_string()),
        None => (0.0, String::new()),
    };
    rows.sort_by(|one, other| {
        let (one, other) = (of(one), of(other));
        one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1))
    });
    if way == "desc" {
        rows.reverse();
    }
}

/// The object with only the fields that were asked for.
pub(super) fn picked(turn: &Turn<'_>, mut row: Obj) -> Obj {
    let asked: Vec<&str> = turn
        .ask
        .query
        .iter()
        .filter(|(name, _)| name == "fields")
        .flat_map(|(_, value)| value.split(','))
        .collect();
    if !asked.is_empty() {
        row.retain(|name, _| asked.contains(&name.as_str()));
    }
    row
}
