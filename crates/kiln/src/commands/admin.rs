//! `kiln admin`: what operators see of a running service, and what they do about a stack that no engine goes on with.

mod orphans;

use super::db::{failed, open, wait_for};
use crate::cli::{AdminCommand, AdminList, AdminStackCommand, AdminTrees};
use crate::client::{self, Listing};
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_engine::store::{CommandRow, Store};
use kiln_engine::{Command, Config, EngineId, StackId, fail_tree, is_parked, now, release_tree};
use kiln_store::{SqlStore, TreeOverview};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The reason of a stack that an operator has failed.
const FAILED: &str =
    "The work on this stack was ended by an operator. Next: update the stack, or delete it.";

pub(crate) fn run(
    command: &AdminCommand,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    match command {
        AdminCommand::Engines(list) => print(ENGINES, &wait_for(engines(list))??, list, streams),
        AdminCommand::Trees(arguments) => {
            print(TREES, &wait_for(trees(arguments))??, &arguments.list, streams)
        }
        AdminCommand::Queue(list) => print(QUEUE, &wait_for(queue(list))??, list, streams),
        AdminCommand::Orphans(arguments) => wait_for(orphans::list(arguments, streams))?,
        AdminCommand::Reconcile(arguments) => wait_for(orphans::reconcile(arguments, streams))?,
        AdminCommand::Stack(command) => wait_for(stack(command, streams))?,
    }
}

fn print(
    columns: &[(&'static str, &'static str)],
    objects: &[Value],
    list: &AdminList,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    client::print_list(Listing::of(columns, objects), &list.output_format, streams)
}

const ENGINES: &[(&str, &str)] = &[
    ("Engine", "engine"),
    ("Host", "host"),
    ("Started", "started"),
    ("Last report", "reported"),
    ("State", "state"),
    ("Stacks", "stacks"),
];

const TREES: &[(&str, &str)] = &[
    ("Stack", "stack"),
    ("Name", "name"),
    ("Project", "project"),
    ("State", "state"),
    ("Engine", "engine"),
    ("Lease until", "lease_until"),
    ("Waiting", "waiting"),
    ("Parked", "parked"),
];

const QUEUE: &[(&str, &str)] = &[
    ("Stack", "stack"),
    ("Request", "request"),
    ("Command", "command"),
    ("Waiting since", "since"),
    ("Seconds", "seconds"),
    ("Engine", "engine"),
];

async fn engines(list: &AdminList) -> Result<Vec<Value>, CommandError> {
    let store = open(&list.database).await?;
    let mut owned: BTreeMap<EngineId, usize> = BTreeMap::new();
    for tree in store.trees_at_work(u64::MAX).await.map_err(failed)? {
        if let Some(engine) = tree.engine {
            *owned.entry(engine).or_default() += 1;
        }
    }
    let engines = kiln_engine::engines(&store).await.map_err(failed)?;
    let limit = usize::try_from(list.limit).unwrap_or(usize::MAX);
    let object = |engine: &kiln_engine::EngineView| {
        json!({
            "engine": engine.id.0.to_string(),
            "host": engine.host,
            "started": engine.started.to_string(),
            "reported": engine.reported.to_string(),
            "state": if engine.is_up { "up" } else { "down" },
            "stacks": owned.get(&engine.id).copied().unwrap_or_default(),
        })
    };
    Ok(engines.iter().take(limit).map(object).collect())
}

async fn trees(arguments: &AdminTrees) -> Result<Vec<Value>, CommandError> {
    let store = open(&arguments.list.database).await?;
    let waiting = store.waiting_commands(u64::MAX).await.map_err(failed)?;
    let mut objects = Vec::new();
    for tree in store.trees_at_work(arguments.list.limit).await.map_err(failed)? {
        let Some(root) = store.stack(tree.root).await.map_err(failed)? else { continue };
        let is_parked = is_parked(&root);
        if arguments.parked && !is_parked {
            continue;
        }
        objects.push(json!({
            "stack": tree.root.to_string(),
            "name": root.summary.name,
            "project": tree.project,
            "state": root.summary.state.to_string(),
            "engine": engine_of(&tree),
            "lease_until": lease_of(&tree),
            "waiting": waiting.iter().filter(|row| row.root == tree.root).count(),
            "parked": is_parked,
        }));
    }
    Ok(objects)
}

async fn queue(list: &AdminList) -> Result<Vec<Value>, CommandError> {
    let store = open(&list.database).await?;
    let mut objects = Vec::new();
    for row in store.waiting_commands(list.limit).await.map_err(failed)? {
        let tree = store.tree(row.root).await.map_err(failed)?;
        objects.push(json!({
            "stack": row.root.to_string(),
            "request": row.id.to_string(),
            "command": command_name(&row),
            "since": row.time.to_string(),
            "seconds": now().since(row.time).as_secs(),
            "engine": tree.as_ref().map(engine_of).unwrap_or_default(),
        }));
    }
    Ok(objects)
}

/// What a command does, or why that is not known.
fn command_name(row: &CommandRow) -> String {
    match Command::read(row) {
        Ok(command) => command.name().to_owned(),
        Err(error) => error.to_string(),
    }
}

fn engine_of(tree: &TreeOverview) -> String {
    tree.engine.map(|engine| engine.0.to_string()).unwrap_or_default()
}

fn lease_of(tree: &TreeOverview) -> String {
    if tree.engine.is_some() { tree.expires.to_string() } else { String::new() }
}

async fn stack(
    command: &AdminStackCommand,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let (AdminStackCommand::Inspect(arguments)
    | AdminStackCommand::Release(arguments)
    | AdminStackCommand::Fail(arguments)) = command;
    let store = open(&arguments.database).await?;
    let root = root_of(&store, StackId(arguments.id)).await?;
    match command {
        AdminStackCommand::Inspect(_) => inspect(&store, root, streams).await,
        AdminStackCommand::Release(_) => {
            release_tree(&store, root).await.map_err(failed)?;
            writeln!(streams.out, "Released stack {root}: the engines try it again.")?;
            Ok(Verdict::Good)
        }
        AdminStackCommand::Fail(_) => fail(&store, root, streams).await,
    }
}

/// Fails everything that is under way in the tree of a stack.
pub(crate) async fn fail(
    store: &SqlStore,
    id: StackId,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let root = root_of(store, id).await?;
    let config = Arc::new(Config::default());
    let ended = fail_tree(store, &config, root, FAILED).await.map_err(failed)?;
    let ended = ended.ok_or_else(|| no_stack(root))?;
    writeln!(
        streams.out,
        "Failed stack {root}: operations ended: {}; requests dropped: {}. No object in the cloud was touched.",
        ended.operations, ended.commands
    )?;
    Ok(Verdict::Good)
}

/// The root of a stack.
async fn root_of(store: &SqlStore, id: StackId) -> Result<StackId, CommandError> {
    let row = store.stack(id).await.map_err(failed)?;
    row.map(|row| row.root).ok_or_else(|| no_stack(id))
}

fn no_stack(id: StackId) -> CommandError {
    CommandError::Usage(format!(
        "there is no stack {id} in this database; `kiln admin trees` lists those that have work"
    ))
}

async fn inspect(
    store: &SqlStore,
    root: StackId,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let tree = store.tree(root).await.map_err(failed)?.ok_or_else(|| no_stack(root))?;
    let stack = store.stack(root).await.map_err(failed)?.ok_or_else(|| no_stack(root))?;
    let bytes = store.tree_bytes(root).await.map_err(failed)?;
    let rows = store.load_stacks(root).await.map_err(failed)?.unwrap_or_default();
    let commands = store.commands(root).await.map_err(failed)?;
    let out = &mut streams.out;
    writeln!(out, "Stack:      {root} ({})", stack.summary.name)?;
    writeln!(out, "Project:    {}", tree.project)?;
    writeln!(out, "State:      {}", stack.summary.state)?;
    writeln!(out, "Reason:     {}", stack.summary.reason)?;
    match tree.engine {
        Some(engine) => writeln!(
            out,
            "Owner:      engine {} until {}, lease {}",
            engine.0, tree.expires, tree.fence
        )?,
        None => writeln!(out, "Owner:      none since {}", tree.expires)?,
    }
    writeln!(out, "Work to do: {}", if tree.has_work { "yes" } else { "no" })?;
    writeln!(out, "Size:       {} stacks, {bytes} bytes of records", rows.stacks.len())?;
    writeln!(out, "Requests that wait: {}", commands.len())?;
    for row in &commands {
        writeln!(out, "  {} {} since {}", row.id, command_name(row), row.time)?;
    }
    if is_parked(&stack) {
        writeln!(
            out,
            "\nNothing is done to this stack for now: the reason says why.\n\
             Next: remove the cause, then `kiln admin stack release {root}`; or give up what is under way with\n\
             `kiln admin stack fail {root}`, after which the stack can be updated or deleted."
        )?;
    }
    Ok(Verdict::Good)
}
