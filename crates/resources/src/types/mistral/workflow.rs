//! OS::Mistral::Workflow: a workflow of tasks, started by a signal.

use crate::declare::*;

pub(super) fn workflow() -> ResourceType {
    ResourceType::new("OS::Mistral::Workflow")
        .about("A workflow of tasks, started by a signal.")
        .service(Service::Workflow)
        .entity("workflows")
        .signalled()
        .suspendable()
        .kept_on_failed_check()
        .since("2015.1")
        .props([
            prop("description", Str).updatable(),
            prop("input", Map).updatable(),
            prop("name", Str),
            prop("output", Map).updatable(),
            prop("params", Map).updatable(),
            prop("tags", List).updatable().since("10.0.0"),
            task_defaults(),
            tasks(),
            prop("type", Str).required().updatable().one_of(["direct", "reverse"]),
            prop("use_request_body_as_input", Bool).updatable().since("6.0.0"),
        ])
        .attrs([attr("alarm_url", Str).uncached(), attr("data", Map), attr("executions", List)])
}

fn task_defaults() -> Prop {
    prop("task_defaults", Map).updatable().since("5.0.0").members([
        prop("concurrency", Int).since("8.0.0"),
        prop("on_complete", List),
        prop("on_error", List),
        prop("on_success", List),
        prop("pause_before", Bool),
        prop("requires", List),
        prop("retry", Map),
        prop("timeout", Int),
        prop("wait_after", Int),
        prop("wait_before", Int),
    ])
}

fn tasks() -> Prop {
    prop("tasks", List).required().updatable().min_length(1).each(record([
        prop("action", Str),
        prop("concurrency", Int).replaces("policies.concurrency").since("8.0.0"),
        prop("description", Str),
        prop("input", Map),
        prop("join", Str).since("6.0.0"),
        prop("keep_result", Bool).since("5.0.0"),
        prop("name", Str).required(),
        prop("on_complete", List),
        prop("on_error", List),
        prop("on_success", List),
        prop("pause_before", Bool).replaces("policies.pause_before").since("5.0.0"),
        prop("policies", Map)
            .dropped()
            .since("2015.1")
            .deprecated("5.0.0")
            .hidden("8.0.0")
            .note("Give the policies as members of the task."),
        prop("publish", Map),
        prop("requires", List),
        prop("retry", Map).replaces("policies.retry").since("5.0.0"),
        prop("target", Str).since("5.0.0"),
        prop("timeout", Int).replaces("policies.timeout").since("5.0.0"),
        prop("wait_after", Int).replaces("policies.wait_after").since("5.0.0"),
        prop("wait_before", Int).replaces("policies.wait_before").since("5.0.0"),
        prop("with_items", Str).since("5.0.0"),
        prop("workflow", Str).is("mistral.workflow"),
    ]))
}
