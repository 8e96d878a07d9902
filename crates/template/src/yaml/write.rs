//! YAML in the layout of PyYAML or of libyaml: block style, lines folded after 80 columns, characters beyond ASCII
//! as escapes.
//!
//! Scripts compare this output, templates are stored in it, and servers receive it, so the layout matches exactly.
//! Secrets stay hidden, as in [`crate::print`].

use crate::print::{HIDDEN, Keys};
use crate::value::{Members, Value};
use fancy_regex::Regex;
use kiln_yaql::python;
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

/// Lines are folded at the first opportunity after this column.
const WIDTH: usize = 80;

/// The library whose layout is written. They differ in long and empty keys, in folded text with escapes, and in the
/// end of a document that is a single scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emitter {
    /// PyYAML's own emitter, which the clients use.
    PyYaml,
    /// libyaml, which Heat uses through PyYAML.
    LibYaml,
}

/// Writes a value as a YAML document that ends in a line feed. `top` is the order of the keys of the outermost map;
/// inner maps are always sorted.
pub fn write(value: &Value, emitter: Emitter, top: Keys) -> String {
    let mut writer = Writer { out: String::new(), column: 0, emitter };
    match value {
        Value::List(items) if !items.is_empty() => writer.list(items, 0),
        Value::Map(members) if !members.is_empty() => {
            writer.members(&in_order(members, top), 0);
        }
        value => {
            let is_plain = writer.scalar(value, 2);
            writer.line_break();
            if is_plain && emitter == Emitter::PyYaml {
                writer.put("...\n");
            }
        }
    }
    writer.out
}

/// The members of a map in the order in which they are written.
fn in_order(members: &Members, keys: Keys) -> Vec<(&Arc<str>, &Value)> {
    let mut members: Vec<_> = members.iter().collect();
    if keys == Keys::Sorted {
        members.sort_by_key(|(key, _)| *key);
    }
    members
}

impl Emitter {
    /// Whether a key fits before its colon; others are written on their own line, after a question mark. The
    /// limit of both libraries is 128, but PyYAML counts characters and the tag of the key, and libyaml bytes.
    fn is_simple(self, key: &str) -> bool {
        let fits = match self {
            Emitter::PyYaml => (1..=122).contains(&key.chars().count()),
            Emitter::LibYaml => key.len() <= 128,
        };
        fits && !key.contains(is_break)
    }
}

/// The text so far, and the length of its last line.
struct Writer {
    out: String,
    column: usize,
    emitter: Emitter,
}

impl Writer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn line_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    fn indent(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column += indent;
    }

    /// Writes members at an indent; the first one begins at the end of the current line.
    fn members(&mut self, members: &[(&Arc<str>, &Value)], indent: usize) {
        for (at, (key, value)) in members.iter().enumerate() {
            if at > 0 {
                self.indent(indent);
            }
            if self.emitter.is_simple(key) {
                self.text(key, indent + 2, true);
                self.put(":");
                self.value(value, indent);
                continue;
            }
            self.put("? ");
            self.text(key, indent + 2, false);
            self.line_break();
            self.indent(indent);
            self.put(":");
            self.item(value, indent);
        }
    }

    /// Writes items at an indent; the first one begins at the end of the current line.
    fn list(&mut self, items: &[Value], indent: usize) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.indent(indent);
            }
            self.put("-");
            self.item(item, indent);
        }
    }

    /// Writes a value after an indicator that begins a line.
    fn item(&mut self, item: &Value, indent: usize) {
        self.put(" ");
        match item {
            Value::List(items) if !items.is_empty() => self.list(items, indent + 2),
            Value::Map(members) if !members.is_empty() => {
                self.members(&in_order(members, Keys::Sorted), indent + 2);
            }
            scalar => {
                self.scalar(scalar, indent + 2);
                self.line_break();
            }
        }
    }

    /// Writes the value of a key. Lists stand below their key without being indented.
    fn value(&mut self, value: &Value, indent: usize) {
        match value {
            Value::List(items) if !items.is_empty() => {
                self.line_break();
                self.indent(indent);
                self.list(items, indent);
            }
            Value::Map(members) if !members.is_empty() => {
                self.line_break();
                self.indent(indent + 2);
                self.members(&in_order(members, Keys::Sorted), indent + 2);
            }
            scalar => {
                self.put(" ");
                self.scalar(scalar, indent + 2);
                self.line_break();
            }
        }
    }

    /// Writes a scalar or an empty collection; returns whether it is plain text that needs a document end.
    fn scalar(&mut self, value: &Value, indent: usize) -> bool {
        match value {
            Value::Null | Value::Unknown(_) => self.put("null"),
            Value::Bool(flag) => self.put(if *flag { "true" } else { "false" }),
            Value::Int(number) => self.put(&number.to_string()),
            Value::Float(number) => self.put(&float(*number)),
            Value::Text(text) => return self.text(text, indent, false),
            Value::Secret(_) => return self.text(HIDDEN, indent, false),
            Value::List(_) => {
                self.put("[]");
                return false;
            }
            Value::Map(_) => {
                self.put("{}");
                return false;
            }
        }
        true
    }

    /// Writes text in the simplest style that reads back as the same text; returns whether that is plain.
    fn text(&mut self, text: &str, indent: usize, is_key: bool) -> bool {
        let styles = TextStyles::of(text);
        let fits_line = !(is_key && styles.has_breaks);
        if styles.plain && fits_line && !reads_as_other(text) {
            self.folded(text, indent, is_key, Quote::None);
            return true;
        }
        if styles.single_quoted && fits_line {
            self.put("'");
            self.folded(text, indent, is_key, Quote::Single);
            self.put("'");
        } else {
            self.put("\"");
            match self.emitter {
                Emitter::PyYaml => self.escaped_as_pyyaml(text, indent, is_key),
                Emitter::LibYaml => self.escaped_as_libyaml(text, indent, is_key),
            }
            self.put("\"");
        }
        false
    }

    /// Writes text without escapes: a single space may become a line break, a line feed two of them.
    fn folded(&mut self, text: &str, indent: usize, is_key: bool, quote: Quote) {
        let mut rest = text;
        while !rest.is_empty() {
            let kind = Run::of(rest);
            let length = rest.find(|c| Run::of_char(c) != kind).unwrap_or(rest.len());
            let (run, after) = rest.split_at(length);
            let is_inside = rest.len() < text.len() && !after.is_empty();
            match kind {
                Run::Blanks => {
                    let may_fold = is_inside || quote == Quote::None;
                    if run.len() == 1 && self.column > WIDTH && !is_key && may_fold {
                        self.line_break();
                        self.indent(indent);
                    } else {
                        self.put(run);
                    }
                }
                Run::Breaks => {
                    for _ in 0..=run.len() {
                        self.line_break();
                    }
                    self.indent(indent);
                }
                Run::Words if quote == Quote::Single => self.put(&run.replace('\'', "''")),
                Run::Words => self.put(run),
            }
            rest = after;
        }
    }

    /// Writes text with escapes; a long line ends with a backslash at the first opportunity.
    fn escaped_as_pyyaml(&mut self, text: &str, indent: usize, is_key: bool) {
        let chars: Vec<char> = text.chars().collect();
        // The start of the text that is not written yet.
        let mut start = 0;
        for end in 0..=chars.len() {
            let next = chars.get(end).copied();
            if next.is_none_or(needs_escape) {
                self.put(&chars[start..end].iter().collect::<String>());
                start = end;
                if let Some(c) = next {
                    self.put(&escape(c));
                    start += 1;
                }
            }
            let may_fold = 0 < end && end + 1 < chars.len() && !is_key;
            let is_long = self.column + end > WIDTH + start;
            if may_fold && is_long && (next == Some(' ') || start >= end) {
                if start < end {
                    self.put(&chars[start..end].iter().collect::<String>());
                    start = end;
                }
                self.put("\\");
                self.line_break();
                self.indent(indent);
                if chars.get(start) == Some(&' ') {
                    self.put("\\");
                }
            }
        }
    }

    /// Writes text with escapes; the first space of a run becomes a line break in a long line.
    fn escaped_as_libyaml(&mut self, text: &str, indent: usize, is_key: bool) {
        let mut chars = text.chars().enumerate().peekable();
        let mut before = None;
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            let may_fold = at > 0 && next.is_some() && before != Some(' ') && !is_key;
            if c == ' ' && may_fold && self.column > WIDTH {
                self.line_break();
                self.indent(indent);
                if next == Some(' ') {
                    self.put("\\");
                }
            } else if needs_escape(c) {
                self.put(&escape(c));
            } else {
                self.put(c.encode_utf8(&mut [0; 4]));
            }
            before = Some(c);
        }
    }
}

/// The quotes around text without escapes.
#[derive(Clone, Copy, PartialEq)]
enum Quote {
    None,
    Single,
}

/// Characters in a row that are folded alike.
#[derive(Clone, Copy, PartialEq)]
enum Run {
    Blanks,
    Breaks,
    Words,
}

impl Run {
    fn of(text: &str) -> Run {
        text.chars().next().map_or(Run::Words, Run::of_char)
    }

    fn of_char(c: char) -> Run {
        match c {
            ' ' => Run::Blanks,
            '\n' => Run::Breaks,
            _ => Run::Words,
        }
    }
}

/// A float; one without a point before its exponent gets one, or it would read back as text.
fn float(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let written = python::float(number);
    if written.contains('.') { written } else { written.replacen('e', ".0e", 1) }
}

/// Whether a character is written as an escape in double quotes.
fn needs_escape(c: char) -> bool {
    !matches!(c, ' '..='~') || matches!(c, '"' | '\\')
}

fn escape(c: char) -> String {
    let short = match c {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' | '\\' => c,
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let (code, mut out) = (c as u32, String::new());
            _ = match code {
                0..=0xff => write!(out, "\\x{code:02X}"),
                0x100..=0xffff => write!(out, "\\u{code:04X}"),
                _ => write!(out, "\\U{code:08X}"),
            };
            return out;
        }
    };
    format!("\\{short}")
}

/// The styles in which a text can be written.
struct TextStyles {
    has_breaks: bool,
    plain: bool,
    single_quoted: bool,
}

impl TextStyles {
    fn of(text: &str) -> TextStyles {
        let has_breaks = text.contains('\n');
        let has_special = text.chars().any(|c| c != '\n' && !matches!(c, ' '..='~'));
        let outer = [text.chars().next(), text.chars().next_back()];
        let open_ends = outer.iter().flatten().any(|c| matches!(c, ' ' | '\n'));
        let unquotable = has_special || text.contains(" \n") || text.contains("\n ");
        TextStyles {
            has_breaks,
            plain: !has_breaks && !open_ends && !unquotable && !has_syntax(text),
            single_quoted: !unquotable,
        }
    }
}

/// Whether YAML takes a character for a line break.
fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether plain text would contain YAML syntax.
fn has_syntax(text: &str) -> bool {
    let first_alone = matches!(text.chars().nth(1), None | Some(' '));
    let by_start = match text.chars().next() {
        Some('?' | ':' | '-') => first_alone,
        Some(c) => "#,[]{}&*!|>'\"%@`".contains(c),
        None => false,
    };
    by_start
        || text.starts_with("---")
        || text.starts_with("...")
        || text.contains(": ")
        || text.ends_with(':')
        || text.contains(" #")
}

/// Whether plain text would read back as something other than text: a number, a date, `yes`.
fn reads_as_other(text: &str) -> bool {
    /// The plain scalars of YAML 1.1: null, booleans, integers, floats, dates, and special keys.
    const OTHERS: &str = r"(?x) \A (?:
        ~ | null | Null | NULL | << | = | [!&*]
        | yes | Yes | YES | no | No | NO | true | True | TRUE | false | False | FALSE
        | on | On | ON | off | Off | OFF
        | [-+]? (?: 0b[01_]+ | 0[0-7_]+ | 0 | [1-9][0-9_]* (?: :[0-5]?[0-9] )* | 0x[0-9a-fA-F_]+ )
        | [-+]? [0-9][0-9_]* \. [0-9_]* (?: [eE][-+][0-9]+ )?
        | \. [0-9][0-9_]* (?: [eE][-+][0-9]+ )?
        | [-+]? [0-9][0-9_]* (?: :[0-5]?[0-9] )+ \. [0-9_]*
        | [-+]? \. (?: inf | Inf | INF ) | \. (?: nan | NaN | NAN )
        | [0-9]{4}-[0-9]{2}-[0-9]{2}
        | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2} (?: [Tt] | [\ \t]+ ) [0-9]{1,2}:[0-9]{2}:[0-9]{2}
            (?: \.[0-9]* )? (?: [\ \t]* (?: Z | [-+][0-9]{1,2} (?: :?[0-9]{2} )? ) )?
        ) \z";
    static OTHER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(OTHERS).ok());
    if text.is_empty() {
        return true;
    }
    // Most texts begin with a letter that none of these begins with.
    let may_be =
        text.starts_with(|c: char| "~nN<=!&*yYtTfFoO-+.".contains(c) || c.is_ascii_digit());
    may_be && OTHER.as_ref().is_none_or(|other| other.is_match(text).unwrap_or(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Secret, Unknown};
    use serde_json::json;

    /// A document in the layout of PyYAML.
    fn py(value: serde_json::Value) -> String {
        write(&Value::from(&value), Emitter::PyYaml, Keys::Sorted)
    }

    /// A document in the layout of libyaml.
    fn lib(value: serde_json::Value) -> String {
        write(&Value::from(&value), Emitter::LibYaml, Keys::Sorted)
    }

    #[test]
    fn text_is_bare_if_it_reads_back_as_text() {
        for text in [
            "a",
            "0o7",
            "1e3",
            "-a",
            "?b",
            "a:b",
            "a#b",
            "it's",
            "\\",
            "OS::Heat::Value",
            "http://x/y?z=1#f",
            "2020-1-1",
            "y",
            "N",
            "+1-2",
        ] {
            assert_eq!(py(json!({ "k": text })), format!("k: {text}\n"));
        }
        for text in [
            "",
            "yes",
            "No",
            "null",
            "~",
            "1",
            "0x1F",
            "1_000",
            "1:30",
            ".5",
            "1.5e+3",
            ".inf",
            "2020-01-01",
            "2026-11-15T19:11:02Z",
            "<<",
            "=",
            "-",
            "- a",
            "? b",
            ": c",
            "a: b",
            "a:",
            "a #b",
            "#c",
            "@x",
            "`b`",
            "{a",
            "[b]",
            "&c",
            "*d",
            "!e",
            "|",
            ">",
            "%d",
            "\"q\"",
            "---",
            "--- a",
            "...",
            " a",
            "a ",
            "******",
        ] {
            assert_eq!(py(json!({ "k": text })), format!("k: '{text}'\n"));
        }
        for (text, written) in [
            ("'q'", "'''q'''"),
            ("a\n", "'a\n\n  '"),
            ("\na", "'\n\n  a'"),
            ("a\n\nb", "'a\n\n\n  b'"),
            ("a \nb", r#""a \nb""#),
            ("a\n b", r#""a\n b""#),
            ("tab\there", r#""tab\there""#),
            ("é\u{a0}\u{2028}", r#""\xE9\_\L""#),
            ("\u{1d11e}", r#""\U0001D11E""#),
            ("a\\b\u{7}", r#""a\\b\a""#),
        ] {
            assert_eq!(py(json!({ "k": text })), format!("k: {written}\n"));
        }
    }

    #[test]
    fn long_lines_are_folded() {
        let words = "word ".repeat(30);
        let folded = |text: String| py(json!({ "k": text }));
        assert_eq!(
            folded(words.clone()),
            "k: 'word word word word word word word word word word word word word word word word\n  \
             word word word word word word word word word word word word word word '\n"
        );
        let half = " word".repeat(15);
        assert_eq!(
            folded(format!("é {words}end")),
            format!("k: \"\\xE9{half}\\\n  \\{half} end\"\n")
        );
    }

    #[test]
    fn maps_and_lists_stand_in_blocks() {
        let value = json!({
            "b": [[1, []], {"z": {}, "a": [1.0, 1e22, null]}],
            "a": {"x": {"y": [{"k": "v", "j": "w"}]}},
            "?": {"a\nb": [1, 2], "k".repeat(123): {"a": 1}},
        });
        let long = "k".repeat(123);
        let inner = format!("'?':\n  ? 'a\n\n    b'\n  : - 1\n    - 2\n  ? {long}\n  : a: 1\n");
        let a = "a:\n  x:\n    y:\n    - j: w\n      k: v\n";
        let b = "b:\n- - 1\n  - []\n- a:\n  - 1.0\n  - 1.0e+22\n  - null\n  z: {}\n";
        let ordered = write(&Value::from(&value), Emitter::PyYaml, Keys::Ordered);
        assert_eq!(ordered, format!("{b}{a}{inner}"));
        assert_eq!(py(value), format!("{inner}{a}{b}"));
    }

    #[test]
    fn a_document_may_be_anything() {
        for (value, written) in [
            (json!("text"), "text\n...\n"),
            (json!([]), "[]\n"),
            (json!({}), "{}\n"),
            (json!(null), "null\n...\n"),
        ] {
            assert_eq!(py(value), written);
        }
    }

    #[test]
    fn libyaml_has_its_own_way_with_long_keys_escapes_and_scalars() {
        for (value, written) in [
            (json!("text"), "text\n"),
            (json!(null), "null\n"),
            (json!(1.5), "1.5\n"),
            (json!([]), "[]\n"),
        ] {
            assert_eq!(lib(value), written);
        }
        assert_eq!(py(json!({ "": 1 })), "? ''\n: 1\n");
        assert_eq!(lib(json!({ "": 1 })), "'': 1\n");
        let long = "k".repeat(128);
        assert_eq!(lib(json!({ &long: 1 })), format!("{long}: 1\n"));
        assert_eq!(lib(json!({ format!("{long}k"): 1 })), format!("? {long}k\n: 1\n"));
        let words = "word ".repeat(30);
        let half = " word".repeat(15);
        assert_eq!(
            lib(json!({ "k": format!("é {words}end") })),
            format!("k: \"\\xE9{half}\n {half} end\"\n")
        );
        assert_eq!(
            lib(json!({ "k": format!("é{half}  b") })),
            format!("k: \"\\xE9{half}\n  \\ b\"\n")
        );
    }

    #[test]
    fn a_server_gets_its_configuration_in_the_layout_of_heat() {
        let value = json!({
            "users": ["default", {
                "name": "bob", "n": 1, "f": 1.5, "m": "a\nb\n", "l": [], "d": {}, "z": null,
            }, [["y"]]],
            "apt": { "j": [true] },
        });
        let expected = "apt:\n  j:\n  - true\nusers:\n- default\n- d: {}\n  f: 1.5\n  l: []\n  m: 'a\n\n    \
                        b\n\n    '\n  n: 1\n  name: bob\n  z: null\n- - - y\n";
        assert_eq!(lib(value), expected);
        let value = json!({ "a": "x ".repeat(60) + "end" });
        let expected = format!("a: {}x\n  {}end\n", "x ".repeat(39), "x ".repeat(20));
        assert_eq!(lib(value), expected);
    }

    #[test]
    fn numbers_read_back_as_numbers() {
        for (number, written) in [
            (1e22, "1.0e+22"),
            (1.5e-7, "1.5e-07"),
            (f64::NAN, ".nan"),
            (f64::INFINITY, ".inf"),
            (f64::NEG_INFINITY, "-.inf"),
        ] {
            let value = Value::list([number.into()]);
            assert_eq!(write(&value, Emitter::PyYaml, Keys::Sorted), format!("- {written}\n"));
        }
        assert_eq!(py(json!([u64::MAX])), "- 18446744073709551615\n");
    }

    #[test]
    fn secrets_stay_hidden_and_unknown_values_are_null() {
        let secret = Value::Secret(Secret::new("sesame".into()));
        let unknown = Value::Unknown(Unknown::AvailabilityZones);
        let written = write(&Value::list([secret, unknown]), Emitter::LibYaml, Keys::Sorted);
        assert_eq!(written, "- '******'\n- null\n");
    }
}
