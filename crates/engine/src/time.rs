//! Moments, as the store keeps them.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// A moment: microseconds since 1970-01-01 UTC. The current time is always an argument: the engine reads no clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// Later than any other moment.
    pub const NEVER: Time = Time(i64::MAX);

    /// The moment so many microseconds after 1970-01-01 UTC.
    pub const fn from_micros(micros: i64) -> Time {
        Time(micros)
    }

    /// Microseconds since 1970-01-01 UTC.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970-01-01 UTC.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// How long it is from an earlier moment to this one; nothing if the other is later.
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Add<Duration> for Time {
    type Output = Time;

    fn add(self, later: Duration) -> Time {
        Time(self.0.saturating_add(i64::try_from(later.as_micros()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Time {
    type Output = Time;

    fn sub(self, earlier: Duration) -> Time {
        Time(self.0.saturating_sub(i64::try_from(earlier.as_micros()).unwrap_or(i64::MAX)))
    }
}

/// Writes the form that clients know: `2026-11-16T08:30:00Z`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.seconds().div_euclid(86_400);
        let second = self.seconds().rem_euclid(86_400);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// The date of a day, counted from 1970-01-01, in the Gregorian calendar.
fn date(days: i64) -> (i64, i64, i64) {
    // Years are taken to start in March: then the leap day is the last of its year.
    const DAYS_IN_400_YEARS: i64 = 146_097;
    let day = days + 719_468;
    let era = day.div_euclid(DAYS_IN_400_YEARS);
    let day = day.rem_euclid(DAYS_IN_400_YEARS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_clients_know_them() {
        let written = |seconds: i64| Time::from_micros(seconds * 1_000_000).to_string();
        assert_eq!(written(0), "1970-01-01T00:00:00Z");
        assert_eq!(written(-1), "1969-12-31T23:59:59Z");
        assert_eq!(written(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(written(951_868_800), "2000-03-01T00:00:00Z");
        assert_eq!(written(1_794_817_801), "2026-11-16T08:30:01Z");
    }

    #[test]
    fn there_is_no_time_before_the_earlier() {
        let (early, late) = (Time::from_micros(5), Time::from_micros(9));
        assert_eq!(late.since(early), Duration::from_micros(4));
        assert_eq!(early.since(late), Duration::ZERO);
        assert_eq!(early + Duration::from_micros(4), late);
    }
}
