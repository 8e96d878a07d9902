//! Gathering from a directory in memory. What is expected is what python-heatclient was seen to
//! send.

use super::{FileLimits, FileReader, Gatherer, ReadError, request_text, resolve_template};
use crate::codes;
use crate::environment::fixture::any_value;
use crate::limits::Limits;
use crate::print;
use crate::source::Sources;
use crate::value::Value;
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;

const V: &str = "heat_template_version: 2018-08-31\n";

/// Files below `file:///d/`, and how often each was read.
struct Directory {
    files: BTreeMap<String, Vec<u8>>,
    reads: RefCell<BTreeMap<String, usize>>,
}

impl Directory {
    fn new(files: &[(&str, &str)]) -> Directory {
        let file = |(name, text): &(&str, &str)| {
            (format!("file:///d/{name}"), text.replace("V\n", V).into_bytes())
        };
        Directory { files: files.iter().map(file).collect(), reads: RefCell::default() }
    }
}

impl FileReader for Directory {
    fn read(&self, url: &str) -> Result<Vec<u8>, ReadError> {
        *self.reads.borrow_mut().entry(url.to_owned()).or_default() += 1;
        let missing = || ReadError { reason: "No such file or directory".to_owned() };
        self.files.get(url).cloned().ok_or_else(missing)
    }
}

/// The template and the files as sent, or the first error, with the directory as `D`.
fn resolved(files: &[(&str, &str)]) -> Vec<String> {
    let (directory, mut sources) = (Directory::new(files), Sources::new());
    let limits = FileLimits::default();
    let found = resolve_template("file:///d/t.yaml", &directory, &mut sources, &limits);
    if let Some(fault) = found.gathered.diagnostics.first() {
        let position = fault.span().and_then(|span| sources.locate(span));
        let position = position
            .map_or(String::new(), |at| format!(" at {}:{}:{}", at.file, at.line, at.column));
        return vec![format!("{}{position}", fault.message).replace("file:///d", "D")];
    }
    let template = found.template.as_ref().map(request_text).unwrap_or_default();
    let version = r#""heat_template_version": "2018-08-31""#;
    let tidy = |text: String| text.replace("file:///d", "D").replace(version, "V");
    let mut lines = vec![tidy(template)];
    let mut others: Vec<_> = found.gathered.files.into_iter().collect();
    others.sort();
    lines.extend(others.into_iter().map(|(url, content)| tidy(format!("{url} = {content}"))));
    lines
}

#[test]
fn names_are_rewritten_to_urls_and_read() {
    for (files, expected) in [
        (
            &[("t.yaml", "V\na: {p: {get_file: x.sh}}"), ("x.sh", "hi {get_file: y}\n")][..],
            &[r#"{V, "a": {"p": {"get_file": "D/x.sh"}}}"#, "D/x.sh = hi {get_file: y}\n"][..],
        ),
        // What is not text is left alone, and so is a type that is no template's name.
        (
            &[(
                "t.yaml",
                "V\na: {d: {get_file: {get_param: x}}, f: {get_file: 5}, g: {get_file: ~}, type: z.txt}",
            )],
            &[
                r#"{V, "a": {"d": {"get_file": {"get_param": "x"}}, "f": {"get_file": 5}, "g": {"get_file": null}, "type": "z.txt"}}"#,
            ],
        ),
        // Anywhere: in any section, in a property, in a list, beside other keys.
        (
            &[
                ("t.yaml", "V\na: [[{get_file: x, other: 1}], {type: {type: y.yaml}}]"),
                ("x", "X"),
                ("y.yaml", "V\n"),
            ],
            &[
                r#"{V, "a": [[{"get_file": "D/x", "other": 1}], {"type": {"type": "D/y.yaml"}}]}"#,
                "D/x = X",
                "D/y.yaml = {V}",
            ],
        ),
        // Templates are read in turn, relative to their own directories.
        (
            &[
                ("t.yaml", "V\na: {type: y.template}"),
                ("y.template", "V\nb: {type: sub/z.yaml}"),
                ("sub/z.yaml", "V\nc: {get_file: q}"),
                ("sub/q", "Q"),
            ],
            &[
                r#"{V, "a": {"type": "D/y.template"}}"#,
                "D/sub/q = Q",
                r#"D/sub/z.yaml = {V, "c": {"get_file": "D/sub/q"}}"#,
                r#"D/y.template = {V, "b": {"type": "D/sub/z.yaml"}}"#,
            ],
        ),
        // So are templates that come by get_file.
        (
            &[
                ("t.yaml", "V\na: {get_file: y.yaml}"),
                ("y.yaml", "V\nb: {get_file: z}"),
                ("z", "Z"),
            ],
            &[
                r#"{V, "a": {"get_file": "D/y.yaml"}}"#,
                r#"D/y.yaml = {V, "b": {"get_file": "D/z"}}"#,
                "D/z = Z",
            ],
        ),
        // A file that is no template is sent as it is, even where a template is due.
        (
            &[
                ("t.yaml", "V\na: {type: y.yaml}\nb: {type: z.yaml}\nc: {get_file: n}"),
                ("y.yaml", "- heat_template_version\n"),
                ("z.yaml", "{a: ["),
                ("n", "resources: {b: {type: q.yaml}}\n"),
            ],
            &[
                r#"{V, "a": {"type": "D/y.yaml"}, "b": {"type": "D/z.yaml"}, "c": {"get_file": "D/n"}}"#,
                "D/n = resources: {b: {type: q.yaml}}\n",
                "D/y.yaml = - heat_template_version\n",
                "D/z.yaml = {a: [",
            ],
        ),
        // The CloudFormation dialect has no such names, but counts as a template.
        (
            &[
                ("t.yaml", "V\na: {type: y.yaml}"),
                ("y.yaml", "AWSTemplateFormatVersion: '2010-09-09'\nR: {Type: z.yaml}"),
            ],
            &[
                r#"{V, "a": {"type": "D/y.yaml"}}"#,
                r#"D/y.yaml = {"AWSTemplateFormatVersion": "2010-09-09", "R": {"Type": "z.yaml"}}"#,
            ],
        ),
        // The same file by several names.
        (
            &[
                (
                    "t.yaml",
                    "V\na: [{get_file: ./x}, {get_file: s/../x}, {get_file: /d/x}, {get_file: 'file:///d/x'}]",
                ),
                ("x", "X"),
            ],
            &[
                r#"{V, "a": [{"get_file": "D/x"}, {"get_file": "D/x"}, {"get_file": "D/x"}, {"get_file": "D/x"}]}"#,
                "D/x = X",
            ],
        ),
        (
            &[
                ("t.yaml", "V\na: {type: y.yaml}"),
                ("y.yaml", "V\nd: é\np: [1.0, 2020-01-01, 0o17, 0x1F]\n"),
            ],
            &[
                r#"{V, "a": {"type": "D/y.yaml"}}"#,
                r#"D/y.yaml = {V, "d": "\u00e9", "p": [1.0, "2020-01-01", "0o17", 31]}"#,
            ],
        ),
        // The client strips templates, so a block of text that comes last loses its end.
        (
            &[("t.yaml", "V\na: {type: y.yaml}\nb: |\n  x\n\n"), ("y.yaml", "V\nc: >+\n  y\n\n")],
            &[r#"{V, "a": {"type": "D/y.yaml"}, "b": "x"}"#, r#"D/y.yaml = {V, "c": "y"}"#],
        ),
        // Errors have the span of the name.
        (
            &[("t.yaml", "V\na: {type: y.yaml}")],
            &["Could not fetch contents for D/y.yaml at D/t.yaml:2:11"],
        ),
        (
            &[("t.yaml", "V\na: {type: y.yaml}"), ("y.yaml", "V\n\nb: {get_file: gone}")],
            &["Could not fetch contents for D/gone at D/y.yaml:3:15"],
        ),
        (
            &[("t.yaml", "V\na: {type: 'A::B.yaml'}")],
            &["Could not fetch contents for A::B.yaml at D/t.yaml:2:11"],
        ),
        (
            &[("t.yaml", "V\na: {get_file: ''}")],
            &["Could not fetch contents for D/ at D/t.yaml:2:15"],
        ),
        (&[], &["Could not fetch template from D/t.yaml"]),
    ] {
        assert_eq!(resolved(files), expected, "{files:?}");
    }
}

#[test]
fn a_template_that_cannot_be_read_is_refused_by_name() {
    let reported = resolved(&[("t.yaml", "a: [\n")]);
    assert!(reported[0].starts_with("Error parsing template D/t.yaml "), "{reported:?}");
}

#[test]
fn rings_of_templates_end_and_every_file_is_read_once() {
    let files =
        [("t.yaml", "V\na: {type: y.yaml}"), ("y.yaml", "V\na: [{type: t.yaml}, {type: y.yaml}]")];
    let directory = Directory::new(&files);
    let limits = FileLimits::default();
    let found = resolve_template("file:///d/t.yaml", &directory, &mut Sources::new(), &limits);
    let urls: Vec<_> = found.gathered.files.keys().collect();
    assert_eq!(urls, ["file:///d/y.yaml", "file:///d/t.yaml"]);
    assert!(directory.reads.borrow().values().all(|reads| *reads == 1));
    assert_eq!(found.gathered.files["file:///d/t.yaml"], request_text(&found.template.unwrap()));
    assert_eq!(found.gathered.documents.len(), 1);
}

#[test]
fn bytes_that_are_no_text_are_sent_in_base64() {
    let mut directory = Directory::new(&[("t.yaml", "V\na: {get_file: bin}\nb: {get_file: bom}")]);
    directory.files.insert("file:///d/bin".into(), b"\xff\xfe\x00abc".to_vec());
    directory.files.insert("file:///d/bom".into(), b"\xef\xbb\xbfabc\r\nx".to_vec());
    let limits = FileLimits::default();
    let found = resolve_template("file:///d/t.yaml", &directory, &mut Sources::new(), &limits);
    assert_eq!(found.gathered.files["file:///d/bin"], "//4AYWJj\n");
    assert_eq!(found.gathered.files["file:///d/bom"], "\u{feff}abc\r\nx");
}

#[test]
fn too_many_and_too_large_files_are_refused() {
    let names: Vec<String> = (0..20).map(|i| format!("f{i}")).collect();
    let list: Vec<String> = names.iter().map(|name| format!("{{get_file: {name}}}")).collect();
    let template = format!("V\na: [{}]", list.join(", "));
    let mut files = vec![("t.yaml", template.as_str())];
    files.extend(names.iter().map(|name| (name.as_str(), "0123456789")));
    let directory = Directory::new(&files);
    let limited = |limits: FileLimits| {
        resolve_template("file:///d/t.yaml", &directory, &mut Sources::new(), &limits).gathered
    };
    let few = limited(FileLimits { max_files: 5, ..FileLimits::default() });
    assert_eq!((few.files.len(), few.diagnostics.len()), (5, 1));
    let small = limited(FileLimits { max_file_bytes: 9, ..FileLimits::default() });
    assert!(small.files.is_empty());
    assert_eq!(small.diagnostics[0].code, &codes::TOO_LARGE);
    let together =
        limited(FileLimits { max_total_bytes: template.len() + 80, ..FileLimits::default() });
    assert!(together.files.len() < 10);
    let document = Limits { max_bytes: 10, ..Limits::default() };
    let tiny = limited(FileLimits { document, ..FileLimits::default() });
    assert_eq!(tiny.diagnostics[0].code, &codes::TOO_LARGE);
}

/// The environment and the other files as sent, or the errors.
fn environment(files: &[(&str, &str)]) -> Vec<String> {
    let (directory, mut sources) = (Directory::new(files), Sources::new());
    let limits = FileLimits::default();
    let mut gathering = Gatherer::new(&directory, &mut sources, &limits);
    let node = gathering.environment("file:///d/e.yaml");
    let gathered = gathering.finish();
    if !gathered.diagnostics.is_empty() {
        return gathered
            .diagnostics
            .iter()
            .map(|fault| fault.message.replace("file:///d", "D"))
            .collect();
    }
    assert_eq!(gathered.files["file:///d/e.yaml"], request_text(node.as_ref().unwrap()));
    let others = gathered.files.keys().filter(|url| *url != "file:///d/e.yaml").cloned();
    let mut lines = vec![request_text(&node.unwrap())];
    lines.extend(others);
    lines.into_iter().map(|line| line.replace("file:///d", "D")).collect()
}

#[test]
fn registries_are_rewritten_too() {
    for (files, expected) in [
        (
            &[
                ("e.yaml", "resource_registry: {A: 'B::C', D: y.yaml, E: sub/z.yaml, F: ~}"),
                ("y.yaml", "V\n"),
                ("sub/z.yaml", "V\nx: {get_file: q}"),
                ("sub/q", "Q"),
            ][..],
            &[
                r#"{"resource_registry": {"A": "B::C", "D": "D/y.yaml", "E": "D/sub/z.yaml", "F": null}}"#,
                "D/y.yaml",
                "D/sub/z.yaml",
                "D/sub/q",
            ][..],
        ),
        (
            &[("e.yaml", "resource_registry: {A: B}"), ("B", "x")],
            &[r#"{"resource_registry": {"A": "D/B"}}"#, "D/B"],
        ),
        (
            &[
                ("e.yaml", "resource_registry: {base_url: 'file:///d/sub', D: z.yaml}"),
                ("sub/z.yaml", "V\n"),
            ],
            &[
                r#"{"resource_registry": {"base_url": "D/sub", "D": "D/sub/z.yaml"}}"#,
                "D/sub/z.yaml",
            ],
        ),
        (
            &[
                (
                    "e.yaml",
                    "resource_registry: {resources: {a: {D: z.yaml, hooks: pre-create, restricted_actions: replace, m: {D: z.yaml}}}}",
                ),
                ("z.yaml", "V\n"),
            ],
            &[
                r#"{"resource_registry": {"resources": {"a": {"D": "D/z.yaml", "hooks": "pre-create", "restricted_actions": "replace", "m": {"D": "z.yaml"}}}}}"#,
                "D/z.yaml",
            ],
        ),
        (
            &[
                (
                    "e.yaml",
                    "resource_registry: {base_url: 'file:///d/s/', resources: {a: {D: z.yaml}, b: {base_url: 'file:///d/t/', D: z.yaml}}}",
                ),
                ("s/z.yaml", "V\n"),
                ("t/z.yaml", "V\n"),
            ],
            &[
                r#"{"resource_registry": {"base_url": "D/s/", "resources": {"a": {"D": "D/s/z.yaml"}, "b": {"base_url": "D/t/", "D": "D/t/z.yaml"}}}}"#,
                "D/s/z.yaml",
                "D/t/z.yaml",
            ],
        ),
        (
            &[("e.yaml", "parameters: {a: {get_file: q}}")],
            &[r#"{"parameters": {"a": {"get_file": "q"}}}"#],
        ),
        (&[("e.yaml", "")], &["{}"]),
        (&[("e.yaml", "resource_registry: {A: ''}")], &["Could not fetch contents for D/"]),
        (
            &[("e.yaml", "foo: 1")],
            &["Environment not in valid format: environment has wrong section \"foo\""],
        ),
        (&[], &["Could not fetch contents for D/e.yaml"]),
    ] {
        assert_eq!(environment(files), expected, "{files:?}");
    }
}

#[test]
fn a_files_content_can_be_a_parameters_value() {
    let (directory, mut sources) = (Directory::new(&[("p", "content\n")]), Sources::new());
    let limits = FileLimits::default();
    let mut gathering = Gatherer::new(&directory, &mut sources, &limits);
    assert_eq!(gathering.content("file:///d/p").as_deref(), Some("content\n"));
    assert_eq!(gathering.content("file:///d/gone"), None);
    assert_eq!(gathering.finish().diagnostics[0].code, &codes::FILE_UNREADABLE);
}

proptest! {
    #[test]
    fn no_tree_makes_gathering_panic(template in any_value(), other in any_value()) {
        let text = |value: &Value| {
            let text = print::json(value, print::Keys::Ordered);
            match text.strip_prefix('{') {
                Some("}") => r#"{"heat_template_version": 1}"#.to_owned(),
                Some(rest) => format!(r#"{{"heat_template_version": 1, {rest}"#),
                None => text,
            }
        };
        let (template, other) = (text(&template), text(&other));
        let files = [("t.yaml", template.as_str()), ("a.yaml", &other), ("type", &other), ("", &other)];
        let (directory, mut sources) = (Directory::new(&files), Sources::new());
        let limits = FileLimits::default();
        let mut gathering = Gatherer::new(&directory, &mut sources, &limits);
        gathering.template("file:///d/t.yaml");
        gathering.environment("file:///d/a.yaml");
        let gathered = gathering.finish();
        for fault in &gathered.diagnostics {
            prop_assert!(fault.span().is_none_or(|span| sources.snippet(span).is_some()));
        }
    }
}
