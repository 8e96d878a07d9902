//! What is made beside the resource's own object, and never twice: copies for a snapshot, or before an
//! object is removed, and whatever else an object needs.

use super::{Op, OpError};
use kiln_cloud::{Call, Marker, Reply};
use std::sync::Arc;

impl Op {
    /// The name that a copy of the object should have: unique, and known before there is a copy.
    pub fn copy_name(&self) -> &str {
        &self.context.copy_name
    }

    /// Makes a copy of the object, once: the call says by its marker how the copy is found, and one that
    /// is there already is taken. Gives its id, which is at `id` in the reply: a JSON pointer.
    pub async fn copy(&mut self, step: &str, call: Call, id: &str) -> Result<Arc<str>, OpError> {
        let Some(marker) = call.recovery.marker.as_deref().cloned() else {
            return Err(OpError::failed("InternalError", "a copy without a mark cannot be found"));
        };
        let made = match self.context.journal.step(step) {
            // An earlier try may have made it: its journal is gone, the copy is not.
            None => self.found(&marker).await?,
            Some(_) => None,
        };
        let made = match made {
            Some(id) => id,
            None => {
                let reply = self.call(step, call).await?;
                id_in(&reply, &marker, id).ok_or_else(|| {
                    OpError::failed("Error", "the service did not say which copy it made")
                })?
            }
        };
        self.beside.push((marker, made.clone()));
        Ok(made)
    }

    /// Makes something beside the resource's own object, once: the call says by its marker how it is found.
    /// Gives the reply, and its id.
    pub async fn create_side_object(
        &mut self,
        step: &str,
        call: Call,
    ) -> Result<(Reply, Arc<str>), OpError> {
        let marker = call.recovery.marker.as_deref().cloned();
        let reply = self.call(step, call).await?;
        let id = marker.as_ref().and_then(|marker| id_in(&reply, marker, ""));
        match (marker, id) {
            (Some(marker), Some(id)) => {
                self.beside.push((marker, id.clone()));
                Ok((reply, id))
            }
            _ => Err(OpError::failed("Error", "the service did not say which object it made")),
        }
    }

    /// Removes the copies that carry a mark. If it is open whether there is one, that is awaited.
    pub async fn remove_copies(&mut self, marker: &Marker) -> Result<(), OpError> {
        if self.context.is_doubtful {
            self.wait("copies", self.context.lost_call_window).await?;
        }
        self.remove_all(marker, None, "copy").await
    }

    async fn found(&mut self, marker: &Marker) -> Result<Option<Arc<str>>, OpError> {
        let list = self.read(marker.list.clone()).await?;
        Ok(marker.found(&list).first().and_then(|object| marker.id_of(object)).map(Into::into))
    }
}

/// The id of a copy: in the reply of the call that made it, or of the list in which it was found.
fn id_in(reply: &Reply, marker: &Marker, pointer: &str) -> Option<Arc<str>> {
    let listed = match &marker.envelope {
        Some(name) => reply.body.get(name),
        None => Some(&reply.body),
    };
    let listed = listed.and_then(|object| marker.id_of(object));
    reply.text(pointer).map(str::to_owned).or(listed).map(Into::into)
}
