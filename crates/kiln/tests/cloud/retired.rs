//! Types whose service is gone: they are accepted as the reference accepts them, and it is said that nothing comes of them.

use crate::test_directory::TestDirectory;
use serde_json::Value as Json;

/// The findings of a template that is accepted.
fn told(template: &str) -> Vec<Json> {
    let directory = TestDirectory::with(&[("t.yaml", template)]);
    let run = directory.run(&["validate", "--format", "json", "t.yaml"]);
    assert_eq!(run.status, 0, "{}{}", run.out, run.err);
    let report: Json = serde_json::from_str(&run.out).expect("JSON");
    report["diagnostics"].as_array().expect("a list").clone()
}

#[test]
fn whoever_uses_a_retired_type_is_told_what_to_do() {
    let all = include_str!("types/retired.yaml");
    let template = all.split("\n# then\n").next().expect("a template");
    let told = told(template);
    let types = template.lines().filter_map(|line| line.split_once("{type: "));
    for (_, rest) in types {
        let kind = rest.split([',', '}']).next().expect("a type");
        let message = format!("The resource type {kind} is no longer supported");
        let found = told.iter().find(|it| it["message"] == *message);
        let found = found.unwrap_or_else(|| panic!("nothing is said of {kind}"));
        assert!(found["help"].is_string(), "nothing helps with {kind}");
    }
}

#[test]
fn nobody_is_warned_of_types_that_live_on_here() {
    let none = Vec::<Json>::new();
    assert_eq!(told(include_str!("../../../../examples/autoscaling.yaml")), none);
    let alarms = include_str!("types/heat_alarms.yaml");
    assert_eq!(told(alarms.split("\n# then\n").next().expect("a template")), none);
    let older = "heat_template_version: 2021-04-16\nresources:\n  alarm:\n    type: OS::Ceilometer::Alarm\n    \
                 properties: {meter_name: cpu, threshold: 1}\n";
    assert_eq!(told(older), none);
}
