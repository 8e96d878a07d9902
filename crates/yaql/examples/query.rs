//! Evaluates an expression over a small inventory.
//!
//! `cargo run --example query -- '$.servers.where($.cpu > 2).name'`

#![allow(clippy::print_stdout, clippy::print_stderr)]

use kiln_yaql::{Expression, Options, Value};
use std::process::ExitCode;

fn main() -> ExitCode {
    let text = std::env::args().nth(1);
    let text = text.as_deref().unwrap_or("$.servers.groupBy($.zone, $.name)");
    let result = Expression::parse(text)
        .and_then(|expression| expression.evaluate(inventory(), &Options::default()))
        .and_then(|value| value.to_data());
    match result {
        Ok(data) => {
            println!("{data:?}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            if let Some(span) = error.span() {
                eprintln!("  {text}");
                let marks = "^".repeat(span.len().max(1));
                eprintln!("  {}{marks}", " ".repeat(span.start));
            }
            ExitCode::FAILURE
        }
    }
}

fn inventory() -> Value {
    let server = |name: &str, cpu: i64, zone: &str| {
        Value::map([("name", Value::from(name)), ("cpu", cpu.into()), ("zone", zone.into())])
    };
    let servers = [server("w1", 2, "a"), server("w2", 4, "b"), server("w3", 4, "a")];
    Value::map([("servers", Value::list(servers))])
}
