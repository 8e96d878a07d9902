//! Workflows: `OS::Mistral::*`.

use crate::declare::ResourceType;

mod cron_trigger;
mod definition;
mod external_resource;
mod workflow;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![cron_trigger::cron_trigger(), external_resource::external_resource(), workflow::workflow()]
}
