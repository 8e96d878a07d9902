//! The command line: every command, argument and flag with its line of help.
//!
//! Only words and their meaning stand here; what is done with them is in [`crate::commands`].

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

/// Orchestration for OpenStack: check templates, look into them, try queries.
#[derive(Debug, Parser)]
#[command(name = "kiln", version, propagate_version = false, disable_help_subcommand = false)]
#[command(max_term_width = 100)]
pub(crate) struct Cli {
    /// When to use colours: auto, always or never
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    #[arg(hide_possible_values = true)]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check a template and everything it names, and tell all mistakes at once
    #[command(after_help = VALIDATE_EXAMPLES)]
    Validate(Validate),
    /// Look into templates and the language they are written in
    #[command(subcommand)]
    Template(Template),
    /// Evaluate a YAQL query
    #[command(after_help = YAQL_EXAMPLES)]
    Yaql(Yaql),
    /// Tell what a finding's code means and how to mend it
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(Explain),
    /// Start everything in one process, with nothing to install, to try and to learn
    #[command(after_help = DEV_EXAMPLES)]
    Dev(Dev),
    /// Serve the API and carry out what is wanted of the stacks in a database
    #[command(after_help = SERVER_EXAMPLES)]
    Server(Server),
    /// Keep a database: purge what was deleted, change the keys
    #[command(subcommand)]
    Db(Db),
    /// Stacks of a cloud: create, change, look into and delete them
    Stack(Box<crate::client::stack::Stack>),
    /// What a cloud's orchestration service knows: resource types, template versions, engines
    Orchestration(Box<crate::client::orchestration::Orchestration>),
    /// Configuration of software on servers, and where it is put to use
    Software(Box<crate::client::software::Software>),
    /// Print the script that completes kiln's commands in a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(Completions),
}

/// What to look at.
#[derive(Debug, Subcommand)]
pub(crate) enum Template {
    /// Show which resource needs which
    #[command(after_help = GRAPH_EXAMPLES)]
    Graph(Graph),
    /// List the functions that a template version has
    #[command(after_help = FUNCTIONS_EXAMPLES)]
    Functions(Functions),
    /// List the template versions
    Versions(Versions),
}

/// Which database.
#[derive(Clone, Debug, Args)]
pub(crate) struct Database {
    /// The database: sqlite:///PATH, postgres://… or mysql://…
    #[arg(long = "database", value_name = "URL", default_value = "sqlite://kiln.db")]
    pub(crate) url: String,

    /// The file with the keys that it is encrypted with; made if it is not there
    #[arg(long, value_name = "FILE", default_value = "kiln.keys")]
    pub(crate) keys: PathBuf,
}

/// Arguments of `kiln dev`.
#[derive(Debug, Args)]
pub(crate) struct Dev {
    /// A template to make a stack of at once: a path, a file:// URL, or - for standard input
    #[arg(value_name = "TEMPLATE")]
    pub(crate) template: Option<String>,

    /// An environment file for it; may be given several times, later ones count more
    #[arg(short, long = "environment", value_name = "FILE", requires = "template")]
    pub(crate) environments: Vec<String>,

    /// A parameter's value; may be given several times
    #[arg(short = 'P', long = "parameter", value_name = "NAME=VALUE", requires = "template")]
    pub(crate) parameters: Vec<String>,

    /// The stack's name [default: the template's]
    #[arg(long, value_name = "NAME", requires = "template")]
    pub(crate) name: Option<String>,

    /// Stop when the stack has come to rest: exit status 0 if all went well, 1 if not
    #[arg(long)]
    pub(crate) exit: bool,

    /// Keep everything in this folder, and go on with what is there [default: nothing is kept]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) state: Option<PathBuf>,

    /// The address to listen on
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    pub(crate) listen: String,

    /// The port of the identity service
    #[arg(long, value_name = "PORT", default_value_t = 5000)]
    pub(crate) identity_port: u16,

    /// The port of the orchestration API
    #[arg(long, value_name = "PORT", default_value_t = 8004)]
    pub(crate) api_port: u16,

    /// The port of the CloudFormation API, where servers send signals
    #[arg(long, value_name = "PORT", default_value_t = 8000)]
    pub(crate) cfn_port: u16,

    /// The port of the CloudWatch API, where servers send what they measure
    #[arg(long, value_name = "PORT", default_value_t = 8003)]
    pub(crate) cloudwatch_port: u16,

    /// The port of the simulated cloud
    #[arg(long, value_name = "PORT", default_value_t = 8770)]
    pub(crate) cloud_port: u16,

    /// Take any ports that are free
    #[arg(long)]
    pub(crate) free_ports: bool,

    /// Have no cloud: only what needs none can be made, and nothing is looked up
    #[arg(long)]
    pub(crate) no_cloud: bool,

    /// How long every call to the simulated cloud takes, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(crate) latency: u64,

    /// How long servers, volumes and such take until they are ready, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(crate) build_time: u64,

    /// Seconds that a call whose reply was lost may still take effect
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) quiet: u64,

    /// What the simulated cloud draws its ids and addresses from
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u64,

    /// A folder with files (*.yaml) that describe resource types; may be given several times
    #[arg(long = "plugin-dir", value_name = "DIR")]
    pub(crate) plugin_dirs: Vec<PathBuf>,

    /// Where to tell clients about the cloud [default: clouds.yaml, if that is not somebody else's]
    #[arg(long, value_name = "FILE")]
    pub(crate) clouds: Option<PathBuf>,
}

/// Arguments of `kiln server`.
#[derive(Debug, Args)]
pub(crate) struct Server {
    /// The configuration file, in oslo's form: a heat.conf does as it is
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// What this process does; may be given several times [default: all, or as the file says]
    #[arg(long = "role", value_name = "ROLE")]
    pub(crate) roles: Vec<Role>,

    /// The database: sqlite://PATH, postgres://… or mysql://… [default: sqlite://kiln.db, or as the file says]
    #[arg(long = "database", value_name = "URL")]
    pub(crate) database: Option<String>,

    /// The file with the keys that it is encrypted with [default: kiln.keys, or as the file says]
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,

    /// Where a service of the cloud is found; may be given several times
    #[arg(long = "endpoint", value_name = "SERVICE=URL")]
    pub(crate) endpoints: Vec<String>,

    /// Stop when there is nothing left to do
    #[arg(long)]
    pub(crate) once: bool,

    /// Seconds that a call whose reply was lost may still take effect
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) quiet: u64,

    /// Seconds after which another engine takes over from one that is gone [default: 15, or as the file says]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) lease: Option<u64>,
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Answers requests
    Api,
    /// Answers requests in AWS's form, and takes signals from servers: the CloudFormation API
    Cfn,
    /// Takes what servers measure: the CloudWatch API
    Cloudwatch,
    /// Carries out what is wanted of stacks
    Engine,
}

/// What to do with a database.
#[derive(Debug, Subcommand)]
pub(crate) enum Db {
    /// Remove stacks for good that were deleted some time ago
    Purge(Purge),
    /// Use a new key from now on, and encrypt everything with it
    RotateKeys(Database),
}

/// Arguments of `kiln db purge`.
#[derive(Debug, Args)]
pub(crate) struct Purge {
    #[command(flatten)]
    pub(crate) database: Database,

    /// How many days ago they must have been deleted
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    pub(crate) older_than: u64,

    /// Only those of this project
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
}

/// A template and what surrounds it.
#[derive(Clone, Debug, Args)]
pub(crate) struct Subject {
    /// The template: a path, a file:// URL, or - for standard input
    #[arg(value_name = "TEMPLATE")]
    pub(crate) template: String,

    /// An environment file; may be given several times, later ones count more
    #[arg(short, long = "environment", value_name = "FILE")]
    pub(crate) environments: Vec<String>,

    /// A parameter's value; may be given several times
    #[arg(short = 'P', long = "parameter", value_name = "NAME=VALUE")]
    pub(crate) parameters: Vec<String>,

    /// A file whose content is a parameter's value, relative to the template's directory
    #[arg(long = "parameter-file", value_name = "NAME=FILE")]
    pub(crate) parameter_files: Vec<String>,

    /// A folder with files (*.yaml) that describe resource types; may be given several times
    #[arg(long = "plugin-dir", value_name = "DIR")]
    pub(crate) plugin_dirs: Vec<PathBuf>,
}

/// Arguments of `kiln validate`.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) subject: Subject,

    /// How findings are shown: text for people, json for programs
    #[arg(long, value_enum, default_value_t = FindingsFormat::Text, hide_possible_values = true)]
    pub(crate) format: FindingsFormat,

    /// Ask for a value for every parameter, as creating a stack does
    #[arg(long)]
    pub(crate) require_parameters: bool,

    /// Let warnings count as errors
    #[arg(long)]
    pub(crate) deny_warnings: bool,
}

/// Arguments of `kiln template graph`.
#[derive(Debug, Args)]
pub(crate) struct Graph {
    #[command(flatten)]
    pub(crate) subject: Subject,

    /// How the graph is shown: tree, dot for Graphviz, or json
    #[arg(long, value_enum, default_value_t = GraphFormat::Tree, hide_possible_values = true)]
    pub(crate) format: GraphFormat,
}

/// Arguments of `kiln template functions`.
#[derive(Debug, Args)]
pub(crate) struct Functions {
    /// The version: a date, a release name, or as in heat_template_version.2021-04-16 [default: the newest]
    pub(crate) version: Option<String>,

    /// Also list what may stand in conditions alone
    #[arg(long)]
    pub(crate) with_conditions: bool,

    /// How the list is shown: text or json
    #[arg(long, value_enum, default_value_t = ListFormat::Text, hide_possible_values = true)]
    pub(crate) format: ListFormat,
}

/// Arguments of `kiln template versions`.
#[derive(Debug, Args)]
pub(crate) struct Versions {
    /// How the list is shown: text or json
    #[arg(long, value_enum, default_value_t = ListFormat::Text, hide_possible_values = true)]
    pub(crate) format: ListFormat,
}

/// Arguments of `kiln yaql`.
#[derive(Debug, Args)]
pub(crate) struct Yaql {
    /// The query
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub(crate) expression: String,

    /// A file with the data, in YAML or JSON, or - for standard input [default: null]
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<String>,

    /// Put the data under the key `data`, as the yaql function of templates does
    #[arg(long)]
    pub(crate) as_template: bool,

    /// The most members that a collection may have [default: 200, as in a stock service]
    #[arg(long, value_name = "N")]
    pub(crate) limit_iterators: Option<usize>,

    /// The most bytes that a value may take [default: 10000, as in a stock service]
    #[arg(long, value_name = "N")]
    pub(crate) memory_quota: Option<usize>,
}

/// Arguments of `kiln explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The code, such as K0403 [default: list all codes]
    pub(crate) code: Option<String>,
}

/// Arguments of `kiln completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// If the output goes to a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How findings are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingsFormat {
    /// For people: with the source text of each finding
    Text,
    /// For programs: one JSON object
    Json,
}

/// How a graph is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// What nothing else needs at the left, what it needs below it
    Tree,
    /// Graphviz
    Dot,
    /// For programs: one JSON object
    Json,
}

/// How a list is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For people
    Text,
    /// For programs: one JSON array
    Json,
}

const VALIDATE_EXAMPLES: &str = "\
Examples:
  kiln validate stack.yaml
  kiln validate stack.yaml -e prod.yaml -e secrets.yaml -P flavor=m1.small
  kiln validate stack.yaml --format json | jq '.diagnostics[].code'
  generate-template | kiln validate -

Exit status: 0 the template is valid, 1 it is not, 2 it could not be looked at.";

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

Exit status: 0 a result was printed, 1 the query or its data is wrong, 2 it could not be tried.";

const DEV_EXAMPLES: &str = "\
Examples:
  kiln dev examples/first.yaml
  openstack --os-cloud kiln stack list
  kiln dev stack.yaml -e test.yaml -P size=3 --exit --free-ports

Exit status: 0 all went well, 1 the stack failed or was refused, 2 it could not be started.";

const SERVER_EXAMPLES: &str = "\
Examples:
  kiln server --config /etc/heat/heat.conf
  kiln server --role engine --database sqlite:///var/lib/kiln/kiln.db --keys /var/lib/kiln/keys
  kiln server --role engine --database postgres://kiln@db/kiln --endpoint network=http://10.0.0.5:9696

To replace a running server without a failed request, start the next one with the same configuration: it
opens the same port. Then ask the first to stop (SIGTERM, or Ctrl-C): it answers what it was asked, and its
stacks go on in the next one.

Logs go to standard error; KILN_LOG says what is logged, such as info or kiln_api=debug.";

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
