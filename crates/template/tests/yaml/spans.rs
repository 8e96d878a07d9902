//! Where nodes and keys stand.

use kiln_template::document::{Data, Node};
use kiln_template::{Limits, Sources, yaml};

/// Every node and key with the text it was read from, keys with a colon.
fn spans(text: &str) -> Vec<String> {
    fn walk(node: &Node, sources: &Sources, parts_present: &mut Vec<String>) {
        parts_present.push(sources.snippet(node.span).unwrap().to_owned());
        match &node.data {
            Data::List(items) => items.iter().for_each(|item| walk(item, sources, parts_present)),
            Data::Map(map) => {
                for entry in map {
                    parts_present.push(format!("{}:", sources.snippet(entry.key_span).unwrap()));
                    walk(&entry.value, sources, parts_present);
                }
            }
            _ => {}
        }
    }
    let mut sources = Sources::new();
    let file = sources.add("case", text);
    let (node, findings) = yaml::read(file, text, &Limits::default());
    let mut parts_present = Vec::new();
    walk(&node.unwrap_or_else(|| panic!("{findings:?}")), &sources, &mut parts_present);
    parts_present
}

#[test]
fn scalars_span_their_text_with_its_quotes() {
    assert_eq!(spans("é: \"ü\"  # c\n"), ["é: \"ü\"", "é:", "\"ü\""]);
    assert_eq!(spans("- 'it''s'\n- a b\n"), ["- 'it''s'\n- a b", "'it''s'", "a b"]);
    assert_eq!(spans("a: x\n  y\n"), ["a: x\n  y", "a:", "x\n  y"]);
    assert_eq!(spans("a: |\n  x\n  y\n\nb: 1\n")[2], "|\n  x\n  y");
}

#[test]
fn collections_span_from_their_first_to_their_last_character() {
    assert_eq!(spans("a: [ 1, {b: 2} ] # c\n")[2], "[ 1, {b: 2} ]");
    assert_eq!(spans("a:\n  b: 1\n\n# c\nd: 2\n")[2], "b: 1");
    assert_eq!(spans("a:\n- 1\n- 2\n\nd: 2\n")[2], "- 1\n- 2");
    assert_eq!(spans("a:\n  b:\nc: 1\n")[2], "b:");
}

#[test]
fn what_is_missing_has_an_empty_span_where_it_would_stand() {
    assert_eq!(spans("a:\nb: 1\n"), ["a:\nb: 1", "a:", "", "b:", "1"]);
}

#[test]
fn anchors_and_tags_are_no_part_of_a_span() {
    assert_eq!(spans("a: &x !!str 1\n")[2], "1");
    assert_eq!(spans("a: &x\n  b: 1\n")[2], "b: 1");
}

#[test]
fn an_alias_has_its_own_span_and_members_with_those_of_the_anchor() {
    assert_eq!(spans("- &x [a]\n- *x\n"), ["- &x [a]\n- *x", "[a]", "a", "*x", "a"]);
}

#[test]
fn merged_members_keep_their_places_until_replaced() {
    let text = "a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  'x': 3\n";
    assert_eq!(spans(text)[7..], ["b:", "<<: *a\n  'x': 3", "'x':", "3", "y:", "2"]);
}
