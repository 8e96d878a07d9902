//! OS::Mistral::CronTrigger: a schedule on which a workflow is started.

use crate::declare::*;

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
}
