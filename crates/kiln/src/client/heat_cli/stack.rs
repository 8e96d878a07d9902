//! `heat` commands for whole stacks.

use super::super::Client;
use super::super::error::{ClientError, Result};
use super::super::format::yaml;
use super::super::heat::{Query, StackId};
use super::super::stack::change::{
    self, cleared_parameters, create_body, extras, need_template, preview_update,
};
use super::super::stack::delete::{QUESTION, undeleted};
use super::super::stack::show::{ExportMode, document, part, prepared, put};
use super::super::stack::{action, output, snapshot};
use super::super::upload::{Upload, UploadArgs};
use super::super::wait::{AwaitedAction, Waiting};
use super::list::list_all;
use super::print;
use clap::Args;
use kiln_template::print::Keys;
use reqwest::Method;
use serde_json::Value;

/// One stack.
#[derive(Debug, Args)]
pub(crate) struct OneStack {
    /// Name or id of the stack
    #[arg(value_name = "NAME or ID")]
    pub(super) stack: String,
}

impl OneStack {
    pub(super) async fn act(self, client: &mut Client<'_, '_>, action: &str) -> Result<()> {
        action::act(client, &self.stack, action, "", &Waiting::default()).await?;
        list_all(client).await
    }

    pub(super) async fn outputs(self, client: &mut Client<'_, '_>) -> Result<()> {
        let outputs = output::outputs(client, &self.stack).await?;
        print::list(client, &["output_key", "description"], &outputs, None)
    }

    pub(super) async fn snapshots(self, client: &mut Client<'_, '_>) -> Result<()> {
        let snapshots = snapshot::snapshots(client, &self.stack).await?;
        let columns = ["id", "name", "action", "status", "status_reason", "creation_time"];
        print::list(client, &columns, &snapshots, None)
    }

    pub(super) async fn template(self, client: &mut Client<'_, '_>) -> Result<()> {
        let template = part(client, &self.stack, "template").await?;
        if template.get("heat_template_version").is_some() {
            return client.console.line(&yaml(&template, Keys::Sorted));
        }
        print::document(client, &template)
    }
}

/// Template, environments and parameters in the syntax of `heat`.
#[derive(Debug, Args)]
pub(super) struct HeatTemplate {
    /// Path of the template
    #[arg(short = 'f', long = "template-file", value_name = "FILE")]
    file: Option<String>,

    /// URL of the template
    #[arg(short = 'u', long = "template-url", value_name = "URL")]
    url: Option<String>,

    /// URL of the template, fetched with the user's token
    #[arg(short = 'o', long = "template-object", value_name = "URL")]
    object: Option<String>,

    /// Environment file; may be repeated
    #[arg(short = 'e', long = "environment-file", value_name = "FILE")]
    environments: Vec<String>,

    /// Parameters; may be repeated
    #[arg(short = 'P', long = "parameters", value_name = "KEY=VALUE;KEY=VALUE")]
    parameters: Vec<String>,

    /// File whose content is the value of a parameter; may be repeated; also as -Pf
    #[arg(long = "parameter-file", value_name = "KEY=FILE")]
    parameter_files: Vec<String>,
}

impl HeatTemplate {
    fn named(&self) -> Option<&str> {
        self.file.as_deref().or(self.url.as_deref()).or(self.object.as_deref())
    }

    pub(super) async fn gather(&self, client: &Client<'_, '_>, existing: bool) -> Result<Upload> {
        need_template(self.named().is_some(), existing)?;
        let given = UploadArgs {
            environments: self.environments.clone(),
            parameters: self.parameters.clone(),
            parameter_files: self.parameter_files.clone(),
            files_container: None,
        };
        Upload::gather(&client.heat.session, self.named(), &given).await
    }
}

/// The timeout of an action, and whether its failure is rolled back.
#[derive(Debug, Args)]
struct ActionPolicy {
    /// Timeout of the action, in minutes
    #[arg(short, long, value_name = "MINUTES")]
    timeout: Option<u64>,

    /// Roll back if the action fails
    #[arg(short = 'r', long)]
    enable_rollback: bool,
}

/// The policy of an action that creates a stack.
#[derive(Debug, Args)]
struct CreationOptions {
    /// Deprecated name of --timeout
    #[arg(short = 'c', long, value_name = "MINUTES")]
    create_timeout: Option<u64>,

    #[command(flatten)]
    policy: ActionPolicy,
}

impl CreationOptions {
    fn timeout(&self) -> Option<u64> {
        self.policy.timeout.or(self.create_timeout)
    }
}

/// Arguments of `heat stack-create`.
#[derive(Debug, Args)]
pub(crate) struct StackCreate {
    /// Name of the stack
    #[arg(value_name = "STACK_NAME")]
    name: String,

    #[command(flatten)]
    template: HeatTemplate,

    /// Resource with a hook before its creation; may be repeated
    #[arg(long, value_name = "RESOURCE")]
    pre_create: Vec<String>,

    #[command(flatten)]
    creation: CreationOptions,

    /// Wait for the stack, polling at this interval in seconds (5 without a value)
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "5")]
    poll: Option<f64>,

    /// Comma-separated tags of the stack
    #[arg(long, value_name = "TAG,TAG")]
    tags: Option<String>,
}

impl StackCreate {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let mut upload = self.template.gather(client, false).await?;
        upload.hook(&self.pre_create, "pre-create");
        let (timeout, rolls_back) = (self.creation.timeout(), self.creation.policy.enable_rollback);
        let body = create_body(upload, &self.name, rolls_back, self.tags.as_deref(), timeout);
        let made = change::create(client, body, &self.name).await?;
        list_all(client).await?;
        let Some(poll) = self.poll else { return Ok(()) };
        show(client, &made).await?;
        let waiting = Waiting { wait: true, poll: Some(poll), wait_timeout: None };
        let awaited = AwaitedAction::of_new(&made, &self.name, "CREATE", rolls_back, &waiting);
        let ended = client.wait(awaited).await;
        show(client, &made).await?;
        ended?;
        client.console.line(&format!("\n Stack {} CREATE_COMPLETE \n", self.name))
    }
}

async fn show(client: &mut Client<'_, '_>, stack: &StackId) -> Result<()> {
    let state = client.heat.get(&stack.path(&[]), Query::new()).await?;
    print::details(client, &state["stack"])
}

/// Arguments of `heat stack-preview`.
#[derive(Debug, Args)]
pub(crate) struct StackPreview {
    /// Name of the stack
    #[arg(value_name = "STACK_NAME")]
    name: String,

    #[command(flatten)]
    template: HeatTemplate,

    #[command(flatten)]
    policy: ActionPolicy,

    /// Comma-separated tags of the stack
    #[arg(long, value_name = "TAG,TAG")]
    tags: Option<String>,
}

impl StackPreview {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let upload = self.template.gather(client, false).await?;
        let ActionPolicy { timeout, enable_rollback } = self.policy;
        let body = create_body(upload, &self.name, enable_rollback, self.tags.as_deref(), timeout);
        let preview = change::preview(client, body).await?;
        print::details(client, &preview)
    }
}

/// Arguments of `heat stack-adopt`.
#[derive(Debug, Args)]
pub(crate) struct StackAdopt {
    /// Name of the stack
    #[arg(value_name = "STACK_NAME")]
    name: String,

    /// File with the output of stack-abandon
    #[arg(short, long, value_name = "FILE")]
    adopt_file: String,

    /// Environment file; may be repeated
    #[arg(short = 'e', long = "environment-file", value_name = "FILE")]
    environments: Vec<String>,

    #[command(flatten)]
    creation: CreationOptions,

    /// Parameters; may be repeated
    #[arg(short = 'P', long = "parameters", value_name = "KEY=VALUE;KEY=VALUE")]
    parameters: Vec<String>,
}

impl StackAdopt {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let adopt = change::StackAdopt {
            name: self.name,
            adopt_file: self.adopt_file,
            environments: self.environments,
            timeout: self.creation.timeout(),
            enable_rollback: self.creation.policy.enable_rollback,
            parameters: self.parameters,
            waiting: Waiting::default(),
            output_format: Default::default(),
        };
        adopt.adopt(client).await?;
        list_all(client).await
    }
}

/// Arguments of `heat stack-update`.
#[derive(Debug, Args)]
pub(crate) struct StackUpdate {
    #[command(flatten)]
    target: OneStack,

    #[command(flatten)]
    template: HeatTemplate,

    /// Resource with a hook before its update; may be repeated
    #[arg(long, value_name = "RESOURCE")]
    pre_update: Vec<String>,

    /// Timeout of the action, in minutes
    #[arg(short, long, value_name = "MINUTES")]
    timeout: Option<u64>,

    /// Whether to roll back if the update fails: true or false
    #[arg(long, value_name = "VALUE")]
    rollback: Option<String>,

    /// Show the changes without making them
    #[arg(short = 'y', long)]
    dry_run: bool,

    /// With --dry-run, include nested stacks
    #[arg(short = 'n', long)]
    show_nested: bool,

    /// Keep the current template, environment and parameters except for those that are given
    #[arg(short = 'x', long)]
    existing: bool,

    /// Parameter to reset to its default; may be repeated
    #[arg(short = 'c', long, value_name = "PARAMETER")]
    clear_parameter: Vec<String>,

    /// Comma-separated tags of the stack
    #[arg(long, value_name = "TAG,TAG")]
    tags: Option<String>,
}

impl StackUpdate {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let mut upload = self.template.gather(client, self.existing).await?;
        upload.hook(&self.pre_update, "pre-update");
        let mut after = extras(self.tags.as_deref(), self.timeout);
        if let Some(word) = &self.rollback {
            after.push(("disable_rollback", (!truth(word)?).into()));
        }
        after.extend(cleared_parameters(&self.clear_parameter));
        let body = upload.body(Vec::new(), after);
        let method = if self.existing { Method::PATCH } else { Method::PUT };
        let stack = client.heat.find(&self.target.stack).await?;
        if self.dry_run {
            let changes = preview_update(client, &stack, method, body, self.show_nested).await?;
            return print_changes(client, &changes);
        }
        client.heat.call(method, &stack.path(&[]), Query::new(), Some(body)).await?;
        list_all(client).await
    }
}

/// Prints changes as a table, one row for each resource.
fn print_changes(client: &mut Client<'_, '_>, changes: &Value) -> Result<()> {
    let mut rows = Vec::new();
    for state in ["unchanged", "updated", "replaced", "added", "deleted"] {
        for resource in changes[state].as_array().into_iter().flatten() {
            let mut row = resource.clone();
            row["state"] = state.into();
            rows.push(row);
        }
    }
    let columns = ["state", "resource_name", "resource_type", "resource_identity"];
    print::list(client, &columns, &rows, None)
}

/// Parses a boolean.
fn truth(word: &str) -> Result<bool> {
    match &*word.to_lowercase() {
        "1" | "t" | "true" | "on" | "y" | "yes" => Ok(true),
        "0" | "f" | "false" | "off" | "n" | "no" => Ok(false),
        _ => Err(ClientError::new(format!("Unrecognized value '{word}' for --rollback"))
            .next("Use true or false.")),
    }
}

/// Arguments of `heat stack-delete`.
#[derive(Debug, Args)]
pub(crate) struct StackDelete {
    /// Names or ids of the stacks
    #[arg(value_name = "NAME or ID", required = true)]
    stacks: Vec<String>,

    /// Skip the confirmation prompt
    #[arg(short, long)]
    yes: bool,
}

impl StackDelete {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        if !self.yes && !client.console.confirm(QUESTION).await? {
            return Ok(());
        }
        let mut failed = 0;
        for typed in &self.stacks {
            let deleted = match client.heat.find(typed).await {
                Ok(stack) => client.heat.delete(&stack.path(&[])).await,
                Err(problem) => Err(problem),
            };
            match deleted {
                Ok(_) => {
                    client
                        .console
                        .line(&format!("Request to delete stack {typed} has been accepted."))?;
                }
                Err(problem) => {
                    failed += 1;
                    client.console.line(&problem.text)?;
                }
            }
        }
        undeleted(failed, self.stacks.len(), "stacks")
    }
}

/// Arguments of `heat stack-abandon`.
#[derive(Debug, Args)]
pub(crate) struct StackAbandon {
    #[command(flatten)]
    target: OneStack,

    /// File to write the output to
    #[arg(short = 'O', long, value_name = "FILE")]
    output_file: Option<String>,
}

impl StackAbandon {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let file = self.output_file.as_deref().map(prepared).transpose()?;
        let document = document(client, &self.target.stack, ExportMode::Abandon).await?;
        match file {
            Some(file) => put(file, &document),
            None => print::document(client, &document),
        }
    }
}

/// Arguments of `heat stack-show`.
#[derive(Debug, Args)]
pub(crate) struct StackShow {
    #[command(flatten)]
    target: OneStack,

    /// Do not resolve the outputs
    #[arg(long)]
    no_resolve_outputs: bool,
}

impl StackShow {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let stack = client.heat.show(&self.target.stack, !self.no_resolve_outputs).await?;
        print::details(client, &stack)
    }
}

/// Arguments of `heat stack-snapshot`.
#[derive(Debug, Args)]
pub(crate) struct StackSnapshot {
    #[command(flatten)]
    target: OneStack,

    /// Name of the snapshot
    #[arg(short, long, value_name = "NAME")]
    name: Option<String>,
}

impl StackSnapshot {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let made = snapshot::create(client, &self.target.stack, self.name.as_deref()).await?;
        print::document(client, &made)
    }
}

pub(super) async fn show_snapshot(
    named: &snapshot::SnapshotTarget,
    client: &mut Client<'_, '_>,
) -> Result<()> {
    let shown = named.show(client).await.map_err(no_snapshot)?;
    print::document(client, &shown)
}

/// The message of `heat` for a snapshot that does not exist.
pub(super) fn no_snapshot(problem: ClientError) -> ClientError {
    match problem.is_not_found() {
        true => ClientError { text: "Stack or snapshot not found".into(), ..problem },
        false => problem,
    }
}
