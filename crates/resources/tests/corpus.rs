//! Public templates with the reference's verdicts, where the record is at hand: the same answer of
//! template validation, the same files gathered, an acyclic graph, a place for every error.

use crate::conformance::{json_of, mismatch};
use kiln_resources::constraints::offline;
use kiln_resources::environment::shipped;
use kiln_resources::registry::Registry;
use kiln_template::environment::Environment;
use kiln_template::files::{FileLimits, FileReader, Gatherer, ReadError};
use kiln_template::print::{self, Keys};
use kiln_template::validate::{Checks, Context, Input, Root, validate};
use kiln_template::{Diagnostic, Sources, codes};
use serde_json::Value as Json;
use std::path::PathBuf;
use std::sync::Arc;

const ROOT: &str = "file:///corpus/heat-templates/";

struct Folder(PathBuf);

impl FileReader for Folder {
    fn read(&self, url: &str) -> Result<Vec<u8>, ReadError> {
        let missing = || ReadError { reason: "no such file".into() };
        let path = url.strip_prefix(ROOT).ok_or_else(missing)?;
        std::fs::read(self.0.join(path)).map_err(|_| missing())
    }
}

#[test]
fn public_templates_have_the_verdicts_of_the_reference() {
    let Some(corpus) = crate::shared("corpus") else {
        eprintln!("the corpus of public templates is not here");
        return;
    };
    let text = std::fs::read_to_string(corpus.join("expected_validate.json")).expect("the record");
    let record: Json = serde_json::from_str(&text).expect("the record in JSON");
    let folder = Folder(corpus.join("heat-templates"));
    let (mut agreed, mut words, mut client, mut skipped, mut failures) = (0, 0, 0, 0, Vec::new());
    for case in record["results"].as_array().into_iter().flatten() {
        let name = case["template"].as_str().unwrap_or("?");
        match verdict(case, &folder) {
            Ok(Verdict::Agreed { to_the_letter }) => {
                agreed += 1;
                words += usize::from(to_the_letter);
            }
            Ok(Verdict::RefusedByClient) => client += 1,
            Ok(Verdict::NotComparable) => skipped += 1,
            Err(why) => failures.push(format!("{name}: {why}")),
        }
    }
    eprintln!(
        "{agreed} verdicts agree ({words} to the letter), {client} are refused by the client as \
         well, {skipped} cannot be compared"
    );
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

enum Verdict {
    Agreed { to_the_letter: bool },
    RefusedByClient,
    NotComparable,
}

fn verdict(case: &Json, folder: &Folder) -> Result<Verdict, String> {
    let mut sources = Sources::new();
    let limits = FileLimits::default();
    let mut gathering = Gatherer::new(folder, &mut sources, &limits);
    let url = |key: &str| case[key].as_str().map(|path| format!("{ROOT}{path}"));
    let template = gathering.template(&url("template").unwrap_or_default());
    let environment = url("environment").and_then(|url| gathering.environment(&url));
    let gathered = gathering.finish();
    for found in gathered.diagnostics.iter().filter(|found| found.is_error()) {
        let place = found.span().and_then(|span| sources.locate(span));
        if place.is_none() && found.code != &codes::FILE_UNREADABLE {
            return Err(format!("no place: {}", found.text()));
        }
    }
    let refused = gathered.diagnostics.iter().any(Diagnostic::is_error);
    match (case["compare"].as_str(), refused) {
        (Some("client"), true) => return Ok(Verdict::RefusedByClient),
        (Some("client"), false) => return Err("the client accepts it".into()),
        (_, true) => return Err(format!("the client refuses: {}", gathered.diagnostics[0].text())),
        (_, false) => {}
    }
    let mut input = Input::new(kiln_template::FileId::default());
    input.template = Root::Document(template.ok_or("no template")?);
    input.documents = gathered.documents;
    let files =
        gathered.files.iter().map(|(url, text)| (url.as_str().into(), text.as_str().into()));
    input.files = Arc::new(files.collect());
    input.global = Arc::new(shipped());
    if let Some(node) = environment {
        input.environment = Environment::parse(&node).0;
    }
    let custom = offline(1_800_000_000);
    let context = Context::new(Registry::builtin(), &custom, Checks::TEMPLATE);
    let report = validate(&context, &mut sources, input);
    for found in report.diagnostics.iter().filter(|found| found.is_error()) {
        if found.span().and_then(|span| sources.locate(span)).is_none() {
            return Err(format!("no place: {}", found.text()));
        }
    }
    if case["compare"] == "skip" {
        return Ok(Verdict::NotComparable);
    }
    let error = report.diagnostics.iter().find(|found| found.is_error());
    match (case["result"].as_str(), error) {
        (Some("ok"), None) => {
            let described = report.describe();
            let mut found = json_of(&described);
            // The environment is compared as users see it.
            let shown = print::json(&described, Keys::Ordered);
            let mut shown: Json = serde_json::from_str(&shown).expect("JSON");
            found["Environment"] = shown["Environment"].take();
            let mut wanted = case["body"].clone();
            hide(&mut wanted);
            match mismatch("answer", &wanted, &found, false) {
                None => Ok(Verdict::Agreed { to_the_letter: true }),
                Some(why) => Err(why),
            }
        }
        (Some("ok"), Some(found)) => Err(format!("refused: {}", found.text())),
        (_, None) => Err(format!("accepted; wanted {}", case["error_message"])),
        (_, Some(found)) => {
            let alternatives = case["alternatives"].as_array().cloned().unwrap_or_default();
            let told = [case.clone()].into_iter().chain(alternatives);
            let mut kinds =
                told.clone().filter_map(|told| told["error_type"].as_str().map(str::to_string));
            if !kinds.any(|kind| kind == found.validation_kind()) {
                return Err(format!(
                    "{}: {}; wanted {}",
                    found.validation_kind(),
                    found.text(),
                    case["error_message"]
                ));
            }
            let mut texts =
                told.filter_map(|told| told["error_message"].as_str().map(str::to_string));
            let to_the_letter = texts.any(|text| text == found.text());
            if !to_the_letter {
                eprintln!("words differ: {:?} for {}", found.text(), case["error_message"]);
            }
            Ok(Verdict::Agreed { to_the_letter })
        }
    }
}

/// The reference shows the values of hidden parameters in the environment; we do not.
fn hide(answer: &mut Json) {
    let parameters = answer["Parameters"].clone();
    for section in ["parameters", "parameter_defaults"] {
        let given = answer["Environment"][section].as_object_mut();
        for (name, value) in given.into_iter().flatten() {
            if parameters[name.as_str()]["NoEcho"] == "true" {
                *value = "******".into();
            }
        }
    }
}
