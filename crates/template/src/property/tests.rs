//! Tests of property values against schemas.
//!
//! Expected texts were recorded from Heat.

use super::*;
use crate::constraint::{Offline, Rule};
use crate::parameters::tests::{any_json, node, value};
use crate::parameters::{Features, parse_hot};
use crate::source::Sources;
use crate::value::Unknown;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// Checks properties of a resource and returns what came of them, and what is wrong.
fn run(properties: &[Property], supplied: &Members, facade: bool) -> (Members, Vec<Diagnostic>) {
    let file = Sources::new().add("test", "");
    // Places are the lengths of paths: enough to tell them apart here.
    let spans = |path: &Path<'_>, _: MemberPart| Span::new(file, path.to_string().len(), 100);
    let dropped = ["gone".into()];
    let checker = Checker {
        nested_resource: None,
        custom: &Offline::new(0),
        spans: &spans,
        dropped: &dropped,
        facade,
        convert: true,
    };
    let resource = Path::Root.key("r");
    let mut out = Vec::new();
    let members = checker.check_all(properties, supplied, &resource.key("properties"), &mut out);
    (members, out)
}

fn members(json: Json) -> Members {
    value(json).as_map().unwrap().clone()
}

fn texts(properties: &[Property], supplied: Json) -> Vec<String> {
    let (_, out) = run(properties, &members(supplied), false);
    out.iter().map(|found| found.text()).collect()
}

fn property(name: &'static str, kind: PropertyType) -> Property {
    Property::new(name, kind)
}

fn one(kind: PropertyType, supplied: Json) -> Result<Value, String> {
    let (checked, out) = run(&[property("p", kind)], &members(json!({"p": supplied})), false);
    match out.first() {
        Some(found) => Err(found.text()),
        None => Ok(checked["p"].clone()),
    }
}

#[test]
fn values_are_converted_to_the_type() {
    for (kind, supplied, expected) in [
        (PropertyType::String, json!("x"), json!("x")),
        (PropertyType::String, json!(12), json!("12")),
        (PropertyType::String, json!(true), json!("True")),
        (PropertyType::Integer, json!("12"), json!(12)),
        (PropertyType::Integer, json!(" 1_0 "), json!(10)),
        (PropertyType::Integer, json!(-1.9), json!(-1)),
        (PropertyType::Integer, json!(true), json!(1)),
        (PropertyType::Number, json!("1.50"), json!(1.5)),
        (PropertyType::Number, json!("7"), json!(7)),
        (PropertyType::Number, json!(true), json!(true)),
        (PropertyType::Boolean, json!("TRUE"), json!(true)),
        (PropertyType::Boolean, json!(false), json!(false)),
        (PropertyType::List, json!([1, "x"]), json!([1, "x"])),
        (PropertyType::Map, json!({"k": null}), json!({"k": null})),
        (PropertyType::Any, json!(1.5), json!(1.5)),
        (PropertyType::String, json!(null), json!("")),
        (PropertyType::Integer, json!(null), json!(0)),
        (PropertyType::Number, json!(null), json!(0)),
        (PropertyType::Boolean, json!(null), json!(false)),
        (PropertyType::List, json!(null), json!([])),
        (PropertyType::Map, json!(null), json!({})),
        (PropertyType::Any, json!(null), json!(null)),
    ] {
        assert_eq!(one(kind, supplied.clone()), Ok(value(expected)), "{kind:?} {supplied}");
    }
}

#[test]
fn values_of_another_type_are_refused() {
    let number = "int() argument must be a string, a bytes-like object or a real number, not";
    for (kind, supplied, expected) in [
        (PropertyType::String, json!(1.5), "Value must be a string; got 1.5".to_owned()),
        (PropertyType::String, json!(["x"]), "Value must be a string; got ['x']".to_owned()),
        (PropertyType::Integer, json!("many"), "Value 'many' is not an integer".to_owned()),
        (PropertyType::Integer, json!("1.5"), "Value '1.5' is not an integer".to_owned()),
        (PropertyType::Integer, json!([1]), format!("{number} 'list'")),
        (PropertyType::Number, json!("x"), "could not convert string to float: 'x'".to_owned()),
        (PropertyType::Number, json!({}), format!("{number} 'dict'")),
        (PropertyType::Boolean, json!("Maybe"), "\"maybe\" is not a valid boolean".to_owned()),
        (PropertyType::Boolean, json!(1), "\"1\" is not a valid boolean".to_owned()),
        (PropertyType::List, json!("x"), "\"'x'\" is not a list".to_owned()),
        (PropertyType::List, json!({"a": 1}), "\"{'a': 1}\" is not a list".to_owned()),
        (PropertyType::Map, json!("text"), "\"text\" is not a map".to_owned()),
        (PropertyType::Map, json!([1]), "\"[1]\" is not a map".to_owned()),
    ] {
        let expected = format!("Property error: r.properties.p: {expected}");
        assert_eq!(one(kind, supplied), Err(expected));
    }
    let infinite = Members::from_iter([("p".into(), f64::INFINITY.into())]);
    let (_, out) = run(&[property("p", PropertyType::Integer)], &infinite, false);
    assert_eq!(out[0].message, "cannot convert float infinity to integer");
}

#[test]
fn unknown_names_come_first_then_the_order_of_the_schema() {
    let schema = [
        Property { required: true, ..property("gone", PropertyType::Any) },
        Property { required: true, ..property("size", PropertyType::Integer) },
        Property { implemented: false, ..property("later", PropertyType::Any) },
        property("colour", PropertyType::Integer),
    ];
    assert_eq!(
        texts(&schema, json!({"colour": "x", "siez": 1, "later": 1, "other": 2})),
        [
            "Property error: r.properties: Unknown Property siez",
            "Property error: r.properties: Unknown Property other",
            "Property error: r.properties.gone: Property gone not assigned",
            "Property error: r.properties: Property size not assigned",
            "Property error: r.properties: Property later not implemented yet",
            "Property error: r.properties.colour: Value 'x' is not an integer",
        ]
    );
    let (_, out) = run(&schema, &members(json!({"siez": 1})), false);
    assert_eq!(out[0].code, &codes::UNKNOWN_PROPERTY);
    assert_eq!(out[0].help.as_deref(), Some("did you mean `size`?"));
    // The name is marked, though the path is that of the map.
    assert_eq!(out[0].span().unwrap().start as usize, "r.properties.siez".len());
    assert_eq!(out[2].code, &codes::MISSING_PROPERTY);
}

#[test]
fn names_alone_can_be_checked() {
    let schema = [
        Property { required: true, ..property("size", PropertyType::Integer) },
        Property { implemented: false, ..property("later", PropertyType::Any) },
    ];
    let file = Sources::new().add("test", "");
    let spans = |_: &Path<'_>, _: MemberPart| Span::start_of(file);
    let checker = Checker {
        custom: &Offline::new(0),
        spans: &spans,
        dropped: &[],
        nested_resource: None,
        facade: false,
        convert: true,
    };
    let mut out = Vec::new();
    let supplied = members(json!({"later": 1, "x": 1}));
    checker.check_names(&schema, &supplied, &Path::Root.key("properties"), &mut out);
    let texts: Vec<String> = out.iter().map(|found| found.text()).collect();
    assert_eq!(
        texts,
        [
            "Property error: properties: Unknown Property x",
            "Property error: properties: Property later not implemented yet",
        ]
    );
}

#[test]
fn nested_schemas_are_walked_and_filled() {
    let rule = Property {
        inner: Inner::Members(vec![
            Property {
                required: true,
                constraints: vec![Rule::Range { min: Some(1.into()), max: None }.into()],
                ..property("port", PropertyType::Integer)
            },
            Property { default: Some("tcp".into()), ..property("protocol", PropertyType::String) },
            property("note", PropertyType::String),
        ]),
        ..property("", PropertyType::Map)
    };
    let schema =
        [Property { inner: Inner::Each(Box::new(rule)), ..property("rules", PropertyType::List) }];
    let (checked, out) = run(&schema, &members(json!({"rules": [{"port": "80"}]})), false);
    assert!(out.is_empty());
    assert_eq!(checked["rules"], value(json!([{"port": 80, "protocol": "tcp", "note": null}])));
    assert_eq!(
        texts(&schema, json!({"rules": [{"port": 0}, {"prot": 1}, 5, {"port": "x"}]})),
        [
            "Property error: r.properties.rules[0].port: 0 is out of range (min: 1, max: None)",
            "Property error: r.properties.rules[1]: Unknown Property prot",
            "Property error: r.properties.rules[1]: Property port not assigned",
            "Property error: r.properties.rules[2]: \"5\" is not a map",
            "Property error: r.properties.rules[3].port: Value 'x' is not an integer",
        ]
    );
    let free = [Property {
        inner: Inner::Each(Box::new(property("", PropertyType::Integer))),
        ..property("sizes", PropertyType::Map)
    }];
    assert_eq!(
        texts(&free, json!({"sizes": {"a": 1, "b": "x"}})),
        ["Property error: r.properties.sizes.b: Value 'x' is not an integer"]
    );
}

#[test]
fn absent_values_take_defaults_which_are_checked_like_values() {
    let with =
        |default: Json, kind| Property { default: Some(value(default)), ..property("p", kind) };
    for (property, expected) in [
        (with(json!("7"), PropertyType::Integer), json!(7)),
        (with(json!(5), PropertyType::String), json!("5")),
        (with(json!({"a": 1}), PropertyType::Map), json!({"a": 1})),
        (property("p", PropertyType::Integer), json!(null)),
    ] {
        let (checked, out) = run(&[property], &Members::new(), false);
        assert!(out.is_empty());
        assert_eq!(checked["p"], value(expected));
    }
    // An explicit null takes the default, too.
    let (checked, _) =
        run(&[with(json!("7"), PropertyType::Integer)], &members(json!({"p": null})), false);
    assert_eq!(checked["p"], 7.into());
    let short = Rule::Length { min: None, max: Some(1) };
    let bad =
        Property { constraints: vec![short.into()], ..with(json!("long"), PropertyType::String) };
    assert_eq!(
        texts(&[bad], json!({})),
        ["Property error: r.properties.p: length (4) is out of range (min: None, max: 1)"]
    );
    // The empty value of a null is checked as well.
    let filled = Rule::Length { min: Some(1), max: None };
    let text = Property { constraints: vec![filled.into()], ..property("p", PropertyType::String) };
    assert_eq!(
        texts(&[text], json!({"p": null})),
        ["Property error: r.properties.p: length (0) is out of range (min: 1, max: None)"]
    );
}

#[test]
fn what_is_not_known_is_left_alone() {
    let unknown = Value::Unknown(Unknown::attribute("server", "port"));
    let item = Property {
        inner: Inner::Members(vec![
            property("port", PropertyType::Integer),
            property("id", PropertyType::Integer),
        ]),
        ..property("", PropertyType::Map)
    };
    let schema = [
        Property {
            inner: Inner::Each(Box::new(item)),
            constraints: vec![Rule::AllowedValues(vec![]).into()],
            ..property("list", PropertyType::List)
        },
        property("size", PropertyType::Integer),
    ];
    let entry = Value::map([("port", Value::from("80")), ("id", unknown.clone())]);
    let supplied = Members::from_iter([
        ("list".into(), Value::list([entry, unknown.clone()])),
        ("size".into(), unknown.clone()),
    ]);
    let (checked, out) = run(&schema, &supplied, false);
    assert!(out.is_empty(), "{out:?}");
    let entry = Value::map([("port", Value::from(80)), ("id", unknown.clone())]);
    assert_eq!(checked["list"], Value::list([entry, unknown.clone()]));
    assert_eq!(checked["size"], unknown);
    // What is known beside it is still checked.
    let entry = Value::map([("port", Value::from("x")), ("id", unknown)]);
    let supplied = Members::from_iter([("list".into(), Value::list([entry]))]);
    let (_, out) = run(&schema, &supplied, false);
    assert_eq!(
        out[0].text(),
        "Property error: r.properties.list[0].port: Value 'x' is not an integer"
    );
}

#[test]
fn hidden_values_are_checked_and_never_told() {
    let secret = |value: Json| Value::Secret(Secret::new(super::tests::value(value)));
    let inner = Property {
        inner: Inner::Members(vec![property("deep", PropertyType::Integer)]),
        ..property("p", PropertyType::Map)
    };
    let rule = Rule::AllowedPattern("[0-9]+".into());
    let matched =
        Property { constraints: vec![rule.into()], ..property("p", PropertyType::String) };
    for (schema, supplied) in [
        (property("p", PropertyType::Integer), secret(json!("s3cret"))),
        (property("p", PropertyType::Number), secret(json!("s3cret"))),
        (property("p", PropertyType::Boolean), secret(json!("s3cret"))),
        (property("p", PropertyType::List), secret(json!("s3cret"))),
        (property("p", PropertyType::Map), secret(json!(["s3cret"]))),
        (property("p", PropertyType::Map), Value::list([secret(json!("s3cret"))])),
        (property("p", PropertyType::String), secret(json!({"a": "s3cret"}))),
        (inner.clone(), secret(json!({"deep": "s3cret"}))),
        (matched, secret(json!("s3cret"))),
    ] {
        let (_, out) = run(&[schema], &Members::from_iter([("p".into(), supplied)]), false);
        let text = out[0].text();
        assert!(text.contains("******") && !text.contains("s3cret"), "{text}");
    }
    let supplied = Members::from_iter([("p".into(), secret(json!({"deep": "5"})))]);
    let (checked, out) = run(&[inner], &supplied, false);
    assert!(out.is_empty());
    assert_eq!(checked["p"], secret(json!({"deep": 5})));
}

#[test]
fn properties_made_from_parameters_take_what_parameters_take() {
    let section = json!({
        "l": {"type": "comma_delimited_list"},
        "j": {"type": "json", "default": {}},
        "k": {"type": "json", "default": {}},
        "n": {"type": "number", "default": 1, "constraints": [{"range": {"max": 5}}]},
    });
    let (definitions, _) = parse_hot(&node(&section), Features { tags: true, modulo: true });
    let schema: Vec<Property> = definitions.values().map(from_parameter).collect();
    assert!(schema[0].required && !schema[1].required);
    let supplied = members(json!({"l": "a,b", "j": "{\"a\": 1}", "k": [1, "x"], "n": "3"}));
    let (checked, out) = run(&schema, &supplied, true);
    assert!(out.is_empty(), "{out:?}");
    let expected = json!({"l": ["a", "b"], "j": "{\"a\": 1}", "k": "[1, \"x\"]", "n": 3});
    assert_eq!(Value::Map(Arc::new(checked)), value(expected));
    let (_, out) = run(&schema, &members(json!({"l": [], "n": 9})), true);
    assert_eq!(out[0].message, "9 is out of range (min: None, max: 5)");
}

proptest! {
    #[test]
    fn no_value_panics(supplied in any_json(), facade in any::<bool>()) {
        let kinds = [
            PropertyType::String, PropertyType::Integer, PropertyType::Number, PropertyType::Boolean, PropertyType::List, PropertyType::Map, PropertyType::Any,
        ];
        for kind in kinds {
            let inner = match kind {
                PropertyType::List => Inner::Each(Box::new(property("", PropertyType::Integer))),
                PropertyType::Map => Inner::Members(vec![property("type", PropertyType::List)]),
                _ => Inner::Free,
            };
            let supplied = members(json!({"p": supplied}));
            run(&[Property { inner, ..property("p", kind) }], &supplied, facade);
        }
    }
}

#[test]
fn a_reference_can_only_be_text() {
    let reference = Value::Unknown(Unknown::Reference("server".into()));
    let supplied = Members::from_iter([("p".into(), reference)]);
    let (_, out) = run(&[property("p", PropertyType::Integer)], &supplied, false);
    assert_eq!(out[0].message, "Value 'server' is not an integer");
    let (checked, out) = run(&[property("p", PropertyType::String)], &supplied, false);
    assert_eq!((checked, out), (supplied, vec![]));
}
