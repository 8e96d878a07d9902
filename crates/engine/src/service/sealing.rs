//! Hidden values in the documents that leave the service, and come back when a stack is adopted.
//!
//! A secret of a document is encrypted with a key of the service. It can be decrypted for the same project, stack and
//! place in the document, so that nobody moves it to where it would be shown, or to another object.

use super::RequestError;
use crate::error_type::ErrorType;
use crate::export::SEALED;
use crate::record::Stored;
use crate::store::{SealError, Sealer};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kiln_template::{Members, Secret, Value, print};
use std::sync::Arc;

/// How a sealed value begins.
const PREFIX: &str = "kiln-sealed:";

/// A document whose hidden values are sealed or opened.
pub(super) struct Sealing<'s> {
    store: &'s dyn Sealer,
    project: &'s str,
    /// The id of the stack, as the document says it.
    stack: Arc<str>,
}

/// What stands in for a value at a place; `None` if the value stays.
type Replacement<'r> = dyn Fn(&Value, &str) -> Result<Option<Value>, RequestError> + 'r;

/// Which secrets of a document are sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sealed {
    /// All.
    All,
    /// Those that only this service can use; the others are written in clear.
    OwnOnly,
}

impl<'s> Sealing<'s> {
    /// The sealing of a project's document.
    pub(super) fn new(store: &'s dyn Sealer, project: &'s str, document: &Members) -> Sealing<'s> {
        let stack = document.get("id").and_then(Value::as_text).cloned();
        Sealing { store, project, stack: stack.unwrap_or_else(|| "".into()) }
    }

    /// A document without secrets: each is a text that only this service can open.
    pub(super) fn seal(&self, document: &Members, sealed: Sealed) -> Result<Value, RequestError> {
        self.replace(&Value::Map(Arc::new(document.clone())), "", &|value, place| {
            let Value::Secret(secret) = value else { return Ok(None) };
            if sealed == Sealed::OwnOnly && !place.ends_with(&format!("/{SEALED}")) {
                return Ok(Some(secret.expose().exposed()));
            }
            let bytes = rmp_serde::to_vec(&Stored(secret.expose().clone()));
            let bytes = bytes.map_err(|error| internal(&error))?;
            let bytes = self.store.seal(&self.purpose(place), &bytes)?;
            Ok(Some(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)).into()))
        })
    }

    /// A document with its secrets.
    pub(super) fn open(&self, document: &Members) -> Result<Members, RequestError> {
        let document = Value::Map(Arc::new(document.clone()));
        let opened = self.replace(&document, "", &|value, place| match value {
            Value::Text(text) => match text.strip_prefix(PREFIX) {
                Some(sealed) => self.open_value(sealed, place).map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        })?;
        Ok(opened.as_map().cloned().unwrap_or_default())
    }

    fn open_value(&self, sealed: &str, place: &str) -> Result<Value, RequestError> {
        let refused = |why: &SealError| match why {
            SealError::Store(_) => internal(why),
            SealError::UnknownKey(_) => bad(format!(
                "the hidden value at {place} cannot be opened: {why}. Adopt the stack where it was abandoned, add that key \
                 to the key file of this service, or replace the value in the document"
            )),
            SealError::Refused => bad(format!(
                "the hidden value at {place} cannot be opened: {why}. Adopt the document as it was abandoned, in the same \
                 project, or replace the value in the document"
            )),
        };
        let bytes = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| refused(&SealError::Refused))?;
        let bytes = self.store.open_sealed(&self.purpose(place), &bytes);
        let stored: Stored = rmp_serde::from_slice(&bytes.map_err(|why| refused(&why))?)
            .map_err(|error| internal(&error))?;
        Ok(Value::Secret(Secret::new(stored.0)))
    }

    /// What a value is sealed for.
    fn purpose(&self, place: &str) -> Vec<u8> {
        [self.project, &self.stack, place].join("\0").into_bytes()
    }

    /// A value in which others stand in for some, which `other` is asked for with their places.
    fn replace(
        &self,
        value: &Value,
        place: &str,
        other: &Replacement<'_>,
    ) -> Result<Value, RequestError> {
        if let Some(other) = other(value, place)? {
            return Ok(other);
        }
        match value {
            Value::List(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(at, it)| self.replace(it, &format!("{place}/{at}"), other));
                Ok(Value::list(items.collect::<Result<Vec<_>, _>>()?))
            }
            Value::Map(members) => {
                let place = format!("{place}{}", object(members));
                let members = members.iter().map(|(name, it)| {
                    let name = name.clone();
                    Ok((name.clone(), self.replace(it, &format!("{place}/{name}"), other)?))
                });
                Ok(Value::Map(Arc::new(members.collect::<Result<Members, RequestError>>()?)))
            }
            value => Ok(value.clone()),
        }
    }
}

/// The object that a part of a document is about; empty unless the part is a resource.
fn object(members: &Members) -> String {
    let text = |name: &str| members.get(name).and_then(Value::as_text);
    match (text("type"), text("resource_id")) {
        (Some(type_name), Some(id)) => format!("({type_name} {id})"),
        (Some(type_name), None) => format!("({type_name})"),
        _ => String::new(),
    }
}

/// Refuses a document in which stars stand for hidden values: the values are lost.
pub(super) fn refuse_stars(
    document: &Members,
    is_given: impl Fn(&str) -> bool,
) -> Result<(), RequestError> {
    let is_hidden = |value: &Value| value.as_text().is_some_and(|text| **text == *print::HIDDEN);
    let environment = document.get("environment").and_then(Value::as_map);
    let parameters = environment.and_then(|it| it.get("parameters")).and_then(Value::as_map);
    for (name, value) in parameters.into_iter().flatten() {
        if is_hidden(value) && !is_given(name) {
            return Err(bad(format!(
                "the value of parameter {name} was hidden when the document was written. Give it with the request"
            )));
        }
    }
    refuse_stars_in(document, &is_hidden)
}

fn refuse_stars_in(
    stack: &Members,
    is_hidden: &dyn Fn(&Value) -> bool,
) -> Result<(), RequestError> {
    let resources = stack.get("resources").and_then(Value::as_map).into_iter().flatten();
    for (name, resource) in resources.filter_map(|(name, it)| Some((name, it.as_map()?))) {
        let data = resource.get("resource_data").and_then(Value::as_map).into_iter().flatten();
        let id = resource.get("resource_id").map(|id| ("resource_id", id));
        for (entry, value) in data.map(|(entry, value)| (&**entry, value)).chain(id) {
            if is_hidden(value) {
                return Err(bad(format!(
                    "{entry} of resource {name} was hidden when the document was written. Replace it in the document"
                )));
            }
        }
        refuse_stars_in(resource, is_hidden)?;
    }
    Ok(())
}

fn bad(why: impl std::fmt::Display) -> RequestError {
    RequestError::new(ErrorType::HttpBadRequest, format!("Invalid adopt data: {why}."))
}

fn internal(error: &dyn std::fmt::Display) -> RequestError {
    tracing::error!(%error, "a hidden value could not be sealed or opened");
    RequestError::new(ErrorType::InternalError, "A hidden value could not be sealed or opened.")
}
