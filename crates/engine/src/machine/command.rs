//! Commands: what users ask of a stack.

use super::Machine;
use super::reached::Transition;
use super::traversal::{Objects, TraversalSpec};
use crate::blueprint::Recipe;
use crate::config::Config;
use crate::ids::{SnapshotId, StackId};
use crate::request_id::RequestId;
use crate::state::{Action, State, Status};
use crate::summary::StackSummary;
use crate::tree::{Env, Stack, StackKey, Tree};
use kiln_cloud::Credential;
use kiln_template::{Members, Value};
use std::sync::Arc;
use std::time::Duration;

/// A command to a stack of the tree.
#[derive(Clone, Debug)]
pub enum Command {
    /// Update the stack.
    Update {
        /// The recipe to update to.
        recipe: Arc<Recipe>,
        /// What else changes.
        settings: StackSettings,
    },
    /// Delete the stack.
    Delete,
    /// Cancel the create or the update that is in progress.
    Cancel {
        /// Whether the stack is rolled back then.
        with_rollback: bool,
    },
    /// Suspend, resume or check every resource of a stack.
    ForEach(StackId, Action),
    /// Delete the records of the stack, and keep its objects.
    Abandon,
    /// Take a snapshot.
    Snapshot {
        /// The id of the snapshot.
        id: SnapshotId,
        /// The name that the user gave it.
        name: Option<Arc<str>>,
        /// How many snapshots the stack may have, this one included.
        limit: Option<u64>,
    },
    /// Delete a snapshot, with the copies that belong to it.
    DeleteSnapshot(SnapshotId),
    /// Restore the stack from a snapshot.
    Restore(SnapshotId),
    /// Send a signal to a resource.
    Signal {
        /// The resource's stack.
        stack: StackId,
        /// The resource.
        resource: Arc<str>,
        /// The details of the signal.
        details: Value,
    },
    /// Mark a resource as healthy or unhealthy.
    Mark {
        /// The resource's stack.
        stack: StackId,
        /// The resource.
        resource: Arc<str>,
        /// Whether it is healthy.
        is_healthy: bool,
        /// Why.
        reason: Arc<str>,
    },
}

impl Command {
    /// What it does, in a word or two.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Update { .. } => "update",
            Command::Delete => "delete",
            Command::Cancel { .. } => "cancel",
            Command::ForEach(_, Action::Suspend) => "suspend",
            Command::ForEach(_, Action::Resume) => "resume",
            Command::ForEach(..) => "check",
            Command::Abandon => "abandon",
            Command::Snapshot { .. } => "snapshot",
            Command::DeleteSnapshot(_) => "delete snapshot",
            Command::Restore(_) => "restore",
            Command::Signal { .. } => "signal",
            Command::Mark { .. } => "mark",
        }
    }
}

/// The settings of a stack besides its recipe.
#[derive(Clone, Debug, Default)]
pub struct StackSettings {
    /// The tags, if they change.
    pub tags: Option<Vec<Arc<str>>>,
    /// How long an action may take, if that changes.
    pub timeout: Option<Duration>,
    /// Whether a failed create or update is rolled back, if that changes.
    pub is_rolled_back: Option<bool>,
    /// The credential of its calls, if that changes.
    pub credential: Option<Arc<Credential>>,
    /// Whether objects are read and compared with their definitions.
    pub converges: bool,
}

/// A root stack that is to be created.
#[derive(Clone, Debug)]
pub struct NewStack {
    /// Its id.
    pub id: StackId,
    /// Its name.
    pub name: Arc<str>,
    /// The project that it belongs to.
    pub project: Arc<str>,
    /// The name of the user who made it.
    pub user_name: Arc<str>,
    /// Its template, files, environment and parameters.
    pub recipe: Arc<Recipe>,
    /// Its other settings.
    pub settings: StackSettings,
    /// The data of existing objects that are to be adopted, by the names of their resources; `None` if
    /// objects are to be created.
    pub adopted: Option<Arc<Members>>,
    /// How many stacks make it, one through the other: none if a user does.
    pub makers: u64,
    /// The request that asked for it, if that is known.
    pub request: Option<RequestId>,
}

impl Machine {
    pub(crate) fn command(&mut self, env: &mut Env<'_>, command: Command) {
        let root = self.tree.root_key();
        match command {
            Command::Update { recipe, settings } => self.update(env, root, recipe, settings),
            Command::Delete => self.delete(env, root, Objects::Remove),
            Command::Abandon => {
                // The users of the stack stay with its objects.
                self.tree.users = None;
                self.delete(env, root, Objects::Keep);
            }
            Command::Snapshot { id, name, limit } => self.take_snapshot(env, id, name, limit),
            Command::DeleteSnapshot(id) => self.delete_snapshot(env, id),
            Command::Restore(id) => self.restore(env, id),
            Command::Cancel { with_rollback } => self.cancel_root(env, root, with_rollback),
            Command::ForEach(stack, action) => {
                if let Some(key) = self.tree.key_of(stack) {
                    self.run_on_each(env, key, action);
                }
            }
            Command::Signal { stack, resource, details } => {
                self.signal(env, stack, &resource, &details);
            }
            Command::Mark { stack, resource, is_healthy, reason } => {
                self.mark_health(env, stack, &resource, is_healthy, &reason);
            }
        }
    }

    pub(crate) fn update(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        recipe: Arc<Recipe>,
        settings: StackSettings,
    ) {
        if self.tree.stack(key).summary.state.action == Action::Delete {
            // A delete was quicker.
            self.reached.hit(Transition::CommandIgnored);
            settings.credential.into_iter().for_each(|unused| self.tree.revoke_later(unused));
            return;
        }
        if recipe.contract.as_ref().is_some_and(|it| it.base != self.tree.record_hash()) {
            // Nothing is done, and an event says so.
            self.reached.hit(Transition::CommandIgnored);
            settings.credential.into_iter().for_each(|unused| self.tree.revoke_later(unused));
            let failed = State::new(Action::Update, Status::Failed);
            return self.tree.stack_event(env, key, failed, super::contract::MOVED);
        }
        let stack = self.tree.stack_mut(key);
        if let Some(tags) = settings.tags {
            stack.summary.tags = tags;
        }
        stack.timeout = settings.timeout.or(stack.timeout);
        stack.is_rolled_back = settings.is_rolled_back.unwrap_or(stack.is_rolled_back);
        if let Some(credential) = settings.credential {
            self.tree.use_credential(credential);
        }
        let spec = TraversalSpec::new(Action::Update, Some(recipe));
        let spec = TraversalSpec { converges: settings.converges, ..spec };
        self.begin_and_start(env, key, spec);
    }

    fn delete(&mut self, env: &mut Env<'_>, key: StackKey, objects: Objects) {
        let stack = self.tree.stack(key);
        if stack.summary.deleted.is_some() {
            return;
        }
        if let Some(traversal) = &stack.traversal {
            if traversal.action == Action::Delete && traversal.failure.is_none() {
                return;
            }
            // The interrupted action ends here, with an event.
            let failed = State::new(traversal.action, Status::Failed);
            if stack.summary.state != failed {
                let reason = format!("Stack {} cancelled", failed.action);
                self.tree.stack_event(env, key, failed, &reason);
            }
        }
        let spec = TraversalSpec::new(Action::Delete, None);
        self.begin_traversal(env, key, TraversalSpec { objects, ..spec });
        self.delete_snapshots();
        self.enter_phase(env, key);
        self.stop_all(env, key);
    }

    fn cancel_root(&mut self, env: &mut Env<'_>, key: StackKey, with_rollback: bool) {
        let traversal = self.tree.traversal(key).filter(|traversal| {
            matches!(traversal.action, Action::Update | Action::Create)
                && traversal.failure.is_none()
        });
        let Some(action) = traversal.map(|traversal| traversal.action) else {
            // The action was quicker, or is one that cannot be cancelled.
            return self.reached.hit(Transition::CommandIgnored);
        };
        self.reached.hit(Transition::TraversalCancelled);
        match with_rollback {
            // Operations that are running are awaited, and what they have done is undone.
            true => self.roll_back(env, key, action, None),
            false => self.wind_down(env, key),
        }
    }

    fn run_on_each(&mut self, env: &mut Env<'_>, key: StackKey, action: Action) {
        let stack = self.tree.stack(key);
        let is_done = stack.summary.state.is(action, Status::Complete) && action != Action::Check;
        let is_under_way =
            stack.traversal.is_some() && stack.summary.state.status == Status::InProgress;
        if is_under_way || is_done {
            return self.reached.hit(Transition::CommandIgnored);
        }
        self.begin_traversal(env, key, TraversalSpec::new(action, None));
        self.enter_phase(env, key);
    }
}

impl Tree {
    /// Creates a tree whose root stack is about to be created; its owner starts the traversal.
    pub fn create(config: Arc<Config>, new: NewStack, env: &mut Env<'_>) -> Tree {
        let mut tree = Tree::empty(config, new.id, new.project, new.user_name);
        tree.makers = new.makers;
        tree.credential = new.settings.credential.unwrap_or_default();
        let action = if new.adopted.is_some() { Action::Adopt } else { Action::Create };
        let state = State::new(action, Status::InProgress);
        let summary = StackSummary {
            tags: new.settings.tags.unwrap_or_default(),
            ..StackSummary::new(new.name, state, env.now)
        };
        let key = tree.add_stack(Stack {
            timeout: new.settings.timeout,
            is_rolled_back: new.settings.is_rolled_back.unwrap_or(false),
            ..Stack::new(new.id, summary, new.recipe)
        });
        let mut machine = Machine::new(tree);
        machine.activity.set_request(new.request);
        let spec = TraversalSpec::new(action, None);
        machine.begin_traversal(env, key, TraversalSpec { adopted: new.adopted, ..spec });
        machine.tree
    }

    pub(crate) fn key_of(&self, id: StackId) -> Option<StackKey> {
        let at = self.stacks.iter().position(|stack| stack.as_ref().is_some_and(|it| it.id == id));
        at.map(|at| StackKey(at as u32))
    }
}
