//! What is done with stacks besides making and changing them.

use super::{RequestError, Requester, Service};
use crate::ids::StackId;
use crate::machine::Command;
use crate::state::{Action, Status};
use crate::store::StackRow;
use crate::view::Ambiguous;
use kiln_template::Value;
use kiln_template::environment::Hook;
use std::sync::Arc;

/// What came of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signalled {
    /// It is recorded, and will be heard.
    Recorded,
}

impl Service {
    /// Deletes a stack.
    pub async fn delete(&self, stack: &StackRow) -> Result<(), RequestError> {
        if stack.deleted.is_some() {
            return Err(RequestError::not_found("Stack", &stack.name));
        }
        self.command(stack.root, Command::Delete).await
    }

    /// Everything that is known of a stack, as another can take it over.
    pub async fn export(&self, stack: &StackRow) -> Result<Value, RequestError> {
        if !self.rules.allows_abandon {
            return Err(RequestError::unsupported("Stack Abandon"));
        }
        let view = self.view(stack).await?;
        let stack = view.stack(stack.id).map(|it| it.export());
        Ok(stack.unwrap_or_default())
    }

    /// Gives a stack up: its objects stay, and what is known of them is handed out.
    pub async fn abandon(&self, stack: &StackRow) -> Result<Value, RequestError> {
        let document = self.export(stack).await?;
        self.command(stack.root, Command::Abandon).await?;
        Ok(document)
    }

    /// Puts a stack to rest, wakes it, or compares it with reality.
    pub async fn run_on_each(&self, stack: &StackRow, action: Action) -> Result<(), RequestError> {
        if stack.state.is(action, Status::Complete) && action != Action::Check {
            return Ok(());
        }
        if Service::is_in_progress(stack) {
            return Err(RequestError::action_in_progress(&stack.name, stack.state.action));
        }
        self.command(stack.root, Command::ForEach(stack.id, action)).await
    }

    /// Gives up what is being done with a stack.
    pub async fn cancel(&self, stack: &StackRow, with_rollback: bool) -> Result<(), RequestError> {
        let can_be = Service::is_in_progress(stack)
            && match stack.state.action {
                Action::Update => true,
                Action::Create => !with_rollback,
                _ => false,
            };
        if !can_be {
            let state = stack.state;
            return Err(RequestError::unsupported(format_args!(
                "Cancelling update when stack is {state}"
            )));
        }
        self.command(stack.root, Command::Cancel { with_rollback }).await
    }

    /// Tells a resource something.
    pub async fn signal(
        &self,
        stack: &StackRow,
        resource: &str,
        details: Value,
    ) -> Result<Signalled, RequestError> {
        let view = self.view(stack).await?;
        let seen =
            view.stack(stack.id).ok_or_else(|| RequestError::not_found("Stack", &stack.name))?;
        let Some(found) = seen.resource(resource) else {
            return Err(no_resource(&stack.name, resource));
        };
        if let Some(hook) = details.as_map().and_then(|it| it.get("unset_hook")) {
            let name = kiln_template::print::plain(hook);
            let Some(hook) = Hook::from_name(&name) else {
                let message = format!("Invalid hook type \"{name}\" for {resource}");
                return Err(RequestError::new("InvalidBreakPointHook", message));
            };
            if seen.hook(&found) != Some(hook) {
                let message = format!("The \"{name}\" hook is not defined on {resource}");
                return Err(RequestError::new("InvalidBreakPointHook", message));
            }
        } else {
            let kind = seen.builtin(&found);
            if found.state.action == Action::Init {
                let message = format!("The Resource ({resource}) is not available.");
                return Err(RequestError::new("ResourceNotAvailable", message));
            }
            let Some(kind) = kind.filter(|kind| kind.behaviour.signal.is_some()) else {
                let message = "signal is not supported for resource.";
                return Err(RequestError::new("ResourceActionNotSupported", message));
            };
            let action = found.state.action;
            if kind.no_signal_actions.iter().any(|refused| *refused == action.name()) {
                return Err(RequestError::unsupported(format_args!(
                    "Signal resource during {action}"
                )));
            }
        }
        let command = Command::Signal { stack: stack.id, resource: resource.into(), details };
        self.command(stack.root, command).await?;
        Ok(Signalled::Recorded)
    }

    /// Records that somebody holds a resource for healthy or not.
    pub async fn mark(
        &self,
        stack: &StackRow,
        resource: &str,
        is_healthy: bool,
        reason: &str,
    ) -> Result<(), RequestError> {
        let view = self.view(stack).await?;
        let seen =
            view.stack(stack.id).ok_or_else(|| RequestError::not_found("Stack", &stack.name))?;
        let found = seen.resource_by_any_id(resource).map_err(|Ambiguous| {
            RequestError::new(
                "PhysicalResourceIDAmbiguity",
                format!("Multiple resources were found with the physical ID ({resource})."),
            )
        })?;
        let found = found.ok_or_else(|| no_resource(&stack.name, resource))?;
        if seen.is_busy(&found) {
            return Err(RequestError::action_in_progress(&stack.name, stack.state.action));
        }
        let (stack, root): (StackId, StackId) = (stack.id, stack.root);
        let reason = Arc::from(reason);
        self.command(root, Command::Mark { stack, resource: found.name, is_healthy, reason }).await
    }

    /// Whether the requester may do something with all types of a stack.
    pub fn check_types(
        &self,
        requester: &Requester,
        kinds: &[Arc<str>],
    ) -> Result<(), RequestError> {
        match kinds.iter().find(|kind| !(requester.may_use)(kind)) {
            Some(kind) => Err(RequestError::forbidden_type(kind)),
            None => Ok(()),
        }
    }
}

/// A resource that is not there.
pub(super) fn no_resource(stack: &str, resource: &str) -> RequestError {
    let message = format!("The Resource ({resource}) could not be found in Stack {stack}.");
    RequestError::new("ResourceNotFound", message)
}
