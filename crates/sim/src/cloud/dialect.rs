//! How a service words what every service has to say.

use serde_json::Value;

use super::ask::Refusal;
use super::schema::{Collection, Field, Kind};
use super::table::Obj;

/// The words of one service.
pub(super) trait Dialect: Sync {
    /// Fields that do not exist.
    fn unknown(&self, of: &Collection, names: &[&str], sent: &Obj) -> Refusal;
    /// A field that has to be given.
    fn missing(&self, of: &Collection, name: &str, sent: &Obj) -> Refusal;
    /// A field that cannot be set, now or ever.
    fn read_only(&self, of: &Collection, name: &str, creating: bool) -> Refusal;
    /// A value that is not of the field's kind.
    fn invalid(&self, of: &Collection, field: &Field, value: &Value) -> Refusal;
    /// Nothing has this key.
    fn absent(&self, of: &Collection, key: &str) -> Refusal;
    /// A field names something that is not there.
    fn dangling(
        &self,
        _of: &Collection,
        _field: &Field,
        target: &Collection,
        key: &str,
    ) -> Refusal {
        target.dialect.absent(target, key)
    }
    /// The caller may not do this: `create`, `update`, `delete`.
    fn forbidden(&self, of: &Collection, action: &str) -> Refusal;
    /// The project has as many as it may.
    fn over_quota(&self, of: &Collection, name: &str) -> Refusal;
    /// The body is not what it should be.
    fn no_envelope(&self, of: &Collection) -> Refusal;
    /// A refusal that has nothing to do with a collection.
    fn plain(&self, status: u16, message: &str) -> Refusal;
    /// The body of a refusal: its content type and its text.
    fn render(&self, refusal: &Refusal, request_id: &str) -> (&'static str, String);
    /// Whether texts that look like numbers and flags are taken for them.
    fn is_lenient(&self) -> bool {
        false
    }
    /// Whether a body may hold many to create.
    fn takes_many(&self) -> bool {
        false
    }
    /// What every object shows in the end.
    fn finish(&self, _row: &mut Obj) {}
    /// Whether a filter that does not exist is refused, and how.
    fn unknown_filter(&self, _of: &Collection, _name: &str) -> Option<Refusal> {
        None
    }
}

/// A value as Python prints it, which is how messages show values.
pub(super) fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.contains('\'') && !text.contains('"') => format!("\"{text}\""),
        Value::String(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        Value::Array(list) => {
            format!("[{}]", list.iter().map(python).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let pair = |(key, value): (&String, &Value)| format!("'{key}': {}", python(value));
            format!("{{{}}}", map.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Words as a list in Python.
pub(super) fn python_list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    format!("[{}]", quoted.join(", "))
}

/// What JSON schema calls a kind.
pub(super) fn schema_type(kind: &Kind) -> &'static str {
    match kind {
        Kind::Int => "integer",
        Kind::Number => "number",
        Kind::Bool => "boolean",
        Kind::List => "array",
        Kind::Map => "object",
        _ => "string",
    }
}
