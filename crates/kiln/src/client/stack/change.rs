//! Creating, previewing, updating and adopting stacks.

use super::super::Client;
use super::super::error::{ClientError, Result};
use super::super::format::options::ShowArgs;
use super::super::format::wrap::wrap;
use super::super::format::{Cell, Details};
use super::super::heat::{Query, StackId, query, text};
use super::super::upload::{Upload, UploadArgs, given_parameters, parsed, text_of};
use super::super::wait::{ActionResult, AwaitedAction, Waiting, newest_event};
use super::target::StackTarget;
use clap::{Args, ValueEnum};
use kiln_template::Value as Data;
use reqwest::Method;
use serde_json::Value;

/// The fields that are shown after a change.
pub(crate) const SHORT: [&str; 7] = [
    "id",
    "stack_name",
    "description",
    "creation_time",
    "updated_time",
    "stack_status",
    "stack_status_reason",
];

/// A stack to create: its name, its template, environments and parameters.
#[derive(Debug, Args)]
pub(crate) struct NewStack {
    /// Name of the stack
    #[arg(value_name = "NAME")]
    name: String,

    /// Path or URL of the template
    #[arg(short, long, value_name = "TEMPLATE")]
    template: String,

    #[command(flatten)]
    args: UploadArgs,
}

/// Options of the creation of a stack.
#[derive(Debug, Args)]
pub(crate) struct CreationOptions {
    /// Roll back if the action fails
    #[arg(long)]
    enable_rollback: bool,

    /// Comma-separated tags of the stack
    #[arg(long, value_name = "TAG,TAG")]
    tags: Option<String>,
}

impl NewStack {
    /// Reads the template with its files, environments and parameters.
    async fn gather(&self, client: &Client<'_, '_>) -> Result<Upload> {
        Upload::gather(&client.heat.session, Some(&self.template), &self.args).await
    }

    /// The body of a request to create or preview the stack.
    fn body(&self, upload: Upload, options: &CreationOptions, timeout: Option<u64>) -> String {
        let CreationOptions { enable_rollback, tags } = options;
        create_body(upload, &self.name, *enable_rollback, tags.as_deref(), timeout)
    }
}

/// Arguments of `kiln stack create`.
#[derive(Debug, Args)]
pub(crate) struct StackCreate {
    #[command(flatten)]
    new: NewStack,

    /// Timeout of the action, in minutes
    #[arg(long, value_name = "MINUTES")]
    pub(crate) timeout: Option<u64>,

    /// Resource with a hook before its creation; may be repeated
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) pre_create: Vec<String>,

    #[command(flatten)]
    options: CreationOptions,

    /// Show the resources that would be created, without creating them
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) waiting: Waiting,

    #[command(flatten)]
    pub(crate) output_format: ShowArgs,
}

impl StackCreate {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let mut upload = self.new.gather(client).await?;
        upload.hook(&self.pre_create, "pre-create");
        let body = self.new.body(upload, &self.options, self.timeout);
        if self.dry_run {
            let preview = preview(client, body).await?;
            return client.console.show(previewed(&preview), &self.output_format);
        }
        let name = &self.new.name;
        let made = create(client, body, name).await?;
        if self.waiting.wait {
            let rolls_back = self.options.enable_rollback;
            let awaited = AwaitedAction::of_new(&made, name, "CREATE", rolls_back, &self.waiting);
            client.wait(awaited).await?;
        }
        show_short(client, &made, &self.output_format).await
    }
}

/// Arguments of `kiln stack preview`.
#[derive(Debug, Args)]
pub(crate) struct StackPreview {
    #[command(flatten)]
    new: NewStack,

    #[command(flatten)]
    options: CreationOptions,

    /// Timeout of the action, in minutes
    #[arg(long, value_name = "MINUTES")]
    timeout: Option<u64>,

    #[command(flatten)]
    output_format: ShowArgs,
}

impl StackPreview {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let upload = self.new.gather(client).await?;
        let body = self.new.body(upload, &self.options, self.timeout);
        let preview = preview(client, body).await?;
        client.console.show(previewed(&preview), &self.output_format)
    }
}

/// The body of a request to create or preview a stack.
pub(crate) fn create_body(
    upload: Upload,
    name: &str,
    enable_rollback: bool,
    tags: Option<&str>,
    timeout: Option<u64>,
) -> String {
    let before = vec![("stack_name", name.into()), ("disable_rollback", (!enable_rollback).into())];
    upload.body(before, extras(tags, timeout))
}

/// The member for parameters that an update resets to their defaults.
pub(crate) fn cleared_parameters(names: &[String]) -> Option<(&'static str, Data)> {
    let names = names.iter().map(|name| name.as_str().into());
    (names.len() > 0).then(|| ("clear_parameters", Data::list(names)))
}

/// Members that all changes have in common.
pub(crate) fn extras(tags: Option<&str>, timeout: Option<u64>) -> Vec<(&'static str, Data)> {
    let tags = tags.map(|tags| ("tags", tags.into()));
    let timeout = timeout.filter(|minutes| *minutes > 0);
    let timeout =
        timeout.map(|minutes| ("timeout_mins", i64::try_from(minutes).unwrap_or(i64::MAX).into()));
    tags.into_iter().chain(timeout).collect()
}

/// Requests the creation of a stack.
pub(crate) async fn create(client: &Client<'_, '_>, body: String, name: &str) -> Result<StackId> {
    let answer = client.heat.call(Method::POST, "/stacks", Query::new(), Some(body)).await?;
    match answer["stack"]["id"].as_str() {
        Some(id) => Ok(StackId::new(name, id)),
        None => Err(ClientError::new("The response does not contain the id of the new stack.")),
    }
}

/// Requests a preview of a stack.
pub(crate) async fn preview(client: &Client<'_, '_>, body: String) -> Result<Value> {
    let answer =
        client.heat.call(Method::POST, "/stacks/preview", Query::new(), Some(body)).await?;
    Ok(answer["stack"].clone())
}

/// Shows the details of a stack after a change.
async fn show_short(client: &mut Client<'_, '_>, stack: &StackId, shown: &ShowArgs) -> Result<()> {
    let state = client.heat.state(stack).await?;
    client.console.show(Details::members(&SHORT, &state), shown)
}

/// The fields of a preview, sorted by name.
pub(crate) fn previewed(preview: &Value) -> Details {
    let mut members: Vec<(String, Value)> =
        preview.as_object().into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    let cell = |name: &str, value: Value| match (name, &value) {
        ("links", Value::Array(links)) => {
            let line = |link: &Value| format!("{} ({})", text(link, "href"), text(link, "rel"));
            let lines: Vec<String> = links.iter().map(line).collect();
            Cell::shown(value, lines.join("\n"))
        }
        ("description" | "template_description", Value::String(text)) => {
            let folded = wrap(text, 55).join("\n");
            Cell::shown(value, folded)
        }
        (_, Value::Array(_) | Value::Object(_)) => Cell::json(value),
        _ => value.into(),
    };
    let fields = members.into_iter().map(|(name, value)| (name.clone(), cell(&name, value)));
    Details { fields: fields.collect() }
}

/// The rollback policy of an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rollback {
    /// Roll back
    Enabled,
    /// Do not roll back
    Disabled,
    /// Keep the policy of the stack
    #[default]
    Keep,
}

/// Arguments of `kiln stack update`.
#[derive(Debug, Args)]
pub(crate) struct StackUpdate {
    #[command(flatten)]
    pub(crate) target: StackTarget,

    /// Path or URL of the template
    #[arg(short, long, value_name = "TEMPLATE")]
    pub(crate) template: Option<String>,

    #[command(flatten)]
    pub(crate) args: UploadArgs,

    /// Resource with a hook before its update; may be repeated
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) pre_update: Vec<String>,

    /// Timeout of the action, in minutes
    #[arg(long, value_name = "MINUTES")]
    pub(crate) timeout: Option<u64>,

    /// Rollback if the update fails: enabled, disabled, or keep the policy of the stack
    #[arg(long, value_name = "MODE", value_enum, default_value_t, hide_possible_values = true)]
    pub(crate) rollback: Rollback,

    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// With --dry-run, include nested stacks
    #[arg(long)]
    pub(crate) show_nested: bool,

    /// Keep the current template, environment and parameters except for those that are given
    #[arg(long)]
    pub(crate) existing: bool,

    /// With --existing, reset a parameter to its default; may be repeated
    #[arg(long, value_name = "PARAMETER")]
    pub(crate) clear_parameter: Vec<String>,

    /// Comma-separated tags of the stack
    #[arg(long, value_name = "TAG,TAG")]
    pub(crate) tags: Option<String>,

    /// Compare with the actual state of the resources before deciding what to change
    #[arg(long)]
    pub(crate) converge: bool,

    #[command(flatten)]
    pub(crate) waiting: Waiting,

    #[command(flatten)]
    pub(crate) output_format: ShowArgs,
}

impl StackUpdate {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        need_template(self.template.is_some(), self.existing)?;
        let mut upload =
            Upload::gather(&client.heat.session, self.template.as_deref(), &self.args).await?;
        upload.hook(&self.pre_update, "pre-update");
        let mut after = extras(self.tags.as_deref(), self.timeout);
        match self.rollback {
            Rollback::Enabled => after.push(("disable_rollback", false.into())),
            Rollback::Disabled => after.push(("disable_rollback", true.into())),
            Rollback::Keep => {}
        }
        after.extend(cleared_parameters(&self.clear_parameter));
        if self.converge {
            after.push(("converge", true.into()));
        }
        let body = upload.body(Vec::new(), after);
        let method = if self.existing { Method::PATCH } else { Method::PUT };
        let stack = client.heat.find(&self.target.stack).await?;
        if self.dry_run {
            let changes = preview_update(client, &stack, method, body, self.show_nested).await?;
            return client.console.show(previewed(&changes), &self.output_format);
        }
        let marker = match self.waiting.wait {
            true => newest_event(&client.heat, &stack).await?,
            false => None,
        };
        client.heat.call(method, &stack.path(&[]), Query::new(), Some(body)).await?;
        if self.waiting.wait {
            let state = client.heat.state(&stack).await?;
            let awaited = AwaitedAction {
                stack: stack.clone(),
                name: text(&state, "stack_name").to_owned(),
                action: "UPDATE",
                marker,
                rolls_back: state["disable_rollback"] == false,
                waiting: &self.waiting,
            };
            client.wait(awaited).await?;
        }
        show_short(client, &stack, &self.output_format).await
    }
}

/// Rejects an update without a template.
pub(crate) fn need_template(has_template: bool, existing: bool) -> Result<()> {
    if has_template || existing {
        return Ok(());
    }
    let text = "Need to specify exactly one of [--template-file, --template-url or --template-object] \
                or --existing";
    Err(ClientError::new(text)
        .hint("-t names the new template; --existing keeps the one there is."))
}

/// Requests a preview of an update.
pub(crate) async fn preview_update(
    client: &Client<'_, '_>,
    stack: &StackId,
    method: Method,
    body: String,
    show_nested: bool,
) -> Result<Value> {
    let asked = if show_nested { query([("show_nested", "True")]) } else { Query::new() };
    let answer = client.heat.call(method, &stack.path(&["preview"]), asked, Some(body)).await?;
    Ok(answer["resource_changes"].clone())
}

/// Arguments of `kiln stack adopt`.
#[derive(Debug, Args)]
pub(crate) struct StackAdopt {
    /// Name of the stack
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Path or URL of the output of `stack abandon` or `stack export`
    #[arg(long, value_name = "FILE")]
    pub(crate) adopt_file: String,

    /// Environment file; may be repeated, later files take precedence
    #[arg(short, long = "environment", value_name = "FILE")]
    pub(crate) environments: Vec<String>,

    /// Timeout of the action, in minutes
    #[arg(long, value_name = "MINUTES")]
    pub(crate) timeout: Option<u64>,

    /// Roll back if the action fails
    #[arg(long)]
    pub(crate) enable_rollback: bool,

    /// Value of a parameter; may be repeated
    #[arg(long = "parameter", value_name = "KEY=VALUE")]
    pub(crate) parameters: Vec<String>,

    #[command(flatten)]
    pub(crate) waiting: Waiting,

    #[command(flatten)]
    pub(crate) output_format: ShowArgs,
}

impl StackAdopt {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let made = self.adopt(client).await?;
        if self.waiting.wait {
            let (name, rolls_back) = (&self.name, self.enable_rollback);
            let awaited = AwaitedAction::of_new(&made, name, "ADOPT", rolls_back, &self.waiting);
            client.wait(awaited).await?;
        }
        show_short(client, &made, &self.output_format).await
    }

    /// Requests the adoption of a stack.
    pub(crate) async fn adopt(&self, client: &Client<'_, '_>) -> Result<StackId> {
        // The check comes before any file is read.
        given_parameters(&self.parameters)?;
        let given = UploadArgs {
            environments: self.environments.clone(),
            parameters: self.parameters.clone(),
            ..UploadArgs::default()
        };
        let (_, data) = text_of(&client.heat.session, &self.adopt_file).await?;
        let document = parsed(&data)?;
        let mut upload = Upload::gather(&client.heat.session, None, &given).await?;
        if let Some(files) = document.as_map().and_then(|document| document.get("files")) {
            upload.add_files(files);
        }
        let mut before = vec![
            ("stack_name", self.name.as_str().into()),
            ("disable_rollback", (!self.enable_rollback).into()),
            ("adopt_stack_data", data.into()),
        ];
        before.extend(extras(None, self.timeout));
        create(client, upload.body(before, Vec::new()), &self.name).await
    }
}

impl Client<'_, '_> {
    /// Waits for a stack; a failed stack is a problem.
    pub(crate) async fn wait(&mut self, awaited: AwaitedAction<'_>) -> Result<()> {
        let (name, action) = (awaited.name.clone(), awaited.action);
        self.watching.set(Some(name.clone()));
        let ending = awaited.wait(&self.heat, &mut self.console).await;
        self.watching.set(None);
        match ending? {
            ActionResult::Failed => Err(AwaitedAction::failure(&name, action)),
            ActionResult::Complete => Ok(()),
            ActionResult::Gone if action == "DELETE" => Ok(()),
            ActionResult::Gone => Err(ClientError::new(format!("Stack not found: {name}"))),
        }
    }
}
