//! `xtask facts`: the project's own copy of the facts about Heat's resource types.
//!
//! The full record also describes classes and methods of Heat. The copy keeps what users can see or the engine must
//! know, and only what differs from the defaults, so that it can be read and its changes reviewed. `asked.json`
//! beside it holds facts that the full record lacks.

use crate::Outcome;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

type Object = Map<String, Value>;

/// Reads the full record and rewrites the copy.
pub(crate) fn run(args: &[String]) -> Outcome {
    let [source] = args else {
        return Err("usage: xtask facts RESOURCE_TYPES_JSON".to_owned());
    };
    let full = read(Path::new(source))?;
    let asked = read(&folder().join("asked.json"))?;
    let copy = compact(&full, &asked);
    let target = folder().join("types.json");
    fs::write(&target, print(&copy, 4, 0) + "\n")
        .map_err(|e| format!("{}: {e}", target.display()))?;
    Ok(format!("{} types written to {}", object(&copy["types"]).len(), target.display()))
}

/// Returns the directory of the facts.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/resources/tests/facts")
}

/// Reads a JSON file.
pub(crate) fn read(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Returns the members of a map; none for other values.
pub(crate) fn object(value: &Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

/// Returns the text; empty for other values.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn compact(full: &Value, asked: &Value) -> Value {
    let mut types = Object::new();
    for (name, fact) in object(&full["types"]) {
        types.insert(name.clone(), compact_type(&name, &fact, asked));
    }
    let mut aliases = Object::new();
    for (name, mapping) in object(&full["environment_mappings"]) {
        match mapping.get("api_schema") {
            Some(schema) => _ = types.insert(name, backed_by_template(schema, &mapping["value"])),
            None => _ = aliases.insert(name, mapping["value"].clone()),
        }
    }
    let constraints: Vec<_> = object(&full["constraints"]).keys().cloned().collect();
    json!({
        "aliases": aliases,
        "constraints": constraints,
        "heat_version": full["heat_version"],
        "types": types,
    })
}

fn compact_type(name: &str, fact: &Value, asked: &Value) -> Value {
    let mut kept = Object::new();
    let mut keep = |key: &str, value: Value, usual: Value| {
        if value != usual {
            kept.insert(key.to_owned(), value);
        }
    };
    let same = |key: &str| fact[key].clone();
    let lists = |key: &str, word: &str| {
        fact[key].as_array().is_some_and(|words| words.iter().any(|w| w == word))
    };
    let placeholder = name == "OS::Heat::None" || lists("mro", "NoneResource");
    let snapshots =
        asked["snapshot_on_delete"].as_array().is_some_and(|t| t.contains(&name.into()));

    for key in ["default_client_name", "entity", "required_service_extension"] {
        keep(key, same(key), Value::Null);
    }
    keep("always_replace_on_check_failed", same("always_replace_on_check_failed"), json!(true));
    keep("any_property", json!(placeholder), json!(false));
    keep("dynamic_attributes", json!(lists("overrides", "get_attribute")), json!(false));
    keep("nested_stack", same("nested_stack"), json!(false));
    keep("no_signal_actions", same("no_signal_actions"), json!(["SUSPEND", "DELETE"]));
    keep("physical_resource_name_limit", same("physical_resource_name_limit"), json!(255));
    keep("signal_needs_metadata_updates", same("signal_needs_metadata_updates"), json!(true));
    keep("snapshot_on_delete", json!(snapshots), json!(false));
    keep("successor", successor(name, &fact["support_status"]), Value::Null);
    keep("support_status", support(&fact["support_status"]), Value::Null);
    keep("supports", supports(&fact["supports"]), json!([]));
    keep("attributes", each(&fact["attributes"], attribute), json!({}));
    keep("properties", each(&fact["properties"], property), json!({}));
    keep("update_policy", asked["update_policy"][name].clone(), Value::Null);
    sorted(Value::Object(kept))
}

/// Compacts a type whose schema comes from a template in the default environment.
fn backed_by_template(schema: &Value, template: &Value) -> Value {
    let whole = |fact: &Value| -> Value {
        let mut fact = object(fact);
        let kind = match fact.get("type").map(text) {
            Some("list") => json!("List"),
            Some("string") => json!("String"),
            Some(kind) => json!(kind),
            None => Value::Null,
        };
        fact.insert("type".to_owned(), kind);
        Value::Object(fact)
    };
    let mut attributes = object(&schema["attributes"]);
    attributes.remove("show");
    json!({
        "attributes": each(&Value::Object(attributes), |fact| attribute(&whole(fact))),
        "properties": each(&schema["properties"], |fact| property(&whole(fact))),
        "template": template,
    })
}

fn property(fact: &Value) -> Value {
    let mut kept = object(fact);
    for (key, usual) in [
        ("immutable", false),
        ("implemented", true),
        ("required", false),
        ("update_allowed", false),
    ] {
        if kept.get(key).is_some_and(|value| value == usual) {
            kept.remove(key);
        }
    }
    replace(&mut kept, "support_status", support);
    replace(&mut kept, "schema", |schema| each(schema, property));
    Value::Object(kept)
}

fn attribute(fact: &Value) -> Value {
    let mut kept = object(fact);
    if kept.get("cache_mode").is_some_and(|mode| mode == "cache_local") {
        kept.remove("cache_mode");
    }
    replace(&mut kept, "support_status", support);
    Value::Object(kept)
}

/// Returns the support status; null for a type that has always been supported.
fn support(fact: &Value) -> Value {
    let mut kept = object(fact);
    kept.remove("substitute_class");
    replace(&mut kept, "previous_status", |previous| match support(previous) {
        Value::Null => json!({"status": "SUPPORTED"}),
        previous => previous,
    });
    if Value::Object(kept.clone()) == json!({"status": "SUPPORTED"}) {
        return Value::Null;
    }
    Value::Object(kept)
}

/// Returns the type that the support status, or a previous one, names as the replacement.
fn successor(name: &str, support: &Value) -> Value {
    match (&support["substitute_class"], &support["previous_status"]) {
        (Value::String(class), _) => {
            let family = name.rsplit_once("::").map_or("", |(family, _)| family);
            format!("{family}::{class}").into()
        }
        (_, Value::Null) => Value::Null,
        (_, previous) => successor(name, previous),
    }
}

fn supports(fact: &Value) -> Value {
    let able = object(fact).into_iter().filter(|(_, able)| *able == Value::Bool(true));
    able.map(|(name, _)| name).collect()
}

fn each(members: &Value, compact: impl Fn(&Value) -> Value) -> Value {
    object(members).iter().map(|(name, fact)| (name.clone(), sorted(compact(fact)))).collect()
}

/// Replaces a member, if present, and drops it when it becomes empty.
fn replace(members: &mut Object, key: &str, with: impl Fn(&Value) -> Value) {
    match members.get(key).map(with) {
        Some(Value::Null) => _ = members.remove(key),
        Some(value) => _ = members.insert(key.to_owned(), value),
        None => (),
    }
}

fn sorted(value: Value) -> Value {
    let mut members: Vec<_> = object(&value).into_iter().collect();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    members.into_iter().collect()
}

/// Prints maps with one member per line down to a depth, and deeper values on one line.
fn print(value: &Value, depth: usize, indent: usize) -> String {
    match value {
        Value::Object(members) if depth > 0 && !members.is_empty() => {
            let pad = " ".repeat(indent + 1);
            let lines: Vec<_> = members
                .iter()
                .map(|(name, member)| {
                    format!("{pad}{}: {}", json!(name), print(member, depth - 1, indent + 1))
                })
                .collect();
            format!("{{\n{}\n{}}}", lines.join(",\n"), " ".repeat(indent))
        }
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_as_usual_is_left_out() {
        let fact = json!({
            "type": "List", "required": false, "update_allowed": true, "implemented": true,
            "immutable": false, "support_status": {"status": "SUPPORTED"},
            "schema": {"*": {"type": "String", "required": false,
                "support_status": {"status": "SUPPORTED", "version": "9.0.0"}}},
        });
        let kept = json!({
            "type": "List", "update_allowed": true,
            "schema": {"*": {"type": "String",
                "support_status": {"status": "SUPPORTED", "version": "9.0.0"}}},
        });
        assert_eq!(property(&fact), kept);
    }

    #[test]
    fn a_successor_is_named_by_its_type() {
        let support = json!({"status": "HIDDEN", "previous_status":
            {"status": "DEPRECATED", "substitute_class": "New"}});
        assert_eq!(successor("OS::Test::Old", &support), json!("OS::Test::New"));
        assert_eq!(successor("OS::Test::Old", &json!({"status": "SUPPORTED"})), Value::Null);
    }

    #[test]
    fn the_copy_is_what_the_record_comes_to() {
        let folder_of_records = match std::env::var_os("KILN_SHARED") {
            Some(folder) => PathBuf::from(folder),
            None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        };
        let Ok(full) = read(&folder_of_records.join("facts/resource_types.json")) else {
            eprintln!("the record is not at hand");
            return;
        };
        let asked = read(&folder().join("asked.json")).expect("the answers of the reference");
        let copy = fs::read_to_string(folder().join("types.json")).expect("the copy");
        assert!(print(&compact(&full, &asked), 4, 0) + "\n" == copy, "run `xtask facts` again");
    }
}
