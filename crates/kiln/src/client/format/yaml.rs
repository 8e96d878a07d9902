//! YAML in the layout of PyYAML: block style, sorted keys, lines folded after 80
//! columns, characters beyond ASCII as escapes.
//!
//! Scripts compare this output and templates are stored in it, so the layout matches exactly.

use super::text;
use fancy_regex::Regex;
use kiln_yaql::python;
use serde_json::Value;
use std::fmt::Write;
use std::sync::LazyLock;

/// Lines are folded at the first opportunity after this column.
const WIDTH: usize = 80;
/// Longer keys are written on their own line, after a question mark.
const LONGEST_KEY: usize = 122;

/// The order of the keys of the outermost map; inner maps are always sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Top {
    /// The order of the input.
    Ordered,
    /// Sorted by name.
    Sorted,
}

/// A value as a YAML document that ends in a line feed.
pub(crate) fn yaml(value: &Value, top: Top) -> String {
    let mut writer = Writer { out: String::new(), column: 0 };
    match value {
        Value::Array(items) if !items.is_empty() => writer.list(items, 0),
        Value::Object(members) if !members.is_empty() => {
            let mut members: Vec<_> = members.iter().collect();
            if top == Top::Sorted {
                members.sort_by_key(|(key, _)| *key);
            }
            writer.members(&members, 0);
        }
        value => {
            let is_plain = writer.scalar(value, 2, false);
            writer.line_break();
            if is_plain {
                writer.put("...\n");
            }
        }
    }
    writer.out
}

/// The text so far, and the length of its last line.
struct Writer {
    out: String,
    column: usize,
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
    fn members(&mut self, members: &[(&String, &Value)], indent: usize) {
        for (at, (key, value)) in members.iter().enumerate() {
            if at > 0 {
                self.indent(indent);
            }
            if key.chars().count() <= LONGEST_KEY && !key.contains(is_break) {
                self.text(key, indent + 2, true);
                self.put(":");
                self.value(value, indent);
                continue;
            }
            // A complex key is written on its own line.
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
            Value::Array(items) if !items.is_empty() => self.list(items, indent + 2),
            Value::Object(members) if !members.is_empty() => {
                self.members(&sorted(members), indent + 2);
            }
            scalar => {
                self.scalar(scalar, indent + 2, false);
                self.line_break();
            }
        }
    }

    /// Writes the value of a key.
    fn value(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Array(items) if !items.is_empty() => {
                self.line_break();
                self.indent(indent);
                self.list(items, indent);
            }
            Value::Object(members) if !members.is_empty() => {
                self.line_break();
                self.indent(indent + 2);
                self.members(&sorted(members), indent + 2);
            }
            scalar => {
                self.put(" ");
                self.scalar(scalar, indent + 2, false);
                self.line_break();
            }
        }
    }

    /// Writes a scalar or an empty collection; returns whether it is plain text that needs a document end.
    fn scalar(&mut self, value: &Value, indent: usize, is_key: bool) -> bool {
        match value {
            Value::Null => self.put("null"),
            Value::Bool(flag) => self.put(if *flag { "true" } else { "false" }),
            Value::Number(number) => self.put(&written_number(number)),
            Value::String(text) => return self.text(text, indent, is_key),
            Value::Array(_) => {
                self.put("[]");
                return false;
            }
            Value::Object(_) => {
                self.put("{}");
                return false;
            }
        }
        true
    }

    /// Writes text in the simplest style that reads back as the same text.
    fn text(&mut self, text: &str, indent: usize, is_key: bool) -> bool {
        let shape = TextStyles::of(text);
        let fits_line = !(is_key && shape.has_breaks);
        if shape.plain && fits_line && !reads_as_other(text) {
            self.folded(text, indent, is_key, Quote::None);
            return true;
        }
        if shape.single_quoted && fits_line {
            self.put("'");
            self.folded(text, indent, is_key, Quote::Single);
            self.put("'");
        } else {
            self.double_quoted(text, indent, is_key);
        }
        false
    }

    /// Writes text without escapes: a single space may become a line break, a line feed two of them.
    fn folded(&mut self, text: &str, indent: usize, is_key: bool, quote: Quote) {
        let mut rest = text;
        while !rest.is_empty() {
            let kind = QuotedRun::of(rest);
            let length = rest.find(|c| QuotedRun::of_char(c) != kind).unwrap_or(rest.len());
            let (run, after) = rest.split_at(length);
            let is_inside = rest.len() < text.len() && !after.is_empty();
            match kind {
                QuotedRun::Blanks => {
                    let may_fold = is_inside || quote == Quote::None;
                    if run.len() == 1 && self.column > WIDTH && !is_key && may_fold {
                        self.line_break();
                        self.indent(indent);
                    } else {
                        self.put(run);
                    }
                }
                QuotedRun::Breaks => {
                    for _ in 0..=run.len() {
                        self.line_break();
                    }
                    self.indent(indent);
                }
                QuotedRun::Words if quote == Quote::Single => self.put(&run.replace('\'', "''")),
                QuotedRun::Words => self.put(run),
            }
            rest = after;
        }
    }

    /// Writes text with escapes; a long line ends with a backslash at the first opportunity.
    fn double_quoted(&mut self, text: &str, indent: usize, is_key: bool) {
        self.put("\"");
        let chars: Vec<char> = text.chars().collect();
        // The start of the text that is not written yet.
        let mut start = 0;
        for end in 0..=chars.len() {
            let next = chars.get(end).copied();
            if next.is_none_or(|c| !matches!(c, ' '..='~') || matches!(c, '"' | '\\')) {
                self.put(&chars[start..end].iter().collect::<String>());
                start = end;
                if let Some(c) = next {
                    self.put(&escaped(c));
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
        self.put("\"");
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Quote {
    None,
    Single,
}

#[derive(Clone, Copy, PartialEq)]
enum QuotedRun {
    Blanks,
    Breaks,
    Words,
}

impl QuotedRun {
    fn of(text: &str) -> QuotedRun {
        text.chars().next().map_or(QuotedRun::Words, QuotedRun::of_char)
    }

    fn of_char(c: char) -> QuotedRun {
        match c {
            ' ' => QuotedRun::Blanks,
            '\n' => QuotedRun::Breaks,
            _ => QuotedRun::Words,
        }
    }
}

fn sorted(members: &serde_json::Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by_key(|(key, _)| *key);
    members
}

/// A float; one without a point before its exponent gets one, or it would read back as text.
fn written_number(number: &serde_json::Number) -> String {
    let written = text::number(number);
    if number.is_f64() && !written.contains('.') && written.contains('e') {
        return written.replacen('e', ".0e", 1);
    }
    match number.as_f64() {
        Some(float) if !float.is_finite() => format!(".{}", python::float(float)),
        _ => written,
    }
}

fn escaped(c: char) -> String {
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
            plain: !has_breaks && !open_ends && !unquotable && !indicates(text),
            single_quoted: !unquotable,
        }
    }
}

/// Whether YAML takes a character for a line break.
fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether plain text would contain YAML syntax.
fn indicates(text: &str) -> bool {
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
    use serde_json::json;

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
            assert_eq!(yaml(&json!({ "k": text }), Top::Sorted), format!("k: {text}\n"));
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
            assert_eq!(yaml(&json!({ "k": text }), Top::Sorted), format!("k: '{text}'\n"));
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
            assert_eq!(yaml(&json!({ "k": text }), Top::Sorted), format!("k: {written}\n"));
        }
    }

    #[test]
    fn long_lines_are_folded() {
        let words = "word ".repeat(30);
        let folded = |text: String| yaml(&json!({ "k": text }), Top::Sorted);
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
        assert_eq!(yaml(&value, Top::Sorted), format!("{inner}{a}{b}"));
        assert_eq!(yaml(&value, Top::Ordered), format!("{b}{a}{inner}"));
    }

    #[test]
    fn a_document_may_be_anything() {
        for (value, written) in [
            (json!("text"), "text\n...\n"),
            (json!([]), "[]\n"),
            (json!({}), "{}\n"),
            (json!(null), "null\n...\n"),
        ] {
            assert_eq!(yaml(&value, Top::Sorted), written);
        }
    }
}
