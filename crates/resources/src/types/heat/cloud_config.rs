//! OS::Heat::CloudConfig: a cloud-init configuration written as a map instead of text.

use super::stored_config::{self, UNGROUPED};
use crate::declare::*;
use crate::op::{Op, OpError};
use kiln_template::print::Keys;
use kiln_template::yaml::{self, Emitter};

pub(super) fn cloud_config() -> ResourceType {
    ResourceType::new("OS::Heat::CloudConfig")
        .about("A cloud-init configuration written as a map instead of text.")
        .service(Service::Orchestration)
        .entity("software_configs")
        .since("2014.1")
        .props([prop(
            "cloud_config",
            Map,
            "Contents of a cloud-init `#cloud-config` document, as a map.",
        )])
        .attrs([attr(
            "config",
            Str,
            "Complete cloud-init document as text, as it is handed to servers.",
        )])
        .creates(|op| Box::pin(create(op)))
        .created_on_adopt()
        .deletes(|op| Box::pin(stored_config::remove(op)))
        .attributes(stored_config::attribute)
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let written = op.prop("cloud_config");
    let document = yaml::write(&written.exposed(), Emitter::LibYaml, Keys::Sorted);
    let text = format!("#cloud-config\n{}", document);
    let config = stored_config::text(text, written.has_secret());
    stored_config::store(op, UNGROUPED.into(), config).await
}
