//! Showing a stack: its details and its documents.

use super::super::Client;
use super::super::error::{ClientError, OrNotFound, Result};
use super::super::format::options::{ShowArgs, ShowFormat};
use super::super::format::text::{Json, json};
use super::super::format::{Cell, Details};
use super::super::heat::Query;
use super::change::SHORT;
use super::target::StackTarget;
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use std::os::unix::fs::OpenOptionsExt;

/// Arguments of `kiln stack show`.
#[derive(Debug, Args)]
pub(crate) struct StackShow {
    #[command(flatten)]
    target: StackTarget,

    /// Do not resolve the outputs, which may take a while
    #[arg(long)]
    no_resolve_outputs: bool,

    #[command(flatten)]
    output_format: ShowArgs,
}

impl StackShow {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let stack = client.heat.show(&self.target.stack, !self.no_resolve_outputs).await?;
        client.console.show(details(&stack), &self.output_format)
    }
}

/// The details of a stack: the usual members first, then all others in order.
fn details(stack: &Value) -> Details {
    const AS_YAML: [&str; 4] = ["parameters", "outputs", "links", "tags"];
    let mut details = Details::members(&SHORT, stack);
    let members = || stack.as_object().into_iter().flatten();
    for key in &AS_YAML[..3] {
        if let Some(value) = stack.get(*key) {
            details.fields.push(((*key).to_owned(), Cell::yaml(value.clone())));
        }
    }
    for (key, value) in members() {
        let is_shown = details.fields.iter().any(|(name, _)| name == key);
        if is_shown || key == "template_description" {
            continue;
        }
        let cell = match AS_YAML.contains(&&**key) {
            true => Cell::yaml(value.clone()),
            false => value.clone().into(),
        };
        details.fields.push((key.clone(), cell));
    }
    details
}

/// Whether a stack is removed when its document is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportMode {
    /// The stack is removed; its resources stay.
    Abandon,
    /// The stack stays.
    Export,
}

/// Arguments of `kiln stack abandon` and `kiln stack export`.
#[derive(Debug, Args)]
pub(crate) struct StackDocument {
    #[command(flatten)]
    pub(crate) target: StackTarget,

    /// File to write the output to
    #[arg(long, value_name = "FILE")]
    pub(crate) output_file: Option<String>,

    #[command(flatten)]
    pub(crate) output_format: ShowArgs,
}

impl StackDocument {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>, leave: ExportMode) -> Result<()> {
        let file = self.output_file.as_deref().map(prepared).transpose()?;
        let document = document(client, &self.target.stack, leave).await?;
        match file {
            None => client.console.raw(&document, &self.output_format, ShowFormat::Json),
            Some(file) => put(file, &document),
        }
    }
}

/// The document from which a stack can be adopted.
pub(crate) async fn document(
    client: &Client<'_, '_>,
    typed: &str,
    leave: ExportMode,
) -> Result<Value> {
    let stack = client.heat.stack(typed).await?;
    let (method, word) = match leave {
        ExportMode::Abandon => (Method::DELETE, "abandon"),
        ExportMode::Export => (Method::GET, "export"),
    };
    let answer = client.heat.call(method, &stack.path(&[word]), Query::new(), None).await;
    answer.or_not_found(|| format!("Stack not found: {typed}"))
}

/// An output file, opened before an action that cannot be repeated.
pub(crate) struct OutputFile {
    name: String,
    file: std::fs::File,
}

/// Opens an output file.
pub(crate) fn prepared(name: &str) -> Result<OutputFile> {
    // The document may hold what resources keep, such as passwords of guests.
    let file =
        std::fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(name);
    match file {
        Ok(file) => Ok(OutputFile { name: name.to_owned(), file }),
        Err(error) => Err(ClientError::new(format!("cannot write {name}: {error}"))),
    }
}

/// Writes a document to a file.
pub(crate) fn put(mut to: OutputFile, document: &Value) -> Result<()> {
    use std::io::Write;
    let text = json(document, Json::Indented);
    to.file
        .write_all(text.as_bytes())
        .map_err(|error| ClientError::new(format!("cannot write {}: {error}", to.name)))
}

/// A stack and an output format.
#[derive(Debug, Args)]
pub(crate) struct DocumentArgs {
    #[command(flatten)]
    target: StackTarget,

    #[command(flatten)]
    output_format: ShowArgs,
}

/// `kiln stack template`.
#[derive(Debug, Subcommand)]
pub(crate) enum TemplateCommand {
    /// Print the template of a stack
    Show(DocumentArgs),
}

/// `kiln stack environment`.
#[derive(Debug, Subcommand)]
pub(crate) enum EnvironmentCommand {
    /// Print the environment of a stack
    Show(DocumentArgs),
}

/// `kiln stack file`.
#[derive(Debug, Subcommand)]
pub(crate) enum FileCommand {
    /// Print the files of a stack
    List(DocumentArgs),
}

impl DocumentArgs {
    pub(crate) async fn template(self, client: &mut Client<'_, '_>) -> Result<()> {
        let template = part(client, &self.target.stack, "template").await?;
        client.console.raw(&template, &self.output_format, ShowFormat::Yaml)
    }

    pub(crate) async fn environment(self, client: &mut Client<'_, '_>) -> Result<()> {
        let whole = part(client, &self.target.stack, "environment").await?;
        let keys = ["parameters", "resource_registry", "parameter_defaults"];
        let shown =
            keys.iter().filter_map(|key| Some(((*key).to_owned(), whole.get(*key)?.clone())));
        let shown = Value::Object(shown.collect());
        client.console.raw(&shown, &self.output_format, ShowFormat::Yaml)
    }

    pub(crate) async fn files(self, client: &mut Client<'_, '_>) -> Result<()> {
        let files = part(client, &self.target.stack, "files").await?;
        client.console.raw(&json!({ "files": files }), &self.output_format, ShowFormat::Yaml)
    }
}

/// Reads a document of a stack.
pub(crate) async fn part(client: &Client<'_, '_>, typed: &str, part: &str) -> Result<Value> {
    let stack = client.heat.stack(typed).await?;
    let answer = client.heat.get(&stack.path(&[part]), Query::new()).await;
    answer.or_not_found(|| format!("Stack not found: {typed}"))
}
