//! Parked trees, to which nothing is done for now: they are shown as failed, with what to do, until an engine goes on with them.

use crate::blueprint::Recipe;
use crate::config::Config;
use crate::failure::first_characters;
use crate::ids::{CommandId, EventId, StackId};
use crate::state::{Action, State, Status};
use crate::store::{Batch, EventRow, Lease, StackRow, StoreError, TreeRows};
use crate::summary::StackSummary;
use crate::time::Time;
use crate::tree::{Env, Stack, Tree};
use std::sync::Arc;

/// Why a tree is parked.
#[derive(Clone, Debug)]
pub(crate) enum ParkCause {
    /// Its records cannot be read, for this reason.
    Damaged(String),
    /// A newer version wrote this record of it.
    Newer(String),
    /// The store does not accept what is to be written, for this reason.
    Refused(Arc<str>),
    /// The work on it ended in a panic.
    Panicked,
}

/// How the reason of a parked stack begins.
const UNREADABLE: &str = "The records of this stack cannot be read";
const REFUSED: &str = "The database does not accept the records of this stack";
const PANICKED: &str = "A defect of Kiln stopped the work on this stack";

/// The words before the former status in the reason of a parked stack.
const WAS: &str = "It was ";

/// The longest reason of an event.
const LONGEST_REASON: usize = 255;

/// Why a command is taken out of the queue without being carried out.
pub(crate) enum CommandRefusal {
    /// It cannot be decoded, for this reason.
    Unreadable(String),
    /// The store does not accept what it leads to, for this reason.
    NotStored(Arc<str>),
}

impl ParkCause {
    /// The cause, if an error of the store is one: an outage of the store is none.
    pub(crate) fn of(error: &StoreError) -> Option<ParkCause> {
        match error {
            StoreError::Damaged { what, why } => Some(ParkCause::Damaged(format!("{what}: {why}"))),
            StoreError::Newer { what, .. } => Some(ParkCause::Newer(what.clone())),
            StoreError::Refused(why) => Some(ParkCause::Refused(why.to_string().into())),
            StoreError::Unavailable(_) => None,
        }
    }

    /// The reason that the root stack gets, which has this id and status.
    fn reason(&self, id: StackId, before: Status) -> String {
        let (begin, advice, what) = match self {
            ParkCause::Damaged(what) => (
                UNREADABLE,
                "restore the database from a backup, or run the version of Kiln that wrote it"
                    .to_owned(),
                what.clone(),
            ),
            ParkCause::Newer(what) => (
                UNREADABLE,
                "upgrade all engines".to_owned(),
                format!("{what} was written by a newer version"),
            ),
            ParkCause::Refused(why) => {
                (REFUSED, format!("see `kiln admin stack inspect {id}`"), why.to_string())
            }
            ParkCause::Panicked => (
                PANICKED,
                "report it with the engine's log".to_owned(),
                "a task panicked".to_owned(),
            ),
        };
        format!("{begin}, and nothing is done to it; {advice}. {WAS}{before}. ({what})")
    }
}

/// Whether a root stack is shown as failed because its tree is parked.
pub fn is_parked(row: &StackRow) -> bool {
    let is_said = |begin| row.summary.reason.starts_with(begin);
    row.parent.is_none()
        && row.summary.state.status == Status::Failed
        && [UNREADABLE, REFUSED, PANICKED].into_iter().any(is_said)
}

/// The state of a parked stack that an engine goes on with, and the reason for it.
pub(crate) fn state_before_parking(
    row: &StackRow,
    action_under_way: Option<Action>,
) -> (State, Arc<str>) {
    let action = action_under_way.unwrap_or(row.summary.state.action);
    let was_complete = row.summary.reason.contains(&format!("{WAS}{}", Status::Complete));
    let (status, reason) = match action_under_way {
        Some(_) => (Status::InProgress, format!("Stack {action} started")),
        None if was_complete => {
            (Status::Complete, format!("Stack {action} completed successfully"))
        }
        None => (Status::Failed, format!("Stack {action} failed")),
    };
    (State::new(action, status), reason.into())
}

/// Marks the root of a tree as failed, with an event, and leaves its body as it is: an engine goes on with it later.
pub(crate) fn parking_batch(
    root: &StackRow,
    last_event: u64,
    lease: Lease,
    cause: &ParkCause,
    (id, now): (EventId, Time),
) -> Batch {
    let state = State::new(root.summary.state.action, Status::Failed);
    let reason = cause.reason(root.id, root.summary.state.status);
    let reason: Arc<str> = first_characters(&reason, LONGEST_REASON).into();
    let event = EventRow {
        id,
        stack: root.id,
        root: root.id,
        number: last_event + 1,
        time: now,
        resource: root.summary.name.clone(),
        kind: "OS::Heat::Stack".into(),
        physical_id: root.id.to_string().into(),
        state,
        reason: reason.clone(),
        body: Vec::new(),
    };
    Batch {
        root: root.id,
        fence: lease.fence,
        contents: Vec::new(),
        recipes: Vec::new(),
        dropped_recipes: Vec::new(),
        stacks: vec![StackRow {
            summary: StackSummary { state, reason, ..root.summary.clone() },
            ..root.clone()
        }],
        resources: Vec::new(),
        dropped_resources: Vec::new(),
        snapshots: Vec::new(),
        dropped_snapshots: Vec::new(),
        events: vec![event],
        done: Vec::new(),
        has_work: true,
    }
}

impl Tree {
    /// Takes a command out of the queue that cannot be carried out, with an event that says why.
    pub(crate) fn refuse_command(
        &mut self,
        env: &mut Env<'_>,
        id: CommandId,
        refusal: &CommandRefusal,
    ) {
        self.changes.done.push(id);
        let reason = match refusal {
            CommandRefusal::Unreadable(why) => format!(
                "A request could not be read and was not carried out; send it again. ({why})"
            ),
            CommandRefusal::NotStored(why) => format!(
                "A request was not carried out, because the database does not accept what it leads to; change it and send \
                 it again. ({why})"
            ),
        };
        let reason = first_characters(&reason, LONGEST_REASON).to_owned();
        let state = State::new(Action::Signal, Status::Failed);
        self.stack_event(env, self.root_key(), state, &reason);
    }
}

/// A tree of which no more than the columns of the root stack can be read, to be shown.
pub(crate) fn placeholder_tree(config: Arc<Config>, rows: &TreeRows) -> Option<Tree> {
    let row = rows.stacks.first()?;
    let mut tree = Tree::empty(config, row.id, row.project.clone(), row.user_name.clone());
    tree.next_event = rows.last_event;
    let recipe = Recipe::nothing(row.recipe);
    tree.stacks.push(Some(Stack::new(row.id, row.summary.clone(), Arc::new(recipe))));
    Some(tree)
}
