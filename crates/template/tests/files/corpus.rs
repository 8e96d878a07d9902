//! The corpus of public templates: the same files are gathered, and the same templates rejected.

use kiln_template::files::{FileLimits, FileReader, Gatherer, ReadError, url};
use kiln_template::{Sources, codes};
use serde_json::Value as Json;
use std::path::PathBuf;

/// Where the recorded run had the corpus.
const LAID_OUT_AT: &str = "/corpus/";

#[test]
fn the_same_files_are_gathered_as_by_the_stock_client() {
    let Some(root) = shared("corpus") else { return };
    let text = std::fs::read_to_string(root.join("expected_validate.json")).unwrap();
    let expected: Json = serde_json::from_str(&text).unwrap();
    let corpus = Corpus { root };
    let (mut same, mut refused, mut wrong) = (0, 0, Vec::new());
    for case in expected["results"].as_array().unwrap() {
        let label = format!("{} {}", case["template"], case["environment"]);
        match (check(&corpus, case), case["compare"] == "client") {
            (Ok(()), true) => refused += 1,
            (Ok(()), false) => same += 1,
            (Err(difference), _) => wrong.push(format!("{label}: {difference}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    eprintln!("{same} templates with the same files, {refused} refused");
    assert!(same > 0 && refused > 0);
}

fn check(corpus: &Corpus, case: &Json) -> Result<(), String> {
    let (mut sources, limits) = (Sources::new(), FileLimits::default());
    let mut gathering = Gatherer::new(corpus, &mut sources, &limits);
    let at = |path: &Json| url::from_path("/corpus/heat-templates", path.as_str().unwrap());
    let template = gathering.template(&at(&case["template"]));
    if case["environment"].is_string() {
        gathering.environment(&at(&case["environment"]));
    }
    let gathered = gathering.finish();
    let faults: Vec<_> = gathered.diagnostics.iter().filter(|fault| fault.is_error()).collect();
    if case["compare"] == "client" {
        let reported = case["client_error_message"].as_str().unwrap();
        let found = faults.iter().find(|fault| fault.message == reported);
        return match found {
            Some(fault) if fault.code == &codes::FILE_UNREADABLE && fault.span().is_some() => {
                Ok(())
            }
            _ => Err(format!("expected {reported}, found {faults:?}")),
        };
    }
    if template.is_none() || !faults.is_empty() {
        return Err(format!("{faults:?}"));
    }
    let mut urls: Vec<&str> = gathered.files.keys().map(String::as_str).collect();
    urls.sort_unstable();
    let mut expected: Vec<&str> =
        case["files"].as_array().unwrap().iter().map(|url| url.as_str().unwrap()).collect();
    expected.sort_unstable();
    if urls == expected { Ok(()) } else { Err(format!("{urls:?} instead of {expected:?}")) }
}

struct Corpus {
    root: PathBuf,
}

impl FileReader for Corpus {
    fn read(&self, url: &str) -> Result<Vec<u8>, ReadError> {
        let reason = |text: &dyn ToString| ReadError { reason: text.to_string() };
        let path = url::to_path(url).ok_or_else(|| reason(&"no file"))?;
        let inside = path.strip_prefix(LAID_OUT_AT).ok_or_else(|| reason(&"No such file"))?;
        std::fs::read(self.root.join(inside)).map_err(|error| reason(&error))
    }
}

fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("KILN_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let found = Some(root.join(path)).filter(|path| path.exists());
    if found.is_none() {
        eprintln!("no shared folder here: {path} is not looked at");
    }
    found
}
