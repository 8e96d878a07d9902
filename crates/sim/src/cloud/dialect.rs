//! How a service words what every service has to say.

use serde_json::Value;

use super::request::Refusal;
use super::schema::{Collection, Field, FieldType};
use super::table::Obj;

/// The words of one service.
pub(super) trait Dialect: Sync {
    /// Fields that do not exist.
    fn unknown_fields(&self, collection: &Collection, names: &[&str], sent: &Obj) -> Refusal;
    /// A field that has to be given.
    fn missing_field(&self, collection: &Collection, name: &str, sent: &Obj) -> Refusal;
    /// A field that cannot be set, now or ever.
    fn read_only_field(&self, collection: &Collection, name: &str, creating: bool) -> Refusal;
    /// A value that is not of the field's kind.
    fn invalid_value(&self, collection: &Collection, field: &Field, value: &Value) -> Refusal;
    /// Nothing has this key.
    fn not_found(&self, collection: &Collection, key: &str) -> Refusal;
    /// A field names something that is not there.
    fn dangling_reference(
        &self,
        _collection: &Collection,
        _field: &Field,
        target: &Collection,
        key: &str,
    ) -> Refusal {
        target.dialect.not_found(target, key)
    }
    /// The caller may not do this: `create`, `update`, `delete`.
    fn forbidden(&self, collection: &Collection, action: &str) -> Refusal;
    /// The project has as many as it may.
    fn over_quota(&self, collection: &Collection, name: &str) -> Refusal;
    /// The body is not what it should be.
    fn no_envelope(&self, collection: &Collection) -> Refusal;
    /// A refusal that has nothing to do with a collection.
    fn generic(&self, status: u16, message: &str) -> Refusal;
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
    fn unknown_filter(&self, _collection: &Collection, _name: &str) -> Option<Refusal> {
        None
    }
}

/// What JSON schema calls a kind.
pub(super) fn schema_type(kind: &FieldType) -> &'static str {
    match kind {
        FieldType::Int => "integer",
        FieldType::Number => "number",
        FieldType::Bool => "boolean",
        FieldType::List => "array",
        FieldType::Map => "object",
        _ => "string",
    }
}
