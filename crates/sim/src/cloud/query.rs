//! Lists: filters, pagination, and the selection of fields.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::check;
use super::request::{Answer, Refusal, Reply, RequestContext, text};
use super::rest;
use super::schema::Collection;
use super::table::Obj;

/// Query parameters that are not filters.
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

/// Answers a list request.
pub(super) fn list(
    ctx: &mut RequestContext<'_>,
    collection: &'static Collection,
    parents: &rest::Parents,
) -> Answer {
    let rows = rows(ctx, collection, parents)?;
    let (rows, next) = page(ctx, collection, rows)?;
    let rows: Vec<Value> =
        rows.into_iter().map(|row| Value::from(select_fields(ctx, row))).collect();
    let mut body = json!({ collection.plural: rows });
    if let Some(next) = next {
        body[format!("{}_links", collection.plural)] = json!([{ "rel": "next", "href": next }]);
    }
    Ok(Reply::ok(body))
}

/// Returns the objects that the caller can see and the filters match, rendered.
pub(super) fn rows(
    ctx: &RequestContext<'_>,
    collection: &'static Collection,
    parents: &rest::Parents,
) -> Result<Vec<Obj>, Refusal> {
    let mut filters: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in &ctx.request.query {
        let name = if name == "tenant_id" { "project_id" } else { name.as_str() };
        if !RESERVED.contains(&name) {
            filters.entry(name).or_default().push(value);
        }
    }
    let schema = ctx.state.schema();
    let parsed = schema.get(collection.name);
    for name in filters.keys() {
        let known = *name == "id" || is_tag_filter(name);
        let known = known || parsed.is_some_and(|parsed| parsed.field(name).is_some());
        if !known && let Some(refusal) = collection.dialect.unknown_filter(collection, name) {
            return Err(refusal);
        }
    }
    let table = ctx.state.table(collection.name);
    let narrowing = |(name, values): (&&str, &Vec<&str>)| match values.as_slice() {
        [one] if *name == collection.key => Some(table.get(one).into_iter().collect()),
        [one] => table.narrowed(name, one),
        _ => None,
    };
    let candidates: Vec<&Obj> =
        filters.iter().find_map(narrowing).unwrap_or_else(|| table.iter().collect());
    let belongs = |row: &Obj| parents.iter().all(|(field, id)| text(row, field) == id);
    let mut kept = Vec::new();
    for row in candidates {
        if !belongs(row) || !ctx.sees(collection, row) {
            continue;
        }
        let row = rest::render(ctx, collection, row.clone());
        if filters.iter().all(|(name, wanted)| matches_filter(&row, name, wanted)) {
            kept.push(row);
        }
    }
    Ok(kept)
}

fn is_tag_filter(name: &str) -> bool {
    ["tags", "tags-any", "not-tags", "not-tags-any"].contains(&name)
}

fn matches_filter(row: &Obj, name: &str, wanted: &[&str]) -> bool {
    if is_tag_filter(name) && row.get("tags").is_some_and(Value::is_array) {
        let tags = super::request::strings(row, "tags");
        let mut asked = wanted.iter().flat_map(|strings| strings.split(','));
        let has = |tag: &str| tags.iter().any(|own| own == tag);
        return match name {
            "tags" => asked.all(has),
            "tags-any" => asked.any(has),
            "not-tags" => !asked.all(has),
            _ => !asked.any(has),
        };
    }
    match row.get(name) {
        Some(value) => wanted.iter().any(|wanted| matches_value(value, wanted)),
        // An unknown filter is ignored.
        None => true,
    }
}

/// Reports whether a value equals the text of a filter.
fn matches_value(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        Value::Bool(flag) => check::parse_bool(wanted) == Some(*flag),
        Value::Number(number) => number.to_string() == wanted,
        Value::Null => wanted.is_empty() || wanted == "None" || wanted == "null",
        Value::Array(list) => match wanted.split_once('=') {
            Some((field, wanted)) => list
                .iter()
                .any(|one| one.get(field).is_some_and(|value| matches_value(value, wanted))),
            None => list.iter().any(|one| matches_value(one, wanted)),
        },
        Value::Object(_) => false,
    }
}

/// Returns the requested page and the link to the next one.
pub(super) fn page(
    ctx: &RequestContext<'_>,
    collection: &Collection,
    mut rows: Vec<Obj>,
) -> Result<(Vec<Obj>, Option<String>), Refusal> {
    sort(ctx, &mut rows);
    if let Some(marker) = ctx.request.query("marker").filter(|marker| !marker.is_empty()) {
        let at = rows.iter().position(|row| text(row, collection.key) == marker);
        let at = at.ok_or_else(|| collection.dialect.not_found(collection, marker))?;
        rows.drain(..=at);
    }
    let Some(limit) = ctx.request.query("limit") else { return Ok((rows, None)) };
    let Ok(limit) = limit.parse::<usize>() else {
        return Err(collection.dialect.generic(400, &format!("limit must be an integer: {limit}")));
    };
    if limit == 0 || rows.len() <= limit {
        return Ok((rows, None));
    }
    rows.truncate(limit);
    let last = rows.last().map(|row| text(row, collection.key)).unwrap_or_default();
    let next = next_link(ctx, last);
    Ok((rows, Some(next)))
}

/// Returns the URL of this list after a marker.
fn next_link(ctx: &RequestContext<'_>, marker: &str) -> String {
    let request = ctx.request;
    let kept = request.query.iter().filter(|(name, _)| name != "marker");
    let mut strings: Vec<String> = kept.map(|(name, value)| format!("{name}={value}")).collect();
    strings.push(format!("marker={marker}"));
    format!("{}{}/{}?{}", request.base, request.service, request.path.join("/"), strings.join("&"))
}

fn sort(ctx: &RequestContext<'_>, rows: &mut [Obj]) {
    let (key, way) = match ctx.request.query("sort") {
        Some(sort) => {
            sort.split(',').next().unwrap_or_default().split_once(':').unwrap_or((sort, "asc"))
        }
        None => match ctx.request.query("sort_key") {
            Some(key) => (key, ctx.request.query("sort_dir").unwrap_or("asc")),
            None => return,
        },
    };
    let collection = |row: &Obj| match row.get(key) {
        Some(Value::String(text)) => (0.0, text.clone()),
        Some(Value::Number(number)) => (number.as_f64().unwrap_or_default(), String::new()),
        Some(other) => (0.0, other.to_string()),
        None => (0.0, String::new()),
    };
    rows.sort_by(|one, other| {
        let (one, other) = (collection(one), collection(other));
        one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1))
    });
    if way == "desc" {
        rows.reverse();
    }
}

/// Reduces the object to the requested fields.
pub(super) fn select_fields(ctx: &RequestContext<'_>, mut row: Obj) -> Obj {
    let asked: Vec<&str> = ctx
        .request
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
