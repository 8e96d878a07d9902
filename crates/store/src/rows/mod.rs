//! The rows of each table: one list of columns per table, with how each is written and read.

mod alarm;
mod command;
mod event;
mod object;
mod recipe;
mod resource;
mod snapshot;
mod stack;
mod tree;

pub(crate) use command::QueuedRow;
pub(crate) use recipe::NeedRow;
pub(crate) use stack::{NEVER_UPDATED, TagRow, class};
pub(crate) use tree::TreeRow;

use crate::error::DbError;
use crate::sql::Reader;
use kiln_engine::state::{Action, State, Status};
use kiln_engine::time::Time;
use uuid::Uuid;

/// What a row has before its columns are read.
const NO_STATE: State = State::new(Action::Init, Status::Complete);
const NO_TIME: Time = Time::from_micros(0);
const NO_ID: Uuid = Uuid::nil();

/// A word that must be one of those that are known.
fn known<T>(
    reader: &mut Reader<'_>,
    what: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, DbError> {
    let name = reader.text()?;
    parse(name).ok_or_else(|| unknown(what, name))
}

fn unknown(what: &str, name: &str) -> DbError {
    DbError::Damaged {
        what: format!("the {what} {name:?}"),
        why: format!("there is no such {what}; was it written by a newer Kiln?"),
    }
}

fn action(reader: &mut Reader<'_>) -> Result<Action, DbError> {
    known(reader, "action", Action::parse)
}

fn status(action: Action, reader: &mut Reader<'_>) -> Result<Status, DbError> {
    Ok(state_named(action.name(), reader.text()?)?.status)
}

/// The state of two names.
pub(crate) fn state_named(action: &str, status: &str) -> Result<State, DbError> {
    match (Action::parse(action), Status::parse(status)) {
        (Some(action), Some(status)) => Ok(State::new(action, status)),
        _ => Err(DbError::Damaged {
            what: format!("the state {action}_{status}"),
            why: "there is no such state; was it written by a newer Kiln?".to_owned(),
        }),
    }
}
