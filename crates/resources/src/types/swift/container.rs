//! OS::Swift::Container: a container of the object store.

use crate::declare::*;

pub(super) fn container() -> ResourceType {
    ResourceType::new("OS::Swift::Container")
        .about("A container of the object store.")
        .service(Service::ObjectStore)
        .checkable()
        .props([
            prop("PurgeOnDelete", Bool).default(false).since("2015.1"),
            prop("X-Account-Meta", Map).default_empty(),
            prop("X-Container-Meta", Map).default_empty(),
            prop("X-Container-Read", Str),
            prop("X-Container-Write", Str),
            prop("name", Str),
        ])
        .attrs([
            attr("BytesUsed", Int),
            attr("DomainName", Str),
            attr("HeadContainer", Map),
            attr("ObjectCount", Int),
            attr("RootURL", Str),
            attr("WebsiteURL", Str),
        ])
}
