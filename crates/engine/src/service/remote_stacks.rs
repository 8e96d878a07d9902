//! Stacks in other regions (`OS::Heat::Stack`): whether the region can be reached, and whether its service accepts the
//! templates, is checked before anything is created.

use super::{RequestError, Requester, Service, StackRequest, TemplateSource};
use crate::error_type::ErrorType;
use kiln_template::Value;
use kiln_template::definition::UnknownResolver;
use kiln_template::eval::Scope;
use kiln_template::resolved::ResolvedDefinition;
use kiln_template::validate::Report;
use kiln_template::value::Members;
use std::sync::Arc;

const KIND: &str = "OS::Heat::Stack";

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

impl Service {
    /// Checks the remote stacks of a template.
    pub(super) async fn check_remote_stacks(
        &self,
        requester: &Requester,
        request: &StackRequest,
        report: &Report,
    ) -> Result<(), RequestError> {
        for properties in stacks(report) {
            self.check_remote_stack(requester, request, &properties).await?;
        }
        Ok(())
    }

    async fn check_remote_stack(
        &self,
        requester: &Requester,
        request: &StackRequest,
        properties: &Members,
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
            Ok(_) => Ok(()),
            Err(refusal) => bad(format!(
                "Failed validating stack template using Heat endpoint at region \"{}\" due to \
                 \"ERROR: {}\"",
                region.unwrap_or("None"),
                refusal.message.as_deref().unwrap_or(refusal.error_type.name())
            )),
        }
    }
}
