//! `kiln stack …`: stacks, and all that is in them.

pub(crate) mod act;
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

use super::Client;
use super::connection::Connection;
use super::problem::Result;
use clap::{Args, Subcommand};

/// Arguments of `kiln stack`.
#[derive(Debug, Args)]
pub(crate) struct Stack {
    #[command(subcommand)]
    pub(crate) verb: Verb,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// What to do with stacks.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Create a stack from a template
    #[command(after_help = CREATE_EXAMPLES)]
    Create(change::Create),
    /// Show what creating a stack would make, without making it
    Preview(change::Preview),
    /// Change a stack to a new template or new parameters
    #[command(after_help = UPDATE_EXAMPLES)]
    Update(change::Update),
    /// Delete stacks and all they are made of
    Delete(delete::Delete),
    /// List stacks
    #[command(after_help = LIST_EXAMPLES)]
    List(list::List),
    /// Show a stack
    Show(show::Show),
    /// Make a stack of what exists already
    Adopt(change::Adopt),
    /// Forget a stack but keep what it is made of; prints what adopting it again needs
    Abandon(show::Document),
    /// Print what is known of a stack as one document
    Export(show::Document),
    /// Suspend stacks
    Suspend(act::Act),
    /// Resume stacks that were suspended
    Resume(act::Act),
    /// Check whether what stacks are made of is still there
    Check(act::Act),
    /// Break off what stacks are doing
    Cancel(act::Cancel),
    /// What stopped a stack
    #[command(subcommand)]
    Failures(failures::Verb),
    /// Outputs of a stack
    #[command(subcommand)]
    Output(output::Verb),
    /// Resources of a stack
    #[command(subcommand)]
    Resource(resource::Verb),
    /// What happened to a stack
    #[command(subcommand)]
    Event(event::Verb),
    /// Places where a stack stops until it is told to go on
    #[command(subcommand)]
    Hook(hook::Verb),
    /// States of a stack that can be gone back to
    #[command(subcommand)]
    Snapshot(snapshot::Verb),
    /// The template of a stack
    #[command(subcommand)]
    Template(show::Template),
    /// The environment of a stack
    #[command(subcommand)]
    Environment(show::Environment),
    /// The files of a stack
    #[command(subcommand)]
    File(show::File),
}

const CREATE_EXAMPLES: &str = "\
Examples:
  kiln stack create -t web.yaml web --wait
  kiln stack create -t web.yaml -e prod.yaml --parameter flavor=m1.small --tags web,prod web
  kiln stack create -t web.yaml web --dry-run

Exit status: 0 done, 1 refused or failed, 2 the command is not understood, 4 it takes longer than --wait-timeout.";

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

/// Carries a verb out.
pub(crate) async fn run(verb: Verb, client: &mut Client<'_, '_>) -> Result<()> {
    match verb {
        Verb::Create(create) => create.run(client).await,
        Verb::Preview(preview) => preview.run(client).await,
        Verb::Update(update) => update.run(client).await,
        Verb::Delete(delete) => delete.run(client).await,
        Verb::List(list) => list.run(client).await,
        Verb::Show(show) => show.run(client).await,
        Verb::Adopt(adopt) => adopt.run(client).await,
        Verb::Abandon(document) => document.run(client, show::Leave::Abandon).await,
        Verb::Export(document) => document.run(client, show::Leave::Export).await,
        Verb::Suspend(act) => act.run(client, "suspend").await,
        Verb::Resume(act) => act.run(client, "resume").await,
        Verb::Check(act) => act.run(client, "check").await,
        Verb::Cancel(cancel) => cancel.run(client).await,
        Verb::Failures(verb) => failures::run(verb, client).await,
        Verb::Output(verb) => output::run(verb, client).await,
        Verb::Resource(verb) => resource::run(verb, client).await,
        Verb::Event(verb) => event::run(verb, client).await,
        Verb::Hook(verb) => hook::run(verb, client).await,
        Verb::Snapshot(verb) => snapshot::run(verb, client).await,
        Verb::Template(show::Template::Show(named)) => named.template(client).await,
        Verb::Environment(show::Environment::Show(named)) => named.environment(client).await,
        Verb::File(show::File::List(named)) => named.files(client).await,
    }
}
