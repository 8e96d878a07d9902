//! Any text is validated as a template, nested in itself, and its resources resolved, without a panic.
#![no_main]

use kiln_resources::constraints::offline;
use kiln_resources::registry::Registry;
use kiln_template::validate::{Checks, Context, Input, Types, validate};
use kiln_template::{Sources, Offline, UnknownResolver, Scope, Path, ResolvedDefinition, convert_properties, convert_update_policy, Resource};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::sync::Arc;

fuzz_target!(|text: &str| {
    let custom = offline(1_800_000_000);
    for checks in [Checks::AUTHOR, Checks::CREATE, Checks::TEMPLATE] {
        let mut sources = Sources::new();
        let file = sources.add("fuzz.yaml", text);
        let mut input = Input::new(file);
        let files = [(Arc::from("child.yaml"), Arc::from(text))];
        input.files = Arc::new(BTreeMap::from(files));
        let context = Context::new(Registry::builtin(), &custom, checks);
        let report = validate(&context, &mut sources, input);
        for found in &report.diagnostics {
            let _ = (found.text(), found.wire_text());
            for label in &found.labels {
                assert!(sources.locate(label.span).is_some());
            }
        }
        let _ = report.describe();
        if let Some(definition) = &report.definition {
            let scope = Scope::new(definition, &UnknownResolver);
            for output in definition.template.outputs.values() {
                let _ = scope.output(output);
            }
            for (_, resource) in definition.resources() {
                check_resolved(&scope, resource, &custom);
            }
        }
    }
});

fn check_resolved(scope: &Scope<'_>, resource: &Resource, custom: &Offline) {
    let Ok(resolved) = ResolvedDefinition::resolve(scope, resource) else { return };
    let _ = resolved.equals(&resolved.clone());
    let Some(schema) = Registry::builtin().schema(&resolved.type_name) else { return };
    let (again, _) = convert_properties(schema, &resolved.properties, custom, &Path::Root);
    let _ = convert_properties(schema, &again, custom, &Path::Root);
    let _ = convert_update_policy(schema, &resolved.update_policy, custom, &Path::Root);
}
