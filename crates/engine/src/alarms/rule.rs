//! Rules: the metric of an alarm, and the threshold that it is compared with.
//!
//! A rule is stored as it was supplied, in CloudWatch's words, and parsed whenever it is needed.

use super::metric::{Series, Statistic};
use kiln_template::{Members, Value, print};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The state of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AlarmState {
    /// There were no samples.
    NoData,
    /// The threshold is not crossed.
    Normal,
    /// The threshold is crossed.
    Alarm,
    /// The stack is suspended: the alarm is not evaluated.
    Suspended,
}

impl AlarmState {
    const ALL: [AlarmState; 4] =
        [AlarmState::NoData, AlarmState::Normal, AlarmState::Alarm, AlarmState::Suspended];

    /// The name in the store and in the older service.
    pub fn name(self) -> &'static str {
        match self {
            AlarmState::NoData => "NODATA",
            AlarmState::Normal => "NORMAL",
            AlarmState::Alarm => "ALARM",
            AlarmState::Suspended => "SUSPENDED",
        }
    }

    /// The state of a name.
    pub fn parse(name: &str) -> Option<AlarmState> {
        AlarmState::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Its name in CloudWatch.
    pub fn aws(self) -> &'static str {
        match self {
            AlarmState::NoData | AlarmState::Suspended => "INSUFFICIENT_DATA",
            AlarmState::Normal => "OK",
            AlarmState::Alarm => "ALARM",
        }
    }

    /// The state that CloudWatch calls so.
    pub fn parse_aws(name: &str) -> Option<AlarmState> {
        [AlarmState::Normal, AlarmState::Alarm, AlarmState::NoData]
            .into_iter()
            .find(|it| it.aws() == name)
    }

    /// The key of the actions for this state.
    pub fn actions(self) -> &'static str {
        match self {
            AlarmState::Alarm => "AlarmActions",
            AlarmState::Normal => "OKActions",
            AlarmState::NoData | AlarmState::Suspended => "InsufficientDataActions",
        }
    }
}

/// How a statistic is compared with a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// At least.
    AtLeast,
    /// More than.
    Above,
    /// Less than.
    Below,
    /// At most.
    AtMost,
    /// The same.
    Equal,
    /// Not the same.
    Unequal,
}

impl Comparison {
    const ALL: [Comparison; 6] = [
        Comparison::AtLeast,
        Comparison::Above,
        Comparison::Below,
        Comparison::AtMost,
        Comparison::Equal,
        Comparison::Unequal,
    ];

    /// Its name; the last two are only the alarming service's.
    pub fn name(self) -> &'static str {
        match self {
            Comparison::AtLeast => "GreaterThanOrEqualToThreshold",
            Comparison::Above => "GreaterThanThreshold",
            Comparison::Below => "LessThanThreshold",
            Comparison::AtMost => "LessThanOrEqualToThreshold",
            Comparison::Equal => "EqualToThreshold",
            Comparison::Unequal => "NotEqualToThreshold",
        }
    }

    /// The comparison of a name.
    pub fn parse(name: &str) -> Option<Comparison> {
        Comparison::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Whether a value stands in this relation to a threshold.
    #[allow(clippy::float_cmp, reason = "that is what was asked")]
    pub fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Comparison::AtLeast => value >= threshold,
            Comparison::Above => value > threshold,
            Comparison::Below => value < threshold,
            Comparison::AtMost => value <= threshold,
            Comparison::Equal => value == threshold,
            Comparison::Unequal => value != threshold,
        }
    }
}

/// How a period without samples counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// For nothing.
    Missing,
    /// For a crossed threshold.
    Breaching,
    /// For all being well.
    NotBreaching,
    /// For no change.
    Ignore,
}

impl Missing {
    /// The treatment that a rule names.
    pub fn parse(name: &str) -> Option<Missing> {
        match name {
            "missing" => Some(Missing::Missing),
            "breaching" => Some(Missing::Breaching),
            "notBreaching" => Some(Missing::NotBreaching),
            "ignore" => Some(Missing::Ignore),
            _ => None,
        }
    }
}

/// Which periods decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationMode {
    /// The last period alone, as in the older service; sums and counts of no samples are zero.
    LastPeriod,
    /// Several periods.
    Periods {
        /// The number of periods.
        periods: u32,
        /// How many of them must cross the threshold.
        needed: u32,
        /// How periods without samples count.
        missing: Missing,
    },
}

/// A rule: a metric, and the threshold that its statistic is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The namespace; any, if nothing is said.
    pub namespace: Option<Arc<str>>,
    /// The metric.
    pub metric: Arc<str>,
    /// Only samples that were measured of these.
    pub dimensions: BTreeMap<Arc<str>, Arc<str>>,
    /// Only samples in this unit.
    pub unit: Option<Arc<str>>,
    /// The statistic that is computed from the samples of a period.
    pub statistic: Statistic,
    /// How that is compared with the threshold.
    pub(crate) comparison: Comparison,
    /// The threshold.
    pub threshold: f64,
    /// How long a period is.
    pub period: Duration,
    /// Which periods decide.
    pub mode: EvaluationMode,
}

/// The longest time that all periods of a rule may have together.
const MAX_WINDOW_SECS: u64 = 86_400;

impl Rule {
    /// Parses a rule. The error begins with the name of the wrong part.
    pub fn parse(definition: &Members) -> Result<Rule, String> {
        let text = |name: &str| text(definition, name);
        let required = |name: &str| text(name).ok_or_else(|| format!("{name} is missing"));
        let bad = |name: &str, value: &str| format!("{name}: {value:?} is not valid");
        let number = |name: &str| {
            let said = required(name)?;
            let number = said.trim().parse::<f64>().ok().filter(|it| it.is_finite());
            number.ok_or_else(|| bad(name, &said))
        };
        let whole = |name: &str| {
            let said = required(name)?;
            let number = said.trim().parse::<u64>().ok();
            number.filter(|it| (1..=MAX_WINDOW_SECS).contains(it)).ok_or_else(|| bad(name, &said))
        };
        let statistic = required("Statistic")?;
        let comparison = required("ComparisonOperator")?;
        let (period, periods) = (whole("Period")?, whole("EvaluationPeriods")?);
        if period * periods > MAX_WINDOW_SECS {
            return Err(format!(
                "Period: {periods} periods of {period} seconds are more than a day"
            ));
        }
        let is_single = matches!(definition.get(IS_SINGLE), Some(Value::Bool(true)));
        let mode = match is_single {
            true => EvaluationMode::LastPeriod,
            false => several(definition, periods)?,
        };
        Ok(Rule {
            namespace: text("Namespace"),
            metric: required("MetricName")?,
            dimensions: dimensions(definition),
            unit: text("Unit"),
            statistic: Statistic::parse(&statistic).ok_or_else(|| bad("Statistic", &statistic))?,
            comparison: Comparison::parse(&comparison)
                .ok_or_else(|| bad("ComparisonOperator", &comparison))?,
            threshold: number("Threshold")?,
            period: Duration::from_secs(period),
            mode,
        })
    }

    /// Whether samples of a series that was meant for no alarm in particular count for it. The old service
    /// did not ask for the namespace, and neither does a rule of a stack.
    pub fn matches(&self, series: &Series) -> bool {
        let asks_all = self.mode != EvaluationMode::LastPeriod;
        let is_namespace = |it: &Arc<str>| *it == series.namespace;
        self.metric == series.metric
            && (!asks_all || self.namespace.as_ref().is_none_or(is_namespace))
            && (!asks_all || self.unit.is_none() || self.unit == series.unit)
            && self
                .dimensions
                .iter()
                .all(|(name, value)| series.dimensions.get(name) == Some(value))
    }

    /// How many periods are looked at.
    pub(crate) fn periods(&self) -> u32 {
        match self.mode {
            EvaluationMode::LastPeriod => 1,
            EvaluationMode::Periods { periods, .. } => periods,
        }
    }
}

/// Says of a rule that the last period alone decides.
pub(crate) const IS_SINGLE: &str = "is_single";

fn several(definition: &Members, periods: u64) -> Result<EvaluationMode, String> {
    let needed = match text(definition, "DatapointsToAlarm") {
        None => periods,
        Some(said) => {
            let number = said.parse::<u64>().ok().filter(|it| (1..=periods).contains(it));
            number.ok_or_else(|| format!("DatapointsToAlarm: {said:?} is not valid"))?
        }
    };
    let missing = text(definition, "TreatMissingData").unwrap_or_else(|| "missing".into());
    let missing = Missing::parse(&missing)
        .ok_or_else(|| format!("TreatMissingData: {missing:?} is not valid"))?;
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Ok(EvaluationMode::Periods { periods: small(periods), needed: small(needed), missing })
}

/// A member of a rule as text; nothing if it is absent, null or empty.
fn text(definition: &Members, name: &str) -> Option<Arc<str>> {
    match definition.get(name)? {
        Value::Null => None,
        Value::Text(text) if text.is_empty() => None,
        Value::Text(text) => Some(text.clone()),
        value => Some(print::plain(value).into()),
    }
}

/// The dimensions of a rule, by name. Old templates wrote `{name: value}` for `{Name: …, Value: …}`.
pub fn dimensions(definition: &Members) -> BTreeMap<Arc<str>, Arc<str>> {
    let mut found = BTreeMap::new();
    let plain = |value: &Value| -> Arc<str> { print::plain(value).into() };
    let all = definition.get("Dimensions").and_then(Value::as_list).into_iter().flatten();
    for dimension in all.filter_map(Value::as_map) {
        match (dimension.get("Name"), dimension.get("Value")) {
            (Some(name), Some(value)) => _ = found.insert(plain(name), plain(value)),
            _ => found.extend(dimension.iter().map(|(name, value)| (name.clone(), plain(value)))),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(parts: &[(&str, Value)]) -> Members {
        let usual = [
            ("MetricName", Value::from("CPUUtilization")),
            ("Namespace", "system/linux".into()),
            ("Statistic", "Average".into()),
            ("Period", "60".into()),
            ("EvaluationPeriods", "3".into()),
            ("Threshold", "50".into()),
            ("ComparisonOperator", "GreaterThanThreshold".into()),
        ];
        let all = usual.into_iter().chain(parts.iter().cloned());
        all.map(|(name, value)| (name.into(), value)).collect()
    }

    #[test]
    fn a_rule_is_read_as_it_was_given() {
        let rule =
            Rule::parse(&definition(&[("Threshold", Value::from(7)), ("Unit", Value::Null)]));
        let rule = rule.unwrap();
        assert_eq!((rule.threshold, rule.periods()), (7.0, 3));
        assert_eq!(rule.unit, None);
        let single = Rule::parse(&definition(&[(IS_SINGLE, true.into())])).unwrap();
        assert_eq!((single.mode, single.periods()), (EvaluationMode::LastPeriod, 1));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (name, value) in [
            ("Threshold", "nan"),
            ("Threshold", "inf"),
            ("Threshold", "much"),
            ("Period", "0"),
            ("Period", "-5"),
            ("Period", "86400"),
            ("EvaluationPeriods", "some"),
            ("Statistic", "Median"),
            ("ComparisonOperator", "NearThreshold"),
            ("DatapointsToAlarm", "4"),
            ("TreatMissingData", "guess"),
            ("MetricName", ""),
        ] {
            let refused = Rule::parse(&definition(&[(name, value.into())])).unwrap_err();
            assert!(refused.starts_with(name), "{refused}");
        }
    }

    #[test]
    fn samples_of_all_dimensions_that_a_rule_names_count() {
        let named = Value::map([("Name", "InstanceId"), ("Value", "i-1")].map(pair));
        let old = Value::map([("AutoScalingGroupName", "web")].map(pair));
        let dimensions = Value::list([named, old]);
        let rule = definition(&[("Dimensions", dimensions), ("Unit", "Percent".into())]);
        let rule = Rule::parse(&rule).unwrap();
        let mut series = Series {
            project: "p".into(),
            namespace: "system/linux".into(),
            metric: "CPUUtilization".into(),
            unit: Some("Percent".into()),
            alarm: None,
            dimensions: [("InstanceId", "i-1"), ("AutoScalingGroupName", "web"), ("Zone", "a")]
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
        };
        assert!(rule.matches(&series));
        series.unit = None;
        assert!(!rule.matches(&series));
        // A rule of a stack asks for the metric and the dimensions alone.
        series.namespace = "other".into();
        let single = Rule { mode: EvaluationMode::LastPeriod, ..rule };
        assert!(single.matches(&series));
        series.dimensions.remove("InstanceId");
        assert!(!single.matches(&series));
    }

    fn pair((name, value): (&'static str, &'static str)) -> (&'static str, Value) {
        (name, value.into())
    }
}
