//! Command-line arguments: a table of flags, and a parser.

/// A flag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flag {
    /// The long name.
    pub(crate) long: &'static str,
    /// The short name.
    pub(crate) short: Option<char>,
    /// Whether the flag takes a value.
    pub(crate) takes: bool,
    /// The help text.
    pub(crate) about: &'static str,
}

/// Returns a flag with a value.
pub(crate) const fn value(long: &'static str, short: Option<char>, about: &'static str) -> Flag {
    Flag { long, short, takes: true, about }
}

/// Returns a flag without a value.
pub(crate) const fn switch(long: &'static str, short: Option<char>, about: &'static str) -> Flag {
    Flag { long, short, takes: false, about }
}

/// The parsed arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Args {
    flags: Vec<(String, String)>,
    /// The positional arguments.
    pub(crate) rest: Vec<String>,
}

impl Args {
    /// Returns the last value of a flag.
    pub(crate) fn get(&self, long: &str) -> Option<&str> {
        let found = self.flags.iter().rfind(|(name, _)| name == long);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns all values of a flag.
    pub(crate) fn all<'g>(&'g self, long: &'g str) -> impl Iterator<Item = &'g str> + use<'g> {
        self.flags.iter().filter(move |(name, _)| name == long).map(|(_, value)| value.as_str())
    }

    /// Reports whether a flag is present.
    pub(crate) fn has(&self, long: &str) -> bool {
        self.get(long).is_some()
    }

    /// Returns all flags that are present.
    pub(crate) fn flags(&self) -> impl Iterator<Item = (&str, &str)> {
        self.flags.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// The reason why the arguments are not parsed: an error, or a request for help.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ParseError {
    Help,
    Version,
    Invalid(String),
}

/// Parses arguments. `_` and `-` are equivalent in long names.
pub(crate) fn parse(flags: &[Flag], arguments: &[String]) -> Result<Args, ParseError> {
    let mut args = Args::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            args.rest.extend(arguments.by_ref().cloned());
            break;
        }
        if let Some(long) = argument.strip_prefix("--") {
            let (name, inline) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            let name = name.replace('_', "-");
            let Some(flag) = flags.iter().find(|flag| flag.long == name) else {
                return Err(match name.as_str() {
                    "help" => ParseError::Help,
                    "version" => ParseError::Version,
                    _ => ParseError::Invalid(format!("no such option: --{name}")),
                });
            };
            let value = take_value(flag, inline, &mut arguments)?;
            args.flags.push((flag.long.into(), value));
        } else if argument.len() > 1 && argument.starts_with('-') {
            short(flags, &argument[1..], &mut arguments, &mut args)?;
        } else {
            args.rest.push(argument.clone());
        }
    }
    Ok(args)
}

/// Parses short flags; several may be combined, with a value after the last one.
fn short<'a>(
    flags: &[Flag],
    letters: &str,
    arguments: &mut impl Iterator<Item = &'a String>,
    args: &mut Args,
) -> Result<(), ParseError> {
    for (at, letter) in letters.char_indices() {
        let Some(flag) = flags.iter().find(|flag| flag.short == Some(letter)) else {
            return Err(match letter {
                'h' => ParseError::Help,
                _ => ParseError::Invalid(format!("no such option: -{letter}")),
            });
        };
        let value = &letters[at + letter.len_utf8()..];
        if flag.takes && !value.is_empty() {
            let value = value.strip_prefix('=').unwrap_or(value);
            args.flags.push((flag.long.into(), value.to_owned()));
            return Ok(());
        }
        let value = take_value(flag, None, arguments)?;
        args.flags.push((flag.long.into(), value));
    }
    Ok(())
}

fn take_value<'a>(
    flag: &Flag,
    inline: Option<String>,
    arguments: &mut impl Iterator<Item = &'a String>,
) -> Result<String, ParseError> {
    match (flag.takes, inline) {
        (true, Some(value)) => Ok(value),
        (true, None) => arguments
            .next()
            .cloned()
            .ok_or_else(|| ParseError::Invalid(format!("--{} needs a value", flag.long))),
        (false, Some(_)) => Err(ParseError::Invalid(format!("--{} takes no value", flag.long))),
        (false, None) => Ok("true".into()),
    }
}

/// Formats the help text.
pub(crate) fn help(usage: &str, flags: &[Flag]) -> String {
    let mut text = format!("Usage: {usage}\n");
    for flag in flags {
        let short = flag.short.map_or("    ".into(), |short| format!("-{short}, "));
        let value = if flag.takes { " VALUE" } else { "" };
        text.push_str(&format!("  {short}--{}{value}\n        {}\n", flag.long, flag.about));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: &[Flag] = &[
        value("stack-name", Some('s'), ""),
        switch("force", Some('f'), ""),
        switch("verbose", Some('v'), ""),
    ];

    fn args(arguments: &[&str]) -> Result<Args, ParseError> {
        parse(FLAGS, &arguments.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn flags_in_every_form() {
        for form in
            [&["--stack-name", "x"][..], &["--stack_name=x"], &["-s", "x"], &["-sx"], &["-fs=x"]]
        {
            assert_eq!(args(form).unwrap().get("stack-name"), Some("x"), "{form:?}");
        }
        let all = args(&["-fv", "url", "--", "-s"]).unwrap();
        assert!(all.has("force") && all.has("verbose"));
        assert_eq!(all.rest, ["url", "-s"]);
        assert_eq!(args(&["-s"]), Err(ParseError::Invalid("--stack-name needs a value".into())));
        assert_eq!(args(&["--what"]), Err(ParseError::Invalid("no such option: --what".into())));
        assert_eq!(args(&["-h"]), Err(ParseError::Help));
    }
}
