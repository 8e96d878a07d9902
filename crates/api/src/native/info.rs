//! Information about the service itself.

use super::show::wrapped;
use super::stack_body::StackBody;
use crate::fault::Fault;
use crate::request::Request;
use crate::response::Response;
use kiln_engine::{EngineView, ErrorType, REPORT_INTERVAL, Time};
use kiln_template::Value;
use std::sync::Arc;

/// The errors that a validation may ignore.
const IGNORABLE: [&str; 1] = ["99001"];

pub(crate) async fn build(request: Request) -> Result<Response, Fault> {
    let revision = |it: &str| Value::map([("revision", Value::from(it))]);
    let revision = revision(&request.app.options.revision);
    Ok(Response::ok(&Value::map([("api", revision.clone()), ("engine", revision)])))
}

pub(crate) async fn services(request: Request) -> Result<Response, Fault> {
    let engines = request.service().engines().await?;
    if engines.is_empty() {
        return Err(Fault::new(ErrorType::HttpServiceUnavailable, "All heat engines are down."));
    }
    Ok(Response::ok(&wrapped("services", Value::list(engines.iter().map(service)))))
}

fn service(engine: &EngineView) -> Value {
    // Here moments have microseconds, and no zone.
    let moment = |time: Time| {
        let micros = time.micros().rem_euclid(1_000_000);
        Value::from(format!("{}.{micros:06}", time.to_string().trim_end_matches('Z')))
    };
    let id = Value::from(engine.id.to_string());
    Value::map([
        ("id", id.clone()),
        ("binary", "heat-engine".into()),
        ("engine_id", id),
        ("host", Value::Text(engine.host.clone())),
        ("hostname", Value::Text(engine.host.clone())),
        ("topic", "engine".into()),
        ("report_interval", (REPORT_INTERVAL.as_secs() as i64).into()),
        ("created_at", moment(engine.started)),
        ("updated_at", moment(engine.reported)),
        ("deleted_at", Value::Null),
        ("status", if engine.is_up { "up" } else { "down" }.into()),
    ])
}

pub(crate) async fn validate(request: Request) -> Result<Response, Fault> {
    let with_nested = request.query.flag("show_nested")?.unwrap_or(false);
    if let Some(ignored) = request.query.get("ignore_errors") {
        let unknown: Vec<Value> =
            ignored.split(',').filter(|code| !IGNORABLE.contains(code)).map(Value::from).collect();
        if !unknown.is_empty() {
            let codes = kiln_template::print::repr(&Value::list(unknown));
            return Err(Fault::bad(format!("Invalid codes in ignore_errors : {codes}")));
        }
    }
    let stack_request = StackBody { request: &request }.to_validate().await?;
    let requester = request.requester();
    let (report, _) = request.service().validate(&requester, &stack_request).await?;
    let Value::Map(described) = report.describe() else { return Ok(Response::ok(&Value::Null)) };
    let mut shown = (*described).clone();
    let environment = shown.shift_remove("Environment").unwrap_or_default();
    if with_nested {
        let nested =
            request.service().nested_parameters(&requester, &stack_request, report).await?;
        shown.extend(nested.map(|nested| ("NestedParameters".into(), nested)));
    }
    shown.insert("Environment".into(), super::show::environment(&environment));
    Ok(Response::ok(&Value::Map(Arc::new(shown))))
}
