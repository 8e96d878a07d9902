//! OS::Heat::SwiftSignal: a pause in stack creation until enough signals lie in an object store.

use super::mailbox::Mailbox;
use super::signals::{POLLING, SUCCESS, timeout_prop};
use crate::behaviour::View;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::text;
use crate::wire;
use kiln_template::functions::{Fault, step_into_attribute};
use kiln_template::print::{self, Keys};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) fn swift_signal() -> ResourceType {
    ResourceType::new("OS::Heat::SwiftSignal")
        .plain_data([DATA])
        .about("A pause in stack creation until enough signals lie in an object store.")
        .service(Service::ObjectStore)
        .since("2014.2")
        .props([
            prop("count", Int, "Number of success signals to wait for.").default(1).range(1, 1000),
            prop("handle", Str, "Reference to the signal handle that receives the signals.")
                .required(),
            timeout_prop("timeout", Num),
        ])
        .attrs([attr("data", Str, "JSON text that maps the ID of each signal to its data.")])
        .creates(|op| Box::pin(wait(op)))
        .attributes(attribute)
}

/// The entry of the resource's data with the data of the signals.
const DATA: &str = "data";

/// The received signals by their ids.
type Signals = BTreeMap<String, Json>;

async fn wait(op: &mut Op) -> Result<(), OpError> {
    let handle = op.text("handle").unwrap_or_default().to_owned();
    let sibling = op.sibling(&handle).await?;
    let Some(mailbox) = sibling.as_ref().and_then(|it| Mailbox::of(&it.data)) else {
        let message = format!("{handle} is no handle of this stack");
        return Err(OpError::failed(FailureClass::ValueError, message));
    };
    let wanted = op.count("count").unwrap_or(1);
    let timeout: Duration = op.seconds("timeout");
    let deadline = op.deadline("timeout", timeout);
    let mut backoff = POLLING;
    loop {
        let letters = mailbox.letters(op).await?;
        let signals = signals(&letters)?;
        failures(&signals)?;
        let data = signals.iter().map(|(id, signal)| (id.as_str(), wire::value(&signal["data"])));
        if signals.len() >= wanted {
            op.set_data(DATA, print::json(&Value::map(data), Keys::Ordered));
            op.set_id(op.context().physical_name.clone());
            return Ok(());
        }
        let left = deadline.saturating_sub(op.from_now(Duration::ZERO));
        if left <= 0 {
            return Err(too_late(&signals, wanted));
        }
        op.pause(backoff.next_pause().min(Duration::from_micros(left.unsigned_abs()))).await?;
    }
}

/// Reads signals from letters. An empty letter is a success, and of several letters with one id the last
/// counts.
fn signals(letters: &[Json]) -> Result<Signals, OpError> {
    let mut signals = Signals::new();
    for letter in letters {
        let number = signals.len() + 1;
        let usual = json!({
            "status": SUCCESS,
            "reason": format!("Signal {number} received"),
            "data": null,
            "id": number.to_string(),
        });
        let mut signal = usual;
        match letter {
            Json::Null => {}
            Json::Object(members) => {
                for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                    signal[name] = value.clone();
                }
            }
            other => {
                let told = print::plain(&wire::value(other));
                let message = format!("Failed to parse JSON data: {told}");
                return Err(OpError::failed(FailureClass::SwiftSignalFailure, message));
            }
        }
        let id = print::plain(&wire::value(&signal["id"]));
        signals.insert(id, signal);
    }
    Ok(signals)
}

fn failures(signals: &Signals) -> Result<(), OpError> {
    let status = |signal: &Json| print::plain(&wire::value(&signal["status"]));
    if let Some(unknown) = signals.values().map(status).find(|it| it != SUCCESS && it != "FAILURE")
    {
        return Err(OpError::failed(
            FailureClass::SwiftSignalFailure,
            format!("Unknown status: {unknown}"),
        ));
    }
    let failed = signals.values().filter(|signal| status(signal) != SUCCESS);
    let reasons: Vec<String> = failed.map(reason).collect();
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(OpError::failed(FailureClass::SwiftSignalFailure, reasons.join(";")))
    }
}

fn reason(signal: &Json) -> String {
    print::plain(&wire::value(&signal["reason"]))
}

fn too_late(signals: &Signals, wanted: usize) -> OpError {
    let mut message = format!("{} of {wanted} received", signals.len());
    if !signals.is_empty() {
        let reasons: Vec<String> = signals.values().map(reason).collect();
        message = format!("{message} - {}", reasons.join(";"));
    }
    OpError::failed(FailureClass::SwiftSignalTimeout, message)
}

fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let data = || text(view.data, DATA).unwrap_or("{}").into();
    Ok((name == "data").then(|| step_into_attribute(&data(), path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_signals_and_the_last_of_an_id_counts() {
        let letters = [
            Json::Null,
            json!({ "id": "a", "data": "x", "status": "FAILURE", "reason": "no" }),
            json!({ "id": "a", "data": "y" }),
        ];
        let all = signals(&letters).expect("signals");
        assert_eq!(all.len(), 2);
        assert_eq!(all["a"]["data"], "y");
        assert_eq!(all["1"]["reason"], "Signal 1 received");
        assert!(failures(&all).is_ok());
        let failed = |letter: Json| match signals(&[letter]).and_then(|all| failures(&all)) {
            Err(OpError::Failed(failure)) => failure.message,
            other => panic!("no failure: {other:?}"),
        };
        assert_eq!(failed(json!({ "status": "FAILURE", "reason": "no" })), "no");
        assert_eq!(failed(json!({ "status": "MAYBE" })), "Unknown status: MAYBE");
        assert_eq!(failed(json!("{bad")), "Failed to parse JSON data: {bad");
    }
}
