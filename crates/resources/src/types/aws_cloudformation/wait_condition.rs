//! AWS::CloudFormation::WaitCondition: a pause in stack creation until a handle has received enough
//! signals.

use crate::declare::*;
use crate::types::heat::signals;
use kiln_template::functions::step_into_attribute;

pub(super) fn wait_condition() -> ResourceType {
    ResourceType::new("AWS::CloudFormation::WaitCondition")
        .about("A pause in stack creation until a handle has received enough signals.")
        .since("2014.1")
        .props([
            prop("Count", Int, "Number of success signals to wait for.")
                .updatable()
                .default(1)
                .min(1),
            prop(
                "Handle",
                Str,
                "Reference to the wait condition handle that receives the signals.",
            )
            .required(),
            signals::timeout_prop("Timeout", Int),
        ])
        .attrs([attr("Data", Str, "JSON text that maps the unique ID of each signal to its data.")
            .uncached()])
        .creates(|op| Box::pin(signals::wait(op, &CONDITION)))
        .replaced_if(|change| !change.changed.is_empty())
        .deletes(|op| Box::pin(signals::forget(op, &CONDITION)))
        .attributes(|view, name, path| {
            let data = || step_into_attribute(&signals::data(view, &CONDITION), path);
            Ok((name == "Data").then(data))
        })
}

const CONDITION: signals::Condition =
    signals::Condition { handle: "Handle", count: "Count", timeout: "Timeout" };
