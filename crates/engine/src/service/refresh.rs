//! Live reads: a request for one resource shows the attributes that its service reports at that moment, not those of the
//! last operation.

use super::{Service, observe};
use crate::ids::StackId;
use crate::tree::{Slot, Tree};
use crate::view::View;
use kiln_cloud::Transport;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::{Note, RunningOperation};
use std::sync::Arc;
use std::time::Duration;

/// How long a live read may take; after that the stored attributes are shown.
const TIMEOUT: Duration = Duration::from_secs(5);

impl Service {
    /// Reads the object of a resource again. Nothing is stored; if the service does not answer, the resource keeps its
    /// stored attributes.
    pub async fn refresh_resource(&self, view: &mut View, stack: StackId, resource: &str) {
        let Some(slot) = view.readable_slot(stack, resource) else { return };
        let refresh = refresh(view.tree_mut(), slot, &*self.transport);
        // A read that takes too long changes nothing.
        _ = tokio::time::timeout(TIMEOUT, refresh).await;
    }
}

/// Reads an object, and keeps its attributes in memory.
async fn refresh(tree: &mut Tree, slot: Slot, transport: &dyn Transport) {
    let Some(kind) = tree.config.types.get(&tree.resource(slot).type_name) else { return };
    let running = RunningOperation::new(kind, OperationKind::Refresh, tree.context(slot));
    let (by, behalf) = (tree.credential.clone(), tree.acting_for_resource(slot));
    let resource = tree.resource_mut(slot);
    let keep = |note| match note {
        Note::Remote(shown) => resource.remote = shown,
        Note::Data(key, value) => _ = Arc::make_mut(&mut resource.data).insert(key, value),
        _ => {}
    };
    // An object that cannot be read keeps its stored attributes.
    _ = observe::run(transport, &by, &behalf, running, keep).await;
}
