//! Whatever a text says, validation ends with a verdict, and every finding has a place that exists.

use kiln_resources::constraints::offline;
use kiln_resources::environment::shipped;
use kiln_resources::registry::Registry;
use kiln_template::validate::{Checks, Context, Input, validate};
use kiln_template::{Scope, Sources, UnknownResolver};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Words that mean something somewhere in a template.
const WORDS: &[&str] = &[
    "heat_template_version",
    "AWSTemplateFormatVersion",
    "HeatTemplateFormatVersion",
    "2021-04-16",
    "2013-05-23",
    "2010-09-09",
    "newton",
    "description",
    "parameters",
    "Parameters",
    "resources",
    "Resources",
    "outputs",
    "Outputs",
    "conditions",
    "Conditions",
    "Mappings",
    "parameter_groups",
    "type",
    "Type",
    "properties",
    "Properties",
    "metadata",
    "depends_on",
    "DependsOn",
    "condition",
    "deletion_policy",
    "update_policy",
    "external_id",
    "value",
    "Value",
    "default",
    "constraints",
    "range",
    "length",
    "allowed_values",
    "allowed_pattern",
    "custom_constraint",
    "modulo",
    "min",
    "max",
    "step",
    "offset",
    "hidden",
    "immutable",
    "string",
    "number",
    "json",
    "boolean",
    "comma_delimited_list",
    "OS::Heat::Value",
    "OS::Heat::RandomString",
    "OS::Heat::ResourceGroup",
    "OS::Heat::None",
    "child.yaml",
    "get_param",
    "get_resource",
    "get_attr",
    "get_file",
    "if",
    "list_join",
    "str_replace",
    "str_replace_strict",
    "repeat",
    "digest",
    "str_split",
    "map_merge",
    "map_replace",
    "yaql",
    "filter",
    "make_url",
    "list_concat",
    "list_concat_unique",
    "contains",
    "resource_facade",
    "equals",
    "not",
    "and",
    "or",
    "Ref",
    "Fn::GetAtt",
    "Fn::Join",
    "Fn::Select",
    "Fn::If",
    "Fn::FindInMap",
    "Fn::Replace",
    "Fn::MemberListToMap",
    "template",
    "params",
    "for_each",
    "permutations",
    "expression",
    "data",
    "$.data.a",
    "count",
    "resource_def",
    "a",
    "b",
    "0",
    "",
    "%index%",
    "Snapshot",
    "Retain",
    "md5",
    "keys",
    "values",
    "label",
    "OS::stack_id",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(WORDS).prop_map(str::to_string),
        1 => "\\PC{0,8}",
    ]
}

/// JSON, which is YAML too, made of such words.
fn document() -> impl Strategy<Value = String> {
    let text = |text: String| serde_json::Value::from(text).to_string();
    let leaf = prop_oneof![
        5 => word().prop_map(text),
        1 => Just("null".to_string()),
        1 => any::<bool>().prop_map(|flag| flag.to_string()),
        1 => (-3_i64..70_000).prop_map(|number| number.to_string()),
        1 => (-9.0_f64..9.0).prop_map(|number| format!("{number:?}")),
    ];
    leaf.prop_recursive(7, 60, 5, move |inner| {
        prop_oneof![
            2 => prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            5 => prop::collection::vec((word(), inner), 0..4).prop_map(move |members| {
                let members = members.iter().map(|(key, value)| {
                    format!("{}: {value}", serde_json::Value::from(key.as_str()))
                });
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            }),
        ]
    })
}

/// A template whose sections hold such documents.
fn template() -> impl Strategy<Value = String> {
    let version = prop::sample::select(
        &[
            "heat_template_version: 2021-04-16",
            "heat_template_version: 2016-10-14",
            "heat_template_version: 2013-05-23",
            "AWSTemplateFormatVersion: '2010-09-09'",
            "HeatTemplateFormatVersion: '2012-12-12'",
        ][..],
    );
    let section = || prop::option::weighted(0.8, prop::collection::vec((word(), document()), 0..4));
    (version, section(), section(), section(), section()).prop_map(|(version, p, c, r, o)| {
        let hot = version.starts_with("heat_");
        let names = if hot {
            ["parameters", "conditions", "resources", "outputs"]
        } else {
            ["Parameters", "Conditions", "Resources", "Outputs"]
        };
        let mut text = format!("{version}\n");
        for (name, members) in names.iter().zip([p, c, r, o]) {
            let Some(members) = members else { continue };
            text.push_str(&format!("{name}:\n"));
            for (key, value) in members {
                text.push_str(&format!("  {}: {value}\n", serde_json::Value::from(key)));
            }
        }
        text
    })
}

fn validated(text: &str) {
    let custom = offline(1_800_000_000);
    for checks in [Checks::AUTHOR, Checks::CREATE, Checks::TEMPLATE] {
        let mut sources = Sources::new();
        let file = sources.add("template.yaml", text);
        let mut input = Input::new(file);
        input.global = Arc::new(shipped());
        input.files = Arc::new(BTreeMap::from([("child.yaml".into(), text.into())]));
        let context = Context::new(Registry::builtin(), &custom, checks);
        let report = validate(&context, &mut sources, input);
        for found in &report.diagnostics {
            assert!(!found.text().is_empty());
            for label in &found.labels {
                assert!(sources.locate(label.span).is_some(), "{found:?}");
            }
        }
        report.describe();
        if let Some(definition) = &report.definition {
            let scope = Scope::new(definition, &UnknownResolver);
            for output in definition.template.outputs.values() {
                _ = scope.output(output);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gets_a_verdict(text in "\\PC{0,200}") {
        validated(&text);
    }

    #[test]
    fn any_document_gets_a_verdict(text in document()) {
        validated(&text);
    }

    #[test]
    fn any_template_gets_a_verdict(text in template()) {
        validated(&text);
    }
}
