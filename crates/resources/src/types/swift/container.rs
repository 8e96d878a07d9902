//! OS::Swift::Container: a container of the object store.

use super::common::{self, headers};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};

pub(super) fn container() -> ResourceType {
    ResourceType::new("OS::Swift::Container")
        .about("A container of the object store.")
        .service(Service::ObjectStore)
        .checkable()
        .props([
            prop("PurgeOnDelete", Bool, "Whether a container that still has objects is emptied on delete instead of failing.").default(false).since("2015.1"),
            prop("X-Account-Meta", Map, "Metadata that are set on the whole account, without the header prefix.").default_empty(),
            prop("X-Container-Meta", Map, "Metadata that are set on the container, without the header prefix.").default_empty(),
            prop("X-Container-Read", Str, "Access list of those who may read, such as `.r:*` for everybody."),
            prop("X-Container-Write", Str, "Access list of those who may write, as projects and users."),
            prop("name", Str, "Name of the container; made from the stack and resource names if omitted."),
        ])
        .attrs([
            attr("BytesUsed", Int, "Total size of the objects in the container in bytes."),
            attr("DomainName", Str, "Host name of the object store that has the container."),
            attr("HeadContainer", Map, "All headers that the object store sends for the container."),
            attr("ObjectCount", Int, "Number of objects in the container."),
            attr("RootURL", Str, "URL of the account that the container belongs to."),
            attr("WebsiteURL", Str, "URL under which the contents of the container are reached."),
        ])
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(common::look(op)))
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let account = headers("X-Account-Meta-", op.prop("X-Account-Meta"));
    let mut said = headers("X-Container-Meta-", op.prop("X-Container-Meta"));
    for name in ["X-Container-Read", "X-Container-Write"] {
        said.extend(op.text(name).map(|value| (name.to_owned(), value.to_owned())));
    }
    let name = op.text("name").unwrap_or(&op.context().physical_name).to_owned();
    common::create(op, &name, said).await?;
    common::describe_account(op, account).await
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let id = op.id().map_or("", |id| id);
    let refusal = format!("Deleting non-empty container ({id}) when PurgeOnDelete is False");
    let is_purged = *op.prop("PurgeOnDelete") == Value::Bool(true);
    common::remove(op, (!is_purged).then_some(refusal)).await
}
