//! The members of groups that are in service: load balancers distribute requests among them.
//!
//! They are computed from the records whenever they are needed: so a load balancer cannot miss a change, even if
//! the engine dies in the middle of it.

use crate::state::{Action, State, Status};
use crate::tree::{Slot, StackKey, Tree};
use kiln_resources::behaviour::InService;
use kiln_template::Value;

impl Tree {
    /// The groups of some types in a stack, with the first of some attributes of their members that has a
    /// value.
    pub(crate) fn groups_in_service(
        &self,
        key: StackKey,
        types: &[&str],
        attributes: &[&str],
    ) -> Vec<InService> {
        let Some(blueprint) = &self.stack(key).blueprint else { return Vec::new() };
        let names = blueprint.definition.resources().map(|(_, it)| &*it.name);
        let groups = names.filter_map(|name| self.group_in_service(key, name, types));
        let in_service = |slot: Slot| InService {
            properties: self.properties(slot),
            members: self.members_in_service(slot, attributes),
        };
        groups.map(in_service).collect()
    }

    /// The group of a name that is in service: the old one until its replacement is created.
    fn group_in_service(&self, key: StackKey, name: &str, types: &[&str]) -> Option<Slot> {
        let mut newest_first = self.stack(key).by_name.get(name)?.iter().rev().copied();
        newest_first.find(|slot| {
            let resource = self.resource(*slot);
            types.contains(&&*resource.summary.type_name)
                && resource.definition.is_some()
                && resource.summary.state.action != Action::Delete
        })
    }

    fn members_in_service(&self, group: Slot, attributes: &[&str]) -> Vec<Value> {
        let Some(child) = self.resource(group).child else { return Vec::new() };
        let Some(blueprint) = &self.stack(child).blueprint else { return Vec::new() };
        let names = blueprint.definition.resources().map(|(_, it)| &*it.name);
        let mut members: Vec<Slot> =
            names.filter_map(|name| self.member_in_service(child, name)).collect();
        let is_changing =
            |slot: &Slot| service(self.resource(*slot).summary.state) == Service::Changing;
        if !members.iter().all(is_changing) {
            members.retain(|slot| !is_changing(slot));
        }
        members.sort_by_key(|slot| {
            let member = self.resource(*slot);
            (member.summary.created, member.summary.name.clone())
        });
        let first_value = |slot: Slot| {
            let mut values =
                attributes.iter().filter_map(|name| self.attribute(slot, name, &[]).ok());
            values.find(Value::is_truthy)
        };
        members.into_iter().filter_map(first_value).collect()
    }

    /// The member of a name that is in service: the old one until its replacement is created.
    fn member_in_service(&self, child: StackKey, name: &str) -> Option<Slot> {
        let mut newest_first = self.stack(child).by_name.get(name)?.iter().rev().copied();
        newest_first.find(|slot| service(self.resource(*slot).summary.state) != Service::Out)
    }
}

/// Whether a member is in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    In,
    Changing,
    Out,
}

fn service(state: State) -> Service {
    match (state.action, state.status) {
        (_, Status::Failed) | (Action::Init | Action::Delete, _) => Service::Out,
        (Action::Create | Action::Adopt, Status::InProgress) => Service::Out,
        (Action::Update, Status::InProgress) => Service::Changing,
        _ => Service::In,
    }
}
