//! OS::Heat::Delay: a pause of a set or random length when a stack acts on it.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{number, open};
use crate::random;
use kiln_template::print;
use std::time::Duration;

pub(super) fn delay() -> ResourceType {
    ResourceType::new("OS::Heat::Delay")
        .about("A pause of a set or random length when a stack acts on it.")
        .suspendable()
        .since("11.0.0")
        .props([
            prop("actions", List, "Actions of the stack on which to pause.")
                .updatable()
                .default(list(["CREATE"]))
                .one_of(["CREATE", "DELETE", "SUSPEND", "RESUME"]),
            prop(
                "jitter_multiplier",
                Num,
                "Factor by which the longest random wait is multiplied.",
            )
            .updatable()
            .default(1.0)
            .min(0),
            prop("max_jitter", Num, "Longest random wait in seconds that is added to the minimum.")
                .updatable()
                .default(0)
                .min(0),
            prop("min_wait", Num, "Seconds to wait at least.").updatable().default(0).min(0),
        ])
        .check_with_siblings(fits_timeout)
        .replaced_if(|change| !change.changed.is_empty())
        .creates(|op| Box::pin(pause(op, "CREATE")))
        .deletes(|op| Box::pin(pause(op, "DELETE")))
        .on(OperationKind::Suspend, |op| Box::pin(pause(op, "SUSPEND")))
        .on(OperationKind::Resume, |op| Box::pin(pause(op, "RESUME")))
}

/// Refuses a pause that may be longer than the timeout of the stack.
fn fits_timeout(
    properties: &Members,
    siblings: &dyn SiblingDefinitions,
) -> Result<(), PropertyError> {
    let of = |name: &str| properties.get(name).map(open).and_then(number);
    let (Some(timeout), Some(shortest)) = (siblings.timeout(), of("min_wait")) else {
        return Ok(());
    };
    let jitter = of("max_jitter").unwrap_or(0.0) * of("jitter_multiplier").unwrap_or(1.0);
    let longest = shortest + jitter;
    if longest <= timeout.as_secs_f64() {
        return Ok(());
    }
    let longest = print::plain(&Value::from(longest));
    let message = format!("OS::Heat::Delay maximum delay {longest}s exceeds stack timeout.");
    Err(PropertyError::new(message))
}

/// Waits, if the property `actions` contains the action.
///
/// The end of the wait is in the journal, so it stays the same although the random part is drawn again after an
/// interruption.
async fn pause(op: &mut Op, action: &str) -> Result<(), OpError> {
    let actions = op.items("actions");
    if !actions.iter().any(|item| item.as_text().is_some_and(|item| &**item == action)) {
        return Ok(());
    }
    let multiplier = number(op.prop("jitter_multiplier")).unwrap_or(1.0);
    let longest = op.seconds("max_jitter").as_secs_f64() * multiplier.max(0.0);
    let jitter = if longest > 0.0 { random::fraction(op).await? * longest } else { 0.0 };
    let length = op.seconds("min_wait").as_secs_f64() + jitter;
    op.wait("pause", Duration::try_from_secs_f64(length).unwrap_or_default()).await
}
