//! The state of the cloud: tables of objects, and pending changes to them.
//!
//! Nothing runs in the background. A change that takes time is recorded with the time at which it is due, and carried
//! out, in the order of these times, before the next request after that. Clients cannot tell the difference.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::faults::FaultInjector;
use super::random::Random;
use super::request::{Request, int, set};
use super::schema::{Collection, ParsedCollection, Schema};
use super::table::{Obj, Table};

/// The state of the cloud.
pub(super) struct CloudState {
    schema: Arc<Schema>,
    tables: BTreeMap<&'static str, Table>,
    /// Pending changes, by the time at which they are due.
    pub(super) pending: BTreeMap<(i64, u64), Pending>,
    /// State besides the objects: quotas, keys, counters.
    pub(super) notes: BTreeMap<String, Value>,
    pub(super) random: Random,
    sequence: u64,
    pub(super) faults: FaultInjector,
    /// The number of requests by method and path.
    pub(super) calls: BTreeMap<String, u64>,
    /// The time of the current request, in microseconds since 1970.
    pub(super) now: i64,
    /// The time until new objects are ready, in microseconds.
    pub(super) build_time: i64,
    /// The number of changes, which tells whether the file is out of date.
    pub(super) changes: u64,
    /// The position of the next allocation, by subnet or other pool.
    pub(super) cursors: BTreeMap<String, u128>,
    /// The default quota for everything, if one is configured.
    pub(super) default_quota: Option<i64>,
    pub(super) region: String,
    /// Whether objects that the current request creates fail to build.
    pub(super) fail_builds: bool,
}

/// A pending change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Pending {
    /// Sets fields of an object.
    Set { table: String, key: String, fields: Obj },
    /// Removes an object.
    Remove { table: String, key: String },
    /// Runs a delayed step of a service; see [`super::services::step`].
    Step { name: String, key: String },
    /// Carries out a request whose connection has been closed.
    Late(Box<Request>),
}

impl CloudState {
    pub(super) fn new(
        schema: Arc<Schema>,
        seed: u64,
        build_time: i64,
        faults: FaultInjector,
    ) -> CloudState {
        let tables = schema.iter().map(|(name, parsed)| (*name, Table::new(parsed.indexed())));
        CloudState {
            tables: tables.collect(),
            schema,
            pending: BTreeMap::new(),
            notes: BTreeMap::new(),
            random: Random::new(seed),
            sequence: 0,
            faults,
            calls: BTreeMap::new(),
            now: 0,
            build_time,
            changes: 0,
            cursors: BTreeMap::new(),
            default_quota: None,
            region: String::new(),
            fail_builds: false,
        }
    }

    pub(super) fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    /// Finds a collection by name.
    pub(super) fn collection(&self, name: &str) -> Option<&'static Collection> {
        self.schema.get(name).map(|parsed: &ParsedCollection| parsed.collection)
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = (&'static str, &Table)> {
        self.tables.iter().map(|(name, table)| (*name, table))
    }

    /// Returns the table with this name; an empty one for an unknown name.
    pub(super) fn table(&self, name: &str) -> &Table {
        static EMPTY: std::sync::LazyLock<Table> = std::sync::LazyLock::new(Table::default);
        self.tables.get(name).unwrap_or(&EMPTY)
    }

    pub(super) fn get(&self, table: &str, key: &str) -> Option<&Obj> {
        self.table(table).get(key)
    }

    /// Returns a copy of an object; empty if it does not exist.
    pub(super) fn copy(&self, table: &str, key: &str) -> Obj {
        self.get(table, key).cloned().unwrap_or_default()
    }

    pub(super) fn put(&mut self, table: &str, key: &str, row: Obj) {
        self.changes += 1;
        if let Some(table) = self.tables.get_mut(table) {
            table.put(key, row);
        }
    }

    /// Adds an object under its `id`.
    pub(super) fn add(&mut self, table: &str, row: Obj) {
        let key = super::request::text(&row, "id").to_owned();
        self.put(table, &key, row);
    }

    pub(super) fn remove(&mut self, table: &str, key: &str) -> Option<Obj> {
        self.changes += 1;
        self.tables.get_mut(table)?.remove(key)
    }

    /// Edits an object in place; returns whether it exists.
    pub(super) fn edit(&mut self, table: &str, key: &str, edit: impl FnOnce(&mut Obj)) -> bool {
        let Some(mut row) = self.get(table, key).cloned() else { return false };
        edit(&mut row);
        self.put(table, key, row);
        true
    }

    /// Sets fields of an object.
    pub(super) fn set(&mut self, table: &str, key: &str, fields: Value) -> bool {
        self.edit(table, key, |row| row.extend(super::request::object(fields)))
    }

    /// Returns copies of the rows with this value at an indexed path.
    pub(super) fn with(&self, table: &str, path: &'static str, value: &str) -> Vec<Obj> {
        self.table(table).with(path, value).into_iter().cloned().collect()
    }

    pub(super) fn clear(&mut self) {
        for table in self.tables.values_mut() {
            let keys: Vec<String> = table.pairs().map(|(key, _)| key.to_owned()).collect();
            keys.iter().for_each(|key| drop(table.remove(key)));
        }
        self.pending.clear();
        self.notes.clear();
        self.cursors.clear();
        self.changes += 1;
    }

    /// Schedules a change after a delay in microseconds.
    pub(super) fn schedule(&mut self, delay: i64, what: Pending) {
        self.sequence += 1;
        self.changes += 1;
        self.pending.insert((self.now.saturating_add(delay), self.sequence), what);
    }

    /// Schedules fields to be set when the build time is over.
    pub(super) fn when_built(&mut self, table: &str, key: &str, fields: Value) {
        let (table, key) = (table.to_owned(), key.to_owned());
        let fields = super::request::object(fields);
        self.schedule(self.build_time, Pending::Set { table, key, fields });
    }

    /// Schedules a step of a service for the end of the build time.
    pub(super) fn step_when_built(&mut self, name: &str, key: &str) {
        let step = Pending::Step { name: name.to_owned(), key: key.to_owned() };
        self.schedule(self.build_time, step);
    }

    /// Schedules the removal of an object for the end of the build time.
    pub(super) fn remove_when_built(&mut self, table: &str, key: &str) {
        let gone = Pending::Remove { table: table.to_owned(), key: key.to_owned() };
        self.schedule(self.build_time, gone);
    }

    /// Takes the first change that is due at this time.
    pub(super) fn due(&mut self, by: i64) -> Option<(i64, Pending)> {
        let entry = self.pending.first_entry().filter(|entry| entry.key().0 <= by)?;
        let ((at, _), what) = entry.remove_entry();
        Some((at, what))
    }

    pub(super) fn uuid(&mut self) -> String {
        self.random.uuid()
    }

    /// Returns a number that has not been used before.
    pub(super) fn next_number(&mut self) -> u64 {
        let next = self.notes.get("number").and_then(Value::as_u64).unwrap_or_default() + 1;
        self.notes.insert("number".to_owned(), json!(next));
        next
    }

    /// Returns a quota of a project: the value that was set, or the default.
    pub(super) fn quota(&self, service: &str, project: &str, name: &str, usual: i64) -> i64 {
        let note = |whose: &str| self.notes.get(&format!("quota/{service}/{whose}/{name}"));
        let set = note(project).or_else(|| note("*")).and_then(Value::as_i64);
        set.or(self.default_quota).unwrap_or(usual)
    }

    pub(super) fn set_quota(&mut self, service: &str, project: &str, name: &str, limit: i64) {
        self.changes += 1;
        self.notes.insert(format!("quota/{service}/{project}/{name}"), json!(limit));
    }

    /// Resets the quotas of a project to the defaults.
    pub(super) fn reset_quota(&mut self, service: &str, project: &str) {
        self.changes += 1;
        let prefix = format!("quota/{service}/{project}/");
        self.notes.retain(|key, _| !key.starts_with(&prefix));
    }

    /// Formats the time of the current request, as most services do.
    pub(super) fn timestamp(&self) -> String {
        format_time(self.now, "%Y-%m-%dT%H:%M:%SZ")
    }

    /// Formats the time with microseconds and without a zone, as Cinder and Octavia do.
    pub(super) fn timestamp_micros(&self) -> String {
        format_time(self.now, "%Y-%m-%dT%H:%M:%S.%6f")
    }

    /// Formats the time in whole seconds without a zone, as Octavia and Mistral do.
    pub(super) fn timestamp_seconds(&self) -> String {
        format_time(self.now, "%Y-%m-%dT%H:%M:%S")
    }
}

/// Formats a time.
pub(super) fn format_time(micros: i64, form: &str) -> String {
    let timestamp = Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX);
    timestamp.strftime(form).to_string()
}

/// Increments the revision of an object and sets the time of its update, as Neutron does.
pub(super) fn revise(state: &CloudState, row: &mut Obj) {
    if row.contains_key("revision_number") {
        let next = int(row, "revision_number") + 1;
        set(row, "revision_number", next);
    }
    if row.contains_key("updated_at") {
        set(row, "updated_at", state.timestamp());
    }
}
