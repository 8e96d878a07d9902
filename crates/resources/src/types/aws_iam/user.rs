//! AWS::IAM::User: a user of the stack who can be allowed to read some of its resources.

use crate::declare::*;

pub(super) fn user() -> ResourceType {
    ResourceType::new("AWS::IAM::User")
        .about("A user of the stack who can be allowed to read some of its resources.")
        .suspendable()
        .props([
            prop("Groups", List),
            prop("LoginProfile", Map).members([prop("Password", Str)]),
            prop("Path", Str),
            prop("Policies", List),
        ])
}
