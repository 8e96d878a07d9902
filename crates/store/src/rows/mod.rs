//! The rows of each table: one list of columns per table, with how each is written and read.

mod alarm;
mod column;
mod command;
mod event;
mod object;
mod quota;
mod recipe;
mod resource;
mod snapshot;
mod stack;
mod texts;
mod tree;

pub(crate) use command::QueuedRow;
pub(crate) use quota::QuotaRow;
pub(crate) use recipe::NeedRow;
pub(crate) use stack::{NEVER_UPDATED, TagRow, class};
pub(crate) use texts::{HasTexts, Texts};
pub(crate) use tree::TreeRow;

use crate::error::DbError;
use kiln_engine::{Action, State, Status, Time};
use uuid::Uuid;

/// The values of a row before its columns are read.
const NO_STATE: State = State::new(Action::Init, Status::Complete);
const NO_TIME: Time = Time::from_micros(0);
const NO_ID: Uuid = Uuid::nil();

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
