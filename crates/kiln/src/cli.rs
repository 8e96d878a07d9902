//! The command line: every command, argument and flag with its line of help.
//!
//! This file declares syntax and help only; [`crate::commands`] has the behaviour.

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

/// Orchestration for OpenStack: serve the API, manage stacks, and check templates
#[derive(Debug, Parser)]
#[command(name = "kiln", version, propagate_version = false, disable_help_subcommand = false)]
#[command(max_term_width = 100)]
pub(crate) struct Cli {
    /// When to use colours: auto, always or never
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    #[arg(hide_possible_values = true)]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) command: KilnCommand,
}

/// The subcommands of `kiln`.
#[derive(Debug, Subcommand)]
pub(crate) enum KilnCommand {
    /// Check a template and every file it refers to, and report all errors at once
    #[command(after_help = VALIDATE_EXAMPLES)]
    Validate(Validate),
    /// Inspect templates and the template language
    #[command(subcommand)]
    Template(TemplateCommand),
    /// Evaluate a YAQL query
    #[command(after_help = YAQL_EXAMPLES)]
    Yaql(Yaql),
    /// Explain an error code and how to fix the error
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(Explain),
    /// Run the service and a simulated cloud in one process, for evaluation and development
    #[cfg(feature = "dev")]
    #[command(after_help = DEV_EXAMPLES)]
    Dev(Dev),
    /// Run the API and the engine
    #[command(after_help = SERVER_EXAMPLES)]
    Server(Server),
    /// Maintain a database: purge deleted stacks, list, rotate and drop keys
    #[command(subcommand)]
    Db(DbCommand),
    /// Look into a running service through its database: engines, stacks at work, waiting requests, parked stacks
    #[command(subcommand, after_help = ADMIN_EXAMPLES)]
    Admin(AdminCommand),
    /// Inspect the options of configuration files
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Create, update, inspect and delete stacks
    Stack(Box<crate::client::stack::StackArgs>),
    /// Inspect the orchestration service: resource types, template versions, engines
    Orchestration(Box<crate::client::orchestration::OrchestrationArgs>),
    /// Manage software configurations and deployments
    Software(Box<crate::client::software::SoftwareArgs>),
    /// Print a shell completion script
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(Completions),
}

/// The subcommands of `kiln template`.
#[derive(Debug, Subcommand)]
pub(crate) enum TemplateCommand {
    /// Show the dependency graph of the resources
    #[command(after_help = GRAPH_EXAMPLES)]
    Graph(Graph),
    /// List the functions of a template version
    #[command(after_help = FUNCTIONS_EXAMPLES)]
    Functions(Functions),
    /// List the template versions
    Versions(Versions),
}

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

/// Arguments of `kiln dev`.
#[cfg(feature = "dev")]
#[derive(Debug, Args)]
pub(crate) struct Dev {
    /// Template of a stack to create at startup: a path, a file:// URL, or - for standard input
    #[arg(value_name = "TEMPLATE")]
    pub(crate) template: Option<String>,

    /// Environment file for that stack; may be repeated, later files take precedence
    #[arg(short, long = "environment", value_name = "FILE", requires = "template")]
    pub(crate) environments: Vec<String>,

    /// Value of a parameter; may be repeated
    #[arg(short = 'P', long = "parameter", value_name = "NAME=VALUE", requires = "template")]
    pub(crate) parameters: Vec<String>,

    /// Name of the stack [default: the template's file name]
    #[arg(long, value_name = "NAME", requires = "template")]
    pub(crate) name: Option<String>,

    /// Stop when the stack is complete (exit status 0) or has failed (exit status 1)
    #[arg(long)]
    pub(crate) exit: bool,

    /// Directory to keep all state in, and to continue from [default: state is discarded]
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,

    /// Address to listen on
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    pub(crate) listen: String,

    /// Port of the identity service
    #[arg(long, value_name = "PORT", default_value_t = 5000)]
    pub(crate) identity_port: u16,

    /// Port of the orchestration API
    #[arg(long, value_name = "PORT", default_value_t = 8004)]
    pub(crate) api_port: u16,

    /// Port of the CloudFormation API, to which servers send signals
    #[arg(long, value_name = "PORT", default_value_t = 8000)]
    pub(crate) cfn_port: u16,

    /// Port of the CloudWatch API, to which servers send metrics
    #[arg(long, value_name = "PORT", default_value_t = 8003)]
    pub(crate) cloudwatch_port: u16,

    /// Port of the simulated cloud
    #[arg(long, value_name = "PORT", default_value_t = 8770)]
    pub(crate) cloud_port: u16,

    /// Use any free ports
    #[arg(long)]
    pub(crate) free_ports: bool,

    /// Run without the simulated cloud: only resources that need no cloud can be created
    #[arg(long)]
    pub(crate) no_cloud: bool,

    /// Latency of every call to the simulated cloud, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(crate) latency: u64,

    /// Time that servers, volumes and other slow resources take to become ready, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(crate) build_time: u64,

    /// Seconds during which a call whose reply was lost may still take effect
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) quiet: u64,

    /// Seed for the ids and addresses of the simulated cloud
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Directory with files (*.yaml) that define resource types; may be repeated
    #[arg(long = "plugin-dir", value_name = "DIR")]
    pub(crate) plugin_dirs: Vec<PathBuf>,

    /// Directory with the files of the global environment
    #[arg(long, value_name = "DIR")]
    pub(crate) environment_dir: Option<PathBuf>,

    /// Directory that relative names of templates in the global environment belong to
    #[arg(long, value_name = "DIR")]
    pub(crate) template_dir: Option<PathBuf>,

    /// File to write the cloud's client settings to [default: clouds.yaml, unless another program wrote it]
    #[arg(long, value_name = "FILE")]
    pub(crate) clouds: Option<PathBuf>,
}

/// Arguments of `kiln server`.
#[derive(Debug, Args)]
pub(crate) struct Server {
    /// Configuration file in oslo.config format; an existing heat.conf can be used unchanged
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

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
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) quiet: u64,

    /// Seconds after which another engine takes over the stacks of one that has stopped responding [default: 15, or as configured]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) lease: Option<u64>,
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
    /// Remove the keys that nothing is encrypted with any more from the key file
    DropKeys(Database),
    /// List the keys, and how many rows of the database are encrypted with each
    Keys(Database),
    /// Remove the records of stacks that were deleted some time ago
    Purge(Purge),
    /// Create a new key and encrypt all data again with it
    RotateKeys(Database),
}

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

/// The subcommands of `kiln config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
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

/// A template with its environments and parameters.
#[derive(Clone, Debug, Args)]
pub(crate) struct TemplateArgs {
    /// Template: a path, a file:// URL, or - for standard input
    #[arg(value_name = "TEMPLATE")]
    pub(crate) template: String,

    /// Environment file; may be repeated, later files take precedence
    #[arg(short, long = "environment", value_name = "FILE")]
    pub(crate) environments: Vec<String>,

    /// Value of a parameter; may be repeated
    #[arg(short = 'P', long = "parameter", value_name = "NAME=VALUE")]
    pub(crate) parameters: Vec<String>,

    /// File whose content is the value of a parameter, relative to the template's directory
    #[arg(long = "parameter-file", value_name = "NAME=FILE")]
    pub(crate) parameter_files: Vec<String>,

    /// Directory with files (*.yaml) that define resource types; may be repeated
    #[arg(long = "plugin-dir", value_name = "DIR")]
    pub(crate) plugin_dirs: Vec<PathBuf>,
}

/// Arguments of `kiln validate`.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) subject: TemplateArgs,

    /// Output format: text or json
    #[arg(long, value_enum, default_value_t = FindingsFormat::Text, hide_possible_values = true)]
    pub(crate) format: FindingsFormat,

    /// Report parameters without a value as errors, as stack creation does
    #[arg(long)]
    pub(crate) require_parameters: bool,

    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) deny_warnings: bool,
}

/// Arguments of `kiln template graph`.
#[derive(Debug, Args)]
pub(crate) struct Graph {
    #[command(flatten)]
    pub(crate) subject: TemplateArgs,

    /// Output format: tree, dot (Graphviz) or json
    #[arg(long, value_enum, default_value_t = GraphFormat::Tree, hide_possible_values = true)]
    pub(crate) format: GraphFormat,
}

/// Arguments of `kiln template functions`.
#[derive(Debug, Args)]
pub(crate) struct Functions {
    /// Version: a date, a release name, or a name such as heat_template_version.2021-04-16 [default: the newest]
    pub(crate) version: Option<String>,

    /// Include the functions that are only allowed in conditions
    #[arg(long)]
    pub(crate) with_conditions: bool,

    /// Output format: text or json
    #[arg(long, value_enum, default_value_t = TextOrJson::Text, hide_possible_values = true)]
    pub(crate) format: TextOrJson,
}

/// Arguments of `kiln template versions`.
#[derive(Debug, Args)]
pub(crate) struct Versions {
    /// Output format: text or json
    #[arg(long, value_enum, default_value_t = TextOrJson::Text, hide_possible_values = true)]
    pub(crate) format: TextOrJson,
}

/// Arguments of `kiln yaql`.
#[derive(Debug, Args)]
pub(crate) struct Yaql {
    /// YAQL expression
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub(crate) expression: String,

    /// File with the data, in YAML or JSON, or - for standard input [default: null]
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<String>,

    /// Put the data under the key `data`, as the yaql template function does
    #[arg(long)]
    pub(crate) as_template: bool,

    /// Maximum number of elements of a collection [default: 200, as in a default Heat service]
    #[arg(long, value_name = "N")]
    pub(crate) limit_iterators: Option<usize>,

    /// Maximum size of a value in bytes [default: 10000, as in a default Heat service]
    #[arg(long, value_name = "N")]
    pub(crate) memory_quota: Option<usize>,
}

/// Arguments of `kiln explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Code, such as K0403 [default: list all codes]
    pub(crate) code: Option<String>,
}

/// Arguments of `kiln completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// If the output is a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Output formats of `kiln validate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingsFormat {
    /// Text with the source lines of each diagnostic
    Text,
    /// One JSON object
    Json,
}

/// Output formats of `kiln template graph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Resources that no other resource needs first, their dependencies indented below them
    Tree,
    /// Graphviz
    Dot,
    /// One JSON object
    Json,
}

/// Output formats of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// Text
    Text,
    /// One JSON array
    Json,
}

const VALIDATE_EXAMPLES: &str = "\
Examples:
  kiln validate stack.yaml
  kiln validate stack.yaml -e prod.yaml -e secrets.yaml -P flavor=m1.small
  kiln validate stack.yaml --format json | jq '.diagnostics[].code'
  generate-template | kiln validate -

Exit status: 0 the template is valid, 1 it is not, 2 it could not be read.";

const GRAPH_EXAMPLES: &str = "\
Examples:
  kiln template graph stack.yaml
  kiln template graph stack.yaml -e prod.yaml --format dot | dot -Tsvg > stack.svg

Resources whose conditions do not hold are left out.";

const FUNCTIONS_EXAMPLES: &str = "\
Examples:
  kiln template functions
  kiln template functions queens --with-conditions";

const YAQL_EXAMPLES: &str = "\
Examples:
  kiln yaql '$.where($.size > 10).select($.name)' --data volumes.json
  kiln yaql '$.data.len()' --as-template --data list.yaml
  openstack server list -f json | kiln yaql '$.select($.Name)' --data -

$ is the data itself.

Exit status: 0 a result was printed, 1 the query or its data is invalid, 2 the data could not be read.";

#[cfg(feature = "dev")]
const DEV_EXAMPLES: &str = "\
Examples:
  kiln dev examples/first.yaml
  openstack --os-cloud kiln stack list
  kiln dev stack.yaml -e test.yaml -P size=3 --exit --free-ports

Logs go to standard error if KILN_LOG is set, for example to warn,kiln=info, the levels of `kiln server`.

Exit status: 0 success, 1 the stack failed or was rejected, 2 the service could not be started.";

const ADMIN_EXAMPLES: &str = "\
Examples:
  kiln admin trees --parked --config /etc/kiln/kiln.conf
  kiln admin stack inspect 4f8b0f4c-3d0c-4f9f-9f0c-0d2f4f0a9a55 --config /etc/kiln/kiln.conf";

const SERVER_EXAMPLES: &str = "\
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

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  kiln explain
  kiln explain K0403";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  kiln completions bash > ~/.local/share/bash-completion/completions/kiln
  kiln completions zsh > ~/.zfunc/_kiln
  kiln completions fish > ~/.config/fish/completions/kiln.fish";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
