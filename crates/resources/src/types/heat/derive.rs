//! The configuration for a server, derived from the one in the template: its inputs have values, and further
//! inputs describe the deployment.

use crate::declare::Value;
use crate::op::{FailureClass, Op, OpError};
use crate::wire;
use kiln_template::print;
use serde_json::{Map, Value as Json, json};

/// The group of configurations with a part for each action.
pub(super) const COMPONENT: &str = "component";

/// The depth to which inputs are replaced in structures.
const DEEPEST: usize = 100;

/// A configuration in the template.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    pub(super) name: Option<String>,
    pub(super) group: String,
    pub(super) config: Json,
    pub(super) inputs: Vec<Json>,
    pub(super) outputs: Json,
    pub(super) options: Json,
    /// The paths of the parts with hidden values.
    hidden: Vec<String>,
}

/// An input that describes the deployment: name, value and description.
pub(super) type Told = (&'static str, String, &'static str);

impl Source {
    /// Reads a configuration from the service's reply.
    pub(super) fn read(told: &Json) -> Source {
        let config = &told["software_config"];
        let text = |json: &Json| json.as_str().map(str::to_owned);
        Source {
            name: text(&config["name"]),
            group: text(&config["group"]).unwrap_or_default(),
            config: config["config"].clone(),
            inputs: config["inputs"].as_array().cloned().unwrap_or_default(),
            outputs: config["outputs"].clone(),
            options: config["options"].clone(),
            hidden: told["hidden"].as_array().into_iter().flatten().filter_map(text).collect(),
        }
    }
}

/// The paths of the hidden parts of a derived configuration: those of its source, the inputs that the template hides,
/// and the content if it is made of hidden inputs.
pub(super) fn hidden(op: &Op, source: &Source, derived: &Json) -> Vec<String> {
    let given = op.prop("input_values");
    let is_hidden = |name: &str| match given {
        Value::Secret(_) => op.section("input_values").is_some_and(|it| it.contains_key(name)),
        given => given.as_map().and_then(|it| it.get(name)).is_some_and(Value::has_secret),
    };
    let inputs = derived["inputs"].as_array().into_iter().flatten().enumerate();
    let given = inputs.filter(|(_, input)| input["name"].as_str().is_some_and(is_hidden));
    let given = given.map(|(at, _)| format!("inputs/{at}/value"));
    let defaults = source.hidden.iter().filter_map(|path| path.strip_suffix("/default"));
    let defaults = defaults.map(|input| format!("{input}/value"));
    let mut hidden: Vec<String> =
        source.hidden.iter().cloned().chain(given).chain(defaults).collect();
    if structure_key(op).is_some() && hidden.iter().any(|path| path.starts_with("inputs")) {
        hidden.push("config".to_owned());
    }
    hidden
}

/// The key of references to inputs, if the configuration is a structure.
fn structure_key(op: &Op) -> Option<&str> {
    // Only deployments of structures have the property.
    if op.declares("input_key") { op.nonempty_text("input_key") } else { None }
}

/// The values of inputs in the template.
fn given(op: &Op) -> Map<String, Json> {
    let values = op.section("input_values");
    values
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.to_string(), wire::json(value)))
        .collect()
}

/// The values of the inputs whose change replaces the deployment; `None` if there are none.
pub(super) fn fixed(op: &Op, source: &Source) -> Option<Value> {
    let values = given(op);
    let is_fixed = |input: &&Json| input["replace_on_change"] == true;
    let fixed = source.inputs.iter().filter(is_fixed).filter_map(|input| {
        let name = input["name"].as_str()?;
        let value = values.get(name).unwrap_or(&input["default"]);
        Some((name, wire::value(value)))
    });
    let fixed: Vec<(&str, Value)> = fixed.collect();
    (!fixed.is_empty()).then(|| Value::map(fixed))
}

/// Derives the configuration for the server.
pub(super) fn config(
    op: &Op,
    source: &Source,
    action: &str,
    transport: &str,
    answer: Vec<Told>,
) -> Result<Json, OpError> {
    let inputs = inputs(op, source, action, transport, answer);
    let name = op.nonempty_text("name").map(str::to_owned).or_else(|| source.name.clone());
    let group = match source.group.as_str() {
        "" => super::stored_config::UNGROUPED,
        group => group,
    };
    Ok(json!({
        "name": name.unwrap_or_else(|| op.context().physical_name.to_string()),
        "group": group,
        "config": content(op, source, &inputs)?,
        "options": source.options,
        "outputs": source.outputs,
        "inputs": inputs,
    }))
}

fn inputs(op: &Op, source: &Source, action: &str, transport: &str, answer: Vec<Told>) -> Vec<Json> {
    let mut values = given(op);
    let mut inputs = Vec::new();
    for declared in &source.inputs {
        let mut input = declared.clone();
        let name = declared["name"].as_str().unwrap_or_default();
        input["value"] = values.remove(name).unwrap_or_else(|| declared["default"].clone());
        inputs.push(input);
    }
    for (name, value) in values {
        inputs.push(json!({ "name": name, "type": "String", "value": value }));
    }
    let place = op.stack();
    let server = op.nonempty_text("server").unwrap_or_default().to_owned();
    let told: [Told; 5] = [
        ("deploy_server_id", server, "The server that this is deployed to."),
        ("deploy_action", action.to_owned(), "What is being done with the deployment."),
        (
            "deploy_stack_id",
            format!("{}/{}", place.name, place.id),
            "The stack that the deployment is in.",
        ),
        (
            "deploy_resource_name",
            op.context().resource.to_string(),
            "The name of the deployment in its stack.",
        ),
        ("deploy_signal_transport", transport.to_owned(), "How the server says how it went."),
    ];
    inputs.extend(told.into_iter().chain(answer).map(|(name, value, about)| {
        json!({ "name": name, "type": "String", "value": value, "description": about })
    }));
    inputs
}

/// The content of the configuration. In structures, references to inputs are replaced by their values.
fn content(op: &Op, source: &Source, inputs: &[Json]) -> Result<Json, OpError> {
    let Some(key) = structure_key(op) else {
        return Ok(if source.config.is_null() { "".into() } else { source.config.clone() });
    };
    let is_strict = op.nonempty_text("input_values_validate") == Some("STRICT");
    let structure = match &source.config {
        Json::Null => json!({}),
        Json::String(text) if text.is_empty() => json!({}),
        config => config.clone(),
    };
    filled(&structure, &|name| of_input(inputs, name, is_strict), key, 0)
}

fn of_input(inputs: &[Json], name: &Json, is_strict: bool) -> Result<Json, OpError> {
    let found = inputs.iter().find(|input| input["name"] == *name);
    match found {
        Some(input) => Ok(input["value"].clone()),
        None if is_strict => {
            let name = print::plain(&wire::value(name));
            let message = format!("The Parameter ({name}) was not provided.");
            Err(OpError::failed(FailureClass::UserParameterMissing, message))
        }
        None => Ok(Json::Null),
    }
}

fn filled(
    json: &Json,
    value: &dyn Fn(&Json) -> Result<Json, OpError>,
    key: &str,
    depth: usize,
) -> Result<Json, OpError> {
    if depth > DEEPEST {
        return Ok(json.clone());
    }
    match json {
        Json::Object(members) => match members.get(key) {
            Some(name) if members.len() == 1 && name.is_string() => value(name),
            _ => members
                .iter()
                .map(|(name, inner)| Ok((name.clone(), filled(inner, value, key, depth + 1)?)))
                .collect::<Result<Map<_, _>, OpError>>()
                .map(Json::Object),
        },
        Json::Array(items) => {
            let items = items.iter().map(|inner| filled(inner, value, key, depth + 1));
            items.collect::<Result<Vec<_>, OpError>>().map(Json::Array)
        }
        other => Ok(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_stand_where_a_structure_names_them() {
        let inputs = [json!({ "name": "port", "value": 80 })];
        let structure = json!({ "a": [{ "get_input": "port" }], "b": { "get_input": "other" } });
        let fill = |is_strict| {
            filled(&structure, &|name| of_input(&inputs, name, is_strict), "get_input", 0)
        };
        assert_eq!(fill(false), Ok(json!({ "a": [80], "b": null })));
        let Err(OpError::Failed(failure)) = fill(true) else { panic!("no failure") };
        assert_eq!(failure.message, "The Parameter (other) was not provided.");
    }
}
