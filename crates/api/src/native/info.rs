//! What there is to know of the service itself.

use super::request::StackBody;
use super::show::wrapped;
use crate::answer::Answer;
use crate::ask::Ask;
use crate::fault::Fault;
use kiln_template::Value;
use std::sync::Arc;

/// The errors that validation can be told to pass over.
const IGNORABLE: [&str; 1] = ["99001"];

pub(crate) async fn build(ask: Ask) -> Result<Answer, Fault> {
    let revision = |it: &str| Value::map([("revision", Value::from(it))]);
    let revision = revision(&ask.app.options.revision);
    Ok(Answer::ok(&Value::map([("api", revision.clone()), ("engine", revision)])))
}

pub(crate) async fn services(ask: Ask) -> Result<Answer, Fault> {
    let services = ask.app.engines().await?;
    if services.is_empty() {
        return Err(Fault::new("HTTPServiceUnavailable", "All heat engines are down."));
    }
    Ok(Answer::ok(&wrapped("services", Value::list(services))))
}

pub(crate) async fn validate(ask: Ask) -> Result<Answer, Fault> {
    let with_nested = ask.query.flag("show_nested")?.unwrap_or(false);
    if let Some(ignored) = ask.query.get("ignore_errors") {
        let unknown: Vec<Value> =
            ignored.split(',').filter(|code| !IGNORABLE.contains(code)).map(Value::from).collect();
        if !unknown.is_empty() {
            let codes = kiln_template::print::repr(&Value::list(unknown));
            return Err(Fault::bad(format!("Invalid codes in ignore_errors : {codes}")));
        }
    }
    let request = StackBody { ask: &ask }.looked_at().await?;
    let asker = ask.asker();
    let (report, _) = ask.service().validate(&asker, &request)?;
    let Value::Map(described) = report.described() else { return Ok(Answer::ok(&Value::Null)) };
    let mut shown = (*described).clone();
    let environment = shown.shift_remove("Environment").unwrap_or_default();
    if with_nested {
        let nested = ask.service().nested_parameters(&asker, &request, report);
        shown.extend(nested.map(|nested| ("NestedParameters".into(), nested)));
    }
    shown.insert("Environment".into(), super::show::environment(&environment));
    Ok(Answer::ok(&Value::Map(Arc::new(shown))))
}
