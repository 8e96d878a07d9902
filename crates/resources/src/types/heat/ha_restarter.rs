//! OS::Heat::HARestarter: replaces a server, and what depends on it, when an alarm fires.
//!
//! It only says which: the stack is updated as if somebody had marked those resources unhealthy.

use super::addresses::Signed;
use super::signals::{called_by_url, signed, url, with_user};
use crate::behaviour::{Heard, Signal, View};
use crate::declare::*;
use crate::given::text;
use kiln_template::functions::step_into_attribute;

pub(super) fn ha_restarter() -> ResourceType {
    ResourceType::new("OS::Heat::HARestarter")
        .about("Replaces a server, and what depends on it, when an alarm fires.")
        .deprecated("2015.1")
        .hidden("10.0.0")
        .note("Mark the server unhealthy and update the stack.")
        .lives_on()
        .props([prop("InstanceId", Str).required().updatable()])
        .attrs([attr("AlarmUrl", Str).uncached()])
        .with(with_user)
        .creates(|op| Box::pin(async move { signed(op, Signed::Signal).await.map(drop) }))
        .called(called_by_url)
        .answers(|view, name, path| {
            let answer = if name == "AlarmUrl" { url(view) } else { Value::Null };
            Ok(Some(step_into_attribute(&answer, path)))
        })
        .on_signal(on_signal)
}

/// On an alarm, whatever else happens, the server is made anew; without a word of it, it is an alarm.
fn on_signal(view: &View<'_>, signal: &Signal<'_>) -> Result<Heard, String> {
    let state =
        signal.details.as_map().and_then(|it| it.get("state").or_else(|| it.get("current")));
    let state = state.and_then(Value::as_text);
    if state.is_some_and(|state| !state.eq_ignore_ascii_case("alarm")) {
        return Ok(Heard { is_nothing: true, ..Heard::default() });
    }
    let wanted = text(view.properties, "InstanceId").unwrap_or_default();
    let replaced = view.siblings.named(wanted);
    let missing = || format!("{} could not find the resource \"{wanted}\"", view.name);
    Ok(Heard { replaced: Some(replaced.ok_or_else(missing)?), ..Heard::default() })
}
