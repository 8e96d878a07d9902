//! Reading dates by a format, as `strptime` does.
//!
//! The format becomes a regular expression with a group for every directive.

use super::{Date, DateParts, MONTHS, WEEKDAYS};
use crate::error::Error;
use crate::python;
use crate::regex::{Flags, Regex, escape};
use jiff::civil;

/// Reads a date by a format; UTC where the format has no offset.
pub(super) fn parse(text: &str, format: &str) -> Result<Date, Error> {
    let mut pattern = String::new();
    let mut directives = Vec::new();
    translate(format, format, &mut pattern, &mut directives)?;
    let flags = Flags { ignore_case: true, ..Flags::default() };
    let regex = Regex::with_flags(&format!("\\A(?:{pattern})"), flags)?;
    let mismatch = || {
        Error::value(format!(
            "time data {} does not match format {}",
            python::quoted(text),
            python::quoted(format)
        ))
    };
    let found = regex.find_from(text, 0)?.ok_or_else(mismatch)?;
    let end = found.whole().end;
    if end < text.len() {
        let rest = text.get(end..).unwrap_or_default();
        return Err(Error::value(format!("unconverted data remains: {rest}")));
    }
    let mut read = Read::default();
    for (letter, group) in directives.iter().zip(found.groups.iter().skip(1)) {
        if let Some(part) = group.clone().and_then(|range| text.get(range)) {
            read.part(*letter, part)?;
        }
    }
    read.date()
}

fn translate(
    format: &str,
    whole: &str,
    pattern: &mut String,
    directives: &mut Vec<char>,
) -> Result<(), Error> {
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if python::is_blank(c) {
            while chars.peek().is_some_and(|c| python::is_blank(*c)) {
                chars.next();
            }
            pattern.push_str(r"\s+");
            continue;
        }
        if c != '%' {
            pattern.push_str(&escape(&c.to_string()));
            continue;
        }
        let Some(letter) = chars.next() else {
            return Err(Error::value(format!("stray % in format {}", python::quoted(whole))));
        };
        match letter {
            '%' => pattern.push('%'),
            'c' => translate("%a %b %d %H:%M:%S %Y", whole, pattern, directives)?,
            'x' => translate("%m/%d/%y", whole, pattern, directives)?,
            'X' => translate("%H:%M:%S", whole, pattern, directives)?,
            letter => {
                let Some(part) = directive(letter) else {
                    return Err(Error::value(format!(
                        "{} is a bad directive in format {}",
                        python::quoted(&letter.to_string()),
                        python::quoted(whole)
                    )));
                };
                pattern.push('(');
                pattern.push_str(&part);
                pattern.push(')');
                directives.push(letter);
            }
        }
    }
    Ok(())
}

/// What a directive matches.
fn directive(letter: char) -> Option<String> {
    let short = |names: &[&str]| {
        names.iter().filter_map(|name| name.get(..3)).collect::<Vec<_>>().join("|")
    };
    Some(match letter {
        'a' => short(&WEEKDAYS),
        'A' => WEEKDAYS.join("|"),
        'b' => short(&MONTHS),
        'B' => MONTHS.join("|"),
        'd' => r"3[0-1]|[1-2]\d|0[1-9]|[1-9]| [1-9]".into(),
        'f' => r"[0-9]{1,6}".into(),
        'H' => r"2[0-3]|[0-1]\d|\d".into(),
        'I' => r"1[0-2]|0[1-9]|[1-9]".into(),
        'j' => r"36[0-6]|3[0-5]\d|[1-2]\d\d|0[1-9]\d|00[1-9]|[1-9]\d|0[1-9]|[1-9]".into(),
        'm' => r"1[0-2]|0[1-9]|[1-9]".into(),
        'M' => r"[0-5]\d|\d".into(),
        'p' => "am|pm".into(),
        'S' => r"6[0-1]|[0-5]\d|\d".into(),
        'w' => "[0-6]".into(),
        'y' => r"\d\d".into(),
        'Y' => r"\d\d\d\d".into(),
        'z' => r"[+-]\d\d:?[0-5]\d(?::?[0-5]\d(?:\.\d{1,6})?)?|Z".into(),
        'Z' => "utc|gmt".into(),
        _ => return None,
    })
}

/// The fields that were parsed so far.
struct Read {
    parts: DateParts,
    afternoon: Option<bool>,
    yearday: Option<i64>,
}

impl Default for Read {
    fn default() -> Self {
        let parts = DateParts {
            year: 1900,
            month: 1,
            day: 1,
            hour: 0,
            minute: 0,
            second: 0,
            microsecond: 0,
            offset: 0,
        };
        Read { parts, afternoon: None, yearday: None }
    }
}

impl Read {
    fn part(&mut self, letter: char, text: &str) -> Result<(), Error> {
        let plain = python::plain_number(text.trim()).unwrap_or_default();
        let number = || plain.parse::<i64>().unwrap_or(0);
        let name = |names: &[&str]| {
            let same = |name: &&str| {
                name.get(..3).zip(text.get(..3)).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b))
            };
            names.iter().position(same).unwrap_or(0) as i64
        };
        match letter {
            'b' | 'B' => self.parts.month = name(&MONTHS) + 1,
            'd' => self.parts.day = number(),
            'f' => self.parts.microsecond = format!("{text:0<6}").parse().unwrap_or(0),
            'H' | 'I' => self.parts.hour = number(),
            'j' => self.yearday = Some(number()),
            'm' => self.parts.month = number(),
            'M' => self.parts.minute = number(),
            'p' => self.afternoon = Some(text.eq_ignore_ascii_case("pm")),
            'S' => self.parts.second = number(),
            'y' => self.parts.year = number() + if number() < 69 { 2000 } else { 1900 },
            'Y' => self.parts.year = number(),
            'z' => self.parts.offset = offset(text),
            _ => {}
        }
        Ok(())
    }

    fn date(mut self) -> Result<Date, Error> {
        match self.afternoon {
            Some(true) if self.parts.hour < 12 => self.parts.hour += 12,
            Some(false) if self.parts.hour == 12 => self.parts.hour = 0,
            _ => {}
        }
        if let Some(yearday) = self.yearday
            && let Ok(first) = civil::Date::new(self.parts.year as i16, 1, 1)
            && let Ok(day) = first.checked_add(jiff::SignedDuration::from_hours(24 * (yearday - 1)))
        {
            (self.parts.month, self.parts.day) = (day.month().into(), day.day().into());
        }
        self.parts.date()
    }
}

/// Seconds of an offset like `+0200`.
fn offset(text: &str) -> i64 {
    let digits: Vec<i64> =
        text.chars().filter_map(python::decimal_digit).map(i64::from).take(6).collect();
    let two = |at: usize| {
        digits.get(at).copied().unwrap_or(0) * 10 + digits.get(at + 1).copied().unwrap_or(0)
    };
    let seconds = two(0) * 3600 + two(2) * 60 + two(4);
    if text.starts_with('-') { -seconds } else { seconds }
}
