//! Taking values out of a document: whatever is wrong is told at its place, with what to write instead,
//! and reading goes on.

use crate::declare::Name;
use kiln_template::document::{Data, Entry, Map, Node};
use kiln_template::{Diagnostic, Span, codes, suggest};

/// What was found wrong so far.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) found: Vec<Diagnostic>,
}

/// Text of a file that is told in a message: no more of it than a person reads.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        None => format!("`{text}`"),
        Some((end, _)) => format!("`{}…`", text.get(..end).unwrap_or_default()),
    }
}

impl Reader {
    /// Something is wrong, and this is what to write instead.
    pub(super) fn wrong(
        &mut self,
        at: Span,
        message: impl Into<String>,
        instead: impl Into<String>,
    ) {
        let wrong = Diagnostic::error(&codes::TYPE_FILE, message).at(at).help(instead);
        self.found.push(wrong);
    }

    /// A map with any keys; `what` names it.
    pub(super) fn map<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n Map> {
        if node.as_map().is_none() {
            let message = format!("{what} must be a map, not {}", kind(node));
            self.wrong(node.span, message, "write its members as `name: value`, indented below");
        }
        node.as_map()
    }

    /// A map of which these keys are known.
    pub(super) fn members<'n>(
        &mut self,
        node: &'n Node,
        what: &str,
        keys: &[&str],
    ) -> Option<&'n Map> {
        let map = self.map(node, what)?;
        for entry in map.iter().filter(|entry| !keys.contains(&&*entry.key)) {
            let message = format!("{what} has no {}", quoted(&entry.key));
            self.wrong(entry.key_span, message, suggest::help(&entry.key, keys.iter().copied()));
        }
        Some(map)
    }

    /// A text that must be there.
    pub(super) fn needed_text(
        &mut self,
        map: &Map,
        key: &str,
        at: Span,
        why: &str,
    ) -> Option<Name> {
        if map.get(key).is_none() {
            self.wrong(at, format!("there is no `{key}`: {why}"), format!("add `{key}: …`"));
        }
        self.text(map, key)
    }

    /// A text, if it is there.
    pub(super) fn text(&mut self, map: &Map, key: &str) -> Option<Name> {
        let entry = map.entry(key)?;
        self.as_text(&entry.value, &format!("`{key}`"))
    }

    /// The text of a node.
    pub(super) fn as_text(&mut self, node: &Node, what: &str) -> Option<Name> {
        if let Some(text) = node.as_text() {
            return Some(text.to_string().into());
        }
        let instead = match node.data {
            Data::Int(_) | Data::Float(_) | Data::Bool(_) => "put it in quotes",
            _ => "write a text",
        };
        self.wrong(node.span, format!("{what} must be a text, not {}", kind(node)), instead);
        None
    }

    /// One of some words, if it is there.
    pub(super) fn word<T: Copy>(
        &mut self,
        map: &Map,
        key: &str,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let entry = map.entry(key)?;
        let text = self.as_text(&entry.value, &format!("`{key}`"))?;
        let known = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(&text));
        if known.is_none() {
            let help = suggest::help(&text, words.iter().map(|(word, _)| *word));
            self.wrong(entry.value.span, format!("`{key}` cannot be {}", quoted(&text)), help);
        }
        known.map(|(_, meaning)| *meaning)
    }

    /// A yes or no; what it is if nothing is said.
    pub(super) fn flag(&mut self, map: &Map, key: &str, usual: bool) -> bool {
        let Some(entry) = map.entry(key) else { return usual };
        if let Data::Bool(flag) = entry.value.data {
            return flag;
        }
        let message = format!("`{key}` must be true or false, not {}", kind(&entry.value));
        self.wrong(entry.value.span, message, format!("write `{key}: {}`", !usual));
        usual
    }

    /// A whole number between two bounds, if it is there.
    pub(super) fn number(&mut self, node: &Node, what: &str, from: i64, to: i64) -> Option<i64> {
        if let Data::Int(number) = &node.data
            && let Some(number) = number.as_i64().filter(|number| (from..=to).contains(number))
        {
            return Some(number);
        }
        let message = format!("{what} must be a whole number from {from} to {to}");
        self.wrong(node.span, message, format!("write {from}, {to}, or something in between"));
        None
    }

    /// The items of a list, if it is there.
    pub(super) fn items<'n>(&mut self, map: &'n Map, key: &str) -> &'n [Node] {
        let Some(entry) = map.entry(key) else { return &[] };
        let Some(items) = entry.value.as_list() else {
            let message = format!("`{key}` must be a list, not {}", kind(&entry.value));
            self.wrong(entry.value.span, message, format!("write `{key}: [first, second]`"));
            return &[];
        };
        items
    }

    /// A list of texts, if it is there.
    pub(super) fn texts(&mut self, map: &Map, key: &str) -> Vec<Name> {
        let what = format!("an item of `{key}`");
        let items = self.items(map, key).iter();
        items.filter_map(|item| self.as_text(item, &what)).collect()
    }

    /// The members of a map that is a member of another; none if it is not there, or empty.
    pub(super) fn entries<'n>(&mut self, map: &'n Map, key: &str) -> &'n [Entry] {
        let Some(entry) = map.entry(key).filter(|entry| !entry.value.is_null()) else {
            return &[];
        };
        self.map(&entry.value, &format!("`{key}`")).map_or(&[], |map| &map.entries)
    }
}

/// What a node is, for people.
pub(super) fn kind(node: &Node) -> &'static str {
    match node.data {
        Data::Null => "nothing",
        Data::Bool(_) => "true or false",
        Data::Int(_) | Data::Float(_) => "a number",
        Data::Text(_) => "a text",
        Data::List(_) => "a list",
        Data::Map(_) => "a map",
    }
}
