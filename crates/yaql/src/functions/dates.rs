//! Dates and spans.

use super::operators::{by_zero, float};
use crate::arguments::Arguments;
use crate::error::{Error, ErrorKind};
use crate::signature::{Default, Function, Parameter, Type, f, int, m, number, text, typed};
use crate::time::{Date, DateParts, TimeSpan};
use crate::value::Value;

const fn offset() -> Parameter {
    typed("offset", Type::Span).or(Default::Zero)
}

const fn part(name: &'static str) -> Parameter {
    int(name).or(Default::Int(0))
}

const fn strict_part(name: &'static str) -> Parameter {
    typed(name, Type::StrictInt).or(Default::Int(0))
}

const fn replaced(name: &'static str) -> Parameter {
    int(name).or(Default::Null)
}

pub(crate) static TABLE: &[Function] = &[
    f(
        "datetime",
        &[
            int("year"),
            int("month"),
            int("day"),
            part("hour"),
            part("minute"),
            part("second"),
            part("microsecond"),
            offset(),
        ],
        datetime,
    ),
    f("datetime", &[number("timestamp"), offset()], from_timestamp),
    f("datetime", &[text("string"), text("format").or(Default::Null)], from_text),
    m("format", &[typed("dt", Type::Date), text("format")], format),
    f("localtz", &[], localtz),
    f("now", &[offset().nullable()], now),
    m(
        "replace",
        &[
            typed("dt", Type::Date),
            replaced("year"),
            replaced("month"),
            replaced("day"),
            replaced("hour"),
            replaced("minute"),
            replaced("second"),
            replaced("microsecond"),
            typed("offset", Type::Span).or(Default::Null),
        ],
        replace,
    ),
    f(
        "timespan",
        &[
            part("days"),
            part("hours"),
            part("minutes"),
            strict_part("seconds"),
            strict_part("milliseconds"),
            strict_part("microseconds"),
        ],
        timespan,
    ),
    f("utctz", &[], |_| Ok(Value::Span(TimeSpan::default()))),
];

const DATE_PROPERTIES: [&str; 13] = [
    "date",
    "day",
    "hour",
    "microsecond",
    "minute",
    "month",
    "offset",
    "second",
    "time",
    "timestamp",
    "utc",
    "weekday",
    "year",
];

const SPAN_PROPERTIES: [&str; 6] =
    ["days", "hours", "microseconds", "milliseconds", "minutes", "seconds"];

/// The property after a dot, of a value that is neither a map nor a collection.
pub(crate) fn property(value: &Value, name: &str) -> Result<Value, Error> {
    let function = || format!("#property#{name}");
    if !DATE_PROPERTIES.contains(&name) && !SPAN_PROPERTIES.contains(&name) {
        return Err(ErrorKind::UnknownFunction(function()).into());
    }
    match value {
        Value::Date(date) if DATE_PROPERTIES.contains(&name) => date_property(date, name),
        Value::Span(span) if SPAN_PROPERTIES.contains(&name) => Ok(span_property(*span, name)),
        _ => Err(ErrorKind::NoMatchingFunction(function()).into()),
    }
}

fn date_property(date: &Date, name: &str) -> Result<Value, Error> {
    let parts = date.parts();
    Ok(match name {
        "year" => parts.year.into(),
        "month" => parts.month.into(),
        "day" => parts.day.into(),
        "hour" => parts.hour.into(),
        "minute" => parts.minute.into(),
        "second" => parts.second.into(),
        "microsecond" => parts.microsecond.into(),
        "weekday" => i64::from(date.local.weekday().to_monday_zero_offset()).into(),
        "offset" => Value::Span(TimeSpan::from_seconds(parts.offset)),
        "time" => Value::Span(TimeSpan::new(date.time_of_day().into())?),
        "date" => {
            let midnight = TimeSpan::new(-i128::from(date.time_of_day()))?;
            Value::Date(date.plus(midnight)?)
        }
        // The reference moves the clock to UTC but leaves the offset.
        "utc" => Value::Date(date.plus(TimeSpan::from_seconds(-parts.offset))?),
        _ => (date.microseconds() as f64 / 1e6).into(),
    })
}

fn span_property(span: TimeSpan, name: &str) -> Value {
    let microseconds = span.microseconds() as f64;
    match name {
        "days" => microseconds / 86_400e6,
        "hours" => microseconds / 3_600e6,
        "minutes" => microseconds / 60e6,
        "seconds" => microseconds / 1e6,
        "milliseconds" => microseconds / 1e3,
        _ => return Value::Int(num_bigint::BigInt::from(span.microseconds()).into()),
    }
    .into()
}

/// A span divided by a number.
pub(crate) fn divide(span: TimeSpan, divisor: &Value) -> Result<TimeSpan, Error> {
    let divisor = float(divisor)?;
    if divisor == 0.0 {
        return Err(by_zero("division by zero"));
    }
    TimeSpan::from_float(span.microseconds() as f64 / divisor)
}

/// Seconds of an offset, which must be less than a day.
fn seconds(span: TimeSpan) -> i64 {
    i64::try_from(span.microseconds() / 1_000_000).unwrap_or(i64::MAX)
}

fn datetime(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let parts = DateParts {
        year: args.index(0)?,
        month: args.index(1)?,
        day: args.index(2)?,
        hour: args.index(3)?,
        minute: args.index(4)?,
        second: args.index(5)?,
        microsecond: args.index(6)?,
        offset: seconds(args.span(7)?),
    };
    parts.date().map(Value::Date)
}

fn from_timestamp(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let timestamp = args.value(0);
    let microseconds = match &timestamp {
        Value::Int(number) => number.as_i64().map(|seconds| i128::from(seconds) * 1_000_000),
        other => match float(other)? * 1e6 {
            number if number.is_finite() => Some(number.round_ties_even() as i128),
            _ => None,
        },
    };
    let offset = args.span(1)?;
    let checked = DateParts { offset: seconds(offset), ..epoch() }.date()?;
    let out_of_range = || {
        // The year as if the calendar went on.
        let seconds = microseconds.unwrap_or(i128::MAX) / 1_000_000;
        Error::value(format!("year {} is out of range", 1970 + seconds / 31_556_952))
    };
    let date = microseconds
        .and_then(|microseconds| i64::try_from(microseconds).ok())
        .and_then(|microseconds| Date::from_microseconds(microseconds, checked.offset));
    date.map(Value::Date).ok_or_else(out_of_range)
}

fn epoch() -> DateParts {
    DateParts {
        year: 1970,
        month: 1,
        day: 1,
        hour: 0,
        minute: 0,
        second: 0,
        microsecond: 0,
        offset: 0,
    }
}

fn from_text(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let text = args.text(0)?;
    args.machine.charge(200 + text.len() as u64)?;
    match args.text_or_null(1)? {
        Some(format) if !format.is_empty() => Date::parse_format(&text, &format).map(Value::Date),
        _ => Date::parse(&text, today(args)).map(Value::Date),
    }
}

/// The current moment in UTC, if it is known.
fn today(args: &Arguments<'_>) -> Option<Date> {
    let now = args.machine.options.environment.as_ref()?.now()?;
    Date::from_microseconds(now, 0)
}

fn now(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let offset = match args.value(0) {
        Value::Span(span) => seconds(span),
        _ => 0,
    };
    let Some(now) = today(args) else {
        return Err(ErrorKind::NoEnvironment("the current time").into());
    };
    let shifted = now.plus(TimeSpan::from_seconds(offset))?;
    DateParts { offset, ..shifted.parts() }.date().map(Value::Date)
}

fn localtz(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let environment = args.machine.options.environment.as_ref();
    match environment.and_then(|environment| environment.local_offset()) {
        Some(seconds) => Ok(Value::Span(TimeSpan::from_seconds(seconds.into()))),
        None => Err(ErrorKind::NoEnvironment("the local time zone").into()),
    }
}

fn timespan(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let units: [i128; 6] = [86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000, 1000, 1];
    let mut total: i128 = 0;
    for (at, unit) in units.into_iter().enumerate() {
        total = total.saturating_add(i128::from(args.index(at)?).saturating_mul(unit));
    }
    TimeSpan::new(total).map(Value::Span)
}

fn replace(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut parts = args.date(0)?.parts();
    let targets = [
        &mut parts.year,
        &mut parts.month,
        &mut parts.day,
        &mut parts.hour,
        &mut parts.minute,
        &mut parts.second,
        &mut parts.microsecond,
    ];
    for (at, target) in targets.into_iter().enumerate() {
        match args.value(at + 1) {
            Value::Int(number) => *target = number.as_i64().unwrap_or(i64::MAX),
            Value::Bool(truth) => *target = truth.into(),
            _ => {}
        }
    }
    if let Value::Span(span) = args.value(8) {
        parts.offset = seconds(span);
    }
    parts.date().map(Value::Date)
}

fn format(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (date, format) = (args.date(0)?, args.text(1)?);
    args.machine.charge(format.len() as u64)?;
    Ok(date.format(&format).into())
}
