//! The machine: what happens to a tree of stacks, as a function of what it was and what came in.
//!
//! [`Tree::step`] takes one input and gives the effects that it calls for. It draws no breath of the
//! world: time and ids are handed in, and nothing here reads or writes. Whoever drives it writes down
//! what changed ([`Tree::take_batch`]) before an effect touches the world.
//!
//! A *traversal* is an action carried out on a stack: forward through the graph of its blueprint, each
//! resource after what it needs, and then backwards through what is no longer wanted. A create, an
//! update, a rollback and a delete are all traversals to a goal; only the goals differ. A newer wish
//! replaces the traversal: what was done stays done, and what is under way is awaited.

mod cleanup;
mod command;
mod deferred_cleanup;
mod external;
mod finish;
mod for_each;
mod forward;
mod hook;
mod nested;
mod operations;
mod recover;
mod refresh_outputs;
mod retry;
mod signal;
mod snapshot;
mod stop;
mod timers;
mod traversal;

pub use command::{Command, NewStack, Settings};
pub(crate) use forward::Goal;
pub(crate) use traversal::Phase;
pub use traversal::Traversal;

use crate::ids::CommandId;
use crate::tree::{Env, OpId, Slot, StackKey, Tree};
use kiln_cloud::Reply;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::ResourceType;
use kiln_resources::op::{Context, Note, OpError};
use std::sync::Arc;

/// What comes in.
#[derive(Clone, Debug)]
pub enum Input {
    /// Somebody wants something.
    Command(CommandId, Box<Command>),
    /// An operation says something of its resource.
    Notes(OpId, Vec<Note>),
    /// An operation is about to make a call.
    StepBegun(OpId, Arc<str>),
    /// A call that an operation made was replied to.
    StepReplied(OpId, Arc<str>, Reply),
    /// An operation ended.
    Ended(OpId, Result<(), OpError>),
    /// An operation that was told to stop has stopped.
    Stopped(OpId),
    /// Some time has passed.
    Tick,
    /// What changed so far is being written down: the rest of what has to be looked at.
    Continue,
}

/// What is to be done in the world, after what was decided is durable.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Run an operation.
    Run(Box<Run>),
    /// Stop an operation, and say so.
    OpError(OpId),
    /// The metadata of a resource changed: whoever watches it should look.
    Changed(Slot),
}

/// An operation to be run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its number.
    pub op: OpId,
    /// The resource.
    pub slot: Slot,
    /// The type of the resource.
    pub resource_type: &'static ResourceType,
    /// What is done.
    pub kind: OperationKind,
    /// What it is told.
    pub context: Context,
}

/// What has to be looked at before a step is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Task {
    /// A node of a stack's traversal, the one of this number, has what it needs.
    Visit(StackKey, u64, usize),
    /// An operation on a resource is over without having run.
    FinishOperation(OpId),
    /// A stack's traversal may have come to an end.
    MaybeFinish(StackKey),
}

impl Tree {
    /// Takes one input. The effects may be carried out once what changed is durable.
    pub fn step(&mut self, input: Input, env: &mut Env<'_>) -> Vec<Effect> {
        match input {
            Input::Command(id, command) => {
                self.changes.done.push(id);
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
        self.activity.set_request(None);
        std::mem::take(&mut self.effects)
    }

    /// Whether something is left to be looked at once what changed is on its way to the store.
    pub fn has_queued_tasks(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Looks at everything that has to be looked at, until a good deal has changed.
    pub(crate) fn run_queue(&mut self, env: &mut Env<'_>) {
        while self.count_changes() < self.config.max_changes_per_step
            && let Some(task) = self.queue.pop_front()
        {
            match task {
                Task::Visit(stack, traversal, node) => self.visit(env, stack, traversal, node),
                Task::FinishOperation(op) => self.operation_ended(env, op, Ok(())),
                Task::MaybeFinish(stack) => self.maybe_finish(env, stack),
            }
        }
    }

    fn visit(&mut self, env: &mut Env<'_>, stack: StackKey, number: u64, node: usize) {
        if self.stacks[stack.0 as usize].is_none() {
            return;
        }
        let Some(traversal) =
            self.traversal_mut(stack).filter(|traversal| traversal.traversal_id == number)
        else {
            return;
        };
        traversal.queued -= 1;
        match traversal.phase {
            Phase::Forward => self.visit_forward(env, stack, node),
            Phase::Cleanup => self.visit_cleanup(env, stack, node),
            Phase::ForEach => self.visit_for_each(env, stack, node),
            Phase::Refresh => self.visit_refresh(env, stack, node),
            Phase::Deferred => {}
        }
        let is_idle = self.traversal_mut(stack).is_some_and(|traversal| traversal.queued == 0);
        if is_idle {
            self.queue.push_back(Task::MaybeFinish(stack));
        }
    }
}
