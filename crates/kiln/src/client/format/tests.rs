//! Lists and details in every format. The expected texts were recorded from the reference client.

use super::options::{Columns, Layout, ListFormat, Screen, ShowArgs, ShowFormat};
use super::{Cell, Details, Listing, raw};
use serde_json::{Value, json};

fn things() -> Listing {
    let rows = [
        json!(["x", 1, null]),
        json!(["longer é 中文", 22, {"k": [1, null, true], "e": "é"}]),
        json!(["two\nlines\r\nthree\rx", 3, [1.5, "a\"b", "it's"]]),
        json!(["", 4, false]),
    ];
    let row = |row: &Value| row.as_array().unwrap().iter().cloned().map(Cell::from).collect();
    Listing {
        columns: ["A", "B col", "C"].map(str::to_owned).into(),
        rows: rows.iter().map(row).collect(),
    }
}

fn listed(listing: Listing, form: ListFormat, options: &Columns) -> String {
    listing.render(form, options, &Screen::default()).unwrap()
}

#[test]
fn a_table_has_borders_and_numbers_at_the_right() {
    assert_eq!(
        listed(things(), ListFormat::Table, &Columns::default()),
        "\
+---------------+-------+----------------------------------+
| A             | B col | C                                |
+---------------+-------+----------------------------------+
| x             |     1 | None                             |
| longer é 中文 |    22 | {'k': [1, None, True], 'e': 'é'} |
| two           |     3 | [1.5, 'a\"b', \"it's\"]             |
| lines         |       |                                  |
| three x       |       |                                  |
|               |     4 | False                            |
+---------------+-------+----------------------------------+
"
    );
}

#[test]
fn programs_get_values_they_can_read() {
    assert_eq!(
        listed(things(), ListFormat::Value, &Columns::default()),
        "x 1 None\nlonger é 中文 22 {\"k\": [1, null, true], \"e\": \"\\u00e9\"}\n\
         two\nlines\r\nthree\rx 3 [1.5, \"a\\\"b\", \"it's\"]\n 4 False\n"
    );
    let noindent =
        Columns { layout: Layout { noindent: true, ..Layout::default() }, ..Columns::default() };
    assert_eq!(
        listed(
            Listing { rows: things().rows[..1].into(), ..things() },
            ListFormat::Json,
            &noindent
        ),
        "[{\"A\": \"x\", \"B col\": 1, \"C\": null}]\n"
    );
    assert_eq!(
        listed(
            Listing { rows: things().rows[..2].into(), ..things() },
            ListFormat::Yaml,
            &Columns::default()
        ),
        "- A: x\n  B col: 1\n  C: null\n- A: \"longer \\xE9 \\u4E2D\\u6587\"\n  B col: 22\n  C:\n    \
         e: \"\\xE9\"\n    k:\n    - 1\n    - null\n    - true\n"
    );
}

#[test]
fn nothing_looks_like_nothing() {
    let empty = || Listing { rows: Vec::new(), ..things() };
    for (form, text) in [
        (ListFormat::Table, "\n"),
        (ListFormat::Csv, "\"A\",\"B col\",\"C\"\n"),
        (ListFormat::Json, "[]\n"),
        (ListFormat::Value, ""),
        (ListFormat::Yaml, "[]\n"),
    ] {
        assert_eq!(listed(empty(), form, &Columns::default()), text, "{form:?}");
    }
    let drawn =
        Columns { layout: Layout { print_empty: true, ..Layout::default() }, ..Columns::default() };
    assert_eq!(
        listed(empty(), ListFormat::Table, &drawn),
        "+---+-------+---+\n| A | B col | C |\n+---+-------+---+\n+---+-------+---+\n"
    );
}

#[test]
fn columns_are_picked_and_rows_sorted() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let picked = Columns {
        names: names(&["C", "Nope", "A"]),
        sort_columns: names(&["B col"]),
        descending: true,
        ..Columns::default()
    };
    assert_eq!(
        listed(Listing { rows: things().rows[..2].into(), ..things() }, ListFormat::Csv, &picked),
        "\"A\",\"C\"\n\"longer é 中文\",\"{'k': [1, None, True], 'e': 'é'}\"\n\"x\",\"\"\n"
    );
    let unknown = Columns { names: names(&["Nope"]), ..Columns::default() };
    let problem = things().render(ListFormat::Table, &unknown, &Screen::default()).unwrap_err();
    assert_eq!(
        problem.text,
        "No recognized column names in ['Nope']. Recognized columns are ['A', 'B col', 'C']."
    );
}

#[test]
fn a_table_is_folded_into_the_width() {
    let listing = Listing {
        columns: ["Identifier", "Description", "Status"].map(str::to_owned).into(),
        rows: vec![
            vec![
                "a656be17-f1b1-45b0-a670-a6b87e8cde26".into(),
                "One random string and a value derived-from it, with-hyphens-in it".into(),
                "OK".into(),
            ],
            vec!["short".into(), "".into(), "FAILED".into()],
        ],
    };
    let wide = |columns: usize| {
        let layout = Layout { max_width: Some(columns), ..Layout::default() };
        listed(listing.clone(), ListFormat::Table, &Columns { layout, ..Columns::default() })
    };
    assert_eq!(
        wide(40),
        "\
+--------------+--------------+--------+
| Identifier   | Description  | Status |
+--------------+--------------+--------+
| a656be17-    | One random   | OK     |
| f1b1-45b0-   | string and a |        |
| a670-        | value        |        |
| a6b87e8cde26 | derived-from |        |
|              | it, with-    |        |
|              | hyphens-in   |        |
|              | it           |        |
| short        |              | FAILED |
+--------------+--------------+--------+
"
    );
    // No column becomes narrower than its name.
    assert_eq!(wide(20), wide(30));
    let fitted =
        Columns { layout: Layout { fit_width: true, ..Layout::default() }, ..Columns::default() };
    let screen = |columns| Screen { columns, ..Screen::default() };
    let on = |screen: Screen| listing.clone().render(ListFormat::Table, &fitted, &screen).unwrap();
    assert_eq!(on(screen(Some(40))), wide(40));
    assert_eq!(on(screen(None)), wide(0));
}

#[test]
fn one_thing_is_shown_field_by_field() {
    let fields = [
        ("a", json!("v")),
        ("B:c d", json!(null)),
        ("tags", json!(["x", {"y": 1}])),
        ("q", json!("he said \"hi\" $x `y` \\")),
        ("t", json!(true)),
        ("f", json!(1.0)),
    ];
    let details =
        Details { fields: fields.map(|(name, value)| (name.to_owned(), value.into())).into() };
    let shown = |form| {
        let options = ShowArgs { form: Some(form), prefix: "p_".into(), ..ShowArgs::default() };
        details.clone().render(&options, ShowFormat::Table, &Screen::default()).unwrap()
    };
    assert_eq!(
        shown(ShowFormat::Table),
        "\
+-------+-----------------------+
| Field | Value                 |
+-------+-----------------------+
| a     | v                     |
| B:c d | None                  |
| tags  | ['x', {'y': 1}]       |
| q     | he said \"hi\" $x `y` \\ |
| t     | True                  |
| f     | 1.0                   |
+-------+-----------------------+
"
    );
    // Evaluating the output in a shell must not run anything.
    assert_eq!(
        shown(ShowFormat::Shell),
        "p_a=\"v\"\np_b_c_d=\"None\"\np_tags=\"[\\\"x\\\", {\\\"y\\\": 1}]\"\n\
         p_q=\"he said \\\"hi\\\" \\$x \\`y\\` \\\\\"\np_t=\"True\"\np_f=\"1.0\"\n"
    );
    assert_eq!(
        shown(ShowFormat::Value),
        "v\nNone\n[\"x\", {\"y\": 1}]\nhe said \"hi\" $x `y` \\\nTrue\n1.0\n"
    );
    assert_eq!(
        shown(ShowFormat::Yaml),
        "a: v\nB:c d: null\ntags:\n- x\n- y: 1\nq: he said \"hi\" $x `y` \\\nt: true\nf: 1.0\n"
    );
}

#[test]
fn cells_may_look_other_than_they_are() {
    let cells = [
        ("yaml", Cell::yaml(json!({"b": [], "a": 1}))),
        ("word", Cell::yaml(json!("x"))),
        ("json", Cell::json(json!([1, "é"]))),
    ];
    let details = Details { fields: cells.map(|(name, cell)| (name.to_owned(), cell)).into() };
    let options = ShowArgs::default();
    assert_eq!(
        details.render(&options, ShowFormat::Table, &Screen::default()).unwrap(),
        "\
+-------+-------+
| Field | Value |
+-------+-------+
| yaml  | a: 1  |
|       | b: [] |
|       |       |
| word  | x     |
|       |       |
| json  | [     |
|       |   1,  |
|       |   \"é\" |
|       | ]     |
+-------+-------+
"
    );
}

#[test]
fn answers_cannot_steer_a_terminal() {
    let details = Details { fields: vec![("a".into(), "x\u{1b}[31m\ty".into())] };
    let table =
        details.render(&ShowArgs::default(), ShowFormat::Table, &Screen::default()).unwrap();
    assert!(table.contains("| x\\u{1b}[31m  y |"), "{table}");
}

#[test]
fn documents_come_whole_whatever_columns_are_named() {
    let options = ShowArgs { columns: vec!["a".into()], ..ShowArgs::default() };
    let shown = |document: Value, default| raw(&document, &options, default, &Screen::default());
    assert_eq!(
        shown(json!({"b": {"z": 1, "y": 2}, "a": 1}), ShowFormat::Yaml),
        "b:\n  y: 2\n  z: 1\na: 1\n"
    );
    assert_eq!(shown(json!({}), ShowFormat::Yaml), "");
    assert_eq!(shown(json!({}), ShowFormat::Json), "{}\n");
    assert_eq!(shown(json!([1]), ShowFormat::Json), "[\n  1\n]\n");
}
