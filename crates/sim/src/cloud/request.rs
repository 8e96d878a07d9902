//! A request as the services see it, and what they answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::schema::Collection;
use super::state::CloudState;
use super::table::Obj;

/// A request, whole and owned, so that it can also be carried out later.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) method: String,
    /// The prefix of the service: `/network`.
    pub(super) service: String,
    /// The parts of the path below that, decoded.
    pub(super) path: Vec<String>,
    pub(super) query: Vec<(String, String)>,
    /// Names in lower case.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) bytes: Vec<u8>,
    /// What links begin with: `http://HOST:PORT`.
    pub(super) base: String,
}

/// Who asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Caller {
    pub(super) user: String,
    pub(super) project: String,
    pub(super) is_admin: bool,
}

/// One request on its way through a service.
pub(super) struct RequestContext<'a> {
    pub(super) state: &'a mut CloudState,
    pub(super) request: &'a Request,
    pub(super) caller: Caller,
    /// The body, if it is JSON; an empty object if there is none.
    pub(super) body: Value,
    /// The minor microversion that the client asks for; the oldest if it does not.
    pub(super) version: u32,
}

/// What is answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Content,
}

/// What an answer holds.
#[derive(Clone, Debug, Default)]
pub(super) enum Content {
    #[default]
    Nothing,
    Json(Value),
    Bytes(String, Vec<u8>),
}

/// A refusal: the status, the name that the service has for it, and the sentence.
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
    /// The first value of a parameter of the query.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The parts of the path, to be matched.
    pub(super) fn parts(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }
}

impl RequestContext<'_> {
    pub(super) fn now(&self) -> i64 {
        self.state.now
    }

    /// The object in the envelope of the body, or what the collection says to its absence.
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

    /// Whether the caller sees this object.
    pub(super) fn sees(&self, collection: &Collection, row: &Obj) -> bool {
        self.owns(row) || (collection.is_shared)(self, row)
    }

    /// Whether the object is the caller's to change.
    pub(super) fn owns(&self, row: &Obj) -> bool {
        self.caller.is_admin
            || row.get("project_id").is_none_or(|owner| *owner == json!(self.caller.project))
    }

    /// The object with this key, as far as the caller sees it.
    pub(super) fn find(&self, collection: &'static Collection, key: &str) -> Result<Obj, Refusal> {
        let row = self.state.get(collection.name, key).filter(|row| self.sees(collection, row));
        let named = || {
            let rows = self.state.table(collection.name).with("name", key);
            rows.into_iter().find(|row| self.sees(collection, row)).filter(|_| collection.by_name)
        };
        row.or_else(named).cloned().ok_or_else(|| collection.dialect.not_found(collection, key))
    }
}

/// A text field of an object; empty if it is not there.
pub(super) fn text<'a>(row: &'a Obj, field: &str) -> &'a str {
    row.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A number of an object; zero if it is not there.
pub(super) fn int(row: &Obj, field: &str) -> i64 {
    row.get(field).and_then(Value::as_i64).unwrap_or_default()
}

/// A flag of an object; false if it is not there.
pub(super) fn flag(row: &Obj, field: &str) -> bool {
    row.get(field).and_then(Value::as_bool).unwrap_or_default()
}

/// A list of an object; empty if it is not there.
pub(super) fn list<'a>(row: &'a Obj, field: &str) -> &'a [Value] {
    row.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The texts in a list of an object.
pub(super) fn strings(row: &Obj, field: &str) -> Vec<String> {
    list(row, field).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Sets a field.
pub(super) fn set(row: &mut Obj, field: &str, value: impl Into<Value>) {
    row.insert(field.to_owned(), value.into());
}

/// A JSON object as an [`Obj`]; empty if it is none.
pub(super) fn object(value: Value) -> Obj {
    match value {
        Value::Object(row) => row.into(),
        _ => Obj::new(),
    }
}
