//! AWS::IAM::User: a user of the stack who can be allowed to read some of its resources.

use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::{open, text};
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
    check_policies(op).await?;
    if !stack_user::are_there(op) {
        return nameless(op).await;
    }
    let profile = op.section("LoginProfile");
    let password = profile.and_then(|profile| text(profile, "Password")).map(str::to_owned);
    stack_user::own_with(op, password.as_deref()).await.map(drop)
}

/// Checks that every policy is an access policy of the stack: a user with an unknown one would have no limits.
async fn check_policies(op: &mut Op) -> Result<(), OpError> {
    let policies: Vec<Value> = op.items("Policies").to_vec();
    for policy in policies.iter().filter_map(|policy| open(policy).as_text()) {
        let sibling = op.sibling(policy).await?;
        if !sibling.is_some_and(|it| it.properties.contains_key("AllowedResources")) {
            let name = &op.context().resource;
            let message = format!("The Referenced Attribute ({name} Policies) is incorrect.");
            return Err(OpError::failed(FailureClass::InvalidTemplateAttribute, message));
        }
    }
    Ok(())
}
