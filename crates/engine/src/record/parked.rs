//! Trees that cannot be read: they are shown as failed, with what to do, until an engine can read them.

use crate::blueprint::Recipe;
use crate::config::Config;
use crate::failure::first_characters;
use crate::ids::{CommandId, EventId};
use crate::state::{Action, State, Status};
use crate::store::{Batch, EventRow, Lease, StackRow, StoreError, TreeRows};
use crate::summary::StackSummary;
use crate::time::Time;
use crate::tree::{Env, Stack, Tree};
use std::sync::Arc;

/// How the reason of a parked stack begins.
const PARKED: &str = "The records of this stack cannot be read";

/// The words before the former status in the reason of a parked stack.
const WAS: &str = "It was ";

/// The longest reason of an event.
const LONGEST_REASON: usize = 255;

/// Whether a root stack is shown as failed because its tree could not be read.
pub(crate) fn is_parked(row: &StackRow) -> bool {
    row.parent.is_none()
        && row.summary.state.status == Status::Failed
        && row.summary.reason.starts_with(PARKED)
}

/// The state of a parked stack that can be read again, and the reason for it.
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

/// Marks the root of a tree as failed, with an event, and leaves its body as it is: an engine that can read the tree
/// goes on with it.
pub(crate) fn parking_batch(
    root: &StackRow,
    last_event: u64,
    lease: Lease,
    error: &StoreError,
    (id, now): (EventId, Time),
) -> Batch {
    let state = State::new(root.summary.state.action, Status::Failed);
    let advice = match error {
        StoreError::Newer { .. } => "upgrade all engines",
        _ => "restore the database from a backup, or run the version of Kiln that wrote it",
    };
    let what = match error {
        StoreError::Damaged { what, why } => format!("{what}: {why}"),
        StoreError::Newer { what, .. } => format!("{what} was written by a newer version"),
        other => other.to_string(),
    };
    let before = root.summary.state.status;
    let reason = format!("{PARKED}, and nothing is done to it; {advice}. {WAS}{before}. ({what})");
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
    pub(crate) fn refuse_command(&mut self, env: &mut Env<'_>, id: CommandId, why: &str) {
        self.changes.done.push(id);
        let reason =
            format!("A request could not be read and was not carried out; send it again. ({why})");
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
