//! OS::Heat::HARestarter: replaces a server, and what depends on it, when an alarm fires.
//!
//! It only names the resources: the stack is updated as if a user had marked them unhealthy.

use super::addresses::Signed;
use super::signals::{called_by_url, signed, url, with_user};
use crate::behaviour::{Signal, SignalOutcome, View};
use crate::declare::*;
use crate::property_access::text;
use kiln_template::functions::step_into_attribute;

pub(super) fn ha_restarter() -> ResourceType {
    ResourceType::new("OS::Heat::HARestarter")
        .about("Replaces a server, and what depends on it, when an alarm fires.")
        .deprecated("2015.1")
        .hidden("10.0.0")
        .note("Mark the server unhealthy and update the stack.")
        .still_supported()
        .props([prop(
            "InstanceId",
            Str,
            "Reference to the server that is replaced when the alarm fires.",
        )
        .required()
        .updatable()])
        .attrs([attr(
            "AlarmUrl",
            Str,
            "Signed URL that replaces the server when it is called with POST.",
        )
        .uncached()
        .handed_out()])
        .with(with_user)
        .creates(|op| Box::pin(async move { signed(op, Signed::Signal).await.map(drop) }))
        .reference(called_by_url)
        .attributes(|view, name, path| {
            let answer = if name == "AlarmUrl" { url(view) } else { Value::Null };
            Ok(Some(step_into_attribute(&answer, path)))
        })
        .on_signal(on_signal)
}

/// Marks the server unhealthy if the signal is an alarm. A signal without a state is one.
fn on_signal(view: &View<'_>, signal: &Signal<'_>) -> Result<SignalOutcome, String> {
    let state =
        signal.details.as_map().and_then(|it| it.get("state").or_else(|| it.get("current")));
    let state = state.and_then(Value::as_text);
    if state.is_some_and(|state| !state.eq_ignore_ascii_case("alarm")) {
        return Ok(SignalOutcome { is_ignored: true, ..SignalOutcome::default() });
    }
    let wanted = text(view.properties, "InstanceId").unwrap_or_default();
    let replaced = view.siblings.by_reference(wanted);
    let missing = || format!("{} could not find the resource \"{wanted}\"", view.name);
    Ok(SignalOutcome { replace: Some(replaced.ok_or_else(missing)?), ..SignalOutcome::default() })
}
