//! Suspending, resuming and checking stacks, and breaking off what they do.

use super::super::Client;
use super::super::format::Listing;
use super::super::format::options::Listed;
use super::super::heat::text;
use super::super::problem::{OrNotFound, Problem, Result};
use super::super::wait::{Awaited, Patience, newest_event};
use clap::Args;
use serde_json::Value;

/// What is told of stacks that do something.
const COLUMNS: [(&str, &str); 5] = [
    ("ID", "id"),
    ("Stack Name", "stack_name"),
    ("Stack Status", "stack_status"),
    ("Creation Time", "creation_time"),
    ("Updated Time", "updated_time"),
];

/// Arguments of `kiln stack suspend`, `resume` and `check`.
#[derive(Debug, Args)]
pub(crate) struct Act {
    /// The stacks, by name or id
    #[arg(value_name = "STACK", required = true)]
    stacks: Vec<String>,

    #[command(flatten)]
    patience: Patience,

    #[command(flatten)]
    listed: Listed,
}

impl Act {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>, action: &'static str) -> Result<()> {
        let mut states = Vec::new();
        for stack in &self.stacks {
            let does = match action {
                "suspend" => "SUSPEND",
                "resume" => "RESUME",
                _ => "CHECK",
            };
            states.push(act(client, stack, action, does, &self.patience).await?);
        }
        client.console.list(Listing::of(&COLUMNS, &states), &self.listed)
    }
}

/// Arguments of `kiln stack cancel`.
#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// The stacks, by name or id
    #[arg(value_name = "STACK", required = true)]
    stacks: Vec<String>,

    /// Leave the stacks as they are; otherwise they go back to what they were
    #[arg(long)]
    no_rollback: bool,

    #[command(flatten)]
    patience: Patience,

    #[command(flatten)]
    listed: Listed,
}

impl Cancel {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let mut states = Vec::new();
        for typed in &self.stacks {
            let state = client.heat.show(typed, false).await?;
            let status = text(&state, "stack_status");
            let action = match (status, self.no_rollback) {
                ("UPDATE_IN_PROGRESS" | "CREATE_IN_PROGRESS", true) => "cancel_without_rollback",
                ("UPDATE_IN_PROGRESS", false) => "cancel_update",
                (status, _) => return Err(not_cancelable(typed, status)),
            };
            let does = match (status, action) {
                (_, "cancel_update") => "ROLLBACK",
                ("CREATE_IN_PROGRESS", _) => "CREATE",
                _ => "UPDATE",
            };
            states.push(act(client, typed, action, does, &self.patience).await?);
        }
        client.console.list(Listing::of(&COLUMNS, &states), &self.listed)
    }
}

fn not_cancelable(stack: &str, status: &str) -> Problem {
    let status = status.to_lowercase();
    let problem =
        Problem::new(format!("Stack {stack} with status '{status}' not in cancelable state"));
    match &*status {
        "create_in_progress" => problem.hint("--no-rollback stops a creation."),
        _ => problem.hint("Only what is in progress can be broken off."),
    }
}

/// Asks a stack to do something, and waits for it if that is wanted; gives what is known of it then.
pub(crate) async fn act(
    client: &mut Client<'_, '_>,
    typed: &str,
    action: &str,
    does: &'static str,
    patience: &Patience,
) -> Result<Value> {
    let stack = client.heat.stack(typed).await?;
    let marker = match patience.wait {
        true => newest_event(&client.heat, &stack).await?,
        false => None,
    };
    client.heat.act(&stack, action).await.or_not_found(|| format!("Stack not found: {typed}"))?;
    let state = client.heat.state(&stack).await?;
    if !patience.wait {
        return Ok(state);
    }
    let name = text(&state, "stack_name").to_owned();
    let stopped = action == "cancel_without_rollback";
    let awaited =
        Awaited { stack: stack.clone(), name, action: does, marker, rolls_back: false, patience };
    match client.wait(awaited).await {
        // What is broken off counts as failed, as was asked for.
        Err(problem) if !(stopped && problem.text.contains("_FAILED")) => Err(problem),
        _ => client.heat.state(&stack).await,
    }
}
