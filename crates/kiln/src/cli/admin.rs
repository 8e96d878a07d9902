//! The command line of `kiln admin`: engines, stacks at work, waiting requests.

use super::Database;
use clap::{Args, Subcommand};

/// The subcommands of `kiln admin`.
#[derive(Debug, Subcommand)]
pub(crate) enum AdminCommand {
    /// List the engines: host, when they reported last, how many stacks they own
    Engines(AdminList),
    /// List the stacks that have work or an owner, with their leases
    Trees(AdminTrees),
    /// List the requests that wait for an engine, the oldest first
    Queue(AdminList),
    /// Inspect or repair one stack
    #[command(subcommand)]
    Stack(AdminStackCommand),
}

/// The subcommands of `kiln admin stack`.
#[derive(Debug, Subcommand)]
pub(crate) enum AdminStackCommand {
    /// Show the owner, the lease, the waiting requests and the size of a stack, and why it is parked if it is
    Inspect(AdminStack),
    /// Take a stack from its engine, so that the engines try it again at once
    Release(AdminStack),
    /// Fail everything that is under way in a stack, and drop its waiting requests; no object in the cloud is touched
    Fail(AdminStack),
}

/// Arguments of the lists of `kiln admin`.
#[derive(Debug, Args)]
pub(crate) struct AdminList {
    #[command(flatten)]
    pub(crate) database: Database,

    /// Maximum number of rows
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    pub(crate) limit: u64,

    #[command(flatten)]
    pub(crate) output_format: crate::client::ListArgs,
}

/// Arguments of `kiln admin trees`.
#[derive(Debug, Args)]
pub(crate) struct AdminTrees {
    #[command(flatten)]
    pub(crate) list: AdminList,

    /// List only the stacks to which nothing is done for now, because an engine could not go on with them
    #[arg(long)]
    pub(crate) parked: bool,
}

/// Arguments of `kiln admin stack`.
#[derive(Debug, Args)]
pub(crate) struct AdminStack {
    /// Id of the root stack
    #[arg(value_name = "ID")]
    pub(crate) id: uuid::Uuid,

    #[command(flatten)]
    pub(crate) database: Database,
}

pub(super) const ADMIN_EXAMPLES: &str = "\
Examples:
  kiln admin trees --parked --config /etc/kiln/kiln.conf
  kiln admin stack inspect 4f8b0f4c-3d0c-4f9f-9f0c-0d2f4f0a9a55 --config /etc/kiln/kiln.conf";
