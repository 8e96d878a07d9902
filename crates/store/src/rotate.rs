//! A new key, and everything encrypted with it.

use crate::cipher::{BodyKind, KEY_END, key_of, key_of_start};
use crate::database::{SqlStore, setting};
use crate::error::{DbError, retry_conflicts};
use crate::keys::{Key, Ring};
use crate::sql::Reader;
use kiln_engine::store::StoreError;
use std::collections::BTreeMap;

/// The setting that names the key with which all bodies were encrypted when a rotation last ended.
pub(crate) const ROTATED: &str = "rotated";

/// How often the tables are walked through before it is clear that this leads nowhere.
const PASSES: u32 = 10;

/// A column whose values are sealed.
struct SealedColumn {
    table: &'static str,
    column: &'static str,
    kind: BodyKind,
    /// How many of its rows are taken at once.
    chunk: u64,
}

/// The columns whose values are sealed.
const SEALED: [SealedColumn; 15] = [
    sealed("stacks", "body", BodyKind::Stack, 500),
    sealed("stacks", "texts", BodyKind::StackTexts, 500),
    sealed("recipes", "body", BodyKind::Recipe, 500),
    sealed("resources", "body", BodyKind::Resource, 500),
    sealed("resources", "texts", BodyKind::ResourceTexts, 500),
    sealed("events", "body", BodyKind::Event, 500),
    sealed("events", "texts", BodyKind::EventTexts, 500),
    sealed("commands", "body", BodyKind::Command, 500),
    sealed("snapshots", "body", BodyKind::Snapshot, 20),
    sealed("snapshots", "texts", BodyKind::SnapshotTexts, 500),
    sealed("contents", "body", BodyKind::Content, 20),
    sealed("objects", "body", BodyKind::Object, 500),
    sealed("alarms", "body", BodyKind::Alarm, 500),
    sealed("alarm_history", "body", BodyKind::AlarmEvent, 500),
    sealed("series", "body", BodyKind::Series, 500),
];

const fn sealed(
    table: &'static str,
    column: &'static str,
    kind: BodyKind,
    chunk: u64,
) -> SealedColumn {
    SealedColumn { table, column, kind, chunk }
}

/// A key, and how much it is needed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyUsage {
    /// The id of the key, in hexadecimal. The key itself is never shown.
    pub id: String,
    /// The number of values that are encrypted with it: bodies, and the texts beside them.
    pub rows: u64,
    /// Whether new data is encrypted with it.
    pub encrypts: bool,
    /// Whether the key file has it.
    pub is_known: bool,
}

impl SqlStore {
    /// Adds a key to the key file, unless the newest one is not in use yet, and encrypts everything
    /// again with it. Gives the number of values that were: bodies, and the texts beside them.
    ///
    /// It can be cancelled at any moment and called again; engines can go on working, as long as they see
    /// the same key file. Where each machine has its own copy: [`SqlStore::add_key`] first, then copy
    /// the file everywhere, then this.
    pub async fn rotate(&self) -> Result<u64, StoreError> {
        self.cipher.refresh()?;
        let newest = self.cipher.newest().to_be_bytes();
        let in_use = setting(self.dialect, &mut *self.reader().await?, ROTATED).await?;
        if in_use.as_deref() == Some(&newest) {
            self.add_key()?;
        }
        let mut total = 0;
        // A transaction that had begun before may still write with the old key: until there is none.
        for _ in 0..PASSES {
            let mut renewed = 0;
            for column in &SEALED {
                renewed += self.renew_column(column).await?;
            }
            total += renewed;
            tracing::info!(renewed, total, "values were encrypted with the newest key");
            if renewed == 0 {
                retry_conflicts!(self.note_rotated())?;
                return Ok(total);
            }
        }
        Err(StoreError::Unavailable(format!(
            "a process still encrypts with an older key: copy the key file {} to every machine that uses \
             the store, then rotate again",
            self.cipher.path().display()
        ).into()))
    }

    /// The keys of the key file, the newest last, and any other keys that rows are encrypted with before them.
    pub async fn key_usage(&self) -> Result<Vec<KeyUsage>, StoreError> {
        self.cipher.refresh()?;
        let mut rows: BTreeMap<u32, u64> = BTreeMap::new();
        let mut connection = self.reader().await?;
        let columns = SEALED
            .iter()
            .map(|it| (it.column, format!("{} WHERE LENGTH({}) > 0", it.table, it.column)));
        let check = format!("settings WHERE name = '{}'", crate::database::KEY_CHECK);
        for (column, from) in columns.chain([("body", check)]) {
            let select =
                format!("SELECT SUBSTR({column}, 1, {KEY_END}), COUNT(*) FROM {from} GROUP BY 1");
            for row in self.statement(&select).all(&mut connection).await? {
                let mut row = Reader::new(&row);
                let (start, count) = (row.bytes()?.to_vec(), row.count()?);
                if let Some(key) = key_of_start(&start) {
                    *rows.entry(key).or_default() += count;
                }
            }
        }
        let newest = self.cipher.newest();
        let ring = self.cipher.ring();
        let known: Vec<u32> = ring.keys.iter().map(Key::id).collect();
        let unknown = rows.keys().copied().filter(|id| !known.contains(id));
        let ids: Vec<u32> = unknown.chain(known.iter().copied()).collect();
        let usage = ids.into_iter().map(|id| KeyUsage {
            id: format!("{id:08x}"),
            rows: rows.get(&id).copied().unwrap_or(0),
            encrypts: id == newest,
            is_known: known.contains(&id),
        });
        Ok(usage.collect())
    }

    /// Removes the keys from the key file that no row needs any more, except the newest; gives their ids.
    ///
    /// If a process wrote with one of them in the meantime, the file stays as it was.
    pub async fn drop_unused_keys(&self) -> Result<Vec<String>, StoreError> {
        let unused: Vec<String> = self.unused_keys().await?;
        if unused.is_empty() {
            return Ok(unused);
        }
        let former = self.cipher.ring();
        let is_kept = |key: &Key| !unused.contains(&format!("{:08x}", key.id()));
        let keys = former.keys.iter().filter(|key| is_kept(key)).cloned().collect();
        let path = self.cipher.path();
        let ring = Ring { lookup: former.lookup.clone(), keys };
        ring.replace(path).map_err(DbError::Keys)?;
        let usage = self.key_usage().await?;
        if let Some(used) = usage.iter().find(|key| unused.contains(&key.id)) {
            former.replace(path).map_err(DbError::Keys)?;
            self.cipher.refresh()?;
            let message = format!(
                "a process still encrypts with key {}: copy the key file {} to every machine that uses the \
                 store, rotate the keys, then drop them again",
                used.id,
                path.display()
            );
            return Err(StoreError::Unavailable(message.into()));
        }
        Ok(unused)
    }

    async fn unused_keys(&self) -> Result<Vec<String>, StoreError> {
        let usage = self.key_usage().await?.into_iter();
        Ok(usage.filter(|key| key.rows == 0 && !key.encrypts).map(|key| key.id).collect())
    }

    /// Adds a new key to the key file. From now on it encrypts what is written; what was written before
    /// stays as it is until [`SqlStore::rotate`].
    pub fn add_key(&self) -> Result<(), StoreError> {
        Ring::add_key(self.cipher.path()).map_err(DbError::Keys)?;
        Ok(self.cipher.refresh()?)
    }

    async fn renew_column(&self, column: &SealedColumn) -> Result<u64, DbError> {
        let (mut renewed, mut last) = (0, Vec::new());
        loop {
            let step = retry_conflicts!(self.renew_chunk(column, &last))?;
            let Some((next, count)) = step else { return Ok(renewed) };
            last = next;
            renewed += count;
        }
    }

    /// Encrypts the rows behind one again: gives the last of them and how many were changed.
    async fn renew_chunk(
        &self,
        column: &SealedColumn,
        last: &[u8],
    ) -> Result<Option<(Vec<u8>, u64)>, DbError> {
        let SealedColumn { table, column, kind, chunk } = *column;
        let select = format!("SELECT id, {column} FROM {table} WHERE id > ? ORDER BY id LIMIT ?");
        let select = self.statement(&select).with(|values| {
            values.bytes(last);
            values.count(chunk);
        });
        let mut transaction = self.begin().await?;
        let rows = select.all(&mut transaction).await?;
        let Some(end) = rows.last() else { return Ok(None) };
        let end = Reader::new(end).bytes()?.to_vec();
        // Only if it is still the same: an engine may have written a newer one.
        let update = format!("UPDATE {table} SET {column} = ? WHERE id = ? AND {column} = ?");
        let mut count = 0;
        for row in &rows {
            let mut row = Reader::new(row);
            let (id, old) = (row.bytes()?, row.bytes()?);
            if old.is_empty() || key_of(old) == Some(self.cipher.newest()) {
                continue;
            }
            let new = self.cipher.seal(kind, id, &self.cipher.open(kind, id, old)?)?;
            let update = self.statement(&update).with(|values| {
                values.bytes(&new);
                values.bytes(id);
                values.bytes(old);
            });
            count += update.run(&mut transaction).await?;
        }
        if count > 0 {
            self.finish(transaction).await?;
        }
        Ok(Some((end, count)))
    }

    /// Says in the store itself that the newest key is in use, for those who start with a ring.
    async fn note_rotated(&self) -> Result<(), DbError> {
        let check = crate::database::KEY_CHECK;
        let sealed = self.cipher.seal(BodyKind::Setting, check.as_bytes(), b"kiln")?;
        let mut transaction = self.begin().await?;
        let newest = self.cipher.newest().to_be_bytes();
        for (name, body) in [(check, &sealed[..]), (ROTATED, &newest[..])] {
            let update = self.statement("UPDATE settings SET body = ? WHERE name = ?");
            let update = update.with(|values| {
                values.bytes(body);
                values.text(name);
            });
            update.run(&mut transaction).await?;
        }
        self.finish(transaction).await
    }
}
