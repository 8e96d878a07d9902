//! The history of alarms.

use super::params::{bad, max_records, maybe_moment, refused};
use crate::aws::{AwsFault, Code, Params};
use crate::native::show::members;
use crate::request::Request;
use kiln_engine::Time;
use kiln_engine::alarms::{AlarmEvent, AlarmEventKind, HistoryQuery};
use kiln_template::Value;
use uuid::Uuid;

pub(super) async fn describe(request: Request, params: Params) -> Result<Value, AwsFault> {
    let kind = match params.get("HistoryItemType") {
        None => None,
        Some(name) => {
            Some(AlarmEventKind::parse(name).ok_or_else(|| bad("HistoryItemType", name))?)
        }
    };
    let descending = match params.get("ScanBy") {
        None | Some("TimestampDescending") => true,
        Some("TimestampAscending") => false,
        Some(other) => return Err(bad("ScanBy", other)),
    };
    let wanted = max_records(&params)?;
    let query = HistoryQuery {
        project: request.service().alarm_project(&request.requester()),
        alarm: params.get("AlarmName").map(Into::into),
        kind,
        from: maybe_moment(&params, "StartDate")?,
        until: maybe_moment(&params, "EndDate")?,
        descending,
        marker: params.get("NextToken").map(marker).transpose()?,
        limit: wanted as u64 + 1,
    };
    let mut found = request.service().alarm_history(&query).await.map_err(refused)?;
    let has_more = found.len() > wanted;
    found.truncate(wanted);
    let mut result = members([("AlarmHistoryItems", Value::list(found.iter().map(item)))]);
    if let Some(last) = found.last().filter(|_| has_more) {
        result.insert("NextToken".into(), format!("{}.{}", last.time.micros(), last.id).into());
    }
    Ok(Value::Map(result.into()))
}

fn marker(token: &str) -> Result<(Time, Uuid), AwsFault> {
    let read = || {
        let (time, id) = token.split_once('.')?;
        Some((Time::from_micros(time.parse().ok()?), Uuid::parse_str(id).ok()?))
    };
    read().ok_or_else(|| AwsFault::bare(Code::InvalidNextToken))
}

fn item(event: &AlarmEvent) -> Value {
    let (summary, data) = event.details().unwrap_or_else(|error| {
        tracing::error!(%error, "what happened to an alarm is shown without details");
        Default::default()
    });
    let text = event.time.to_string();
    let millis = event.time.micros().div_euclid(1000).rem_euclid(1000);
    let time = format!("{}.{millis:03}Z", text.trim_end_matches('Z'));
    Value::map([
        ("AlarmName", Value::Text(event.alarm.clone())),
        ("AlarmType", "MetricAlarm".into()),
        ("Timestamp", time.into()),
        ("HistoryItemType", event.kind.name().into()),
        ("HistorySummary", Value::Text(summary)),
        ("HistoryData", Value::Text(data)),
    ])
}
