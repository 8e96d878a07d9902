//! Files in the manner of oslo.config: sections, options, values that go on in the next line, and values
//! that name other options.

use indexmap::IndexMap;
use std::fmt;

/// What files say: sections of options, each with all values that were given to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ini {
    sections: IndexMap<String, IndexMap<String, Vec<IniValue>>>,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IniValue {
    pub(crate) value: String,
    pub(crate) origin: Origin,
}

/// A line of one of the files, which are counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) file: usize,
    pub(crate) line: usize,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IniError {
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl fmt::Display for IniError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// How deep values may name each other.
const DEEPEST: usize = 10;

impl Ini {
    /// Reads a file.
    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Result<Ini, IniError> {
        let mut ini = Ini::default();
        ini.read(0, text).map(|()| ini)
    }

    /// Reads one more file. Its values come after those of the files before it.
    pub(crate) fn read(&mut self, file: usize, text: &str) -> Result<(), IniError> {
        let ini = self;
        let mut section: Option<String> = None;
        let mut option: Option<String> = None;
        for (line, written) in (1..).zip(text.lines()) {
            let problem = |message: &str| IniError { line, message: message.to_owned() };
            let trimmed = written.trim();
            if trimmed.is_empty() {
                option = None;
                continue;
            }
            if trimmed.starts_with(['#', ';']) {
                continue;
            }
            if written.starts_with([' ', '\t']) {
                let (Some(section), Some(option)) = (&section, &option) else {
                    return Err(problem("a continuation line without an option before it"));
                };
                let values = ini.sections.get_mut(section).and_then(|it| it.get_mut(option));
                if let Some(last) = values.and_then(|values| values.last_mut()) {
                    last.value.push('\n');
                    last.value.push_str(trimmed);
                }
                continue;
            }
            if let Some(rest) = trimmed.strip_prefix('[') {
                let Some(name) = rest.strip_suffix(']') else {
                    return Err(problem("a section without a closing bracket"));
                };
                ini.sections.entry(name.to_owned()).or_default();
                (section, option) = (Some(name.to_owned()), None);
                continue;
            }
            let Some(section) = &section else {
                return Err(problem("an option before the first section"));
            };
            let Some((name, value)) = trimmed.split_once(['=', ':']) else {
                return Err(problem("neither a section nor an option with `=`"));
            };
            let name = name.trim().replace('-', "_");
            let value = unquoted(value.trim()).to_owned();
            let options = ini.sections.entry(section.clone()).or_default();
            options
                .entry(name.clone())
                .or_default()
                .push(IniValue { value, origin: Origin { file, line } });
            option = Some(name);
        }
        Ok(())
    }

    /// The last value of an option, with what it names put in.
    pub(crate) fn get(&self, section: &str, option: &str) -> Option<IniValue> {
        let given = self.sections.get(section)?.get(option)?.last()?;
        Some(IniValue { value: self.expanded(section, &given.value, 0), origin: given.origin })
    }

    /// All values of an option, in the order they were given.
    pub(crate) fn all(&self, section: &str, option: &str) -> Vec<String> {
        let given = self.sections.get(section).and_then(|options| options.get(option));
        let given = given.map(Vec::as_slice).unwrap_or_default();
        given.iter().map(|given| self.expanded(section, given.value.trim(), 0)).collect()
    }

    /// All options: section, name, and where it stands.
    pub(crate) fn options(&self) -> impl Iterator<Item = (&str, &str, Origin)> {
        self.sections.iter().flat_map(|(section, options)| {
            options.iter().map(move |(name, given)| {
                let origin = given.first().map(|it| it.origin).unwrap_or_default();
                (section.as_str(), name.as_str(), origin)
            })
        })
    }

    /// `$name`, `${name}` and `${section.name}` stand for other options; `$$` for a dollar sign.
    fn expanded(&self, section: &str, value: &str, depth: usize) -> String {
        let mut out = String::new();
        let mut rest = value;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(tail) = rest.strip_prefix('$') {
                out.push('$');
                rest = tail;
                continue;
            }
            let (name, tail) = match rest.strip_prefix('{').and_then(|it| it.split_once('}')) {
                Some((name, tail)) => (name, tail),
                None => {
                    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
                    rest.split_at(rest.find(|it| !is_word(it)).unwrap_or(rest.len()))
                }
            };
            let (of, option) = name.split_once('.').unwrap_or((section, name));
            let values = |section: &str| self.sections.get(section)?.get(option)?.last();
            match values(of).or_else(|| values("DEFAULT")).filter(|_| depth < DEEPEST) {
                Some(given) => out.push_str(&self.expanded(of, &given.value, depth + 1)),
                None => {
                    out.push('$');
                    continue;
                }
            }
            rest = tail;
        }
        out.push_str(rest);
        out
    }
}

/// A value without the quotes around it.
fn unquoted(value: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_oslo_config_reads_it() {
        let text = "\
# a comment
[DEFAULT]
host = example
name = \"quoted\"
long = a,
  b

[database]
connection = mysql://$host/${DEFAULT.name}
connection = sqlite:///$$x
; another
";
        let ini = Ini::parse(text).unwrap();
        let value = |section: &str, option: &str| ini.get(section, option).map(|it| it.value);
        assert_eq!(value("DEFAULT", "name").as_deref(), Some("quoted"));
        assert_eq!(value("DEFAULT", "long").as_deref(), Some("a,\nb"));
        assert_eq!(value("database", "connection").as_deref(), Some("sqlite:///$x"));
        assert_eq!(value("database", "nothing"), None);
        assert_eq!(ini.options().count(), 4);
    }

    #[test]
    fn values_of_a_later_file_come_last() {
        let mut ini = Ini::parse("[a]\nx = 1\ny = 1\n").unwrap();
        ini.read(1, "\n[a]\nx = 2\n").unwrap();
        let last = ini.get("a", "x").unwrap();
        assert_eq!((&*last.value, last.origin), ("2", Origin { file: 1, line: 3 }));
        assert_eq!(ini.all("a", "x"), ["1", "2"]);
        assert_eq!(ini.all("a", "y"), ["1"]);
    }

    #[test]
    fn values_name_others_but_not_for_ever() {
        let ini = Ini::parse(
            "[a]\nx = $y!\ny = ${x}\nz = $none $\nw = ${b.v}\n[b]\nv = $u\n[DEFAULT]\nu = 1",
        )
        .unwrap();
        let value = |option: &str| ini.get("a", option).map(|it| it.value).unwrap_or_default();
        assert!(value("x").len() < 100);
        assert_eq!(value("z"), "$none $");
        assert_eq!(value("w"), "1");
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let line = |text: &str| Ini::parse(text).unwrap_err().line;
        assert_eq!(line("a = 1"), 1);
        assert_eq!(line("[a]\nnothing"), 2);
        assert_eq!(line("[a"), 1);
        assert_eq!(line("[a]\n\n  goes on"), 3);
    }
}
