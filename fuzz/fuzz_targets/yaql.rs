//! Any text is parsed as an expression, printed, parsed again and evaluated without a panic.
#![no_main]

use kiln_yaql::{Expression, Options, Value};
use libfuzzer_sys::fuzz_target;

fn data() -> Value {
    let server = |name: &str, cpu: i64| {
        Value::map([("name", Value::text(name)), ("cpu", Value::Int(cpu.into()))])
    };
    Value::map([
        ("data", Value::list([server("a", 2), server("b", 4), Value::Null])),
        ("text", Value::text("3,10,4")),
        ("flag", Value::Bool(true)),
        ("half", Value::Float(0.5)),
    ])
}

fuzz_target!(|text: &str| {
    let Ok(expression) = Expression::parse(text) else { return };
    let printed = expression.to_string();
    let again = Expression::parse(&printed).map(|again| again.to_string());
    assert_eq!(again.ok().as_deref(), Some(&*printed));
    let options = Options { max_steps: 20_000, ..Options::default() };
    match expression.evaluate(data(), &options) {
        Ok(result) => _ = result.to_data(),
        Err(error) => _ = error.to_string(),
    }
});
