//! Outputs of a stack.

use super::super::Client;
use super::super::error::{ClientError, OrNotFound, Result};
use super::super::format::options::{ListArgs, ShowArgs};
use super::super::format::{Cell, Details, Listing};
use super::super::heat::{Query, list, text};
use super::target::StackTarget;
use clap::{Args, Subcommand};
use serde_json::Value;

/// `kiln stack output`.
#[derive(Debug, Subcommand)]
pub(crate) enum OutputCommand {
    /// List the outputs of a stack
    List(OutputList),
    /// Show an output of a stack, or all of them
    Show(OutputShow),
}

/// Arguments of `kiln stack output list`.
#[derive(Debug, Args)]
pub(crate) struct OutputList {
    #[command(flatten)]
    target: StackTarget,

    #[command(flatten)]
    output_format: ListArgs,
}

/// Arguments of `kiln stack output show`.
#[derive(Debug, Args)]
pub(crate) struct OutputShow {
    #[command(flatten)]
    target: StackTarget,

    /// Name of the output
    #[arg(value_name = "OUTPUT")]
    output: Option<String>,

    /// Show all outputs
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    output_format: ShowArgs,
}

pub(crate) async fn run(subcommand: OutputCommand, client: &mut Client<'_, '_>) -> Result<()> {
    match subcommand {
        OutputCommand::List(OutputList { target, output_format }) => {
            let outputs = outputs(client, &target.stack).await?;
            let columns = [("output_key", "output_key"), ("description", "description")];
            client.console.list(Listing::of(&columns, &outputs), &output_format)
        }
        OutputCommand::Show(show) => show.run(client).await,
    }
}

impl OutputShow {
    async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        match (&self.output, self.all) {
            (None, false) => {
                Err(ClientError::new("Either <OUTPUT NAME> or --all must be specified."))
            }
            (Some(_), true) => {
                Err(ClientError::new("Cannot specify both <OUTPUT NAME> and --all."))
            }
            (Some(output), false) => {
                let output = output_of(client, &self.target.stack, output).await?;
                if let Some(error) = error_of(&output) {
                    return Err(error);
                }
                client.console.show(Details::of(&output), &self.output_format)
            }
            (None, true) => {
                let mut fields = Vec::new();
                for output in resolved(client, &self.target.stack).await? {
                    fields.push((text(&output, "output_key").to_owned(), Cell::json(output)));
                }
                client.console.show(Details { fields }, &self.output_format)
            }
        }
    }
}

/// The outputs of a stack, without values.
pub(crate) async fn outputs(client: &Client<'_, '_>, typed: &str) -> Result<Vec<Value>> {
    let stack = client.heat.stack(typed).await?;
    let answer = client.heat.get(&stack.path(&["outputs"]), Query::new()).await;
    match answer {
        // Older services send the outputs with the stack only.
        Err(problem) if problem.is_not_found() => resolved(client, typed).await,
        answer => Ok(list(&answer?, "outputs")),
    }
}

/// The outputs of a stack with their values.
pub(crate) async fn resolved(client: &Client<'_, '_>, typed: &str) -> Result<Vec<Value>> {
    Ok(list(&client.heat.show(typed, true).await?, "outputs"))
}

/// An output of a stack.
pub(crate) async fn output_of(client: &Client<'_, '_>, typed: &str, key: &str) -> Result<Value> {
    let not_found = || format!("Stack {typed} or output {key} not found.");
    let stack = client.heat.find(typed).await.or_not_found(not_found)?;
    let answer = client.heat.get(&stack.path(&["outputs", key]), Query::new()).await;
    match answer {
        Err(problem) if problem.is_not_found() => {
            let all = resolved(client, typed).await.or_not_found(not_found)?;
            let found = all.into_iter().find(|output| text(output, "output_key") == key);
            found.ok_or_else(|| ClientError { text: not_found(), ..problem })
        }
        answer => Ok(answer?["output"].clone()),
    }
}

/// The error of an output that has no value.
pub(crate) fn error_of(output: &Value) -> Option<ClientError> {
    let error = output["output_error"].as_str()?;
    Some(ClientError::new(format!("Output error: {error}")))
}
