//! AWS::IAM::User: a user of the stack who can be allowed to read some of its resources.

use crate::declare::*;
use crate::given::{section, text};
use crate::op::{Op, Stop};
use crate::types::heat::signals::{nameless, with_user};
use crate::types::heat::stack_user;

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
        .with(with_user)
        .creates(|op| Box::pin(create(op)))
        .called(|view| view.physical_name.into())
}

async fn create(op: &mut Op) -> Result<(), Stop> {
    if !stack_user::are_there(op) {
        return nameless(op).await;
    }
    let profile = section(&op.context().properties, "LoginProfile");
    let password = profile.and_then(|profile| text(profile, "Password")).map(str::to_owned);
    stack_user::own_with(op, password.as_deref()).await.map(drop)
}
