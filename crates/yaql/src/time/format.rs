//! Writing dates by a format, as `strftime` of the C locale does.

use super::{Date, MONTHS, WEEKDAYS};
use std::fmt::Write;

/// Writes a date by a format; unknown directives stay as they are.
pub(super) fn format(date: &Date, format: &str) -> String {
    let mut out = String::with_capacity(format.len() * 2);
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(letter) if directive(date, letter, &mut out) => {}
            Some(letter) => out.extend(['%', letter]),
            None => out.push('%'),
        }
    }
    out
}

fn directive(date: &Date, letter: char, out: &mut String) -> bool {
    let local = &date.local;
    let (year, month, day) = (local.year(), local.month(), local.day());
    let (hour, minute, second) = (local.hour(), local.minute(), local.second());
    let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    let weekday = local.weekday().to_monday_zero_offset();
    let sunday = local.weekday().to_sunday_zero_offset();
    let yearday = local.day_of_year();
    let name = |names: &[&'static str], at: i8| names.get(at as usize).copied().unwrap_or_default();
    let short = |name: &'static str| name.get(..3).unwrap_or_default();
    let iso = local.iso_week_date();
    let _ = match letter {
        'a' => out.write_str(short(name(&WEEKDAYS, weekday))),
        'A' => out.write_str(name(&WEEKDAYS, weekday)),
        'b' | 'h' => out.write_str(short(name(&MONTHS, month - 1))),
        'B' => out.write_str(name(&MONTHS, month - 1)),
        'c' => out.write_str(&format(date, "%a %b %e %H:%M:%S %Y")),
        'C' => write!(out, "{:02}", year / 100),
        'd' => write!(out, "{day:02}"),
        'D' | 'x' => out.write_str(&format(date, "%m/%d/%y")),
        'e' => write!(out, "{day:2}"),
        'f' => write!(out, "{:06}", date.microsecond()),
        'F' => out.write_str(&format(date, "%Y-%m-%d")),
        'g' => write!(out, "{:02}", iso.year() % 100),
        'G' => write!(out, "{}", iso.year()),
        'H' => write!(out, "{hour:02}"),
        'I' => write!(out, "{twelve:02}"),
        'j' => write!(out, "{yearday:03}"),
        'k' => write!(out, "{hour:2}"),
        'l' => write!(out, "{twelve:2}"),
        'm' => write!(out, "{month:02}"),
        'M' => write!(out, "{minute:02}"),
        'n' => out.write_char('\n'),
        'p' => out.write_str(if hour < 12 { "AM" } else { "PM" }),
        'P' => out.write_str(if hour < 12 { "am" } else { "pm" }),
        'r' => out.write_str(&format(date, "%I:%M:%S %p")),
        'R' => out.write_str(&format(date, "%H:%M")),
        's' => write!(out, "{}", date.local_microseconds().div_euclid(1_000_000)),
        'S' => write!(out, "{second:02}"),
        't' => out.write_char('\t'),
        'T' | 'X' => out.write_str(&format(date, "%H:%M:%S")),
        'u' => write!(out, "{}", weekday + 1),
        'U' => write!(out, "{:02}", (yearday + 6 - i16::from(sunday)) / 7),
        'V' => write!(out, "{:02}", iso.week()),
        'w' => write!(out, "{sunday}"),
        'W' => write!(out, "{:02}", (yearday + 6 - i16::from(weekday)) / 7),
        'y' => write!(out, "{:02}", year % 100),
        // The C library does not pad years.
        'Y' => write!(out, "{year:04}"),
        'z' => out.write_str(&offset(date.offset)),
        'Z' => out.write_str(if date.offset == 0 { "UTC" } else { "" }),
        '%' => out.write_char('%'),
        _ => return false,
    };
    true
}

fn offset(seconds: i32) -> String {
    let ahead = seconds.unsigned_abs();
    let sign = if seconds < 0 { '-' } else { '+' };
    let mut text = format!("{sign}{:02}{:02}", ahead / 3600, ahead / 60 % 60);
    if !ahead.is_multiple_of(60) {
        let _ = write!(text, "{:02}", ahead % 60);
    }
    text
}
