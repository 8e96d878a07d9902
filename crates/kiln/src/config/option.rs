//! One row of the table of options: its names, type, default, range, help, and the field that it sets.
//!
//! A row owns the field that its value goes to, so an option cannot be documented without having an effect. Fields are
//! private to the configuration and have no other writer, so an option cannot be read without being documented; a field
//! that no code reads is reported by the compiler.

use super::options::OptionValues;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The section and the name of an option.
pub(crate) type OptionKey = (&'static str, &'static str);

/// A row of the table.
pub(crate) struct OptionRow {
    /// The section of the file.
    pub(crate) section: &'static str,
    /// The name within the section.
    pub(crate) name: &'static str,
    /// Older names, in the order in which they are tried.
    pub(crate) deprecated: &'static [OptionKey],
    /// One sentence for operators.
    pub(crate) help: &'static str,
    /// The type and default of the value, and the field that it sets.
    pub(crate) setting: Setting,
}

/// A field of the options.
type OptionField<T> = fn(&mut OptionValues) -> &mut T;

/// The type and default of an option, and the field that it sets.
pub(crate) enum Setting {
    /// True or false.
    Flag(bool, OptionField<bool>),
    /// True or false, or neither.
    MaybeFlag(OptionField<Option<bool>>),
    /// A whole number in a range.
    Number { default: u64, min: u64, max: u64, field: OptionField<u64> },
    /// A time in seconds, at least one.
    Seconds(u64, OptionField<Duration>),
    /// A number of which -1 means that there is no limit.
    Limit(Option<u64>, OptionField<Option<u64>>),
    /// A TCP port; without one, there is no such socket.
    Port(Option<u16>, OptionField<Option<u16>>),
    /// Text with a default.
    Text(&'static str, OptionField<String>),
    /// Text without a default.
    MaybeText(OptionField<Option<String>>),
    /// Text that must not be shown.
    Password(OptionField<Option<String>>),
    /// A URL, which may contain a password.
    Url(Option<&'static str>, OptionField<Option<String>>),
    /// The path of a file.
    File(Option<&'static str>, OptionField<Option<PathBuf>>),
    /// Words separated by commas.
    List(&'static [&'static str], OptionField<Vec<String>>),
    /// Values of an option that may be repeated.
    Repeated(&'static [&'static str], OptionField<Vec<String>>),
    /// One of several words, in any case.
    Choice(&'static str, &'static [&'static str], OptionField<String>),
}

impl OptionRow {
    /// A row without older names.
    pub(super) const fn new(
        section: &'static str,
        name: &'static str,
        help: &'static str,
        setting: Setting,
    ) -> OptionRow {
        OptionRow { section, name, deprecated: &[], help, setting }
    }

    /// The same with older names.
    pub(super) const fn formerly(self, deprecated: &'static [OptionKey]) -> OptionRow {
        OptionRow { deprecated, ..self }
    }

    /// All names, the current one first.
    pub(crate) fn keys(&self) -> impl Iterator<Item = OptionKey> {
        [(self.section, self.name)].into_iter().chain(self.deprecated.iter().copied())
    }
}

impl Setting {
    /// The name of the type.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Setting::Flag(..) | Setting::MaybeFlag(_) => "boolean",
            Setting::Number { .. } | Setting::Limit(..) => "integer",
            Setting::Seconds(..) => "seconds",
            Setting::Port(..) => "port",
            Setting::Text(..) | Setting::MaybeText(_) => "string",
            Setting::Password(_) => "secret",
            Setting::Url(..) => "URL",
            Setting::File(..) => "path",
            Setting::List(..) => "list",
            Setting::Repeated(..) => "multi-valued",
            Setting::Choice(..) => "choice",
        }
    }

    /// The permitted values, if the type permits more than it should.
    pub(crate) fn range(&self) -> Option<String> {
        match self {
            Setting::Number { min, max: u64::MAX, .. } => Some(format!("{min} or more")),
            Setting::Number { min, max, .. } => Some(format!("{min} to {max}")),
            Setting::Seconds(..) => Some("1 or more".to_owned()),
            Setting::Limit(..) => Some("-1 or more".to_owned()),
            Setting::Port(..) => Some("0 to 65535".to_owned()),
            Setting::Choice(_, choices, _) => {
                let choices = choices.iter().filter(|choice| !choice.is_empty());
                Some(choices.copied().collect::<Vec<_>>().join(", "))
            }
            _ => None,
        }
    }

    /// The default as it would stand in a file; empty if there is none.
    pub(crate) fn default(&self) -> String {
        match self {
            Setting::Flag(default, _) => default.to_string(),
            Setting::Number { default, .. } | Setting::Seconds(default, _) => default.to_string(),
            Setting::Limit(default, _) => default.map_or("-1".to_owned(), |it| it.to_string()),
            Setting::Port(default, _) => default.map(|it| it.to_string()).unwrap_or_default(),
            Setting::Text(default, _) | Setting::Choice(default, ..) => (*default).to_owned(),
            Setting::Url(default, _) | Setting::File(default, _) => {
                default.unwrap_or_default().to_owned()
            }
            Setting::List(default, _) | Setting::Repeated(default, _) => default.join(","),
            Setting::MaybeText(_) | Setting::Password(_) | Setting::MaybeFlag(_) => String::new(),
        }
    }

    /// A value of this option as it may be shown.
    pub(crate) fn shown(&self, value: &str) -> String {
        match self {
            Setting::Password(_) if !value.is_empty() => "***".to_owned(),
            Setting::Url(..) => masked(value),
            _ => value.to_owned(),
        }
    }

    /// Sets the field from the values in a file, or to its default if there are none.
    pub(super) fn apply(&self, options: &mut OptionValues, values: &[String]) -> Result<(), Unfit> {
        let text = values.last().map(|value| value.trim()).filter(|value| !value.is_empty());
        let any = values.last().map(|value| value.trim());
        match self {
            Setting::Flag(default, field) => {
                *field(options) = any.map_or(Ok(*default), flag)?;
            }
            Setting::MaybeFlag(field) => *field(options) = text.map(flag).transpose()?,
            Setting::Number { default, min, max, field } => {
                *field(options) = any.map_or(Ok(*default), |text| number(text, *min, *max))?;
            }
            Setting::Seconds(default, field) => {
                let seconds = any.map_or(Ok(*default), |text| number(text, 1, u64::MAX))?;
                *field(options) = Duration::from_secs(seconds);
            }
            Setting::Limit(default, field) => {
                *field(options) = any.map_or(Ok(*default), limit)?;
            }
            Setting::Port(default, field) => {
                *field(options) = text.map_or(Ok(*default), |text| port(text).map(Some))?;
            }
            Setting::Text(default, field) => *field(options) = text.unwrap_or(default).to_owned(),
            Setting::MaybeText(field) | Setting::Password(field) => {
                *field(options) = text.map(str::to_owned);
            }
            Setting::Url(default, field) => *field(options) = text.or(*default).map(str::to_owned),
            Setting::File(default, field) => *field(options) = text.or(*default).map(PathBuf::from),
            Setting::List(default, field) => *field(options) = list(text, default),
            Setting::Repeated(default, field) => {
                let given = values.iter().map(|value| value.trim().to_owned());
                *field(options) = match values {
                    [] => default.iter().map(|value| (*value).to_owned()).collect(),
                    _ => given.collect(),
                };
            }
            Setting::Choice(default, choices, field) => {
                *field(options) = choice(text.unwrap_or(default), choices)?.to_owned();
            }
        }
        Ok(())
    }
}

/// Why a value does not fit its option.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// The value is not of the type, which is this.
    Type(&'static str),
    /// The value is of the type, but not permitted.
    Range(String),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Type(name) => f.write_str(name),
            Unfit::Range(range) => f.write_str(range),
        }
    }
}

fn flag(text: &str) -> Result<bool, Unfit> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "on" | "yes" => Ok(true),
        "false" | "0" | "off" | "no" => Ok(false),
        _ => Err(Unfit::Type("true or false")),
    }
}

fn number(text: &str, min: u64, max: u64) -> Result<u64, Unfit> {
    let number: i64 = text.parse().map_err(|_| Unfit::Type("a whole number"))?;
    let fits = u64::try_from(number).ok().filter(|number| (min..=max).contains(number));
    fits.ok_or_else(|| {
        Unfit::Range(match max {
            u64::MAX => format!("{min} or more"),
            max => format!("between {min} and {max}"),
        })
    })
}

fn limit(text: &str) -> Result<Option<u64>, Unfit> {
    match text.parse::<i64>() {
        Ok(-1) => Ok(None),
        Ok(number) => match u64::try_from(number) {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(Unfit::Range("-1 or more".to_owned())),
        },
        Err(_) => Err(Unfit::Type("a whole number")),
    }
}

fn port(text: &str) -> Result<u16, Unfit> {
    let port = number(text, 0, u64::from(u16::MAX))?;
    Ok(u16::try_from(port).unwrap_or(u16::MAX))
}

fn list(text: Option<&str>, default: &[&str]) -> Vec<String> {
    let words = text.unwrap_or_default().split([',', '\n']).map(str::trim);
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
    if words.is_empty() { default.iter().map(|word| (*word).to_owned()).collect() } else { words }
}

fn choice(text: &str, choices: &[&'static str]) -> Result<&'static str, Unfit> {
    let found = choices.iter().find(|choice| choice.eq_ignore_ascii_case(text));
    found.copied().ok_or_else(|| {
        let known: Vec<&str> = choices.iter().copied().filter(|it| !it.is_empty()).collect();
        Unfit::Range(format!("one of {}", known.join(", ")))
    })
}

/// A URL with stars instead of its passwords.
fn masked(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let hosts = rest.split(',').map(|host| match host.rsplit_once('@') {
        Some((login, host)) => {
            let user = login.split(':').next().unwrap_or_default();
            format!("{user}:***@{host}")
        }
        None => host.to_owned(),
    });
    format!("{scheme}://{}", hosts.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_urls_are_starred() {
        assert_eq!(masked("rabbit://u:p@a:1,v:q@b:2/v"), "rabbit://u:***@a:1,v:***@b:2/v");
        assert_eq!(masked("mysql+pymysql://u:p@ss@h/heat"), "mysql+pymysql://u:***@h/heat");
        assert_eq!(masked("sqlite:///kiln.db"), "sqlite:///kiln.db");
    }

    #[test]
    fn values_out_of_range_say_what_is_permitted() {
        assert_eq!(number("0", 1, u64::MAX), Err(Unfit::Range("1 or more".into())));
        assert_eq!(number("x", 1, 2), Err(Unfit::Type("a whole number")));
        assert_eq!(port("70000"), Err(Unfit::Range("between 0 and 65535".into())));
        assert_eq!(limit("-2"), Err(Unfit::Range("-1 or more".into())));
        assert_eq!(limit("-1"), Ok(None));
        assert_eq!(choice("INFO", &["info"]), Ok("info"));
        assert_eq!(choice("x", &["", "a", "b"]), Err(Unfit::Range("one of a, b".into())));
    }
}
