//! The rows of each table: which columns they have, and how they go in and out.

use crate::cipher::{Cipher, Kind};
use crate::fault::Fault;
use crate::sql::{Reader, Values};
use crate::table::{Record, Table};
use kiln_engine::ids::{CommandId, EngineId, EventId, RecipeId, ResourceId, SnapshotId, StackId};
use kiln_engine::state::{Action, State, Status};
use kiln_engine::store::{
    CommandRow, Content, EventRow, Hash, Lease, RecipeRow, ResourceRow, SnapshotRow, StackRow,
};
use kiln_engine::time::Time;
use sqlx::any::AnyRow;
use std::sync::Arc;

/// A tree: its owner, its queue's and its events' numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeRow {
    pub(crate) root: StackId,
    pub(crate) project: String,
    /// The root's name, which no other tree of the project has; none once the root is deleted.
    pub(crate) live_name: Option<String>,
    pub(crate) engine: Option<EngineId>,
    pub(crate) fence: u64,
    /// When the lease runs out; without an owner, since when there is none.
    pub(crate) expires: Time,
    pub(crate) has_work: bool,
    pub(crate) last_event: u64,
    pub(crate) last_command: u64,
}

impl TreeRow {
    /// Gives the tree to an engine, with a new fence.
    pub(crate) fn take(&mut self, engine: EngineId, until: Time) -> Lease {
        self.engine = Some(engine);
        self.fence += 1;
        self.expires = until;
        Lease { root: self.root, engine, fence: self.fence, until }
    }
}

impl Record for TreeRow {
    const TABLE: Table = Table {
        name: "trees",
        key: &["root"],
        columns: &[
            "root",
            "project",
            "live_name",
            "engine",
            "owned",
            "fence",
            "expires",
            "has_work",
            "last_event",
            "last_command",
        ],
    };

    fn key(&self) -> Vec<u8> {
        self.root.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        0
    }

    fn write(&self, _: &Cipher, values: &mut Values) -> Result<(), Fault> {
        values.id(self.root.0);
        values.text(&self.project);
        values.maybe_text(self.live_name.as_deref());
        values.maybe_id(self.engine.map(|engine| engine.0));
        values.small(i16::from(self.engine.is_some()));
        values.count(self.fence);
        values.time(self.expires);
        values.small(i16::from(self.has_work));
        values.count(self.last_event);
        values.count(self.last_command);
        Ok(())
    }

    fn read(_: &Cipher, row: &AnyRow) -> Result<TreeRow, Fault> {
        let mut row = Reader::new(row);
        Ok(TreeRow {
            root: StackId(row.id()?),
            project: row.text()?.to_owned(),
            live_name: row.maybe_text()?.map(str::to_owned),
            engine: (row.maybe_id()?.map(EngineId), row.int()?).0,
            fence: row.count()?,
            expires: row.time()?,
            has_work: row.int()? != 0,
            last_event: row.count()?,
            last_command: row.count()?,
        })
    }
}

/// What `updated` is for a stack that never was: less than any moment, so that it can be sorted.
pub(crate) const NEVER_UPDATED: i64 = i64::MIN;

impl Record for StackRow {
    const TABLE: Table = Table {
        name: "stacks",
        key: &["id"],
        columns: &[
            "id",
            "root",
            "parent",
            "project",
            "name",
            "user_name",
            "action",
            "status",
            "reason",
            "created",
            "updated",
            "deleted",
            "class",
            "tags",
            "recipe",
            "previous",
            "body",
        ],
    };

    fn key(&self) -> Vec<u8> {
        self.id.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len() + self.reason.len()
    }

    fn write(&self, cipher: &Cipher, values: &mut Values) -> Result<(), Fault> {
        values.id(self.id.0);
        values.id(self.root.0);
        values.maybe_id(self.parent.map(|parent| parent.0));
        values.text(&self.project);
        values.text(&self.name);
        values.text(&self.user_name);
        values.text(self.state.action.name());
        values.text(self.state.status.name());
        values.text(&self.reason);
        values.time(self.created);
        values.int(self.updated.map_or(NEVER_UPDATED, Time::micros));
        values.maybe_time(self.deleted);
        values.small(class(self.parent.is_some(), self.deleted.is_some()));
        values.text(&join_tags(&self.tags));
        values.id(self.recipe.0);
        values.maybe_id(self.previous.map(|previous| previous.0));
        values.bytes(&cipher.seal(Kind::Stack, self.id.0.as_bytes(), &self.body)?);
        Ok(())
    }

    fn read(cipher: &Cipher, row: &AnyRow) -> Result<StackRow, Fault> {
        let mut row = Reader::new(row);
        let id = row.id()?;
        Ok(StackRow {
            id: StackId(id),
            root: StackId(row.id()?),
            parent: row.maybe_id()?.map(StackId),
            project: row.text()?.into(),
            name: row.text()?.into(),
            user_name: row.text()?.into(),
            state: state(&mut row)?,
            reason: row.text()?.into(),
            created: row.time()?,
            updated: Some(row.int()?).filter(|time| *time != NEVER_UPDATED).map(Time::from_micros),
            deleted: row.maybe_int()?.map(Time::from_micros),
            tags: (row.int()?, split_tags(row.text()?)).1,
            recipe: RecipeId(row.id()?),
            previous: row.maybe_id()?.map(RecipeId),
            body: cipher.open(Kind::Stack, id.as_bytes(), row.bytes()?)?,
        })
    }
}

/// What lists tell apart first: whether a stack is nested, and whether it is deleted.
pub(crate) fn class(nested: bool, deleted: bool) -> i16 {
    i16::from(nested) + 2 * i16::from(deleted)
}

/// A tag of a stack, for looking it up.
pub(crate) struct TagRow {
    pub(crate) stack: StackId,
    pub(crate) tag: Arc<str>,
}

impl Record for TagRow {
    const TABLE: Table = Table { name: "tags", key: &["stack", "tag"], columns: &["stack", "tag"] };

    fn key(&self) -> Vec<u8> {
        [self.stack.0.as_bytes(), self.tag.as_bytes()].concat()
    }

    fn weight(&self) -> usize {
        0
    }

    fn write(&self, _: &Cipher, values: &mut Values) -> Result<(), Fault> {
        values.id(self.stack.0);
        values.text(&self.tag);
        Ok(())
    }

    fn read(_: &Cipher, row: &AnyRow) -> Result<TagRow, Fault> {
        let mut row = Reader::new(row);
        Ok(TagRow { stack: StackId(row.id()?), tag: row.text()?.into() })
    }
}

/// Tags as one text: each ends its line; line ends and backslashes within are escaped.
fn join_tags(tags: &[Arc<str>]) -> String {
    tags.iter().map(|tag| tag.replace('\\', "\\\\").replace('\n', "\\n") + "\n").collect()
}

fn split_tags(text: &str) -> Vec<Arc<str>> {
    // `lines` would take a carriage return for a part of the line's end.
    text.split_terminator('\n').map(|line| unescape(line).into()).collect()
}

fn unescape(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        text.push(match c {
            '\\' if rest.next() == Some('n') => '\n',
            other => other,
        });
    }
    text
}

impl Record for ResourceRow {
    const TABLE: Table = Table {
        name: "resources",
        key: &["id"],
        columns: &[
            "id",
            "stack",
            "root",
            "number",
            "name",
            "kind",
            "action",
            "status",
            "reason",
            "physical_id",
            "created",
            "updated",
            "body",
        ],
    };

    fn key(&self) -> Vec<u8> {
        self.id.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len() + self.reason.len()
    }

    fn write(&self, cipher: &Cipher, values: &mut Values) -> Result<(), Fault> {
        values.id(self.id.0);
        values.id(self.stack.0);
        values.id(self.root.0);
        values.count(self.number);
        values.text(&self.name);
        values.text(&self.kind);
        values.text(self.state.action.name());
        values.text(self.state.status.name());
        values.text(&self.reason);
        values.maybe_text(self.physical_id.as_deref());
        values.time(self.created);
        values.time(self.updated);
        values.bytes(&cipher.seal(Kind::Resource, self.id.0.as_bytes(), &self.body)?);
        Ok(())
    }

    fn read(cipher: &Cipher, row: &AnyRow) -> Result<ResourceRow, Fault> {
        let mut row = Reader::new(row);
        let id = row.id()?;
        Ok(ResourceRow {
            id: ResourceId(id),
            stack: StackId(row.id()?),
            root: StackId(row.id()?),
            number: row.count()?,
            name: row.text()?.into(),
            kind: row.text()?.into(),
            state: state(&mut row)?,
            reason: row.text()?.into(),
            physical_id: row.maybe_text()?.map(Into::into),
            created: row.time()?,
            updated: row.time()?,
            body: cipher.open(Kind::Resource, id.as_bytes(), row.bytes()?)?,
        })
    }
}

impl Record for EventRow {
    const IS_FIXED: bool = true;

    const TABLE: Table = Table {
        name: "events",
        key: &["id"],
        columns: &[
            "id",
            "stack",
            "root",
            "number",
            "time",
            "resource",
            "kind",
            "physical_id",
            "action",
            "status",
            "reason",
            "body",
        ],
    };

    fn key(&self) -> Vec<u8> {
        self.id.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len() + self.reason.len()
    }

    fn write(&self, cipher: &Cipher, values: &mut Values) -> Result<(), Fault> {
        values.id(self.id.0);
        values.id(self.stack.0);
        values.id(self.root.0);
        values.count(self.number);
        values.time(self.time);
        values.text(&self.resource);
        values.text(&self.kind);
        values.text(&self.physical_id);
        values.text(self.state.action.name());
        values.text(self.state.status.name());
        values.text(&self.reason);
        // Most have none, and then there is nothing to hide.
        match self.body.as_slice() {
            [] => values.bytes(&[]),
            body => values.bytes(&cipher.seal(Kind::Event, self.id.0.as_bytes(), body)?),
        }
        Ok(())
    }

    fn read(cipher: &Cipher, row: &AnyRow) -> Result<EventRow, Fault> {
        let mut row = Reader::new(row);
        let id = row.id()?;
        Ok(EventRow {
            id: EventId(id),
            stack: StackId(row.id()?),
            root: StackId(row.id()?),
            number: row.count()?,
            time: row.time()?,
            resource: row.text()?.into(),
            kind: row.text()?.into(),
            physical_id: row.text()?.into(),
            state: state(&mut row)?,
            reason: row.text()?.into(),
            body: match row.bytes()? {
                [] => Vec::new(),
                sealed => cipher.open(Kind::Event, id.as_bytes(), sealed)?,
            },
        })
    }
}

impl Record for SnapshotRow {
    const TABLE: Table = Table {
        name: "snapshots",
        key: &["id"],
        columns: &[
            "id", "root", "stack", "project", "name", "action", "status", "reason", "created",
            "body",
        ],
    };

    fn key(&self) -> Vec<u8> {
        self.id.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len() + self.reason.len()
    }

    fn write(&self, cipher: &Cipher, values: &mut Values) -> Result<(), Fault> {
        values.id(self.id.0);
        values.id(self.root.0);
        values.id(self.stack.0);
        values.text(&self.project);
        values.maybe_text(self.name.as_deref());
        values.text(self.state.action.name());
        values.text(self.state.status.name());
        values.text(&self.reason);
        values.time(self.created);
        values.bytes(&cipher.seal(Kind::Snapshot, self.id.0.as_bytes(), &self.body)?);
        Ok(())
    }

    fn read(cipher: &Cipher, row: &AnyRow) -> Result<SnapshotRow, Fault> {
        let mut row = Reader::new(row);
        let id = row.id()?;
        Ok(SnapshotRow {
            id: SnapshotId(id),
            root: StackId(row.id()?),
            stack: StackId(row.id()?),
            project: row.text()?.into(),
            name: row.maybe_text()?.map(Into::into),
            state: state(&mut row)?,
            reason: row.text()?.into(),
            created: row.time()?,
            body: cipher.open(Kind::Snapshot, id.as_bytes(), row.bytes()?)?,
        })
    }
}

impl Record for RecipeRow {
    const TABLE: Table = Table { name: "recipes", key: &["id"], columns: &["id", "root", "body"] };

    fn key(&self) -> Vec<u8> {
        self.id.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len() + 32 * self.contents.len()
    }

    /// The hashes of its texts are part of what is sealed: they would betray the texts.
    fn write(&self, cipher: &Cipher, values: &mut Values) -> Result<(), Fault> {
        values.id(self.id.0);
        values.id(self.root.0);
        let count = u32::try_from(self.contents.len()).unwrap_or(u32::MAX);
        let mut body = Vec::with_capacity(4 + self.weight());
        body.extend(count.to_be_bytes());
        self.contents.iter().for_each(|hash| body.extend(hash.0));
        body.extend(&self.body);
        values.bytes(&cipher.seal(Kind::Recipe, self.id.0.as_bytes(), &body)?);
        Ok(())
    }

    fn read(cipher: &Cipher, row: &AnyRow) -> Result<RecipeRow, Fault> {
        let mut row = Reader::new(row);
        let (id, root) = (row.id()?, row.id()?);
        let body = cipher.open(Kind::Recipe, id.as_bytes(), row.bytes()?)?;
        let (contents, rest) = split_recipe(&body).ok_or_else(|| Fault::Damaged {
            what: format!("recipe {id}"),
            why: "it is shorter than it says; restore the database from a backup".to_owned(),
        })?;
        Ok(RecipeRow { id: RecipeId(id), root: StackId(root), contents, body: rest.to_vec() })
    }
}

fn split_recipe(body: &[u8]) -> Option<(Vec<Hash>, &[u8])> {
    let (count, body) = body.split_first_chunk::<4>()?;
    let count = usize::try_from(u32::from_be_bytes(*count)).ok()?;
    let (hashes, rest) = body.split_at_checked(count.checked_mul(32)?)?;
    let hashes = hashes.as_chunks::<32>().0;
    Some((hashes.iter().copied().map(Hash).collect(), rest))
}

/// That a recipe needs a text.
pub(crate) struct NeedRow {
    pub(crate) recipe: RecipeId,
    /// What the text is found by.
    pub(crate) content: [u8; 32],
}

impl Record for NeedRow {
    const TABLE: Table =
        Table { name: "needs", key: &["recipe", "content"], columns: &["recipe", "content"] };

    fn key(&self) -> Vec<u8> {
        [&self.recipe.0.as_bytes()[..], &self.content].concat()
    }

    fn weight(&self) -> usize {
        0
    }

    fn write(&self, _: &Cipher, values: &mut Values) -> Result<(), Fault> {
        values.id(self.recipe.0);
        values.bytes(&self.content);
        Ok(())
    }

    fn read(_: &Cipher, row: &AnyRow) -> Result<NeedRow, Fault> {
        let mut row = Reader::new(row);
        let recipe = RecipeId(row.id()?);
        let content = row.bytes()?.try_into().unwrap_or_default();
        Ok(NeedRow { recipe, content })
    }
}

impl Record for Content {
    const TABLE: Table = Table { name: "contents", key: &["id"], columns: &["id", "body"] };

    fn key(&self) -> Vec<u8> {
        self.hash.0.to_vec()
    }

    fn weight(&self) -> usize {
        self.bytes.len()
    }

    fn write(&self, cipher: &Cipher, values: &mut Values) -> Result<(), Fault> {
        let id = cipher.lookup(self.hash);
        values.bytes(&id);
        values.bytes(&cipher.seal(Kind::Content, &id, &self.bytes)?);
        Ok(())
    }

    fn read(cipher: &Cipher, row: &AnyRow) -> Result<Content, Fault> {
        let mut row = Reader::new(row);
        let bytes = cipher.open(Kind::Content, row.bytes()?, row.bytes()?)?;
        Ok(Content { hash: Hash::of(&bytes), bytes: bytes.into() })
    }
}

/// A command and its place in the queue.
pub(crate) struct QueuedRow {
    pub(crate) number: u64,
    pub(crate) command: CommandRow,
}

impl Record for QueuedRow {
    const TABLE: Table = Table {
        name: "commands",
        key: &["id"],
        columns: &["id", "root", "number", "time", "body"],
    };

    fn key(&self) -> Vec<u8> {
        self.command.id.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.command.body.len()
    }

    fn write(&self, cipher: &Cipher, values: &mut Values) -> Result<(), Fault> {
        values.id(self.command.id.0);
        values.id(self.command.root.0);
        values.count(self.number);
        values.time(self.command.time);
        let id = self.command.id.0;
        values.bytes(&cipher.seal(Kind::Command, id.as_bytes(), &self.command.body)?);
        Ok(())
    }

    fn read(cipher: &Cipher, row: &AnyRow) -> Result<QueuedRow, Fault> {
        let mut row = Reader::new(row);
        let (id, root, number) = (row.id()?, row.id()?, row.count()?);
        let time = row.time()?;
        let body = cipher.open(Kind::Command, id.as_bytes(), row.bytes()?)?;
        let command = CommandRow { id: CommandId(id), root: StackId(root), time, body };
        Ok(QueuedRow { number, command })
    }
}

pub(crate) fn state(row: &mut Reader<'_>) -> Result<State, Fault> {
    let (action, status) = (row.text()?, row.text()?);
    state_named(action, status)
}

pub(crate) fn state_named(action: &str, status: &str) -> Result<State, Fault> {
    match (Action::parse(action), Status::parse(status)) {
        (Some(action), Some(status)) => Ok(State::new(action, status)),
        _ => Err(Fault::Damaged {
            what: format!("the state {action}_{status}"),
            why: "there is no such state; was it written by a newer Kiln?".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_come_back_as_they_were() {
        let tags: Vec<Arc<str>> =
            ["a", "", "two\nlines", r"back\slash", r"\n", "cr\r"].map(Into::into).into();
        assert_eq!(split_tags(&join_tags(&tags)), tags);
        assert_eq!(split_tags(&join_tags(&[])), Vec::<Arc<str>>::new());
    }
}
