//! JSON patches as the services accept them: add, replace and remove at paths that begin with a slash.

use serde_json::Value;

use super::table::Obj;

/// One operation of a patch.
pub(super) enum Change {
    Set(String, Value),
    Remove(String),
}

/// Parses a patch; the error is a sentence.
pub(super) fn read(body: &Value) -> Result<Vec<Change>, String> {
    let rows = body.as_array().ok_or("Request body must be a JSON array of operation objects.")?;
    rows.iter().map(one).collect()
}

fn one(row: &Value) -> Result<Change, String> {
    let op = row["op"].as_str().ok_or("Unable to find 'op' in JSON Schema change")?;
    let path = row["path"].as_str().ok_or("Unable to find 'path' in JSON Schema change")?;
    let Some(name) = path.strip_prefix('/') else {
        return Err(format!("Pointer `{path}` does not start with \"/\"."));
    };
    let name = name.replace("~1", "/").replace("~0", "~");
    match op {
        "add" | "replace" => {
            let value = row.get("value").cloned();
            let value = value
                .ok_or_else(|| format!("Operation \"{op}\" requires a member named \"value\"."))?;
            Ok(Change::Set(name, value))
        }
        "remove" => Ok(Change::Remove(name)),
        other => Err(format!("Operations must be one of add, replace, remove: {other}")),
    }
}

/// Applies a patch to an object; a path has at most two segments.
pub(super) fn apply(row: &mut Obj, changes: Vec<Change>) {
    for change in changes {
        match change {
            Change::Set(path, value) => match path.split_once('/') {
                None => drop(row.insert(path, value)),
                Some((field, key)) => place(row, field, key, value),
            },
            Change::Remove(path) => match path.split_once('/') {
                None => drop(row.remove(&path)),
                Some((field, key)) => {
                    if let Some(Value::Object(inner)) = row.get_mut(field) {
                        inner.remove(key);
                    }
                }
            },
        }
    }
}

fn place(row: &mut Obj, field: &str, key: &str, value: Value) {
    let entry = row.entry(field.to_owned()).or_insert_with(|| Value::from(Obj::new()));
    match entry {
        Value::Array(list) => list.push(value),
        Value::Object(inner) => drop(inner.insert(key.to_owned(), value)),
        other => {
            let mut inner = Obj::new();
            inner.insert(key.to_owned(), value);
            *other = Value::from(inner);
        }
    }
}
