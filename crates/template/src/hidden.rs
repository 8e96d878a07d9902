//! Hidden values inside texts from outside: the error of a service may repeat what it was sent.

use crate::value::{Members, Secret, Value};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// What readers see in place of a hidden value.
pub const STARS: &str = "******";

/// The shortest text that is searched for: shorter ones occur in texts by chance.
const MIN_CHARACTERS: usize = 4;

/// The hidden texts of some values, each also in the forms that it has inside JSON and inside a URL.
#[derive(Clone, Default)]
pub struct HiddenTexts {
    /// The longest first: one may be part of another.
    texts: Vec<String>,
}

impl fmt::Debug for HiddenTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HiddenTexts({})", self.texts.len())
    }
}

impl HiddenTexts {
    /// The texts of all secrets in some values.
    pub fn of<'v>(values: impl IntoIterator<Item = &'v Value>) -> HiddenTexts {
        let mut found = BTreeSet::new();
        values.into_iter().for_each(|value| collect(value, &mut found));
        let mut forms = BTreeSet::new();
        for text in found {
            let json = serde_json::Value::from(text.as_str()).to_string();
            forms.insert(json[1..json.len() - 1].to_owned());
            forms.insert(percent_encoded(&text, "-._~"));
            forms.insert(percent_encoded(&text, "-._~/"));
            forms.insert(text);
        }
        let mut texts: Vec<String> = forms.into_iter().collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        HiddenTexts { texts }
    }

    /// Adds the texts of others.
    pub fn extend(&mut self, others: HiddenTexts) {
        self.texts.extend(others.texts);
        self.texts.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        self.texts.dedup();
    }

    /// The texts themselves, for those who mask them elsewhere.
    pub fn expose(&self) -> &[String] {
        &self.texts
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether a text contains one of them.
    pub fn occur_in(&self, text: &str) -> bool {
        self.texts.iter().any(|hidden| text.contains(hidden.as_str()))
    }

    /// A text with asterisks in their place.
    pub fn mask(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for hidden in &self.texts {
            if masked.contains(hidden.as_str()) {
                masked = masked.replace(hidden.as_str(), STARS);
            }
        }
        masked
    }

    /// A value in which every text that contains one of them is a secret.
    pub fn hide_in(&self, value: Value) -> Value {
        if self.is_empty() {
            return value;
        }
        match value {
            Value::Text(text) if self.occur_in(&text) => {
                Value::Secret(Secret::new(Value::Text(text)))
            }
            Value::List(items) => Value::list(items.iter().map(|item| self.hide_in(item.clone()))),
            Value::Map(members) => self.hide_in_map(&members),
            value => value,
        }
    }

    /// A map whose keys cannot be hidden is hidden as a whole if one of them contains a hidden text.
    fn hide_in_map(&self, members: &Arc<Members>) -> Value {
        if members.keys().any(|key| self.occur_in(key)) {
            return Value::Secret(Secret::new(Value::Map(members.clone())));
        }
        Value::map(members.iter().map(|(key, it)| (key.clone(), self.hide_in(it.clone()))))
    }
}

/// Adds the texts of the secrets in a value.
fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Secret(secret) => collect_all(secret.expose(), found),
        Value::List(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Map(members) => members.values().for_each(|item| collect(item, found)),
        _ => {}
    }
}

/// Adds all texts in a value that is hidden.
fn collect_all(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Text(text) => add(text, found),
        Value::Int(_) | Value::Float(_) => add(&crate::print::plain(value), found),
        Value::List(items) => items.iter().for_each(|item| collect_all(item, found)),
        Value::Map(members) => members.values().for_each(|item| collect_all(item, found)),
        Value::Secret(secret) => collect_all(secret.expose(), found),
        Value::Null | Value::Bool(_) | Value::Unknown(_) => {}
    }
}

/// Adds a text, as it is and without the space around it: services trim texts.
fn add(text: &str, found: &mut BTreeSet<String>) {
    for text in [text, text.trim()] {
        if text.chars().count() >= MIN_CHARACTERS && !text.trim().is_empty() {
            found.insert(text.to_owned());
        }
    }
}

/// A text as part of a URL; the characters in `kept`, letters and digits stay.
fn percent_encoded(text: &str, kept: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(value: impl Into<Value>) -> Value {
        Value::Secret(Secret::new(value.into()))
    }

    fn hidden<const N: usize>(values: [Value; N]) -> HiddenTexts {
        HiddenTexts::of(&values)
    }

    #[test]
    fn a_hidden_text_is_masked_in_every_form() {
        let texts = hidden([secret("a \"quoted\"/word"), "shown".into()]);
        for text in ["a \"quoted\"/word", r#"a \"quoted\"/word"#, "a%20%22quoted%22%2Fword"] {
            assert_eq!(texts.mask(&format!("<{text}> shown")), "<******> shown");
        }
        assert_eq!(texts.mask("/x/a%20%22quoted%22/word/y"), "/x/******/y");
    }

    #[test]
    fn short_texts_are_not_searched_for_and_long_ones_come_first() {
        let texts = hidden([secret("abc"), secret("word"), secret("a word of honour")]);
        assert_eq!(texts.mask("abc: a word of honour, word"), "abc: ******, ******");
        assert!(hidden([secret("abc"), secret("    "), secret(true)]).is_empty());
    }

    #[test]
    fn secrets_are_found_inside_lists_and_maps() {
        let deepest = Value::list([Value::map([("p", Value::from("deepest"))])]);
        let inner = Value::map([("k", secret(deepest))]);
        let texts = hidden([Value::list([inner]), secret(123_456_i64)]);
        assert_eq!(texts.mask("deepest 123456"), "****** ******");
        let value = Value::map([("a", Value::from("the deepest")), ("b", "other".into())]);
        let value = texts.hide_in(value);
        assert!(matches!(value.as_map().unwrap().get("a"), Some(Value::Secret(_))));
        assert_eq!(value.as_map().unwrap().get("b"), Some(&"other".into()));
    }
}
