//! Dates and lengths of time, with the ranges of the reference.
//!
//! A date lies in the years 1 to 9999 and knows its offset from UTC; a span has less than a billion
//! days. Both count microseconds.

mod format;
mod free;
mod strptime;

use crate::error::Error;
use crate::integer::Integer;
use jiff::SignedDuration;
use jiff::civil;
use std::cmp::Ordering;
use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};

const DAY: i64 = 86_400_000_000;
const EPOCH: civil::Date = civil::date(1970, 1, 1);
const MAX_DAYS: i128 = 999_999_999;

/// A moment with its offset from UTC.
#[derive(Clone, Copy, Debug)]
pub struct Date {
    /// What calendar and clock show at the offset.
    pub(crate) local: civil::DateTime,
    /// Seconds ahead of UTC.
    pub(crate) offset: i32,
}

/// The parts of a date, any of which may be out of range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DateParts {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    pub(crate) microsecond: i64,
    /// Seconds ahead of UTC.
    pub(crate) offset: i64,
}

impl DateParts {
    /// The date, or what is wrong with it.
    pub(crate) fn date(self) -> Result<Date, Error> {
        let clock = [
            (self.hour, 23, "hour must be in 0..23"),
            (self.minute, 59, "minute must be in 0..59"),
            (self.second, 59, "second must be in 0..59"),
            (self.microsecond, 999_999, "microsecond must be in 0..999999"),
        ];
        if !(1..=9999).contains(&self.year) {
            return Err(Error::value(format!("year {} is out of range", self.year)));
        }
        if !(1..=12).contains(&self.month) {
            return Err(Error::value("month must be in 1..12"));
        }
        let day =
            civil::Date::new(self.year as i16, self.month as i8, self.day.clamp(-1, 99) as i8);
        let Ok(day) = day else {
            return Err(Error::value("day is out of range for month"));
        };
        if let Some((.., message)) = clock.iter().find(|(n, most, _)| !(0..=*most).contains(n)) {
            return Err(Error::value(*message));
        }
        if self.offset.abs() >= 86_400 {
            return Err(Error::value(
                "offset must be a timedelta strictly between \
                 -timedelta(hours=24) and timedelta(hours=24).",
            ));
        }
        let (hour, minute, second) = (self.hour as i8, self.minute as i8, self.second as i8);
        let local = day.at(hour, minute, second, self.microsecond as i32 * 1000);
        Ok(Date { local, offset: self.offset as i32 })
    }
}

impl Date {
    /// The date at a number of microseconds since 1970-01-01 00:00:00 UTC.
    pub fn from_microseconds(microseconds: i64, offset: i32) -> Option<Date> {
        Date::at(microseconds.checked_add(i64::from(offset) * 1_000_000)?, offset)
    }

    /// Microseconds since 1970-01-01 00:00:00 UTC.
    pub fn microseconds(&self) -> i64 {
        self.local_microseconds() - i64::from(self.offset) * 1_000_000
    }

    /// The date whose calendar and clock are so many microseconds after 1970.
    pub(crate) fn at(local: i64, offset: i32) -> Option<Date> {
        let (days, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let day = EPOCH.checked_add(SignedDuration::from_hours(days.checked_mul(24)?)).ok()?;
        if day.year() < 1 {
            return None;
        }
        let time = civil::Time::midnight() + SignedDuration::from_micros(time);
        Some(Date { local: day.to_datetime(time), offset })
    }

    pub(crate) fn local_microseconds(&self) -> i64 {
        let days = self.local.date().duration_since(EPOCH).as_hours() / 24;
        days * DAY + self.time_of_day()
    }

    /// Microseconds since midnight.
    pub(crate) fn time_of_day(&self) -> i64 {
        let since = self.local.time().duration_since(civil::Time::midnight());
        i64::try_from(since.as_micros()).unwrap_or(0)
    }

    pub(crate) fn plus(&self, span: TimeSpan) -> Result<Date, Error> {
        let sum = i128::from(self.local_microseconds()) + span.0;
        let date = i64::try_from(sum).ok().and_then(|sum| Date::at(sum, self.offset));
        date.ok_or_else(|| Error::overflow("date value out of range"))
    }

    pub(crate) fn minus(&self, other: &Date) -> Result<TimeSpan, Error> {
        TimeSpan::new(i128::from(self.microseconds()) - i128::from(other.microseconds()))
    }

    pub(crate) fn parts(&self) -> DateParts {
        DateParts {
            year: self.local.year().into(),
            month: self.local.month().into(),
            day: self.local.day().into(),
            hour: self.local.hour().into(),
            minute: self.local.minute().into(),
            second: self.local.second().into(),
            microsecond: self.microsecond().into(),
            offset: self.offset.into(),
        }
    }

    pub(crate) fn microsecond(&self) -> i32 {
        self.local.subsec_nanosecond() / 1000
    }

    /// The date as text in results: without its offset, with all digits of the second.
    pub(crate) fn to_json(self) -> String {
        self.format("%Y-%m-%dT%H:%M:%S.%f")
    }

    /// The date as `strftime` writes it.
    pub fn format(&self, format: &str) -> String {
        format::format(self, format)
    }

    /// Reads a date by a format, as `strptime` does.
    pub(crate) fn parse_format(text: &str, format: &str) -> Result<Date, Error> {
        strptime::parse(text, format)
    }

    /// Parses a date in any common form; missing parts come from `today`.
    pub(crate) fn parse(text: &str, today: Option<Date>) -> Result<Date, Error> {
        free::parse(text, today)
    }

    /// The date as it is printed inside a container.
    pub(crate) fn write_form(&self, out: &mut String) {
        let local = &self.local;
        let _ = write!(
            out,
            "datetime.datetime({}, {}, {}, {}, {}",
            local.year(),
            local.month(),
            local.day(),
            local.hour(),
            local.minute()
        );
        if local.second() != 0 || self.microsecond() != 0 {
            let _ = write!(out, ", {}", local.second());
        }
        if self.microsecond() != 0 {
            let _ = write!(out, ", {}", self.microsecond());
        }
        let _ = match self.offset {
            0 => write!(out, ", tzinfo=tzutc())"),
            offset => write!(out, ", tzinfo=tzoffset(None, {offset}))"),
        };
    }
}

impl PartialEq for Date {
    fn eq(&self, other: &Date) -> bool {
        self.microseconds() == other.microseconds()
    }
}

impl Eq for Date {}

impl PartialOrd for Date {
    fn partial_cmp(&self, other: &Date) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Date {
    fn cmp(&self, other: &Date) -> Ordering {
        self.microseconds().cmp(&other.microseconds())
    }
}

impl Hash for Date {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.microseconds().hash(state);
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format("%Y-%m-%d %H:%M:%S"))?;
        if self.microsecond() != 0 {
            write!(f, ".{:06}", self.microsecond())?;
        }
        let ahead = self.offset.unsigned_abs();
        let sign = if self.offset < 0 { '-' } else { '+' };
        write!(f, "{sign}{:02}:{:02}", ahead / 3600, ahead / 60 % 60)?;
        if !ahead.is_multiple_of(60) {
            write!(f, ":{:02}", ahead % 60)?;
        }
        Ok(())
    }
}

/// A length of time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeSpan(i128);

impl TimeSpan {
    /// A span of so many microseconds, if it is not too long.
    pub(crate) fn new(microseconds: i128) -> Result<TimeSpan, Error> {
        let days = microseconds.div_euclid(DAY.into());
        if days.abs() > MAX_DAYS {
            return Err(Error::overflow(format!("days={days}; must have magnitude <= {MAX_DAYS}")));
        }
        Ok(TimeSpan(microseconds))
    }

    /// A span of a number of microseconds with a fraction, which is rounded.
    pub(crate) fn from_float(microseconds: f64) -> Result<TimeSpan, Error> {
        if microseconds.is_nan() {
            return Err(Error::value("cannot convert float NaN to integer"));
        }
        // Far beyond the range is still beyond the range.
        TimeSpan::new(microseconds.clamp(-1e30, 1e30).round_ties_even() as i128)
    }

    /// A span of whole seconds.
    pub fn from_seconds(seconds: i64) -> TimeSpan {
        TimeSpan(i128::from(seconds.clamp(-86_400_000_000, 86_400_000_000)) * 1_000_000)
    }

    /// The number of microseconds.
    pub fn microseconds(&self) -> i128 {
        self.0
    }

    /// Whether the span has no length.
    pub fn is_zero(&self) -> bool {
        self.0 == 0
    }

    pub(crate) fn plus(self, other: TimeSpan) -> Result<TimeSpan, Error> {
        TimeSpan::new(self.0 + other.0)
    }

    pub(crate) fn negated(self) -> Result<TimeSpan, Error> {
        TimeSpan::new(-self.0)
    }

    pub(crate) fn times(self, number: &Integer) -> Result<TimeSpan, Error> {
        let factor =
            number.as_i64().unwrap_or(if number.is_negative() { i64::MIN } else { i64::MAX });
        TimeSpan::new(self.0.checked_mul(factor.into()).unwrap_or(i128::MAX / 2))
    }

    /// Days, seconds of the day and microseconds of the second, the last two never negative.
    fn split(self) -> (i128, i128, i128) {
        let (days, rest) = (self.0.div_euclid(DAY.into()), self.0.rem_euclid(DAY.into()));
        (days, rest / 1_000_000, rest % 1_000_000)
    }

    /// The span as it is printed inside a container.
    pub(crate) fn write_form(&self, out: &mut String) {
        let (days, seconds, microseconds) = self.split();
        let parts = [("days", days), ("seconds", seconds), ("microseconds", microseconds)];
        let printed: Vec<_> = parts
            .iter()
            .filter(|(_, number)| *number != 0)
            .map(|(name, number)| format!("{name}={number}"))
            .collect();
        let printed = if printed.is_empty() { "0".into() } else { printed.join(", ") };
        let _ = write!(out, "datetime.timedelta({printed})");
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, seconds, microseconds) = self.split();
        if days != 0 {
            write!(f, "{days} day{}, ", if days.abs() == 1 { "" } else { "s" })?;
        }
        write!(f, "{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
        if microseconds != 0 {
            write!(f, ".{microseconds:06}")?;
        }
        Ok(())
    }
}

/// Names of months, from January.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Names of weekdays, from Monday.
const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
