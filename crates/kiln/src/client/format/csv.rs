//! Comma-separated values: text in quotes, numbers and truth values without.

use super::{Cell, text};
use clap::ValueEnum;
use serde_json::Value;

/// Which values are quoted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Quote {
    /// All values
    All,
    /// Values that contain special characters
    Minimal,
    /// No values
    None,
    /// All values except numbers
    #[default]
    Nonnumeric,
}

/// A header line and a line for each row. Maps and lists are quoted as Python prints them, which
/// is what existing readers expect.
pub(super) fn csv(columns: &[String], rows: &[Vec<Cell>], quote: Quote) -> String {
    let names: Vec<Cell> = columns.iter().map(|name| name.as_str().into()).collect();
    let lines = std::iter::once(&names).chain(rows).map(|row| line(row, quote));
    lines.collect()
}

fn line(row: &[Cell], quote: Quote) -> String {
    let fields: Vec<String> = row.iter().map(|cell| field(&cell.value, quote)).collect();
    match &*fields {
        // An empty line would not be a row.
        [only] if only.is_empty() => "\"\"\n".to_owned(),
        fields => fields.join(",") + "\n",
    }
}

fn field(value: &Value, quote: Quote) -> String {
    let word = match value {
        Value::Null => String::new(),
        value => text::plain(value),
    };
    let is_quoted = match quote {
        Quote::All => true,
        Quote::None => false,
        Quote::Minimal => word.contains([',', '"', '\n', '\r']),
        Quote::Nonnumeric => !matches!(value, Value::Number(_) | Value::Bool(_)),
    };
    let word = word.replace('\\', r"\\");
    match is_quoted {
        true => format!("\"{}\"", word.replace('"', "\"\"")),
        false if quote == Quote::None => {
            let escaped = [",", "\"", "\n"].iter();
            escaped.fold(word, |word, mark| word.replace(mark, &format!("\\{mark}")))
        }
        false => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_is_quoted_and_numbers_are_not() {
        let columns = ["A".to_owned(), "B col".to_owned()];
        let rows = [
            vec![json!("a \"b\",\nc").into(), json!(1).into()],
            vec![json!(null).into(), json!(false).into()],
            vec![json!({"k": [null]}).into(), json!(1.5).into()],
        ];
        let rows = rows.as_slice();
        assert_eq!(
            csv(&columns, rows, Quote::Nonnumeric),
            "\"A\",\"B col\"\n\"a \"\"b\"\",\nc\",1\n\"\",false\n\"{'k': [None]}\",1.5\n"
                .replace("false", "False")
        );
        assert_eq!(csv(&columns, &rows[1..2], Quote::All), "\"A\",\"B col\"\n\"\",\"False\"\n");
        let paths = [vec![json!("C:\\x, \"y\"").into(), json!(["a"]).into()]];
        assert_eq!(
            csv(&columns, &paths, Quote::Nonnumeric).lines().nth(1),
            Some(r#""C:\\x, ""y""","['a']""#)
        );
        assert_eq!(
            csv(&columns, &paths, Quote::None).lines().nth(1),
            Some(r#"C:\\x\, \"y\",['a']"#)
        );
        assert_eq!(csv(&columns[..1], &[vec![json!(null).into()]], Quote::Minimal), "A\n\"\"\n");
        assert_eq!(csv(&columns, &rows[..1], Quote::Minimal), "A,B col\n\"a \"\"b\"\",\nc\",1\n");
    }
}
