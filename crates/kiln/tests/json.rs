//! `kiln validate --format json` as programs see it.

use crate::test_directory::TestDirectory;
use serde_json::{Value, json};

fn verdict(directory: &TestDirectory, arguments: &[&str]) -> (i32, Value) {
    let run = directory.run(&[&["validate", "--format", "json"], arguments].concat());
    assert_eq!(run.err, "");
    (run.status, serde_json::from_str(&run.out).expect("one JSON value and nothing else"))
}

#[test]
fn a_good_template_has_no_diagnostics() {
    let directory = TestDirectory::with(&[("t.yaml", "heat_template_version: rocky\n")]);
    let expected = json!({
        "valid": true,
        "file": "t.yaml",
        "version": "heat_template_version.2018-08-31",
        "diagnostics": [],
        "summary": { "errors": 0, "warnings": 0, "resources": 0, "parameters": 0, "outputs": 0 },
    });
    let (status, found) = verdict(&directory, &["t.yaml"]);
    assert_eq!((status, &found), (0, &expected));
    assert_eq!(found.to_string(), expected.to_string(), "the order of keys is fixed");
}

#[test]
fn findings_are_told_in_full() {
    let directory = TestDirectory::with(&[(
        "t.yaml",
        "\
heat_template_version: 2021-04-16
resources:
  é: {type: OS::Neutron::Net, properties: {nmae: x}}
",
    )]);
    let (status, found) = verdict(&directory, &["t.yaml"]);
    let expected = json!({
        "valid": false,
        "file": "t.yaml",
        "version": "heat_template_version.2021-04-16",
        "diagnostics": [{
            "severity": "error",
            "code": "K0403",
            "type": "StackValidationFailed",
            "title": "an unknown property",
            "message": "Unknown Property nmae",
            "class": "Property error",
            "path": "resources.é.properties",
            "text": "Property error: resources.é.properties: Unknown Property nmae",
            "wire": "Property error: : resources.é.properties: : Unknown Property nmae",
            "help": "did you mean `name`?",
            "labels": [{
                "file": "t.yaml",
                "text": null,
                "start": { "line": 3, "column": 44, "offset": 89 },
                "end": { "line": 3, "column": 48, "offset": 93 },
                "primary": true,
            }],
        }],
        "summary": { "errors": 1, "warnings": 0, "resources": 1, "parameters": 0, "outputs": 0 },
    });
    assert_eq!(status, 1);
    assert_eq!(found.to_string(), expected.to_string());
}

#[test]
fn all_of_many_findings_are_told() {
    let mut text = "heat_template_version: 2021-04-16\nresources:\n".to_owned();
    for n in 0..250 {
        text.push_str(&format!("  r{n}: {{type: No::Such}}\n"));
    }
    let directory = TestDirectory::with(&[("t.yaml", &text)]);
    let (status, found) = verdict(&directory, &["t.yaml"]);
    assert_eq!(status, 1);
    assert_eq!(found["diagnostics"].as_array().map(Vec::len), Some(250));
    assert_eq!(found["summary"]["errors"], 250);
}

#[test]
fn what_cannot_be_read_has_no_version_and_no_counts() {
    let directory = TestDirectory::with(&[("t.yaml", "a: [\n")]);
    let (status, found) = verdict(&directory, &["t.yaml"]);
    assert_eq!(status, 1);
    assert_eq!(found["version"], Value::Null);
    assert_eq!(found["summary"]["resources"], Value::Null);
    assert_eq!(found["diagnostics"][0]["code"], "K0101");
}

#[test]
fn denied_warnings_make_it_invalid() {
    let text = "heat_template_version: rocky\ndescription: a\ndescription: b\n";
    let directory = TestDirectory::with(&[("t.yaml", text)]);
    let (status, found) = verdict(&directory, &["t.yaml"]);
    assert_eq!((status, &found["valid"]), (0, &json!(true)));
    assert_eq!(found["diagnostics"][0]["labels"][1]["text"], "first occurrence");
    assert_eq!(found["diagnostics"][0]["labels"][1]["primary"], false);
    let (status, found) = verdict(&directory, &["t.yaml", "--deny-warnings"]);
    assert_eq!((status, &found["valid"]), (1, &json!(false)));
}

#[test]
fn standard_output_stays_empty_when_the_template_cannot_be_looked_at() {
    let run = TestDirectory::with(&[]).run(&["validate", "--format", "json", "gone.yaml"]);
    assert_eq!((run.status, &*run.out), (2, ""));
}
