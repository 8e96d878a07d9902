//! Commands that list what Kiln knows, and what all commands share.

use crate::test_directory::{TestDirectory, fails};
use serde_json::Value;
use std::io::Read;

#[test]
fn versions_are_listed() {
    let directory = TestDirectory::with(&[]);
    let run = directory.run(&["template", "versions"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 14);
    assert_eq!(lines[0], "KEY                        VALUE       ALIAS    DIALECT  FUNCTIONS");
    assert_eq!(lines[1], "AWSTemplateFormatVersion   2010-09-09  -        cfn      12");
    assert_eq!(lines[13], "heat_template_version      2021-04-16  wallaby  hot      21");
    let run = directory.run(&["template", "versions", "--format", "json"]);
    let found: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(found[12]["alias"], "wallaby");
    assert_eq!(found[0]["alias"], Value::Null);
}

#[test]
fn functions_are_listed_by_version() {
    let directory = TestDirectory::with(&[]);
    let names = |arguments: &[&str]| {
        let all = [&["template", "functions", "--format", "json"], arguments].concat();
        let found: Value = serde_json::from_str(&directory.run(&all).out).expect("JSON");
        let rows = found.as_array().expect("a list").iter();
        rows.map(|row| row["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    let newest = names(&[]);
    assert!(newest.contains(&"list_concat".to_owned()) && !newest.contains(&"equals".to_owned()));
    assert_eq!(names(&["wallaby"]), newest);
    assert_eq!(names(&["heat_template_version.2021-04-16"]), newest);
    assert!(names(&["--with-conditions"]).contains(&"equals".to_owned()));
    assert!(names(&["2010-09-09"]).iter().all(|name| name == "Ref" || name.starts_with("Fn::")));
    let text = directory.run(&["template", "functions", "2013-05-23"]).out;
    assert!(
        text.contains(
            "\
get_resource         The reference of a resource, mostly the id of its object.
                     {get_resource: RESOURCE}
"
        ),
        "{text}"
    );
    fails(
        &directory.run(&["template", "functions", "2021-04-61"]),
        "there is no template version \"2021-04-61\": did you mean `2021-04-16`?",
    );
    fails(
        &directory.run(&["template", "functions", "x"]),
        "there is no template version \"x\": `kiln template versions` lists them",
    );
}

#[test]
fn shells_get_their_scripts() {
    let directory = TestDirectory::with(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = directory.run(&["completions", shell]);
        assert_eq!(run.status, 0);
        assert!(run.out.contains("require-parameters"), "{shell}");
    }
    assert_eq!(directory.run(&["completions", "cobol"]).status, 2);
}

#[test]
fn help_and_version_are_there() {
    let directory = TestDirectory::with(&[]);
    let version = directory.run(&["--version"]);
    assert_eq!(version.out, format!("kiln {}\n", env!("CARGO_PKG_VERSION")));
    for arguments in [
        &["help"][..],
        &["help", "validate"],
        &["--help"],
        &["template", "graph", "--help"],
        &["help", "template", "functions"],
        &["yaql", "-h"],
    ] {
        let run = directory.run(arguments);
        assert_eq!((run.status, &*run.err), (0, ""), "{arguments:?}");
        assert!(run.out.contains("Usage: kiln"), "{arguments:?}");
    }
    let unknown = directory.run(&["validte"]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.err.contains("'validate'"), "{}", unknown.err);
    assert_eq!(directory.run(&[]).status, 2);
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let many: String = (0..900).map(|n| format!("  r{n}: {{type: No::Such}}\n")).collect();
    let text = format!("heat_template_version: 2021-04-16\nresources:\n{many}");
    let directory = TestDirectory::with(&[("t.yaml", &text)]);
    for (arguments, status) in [
        (&["template", "functions"][..], 0),
        (&["completions", "bash"], 0),
        (&["explain"], 0),
        (&["validate", "--format", "json", "t.yaml"], 1),
    ] {
        let mut child = directory.command(arguments).spawn().expect("the program");
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().expect("errors").read_to_string(&mut err).expect("text");
        assert_eq!(
            (child.wait().expect("an end").code(), &*err),
            (Some(status), ""),
            "{arguments:?}"
        );
    }
}
