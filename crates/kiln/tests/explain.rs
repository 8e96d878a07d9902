//! `kiln explain`: the pages, and whether their samples do what they say.

use crate::test_directory::{TestDirectory, fails};
use serde_json::Value;
use std::path::Path;

/// Codes without samples, and why.
const NO_SAMPLE: [(&str, &str); 9] = [
    ("K0103", "half a megabyte is too long for a page"),
    ("K0104", "so are a hundred brackets"),
    ("K0305", "an update is needed"),
    ("K0407", "so are a thousand resources"),
    ("K0413", "only the API knows the cloud"),
    ("K0414", "no other value works with OpenStack"),
    ("K0902", "only requests to the API can do it"),
    ("K1101", "about files of operators, not about templates"),
    ("K1102", "about files of operators, not about templates"),
];

/// Codes that are about values, which are looked at only when they are asked for.
const NEED_VALUES: [&str; 2] = ["K0304", "K0308"];

#[test]
fn a_page_says_what_a_code_means() {
    let directory = TestDirectory::with(&[]);
    let run = directory.run(&["explain", "k0403"]);
    assert_eq!(run.status, 0);
    assert_eq!(
        run.out,
        "\
K0403: an unknown property
The API answers with the error type StackValidationFailed.

The resource's type has no property of this name at this level. Usually the name is misspelt, or it
belongs one level up or down.

Fails:

    heat_template_version: 2021-04-16
    resources:
      net:
        type: OS::Neutron::Net
        properties: {nmae: front}

Works:

    heat_template_version: 2021-04-16
    resources:
      net:
        type: OS::Neutron::Net
        properties: {name: front}
"
    );
    let all = directory.run(&["explain"]);
    assert!(all.out.starts_with("CODE   FINDING"), "{}", all.out);
    assert_eq!(all.out.lines().count(), kiln_template::codes::ALL.len() + 1);
    fails(
        &directory.run(&["explain", "K04033"]),
        "there is no code \"K04033\": did you mean `K0403`?",
    );
}

#[test]
fn samples_fail_with_their_code_and_work_when_fixed() {
    for code in kiln_template::codes::ALL {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/explain/{}.md", code.id));
        let page = std::fs::read_to_string(path).expect("a page");
        let has_sample = page.contains("```yaml fails");
        let excused = NO_SAMPLE.iter().any(|(id, _)| *id == code.id);
        assert!(has_sample != excused, "{} has no sample, or has one and is excused", code.id);
        if has_sample {
            let failing = found(code.id, &page, "fails");
            assert!(failing.contains(&code.id.to_owned()), "{}: {failing:?}", code.id);
            let working = found(code.id, &page, "works");
            assert!(working.is_empty(), "{}: {working:?}", code.id);
        }
    }
}

/// The codes that a page's samples of a role lead to.
fn found(code: &str, page: &str, role: &str) -> Vec<String> {
    let directory = TestDirectory::with(&[]);
    let mut arguments = vec!["validate", "template.yaml", "--format", "json"];
    for fenced in page.split("```yaml ").skip(1) {
        let sample = fenced.split("```").next().expect("a sample");
        let (head, text) = sample.split_once('\n').expect("a head and a text");
        let (does, file) = head.split_once(' ').unwrap_or((head, "template.yaml"));
        if does == role || does == "with" {
            directory.put(file, text.as_bytes());
            if file.starts_with("env") {
                arguments.extend(["-e", file]);
            }
        }
    }
    if NEED_VALUES.contains(&code) {
        arguments.push("--require-parameters");
    }
    let run = directory.run(&arguments);
    assert_eq!(run.err, "", "{code}");
    let verdict: Value = serde_json::from_str(&run.out).expect("JSON");
    let found = verdict["diagnostics"].as_array().expect("a list");
    found.iter().filter_map(|found| found["code"].as_str().map(str::to_owned)).collect()
}
