//! Cron expressions: five to seven columns, as croniter, Heat's scheduler, reads them.

use indexmap::IndexMap;
use std::collections::BTreeSet;

/// Whether a text is a cron expression; if not, why.
pub(super) fn check(text: &str) -> Result<(), String> {
    let lower = text.to_lowercase();
    let lower = SHORTHANDS.iter().find(|(name, _)| *name == lower).map_or(&*lower, |(_, is)| is);
    let columns: Vec<&str> = lower.split_whitespace().collect();
    if !(5..=7).contains(&columns.len()) {
        let text = "Exactly 5, 6 or 7 columns has to be specified for iterator expression.";
        return Err(text.to_owned());
    }
    let joined = columns.join(" ");
    let mut weekdays = Weekdays::default();
    for (at, (column, field)) in columns.iter().zip(FIELDS).enumerate() {
        let reader = Column { field, at, count: columns.len(), text, joined: &joined };
        reader.check(column, &mut weekdays)?;
    }
    weekdays.mixed(text)
}

const SHORTHANDS: &[(&str, &str)] = &[
    ("@annually", "0 0 1 1 *"),
    ("@daily", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
    ("@midnight", "0 0 * * *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@yearly", "0 0 1 1 *"),
];

/// What a column may hold.
struct CronField {
    low: u64,
    high: u64,
    /// The bounds as they would be written.
    bounds: (&'static str, &'static str),
    names: &'static [(&'static str, u64)],
    /// A number, which one it stands for, and in expressions of how many columns it does.
    alias: Option<(u64, u64, usize)>,
}

const fn field(low: u64, high: u64, bounds: (&'static str, &'static str)) -> CronField {
    CronField { low, high, bounds, names: &[], alias: None }
}

const DAY: usize = 2;
const WEEKDAY: usize = 4;

/// Minute, hour, day, month, weekday, second, year.
const FIELDS: &[CronField] = &[
    field(0, 59, ("0", "59")),
    field(0, 23, ("0", "23")),
    CronField { alias: Some((0, 1, 6)), ..field(1, 31, ("1", "31")) },
    CronField { names: MONTHS, ..field(1, 12, ("1", "12")) },
    CronField { names: WEEKDAYS, alias: Some((7, 0, 5)), ..field(0, 6, ("0", "6")) },
    field(0, 59, ("0", "59")),
    field(1970, 2099, ("1970", "2099")),
];

const MONTHS: &[(&str, u64)] = &[
    ("jan", 1),
    ("feb", 2),
    ("mar", 3),
    ("apr", 4),
    ("may", 5),
    ("jun", 6),
    ("jul", 7),
    ("aug", 8),
    ("sep", 9),
    ("oct", 10),
    ("nov", 11),
    ("dec", 12),
];

const WEEKDAYS: &[(&str, u64)] =
    &[("sun", 0), ("mon", 1), ("tue", 2), ("wed", 3), ("thu", 4), ("fri", 5), ("sat", 6)];

/// One column and what errors need to know of the others.
struct Column<'a> {
    field: &'a CronField,
    at: usize,
    count: usize,
    /// The expression as written.
    text: &'a str,
    /// The expression in lower case with single blanks.
    joined: &'a str,
}

/// Which weekdays a column names plainly, and which by their number within the month.
#[derive(Default)]
struct Weekdays {
    plain: BTreeSet<u64>,
    all: bool,
    numbered: IndexMap<u64, BTreeSet<String>>,
}

impl Column<'_> {
    fn check(&self, column: &str, weekdays: &mut Weekdays) -> Result<(), String> {
        let column = self.drawn(column)?;
        if column.contains('?') {
            return self.question_mark(&column);
        }
        let items: Vec<&str> = column.split(',').collect();
        // Items are judged from the last to the first.
        for item in items.iter().rev() {
            match nearest_weekday(item).filter(|_| self.at == DAY) {
                Some(day) => self.nearest_weekday(day, items.len())?,
                None => self.item(item, weekdays)?,
            }
        }
        Ok(())
    }

    /// A column drawn at random (`r`) as one of the values it may come to.
    fn drawn(&self, column: &str) -> Result<String, String> {
        let Some(drawn) = Drawn::read(column) else {
            return Ok(column.to_owned());
        };
        if drawn.hashed {
            return Err("Hashed definitions must include hash_id".to_owned());
        }
        if drawn.range.is_some_and(|(from, to)| from >= to) {
            return Err("Range end must be greater than range begin".to_owned());
        }
        if drawn.step == Some(0) {
            return Err(format!("Bad expression: {column}"));
        }
        let (from, to) = drawn.range.unwrap_or((self.field.low, self.field.high));
        Ok(match drawn.step {
            Some(step) => format!("{from}-{to}/{step}"),
            None => from.to_string(),
        })
    }

    fn question_mark(&self, column: &str) -> Result<(), String> {
        let text = self.text;
        if column != "?" {
            return Err(format!(
                "[{text}] is not acceptable. Question mark can not used with other characters"
            ));
        }
        if !matches!(self.at, DAY | WEEKDAY) {
            return Err(format!(
                "[{text}] is not acceptable. Question mark can only used in day_of_month or \
                 day_of_week"
            ));
        }
        Ok(())
    }

    fn nearest_weekday(&self, day: u64, items: usize) -> Result<(), String> {
        let text = self.text;
        if !(1..=31).contains(&day) {
            return Err(format!(
                "[{text}] is not acceptable, nearest weekday day value '{day}' out of range"
            ));
        }
        if items > 1 {
            return Err(format!(
                "[{text}] is not acceptable. 'W' can only be used with a single day value, not in \
                 a list or range"
            ));
        }
        Ok(())
    }

    /// A value, a range, or all.
    fn item(&self, item: &str, weekdays: &mut Weekdays) -> Result<(), String> {
        let (item, number) = if self.at == WEEKDAY { self.numbered(item)? } else { (item, None) };
        match Range::read(item, self.field) {
            Some(range) => self.range(&range, number, weekdays),
            None => self.value(item, number, weekdays),
        }
    }

    /// A weekday with its number within the month: `2#3` the third, `l5` the last.
    fn numbered<'t>(&self, item: &'t str) -> Result<(&'t str, Option<String>), String> {
        if let Some((day, number)) = item.split_once('#') {
            if !is_digits(number) || !is_word_or_names(day) {
                return Ok((item, None));
            }
            let number = number.trim_start_matches('0');
            if !matches!(number, "1" | "2" | "3" | "4" | "5") {
                let number = if number.is_empty() { "0" } else { number };
                return Err(format!(
                    "[{}] is not acceptable. Invalid day_of_week value: '{number}'",
                    self.text
                ));
            }
            return Ok((day, Some(number.to_string())));
        }
        match item.strip_prefix('l') {
            Some(day) if is_digits(day) => Ok((day, Some("'l'".to_owned()))),
            _ => Ok((item, None)),
        }
    }

    fn range(
        &self,
        range: &Range<'_>,
        number: Option<String>,
        weekdays: &mut Weekdays,
    ) -> Result<(), String> {
        let text = self.text;
        let high = if self.at == DAY && range.high == "l" { "31" } else { range.high };
        let (low, high) = (self.named(range.low)?, self.named(high)?);
        if range.step == 0 {
            return Err(format!("[{text}] step '0' in field {} is not acceptable", self.at));
        }
        let (Some(low), Some(high)) = (low, high) else {
            let show = |bound: Option<u64>| bound.map_or("l".to_owned(), |bound| bound.to_string());
            return Err(format!(
                "[{text}] bands '{}-{}' in field {} are not acceptable",
                show(low),
                show(high),
                self.at
            ));
        };
        let (low, high) = (self.aliased(low), self.aliased(high));
        if low.max(high) > self.field.high {
            return Err(format!("{text} is out of bands"));
        }
        if low != high && low < self.field.low {
            return Err(self.out_of_range());
        }
        for day in 0..=6 {
            let within = if low < high { (low..=high).contains(&day) } else { low == high };
            let wrapped = low > high && (day >= low || day <= high);
            if self.at == WEEKDAY && (within || wrapped) {
                weekdays.add(day, number.as_deref());
            }
        }
        Ok(())
    }

    fn value(
        &self,
        item: &str,
        number: Option<String>,
        weekdays: &mut Weekdays,
    ) -> Result<(), String> {
        if item.starts_with('-') {
            let text = self.text;
            return Err(format!("[{text}] is not acceptable, negative numbers not allowed"));
        }
        if item == "*" {
            weekdays.all |= self.at == WEEKDAY;
            return Ok(());
        }
        let Some(value) = self.named(item)? else {
            return Ok(());
        };
        let value = self.aliased(value);
        if !(self.field.low..=self.field.high).contains(&value) {
            return Err(self.out_of_range());
        }
        if self.at == WEEKDAY {
            weekdays.add(value, number.as_deref());
        }
        Ok(())
    }

    /// A number or the name of one; nothing for the last day of the month.
    fn named(&self, item: &str) -> Result<Option<u64>, String> {
        if is_digits(item) {
            return Ok(Some(item.parse().unwrap_or(u64::MAX)));
        }
        if self.at == DAY && item == "l" {
            return Ok(None);
        }
        let name = self.field.names.iter().find(|(name, _)| *name == item);
        let error = || format!("[{}] is not acceptable", self.joined);
        name.map(|(_, value)| Some(*value)).ok_or_else(error)
    }

    fn aliased(&self, value: u64) -> u64 {
        match self.field.alias {
            Some((from, to, count)) if value == from && count == self.count => to,
            _ => value,
        }
    }

    fn out_of_range(&self) -> String {
        format!("[{}] is not acceptable, out of range", self.text)
    }
}

impl Weekdays {
    /// Rejects weekdays of both sorts, plain and numbered, short of the whole week.
    fn mixed(&self, text: &str) -> Result<(), String> {
        let plain = self.plain.iter().filter(|day| !self.numbered.contains_key(*day));
        let plain: Vec<String> = plain.map(u64::to_string).collect();
        let named = self.plain.iter().chain(self.numbered.keys()).collect::<BTreeSet<_>>();
        let whole_week = named.len() + usize::from(self.all) == 7;
        if self.numbered.is_empty() || plain.is_empty() || whole_week {
            return Ok(());
        }
        let numbered = self.numbered.iter().map(|(day, numbers)| {
            let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
            format!("{day}: {{{}}}", numbers.join(", "))
        });
        let numbered: Vec<String> = numbered.collect();
        Err(format!(
            "day-of-week field does not support mixing literal values and nth day of week syntax.  \
             Cron: '{}'    dow={{{}}} vs nth={{{}}}",
            text,
            plain.join(", "),
            numbered.join(", ")
        ))
    }

    fn add(&mut self, day: u64, number: Option<&str>) {
        match number {
            None => _ = self.plain.insert(day),
            Some(number) => {
                self.numbered.entry(day).or_default().insert(number.to_owned());
            }
        }
    }
}

/// A range with its step: `1-5`, `1-5/2`, and for short `*/2` and `1/2`.
struct Range<'a> {
    low: &'a str,
    high: &'a str,
    step: u64,
}

impl<'a> Range<'a> {
    fn read(item: &'a str, field: &CronField) -> Option<Range<'a>> {
        let (range, step) = match item.rsplit_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (item, None),
        };
        let step = match step {
            None => 1,
            Some(step) if is_digits(step) => step.parse().unwrap_or(u64::MAX),
            Some(_) => return None,
        };
        let (first, last) = field.bounds;
        let (low, high) = match range.split_once('-') {
            Some((low, high)) => (low, high),
            None if item.contains('/') && range == "*" => (first, last),
            None if item.contains('/') => (range, last),
            None => return None,
        };
        let is_bound = |bound: &str| !bound.is_empty() && !bound.contains(['-']);
        let fits = is_bound(low) && is_bound(high) && !high.contains('/');
        fits.then_some(Range { low, high, step })
    }
}

/// A column whose value is drawn: `r`, `r(10-20)`, `r/5`, `r(10-20)/5`; `h` draws by a hash.
struct Drawn {
    hashed: bool,
    range: Option<(u64, u64)>,
    step: Option<u64>,
}

impl Drawn {
    fn read(column: &str) -> Option<Drawn> {
        let number = |text: &str| is_digits(text).then(|| text.parse().unwrap_or(u64::MAX));
        let (head, step) = match column.split_once('/') {
            Some((head, step)) => (head, Some(number(step)?)),
            None => (column, None),
        };
        let hashed = head.starts_with('h');
        let range = head.strip_prefix(['h', 'r'])?;
        let range = match range.strip_prefix('(').and_then(|range| range.strip_suffix(')')) {
            Some(range) => {
                let (from, to) = range.split_once('-')?;
                Some((number(from)?, number(to)?))
            }
            None if range.is_empty() => None,
            None => return None,
        };
        Some(Drawn { hashed, range, step })
    }
}

/// The day of `15w` or `w15`: the weekday nearest to it.
fn nearest_weekday(item: &str) -> Option<u64> {
    let digits = item.strip_suffix('w').or_else(|| item.strip_prefix('w'))?;
    is_digits(digits).then(|| digits.parse().unwrap_or(u64::MAX))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// One word, or a range between two names of days or of months.
fn is_word_or_names(text: &str) -> bool {
    let is_word =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    match text.split_once('-') {
        None => is_word(text),
        Some((from, to)) => [WEEKDAYS, MONTHS].iter().any(|names| {
            [from, to].iter().all(|name| names.iter().any(|(known, _)| known == name))
        }),
    }
}
