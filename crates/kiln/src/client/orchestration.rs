//! `kiln orchestration …`: the service itself, apart from stacks.

use super::Client;
use super::connection::Connection;
use super::error::{ClientError, OrNotFound, Result};
use super::format::options::{ListArgs, ShowArgs, ShowFormat};
use super::format::{Cell, Details, Listing};
use super::heat::{Query, list, path, query, text};
use super::stack::list::pairs;
use super::upload::{Upload, UploadArgs};
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

/// Arguments of `kiln orchestration`.
#[derive(Debug, Args)]
pub(crate) struct OrchestrationArgs {
    #[command(subcommand)]
    pub(crate) subcommand: OrchestrationCommand,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `kiln orchestration`.
#[derive(Debug, Subcommand)]
pub(crate) enum OrchestrationCommand {
    /// Templates: validation, versions, functions
    #[command(subcommand)]
    Template(TemplateCommand),
    /// Resource types
    #[command(subcommand)]
    Resource(ResourceCommand),
    /// Engines of the service
    #[command(subcommand)]
    Service(ServiceCommand),
    /// Build information
    #[command(subcommand)]
    Build(BuildCommand),
}

/// `kiln orchestration template`.
#[derive(Debug, Subcommand)]
pub(crate) enum TemplateCommand {
    /// Validate a template with the service
    Validate(Box<TemplateValidate>),
    /// Template versions
    #[command(subcommand)]
    Version(VersionCommand),
    /// Template functions
    #[command(subcommand)]
    Function(FunctionCommand),
}

/// `kiln orchestration template version`.
#[derive(Debug, Subcommand)]
pub(crate) enum VersionCommand {
    /// List the template versions that the service supports
    List(UnfilteredList),
}

/// `kiln orchestration template function`.
#[derive(Debug, Subcommand)]
pub(crate) enum FunctionCommand {
    /// List the functions of a template version
    List(FunctionList),
}

/// `kiln orchestration resource`.
#[derive(Debug, Subcommand)]
pub(crate) enum ResourceCommand {
    /// Resource types
    #[command(subcommand)]
    Type(TypeCommand),
}

/// `kiln orchestration resource type`.
#[derive(Debug, Subcommand)]
pub(crate) enum TypeCommand {
    /// List the resource types
    List(TypeList),
    /// Print the schema of a resource type
    Show(TypeShow),
}

/// `kiln orchestration service`.
#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    /// List the engines (administrators only)
    List(UnfilteredList),
}

/// `kiln orchestration build`.
#[derive(Debug, Subcommand)]
pub(crate) enum BuildCommand {
    /// Show the revisions of the service
    Info(BuildInfo),
}

/// Arguments of a list without filters.
#[derive(Debug, Args)]
pub(crate) struct UnfilteredList {
    #[command(flatten)]
    output_format: ListArgs,
}

/// Arguments of `kiln orchestration build info`.
#[derive(Debug, Args)]
pub(crate) struct BuildInfo {
    #[command(flatten)]
    output_format: ShowArgs,
}

/// Arguments of `kiln orchestration template validate`.
#[derive(Debug, Args)]
pub(crate) struct TemplateValidate {
    /// Path or URL of the template
    #[arg(short, long, value_name = "TEMPLATE")]
    template: String,

    #[command(flatten)]
    args: UploadArgs,

    /// Validate nested templates as well
    #[arg(long)]
    show_nested: bool,

    /// Comma-separated error codes to ignore
    #[arg(long, value_name = "CODE,CODE")]
    ignore_errors: Option<String>,

    #[command(flatten)]
    output_format: ShowArgs,
}

/// Arguments of `kiln orchestration template function list`.
#[derive(Debug, Args)]
pub(crate) struct FunctionList {
    /// Template version, such as heat_template_version.2021-04-16
    #[arg(value_name = "VERSION")]
    version: String,

    /// Include the functions that are only allowed in conditions
    #[arg(long, alias = "with_conditions")]
    with_conditions: bool,

    #[command(flatten)]
    output_format: ListArgs,
}

/// Arguments of `kiln orchestration resource type list`.
#[derive(Debug, Args)]
pub(crate) struct TypeList {
    /// Filter by name (a regular expression that matches its beginning), version or
    /// support_status; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    filter: Vec<String>,

    /// Show descriptions
    #[arg(long)]
    long: bool,

    #[command(flatten)]
    output_format: ListArgs,
}

/// Arguments of `kiln orchestration resource type show`.
#[derive(Debug, Args)]
pub(crate) struct TypeShow {
    /// Name of the resource type
    #[arg(value_name = "TYPE")]
    name: String,

    /// Print a template for this type instead: hot or cfn
    #[arg(long, value_name = "DIALECT")]
    template_type: Option<String>,

    /// Show the description
    #[arg(long)]
    long: bool,

    #[command(flatten)]
    output_format: ShowArgs,
}

/// Runs a subcommand.
pub(crate) async fn run(
    subcommand: OrchestrationCommand,
    client: &mut Client<'_, '_>,
) -> Result<()> {
    match subcommand {
        OrchestrationCommand::Template(TemplateCommand::Validate(validate)) => {
            validate.run(client).await
        }
        OrchestrationCommand::Template(TemplateCommand::Version(VersionCommand::List(
            UnfilteredList { output_format },
        ))) => {
            let answer = client.heat.get("/template_versions", Query::new()).await?;
            client.console.list(versions(&list(&answer, "template_versions")), &output_format)
        }
        OrchestrationCommand::Template(TemplateCommand::Function(FunctionCommand::List(it))) => {
            let functions = functions(client, &it.version, it.with_conditions).await?;
            let columns = [("Functions", "functions"), ("Description", "description")];
            client.console.list(Listing::of(&columns, &functions), &it.output_format)
        }
        OrchestrationCommand::Resource(ResourceCommand::Type(TypeCommand::List(types))) => {
            types.run(client).await
        }
        OrchestrationCommand::Resource(ResourceCommand::Type(TypeCommand::Show(show))) => {
            show.run(client).await
        }
        OrchestrationCommand::Service(ServiceCommand::List(UnfilteredList { output_format })) => {
            let columns = [
                ("Hostname", "hostname"),
                ("Binary", "binary"),
                ("Engine ID", "engine_id"),
                ("Host", "host"),
                ("Topic", "topic"),
                ("Updated At", "updated_at"),
                ("Status", "status"),
            ];
            let answer = client.heat.get("/services", Query::new()).await?;
            client.console.list(Listing::of(&columns, &list(&answer, "services")), &output_format)
        }
        OrchestrationCommand::Build(BuildCommand::Info(BuildInfo { output_format })) => {
            let answer = client.heat.get("/build_info", Query::new()).await?;
            client.console.show(build_info(&answer), &output_format)
        }
    }
}

/// The build information; tables show it as JSON.
fn build_info(answer: &Value) -> Details {
    let mut details = Details::of(answer);
    for (_, cell) in &mut details.fields {
        *cell = Cell::json(cell.value().clone());
    }
    details
}

impl TemplateValidate {
    async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let upload = Upload::gather(&client.heat.session, Some(&self.template), &self.args).await?;
        let ignore = self.ignore_errors.as_deref();
        let answer = validate(client, upload, self.show_nested, ignore).await?;
        client.console.raw(&answer, &self.output_format, ShowFormat::Yaml)
    }
}

/// Has the service validate a template.
pub(crate) async fn validate(
    client: &Client<'_, '_>,
    upload: Upload,
    show_nested: bool,
    ignore_errors: Option<&str>,
) -> Result<Value> {
    let mut asked = if show_nested { query([("show_nested", "True")]) } else { Query::new() };
    asked.extend(ignore_errors.map(|codes| ("ignore_errors".into(), codes.to_owned())));
    let body = upload.body(Vec::new(), Vec::new());
    client.heat.call(Method::POST, "/validate", asked, Some(body)).await
}

/// The template versions; with aliases if the service sends them.
fn versions(versions: &[Value]) -> Listing {
    let mut columns = vec![("Version", "version"), ("Type", "type")];
    let has_aliases = versions.iter().any(|version| version.get("aliases").is_some());
    if has_aliases {
        columns.push(("Aliases", "aliases"));
    }
    let mut listing = Listing::of(&columns, versions);
    for aliases in listing.rows.iter_mut().filter_map(|row| row.get_mut(2)) {
        let names = aliases.value().as_array().into_iter().flatten();
        let names: Vec<&str> = names.filter_map(Value::as_str).collect();
        *aliases = Cell::shown(aliases.value().clone(), names.join(","));
    }
    listing
}

/// The functions of a template version.
pub(crate) async fn functions(
    client: &Client<'_, '_>,
    version: &str,
    with_conditions: bool,
) -> Result<Vec<Value>> {
    let asked =
        if with_conditions { query([("with_condition_func", "True")]) } else { Query::new() };
    let answer = client.heat.get(&path(&["template_versions", version, "functions"]), asked).await;
    let answer = answer.or_not_found(|| format!("Template version not found: {version}"))?;
    Ok(list(&answer, "template_functions"))
}

impl TypeList {
    async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let mut asked = pairs(&self.filter)?;
        if self.long {
            asked.extend(query([("with_description", "True")]));
        }
        let mut types = types(client, asked).await?;
        let mut columns = vec![("Resource Type", "resource_type")];
        if self.long {
            columns.push(("Description", "description"));
        }
        types.sort_by(|a, b| text(a, "resource_type").cmp(text(b, "resource_type")));
        client.console.list(Listing::of(&columns, &types), &self.output_format)
    }
}

/// The resource types, as objects.
pub(crate) async fn types(client: &Client<'_, '_>, asked: Query) -> Result<Vec<Value>> {
    let answer = client.heat.get("/resource_types", asked).await?;
    let object = |it: Value| if it.is_string() { json!({ "resource_type": it }) } else { it };
    Ok(list(&answer, "resource_types").into_iter().map(object).collect())
}

impl TypeShow {
    async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        if self.template_type.is_some() && self.long {
            return Err(ClientError::new("Cannot use --template-type and --long in one time."));
        }
        let shown = match &self.template_type {
            None => show_type(client, &self.name, self.long).await?,
            Some(dialect) => template_of(client, &self.name, dialect).await?,
        };
        client.console.raw(&shown, &self.output_format, ShowFormat::Yaml)
    }
}

/// The schema of a resource type.
pub(crate) async fn show_type(client: &Client<'_, '_>, name: &str, long: bool) -> Result<Value> {
    let asked = if long { query([("with_description", "True")]) } else { Query::new() };
    let answer = client.heat.get(&path(&["resource_types", name]), asked).await;
    answer.or_not_found(|| format!("Resource type not found: {name}"))
}

/// A template for a resource type.
pub(crate) async fn template_of(
    client: &Client<'_, '_>,
    name: &str,
    dialect: &str,
) -> Result<Value> {
    let dialect = dialect.to_lowercase();
    if !["hot", "cfn"].contains(&&*dialect) {
        return Err(ClientError::new(format!("Template type invalid: {dialect}")));
    }
    let asked = query([("template_type", &*dialect)]);
    let answer = client.heat.get(&path(&["resource_types", name, "template"]), asked).await;
    answer.or_not_found(|| format!("Resource type not found: {name}"))
}
