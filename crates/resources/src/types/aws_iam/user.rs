//! AWS::IAM::User: a user of the stack who can be allowed to read some of its resources.

use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::text;
use crate::types::heat::signals::{nameless, with_user};
use crate::types::heat::stack_user;

pub(super) fn user() -> ResourceType {
    ResourceType::new("AWS::IAM::User")
        .about("A user of the stack who can be allowed to read some of its resources.")
        .suspendable()
        .props([
            prop("Groups", List, "Names of groups that the user should join, which have no effect here."),
            prop("LoginProfile", Map, "Password login of the user, with which a password can be set.").members([prop("Password", Str, "Password of the user; a random one if omitted.")]),
            prop("Path", Str, "Path that the user name is filed under; it is accepted and ignored."),
            prop("Policies", List, "References to access policies that say which resources the user may read; all if omitted."),
        ])
        .with(with_user)
        .creates(|op| Box::pin(create(op)))
        .reference(|view| view.physical_name.into())
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    if !stack_user::are_there(op) {
        return nameless(op).await;
    }
    let profile = op.section("LoginProfile");
    let password = profile.and_then(|profile| text(profile, "Password")).map(str::to_owned);
    stack_user::own_with(op, password.as_deref()).await.map(drop)
}
