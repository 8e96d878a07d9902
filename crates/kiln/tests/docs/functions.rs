//! The examples of `docs/functions.md` have the values that the page says.

use super::pages::{Page, all};
use crate::cloud::kiln_process::{KilnProcess, Who};
use crate::test_directory::TestDirectory;
use kiln_template::functions::{ALL, Function};
use kiln_template::version::{Position, Version};
use serde_json::{Value, json};
use std::fmt::Write;

fn page() -> Page {
    all().into_iter().find(|page| page.path.ends_with("docs/functions.md")).expect("the page")
}

/// The rows of the tables: an expression and its value.
fn examples(page: &Page) -> Vec<(&str, Value)> {
    let rows = page.text.lines().filter(|line| line.starts_with("| `"));
    let parse = |row: &'_ str| {
        let cells = row.strip_prefix("| `")?.strip_suffix("` |")?;
        let (expression, value) = cells.split_once("` | `")?;
        Some((expression.len(), serde_json::from_str(value).expect("a value in JSON")))
    };
    let rows = rows.map(|row| {
        let (length, value) = parse(row).unwrap_or_else(|| panic!("no example: {row}"));
        (&row[3..3 + length], value)
    });
    rows.collect()
}

#[tokio::test]
async fn the_examples_of_functions_have_their_values() {
    let page = page();
    let file = |name: &str| {
        let block = page.blocks().into_iter().find(|it| it.file.as_deref() == Some(name));
        block.expect("a file").text
    };
    let examples = examples(&page);
    let mut template = file("base.yaml") + "outputs:\n";
    for (at, (expression, _)) in examples.iter().enumerate() {
        _ = writeln!(template, "  example{at}: {{value: {expression}}}");
    }
    let kiln = KilnProcess::open(TestDirectory::with(&[]), &[]).await;
    let stacks = format!("{}/{}/stacks", kiln.orchestration(), kiln.project(Who::Demo));
    let files = json!({"motd.txt": file("motd.txt")});
    let body = json!({"stack_name": "functions", "template": template, "files": files});
    let reply = kiln.send(Who::Demo, "POST", stacks.clone(), Some(body)).await;
    assert_eq!(reply.status, 201, "{}", reply.body);
    let (state, reason) = kiln.rest(Who::Demo, "functions").await.expect("the stack");
    assert_eq!(state, "CREATE_COMPLETE", "{reason}");
    let shown = kiln.send(Who::Demo, "GET", format!("{stacks}/functions"), None).await.body;
    for (at, (expression, expected)) in examples.iter().enumerate() {
        let key = format!("example{at}");
        let outputs = shown["stack"]["outputs"].as_array().expect("outputs");
        let output = outputs.iter().find(|it| it["output_key"] == *key).expect("an output");
        let value = &output["output_value"];
        let is_same = match (expected.as_str().and_then(|it| it.strip_suffix('…')), value) {
            (Some(head), Value::String(text)) => text.starts_with(head),
            _ => value == expected,
        };
        assert!(is_same, "{expression} is {value}, and not {expected}");
    }
}

/// The page has a section for every function of HOT.
#[test]
fn every_function_of_hot_has_an_example() {
    let page = page();
    let newest = Version::Hot20210416;
    let is_of_hot = |it: &&Function| {
        it.exists_in(newest)
            && [Position::Value, Position::Condition].iter().any(|at| it.allowed_in(*at, newest))
    };
    for function in ALL.iter().filter(is_of_hot) {
        let heading = format!("\n### {}\n", function.name);
        assert!(page.text.contains(&heading), "docs/functions.md: no {}", function.name);
    }
}
