//! The signals that a resource keeps in its metadata.
//!
//! Each signal is stored in a row of its own, a resource whose stack is the resource that was signalled: so as much is
//! written for a signal however many came before it. An engine that loads the tree reads all of them. Readers see the signals as members of the metadata.

use super::{Env, Slot, Tree};
use crate::ids::{ResourceId, StackId};
use crate::record::v1::ResourceBody;
use crate::record::{Record, StoredMembers};
use crate::signal_check::KeptSignals;
use crate::store::{ResourceRow, StoreError};
use crate::summary::ResourceSummary;
use kiln_resources::behaviour::SignalStorage;
use kiln_template::{Members, Value, members_byte_size};
use std::sync::Arc;

/// The name of the rows of signals.
const SIGNAL: &str = "signal";

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
        resource.signals.entry(id.clone()).or_insert_with(|| ResourceId(env.ids.next()));
        match &mut resource.metadata {
            Value::Map(members) => _ = Arc::make_mut(members).insert(id.clone(), signal),
            other => *other = Value::map([(id.clone(), signal)]),
        }
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
        if !resource.signals.is_empty() {
            let signals = std::mem::take(&mut resource.signals);
            self.changes.dropped_resources.extend(signals.into_values());
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
                    + resource.unread_signals.count,
                bytes: resource.metadata.byte_size() + resource.unread_signals.bytes,
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
            // Most handles have nothing else in their metadata.
            Value::Map(members) if members.len() == resource.signals.len() => {
                Value::Map(Arc::default())
            }
            Value::Map(members) if !resource.signals.is_empty() => {
                let others = members.iter().filter(|(id, _)| !resource.signals.contains_key(*id));
                Value::map(others.map(|(id, value)| (id.clone(), value.clone())))
            }
            metadata => metadata.clone(),
        }
    }

    /// The number and the size of the signals that have rows of their own.
    pub(crate) fn stored_signals(&self, slot: Slot) -> KeptSignals {
        let resource = self.resource(slot);
        let members = resource.metadata.as_map();
        let size = |id: &Arc<str>| members.and_then(|it| it.get(id)).map_or(0, Value::byte_size);
        let bytes: usize = resource.signals.keys().map(|id| id.len() + size(id)).sum();
        KeptSignals {
            count: resource.signals.len() + resource.unread_signals.count,
            bytes: bytes + resource.unread_signals.bytes,
        }
    }

    /// The row of a signal; `None` if it was forgotten meanwhile.
    pub(crate) fn signal_row(&self, slot: Slot, id: &Arc<str>) -> Option<ResourceRow> {
        let resource = self.resource(slot);
        let (number, _, row) = resource.signals.get_full(id)?;
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

    /// The resources whose signals have yet to be read.
    pub(crate) fn slots_with_unread_signals(&self) -> Vec<(Slot, StackId)> {
        let resources = self.resources.iter().enumerate();
        let resources = resources.filter_map(|(at, it)| Some((Slot(at as u32), it.as_ref()?)));
        let unread = resources.filter(|(_, resource)| resource.unread_signals.count > 0);
        unread.map(|(slot, resource)| (slot, StackId(resource.id.0))).collect()
    }

    /// Adds the signals of rows to the metadata of a resource.
    pub(crate) fn add_signal_rows(
        &mut self,
        slot: Slot,
        mut rows: Vec<ResourceRow>,
    ) -> Result<(), StoreError> {
        rows.sort_by_key(|row| row.number);
        let resource = self.resource_mut(slot);
        resource.unread_signals = KeptSignals::default();
        let mut members = resource.metadata.as_map().cloned().unwrap_or_default();
        for row in rows {
            let body = ResourceBody::read(&row.body, row.id)?;
            for (id, signal) in body.data.0.iter() {
                resource.signals.insert(id.clone(), row.id);
                members.insert(id.clone(), signal.clone());
            }
        }
        resource.metadata = Value::Map(Arc::new(members));
        self.count_resource_bytes(slot);
        Ok(())
    }
}
