//! Types whose service is gone: they are accepted as the reference accepts them, and it is said that nothing comes of them.

use crate::place::Place;
use serde_json::Value as Json;

#[test]
fn whoever_uses_a_retired_type_is_told_what_to_do() {
    let all = include_str!("types/retired.yaml");
    let template = all.split("\n# then\n").next().expect("a template");
    let place = Place::with(&[("retired.yaml", template)]);
    let run = place.run(&["validate", "--format", "json", "retired.yaml"]);
    assert_eq!(run.status, 0, "{}{}", run.out, run.err);
    let report: Json = serde_json::from_str(&run.out).expect("JSON");
    let told = report["diagnostics"].as_array().expect("a list");
    let types = template.lines().filter_map(|line| line.split_once("{type: "));
    for (_, rest) in types {
        let kind = rest.split([',', '}']).next().expect("a type");
        let message = format!("The resource type {kind} is no longer supported");
        let found = told.iter().find(|it| it["message"] == *message);
        let found = found.unwrap_or_else(|| panic!("nothing is said of {kind}"));
        assert!(found["help"].is_string(), "nothing helps with {kind}");
    }
}
