//! Tests of rules and of the checks that they can name.
//!
//! Expected texts were recorded from Heat.

use super::*;
use crate::parameters::tests::value;
use crate::schema::PropertyType;
use crate::value::{Secret, Unknown};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

const NOW: i64 = 1_800_000_000;

fn check(rule: Rule, kind: PropertyType, supplied: Json) -> Result<(), String> {
    Constraint::from(rule).check(&value(supplied), kind.into(), &Offline::new(NOW))
}

#[test]
fn lengths_count_characters_members_and_keys() {
    let rule = |min, max| Rule::Length { min, max };
    assert_eq!(check(rule(Some(3), Some(3)), PropertyType::String, json!("äöü")), Ok(()));
    assert_eq!(check(rule(Some(1), None), PropertyType::List, json!(["a"])), Ok(()));
    for (min, max, kind, supplied, expected) in [
        (
            Some(2),
            Some(4),
            PropertyType::String,
            json!("abcde"),
            "length (5) is out of range (min: 2, max: 4)",
        ),
        (
            None,
            Some(1),
            PropertyType::List,
            json!([1, 2]),
            "length (2) is out of range (min: None, max: 1)",
        ),
        (
            Some(1),
            None,
            PropertyType::Map,
            json!({}),
            "length (0) is out of range (min: 1, max: None)",
        ),
        (Some(1), None, PropertyType::String, json!(5), "object of type 'int' has no len()"),
        (
            Some(1),
            None,
            PropertyType::String,
            json!(null),
            "object of type 'NoneType' has no len()",
        ),
    ] {
        assert_eq!(check(rule(min, max), kind, supplied), Err(expected.into()));
    }
}

#[test]
fn ranges_are_inclusive_and_show_the_value_as_given() {
    let rule = || Rule::Range { min: Some(1.into()), max: Some(2.5.into()) };
    for supplied in [json!(1), json!("2.5"), json!(true), json!(" 2 ")] {
        assert_eq!(check(rule(), PropertyType::Number, supplied), Ok(()));
    }
    for (supplied, expected) in [
        (json!(0), "0 is out of range (min: 1, max: 2.5)"),
        (json!("2.50001"), "2.50001 is out of range (min: 1, max: 2.5)"),
        (json!("1e3"), "1e3 is out of range (min: 1, max: 2.5)"),
        (json!("x"), "could not convert string to float: 'x'"),
    ] {
        assert_eq!(check(rule(), PropertyType::Number, supplied), Err(expected.into()));
    }
}

#[test]
fn rests_have_the_sign_of_the_step() {
    for (step, offset, supplied, fits) in [
        (3, 1, json!(4), true),
        (3, 1, json!(-2), true),
        (3, 1, json!(9), false),
        (-3, -1, json!(-4), true),
        (-3, -1, json!("2"), true),
        (2, 1, json!("-3"), true),
        (2, 0, json!(4.0), true),
        (2, 0, json!(4.5), false),
        (2, 1, json!(-1.0), true),
        (2, 1, json!(true), true),
        (i64::MIN, 0, json!(i64::MIN), true),
        (7, 2, json!("100000000000000000000"), true),
    ] {
        let text = format!("{step} {offset} {supplied}");
        let found = check(Rule::Modulo { step, offset }, PropertyType::Number, supplied);
        assert_eq!(found.is_ok(), fits, "{text}");
    }
    assert_eq!(
        check(Rule::Modulo { step: 3, offset: 1 }, PropertyType::Number, json!("9")),
        Err("9 is not a multiple of 3 with an offset of 1".into())
    );
}

#[test]
fn allowed_values_are_cast_for_scalars_and_taken_as_they_are_for_lists() {
    let rule = |allowed: Json| Rule::AllowedValues(value(allowed).as_list().unwrap().to_vec());
    for (allowed, kind, supplied) in [
        (json!([5, "six"]), PropertyType::String, json!(5)),
        (json!(["1", 2.0, 3]), PropertyType::Number, json!("2")),
        (json!(["yes"]), PropertyType::Boolean, json!("TRUE")),
        (json!(["x", "y"]), PropertyType::List, json!(["y", "y"])),
        (json!([1, {"a": [1.0, true]}]), PropertyType::List, json!([true, 1.0, {"a": [1, 1]}])),
    ] {
        let text = format!("{allowed} {supplied}");
        assert_eq!(check(rule(allowed), kind, supplied), Ok(()), "{text}");
    }
    for (allowed, kind, supplied, expected) in [
        (
            json!(["é", 2]),
            PropertyType::String,
            json!("b"),
            r#""b" is not an allowed value ["\u00e9", 2]"#,
        ),
        (
            json!(["x"]),
            PropertyType::List,
            json!(["x", "q"]),
            r#"["x", "q"] is not an allowed value ["x"]"#,
        ),
        (json!([1]), PropertyType::List, json!(["1"]), r#"["1"] is not an allowed value [1]"#),
        (json!([1]), PropertyType::Number, json!("2"), r#""2" is not an allowed value [1]"#),
        (
            json!(["x"]),
            PropertyType::Number,
            json!(1),
            r#"Value "x" is invalid for data type "Number"."#,
        ),
        (
            json!([1]),
            PropertyType::Integer,
            json!(1.5),
            r#"Value "1.5" is invalid for data type "Integer"."#,
        ),
        (
            json!(["so"]),
            PropertyType::Boolean,
            json!(true),
            r#"Value "so" is invalid for data type "Boolean"."#,
        ),
    ] {
        assert_eq!(check(rule(allowed), kind, supplied), Err(expected.into()));
    }
}

#[test]
fn a_pattern_must_reach_the_end_with_its_first_match() {
    let rule = |pattern: &'static str| Rule::AllowedPattern(pattern.into());
    for (pattern, supplied) in
        [("[a-z]+", "abc"), ("^a$", "a"), (".*", ""), ("(?i)AB", "ab"), ("é+", "éé")]
    {
        assert_eq!(
            check(rule(pattern), PropertyType::String, json!(supplied)),
            Ok(()),
            "{pattern}"
        );
    }
    for (pattern, supplied) in [("[a-z]+", "abc1"), ("a|ab", "ab"), ("b", "ab"), ("a", "")] {
        let expected = format!("\"{supplied}\" does not match pattern \"{pattern}\"");
        assert_eq!(check(rule(pattern), PropertyType::String, json!(supplied)), Err(expected));
    }
    assert_eq!(
        check(rule("a"), PropertyType::String, json!(1)),
        Err("expected string or bytes-like object, got 'int'".into())
    );
    assert!(check(rule("("), PropertyType::String, json!("a")).is_err());
}

#[test]
fn a_description_replaces_the_sentence_unless_it_is_empty() {
    let described = |description: &'static str| Constraint {
        rule: Rule::Length { min: Some(1), max: None },
        description: Some(description.into()),
    };
    let found = |description| {
        described(description).check(&"".into(), PropertyType::String.into(), &Offline::new(0))
    };
    assert_eq!(found("be there"), Err("be there".into()));
    assert_eq!(found(""), Err("length (0) is out of range (min: 1, max: None)".into()));
}

#[test]
fn what_is_not_known_passes_and_what_is_hidden_stays_so() {
    let secret = || Value::Secret(Secret::new("s3cret".into()));
    let unknown = Value::Unknown(Unknown::Reference("r".into()));
    for rule in [
        Rule::Length { min: None, max: Some(1) },
        Rule::Range { min: None, max: Some(1.into()) },
        Rule::AllowedValues(vec!["a".into()]),
        Rule::AllowedPattern("a".into()),
        Rule::Custom("ip_addr".into()),
        Rule::Custom("dns_domain".into()),
        Rule::Custom("no.such".into()),
    ] {
        let constraint = Constraint::from(rule);
        for (value, passes) in
            [(unknown.clone(), true), (Value::list([unknown.clone()]), true), (secret(), false)]
        {
            let found = constraint.check(&value, PropertyType::String.into(), &Offline::new(0));
            assert_eq!(found.is_ok(), passes, "{constraint:?}");
            assert!(!format!("{found:?}").contains("s3cret"), "{found:?}");
        }
    }
}

#[test]
fn named_checks_give_their_reasons() {
    for (name, supplied, expected) in [
        ("ip_addr", json!("10.0.0.300"), "Error validating value '10.0.0.300': Invalid IP address"),
        ("iso_8601", json!("soon"), "Error validating value 'soon'"),
        ("no.such", json!("x"), "\"x\" does not validate no.such (constraint not found)"),
    ] {
        assert_eq!(
            check(Rule::Custom(name.into()), PropertyType::String, supplied),
            Err(expected.into())
        );
    }
    let elsewhere = Offline::new(0).with_deferred(&["nova.flavor"]);
    let flavor = Constraint::from(Rule::Custom("nova.flavor".into()));
    assert_eq!(flavor.check(&"m1".into(), PropertyType::String.into(), &elsewhere), Ok(()));
    assert_eq!(elsewhere.check("nova.flavor", &"m1".into()), Verdict::Deferred);
    assert_eq!(Offline::new(0).check("test_constr", &5.into()), Verdict::Accepted);
}

/// The result of a custom constraint: nothing if it accepts, else the detail.
fn detail(name: &str, supplied: Json) -> Option<String> {
    match Offline::new(NOW).check(name, &value(supplied)) {
        Verdict::Accepted => None,
        Verdict::Refused(detail) => Some(detail.unwrap_or_default()),
        Verdict::Failed(message) => Some(message),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn values_that_named_checks_accept() {
    let long = "a.".repeat(127) + "a";
    for (name, accepted) in [
        ("ip_addr", vec!["10.0.0.1", "0.0.0.0", "::", "::1", "2001:db8::1", "::ffff:1.2.3.4"]),
        (
            "net_cidr",
            vec!["10.0.0.0/8", "10.0.0.1/8", "::/0", "2001:db8::1/64", "2001:db8::/ffff::"],
        ),
        ("ip_or_cidr", vec!["10.0.0.1", "10.0.0.0/8", "::1", "::/0"]),
        (
            "mac_addr",
            vec![
                "fa:16:3e:00:00:01",
                "FA-16-3E-0-0-1",
                "fa16.3e00.0001",
                "1:2:3",
                "fa163e-000001",
                "fa163e000001",
                "fa163e00001",
            ],
        ),
        ("dns_name", vec!["", "a", "a.b", "a.b.", "x.1", "1.", "xn--a", &long]),
        ("rel_dns_name", vec!["", "host1", "a.b"]),
        ("dns_domain", vec!["", "example.org."]),
        ("iso_8601", vec!["2030-01-01T00:00:00Z", "2030", "20300601", "2030-06"]),
        ("expiration", vec!["", "2099-01-01", " 2099-01-01T00:00:00+01:00 "]),
        ("timezone", vec!["", "Europe/Paris", "UTC", "America/Argentina/Ushuaia"]),
        ("json_string", vec!["", "{\"a\": 1}", "NaN"]),
        (
            "cron_expression",
            vec![
                "",
                "*/5 * * * *",
                "0 0 1 jan mon",
                "@daily",
                "* * * * * 30",
                "* * * * * 0 2030",
                "0 0 l * *",
                "0 0 15w * *",
                "* * ? * ?",
                "* * * * mon-fri#2",
                "* * * * l5",
                "5-1 * * * *",
                "* * * * 5-7",
                "* * * * 7",
                "10/5 * * * *",
                "r(1-10)/2 * * * *",
            ],
        ),
    ] {
        for supplied in accepted {
            assert_eq!(detail(name, json!(supplied)), None, "{name} {supplied}");
        }
    }
}

#[test]
fn addresses_that_are_wrong() {
    for (name, supplied, expected) in [
        ("ip_addr", json!("1.2.3"), "Invalid IP address"),
        ("ip_addr", json!("010.0.0.1"), "Invalid IP address"),
        ("ip_addr", json!("fe80::1%eth0"), "Invalid IP address"),
        ("ip_addr", json!(" 10.0.0.1"), "Invalid IP address"),
        ("ip_addr", json!(5), "Invalid IP address"),
        (
            "ip_or_cidr",
            json!("010.0.0.1"),
            "'010.0.0.1' is not an accepted IP address, '10.0.0.1' is recommended",
        ),
        ("ip_or_cidr", json!("x"), "'x' is not a valid IP address"),
        ("ip_or_cidr", json!("10.0.0.0/33"), "'10.0.0.0/33' is not a valid IP subnet"),
        ("ip_or_cidr", json!(5), "5 is not a valid IP or CIDR"),
        ("net_cidr", json!("10.0.0.1/99"), "Invalid net cidr invalid IPNetwork 10.0.0.1/99 "),
        ("net_cidr", json!("abc/8"), "Invalid net cidr invalid IPNetwork abc.0.0.0/8 "),
        ("net_cidr", json!("256.1.1.1"), "Invalid net cidr Invalid octet: 256! "),
        (
            "net_cidr",
            json!("10.0.0.0/b/c"),
            "Invalid net cidr IPAddress() does not support netmasks or subnet prefixes! See documentation for details. ",
        ),
        (
            "net_cidr",
            json!(null),
            "Invalid net cidr unexpected type <class 'NoneType'> for addr arg ",
        ),
        ("net_cidr", json!(10), "'10' is not a valid IP subnet"),
        ("net_cidr", json!("10"), "'10' is not a valid IP subnet"),
        ("net_cidr", json!("10.0.0.1"), "'10.0.0.1' is not a valid IP subnet"),
        ("net_cidr", json!("10.0.0.0/08"), "'10.0.0.0/08' is not a valid IP subnet"),
        ("net_cidr", json!("10.0.0.0/255.0.0.0"), "'10.0.0.0/255.0.0.0' is not a valid IP subnet"),
        (
            "net_cidr",
            json!("10.0.0.0/0.255.255.255"),
            "'10.0.0.0/0.255.255.255' is not a valid IP subnet",
        ),
        (
            "net_cidr",
            json!("10.0.0.0/255.0.255.0"),
            "Invalid net cidr invalid IPNetwork 10.0.0.0/255.0.255.0 ",
        ),
        ("mac_addr", json!("zz:16:3e:00:00:01"), "Invalid MAC address."),
        ("mac_addr", json!("fa:16:3e:00:00"), "Invalid MAC address."),
        ("mac_addr", json!("1:2-3"), "Invalid MAC address."),
        ("mac_addr", json!(5), "Invalid MAC address."),
    ] {
        assert_eq!(detail(name, supplied.clone()).as_deref(), Some(expected), "{name} {supplied}");
    }
}

#[test]
fn names_that_are_wrong() {
    let label = "a".repeat(64);
    let long = "a.".repeat(128) + "a";
    let letters = "each of which can only be alphanumeric or a hyphen.";
    for (name, supplied, reason) in [
        ("dns_name", "a..b", "Encountered an empty component.".to_owned()),
        ("dns_name", "-a.b", "Name '-a' must not start or end with a hyphen.".to_owned()),
        ("dns_name", "A.b", format!("Name 'A' must be 1-63 characters long, {letters}")),
        ("dns_domain", &label, format!("Name '{label}' must be 1-63 characters long, {letters}")),
        ("dns_name", "x.1.", "TLD '1' must not be all numeric.".to_owned()),
        ("dns_name", &long, format!("'{long}' exceeds the 255 character FQDN limit")),
    ] {
        let expected = format!("'{supplied}' not in valid format. Reason: {reason}");
        assert_eq!(detail(name, json!(supplied)), Some(expected));
    }
    assert_eq!(
        detail("rel_dns_name", json!("a.b.")),
        Some("'a.b.' is a FQDN. It should be a relative domain name.".into())
    );
    assert_eq!(detail("dns_domain", json!("a.b")), Some("'a.b' must end with '.'.".into()));
    let text = "a.".repeat(126) + "a";
    assert_eq!(
        detail("rel_dns_name", json!(text)),
        Some(format!(
            "'{text}' contains '253' characters. Adding a domain name will cause it to exceed the \
             maximum length of a FQDN of '255'."
        ))
    );
}

#[test]
fn times_and_texts_that_are_wrong() {
    for (name, supplied, expected) in [
        (
            "expiration",
            json!("2001-01-01T00:00:00Z"),
            "Expiration 2001-01-01T00:00:00Z is invalid: Expiration time is out of date.",
        ),
        ("expiration", json!("x"), "Expiration x is invalid: Unable to parse date string 'x'"),
        ("expiration", json!(5), "Expiration 5 is invalid: 'int' object has no attribute 'strip'"),
        (
            "expiration",
            json!("9999-12-31T23:59:59-10:00"),
            "Expiration 9999-12-31T23:59:59-10:00 is invalid: date value out of range",
        ),
        ("iso_8601", json!(" 2030-01-01"), ""),
        (
            "timezone",
            json!("Mars/Base"),
            "Invalid timezone: 'No time zone found with key Mars/Base'",
        ),
        (
            "json_string",
            json!("{"),
            "JSON string { is invalid: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ),
    ] {
        assert_eq!(detail(name, supplied.clone()).as_deref(), Some(expected), "{name} {supplied}");
    }
}

#[test]
fn cron_expressions_that_are_wrong() {
    let mixed = "day-of-week field does not support mixing literal values and nth day of week \
                 syntax.  Cron: '* * * * 2#3,4'    dow={4} vs nth={2: {3}}";
    for (supplied, expected) in [
        ("* * *", "Exactly 5, 6 or 7 columns has to be specified for iterator expression."),
        ("60 * * * *", "[60 * * * *] is not acceptable, out of range"),
        ("-1 * * * *", "[-1 * * * *] is not acceptable, negative numbers not allowed"),
        ("x * * * MON", "[x * * * mon] is not acceptable"),
        ("0 0 * 0 *", "[0 0 * 0 *] is not acceptable, out of range"),
        ("* * 0-5 * *", "[* * 0-5 * *] is not acceptable, out of range"),
        ("* * * * 8", "[* * * * 8] is not acceptable, out of range"),
        ("1-70 * * * *", "1-70 * * * * is out of bands"),
        ("*/0 * * * *", "[*/0 * * * *] step '0' in field 0 is not acceptable"),
        ("*/x * * * *", "[*/x * * * *] is not acceptable"),
        ("* * l-5 * *", "[* * l-5 * *] bands 'l-5' in field 2 are not acceptable"),
        (
            "? * * * *",
            "[? * * * *] is not acceptable. Question mark can only used in day_of_month or day_of_week",
        ),
        (
            "* * ?1 * *",
            "[* * ?1 * *] is not acceptable. Question mark can not used with other characters",
        ),
        (
            "* * 32w * *",
            "[* * 32w * *] is not acceptable, nearest weekday day value '32' out of range",
        ),
        (
            "* * 1,15w * *",
            "[* * 1,15w * *] is not acceptable. 'W' can only be used with a single day value, not in a list or range",
        ),
        ("* * * * 2#6", "[* * * * 2#6] is not acceptable. Invalid day_of_week value: '6'"),
        ("* * * * 2#3,4", mixed),
        ("h * * * *", "Hashed definitions must include hash_id"),
        ("r(5-1) * * * *", "Range end must be greater than range begin"),
        ("r/0 * * * *", "Bad expression: r/0"),
        ("* * * * * * 1960-1980", "[* * * * * * 1960-1980] is not acceptable, out of range"),
    ] {
        let expected = format!("Invalid CRON expression: {expected}");
        assert_eq!(detail("cron_expression", json!(supplied)), Some(expected), "{supplied}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_a_check_panic(
        text in prop_oneof![".{0,12}", "[-0-9a-f:./ ]{0,20}", "[-0-9*/,#?lwrh()a-z@ ]{0,24}", "[-0-9TZ:+., ]{0,26}"],
        name in prop::sample::select(vec![
            "cron_expression", "dns_domain", "dns_name", "expiration", "ip_addr", "ip_or_cidr",
            "iso_8601", "json_string", "mac_addr", "net_cidr", "rel_dns_name", "timezone",
        ]),
    ) {
        let _ = Offline::new(NOW).check(name, &text.as_str().into());
    }
}
