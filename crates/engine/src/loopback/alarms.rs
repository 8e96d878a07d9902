//! Alarms of stacks that this service keeps: rules in CloudWatch's terms, and, where the cloud has no alarming service,
//! threshold alarms in that service's terms.

use super::{Local, decoded};
use crate::alarms::{Alarm, AlarmQuery, AlarmState, Comparison};
use crate::error_type::ErrorType;
use crate::ids::{Ids, StackId};
use crate::runtime::SystemIds;
use crate::service::{RequestError, StackAlarm};
use kiln_cloud::{ActingFor, CallError, Method, Reply};
use kiln_resources::wire;
use kiln_template::{Members, Value};
use serde_json::{Map as Fields, Value as Json, json};
use std::sync::Arc;
use uuid::Uuid;

/// The member of an alarm that has its definition in the alarming service's terms.
const DEFINITION: &str = "alarm";

/// The infix of the names of alarms that a resource has in a nested stack of its own.
const NESTED_INFIX: &str = "-__alarm__-";

/// The stack that a call is made for.
fn stack(user: &ActingFor) -> Option<StackId> {
    Uuid::parse_str(user.stack_id.as_deref()?).ok().map(StackId)
}

// --- rules ---

/// Answers a call about the rule of an alarm.
pub(super) async fn rule_call(local: &Local<'_>, id: &str) -> Result<Json, RequestError> {
    let (service, owner) = (local.service, local.owner());
    let bad = || RequestError::new(ErrorType::HttpBadRequest, "this is no rule of an alarm");
    let id = Uuid::parse_str(id).map_err(|_| bad())?;
    match local.method() {
        Method::Put => {
            let body = local.body();
            if let Some(is_awake) = body["is_awake"].as_bool() {
                service.set_alarm_active(&owner, id, is_awake).await?;
                return Ok(Json::Null);
            }
            let alarm = stack_alarm(body, local.user).ok_or_else(bad)?;
            service.put_stack_alarm(&owner, id, alarm).await.map_err(as_bad_request)?;
            Ok(Json::Null)
        }
        Method::Delete => {
            service.drop_stack_alarm(&owner, id).await?;
            Ok(Json::Null)
        }
        _ => {
            let alarm = service.stack_alarm(&owner, id).await?;
            Ok(json!({ "name": *alarm.row.name, "state": alarm.row.state.name() }))
        }
    }
}

/// The alarm that a body describes.
fn stack_alarm(body: &Json, user: &ActingFor) -> Option<StackAlarm> {
    let mut given = wire::value(&body["rule"]).as_map()?.clone();
    Alarm::use_last_period_only(&mut given);
    let resources = body["resources"].as_object().into_iter().flatten();
    let resources = resources
        .filter_map(|(action, name)| Some((action.as_str().into(), name.as_str()?.into())));
    Some(StackAlarm {
        name: body["name"].as_str()?.into(),
        stack: stack(user)?,
        definition: given,
        resources: resources.collect(),
        is_active: true,
    })
}

/// An invalid rule is a bad request of the stack.
fn as_bad_request(error: RequestError) -> RequestError {
    if error.error_type == ErrorType::InvalidParameterValue {
        return RequestError { error_type: ErrorType::HttpBadRequest, ..error };
    }
    error
}

// --- the alarming service ---

/// Answers a call for the alarming service, where there is none.
pub(super) async fn alarming_call(local: &Local<'_>) -> Result<Reply, CallError> {
    let path = local.path.trim_matches('/');
    let segments: Vec<&str> = path.split('/').collect();
    let answered = match (local.method(), segments.as_slice()) {
        (Method::Post, ["alarms"]) => put(local, SystemIds::default().next()).await,
        (Method::Get, ["alarms"]) => list(local).await,
        (Method::Get, ["alarms", id]) => alarm(local, id).await.map(|alarm| shown(&alarm)),
        (Method::Put, ["alarms", id]) => update(local, &decoded(id)).await,
        (Method::Delete, ["alarms", id]) => remove(local, id).await,
        _ => Err(RequestError::new(ErrorType::NotFound, "there is nothing of that kind")),
    };
    answered.map(|body| Reply::new(200, body)).map_err(|error| {
        let status = as_bad_request(error.clone()).error_type.status();
        let message = error.message.unwrap_or_default();
        let body = json!({ "error_message": { "faultcode": "Client", "faultstring": message } });
        CallError::Refused(Reply::new(status, body))
    })
}

async fn update(local: &Local<'_>, id: &str) -> Result<Json, RequestError> {
    let known = alarm(local, id).await?;
    put(local, known.row.id).await
}

async fn put(local: &Local<'_>, id: Uuid) -> Result<Json, RequestError> {
    let empty = Fields::new();
    let fields = local.body().as_object().unwrap_or(&empty);
    let Some(stack) = stack(local.user) else {
        return Err(RequestError::new(ErrorType::HttpBadRequest, "this is no alarm of a stack"));
    };
    let new = StackAlarm {
        name: name(local, stack, fields).await?,
        stack,
        definition: rule(fields)?,
        resources: Vec::new(),
        is_active: fields.get("enabled").and_then(Json::as_bool).unwrap_or(true),
    };
    let (service, owner) = (local.service, local.owner());
    service.put_stack_alarm(&owner, id, new).await?;
    Ok(shown(&service.stack_alarm(&owner, id).await?))
}

/// The name of an alarm. If the resource is a nested stack with an alarm in it, the alarm has the resource's name.
async fn name(
    local: &Local<'_>,
    stack: StackId,
    fields: &Fields<String, Json>,
) -> Result<Arc<str>, RequestError> {
    let name = fields.get("name").and_then(Json::as_str).unwrap_or_default();
    if name.contains(NESTED_INFIX)
        && let Some(row) = local.service.store().stack(stack).await?
        && let (Some(_), Some((parent, _))) = (row.parent, row.summary.name.rsplit_once('-'))
    {
        return Ok(parent.into());
    }
    Ok(name.into())
}

async fn list(local: &Local<'_>) -> Result<Json, RequestError> {
    let user = local.user;
    let query = AlarmQuery { stack: stack(user), ..AlarmQuery::new(&user.project) };
    let all = local.service.alarms(&query).await?;
    let name = local.query("q.value").filter(|_| local.query("q.field") == Some("name"));
    let is_wanted = |it: &Json| name.is_none_or(|name| it["name"] == name);
    Ok(all.iter().map(shown).filter(is_wanted).collect())
}

async fn remove(local: &Local<'_>, id: &str) -> Result<Json, RequestError> {
    let known = alarm(local, id).await?;
    local.service.drop_stack_alarm(&local.owner(), known.row.id).await?;
    Ok(Json::Null)
}

async fn alarm(local: &Local<'_>, id: &str) -> Result<Alarm, RequestError> {
    let missing = || RequestError::new(ErrorType::NotFound, format!("Alarm {id} not found"));
    let id = Uuid::parse_str(id).map_err(|_| missing())?;
    local.service.stack_alarm(&local.owner(), id).await
}

/// An alarm as the alarming service shows it.
fn shown(alarm: &Alarm) -> Json {
    let mut fields = match alarm.definition.get(DEFINITION).map(wire::json) {
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

/// The names of statistics and comparisons in the two services.
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

/// The rule of a threshold alarm.
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
        (DEFINITION, wire::value(&Json::Object(fields.clone()))),
    ];
    Ok(parts.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// The dimensions that samples must have.
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
    use crate::alarms::Rule;

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
