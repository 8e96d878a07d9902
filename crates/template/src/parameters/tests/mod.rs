//! Tests of parameters: what they share.
//!
//! Expected texts were recorded from Heat, save where it only has an internal error.

mod definitions;
mod values;

use super::*;
use crate::constraint::Offline;
use crate::document::{Data, Entry, Map, Node};
use crate::source::Sources;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

const ALL: Features = Features { tags: true, modulo: true };

/// A tree in which every key and value has a place of its own, in the order they are written.
pub(crate) fn node(json: &Json) -> Node {
    let file = Sources::new().add("test", "");
    fn position(file: crate::FileId, next: &mut usize) -> Span {
        *next += 1;
        Span::new(file, *next, *next + 1)
    }
    fn build(json: &Json, file: crate::FileId, next: &mut usize) -> Node {
        let span = position(file, next);
        let data = match json {
            Json::Null => Data::Null,
            Json::Bool(flag) => Data::Bool(*flag),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => Data::Int(whole.into()),
                None => Data::Float(number.as_f64().unwrap()),
            },
            Json::String(text) => Data::Text(text.as_str().into()),
            Json::Array(items) => {
                Data::List(items.iter().map(|item| build(item, file, next)).collect())
            }
            Json::Object(members) => {
                let entry = |(key, value): (&String, &Json)| Entry {
                    key: key.as_str().into(),
                    key_span: position(file, next),
                    value: build(value, file, next),
                };
                Data::Map(Map { entries: members.iter().map(entry).collect() })
            }
        };
        Node::new(span, data)
    }
    build(json, file, &mut 0)
}

pub(crate) fn value(json: Json) -> Value {
    Value::from(&node(&json))
}

fn texts(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(Diagnostic::text).collect()
}

/// The definition of a parameter `p` that is right.
fn parameter(definition: Json) -> Parameter {
    let (definitions, faults) = parse_hot(&node(&json!({"p": definition})), ALL);
    assert_eq!(texts(&faults), Vec::<String>::new());
    definitions["p"].clone()
}

fn pseudo(dialect: Dialect) -> PseudoParameters {
    PseudoParameters {
        stack_name: "s".into(),
        stack_id: Some("0b1e".into()),
        project_id: "t".into(),
        dialect,
    }
}

fn supplied(request: Json, environment: Json, defaults: Json) -> SuppliedParameters {
    let values = |json: Json| {
        let members = value(json).as_map().cloned().unwrap_or_default();
        members.into_iter().map(|(name, value)| (name, value.into())).collect()
    };
    SuppliedParameters {
        request: values(request),
        environment: values(environment),
        defaults: values(defaults),
    }
}

fn bind(
    definitions: Json,
    supplied: SuppliedParameters,
    check: ParameterCheck,
) -> (Parameters, Vec<Diagnostic>) {
    let (definitions, mut faults) = parse_hot(&node(&definitions), ALL);
    let (parameters, more) = Parameters::bind(
        Arc::new(definitions),
        supplied,
        &pseudo(Dialect::Hot),
        &Offline::new(0),
        check,
    );
    faults.extend(more);
    (parameters, faults)
}

/// Everything wrong with a native definition of a parameter `p` without a value.
fn faults(definition: Json) -> Vec<String> {
    texts(
        &bind(json!({"p": definition}), SuppliedParameters::default(), ParameterCheck::NamesOnly).1,
    )
}

/// Any JSON, rich in the words of parameter definitions.
pub(crate) fn any_json() -> impl Strategy<Value = Json> {
    let word = prop::sample::select(vec![
        "type",
        "string",
        "number",
        "json",
        "boolean",
        "comma_delimited_list",
        "default",
        "hidden",
        "constraints",
        "range",
        "length",
        "modulo",
        "allowed_values",
        "allowed_pattern",
        "min",
        "max",
        "step",
        "offset",
        "custom_constraint",
        "cron_expression",
        "net_cidr",
        "tags",
        "Type",
        "String",
        "Number",
        "MinValue",
        "MaxLength",
        "AllowedPattern",
        "5",
        "a,b",
        "é",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (-20_i64..20).prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        word.clone().prop_map(Json::from),
        ".{0,6}".prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec((word.clone().prop_map(str::to_owned), inner), 0..6)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_section_and_no_value_panics(section in any_json(), values in any_json()) {
        let values = supplied(values.clone(), values.clone(), values);
        for (definitions, _) in [parse_hot(&node(&section), ALL), parse_cfn(&node(&section))] {
            let _ = groups(&node(&section), &definitions);
            for check in [ParameterCheck::Values, ParameterCheck::NamesOnly] {
                let (parameters, _) = Parameters::bind(
                    Arc::new(definitions.clone()),
                    values.clone(),
                    &pseudo(Dialect::Hot),
                    &Offline::new(0),
                    check,
                );
                let _ = (parameters.display_values(), parameters.describe());
            }
        }
    }

    #[test]
    fn whatever_passes_can_be_converted(definition in any_json(), supplied in any_json()) {
        let (definitions, faults) = parse_hot(&node(&json!({"p": definition})), ALL);
        let (parameter, supplied) = (&definitions["p"], value(supplied));
        if faults.is_empty() && parameter.check(&supplied, &Offline::new(0)).is_ok() {
            prop_assert!(parameter.coerce(&supplied).is_ok());
        }
    }
}
