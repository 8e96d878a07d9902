//! Parsing dates in common forms.
//!
//! Numbers and words are taken one after the other: a time is known by its colons, a month by its
//! name, and what numbers are left become year, month and day by their size and order.

use super::{Date, DateParts, MONTHS, WEEKDAYS};
use crate::error::{Error, ErrorKind};

/// Reads a date; parts that are missing come from `today`, and UTC stands in for a missing zone.
pub(super) fn parse(text: &str, today: Option<Date>) -> Result<Date, Error> {
    let tokens = tokens(text);
    let mut reader = DateParser { tokens: &tokens, at: 0, seen: DateFields::default() };
    while reader.at < tokens.len() {
        if reader.step().is_none() {
            return Err(Error::value(format!("Unknown string format: {text}")));
        }
    }
    let seen = reader.seen;
    if seen.is_empty() {
        return Err(Error::value(format!("String does not contain a date: {text}")));
    }
    let Some(day) = seen.day() else {
        return Err(Error::value(format!("Unknown string format: {text}")));
    };
    let complete = day.year.is_some() && day.month.is_some() && day.day.is_some();
    let today = match (complete, today) {
        (false, None) => return Err(ErrorKind::NoEnvironment("the current time").into()),
        (_, today) => today.map(|today| today.parts()),
    };
    let default = |known: Option<i64>, part: fn(&DateParts) -> i64| {
        known.unwrap_or_else(|| today.as_ref().map_or(1, part))
    };
    let parts = DateParts {
        year: default(day.year, |today| today.year),
        month: default(day.month, |today| today.month),
        day: default(day.day, |today| today.day),
        hour: seen.hour.unwrap_or(0),
        minute: seen.minute.unwrap_or(0),
        second: seen.second.unwrap_or(0),
        microsecond: seen.microsecond.unwrap_or(0),
        offset: seen.offset.unwrap_or(0),
    };
    parts.date().map_err(|error| Error::value(format!("{error}: {text}")))
}

#[derive(Debug, PartialEq)]
enum DateToken<'a> {
    /// Digits, perhaps with a fraction.
    Number(&'a str),
    Word(&'a str),
    Sign(char),
}

fn tokens(text: &str) -> Vec<DateToken<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
        let (token, length) = if first.is_ascii_digit() {
            let length = run(|c| c.is_ascii_digit());
            (Some(DateToken::Number(rest.get(..length).unwrap_or_default())), length)
        } else if first.is_alphabetic() {
            let length = run(char::is_alphabetic);
            (Some(DateToken::Word(rest.get(..length).unwrap_or_default())), length)
        } else if first.is_whitespace() {
            (None, first.len_utf8())
        } else {
            (Some(DateToken::Sign(first)), first.len_utf8())
        };
        tokens.extend(token);
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

#[derive(Default)]
struct DateFields {
    /// Numbers of the day with the number of their digits.
    numbers: Vec<(i64, usize)>,
    month: Option<i64>,
    /// How many numbers came before the month's name.
    before_month: usize,
    weekday: bool,
    hour: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
    microsecond: Option<i64>,
    offset: Option<i64>,
}

struct Day {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
}

impl DateFields {
    fn is_empty(&self) -> bool {
        self.numbers.is_empty() && self.month.is_none() && self.hour.is_none() && !self.weekday
    }

    /// Tells year, month and day apart.
    fn day(&self) -> Option<Day> {
        let year = |(number, digits): (i64, usize)| match digits {
            0..=2 => number + if number < 69 { 2000 } else { 1900 },
            _ => number,
        };
        let is_year = |(number, digits): (i64, usize)| digits > 2 || number > 31;
        let numbers = &self.numbers;
        let day = |year, month, day| Some(Day { year, month, day });
        match (self.month, numbers.as_slice()) {
            (None, []) => day(None, None, None),
            (month @ Some(_), []) => day(None, month, None),
            (month @ Some(_), &[one]) if is_year(one) => day(Some(year(one)), month, None),
            (month @ Some(_), &[one]) => day(None, month, Some(one.0)),
            (month @ Some(_), &[a, b]) if is_year(a) => day(Some(year(a)), month, Some(b.0)),
            (month @ Some(_), &[a, b]) => day(Some(year(b)), month, Some(a.0)),
            (None, &[one]) if is_year(one) => day(Some(year(one)), None, None),
            (None, &[one]) => day(None, None, Some(one.0)),
            (None, &[a, b]) if is_year(a) => day(Some(year(a)), Some(b.0), None),
            (None, &[a, b]) if is_year(b) => day(Some(year(b)), Some(a.0), None),
            (None, &[a, b]) if a.0 > 12 => day(None, Some(b.0), Some(a.0)),
            (None, &[a, b]) => day(None, Some(a.0), Some(b.0)),
            (None, &[a, b, c]) if is_year(a) => day(Some(year(a)), Some(b.0), Some(c.0)),
            (None, &[a, b, c]) if a.0 > 12 => day(Some(year(c)), Some(b.0), Some(a.0)),
            (None, &[a, b, c]) => day(Some(year(c)), Some(a.0), Some(b.0)),
            _ => None,
        }
    }
}

struct DateParser<'a> {
    tokens: &'a [DateToken<'a>],
    at: usize,
    seen: DateFields,
}

impl DateParser<'_> {
    fn peek(&self, ahead: usize) -> Option<&DateToken<'_>> {
        self.tokens.get(self.at + ahead)
    }

    fn number_at(&self, ahead: usize) -> Option<i64> {
        match self.peek(ahead) {
            Some(DateToken::Number(digits)) => digits.parse().ok(),
            _ => None,
        }
    }

    fn is_sign(&self, ahead: usize, sign: char) -> bool {
        self.peek(ahead) == Some(&DateToken::Sign(sign))
    }

    /// Takes what comes next; nothing if it makes no sense.
    fn step(&mut self) -> Option<()> {
        match self.peek(0)? {
            DateToken::Number(digits) => {
                let digits = (*digits).to_string();
                self.number(&digits)
            }
            DateToken::Word(word) => {
                let word = word.to_lowercase();
                self.word(&word)
            }
            DateToken::Sign(sign @ ('+' | '-')) => {
                let sign = *sign;
                if self.seen.hour.is_some() && self.seen.offset.is_none() {
                    return self.offset(sign);
                }
                self.at += 1;
                Some(())
            }
            DateToken::Sign('/' | '.' | ',' | ';' | ')' | '(') => {
                self.at += 1;
                Some(())
            }
            DateToken::Sign(_) => None,
        }
    }

    fn number(&mut self, digits: &str) -> Option<()> {
        if self.is_sign(1, ':') {
            return self.clock();
        }
        let part = |from: usize, to: usize| digits.get(from..to)?.parse::<i64>().ok();
        match digits.len() {
            // A date and perhaps a time without signs between the parts.
            8 | 12 | 14 if self.seen.numbers.is_empty() => {
                self.seen.numbers = vec![(part(0, 4)?, 4), (part(4, 6)?, 2), (part(6, 8)?, 2)];
                if digits.len() > 8 {
                    self.compact_clock(digits.get(8..)?)?;
                }
            }
            4 | 6 if self.seen.numbers.len() == 3 && self.seen.hour.is_none() => {
                self.compact_clock(digits)?;
                self.at += 1;
                self.fraction();
                return Some(());
            }
            1..=4 => {
                let number = (part(0, digits.len())?, digits.len());
                let next = match self.peek(1) {
                    Some(DateToken::Word(word)) => word.to_lowercase(),
                    _ => String::new(),
                };
                if matches!(next.as_str(), "am" | "pm") && self.seen.hour.is_none() {
                    self.seen.hour = Some(number.0);
                } else if self.seen.numbers.len() < 3 {
                    self.seen.numbers.push(number);
                } else {
                    return None;
                }
            }
            _ => return None,
        }
        self.at += 1;
        Some(())
    }

    fn compact_clock(&mut self, digits: &str) -> Option<()> {
        let part = |from: usize, to: usize| digits.get(from..to).and_then(|d| d.parse().ok());
        self.seen.hour = Some(part(0, 2)?);
        self.seen.minute = Some(part(2, 4)?);
        self.seen.second = part(4, 6);
        Some(())
    }

    /// Takes a time with colons.
    fn clock(&mut self) -> Option<()> {
        self.seen.hour = Some(self.number_at(0)?);
        self.seen.minute = Some(self.number_at(2)?);
        self.at += 3;
        if self.is_sign(0, ':') {
            self.seen.second = Some(self.number_at(1)?);
            self.at += 2;
            self.fraction();
        }
        Some(())
    }

    /// Takes a fraction of the second, if one follows.
    fn fraction(&mut self) {
        if (self.is_sign(0, '.') || self.is_sign(0, ','))
            && let Some(DateToken::Number(digits)) = self.peek(1)
        {
            let digits: String = digits.chars().take(6).collect();
            self.seen.microsecond = format!("{digits:0<6}").parse().ok();
            self.at += 2;
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let named = |names: &[&str]| {
            let same = |name: &&str| {
                let name = name.to_lowercase();
                name == word
                    || word.len() >= 3 && name.get(..3) == Some(word)
                    || word == "sept" && name == "september"
            };
            names.iter().position(same)
        };
        if let Some(month) = named(&MONTHS) {
            self.seen.month = Some(month as i64 + 1);
            self.seen.before_month = self.seen.numbers.len();
        } else if named(&WEEKDAYS).is_some() {
            self.seen.weekday = true;
        } else {
            match (word, self.seen.hour) {
                ("am" | "a", Some(hour)) if hour <= 12 => self.seen.hour = Some(hour % 12),
                ("pm" | "p", Some(hour)) if hour <= 12 => self.seen.hour = Some(hour % 12 + 12),
                ("t" | "at" | "on" | "and" | "of" | "st" | "nd" | "rd" | "th", _) => {}
                ("z" | "utc" | "gmt", Some(_)) => self.seen.offset = Some(0),
                _ => return None,
            }
        }
        self.at += 1;
        Some(())
    }

    /// Takes an offset like `+02:00`, `+0200` or `+02`.
    fn offset(&mut self, sign: char) -> Option<()> {
        let Some(DateToken::Number(digits)) = self.peek(1) else {
            return None;
        };
        let (hours, minutes, used) = match digits.len() {
            4 => (digits.get(..2)?.parse().ok()?, digits.get(2..)?.parse().ok()?, 2),
            1 | 2 if self.is_sign(2, ':') => (self.number_at(1)?, self.number_at(3)?, 4),
            1 | 2 => (self.number_at(1)?, 0, 2),
            _ => return None,
        };
        let seconds: i64 = hours * 3600 + minutes * 60;
        self.seen.offset = Some(if sign == '-' { -seconds } else { seconds });
        self.at += used;
        Some(())
    }
}
