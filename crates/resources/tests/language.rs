//! The pages of `language/`: what the template language means, with examples that are tried.
//!
//! A page is Markdown. Every `## heading` with fenced blocks is a case: the blocks named `template`,
//! `environment`, `file NAME` and so on are sent, the blocks named `outputs`, `error` and so on are what
//! must come back. A table `| written | answer |` under a heading makes a case of each row, with the
//! row's text in place of `WRITTEN`. The answers are those of the reference, Heat 27, unless the prose
//! says that Kiln answers otherwise. README.md in the folder has the whole form.

use crate::conformance::{Outcome, check};
use serde_json::{Map, Value as Json, json};
use std::path::Path;

/// The word that a row of a table stands for.
const SLOT: &str = "WRITTEN";

#[test]
fn every_example_of_the_language_pages_has_its_answer() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/language"));
    let mut pages: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of pages")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    let (mut tried, mut failures) = (0, Vec::new());
    for path in pages {
        let page = path.file_name().unwrap_or_default().to_string_lossy();
        if page == "README.md" {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a page");
        for example in read(&page, &text) {
            tried += 1;
            let failure = match check(&example.case) {
                Outcome::Passed => continue,
                Outcome::Failed(why) => why,
                Outcome::Skipped(why) => format!("cannot be tried here: {why}"),
            };
            failures.push(format!("{}: {failure}", example.place));
        }
    }
    eprintln!("{tried} examples tried");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
    assert!(tried >= 1900, "only {tried} examples");
}

#[test]
fn a_page_is_read_into_requests_and_answers() {
    let page = "# Page\n\nWords.\n\n## A case\n\n```yaml template\na: 1\n```\n\n```text error\nT: m.\n```\n";
    let examples = read("page.md", page);
    assert_eq!(examples.len(), 1);
    assert_eq!(examples[0].place, "page.md:5: A case");
    assert_eq!(examples[0].case["template"], "a: 1\n");
    assert_eq!(examples[0].case["expect"]["error"]["type"], "T");
    assert_eq!(examples[0].case["expect"]["error"]["message"], r"\Am\.\Z");
}

#[test]
fn every_row_of_a_table_is_an_example() {
    let page = "## Rows\n\n```yaml template\nv: WRITTEN\n```\n\n| written | answer |\n| --- | --- |\n\
                | `[1]` | `[1]` |\n| `a\\|b` | fails, `no` |\n| `c` | refused, `T: /n.t/` |\n";
    let examples = read("page.md", page);
    assert_eq!(examples.len(), 3);
    assert_eq!(examples[0].case["expect"]["outputs"], json!({"out": [1]}));
    assert_eq!(examples[1].place, "page.md:10: Rows, a|b");
    assert_eq!(examples[1].case["template"], "v: a|b\n");
    assert_eq!(examples[1].case["expect"]["output_errors"]["out"], r"\Ano\Z");
    assert_eq!(examples[2].case["expect"]["error"]["message"], "(?s)n.t");
}

/// One thing to try: where it stands and what it is, in the form that `check` takes.
struct Example {
    place: String,
    case: Json,
}

/// The part of a page under one heading.
#[derive(Default)]
struct Section<'a> {
    line: usize,
    heading: &'a str,
    blocks: Vec<Block<'a>>,
    rows: Vec<(usize, String, String)>,
}

struct Block<'a> {
    line: usize,
    label: &'a str,
    name: &'a str,
    text: String,
}

fn read(page: &str, text: &str) -> Vec<Example> {
    let sections = sections(page, text);
    sections
        .iter()
        .filter(|section| !section.blocks.is_empty())
        .flat_map(|section| examples(page, section))
        .collect()
}

fn sections<'a>(page: &str, text: &'a str) -> Vec<Section<'a>> {
    let mut sections = vec![Section::default()];
    let mut open: Option<Block<'a>> = None;
    let mut in_table = false;
    for (at, line) in text.lines().enumerate() {
        let (number, section) = (at + 1, sections.last_mut().expect("a section"));
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some("")) => section.blocks.extend(open.take()),
            (Some(block), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some(info)) => {
                let mut words = info.splitn(3, ' ').skip(1);
                let label = words.next().unwrap_or_default();
                let name = words.next().unwrap_or_default();
                open = Some(Block { line: number, label, name, text: String::new() });
            }
            (None, None) => {
                if let Some(heading) = line.strip_prefix("## ") {
                    sections.push(Section { line: number, heading, ..Section::default() });
                } else if let Some(row) = line.strip_prefix("| ") {
                    let [written, answer] = cells(row);
                    match (written.as_str(), in_table) {
                        ("written", false) => in_table = true,
                        ("---", true) | (_, false) => {}
                        (_, true) => section.rows.push((number, written, answer)),
                    }
                    continue;
                }
                in_table = false;
            }
        }
    }
    assert!(open.is_none(), "{page}: a block has no end");
    sections
}

/// The first two cells of a row; a pipe inside is written `\|`.
fn cells(row: &str) -> [String; 2] {
    let row = row.replace("\\|", "\u{1}");
    let mut cells = row.split('|').map(|cell| cell.trim().replace('\u{1}', "|"));
    [cells.next().unwrap_or_default(), cells.next().unwrap_or_default()]
}

fn examples(page: &str, section: &Section<'_>) -> Vec<Example> {
    let place = |line: usize, more: &str| format!("{page}:{line}: {}{more}", section.heading);
    if section.rows.is_empty() {
        let case = case(page, section, None);
        return vec![Example { place: place(section.line, ""), case }];
    }
    let row = |(line, written, answer): &(usize, String, String)| {
        let written = written.trim_matches('`');
        let mut case = case(page, section, Some(written));
        expect_row(&place(*line, ""), &mut case, answer);
        Example { place: place(*line, &format!(", {written}")), case }
    };
    section.rows.iter().map(row).collect()
}

/// The request, and what the blocks say must come back.
fn case(page: &str, section: &Section<'_>, written: Option<&str>) -> Json {
    let mut case = json!({"files": {}, "environment_files": [], "update": {}, "expect": {}});
    for block in &section.blocks {
        let place = format!("{page}:{}", block.line);
        let text = written.map_or_else(|| block.text.clone(), |it| block.text.replace(SLOT, it));
        let parsed =
            || serde_json::from_str::<Json>(&text).unwrap_or_else(|e| panic!("{place}: {e}"));
        match block.label {
            "template" | "environment" => case[block.label] = json!(text),
            "template-object" => case["template"] = parsed(),
            "environment-object" => case["environment"] = parsed(),
            "file" => case["files"][block.name] = json!(text),
            "environment-file" => {
                case["files"][block.name] = json!(text);
                push(&mut case["environment_files"], json!(block.name));
            }
            "environment_files" => case["environment_files"] = parsed(),
            "parameters" => case["params"] = parsed(),
            "operation" => case["op"] = json!(text.trim()),
            "update-template" | "update-environment" => {
                case["op"] = json!("update");
                case["update"][block.label.trim_start_matches("update-")] = json!(text);
            }
            "update-parameters" => {
                case["op"] = json!("update");
                case["update"]["params"] = parsed();
            }
            "outputs" | "resources" | "validate" => case["expect"][block.label] = parsed(),
            "parameters-shown" => case["expect"]["parameters"] = parsed(),
            "output_errors" => {
                let errors = parsed();
                let errors = errors.as_object().into_iter().flatten();
                let errors = errors
                    .map(|(name, text)| (name.clone(), pattern(text.as_str().unwrap_or_default())));
                case["expect"]["output_errors"] = Json::Object(errors.collect::<Map<_, _>>());
            }
            "error" => case["expect"]["error"] = error(&place, text.trim_end_matches('\n')),
            label => panic!("{place}: no rule for a block called {label:?}"),
        }
    }
    let expect = &case["expect"];
    if expect.get("output_errors").is_some() && expect.get("outputs").is_none() {
        case["expect"]["outputs"] = json!({});
    }
    let says =
        written.is_some() || case["expect"].as_object().is_some_and(|expect| !expect.is_empty());
    assert!(says, "{page}:{}: nothing is expected", section.line);
    case
}

fn push(list: &mut Json, item: Json) {
    list.as_array_mut().expect("a list").push(item);
}

/// What the second cell of a row says: a value, a failing output, a refusal or nothing.
fn expect_row(place: &str, case: &mut Json, answer: &str) {
    if let Some(text) = answer.strip_prefix("refused, ") {
        case["expect"]["error"] = error(place, text.trim_matches('`'));
    } else if let Some(text) = answer.strip_prefix("fails, ") {
        case["expect"]["output_errors"] = json!({"out": pattern(text.trim_matches('`'))});
        case["expect"]["outputs"] = json!({});
    } else if answer != "accepted" {
        let value: Json = serde_json::from_str(answer.trim_matches('`'))
            .unwrap_or_else(|error| panic!("{place}: {answer}: {error}"));
        case["expect"]["outputs"] = json!({"out": value});
    }
}

/// A refusal is written as its type, a colon and its message.
fn error(place: &str, text: &str) -> Json {
    let Some((kind, message)) = text.split_once(": ") else {
        panic!("{place}: {text:?} has no type")
    };
    json!({"type": kind, "message": pattern(message)})
}

/// The whole message, or between slashes an expression that finds a part of it.
fn pattern(message: &str) -> Json {
    let inner = message.strip_prefix('/').and_then(|message| message.strip_suffix('/'));
    match inner {
        Some(expression) => json!(format!("(?s){expression}")),
        None => json!(format!(r"\A{}\Z", escape(message))),
    }
}

fn escape(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        if character.is_ascii_punctuation() {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}
