//! Comma-separated values: text in quotes, numbers and truth values without.

use super::Cell;
use clap::ValueEnum;
use serde_json::Value;

/// What is put in quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Quote {
    /// Everything
    All,
    /// What a reader could take for something else
    Minimal,
    /// Nothing
    None,
    /// All but numbers
    #[default]
    Nonnumeric,
}

/// A line of names and a line for each row.
pub(super) fn csv(columns: &[String], rows: &[Vec<Cell>], quote: Quote) -> String {
    let names = columns.iter().map(|name| field(&Value::from(name.as_str()), name, quote));
    let mut lines = vec![names.collect::<Vec<_>>().join(",")];
    for row in rows {
        let fields = row.iter().map(|cell| {
            let word = match &cell.value {
                Value::Null => String::new(),
                _ => cell.as_word(),
            };
            field(&cell.value, &word, quote)
        });
        lines.push(fields.collect::<Vec<_>>().join(","));
    }
    lines.join("\n") + "\n"
}

fn field(value: &Value, word: &str, quote: Quote) -> String {
    let is_quoted = match quote {
        Quote::All => true,
        Quote::None => false,
        Quote::Minimal => word.contains([',', '"', '\n', '\r']),
        Quote::Nonnumeric => !matches!(value, Value::Number(_) | Value::Bool(_)),
    };
    if is_quoted { format!("\"{}\"", word.replace('"', "\"\"")) } else { word.to_owned() }
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
            "\"A\",\"B col\"\n\"a \"\"b\"\",\nc\",1\n\"\",false\n\"{\"\"k\"\": [null]}\",1.5\n"
                .replace("false", "False")
        );
        assert_eq!(csv(&columns, &rows[1..2], Quote::All), "\"A\",\"B col\"\n\"\",\"False\"\n");
        assert_eq!(csv(&columns, &rows[..1], Quote::Minimal), "A,B col\n\"a \"\"b\"\",\nc\",1\n");
    }
}
