//! Hostile input is refused, without a crash and without a wait.

use crate::test_directory::{TestDirectory, prints};

/// The codes of the findings, each once.
fn codes(directory: &TestDirectory, arguments: &[&str]) -> (i32, Vec<String>) {
    let run = directory.run(&[&["validate", "--format", "json"], arguments].concat());
    assert_eq!(run.err, "");
    let found: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    let found = found["diagnostics"].as_array().expect("a list");
    let mut codes: Vec<String> =
        found.iter().filter_map(|found| found["code"].as_str().map(str::to_owned)).collect();
    codes.dedup();
    (run.status, codes)
}

#[test]
fn garbage_and_nothing_are_refused() {
    let directory = TestDirectory::with(&[("empty", "")]);
    let garbage: Vec<u8> =
        (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    directory.put("garbage", &garbage);
    directory.put("nul", &[0; 1000]);
    directory.put("latin", b"description: caf\xe9\n");
    assert_eq!(codes(&directory, &["garbage"]), (1, vec!["K0101".into()]));
    assert_eq!(codes(&directory, &["nul"]), (1, vec!["K0101".into()]));
    assert_eq!(codes(&directory, &["latin"]), (1, vec!["K0101".into()]));
    assert_eq!(directory.run(&["validate", "garbage"]).status, 1);
    prints(
        &directory.run(&["validate", "empty"]),
        1,
        "\
error[K0201]: Template not in valid format: Template format version not found.
 --> empty:1:1
  |
1 |
  | ^
  |
  = help: begin with `heat_template_version: 2021-04-16`

empty: 1 error
",
    );
}

#[test]
fn text_above_the_limit_is_refused() {
    let directory = TestDirectory::with(&[]);
    directory.put("big.yaml", format!("x: {}\n", "a".repeat(524_288)).as_bytes());
    assert_eq!(codes(&directory, &["big.yaml"]), (1, vec!["K0103".into()]));
    directory.put("t.yaml", b"heat_template_version: 2021-04-16\n");
    assert_eq!(codes(&directory, &["t.yaml", "-e", "big.yaml"]), (1, vec!["K0103".into()]));
}

#[test]
fn large_input_of_any_shape_is_answered() {
    let directory = TestDirectory::with(&[]);
    let full = |unit: &str| unit.repeat(524_000 / unit.len());
    let version = "heat_template_version: 2021-04-16\n";
    let inside = |before: &str, unit: &str, behind: &str| {
        let many: String = (0..150_000 / (unit.len() + 5))
            .map(|n| unit.replacen("{}", &n.to_string(), 1))
            .collect();
        [version, before, &many, behind].concat()
    };
    for (name, text) in [
        ("anchors", full("&a ")),
        ("braces", full("{a: ")),
        ("brackets", full("[")),
        ("dashes", full("- ")),
        ("dependencies", inside("resources: {a: {type: A::B, depends_on: [", "x{}, ", "]}}\n")),
        ("duplicates", full("a: 1\n")),
        ("functions", inside("outputs: {a: {value: [", "{get_attr: {}}, ", "]}}\n")),
        ("keys", full("? ")),
        ("lines", full("\n")),
        ("quotes", full("'")),
        ("resources", inside("resources: {", "r{}: {type: A::B}, ", "}\n")),
        ("sections", inside("", "s{}: 1\n", "")),
        ("stars", full("*a ")),
        ("tabs", full("\t")),
        ("wide", full("界")),
    ] {
        directory.put(name, text.as_bytes());
        let run = directory.run(&["validate", name]);
        assert_eq!((run.status, &*run.err), (1, ""), "{name}");
        assert!(run.out.len() < 200_000, "{name}: {}", run.out.len());
    }
}

#[test]
fn names_from_a_template_cannot_steer_the_terminal() {
    let directory = TestDirectory::with(&[(
        "t.yaml",
        "heat_template_version: 2021-04-16\nresources:\n  \"a\\e[31m\": {type: \"No\\e[2J::X\"}\n",
    )]);
    for arguments in [&["validate", "t.yaml"][..], &["template", "graph", "t.yaml"]] {
        let run = directory.run(arguments);
        assert!(!run.out.contains('\x1b') && !run.err.contains('\x1b'), "{}{}", run.out, run.err);
    }
}
