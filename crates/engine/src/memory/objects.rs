//! The objects beside stacks, in memory.

use super::MemoryStore;
use crate::objects::{ObjectKind, ObjectQuery, ObjectRow, Objects};
use crate::store::StoreError;
use crate::time::Time;
use async_trait::async_trait;
use parking_lot::MutexGuard;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use uuid::Uuid;

/// Objects by kind and id.
pub(super) type ObjectTable = BTreeMap<(ObjectKind, Uuid), ObjectRow>;

impl MemoryStore {
    fn open_objects(&self) -> Result<MutexGuard<'_, ObjectTable>, StoreError> {
        self.open().map(drop)?;
        Ok(self.objects.lock())
    }
}

#[async_trait]
impl Objects for MemoryStore {
    async fn put_object(&self, object: ObjectRow) -> Result<(), StoreError> {
        self.open_objects()?.insert((object.kind, object.id), object);
        Ok(())
    }

    async fn add_object(&self, object: ObjectRow) -> Result<bool, StoreError> {
        match self.open_objects()?.entry((object.kind, object.id)) {
            Entry::Occupied(_) => Ok(false),
            Entry::Vacant(room) => {
                room.insert(object);
                Ok(true)
            }
        }
    }

    async fn put_object_within(&self, object: ObjectRow, limit: u64) -> Result<bool, StoreError> {
        let mut objects = self.open_objects()?;
        let is_other = |it: &&ObjectRow| {
            it.kind == object.kind && it.project == object.project && it.id != object.id
        };
        let is_written = (objects.values().filter(is_other).count() as u64) < limit;
        if is_written {
            objects.insert((object.kind, object.id), object);
        }
        Ok(is_written)
    }

    async fn drop_objects(
        &self,
        kind: ObjectKind,
        before: Time,
        limit: u64,
    ) -> Result<u64, StoreError> {
        let mut objects = self.open_objects()?;
        let old = objects.values().filter(|it| it.kind == kind && it.created < before);
        let mut old: Vec<(Time, Uuid)> = old.map(|it| (it.created, it.id)).collect();
        old.sort();
        old.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        old.iter().for_each(|(_, id)| _ = objects.remove(&(kind, *id)));
        Ok(old.len() as u64)
    }

    async fn drop_object(&self, kind: ObjectKind, id: Uuid) -> Result<bool, StoreError> {
        Ok(self.open_objects()?.remove(&(kind, id)).is_some())
    }

    async fn object(&self, kind: ObjectKind, id: Uuid) -> Result<Option<ObjectRow>, StoreError> {
        Ok(self.open_objects()?.get(&(kind, id)).cloned())
    }

    async fn objects(&self, query: &ObjectQuery) -> Result<Vec<ObjectRow>, StoreError> {
        let objects = self.open_objects()?;
        let mut found: Vec<ObjectRow> =
            objects.values().filter(|it| query.matches(it)).cloned().collect();
        found.sort_by_key(|it| (it.created, it.id));
        if query.descending {
            found.reverse();
        }
        let marker = query.marker.and_then(|id| objects.get(&(query.kind, id)));
        if let Some(marker) = marker.map(|it| (it.created, it.id)) {
            found.retain(|it| match query.descending {
                false => (it.created, it.id) > marker,
                true => (it.created, it.id) < marker,
            });
        }
        let limit = query.limit.and_then(|limit| usize::try_from(limit).ok());
        found.truncate(limit.unwrap_or(usize::MAX));
        if !query.with_bodies {
            found.iter_mut().for_each(|object| object.body.clear());
        }
        Ok(found)
    }

    async fn count_objects(&self, query: &ObjectQuery) -> Result<u64, StoreError> {
        Ok(self.open_objects()?.values().filter(|it| query.matches(it)).count() as u64)
    }
}
