//! The interface: parsing once, evaluating often, places of errors, plain data.

use kiln_yaql::{
    Data, Environment, ErrorKind, Expression, FailureClass, Integer, Options, Value, function_names,
};
use std::sync::Arc;

fn evaluate(text: &str, root: Value) -> Result<Value, kiln_yaql::Error> {
    Expression::parse(text)?.evaluate(root, &Options::default())
}

#[test]
fn expressions_are_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let expression = Expression::parse("$.select($ * 2).sum()").unwrap();
    shared(&expression);
    let sums: Vec<Value> = std::thread::scope(|scope| {
        let run = |n: i64| {
            let expression = &expression;
            scope.spawn(move || {
                let root = Value::list((0..n).map(Value::from));
                expression.evaluate(root, &Options::default()).unwrap()
            })
        };
        [run(3), run(4)].into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(sums, [Value::from(6), Value::from(12)]);
}

#[test]
fn errors_know_their_place_in_characters() {
    for (text, start, end) in [
        ("\"é\" + $.zz", 6, 10),
        ("[1, 2].select($.a)", 14, 17),
        ("1 + frob(2)", 4, 11),
        ("1 + ", 4, 4),
        ("a b", 2, 3),
        ("é @", 2, 3),
    ] {
        let error = evaluate(text, Value::map([("a", Value::Null)])).unwrap_err();
        assert_eq!(error.span(), Some(start..end), "{text}: {error}");
    }
}

#[test]
fn errors_have_kinds() {
    let kind = |text: &str| evaluate(text, Value::Null).unwrap_err().kind().clone();
    assert_eq!(kind("f()"), ErrorKind::UnknownFunction("f".into()));
    assert_eq!(kind("{}.a"), ErrorKind::MissingKey("'a'".into()));
    assert!(matches!(kind("1 / 0"), ErrorKind::Failure { class: FailureClass::Division, .. }));
    assert!(evaluate("1 +", Value::Null).unwrap_err().is_syntax());
    assert!(!evaluate("1 / 0", Value::Null).unwrap_err().is_syntax());
}

#[test]
fn results_become_plain_data() {
    let data = |text: &str| evaluate(text, Value::Null).and_then(|value| value.to_data());
    let text = |text: &str| Data::Text(text.into());
    assert_eq!(data("set(a)").unwrap(), Data::List(vec![text("a")]));
    assert_eq!(data("{a => 1}.keys()").unwrap(), Data::List(vec![text("a")]));
    assert_eq!(data("[1, , 2].len()").unwrap(), Data::Int(3.into()));
    assert_eq!(
        data("[, 1]").unwrap(),
        Data::List(vec![Data::Map(Vec::new()), Data::Int(1.into())])
    );
    assert_eq!(
        data("{1 => a, null => b, 1.5 => c, false => d}").unwrap(),
        Data::Map(vec![
            ("1".into(), text("a")),
            ("null".into(), text("b")),
            ("1.5".into(), text("c")),
            ("false".into(), text("d")),
        ])
    );
    assert_eq!(
        data("datetime(2020, 1, 2, 3, 4, 5, 6)").unwrap(),
        text("2020-01-02T03:04:05.000006")
    );
    for (expression, message) in [
        ("timespan(1)", "A timespan cannot be part of a result"),
        ("[regex(a)]", "A regular expression cannot be part of a result"),
        ("let(1)", "A context cannot be part of a result"),
        ("{a => 1}.items()", "unhashable type: 'list'"),
    ] {
        assert_eq!(data(expression).unwrap_err().to_string(), message);
    }
    let big = Integer::parse("100000000000000000000").unwrap();
    assert_eq!(data("100000000000000000000").unwrap(), Data::Int(big));
}

#[test]
fn data_comes_back_as_it_went_in() {
    let data = Data::Map(vec![
        ("a".into(), Data::List(vec![Data::Null, Data::Bool(true), Data::Float(1.5)])),
        ("b".into(), Data::Map(vec![("c".into(), Data::Text("é".into()))])),
    ]);
    assert_eq!(evaluate("$", data.clone().into()).unwrap().to_data().unwrap(), data);
}

struct Fixed;

impl Environment for Fixed {
    fn now(&self) -> Option<i64> {
        Some(1_577_934_245_000_006)
    }

    fn local_offset(&self) -> Option<i32> {
        Some(7200)
    }

    fn random(&self) -> Option<u64> {
        Some(1 << 63)
    }
}

#[test]
fn time_and_chance_come_from_the_caller() {
    let options = Options { environment: Some(Arc::new(Fixed)), ..Options::default() };
    for (text, expected) in [
        ("str(now())", Value::from("2020-01-02 03:04:05.000006+00:00")),
        ("str(now(timespan(hours => 1)))", "2020-01-02 04:04:05.000006+01:00".into()),
        ("str(localtz())", "2:00:00".into()),
        ("random()", 0.5.into()),
        ("random(1, 1)", 1.into()),
        ("random(5, 9) in range(5, 10)", true.into()),
        ("str(datetime(\"10:30\"))", "2020-01-02 10:30:00+00:00".into()),
    ] {
        let expression = Expression::parse(text).unwrap();
        assert_eq!(expression.evaluate(Value::Null, &options).unwrap(), expected, "{text}");
    }
    for (text, missing) in [
        ("now()", "the current time"),
        ("localtz()", "the local time zone"),
        ("random()", "a random number"),
        ("random(1, 2)", "a random number"),
        ("datetime(\"10:30\")", "the current time"),
    ] {
        let error = evaluate(text, Value::Null).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("Expression needs {missing}, which is not available here")
        );
    }
}

#[test]
fn the_standard_library_is_complete() {
    // Every name of the tables of section 7 of the language's description.
    const NAMES: &str = "
        abs accumulate add aggregate all any append assert bitwiseAnd bitwiseNot bitwiseOr
        bitwiseXor bool call characters coalesce concat contains containsKey containsValue count
        cycle datetime def defaultIfEmpty delete deleteAll dict difference distinct endsWith
        enumerate escapeRegex examine filter first flatten float format generate generateMany get
        groupBy hex indexOf indexWhere insert insertMany int intersect isBoolean isDatetime isDict
        isEmpty isInteger isIterable isList isNumber isRegex isSet isString isTimespan items join
        keys last lastIndexOf lastIndexWhere len let limit list localtz map matches max memorize
        mergeWith min norm now orderBy orderByDescending pow random range reduce regex remove
        repeat replace replaceBy replaceMany reverse rightSplit round search searchAll select
        selectAllCases selectCase selectMany sequence set shiftBitsLeft shiftBitsRight sign single
        skip skipWhile slice sliceWhere split splitAt splitWhere startsWith str substring sum
        switch switchCase symmetricDifference take takeWhile thenBy thenByDescending timespan
        toCharArray toDict toList toLower toSet toUpper trim trimLeft trimRight union unpack utctz
        values where with zip zipLongest";
    let expected: Vec<&str> = NAMES.split_whitespace().collect();
    assert_eq!(function_names(), expected);
}
