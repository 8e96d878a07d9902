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
    /// List the objects in the cloud that this site has made and that no stack has, as after a restore from a backup
    #[command(after_help = ORPHANS_EXAMPLES)]
    Orphans(AdminOrphans),
    /// Show what would be done about such objects, or delete them with --remove
    #[command(after_help = ORPHANS_EXAMPLES)]
    Reconcile(AdminReconcile),
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

/// Which objects `kiln admin orphans` and `reconcile` are about.
#[derive(Debug, Args)]
pub(crate) struct OrphanFilter {
    #[command(flatten)]
    pub(crate) database: Database,

    /// Only objects that were created at or after this time, such as that of the backup: 2026-11-18T20:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<jiff::Timestamp>,

    /// Only the object with this id; may be repeated
    #[arg(long = "id", value_name = "ID")]
    pub(crate) ids: Vec<String>,
}

/// Arguments of `kiln admin orphans`.
#[derive(Debug, Args)]
pub(crate) struct AdminOrphans {
    #[command(flatten)]
    pub(crate) filter: OrphanFilter,

    #[command(flatten)]
    pub(crate) output_format: crate::client::ListArgs,
}

/// Arguments of `kiln admin reconcile`.
#[derive(Debug, Args)]
pub(crate) struct AdminReconcile {
    #[command(flatten)]
    pub(crate) filter: OrphanFilter,

    /// Delete the objects; needs --since or --id
    #[arg(long)]
    pub(crate) remove: bool,
}

const ORPHANS_EXAMPLES: &str = "\
Examples:
  kiln admin orphans --config /etc/kiln/kiln.conf
  kiln admin reconcile --config /etc/kiln/kiln.conf --since 2026-11-18T20:00:00Z
  kiln admin reconcile --config /etc/kiln/kiln.conf --since 2026-11-18T20:00:00Z --remove

An object is found by the mark that this site puts into the names that it gives, and that no other site and no
other program can have made. Objects that stacks keep (deletion_policy: Retain) or that were abandoned have it, too: look
at the list before you remove anything, and give the time of the backup. Objects with names that users chose carry no
mark and are not found. The user in [keystone_authtoken] needs the role admin, to see all projects.";

pub(super) const ADMIN_EXAMPLES: &str = "\
Examples:
  kiln admin trees --parked --config /etc/kiln/kiln.conf
  kiln admin stack inspect 4f8b0f4c-3d0c-4f9f-9f0c-0d2f4f0a9a55 --config /etc/kiln/kiln.conf";
