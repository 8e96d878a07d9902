//! Definitions that are right and wrong.

use super::*;
use crate::codes;

#[test]
fn definitions_that_are_wrong_are_refused_in_the_words_of_the_reference() {
    let rule = |rule: Json| json!({"type": "number", "constraints": [rule]});
    for (definition, expected) in [
        (json!("string"), "Invalid parameter (p), expected a mapping"),
        (json!(null), "Invalid parameter (p), expected a mapping"),
        (json!({"type": "string", "defualt": 1}), "Invalid key 'defualt' for parameter (p)"),
        (json!({"default": "x"}), "Missing parameter type for parameter: p"),
        (json!({"type": "text"}), "Invalid type (text)"),
        (json!({"type": "String"}), "Invalid type (String)"),
        (json!({"type": null}), "Invalid type (None)"),
        (json!({"type": ["string"]}), "Invalid type (['string'])"),
        (json!({"type": "string", "tags": "x"}), "Tags property should be a list for parameter: p"),
        (
            json!({"type": "string", "tags": null}),
            "Tags property should be a list for parameter: p",
        ),
        (
            json!({"type": "string", "constraints": {"length": {"min": 1}}}),
            "Invalid parameter constraints for parameter p, expected a list",
        ),
        (rule(json!("range")), "Invalid parameter constraints, expected a mapping"),
        (rule(json!({"size": 3})), "Invalid key 'size' for parameter constraints"),
        (rule(json!({"description": "d"})), "No constraint expressed"),
        (rule(json!({})), "No constraint expressed"),
        (rule(json!({"range": 5})), "Invalid range constraint, expected a mapping"),
        (rule(json!({"range": {"mni": 1, "max": 2}})), "Invalid key 'mni' for range constraint"),
        (
            rule(json!({"length": {"size": 1, "max": 2}})),
            "Invalid key 'size' for length constraint",
        ),
        (
            rule(json!({"range": {}})),
            "A range constraint must have a min value and/or a max value specified.",
        ),
        (
            rule(json!({"range": {"min": null}})),
            "A range constraint must have a min value and/or a max value specified.",
        ),
        (rule(json!({"range": {"min": "x"}})), "min/max must be numeric"),
        (
            rule(json!({"length": {}})),
            "A length constraint must have a min value and/or a max value specified.",
        ),
        (rule(json!({"length": {"min": 1.5}})), "min/max length must be integral"),
        (rule(json!({"length": {"max": "1e1"}})), "min/max length must be integral"),
        (
            rule(json!({"modulo": {"step": 2}})),
            "A modulo constraint must have a step value and an offset value specified.",
        ),
        (rule(json!({"modulo": {"step": 2.5, "offset": 0}})), "step/offset must be integer"),
        (rule(json!({"modulo": {"step": "inf", "offset": 0}})), "step/offset must be integer"),
        (rule(json!({"modulo": {"step": [], "offset": 0}})), "step/offset must be numeric"),
        (rule(json!({"modulo": {"step": 0, "offset": 0}})), "step cannot be 0."),
        (
            rule(json!({"modulo": {"step": 2, "offset": -2}})),
            "offset must be smaller (by absolute value) than step.",
        ),
        (
            rule(json!({"modulo": {"step": 3, "offset": -1}})),
            "step and offset must be both positive or both negative.",
        ),
        (rule(json!({"allowed_values": "a"})), "AllowedValues must be a list"),
        (rule(json!({"allowed_values": {"a": 1}})), "AllowedValues must be a list"),
        (rule(json!({"allowed_pattern": 5})), "AllowedPattern must be a string"),
    ] {
        let faults = faults(definition.clone());
        assert_eq!(faults.first().map(String::as_str), Some(expected), "{definition}");
    }
    let broken = faults(rule(json!({"allowed_pattern": "("})));
    assert!(broken[0].starts_with("AllowedPattern is not a regular expression: "), "{broken:?}");
}

#[test]
fn rules_must_fit_the_type_and_the_default_must_keep_them() {
    let with = |kind: &str, rule: Json| json!({"type": kind, "constraints": [rule]});
    for (definition, expected) in [
        (with("string", json!({"range": {"min": 1}})), "Range constraint invalid for string"),
        (with("number", json!({"length": {"min": 1}})), "Length constraint invalid for number"),
        (
            with("boolean", json!({"modulo": {"step": 2, "offset": 0}})),
            "Modulo constraint invalid for boolean",
        ),
        (with("json", json!({"allowed_values": []})), "AllowedValues constraint invalid for json"),
        (
            with("comma_delimited_list", json!({"allowed_pattern": "a"})),
            "AllowedPattern constraint invalid for comma_delimited_list",
        ),
        (
            with("json", json!({"custom_constraint": "ip_addr"})),
            "CustomConstraint constraint invalid for json",
        ),
        (
            json!({"type": "string", "default": "x", "constraints": [{"length": {"min": 3}}]}),
            "Invalid default x (length (1) is out of range (min: 3, max: None))",
        ),
        (
            json!({"type": "string", "default": 5, "constraints": [{"length": {"min": 3}}]}),
            "Invalid default 5 (object of type 'int' has no len())",
        ),
        (
            json!({"type": "string", "default": [1], "constraints": [{"allowed_pattern": "a"}]}),
            "Invalid default [1] (expected string or bytes-like object, got 'list')",
        ),
        (
            json!({"type": "number", "default": "x", "constraints": [{"range": {"min": 3}}]}),
            "Invalid default x (could not convert string to float: 'x')",
        ),
        (
            json!({"type": "boolean", "default": "so", "constraints": [{"allowed_values": [true]}]}),
            "Invalid default so (Value \"so\" is invalid for data type \"boolean\".)",
        ),
        (
            json!({"type": "comma_delimited_list", "default": 5}),
            "Default must be a comma-delimited list string: 'int' object has no attribute 'split'",
        ),
        (
            // Empty text counts as one empty member here.
            json!({"type": "comma_delimited_list", "default": "",
                   "constraints": [{"length": {"max": 0}}]}),
            "Invalid default  (length (1) is out of range (min: None, max: 0))",
        ),
        (
            json!({"type": "string", "default": "x", "hidden": true,
                   "constraints": [{"allowed_values": ["a"]}]}),
            "Invalid default ****** (\"******\" is not an allowed value [\"a\"])",
        ),
    ] {
        let expected = format!("Parameter 'p' is invalid: {expected}");
        assert_eq!(faults(definition.clone()), [expected], "{definition}");
    }
    // A default that cannot be converted is found when it is used, one that a custom rule rejects
    // too.
    for definition in [
        json!({"type": "number", "default": "x"}),
        json!({"type": "json", "default": "{"}),
        json!({"type": "string", "default": "x", "constraints": [{"custom_constraint": "ip_addr"}]}),
    ] {
        assert_eq!(faults(definition.clone()), Vec::<String>::new(), "{definition}");
        let (_, reported) =
            bind(json!({"p": definition}), SuppliedParameters::default(), ParameterCheck::Values);
        assert_eq!(reported.len(), 1, "{definition}");
        assert_eq!(reported[0].code, &codes::PARAMETER_VALUE);
    }
}

#[test]
fn all_faults_are_told_at_their_places_with_help() {
    let section = node(&json!({
        "a": {"type": "strnig", "constraints": [{"lenght": {"min": 1}}], "defualt": 1},
        "b": {"type": "number", "default": 5, "constraints": [{"range": {"max": 3}}]},
        "c": 5,
        "d": {},
    }));
    let (definitions, faults) = parse_hot(&section, ALL);
    assert_eq!(
        texts(&faults),
        [
            "Invalid key 'defualt' for parameter (a)",
            "Invalid key 'lenght' for parameter constraints",
            "Invalid type (strnig)",
            "Invalid parameter (c), expected a mapping",
            "Missing parameter type for parameter: d",
        ]
    );
    assert!(faults.iter().all(|fault| fault.code == &codes::PARAMETER_SCHEMA));
    let help: Vec<Option<&str>> = faults.iter().map(|fault| fault.help.as_deref()).collect();
    assert_eq!(help[0], Some("did you mean `default`?"));
    assert_eq!(help[1], Some("did you mean `length`?"));
    assert_eq!(help[2], Some("did you mean `string`?"));
    let map = section.as_map().unwrap();
    let a = map.get("a").unwrap().as_map().unwrap();
    assert_eq!(faults[0].span(), Some(a.entry("defualt").unwrap().key_span));
    assert_eq!(faults[2].span(), Some(a.get("type").unwrap().span));
    assert_eq!(faults[3].span(), Some(map.get("c").unwrap().span));
    assert_eq!(faults[4].span(), Some(map.entry("d").unwrap().key_span));
    // What is wrong with rules and defaults waits, and wrong definitions still declare a name.
    let flaw = &definitions["b"].flaws()[0];
    let b = map.get("b").unwrap().as_map().unwrap();
    assert_eq!(flaw.span(), Some(b.get("default").unwrap().span));
    assert_eq!(flaw.labels[1].text, "by this rule");
    assert_eq!(definitions.len(), 4);
}

#[test]
fn versions_decide_about_tags_and_modulo() {
    let old = Features { tags: false, modulo: false };
    let read = |definition: Json| texts(&parse_hot(&node(&json!({"p": definition})), old).1);
    assert_eq!(
        read(json!({"type": "string", "tags": ["t"]})),
        ["Invalid key 'tags' for parameter (p)"]
    );
    let modulo = json!({"modulo": {"step": 2, "offset": 0}});
    assert_eq!(
        read(json!({"type": "number", "constraints": [modulo]})),
        ["No constraint expressed"]
    );
    let tagged = parameter(json!({"type": "string", "tags": ["t", 1]}));
    assert_eq!(tagged.tags, ["t".into(), 1.into()]);
}

#[test]
fn an_entry_with_several_rules_has_one_that_counts() {
    let order = ["modulo", "range", "length", "allowed_values", "allowed_pattern"];
    let rules = json!({
        "custom_constraint": "ip_addr",
        "allowed_pattern": "a",
        "allowed_values": ["a"],
        "length": {"min": 1},
        "range": {"min": 1},
        "modulo": {"step": 2, "offset": 1},
    });
    let names =
        ["Modulo", "Range", "Length", "AllowedValues", "AllowedPattern", "CustomConstraint"];
    for (at, name) in names.into_iter().enumerate() {
        let mut rules = rules.clone();
        for gone in &order[..at] {
            rules.as_object_mut().unwrap().remove(*gone);
        }
        let (definitions, faults) =
            parse_hot(&node(&json!({"p": {"type": "string", "constraints": [rules]}})), ALL);
        assert!(faults.is_empty());
        assert_eq!(definitions["p"].constraints[0].rule.name(), name);
    }
}

#[test]
fn sections_may_be_empty_in_any_way_and_must_else_be_maps() {
    for section in [json!(null), json!({}), json!([]), json!(""), json!(0), json!(false)] {
        let (definitions, faults) = parse_hot(&node(&section), ALL);
        assert!(definitions.is_empty() && faults.is_empty(), "{section}");
    }
    for section in [json!(["a"]), json!("a"), json!(1)] {
        for faults in [parse_hot(&node(&section), ALL).1, parse_cfn(&node(&section)).1] {
            assert_eq!(faults[0].code, &codes::BAD_SECTION, "{section}");
        }
    }
}

#[test]
fn cloudformation_definitions_have_their_own_keys() {
    let read = |definition: Json| {
        let (definitions, faults) = parse_cfn(&node(&json!({"p": definition})));
        let flaws = definitions["p"].flaws().to_vec();
        (definitions, texts(&[faults, flaws].concat()))
    };
    for (definition, expected) in [
        (json!({"Type": "String", "Hidden": 1}), "Invalid key 'Hidden' for parameter (p)"),
        (json!({"Default": 1}), "Missing parameter type for parameter: p"),
        (json!({"Type": "AWS::EC2::VPC::Id"}), "Invalid type (AWS::EC2::VPC::Id)"),
        (
            json!({"Type": "Number", "MinValue": null}),
            "A range constraint must have a min value and/or a max value specified.",
        ),
        (json!({"Type": "String", "MinLength": "1.5"}), "min/max length must be integral"),
        (json!({"Type": "Number", "MaxValue": "x"}), "min/max must be numeric"),
        (json!({"Type": "String", "AllowedValues": "a"}), "AllowedValues must be a list"),
        (json!({"Type": "String", "AllowedPattern": 1}), "AllowedPattern must be a string"),
        (
            json!({"Type": "String", "MinValue": 1}),
            "Parameter 'p' is invalid: Range constraint invalid for String",
        ),
        (
            json!({"Type": "Number", "Default": "9", "MaxValue": "5"}),
            "Parameter 'p' is invalid: Invalid default 9 (9 is out of range (min: None, max: 5))",
        ),
    ] {
        assert_eq!(read(definition.clone()).1, [expected], "{definition}");
    }
    let (definitions, faults) = read(json!({
        "Type": "String", "NoEcho": "TRUE", "Label": "L", "ConstraintDescription": "two letters",
        "AllowedPattern": "[a-z]+", "AllowedValues": ["ab", "cd"], "MinLength": "2", "MaxLength": 2,
    }));
    assert_eq!(faults, Vec::<String>::new());
    let parameter = &definitions["p"];
    assert!(parameter.hidden);
    let names: Vec<&str> = parameter.constraints.iter().map(|c| c.rule.name()).collect();
    assert_eq!(names, ["Length", "AllowedValues", "AllowedPattern"]);
    let error = parameter.check(&"abc".into(), &Offline::new(0));
    assert_eq!(error, Err("two letters".into()));
    assert!(!read(json!({"Type": "String", "NoEcho": "yes"})).0["p"].hidden);
    assert!(read(json!({"Type": "String", "NoEcho": true})).0["p"].hidden);
}
