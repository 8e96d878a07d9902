//! AWS::IAM::AccessKey: an EC2 key pair with which a stack's user signs requests.

use crate::declare::*;

pub(super) fn access_key() -> ResourceType {
    ResourceType::new("AWS::IAM::AccessKey")
        .about("An EC2 key pair with which a stack's user signs requests.")
        .props([
            prop("Serial", Int).unimplemented(),
            prop("Status", Str).unimplemented().one_of(["Active", "Inactive"]),
            prop("UserName", Str).required(),
        ])
        .attrs([attr("SecretAccessKey", Str).uncached(), attr("UserName", Str).uncached()])
}
