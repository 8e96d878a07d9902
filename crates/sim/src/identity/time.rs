//! Times and the clock. This crate never asks the system for the time.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};

/// The clock: microseconds since 1970-01-01 UTC, from any source.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl Clock {
    /// Returns a clock that reads its time, in microseconds since 1970-01-01 UTC, from the function.
    pub fn new(micros: impl Fn() -> i64 + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(micros))
    }

    pub(super) fn now(&self) -> Moment {
        Moment((self.0)())
    }

    /// Returns the time in microseconds since 1970-01-01 UTC.
    pub(crate) fn micros(&self) -> i64 {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now().0)
    }
}

/// A time in microseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Moment(pub(super) i64);

impl Moment {
    pub(super) fn plus_seconds(self, seconds: u64) -> Moment {
        let micros = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        Moment(self.0.saturating_add(micros))
    }

    /// Parses an ISO 8601 time, with an offset or in UTC, or AWS's compact form.
    pub(super) fn read(text: &str) -> Option<Moment> {
        // jiff would accept a date as midnight; Keystone requires a time.
        let timed = text.contains('T') || text.contains(' ');
        let stamp = match text.parse::<Timestamp>() {
            Ok(stamp) => stamp,
            Err(_) if timed => Offset::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok()?,
            Err(_) => return None,
        };
        Some(Moment(stamp.as_microsecond()))
    }

    /// Formats the time as in tokens: whole seconds, followed by six zeros.
    pub(super) fn seconds(self) -> String {
        self.write("%Y-%m-%dT%H:%M:%S.000000Z")
    }

    /// Formats the time with microseconds and a `Z`, as in trusts and revocations.
    pub(super) fn zulu(self) -> String {
        self.write("%Y-%m-%dT%H:%M:%S.%6fZ")
    }

    /// Formats the time with microseconds and without an offset, as in application credentials.
    pub(super) fn naive(self) -> String {
        self.write("%Y-%m-%dT%H:%M:%S.%6f")
    }

    fn write(self, form: &str) -> String {
        // A time beyond jiff's range (year 9999) is printed as the last one in it.
        let stamp = Timestamp::from_microsecond(self.0).unwrap_or(Timestamp::MAX);
        stamp.strftime(form).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_from_every_form_that_clients_send() {
        let noon = Some(Moment(1_794_916_800_000_000));
        for text in [
            "2026-11-17T12:00:00Z",
            "2026-11-17T12:00:00.000000Z",
            "2026-11-17T12:00:00",
            "2026-11-17T12:00:00.000000",
            "2026-11-17T13:00:00+01:00",
            "20261117T120000Z",
        ] {
            assert_eq!(Moment::read(text), noon, "{text}");
        }
        for text in ["", "x", "2026-11-17", "2026-11-17T25:00:00Z"] {
            assert_eq!(Moment::read(text), None, "{text}");
        }
    }

    #[test]
    fn a_moment_is_written_in_the_form_of_its_place() {
        let moment = Moment(1_794_916_800_123_456);
        assert_eq!(moment.seconds(), "2026-11-17T12:00:00.000000Z");
        assert_eq!(moment.zulu(), "2026-11-17T12:00:00.123456Z");
        assert_eq!(moment.naive(), "2026-11-17T12:00:00.123456");
        assert!(Moment(i64::MAX).zulu().starts_with("9999-"));
    }
}
