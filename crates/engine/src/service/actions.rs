//! Actions on stacks other than create and update.

use super::sealing::{Sealed, Sealing};
use super::{RequestError, Service};
use crate::config::ByteLimits;
use crate::error_type::ErrorType;
use crate::export::Purpose;
use crate::ids::StackId;
use crate::machine::Command;
use crate::partial_tree::TreePart;
use crate::signal_check::{SignalRefusal, SignalTarget, check_signal};
use crate::state::{Action, Status};
use crate::store::StackRow;
use crate::view::{Ambiguous, View};
use kiln_template::Value;
use std::sync::Arc;

impl Service {
    /// Deletes a stack.
    pub async fn delete(&self, stack: &StackRow) -> Result<(), RequestError> {
        if stack.summary.deleted.is_some() {
            return Err(RequestError::not_found("Stack", &stack.summary.name));
        }
        self.command(stack.root, Command::Delete).await
    }

    /// Exports a stack, in a form that can be adopted. Hidden values are encrypted; if the operator allows it and the
    /// requester may see them, they are in clear.
    pub async fn export(
        &self,
        stack: &StackRow,
        may_see_hidden: bool,
    ) -> Result<Value, RequestError> {
        if !self.rules.allows_abandon {
            return Err(RequestError::unsupported("Stack Abandon"));
        }
        let (purpose, sealed) = match self.rules.exports_in_clear && may_see_hidden {
            true => (Purpose::AdoptionByHeat, Sealed::OwnOnly),
            false => (Purpose::Adoption, Sealed::All),
        };
        let view = self.view(stack).await?;
        let document = view.stack(stack.id).map(|it| it.export(purpose));
        let Some(Value::Map(document)) = document else { return Ok(Value::Null) };
        Sealing::new(&*self.store, &stack.project, &document).seal(&document, sealed)
    }

    /// Abandons a stack: its objects stay, and its export is returned.
    pub async fn abandon(
        &self,
        stack: &StackRow,
        may_see_hidden: bool,
    ) -> Result<Value, RequestError> {
        let document = self.export(stack, may_see_hidden).await?;
        self.command(stack.root, Command::Abandon).await?;
        Ok(document)
    }

    /// Suspends, resumes or checks a stack.
    pub async fn run_on_each(&self, stack: &StackRow, action: Action) -> Result<(), RequestError> {
        if stack.summary.state.is(action, Status::Complete) && action != Action::Check {
            return Ok(());
        }
        if Service::is_in_progress(stack) {
            return Err(RequestError::action_in_progress(
                &stack.summary.name,
                stack.summary.state.action,
            ));
        }
        self.command(stack.root, Command::ForEach(stack.id, action)).await
    }

    /// Cancels the action in progress.
    pub async fn cancel(&self, stack: &StackRow, with_rollback: bool) -> Result<(), RequestError> {
        let can_be = Service::is_in_progress(stack)
            && match stack.summary.state.action {
                Action::Update => true,
                Action::Create => !with_rollback,
                _ => false,
            };
        if !can_be {
            let state = stack.summary.state;
            return Err(RequestError::unsupported(format_args!(
                "Cancelling update when stack is {state}"
            )));
        }
        self.command(stack.root, Command::Cancel { with_rollback }).await
    }

    /// Signals a resource. The signal is recorded when this returns.
    pub async fn signal(
        &self,
        stack: &StackRow,
        resource: &str,
        details: Value,
    ) -> Result<(), RequestError> {
        let view = self.part(stack, TreePart::SignalTarget(resource)).await?;
        let limits = &self.config.byte_limits;
        let checked = check(&view, stack, resource, &details, limits)?;
        let refusal = match view.is_incomplete() {
            true => check(&self.view(stack).await?, stack, resource, &details, limits)?,
            false => checked,
        };
        // A signal that the action does not allow leaves an event, which the tree's owner records.
        if refusal.as_ref().is_none_or(|it| matches!(it, SignalRefusal::DuringAction(_))) {
            let command = Command::Signal { stack: stack.id, resource: resource.into(), details };
            self.command(stack.root, command).await?;
        }
        refusal.map_or(Ok(()), |refusal| Err(refused(resource, refusal)))
    }

    /// Marks a resource as healthy or unhealthy.
    pub async fn mark(
        &self,
        stack: &StackRow,
        resource: &str,
        is_healthy: bool,
        reason: &str,
    ) -> Result<(), RequestError> {
        let view = self.view(stack).await?;
        let seen = view
            .stack(stack.id)
            .ok_or_else(|| RequestError::not_found("Stack", &stack.summary.name))?;
        let found = seen.resource_by_any_id(resource).map_err(|Ambiguous| {
            RequestError::new(
                ErrorType::PhysicalResourceIdAmbiguity,
                format!("Multiple resources were found with the physical ID ({resource})."),
            )
        })?;
        let found = found.ok_or_else(|| no_resource(&stack.summary.name, resource))?;
        if seen.is_busy(&found) {
            return Err(RequestError::action_in_progress(
                &stack.summary.name,
                stack.summary.state.action,
            ));
        }
        let (stack, root): (StackId, StackId) = (stack.id, stack.root);
        let reason = Arc::from(reason);
        self.command(
            root,
            Command::Mark { stack, resource: found.summary.name, is_healthy, reason },
        )
        .await
    }
}

/// Why a signal is refused, if the resource does not take it.
fn check(
    view: &View,
    stack: &StackRow,
    resource: &str,
    details: &Value,
    limits: &ByteLimits,
) -> Result<Option<SignalRefusal>, RequestError> {
    let seen = view
        .stack(stack.id)
        .ok_or_else(|| RequestError::not_found("Stack", &stack.summary.name))?;
    let found =
        seen.resource(resource).ok_or_else(|| no_resource(&stack.summary.name, resource))?;
    let target = SignalTarget {
        state: found.summary.state,
        hook: seen.hook(&found),
        resource_type: seen.builtin(&found),
        kept: seen.kept_signals(&found),
    };
    Ok(check_signal(&target, details, limits).err())
}

/// The error for a signal that is refused.
fn refused(resource: &str, refusal: SignalRefusal) -> RequestError {
    match refusal {
        SignalRefusal::UnknownHook(name) => RequestError::new(
            ErrorType::InvalidBreakPointHook,
            format!("Invalid hook type \"{name}\" for {resource}"),
        ),
        SignalRefusal::HookNotSet(name) => RequestError::new(
            ErrorType::InvalidBreakPointHook,
            format!("The \"{name}\" hook is not defined on {resource}"),
        ),
        SignalRefusal::NotAvailable => RequestError::new(
            ErrorType::ResourceNotAvailable,
            format!("The Resource ({resource}) is not available."),
        ),
        SignalRefusal::NotSupported => RequestError::new(
            ErrorType::ResourceActionNotSupported,
            "signal is not supported for resource.",
        ),
        SignalRefusal::TooMuch(why) => RequestError::limit_exceeded(why),
        SignalRefusal::DuringAction(action) => {
            RequestError::unsupported(format_args!("Signal resource during {action}"))
        }
    }
}

/// The error for a resource that does not exist.
pub(super) fn no_resource(stack: &str, resource: &str) -> RequestError {
    let message = format!("The Resource ({resource}) could not be found in Stack {stack}.");
    RequestError::new(ErrorType::ResourceNotFound, message)
}
