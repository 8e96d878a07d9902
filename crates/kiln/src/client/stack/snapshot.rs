//! Snapshots: states of a stack that can be restored.

use super::super::Client;
use super::super::error::{OrNotFound, Result};
use super::super::format::options::{ListArgs, ShowArgs, ShowFormat};
use super::super::format::{Details, Listing};
use super::super::heat::{Query, list};
use super::target::StackTarget;
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

/// `kiln stack snapshot`.
#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Take a snapshot of a stack
    Create(SnapshotCreate),
    /// List the snapshots of a stack
    List(SnapshotList),
    /// Print a snapshot
    Show(SnapshotShow),
    /// Restore a stack from a snapshot
    Restore(SnapshotTarget),
    /// Delete a snapshot
    Delete(SnapshotDelete),
}

/// Arguments of `kiln stack snapshot create`.
#[derive(Debug, Args)]
pub(crate) struct SnapshotCreate {
    #[command(flatten)]
    target: StackTarget,

    /// Name of the snapshot
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    output_format: ShowArgs,
}

/// Arguments of `kiln stack snapshot list`.
#[derive(Debug, Args)]
pub(crate) struct SnapshotList {
    #[command(flatten)]
    target: StackTarget,

    #[command(flatten)]
    output_format: ListArgs,
}

/// Arguments of `kiln stack snapshot show`.
#[derive(Debug, Args)]
pub(crate) struct SnapshotShow {
    #[command(flatten)]
    named: SnapshotTarget,

    #[command(flatten)]
    output_format: ShowArgs,
}

/// A stack and one of its snapshots.
#[derive(Debug, Args)]
pub(crate) struct SnapshotTarget {
    /// Name or id of the stack
    #[arg(value_name = "STACK")]
    pub(crate) stack: String,

    /// Id of the snapshot
    #[arg(value_name = "SNAPSHOT")]
    pub(crate) snapshot: String,
}

/// Arguments of `kiln stack snapshot delete`.
#[derive(Debug, Args)]
pub(crate) struct SnapshotDelete {
    #[command(flatten)]
    pub(crate) named: SnapshotTarget,

    /// Skip the confirmation prompt
    #[arg(short, long)]
    pub(crate) yes: bool,
}

pub(crate) async fn run(subcommand: SnapshotCommand, client: &mut Client<'_, '_>) -> Result<()> {
    match subcommand {
        SnapshotCommand::Create(SnapshotCreate { target, name, output_format }) => {
            let mut snapshot = create(client, &target.stack, name.as_deref()).await?;
            let id = snapshot["id"].take();
            let mut details = Details { fields: vec![("ID".to_owned(), id.into())] };
            let keys = ["name", "action", "status", "status_reason", "data", "creation_time"];
            details.fields.extend(Details::members(&keys, &snapshot).fields);
            client.console.show(details, &output_format)
        }
        SnapshotCommand::List(SnapshotList { target, output_format }) => {
            let names = ["id", "name", "action", "status", "status_reason", "creation_time"];
            let columns = names.map(|name| (name, name));
            let snapshots = snapshots(client, &target.stack).await?;
            client.console.list(Listing::of(&columns, &snapshots), &output_format)
        }
        SnapshotCommand::Show(SnapshotShow { named, output_format }) => {
            let answer = named.show(client).await?;
            client.console.raw(&answer, &output_format, ShowFormat::Yaml)
        }
        SnapshotCommand::Restore(named) => named.restore(client).await,
        SnapshotCommand::Delete(delete) => delete.run(client).await,
    }
}

/// Takes a snapshot.
pub(crate) async fn create(
    client: &Client<'_, '_>,
    typed: &str,
    name: Option<&str>,
) -> Result<Value> {
    let stack = client.heat.stack(typed).await?;
    let body = name.map_or_else(|| json!({}), |name| json!({ "name": name }));
    let answer = client.heat.post(&stack.path(&["snapshots"]), &body).await;
    answer.or_not_found(|| format!("Stack not found: {typed}"))
}

/// The snapshots of a stack.
pub(crate) async fn snapshots(client: &Client<'_, '_>, typed: &str) -> Result<Vec<Value>> {
    let stack = client.heat.stack(typed).await?;
    let answer = client.heat.get(&stack.path(&["snapshots"]), Query::new()).await;
    Ok(list(&answer.or_not_found(|| format!("Stack not found: {typed}"))?, "snapshots"))
}

impl SnapshotTarget {
    /// Reads the snapshot.
    pub(crate) async fn show(&self, client: &Client<'_, '_>) -> Result<Value> {
        let stack = client.heat.find(&self.stack).await.or_not_found(|| self.not_found())?;
        let path = stack.path(&["snapshots", &self.snapshot]);
        client.heat.get(&path, Query::new()).await.or_not_found(|| self.not_found())
    }

    /// Restores the stack from the snapshot.
    pub(crate) async fn restore(&self, client: &Client<'_, '_>) -> Result<()> {
        let SnapshotTarget { stack: typed, snapshot } = self;
        let not_found = || format!("Stack {typed} or snapshot {snapshot} not found.");
        let stack = client.heat.find(typed).await.or_not_found(not_found)?;
        let path = stack.path(&["snapshots", snapshot, "restore"]);
        let answer = client.heat.call(Method::POST, &path, Query::new(), None).await;
        answer.or_not_found(not_found).map(drop)
    }

    fn not_found(&self) -> String {
        format!("Snapshot ID <{}> not found for stack <{}>", self.snapshot, self.stack)
    }
}

impl SnapshotDelete {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let SnapshotDelete { named, yes } = &self;
        let question = "Are you sure you want to delete the snapshot of this stack [Y/N]?";
        if !yes && !client.console.confirm(question).await? {
            return Ok(());
        }
        let stack = client.heat.find(&named.stack).await.or_not_found(|| named.not_found())?;
        let path = stack.path(&["snapshots", &named.snapshot]);
        client.heat.delete(&path).await.or_not_found(|| named.not_found()).map(drop)
    }
}
