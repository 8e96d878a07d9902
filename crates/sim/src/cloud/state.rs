//! All that the cloud knows: tables of objects, and what will happen to them.
//!
//! Nothing happens on its own. What takes time is noted with its moment and carried out when somebody asks after that
//! moment, in the order of moments; nobody can tell the difference.

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
    /// What will happen, by moment.
    pub(super) pending: BTreeMap<(i64, u64), Pending>,
    /// What is known beside objects: quotas, keys, counters.
    pub(super) notes: BTreeMap<String, Value>,
    pub(super) random: Random,
    sequence: u64,
    pub(super) faults: FaultInjector,
    /// How often each method and path was asked for.
    pub(super) calls: BTreeMap<String, u64>,
    /// The moment of the request that is being answered, in microseconds since 1970.
    pub(super) now: i64,
    /// How long things take until they are ready, in microseconds.
    pub(super) build_time: i64,
    /// Counts changes, so that whoever writes it to disk knows.
    pub(super) changes: u64,
    /// Where to allocate next, by subnet or whatever else runs out.
    pub(super) cursors: BTreeMap<String, u128>,
    /// What everybody may have of everything, unless something else was set.
    pub(super) default_quota: Option<i64>,
    pub(super) region: String,
    /// Whether what this request makes is to fail.
    pub(super) fail_builds: bool,
}

/// Something that will happen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Pending {
    /// Fields of an object change.
    Set { table: String, key: String, fields: Obj },
    /// An object goes away.
    Remove { table: String, key: String },
    /// A service does something with an object; see [`super::services::step`].
    Step { name: String, key: String },
    /// A request whose connection is gone is carried out.
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

    /// The collection with this name.
    pub(super) fn collection(&self, name: &str) -> Option<&'static Collection> {
        self.schema.get(name).map(|parsed: &ParsedCollection| parsed.collection)
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = (&'static str, &Table)> {
        self.tables.iter().map(|(name, table)| (*name, table))
    }

    /// The table with this name; a name that is none of ours is an empty table.
    pub(super) fn table(&self, name: &str) -> &Table {
        static EMPTY: std::sync::LazyLock<Table> = std::sync::LazyLock::new(Table::default);
        self.tables.get(name).unwrap_or(&EMPTY)
    }

    pub(super) fn get(&self, table: &str, key: &str) -> Option<&Obj> {
        self.table(table).get(key)
    }

    /// A copy of an object; empty if it is gone.
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

    /// Changes an object where it stands; says whether it is there.
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

    /// Copies of the rows that say this at an indexed path.
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

    /// Notes what will happen so many microseconds from now.
    pub(super) fn schedule(&mut self, delay: i64, what: Pending) {
        self.sequence += 1;
        self.changes += 1;
        self.pending.insert((self.now.saturating_add(delay), self.sequence), what);
    }

    /// Sets the fields when the object is ready: at once, if nothing takes time here.
    pub(super) fn when_built(&mut self, table: &str, key: &str, fields: Value) {
        let (table, key) = (table.to_owned(), key.to_owned());
        let fields = super::request::object(fields);
        self.schedule(self.build_time, Pending::Set { table, key, fields });
    }

    /// Has a service do its step when the time has come.
    pub(super) fn step_when_built(&mut self, name: &str, key: &str) {
        let step = Pending::Step { name: name.to_owned(), key: key.to_owned() };
        self.schedule(self.build_time, step);
    }

    /// Has an object go away when the time has come.
    pub(super) fn remove_when_built(&mut self, table: &str, key: &str) {
        let gone = Pending::Remove { table: table.to_owned(), key: key.to_owned() };
        self.schedule(self.build_time, gone);
    }

    /// What is due first, if it is due by then.
    pub(super) fn due(&mut self, by: i64) -> Option<(i64, Pending)> {
        let entry = self.pending.first_entry().filter(|entry| entry.key().0 <= by)?;
        let ((at, _), what) = entry.remove_entry();
        Some((at, what))
    }

    pub(super) fn uuid(&mut self) -> String {
        self.random.uuid()
    }

    /// A number that nobody had before.
    pub(super) fn next_number(&mut self) -> u64 {
        let next = self.notes.get("number").and_then(Value::as_u64).unwrap_or_default() + 1;
        self.notes.insert("number".to_owned(), json!(next));
        next
    }

    /// What a project may have of something: what was set, or what it is from the beginning.
    pub(super) fn quota(&self, service: &str, project: &str, name: &str, usual: i64) -> i64 {
        let note = |whose: &str| self.notes.get(&format!("quota/{service}/{whose}/{name}"));
        let set = note(project).or_else(|| note("*")).and_then(Value::as_i64);
        set.or(self.default_quota).unwrap_or(usual)
    }

    pub(super) fn set_quota(&mut self, service: &str, project: &str, name: &str, limit: i64) {
        self.changes += 1;
        self.notes.insert(format!("quota/{service}/{project}/{name}"), json!(limit));
    }

    /// Forgets what was set for the project.
    pub(super) fn reset_quota(&mut self, service: &str, project: &str) {
        self.changes += 1;
        let prefix = format!("quota/{service}/{project}/");
        self.notes.retain(|key, _| !key.starts_with(&prefix));
    }

    /// The moment of this request, as most services write it.
    pub(super) fn timestamp(&self) -> String {
        format_time(self.now, "%Y-%m-%dT%H:%M:%SZ")
    }

    /// The same with microseconds and without the letter, as Cinder and Octavia write it.
    pub(super) fn timestamp_micros(&self) -> String {
        format_time(self.now, "%Y-%m-%dT%H:%M:%S.%6f")
    }

    /// Whole seconds without the letter, as Octavia and Mistral write it.
    pub(super) fn timestamp_seconds(&self) -> String {
        format_time(self.now, "%Y-%m-%dT%H:%M:%S")
    }
}

/// A moment in some form.
pub(super) fn format_time(micros: i64, form: &str) -> String {
    let timestamp = Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX);
    timestamp.strftime(form).to_string()
}

/// Counts an object's revision up and notes the moment, as Neutron does.
pub(super) fn revise(state: &CloudState, row: &mut Obj) {
    if row.contains_key("revision_number") {
        let next = int(row, "revision_number") + 1;
        set(row, "revision_number", next);
    }
    if row.contains_key("updated_at") {
        set(row, "updated_at", state.timestamp());
    }
}
