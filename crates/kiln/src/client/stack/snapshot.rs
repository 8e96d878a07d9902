//! Snapshots: states of a stack that can be gone back to.

use super::super::Client;
use super::super::format::options::{Listed, ShowForm, Shown};
use super::super::format::{Details, Listing};
use super::super::heat::{Query, list};
use super::super::problem::{OrNotFound, Result};
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

/// `kiln stack snapshot`.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Take a snapshot of a stack
    Create(Create),
    /// List the snapshots of a stack
    List(List),
    /// Print a snapshot
    Show(Show),
    /// Let a stack go back to a snapshot
    Restore(Named),
    /// Delete a snapshot
    Delete(Delete),
}

/// Arguments of `kiln stack snapshot create`.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The stack, by name or id
    #[arg(value_name = "STACK")]
    stack: String,

    /// A name for the snapshot
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    shown: Shown,
}

/// Arguments of `kiln stack snapshot list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// The stack, by name or id
    #[arg(value_name = "STACK")]
    stack: String,

    #[command(flatten)]
    listed: Listed,
}

/// Arguments of `kiln stack snapshot show`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    named: Named,

    #[command(flatten)]
    shown: Shown,
}

/// A snapshot.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The stack, by name or id
    #[arg(value_name = "STACK")]
    pub(crate) stack: String,

    /// The snapshot, by id
    #[arg(value_name = "SNAPSHOT")]
    pub(crate) snapshot: String,
}

/// Arguments of `kiln stack snapshot delete`.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) named: Named,

    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

pub(crate) async fn run(verb: Verb, client: &mut Client<'_, '_>) -> Result<()> {
    match verb {
        Verb::Create(Create { stack, name, shown }) => {
            let mut snapshot = create(client, &stack, name.as_deref()).await?;
            let id = snapshot["id"].take();
            let mut details = Details { fields: vec![("ID".to_owned(), id.into())] };
            let keys = ["name", "action", "status", "status_reason", "data", "creation_time"];
            details.fields.extend(Details::members(&keys, &snapshot).fields);
            client.console.show(details, &shown)
        }
        Verb::List(List { stack, listed }) => {
            let names = ["id", "name", "action", "status", "status_reason", "creation_time"];
            let columns = names.map(|name| (name, name));
            let snapshots = snapshots(client, &stack).await?;
            client.console.list(Listing::of(&columns, &snapshots), &listed)
        }
        Verb::Show(Show { named, shown }) => {
            let answer = named.show(client).await?;
            client.console.raw(&answer, &shown, ShowForm::Yaml)
        }
        Verb::Restore(named) => named.restore(client).await,
        Verb::Delete(delete) => delete.run(client).await,
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

impl Named {
    /// What is known of the snapshot.
    pub(crate) async fn show(&self, client: &Client<'_, '_>) -> Result<Value> {
        let stack = client.heat.find(&self.stack).await.or_not_found(|| self.not_found())?;
        let path = stack.path(&["snapshots", &self.snapshot]);
        client.heat.get(&path, Query::new()).await.or_not_found(|| self.not_found())
    }

    /// Lets the stack go back to the snapshot.
    pub(crate) async fn restore(&self, client: &Client<'_, '_>) -> Result<()> {
        let Named { stack: typed, snapshot } = self;
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

impl Delete {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let Delete { named, yes } = &self;
        let question = "Are you sure you want to delete the snapshot of this stack [Y/N]?";
        if !yes && !client.console.confirm(question).await? {
            return Ok(());
        }
        let stack = client.heat.find(&named.stack).await.or_not_found(|| named.not_found())?;
        let path = stack.path(&["snapshots", &named.snapshot]);
        client.heat.delete(&path).await.or_not_found(|| named.not_found()).map(drop)
    }
}
