//! The rows of one collection in the order of their creation, with indexes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

pub(super) use super::obj::Obj;

/// A table of objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    rows: BTreeMap<u64, (String, Obj)>,
    by_key: HashMap<String, u64>,
    /// The indexed paths: a field, or `list.field` for lists of objects.
    paths: Vec<&'static str>,
    index: HashMap<(&'static str, String), BTreeSet<u64>>,
    next: u64,
}

impl Table {
    pub(super) fn new(paths: Vec<&'static str>) -> Table {
        Table { paths, ..Table::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Obj> {
        Some(&self.rows.get(self.by_key.get(key)?)?.1)
    }

    /// Adds a row, or replaces the row with this key at its position.
    pub(super) fn put(&mut self, key: &str, row: Obj) {
        let at = match self.by_key.get(key) {
            Some(at) => *at,
            None => {
                self.next += 1;
                self.by_key.insert(key.to_owned(), self.next);
                self.next
            }
        };
        let entries = self.entries(&row);
        if let Some((_, old)) = self.rows.insert(at, (key.to_owned(), row)) {
            self.forget(at, &old);
        }
        for entry in entries {
            self.index.entry(entry).or_default().insert(at);
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Obj> {
        let at = self.by_key.remove(key)?;
        let (_, row) = self.rows.remove(&at)?;
        self.forget(at, &row);
        Some(row)
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Obj> {
        self.rows.values().map(|(_, row)| row)
    }

    /// Iterates over keys and rows.
    pub(super) fn pairs(&self) -> impl DoubleEndedIterator<Item = (&str, &Obj)> {
        self.rows.values().map(|(key, row)| (key.as_str(), row))
    }

    /// Reports whether a path is indexed.
    pub(super) fn is_indexed(&self, path: &str) -> bool {
        self.paths.contains(&path)
    }

    /// Returns the rows with this value at a path, which should be indexed.
    pub(super) fn with<'a>(&'a self, path: &'static str, value: &str) -> Vec<&'a Obj> {
        if !self.is_indexed(path) {
            let says = |row: &&Obj| texts(row, path).iter().any(|text| text == value);
            return self.iter().filter(says).collect();
        }
        let Some(places) = self.index.get(&(path, value.to_owned())) else { return Vec::new() };
        places.iter().filter_map(|at| self.rows.get(at)).map(|(_, row)| row).collect()
    }

    /// Counts the rows with this value at a path.
    pub(super) fn count(&self, path: &'static str, value: &str) -> usize {
        if self.is_indexed(path) {
            self.index.get(&(path, value.to_owned())).map_or(0, BTreeSet::len)
        } else {
            self.with(path, value).len()
        }
    }

    /// Like [`Table::with`] for a path that is not known at compile time; `None` if it is not indexed.
    pub(super) fn narrowed(&self, path: &str, value: &str) -> Option<Vec<&Obj>> {
        let path = self.paths.iter().find(|indexed| **indexed == path)?;
        Some(self.with(path, value))
    }

    fn entries(&self, row: &Obj) -> Vec<(&'static str, String)> {
        let collection = |path: &&'static str| {
            let path = *path;
            texts(row, path).into_iter().map(move |text| (path, text))
        };
        self.paths.iter().flat_map(collection).collect()
    }

    fn forget(&mut self, at: u64, row: &Obj) {
        // The replacing row is entered into the index after this.
        for entry in self.entries(row) {
            if let Some(places) = self.index.get_mut(&entry) {
                places.remove(&at);
                if places.is_empty() {
                    self.index.remove(&entry);
                }
            }
        }
    }
}

/// Returns the strings at a path of a row: one, or all strings of a list.
fn texts(row: &Obj, path: &str) -> Vec<String> {
    let (field, rest) = path.split_once('.').map_or((path, None), |(a, b)| (a, Some(b)));
    let Some(value) = row.get(field) else { return Vec::new() };
    let text = |value: &Value| match rest {
        Some(rest) => value.get(rest).and_then(Value::as_str).map(str::to_owned),
        None => value.as_str().map(str::to_owned),
    };
    match value {
        Value::Array(list) => list.iter().filter_map(text).collect(),
        other => text(other).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(value: Value) -> Obj {
        value.as_object().cloned().unwrap_or_default().into()
    }

    #[test]
    fn an_index_follows_what_rows_say() {
        let mut table = Table::new(vec!["net", "ips.at"]);
        table.put("a", row(json!({ "net": "n", "ips": [{ "at": "1" }, { "at": "2" }] })));
        table.put("b", row(json!({ "net": "n", "ips": [] })));
        assert_eq!(table.count("net", "n"), 2);
        assert_eq!(table.count("ips.at", "2"), 1);
        table.put("a", row(json!({ "net": "m", "ips": [{ "at": "2" }] })));
        assert_eq!(table.count("net", "n"), 1);
        assert_eq!(table.count("ips.at", "1"), 0);
        assert_eq!(table.count("ips.at", "2"), 1);
        assert!(table.remove("a").is_some());
        assert_eq!(table.count("ips.at", "2"), 0);
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn a_row_that_changes_keeps_its_place() {
        let mut table = Table::new(Vec::new());
        for key in ["x", "y"] {
            table.put(key, row(json!({ "id": key })));
        }
        table.put("x", row(json!({ "id": "x", "new": true })));
        let keys: Vec<&str> = table.pairs().map(|(key, _)| key).collect();
        assert_eq!(keys, ["x", "y"]);
    }
}
