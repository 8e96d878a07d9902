//! Templates with the answers that the reference gave: every case that needs no created resource but
//! `OS::Heat::Value` and `OS::Heat::None`.
//!
//! This is the record of the reference, read where it is at hand; `language/` is ours.

use crate::world::{STACK_ID, World};
use kiln_resources::constraints::offline;
use kiln_resources::environment::shipped;
use kiln_resources::registry::Registry;
use kiln_template::environment::Environment;
use kiln_template::parameters::{Parameters, SuppliedValue};
use kiln_template::print::{self, Keys};
use kiln_template::validate::{Checks, Context, Input, Report, Root, validate};
use kiln_template::{Definition, Diagnostic, Limits, Sources, Value};
use kiln_yaql::regex;
use serde_json::{Map, Value as Json, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[test]
fn the_cases_of_the_reference_have_its_answers() {
    match crate::shared("conformance/templates") {
        Some(folder) => run(&folder, 200),
        None => eprintln!("the record of the reference is not here; our own cases stand alone"),
    }
}

fn run(folder: &Path, least: usize) {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let (mut passed, mut skipped, mut failures) = (0, Vec::new(), Vec::new());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a case");
        let case: Json = serde_json::from_str(&text).expect("a case in JSON");
        let name = case["name"].as_str().unwrap_or("?").to_string();
        match check(&case) {
            Outcome::Passed => passed += 1,
            Outcome::Skipped(why) => skipped.push(format!("{name}: {why}")),
            Outcome::Failed(why) => failures.push(format!("{name}: {why}")),
        }
    }
    eprintln!("{passed} cases passed, {} need a running stack: {skipped:#?}", skipped.len());
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
    assert!(passed >= least, "only {passed} cases could be run: {skipped:#?}");
}

/// What came of a case.
pub(crate) enum Outcome {
    Passed,
    Skipped(String),
    Failed(String),
}

/// Tries a case: the request is checked, and what it makes is made in a small world.
pub(crate) fn check(case: &Json) -> Outcome {
    let operation = case["op"].as_str().unwrap_or("create");
    if operation == "update" {
        return check_update(case);
    }
    let checks = if operation == "validate" { Checks::TEMPLATE } else { Checks::CREATE };
    let mut sources = Sources::new();
    let report = report(case, checks, &mut sources);
    for found in &report.diagnostics {
        let place = found.span().and_then(|span| sources.locate(span));
        if found.is_error() && place.is_none() && !may_lack_place(found) {
            return Outcome::Failed(format!("no place: {}", found.text()));
        }
    }
    let error = report.diagnostics.iter().find(|found| found.is_error());
    let expect = &case["expect"];
    match (expect.get("error"), error) {
        (Some(wanted), Some(found)) => compare_error(operation, wanted, found),
        (Some(wanted), None) => Outcome::Failed(format!("accepted, but wanted {wanted}")),
        (None, Some(found)) if expect.get("failed").is_some() => {
            Outcome::Skipped(format!("fails when it runs: {}", found.text()))
        }
        (None, Some(found)) => {
            Outcome::Failed(format!("refused: {}: {}", found.kind, found.text()))
        }
        (None, None) => compare_answer(case, operation, expect, &report),
    }
}

/// Only refused updates need no engine.
fn check_update(case: &Json) -> Outcome {
    let Some(wanted) = case["expect"].get("error") else {
        return Outcome::Skipped("an update".into());
    };
    let mut update = case.clone();
    for (key, value) in case["update"].as_object().into_iter().flatten() {
        update[key.as_str()] = value.clone();
    }
    let mut sources = Sources::new();
    let old = report(case, Checks::CREATE, &mut sources);
    let new = report(&update, Checks::CREATE, &mut sources);
    let immutable = match (&old.definition, &new.definition) {
        (Some(old), Some(new)) => Parameters::changed_immutable(&old.parameters, &new.parameters),
        _ => None,
    };
    let refused = new.diagnostics.into_iter().find(Diagnostic::is_error).or(immutable);
    match refused {
        Some(found) => compare_error("update", wanted, &found),
        None => Outcome::Failed("the update is accepted".into()),
    }
}

fn report(case: &Json, checks: Checks, sources: &mut Sources) -> Report {
    match input(case, sources) {
        Ok(input) => {
            let custom = offline(1_800_000_000);
            validate(&Context::new(Registry::builtin(), &custom, checks), sources, input)
        }
        Err(problems) => Report { diagnostics: problems, ..Report::default() },
    }
}

/// Values of the request itself stand in no file.
fn may_lack_place(found: &Diagnostic) -> bool {
    found.code.id.starts_with("K03")
        || found.code == &kiln_template::codes::ENVIRONMENT_FILE_MISSING
}

fn input(case: &Json, sources: &mut Sources) -> Result<Input, Vec<Diagnostic>> {
    let template = match &case["template"] {
        Json::String(text) => text.clone(),
        object => object.to_string(),
    };
    let file = sources.add("template.yaml", template.as_str());
    let mut input = Input::new(file);
    if case["template"].is_object() {
        let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
        let (node, _) = kiln_template::json::read(file, &template, &limits);
        input.template = Root::Object(node.expect("an object"));
    }
    input.global = Arc::new(shipped());
    let mut problems = Vec::new();
    let environment = match &case["environment"] {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        object => Some(object.to_string()),
    };
    if let Some(text) = environment {
        let file = sources.add("environment.yaml", text.clone());
        (input.environment, problems) = Environment::read(file, &text, &Limits::default());
    }
    for (name, value) in case["params"].as_object().into_iter().flatten() {
        input.parameters.insert(name.as_str().into(), SuppliedValue::from(value_of(value)));
    }
    let files = case["files"].as_object().into_iter().flatten();
    let files = files.map(|(name, text)| {
        let text = text.as_str().map_or_else(|| text.to_string(), str::to_string);
        (Arc::from(name.as_str()), Arc::from(text))
    });
    input.files = Arc::new(files.collect());
    let names = case["environment_files"].as_array().into_iter().flatten();
    input.environment_files = names.filter_map(Json::as_str).map(Arc::from).collect();
    input.stack_name = "stack".into();
    input.stack_id = Some(STACK_ID.into());
    input.project_id = "project".into();
    if problems.iter().any(Diagnostic::is_error) { Err(problems) } else { Ok(input) }
}

fn compare_error(operation: &str, wanted: &Json, found: &Diagnostic) -> Outcome {
    let (text, kind) = match operation {
        "validate" => (found.text(), found.validation_kind()),
        _ => (found.wire_text(), found.kind),
    };
    if let Some(wanted) = wanted["type"].as_str().filter(|wanted| *wanted != kind) {
        return Outcome::Failed(format!("type {kind}, wanted {wanted} ({text})"));
    }
    let Some(pattern) = wanted["message"].as_str() else { return Outcome::Passed };
    match regex::compile(pattern) {
        Ok(regex) if regex.is_match(&text).unwrap_or(false) => Outcome::Passed,
        Ok(_) => Outcome::Failed(format!("message {text:?}, wanted {pattern:?}")),
        Err(error) => Outcome::Failed(format!("cannot read {pattern:?}: {error}")),
    }
}

fn compare_answer(case: &Json, operation: &str, expect: &Json, report: &Report) -> Outcome {
    let Some(definition) = &report.definition else {
        return Outcome::Failed("no definition".into());
    };
    if let Some(wanted) = expect.get("validate") {
        let described = report.describe();
        return compare("validate", wanted, &json_of(&described), true);
    }
    if operation != "create" && expect.get("preview").is_none() {
        return expect
            .get("resources")
            .map_or(Outcome::Passed, |it| compare_resources(it, definition));
    }
    let defaults = &report.environment.parameter_defaults;
    let world = match World::run("stack", definition, &report.registry, defaults) {
        Ok(world) => world,
        Err(kind) => return Outcome::Skipped(format!("needs {kind}")),
    };
    if operation == "preview" || expect.get("failed").is_some() {
        return Outcome::Skipped("needs the engine".into());
    }
    let (outputs, errors) = world.outputs(definition);
    if let Some(wanted) = expect.get("outputs") {
        let mut found = Map::new();
        for (name, value) in outputs {
            found.insert(name, json_of(&value));
        }
        for name in errors.keys() {
            found.remove(name);
        }
        let mut wanted = wanted.clone();
        if let Some(wanted) = wanted.as_object_mut() {
            wanted.retain(|name, _| !errors.contains_key(name));
        }
        let compared = compare("outputs", &wanted, &Json::Object(found), false);
        if !matches!(compared, Outcome::Passed) {
            return compared;
        }
    }
    let wanted_errors = expect.get("output_errors").cloned().unwrap_or_else(|| json!({}));
    for (name, pattern) in wanted_errors.as_object().into_iter().flatten() {
        let Some(found) = errors.get(name) else {
            return Outcome::Failed(format!("output {name} has no error"));
        };
        let pattern = pattern.as_str().unwrap_or("");
        let regex = regex::compile(pattern).expect("a pattern");
        if !regex.is_match(found).unwrap_or(false) {
            return Outcome::Failed(format!("output {name}: {found:?}, wanted {pattern:?}"));
        }
    }
    for name in errors.keys() {
        if wanted_errors.get(name).is_none() {
            return Outcome::Failed(format!("output {name} fails: {}", errors[name]));
        }
    }
    if let Some(wanted) = expect.get("resources") {
        let compared = compare_resources(wanted, definition);
        if !matches!(compared, Outcome::Passed) {
            return compared;
        }
    }
    if let Some(wanted) = expect.get("parameters") {
        let shown = definition.parameters.display_values();
        let shown: Map<String, Json> =
            shown.into_iter().map(|(name, text)| (name.to_string(), json!(text))).collect();
        let mut wanted = wanted.clone();
        if let Some(wanted) = wanted.as_object_mut() {
            // The stack's id is drawn when it is created.
            wanted.remove("OS::stack_id");
        }
        return compare("parameters", &wanted, &Json::Object(shown), true);
    }
    let _ = case;
    Outcome::Passed
}

fn compare_resources(wanted: &Json, definition: &Definition) -> Outcome {
    let mut found: Vec<&str> =
        definition.resources().map(|(_, resource)| &*resource.name).collect();
    let mut wanted: Vec<&str> =
        wanted.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    found.sort_unstable();
    wanted.sort_unstable();
    if found == wanted {
        return Outcome::Passed;
    }
    Outcome::Failed(format!("resources {found:?}, wanted {wanted:?}"))
}

fn compare(what: &str, wanted: &Json, found: &Json, subset: bool) -> Outcome {
    match mismatch(what, wanted, found, subset) {
        None => Outcome::Passed,
        Some(why) => Outcome::Failed(why),
    }
}

/// The first place where an answer differs from what is wanted.
pub(crate) fn mismatch(at: &str, wanted: &Json, found: &Json, subset: bool) -> Option<String> {
    let differs = || Some(format!("{at} is {found}, wanted {wanted}"));
    if let Some(special) = wanted.as_object().filter(|members| members.len() == 1) {
        let (key, argument) = special.iter().next()?;
        match (key.as_str(), argument) {
            ("$any", _) => return None,
            ("$subset", argument) => return mismatch(at, argument, found, true),
            ("$regex", Json::String(pattern)) => {
                let pattern =
                    pattern.replace("${stack_name}", "stack").replace("${project_id}", "project");
                let regex = regex::compile(&format!("^(?:{pattern})$")).ok()?;
                let text = found.as_str().unwrap_or("");
                return if regex.is_match(text).unwrap_or(false) { None } else { differs() };
            }
            ("$unordered", Json::Array(items)) => {
                let sorted = |items: &[Json]| {
                    let mut texts: Vec<String> = items.iter().map(Json::to_string).collect();
                    texts.sort();
                    texts
                };
                let found = found.as_array().map(|found| sorted(found));
                return if found == Some(sorted(items)) { None } else { differs() };
            }
            _ => {}
        }
    }
    match (wanted, found) {
        (Json::Object(wanted), Json::Object(found)) => {
            if !subset && wanted.len() != found.len() {
                return differs();
            }
            wanted.iter().find_map(|(key, wanted)| match found.get(key) {
                Some(found) => mismatch(&format!("{at}.{key}"), wanted, found, subset),
                None => differs(),
            })
        }
        (Json::Array(wanted), Json::Array(found)) if wanted.len() == found.len() => {
            wanted.iter().zip(found).enumerate().find_map(|(i, (wanted, found))| {
                mismatch(&format!("{at}[{i}]"), wanted, found, false)
            })
        }
        (Json::String(wanted), Json::String(found)) => {
            let wanted =
                wanted.replace("${stack_name}", "stack").replace("${project_id}", "project");
            if wanted == *found { None } else { differs() }
        }
        _ if wanted == found => None,
        _ => differs(),
    }
}

fn value_of(json: &Json) -> Value {
    let text = json.to_string();
    let file = Sources::new().add("value", text.clone());
    let (node, _) = kiln_template::json::read(file, &text, &Limits::default());
    Value::from(&node.expect("a value"))
}

pub(crate) fn json_of(value: &Value) -> Json {
    serde_json::from_str(&print::json(&value.exposed(), Keys::Ordered)).unwrap_or(Json::Null)
}
