//! Values, groups, and what is reported of parameters.

use super::*;
use crate::codes;
use crate::print::{self, Keys};
use crate::value::{Secret, Unknown};

#[test]
fn values_are_converted_and_shown_by_type() {
    for (kind, supplied, expected, printed) in [
        ("string", json!(12), json!("12"), "12"),
        ("string", json!(1.5), json!("1.5"), "1.5"),
        ("string", json!(true), json!("True"), "True"),
        ("string", json!([1, "x", null]), json!("[1, 'x', None]"), "[1, 'x', None]"),
        ("string", json!({"a": "it's"}), json!("{'a': \"it's\"}"), "{'a': \"it's\"}"),
        ("string", json!(""), json!(""), ""),
        ("number", json!(7), json!(7), "7"),
        ("number", json!("12"), json!(12), "12"),
        ("number", json!(" 1_000 "), json!(1000), "1000"),
        ("number", json!("1.50"), json!(1.5), "1.5"),
        ("number", json!("1e3"), json!(1000.0), "1000.0"),
        ("number", json!(true), json!(true), "True"),
        ("boolean", json!("t"), json!(true), "True"),
        ("boolean", json!(" OFF "), json!(false), "False"),
        ("boolean", json!(1), json!(true), "True"),
        ("comma_delimited_list", json!("x,y,,z"), json!(["x", "y", "", "z"]), "x,y,,z"),
        ("comma_delimited_list", json!(""), json!([]), ""),
        ("comma_delimited_list", json!("one, two"), json!(["one", " two"]), "one, two"),
        (
            "comma_delimited_list",
            json!([1, null, "q,r", [2, "s"]]),
            json!(["1", "None", "q,r", "[2, 's']"]),
            "1,None,q,r,[2, 's']",
        ),
        ("json", json!({"m": {"n": 1.5}}), json!({"m": {"n": 1.5}}), "{\"m\": {\"n\": 1.5}}"),
        ("json", json!("[1, \"two\", false]"), json!([1, "two", false]), "[1, \"two\", false]"),
        ("json", json!(""), json!(""), "\"\""),
        ("json", json!("5"), json!(5), "5"),
        ("json", json!("null"), json!(null), "null"),
        ("json", json!(5), json!(5), "5"),
    ] {
        let parameter = parameter(json!({"type": kind}));
        let supplied = value(supplied);
        assert_eq!(parameter.check(&supplied, &Offline::new(0)), Ok(()), "{kind} {supplied:?}");
        let converted = parameter.coerce(&supplied).unwrap();
        assert_eq!(converted, value(expected), "{kind} {supplied:?}");
        assert_eq!(parameter.display(&converted), printed, "{kind} {supplied:?}");
    }
}

#[test]
fn values_that_do_not_fit_are_refused_in_the_words_of_the_host() {
    let words = "acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', \
                 'true', 'y', 'yes'";
    for (kind, supplied, expected) in [
        ("number", json!("twelve"), "could not convert string to float: 'twelve'".to_owned()),
        ("number", json!(""), "could not convert string to float: ''".to_owned()),
        (
            "number",
            json!([1]),
            "int() argument must be a string, a bytes-like object or a real number, not 'list'"
                .to_owned(),
        ),
        ("boolean", json!("maybe"), format!("Unrecognized value 'maybe', {words}")),
        ("boolean", json!(2), format!("Unrecognized value '2', {words}")),
        ("boolean", json!(["yes"]), format!("Unrecognized value '['yes']', {words}")),
        (
            "comma_delimited_list",
            json!({"a": 1}),
            "Value must be a comma-delimited list string: 'dict' object has no attribute 'split'"
                .to_owned(),
        ),
        (
            "json",
            json!("{not json"),
            "Value must be valid JSON: Expecting property name enclosed in double quotes: line 1 \
             column 2 (char 1)"
                .to_owned(),
        ),
    ] {
        let parameter = parameter(json!({"type": kind}));
        let supplied = value(supplied);
        assert_eq!(parameter.check(&supplied, &Offline::new(0)), Err(expected.clone()));
        assert_eq!(parameter.coerce(&supplied), Err(expected));
    }
}

#[test]
fn the_nearest_value_counts() {
    let text = |default: &str| json!({"type": "string", "default": default});
    let (parameters, faults) = bind(
        json!({"a": text("t"), "b": text("t"), "c": text("t"), "d": text("t"), "e": text("t"),
               "f": text("t")}),
        supplied(
            json!({"a": "r", "e": null, "f": ""}),
            json!({"a": "e", "b": "e", "e": "e"}),
            json!({"a": "d", "b": "d", "c": "d", "d": null, "unknown": "d"}),
        ),
        ParameterCheck::Values,
    );
    assert_eq!(texts(&faults), Vec::<String>::new());
    let values: Vec<&Value> = parameters.iter().skip(3).map(|(_, value)| value).collect();
    // A null in the request hides the environment's value, too.
    let expected: Vec<Value> = ["r", "e", "d", "t", "t", ""].map(Value::from).into();
    assert_eq!(values, expected.iter().collect::<Vec<_>>());
}

#[test]
fn undeclared_names_come_first_then_each_parameter() {
    let (_, faults) = bind(
        json!({
            "a": {"type": "string"},
            "b": {"type": "number"},
            "size": {"type": "number", "default": 9, "constraints": [{"range": {"max": 5}}]},
        }),
        supplied(json!({"c": 1, "b": "x", "size": 7}), json!({"siez": 1}), json!({"d": 1})),
        ParameterCheck::Values,
    );
    assert_eq!(
        texts(&faults),
        [
            "The Parameter (siez) was not defined in template.",
            "The Parameter (c) was not defined in template.",
            "The Parameter (a) was not provided.",
            "Parameter 'b' is invalid: could not convert string to float: 'x'",
            "Parameter 'size' is invalid: Invalid default 9 (9 is out of range (min: None, max: 5))",
            "Parameter 'size' is invalid: 7 is out of range (min: None, max: 5)",
        ]
    );
    assert_eq!(faults[0].help.as_deref(), Some("did you mean `size`?"));
    let kinds: Vec<&str> = faults.iter().map(|fault| fault.code.kind).collect();
    assert_eq!(
        kinds,
        [
            "UnknownUserParameter",
            "UnknownUserParameter",
            "UserParameterMissing",
            "StackValidationFailed",
            "InvalidSchemaError",
            "StackValidationFailed",
        ]
    );
}

#[test]
fn validation_of_a_template_asks_for_names_only() {
    let (parameters, faults) = bind(
        json!({"a": {"type": "string"}, "b": {"type": "number"}, "c": {"type": "number"}}),
        supplied(json!({"b": "x", "c": "5", "z": 1}), json!({}), json!({})),
        ParameterCheck::NamesOnly,
    );
    assert_eq!(texts(&faults), ["The Parameter (z) was not defined in template."]);
    assert_eq!(parameters.get("a"), Lookup::NoValue);
    assert_eq!(parameters.get("b"), Lookup::NoValue);
    assert_eq!(parameters.get("c"), Lookup::Value(&5.into()));
    assert_eq!(parameters.get("z"), Lookup::Undeclared);
    assert_eq!(parameters.get("OS::stack_name"), Lookup::Value(&"s".into()));
}

#[test]
fn a_wrong_value_in_a_file_is_told_there_and_explained_by_its_rule() {
    let definitions = json!({"a": {"type": "string", "constraints": [{"length": {"max": 1}}]}});
    let file = Sources::new().add("env.yaml", "");
    let position = Span::new(file, 900, 905);
    let mut supplied = SuppliedParameters::default();
    let there = SuppliedValue { value: "long".into(), span: Some(position) };
    supplied.environment.insert("a".into(), there);
    let (_, faults) = bind(definitions.clone(), supplied, ParameterCheck::Values);
    assert_eq!(faults[0].span(), Some(position));
    assert_eq!(faults[0].labels[1].text, "by this rule");
    let (_, faults) =
        bind(definitions.clone(), super::SuppliedParameters::default(), ParameterCheck::Values);
    let section = node(&definitions);
    assert_eq!(faults[0].span(), Some(section.as_map().unwrap().entry("a").unwrap().key_span));
}

#[test]
fn a_number_that_meets_a_rule_for_text_is_a_bad_request() {
    let (_, faults) = bind(
        json!({"a": {"type": "string", "constraints": [{"length": {"min": 1}}]}}),
        supplied(json!({"a": 5}), json!({}), json!({})),
        ParameterCheck::Values,
    );
    assert_eq!(faults[0].code.kind, "HTTPBadRequest");
    assert_eq!(
        faults[0].message,
        "The server could not comply with the request since it is either malformed or otherwise \
         incorrect."
    );
    assert!(faults[0].help.as_deref().unwrap().contains("object of type 'int' has no len()"));
}

#[test]
fn hidden_values_are_secrets_and_refusals_keep_them() {
    let hidden = |kind: &str| json!({"type": kind, "hidden": "no"});
    let (parameters, faults) = bind(
        json!({"a": hidden("string"), "b": hidden("json")}),
        supplied(json!({"a": "s3cret", "b": {"k": "s3cret"}}), json!({}), json!({})),
        ParameterCheck::Values,
    );
    assert!(faults.is_empty());
    assert!(!format!("{parameters:?}").contains("s3cret"));
    let Lookup::Value(Value::Secret(secret)) = parameters.get("a") else { panic!() };
    assert_eq!(secret.expose(), &"s3cret".into());
    let printed = parameters.display_values();
    assert_eq!((&*printed["a"], &*printed["b"]), ("******", "******"));
    for (definition, supplied) in [
        (json!({"type": "number"}), json!("s3cret")),
        (json!({"type": "boolean"}), json!("s3cret")),
        (json!({"type": "string", "constraints": [{"allowed_values": ["a"]}]}), json!("s3cret")),
        (json!({"type": "string", "constraints": [{"allowed_pattern": "a"}]}), json!("s3cret")),
        (
            json!({"type": "comma_delimited_list", "constraints": [{"allowed_values": ["a"]}]}),
            json!(["s3cret"]),
        ),
        (
            json!({"type": "string", "constraints": [{"custom_constraint": "dns_name"}]}),
            json!("s3cret.."),
        ),
    ] {
        let mut definition = definition;
        definition["hidden"] = json!(true);
        let error = parameter(definition).check(&value(supplied), &Offline::new(0)).unwrap_err();
        assert!(error.contains("******") && !error.contains("s3cret"), "{error}");
    }
}

#[test]
fn secrets_and_unknowns_pass_through_parameters_of_nested_templates() {
    let unknown = Value::Unknown(Unknown::Reference("server".into()));
    let secret = Value::Secret(Secret::new("5".into()));
    let offline = Offline::new(0);
    let rule = json!([{"length": {"max": 0}}]);
    let text = parameter(json!({"type": "string", "constraints": rule}));
    assert_eq!(text.check(&unknown, &offline), Ok(()));
    assert_eq!(text.coerce(&Value::list([unknown.clone()])), Ok(unknown.clone()));
    let list = parameter(json!({"type": "comma_delimited_list"}));
    let mixed = Value::list([unknown.clone(), 1.into(), secret.clone()]);
    let converted = list.coerce(&mixed).unwrap();
    assert_eq!(converted, Value::list([unknown.clone(), "1".into(), secret.clone()]));
    assert_eq!(list.display(&list.coerce(&Value::list([secret.clone()])).unwrap()), "******");
    let number = parameter(json!({"type": "number"}));
    assert_eq!(number.coerce(&secret), Ok(Value::Secret(Secret::new(5.into()))));
    let json = parameter(json!({"type": "json"}));
    let inner = Value::map([("k", secret.clone()), ("u", unknown.clone())]);
    assert_eq!(json.coerce(&inner), Ok(inner.clone()));
    let text = Value::Secret(Secret::new("[1]".into()));
    assert_eq!(json.coerce(&text), Ok(Value::Secret(Secret::new(Value::list([1.into()])))));
    assert_eq!(json.display(&json.coerce(&text).unwrap()), "******");
}

#[test]
fn pseudo_parameters_are_named_by_dialect_and_shown_first() {
    let (parameters, _) = bind(
        json!({"a": {"type": "string", "default": "x"}}),
        SuppliedParameters::default(),
        ParameterCheck::Values,
    );
    let printed: Vec<(String, String)> = parameters
        .display_values()
        .into_iter()
        .map(|(name, value)| (name.to_string(), value))
        .collect();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        printed,
        [
            pair("OS::stack_id", "0b1e"),
            pair("OS::project_id", "t"),
            pair("OS::stack_name", "s"),
            pair("a", "x"),
        ]
    );
    let bound = |pseudo: &PseudoParameters| {
        let check = ParameterCheck::Values;
        Parameters::bind(
            Arc::default(),
            SuppliedParameters::default(),
            pseudo,
            &Offline::new(0),
            check,
        )
        .0
    };
    let cfn = bound(&pseudo(Dialect::Cfn));
    let arn = Value::from("arn:openstack:heat::t:stacks/s/0b1e");
    assert_eq!(cfn.get("AWS::StackId"), Lookup::Value(&arn));
    assert_eq!(cfn.get("AWS::Region"), Lookup::Value(&"ap-southeast-1".into()));
    assert_eq!(cfn.get("OS::stack_name"), Lookup::Undeclared);
    let preview = bound(&PseudoParameters { stack_id: None, ..pseudo(Dialect::Hot) });
    assert_eq!(preview.get("OS::stack_id"), Lookup::Value(&"None".into()));
    assert_eq!(preview.get("OS::region"), Lookup::Undeclared);
}

#[test]
fn immutable_parameters_may_not_change() {
    let bound = |definitions: Json, request: Json| {
        bind(definitions, supplied(request, json!({}), json!({})), ParameterCheck::Values).0
    };
    let fixed = json!({"type": "number", "immutable": true});
    let definitions = json!({"a": fixed, "b": fixed, "c": {"type": "string"}, "d": fixed});
    let old = bound(
        json!({"a": {"type": "number"}, "b": fixed, "c": {"type": "string"}}),
        json!({"a": 1, "b": "2", "c": "x"}),
    );
    let same = bound(definitions.clone(), json!({"a": "1", "b": 2.0, "c": "y", "d": 1}));
    assert_eq!(Parameters::changed_immutable(&old, &same), None);
    let other = bound(definitions, json!({"a": 2, "b": 3, "c": "y", "d": 1}));
    let error = Parameters::changed_immutable(&old, &other).unwrap();
    assert_eq!(
        error.message,
        "The following parameters are immutable and may not be updated: a, b"
    );
    assert_eq!(error.code, &codes::PARAMETER_IMMUTABLE);
}

#[test]
fn groups_name_each_parameter_once() {
    let (definitions, _) =
        parse_hot(&node(&json!({"a": {"type": "string"}, "b": {"type": "string"}})), ALL);
    let read = |json: Json| groups(&node(&json), &definitions);
    let at = "Parameter Groups error: parameter_groups";
    for (groups, expected) in [
        (json!({"label": "g"}), ": The parameter_groups should be a list."),
        (json!([{"label": "g"}]), ".g: The parameters must be provided for each parameter group."),
        (json!([{}]), ".: The parameters must be provided for each parameter group."),
        (
            json!([{"label": "g", "parameters": "a"}]),
            ".g: The parameters of parameter group should be a list.",
        ),
        (
            json!([{"label": "g", "parameters": ["a"]}, {"label": "h", "parameters": ["a"]}]),
            ".h: The a parameter must be assigned to one parameter group only.",
        ),
        (
            json!([{"label": 5, "parameters": ["OS::stack_name"]}]),
            "[5]: The grouped parameter OS::stack_name does not reference a valid parameter.",
        ),
        (json!(["a"]), ": Each parameter group must be a map."),
    ] {
        let (_, faults) = read(groups.clone());
        assert_eq!(texts(&faults), [format!("{at}{expected}")], "{groups}");
    }
    let (groups, faults) = read(json!([
        {"label": "one", "description": "d", "parameters": ["b", "a"]},
        {"parameters": ["OS::stack_id", "OS::project_id"]},
    ]));
    assert!(faults.is_empty());
    assert_eq!(groups[0].label, Some("one".into()));
    assert_eq!(groups[0].parameters, ["b".into(), "a".into()]);
    assert_eq!((groups[1].label.clone(), groups[1].parameters.len()), (None, 2));
    assert!(read(json!(null)).1.is_empty() && read(json!({})).1.is_empty());
}

#[test]
fn validation_describes_every_parameter() {
    let (parameters, _) = bind(
        json!({
            "a": {"type": "string", "label": "The A", "description": "first", "hidden": true,
                  "constraints": [{"length": {"min": 1, "max": 9}, "description": "d1"},
                                  {"allowed_pattern": "[a-z]+", "description": "d2"}]},
            "b": {"type": "number", "default": 4, "constraints":
                  [{"range": {"min": 1}}, {"modulo": {"step": 2, "offset": 0}}]},
            "c": {"type": "comma_delimited_list", "default": "x,y", "tags": ["net"]},
            "d": {"type": "string", "default": "u", "constraints":
                  [{"allowed_values": ["u", 5]}, {"custom_constraint": "nova.flavor"}]},
            "e": {"type": "boolean"},
        }),
        supplied(json!({"a": "s", "b": 6, "e": false}), json!({}), json!({"c": "z"})),
        ParameterCheck::NamesOnly,
    );
    let described = Value::Map(Arc::new(parameters.describe()));
    let described: Json = serde_json::from_str(&print::json(&described, Keys::Ordered)).unwrap();
    assert_eq!(
        described,
        json!({
            "a": {"Type": "String", "Description": "first", "NoEcho": "true", "Label": "The A",
                  "Value": "******", "MinLength": 1, "MaxLength": 9, "AllowedPattern": "[a-z]+",
                  "ConstraintDescription": "d1 d2"},
            "b": {"Type": "Number", "Description": "", "NoEcho": "false", "Label": "b",
                  "Default": 4, "Value": 6, "MinValue": 1, "Step": 2, "Offset": 0},
            "c": {"Type": "CommaDelimitedList", "Description": "", "NoEcho": "false", "Label": "c",
                  "Default": "z", "Tags": ["net"]},
            "d": {"Type": "String", "Description": "", "NoEcho": "false", "Label": "d",
                  "Default": "u", "AllowedValues": ["u", 5], "CustomConstraint": "nova.flavor"},
            "e": {"Type": "Boolean", "Description": "", "NoEcho": "false", "Label": "e"},
        })
    );
}
