//! Parameters of requests: numbers, moments, names, dimensions.

use crate::aws::{AwsFault, Code, Params};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use kiln_engine::{ErrorType, RequestError, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The longest name.
const MAX_NAME_CHARS: usize = 255;
/// The longest value of a dimension, description or action.
pub(super) const MAX_TEXT_CHARS: usize = 1024;
/// The most dimensions of anything.
const MAX_DIMENSIONS: usize = 30;
/// The most alarms that are named at once.
const MAX_NAMES: usize = 100;

/// The fault for an invalid parameter.
pub(super) fn bad(name: &str, value: &str) -> AwsFault {
    let shown: String = value.chars().take(100).collect();
    AwsFault::bad(format!("{name}: {shown} is not valid"))
}

/// A name that must be there, and may have so many characters.
pub(super) fn name<'p>(params: &'p Params, name: &str) -> Result<&'p str, AwsFault> {
    let value = params.need(name)?;
    if value.chars().count() <= MAX_NAME_CHARS { Ok(value) } else { Err(bad(name, value)) }
}

/// A finite number.
pub(super) fn number(name: &str, value: &str) -> Result<f64, AwsFault> {
    let number = value.trim().parse::<f64>().ok().filter(|it| it.is_finite());
    number.ok_or_else(|| bad(name, value))
}

/// An allowed number of seconds.
pub(super) fn period(params: &Params, is_short: impl Fn(u64) -> bool) -> Result<u64, AwsFault> {
    let value = params.need("Period")?;
    let number = value.parse::<u64>().ok();
    let number = number.filter(|it| *it > 0 && (is_short(*it) || it.is_multiple_of(60)));
    number.ok_or_else(|| bad("Period", value))
}

/// How many records are wanted at once.
pub(super) fn max_records(params: &Params) -> Result<usize, AwsFault> {
    const MAX_RECORDS: usize = 100;
    let Some(value) = params.get("MaxRecords") else { return Ok(MAX_RECORDS) };
    let number = value.parse::<usize>().ok().filter(|it| (1..=MAX_RECORDS).contains(it));
    number.ok_or_else(|| bad("MaxRecords", value))
}

/// A flag.
pub(super) fn flag(params: &Params, name: &str) -> Result<Option<bool>, AwsFault> {
    match params.get(name) {
        None => Ok(None),
        Some(value) if value.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(value) if value.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(value) => Err(bad(name, value)),
    }
}

/// A time in ISO 8601, in UTC by default.
pub(super) fn moment(name: &str, value: &str) -> Result<Time, AwsFault> {
    let stamp: Option<Timestamp> = value.parse().ok();
    let stamp = stamp.or_else(|| {
        let bare: DateTime = value.parse().ok()?;
        Some(bare.to_zoned(TimeZone::UTC).ok()?.timestamp())
    });
    let stamp = stamp.ok_or_else(|| bad(name, value))?;
    Ok(Time::from_micros(stamp.as_microsecond()))
}

/// A moment, if one is given.
pub(super) fn maybe_moment(params: &Params, name: &str) -> Result<Option<Time>, AwsFault> {
    params.get(name).map(|value| moment(name, value)).transpose()
}

/// Dimensions, by name.
pub(super) fn dimensions(params: &Params) -> Result<BTreeMap<Arc<str>, Arc<str>>, AwsFault> {
    let mut found = BTreeMap::new();
    for member in params.members("Dimensions")? {
        let name = name(&member, "Name")?;
        let value = member.need("Value")?;
        if value.chars().count() > MAX_TEXT_CHARS {
            return Err(bad("Dimensions", value));
        }
        found.insert(name.into(), value.into());
    }
    if found.len() > MAX_DIMENSIONS {
        Err(AwsFault::bad(format!("there are more than {MAX_DIMENSIONS} dimensions")))
    } else {
        Ok(found)
    }
}

/// The names of alarms, of which there must be one.
pub(super) fn alarm_names(params: &Params) -> Result<Vec<Arc<str>>, AwsFault> {
    let names = params.values("AlarmNames")?;
    match names.len() {
        0 => Err(AwsFault::missing("AlarmNames")),
        1..=MAX_NAMES => Ok(names.into_iter().map(Arc::from).collect()),
        _ => Err(AwsFault::bad(format!("more than {MAX_NAMES} alarms are named"))),
    }
}

/// An error of the service as a CloudWatch fault.
pub(super) fn refused(refusal: RequestError) -> AwsFault {
    match refusal.error_type {
        ErrorType::RequestLimitExceeded => {
            AwsFault { code: Code::LimitExceeded, detail: refusal.message }
        }
        _ => refusal.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_in_every_form() {
        for (text, micros) in [
            ("2031-04-05T06:07:08Z", 1_933_135_628_000_000),
            ("2031-04-05T06:07:08.5+00:00", 1_933_135_628_500_000),
            ("2031-04-05T08:07:08+02:00", 1_933_135_628_000_000),
            ("2031-04-05T06:07:08", 1_933_135_628_000_000),
        ] {
            assert_eq!(moment("StartTime", text), Ok(Time::from_micros(micros)), "{text}");
        }
        for text in ["yesterday", "2031-13-05T06:07:08Z", "1e5"] {
            assert!(moment("StartTime", text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        assert_eq!(number("Value", " 1e3 "), Ok(1000.0));
        for text in ["NaN", "inf", "-Infinity", "1e999", "much", ""] {
            assert!(number("Value", text).is_err(), "{text}");
        }
    }
}
