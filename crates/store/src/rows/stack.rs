//! Stacks and their tags.

use super::column::{body_column, column, status_column};
use super::texts::{HasTexts, Texts, texts_column};
use super::{NO_ID, NO_STATE, NO_TIME};
use crate::cipher::BodyKind;
use crate::table::{Column, TableRow};
use kiln_engine::store::StackRow;
use kiln_engine::{RecipeId, StackId, StackSummary, Time};
use std::sync::Arc;

/// The value of `updated` for a stack that was never updated: less than any moment, so that it can be
/// sorted.
pub(crate) const NEVER_UPDATED: i64 = i64::MIN;

/// The class of a stack, by which lists select first: whether it is nested, and whether it is deleted.
pub(crate) fn class(nested: bool, deleted: bool) -> i16 {
    i16::from(nested) + 2 * i16::from(deleted)
}

impl TableRow for StackRow {
    const TABLE: &'static str = "stacks";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<StackRow>] = &[
        column!(id),
        column!(root),
        column!(parent),
        column!(project),
        column!("name", summary.name),
        column!(user_name),
        column!("action", summary.state.action),
        status_column!(summary.state),
        column!("created", summary.created),
        Column::plain(
            "updated",
            |row, to| to.int(row.summary.updated.map_or(NEVER_UPDATED, Time::micros)),
            |row, from| {
                from.int().map(|it| {
                    row.summary.updated = (it != NEVER_UPDATED).then(|| Time::from_micros(it))
                })
            },
        ),
        column!("deleted", summary.deleted),
        Column::plain(
            "class",
            |row, to| to.small(class(row.parent.is_some(), row.summary.deleted.is_some())),
            |_, from| from.int().map(drop),
        ),
        Column::plain(
            "tags",
            |row, to| to.text(&join_tags(&row.summary.tags)),
            |row, from| from.text().map(|it| row.summary.tags = split_tags(it)),
        ),
        column!(recipe),
        column!(previous),
        body_column!(Stack, body),
        texts_column(),
        // Lists can be filtered by the reason.
        Column::sealed(
            "reason_key",
            |row, cipher| Ok(cipher.reason_key(&row.summary.reason).to_vec()),
            |_, _, _| Ok(()),
        ),
    ];

    fn blank() -> StackRow {
        StackRow {
            id: StackId(NO_ID),
            root: StackId(NO_ID),
            parent: None,
            project: Arc::default(),
            user_name: Arc::default(),
            summary: StackSummary::new(Arc::default(), NO_STATE, NO_TIME),
            recipe: RecipeId(NO_ID),
            previous: None,
            body: Vec::new(),
        }
    }

    fn key(&self) -> Vec<u8> {
        self.id.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len() + self.summary.reason.len()
    }
}

impl HasTexts for StackRow {
    const TEXTS: BodyKind = BodyKind::StackTexts;

    fn texts(&self) -> Texts {
        Texts { reason: self.summary.reason.clone(), physical_id: None }
    }

    fn set_texts(&mut self, texts: Texts) {
        self.summary.reason = texts.reason;
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
    const COLUMNS: &'static [Column<TagRow>] = &[column!(stack), column!(tag)];

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
