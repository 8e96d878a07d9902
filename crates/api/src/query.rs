//! The parameters of a request, and the scalars in them.

use crate::fault::Fault;
use kiln_template::Value;
use kiln_template::print;
use std::sync::Arc;

/// The query parameters, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses a query string.
    pub fn parse(text: &str) -> Query {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let decoded = |text: &str| percent::decode(&text.replace('+', " "));
        Query(
            pairs
                .map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decoded(name), decoded(value))
                })
                .collect(),
        )
    }

    /// The value of a parameter: the last one that was given, unless it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let last = self.0.iter().rev().find(|(known, _)| known == name);
        last.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// All values of a parameter.
    pub fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        let named = self.0.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Names and values, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The names of the parameters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// A yes or no.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Fault> {
        self.get(name).map(|text| flag(name, &text.into())).transpose()
    }

    /// How many.
    pub fn count(&self, name: &str) -> Result<Option<u64>, Fault> {
        self.get(name).map(|text| count(name, &text.into())).transpose()
    }

    /// Words separated by commas.
    pub fn words(&self, name: &str) -> Vec<Arc<str>> {
        let words = self.get(name).map(|text| text.split(',').map(Arc::from).collect());
        words.unwrap_or_default()
    }

    /// The same with another value for one parameter, encoded.
    pub fn with(&self, name: &str, value: &str) -> String {
        let others = self.0.iter().filter(|(known, _)| known != name);
        let others = others.map(|(name, value)| (name.as_str(), value.as_str()));
        let pairs = others.chain([(name, value)]);
        encoded(pairs)
    }

    /// All of it, encoded.
    pub fn encoded(&self) -> String {
        encoded(self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

fn encoded<'q>(pairs: impl Iterator<Item = (&'q str, &'q str)>) -> String {
    let pairs =
        pairs.map(|(name, value)| format!("{}={}", percent::encode(name), percent::encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// A yes or no, as a boolean or in a word.
pub(crate) fn flag(name: &str, value: &Value) -> Result<bool, Fault> {
    match value {
        Value::Bool(flag) => return Ok(*flag),
        Value::Text(text) if text.eq_ignore_ascii_case("true") => return Ok(true),
        Value::Text(text) if text.eq_ignore_ascii_case("false") => return Ok(false),
        _ => {}
    }
    let value = print::plain(value);
    Err(Fault::bad(format!(
        "Unrecognized value \"{value}\" for \"{name}\", acceptable values are: true, false."
    )))
}

/// How many, as a number or in digits.
pub(crate) fn count(name: &str, value: &Value) -> Result<u64, Fault> {
    let number = match value {
        Value::Int(number) => number.as_i64(),
        Value::Text(text) => text.trim().parse::<i64>().ok(),
        _ => None,
    };
    match number.map(u64::try_from) {
        Some(Ok(number)) => Ok(number),
        Some(Err(_)) => {
            let value = print::plain(value);
            Err(Fault::bad(format!(
                "Value '{value}' is invalid for '{name}' which only accepts non-negative integer."
            )))
        }
        None => Err(Fault::bad(format!("Only integer is acceptable by '{name}'."))),
    }
}

/// Percent-encoding.
pub(crate) mod percent {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

    /// All characters but the unreserved ones of RFC 3986.
    const RESERVED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

    /// The text with its escapes resolved; an invalid escape stays as it is.
    pub(crate) fn decode(text: &str) -> String {
        percent_decode_str(text).decode_utf8_lossy().into_owned()
    }

    /// Whether the text is UTF-8 once its escapes are resolved.
    pub(crate) fn is_utf8(text: &str) -> bool {
        percent_decode_str(text).decode_utf8().is_ok()
    }

    /// The text with all reserved characters escaped.
    pub(crate) fn encode(text: &str) -> String {
        utf8_percent_encode(text, RESERVED).to_string()
    }

    /// The text with all reserved characters but slashes escaped.
    pub(crate) fn encode_path(text: &str) -> String {
        const PATH: &AsciiSet = &RESERVED.remove(b'/');
        utf8_percent_encode(text, PATH).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_counts_and_an_empty_one_does_not() {
        let query = Query::parse("limit=1&name=a%20b&limit=2&empty=&tags=x,y&name=c+d");
        assert_eq!(query.get("limit"), Some("2"));
        assert_eq!(query.get("empty"), None);
        assert_eq!(query.all("name").collect::<Vec<_>>(), ["a b", "c d"]);
        assert_eq!(query.words("tags"), ["x".into(), "y".into()]);
        assert_eq!(query.with("limit", "3"), "name=a%20b&empty=&tags=x%2Cy&name=c%20d&limit=3");
    }

    #[test]
    fn reserved_characters_are_escaped() {
        assert_eq!(percent::encode("a b/ö-._~%"), "a%20b%2F%C3%B6-._~%25");
        assert_eq!(percent::encode_path("a b/c"), "a%20b/c");
        assert_eq!(percent::decode("a%20b%2fc%zz%"), "a b/c%zz%");
        assert!(percent::is_utf8("%C3%B6") && !percent::is_utf8("%ff"));
    }

    #[test]
    fn scalars_have_their_refusals() {
        let message = |fault: Fault| fault.message.unwrap_or_default();
        assert_eq!(flag("f", &"TRUE".into()), Ok(true));
        assert_eq!(
            message(flag("f", &"yes".into()).unwrap_err()),
            "Unrecognized value \"yes\" for \"f\", acceptable values are: true, false."
        );
        assert_eq!(count("n", &"7".into()), Ok(7));
        assert_eq!(
            message(count("n", &"x".into()).unwrap_err()),
            "Only integer is acceptable by 'n'."
        );
        assert_eq!(
            message(count("n", &"-1".into()).unwrap_err()),
            "Value '-1' is invalid for 'n' which only accepts non-negative integer."
        );
    }
}
