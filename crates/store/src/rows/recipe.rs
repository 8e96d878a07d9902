//! Recipes and the texts that they need.

use super::NO_ID;
use super::column::column;
use crate::cipher::BodyKind;
use crate::error::DbError;
use crate::sql::Reader;
use crate::table::{Column, TableRow};
use kiln_engine::store::{Content, Hash, RecipeRow};
use kiln_engine::{RecipeId, StackId};
use std::sync::Arc;

impl TableRow for RecipeRow {
    const TABLE: &'static str = "recipes";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<RecipeRow>] = &[
        column!(id),
        column!(root),
        // The hashes of its texts are part of what is sealed: they would betray the texts.
        Column::sealed(
            "body",
            |row, cipher| cipher.seal(BodyKind::Recipe, row.id.0.as_bytes(), &join_recipe(row)),
            |row, cipher, sealed| {
                let body = cipher.open(BodyKind::Recipe, row.id.0.as_bytes(), sealed)?;
                let (contents, rest) = split_recipe(&body).ok_or_else(|| DbError::Damaged {
                    what: format!("recipe {}", row.id),
                    why: "it is shorter than it says; restore the database from a backup"
                        .to_owned(),
                })?;
                (row.contents, row.body) = (contents, rest.to_vec());
                Ok(())
            },
        ),
    ];

    fn blank() -> RecipeRow {
        RecipeRow {
            id: RecipeId(NO_ID),
            root: StackId(NO_ID),
            contents: Vec::new(),
            body: Vec::new(),
        }
    }

    fn key(&self) -> Vec<u8> {
        self.id.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len() + 32 * self.contents.len()
    }
}

fn join_recipe(row: &RecipeRow) -> Vec<u8> {
    let count = u32::try_from(row.contents.len()).unwrap_or(u32::MAX);
    let mut body = Vec::with_capacity(4 + row.weight());
    body.extend(count.to_be_bytes());
    row.contents.iter().for_each(|hash| body.extend(hash.0));
    body.extend(&row.body);
    body
}

fn split_recipe(body: &[u8]) -> Option<(Vec<Hash>, &[u8])> {
    let (count, body) = body.split_first_chunk::<4>()?;
    let count = usize::try_from(u32::from_be_bytes(*count)).ok()?;
    let (hashes, rest) = body.split_at_checked(count.checked_mul(32)?)?;
    let hashes = hashes.as_chunks::<32>().0;
    Some((hashes.iter().copied().map(Hash).collect(), rest))
}

/// The need of a recipe for a text.
pub(crate) struct NeedRow {
    pub(crate) recipe: RecipeId,
    /// The key by which the text is found.
    pub(crate) content: [u8; 32],
}

impl TableRow for NeedRow {
    const TABLE: &'static str = "needs";
    const KEY: &'static [&'static str] = &["recipe", "content"];
    const COLUMNS: &'static [Column<NeedRow>] = &[
        column!(recipe),
        Column::plain(
            "content",
            |row, to| to.bytes(&row.content),
            |row, from| hash(from).map(|it| row.content = it),
        ),
    ];

    fn blank() -> NeedRow {
        NeedRow { recipe: RecipeId(NO_ID), content: [0; 32] }
    }

    fn key(&self) -> Vec<u8> {
        [&self.recipe.0.as_bytes()[..], &self.content].concat()
    }

    fn weight(&self) -> usize {
        0
    }
}

fn hash(reader: &mut Reader<'_>) -> Result<[u8; 32], DbError> {
    let bytes = reader.bytes()?;
    bytes.try_into().map_err(|_| DbError::Damaged {
        what: "the hash of a text".to_owned(),
        why: format!("it has {} bytes, not 32", bytes.len()),
    })
}

impl TableRow for Content {
    const TABLE: &'static str = "contents";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<Content>] = &[
        // While a row is read, its hash is what it was found by.
        Column::sealed(
            "id",
            |row, cipher| Ok(cipher.lookup(row.hash).to_vec()),
            |row, _, id| {
                row.hash = Hash(id.try_into().unwrap_or_default());
                Ok(())
            },
        ),
        Column::sealed(
            "body",
            |row, cipher| cipher.seal(BodyKind::Content, &cipher.lookup(row.hash), &row.bytes),
            |row, cipher, sealed| {
                let bytes = cipher.open(BodyKind::Content, &row.hash.0, sealed)?;
                (row.hash, row.bytes) = (Hash::of(&bytes), bytes.into());
                Ok(())
            },
        ),
    ];

    fn blank() -> Content {
        Content { hash: Hash([0; 32]), bytes: Arc::default() }
    }

    fn key(&self) -> Vec<u8> {
        self.hash.0.to_vec()
    }

    fn weight(&self) -> usize {
        self.bytes.len()
    }
}
