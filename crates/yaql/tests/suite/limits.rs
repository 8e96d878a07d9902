//! Hostile expressions end in an error, soon and without harm.

use kiln_yaql::{Error, ErrorKind, Expression, Options, Value};

fn evaluate(text: &str) -> Result<Value, Error> {
    let options = Options { max_steps: 100_000, ..Options::default() };
    Expression::parse(text)?.evaluate(Value::Null, &options)
}

#[test]
fn endless_work_is_stopped() {
    for text in [
        "sequence().len()",
        "1.repeat().len()",
        "[1].cycle().len()",
        "generate(0, true, $ + 1).len()",
        "generateMany(1, [$, $]).len()",
        "range(1000000000000).len()",
        "range(200).select(range(200).select(range(200).select($)))",
        "let(x => pow(7, 5000)) -> pow($x, $x, $x + 1)",
        "def(f, f() + f()) -> f()",
    ] {
        let error = evaluate(text).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::TooManySteps(_) | ErrorKind::TooDeep),
            "{text}: {error}"
        );
    }
    let error = evaluate("sequence().len()").unwrap_err();
    assert_eq!(error.to_string(), "Expression takes more than 100000 steps");
}

#[test]
fn deep_recursion_is_stopped() {
    for text in [
        "def(f, f()) -> f()",
        "def(f, [f()]) -> f()",
        "def(f, f($ + 1)) -> f(0)",
        "def(f, call(f, [], {})) -> f()",
        "def(f, coalesce(null, f())) -> f()",
        "def(f, switch(true => f())) -> f()",
        "def(f, [1].select(f()).first()) -> f()",
        "def(f, [1].where(f()).first()) -> f()",
        "def(f, [2, 1].orderBy(f()).first()) -> f()",
        "def(f, [1].aggregate(f(), 0)) -> f()",
        "def(f, [1].groupBy(f())) -> f()",
        "def(f, \"a\".replaceBy(regex(a), f())) -> f()",
        "range(10).aggregate(range(200).aggregate($1.skip(0), $1), [1]).first()",
        "range(10).aggregate(range(200).aggregate([$1], $1), [1])",
        "range(200).aggregate($1.orderBy($), [1, 2]).first()",
    ] {
        let error = evaluate(text).unwrap_err();
        assert_eq!(error.to_string(), "Expression is nested too deeply", "{text}");
    }
}

#[test]
fn large_values_are_not_made() {
    for text in [
        "pow(3, 1000000000)",
        "pow(pow(2, 70000), 70000)",
        "shiftBitsLeft(1, 100000000000)",
        "\"a\" * 1000000000000",
        "[1] * 1000000000000",
        "(\"a\" * 9000).replace(a, \"b\" * 5000)",
        "(\"a\" * 900).replace(regex(a), \"b\" * 500)",
        "range(200).aggregate([$1, $1], 1)",
        "range(200).aggregate({a => $1, b => $1}, 1)",
        "range(200).aggregate($1 + $1, aa)",
        "range(200).select(\"x\" * 200).join(\"\")",
    ] {
        assert_eq!(*evaluate(text).unwrap_err().kind(), ErrorKind::MemoryQuota, "{text}");
    }
}

#[test]
fn the_iterator_limit_and_the_quota_are_options() {
    let options = Options { limit_iterators: 3, memory_quota: 100, ..Options::default() };
    let evaluate = |text: &str| Expression::parse(text)?.evaluate(Value::Null, &options);
    assert!(evaluate("range(3)").is_ok());
    assert_eq!(*evaluate("range(4)").unwrap_err().kind(), ErrorKind::CollectionTooLarge(3));
    assert!(evaluate("a * 51").is_ok());
    assert_eq!(*evaluate("a * 52").unwrap_err().kind(), ErrorKind::MemoryQuota);
}

#[test]
fn an_iterator_that_asks_itself_is_refused() {
    let text = "let(x => [1, 2].select($)) -> let(y => $x.where($x.first())) -> $y.toList()";
    assert!(evaluate(text).is_ok());
    let own = "[[1, 2].select($)].select(let(i => $) -> $i.select($i.first())).first().toList()";
    assert!(evaluate(own).is_ok());
    let memorized = "let(x => range(3).memorize()) -> $x.select($x.len())";
    assert!(evaluate(memorized).is_ok());
}

#[test]
fn patterns_cannot_run_away() {
    for text in ["(\"a\" * 40).matches(\"(a|a)*(?=b)b\")", "regex(\"(?:a{1000}){1000}\")"] {
        assert!(evaluate(text).is_err(), "{text}");
    }
    assert!(evaluate("regex(\"(\" * 5000)").is_err());
}

#[test]
fn deep_data_is_refused() {
    let mut value = Value::Null;
    for _ in 0..1000 {
        value = Value::list([value]);
    }
    let result = Expression::parse("1").unwrap().evaluate(value, &Options::default());
    assert_eq!(*result.unwrap_err().kind(), ErrorKind::TooDeep);
}
