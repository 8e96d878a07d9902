//! AWS::IAM::AccessKey: an EC2 key pair with which a stack's user signs requests.

use crate::behaviour::View;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::random;
use crate::types::heat::stack_user;
use kiln_template::functions::{Fault, step_into_attribute};

pub(super) fn access_key() -> ResourceType {
    ResourceType::new("AWS::IAM::AccessKey")
        .about("An EC2 key pair with which a stack's user signs requests.")
        .props([
            prop("Serial", Int, "Number whose increase asks for a new key; not supported.")
                .unimplemented(),
            prop("Status", Str, "Whether the key may be used or is switched off; not supported.")
                .unimplemented()
                .one_of(["Active", "Inactive"]),
            prop("UserName", Str, "Reference to the user of the stack whom the key belongs to.")
                .required(),
        ])
        .attrs([
            attr("SecretAccessKey", Str, "Secret half of the key with which requests are signed.")
                .uncached(),
            attr("UserName", Str, "Reference to the user of the stack, as given in the template.")
                .uncached(),
        ])
        .created_on_adopt()
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
        .attributes(attribute)
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let name = op.text("UserName").unwrap_or_default().to_owned();
    let Some(user) = op.sibling(&name).await? else {
        return Err(OpError::failed(FailureClass::NotFound, format!("could not find user {name}")));
    };
    if !stack_user::are_there(op) {
        if op.id().is_none() {
            let id = random::uuid(op).await?.simple().to_string();
            op.set_id(id);
        }
        return Ok(());
    }
    let Some((user, project)) = stack_user::of_sibling(op, &user.data) else {
        let message = format!(
            "{name} is not a user of this stack. Next: name one of its AWS::IAM::User resources."
        );
        return Err(OpError::failed(FailureClass::NotFound, message));
    };
    let key = stack_user::key_of(op, &user, &project).await?;
    if op.id().is_none() {
        op.set_id(key.access);
    }
    Ok(())
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    stack_user::remove_key(op).await?;
    op.clear_id();
    Ok(())
}

fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let answer = match name {
        "SecretAccessKey" => view.data.get("secret_key").cloned().unwrap_or_default(),
        "UserName" => view.properties.get("UserName").cloned().unwrap_or_default(),
        _ => return Ok(None),
    };
    Ok(Some(step_into_attribute(&answer, path)))
}
