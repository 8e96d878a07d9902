//! `kiln orchestration …`: what the service knows, whatever stacks there are.

use super::Client;
use super::connection::Connection;
use super::format::options::{Listed, ShowForm, Shown};
use super::format::{Cell, Details, Listing};
use super::heat::{Query, list, path, query, text};
use super::problem::{OrNotFound, Problem, Result};
use super::stack::list::pairs;
use super::upload::{Given, Upload};
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

/// Arguments of `kiln orchestration`.
#[derive(Debug, Args)]
pub(crate) struct Orchestration {
    #[command(subcommand)]
    pub(crate) verb: Verb,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `kiln orchestration`.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Templates as the service sees them
    #[command(subcommand)]
    Template(Template),
    /// What resources can be
    #[command(subcommand)]
    Resource(Resource),
    /// The engines of the service
    #[command(subcommand)]
    Service(Service),
    /// How the service was built
    #[command(subcommand)]
    Build(Build),
}

/// `kiln orchestration template`.
#[derive(Debug, Subcommand)]
pub(crate) enum Template {
    /// Let the service check a template
    Validate(Box<Validate>),
    /// The versions of templates
    #[command(subcommand)]
    Version(Version),
    /// The functions of templates
    #[command(subcommand)]
    Function(Function),
}

/// `kiln orchestration template version`.
#[derive(Debug, Subcommand)]
pub(crate) enum Version {
    /// List the versions that the service takes
    List(Plain),
}

/// `kiln orchestration template function`.
#[derive(Debug, Subcommand)]
pub(crate) enum Function {
    /// List the functions that a version has
    List(Functions),
}

/// `kiln orchestration resource`.
#[derive(Debug, Subcommand)]
pub(crate) enum Resource {
    /// The types of resources
    #[command(subcommand)]
    Type(Type),
}

/// `kiln orchestration resource type`.
#[derive(Debug, Subcommand)]
pub(crate) enum Type {
    /// List the types of resources
    List(Types),
    /// Print what a type takes and gives
    Show(ShowType),
}

/// `kiln orchestration service`.
#[derive(Debug, Subcommand)]
pub(crate) enum Service {
    /// List the engines; administrators only
    List(Plain),
}

/// `kiln orchestration build`.
#[derive(Debug, Subcommand)]
pub(crate) enum Build {
    /// Show the revisions of the service
    Info(Info),
}

/// A list without arguments.
#[derive(Debug, Args)]
pub(crate) struct Plain {
    #[command(flatten)]
    listed: Listed,
}

/// Arguments of `kiln orchestration build info`.
#[derive(Debug, Args)]
pub(crate) struct Info {
    #[command(flatten)]
    shown: Shown,
}

/// Arguments of `kiln orchestration template validate`.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// The template: a path or a URL
    #[arg(short, long, value_name = "TEMPLATE")]
    template: String,

    #[command(flatten)]
    given: Given,

    /// Look into nested templates too
    #[arg(long)]
    show_nested: bool,

    /// Codes of errors to overlook, with commas between them
    #[arg(long, value_name = "CODE,CODE")]
    ignore_errors: Option<String>,

    #[command(flatten)]
    shown: Shown,
}

/// Arguments of `kiln orchestration template function list`.
#[derive(Debug, Args)]
pub(crate) struct Functions {
    /// The version, such as heat_template_version.2021-04-16
    #[arg(value_name = "VERSION")]
    version: String,

    /// Also those that may stand in conditions alone
    #[arg(long, alias = "with_conditions")]
    with_conditions: bool,

    #[command(flatten)]
    listed: Listed,
}

/// Arguments of `kiln orchestration resource type list`.
#[derive(Debug, Args)]
pub(crate) struct Types {
    /// Only those with this property: name (a regular expression for its beginning), version or
    /// support_status; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    filter: Vec<String>,

    /// Tell what each type is
    #[arg(long)]
    long: bool,

    #[command(flatten)]
    listed: Listed,
}

/// Arguments of `kiln orchestration resource type show`.
#[derive(Debug, Args)]
pub(crate) struct ShowType {
    /// The type
    #[arg(value_name = "TYPE")]
    name: String,

    /// Print a template with one resource of this type instead: hot or cfn
    #[arg(long, value_name = "DIALECT")]
    template_type: Option<String>,

    /// Tell what the type is
    #[arg(long)]
    long: bool,

    #[command(flatten)]
    shown: Shown,
}

/// Carries a verb out.
pub(crate) async fn run(verb: Verb, client: &mut Client<'_, '_>) -> Result<()> {
    match verb {
        Verb::Template(Template::Validate(validate)) => validate.run(client).await,
        Verb::Template(Template::Version(Version::List(Plain { listed }))) => {
            let answer = client.heat.get("/template_versions", Query::new()).await?;
            client.console.list(versions(&list(&answer, "template_versions")), &listed)
        }
        Verb::Template(Template::Function(Function::List(it))) => {
            let functions = functions(client, &it.version, it.with_conditions).await?;
            let columns = [("Functions", "functions"), ("Description", "description")];
            client.console.list(Listing::of(&columns, &functions), &it.listed)
        }
        Verb::Resource(Resource::Type(Type::List(types))) => types.run(client).await,
        Verb::Resource(Resource::Type(Type::Show(show))) => show.run(client).await,
        Verb::Service(Service::List(Plain { listed })) => {
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
            client.console.list(Listing::of(&columns, &list(&answer, "services")), &listed)
        }
        Verb::Build(Build::Info(Info { shown })) => {
            let answer = client.heat.get("/build_info", Query::new()).await?;
            client.console.show(build_info(&answer), &shown)
        }
    }
}

/// How the service was built; tables have that as JSON.
fn build_info(answer: &Value) -> Details {
    let mut details = Details::of(answer);
    for (_, cell) in &mut details.fields {
        *cell = Cell::json(cell.value().clone());
    }
    details
}

impl Validate {
    async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let upload =
            Upload::gather(&client.heat.session, Some(&self.template), &self.given).await?;
        let ignore = self.ignore_errors.as_deref();
        let answer = validate(client, upload, self.show_nested, ignore).await?;
        client.console.raw(&answer, &self.shown, ShowForm::Yaml)
    }
}

/// Lets the service check a template.
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

/// The versions of templates; their other names only if the service tells any.
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

/// The functions of a version.
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

impl Types {
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
        client.console.list(Listing::of(&columns, &types), &self.listed)
    }
}

/// The types of resources, as objects.
pub(crate) async fn types(client: &Client<'_, '_>, asked: Query) -> Result<Vec<Value>> {
    let answer = client.heat.get("/resource_types", asked).await?;
    let object = |it: Value| if it.is_string() { json!({ "resource_type": it }) } else { it };
    Ok(list(&answer, "resource_types").into_iter().map(object).collect())
}

impl ShowType {
    async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        if self.template_type.is_some() && self.long {
            return Err(Problem::new("Cannot use --template-type and --long in one time."));
        }
        let shown = match &self.template_type {
            None => show_type(client, &self.name, self.long).await?,
            Some(dialect) => template_of(client, &self.name, dialect).await?,
        };
        client.console.raw(&shown, &self.shown, ShowForm::Yaml)
    }
}

/// What a type takes and gives.
pub(crate) async fn show_type(client: &Client<'_, '_>, name: &str, long: bool) -> Result<Value> {
    let asked = if long { query([("with_description", "True")]) } else { Query::new() };
    let answer = client.heat.get(&path(&["resource_types", name]), asked).await;
    answer.or_not_found(|| format!("Resource type not found: {name}"))
}

/// A template with one resource of a type.
pub(crate) async fn template_of(
    client: &Client<'_, '_>,
    name: &str,
    dialect: &str,
) -> Result<Value> {
    let dialect = dialect.to_lowercase();
    if !["hot", "cfn"].contains(&&*dialect) {
        return Err(Problem::new(format!("Template type invalid: {dialect}")));
    }
    let asked = query([("template_type", &*dialect)]);
    let answer = client.heat.get(&path(&["resource_types", name, "template"]), asked).await;
    answer.or_not_found(|| format!("Resource type not found: {name}"))
}
