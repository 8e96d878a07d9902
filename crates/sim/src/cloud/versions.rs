//! The documents by which clients discover the versions of a service.

use serde_json::{Value, json};

/// Describes the current version of a service: its id, the path of its link below `base`, and the fields in between.
pub(super) fn current(base: &str, id: &str, path: &str, fields: Value) -> Value {
    let mut version = json!({ "id": id, "status": "CURRENT" });
    if let (Some(version), Value::Object(fields)) = (version.as_object_mut(), fields) {
        version.extend(fields);
    }
    version["links"] = json!([{ "rel": "self", "href": format!("{base}/{path}") }]);
    version
}

/// Answers the discovery of a service whose only version is 1, with microversions from 1.1 to `newest`.
pub(super) fn microversioned(
    base: &str,
    path: &[&str],
    newest: &str,
    root: impl FnOnce(&Value) -> Value,
) -> Option<(u16, Value)> {
    let range = json!({ "min_version": "1.1", "max_version": newest });
    single(path, "v1", current(base, "v1", "v1/", range), root)
}

/// Answers the discovery of a service that has a single version: `root` is the document at its root.
pub(super) fn single(
    path: &[&str],
    segment: &str,
    version: Value,
    root: impl FnOnce(&Value) -> Value,
) -> Option<(u16, Value)> {
    match path {
        [] => Some((200, root(&version))),
        [first] if *first == segment => Some((200, version)),
        _ => None,
    }
}
