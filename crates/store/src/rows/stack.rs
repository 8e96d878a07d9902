//! Stacks and their tags.

use super::{NO_ID, NO_STATE, NO_TIME};
use crate::cipher::BodyKind;
use crate::table::{Column, TableRow};
use kiln_engine::ids::{RecipeId, StackId};
use kiln_engine::store::StackRow;
use kiln_engine::time::Time;
use std::sync::Arc;

/// What `updated` is for a stack that never was: less than any moment, so that it can be sorted.
pub(crate) const NEVER_UPDATED: i64 = i64::MIN;

/// What lists tell apart first: whether a stack is nested, and whether it is deleted.
pub(crate) fn class(nested: bool, deleted: bool) -> i16 {
    i16::from(nested) + 2 * i16::from(deleted)
}

impl TableRow for StackRow {
    const TABLE: &'static str = "stacks";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<StackRow>] = &[
        Column::plain(
            "id",
            |row, to| to.id(row.id.0),
            |row, from| from.id().map(|it| row.id = StackId(it)),
        ),
        Column::plain(
            "root",
            |row, to| to.id(row.root.0),
            |row, from| from.id().map(|it| row.root = StackId(it)),
        ),
        Column::plain(
            "parent",
            |row, to| to.maybe_id(row.parent.map(|it| it.0)),
            |row, from| from.maybe_id().map(|it| row.parent = it.map(StackId)),
        ),
        Column::plain(
            "project",
            |row, to| to.text(&row.project),
            |row, from| from.text().map(|it| row.project = it.into()),
        ),
        Column::plain(
            "name",
            |row, to| to.text(&row.name),
            |row, from| from.text().map(|it| row.name = it.into()),
        ),
        Column::plain(
            "user_name",
            |row, to| to.text(&row.user_name),
            |row, from| from.text().map(|it| row.user_name = it.into()),
        ),
        Column::plain(
            "action",
            |row, to| to.text(row.state.action.name()),
            |row, from| super::action(from).map(|it| row.state.action = it),
        ),
        Column::plain(
            "status",
            |row, to| to.text(row.state.status.name()),
            |row, from| super::status(row.state.action, from).map(|it| row.state.status = it),
        ),
        Column::plain(
            "reason",
            |row, to| to.text(&row.reason),
            |row, from| from.text().map(|it| row.reason = it.into()),
        ),
        Column::plain(
            "created",
            |row, to| to.time(row.created),
            |row, from| from.time().map(|it| row.created = it),
        ),
        Column::plain(
            "updated",
            |row, to| to.int(row.updated.map_or(NEVER_UPDATED, Time::micros)),
            |row, from| {
                from.int()
                    .map(|it| row.updated = (it != NEVER_UPDATED).then(|| Time::from_micros(it)))
            },
        ),
        Column::plain(
            "deleted",
            |row, to| to.maybe_time(row.deleted),
            |row, from| from.maybe_int().map(|it| row.deleted = it.map(Time::from_micros)),
        ),
        Column::plain(
            "class",
            |row, to| to.small(class(row.parent.is_some(), row.deleted.is_some())),
            |_, from| from.int().map(drop),
        ),
        Column::plain(
            "tags",
            |row, to| to.text(&join_tags(&row.tags)),
            |row, from| from.text().map(|it| row.tags = split_tags(it)),
        ),
        Column::plain(
            "recipe",
            |row, to| to.id(row.recipe.0),
            |row, from| from.id().map(|it| row.recipe = RecipeId(it)),
        ),
        Column::plain(
            "previous",
            |row, to| to.maybe_id(row.previous.map(|it| it.0)),
            |row, from| from.maybe_id().map(|it| row.previous = it.map(RecipeId)),
        ),
        Column::sealed(
            "body",
            |row, cipher| cipher.seal(BodyKind::Stack, row.id.0.as_bytes(), &row.body),
            |row, cipher, sealed| {
                row.body = cipher.open(BodyKind::Stack, row.id.0.as_bytes(), sealed)?;
                Ok(())
            },
        ),
    ];

    fn blank() -> StackRow {
        StackRow {
            id: StackId(NO_ID),
            root: StackId(NO_ID),
            parent: None,
            project: Arc::default(),
            name: Arc::default(),
            user_name: Arc::default(),
            state: NO_STATE,
            reason: Arc::default(),
            created: NO_TIME,
            updated: None,
            deleted: None,
            tags: Vec::new(),
            recipe: RecipeId(NO_ID),
            previous: None,
            body: Vec::new(),
        }
    }

    fn key(&self) -> Vec<u8> {
        self.id.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len() + self.reason.len()
    }
}

/// A tag of a stack, for looking it up.
pub(crate) struct TagRow {
    pub(crate) stack: StackId,
    pub(crate) tag: Arc<str>,
}

impl TableRow for TagRow {
    const TABLE: &'static str = "tags";
    const KEY: &'static [&'static str] = &["stack", "tag"];
    const COLUMNS: &'static [Column<TagRow>] = &[
        Column::plain(
            "stack",
            |row, to| to.id(row.stack.0),
            |row, from| from.id().map(|it| row.stack = StackId(it)),
        ),
        Column::plain(
            "tag",
            |row, to| to.text(&row.tag),
            |row, from| from.text().map(|it| row.tag = it.into()),
        ),
    ];

    fn blank() -> TagRow {
        TagRow { stack: StackId(NO_ID), tag: Arc::default() }
    }

    fn key(&self) -> Vec<u8> {
        [self.stack.0.as_bytes(), self.tag.as_bytes()].concat()
    }

    fn weight(&self) -> usize {
        0
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
