//! The signals that a resource keeps in its metadata.
//!
//! Each signal is stored in a row of its own, a resource whose stack is the resource that was signalled: so as much is
//! written for a signal however many came before it. Their number and size are kept up to date, and limited. An engine that loads
//! the tree reads all of them, with one query. Readers see the signals as members of the metadata.

use super::{Env, Resource, Slot, Tree};
use crate::ids::{ResourceId, StackId};
use crate::record::v1::ResourceBody;
use crate::record::{Record, StoredMembers};
use crate::signal_check::KeptSignals;
use crate::store::{ResourceRow, StoreError};
use crate::summary::ResourceSummary;
use indexmap::IndexMap;
use kiln_resources::behaviour::SignalStorage;
use kiln_template::{Members, Value, member_byte_size, members_byte_size};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of the rows of signals.
const SIGNAL: &str = "signal";

/// The signals of a resource.
#[derive(Default)]
pub(crate) struct Signals {
    /// The members of the metadata that are signals, with the rows in which they are stored.
    rows: IndexMap<Arc<str>, ResourceId>,
    /// How many bytes these members have.
    bytes: usize,
    /// The signals that were not read with the resource.
    unread: KeptSignals,
}

impl Signals {
    /// Signals that were not read.
    pub(crate) fn unread(unread: KeptSignals) -> Signals {
        Signals { unread, ..Signals::default() }
    }

    /// Counts a signal in place of the member of the metadata that had its id, and says in which row it is.
    fn put(&mut self, id: Arc<str>, row: ResourceId, signal: &Value, former: Option<&Value>) {
        let size = member_byte_size(&id, signal);
        let former = former.filter(|_| self.rows.contains_key(&id));
        let former = former.map_or(0, |former| member_byte_size(&id, former));
        self.bytes = self.bytes.saturating_sub(former).saturating_add(size);
        self.rows.insert(id, row);
    }

    /// Whether a resource has nothing else in its metadata, as most handles.
    fn are_all_of(&self, members: &Members) -> bool {
        !self.rows.is_empty() && members.len() == self.rows.len()
    }
}

/// The size of the metadata of a resource that was read.
pub(crate) fn metadata_bytes(resource: &Resource) -> usize {
    match &resource.metadata {
        Value::Map(members) if resource.signals.are_all_of(members) => {
            members_byte_size(&Members::new()).saturating_add(resource.signals.bytes)
        }
        metadata => metadata.byte_size(),
    }
}

impl Tree {
    /// Adds a signal to the metadata of a resource.
    pub(crate) fn keep_signal(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        id: Arc<str>,
        signal: Value,
    ) {
        let resource = self.change(slot);
        let row = resource.signals.rows.get(&id).copied();
        let row = row.unwrap_or_else(|| ResourceId(env.ids.next()));
        let former = match &mut resource.metadata {
            Value::Map(members) => Arc::make_mut(members).insert(id.clone(), signal.clone()),
            other => {
                *other = Value::map([(id.clone(), signal.clone())]);
                None
            }
        };
        resource.signals.put(id.clone(), row, &signal, former.as_ref());
        self.changes.signals.insert((slot, id));
    }

    /// Replaces the metadata of a resource, and forgets its signals.
    pub(crate) fn set_metadata(&mut self, slot: Slot, metadata: Value) {
        self.forget_signals(slot);
        self.change(slot).metadata = metadata;
    }

    /// Drops the rows of the signals of a resource.
    pub(crate) fn forget_signals(&mut self, slot: Slot) {
        let Some(resource) = self.resources.get_mut(slot.0 as usize).and_then(Option::as_mut)
        else {
            return;
        };
        if !resource.signals.rows.is_empty() {
            let signals = std::mem::take(&mut resource.signals);
            self.changes.dropped_resources.extend(signals.rows.into_values());
            self.changes.signals.retain(|(changed, _)| *changed != slot);
        }
    }

    /// The signals that a resource keeps.
    pub(crate) fn kept_signals(&self, slot: Slot) -> KeptSignals {
        let resource = self.resource(slot);
        let resource_type = self.config.types.get(&resource.summary.type_name);
        let storage = resource_type.map(|it| it.behaviour.signals_kept_in).unwrap_or_default();
        match storage {
            SignalStorage::Nowhere => KeptSignals::default(),
            SignalStorage::Metadata => KeptSignals {
                count: resource.metadata.as_map().map_or(0, Members::len)
                    + resource.signals.unread.count,
                bytes: metadata_bytes(resource) + resource.signals.unread.bytes,
            },
            SignalStorage::Data => {
                KeptSignals { count: 0, bytes: members_byte_size(&resource.data) }
            }
        }
    }

    /// The metadata of a resource as its own row has it: without signals.
    pub(crate) fn stored_metadata(&self, slot: Slot) -> Value {
        let resource = self.resource(slot);
        match &resource.metadata {
            Value::Map(members) if resource.signals.are_all_of(members) => {
                Value::Map(Arc::default())
            }
            Value::Map(members) if !resource.signals.rows.is_empty() => {
                let rows = &resource.signals.rows;
                let others = members.iter().filter(|(id, _)| !rows.contains_key(*id));
                Value::map(others.map(|(id, value)| (id.clone(), value.clone())))
            }
            metadata => metadata.clone(),
        }
    }

    /// The number and the size of the signals that have rows of their own.
    pub(crate) fn stored_signals(&self, slot: Slot) -> KeptSignals {
        let signals = &self.resource(slot).signals;
        KeptSignals {
            count: signals.rows.len() + signals.unread.count,
            bytes: signals.bytes + signals.unread.bytes,
        }
    }

    /// The row of a signal; `None` if it was forgotten meanwhile.
    pub(crate) fn signal_row(&self, slot: Slot, id: &Arc<str>) -> Option<ResourceRow> {
        let resource = self.resource(slot);
        let (number, _, row) = resource.signals.rows.get_full(id)?;
        let signal = resource.metadata.as_map()?.get(id)?.clone();
        let body = ResourceBody {
            data: StoredMembers(Arc::new(Members::from_iter([(id.clone(), signal)]))),
            ..ResourceBody::default()
        };
        Some(ResourceRow {
            id: *row,
            stack: StackId(resource.id.0),
            root: self.root,
            number: number as u64,
            summary: ResourceSummary::new(
                SIGNAL.into(),
                SIGNAL.into(),
                resource.summary.state,
                resource.summary.updated,
            ),
            body: body.encode(),
        })
    }

    /// The resources whose signals have yet to be read, as the stacks of the signals' rows.
    pub(crate) fn unread_signals(&self) -> Vec<StackId> {
        let resources = self.resources.iter().flatten();
        let unread = resources.filter(|resource| resource.signals.unread.count > 0);
        unread.map(|resource| StackId(resource.id.0)).collect()
    }

    /// Adds the signals of rows to the metadata of the resources that have yet to be read.
    pub(crate) fn add_signal_rows(&mut self, rows: Vec<ResourceRow>) -> Result<(), StoreError> {
        let mut by_resource: BTreeMap<StackId, Vec<ResourceRow>> = BTreeMap::new();
        for row in rows {
            by_resource.entry(row.stack).or_default().push(row);
        }
        for slot in (0..self.resources.len() as u32).map(Slot) {
            let resource = self.resources[slot.0 as usize].as_ref();
            if let Some(resource) = resource.filter(|it| it.signals.unread.count > 0) {
                let rows = by_resource.remove(&StackId(resource.id.0)).unwrap_or_default();
                self.add_signals_to(slot, rows)?;
            }
        }
        Ok(())
    }

    fn add_signals_to(&mut self, slot: Slot, mut rows: Vec<ResourceRow>) -> Result<(), StoreError> {
        rows.sort_by_key(|row| row.number);
        let resource = self.resource_mut(slot);
        resource.signals.unread = KeptSignals::default();
        let mut members = resource.metadata.as_map().cloned().unwrap_or_default();
        for row in rows {
            let body = ResourceBody::read(&row.body, row.id)?;
            for (id, signal) in body.data.0.iter() {
                let former = members.insert(id.clone(), signal.clone());
                resource.signals.put(id.clone(), row.id, signal, former.as_ref());
            }
        }
        resource.metadata = Value::Map(Arc::new(members));
        self.count_resource_bytes(slot);
        Ok(())
    }
}
