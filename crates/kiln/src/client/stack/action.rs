//! Suspending, resuming and checking stacks, and cancelling actions.

use super::super::Client;
use super::super::error::{ClientError, OrNotFound, Result};
use super::super::format::Listing;
use super::super::format::options::ListArgs;
use super::super::heat::text;
use super::super::wait::{AwaitedAction, Waiting, newest_event};
use clap::Args;
use serde_json::Value;

/// The columns of the stacks that were acted on.
const COLUMNS: [(&str, &str); 5] = [
    ("ID", "id"),
    ("Stack Name", "stack_name"),
    ("Stack Status", "stack_status"),
    ("Creation Time", "creation_time"),
    ("Updated Time", "updated_time"),
];

/// Arguments of `kiln stack suspend`, `resume` and `check`.
#[derive(Debug, Args)]
pub(crate) struct ActionArgs {
    /// Names or ids of the stacks
    #[arg(value_name = "STACK", required = true)]
    stacks: Vec<String>,

    #[command(flatten)]
    waiting: Waiting,

    #[command(flatten)]
    output_format: ListArgs,
}

impl ActionArgs {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>, action: &'static str) -> Result<()> {
        let mut states = Vec::new();
        for stack in &self.stacks {
            let does = match action {
                "suspend" => "SUSPEND",
                "resume" => "RESUME",
                _ => "CHECK",
            };
            states.push(act(client, stack, action, does, &self.waiting).await?);
        }
        client.console.list(Listing::of(&COLUMNS, &states), &self.output_format)
    }
}

/// Arguments of `kiln stack cancel`.
#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// Names or ids of the stacks
    #[arg(value_name = "STACK", required = true)]
    stacks: Vec<String>,

    /// Do not roll back the stacks
    #[arg(long)]
    no_rollback: bool,

    #[command(flatten)]
    waiting: Waiting,

    #[command(flatten)]
    output_format: ListArgs,
}

impl CancelArgs {
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
            states.push(act(client, typed, action, does, &self.waiting).await?);
        }
        client.console.list(Listing::of(&COLUMNS, &states), &self.output_format)
    }
}

fn not_cancelable(stack: &str, status: &str) -> ClientError {
    let status = status.to_lowercase();
    let problem =
        ClientError::new(format!("Stack {stack} with status '{status}' not in cancelable state"));
    match &*status {
        "create_in_progress" => problem.hint("--no-rollback stops a creation."),
        _ => problem.hint("Only an action in progress can be cancelled."),
    }
}

/// Starts an action on a stack and waits for it if requested; returns the details of the stack.
pub(crate) async fn act(
    client: &mut Client<'_, '_>,
    typed: &str,
    action: &str,
    does: &'static str,
    waiting: &Waiting,
) -> Result<Value> {
    let stack = client.heat.stack(typed).await?;
    let marker = match waiting.wait {
        true => newest_event(&client.heat, &stack).await?,
        false => None,
    };
    client.heat.act(&stack, action).await.or_not_found(|| format!("Stack not found: {typed}"))?;
    let state = client.heat.state(&stack).await?;
    if !waiting.wait {
        return Ok(state);
    }
    let name = text(&state, "stack_name").to_owned();
    let stopped = action == "cancel_without_rollback";
    let awaited = AwaitedAction {
        stack: stack.clone(),
        name,
        action: does,
        marker,
        rolls_back: false,
        waiting,
    };
    match client.wait(awaited).await {
        // A cancelled action ends as failed, which is what the user asked for.
        Err(problem) if !(stopped && problem.text.contains("_FAILED")) => Err(problem),
        _ => client.heat.state(&stack).await,
    }
}
