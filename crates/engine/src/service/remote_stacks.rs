//! Stacks in other regions (`OS::Heat::Stack`): whether the region can be reached, and whether its service accepts the
//! templates, is checked before anything is created.
//!
//! Only the remote stacks in the root's own template are followed. One in a group or in a nested template is a stack of its
//! own with a request of its own, which is validated when it is made. Each stack records how many stacks made it, one through
//! the other, so that a template that makes itself that way ends at the same depth.

use super::{RequestError, Requester, Service, StackRequest, TemplateSource};
use crate::error_type::ErrorType;
use crate::ids::StackId;
use crate::record::Record;
use crate::record::v1::StackBody;
use kiln_resources::behaviour::TOO_MANY;
use kiln_template::validate::Report;
use kiln_template::{Members, ResolvedDefinition, Scope, UnknownResolver, Value};
use std::sync::Arc;

const KIND: &str = "OS::Heat::Stack";

/// How many remote stacks are checked where the operator sets no limit on the resources of a stack.
const MAX_CHECKED: usize = 1000;

/// The properties of the remote stacks of a template.
fn stacks(report: &Report) -> Vec<Arc<Members>> {
    let Some(definition) = &report.definition else { return Vec::new() };
    let scope = Scope::new(definition, &UnknownResolver);
    let stacks = definition.resources().filter(|(_, it)| &*it.type_name.value == KIND);
    // Properties that are not known yet are checked during the creation.
    let frozen =
        stacks.filter_map(|(_, resource)| ResolvedDefinition::resolve(&scope, resource).ok());
    frozen.map(|frozen| frozen.properties.clone()).collect()
}

/// The stacks around a remote stack, and how many more may be checked.
struct Nesting {
    depth: usize,
    left: usize,
}

impl Service {
    /// Checks the remote stacks of a template, and those that their templates make in turn.
    pub(super) async fn check_remote_stacks(
        &self,
        requester: &Requester,
        request: &StackRequest,
        report: &Report,
    ) -> Result<(), RequestError> {
        let left = self.config.max_resources.unwrap_or(MAX_CHECKED);
        let depth = usize::try_from(request.makers).unwrap_or(usize::MAX);
        self.check_stacks_of(requester, request, report, &mut Nesting { depth, left }).await
    }

    /// Refuses a stack that too many stacks make, one through the other.
    pub(super) fn check_makers(&self, makers: u64) -> Result<(), RequestError> {
        let limit = self.config.max_depth;
        match usize::try_from(makers).is_ok_and(|makers| makers <= limit) {
            true => Ok(()),
            false => {
                Err(RequestError::limit_exceeded(format_args!("Recursion depth exceeds {limit}.")))
            }
        }
    }

    /// How many stacks make what a stack makes: those that made its root, one through the other, and itself.
    pub(crate) async fn makers_with(&self, stack: &str) -> Result<u64, RequestError> {
        let missing = || RequestError::not_found("Stack", stack);
        let id = stack.parse().map(StackId).map_err(|_| missing())?;
        let root = self.store.stack(id).await?.ok_or_else(missing)?.root;
        let root = self.store.stack(root).await?.ok_or_else(missing)?;
        Ok(StackBody::read(&root.body, root.id)?.makers.saturating_add(1))
    }

    async fn check_stacks_of(
        &self,
        requester: &Requester,
        request: &StackRequest,
        report: &Report,
        nesting: &mut Nesting,
    ) -> Result<(), RequestError> {
        for properties in stacks(report) {
            // A stack whose template makes the same stack again would never end.
            self.check_makers(nesting.depth as u64 + 1)?;
            let Some(left) = nesting.left.checked_sub(1) else {
                return Err(RequestError::new(ErrorType::RequestLimitExceeded, TOO_MANY));
            };
            *nesting = Nesting { depth: nesting.depth + 1, left };
            // The future of a stack contains those of the stacks inside it.
            Box::pin(self.check_remote_stack(requester, request, &properties, nesting)).await?;
            nesting.depth -= 1;
        }
        Ok(())
    }

    async fn check_remote_stack(
        &self,
        requester: &Requester,
        request: &StackRequest,
        properties: &Members,
        nesting: &mut Nesting,
    ) -> Result<(), RequestError> {
        let bad =
            |message: String| Err(RequestError::new(ErrorType::StackValidationFailed, message));
        let context = properties.get("context").and_then(Value::as_map);
        let part = |name: &str| context.and_then(|it| it.get(name)).filter(|it| !it.is_null());
        if part("credential_secret_id").is_some() {
            return bad("Cannot establish connection to Heat endpoint at remote cloud due to \
                        \"credentials that are kept as secrets are not supported yet\""
                .into());
        }
        let region = part("region_name").and_then(Value::as_text).map(|it| &**it);
        if let Some(region) = region.filter(|it| !self.config.is_own_region(it)) {
            return bad(kiln_cloud::no_such_region(region));
        }
        let Some(Value::Text(template)) = properties.get("template") else { return Ok(()) };
        let given = properties.get("parameters").and_then(Value::as_map);
        let given = given.into_iter().flatten().map(|(n, v)| (n.clone(), v.clone().into()));
        let mut environment = request.environment.clone();
        environment.parameters.clear();
        let inner = StackRequest {
            template: TemplateSource::Text(template.clone()),
            environment,
            parameters: given.collect(),
            files: request.files.clone(),
            ..StackRequest::default()
        };
        match self.validate(requester, &inner).await {
            Ok((report, _)) => self.check_stacks_of(requester, &inner, &report, nesting).await,
            Err(refusal) => bad(format!(
                "Failed validating stack template using Heat endpoint at region \"{}\" due to \
                 \"ERROR: {}\"",
                region.unwrap_or("None"),
                refusal.message.as_deref().unwrap_or(refusal.error_type.name())
            )),
        }
    }
}
