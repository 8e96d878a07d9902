//! Checks of points in time and time zones.

use super::zones::ZONES;
use crate::print;
use crate::value::Value;
use fancy_regex::{Captures, Regex};
use std::sync::LazyLock;

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instant {
    /// Seconds since 1970.
    seconds: i64,
    /// Whether a part of a second comes on top.
    fraction: bool,
}

/// The years that count: from the first to the last of four digits.
const SPAN: std::ops::Range<i64> = -62_135_596_800..253_402_300_800;

impl Instant {
    /// Whether it is later than a time in seconds since 1970.
    pub(super) fn is_after(self, now: i64) -> bool {
        self.seconds > now || (self.seconds == now && self.fraction)
    }

    /// Whether its year has four digits in UTC, too.
    pub(super) fn is_in_range(self) -> bool {
        SPAN.contains(&self.seconds)
    }
}

/// The point in time that a text names; without a zone it is UTC.
pub(super) fn iso_8601(text: &str) -> Result<Instant, String> {
    let unreadable = || format!("Unable to parse date string {}", print::repr(&text.into()));
    let form = FORM.as_ref().ok_or_else(unreadable)?;
    let parts = form.captures(text).ok().flatten().ok_or_else(unreadable)?;
    instant(&parts)
}

/// A year, then perhaps month, day, hour, minute, second, fraction and zone.
///
/// Month and day are both set off by hyphens or both not; six bare digits are no date.
static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let month = r"(?:-(?<m>[0-9]{1,2})|(?<mm>[0-9]{2})(?!$))";
    let day = r"(?:-(?<d>[0-9]{1,2})|(?<dd>[0-9]{2}))";
    let second = r"(?::?(?<second>[0-9]{1,2})(?:[.,](?<fraction>[0-9]+))?)?";
    let zone = r"(?<zone>Z|(?<sign>[-+])(?<zh>[0-9]{2}):?(?<zm>[0-9]{2})?)?";
    let time = format!(r"(?:[ T](?<hour>[0-9]{{2}})(?::?(?<minute>[0-9]{{2}}))?{second}{zone})?");
    let form = format!(r"\A(?<year>[0-9]{{4}})(?:{month}(?:{day}{time})?)?\z");
    Regex::new(&form).ok()
});

fn instant(parts: &Captures<'_, str>) -> Result<Instant, String> {
    let part = |name: &str| {
        parts.name(name).map(|digits| digits.as_str().parse::<i64>().unwrap_or(i64::MAX))
    };
    let within = |value: i64, low: i64, high: i64, text: &str| {
        if (low..=high).contains(&value) { Ok(value) } else { Err(text.to_owned()) }
    };
    let zone = part("zh").unwrap_or(0) * 3600 + part("zm").unwrap_or(0) * 60;
    let is_west = parts.name("sign").is_some_and(|sign| sign.as_str() == "-");
    let zone = within_a_day(if is_west { -zone } else { zone })?;
    let year = part("year").unwrap_or(0);
    let year = within(year, 1, 9999, &format!("year {year} is out of range"))?;
    let month = part("m").or_else(|| part("mm")).unwrap_or(1);
    let month = within(month, 1, 12, "month must be in 1..12")?;
    let day = part("d").or_else(|| part("dd")).unwrap_or(1);
    let day = within(day, 1, days_in(year, month), "day is out of range for month")?;
    let hour = within(part("hour").unwrap_or(0), 0, 23, "hour must be in 0..23")?;
    let minute = within(part("minute").unwrap_or(0), 0, 59, "minute must be in 0..59")?;
    let second = within(part("second").unwrap_or(0), 0, 59, "second must be in 0..59")?;
    let local = (days_before(year, month) + day - 1) * 86_400 + hour * 3600 + minute * 60 + second;
    let fraction = parts.name("fraction");
    // Only millionths count.
    let fraction =
        fraction.is_some_and(|digits| digits.as_str().bytes().take(6).any(|b| b != b'0'));
    Ok(Instant { seconds: local - zone, fraction })
}

/// The seconds by which a zone differs from UTC: less than a day.
fn within_a_day(seconds: i64) -> Result<i64, String> {
    if seconds.abs() < 86_400 {
        return Ok(seconds);
    }
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let rest = if rest == 0 { String::new() } else { format!(", seconds={rest}") };
    Err(format!(
        "offset must be a timedelta strictly between -timedelta(hours=24) and \
         timedelta(hours=24), not datetime.timedelta(days={days}{rest})."
    ))
}

fn days_in(year: i64, month: i64) -> i64 {
    days_before(year + month / 12, month % 12 + 1) - days_before(year, month)
}

/// Days from 1970-01-01 to the first of a month.
fn days_before(year: i64, month: i64) -> i64 {
    // Years that begin in March end with the leap day.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (month * 153 + 2) / 5 - 719_468
}

/// Whether a value names a time zone; if not, why.
pub(super) fn zone(value: &Value) -> Result<(), String> {
    let name = match value {
        Value::Text(name) => name,
        other => {
            let kind = other.python_type();
            return Err(format!("expected str, bytes or os.PathLike object, not {kind}"));
        }
    };
    let (area, position) = match name.rsplit_once('/') {
        Some(("", _)) => return Err(not_a_zone(name)),
        Some(split) => split,
        None => ("", &**name),
    };
    let positions =
        ZONES.binary_search_by_key(&area, |(area, _)| area).map_or("", |at| ZONES[at].1);
    if positions.split(' ').any(|known| known == position && !position.is_empty()) {
        return Ok(());
    }
    Err(not_a_zone(name))
}

/// Why a name is no zone: names are looked up as paths.
fn not_a_zone(name: &str) -> String {
    if name.starts_with('/') {
        return format!("ZoneInfo keys may not be absolute paths, got: {name}");
    }
    if name.contains('\0') {
        return "embedded null byte".to_owned();
    }
    let mut upward = name.split('/').skip_while(|part| *part == "..");
    if name != "." && upward.any(|part| matches!(part, "" | "." | "..")) {
        return format!("ZoneInfo keys must be normalized relative paths, got: {name}");
    }
    if name == "." || name.split('/').next() == Some("..") {
        return format!("ZoneInfo keys must refer to subdirectories of TZPATH, got: {name}");
    }
    print::repr(&format!("No time zone found with key {name}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Result<i64, String> {
        iso_8601(text).map(|instant| instant.seconds)
    }

    #[test]
    fn times_are_read_in_many_forms() {
        for (text, expected) in [
            ("1970", 0),
            ("1970-02", 31 * 86_400),
            ("19700102", 86_400),
            ("1970-1-2", 86_400),
            ("1970-01-01T01", 3_600),
            ("1970-01-01 0102", 3_720),
            ("1970-01-01T12:3", 43_203),
            ("1970-01-01T000001", 1),
            ("1970-01-01T00:00:01.5Z", 1),
            ("1970-01-01T02:00+02:00", 0),
            ("1970-01-01T00:00-0130", 5_400),
            ("1970-01-01T01+01", 0),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2030-01-01T00:00:00Z", 1_893_456_000),
        ] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused_with_a_reason() {
        for (text, expected) in [
            ("x", "Unable to parse date string 'x'"),
            ("203006", "Unable to parse date string '203006'"),
            ("2030-01-01t00:00", "Unable to parse date string '2030-01-01t00:00'"),
            ("2030-01-01Z", "Unable to parse date string '2030-01-01Z'"),
            ("2030-01-01T1", "Unable to parse date string '2030-01-01T1'"),
            ("0000-01-01", "year 0 is out of range"),
            ("2030-13-01", "month must be in 1..12"),
            ("2030-02-29", "day is out of range for month"),
            ("2030-01-01T24:00", "hour must be in 0..23"),
            ("2030-01-01T00:60", "minute must be in 0..59"),
            ("2030-01-01T00:00:60", "second must be in 0..59"),
        ] {
            assert_eq!(seconds(text), Err(expected.into()), "{text}");
        }
        let far = seconds("2030-01-01T00:00-25:00").unwrap_err();
        assert!(far.ends_with("not datetime.timedelta(days=-2, seconds=82800)."), "{far}");
        assert!(!iso_8601("9999-12-31T23:59:59-10:00").unwrap().is_in_range());
        assert!(iso_8601("9999-12-31T23:59:59Z").unwrap().is_in_range());
    }

    #[test]
    fn the_future_begins_behind_now() {
        let at = |text: &str| iso_8601(text).unwrap();
        assert!(!at("1970-01-01T00:00:05Z").is_after(5));
        assert!(at("1970-01-01T00:00:05.1Z").is_after(5));
        assert!(!at("1970-01-01T00:00:05.0000001Z").is_after(5));
    }

    #[test]
    fn zones_are_names_of_the_table() {
        for name in ["Europe/Paris", "UTC", "America/Argentina/Ushuaia", "Etc/GMT+5", "EST5EDT"] {
            assert_eq!(zone(&name.into()), Ok(()), "{name}");
        }
        for (name, expected) in [
            ("Foo/Bar", "'No time zone found with key Foo/Bar'"),
            ("europe/paris", "'No time zone found with key europe/paris'"),
            ("/UTC", "ZoneInfo keys may not be absolute paths, got: /UTC"),
            ("/etc/x", "ZoneInfo keys may not be absolute paths, got: /etc/x"),
            ("../x", "ZoneInfo keys must refer to subdirectories of TZPATH, got: ../x"),
            ("a//b", "ZoneInfo keys must be normalized relative paths, got: a//b"),
            ("Europe/", "ZoneInfo keys must be normalized relative paths, got: Europe/"),
        ] {
            assert_eq!(zone(&name.into()), Err(expected.into()), "{name}");
        }
    }

    #[test]
    fn the_table_of_zones_is_sorted() {
        assert!(ZONES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let all: usize = ZONES.iter().map(|(_, positions)| positions.split(' ').count()).sum();
        assert_eq!(all, 598);
    }
}
