//! The names of stacks and resources in requests: a name, an id or an ARN.

use crate::aws::{AwsFault, Params};
use crate::request::Request;
use kiln_engine::store::StackRow;
use kiln_engine::{ErrorType, StackView};

/// The beginning of every ARN.
const ARN: &str = "arn:openstack:heat::";

/// A stack or a resource, by its ARN: `arn:openstack:heat::PROJECT:stacks/NAME/ID[/resources/RESOURCE]`.
pub(super) struct Named<'a> {
    pub(super) stack: &'a str,
    pub(super) id: &'a str,
    /// The resource; none if it is the stack that is named.
    pub(super) resource: Option<&'a str>,
}

impl<'a> Named<'a> {
    pub(super) fn read(arn: &'a str) -> Option<Named<'a>> {
        let (_, rest) = arn.strip_prefix(ARN)?.split_once(":stacks/")?;
        let (stack, rest) = rest.split_once('/')?;
        let (id, resource) = match rest.split_once('/') {
            None => (rest, None),
            Some((id, rest)) => (id, Some(rest.strip_prefix("resources/")?)),
        };
        let is_whole = !stack.is_empty() && !id.is_empty() && resource != Some("");
        is_whole.then_some(Named { stack, id, resource })
    }
}

/// The ARN of a stack.
pub(super) fn arn(stack: &StackRow) -> String {
    arn_of(&stack.project, &stack.summary.name, &stack.id.to_string())
}

/// The ARN of a stack of a view.
pub(super) fn arn_of_view(stack: &StackRow, seen: &StackView<'_>) -> String {
    arn_of(&stack.project, seen.name(), &seen.id().to_string())
}

/// The ARN of a stack of a project.
pub(super) fn arn_of(project: &str, name: &str, id: &str) -> String {
    format!("{ARN}{project}:stacks/{name}/{id}")
}

/// The stack that a request names, deleted or not.
pub(super) async fn stack(request: &Request, params: &Params) -> Result<StackRow, AwsFault> {
    let name = params.need("StackName")?;
    if !name.starts_with("arn:") {
        return Ok(request.service().identify(&request.requester(), name).await?);
    }
    match Named::read(name).filter(|named| named.resource.is_none()) {
        Some(Named { stack, id, .. }) => {
            Ok(request.service().find_stack(&request.requester(), stack, id).await?)
        }
        None => Err(AwsFault::bad(format!("\"{name}\" is not the ARN of a stack"))),
    }
}

/// The stack that a request names, deleted or not; nothing if there is none.
pub(super) async fn existing_stack(
    request: &Request,
    params: &Params,
) -> Result<Option<StackRow>, AwsFault> {
    let name = params.need("StackName")?;
    let requester = request.requester();
    let found = match Named::read(name).filter(|named| named.resource.is_none()) {
        Some(Named { stack, id, .. }) => request.service().find_stack(&requester, stack, id).await,
        None if name.starts_with("arn:") => return stack(request, params).await.map(Some),
        None => request.service().identify(&requester, name).await,
    };
    match found {
        Ok(stack) => Ok(Some(stack)),
        Err(error) if error.error_type == ErrorType::EntityNotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The stack that a request names, if it is not deleted.
pub(super) async fn live_stack(request: &Request, params: &Params) -> Result<StackRow, AwsFault> {
    let stack = stack(request, params).await?;
    match stack.summary.deleted {
        None => Ok(stack),
        Some(_) => Err(crate::native::stacks::gone(&stack).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arns_name_stacks_and_resources() {
        let read = |arn: &'static str| {
            Named::read(arn).map(|named| (named.stack, named.id, named.resource))
        };
        assert_eq!(read("arn:openstack:heat::p:stacks/web/1"), Some(("web", "1", None)));
        let resource = read("arn:openstack:heat::p:stacks/web/1/resources/a/b");
        assert_eq!(resource, Some(("web", "1", Some("a/b"))));
        for bad in [
            "arn:openstack:heat::p:stacks/web",
            "arn:openstack:heat::p:stacks/web/",
            "arn:openstack:heat::p:stacks//1",
            "arn:openstack:heat::p:stacks/web/1/resources/",
            "arn:openstack:heat::p:stacks/web/1/events",
            "arn:aws:cloudformation::p:stacks/web/1",
        ] {
            assert!(read(bad).is_none(), "{bad}");
        }
    }
}
