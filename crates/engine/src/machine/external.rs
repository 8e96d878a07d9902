//! Objects that exist already: they are adopted, checked, and never removed.

use super::Machine;
use super::reached::Transition;
use crate::export::{SEALED, from_text};
use crate::failure::Failure;
use crate::state::{Action, State, Status};
use crate::tree::{Env, Operation, Slot, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::FailureClass;
use kiln_template::{Members, Value};
use std::sync::Arc;

impl Machine {
    /// Adopts an existing object.
    pub(crate) fn adopt_object(&mut self, env: &mut Env<'_>, slot: Slot) {
        let resource = self.tree.resource(slot);
        let external = resource.op.as_ref().and_then(|op| op.target.as_ref()?.external_id.clone());
        self.reached.hit(Transition::ObjectAdopted);
        if let Some(id) = external {
            let id = self.tree.physical_id(slot, id);
            self.tree.change(slot).summary.physical_id = Some(id);
            self.finish_immediately(slot);
            return;
        }
        let adopted = self.tree.adopted_data(slot);
        let known = |name: &str| adopted.as_ref().and_then(|it| it.get(name)).cloned();
        let id = known("resource_id").map(|id| id.exposed());
        if let Some(Value::Text(id)) = id {
            let id = self.tree.physical_id(slot, id);
            let mut data = match known("resource_data") {
                Some(Value::Map(data)) => self.tree.plain_data(slot, &data),
                _ => Members::new(),
            };
            data.values_mut().for_each(|value| *value = from_text(value));
            let opened = self.tree.opened_data(slot);
            let part = |name: &str| opened.as_ref().and_then(|it| it.get(name)).cloned();
            if let Some(Value::Map(hidden)) = part("data") {
                data.extend((*hidden).clone());
            }
            let metadata = known("metadata").filter(|it| matches!(it, Value::Map(_)));
            let remote = part("remote");
            let checked = self.tree.check_adopted_size(slot, &data, [&metadata, &remote]);
            if let Err(failure) = checked {
                return self.finish_failed(env, slot, *failure, None);
            }
            let resource = self.tree.change(slot);
            resource.summary.physical_id = Some(id);
            resource.data = Arc::new(data);
            if let Some(remote) = remote {
                resource.remote = remote;
            }
            if let Some(metadata) = metadata {
                self.tree.set_metadata(slot, metadata);
            }
            return self.finish_immediately(slot);
        }
        let failure = Failure::new(
            FailureClass::Exception,
            &resource.summary.name,
            "Resource ID was not provided.",
        );
        self.finish_failed(env, slot, failure, None);
    }

    /// Checks an external object after it was adopted.
    pub(crate) fn check_external(&mut self, env: &mut Env<'_>, slot: Slot, op: Box<Operation>) {
        self.reached.hit(Transition::ExternalChecked);
        let resource_type = self.tree.resource(slot).summary.type_name.clone();
        if self
            .tree
            .config
            .types
            .get(&resource_type)
            .is_some_and(|resource_type| resource_type.abilities.check)
        {
            self.put_operation(slot, op.origin, OperationKind::Check, Action::Check);
            let in_progress = State::new(Action::Check, Status::InProgress);
            self.tree.set_state(env, slot, in_progress, "state changed");
            return self.dispatch(env, slot);
        }
        let reason = format!("CHECK not supported for {resource_type}");
        self.tree.set_state(env, slot, State::new(Action::Check, Status::Complete), &reason);
        let key = self.tree.resource(slot).stack;
        self.release_waiters(key, slot, &op, true);
    }
}

impl Tree {
    /// The data of the object that a resource adopts.
    pub(crate) fn adopted_data(&self, slot: Slot) -> Option<Arc<Members>> {
        let resource = self.resource(slot);
        let known = self.stack(resource.stack).traversal.as_ref()?.adopted.as_ref()?;
        match known.get(&resource.summary.name)? {
            Value::Map(members) => Some(members.clone()),
            _ => None,
        }
    }

    /// What only this service can have written about the object that a resource adopts. A document from outside has no
    /// secrets: they are made of what the service has encrypted itself, for the same resource.
    pub(crate) fn opened_data(&self, slot: Slot) -> Option<Arc<Members>> {
        match self.adopted_data(slot)?.get(SEALED)? {
            Value::Secret(opened) => match opened.expose() {
                Value::Map(opened) => Some(opened.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The entries of a resource's data that are no credentials: only these leave a tree in clear, or enter one from
    /// outside.
    pub(crate) fn plain_data(&self, slot: Slot, data: &Members) -> Members {
        let resource_type = self.config.types.get(&self.resource(slot).summary.type_name);
        let plain = resource_type.map_or(&[][..], |resource_type| &resource_type.plain_data);
        let is_plain =
            |(name, _): &(&Arc<str>, &Value)| plain.iter().any(|plain| **plain == ***name);
        data.iter().filter(is_plain).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    pub(crate) fn is_external(&self, slot: Slot) -> bool {
        self.resource(slot)
            .definition
            .as_ref()
            .is_some_and(|resolved| resolved.external_id.is_some())
    }
}
