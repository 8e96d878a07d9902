//! A request as the handlers see it, and their replies.

use serde_json::{Value, json};

use super::Identity;
use super::error::ApiError;
use super::secret;
use super::time::Moment;
use super::token::{self, Subject};
use super::validation;
use crate::python;

/// A parsed request.
pub(super) struct Request<'a> {
    pub(super) identity: &'a Identity,
    pub(super) now: Moment,
    /// The beginning of links: `http://HOST:PORT`.
    pub(super) base: String,
    /// The path as it was sent.
    pub(super) path: String,
    /// The query as it was sent.
    pub(super) raw_query: String,
    pub(super) query: Vec<(String, String)>,
    /// The variable segments of the path, in order.
    pub(super) params: Vec<String>,
    /// The body; an empty object if there is no body.
    pub(super) body: Value,
    pub(super) token: Option<String>,
    pub(super) subject: Option<String>,
}

/// A reply.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Option<Value>,
}

pub(super) type Answer = Result<Reply, ApiError>;

impl Reply {
    pub(super) fn ok(body: Value) -> Reply {
        Reply { status: 200, headers: Vec::new(), body: Some(body) }
    }

    pub(super) fn created(body: Value) -> Reply {
        Reply { status: 201, ..Reply::ok(body) }
    }

    pub(super) fn done() -> Reply {
        Reply { status: 204, headers: Vec::new(), body: None }
    }

    pub(super) fn with(mut self, header: &'static str, value: String) -> Reply {
        self.headers.push((header, value));
        self
    }
}

impl Request<'_> {
    /// Returns the variable segment at this position.
    pub(super) fn param(&self, at: usize) -> &str {
        self.params.get(at).map_or("", String::as_str)
    }

    /// Returns a query parameter.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Reports whether a query parameter is present and not false.
    pub(super) fn has_flag(&self, name: &str) -> bool {
        self.query(name).is_some_and(|value| validation::parse_bool(value) != Some(false))
    }

    /// Authenticates the caller.
    pub(super) fn caller(&self) -> Result<Subject, ApiError> {
        let token = self.token.as_deref().ok_or_else(ApiError::unauthorized)?;
        self.examine(token, 0).map_err(|_| ApiError::unauthorized())
    }

    /// Validates a token; expired ones are accepted for the grace period in seconds.
    pub(super) fn examine(&self, token: &str, grace: u64) -> Result<Subject, ApiError> {
        let unknown = || ApiError::not_found("Could not recognize Fernet token");
        let claims = token::open(&self.identity.signing, token).ok_or_else(unknown)?;
        self.identity.read(|state| token::examine(state, claims, self.now, grace))
    }

    /// Returns the time at which every token issued until now has expired.
    pub(super) fn token_expiry(&self) -> Moment {
        self.now.plus_seconds(self.identity.lifetime)
    }

    /// Returns a link below `/v3`.
    pub(super) fn link(&self, path: &str) -> String {
        format!("{}/v3/{path}", self.base)
    }

    /// Adds the link of a record to itself.
    pub(super) fn with_self_link(&self, mut record: Value, collection: &str, id: &str) -> Value {
        record["links"] = json!({ "self": self.link(&format!("{collection}/{id}")) });
        record
    }

    /// Answers a list request: the rows that match the filters in the query, with pagination.
    pub(super) fn list(&self, key: &str, rows: Vec<Value>, filters: &[&str]) -> Answer {
        for name in filters.iter().filter(|name| **name == "enabled") {
            if let Some(word) =
                self.query(name).filter(|word| validation::parse_bool(word).is_none())
            {
                let why = format!(
                    "{} is not one of the words for true and false",
                    python::repr(&json!(word))
                );
                return Err(validation::invalid(name, &json!(word), &why));
            }
        }
        let rows = rows.into_iter().filter(|row| self.matches_filters(row, filters)).collect();
        let (rows, next) = self.page(rows)?;
        let mut url = format!("{}{}", self.base, self.path);
        if !self.raw_query.is_empty() {
            url = format!("{url}?{}", self.raw_query);
        }
        let links = json!({ "next": next, "self": url, "previous": null });
        let mut body = json!({ key: rows, "links": links });
        if !next.is_null() || self.query("limit") == Some("0") {
            body["truncated"] = json!(true);
        }
        Ok(Reply::ok(body))
    }

    fn matches_filters(&self, row: &Value, filters: &[&str]) -> bool {
        self.query.iter().all(|(key, wanted)| {
            let (field, how) = key.split_once("__").unwrap_or((key, "equals"));
            if !filters.contains(&field) {
                return true;
            }
            let wanted = wanted.as_str();
            match (&row[field], how) {
                (Value::Bool(flag), "equals") => validation::parse_bool(wanted) == Some(*flag),
                (Value::String(text), "equals") => text == wanted,
                (Value::String(text), "contains") => text.contains(wanted),
                (Value::String(text), "startswith") => text.starts_with(wanted),
                (Value::String(text), "endswith") => text.ends_with(wanted),
                (Value::String(text), "icontains") => {
                    text.to_lowercase().contains(&wanted.to_lowercase())
                }
                (Value::String(text), "istartswith") => {
                    text.to_lowercase().starts_with(&wanted.to_lowercase())
                }
                (Value::String(text), "iendswith") => {
                    text.to_lowercase().ends_with(&wanted.to_lowercase())
                }
                (_, "equals") => false,
                _ => true,
            }
        })
    }

    /// Returns the page that `limit` and `marker` select, and the link to the next one.
    fn page(&self, mut rows: Vec<Value>) -> Result<(Vec<Value>, Value), ApiError> {
        if let Some(marker) = self.query("marker").filter(|marker| !marker.is_empty()) {
            let at = rows.iter().position(|row| row["id"] == marker).ok_or_else(|| {
                ApiError::not_found(format!("Marker {marker} could not be found."))
            })?;
            rows.drain(..=at);
        }
        let Some(limit) = self.query("limit") else { return Ok((rows, Value::Null)) };
        let limit: i64 = limit.parse().map_err(|_| {
            validation::invalid("limit", &json!(limit), "the limit is not a whole number")
        })?;
        let Ok(limit) = usize::try_from(limit) else { return Ok((rows, Value::Null)) };
        if rows.len() <= limit || limit == 0 {
            rows.truncate(limit);
            return Ok((rows, Value::Null));
        }
        rows.truncate(limit);
        let last = rows.last().and_then(|row| row["id"].as_str()).unwrap_or_default();
        let kept = self.raw_query.split('&').filter(|part| !part.starts_with("marker="));
        let query: Vec<&str> = kept.collect();
        let next = format!("{}{}?{}&marker={last}", self.base, self.path, query.join("&"));
        Ok((rows, json!(next)))
    }
}

/// Draws an id for a new record.
pub(super) fn new_id() -> Result<String, ApiError> {
    Ok(secret::new_id()?)
}
