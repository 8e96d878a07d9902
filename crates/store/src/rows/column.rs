//! Columns that hold one field of a row: each type of value is written and read in one way.

use super::state_named;
use crate::error::DbError;
use crate::sql::{Reader, Values};
use kiln_engine::alarms::{AlarmEventKind, AlarmState};
use kiln_engine::{
    Action, CommandId, EngineId, EventId, ObjectKind, RecipeId, ResourceId, SnapshotId, StackId,
    State, Time,
};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// A column for a field: `column!(root)`, or `column!("root", command.root)` if the names differ.
macro_rules! column {
    ($field:ident) => {
        column!(stringify!($field), $field)
    };
    ($name:expr, $($field:ident).+) => {
        $crate::table::Column::plain(
            $name,
            |row, to| $crate::rows::column::ColumnValue::write(&row.$($field).+, to),
            |row, from| {
                row.$($field).+ = $crate::rows::column::ColumnValue::read(from)?;
                Ok(())
            },
        )
    };
}

/// The column `status` of a state: `status_column!(state)`. It comes after the action, which its errors name.
macro_rules! status_column {
    ($($state:ident).+) => {
        $crate::table::Column::plain(
            "status",
            |row, to| to.text(row.$($state).+.status.name()),
            |row, from| $crate::rows::column::read_status(&mut row.$($state).+, from),
        )
    };
}

/// The column `body`, sealed and bound to the key of its row: `body_column!(Alarm, body)`.
macro_rules! body_column {
    ($kind:ident, $($field:ident).+) => {
        $crate::table::Column::sealed(
            "body",
            |row, cipher| {
                cipher.seal($crate::cipher::BodyKind::$kind, &row.key(), &row.$($field).+)
            },
            |row, cipher, sealed| {
                let kind = $crate::cipher::BodyKind::$kind;
                row.$($field).+ = cipher.open(kind, &row.key(), sealed)?;
                Ok(())
            },
        )
    };
}

pub(super) use {body_column, column, status_column};

/// A value that a column holds as it is.
pub(super) trait ColumnValue: Sized {
    /// Adds the value to those of a statement.
    fn write(&self, to: &mut Values);

    /// Reads the next value of a row.
    fn read(from: &mut Reader<'_>) -> Result<Self, DbError>;
}

/// Implements `ColumnValue`: a type, how its value is written, and how it is read.
macro_rules! values {
    ($($type:ty: |$value:ident, $to:ident| $write:expr, |$from:ident| $read:expr;)*) => {$(
        impl ColumnValue for $type {
            fn write(&self, $to: &mut Values) {
                let $value = self;
                $write
            }

            fn read($from: &mut Reader<'_>) -> Result<$type, DbError> {
                $read
            }
        }
    )*};
}

values! {
    Uuid: |it, to| to.id(*it), |from| from.id();
    Option<Uuid>: |it, to| to.maybe_id(*it), |from| from.maybe_id();
    u64: |it, to| to.count(*it), |from| from.count();
    bool: |it, to| to.small(i16::from(*it)), |from| Ok(from.int()? != 0);
    Time: |it, to| to.time(*it), |from| from.time();
    Option<Time>: |it, to| to.maybe_time(*it), |from| Ok(from.maybe_int()?.map(Time::from_micros));
    Duration: |it, to| to.int(i64::try_from(it.as_micros()).unwrap_or(i64::MAX)),
        |from| from.count().map(Duration::from_micros);
    String: |it, to| to.text(it), |from| from.text().map(Into::into);
    Option<String>: |it, to| to.maybe_text(it.as_deref()),
        |from| Ok(from.maybe_text()?.map(Into::into));
    Arc<str>: |it, to| to.text(it), |from| from.text().map(Into::into);
    Option<Arc<str>>: |it, to| to.maybe_text(it.as_deref()),
        |from| Ok(from.maybe_text()?.map(Into::into));
    Action: |it, to| to.text(it.name()), |from| known(from, "action", Action::parse);
    AlarmState: |it, to| to.text(it.name()), |from| known(from, "alarm state", AlarmState::parse);
    AlarmEventKind: |it, to| to.text(it.name()),
        |from| known(from, "kind of alarm event", AlarmEventKind::parse);
    ObjectKind: |it, to| to.text(it.name()),
        |from| known(from, "kind of object", ObjectKind::parse);
}

/// Implements `ColumnValue` for ids, which are UUIDs in the tables.
macro_rules! ids {
    ($($id:ident)*) => {
        values! {$(
            $id: |it, to| to.id(it.0), |from| from.id().map($id);
            Option<$id>: |it, to| to.maybe_id(it.map(|it| it.0)),
                |from| Ok(from.maybe_id()?.map($id));
        )*}
    };
}

ids!(CommandId EngineId EventId RecipeId ResourceId SnapshotId StackId);

/// Reads the status of a state whose action was read before.
pub(super) fn read_status(state: &mut State, from: &mut Reader<'_>) -> Result<(), DbError> {
    *state = state_named(state.action.name(), from.text()?)?;
    Ok(())
}

/// Reads a word that must be one of those that are known.
fn known<T>(
    from: &mut Reader<'_>,
    what: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, DbError> {
    let name = from.text()?;
    parse(name).ok_or_else(|| DbError::Damaged {
        what: format!("the {what} {name:?}"),
        why: format!("there is no such {what}; was it written by a newer Kiln?"),
    })
}
