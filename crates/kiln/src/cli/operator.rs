//! The command line for operators: the server, its configuration and its database.

use super::TextOrJson;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// The database and its keys.
#[derive(Clone, Debug, Args)]
pub(crate) struct Database {
    /// Configuration file of the server, which names the database and its keys
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Database URL: sqlite://PATH, postgres://… or mysql://… [default: sqlite://kiln.db, or as configured]
    #[arg(long = "database", value_name = "URL")]
    pub(crate) url: Option<String>,

    /// File with the encryption keys of the database [default: kiln.keys, or as configured]
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
}

/// Arguments of `kiln server`.
#[derive(Debug, Args)]
pub(crate) struct Server {
    /// Configuration file in oslo.config format, or a directory of *.conf; an existing heat.conf can be used
    /// unchanged. May be repeated: later files take precedence
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,

    /// Check everything that the server needs, as `kiln doctor` does, and exit
    #[arg(long)]
    pub(crate) check: bool,

    /// Role of this process; may be repeated [default: all, or as configured]
    #[arg(long = "role", value_name = "ROLE")]
    pub(crate) roles: Vec<ServerRole>,

    /// Database URL: sqlite://PATH, postgres://… or mysql://… [default: sqlite://kiln.db, or as configured]
    #[arg(long = "database", value_name = "URL")]
    pub(crate) database: Option<String>,

    /// File with the encryption keys of the database [default: kiln.keys, or as configured]
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,

    /// Endpoint of a cloud service, instead of the catalogue's; may be repeated
    #[arg(long = "endpoint", value_name = "SERVICE=URL")]
    pub(crate) endpoints: Vec<String>,

    /// Stop when no stack has work left
    #[arg(long)]
    pub(crate) once: bool,

    /// Seconds during which a call whose reply was lost may still take effect
    #[arg(long, value_name = "SECONDS", default_value_t = QUIET_SECONDS)]
    pub(crate) quiet: u64,

    /// Seconds after which another engine takes over the stacks of one that has stopped responding [default: 15, or as configured]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) lease: Option<u64>,
}

/// The seconds during which a call whose reply was lost may still take effect.
const QUIET_SECONDS: u64 = 30;

impl Default for Server {
    fn default() -> Server {
        Server {
            config: Vec::new(),
            check: false,
            roles: Vec::new(),
            database: None,
            keys: None,
            endpoints: Vec::new(),
            once: false,
            quiet: QUIET_SECONDS,
            lease: None,
        }
    }
}

/// Arguments of `kiln doctor`.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Configuration file of the server, or a directory of *.conf; may be repeated: later files take precedence
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,

    /// Role of the process to check; may be repeated [default: all, or as configured]
    #[arg(long = "role", value_name = "ROLE")]
    pub(crate) roles: Vec<ServerRole>,

    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = TextOrJson::Text, hide_possible_values = true)]
    pub(crate) format: TextOrJson,
}

/// The roles of a server process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServerRole {
    /// Serves the orchestration API
    Api,
    /// Serves the CloudFormation API, which also takes signals from servers
    Cfn,
    /// Serves the CloudWatch API, which takes metrics from servers
    Cloudwatch,
    /// Runs the engine, which creates, updates and deletes the resources of stacks
    Engine,
}

/// The subcommands of `kiln db`.
#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Copy a SQLite database, as of one moment, to a new file, while the server runs; for a database server, print the command
    Backup(Backup),
    /// Read every record as an engine would, and check the file of SQLite and the keys; nothing is changed
    Check(Database),
    /// Remove the keys that nothing is encrypted with any more from the key file
    DropKeys(Database),
    /// List the keys, and how many rows of the database are encrypted with each
    Keys(Database),
    /// Bring the tables up to date, which the start of a newer server does as well
    Migrate(Database),
    /// Remove the records of stacks that were deleted some time ago
    Purge(Purge),
    /// Put a backup of a SQLite database in place; the server must not run, and the former database is kept beside it
    Restore(Backup),
    /// Create a new key and encrypt all data again with it
    RotateKeys(Database),
    /// Show the schema, the keys, how many stacks there are, and what waits; nothing is changed
    Status(Database),
}

/// Arguments of `kiln db backup` and `kiln db restore`.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// File of the backup
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) database: Database,
}

/// The subcommands of `kiln config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print a configuration file with all options, commented out
    Sample,
    /// List all options, or with --config their effective values and where they come from
    #[command(after_help = CONFIG_EXAMPLES)]
    List(Box<ConfigList>),
}

/// Arguments of `kiln config list`.
#[derive(Debug, Args)]
pub(crate) struct ConfigList {
    /// Configuration file whose effective values are shown; secrets are masked
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output_format: crate::client::ListArgs,
}

/// Arguments of `kiln db purge`.
#[derive(Debug, Args)]
pub(crate) struct Purge {
    #[command(flatten)]
    pub(crate) database: Database,

    /// Minimum age of the deletion, in days
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    pub(crate) older_than: u64,

    /// Purge only the stacks of this project
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
}

pub(super) const SERVER_EXAMPLES: &str = "\
Examples:
  kiln server --config /etc/heat/heat.conf
  kiln server --role engine --database sqlite:///var/lib/kiln/kiln.db --keys /var/lib/kiln/keys
  kiln server --role engine --database postgres://kiln@db/kiln --endpoint network=http://10.0.0.5:9696

To replace a running server without a failed request, start a new one with the same configuration: it opens
the same port. Then stop the old one (SIGTERM, or Ctrl-C): it finishes the requests that it has accepted, and
the new one continues its stacks.

Logs go to standard error. The options debug, default_log_levels and use_json of the file set levels and format;
KILN_LOG overrides the levels, for example with warn,kiln_api=debug.";

const CONFIG_EXAMPLES: &str = "\
Examples:
  kiln config list
  kiln config list -f json
  kiln config list --config /etc/heat/heat.conf";

pub(super) const DOCTOR_EXAMPLES: &str = "\
Examples:
  kiln doctor --config /etc/kiln/kiln.conf
  kiln doctor --config /etc/heat/heat.conf --role engine
  kiln doctor --config /etc/kiln/kiln.conf -f json

Nothing is changed: neither the database nor the cloud.

Exit status: 0 the server can start and do its work, 1 it cannot, 2 the command is wrong.";
