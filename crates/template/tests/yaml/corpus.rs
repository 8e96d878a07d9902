//! The reader against recorded answers of PyYAML: events, places, values and errors.
//!
//! `cases.jsonl` and `scalars.json` are ours, with the answers of PyYAML 6.0.3 on libyaml 0.2.5;
//! the same is asked of the shared corpus where it is there.

use kiln_template::document::{Data, Node};
use kiln_template::yaml::{self, EventKind, Properties, Style, YamlError};
use kiln_template::{Diagnostic, Limits, Sources, codes};
use kiln_yaql::Integer;
use serde_json::{Value as Json, json};
use std::path::PathBuf;

#[test]
fn our_cases_come_out_as_in_the_reference() {
    let counts = check_cases(include_str!("cases.jsonl"));
    assert!(counts.events > 300 && counts.errors > 100, "{counts:?}");
}

#[test]
fn our_scalars_come_out_as_in_the_reference() {
    check_scalars(include_str!("scalars.json"));
}

#[test]
fn the_shared_cases_come_out_as_in_the_reference() {
    if let Some(text) = shared("corpus/yaml/cases.jsonl") {
        let counts = check_cases(&text);
        eprintln!("shared cases: {counts:?}");
    }
}

#[test]
fn the_shared_scalars_come_out_as_in_the_reference() {
    if let Some(text) = shared("corpus/yaml/scalars.json") {
        check_scalars(&text);
    }
}

/// How many cases agreed in what.
#[derive(Debug, Default)]
struct Counts {
    cases: usize,
    events: usize,
    values: usize,
    errors: usize,
    places_of_errors: usize,
    load_errors: usize,
    /// Values that PyYAML has and templates cannot hold.
    not_plain: usize,
}

fn shared(path: &str) -> Option<String> {
    let root = std::env::var_os("KILN_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let text = std::fs::read_to_string(root.join(path)).ok();
    if text.is_none() {
        eprintln!("no shared corpus here: {path} is not looked at");
    }
    text
}

fn check_cases(lines: &str) -> Counts {
    let mut counts = Counts::default();
    let mut wrong = Vec::new();
    for line in lines.lines() {
        let case = recorded(line);
        counts.cases += 1;
        if let Err(difference) = check_case(&case, &mut counts) {
            wrong.push(format!("{}: {:?}\n{difference}", case["name"], case["yaml"].as_str()));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n\n"));
    counts
}

fn check_case(case: &Json, counts: &mut Counts) -> Result<(), String> {
    let text = case["yaml"].as_str().unwrap();
    let events = events(text);
    let (node, findings) = read(text);
    let refused = findings.iter().find(|finding| finding.is_error());
    if node.is_some() == refused.is_some() {
        return Err(format!("no tree and no error, or both: {findings:?}"));
    }
    if let Some(error) = case["error"].as_str() {
        counts.errors += 1;
        let Err(problem) = events else { return Err(format!("accepted; reference: {error}")) };
        if refused.is_none() {
            return Err("read in spite of the error".into());
        }
        let at = format!("line {}, column {}", problem.at.line + 1, problem.at.column + 1);
        if error.contains("line ") {
            if !error.ends_with(&at) {
                return Err(format!("ours: {problem}\nreference: {error}"));
            }
            counts.places_of_errors += 1;
        }
        return Ok(());
    }
    let events = events.map_err(|problem| format!("refused: {problem}"))?;
    equal(&Json::Array(events), &case["events"])?;
    counts.events += 1;
    if let Some(error) = case["load_error"].as_str() {
        counts.load_errors += 1;
        return match node {
            Some(_) => Err(format!("loaded; reference: {error}")),
            None => Ok(()),
        };
    }
    if let Some(error) = refused.filter(|error| error.code == &codes::NOT_PLAIN_DATA) {
        counts.not_plain += 1;
        let expected = case["value"].to_string();
        return match ["{\"bytes\":", "{\"set\":", "\"recursive\""]
            .iter()
            .any(|odd| expected.contains(odd))
        {
            true => Ok(()),
            false => Err(format!("not plain: {}", error.message)),
        };
    }
    let node = node.ok_or_else(|| format!("not loaded: {findings:?}"))?;
    equal(&value(&node), &transported(&case["value"]))?;
    counts.values += 1;
    Ok(())
}

fn check_scalars(text: &str) {
    let rows = recorded(text);
    let rows: Vec<(String, Json)> = serde_json::from_value(rows).unwrap();
    let mut wrong = Vec::new();
    for (scalar, expected) in &rows {
        let (node, findings) = read(&format!("k: {scalar}\n"));
        let outcome = match (&node, expected.get("error")) {
            (None, Some(_)) => Ok(()),
            (None, None) => Err(format!("refused: {findings:?}")),
            (Some(node), None) => equal(&value(node), &json!({"map": [["k", expected]]})),
            (Some(node), Some(error)) => Err(format!("accepted: {node:?}; reference: {error}")),
        };
        if let Err(difference) = outcome {
            wrong.push(format!("{scalar:?}: {difference}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    eprintln!("{} scalars agree", rows.len());
}

fn equal(ours: &Json, reference: &Json) -> Result<(), String> {
    if ours == reference {
        return Ok(());
    }
    Err(format!("ours:      {ours}\nreference: {reference}"))
}

fn read(text: &str) -> (Option<Node>, Vec<Diagnostic>) {
    let file = Sources::new().add("case", text);
    yaml::read(file, text, &Limits::default())
}

fn events(text: &str) -> Result<Vec<Json>, Box<YamlError>> {
    yaml::events(text)
        .map(|event| {
            let event = event?;
            let at = format!("{}:{}", event.start.line + 1, event.start.column + 1);
            Ok(match event.kind {
                EventKind::DocumentStart => json!(["+DOC", at]),
                EventKind::DocumentEnd => json!(["-DOC", at]),
                EventKind::SequenceStart(p) => json!(["+SEQ", at, anchor(&p), tag(&p)]),
                EventKind::SequenceEnd => json!(["-SEQ", at]),
                EventKind::MappingStart(p) => json!(["+MAP", at, anchor(&p), tag(&p)]),
                EventKind::MappingEnd => json!(["-MAP", at]),
                EventKind::Alias(name) => json!(["=ALI", at, name]),
                EventKind::Scalar { properties: p, style, value } => {
                    json!(["=VAL", at, anchor(&p), tag(&p), indicator(style), value])
                }
            })
        })
        .collect()
}

fn anchor(properties: &Properties<'_>) -> String {
    properties.anchor.map_or(String::new(), |name| format!("&{name}"))
}

fn tag(properties: &Properties<'_>) -> String {
    properties.tag.as_ref().map_or(String::new(), |name| format!("<{name}>"))
}

fn indicator(style: Style) -> &'static str {
    match style {
        Style::Plain => ":",
        Style::SingleQuoted => "'",
        Style::DoubleQuoted => "\"",
        Style::Literal => "|",
        Style::Folded => ">",
    }
}

/// A line of the recorded answers, read by our own reader, which keeps integers of any size.
fn recorded(text: &str) -> Json {
    fn plain(node: &Node) -> Json {
        match &node.data {
            Data::Null => Json::Null,
            Data::Bool(flag) => json!(flag),
            Data::Int(number) => integer(number),
            Data::Float(number) => json!(number),
            Data::Text(text) => json!(&**text),
            Data::List(items) => items.iter().map(plain).collect(),
            Data::Map(map) => {
                Json::Object(map.iter().map(|e| (e.key.to_string(), plain(&e.value))).collect())
            }
        }
    }
    let file = Sources::new().add("case", text);
    let (node, findings) = kiln_template::json::read(file, text, &Limits::default());
    plain(&node.unwrap_or_else(|| panic!("{findings:?}")))
}

fn integer(number: &Integer) -> Json {
    number.as_i64().map_or_else(|| json!({ "int": number.to_string() }), |small| json!(small))
}

/// A tree in the form of the recorded values.
fn value(node: &Node) -> Json {
    match &node.data {
        Data::Null => Json::Null,
        Data::Bool(flag) => json!(flag),
        Data::Int(number) => integer(number),
        Data::Float(number) => json!({ "float": kiln_yaql::python::float(*number) }),
        Data::Text(text) => json!(&**text),
        Data::List(items) => items.iter().map(value).collect(),
        Data::Map(map) => {
            let pairs: Vec<Json> =
                map.iter().map(|entry| json!([&*entry.key, value(&entry.value)])).collect();
            json!({ "map": pairs })
        }
    }
}

/// A recorded value as it arrives through JSON: keys are text, of equal ones the last counts.
fn transported(value: &Json) -> Json {
    match value {
        Json::Array(items) => items.iter().map(transported).collect(),
        Json::Object(object) if object.contains_key("map") => {
            let mut pairs: Vec<(String, Json)> = Vec::new();
            for pair in object["map"].as_array().unwrap() {
                let key = match &pair[0] {
                    Json::String(text) => text.clone(),
                    Json::Object(number) if number.contains_key("int") => {
                        number["int"].as_str().unwrap().into()
                    }
                    Json::Object(number) => match number["float"].as_str().unwrap() {
                        "nan" => "NaN".into(),
                        "inf" => "Infinity".into(),
                        "-inf" => "-Infinity".into(),
                        text => text.into(),
                    },
                    other => other.to_string(),
                };
                let value = transported(&pair[1]);
                match pairs.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, old)) => *old = value,
                    None => pairs.push((key, value)),
                }
            }
            json!({ "map": pairs })
        }
        other => other.clone(),
    }
}
