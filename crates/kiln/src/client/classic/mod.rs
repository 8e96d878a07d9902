//! `heat …`: the classic words for the same things, and the answers they have always given.
//!
//! They share their requests with the newer words; only words and looks are their own.

mod inside;
mod list;
mod look;
mod other;
mod stack;

use super::connection::{Connection, Loudness};
use super::problem::{Problem, Result};
use super::{Client, Command};
use crate::cli::Color;
use crate::streams;
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// The classic command line of orchestration: heat, as it was before openstack.
#[derive(Debug, Parser)]
#[command(name = "heat", version, max_term_width = 100, disable_help_subcommand = true)]
struct Heat {
    #[command(subcommand)]
    verb: Verb,

    /// The same as --debug
    #[arg(short = 'd')]
    is_debug: bool,

    /// The same as --insecure
    #[arg(short = 'k')]
    is_insecure: bool,

    /// Accepted for old scripts
    #[arg(short, long, hide = true)]
    token_only: bool,

    /// Accepted for old scripts
    #[arg(long, hide = true)]
    include_password: bool,

    /// Accepted for old scripts
    #[arg(long, hide = true)]
    profile: Option<String>,

    #[command(flatten)]
    connection: Connection,
}

/// A classic word.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Check whether what a stack is made of is still there
    ActionCheck(stack::One),
    /// Resume a stack
    ActionResume(stack::One),
    /// Suspend a stack
    ActionSuspend(stack::One),
    /// Show how the service was built
    BuildInfo,
    /// Create a software configuration
    ConfigCreate(other::ConfigCreate),
    /// Delete software configurations
    ConfigDelete(other::Ids),
    /// List software configurations
    ConfigList(other::ConfigList),
    /// Print a software configuration
    ConfigShow(other::ConfigShow),
    /// Put a software configuration to use on a server
    DeploymentCreate(other::DeploymentCreate),
    /// Delete software deployments
    DeploymentDelete(other::Ids),
    /// List software deployments
    DeploymentList(other::DeploymentList),
    /// Print the configurations that a server has to apply
    DeploymentMetadataShow(other::Id),
    /// Print what a software deployment put out
    DeploymentOutputShow(other::DeploymentOutput),
    /// Print a software deployment
    DeploymentShow(other::Id),
    /// List what happened to a stack
    EventList(inside::EventList),
    /// Show an event
    #[command(alias = "event")]
    EventShow(inside::EventShow),
    /// Let a stack go on that has stopped at resources
    HookClear(super::stack::hook::Clear),
    /// List the resources that a stack has stopped at
    HookPoll(inside::HookPoll),
    /// List the outputs of a stack
    OutputList(stack::One),
    /// Print an output of a stack
    OutputShow(inside::OutputShow),
    /// List the resources of a stack
    ResourceList(inside::ResourceList),
    /// Mark a resource as broken
    ResourceMarkUnhealthy(super::stack::resource::Unhealthy),
    /// Print the metadata of a resource
    ResourceMetadata(inside::OneResource),
    /// Show a resource
    ResourceShow(inside::ResourceShow),
    /// Send a signal to a resource
    ResourceSignal(inside::ResourceSignal),
    /// List the types of resources
    ResourceTypeList(other::TypeList),
    /// Print what a type of resources takes and gives
    ResourceTypeShow(other::Id),
    /// Print a template with one resource of a type
    #[command(alias = "resource-template")]
    ResourceTypeTemplate(other::TypeTemplate),
    /// List the engines of the service
    ServiceList,
    /// Delete a snapshot
    SnapshotDelete(super::stack::snapshot::Delete),
    /// List the snapshots of a stack
    SnapshotList(stack::One),
    /// Print a snapshot
    SnapshotShow(super::stack::snapshot::Named),
    /// Forget a stack but keep what it is made of
    StackAbandon(stack::Abandon),
    /// Make a stack of what exists already
    StackAdopt(stack::Adopt),
    /// Break off the update of a stack
    StackCancelUpdate(stack::One),
    /// Create a stack
    StackCreate(stack::Create),
    /// Delete stacks
    StackDelete(stack::Delete),
    /// List stacks
    StackList(list::List),
    /// Show what creating a stack would make
    StackPreview(stack::Preview),
    /// Let a stack go back to a snapshot
    StackRestore(super::stack::snapshot::Named),
    /// Show a stack
    StackShow(stack::Show),
    /// Take a snapshot of a stack
    StackSnapshot(stack::Snapshot),
    /// Change a stack
    StackUpdate(stack::Update),
    /// List the functions that a template version has
    TemplateFunctionList(other::Id),
    /// Print the template of a stack
    TemplateShow(stack::One),
    /// Let the service check a template
    TemplateValidate(other::Validate),
    /// List the versions of templates
    TemplateVersionList,
    /// Print all words and options, for completion in a shell
    #[command(alias = "bash_completion")]
    BashCompletion,
    /// Tell how to use a word
    Help {
        /// The word
        #[arg(value_name = "SUBCOMMAND")]
        word: Option<String>,
    },
}

/// The newer words for the classic ones.
const NEWER: [(&str, &str); 47] = [
    ("action-check", "stack check"),
    ("action-resume", "stack resume"),
    ("action-suspend", "stack suspend"),
    ("build-info", "orchestration build info"),
    ("config-create", "software config create"),
    ("config-delete", "software config delete"),
    ("config-list", "software config list"),
    ("config-show", "software config show"),
    ("deployment-create", "software deployment create"),
    ("deployment-delete", "software deployment delete"),
    ("deployment-list", "software deployment list"),
    ("deployment-metadata-show", "software deployment metadata show"),
    ("deployment-output-show", "software deployment output show"),
    ("deployment-show", "software deployment show"),
    ("event-list", "stack event list"),
    ("event-show", "stack event show"),
    ("hook-clear", "stack hook clear"),
    ("hook-poll", "stack hook poll"),
    ("output-list", "stack output list"),
    ("output-show", "stack output show"),
    ("resource-list", "stack resource list"),
    ("resource-mark-unhealthy", "stack resource mark unhealthy"),
    ("resource-metadata", "stack resource metadata"),
    ("resource-show", "stack resource show"),
    ("resource-signal", "stack resource signal"),
    ("resource-type-list", "orchestration resource type list"),
    ("resource-type-show", "orchestration resource type show"),
    ("resource-type-template", "orchestration resource type show --template-type hot"),
    ("service-list", "orchestration service list"),
    ("snapshot-delete", "stack snapshot delete"),
    ("snapshot-list", "stack snapshot list"),
    ("snapshot-show", "stack snapshot show"),
    ("stack-abandon", "stack abandon"),
    ("stack-adopt", "stack adopt"),
    ("stack-cancel-update", "stack cancel"),
    ("stack-create", "stack create"),
    ("stack-delete", "stack delete"),
    ("stack-list", "stack list"),
    ("stack-preview", "stack create --dry-run"),
    ("stack-restore", "stack snapshot restore"),
    ("stack-show", "stack show"),
    ("stack-snapshot", "stack snapshot create"),
    ("stack-update", "stack update"),
    ("template-function-list", "orchestration template function list"),
    ("template-show", "stack template show"),
    ("template-validate", "orchestration template validate"),
    ("template-version-list", "orchestration template version list"),
];

/// Runs the program when it is called `heat`.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    // An option of two letters behind one hyphen is known to old scripts only.
    let spelt_out = |word: OsString| if word == "-Pf" { "--parameter-file".into() } else { word };
    let arguments: Vec<OsString> = arguments.map(spelt_out).collect();
    if arguments.len() < 2 {
        return print(Heat::command().render_help().to_string());
    }
    let mut heat = Heat::parse_from(&arguments);
    heat.connection.debug |= heat.is_debug;
    heat.connection.insecure |= heat.is_insecure;
    match heat.verb {
        Verb::BashCompletion => print(completion()),
        Verb::Help { word } => help(word.as_deref()),
        verb => {
            let word = arguments.iter().filter_map(|word| word.to_str());
            let word = word.skip(1).find_map(|word| NEWER.iter().find(|(old, _)| *old == word));
            streams::with_standard(Color::Auto, |streams| {
                let is_quiet = heat.connection.loudness() == Loudness::Quiet;
                if let Some((old, new)) = word.filter(|_| !is_quiet) {
                    let warning = format!(
                        "WARNING (shell) \"heat {old}\" is deprecated, please use \"openstack {new}\" instead"
                    );
                    writeln!(streams.err, "{warning}")?;
                    streams.err.flush()?;
                }
                super::run(Command::Classic(verb), &heat.connection, streams)
            })
        }
    }
}

/// Prints text and ends well.
fn print(text: String) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

/// The help for a word, or for all of them.
fn help(word: Option<&str>) -> ExitCode {
    let mut all = Heat::command();
    all.build();
    let Some(word) = word else { return print(all.render_help().to_string()) };
    match all.find_subcommand_mut(word) {
        Some(command) => print(command.render_long_help().to_string()),
        None => {
            _ = writeln!(std::io::stderr(), "'{word}' is not a valid subcommand");
            ExitCode::from(1)
        }
    }
}

/// All words and long options.
fn completion() -> String {
    let all = Heat::command();
    let mut words: Vec<String> = Vec::new();
    for command in all.get_subcommands() {
        words.push(command.get_name().to_owned());
        let options = command.get_arguments().filter_map(|it| it.get_long());
        words.extend(options.map(|option| format!("--{option}")));
    }
    words.extend(all.get_arguments().filter_map(|it| it.get_long()).map(|it| format!("--{it}")));
    words.sort();
    words.dedup();
    words.join(" ") + "\n"
}

/// Carries a classic word out.
pub(crate) async fn run(verb: Verb, client: &mut Client<'_, '_>) -> Result<()> {
    match verb {
        Verb::ActionCheck(one) => one.act(client, "check").await,
        Verb::ActionResume(one) => one.act(client, "resume").await,
        Verb::ActionSuspend(one) => one.act(client, "suspend").await,
        Verb::BuildInfo => other::build_info(client).await,
        Verb::ConfigCreate(create) => create.run(client).await,
        Verb::ConfigDelete(ids) => ids.delete_configs(client).await,
        Verb::ConfigList(list) => list.run(client).await,
        Verb::ConfigShow(show) => show.run(client).await,
        Verb::DeploymentCreate(create) => create.run(client).await,
        Verb::DeploymentDelete(ids) => ids.delete_deployments(client).await,
        Verb::DeploymentList(list) => list.run(client).await,
        Verb::DeploymentMetadataShow(id) => id.deployment_metadata(client).await,
        Verb::DeploymentOutputShow(show) => show.run(client).await,
        Verb::DeploymentShow(id) => id.deployment(client).await,
        Verb::EventList(list) => list.run(client).await,
        Verb::EventShow(show) => show.run(client).await,
        Verb::HookClear(clear) => clear.run(client).await,
        Verb::HookPoll(poll) => poll.run(client).await,
        Verb::OutputList(one) => one.outputs(client).await,
        Verb::OutputShow(show) => show.run(client).await,
        Verb::ResourceList(list) => list.run(client).await,
        Verb::ResourceMarkUnhealthy(mark) => mark.run(client).await,
        Verb::ResourceMetadata(one) => one.metadata(client).await,
        Verb::ResourceShow(show) => show.run(client).await,
        Verb::ResourceSignal(signal) => signal.run(client).await,
        Verb::ResourceTypeList(list) => list.run(client).await,
        Verb::ResourceTypeShow(id) => id.resource_type(client).await,
        Verb::ResourceTypeTemplate(template) => template.run(client).await,
        Verb::ServiceList => other::services(client).await,
        Verb::SnapshotDelete(delete) => delete.run(client).await.map_err(stack::no_snapshot),
        Verb::SnapshotList(one) => one.snapshots(client).await,
        Verb::SnapshotShow(named) => stack::show_snapshot(&named, client).await,
        Verb::StackAbandon(abandon) => abandon.run(client).await,
        Verb::StackAdopt(adopt) => adopt.run(client).await,
        Verb::StackCancelUpdate(one) => one.act(client, "cancel_update").await,
        Verb::StackCreate(create) => create.run(client).await,
        Verb::StackDelete(delete) => delete.run(client).await,
        Verb::StackList(list) => list.run(client).await,
        Verb::StackPreview(preview) => preview.run(client).await,
        Verb::StackRestore(named) => named.restore(client).await.map_err(stack::no_snapshot),
        Verb::StackShow(show) => show.run(client).await,
        Verb::StackSnapshot(snapshot) => snapshot.run(client).await,
        Verb::StackUpdate(update) => update.run(client).await,
        Verb::TemplateFunctionList(id) => id.functions(client).await,
        Verb::TemplateShow(one) => one.template(client).await,
        Verb::TemplateValidate(validate) => validate.run(client).await,
        Verb::TemplateVersionList => other::versions(client).await,
        // These two never come here: they ask nobody anything.
        Verb::BashCompletion | Verb::Help { .. } => Err(Problem::new("heat help tells more.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Heat::command().debug_assert();
        let words: Vec<&str> = NEWER.iter().map(|(old, _)| *old).collect();
        for word in &words {
            assert!(Heat::command().find_subcommand(word).is_some(), "{word}");
        }
        assert!(words.is_sorted());
    }
}
