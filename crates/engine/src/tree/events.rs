//! The states of stacks and resources, and the events that tell of their changes.

use super::{Env, Slot, StackKey, Tree};
use crate::failure::first_characters;
use crate::ids::{EventId, StackId};
use crate::record::v1::EventBody;
use crate::record::{Record, StoredMembers};
use crate::state::{Action, State, Status};
use crate::store::EventRow;
use kiln_template::{Members, members_byte_size};
use std::sync::Arc;

/// How many bytes of properties an event keeps.
const MAX_BYTES: usize = 64 << 10;

/// The properties as an event keeps them. Events outlive what they tell of, and are no second place for large values: of
/// those, the size is kept.
fn kept_properties(properties: &Arc<Members>) -> Arc<Members> {
    if members_byte_size(properties) <= MAX_BYTES {
        return properties.clone();
    }
    let longest = MAX_BYTES / properties.len().max(1);
    let kept = properties.iter().map(|(name, value)| match value.byte_size() {
        bytes if bytes <= longest => (name.clone(), value.clone()),
        bytes => (name.clone(), format!("({bytes} bytes)").into()),
    });
    Arc::new(kept.collect())
}

impl Tree {
    pub(crate) fn set_stack_state(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        state: State,
        reason: &str,
    ) {
        let stack = self.stack_mut(key);
        stack.summary.state = state;
        stack.summary.reason = reason.into();
        self.changes.stacks.insert(key);
        self.stack_event(env, key, state, reason);
    }

    /// Records an event of a stack.
    pub(crate) fn stack_event(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        state: State,
        reason: &str,
    ) {
        self.notify_stack_state(env, key, state, reason);
        let stack = self.stack(key);
        let (id, name) = (stack.id, stack.summary.name.clone());
        let physical_id = Arc::from(id.to_string());
        self.event(env, id, name, "OS::Heat::Stack".into(), physical_id, state, reason, Vec::new());
    }

    /// Sets the state of a resource; records an event if it is another one.
    pub(crate) fn set_state(&mut self, env: &mut Env<'_>, slot: Slot, state: State, reason: &str) {
        let reason = &*self.hidden_texts(slot).mask(reason);
        let resource = self.change(slot);
        let is_new = resource.summary.state != state;
        resource.summary.state = state;
        resource.summary.reason = reason.into();
        resource.summary.updated = env.now;
        if is_new {
            self.resource_event(env, slot, state, reason);
        }
    }

    /// Says in the reasons of a resource and of its stacks what the resource waits for, or that it does not wait any more.
    /// That is no event: nothing has happened.
    pub(crate) fn set_waiting(&mut self, slot: Slot, for_what: Option<Arc<str>>) {
        let for_what = for_what.map(|text| self.hidden_texts(slot).mask(&text));
        let resource = self.change(slot);
        resource.summary.reason = for_what.as_deref().unwrap_or("state changed").into();
        let (mut stack, mut path) = (Some(resource.stack), resource.summary.name.to_string());
        while let Some(key) = stack {
            let summary = &mut self.stack_mut(key).summary;
            if summary.state.status == Status::InProgress {
                let action = summary.state.action;
                summary.reason = match &for_what {
                    Some(text) => format!("Stack {action} waits: {path}: {text}").into(),
                    None => format!("Stack {action} started").into(),
                };
                self.changes.stacks.insert(key);
            }
            let parent = self.stack(key).parent_resource;
            if let Some((_, parent)) = parent {
                path = format!("{}.{path}", self.resource(parent).summary.name);
            }
            stack = parent.map(|(parent, _)| parent);
        }
    }

    /// Records an event of a resource.
    pub(crate) fn resource_event(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        state: State,
        reason: &str,
    ) {
        let resource = self.resource(slot);
        if resource.copy_of.is_some() {
            return;
        }
        let physical_id = match (&resource.summary.physical_id, state.action) {
            (Some(id), _) => id.shown(),
            (None, Action::Init) => "".into(),
            (None, _) => Arc::from(self.physical_name(slot)),
        };
        // Properties are stored with the event from which on they apply.
        let target = resource.op.as_ref().and_then(|op| op.target.as_ref());
        let body = match target {
            Some(target) if state.status == Status::InProgress => {
                EventBody { properties: StoredMembers(kept_properties(&target.properties)) }
                    .encode()
            }
            _ => Vec::new(),
        };
        let resolved = target.or(resource.definition.as_ref());
        let resource_type =
            resolved.map_or(&resource.summary.type_name, |resolved| &resolved.type_name).clone();
        let (stack, name) = (self.stack(resource.stack).id, resource.summary.name.clone());
        self.event(env, stack, name, resource_type, physical_id, state, reason, body);
    }

    #[allow(clippy::too_many_arguments)]
    fn event(
        &mut self,
        env: &mut Env<'_>,
        stack: StackId,
        resource: Arc<str>,
        resource_type: Arc<str>,
        physical_id: Arc<str>,
        state: State,
        reason: &str,
        body: Vec<u8>,
    ) {
        self.next_event += 1;
        self.changes.events.push(EventRow {
            id: EventId(env.ids.next_in_order(env.now, self.next_event)),
            stack,
            root: self.root,
            number: self.next_event,
            time: env.now,
            resource,
            kind: resource_type,
            physical_id,
            state,
            reason: first_characters(reason, 255).into(),
            body,
        });
    }
}
