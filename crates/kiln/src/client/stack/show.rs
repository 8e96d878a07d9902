//! Showing a stack: what is known of it, and the documents it is made of.

use super::super::Client;
use super::super::format::options::{ShowForm, Shown};
use super::super::format::text::{Json, json};
use super::super::format::{Cell, Details};
use super::super::heat::Query;
use super::super::problem::{OrNotFound, Problem, Result};
use super::change::SHORT;
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

/// Arguments of `kiln stack show`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The stack, by name or id
    #[arg(value_name = "STACK")]
    stack: String,

    /// Leave the outputs out, which may take a while to find out
    #[arg(long)]
    no_resolve_outputs: bool,

    #[command(flatten)]
    shown: Shown,
}

impl Show {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let stack = client.heat.show(&self.stack, !self.no_resolve_outputs).await?;
        client.console.show(details(&stack), &self.shown)
    }
}

/// What is known of a stack: the usual members first, then all others as they came.
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

/// What is done with a stack whose document is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// It is forgotten.
    Abandon,
    /// Nothing.
    Export,
}

/// Arguments of `kiln stack abandon` and `kiln stack export`.
#[derive(Debug, Args)]
pub(crate) struct Document {
    /// The stack, by name or id
    #[arg(value_name = "STACK")]
    pub(crate) stack: String,

    /// Write the document to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) output_file: Option<String>,

    #[command(flatten)]
    pub(crate) shown: Shown,
}

impl Document {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>, leave: Leave) -> Result<()> {
        let file = self.output_file.as_deref().map(prepared).transpose()?;
        let document = document(client, &self.stack, leave).await?;
        match file {
            None => client.console.raw(&document, &self.shown, ShowForm::Json),
            Some(file) => put(file, &document),
        }
    }
}

/// The document that a stack can be made of again.
pub(crate) async fn document(client: &Client<'_, '_>, typed: &str, leave: Leave) -> Result<Value> {
    let stack = client.heat.stack(typed).await?;
    let (method, word) = match leave {
        Leave::Abandon => (Method::DELETE, "abandon"),
        Leave::Export => (Method::GET, "export"),
    };
    let answer = client.heat.call(method, &stack.path(&[word]), Query::new(), None).await;
    answer.or_not_found(|| format!("Stack not found: {typed}"))
}

/// A file that is open before anything is done that only happens once.
pub(crate) struct Prepared {
    name: String,
    file: std::fs::File,
}

/// Opens a file to write to.
pub(crate) fn prepared(name: &str) -> Result<Prepared> {
    match std::fs::File::create(name) {
        Ok(file) => Ok(Prepared { name: name.to_owned(), file }),
        Err(error) => Err(Problem::new(format!("cannot write {name}: {error}"))),
    }
}

/// Writes a document to a file.
pub(crate) fn put(mut to: Prepared, document: &Value) -> Result<()> {
    use std::io::Write;
    let text = json(document, Json::Indented);
    to.file
        .write_all(text.as_bytes())
        .map_err(|error| Problem::new(format!("cannot write {}: {error}", to.name)))
}

/// A stack, and how to show something of it.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The stack, by name or id
    #[arg(value_name = "STACK")]
    stack: String,

    #[command(flatten)]
    shown: Shown,
}

/// `kiln stack template`.
#[derive(Debug, Subcommand)]
pub(crate) enum Template {
    /// Print the template of a stack
    Show(Named),
}

/// `kiln stack environment`.
#[derive(Debug, Subcommand)]
pub(crate) enum Environment {
    /// Print the environment of a stack
    Show(Named),
}

/// `kiln stack file`.
#[derive(Debug, Subcommand)]
pub(crate) enum File {
    /// Print the files that were sent with a stack
    List(Named),
}

impl Named {
    pub(crate) async fn template(self, client: &mut Client<'_, '_>) -> Result<()> {
        let template = part(client, &self.stack, "template").await?;
        client.console.raw(&template, &self.shown, ShowForm::Yaml)
    }

    pub(crate) async fn environment(self, client: &mut Client<'_, '_>) -> Result<()> {
        let whole = part(client, &self.stack, "environment").await?;
        let keys = ["parameters", "resource_registry", "parameter_defaults"];
        let shown =
            keys.iter().filter_map(|key| Some(((*key).to_owned(), whole.get(*key)?.clone())));
        let shown = Value::Object(shown.collect());
        client.console.raw(&shown, &self.shown, ShowForm::Yaml)
    }

    pub(crate) async fn files(self, client: &mut Client<'_, '_>) -> Result<()> {
        let files = part(client, &self.stack, "files").await?;
        client.console.raw(&json!({ "files": files }), &self.shown, ShowForm::Yaml)
    }
}

/// A document that a stack is made of.
pub(crate) async fn part(client: &Client<'_, '_>, typed: &str, part: &str) -> Result<Value> {
    let stack = client.heat.stack(typed).await?;
    let answer = client.heat.get(&stack.path(&[part]), Query::new()).await;
    answer.or_not_found(|| format!("Stack not found: {typed}"))
}
