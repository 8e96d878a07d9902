//! OS::Mistral::CronTrigger: a schedule on which a workflow is started.

use crate::declare::*;
use crate::lookup::is_uuid;
use crate::refusals::one_of;
use crate::rest::{RestSpec, UpdateMethod};
use serde_json::Value as Json;

pub(super) fn cron_trigger() -> ResourceType {
    ResourceType::new("OS::Mistral::CronTrigger")
        .about("A schedule on which a workflow is started.")
        .service(Service::Workflow)
        .entity("cron_triggers")
        .since("5.0.0")
        .props([
            prop("count", Int),
            prop("first_time", Str),
            prop("name", Str),
            prop("pattern", Str).is("cron_expression"),
            prop("workflow", Map)
                .required()
                .members([prop("input", Map), prop("name", Str).required().is("mistral.workflow")]),
        ])
        .attrs([attr("next_execution_time", Str), attr("remaining_executions", Int)])
        .check(|members| one_of(members, &["pattern", "first_time"]))
        .rest(
            RestSpec::new(Service::Workflow, "/cron_triggers", "")
                .list_envelope("cron_triggers")
                .id("name")
                .field("count", "remaining_executions")
                .field("first_time", "first_execution_time")
                .update_method(UpdateMethod::Never)
                .deleted_at_once()
                .adjust_fields(|_, _, fields| {
                    let workflow = fields.remove("workflow").unwrap_or_default();
                    let named = workflow["name"].as_str().unwrap_or_default();
                    let field = if is_uuid(named) { "workflow_id" } else { "workflow_name" };
                    fields.insert(field.into(), named.into());
                    if let Some(input) = workflow.get("input").filter(|it| **it != Json::Null) {
                        fields.insert("workflow_input".into(), input.clone());
                    }
                }),
        )
}
