//! OS::Mistral::CronTrigger: a schedule on which a workflow is started.

use crate::declare::*;
use crate::lookup::is_uuid;
use crate::refusals::one_of;
use crate::rest::{RestSpec, UpdateMethod};
use crate::types::fragments::name_prop;
use serde_json::Value as Json;

pub(super) fn cron_trigger() -> ResourceType {
    ResourceType::new("OS::Mistral::CronTrigger")
        .about("A schedule on which a workflow is started.")
        .service(Service::Workflow)
        .entity("cron_triggers")
        .since("5.0.0")
        .props([
            prop(
                "count",
                Int,
                "Number of runs after which the trigger is spent; unlimited if omitted.",
            ),
            prop("first_time", Str, "Time of the first run in UTC, as `YYYY-MM-DD HH:MM`."),
            name_prop(),
            prop(
                "pattern",
                Str,
                "Schedule as a cron expression of five fields, such as `0 3 * * *`.",
            )
            .is(CRON_EXPRESSION),
            prop("workflow", Map, "Workflow to start, and what to start it with.")
                .required()
                .members([
                    prop("input", Map, "Input values for each run."),
                    prop("name", Str, "Name or ID of the workflow.").required().is(WORKFLOW),
                ]),
        ])
        .attrs([
            attr("next_execution_time", Str, "Time at which the workflow is started next."),
            attr(
                "remaining_executions",
                Int,
                "Number of runs still to come; null if there is no limit.",
            ),
        ])
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
