//! The machine: what happens to a tree of stacks, as a function of what it was and what came in.
//!
//! [`Machine::step`] takes one input and returns the effects that it calls for. The machine is pure: time and
//! ids are arguments, and it neither reads nor writes anything outside of the tree. The caller stores what
//! changed ([`Tree::take_batch`]) before it carries out an effect.
//!
//! The state is in the [`Tree`], whose methods answer questions about it; the methods of the machine change it.
//!
//! A *traversal* is an action on a stack: forward through the graph of its blueprint, each resource after
//! its dependencies, and then backwards through the resources that the goal has no place for. A create, an
//! update, a rollback and a delete are all traversals to a goal; only the goals differ. A newer command
//! replaces the traversal: what was done stays done, and operations that are running are awaited.

mod begin;
mod bug;
mod cleanup;
mod command;
mod contract;
mod deferred_cleanup;
mod end;
mod external;
mod finish;
mod for_each;
mod forward;
mod give_up;
mod hook;
mod invariants;
mod nested;
mod nodes;
mod observe;
mod operations;
mod reached;
mod recover;
mod refresh_outputs;
mod retry;
mod schedule;
mod signal;
mod snapshot;
mod stop;
mod timers;
mod traversal;

pub use bug::Bug;
pub use command::{Command, NewStack, StackSettings};
pub(crate) use forward::{Goal, comes_back};
pub use reached::{Reached, Transition};
pub(crate) use traversal::Traversal;

use crate::activity::ActivityLog;
use crate::ids::CommandId;
use crate::time::Time;
use crate::tree::{Env, OpId, Slot, StackKey, Tree};
use kiln_cloud::Reply;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::ResourceType;
use kiln_resources::op::{Context, Note, OpError};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// What comes in.
#[derive(Clone, Debug)]
pub enum Input {
    /// A command that a user gave.
    Command(CommandId, Box<Command>),
    /// An operation reports something about its resource.
    Notes(OpId, Vec<Note>),
    /// An operation is about to make a call.
    StepBegun(OpId, Arc<str>),
    /// The reply to a call of an operation.
    StepReplied(OpId, Arc<str>, Reply),
    /// An operation ended.
    Ended(OpId, Result<(), OpError>),
    /// An operation was stopped, as an effect asked for.
    Stopped(OpId),
    /// Some time has passed.
    Tick,
    /// The changes so far are on their way to the store: the machine goes on with its queue.
    Continue,
}

/// What the caller has to do once the changes of the step are durable.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// Run an operation.
    Run(Box<Run>),
    /// Stop an operation, and report that with [`Input::Stopped`].
    Stop(OpId),
    /// The metadata of a resource changed: operations that watch it go on.
    Changed(Slot),
}

/// An operation to be run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The id under which its inputs come back.
    pub(crate) op: OpId,
    /// The resource.
    pub(crate) slot: Slot,
    /// The type of the resource.
    pub(crate) resource_type: &'static ResourceType,
    /// What it does.
    pub(crate) kind: OperationKind,
    /// What it knows of its resource.
    pub(crate) context: Context,
}

/// Work that is left in the queue of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Task {
    /// A node of a schedule (with this id) of a stack's traversal is to be visited.
    Visit(StackKey, u64, usize),
    /// An operation ends without having run.
    FinishOperation(OpId),
    /// A stack's traversal may have come to an end.
    MaybeFinish(StackKey),
}

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// The time for a stack's action, or for winding it down, is over.
    Stack(StackKey),
    /// A pause between two tries, or two stages, is over.
    Resource(Slot, OpId),
}

/// A tree, and the work that is left to do in it.
pub struct Machine {
    /// The state.
    pub(crate) tree: Tree,
    /// The tasks that are left to do.
    pub(crate) queue: VecDeque<Task>,
    /// The times at which actions and pauses end.
    pub(crate) timers: BTreeSet<(Time, Timer)>,
    /// The effects of the step.
    pub(crate) effects: Vec<Effect>,
    /// What was done, for logs and metrics; and for which requests.
    pub(crate) activity: ActivityLog,
    /// Which transitions it has gone through.
    pub(crate) reached: Reached,
    /// What was met in this step that cannot occur.
    unhandled: Vec<(StackKey, String)>,
    /// What was met that cannot occur, for logs and metrics.
    bugs: Vec<Bug>,
    /// How many steps there were, to check invariants of large trees now and then.
    steps: usize,
}

impl Machine {
    /// The machine of a tree; [`Machine::resume`] starts it.
    pub(crate) fn new(tree: Tree) -> Machine {
        Machine {
            tree,
            queue: VecDeque::new(),
            timers: BTreeSet::new(),
            effects: Vec::new(),
            activity: ActivityLog::default(),
            reached: Reached::default(),
            unhandled: Vec::new(),
            bugs: Vec::new(),
            steps: 0,
        }
    }

    /// The state.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// When to call [`Machine::step`] with a tick at the latest, if nothing happens before.
    pub(crate) fn next_wake(&self) -> Option<Time> {
        self.timers.first().map(|(time, _)| *time)
    }

    /// Applies one input. The effects may be carried out once the changes are durable.
    pub(crate) fn step(&mut self, input: Input, env: &mut Env<'_>) -> Vec<Effect> {
        self.tree.moment = Some(env.now);
        match input {
            Input::Command(id, command) => {
                self.tree.changes.done.push(id);
                self.activity.set_request(Some(id.into()));
                self.command(env, *command);
            }
            Input::Notes(op, notes) => self.apply_notes(op, notes),
            Input::StepBegun(op, step) => self.record_step_begun(op, &step),
            Input::StepReplied(op, step, reply) => self.record_reply(op, &step, reply),
            Input::Ended(op, result) => self.operation_ended(env, op, result),
            Input::Stopped(op) => self.operation_stopped(env, op),
            Input::Tick => self.tick(env),
            Input::Continue => {}
        }
        self.run_queue(env);
        self.end_step(env)
    }

    /// Ends a step: what went wrong in it is handled, and in debug builds the state is checked.
    pub(crate) fn end_step(&mut self, env: &mut Env<'_>) -> Vec<Effect> {
        self.handle_bugs(env);
        self.activity.set_request(None);
        if cfg!(debug_assertions) {
            self.assert_invariants();
        }
        std::mem::take(&mut self.effects)
    }

    /// Whether the step was ended early, so that its changes are stored before the machine goes on.
    pub(crate) fn has_queued_tasks(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Works through the queue, until the step has changed as much as a step may.
    pub(crate) fn run_queue(&mut self, env: &mut Env<'_>) {
        self.tree.moment = Some(env.now);
        while self.tree.count_changes() < self.tree.config.max_changes_per_step
            && let Some(task) = self.queue.pop_front()
        {
            match task {
                Task::Visit(stack, traversal, node) => self.visit(env, stack, traversal, node),
                Task::FinishOperation(op) => self.operation_ended(env, op, Ok(())),
                Task::MaybeFinish(stack) => self.maybe_finish(env, stack),
            }
        }
    }
}
