//! What holds for any expression.

use kiln_yaql::{Expression, Options, Value, regex};
use proptest::prelude::*;

/// Expressions made of pieces that fit together more often than chance would have it.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("$".to_string()),
        Just("$.data".into()),
        Just("$1".into()),
        Just("$x".into()),
        Just("null".into()),
        Just("true".into()),
        Just("word".into()),
        Just("[]".into()),
        Just("{}".into()),
        (-3..300_i32).prop_map(|n| n.to_string()),
        (0..9_u32, 0..99_u32).prop_map(|(a, b)| format!("{a}.{b}")),
        "[a-c ,%é\\\\'\"]{0,5}".prop_map(|text| format!("{:?}", text)),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4).prop_map(|items| items.join(", "));
        let name = prop::sample::select(kiln_yaql::function_names());
        let sign = prop::sample::select(vec![
            "+", "-", "*", "/", "mod", "=", "!=", "<", ">", "<=", ">=", "in", "and", "or", "->",
            "=~", "!~",
        ]);
        prop_oneof![
            (inner.clone(), sign, inner.clone()).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
            (inner.clone(), name.clone(), list.clone())
                .prop_map(|(a, n, l)| format!("{a}.{n}({l})")),
            (name, list.clone()).prop_map(|(n, l)| format!("{n}({l})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}[{b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{{a} => {b}}}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("let(x => {a}) -> {b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("def(f, {a}) -> f({b})")),
            list.prop_map(|items| format!("[{items}]")),
            inner.clone().prop_map(|a| format!("-{a}")),
            inner.clone().prop_map(|a| format!("not {a}")),
            inner.prop_map(|a| format!("{a}?.key")),
        ]
    })
}

fn root() -> Value {
    let row = |n: i64| Value::map([("key", Value::from(n)), ("name", "a".into())]);
    Value::map([("data", Value::list((0..3).map(row)))])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC{0,60}") {
        let _ = Expression::parse(&text);
    }

    #[test]
    fn any_tokens_are_parsed_or_refused(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "1", "2.5", "'a'", "a", "$", "$x", "(", ")", "[", "]", "{", "}", ",", "=>", ".",
                "?.", "+", "-", "not", "and", "->", "=", "f(", "len(", "true", " ",
            ]),
            0..20,
        ),
    ) {
        let text = tokens.join(" ");
        if let Ok(parsed) = Expression::parse(&text) {
            let again = Expression::parse(&parsed.to_string()).unwrap();
            prop_assert_eq!(&parsed, &again, "{} became {}", text, parsed);
        }
    }

    #[test]
    fn printing_and_parsing_again_keeps_an_expression(text in expression()) {
        if let Ok(parsed) = Expression::parse(&text) {
            let printed = parsed.to_string();
            let again = Expression::parse(&printed).unwrap();
            prop_assert_eq!(&parsed, &again, "{} became {}", text, printed);
        }
    }

    #[test]
    fn evaluation_ends_in_a_value_or_an_error(text in expression()) {
        let options = Options { max_steps: 20_000, ..Options::default() };
        if let Ok(parsed) = Expression::parse(&text)
            && let Ok(value) = parsed.evaluate(root(), &options)
        {
            let _ = value.to_data();
        }
    }

    #[test]
    fn any_pattern_is_compiled_or_refused(
        pattern in "[ab(){}\\[\\]?*+|^$.,\\\\:=!<>P#dwsbAZ0-9é-]{0,16}",
        text in "[abé\n]{0,12}",
    ) {
        if let Ok(compiled) = regex::compile(&pattern) {
            let _ = compiled.matches_whole(&text);
            let _ = compiled.is_match(&text);
        }
    }
}
