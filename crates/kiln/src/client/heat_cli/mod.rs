//! `heat …`: the commands of the older client, with the output that scripts expect of them.
//!
//! They share their requests with `kiln stack`; only names, arguments and output differ.

mod contents;
mod list;
mod other;
mod print;
mod stack;

use super::connection::{Connection, Verbosity};
use super::error::{ClientError, Result};
use super::{Client, ClientCommand};
use crate::cli::Color;
use crate::stdio;
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// The classic orchestration client, from the time before `openstack stack`
#[derive(Debug, Parser)]
#[command(name = "heat", version, max_term_width = 100, disable_help_subcommand = true)]
struct HeatCli {
    #[command(subcommand)]
    subcommand: HeatCommand,

    /// Same as --debug
    #[arg(short = 'd')]
    is_debug: bool,

    /// Same as --insecure
    #[arg(short = 'k')]
    is_insecure: bool,

    /// Ignored; accepted for compatibility
    #[arg(short, long, hide = true)]
    token_only: bool,

    /// Ignored; accepted for compatibility
    #[arg(long, hide = true)]
    include_password: bool,

    /// Ignored; accepted for compatibility
    #[arg(long, hide = true)]
    profile: Option<String>,

    #[command(flatten)]
    connection: Connection,
}

/// The subcommands of `heat`.
#[derive(Debug, Subcommand)]
pub(crate) enum HeatCommand {
    /// Check that the resources of a stack still exist
    ActionCheck(stack::OneStack),
    /// Resume a stack
    ActionResume(stack::OneStack),
    /// Suspend a stack
    ActionSuspend(stack::OneStack),
    /// Show build information of the service
    BuildInfo,
    /// Create a software configuration
    ConfigCreate(other::ConfigCreate),
    /// Delete software configurations
    ConfigDelete(other::ManyIds),
    /// List software configurations
    ConfigList(other::ConfigList),
    /// Print a software configuration
    ConfigShow(other::ConfigShow),
    /// Deploy a software configuration to a server
    DeploymentCreate(other::DeploymentCreate),
    /// Delete software deployments
    DeploymentDelete(other::ManyIds),
    /// List software deployments
    DeploymentList(other::DeploymentList),
    /// Print the deployments of a server
    DeploymentMetadataShow(other::OneId),
    /// Print outputs of a software deployment
    DeploymentOutputShow(other::DeploymentOutput),
    /// Print a software deployment
    DeploymentShow(other::OneId),
    /// List the events of a stack
    EventList(contents::EventList),
    /// Show an event
    #[command(alias = "event")]
    EventShow(contents::EventShow),
    /// Clear hooks, so that a stack continues
    HookClear(super::stack::hook::HookClear),
    /// List the resources with pending hooks
    HookPoll(contents::HookPoll),
    /// List the outputs of a stack
    OutputList(stack::OneStack),
    /// Show an output of a stack
    OutputShow(contents::OutputShow),
    /// List the resources of a stack
    ResourceList(contents::ResourceList),
    /// Mark a resource as unhealthy
    ResourceMarkUnhealthy(super::stack::resource::MarkUnhealthy),
    /// Print the metadata of a resource
    ResourceMetadata(contents::OneResource),
    /// Show a resource
    ResourceShow(contents::ResourceShow),
    /// Send a signal to a resource
    ResourceSignal(contents::ResourceSignal),
    /// List the resource types
    ResourceTypeList(other::TypeList),
    /// Print the schema of a resource type
    ResourceTypeShow(other::OneId),
    /// Print a template for a resource type
    #[command(alias = "resource-template")]
    ResourceTypeTemplate(other::TypeTemplate),
    /// List the engines of the service
    ServiceList,
    /// Delete a snapshot
    SnapshotDelete(super::stack::snapshot::SnapshotDelete),
    /// List the snapshots of a stack
    SnapshotList(stack::OneStack),
    /// Print a snapshot
    SnapshotShow(super::stack::snapshot::SnapshotTarget),
    /// Abandon a stack: remove it but keep its resources
    StackAbandon(stack::StackAbandon),
    /// Adopt existing resources as a stack
    StackAdopt(stack::StackAdopt),
    /// Cancel the update of a stack
    StackCancelUpdate(stack::OneStack),
    /// Create a stack
    StackCreate(stack::StackCreate),
    /// Delete stacks
    StackDelete(stack::StackDelete),
    /// List stacks
    StackList(list::StackList),
    /// Preview the creation of a stack
    StackPreview(stack::StackPreview),
    /// Restore a stack from a snapshot
    StackRestore(super::stack::snapshot::SnapshotTarget),
    /// Show a stack
    StackShow(stack::StackShow),
    /// Take a snapshot of a stack
    StackSnapshot(stack::StackSnapshot),
    /// Update a stack
    StackUpdate(stack::StackUpdate),
    /// List the functions of a template version
    TemplateFunctionList(other::OneId),
    /// Print the template of a stack
    TemplateShow(stack::OneStack),
    /// Validate a template with the service
    TemplateValidate(other::TemplateValidate),
    /// List the template versions
    TemplateVersionList,
    /// Print all commands and options, for shell completion
    #[command(alias = "bash_completion")]
    BashCompletion,
    /// Show help for a command
    Help {
        /// Command
        #[arg(value_name = "SUBCOMMAND")]
        word: Option<String>,
    },
}

/// The `openstack` command that replaces each `heat` command.
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

/// Runs the program when it was started as `heat`.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    // Clap has no options with two letters after one hyphen; old scripts use this one.
    let spelt_out = |word: OsString| if word == "-Pf" { "--parameter-file".into() } else { word };
    let arguments: Vec<OsString> = arguments.map(spelt_out).collect();
    if arguments.len() < 2 {
        return print(HeatCli::command().render_help().to_string());
    }
    let mut heat = HeatCli::parse_from(&arguments);
    heat.connection.debug |= heat.is_debug;
    heat.connection.insecure |= heat.is_insecure;
    match heat.subcommand {
        HeatCommand::BashCompletion => print(completion()),
        HeatCommand::Help { word } => help(word.as_deref()),
        subcommand => {
            let word = arguments.iter().filter_map(|word| word.to_str());
            let word = word.skip(1).find_map(|word| NEWER.iter().find(|(old, _)| *old == word));
            stdio::with_standard(Color::Auto, |streams| {
                let is_quiet = heat.connection.verbosity() == Verbosity::Quiet;
                if let Some((old, new)) = word.filter(|_| !is_quiet) {
                    let warning = format!(
                        "WARNING (shell) \"heat {old}\" is deprecated, please use \"openstack {new}\" instead"
                    );
                    writeln!(streams.err, "{warning}")?;
                    streams.err.flush()?;
                }
                super::run(ClientCommand::HeatCli(subcommand), &heat.connection, streams)
            })
        }
    }
}

/// Prints text and exits with success.
fn print(text: String) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

/// The help for a command, or for all of them.
fn help(word: Option<&str>) -> ExitCode {
    let mut all = HeatCli::command();
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

/// All commands and long options.
fn completion() -> String {
    let all = HeatCli::command();
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

/// Runs a `heat` command.
pub(crate) async fn run(subcommand: HeatCommand, client: &mut Client<'_, '_>) -> Result<()> {
    match subcommand {
        HeatCommand::ActionCheck(one) => one.act(client, "check").await,
        HeatCommand::ActionResume(one) => one.act(client, "resume").await,
        HeatCommand::ActionSuspend(one) => one.act(client, "suspend").await,
        HeatCommand::BuildInfo => other::build_info(client).await,
        HeatCommand::ConfigCreate(create) => create.run(client).await,
        HeatCommand::ConfigDelete(ids) => ids.delete_configs(client).await,
        HeatCommand::ConfigList(list) => list.run(client).await,
        HeatCommand::ConfigShow(show) => show.run(client).await,
        HeatCommand::DeploymentCreate(create) => create.run(client).await,
        HeatCommand::DeploymentDelete(ids) => ids.delete_deployments(client).await,
        HeatCommand::DeploymentList(list) => list.run(client).await,
        HeatCommand::DeploymentMetadataShow(id) => id.deployment_metadata(client).await,
        HeatCommand::DeploymentOutputShow(show) => show.run(client).await,
        HeatCommand::DeploymentShow(id) => id.deployment(client).await,
        HeatCommand::EventList(list) => list.run(client).await,
        HeatCommand::EventShow(show) => show.run(client).await,
        HeatCommand::HookClear(clear) => clear.run(client).await,
        HeatCommand::HookPoll(poll) => poll.run(client).await,
        HeatCommand::OutputList(one) => one.outputs(client).await,
        HeatCommand::OutputShow(show) => show.run(client).await,
        HeatCommand::ResourceList(list) => list.run(client).await,
        HeatCommand::ResourceMarkUnhealthy(mark) => mark.run(client).await,
        HeatCommand::ResourceMetadata(one) => one.metadata(client).await,
        HeatCommand::ResourceShow(show) => show.run(client).await,
        HeatCommand::ResourceSignal(signal) => signal.run(client).await,
        HeatCommand::ResourceTypeList(list) => list.run(client).await,
        HeatCommand::ResourceTypeShow(id) => id.resource_type(client).await,
        HeatCommand::ResourceTypeTemplate(template) => template.run(client).await,
        HeatCommand::ServiceList => other::services(client).await,
        HeatCommand::SnapshotDelete(delete) => delete.run(client).await.map_err(stack::no_snapshot),
        HeatCommand::SnapshotList(one) => one.snapshots(client).await,
        HeatCommand::SnapshotShow(named) => stack::show_snapshot(&named, client).await,
        HeatCommand::StackAbandon(abandon) => abandon.run(client).await,
        HeatCommand::StackAdopt(adopt) => adopt.run(client).await,
        HeatCommand::StackCancelUpdate(one) => one.act(client, "cancel_update").await,
        HeatCommand::StackCreate(create) => create.run(client).await,
        HeatCommand::StackDelete(delete) => delete.run(client).await,
        HeatCommand::StackList(list) => list.run(client).await,
        HeatCommand::StackPreview(preview) => preview.run(client).await,
        HeatCommand::StackRestore(named) => named.restore(client).await.map_err(stack::no_snapshot),
        HeatCommand::StackShow(show) => show.run(client).await,
        HeatCommand::StackSnapshot(snapshot) => snapshot.run(client).await,
        HeatCommand::StackUpdate(update) => update.run(client).await,
        HeatCommand::TemplateFunctionList(id) => id.functions(client).await,
        HeatCommand::TemplateShow(one) => one.template(client).await,
        HeatCommand::TemplateValidate(validate) => validate.run(client).await,
        HeatCommand::TemplateVersionList => other::versions(client).await,
        // Both were handled before a session was opened.
        HeatCommand::BashCompletion | HeatCommand::Help { .. } => {
            Err(ClientError::new("See heat help."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        HeatCli::command().debug_assert();
        let words: Vec<&str> = NEWER.iter().map(|(old, _)| *old).collect();
        for word in &words {
            assert!(HeatCli::command().find_subcommand(word).is_some(), "{word}");
        }
        assert!(words.is_sorted());
    }
}
