//! Metrics: reported, listed, and summed up.

use super::params::{
    bad, dimensions, maybe_moment, moment as read_moment, name, number, period, refused,
};
use crate::aws::{AwsFault, Code, Params};
use crate::native::show::{members, wrapped};
use crate::request::{Request, moment};
use kiln_engine::alarms::{MAX_MAGNITUDE, Series, Statistic, Totals};
use kiln_engine::{MetricDatum, MetricQuery, MetricSample, Time};
use kiln_template::Value;
use kiln_template::print;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// The dimension that names an alarm.
const ALARM: &str = "AlarmName";
/// More values than this no member has.
const MAX_VALUES: usize = 150;
/// More than this is not summed up at once.
const MAX_DATAPOINTS: i64 = 1440;

// --- reporting ---

pub(super) async fn put(request: Request, params: Params) -> Result<Value, AwsFault> {
    let namespace = name(&params, "Namespace")?;
    let members = params.members("MetricData")?;
    if members.is_empty() {
        return Err(AwsFault::missing("MetricData list"));
    }
    let data = members.iter().map(|member| datum(namespace, member));
    let data = data.collect::<Result<Vec<MetricDatum>, AwsFault>>()?;
    request.service().put_metrics(&request.requester(), data).await.map_err(refused)?;
    Ok(wrapped("ResponseMetadata", Value::Null))
}

fn datum(namespace: &str, member: &Params) -> Result<MetricDatum, AwsFault> {
    let metric = name(member, "MetricName")?;
    let unit = name(member, "Unit")?;
    let mut dimensions = dimensions(member)?;
    let series = Series {
        // The service sets the project.
        project: "".into(),
        namespace: namespace.into(),
        metric: metric.into(),
        unit: Some(unit.into()),
        alarm: dimensions.remove(ALARM),
        dimensions,
    };
    Ok(MetricDatum { series, totals: totals(member)?, time: maybe_moment(member, "Timestamp")? })
}

/// The measured values: one, several with their counts, or statistics of them.
fn totals(member: &Params) -> Result<Totals, AwsFault> {
    let part = |name: &str| {
        let name = format!("StatisticValues.{name}");
        number(&name, member.need(&name)?)
    };
    let is_summed = member.pairs().any(|(name, _)| name.starts_with("StatisticValues."));
    let values = member.values("Values")?;
    let found = if is_summed {
        let (count, sum) = (part("SampleCount")?, part("Sum")?);
        Totals { count, sum, low: part("Minimum")?, high: part("Maximum")? }
    } else if !values.is_empty() {
        weighed(&values, &member.values("Counts")?)?
    } else {
        Totals::single(number("Value", member.need("Value")?)?)
    };
    if found.is_valid() {
        Ok(found)
    } else {
        Err(AwsFault::bad(format!(
            "Value: samples must be numbers no further from zero than {MAX_MAGNITUDE:e}"
        )))
    }
}

fn weighed(values: &[&str], counts: &[&str]) -> Result<Totals, AwsFault> {
    if values.len() > MAX_VALUES || (!counts.is_empty() && counts.len() != values.len()) {
        let message = "Values and Counts must be as many, and no more than 150";
        return Err(AwsFault::new(Code::InvalidParameterCombination, message));
    }
    let mut all = Vec::new();
    for (at, value) in values.iter().enumerate() {
        let value = number("Values", value)?;
        let count = counts.get(at).map_or(Ok(1.0), |count| number("Counts", count))?;
        all.push(Totals { count, sum: value * count, low: value, high: value });
    }
    if !all.iter().all(Totals::is_valid) {
        return Err(bad("Values", "what is no number, or counted as none,"));
    }
    Totals::merge_all(all).ok_or_else(|| AwsFault::missing("Value"))
}

// --- listing ---

pub(super) async fn list(request: Request, params: Params) -> Result<Value, AwsFault> {
    let filters = params.members("Dimensions")?;
    let filters = filters.iter().map(|member| {
        let name = name(member, "Name")?;
        Ok((name.into(), member.get("Value").map(Arc::from)))
    });
    let query = MetricQuery {
        namespace: params.get("Namespace").map(Arc::from),
        metric: params.get("MetricName").map(Arc::from),
        dimensions: filters.collect::<Result<_, AwsFault>>()?,
        marker: params.get("NextToken").map(marker).transpose()?,
    };
    let (found, next) =
        request.service().list_metrics(&request.requester(), &query).await.map_err(refused)?;
    let mut result = members([("Metrics", Value::list(found.iter().map(listed)))]);
    if let Some((series, time)) = next {
        result.insert("NextToken".into(), format!("{}.{series}", time.micros()).into());
    }
    Ok(Value::Map(result.into()))
}

fn marker(token: &str) -> Result<(Uuid, Time), AwsFault> {
    let read = || {
        let (time, series) = token.split_once('.')?;
        Some((Uuid::parse_str(series).ok()?, Time::from_micros(time.parse().ok()?)))
    };
    read().ok_or_else(|| AwsFault::bare(Code::InvalidNextToken))
}

/// A sample in the form of Heat's former service, with its properties as dimensions.
fn listed(sample: &MetricSample) -> Value {
    let text = |text: &Option<Arc<str>>| text.clone().map(Value::Text).unwrap_or_default();
    let series = &sample.series;
    let of = series.dimensions.iter();
    let of = of.map(|(name, value)| Value::map([(name.clone(), Value::Text(value.clone()))]));
    let parts = [
        ("AlarmName", text(&sample.alarm)),
        ("Timestamp", moment(sample.bucket.start)),
        ("Unit", text(&series.unit)),
        ("Value", plain(sample.bucket.totals.statistic(Statistic::Average)).into()),
        ("Dimensions", Value::list(of)),
    ];
    let parts = parts.map(|(name, value)| Value::map([("Name", name.into()), ("Value", value)]));
    Value::map([
        ("MetricName", Value::Text(series.metric.clone())),
        ("Namespace", Value::Text(series.namespace.clone())),
        ("Dimensions", Value::list(parts)),
    ])
}

/// A number as people write it.
fn plain(number: f64) -> String {
    let text = print::plain(&Value::Float(number));
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

// --- summing up ---

pub(super) async fn statistics(request: Request, params: Params) -> Result<Value, AwsFault> {
    let is_extended = |(name, _): (&str, &str)| name.starts_with("ExtendedStatistics");
    if params.pairs().any(is_extended) {
        let message = "ExtendedStatistics is not supported";
        return Err(AwsFault::new(Code::InvalidParameterCombination, message));
    }
    let wanted = Series {
        project: "".into(),
        namespace: name(&params, "Namespace")?.into(),
        metric: name(&params, "MetricName")?.into(),
        unit: params.get("Unit").map(Arc::from),
        alarm: None,
        dimensions: dimensions(&params)?,
    };
    let from = read_moment("StartTime", params.need("StartTime")?)?;
    let until = read_moment("EndTime", params.need("EndTime")?)?;
    if from >= until {
        return Err(AwsFault::bad("StartTime must be before EndTime"));
    }
    let period = period(&params, |it| [1, 5, 10, 20, 30].contains(&it))?;
    let length = (until.seconds() - from.seconds()) / i64::try_from(period).unwrap_or(i64::MAX);
    if length > MAX_DATAPOINTS {
        let message =
            format!("that would be more than {MAX_DATAPOINTS} datapoints: take a longer Period");
        return Err(AwsFault::new(Code::InvalidParameterCombination, message));
    }
    let statistics = wanted_statistics(&params)?;
    let found = request
        .service()
        .statistics(&request.requester(), &wanted, (from, until), Duration::from_secs(period))
        .await
        .map_err(refused)?;
    let points = found.iter().map(|(unit, start, totals)| {
        let numbers: BTreeMap<&str, f64> =
            statistics.iter().map(|it| (it.name(), totals.statistic(*it))).collect();
        let mut point = members([("Timestamp", moment(*start))]);
        point.extend(numbers.into_iter().map(|(name, it)| (name.into(), Value::Float(it))));
        point.insert("Unit".into(), Value::Text(unit.clone().unwrap_or_else(|| "None".into())));
        Value::Map(point.into())
    });
    let points = Value::list(points);
    Ok(Value::map([("Label", Value::Text(wanted.metric.clone())), ("Datapoints", points)]))
}

fn wanted_statistics(params: &Params) -> Result<Vec<Statistic>, AwsFault> {
    let names = params.values("Statistics")?;
    if names.is_empty() {
        return Err(AwsFault::missing("Statistics"));
    }
    let read = |name: &&str| Statistic::parse(name).ok_or_else(|| bad("Statistics", name));
    let mut found = names.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    found.sort();
    found.dedup();
    Ok(found)
}
