//! The machine: what happens to a tree of stacks, as a function of what it was and what came in.
//!
//! [`Tree::step`] takes one input and gives the effects that it calls for. It draws no breath of the
//! world: time and ids are handed in, and nothing here reads or writes. Whoever drives it writes down
//! what changed ([`Tree::take_batch`]) before an effect touches the world.
//!
//! A *walk* is an action carried out on a stack: forward through the graph of its blueprint, each
//! resource after what it needs, and then backwards through what is no longer wanted. A create, an
//! update, a rollback and a delete are all walks to a goal; only the goals differ. A newer wish
//! replaces the walk: what was done stays done, and what is under way is awaited.

mod child;
mod cleanup;
mod command;
mod due;
mod ending;
mod external;
mod forward;
mod hook;
mod look;
mod ops;
mod over;
mod recover;
mod rest;
mod retry;
mod signal;
mod snapshot;
mod stop;
mod walk;

pub use command::{Command, NewStack, Settings};
pub(crate) use forward::Goal;
pub(crate) use walk::Phase;
pub use walk::Walk;

use crate::ids::CommandId;
use crate::tree::{Env, OpId, Slot, StackKey, Tree};
use kiln_cloud::Reply;
use kiln_resources::behaviour::Verb;
use kiln_resources::declare::ResourceType;
use kiln_resources::op::{Context, Note, Stop};
use std::sync::Arc;

/// What comes in.
#[derive(Clone, Debug)]
pub enum Input {
    /// Somebody wants something.
    Command(CommandId, Box<Command>),
    /// An operation says something of its resource.
    Said(OpId, Vec<Note>),
    /// An operation is about to make a call.
    Begun(OpId, Arc<str>),
    /// A call that an operation made was replied to.
    Replied(OpId, Arc<str>, Reply),
    /// An operation ended.
    Ended(OpId, Result<(), Stop>),
    /// An operation that was told to stop has stopped.
    Stopped(OpId),
    /// Some time has passed.
    Time,
    /// What changed so far is being written down: the rest of what has to be looked at.
    Further,
}

/// What is to be done in the world, after what was decided is durable.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Run an operation.
    Run(Box<Run>),
    /// Stop an operation, and say so.
    Stop(OpId),
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
    pub kind: &'static ResourceType,
    /// What is done.
    pub verb: Verb,
    /// What it is told.
    pub context: Context,
}

/// What has to be looked at before a step is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Task {
    /// A node of a stack's walk, the one of this number, has what it needs.
    Visit(StackKey, u64, usize),
    /// An operation on a resource is over without having run.
    Over(OpId),
    /// A stack's walk may have come to an end.
    Settle(StackKey),
}

impl Tree {
    /// Takes one input. The effects may be carried out once what changed is durable.
    pub fn step(&mut self, input: Input, env: &mut Env<'_>) -> Vec<Effect> {
        match input {
            Input::Command(id, command) => {
                self.changes.done.push(id);
                self.command(env, *command);
            }
            Input::Said(op, notes) => self.said(op, notes),
            Input::Begun(op, step) => self.begun(op, &step),
            Input::Replied(op, step, reply) => self.replied(op, &step, reply),
            Input::Ended(op, result) => self.ended(env, op, result),
            Input::Stopped(op) => self.stopped(env, op),
            Input::Time => self.time(env),
            Input::Further => {}
        }
        self.work_off(env);
        std::mem::take(&mut self.effects)
    }

    /// Whether something is left to be looked at once what changed is on its way to the store.
    pub fn has_more(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Looks at everything that has to be looked at, until a good deal has changed.
    pub(crate) fn work_off(&mut self, env: &mut Env<'_>) {
        while self.count_changes() < self.config.stride
            && let Some(task) = self.queue.pop_front()
        {
            match task {
                Task::Visit(stack, walk, node) => self.visit(env, stack, walk, node),
                Task::Over(op) => self.ended(env, op, Ok(())),
                Task::Settle(stack) => self.settle(env, stack),
            }
        }
    }

    fn visit(&mut self, env: &mut Env<'_>, stack: StackKey, number: u64, node: usize) {
        if self.stacks[stack.0 as usize].is_none() {
            return;
        }
        let Some(walk) = self.walk_mut(stack).filter(|walk| walk.number == number) else { return };
        walk.waiting -= 1;
        match walk.phase {
            Phase::Forward => self.visit_forward(env, stack, node),
            Phase::Cleanup => self.visit_cleanup(env, stack, node),
            Phase::Over => self.visit_over(env, stack, node),
            Phase::Look => self.visit_look(env, stack, node),
            Phase::Resting => {}
        }
        let is_idle = self.walk_mut(stack).is_some_and(|walk| walk.waiting == 0);
        if is_idle {
            self.queue.push_back(Task::Settle(stack));
        }
    }
}
