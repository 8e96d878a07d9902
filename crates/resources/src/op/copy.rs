//! Objects beside the resource's own, each created once: copies for a snapshot or before a deletion, and
//! auxiliary objects.

use super::{FailureClass, Op, OpError};
use kiln_cloud::{Call, Marker, Reply};
use std::sync::Arc;

impl Op {
    /// The name for a copy of the object, which is unique and known before the copy exists.
    pub fn copy_name(&self) -> &str {
        &self.context.copy_name
    }

    /// Creates a copy of the object, once: the copy is found by the call's marker, and an existing one is
    /// used. Returns its id, which is at the JSON pointer `id` in the reply.
    pub async fn copy(&mut self, step: &str, call: Call, id: &str) -> Result<Arc<str>, OpError> {
        let Some(marker) = call.recovery.marker.as_deref().cloned() else {
            return Err(OpError::failed(
                FailureClass::InternalError,
                "a copy without a mark cannot be found",
            ));
        };
        let made = match self.context.journal.step(step) {
            // An earlier operation may have created it: its journal is gone, the copy is not.
            None => self.found(&marker).await?,
            Some(_) => None,
        };
        let made = match made {
            Some(id) => id,
            None => {
                let reply = self.call(step, call).await?;
                id_in(&reply, &marker, id).ok_or_else(|| {
                    OpError::failed(
                        FailureClass::Error,
                        "the service did not say which copy it made",
                    )
                })?
            }
        };
        self.beside.push((marker, made.clone()));
        Ok(made)
    }

    /// Creates an object beside the resource's own, once: it is found by the call's marker. Returns the reply
    /// and the id.
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
            _ => Err(OpError::failed(
                FailureClass::Error,
                "the service did not say which object it made",
            )),
        }
    }

    /// Deletes the copies with a mark. If a lost call may still create one, it waits for that first.
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

/// The id of a copy: in the reply of the call that created it, or in the list in which it was found.
fn id_in(reply: &Reply, marker: &Marker, pointer: &str) -> Option<Arc<str>> {
    let listed = match &marker.envelope {
        Some(name) => reply.body.get(name),
        None => Some(&reply.body),
    };
    let listed = listed.and_then(|object| marker.id_of(object));
    reply.text(pointer).map(str::to_owned).or(listed).map(Into::into)
}
