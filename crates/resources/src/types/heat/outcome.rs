//! The outcome of a deployment, from the server's signal.

use crate::behaviour::{Signal, SignalOutcome, View};
use crate::declare::{Members, Value};
use crate::op::{FailureClass, OpError};
use crate::property_access::{items, open, section, text, word};
use kiln_template::print;
use std::sync::Arc;

/// The entry of the resource's data with the status.
pub(super) const STATUS: &str = "status";
/// The entry of the resource's data with the reason of the status.
pub(super) const REASON: &str = "reason";
/// The entry of the resource's data with the outputs.
pub(super) const OUTPUTS: &str = "outputs";
/// The entry of the resource's data with a signal that arrived before the deployment.
pub(super) const EARLY: &str = "early";
/// The entry of the resource's data with the declared outputs.
pub(super) const DECLARED: &str = "declared";

/// The outputs that every deployment has.
pub(super) const STANDARD: [&str; 3] = ["deploy_stdout", "deploy_stderr", "deploy_status_code"];

/// The class of the failure that a server reports.
pub(super) const FAILED: FailureClass = FailureClass::Error;

const CODE: &str = "deploy_status_code";

/// The outcome that a server reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) is_well: bool,
    pub(super) reason: String,
    pub(super) outputs: Members,
    /// The exit code of the tool; `None` if it is zero.
    pub(super) code: Option<String>,
}

impl Told {
    pub(super) fn status(&self) -> &'static str {
        if self.is_well { "COMPLETE" } else { "FAILED" }
    }

    /// The entries of the resource's data.
    pub(super) fn data(&self) -> [(Arc<str>, Value); 3] {
        [
            (STATUS.into(), self.status().into()),
            (REASON.into(), self.reason.as_str().into()),
            (OUTPUTS.into(), Value::Map(self.outputs.clone().into())),
        ]
    }

    /// The failure that users see, with the end of the tool's output.
    pub(super) fn failure(&self) -> OpError {
        let mut message = format!("Deployment to server failed: {}", self.reason);
        let said = text(&self.outputs, "deploy_stderr").unwrap_or_default();
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        if let Some(last) = last.filter(|last| !message.contains(last)) {
            let last: String = last.chars().take(LONGEST).collect();
            message.push_str(&format!(" (it said: {last})"));
        }
        OpError::failed(FAILED, message)
    }
}

/// The number of characters of the tool's output in a failure.
const LONGEST: usize = 500;

/// The outcome in a deployment's data; `None` while the signal is awaited.
pub(super) fn of(data: &Members) -> Option<Told> {
    let is_well = match text(data, STATUS)? {
        "COMPLETE" => true,
        "FAILED" => false,
        _ => return None,
    };
    Some(Told {
        is_well,
        reason: text(data, REASON).unwrap_or_default().to_owned(),
        outputs: section(data, OUTPUTS).cloned().unwrap_or_default(),
        code: None,
    })
}

/// Reads a signal, given the outputs that the configuration declares.
pub(super) fn told(declared: &[Value], details: &Value) -> Told {
    let empty = Members::new();
    let details = details.as_map().unwrap_or(&empty);
    let mut reasons = Vec::new();
    let mut outputs = Members::new();
    let code = details.get(CODE).filter(|code| !code.is_null()).map(|it| print::plain(open(it)));
    let code = code.filter(|code| code != "0");
    if let Some(code) = &code {
        reasons.push(format!("{CODE} : Deployment exited with non-zero status code: {code}"));
    }
    for output in declared.iter().filter_map(|it| open(it).as_map()) {
        let Some(name) = word(output, "name") else { continue };
        let Some(value) = details.get(name) else { continue };
        outputs.insert(name.into(), value.clone());
        if output.get("error_output").is_some_and(Value::is_truthy) {
            reasons.push(format!("{name} : {}", print::plain(open(value))));
        }
    }
    for name in STANDARD {
        outputs.insert(name.into(), details.get(name).cloned().unwrap_or_default());
    }
    let is_well = reasons.is_empty();
    let reason = if is_well { "Outputs received".to_owned() } else { reasons.join(", ") };
    Told { is_well, reason, outputs, code }
}

/// Handles a signal to a deployment. It counts if one is awaited, or before the first deployment; at other
/// times it may belong to an earlier configuration.
pub(super) fn on_signal(view: &View<'_>, signal: &Signal<'_>) -> Result<SignalOutcome, String> {
    match text(view.data, STATUS) {
        Some("IN_PROGRESS") => {}
        None if signal.is_busy => {
            let early = (Arc::from(EARLY), said(signal.details));
            return Ok(SignalOutcome {
                is_ignored: true,
                data: [early].into_iter().collect(),
                ..SignalOutcome::default()
            });
        }
        _ => return Ok(SignalOutcome { is_ignored: true, ..SignalOutcome::default() }),
    }
    let told = told(items(view.data, DECLARED), signal.details);
    let id = view.physical_id.unwrap_or_default();
    let reason = match (&told.code, told.is_well) {
        (_, true) => format!("deployment {id} succeeded"),
        (Some(code), false) => format!("deployment {id} failed ({code})"),
        (None, false) => format!("deployment {id} failed"),
    };
    Ok(SignalOutcome {
        data: told.data().into_iter().collect(),
        reason: Some(reason),
        ..SignalOutcome::default()
    })
}

/// The details of a signal; an empty map if it has none.
fn said(details: &Value) -> Value {
    match details.as_map() {
        Some(_) => details.clone(),
        None => Value::Map(Arc::default()),
    }
}

/// The outcome from a signal that arrived before the deployment.
pub(super) fn early(data: &Members) -> Option<Told> {
    let said = data.get(EARLY)?;
    Some(told(items(data, DECLARED), said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::{list, map};

    fn declared() -> [Value; 2] {
        [
            map([("name", Value::from("result"))]),
            map([("name", Value::from("error")), ("error_output", true.into())]),
        ]
    }

    #[test]
    fn a_tool_that_ends_well_has_its_outputs_kept() {
        let details = map([("result", "42"), ("deploy_stdout", "hi"), ("other", "x")]);
        let told = told(&declared(), &details);
        assert!(told.is_well);
        assert_eq!(told.reason, "Outputs received");
        let names: Vec<&str> = told.outputs.keys().map(|name| &**name).collect();
        assert_eq!(names, ["result", "deploy_stdout", "deploy_stderr", "deploy_status_code"]);
    }

    #[test]
    fn a_tool_that_ends_badly_is_told_of_in_its_own_words() {
        let details = map([
            ("deploy_status_code", Value::from(3)),
            ("deploy_stderr", "first\nno space left\n\n".into()),
            ("error", "bad".into()),
        ]);
        let told = told(&declared(), &details);
        assert_eq!(
            told.reason,
            "deploy_status_code : Deployment exited with non-zero status code: 3, error : bad"
        );
        let OpError::Failed(failure) = told.failure() else { panic!("no failure") };
        assert_eq!(
            failure.message,
            "Deployment to server failed: deploy_status_code : Deployment exited with non-zero status \
             code: 3, error : bad (it said: no space left)"
        );
        assert_eq!(told.code.as_deref(), Some("3"));
        assert_eq!(of(&told.data().into_iter().collect()).map(|it| it.is_well), Some(false));
    }

    #[test]
    fn what_is_no_object_says_nothing() {
        assert!(told(&declared(), &Value::Null).is_well);
        assert!(told(&[], &list(["x"])).is_well);
        assert!(!told(&[], &map([("deploy_status_code", "1")])).is_well);
        assert!(told(&[], &map([("deploy_status_code", "0")])).is_well);
    }
}
