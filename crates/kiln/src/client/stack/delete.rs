//! Deleting stacks.

use super::super::Client;
use super::super::heat::{StackId, text};
use super::super::problem::{Problem, Result};
use super::super::wait::{Awaited, Patience, newest_event};
use clap::Args;

/// Arguments of `kiln stack delete`.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The stacks, by name or id
    #[arg(value_name = "STACK", required = true)]
    pub(crate) stacks: Vec<String>,

    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) patience: Patience,
}

/// What is asked before stacks are deleted.
pub(crate) const QUESTION: &str = "Are you sure you want to delete this stack(s) [y/N]? ";

/// A deletion that was begun.
struct Begun {
    stack: StackId,
    name: String,
    marker: Option<String>,
}

impl Delete {
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
        if self.patience.wait {
            for Begun { stack, name, marker } in begun {
                let patience = &self.patience;
                let awaited =
                    Awaited { stack, name, action: "DELETE", marker, rolls_back: false, patience };
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

    async fn begin(&self, client: &mut Client<'_, '_>, typed: &str) -> Result<Begun> {
        let stack = client.heat.find(typed).await?;
        let (mut name, mut marker) = (typed.to_owned(), None);
        if self.patience.wait {
            marker = newest_event(&client.heat, &stack).await?;
            name = text(&client.heat.state(&stack).await?, "stack_name").to_owned();
        }
        client.heat.delete(&stack.path(&[])).await?;
        Ok(Begun { stack, name, marker })
    }
}

/// Why a stack could not be deleted.
pub(crate) fn told(problem: Problem, stack: &str) -> Problem {
    let text = match () {
        () if problem.is_not_found() => format!("Stack not found: {stack}"),
        () if problem.is_forbidden() => format!("Forbidden: {stack}"),
        () => return problem,
    };
    Problem { text, ..problem }
}

/// What to say if not everything could be deleted.
pub(crate) fn undeleted(failed: usize, all: usize, things: &str) -> Result<()> {
    match failed {
        0 => Ok(()),
        failed => Err(Problem::new(format!("Unable to delete {failed} of the {all} {things}."))),
    }
}
