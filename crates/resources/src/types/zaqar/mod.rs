//! Message queues: `OS::Zaqar::*`.

use crate::declare::ResourceType;

mod common;
mod mistral_trigger;
mod queue;
mod signed_queue_url;
mod subscription;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        mistral_trigger::mistral_trigger(),
        queue::queue(),
        signed_queue_url::signed_queue_url(),
        subscription::subscription(),
    ]
}
