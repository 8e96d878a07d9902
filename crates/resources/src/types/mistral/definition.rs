//! The definition of a workflow in Mistral's language, as JSON, which is valid YAML.

use crate::declare::{Members, Value};
use crate::property_access::{given, items, open, section, text};
use crate::wire;
use serde_json::{Map as Fields, Value as Json, json};

/// The definition of a workflow.
pub(super) fn definition(name: &str, properties: &Members) -> Json {
    let mut workflow = Fields::new();
    for property in ["description", "output", "tags", "type"] {
        workflow.extend(given(properties, property).map(|it| (property.into(), wire::json(it))));
    }
    // The definition has only the names; the values are inputs of an execution.
    if let Some(input) = section(properties, "input") {
        workflow.insert("input".into(), input.keys().map(|name| name.to_string()).collect());
    }
    if let Some(defaults) = section(properties, "task_defaults") {
        workflow.insert("task-defaults".into(), hyphenated(defaults, &[]).into());
    }
    let tasks = items(properties, "tasks").iter().filter_map(|task| open(task).as_map());
    let tasks = tasks.map(|task| {
        let name = text(task, "name").unwrap_or_default().to_owned();
        (name, Json::Object(hyphenated(task, &["name", "policies"])))
    });
    workflow.insert("tasks".into(), Json::Object(tasks.collect()));
    json!({ "version": "2.0", name: workflow })
}

/// The members of a map under Mistral's names, which have hyphens, without some of them.
fn hyphenated(members: &Members, but: &[&str]) -> Fields<String, Json> {
    let given = members.iter().filter(|(name, value)| !value.is_null() && !but.contains(&&***name));
    given.map(|(name, value): (_, &Value)| (name.replace('_', "-"), wire::json(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::{list, map};

    #[test]
    fn tasks_go_by_their_names_and_words_have_hyphens() {
        let task = map([
            ("name", Value::from("one")),
            ("on_success", list(["two"])),
            ("join", Value::Null),
        ]);
        let properties = map([
            ("type", Value::from("direct")),
            ("input", map([("a", 1)])),
            ("tasks", list([task])),
        ]);
        let expected = json!({ "version": "2.0", "w": {
            "type": "direct",
            "input": ["a"],
            "tasks": { "one": { "on-success": ["two"] } },
        }});
        assert_eq!(definition("w", properties.as_map().expect("a map")), expected);
    }
}
