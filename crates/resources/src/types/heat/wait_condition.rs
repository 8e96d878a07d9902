//! OS::Heat::WaitCondition: a pause in stack creation until a handle has received enough signals.

use super::signals;
use crate::declare::*;
use kiln_template::functions::step_into_attribute;

pub(super) fn wait_condition() -> ResourceType {
    ResourceType::new("OS::Heat::WaitCondition")
        .about("A pause in stack creation until a handle has received enough signals.")
        .since("2014.2")
        .props([
            prop("count", Int, "Number of success signals to wait for.")
                .updatable()
                .default(1)
                .min(1),
            prop(
                "handle",
                Str,
                "Reference to the wait condition handle that receives the signals.",
            )
            .required(),
            signals::timeout_prop("timeout", Num),
        ])
        .attrs([
            attr("data", Str, "JSON text that maps the ID of each signal to its data.").uncached()
        ])
        .creates(|op| Box::pin(signals::wait(op, &CONDITION)))
        .updates(|op| Box::pin(signals::wait(op, &CONDITION)))
        .deletes(|op| Box::pin(signals::forget(op, &CONDITION)))
        .attributes(|view, name, path| {
            let data = || step_into_attribute(&signals::data(view, &CONDITION), path);
            Ok((name == "data").then(data))
        })
}

const CONDITION: signals::Condition =
    signals::Condition { handle: "handle", count: "count", timeout: "timeout" };
