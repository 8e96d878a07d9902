//! Conversions of values by Python's rules, with its messages for failures.
//!
//! A hidden value is converted by its content and printed as `******` in every message made here.

use crate::print;
use crate::value::Value;
use kiln_yaql::Integer;

/// Why a value was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CastError {
    /// The value has the right type and is not valid.
    Invalid(String),
    /// The rule does not apply to the value's type, such as the length of a number.
    WrongKind(String),
}

impl CastError {
    /// The reason in words.
    pub(crate) fn text(self) -> String {
        match self {
            CastError::Invalid(text) | CastError::WrongKind(text) => text,
        }
    }
}

/// The value itself, or the content of a secret.
pub(crate) fn expose(value: &Value) -> &Value {
    match value {
        Value::Secret(secret) => secret.expose(),
        value => value,
    }
}

/// A number: numbers and booleans as they are, text if it holds an integer or else a float.
pub(crate) fn number(value: &Value) -> Result<Value, CastError> {
    match expose(value) {
        number @ (Value::Bool(_) | Value::Int(_) | Value::Float(_)) => Ok(number.clone()),
        Value::Text(text) => match (read_integer(text), read_float(text)) {
            (Some(whole), _) => Ok(Value::Int(whole)),
            (None, Some(float)) => Ok(Value::Float(float)),
            (None, None) => {
                let text = format!("could not convert string to float: {}", print::repr(value));
                Err(CastError::Invalid(text))
            }
        },
        other => Err(not_a_number(other)),
    }
}

/// The error for a value that is neither a number nor text.
pub(crate) fn not_a_number(value: &Value) -> CastError {
    CastError::WrongKind(format!(
        "int() argument must be a string, a bytes-like object or a real number, not '{}'",
        value.python_type()
    ))
}

/// A boolean: booleans as they are, anything else by its printed form.
pub(crate) fn boolean(value: &Value) -> Result<bool, CastError> {
    if let Value::Bool(flag) = expose(value) {
        return Ok(*flag);
    }
    let printed = print::plain(&value.exposed());
    match strip(&printed).to_lowercase().as_str() {
        "1" | "on" | "t" | "true" | "y" | "yes" => Ok(true),
        "0" | "f" | "false" | "n" | "no" | "off" => Ok(false),
        _ => Err(CastError::Invalid(format!(
            "Unrecognized value '{}', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', \
             'off', 'on', 't', 'true', 'y', 'yes'",
            print::plain(value)
        ))),
    }
}

/// Text without the blanks around it.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

/// An integer in decimal: blanks around it and single `_` between digits are allowed.
pub(crate) fn read_integer(text: &str) -> Option<Integer> {
    Integer::parse(&without_separators(strip(text))?)
}

/// A float in decimal, with or without an exponent, or a name such as `inf`.
pub(crate) fn read_float(text: &str) -> Option<f64> {
    without_separators(strip(text))?.parse().ok()
}

/// The text without its underscores, if every one is between two digits.
fn without_separators(text: &str) -> Option<String> {
    if !text.contains('_') {
        return Some(text.to_owned());
    }
    let bytes = text.as_bytes();
    let is_digit =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let all_between = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'_')
        .all(|(at, _)| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)));
    all_between.then(|| text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Secret;

    fn read(text: &str) -> Result<Value, String> {
        number(&text.into()).map_err(CastError::text)
    }

    #[test]
    fn numbers_are_read_as_the_host_reads_them() {
        for (text, expected) in [
            ("12", Value::from(12)),
            (" 1_000\n", 1000.into()),
            ("+07", 7.into()),
            ("-0", 0.into()),
            ("1.50", 1.5.into()),
            ("1e3", 1000.0.into()),
            ("1_0.5", 10.5.into()),
            (".5", 0.5.into()),
            ("5.", 5.0.into()),
            ("-Infinity", f64::NEG_INFINITY.into()),
            ("nan", f64::NAN.into()),
        ] {
            assert_eq!(read(text), Ok(expected), "{text:?}");
        }
        for text in ["", "x", "1__0", "_1", "1_", "0x10", "1 0", "--1", "1e", "1_e5", "١x"] {
            let error = format!("could not convert string to float: {}", print::repr(&text.into()));
            assert_eq!(read(text), Err(error), "{text:?}");
        }
        assert_eq!(read(&"9".repeat(5000)), Ok(f64::INFINITY.into()));
    }

    #[test]
    fn booleans_are_read_from_many_words() {
        for (value, expected) in [
            (Value::from(" YES "), true),
            ("Off".into(), false),
            (1.into(), true),
            (0.into(), false),
            (true.into(), true),
        ] {
            assert_eq!(boolean(&value), Ok(expected), "{value:?}");
        }
        let error = boolean(&1.0.into()).unwrap_err().text();
        assert!(error.starts_with("Unrecognized value '1.0', acceptable values are: '0', '1',"));
    }

    #[test]
    fn refusals_do_not_tell_secrets() {
        let secret = Value::Secret(Secret::new("hunter2".into()));
        assert_eq!(
            number(&secret),
            Err(CastError::Invalid("could not convert string to float: ******".into()))
        );
        assert!(boolean(&secret).unwrap_err().text().starts_with("Unrecognized value '******',"));
        assert_eq!(number(&Value::Secret(Secret::new("12".into()))), Ok(12.into()));
    }
}
