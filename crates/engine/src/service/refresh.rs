//! An object as it is now: whoever asks for a resource by its name sees what its service shows of it at
//! that moment, not what it showed when something was last done with it.

use super::{Service, observe};
use crate::ids::StackId;
use crate::tree::{Slot, Tree};
use crate::view::View;
use kiln_cloud::Transport;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::{Note, RunningOperation};
use std::sync::Arc;
use std::time::Duration;

/// How long a service is waited for; then what is known has to do.
const TIMEOUT: Duration = Duration::from_secs(5);

impl Service {
    /// Has the object of a resource looked at. Nothing is written down; if the service does not answer,
    /// the resource stays as it was last seen.
    pub async fn refresh_resource(&self, view: &mut View, stack: StackId, resource: &str) {
        let Some(slot) = view.readable_slot(stack, resource) else { return };
        let refresh = refresh(view.tree_mut(), slot, &*self.transport);
        // Too late is as good as not at all.
        _ = tokio::time::timeout(TIMEOUT, refresh).await;
    }
}

/// Has an object looked at, and keeps what is seen in memory.
async fn refresh(tree: &mut Tree, slot: Slot, transport: &dyn Transport) {
    let Some(kind) = tree.config.types.get(&tree.resource(slot).type_name) else { return };
    let running = RunningOperation::new(kind, OperationKind::Refresh, tree.context(slot));
    let (by, behalf) = (tree.credential.clone(), tree.acting_for());
    let resource = tree.resource_mut(slot);
    let keep = |note| match note {
        Note::Remote(shown) => resource.remote = shown,
        Note::Data(key, value) => _ = Arc::make_mut(&mut resource.data).insert(key, value),
        _ => {}
    };
    // What cannot be looked at stays as it was last seen.
    _ = observe::run(transport, &by, &behalf, running, keep).await;
}
