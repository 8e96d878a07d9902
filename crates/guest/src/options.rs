//! Arguments of the tools: a table of flags, and what was given.

/// A flag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flag {
    /// Its long name.
    pub(crate) long: &'static str,
    /// Its short name.
    pub(crate) short: Option<char>,
    /// Whether a value stands behind it.
    pub(crate) takes: bool,
    /// What it is for.
    pub(crate) about: &'static str,
}

/// A flag with a value.
pub(crate) const fn value(long: &'static str, short: Option<char>, about: &'static str) -> Flag {
    Flag { long, short, takes: true, about }
}

/// A flag without.
pub(crate) const fn switch(long: &'static str, short: Option<char>, about: &'static str) -> Flag {
    Flag { long, short, takes: false, about }
}

/// What was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Given {
    flags: Vec<(String, String)>,
    /// What stands alone.
    pub(crate) rest: Vec<String>,
}

impl Given {
    /// The last value of a flag.
    pub(crate) fn get(&self, long: &str) -> Option<&str> {
        let found = self.flags.iter().rfind(|(name, _)| name == long);
        found.map(|(_, value)| value.as_str())
    }

    /// All values of a flag.
    pub(crate) fn all<'g>(&'g self, long: &'g str) -> impl Iterator<Item = &'g str> + use<'g> {
        self.flags.iter().filter(move |(name, _)| name == long).map(|(_, value)| value.as_str())
    }

    /// Whether a flag was given.
    pub(crate) fn has(&self, long: &str) -> bool {
        self.get(long).is_some()
    }

    /// All flags that were given.
    pub(crate) fn flags(&self) -> impl Iterator<Item = (&str, &str)> {
        self.flags.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Why arguments cannot be understood, or that somebody wants to know which there are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Help,
    Version,
    Wrong(String),
}

/// Reads arguments. `_` and `-` are alike in long names.
pub(crate) fn parse(flags: &[Flag], arguments: &[String]) -> Result<Given, Refused> {
    let mut given = Given::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            given.rest.extend(arguments.by_ref().cloned());
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
                    "help" => Refused::Help,
                    "version" => Refused::Version,
                    _ => Refused::Wrong(format!("no such option: --{name}")),
                });
            };
            let value = taken(flag, inline, &mut arguments)?;
            given.flags.push((flag.long.into(), value));
        } else if argument.len() > 1 && argument.starts_with('-') {
            short(flags, &argument[1..], &mut arguments, &mut given)?;
        } else {
            given.rest.push(argument.clone());
        }
    }
    Ok(given)
}

/// Short flags, several of which may be written together, with a value behind the last one.
fn short<'a>(
    flags: &[Flag],
    letters: &str,
    arguments: &mut impl Iterator<Item = &'a String>,
    given: &mut Given,
) -> Result<(), Refused> {
    for (at, letter) in letters.char_indices() {
        let Some(flag) = flags.iter().find(|flag| flag.short == Some(letter)) else {
            return Err(match letter {
                'h' => Refused::Help,
                _ => Refused::Wrong(format!("no such option: -{letter}")),
            });
        };
        let behind = &letters[at + letter.len_utf8()..];
        if flag.takes && !behind.is_empty() {
            let behind = behind.strip_prefix('=').unwrap_or(behind);
            given.flags.push((flag.long.into(), behind.to_owned()));
            return Ok(());
        }
        let value = taken(flag, None, arguments)?;
        given.flags.push((flag.long.into(), value));
    }
    Ok(())
}

fn taken<'a>(
    flag: &Flag,
    inline: Option<String>,
    arguments: &mut impl Iterator<Item = &'a String>,
) -> Result<String, Refused> {
    match (flag.takes, inline) {
        (true, Some(value)) => Ok(value),
        (true, None) => arguments
            .next()
            .cloned()
            .ok_or_else(|| Refused::Wrong(format!("--{} needs a value", flag.long))),
        (false, Some(_)) => Err(Refused::Wrong(format!("--{} takes no value", flag.long))),
        (false, None) => Ok("true".into()),
    }
}

/// What somebody is told who asks which flags there are.
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

    fn given(arguments: &[&str]) -> Result<Given, Refused> {
        parse(FLAGS, &arguments.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn flags_in_every_form() {
        for form in
            [&["--stack-name", "x"][..], &["--stack_name=x"], &["-s", "x"], &["-sx"], &["-fs=x"]]
        {
            assert_eq!(given(form).unwrap().get("stack-name"), Some("x"), "{form:?}");
        }
        let all = given(&["-fv", "url", "--", "-s"]).unwrap();
        assert!(all.has("force") && all.has("verbose"));
        assert_eq!(all.rest, ["url", "-s"]);
        assert_eq!(given(&["-s"]), Err(Refused::Wrong("--stack-name needs a value".into())));
        assert_eq!(given(&["--what"]), Err(Refused::Wrong("no such option: --what".into())));
        assert_eq!(given(&["-h"]), Err(Refused::Help));
    }
}
