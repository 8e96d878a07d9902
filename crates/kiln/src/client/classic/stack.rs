//! Classic words for stacks as a whole.

use super::super::Client;
use super::super::format::yaml::{Top, yaml};
use super::super::heat::{Query, StackId};
use super::super::problem::{Problem, Result};
use super::super::stack::change::{self, create_body, need_template, preview_update};
use super::super::stack::delete::{QUESTION, undeleted};
use super::super::stack::show::{Leave, document, part, prepared, put};
use super::super::stack::{act, output, snapshot};
use super::super::upload::{Given, Upload};
use super::super::wait::{Awaited, Patience};
use super::list::list_all;
use super::look;
use clap::Args;
use kiln_template::Value as Data;
use reqwest::Method;
use serde_json::Value;

/// A stack.
#[derive(Debug, Args)]
pub(crate) struct One {
    /// The stack, by name or id
    #[arg(value_name = "NAME or ID")]
    stack: String,
}

impl One {
    pub(super) async fn act(self, client: &mut Client<'_, '_>, action: &str) -> Result<()> {
        act::act(client, &self.stack, action, "", &Patience::default()).await?;
        list_all(client).await
    }

    pub(super) async fn outputs(self, client: &mut Client<'_, '_>) -> Result<()> {
        let outputs = output::outputs(client, &self.stack).await?;
        look::list(client, &["output_key", "description"], &outputs, None)
    }

    pub(super) async fn snapshots(self, client: &mut Client<'_, '_>) -> Result<()> {
        let snapshots = snapshot::snapshots(client, &self.stack).await?;
        let columns = ["id", "name", "action", "status", "status_reason", "creation_time"];
        look::list(client, &columns, &snapshots, None)
    }

    pub(super) async fn template(self, client: &mut Client<'_, '_>) -> Result<()> {
        let template = part(client, &self.stack, "template").await?;
        if template.get("heat_template_version").is_some() {
            return client.console.line(&yaml(&template, Top::Sorted));
        }
        look::document(client, &template)
    }
}

/// A template and what goes along, in classic words.
#[derive(Debug, Args)]
pub(super) struct Template {
    /// The template: a path
    #[arg(short = 'f', long = "template-file", value_name = "FILE")]
    file: Option<String>,

    /// The template: a URL
    #[arg(short = 'u', long = "template-url", value_name = "URL")]
    url: Option<String>,

    /// The template: a URL that is asked for as the user
    #[arg(short = 'o', long = "template-object", value_name = "URL")]
    object: Option<String>,

    /// An environment file; may be given several times
    #[arg(short = 'e', long = "environment-file", value_name = "FILE")]
    environments: Vec<String>,

    /// Parameters; may be given several times
    #[arg(short = 'P', long = "parameters", value_name = "KEY=VALUE;KEY=VALUE")]
    parameters: Vec<String>,

    /// A file whose content is a parameter's value; may be given several times, also as -Pf
    #[arg(long = "parameter-file", value_name = "KEY=FILE")]
    parameter_files: Vec<String>,
}

impl Template {
    fn named(&self) -> Option<&str> {
        self.file.as_deref().or(self.url.as_deref()).or(self.object.as_deref())
    }

    pub(super) async fn gather(&self, client: &Client<'_, '_>, existing: bool) -> Result<Upload> {
        need_template(self.named().is_some(), existing)?;
        let given = Given {
            environments: self.environments.clone(),
            parameters: self.parameters.clone(),
            parameter_files: self.parameter_files.clone(),
            files_container: None,
        };
        Upload::gather(&client.heat.session, self.named(), &given).await
    }
}

/// Arguments of `heat stack-create`.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The name of the stack
    #[arg(value_name = "STACK_NAME")]
    name: String,

    #[command(flatten)]
    template: Template,

    /// Stop before this resource is created; may be given several times
    #[arg(long, value_name = "RESOURCE")]
    pre_create: Vec<String>,

    /// Minutes that the service may take, in an older word
    #[arg(short = 'c', long, value_name = "MINUTES")]
    create_timeout: Option<u64>,

    /// Minutes that the service may take
    #[arg(short, long, value_name = "MINUTES")]
    timeout: Option<u64>,

    /// Undo everything if it fails
    #[arg(short = 'r', long)]
    enable_rollback: bool,

    /// Wait for the stack, and look every so many seconds; 5 if no number is given
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "5")]
    poll: Option<f64>,

    /// Labels for the stack, with commas between them
    #[arg(long, value_name = "TAG,TAG")]
    tags: Option<String>,
}

impl Create {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let mut upload = self.template.gather(client, false).await?;
        upload.hook(&self.pre_create, "pre-create");
        let timeout = self.timeout.or(self.create_timeout);
        let body =
            create_body(upload, &self.name, self.enable_rollback, self.tags.as_deref(), timeout);
        let made = change::create(client, body, &self.name).await?;
        list_all(client).await?;
        let Some(poll) = self.poll else { return Ok(()) };
        show(client, &made).await?;
        let patience = Patience { wait: true, poll: Some(poll), wait_timeout: None };
        let awaited = Awaited {
            stack: made.clone(),
            name: self.name.clone(),
            action: "CREATE",
            marker: None,
            rolls_back: self.enable_rollback,
            patience: &patience,
        };
        let ended = client.wait(awaited).await;
        show(client, &made).await?;
        ended?;
        client.console.line(&format!("\n Stack {} CREATE_COMPLETE \n", self.name))
    }
}

async fn show(client: &mut Client<'_, '_>, stack: &StackId) -> Result<()> {
    let state = client.heat.get(&stack.path(&[]), Query::new()).await?;
    look::details(client, &state["stack"])
}

/// Arguments of `heat stack-preview`.
#[derive(Debug, Args)]
pub(crate) struct Preview {
    /// The name that the stack would have
    #[arg(value_name = "STACK_NAME")]
    name: String,

    #[command(flatten)]
    template: Template,

    /// Minutes that the service may take
    #[arg(short, long, value_name = "MINUTES")]
    timeout: Option<u64>,

    /// Undo everything if it fails
    #[arg(short = 'r', long)]
    enable_rollback: bool,

    /// Labels for the stack, with commas between them
    #[arg(long, value_name = "TAG,TAG")]
    tags: Option<String>,
}

impl Preview {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let upload = self.template.gather(client, false).await?;
        let tags = self.tags.as_deref();
        let body = create_body(upload, &self.name, self.enable_rollback, tags, self.timeout);
        let preview = change::preview(client, body).await?;
        look::details(client, &preview)
    }
}

/// Arguments of `heat stack-adopt`.
#[derive(Debug, Args)]
pub(crate) struct Adopt {
    /// The name of the stack
    #[arg(value_name = "STACK_NAME")]
    name: String,

    /// What abandoning a stack printed
    #[arg(short, long, value_name = "FILE")]
    adopt_file: String,

    /// An environment file; may be given several times
    #[arg(short = 'e', long = "environment-file", value_name = "FILE")]
    environments: Vec<String>,

    /// Minutes that the service may take, in an older word
    #[arg(short = 'c', long, value_name = "MINUTES")]
    create_timeout: Option<u64>,

    /// Minutes that the service may take
    #[arg(short, long, value_name = "MINUTES")]
    timeout: Option<u64>,

    /// Undo everything if it fails
    #[arg(short = 'r', long)]
    enable_rollback: bool,

    /// Parameters; may be given several times
    #[arg(short = 'P', long = "parameters", value_name = "KEY=VALUE;KEY=VALUE")]
    parameters: Vec<String>,
}

impl Adopt {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let adopt = change::Adopt {
            name: self.name,
            adopt_file: self.adopt_file,
            environments: self.environments,
            timeout: self.timeout.or(self.create_timeout),
            enable_rollback: self.enable_rollback,
            parameters: self.parameters,
            patience: Patience::default(),
            shown: Default::default(),
        };
        adopt.adopt(client).await?;
        list_all(client).await
    }
}

/// Arguments of `heat stack-update`.
#[derive(Debug, Args)]
pub(crate) struct Update {
    /// The stack, by name or id
    #[arg(value_name = "NAME or ID")]
    stack: String,

    #[command(flatten)]
    template: Template,

    /// Stop before this resource is changed; may be given several times
    #[arg(long, value_name = "RESOURCE")]
    pre_update: Vec<String>,

    /// Minutes that the service may take
    #[arg(short, long, value_name = "MINUTES")]
    timeout: Option<u64>,

    /// Whether it is undone if it fails: a word such as true or off
    #[arg(long, value_name = "VALUE")]
    rollback: Option<String>,

    /// Show what would change, and change nothing
    #[arg(short = 'y', long)]
    dry_run: bool,

    /// With --dry-run, show nested stacks too
    #[arg(short = 'n', long)]
    show_nested: bool,

    /// Keep template, environment and parameters except for what is given
    #[arg(short = 'x', long)]
    existing: bool,

    /// Let a parameter have its default again; may be given several times
    #[arg(short = 'c', long, value_name = "PARAMETER")]
    clear_parameter: Vec<String>,

    /// Labels for the stack, with commas between them
    #[arg(long, value_name = "TAG,TAG")]
    tags: Option<String>,
}

impl Update {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let mut upload = self.template.gather(client, self.existing).await?;
        upload.hook(&self.pre_update, "pre-update");
        let mut after: Vec<(&'static str, Data)> = Vec::new();
        after.extend(self.tags.as_deref().map(|tags| ("tags", tags.into())));
        let minutes = self.timeout.filter(|minutes| *minutes > 0);
        after.extend(
            minutes.map(|it| ("timeout_mins", i64::try_from(it).unwrap_or(i64::MAX).into())),
        );
        if let Some(word) = &self.rollback {
            after.push(("disable_rollback", (!truth(word)?).into()));
        }
        if !self.clear_parameter.is_empty() {
            let names = self.clear_parameter.iter().map(|name| name.as_str().into());
            after.push(("clear_parameters", Data::list(names)));
        }
        let body = upload.body(Vec::new(), after);
        let method = if self.existing { Method::PATCH } else { Method::PUT };
        let stack = client.heat.find(&self.stack).await?;
        if self.dry_run {
            let changes = preview_update(client, &stack, method, body, self.show_nested).await?;
            return look_at_changes(client, &changes);
        }
        client.heat.call(method, &stack.path(&[]), Query::new(), Some(body)).await?;
        list_all(client).await
    }
}

/// Changes as a table, a row for each resource.
fn look_at_changes(client: &mut Client<'_, '_>, changes: &Value) -> Result<()> {
    let mut rows = Vec::new();
    for state in ["unchanged", "updated", "replaced", "added", "deleted"] {
        for resource in changes[state].as_array().into_iter().flatten() {
            let mut row = resource.clone();
            row["state"] = state.into();
            rows.push(row);
        }
    }
    let columns = ["state", "resource_name", "resource_type", "resource_identity"];
    look::list(client, &columns, &rows, None)
}

/// What a word says about being true.
fn truth(word: &str) -> Result<bool> {
    match &*word.to_lowercase() {
        "1" | "t" | "true" | "on" | "y" | "yes" => Ok(true),
        "0" | "f" | "false" | "off" | "n" | "no" => Ok(false),
        _ => Err(Problem::new(format!("Unrecognized value '{word}' for --rollback"))
            .next("Say true or false.")),
    }
}

/// Arguments of `heat stack-delete`.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The stacks, by name or id
    #[arg(value_name = "NAME or ID", required = true)]
    stacks: Vec<String>,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Delete {
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
pub(crate) struct Abandon {
    /// The stack, by name or id
    #[arg(value_name = "NAME or ID")]
    stack: String,

    /// Write the document to this file
    #[arg(short = 'O', long, value_name = "FILE")]
    output_file: Option<String>,
}

impl Abandon {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let file = self.output_file.as_deref().map(prepared).transpose()?;
        let document = document(client, &self.stack, Leave::Abandon).await?;
        match file {
            Some(file) => put(file, &document),
            None => look::document(client, &document),
        }
    }
}

/// Arguments of `heat stack-show`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The stack, by name or id
    #[arg(value_name = "NAME or ID")]
    stack: String,

    /// Leave the outputs out
    #[arg(long)]
    no_resolve_outputs: bool,
}

impl Show {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let stack = client.heat.show(&self.stack, !self.no_resolve_outputs).await?;
        look::details(client, &stack)
    }
}

/// Arguments of `heat stack-snapshot`.
#[derive(Debug, Args)]
pub(crate) struct Snapshot {
    /// The stack, by name or id
    #[arg(value_name = "NAME or ID")]
    stack: String,

    /// A name for the snapshot
    #[arg(short, long, value_name = "NAME")]
    name: Option<String>,
}

impl Snapshot {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let made = snapshot::create(client, &self.stack, self.name.as_deref()).await?;
        look::document(client, &made)
    }
}

pub(super) async fn show_snapshot(
    named: &snapshot::Named,
    client: &mut Client<'_, '_>,
) -> Result<()> {
    let shown = named.show(client).await.map_err(no_snapshot)?;
    look::document(client, &shown)
}

/// What the classic words say of a snapshot that is not there.
pub(super) fn no_snapshot(problem: Problem) -> Problem {
    match problem.is_not_found() {
        true => Problem { text: "Stack or snapshot not found".into(), ..problem },
        false => problem,
    }
}
