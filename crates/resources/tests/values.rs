//! What is not known yet stays unknown, and what is hidden stays hidden, whatever function it passes.

use kiln_resources::constraints::offline;
use kiln_resources::environment::shipped;
use kiln_resources::registry::Registry;
use kiln_template::parameters::SuppliedValue;
use kiln_template::validate::{Checks, Context, Input, Report, validate};
use kiln_template::{Scope, Sources, Unknown, UnknownResolver, Value, print};
use std::sync::Arc;

/// Every function of the newest version, with `ARG` where a value goes in.
const FUNCTIONS: &[&str] = &[
    "{contains: [a, ARG]}",
    "{digest: [md5, ARG]}",
    "{filter: [[a], ARG]}",
    "{get_param: [map, ARG]}",
    "{if: [yes, ARG, b]}",
    "{list_concat: [[a], ARG]}",
    "{list_concat_unique: [[a], ARG]}",
    "{list_join: [',', [a, ARG]]}",
    "{make_url: {scheme: http, host: ARG}}",
    "{map_merge: [{a: b}, ARG]}",
    "{map_merge: [{a: ARG}, {b: ARG}]}",
    "{map_replace: [{a: ARG}, {keys: {a: b}}]}",
    "{repeat: {template: {x: <i>}, for_each: {<i>: ARG}}}",
    "{str_replace: {template: a, params: {a: ARG}}}",
    "{str_replace: {template: ARG, params: {a: b}}}",
    "{str_replace_strict: {template: a, params: {a: ARG}}}",
    "{str_replace_vstrict: {template: a, params: {a: ARG}}}",
    "{str_split: [',', ARG]}",
    "{yaql: {expression: $.data, data: ARG}}",
    "{yaql: {expression: ARG}}",
];

fn report(outputs: &[String], password: &str) -> Report {
    let mut text = String::from(
        "heat_template_version: 2021-04-16\n\
         parameters:\n  password: {type: string, hidden: true}\n  map: {type: json, default: {a: b}}\n\
         conditions: {yes: true}\n\
         resources:\n  v: {type: OS::Heat::Value, properties: {value: 1}}\n\
         outputs:\n",
    );
    for (at, output) in outputs.iter().enumerate() {
        text.push_str(&format!("  o{at}: {{value: {output}}}\n"));
    }
    let mut sources = Sources::new();
    let file = sources.add("t.yaml", text);
    let mut input = Input::new(file);
    input.global = Arc::new(shipped());
    input.parameters.insert("password".into(), SuppliedValue::from(Value::from(password)));
    let custom = offline(0);
    validate(&Context::new(Registry::builtin(), &custom, Checks::CREATE), &mut sources, input)
}

#[test]
fn a_function_of_something_unknown_is_unknown() {
    for argument in ["{get_attr: [v, value]}", "{get_resource: v}"] {
        let outputs: Vec<String> =
            FUNCTIONS.iter().map(|function| function.replace("ARG", argument)).collect();
        let report = report(&outputs, "x");
        assert!(!report.has_errors(), "{:#?}", report.diagnostics);
        let definition = report.definition.expect("a definition");
        let scope = Scope::new(&definition, &UnknownResolver);
        for (output, written) in definition.template.outputs.values().zip(&outputs) {
            match scope.output(output) {
                Ok(Value::Unknown(Unknown::Attribute(of))) => assert_eq!(&*of.resource, "v"),
                Ok(Value::Unknown(Unknown::Reference(resource))) => assert_eq!(&*resource, "v"),
                other => panic!("{written} gives {other:?}"),
            }
        }
    }
}

#[test]
fn a_function_of_something_hidden_is_hidden_and_its_failure_does_not_tell() {
    let password = "hunter2";
    let outputs: Vec<String> = FUNCTIONS
        .iter()
        .map(|function| function.replace("ARG", "{get_param: password}"))
        .chain(["{a: [{get_param: password}]}".into()])
        .collect();
    let report = report(&outputs, password);
    assert!(!report.has_errors(), "{:#?}", report.diagnostics);
    let definition = report.definition.expect("a definition");
    let scope = Scope::new(&definition, &UnknownResolver);
    for (output, written) in definition.template.outputs.values().zip(&outputs) {
        let told = match scope.output(output) {
            Ok(value) => {
                assert!(value.has_secret(), "{written} gives {value:?}");
                format!("{value:?} {} {}", print::repr(&value), print::plain(&value))
            }
            Err(fault) => fault.message,
        };
        assert!(!told.contains(password), "{written} tells {told}");
    }
    let shown = format!("{:?} {:?}", definition.parameters.display_values(), definition.parameters);
    assert!(!shown.contains(password));
}
