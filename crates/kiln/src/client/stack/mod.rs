//! `kiln stack …`: stacks and their contents.

pub(crate) mod action;
pub(crate) mod change;
pub(crate) mod delete;
mod dot;
pub(crate) mod event;
pub(crate) mod failures;
pub(crate) mod hook;
pub(crate) mod list;
pub(crate) mod output;
pub(crate) mod resource;
pub(crate) mod show;
pub(crate) mod snapshot;
pub(crate) mod target;

use super::Client;
use super::connection::Connection;
use super::error::Result;
use clap::{Args, Subcommand};

/// Arguments of `kiln stack`.
#[derive(Debug, Args)]
pub(crate) struct StackArgs {
    #[command(subcommand)]
    pub(crate) subcommand: StackCommand,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// The subcommands of `kiln stack`.
#[derive(Debug, Subcommand)]
pub(crate) enum StackCommand {
    /// Create a stack from a template
    #[command(after_help = CREATE_EXAMPLES)]
    Create(change::StackCreate),
    /// Preview the creation of a stack
    Preview(change::StackPreview),
    /// Update a stack to a new template or new parameters
    #[command(after_help = UPDATE_EXAMPLES)]
    Update(change::StackUpdate),
    /// Delete stacks and their resources
    Delete(delete::StackDelete),
    /// List stacks
    #[command(after_help = LIST_EXAMPLES)]
    List(list::StackList),
    /// Show a stack
    Show(show::StackShow),
    /// Adopt existing resources as a stack
    Adopt(change::StackAdopt),
    /// Abandon a stack: remove it but keep its resources; prints the data for adopting it again
    Abandon(show::StackDocument),
    /// Export the data of a stack as one document
    Export(show::StackDocument),
    /// Suspend stacks
    Suspend(action::ActionArgs),
    /// Resume suspended stacks
    Resume(action::ActionArgs),
    /// Check that the resources of stacks still exist
    Check(action::ActionArgs),
    /// Cancel the current action of stacks
    Cancel(action::CancelArgs),
    /// Failures of a stack
    #[command(subcommand)]
    Failures(failures::FailuresCommand),
    /// Outputs of a stack
    #[command(subcommand)]
    Output(output::OutputCommand),
    /// Resources of a stack
    #[command(subcommand)]
    Resource(resource::ResourceCommand),
    /// Events of a stack
    #[command(subcommand)]
    Event(event::EventCommand),
    /// Hooks of a stack
    #[command(subcommand)]
    Hook(hook::HookCommand),
    /// Snapshots of a stack
    #[command(subcommand)]
    Snapshot(snapshot::SnapshotCommand),
    /// Template of a stack
    #[command(subcommand)]
    Template(show::TemplateCommand),
    /// Environment of a stack
    #[command(subcommand)]
    Environment(show::EnvironmentCommand),
    /// Files of a stack
    #[command(subcommand)]
    File(show::FileCommand),
}

const CREATE_EXAMPLES: &str = "\
Examples:
  kiln stack create -t web.yaml web --wait
  kiln stack create -t web.yaml -e prod.yaml --parameter flavor=m1.small --tags web,prod web
  kiln stack create -t web.yaml web --dry-run

Exit status: 0 success, 1 rejected or failed, 2 usage error, 4 the --wait-timeout has expired.";

const UPDATE_EXAMPLES: &str = "\
Examples:
  kiln stack update -t web.yaml web --wait
  kiln stack update --existing --parameter flavor=m1.large web
  kiln stack update -t web.yaml web --dry-run -f json";

const LIST_EXAMPLES: &str = "\
Examples:
  kiln stack list --sort stack_name:asc
  kiln stack list --property status=FAILED -f json
  kiln stack list --tags web --tag-mode any -f value -c 'Stack Name'";

/// Runs a subcommand.
pub(crate) async fn run(subcommand: StackCommand, client: &mut Client<'_, '_>) -> Result<()> {
    match subcommand {
        StackCommand::Create(create) => create.run(client).await,
        StackCommand::Preview(preview) => preview.run(client).await,
        StackCommand::Update(update) => update.run(client).await,
        StackCommand::Delete(delete) => delete.run(client).await,
        StackCommand::List(list) => list.run(client).await,
        StackCommand::Show(show) => show.run(client).await,
        StackCommand::Adopt(adopt) => adopt.run(client).await,
        StackCommand::Abandon(document) => document.run(client, show::ExportMode::Abandon).await,
        StackCommand::Export(document) => document.run(client, show::ExportMode::Export).await,
        StackCommand::Suspend(act) => act.run(client, "suspend").await,
        StackCommand::Resume(act) => act.run(client, "resume").await,
        StackCommand::Check(act) => act.run(client, "check").await,
        StackCommand::Cancel(cancel) => cancel.run(client).await,
        StackCommand::Failures(subcommand) => failures::run(subcommand, client).await,
        StackCommand::Output(subcommand) => output::run(subcommand, client).await,
        StackCommand::Resource(subcommand) => resource::run(subcommand, client).await,
        StackCommand::Event(subcommand) => event::run(subcommand, client).await,
        StackCommand::Hook(subcommand) => hook::run(subcommand, client).await,
        StackCommand::Snapshot(subcommand) => snapshot::run(subcommand, client).await,
        StackCommand::Template(show::TemplateCommand::Show(named)) => named.template(client).await,
        StackCommand::Environment(show::EnvironmentCommand::Show(named)) => {
            named.environment(client).await
        }
        StackCommand::File(show::FileCommand::List(named)) => named.files(client).await,
    }
}
