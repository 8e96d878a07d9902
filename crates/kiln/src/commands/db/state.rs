//! `kiln db status`, `check` and `migrate`.

use super::{failed, list, open, place, rows};
use crate::cli::Database;
use crate::config::DatabaseSettings;
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_engine::store::Store;
use kiln_engine::{Config, check_tree, engines, is_parked, now};
use kiln_store::{Inspection, SqlStore};
use std::sync::Arc;

/// How many trees are read at once.
const TREES_PER_PAGE: u64 = 500;

/// What is in a database, without its keys.
async fn inspect(database: &Database) -> Result<Inspection, CommandError> {
    let DatabaseSettings { url, keys } = place(database)?;
    let inspected = SqlStore::inspect(&url, &keys).await;
    inspected.map_err(|error| CommandError::usage(error.to_string()))
}

pub(super) async fn status(
    database: &Database,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let inspection = inspect(database).await?;
    let known = inspection.known_schema;
    match inspection.schema {
        Some(schema) if schema == known => {
            writeln!(streams.out, "Schema:    {schema}, the newest")?
        }
        Some(schema) => {
            // Opening the store would migrate it.
            writeln!(streams.out, "Schema:    {schema}; this program knows {known}")?;
            writeln!(
                streams.out,
                "Next: back it up, then `kiln db migrate`, or start the newer server."
            )?;
            return Ok(Verdict::of(schema < known));
        }
        None => {
            writeln!(streams.out, "Schema:    none: the first start of a server creates {known}")?;
            return Ok(Verdict::Good);
        }
    }
    if let Some(Err(error)) = inspection.keys {
        writeln!(streams.out, "Keys:      {error}")?;
        return Ok(Verdict::Bad);
    }
    let store = open(database).await?;
    let (mut live, mut deleted, mut parked) = (0_u64, 0_u64, 0_u64);
    let mut last = None;
    loop {
        let page = store.trees_after(last, TREES_PER_PAGE).await.map_err(failed)?;
        let Some(tree) = page.last() else { break };
        last = Some(tree.root);
        let are_live = page.iter().filter(|tree| tree.name.is_some()).count() as u64;
        live += are_live;
        deleted += page.len() as u64 - are_live;
    }
    let at_work = store.trees_at_work(u64::MAX).await.map_err(failed)?;
    for tree in &at_work {
        let root = store.stack(tree.root).await.map_err(failed)?;
        parked += u64::from(root.is_some_and(|root| is_parked(&root)));
    }
    let owned = at_work.iter().filter(|tree| tree.engine.is_some()).count();
    let waiting = store.waiting_commands(u64::MAX).await.map_err(failed)?;
    let oldest = waiting.first().map_or(0, |row| now().since(row.time).as_secs());
    let all = engines(&store).await.map_err(failed)?;
    let up = all.iter().filter(|engine| engine.is_up).count();
    let out = &mut streams.out;
    writeln!(out, "Stacks:    {live}, and {deleted} deleted that were not purged")?;
    writeln!(
        out,
        "At work:   {}, {owned} of them with an engine; parked: {parked}",
        at_work.len()
    )?;
    writeln!(out, "Requests:  {} waiting, the oldest for {oldest} s", waiting.len())?;
    writeln!(out, "Engines:   {up} up, {} down", all.len() - up)?;
    list(&store.key_usage().await.map_err(failed)?, streams)
}

pub(super) async fn check(
    database: &Database,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let inspection = inspect(database).await?;
    if let Some(schema) = inspection.schema.filter(|schema| *schema != inspection.known_schema) {
        return Err(CommandError::usage(format!(
            "the database has schema {schema}, this program knows {}: run `kiln db migrate` of the newer of both first",
            inspection.known_schema
        )));
    }
    let store = open(database).await?;
    let mut problems = store.integrity_problems().await.map_err(failed)?;
    let config = Arc::new(Config::default());
    let (mut trees, mut last) = (0, None);
    loop {
        let page = store.trees_after(last, TREES_PER_PAGE).await.map_err(failed)?;
        let Some(tree) = page.last() else { break };
        last = Some(tree.root);
        for tree in page {
            trees += 1;
            if let Err(error) = check_tree(&store, &config, tree.root).await {
                problems.push(format!("stack {}: {error}", tree.root));
            }
        }
    }
    for key in store.key_usage().await.map_err(failed)?.iter().filter(|key| !key.is_known) {
        let text = rows(key.rows, "is", "are");
        problems
            .push(format!("key {} is missing from the key file; {text} encrypted with it", key.id));
    }
    for problem in &problems {
        writeln!(streams.out, "{problem}")?;
    }
    let trees = if trees == 1 { "1 stack was".to_owned() } else { format!("{trees} stacks were") };
    writeln!(streams.out, "{trees} read; problems: {}.", problems.len())?;
    Ok(Verdict::of(problems.is_empty()))
}

pub(super) async fn migrate(
    database: &Database,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let before = inspect(database).await?;
    open(database).await?.close().await;
    let after = before.known_schema;
    match before.schema {
        Some(schema) if schema == after => {
            writeln!(streams.out, "The database has schema {after} already.")?;
        }
        schema => {
            let schema = schema.map_or_else(|| "none".to_owned(), |schema| schema.to_string());
            writeln!(streams.out, "The database had schema {schema}, and has {after} now.")?;
        }
    }
    Ok(Verdict::Good)
}
