//! A request as the services see it, and their replies.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::schema::Collection;
use super::state::CloudState;
use super::table::Obj;

/// An owned request, which can also be carried out later.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) method: String,
    /// The prefix of the service: `/network`.
    pub(super) service: String,
    /// The decoded segments of the path below the prefix.
    pub(super) path: Vec<String>,
    pub(super) query: Vec<(String, String)>,
    /// The headers, with names in lower case.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) bytes: Vec<u8>,
    /// The beginning of links: `http://HOST:PORT`.
    pub(super) base: String,
}

/// The authenticated caller.
#[derive(Clone, Debug, Default)]
pub(super) struct Caller {
    pub(super) user: String,
    pub(super) project: String,
    pub(super) is_admin: bool,
}

/// A request together with the state and the caller.
pub(super) struct RequestContext<'a> {
    pub(super) state: &'a mut CloudState,
    pub(super) request: &'a Request,
    pub(super) caller: Caller,
    /// The body, if it is JSON; an empty object if there is no body.
    pub(super) body: Value,
    /// The minor microversion that the client requests; the oldest one by default.
    pub(super) version: u32,
}

/// A reply.
#[derive(Clone, Debug, Default)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Content,
}

/// The body of a reply.
#[derive(Clone, Debug, Default)]
pub(super) enum Content {
    #[default]
    Nothing,
    Json(Value),
    Bytes(String, Vec<u8>),
}

/// An error reply: the status, the service's name for the error, and the message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) error_type: String,
    pub(super) message: String,
}

pub(super) type Answer = Result<Reply, Refusal>;
pub(super) type Done = Result<(), Refusal>;

impl Refusal {
    pub(super) fn new(status: u16, error_type: &str, message: impl Into<String>) -> Refusal {
        Refusal { status, error_type: error_type.to_owned(), message: message.into() }
    }
}

impl Reply {
    pub(super) fn json(status: u16, body: Value) -> Reply {
        Reply { status, headers: Vec::new(), body: Content::Json(body) }
    }

    pub(super) fn ok(body: Value) -> Reply {
        Reply::json(200, body)
    }

    pub(super) fn empty(status: u16) -> Reply {
        Reply { status, ..Reply::default() }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<String>) -> Reply {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

impl Request {
    /// Returns the first value of a query parameter.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Returns the segments of the path for matching.
    pub(super) fn parts(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }
}

impl RequestContext<'_> {
    pub(super) fn now(&self) -> i64 {
        self.state.now
    }

    /// Returns the object in the envelope of the body, or the error for a body without it.
    pub(super) fn sent(&self, collection: &Collection) -> Result<Obj, Refusal> {
        let inner = if collection.singular.is_empty() {
            &self.body
        } else {
            &self.body[collection.singular]
        };
        inner
            .as_object()
            .cloned()
            .map(Obj::from)
            .ok_or_else(|| collection.dialect.no_envelope(collection))
    }

    /// Reports whether the caller can see the object.
    pub(super) fn sees(&self, collection: &Collection, row: &Obj) -> bool {
        self.owns(row) || (collection.is_shared)(self, row)
    }

    /// Reports whether the caller may change the object.
    pub(super) fn owns(&self, row: &Obj) -> bool {
        self.caller.is_admin
            || row.get("project_id").is_none_or(|owner| *owner == json!(self.caller.project))
    }

    /// Finds an object by its key, if the caller can see it.
    pub(super) fn find(&self, collection: &'static Collection, key: &str) -> Result<Obj, Refusal> {
        let row = self.state.get(collection.name, key).filter(|row| self.sees(collection, row));
        let named = || {
            let rows = self.state.table(collection.name).with("name", key);
            rows.into_iter().find(|row| self.sees(collection, row)).filter(|_| collection.by_name)
        };
        row.or_else(named).cloned().ok_or_else(|| collection.dialect.not_found(collection, key))
    }
}

/// Returns a text field of an object; empty if it is absent.
pub(super) fn text<'a>(row: &'a Obj, field: &str) -> &'a str {
    row.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a numeric field of an object; zero if it is absent.
pub(super) fn int(row: &Obj, field: &str) -> i64 {
    row.get(field).and_then(Value::as_i64).unwrap_or_default()
}

/// Returns a boolean field of an object; false if it is absent.
pub(super) fn flag(row: &Obj, field: &str) -> bool {
    row.get(field).and_then(Value::as_bool).unwrap_or_default()
}

/// Returns a list field of an object; empty if it is absent.
pub(super) fn list<'a>(row: &'a Obj, field: &str) -> &'a [Value] {
    row.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the strings in a list field of an object.
pub(super) fn strings(row: &Obj, field: &str) -> Vec<String> {
    list(row, field).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Sets a field.
pub(super) fn set(row: &mut Obj, field: &str, value: impl Into<Value>) {
    row.insert(field.to_owned(), value.into());
}

/// Converts a JSON object to an [`Obj`]; other values become an empty one.
pub(super) fn object(value: Value) -> Obj {
    match value {
        Value::Object(row) => row.into(),
        _ => Obj::new(),
    }
}
