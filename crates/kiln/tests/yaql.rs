//! `kiln yaql`.

use crate::test_directory::{TestDirectory, fails, prints};

const VOLUMES: &str = "[{name: small, size: 5}, {name: größer, size: 15}]\n";

#[test]
fn results_are_printed_as_compact_json() {
    let directory = TestDirectory::with(&[("v.yaml", VOLUMES)]);
    for (arguments, expected) in [
        (&["1 + 1"][..], "2\n"),
        (&["$"], "null\n"),
        (&["-1"], "-1\n"),
        (&["$.where($.size > 10).select($.name)", "--data", "v.yaml"], "[\"größer\"]\n"),
        (&["$.data.len()", "--as-template", "--data", "v.yaml"], "2\n"),
        (&["{a => [1, 2.0], b => 'x\"\n'}"], "{\"a\":[1,2.0],\"b\":\"x\\\"\\n\"}\n"),
        (&["12345678901234567890123 + 1"], "12345678901234567890124\n"),
        (&["random() < 1 and now().year > 2000"], "true\n"),
        (&["range(300).len()", "--limit-iterators", "300"], "300\n"),
        (&["('a' * 20000).len()", "--memory-quota", "100000"], "20000\n"),
    ] {
        prints(&directory.run(&[&["yaql"], arguments].concat()), 0, expected);
    }
    let piped = directory.run_with(&["yaql", "$.sum()", "--data", "-"], b"[1, 2, 3]");
    prints(&piped, 0, "6\n");
}

#[test]
fn errors_point_into_the_expression() {
    let directory = TestDirectory::with(&[("v.yaml", VOLUMES)]);
    for (arguments, expected) in [
        (
            &["'é' + $.lenn()", "--data", "v.yaml"][..],
            "\
error[K0704]: Unknown method \"lenn\" for receiver ({'name': 'small', 'size': 5}, {'name': 'größer', 'size': 15})
 --> expression:1:7
  |
1 | 'é' + $.lenn()
  |       ^^^^^^^^
  |
  = help: did you mean `len`?
",
        ),
        (
            &["1 +"],
            "\
error[K0704]: Parse error: unexpected end of statement
 --> expression:1:4
  |
1 | 1 +
  |    ^
",
        ),
        (
            &["1 $ 2"],
            "\
error[K0704]: Parse error: unexpected '$' at position 2 of expression '1 $ 2'
 --> expression:1:3
  |
1 | 1 $ 2
  |   ^
",
        ),
        (
            &["range(9).toList()", "--limit-iterators", "5"],
            "\
error[K0704]: Collection length exceeds 5 elements
 --> expression:1:1
  |
1 | range(9).toList()
  | ^^^^^^^^^^^^^^^^^
  |
  = help: --limit-iterators allows more
",
        ),
        (
            &["'a' * 30", "--memory-quota", "60"],
            "\
error[K0704]: Expression consumed too much memory
 --> expression:1:1
  |
1 | 'a' * 30
  | ^^^^^^^^
  |
  = help: --memory-quota allows more than 60 bytes
",
        ),
        (&["timespan(days => 1)"], "error[K0704]: A timespan cannot be part of a result\n"),
    ] {
        let run = directory.run(&[&["yaql"], arguments].concat());
        assert_eq!((run.status, &*run.out, &*run.err), (1, "", expected));
    }
}

#[test]
fn data_must_be_readable() {
    let directory = TestDirectory::with(&[("bad.yaml", "a: [1\nb: 2\n")]);
    directory.put("garbage", b"\xff\xff\xff");
    fails(
        &directory.run(&["yaql", "$", "--data", "gone"]),
        "cannot read gone: No such file or directory",
    );
    let bad = directory.run(&["yaql", "$", "--data", "bad.yaml"]);
    assert_eq!((bad.status, &*bad.out), (1, ""));
    assert!(bad.err.contains("--> bad.yaml:2:"), "{}", bad.err);
    let garbage = directory.run(&["yaql", "$", "--data", "garbage"]);
    assert_eq!(garbage.status, 1);
    assert_eq!(garbage.err, "error[K0101]: the byte 0xFF at offset 0 is not UTF-8\n");
}

#[test]
fn hostile_queries_end() {
    let directory = TestDirectory::with(&[]);
    let long = "(".repeat(100_000);
    for expression in [
        &*long,
        "range(1000000000).where($ < 0).len()",
        "[1, 2].select(range(100000).select($ * 2).sum()).sum()",
        "'a'.replace('a', 'aa' * 4000).replace('a', 'aa' * 4000)",
    ] {
        let run = directory.run(&["yaql", expression]);
        assert_eq!((run.status, &*run.out), (1, ""), "{}", run.err);
        assert!(run.err.starts_with("error[K0704]: ") && run.err.len() < 10_000);
    }
}
