//! AWS::S3::Bucket: an object store container, described in S3 terms.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{items, open, section, text};
use crate::types::aws_ec2::key_value;
use crate::types::swift::common;
use kiln_cloud::head;

pub(super) fn bucket() -> ResourceType {
    ResourceType::new("AWS::S3::Bucket")
        .about("An object store container, described in S3 terms.")
        .service(Service::ObjectStore)
        .props([
            prop(
                "AccessControl",
                Str,
                "Canned access list that says who else may read or write the bucket.",
            )
            .one_of([
                "Private",
                "PublicRead",
                "PublicReadWrite",
                "AuthenticatedRead",
                "BucketOwnerRead",
                "BucketOwnerFullControl",
            ]),
            prop("Tags", List, "Key and value labels that are kept as metadata of the container.")
                .each(key_value()),
            prop(
                "WebsiteConfiguration",
                Map,
                "Pages with which the bucket is served as a static website.",
            )
            .members([
                prop(
                    "ErrorDocument",
                    Str,
                    "Suffix of the object that is shown for requests that fail.",
                ),
                prop(
                    "IndexDocument",
                    Str,
                    "Name of the object that is shown for requests to a directory.",
                ),
            ]),
        ])
        .attrs([
            attr("DomainName", Str, "Host name of the object store that has the bucket."),
            attr("WebsiteURL", Str, "URL under which the contents of the bucket are reached."),
        ])
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(common::look(op)))
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let mut said = Vec::new();
    let properties = op.context().properties.clone();
    for tag in items(&properties, "Tags").iter().filter_map(|tag| open(tag).as_map()) {
        let part = |name| text(tag, name).unwrap_or_default();
        said.push((format!("X-Container-Meta-S3-Tag-{}", part("Key")), part("Value").to_owned()));
    }
    let website = section(&properties, "WebsiteConfiguration");
    for (name, header) in [("IndexDocument", "Index"), ("ErrorDocument", "Error")] {
        let page = website.and_then(|website| text(website, name));
        said.extend(page.map(|page| (format!("X-Container-Meta-Web-{header}"), page.to_owned())));
    }
    let access = text(&properties, "AccessControl").unwrap_or_default();
    // The owner has access without an ACL.
    let read = match access {
        "PublicRead" | "PublicReadWrite" => Some(".r:*".to_owned()),
        "AuthenticatedRead" => Some(format!("{}:*", project(op).await?)),
        _ => None,
    };
    said.extend(read.map(|who| ("X-Container-Read".to_owned(), who)));
    if access == "PublicReadWrite" {
        said.push(("X-Container-Write".to_owned(), ".r:*".to_owned()));
    }
    let name = op.context().physical_name.clone();
    common::create(op, &name, said).await
}

/// The id of the project, from the URL of its account.
async fn project(op: &mut Op) -> Result<String, OpError> {
    let reply = op.read(head(Service::ObjectStore, "")).await?;
    let account = reply.address().and_then(|it| it.trim_end_matches('/').rsplit('/').next());
    Ok(account.unwrap_or_default().trim_start_matches("AUTH_").to_owned())
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let id = op.id().map_or("", |id| id);
    let refusal = format!("The bucket you tried to delete is not empty ({id}).");
    common::remove(op, Some(refusal)).await
}
