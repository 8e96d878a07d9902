//! The shared conformance cases about environments: errors, values after merging, types.
//!
//! What a case expects of a whole stack is checked as far as this part decides it.

use kiln_template::environment::{Environment, GlobalEnvironment, Implementation, merge};
use kiln_template::parameters::{
    self, Features, Lookup, ParameterCheck, Parameters, PseudoParameters, SuppliedParameters,
};
use kiln_template::read::read;
use kiln_template::{Diagnostic, Limits, Offline, Sources, Value, print};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

#[test]
fn cases_about_environments_agree() {
    let Some(folder) = shared("conformance/templates") else { return };
    let mut checked = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("env") {
            continue;
        }
        let case: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        *checked.entry(check(&name, &case)).or_insert(0) += 1;
    }
    eprintln!("{checked:?}");
    assert!(checked["refusal"] > 5 && checked["values"] > 5 && checked["types"] > 5);
}

/// Checks a case and says what of it was checked.
fn check(name: &str, case: &Json) -> &'static str {
    let mut sources = Sources::new();
    let template = case["template"].as_str().unwrap();
    let file = sources.add("template", template);
    let template = read(file, template, &Limits::default()).0.unwrap();
    let features = Features { tags: true, modulo: true };
    let section = template.as_map().unwrap().get("parameters");
    let definitions =
        section.map(|section| parameters::parse_hot(section, features).0).unwrap_or_default();

    let (environment, mut found) = environment(case, &definitions, &mut sources);
    let supplied = supplied(case, &environment);
    let pseudo = PseudoParameters {
        stack_name: "s".into(),
        stack_id: None,
        project_id: "p".into(),
        dialect: parameters::Dialect::Hot,
    };
    let (bound, faults) = Parameters::bind(
        Arc::new(definitions),
        supplied,
        &pseudo,
        &Offline::new(0),
        ParameterCheck::Values,
    );
    found.extend(faults);
    let types = types(&template, &environment, &mut found);
    let first = found.iter().find(|fault| fault.is_error());

    let error = &case["expect"]["error"];
    if error.is_object() {
        // Whether the template is among the files is for others to tell.
        if name == "env_files_key_missing" {
            assert_eq!(types["v"].as_ref().unwrap(), "gone.yaml");
            return "types";
        }
        let first = first.unwrap_or_else(|| panic!("{name}: nothing is refused"));
        if let Some(kind) = error["type"].as_str() {
            assert_eq!(first.code.kind, kind, "{name}");
        }
        if let Some(message) = error["message"].as_str() {
            let pattern = fancy_regex::Regex::new(message).unwrap();
            assert!(pattern.is_match(&first.text()).unwrap(), "{name}: {}", first.text());
        }
        return "refusal";
    }
    assert_eq!(first, None, "{name}");
    if types.is_empty() {
        check_values(name, case, &bound);
        return "values";
    }
    let expected: &[(&str, &str)] = match name {
        "env_map_type" => &[("v", "OS::Heat::Value")],
        "env_override_builtin" | "env_wildcard_sorts_before_exact" => &[("v", "OS::Heat::None")],
        "env_per_resource" => &[("a", "one.yaml"), ("b", "OS::Heat::RandomString")],
        "env_registry_null" => &[("v", "OS::Heat::RandomString")],
        "env_wildcard" => &[("v", "OS::Heat::Value"), ("n", "OS::Heat::None")],
        "env_restricted_update" => {
            let registry = environment.registry(Arc::default());
            assert_eq!(registry.restricted_actions("v").len(), 1);
            &[]
        }
        _ => panic!("{name}: say what its types should come to"),
    };
    for (resource, expected) in expected {
        assert_eq!(types[*resource].as_deref(), Some(*expected), "{name} {resource}");
    }
    "types"
}

fn environment(
    case: &Json,
    definitions: &parameters::Definitions,
    sources: &mut Sources,
) -> (Environment, Vec<Diagnostic>) {
    let limits = Limits::default();
    if let Some(names) = case["environment_files"].as_array() {
        let names: Vec<Arc<str>> = names.iter().map(|name| name.as_str().unwrap().into()).collect();
        let text_of = |name: &str| case["files"][name].as_str().map(Arc::from);
        let request = supplied(case, &Environment::default()).request;
        let kind_of = |name: &str| definitions.get(name).map(|parameter| parameter.kind);
        return merge::read_files(&names, &text_of, request, &kind_of, sources, &limits);
    }
    match &case["environment"] {
        Json::Null => Default::default(),
        Json::String(text) => {
            let file = sources.add("environment", text.as_str());
            Environment::read(file, text, &limits)
        }
        object => Environment::from_value(&value(object)),
    }
}

/// The values for parameters; with environment files, the request's are merged into theirs.
fn supplied(case: &Json, environment: &Environment) -> SuppliedParameters {
    let members = value(&case["params"]);
    let mut supplied = match (members.as_map(), case["environment_files"].is_array()) {
        (Some(members), false) => SuppliedParameters::with_request(members),
        (Some(members), true) if environment == &Environment::default() => {
            SuppliedParameters::with_request(members)
        }
        _ => SuppliedParameters::default(),
    };
    supplied.environment = environment.parameters.clone();
    supplied.defaults = environment.parameter_defaults.clone();
    supplied
}

/// What the type of each resource comes to.
fn types(
    template: &kiln_template::document::Node,
    environment: &Environment,
    found: &mut Vec<Diagnostic>,
) -> BTreeMap<String, Option<String>> {
    let registry = environment
        .registry(Arc::new(GlobalEnvironment::from_aliases([("OS::Quantum*", "OS::Neutron*")])));
    let is_builtin = |name: &str| name.starts_with("OS::Heat::");
    let resources = template.as_map().and_then(|map| map.get("resources")?.as_map());
    let mut types = BTreeMap::new();
    for entry in resources.into_iter().flatten() {
        let type_name = entry.value.as_map().and_then(|map| map.get("type")).unwrap();
        let answer = registry.resolve(type_name.as_text().unwrap(), Some(&entry.key), &is_builtin);
        let answer = match answer {
            Ok(Implementation::Builtin(name)) => Some(name.to_string()),
            Ok(Implementation::Template { url, .. }) => Some(url.to_string()),
            Err(unresolved) => {
                found.push(unresolved.diagnostic(Some(type_name.span)));
                None
            }
        };
        types.insert(entry.key.to_string(), answer);
    }
    types
}

/// Compares outputs that show parameters, one each or in one list.
fn check_values(name: &str, case: &Json, bound: &Parameters) {
    let get = |parameter: &str| match bound.get(parameter) {
        Lookup::Value(value) => value.clone(),
        _ => panic!("{name}: no value for {parameter}"),
    };
    let Some(outputs) = case["expect"]["outputs"].as_object() else { return };
    for (output, expected) in outputs {
        let found = match (output.as_str(), expected) {
            ("v", Json::Array(_)) => Value::list(["a", "b", "d", "e"].map(get)),
            ("v", _) => get("a"),
            (parameter, _) => get(parameter),
        };
        let (found, expected) = (print::repr(&found), print::repr(&value(expected)));
        assert_eq!(found, expected, "{name} {output}");
    }
}

fn value(json: &Json) -> Value {
    let text = json.to_string();
    let file = Sources::new().add("value", "");
    Value::from(&read(file, &text, &Limits::default()).0.unwrap())
}

fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("KILN_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let found = Some(root.join(path)).filter(|path| path.exists());
    if found.is_none() {
        eprintln!("no shared folder here: {path} is not looked at");
    }
    found
}
