//! The command line: every command, argument and flag with its line of help.
//!
//! This file declares syntax and help only; [`crate::commands`] has the behaviour.

mod admin;
mod operator;

pub(crate) use admin::{
    AdminCommand, AdminList, AdminOrphans, AdminReconcile, AdminStackCommand, AdminTrees,
    OrphanFilter,
};
pub(crate) use operator::{
    Backup, ConfigCommand, ConfigList, Database, DbCommand, Doctor, Purge, Server, ServerRole,
};

use admin::ADMIN_EXAMPLES;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use operator::{DOCTOR_EXAMPLES, SERVER_EXAMPLES};
use std::path::PathBuf;

/// Orchestration for OpenStack: serve the API, manage stacks, and check templates
#[derive(Debug, Parser)]
#[command(name = "kiln", version = env!("KILN_VERSION"), propagate_version = false, disable_help_subcommand = false)]
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
    /// Check the configuration, the database and the cloud, and say what to do about every problem
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(Doctor),
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
    /// Plan a create, an update or a delete of a stack: show what would be done, and keep it
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(Box<crate::client::plan::PlanArgs>),
    /// Apply a plan: do what it shows, or nothing
    Apply(Box<crate::client::plan::ApplyArgs>),
    /// Inspect the orchestration service: resource types, template versions, engines
    Orchestration(Box<crate::client::orchestration::OrchestrationArgs>),
    /// Manage software configurations and deployments
    Software(Box<crate::client::software::SoftwareArgs>),
    /// Print a shell completion script
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(Completions),
    /// Write the manual pages of all commands
    #[command(hide = true)]
    ManualPages(ManualPages),
}

/// Arguments of `kiln manual-pages`.
#[derive(Debug, Args)]
pub(crate) struct ManualPages {
    /// Directory to write to
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
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

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  kiln explain
  kiln explain K0403";

const PLAN_EXAMPLES: &str = "\
Examples:
  kiln plan -t web.yaml web
  kiln plan --existing --parameter flavor=m1.large web
  kiln plan --delete web -f json";

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
