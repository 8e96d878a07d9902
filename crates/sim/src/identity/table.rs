//! Tables of rows with an id and an optional name that is unique within a scope.
//!
//! A table tracks its changes for the journal. Rows are ordered by id.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A row of a table.
pub(super) trait Row: Clone + Serialize + DeserializeOwned {
    /// The name of the table in the journal.
    const TABLE: &'static str;

    /// Returns the id of the row.
    fn id(&self) -> String;

    /// Returns the scope and the name that must be unique within it.
    fn name(&self) -> Option<(String, String)> {
        None
    }
}

/// Another row has the same id, or the same name in the scope.
#[derive(Debug)]
pub(super) struct Taken;

/// A table.
#[derive(Clone, Debug)]
pub(super) struct Table<T> {
    rows: BTreeMap<String, T>,
    names: BTreeMap<(String, String), String>,
    changed: BTreeSet<String>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { rows: BTreeMap::new(), names: BTreeMap::new(), changed: BTreeSet::new() }
    }
}

impl<T: Row> Table<T> {
    pub(super) fn get(&self, id: &str) -> Option<&T> {
        self.rows.get(id)
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.rows.contains_key(id)
    }

    pub(super) fn named(&self, scope: &str, name: &str) -> Option<&T> {
        let id = self.names.get(&(scope.to_owned(), name.to_owned()))?;
        self.rows.get(id)
    }

    /// Returns the row with the lowest id.
    pub(super) fn first(&self) -> Option<&T> {
        self.rows.values().next()
    }

    /// Iterates over all rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.rows.values()
    }

    /// Iterates over the rows with names in a scope, by name.
    pub(super) fn in_scope<'s>(&self, scope: &'s str) -> impl Iterator<Item = &T> + use<'_, 's, T> {
        let from = (scope.to_owned(), String::new());
        let within = self.names.range(from..).take_while(move |((of, _), _)| of == scope);
        within.filter_map(|(_, id)| self.rows.get(id))
    }

    /// Iterates over the rows whose ids have this prefix.
    pub(super) fn beginning<'s>(
        &self,
        prefix: &'s str,
    ) -> impl Iterator<Item = &T> + use<'_, 's, T> {
        let from = self.rows.range(prefix.to_owned()..);
        from.take_while(move |(id, _)| id.starts_with(prefix)).map(|(_, row)| row)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds a row, unless its id or its name is taken.
    pub(super) fn add(&mut self, row: T) -> Result<(), Taken> {
        if self.rows.contains_key(&row.id()) {
            return Err(Taken);
        }
        self.put(row)
    }

    /// Adds or replaces a row, unless another row has its name.
    pub(super) fn put(&mut self, row: T) -> Result<(), Taken> {
        let id = row.id();
        let name = row.name();
        if let Some(name) = &name
            && self.names.get(name).is_some_and(|holder| *holder != id)
        {
            return Err(Taken);
        }
        self.forget_name(&id);
        if let Some(name) = name {
            self.names.insert(name, id.clone());
        }
        self.changed.insert(id.clone());
        self.rows.insert(id, row);
        Ok(())
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<T> {
        self.forget_name(id);
        let row = self.rows.remove(id)?;
        self.changed.insert(id.to_owned());
        Some(row)
    }

    /// Removes the rows that match.
    pub(super) fn remove_where(&mut self, gone: impl Fn(&T) -> bool) {
        let ids: Vec<String> =
            self.rows.iter().filter(|(_, row)| gone(row)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.remove(&id);
        }
    }

    /// Returns the ids of the rows that changed since the last call, with the rows that still exist.
    pub(super) fn take_changes(&mut self) -> Vec<(String, Option<T>)> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|id| (id.clone(), self.rows.get(&id).cloned())).collect()
    }

    /// Marks every row as changed.
    pub(super) fn mark_all(&mut self) {
        self.changed = self.rows.keys().cloned().collect();
    }

    /// Marks every row as unchanged.
    pub(super) fn mark_none(&mut self) {
        self.changed.clear();
    }

    fn forget_name(&mut self, id: &str) {
        if let Some(name) = self.rows.get(id).and_then(Row::name) {
            self.names.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
    struct Cat {
        id: String,
        house: String,
        name: String,
    }

    impl Row for Cat {
        const TABLE: &'static str = "cats";

        fn id(&self) -> String {
            self.id.clone()
        }

        fn name(&self) -> Option<(String, String)> {
            Some((self.house.clone(), self.name.clone()))
        }
    }

    fn cat(id: &str, house: &str, name: &str) -> Cat {
        Cat { id: id.into(), house: house.into(), name: name.into() }
    }

    #[test]
    fn a_name_is_unique_within_its_scope_and_free_again_when_given_up() {
        let mut cats = Table::default();
        cats.add(cat("1", "a", "tom")).unwrap();
        cats.add(cat("2", "b", "tom")).unwrap();
        assert!(cats.add(cat("3", "a", "tom")).is_err());
        assert!(cats.add(cat("1", "a", "tim")).is_err(), "the id is taken");
        cats.put(cat("1", "a", "tim")).unwrap();
        cats.add(cat("3", "a", "tom")).unwrap();
        assert!(cats.put(cat("3", "a", "tim")).is_err());
        assert_eq!(cats.named("a", "tom").unwrap().id, "3");
        cats.remove("3");
        assert_eq!(cats.named("a", "tom"), None);
        let names: Vec<_> = cats.in_scope("a").map(|cat| cat.name.as_str()).collect();
        assert_eq!(names, ["tim"]);
    }

    #[test]
    fn changes_are_told_once() {
        let mut cats = Table::default();
        cats.add(cat("1", "a", "tom")).unwrap();
        cats.add(cat("2", "a", "tim")).unwrap();
        assert_eq!(cats.take_changes().len(), 2);
        cats.remove("1");
        assert_eq!(cats.take_changes(), [("1".to_owned(), None)]);
        assert!(cats.take_changes().is_empty());
    }
}
