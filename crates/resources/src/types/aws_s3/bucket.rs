//! AWS::S3::Bucket: an object store container, described in S3 terms.

use crate::declare::*;
use crate::types::aws_ec2::key_value;

pub(super) fn bucket() -> ResourceType {
    ResourceType::new("AWS::S3::Bucket")
        .about("An object store container, described in S3 terms.")
        .service(Service::ObjectStore)
        .props([
            prop("AccessControl", Str).one_of([
                "Private",
                "PublicRead",
                "PublicReadWrite",
                "AuthenticatedRead",
                "BucketOwnerRead",
                "BucketOwnerFullControl",
            ]),
            prop("Tags", List).each(key_value()),
            prop("WebsiteConfiguration", Map)
                .members([prop("ErrorDocument", Str), prop("IndexDocument", Str)]),
        ])
        .attrs([attr("DomainName", Str), attr("WebsiteURL", Str)])
}
