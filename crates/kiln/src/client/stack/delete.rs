//! Deleting stacks.

use super::super::Client;
use super::super::error::{ClientError, Result};
use super::super::heat::{StackId, text};
use super::super::wait::{AwaitedAction, Waiting, newest_event};
use clap::Args;

/// Arguments of `kiln stack delete`.
#[derive(Debug, Args)]
pub(crate) struct StackDelete {
    /// Names or ids of the stacks
    #[arg(value_name = "STACK", required = true)]
    pub(crate) stacks: Vec<String>,

    /// Skip the confirmation prompt
    #[arg(short, long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) waiting: Waiting,
}

/// The confirmation prompt.
pub(crate) const QUESTION: &str = "Are you sure you want to delete this stack(s) [y/N]? ";

/// A deletion in progress.
struct PendingDeletion {
    stack: StackId,
    name: String,
    marker: Option<String>,
}

impl StackDelete {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        if !self.yes && !client.console.confirm(QUESTION).await? {
            return Ok(());
        }
        let mut failed = 0;
        let mut begun = Vec::new();
        for stack in &self.stacks {
            match self.begin(client, stack).await {
                Ok(it) => begun.push(it),
                Err(problem) => {
                    failed += 1;
                    client.console.line(&told(problem, stack).text)?;
                }
            }
        }
        if self.waiting.wait {
            for PendingDeletion { stack, name, marker } in begun {
                let waiting = &self.waiting;
                let awaited = AwaitedAction {
                    stack,
                    name,
                    action: "DELETE",
                    marker,
                    rolls_back: false,
                    waiting,
                };
                match client.wait(awaited).await {
                    Ok(()) => {}
                    Err(problem) if problem.exit_status() != 1 => return Err(problem),
                    Err(problem) => {
                        failed += 1;
                        client.console.line(&problem.text)?;
                    }
                }
            }
        }
        undeleted(failed, self.stacks.len(), "stacks")
    }

    async fn begin(&self, client: &mut Client<'_, '_>, typed: &str) -> Result<PendingDeletion> {
        let stack = client.heat.find(typed).await?;
        let (mut name, mut marker) = (typed.to_owned(), None);
        if self.waiting.wait {
            marker = newest_event(&client.heat, &stack).await?;
            name = text(&client.heat.state(&stack).await?, "stack_name").to_owned();
        }
        client.heat.delete(&stack.path(&[])).await?;
        Ok(PendingDeletion { stack, name, marker })
    }
}

/// The message for a stack that could not be deleted.
pub(crate) fn told(problem: ClientError, stack: &str) -> ClientError {
    let text = match () {
        () if problem.is_not_found() => format!("Stack not found: {stack}"),
        () if problem.is_forbidden() => format!("Forbidden: {stack}"),
        () => return problem,
    };
    ClientError { text, ..problem }
}

/// The problem of objects that could not be deleted.
pub(crate) fn undeleted(failed: usize, all: usize, things: &str) -> Result<()> {
    match failed {
        0 => Ok(()),
        failed => {
            Err(ClientError::new(format!("Unable to delete {failed} of the {all} {things}.")))
        }
    }
}
