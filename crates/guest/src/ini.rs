//! INI files in the dialect of the older tools and their libraries.

/// The sections, keys and values in order. A key may be repeated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ini {
    rows: Vec<(String, String, String)>,
    sections: Vec<String>,
}

impl Ini {
    /// Parses a text; other lines are ignored.
    pub(crate) fn parse(text: &str) -> Ini {
        let mut ini = Ini::default();
        let mut section = String::from("DEFAULT");
        for line in text.lines() {
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
                continue;
            }
            if let Some(name) = trimmed.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
                section = name.trim().to_owned();
                ini.sections.push(section.clone());
            } else if line.starts_with([' ', '\t'])
                && let Some((_, _, value)) = ini.rows.last_mut()
            {
                value.push('\n');
                value.push_str(trimmed);
            } else if let Some(at) = trimmed.find(['=', ':']) {
                let (key, value) = (trimmed[..at].trim(), trimmed[at + 1..].trim());
                ini.rows.push((section.clone(), key.to_owned(), value.to_owned()));
            }
        }
        ini
    }

    /// Returns the last value of a key.
    pub(crate) fn get(&self, section: &str, key: &str) -> Option<&str> {
        let mut rows = self.rows.iter().filter(|row| row.0 == section && row.1 == key);
        rows.next_back().map(|row| row.2.as_str())
    }

    /// Returns the sections in order, each once.
    pub(crate) fn sections(&self) -> Vec<&str> {
        let mut seen = Vec::new();
        for section in &self.sections {
            if !seen.contains(&section.as_str()) {
                seen.push(section.as_str());
            }
        }
        seen
    }

    /// Iterates over section, key and value.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.rows
            .iter()
            .map(|(section, key, value)| (section.as_str(), key.as_str(), value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_keys_and_values() {
        let ini = Ini::parse("a=1\n# no\n[main]\nstack = web\nx: one\n  two\nx=3\n[b]\n[main]\n");
        assert_eq!(ini.get("DEFAULT", "a"), Some("1"));
        let all = ini.rows().filter(|row| row.1 == "x").map(|row| row.2);
        assert_eq!(all.collect::<Vec<_>>(), ["one\ntwo", "3"]);
        assert_eq!(ini.sections(), ["main", "b"]);
        assert_eq!(ini.get("main", "stack"), Some("web"));
    }
}
