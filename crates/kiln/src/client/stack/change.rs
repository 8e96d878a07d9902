//! Creating, previewing, changing and adopting stacks.

use super::super::Client;
use super::super::format::options::Shown;
use super::super::format::wrap::wrap;
use super::super::format::{Cell, Details};
use super::super::heat::{Query, StackId, query, text};
use super::super::problem::{Problem, Result};
use super::super::upload::{Given, Upload, given_parameters, parsed, text_of};
use super::super::wait::{Awaited, Ending, Patience, newest_event};
use clap::{Args, ValueEnum};
use kiln_template::Value as Data;
use reqwest::Method;
use serde_json::Value;

/// What a change is answered with.
pub(crate) const SHORT: [&str; 7] = [
    "id",
    "stack_name",
    "description",
    "creation_time",
    "updated_time",
    "stack_status",
    "stack_status_reason",
];

/// Arguments of `kiln stack create`.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The name of the stack
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// The template: a path or a URL
    #[arg(short, long, value_name = "TEMPLATE")]
    pub(crate) template: String,

    #[command(flatten)]
    pub(crate) given: Given,

    /// Minutes that the service may take
    #[arg(long, value_name = "MINUTES")]
    pub(crate) timeout: Option<u64>,

    /// Stop before this resource is created; may be given several times
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) pre_create: Vec<String>,

    /// Undo everything if it fails
    #[arg(long)]
    pub(crate) enable_rollback: bool,

    /// Labels for the stack, with commas between them
    #[arg(long, value_name = "TAG,TAG")]
    pub(crate) tags: Option<String>,

    /// Show what would be made, and make nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) patience: Patience,

    #[command(flatten)]
    pub(crate) shown: Shown,
}

impl Create {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let mut upload =
            Upload::gather(&client.heat.session, Some(&self.template), &self.given).await?;
        upload.hook(&self.pre_create, "pre-create");
        let body = create_body(
            upload,
            &self.name,
            self.enable_rollback,
            self.tags.as_deref(),
            self.timeout,
        );
        if self.dry_run {
            let preview = preview(client, body).await?;
            return client.console.show(previewed(&preview), &self.shown);
        }
        let made = create(client, body, &self.name).await?;
        if self.patience.wait {
            let awaited = Awaited {
                stack: made.clone(),
                name: self.name.clone(),
                action: "CREATE",
                marker: None,
                rolls_back: self.enable_rollback,
                patience: &self.patience,
            };
            client.wait(awaited).await?;
        }
        show_short(client, &made, &self.shown).await
    }
}

/// Arguments of `kiln stack preview`.
#[derive(Debug, Args)]
pub(crate) struct Preview {
    /// The name that the stack would have
    #[arg(value_name = "NAME")]
    name: String,

    /// The template: a path or a URL
    #[arg(short, long, value_name = "TEMPLATE")]
    template: String,

    #[command(flatten)]
    given: Given,

    /// Undo everything if it fails
    #[arg(long)]
    enable_rollback: bool,

    /// Labels for the stack, with commas between them
    #[arg(long, value_name = "TAG,TAG")]
    tags: Option<String>,

    /// Minutes that the service may take
    #[arg(long, value_name = "MINUTES")]
    timeout: Option<u64>,

    #[command(flatten)]
    shown: Shown,
}

impl Preview {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let upload =
            Upload::gather(&client.heat.session, Some(&self.template), &self.given).await?;
        let body = create_body(
            upload,
            &self.name,
            self.enable_rollback,
            self.tags.as_deref(),
            self.timeout,
        );
        let preview = preview(client, body).await?;
        client.console.show(previewed(&preview), &self.shown)
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

/// What may be said of any change.
fn extras(tags: Option<&str>, timeout: Option<u64>) -> Vec<(&'static str, Data)> {
    let tags = tags.map(|tags| ("tags", tags.into()));
    let timeout = timeout.filter(|minutes| *minutes > 0);
    let timeout =
        timeout.map(|minutes| ("timeout_mins", i64::try_from(minutes).unwrap_or(i64::MAX).into()));
    tags.into_iter().chain(timeout).collect()
}

/// Asks for a stack to be made.
pub(crate) async fn create(client: &Client<'_, '_>, body: String, name: &str) -> Result<StackId> {
    let answer = client.heat.call(Method::POST, "/stacks", Query::new(), Some(body)).await?;
    match answer["stack"]["id"].as_str() {
        Some(id) => Ok(StackId::new(name, id)),
        None => Err(Problem::new("The service did not tell the id of the new stack.")),
    }
}

/// Asks what a stack would be.
pub(crate) async fn preview(client: &Client<'_, '_>, body: String) -> Result<Value> {
    let answer =
        client.heat.call(Method::POST, "/stacks/preview", Query::new(), Some(body)).await?;
    Ok(answer["stack"].clone())
}

/// Shows what is known of a stack after it was changed.
async fn show_short(client: &mut Client<'_, '_>, stack: &StackId, shown: &Shown) -> Result<()> {
    let state = client.heat.state(stack).await?;
    client.console.show(Details::members(&SHORT, &state), shown)
}

/// A preview, by name.
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

/// What happens if a change fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rollback {
    /// It is undone
    Enabled,
    /// It stays as it is
    Disabled,
    /// What was said before holds
    #[default]
    Keep,
}

/// Arguments of `kiln stack update`.
#[derive(Debug, Args)]
pub(crate) struct Update {
    /// The stack, by name or id
    #[arg(value_name = "STACK")]
    pub(crate) stack: String,

    /// The template: a path or a URL
    #[arg(short, long, value_name = "TEMPLATE")]
    pub(crate) template: Option<String>,

    #[command(flatten)]
    pub(crate) given: Given,

    /// Stop before this resource is changed; may be given several times
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) pre_update: Vec<String>,

    /// Minutes that the service may take
    #[arg(long, value_name = "MINUTES")]
    pub(crate) timeout: Option<u64>,

    /// What happens if it fails: enabled, disabled, or keep what was said before
    #[arg(long, value_name = "MODE", value_enum, default_value_t, hide_possible_values = true)]
    pub(crate) rollback: Rollback,

    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// With --dry-run, show nested stacks too
    #[arg(long)]
    pub(crate) show_nested: bool,

    /// Keep template, environment and parameters except for what is given
    #[arg(long)]
    pub(crate) existing: bool,

    /// With --existing, let a parameter have its default again; may be given several times
    #[arg(long, value_name = "PARAMETER")]
    pub(crate) clear_parameter: Vec<String>,

    /// Labels for the stack, with commas between them
    #[arg(long, value_name = "TAG,TAG")]
    pub(crate) tags: Option<String>,

    /// Look at what really exists before deciding what to change
    #[arg(long)]
    pub(crate) converge: bool,

    #[command(flatten)]
    pub(crate) patience: Patience,

    #[command(flatten)]
    pub(crate) shown: Shown,
}

impl Update {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        need_template(self.template.is_some(), self.existing)?;
        let mut upload =
            Upload::gather(&client.heat.session, self.template.as_deref(), &self.given).await?;
        upload.hook(&self.pre_update, "pre-update");
        let mut after = extras(self.tags.as_deref(), self.timeout);
        match self.rollback {
            Rollback::Enabled => after.push(("disable_rollback", false.into())),
            Rollback::Disabled => after.push(("disable_rollback", true.into())),
            Rollback::Keep => {}
        }
        if !self.clear_parameter.is_empty() {
            let names = self.clear_parameter.iter().map(|name| name.as_str().into());
            after.push(("clear_parameters", Data::list(names)));
        }
        if self.converge {
            after.push(("converge", true.into()));
        }
        let body = upload.body(Vec::new(), after);
        let method = if self.existing { Method::PATCH } else { Method::PUT };
        let stack = client.heat.find(&self.stack).await?;
        if self.dry_run {
            let changes = preview_update(client, &stack, method, body, self.show_nested).await?;
            return client.console.show(previewed(&changes), &self.shown);
        }
        let marker = match self.patience.wait {
            true => newest_event(&client.heat, &stack).await?,
            false => None,
        };
        client.heat.call(method, &stack.path(&[]), Query::new(), Some(body)).await?;
        if self.patience.wait {
            let state = client.heat.state(&stack).await?;
            let awaited = Awaited {
                stack: stack.clone(),
                name: text(&state, "stack_name").to_owned(),
                action: "UPDATE",
                marker,
                rolls_back: state["disable_rollback"] == false,
                patience: &self.patience,
            };
            client.wait(awaited).await?;
        }
        show_short(client, &stack, &self.shown).await
    }
}

/// Refuses an update that does not say to what.
pub(crate) fn need_template(has_template: bool, existing: bool) -> Result<()> {
    if has_template || existing {
        return Ok(());
    }
    let text = "Need to specify exactly one of [--template-file, --template-url or --template-object] \
                or --existing";
    Err(Problem::new(text).hint("-t names the new template; --existing keeps the one there is."))
}

/// Asks what an update would change.
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
pub(crate) struct Adopt {
    /// The name of the stack
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// What abandoning or exporting a stack printed: a path or a URL
    #[arg(long, value_name = "FILE")]
    pub(crate) adopt_file: String,

    /// An environment file; may be given several times, later ones count more
    #[arg(short, long = "environment", value_name = "FILE")]
    pub(crate) environments: Vec<String>,

    /// Minutes that the service may take
    #[arg(long, value_name = "MINUTES")]
    pub(crate) timeout: Option<u64>,

    /// Undo everything if it fails
    #[arg(long)]
    pub(crate) enable_rollback: bool,

    /// A parameter's value; may be given several times
    #[arg(long = "parameter", value_name = "KEY=VALUE")]
    pub(crate) parameters: Vec<String>,

    #[command(flatten)]
    pub(crate) patience: Patience,

    #[command(flatten)]
    pub(crate) shown: Shown,
}

impl Adopt {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let made = self.adopt(client).await?;
        if self.patience.wait {
            let awaited = Awaited {
                stack: made.clone(),
                name: self.name.clone(),
                action: "ADOPT",
                marker: None,
                rolls_back: self.enable_rollback,
                patience: &self.patience,
            };
            client.wait(awaited).await?;
        }
        show_short(client, &made, &self.shown).await
    }

    /// Asks for the stack to be made of what exists.
    pub(crate) async fn adopt(&self, client: &Client<'_, '_>) -> Result<StackId> {
        // Refused before anything is read.
        given_parameters(&self.parameters)?;
        let given = Given {
            environments: self.environments.clone(),
            parameters: self.parameters.clone(),
            ..Given::default()
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
    /// Waits for a stack, and fails if it fails.
    pub(crate) async fn wait(&mut self, awaited: Awaited<'_>) -> Result<()> {
        let (name, action) = (awaited.name.clone(), awaited.action);
        self.watching.set(Some(name.clone()));
        let ending = awaited.wait(&self.heat, &mut self.console).await;
        self.watching.set(None);
        match ending? {
            Ending::Failed => Err(Awaited::failure(&name, action)),
            Ending::Complete => Ok(()),
            Ending::Gone if action == "DELETE" => Ok(()),
            Ending::Gone => Err(Problem::new(format!("Stack not found: {name}"))),
        }
    }
}
