//! Notifications about stacks: values that are made when the machine records a change.
//!
//! They are made only if there is a listener, and the driver sends them once the record is durable: there is no
//! notification of something that did not happen. A notification that is lost in between stays lost.

use crate::blueprint::Source;
use crate::ids::StackId;
use crate::state::{State, Status};
use crate::store::EventRow;
use crate::time::Time;
use crate::tree::{Env, Resizing, Slot, StackKey, Tree};
use kiln_cloud::CreatedBy;
use kiln_resources::behaviour::NestedStack;
use kiln_template::Value;
use kiln_template::print;
use std::fmt;
use std::sync::Arc;

/// Takes notifications about stacks.
pub trait NotificationListener: fmt::Debug + Send + Sync {
    /// Takes the notifications of a tree, in their order. It must not block: the tree continues afterwards.
    fn notify(&self, notifications: Vec<Notification>);
}

/// A change of the state of a stack, or of the size of a group in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// The time of the change.
    pub time: Time,
    /// The project that the stack belongs to.
    pub project: Arc<str>,
    /// The user who created or updated the stack last.
    pub created_by: Arc<CreatedBy>,
    /// The id of that user, also if nothing else is known.
    pub user_id: Arc<str>,
    /// The name of that user.
    pub user_name: Arc<str>,
    /// The stack.
    pub stack: StackId,
    /// The name of the stack.
    pub name: Arc<str>,
    /// The state of the stack.
    pub state: State,
    /// The reason for the state.
    pub reason: Arc<str>,
    /// When the stack was created.
    pub created: Time,
    /// When the stack was last updated.
    pub updated: Option<Time>,
    /// The tags of the stack.
    pub tags: Vec<Arc<str>>,
    /// The description in the template; `None` if the template cannot be read.
    pub description: Option<Arc<str>>,
    /// The change of the size of a group, if the notification is about that.
    pub scaling: Option<Scaling>,
}

/// A scaling policy changes the size of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// The progress of the change.
    pub status: Status,
    /// The type of the adjustment, such as `change_in_capacity`.
    pub kind: Arc<str>,
    /// The adjustment of the policy.
    pub adjustment: f64,
    /// The current number of members.
    pub capacity: usize,
    /// The unique name of the group.
    pub group: Arc<str>,
    /// The error, if the change failed.
    pub failure: Option<Arc<str>>,
}

/// What is sent once the record is durable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    /// Notifications for the listener.
    pub(crate) notifications: Vec<Notification>,
    /// Events for the queues that the user named.
    pub(crate) events: Vec<EventRow>,
    /// The queues.
    pub(crate) sinks: Vec<Value>,
}

/// The description of a template without one.
const NO_DESCRIPTION: &str = "No description";

impl Tree {
    /// Takes what is to be sent once the last batch is durable.
    pub(crate) fn take_outbox(&mut self) -> Outbox {
        std::mem::take(&mut self.outbox)
    }

    /// Adds a notification about the state of a stack.
    pub(crate) fn notify_stack_state(
        &mut self,
        env: &Env<'_>,
        key: StackKey,
        state: State,
        reason: &str,
    ) {
        if self.config.listener.is_some() {
            let notification = self.notification(env, key, state, reason.into());
            self.outbox.notifications.push(notification);
        }
    }

    /// Adds a notification about the size of a group.
    pub(crate) fn notify_scaling(
        &mut self,
        env: &Env<'_>,
        group: Slot,
        resizing: &Resizing,
        status: Status,
        failure: Option<&str>,
    ) {
        if self.config.listener.is_none() {
            return;
        }
        let resource = self.resource(group);
        let (kind, by) = resizing.cooldown.adjustment();
        let size = |child| self.scope(child).members().len();
        let scaling = Scaling {
            status,
            kind: kind.into(),
            adjustment: by,
            capacity: resource.child.map_or(0, size),
            group: self.physical_name(group).into(),
            failure: failure.map(Arc::from),
        };
        let stack = self.stack(resource.stack);
        let (state, reason) = (stack.summary.state, stack.summary.reason.clone());
        let notification = self.notification(env, resource.stack, state, reason);
        self.outbox.notifications.push(Notification { scaling: Some(scaling), ..notification });
    }

    fn notification(
        &self,
        env: &Env<'_>,
        key: StackKey,
        state: State,
        reason: Arc<str>,
    ) -> Notification {
        let stack = self.stack(key);
        let created_by = self.stack(self.root_key()).recipe.created_by.clone();
        let known = |first: &Arc<str>, other: &Arc<str>| match first.is_empty() {
            true => other.clone(),
            false => first.clone(),
        };
        Notification {
            time: env.now,
            project: self.project.clone(),
            user_id: known(&created_by.user_id, &self.credential.user),
            user_name: known(&created_by.user_name, &self.user_name),
            created_by,
            stack: stack.id,
            name: stack.summary.name.clone(),
            state,
            reason,
            created: stack.summary.created,
            updated: stack.summary.updated,
            tags: stack.summary.tags.clone(),
            description: self.description(key),
            scaling: None,
        }
    }

    fn description(&self, key: StackKey) -> Option<Arc<str>> {
        let said = match &self.stack(key).recipe.template {
            Source::Text(text) | Source::File(_, text) => {
                let template = crate::blueprint::sent_template(&self.config, text).ok()?;
                template.description.clone()
            }
            Source::Made(template) => {
                let members = template.as_map()?;
                members.get("description").or_else(|| members.get("Description")).cloned()
            }
            Source::Nothing => None,
        };
        Some(match said {
            None | Some(Value::Null) => NO_DESCRIPTION.into(),
            Some(Value::Text(text)) => text,
            Some(other) => print::plain(&other).into(),
        })
    }
}
