//! The plan for a deployment, decided from its description alone.

use crate::json;
use serde_json::{Map, Value};

/// A deployment that can be run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Deployment {
    pub(crate) id: String,
    /// The name of its hook.
    pub(crate) hook: String,
    /// The group as requested.
    pub(crate) group: String,
    /// The whole description.
    pub(crate) whole: Value,
}

/// The decision about a description.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Planned {
    Run(Deployment),
    Skip(String),
}

/// Parses a description: inputs are converted for hooks, and components are reduced to the part for this action.
pub(crate) fn read(description: &Value) -> Planned {
    let Some(id) = json::text(description, "id") else {
        return Planned::Skip("a deployment has no id".into());
    };
    let mut whole = description.clone();
    for input in whole["inputs"].as_array_mut().into_iter().flatten() {
        let is_text = json::text(input, "type").unwrap_or("String") == "String";
        if is_text
            && let Some(value) = input.get_mut("value")
            && !value.is_string()
            && !value.is_null()
        {
            *value = Value::String(json::plain(value));
        }
    }
    if json::text(&whole, "group") == Some("component") {
        let action = input(&whole, "deploy_action").unwrap_or_default();
        let Some((config, tool)) = component(&whole["config"], &action) else {
            return Planned::Skip(format!("{id} has no configuration for {action:?}"));
        };
        whole["config"] = config;
        whole["group"] = tool;
    }
    let group = json::text(&whole, "group").unwrap_or("Heat::Ungrouped").to_owned();
    let hook = hook_name(&group);
    Planned::Run(Deployment { id: id.to_owned(), hook, group, whole })
}

/// Returns the part of a component for an action: its configuration and its tool.
fn component(config: &Value, action: &str) -> Option<(Value, Value)> {
    let mut parts = config["configs"].as_array()?.iter();
    let is_for = |part: &&Value| {
        part["actions"].as_array().is_some_and(|all| all.iter().any(|it| it == action))
    };
    let part = parts.find(is_for)?;
    Some((part["config"].clone(), part["tool"].clone()))
}

/// Returns the name of the hook for a group.
pub(crate) fn hook_name(group: &str) -> String {
    group.chars().filter(|it| it.is_ascii_alphanumeric() || "-_".contains(*it)).collect()
}

/// Returns the value of an input as text.
pub(crate) fn input(deployment: &Value, name: &str) -> Option<String> {
    let mut inputs = deployment["inputs"].as_array()?.iter();
    let found = inputs.find(|input| json::text(input, "name") == Some(name))?;
    let value = found.get("value").filter(|it| !it.is_null())?;
    Some(json::plain(value))
}

/// Returns the inputs by name, in order.
pub(crate) fn inputs(deployment: &Value) -> Vec<(&str, &Value)> {
    let all = deployment["inputs"].as_array().into_iter().flatten();
    all.filter_map(|input| Some((json::text(input, "name")?, input.get("value")?))).collect()
}

/// Builds the signal after a hook has ended: its output if that is an object, otherwise its status and output as
/// text.
pub(crate) fn signal_of(status: i32, out: &str, err: &str) -> Value {
    let known = || {
        Value::Object(Map::from_iter([
            ("deploy_stdout".to_owned(), out.into()),
            ("deploy_stderr".to_owned(), err.into()),
            ("deploy_status_code".to_owned(), status.into()),
        ]))
    };
    if out.trim().is_empty() {
        return if status == 0 { Value::Object(Map::new()) } else { known() };
    }
    match serde_json::from_str::<Value>(out) {
        Ok(signal) if signal.is_object() => signal,
        _ => known(),
    }
}

/// Builds the signal for a failure outside of a hook.
pub(crate) fn failure(why: &str) -> Value {
    signal_of(1, "", why)
}

/// Shortens a signal to a size: the ends of the outputs are kept, in proportion.
pub(crate) fn shortened(mut signal: Value, most: usize) -> Value {
    let length = signal.to_string().len();
    if length <= most {
        return signal;
    }
    let excess = length - most;
    let keys = ["deploy_stdout", "deploy_stderr"];
    let size = |signal: &Value, key: &str| {
        signal.get(key).map_or(0, |it| it.to_string().len().saturating_sub(2))
    };
    let total: usize = keys.iter().map(|key| size(&signal, key)).sum();
    for key in keys {
        let share = size(&signal, key);
        if share == 0 {
            continue;
        }
        // Escaped JSON is longer than the text, so characters are cut until enough of the JSON is gone.
        let cut = (excess * share).div_ceil(total.max(1));
        let text = json::text(&signal, key).unwrap_or_default();
        let mut gone = 0;
        let kept = text.char_indices().find(|(_, char)| {
            let is_enough = gone >= cut;
            gone += written_length(*char);
            is_enough
        });
        let kept = kept.map_or("", |(at, _)| &text[at..]).to_owned();
        signal[key] = Value::String(kept);
    }
    signal
}

/// Returns the length of a character in JSON.
fn written_length(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        char => char.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn inputs_of_type_string_become_texts() {
        let description = json!({"id": "d1", "group": "no/such hook!", "inputs": [
            {"name": "who", "type": "String", "value": 5}, {"name": "m", "type": "Json", "value": {"a": 1}}]});
        let Planned::Run(deployment) = read(&description) else { panic!("it is one") };
        assert_eq!(deployment.hook, "nosuchhook");
        assert_eq!(inputs(&deployment.whole), [("who", &json!("5")), ("m", &json!({"a": 1}))]);
    }

    #[test]
    fn a_component_gives_the_part_for_the_action() {
        let description = json!({"id": "d3", "group": "component",
            "inputs": [{"name": "deploy_action", "value": "UPDATE"}],
            "config": {"configs": [{"actions": ["CREATE"], "tool": "a", "config": "x"},
                {"actions": ["CREATE", "UPDATE"], "tool": "script", "config": "y"}]}});
        let Planned::Run(deployment) = read(&description) else { panic!("it is one") };
        assert_eq!(
            (deployment.hook.as_str(), &deployment.whole["config"]),
            ("script", &json!("y"))
        );
        let mut other = description;
        other["inputs"][0]["value"] = "DELETE".into();
        assert!(matches!(read(&other), Planned::Skip(_)));
    }

    #[test]
    fn what_hooks_print_is_the_signal_if_it_is_an_object() {
        assert_eq!(signal_of(0, "", "log"), json!({}));
        assert_eq!(signal_of(3, "{\"a\": 1}", ""), json!({"a": 1}));
        let signal = json!({"deploy_stdout": "hi", "deploy_stderr": "x", "deploy_status_code": 3});
        assert_eq!(signal_of(3, "hi", "x"), signal);
    }

    #[test]
    fn long_output_keeps_its_end() {
        let signal = json!({"deploy_stdout": "\n".repeat(5000) + "end", "deploy_stderr": "é".repeat(500) + "too",
            "deploy_status_code": 0});
        let short = shortened(signal, 2000);
        assert!(short.to_string().len() <= 2000);
        assert!(short["deploy_stdout"].as_str().unwrap().ends_with("\nend"));
        assert!(short["deploy_stderr"].as_str().unwrap().ends_with("étoo"));
    }
}
