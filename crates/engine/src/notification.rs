//! What others are told of stacks: values that are made of what the machine records, when it does.
//!
//! They are made only if somebody listens, and handed over by whoever drives the machine once the record is
//! durable: nobody is told of what did not happen. What is lost between the two is lost.

use crate::blueprint::Source;
use crate::ids::StackId;
use crate::state::{State, Status};
use crate::store::EventRow;
use crate::time::Time;
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_cloud::CreatedBy;
use kiln_resources::behaviour::NestedStack;
use kiln_template::Value;
use kiln_template::print;
use std::fmt;
use std::sync::Arc;

/// Whoever is told of what happened to stacks.
pub trait NotificationListener: fmt::Debug + Send + Sync {
    /// Takes what happened to a tree, in that order. It must not wait: stacks go on only then.
    fn notify(&self, notifications: Vec<Notification>);
}

/// That the state of a stack was recorded, or that a group in it is given another size.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// When it happened.
    pub time: Time,
    /// The project that the stack belongs to.
    pub project: Arc<str>,
    /// Whoever made the stack, or changed it last.
    pub author: Arc<CreatedBy>,
    /// The id of that user, also if nothing else is known of them.
    pub user_id: Arc<str>,
    /// The name of that user.
    pub user_name: Arc<str>,
    /// The stack.
    pub stack: StackId,
    /// Its name.
    pub name: Arc<str>,
    /// What is being done with it.
    pub state: State,
    /// Why it is in that state.
    pub reason: Arc<str>,
    /// When it was made.
    pub created: Time,
    /// When it was last changed.
    pub updated: Option<Time>,
    /// Its tags.
    pub tags: Vec<Arc<str>>,
    /// What its template says of itself; nothing if there is no telling what that is.
    pub description: Option<Arc<str>>,
    /// The group in it that is given another size, if this is about that.
    pub scaling: Option<Scaling>,
}

/// That a policy gives a group another size.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// How far that is.
    pub status: Status,
    /// What the policy calls what it does, such as `change_in_capacity`.
    pub kind: Arc<str>,
    /// By how much, or to how many.
    pub adjustment: f64,
    /// How many members the group has now.
    pub capacity: usize,
    /// The name of the group that nothing else has.
    pub group: Arc<str>,
    /// What went wrong, if something did.
    pub failure: Option<Arc<str>>,
}

/// What is to be told once what was recorded is durable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    /// To whoever listens.
    pub(crate) notifications: Vec<Notification>,
    /// To the queues that the stacks' user named.
    pub(crate) events: Vec<EventRow>,
    /// Those queues.
    pub(crate) sinks: Vec<Value>,
}

/// What is said of a template that says nothing of itself.
const NO_DESCRIPTION: &str = "No description";

impl Tree {
    /// What is to be told once the batch that was taken last is durable.
    pub(crate) fn take_outbox(&mut self) -> Outbox {
        std::mem::take(&mut self.outbox)
    }

    /// Has it told that the state of a stack was recorded.
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

    /// Has it told that a group is being given another size, or was, or could not be.
    pub(crate) fn notify_scaling(
        &mut self,
        env: &Env<'_>,
        group: Slot,
        status: Status,
        failure: Option<&str>,
    ) {
        let resource = self.resource(group);
        let Some(cooldown) = resource.cooldown.as_ref().filter(|_| self.config.listener.is_some())
        else {
            return;
        };
        let (kind, by) = cooldown.adjustment();
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
        let (state, reason) = (stack.state, stack.reason.clone());
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
        let author = self.stack(self.root_key()).recipe.author.clone();
        let known = |first: &Arc<str>, other: &Arc<str>| match first.is_empty() {
            true => other.clone(),
            false => first.clone(),
        };
        Notification {
            time: env.now,
            project: self.project.clone(),
            user_id: known(&author.user_id, &self.credential.user),
            user_name: known(&author.user_name, &self.user_name),
            author,
            stack: stack.id,
            name: stack.name.clone(),
            state,
            reason,
            created: stack.created,
            updated: stack.updated,
            tags: stack.tags.clone(),
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
