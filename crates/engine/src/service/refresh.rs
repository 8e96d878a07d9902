//! Live reads: requests for a resource, and for the outputs of a stack, show the attributes that services report at that
//! moment, not those of the last operation.
//!
//! Nothing is stored. An object that is gone has no attributes. If a service does not answer, or not in time, the stored
//! attributes are shown.

use super::{Service, observe};
use crate::drift::Observed;
use crate::ids::{ResourceId, StackId};
use crate::tree::{Slot, Tree};
use crate::view::View;
use kiln_cloud::{ActingFor, Credential, Transport, in_current_request};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::{Note, OpError, RunningOperation, merge_data};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How long live reads may take; after that the stored attributes are shown.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How many objects are read for the outputs of a stack; all others show their stored attributes.
const MAX_READS: usize = 64;

impl Service {
    /// Reads the object of a resource again.
    pub async fn refresh_resource(&self, view: &mut View, stack: StackId, resource: &str) {
        let slot = view.readable_slot(stack, resource);
        self.refresh(view, slot.into_iter().collect()).await;
    }

    /// Reads the objects again whose attributes were evaluated since [`View::record_attributes`]. Returns whether there were
    /// any.
    pub async fn refresh_evaluated(&self, view: &mut View) -> bool {
        let mut slots = view.take_recorded_attributes();
        let has_any = !slots.is_empty() && self.transport.has_cloud();
        if has_any {
            slots.truncate(MAX_READS);
            self.refresh(view, slots).await;
        }
        has_any
    }

    async fn refresh(&self, view: &mut View, slots: Vec<Slot>) {
        let tree = view.tree_mut();
        let mut reading = JoinSet::new();
        let read_all = async {
            for slot in slots {
                if reading.len() >= observe::MAX_CONCURRENT
                    && let Some(Ok(read)) = reading.join_next().await
                {
                    tree.apply_read(read);
                }
                if let Some(read) = tree.start_read(slot, self.transport.clone()) {
                    reading.spawn(in_current_request(read));
                }
            }
            while let Some(read) = reading.join_next().await {
                read.into_iter().for_each(|read| tree.apply_read(read));
            }
        };
        // What was not read in time keeps its stored attributes.
        _ = tokio::time::timeout(TIMEOUT, read_all).await;
    }
}

/// What was read of an object.
struct Read {
    slot: Slot,
    id: ResourceId,
    notes: Vec<Note>,
    result: Option<Result<(), OpError>>,
}

impl Tree {
    /// An operation that reads an object.
    fn start_read(
        &self,
        slot: Slot,
        transport: Arc<dyn Transport>,
    ) -> Option<impl Future<Output = Read> + use<>> {
        let resource = self.resource(slot);
        let kind = self.config.types.get(&resource.summary.type_name)?;
        let running = RunningOperation::new(kind, OperationKind::Refresh, self.context(slot));
        let (id, by, behalf) =
            (resource.id, self.credential.clone(), self.acting_for_resource(slot));
        Some(read(slot, id, transport, by, behalf, running))
    }

    /// Keeps what was read, in memory.
    fn apply_read(&mut self, Read { slot, id, notes, result }: Read) {
        let resource = self.resource_mut(slot);
        for note in notes {
            match note {
                Note::Remote(shown) => resource.remote = shown,
                Note::Data(key, value) => {
                    merge_data(Arc::make_mut(&mut resource.data), [(key, value)]);
                }
                _ => {}
            }
        }
        if let Some(Err(stop)) = result
            && stop.is_not_found()
        {
            self.observed.insert(id, Observed::Gone);
        }
    }
}

async fn read(
    slot: Slot,
    id: ResourceId,
    transport: Arc<dyn Transport>,
    by: Arc<Credential>,
    behalf: ActingFor,
    running: RunningOperation,
) -> Read {
    let mut notes = Vec::new();
    let result = observe::run(&*transport, &by, &behalf, running, |note| notes.push(note)).await;
    Read { slot, id, notes, result }
}
