//! Alarms of stacks that this service keeps: rules in CloudWatch's words, and, where the cloud has no
//! alarming service, alarms on thresholds in that service's words.

use super::requester;
use crate::app::App;
use crate::query::percent;
use kiln_cloud::{ActingFor, Call, CallError, Method, Reply};
use kiln_engine::alarms::{Alarm, AlarmQuery, AlarmState, Comparison};
use kiln_engine::error_type::ErrorType;
use kiln_engine::ids::{Ids, StackId};
use kiln_engine::runtime::SystemIds;
use kiln_engine::service::{RequestError, StackAlarm};
use kiln_resources::wire;
use kiln_template::Value;
use kiln_template::value::Members;
use serde_json::{Map as Fields, Value as Json, json};
use std::sync::Arc;
use uuid::Uuid;

/// Where an alarm keeps what it is in the alarming service's words.
const WORDS: &str = "alarm";

/// What a resource with an alarm in a stack of its own calls it there.
const INSIDE: &str = "-__alarm__-";

/// The stack that a call is made for.
fn stack(behalf: &ActingFor) -> Option<StackId> {
    Uuid::parse_str(behalf.stack_id.as_deref()?).ok().map(StackId)
}

// --- rules ---

/// A call about the rule of an alarm.
pub(super) async fn rule_call(
    app: &App,
    behalf: &ActingFor,
    id: &str,
    call: &Call,
) -> Result<Json, RequestError> {
    let requester = requester(behalf);
    let bad = || RequestError::new(ErrorType::HttpBadRequest, "this is no rule of an alarm");
    let id = Uuid::parse_str(id).map_err(|_| bad())?;
    match call.request.method {
        Method::Put => {
            let body = call.request.body.as_ref().unwrap_or(&Json::Null);
            if let Some(is_awake) = body["is_awake"].as_bool() {
                app.service.set_alarm_active(&requester, id, is_awake).await?;
                return Ok(Json::Null);
            }
            let rule = wire::value(&body["rule"]);
            let (Some(rule), Some(name), Some(stack)) =
                (rule.as_map(), body["name"].as_str(), stack(behalf))
            else {
                return Err(bad());
            };
            let mut given = rule.clone();
            Alarm::use_last_period_only(&mut given);
            let resources = body["resources"].as_object().into_iter().flatten();
            let resources = resources
                .filter_map(|(action, name)| Some((action.as_str().into(), name.as_str()?.into())));
            let new = StackAlarm {
                name: name.into(),
                stack,
                definition: given,
                resources: resources.collect(),
                is_active: true,
            };
            app.service.put_stack_alarm(&requester, id, new).await.map_err(told)?;
            Ok(Json::Null)
        }
        Method::Delete => {
            app.service.drop_stack_alarm(&requester, id).await?;
            Ok(Json::Null)
        }
        _ => {
            let alarm = app.service.stack_alarm(&requester, id).await?;
            Ok(json!({ "name": *alarm.row.name, "state": alarm.row.state.name() }))
        }
    }
}

/// What is wrong with a rule is the stack's fault.
fn told(refusal: RequestError) -> RequestError {
    match refusal.error_type {
        ErrorType::InvalidParameterValue => {
            RequestError { error_type: ErrorType::HttpBadRequest, ..refusal }
        }
        _ => refusal,
    }
}

// --- the alarming service ---

/// A call for the alarming service, where there is none.
pub(super) async fn alarming_call(
    app: &App,
    behalf: &ActingFor,
    call: &Call,
) -> Result<Reply, CallError> {
    let parts: Vec<&str> = call.request.path.trim_matches('/').split('/').collect();
    let answered = match (call.request.method, parts.as_slice()) {
        (Method::Post, ["alarms"]) => post(app, behalf, call).await,
        (Method::Get, ["alarms"]) => list(app, behalf, call).await,
        (Method::Get, ["alarms", id]) => get(app, behalf, id).await,
        (Method::Put, ["alarms", id]) => put(app, behalf, &percent::decode(id), call).await,
        (Method::Delete, ["alarms", id]) => remove(app, behalf, id).await,
        _ => Err(RequestError::new(ErrorType::NotFound, "there is nothing of that kind")),
    };
    answered.map(|body| Reply::new(200, body)).map_err(|refusal| {
        let status = crate::fault::Fault::from(told(refusal.clone())).status().as_u16();
        let message = refusal.message.unwrap_or_default();
        let body = json!({ "error_message": { "faultcode": "Client", "faultstring": message } });
        CallError::Refused(Reply::new(status, body))
    })
}

async fn post(app: &App, behalf: &ActingFor, call: &Call) -> Result<Json, RequestError> {
    let id = SystemIds::default().next();
    keep(app, behalf, id, call).await
}

async fn put(app: &App, behalf: &ActingFor, id: &str, call: &Call) -> Result<Json, RequestError> {
    let known = alarm(app, behalf, id).await?;
    keep(app, behalf, known.row.id, call).await
}

async fn keep(app: &App, behalf: &ActingFor, id: Uuid, call: &Call) -> Result<Json, RequestError> {
    let empty = Fields::new();
    let fields = call.request.body.as_ref().and_then(Json::as_object).unwrap_or(&empty);
    let Some(stack) = stack(behalf) else {
        return Err(RequestError::new(ErrorType::HttpBadRequest, "this is no alarm of a stack"));
    };
    let new = StackAlarm {
        name: name(app, stack, fields).await?,
        stack,
        definition: rule(fields)?,
        resources: Vec::new(),
        is_active: fields.get("enabled").and_then(Json::as_bool).unwrap_or(true),
    };
    let requester = requester(behalf);
    app.service.put_stack_alarm(&requester, id, new).await?;
    Ok(shown(&app.service.stack_alarm(&requester, id).await?))
}

/// What the alarm is called. If the resource is a stack with an alarm in it, it has the resource's name.
async fn name(
    app: &App,
    stack: StackId,
    fields: &Fields<String, Json>,
) -> Result<Arc<str>, RequestError> {
    let name = fields.get("name").and_then(Json::as_str).unwrap_or_default();
    if name.contains(INSIDE)
        && let Some(row) = app.service.store().stack(stack).await?
        && let (Some(_), Some((outer, _))) = (row.parent, row.name.rsplit_once('-'))
    {
        return Ok(outer.into());
    }
    Ok(name.into())
}

async fn list(app: &App, behalf: &ActingFor, call: &Call) -> Result<Json, RequestError> {
    let asked =
        |name: &str| call.request.query.iter().find(|(it, _)| it == name).map(|(_, value)| value);
    let query = AlarmQuery { stack: stack(behalf), ..AlarmQuery::new(&behalf.project) };
    let all = app.service.alarms(&query).await?;
    let name = asked("q.value").filter(|_| asked("q.field").is_some_and(|it| it == "name"));
    let is_meant = |it: &Json| name.is_none_or(|name| it["name"] == name.as_str());
    Ok(all.iter().map(shown).filter(is_meant).collect())
}

async fn get(app: &App, behalf: &ActingFor, id: &str) -> Result<Json, RequestError> {
    alarm(app, behalf, id).await.map(|alarm| shown(&alarm))
}

async fn remove(app: &App, behalf: &ActingFor, id: &str) -> Result<Json, RequestError> {
    let known = alarm(app, behalf, id).await?;
    app.service.drop_stack_alarm(&requester(behalf), known.row.id).await?;
    Ok(Json::Null)
}

async fn alarm(app: &App, behalf: &ActingFor, id: &str) -> Result<Alarm, RequestError> {
    let missing = || RequestError::new(ErrorType::NotFound, format!("Alarm {id} not found"));
    let id = Uuid::parse_str(id).map_err(|_| missing())?;
    app.service.stack_alarm(&requester(behalf), id).await
}

/// An alarm as the alarming service shows it.
fn shown(alarm: &Alarm) -> Json {
    let mut fields = match alarm.definition.get(WORDS).map(wire::json) {
        Some(Json::Object(fields)) => fields,
        _ => Fields::new(),
    };
    let state = match alarm.row.state {
        AlarmState::Alarm => "alarm",
        AlarmState::Normal => "ok",
        AlarmState::NoData | AlarmState::Suspended => "insufficient data",
    };
    fields.insert("alarm_id".into(), alarm.row.id.to_string().into());
    fields.insert("project_id".into(), (*alarm.row.project).into());
    fields.insert("state".into(), state.into());
    Json::Object(fields)
}

/// What the two services call statistics and comparisons.
const STATISTICS: [(&str, &str); 5] = [
    ("avg", "Average"),
    ("count", "SampleCount"),
    ("max", "Maximum"),
    ("min", "Minimum"),
    ("sum", "Sum"),
];
const COMPARISONS: [(&str, Comparison); 6] = [
    ("eq", Comparison::Equal),
    ("ge", Comparison::AtLeast),
    ("gt", Comparison::Above),
    ("le", Comparison::AtMost),
    ("lt", Comparison::Below),
    ("ne", Comparison::Unequal),
];

/// An alarm on a threshold as a rule.
fn rule(fields: &Fields<String, Json>) -> Result<Members, RequestError> {
    let bad = |what: String| RequestError::new(ErrorType::HttpBadRequest, what);
    let kind = fields.get("type").and_then(Json::as_str).unwrap_or_default();
    if kind != "threshold" {
        return Err(bad(format!(
            "the cloud has no alarming service, and alarms of type {kind} cannot be kept without one"
        )));
    }
    let rule = &fields.get("threshold_rule").unwrap_or(&Json::Null);
    let word = |name: &str, otherwise: &str| rule[name].as_str().unwrap_or(otherwise).to_owned();
    let (statistic, comparison) = (word("statistic", "avg"), word("comparison_operator", "eq"));
    let statistic = STATISTICS.iter().find(|(it, _)| *it == statistic);
    let comparison = COMPARISONS.iter().find(|(it, _)| *it == comparison);
    let (Some((_, statistic)), Some((_, comparison))) = (statistic, comparison) else {
        return Err(bad("there is no such statistic or comparison".into()));
    };
    let number = |name: &str, otherwise: i64| match &rule[name] {
        Json::Null => Value::from(otherwise),
        value => wire::value(value),
    };
    let actions = |name: &str| fields.get(name).map(wire::value).unwrap_or_default();
    let repeats = fields.get("repeat_actions").and_then(Json::as_bool).unwrap_or(false);
    let parts = [
        ("MetricName", wire::value(&rule["meter_name"])),
        ("Statistic", Value::from(*statistic)),
        ("ComparisonOperator", comparison.name().into()),
        ("Threshold", wire::value(&rule["threshold"])),
        ("Period", number("period", 60)),
        ("EvaluationPeriods", number("evaluation_periods", 1)),
        ("Dimensions", dimensions(&rule["query"])?),
        ("AlarmDescription", fields.get("description").map(wire::value).unwrap_or_default()),
        ("AlarmActions", actions("alarm_actions")),
        ("OKActions", actions("ok_actions")),
        ("InsufficientDataActions", actions("insufficient_data_actions")),
        (Alarm::NOTIFIES_ONCE, (!repeats).into()),
        (WORDS, wire::value(&Json::Object(fields.clone()))),
    ];
    Ok(parts.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// What samples must have been measured of.
fn dimensions(query: &Json) -> Result<Value, RequestError> {
    let mut found = Vec::new();
    for part in query.as_array().into_iter().flatten() {
        let field = part["field"].as_str().unwrap_or_default();
        if part["op"].as_str().is_some_and(|op| op != "eq") {
            let message = format!("the query on {field} can only be for what is equal");
            return Err(RequestError::new(ErrorType::HttpBadRequest, message));
        }
        let name = ["metadata.user_metadata.", "metadata.metering.", "metadata."]
            .iter()
            .find_map(|start| field.strip_prefix(start))
            .unwrap_or(field);
        found.push(Value::map([("Name", name.into()), ("Value", wire::value(&part["value"]))]));
    }
    Ok(Value::list(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_engine::alarms::Rule;

    fn fields(value: Json) -> Fields<String, Json> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn alarms_on_thresholds_are_rules() {
        let given = rule(&fields(json!({
            "name": "s-a-x", "type": "threshold", "repeat_actions": true,
            "alarm_actions": ["http://h/"],
            "threshold_rule": {
                "meter_name": "cpu_util", "period": 60, "evaluation_periods": 2, "threshold": 50.0,
                "statistic": "max", "comparison_operator": "gt",
                "query": [{"field": "metadata.user_metadata.group", "op": "eq", "value": "web"}],
            },
        })))
        .unwrap();
        let read = Rule::parse(&given).unwrap();
        assert_eq!((&*read.metric, read.periods(), read.threshold), ("cpu_util", 2, 50.0));
        assert_eq!(read.comparison, Comparison::Above);
        assert_eq!(read.dimensions, [("group".into(), "web".into())].into());
    }

    #[test]
    fn what_needs_a_service_is_refused() {
        for alarm in [
            json!({ "type": "event", "event_rule": {} }),
            json!({ "type": "threshold", "threshold_rule": {
                "meter_name": "m", "threshold": 1, "statistic": "median",
            } }),
            json!({ "type": "threshold", "threshold_rule": {
                "meter_name": "m", "threshold": 1, "query": [{"field": "f", "op": "lt", "value": "1"}],
            } }),
        ] {
            let refused = rule(&fields(alarm.clone())).unwrap_err();
            assert_eq!(refused.error_type, ErrorType::HttpBadRequest, "{alarm}");
        }
    }
}
