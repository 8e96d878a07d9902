//! The error messages that every service has, each in its own wording.

use serde_json::Value;

use super::request::Refusal;
use super::schema::{Collection, Field, FieldType};
use super::table::Obj;

/// The wording and the error format of one service.
pub(super) trait Dialect: Sync {
    /// The request has fields that do not exist.
    fn unknown_fields(&self, collection: &Collection, names: &[&str], sent: &Obj) -> Refusal;
    /// The request lacks a required field.
    fn missing_field(&self, collection: &Collection, name: &str, sent: &Obj) -> Refusal;
    /// The request sets a field that cannot be set, or not in this operation.
    fn read_only_field(&self, collection: &Collection, name: &str, creating: bool) -> Refusal;
    /// The value does not have the type of the field.
    fn invalid_value(&self, collection: &Collection, field: &Field, value: &Value) -> Refusal;
    /// The collection has no object with this key.
    fn not_found(&self, collection: &Collection, key: &str) -> Refusal;
    /// The field refers to an object that does not exist.
    fn dangling_reference(
        &self,
        _collection: &Collection,
        _field: &Field,
        target: &Collection,
        key: &str,
    ) -> Refusal {
        target.dialect.not_found(target, key)
    }
    /// The caller is not allowed to `create`, `update` or `delete` this.
    fn forbidden(&self, collection: &Collection, action: &str) -> Refusal;
    /// The project has used up its quota.
    fn over_quota(&self, collection: &Collection, name: &str) -> Refusal;
    /// The body lacks the element that holds the object.
    fn no_envelope(&self, collection: &Collection) -> Refusal;
    /// An error that is not about a collection.
    fn generic(&self, status: u16, message: &str) -> Refusal;
    /// Renders an error: the content type and the text of the body.
    fn render(&self, refusal: &Refusal, request_id: &str) -> (&'static str, String);
    /// Whether texts that look like numbers and booleans are converted.
    fn is_lenient(&self) -> bool {
        false
    }
    /// Whether one request may create several objects.
    fn takes_many(&self) -> bool {
        false
    }
    /// Completes an object before it is rendered.
    fn finish(&self, _row: &mut Obj) {}
    /// Returns the error for an unknown filter, if the service reports those.
    fn unknown_filter(&self, _collection: &Collection, _name: &str) -> Option<Refusal> {
        None
    }
}

/// Returns the name that JSON schema has for a field type.
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
