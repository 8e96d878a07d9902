//! Alarms: shown, made, changed, removed.

use super::params::{
    MAX_TEXT_CHARS, alarm_names, bad, dimensions, flag, max_records, name, number,
};
use super::params::{period, refused};
use super::show;
use crate::aws::{AwsFault, Code, Params};
use crate::native::show::{members, wrapped};
use crate::request::Request;
use kiln_engine::RequestError;
use kiln_engine::alarms::{
    Alarm, AlarmQuery, AlarmState, Comparison, Missing, Statistic, Verdict, dimensions as confined,
};
use kiln_resources::UNITS;
use kiln_template::{Members, Value};
use std::sync::Arc;
use uuid::Uuid;

/// How many alarms are read at once.
const PAGE: u64 = 200;
/// The most actions of a state.
const MAX_ACTIONS: usize = 5;
/// The result of actions without one.
const NO_RESULT: &str = "";

// --- showing ---

pub(super) async fn describe(request: Request, params: Params) -> Result<Value, AwsFault> {
    if let Some(name) = params.get("AlarmName") {
        let found =
            request.service().alarm_named(&request.requester(), name).await.map_err(refused)?;
        let found = found.ok_or_else(|| unknown(name))?;
        return Ok(wrapped("MetricAlarms", Value::list([show::alarm(&found)])));
    }
    let names = params.values("AlarmNames")?;
    if !names.is_empty() {
        return named(&request, &params, &names).await;
    }
    let wanted = max_records(&params)?;
    let mut query = AlarmQuery {
        prefix: params.get("AlarmNamePrefix").map(Arc::from),
        state: state_filter(&params)?,
        marker: params.get("NextToken").map(marker).transpose()?,
        limit: Some(PAGE),
        ..of_asker(&request)
    };
    let mut found: Vec<Alarm> = Vec::new();
    // One alarm more shows that there is another page.
    while found.len() <= wanted {
        let page = request.service().alarms(&query).await.map_err(refused)?;
        let is_last = (page.len() as u64) < PAGE;
        query.marker = page.last().map(|alarm| (alarm.row.name.clone(), alarm.row.id));
        found.extend(page.into_iter().filter(|alarm| acts(alarm, &params)));
        if is_last {
            break;
        }
    }
    let has_more = found.len() > wanted;
    found.truncate(wanted);
    let mut result = members([("MetricAlarms", Value::list(found.iter().map(show::alarm)))]);
    if let Some(last) = found.last().filter(|_| has_more) {
        result.insert("NextToken".into(), format!("{}{}", last.row.id, last.row.name).into());
    }
    Ok(Value::Map(result.into()))
}

/// The alarms of some names; names that there are none of are skipped.
async fn named(request: &Request, params: &Params, names: &[&str]) -> Result<Value, AwsFault> {
    if params.get("AlarmNamePrefix").is_some() {
        let message = "AlarmNames and AlarmNamePrefix cannot be used together";
        return Err(AwsFault::new(Code::InvalidParameterCombination, message));
    }
    alarm_names(params)?;
    let state = state_filter(params)?;
    let mut found = Vec::new();
    for name in names {
        let alarm =
            request.service().alarm_named(&request.requester(), name).await.map_err(refused)?;
        let alarm = alarm.filter(|it| state.is_none_or(|state| it.row.state == state));
        found.extend(alarm.filter(|it| acts(it, params)).as_ref().map(show::alarm));
    }
    Ok(wrapped("MetricAlarms", Value::list(found)))
}

pub(super) async fn describe_for_metric(
    request: Request,
    params: Params,
) -> Result<Value, AwsFault> {
    let metric = name(&params, "MetricName")?;
    let namespace = name(&params, "Namespace")?;
    let exact =
        if params.members("Dimensions")?.is_empty() { None } else { Some(dimensions(&params)?) };
    let query = AlarmQuery { metric: Some(metric.into()), ..of_asker(&request) };
    let all = request.service().alarms(&query).await.map_err(refused)?;
    let is = |alarm: &Alarm, name: &str, wanted: Option<&str>| {
        let definition = alarm.definition.get(name).map(kiln_template::print::plain);
        wanted.is_none_or(|wanted| definition.as_deref() == Some(wanted))
    };
    let found = all.iter().filter(|alarm| {
        is(alarm, "Namespace", Some(namespace))
            && ["Statistic", "Period", "Unit"].iter().all(|name| is(alarm, name, params.get(name)))
            && exact.as_ref().is_none_or(|exact| confined(&alarm.definition) == *exact)
    });
    Ok(wrapped("MetricAlarms", Value::list(found.map(show::alarm))))
}

fn of_asker(request: &Request) -> AlarmQuery {
    AlarmQuery::new(&request.service().alarm_project(&request.requester()))
}

/// Whether one of an alarm's actions begins as is wanted.
fn acts(alarm: &Alarm, params: &Params) -> bool {
    let Some(prefix) = params.get("ActionPrefix") else { return true };
    [AlarmState::Alarm, AlarmState::Normal, AlarmState::NoData]
        .into_iter()
        .flat_map(|state| alarm.actions(state))
        .any(|action| action.starts_with(prefix))
}

fn state_filter(params: &Params) -> Result<Option<AlarmState>, AwsFault> {
    params.get("StateValue").map(state).transpose()
}

fn state(value: &str) -> Result<AlarmState, AwsFault> {
    AlarmState::parse_aws(value).ok_or_else(|| {
        AwsFault::bad(format!(
            "Invalid state {value}, expecting one of ['OK', 'ALARM', 'INSUFFICIENT_DATA']"
        ))
    })
}

/// Parses the marker of the next page.
fn marker(token: &str) -> Result<(Arc<str>, Uuid), AwsFault> {
    let bad = || AwsFault::bare(Code::InvalidNextToken);
    let (id, name) = token.split_at_checked(36).ok_or_else(bad)?;
    Ok((name.into(), Uuid::parse_str(id).map_err(|_| bad())?))
}

fn unknown(name: &str) -> AwsFault {
    RequestError::not_found("Watch Rule", name).into()
}

// --- changing ---

pub(super) async fn put(request: Request, params: Params) -> Result<Value, AwsFault> {
    let alarm = name(&params, "AlarmName")?;
    let definition = rule(&params)?;
    request.service().put_alarm(&request.requester(), alarm, definition).await.map_err(refused)?;
    Ok(NO_RESULT.into())
}

/// Parameters of AWS that nothing is known of here.
const UNSUPPORTED: [&str; 4] =
    ["EvaluateLowSampleCountPercentile", "ExtendedStatistic", "Metrics", "ThresholdMetricId"];

fn rule(params: &Params) -> Result<Members, AwsFault> {
    for (name, _) in params.pairs() {
        let first = name.split('.').next().unwrap_or(name);
        if UNSUPPORTED.contains(&first) {
            let message = format!("{first} is not supported");
            return Err(AwsFault::new(Code::InvalidParameterCombination, message));
        }
    }
    let mut definition = Members::new();
    let mut keep = |name: &str, value: Value| _ = definition.insert(name.into(), value);
    for part in ["MetricName", "Namespace"] {
        keep(part, name(params, part)?.into());
    }
    if params.need("Namespace")?.starts_with(':') {
        return Err(bad("Namespace", params.need("Namespace")?));
    }
    let one_of = |name: &str, is_known: &dyn Fn(&str) -> bool| match params.get(name) {
        Some(value) if !is_known(value) => Err(bad(name, value)),
        value => Ok(value.map(Value::from).unwrap_or_default()),
    };
    for part in ["Statistic", "ComparisonOperator", "EvaluationPeriods", "Threshold"] {
        params.need(part)?;
    }
    keep("Statistic", one_of("Statistic", &|it| Statistic::parse(it).is_some())?);
    let is_comparison = |it: &str| {
        let exotic = [Comparison::Equal, Comparison::Unequal];
        Comparison::parse(it).is_some_and(|it| !exotic.contains(&it))
    };
    keep("ComparisonOperator", one_of("ComparisonOperator", &is_comparison)?);
    keep("TreatMissingData", one_of("TreatMissingData", &|it| Missing::parse(it).is_some())?);
    keep("Unit", one_of("Unit", &|it| UNITS.contains(&it))?);
    keep("Period", period(params, |it| [10, 20, 30].contains(&it))?.to_string().into());
    for part in ["EvaluationPeriods", "DatapointsToAlarm"] {
        let is_count = |it: &str| it.parse::<u32>().is_ok_and(|it| it > 0);
        keep(part, one_of(part, &is_count)?);
    }
    let threshold = params.need("Threshold")?;
    number("Threshold", threshold)?;
    keep("Threshold", threshold.into());
    let description = params.get("AlarmDescription");
    if description.is_some_and(|it| it.chars().count() > MAX_TEXT_CHARS) {
        return Err(bad("AlarmDescription", description.unwrap_or_default()));
    }
    keep("AlarmDescription", description.map(Value::from).unwrap_or_default());
    keep("ActionsEnabled", flag(params, "ActionsEnabled")?.unwrap_or(true).into());
    for part in ["AlarmActions", "OKActions", "InsufficientDataActions"] {
        let actions = params.values(part)?;
        let is_good = |it: &&str| (1..=MAX_TEXT_CHARS).contains(&it.chars().count());
        if actions.len() > MAX_ACTIONS || !actions.iter().all(is_good) {
            return Err(bad(part, &actions.join(" ")));
        }
        keep(part, Value::list(actions.into_iter().map(Value::from)));
    }
    let named = dimensions(params)?.into_iter().map(|(name, value)| {
        Value::map([("Name", Value::Text(name)), ("Value", Value::Text(value))])
    });
    keep("Dimensions", Value::list(named));
    Ok(definition)
}

pub(super) async fn delete(request: Request, params: Params) -> Result<Value, AwsFault> {
    let names = alarm_names(&params)?;
    let missing =
        request.service().delete_alarms(&request.requester(), &names).await.map_err(refused)?;
    match missing.first() {
        None => Ok(NO_RESULT.into()),
        Some(name) => {
            let message = format!("The Watch Rule ({name}) could not be found.");
            Err(AwsFault::new(Code::ResourceNotFound, message))
        }
    }
}

pub(super) async fn enable_actions(request: Request, params: Params) -> Result<Value, AwsFault> {
    enable(&request, &params, true).await
}

pub(super) async fn disable_actions(request: Request, params: Params) -> Result<Value, AwsFault> {
    enable(&request, &params, false).await
}

async fn enable(request: &Request, params: &Params, is_enabled: bool) -> Result<Value, AwsFault> {
    let names = alarm_names(params)?;
    request
        .service()
        .enable_alarms(&request.requester(), &names, is_enabled)
        .await
        .map_err(refused)?;
    Ok(NO_RESULT.into())
}

pub(super) async fn set_state(request: Request, params: Params) -> Result<Value, AwsFault> {
    let alarm = params.need("AlarmName")?;
    let verdict = Verdict {
        state: state(params.need("StateValue")?)?,
        reason: params.get("StateReason").unwrap_or_default().to_owned(),
    };
    let data = params.get("StateReasonData");
    if data.is_some_and(|data| kiln_template::json::parse(data).is_err()) {
        return Err(AwsFault::bare(Code::InvalidFormat));
    }
    let data = data.map(Value::from).unwrap_or_default();
    let service = request.service();
    service.set_alarm_state(&request.requester(), alarm, &verdict, data).await.map_err(refused)?;
    Ok(NO_RESULT.into())
}
