//! Resources of a stack.

use super::super::Client;
use super::super::error::{ClientError, OrNotFound, Result};
use super::super::format::options::{Columns, ListFormat, ShowArgs, ShowFormat};
use super::super::format::{Details, Listing};
use super::super::heat::{Query, link, query, stack_name_of};
use super::super::upload::text_of;
use super::dot;
use super::list::pairs;
use super::target::StackTarget;
use clap::{Args, Subcommand, ValueEnum};
use reqwest::Method;
use serde_json::{Value, json};

/// `kiln stack resource`.
#[derive(Debug, Subcommand)]
pub(crate) enum ResourceCommand {
    /// List the resources of a stack
    List(ResourceList),
    /// Show a resource
    Show(ResourceShow),
    /// Print the metadata of a resource
    Metadata(ResourceMetadata),
    /// Send a signal to a resource
    Signal(ResourceSignal),
    /// Mark a resource
    #[command(subcommand)]
    Mark(MarkCommand),
}

/// Output formats of resource lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ResourceFormat {
    /// A table
    #[default]
    Table,
    /// Comma-separated values
    Csv,
    /// A Graphviz graph
    Dot,
    /// A JSON array of objects
    Json,
    /// A line for each row, with spaces between the values
    Value,
    /// A YAML sequence of mappings
    Yaml,
}

/// Arguments of `kiln stack resource list`.
#[derive(Debug, Args)]
pub(crate) struct ResourceList {
    #[command(flatten)]
    target: StackTarget,

    /// Include nested stacks down to this depth
    #[arg(short, long, value_name = "DEPTH")]
    nested_depth: Option<u32>,

    /// Show more details of each resource
    #[arg(long)]
    long: bool,

    /// Filter, such as type=OS::Nova::Server; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    filter: Vec<String>,

    /// Output format: table, csv, dot (Graphviz), json, value or yaml
    #[arg(short = 'f', long = "format", value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true, help_heading = "Output options")]
    shape: ResourceFormat,

    #[command(flatten)]
    columns: Columns,
}

impl ResourceList {
    async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let stack = client.heat.stack(&self.target.stack).await?;
        let mut asked = pairs(&self.filter)?;
        if let Some(depth) = self.nested_depth {
            asked.push(("nested_depth".into(), depth.to_string()));
        }
        if self.long {
            asked.extend(query([("with_detail", "True")]));
        }
        let resources = client.heat.resources(&stack, asked).await;
        let resources =
            resources.or_not_found(|| format!("Stack not found: {}", self.target.stack))?;
        let form = match self.shape {
            ResourceFormat::Table => ListFormat::Table,
            ResourceFormat::Csv => ListFormat::Csv,
            ResourceFormat::Json => ListFormat::Json,
            ResourceFormat::Value => ListFormat::Value,
            ResourceFormat::Yaml => ListFormat::Yaml,
            ResourceFormat::Dot => return client.console.write(&dot::graph(&resources)),
        };
        let with_stack = self.long || self.nested_depth.is_some_and(|depth| depth > 0);
        client.console.list_as(listing(resources, with_stack), form, &self.columns)
    }
}

/// The columns of resource lists.
pub(crate) const COLUMNS: [&str; 5] =
    ["resource_name", "physical_resource_id", "resource_type", "resource_status", "updated_time"];

/// Prints resources as a list, with the names of their stacks if requested.
fn listing(mut resources: Vec<Value>, with_stack: bool) -> Listing {
    let mut columns = COLUMNS.map(|name| (name, name)).to_vec();
    if with_stack {
        columns.push(("stack_name", "stack_name"));
        with_stack_names(&mut resources);
    }
    Listing::of(&columns, &resources)
}

/// Adds the names of their stacks to resources.
pub(crate) fn with_stack_names(resources: &mut [Value]) {
    for resource in resources {
        let name = link(resource, "stack").and_then(stack_name_of).map(str::to_owned);
        resource["stack_name"] = name.into();
    }
}

/// A stack and one of its resources.
#[derive(Debug, Args)]
pub(crate) struct ResourceTarget {
    /// Name or id of the stack
    #[arg(value_name = "STACK")]
    pub(crate) stack: String,

    /// Name of the resource
    #[arg(value_name = "RESOURCE")]
    pub(crate) resource: String,
}

/// Arguments of `kiln stack resource show`.
#[derive(Debug, Args)]
pub(crate) struct ResourceShow {
    #[command(flatten)]
    target: ResourceTarget,

    /// Attribute to show as well; may be repeated
    #[arg(long, value_name = "ATTRIBUTE")]
    with_attr: Vec<String>,

    #[command(flatten)]
    output_format: ShowArgs,
}

/// Arguments of `kiln stack resource metadata`.
#[derive(Debug, Args)]
pub(crate) struct ResourceMetadata {
    #[command(flatten)]
    target: ResourceTarget,

    #[command(flatten)]
    output_format: ShowArgs,
}

/// Arguments of `kiln stack resource signal`.
#[derive(Debug, Args)]
pub(crate) struct ResourceSignal {
    #[command(flatten)]
    pub(crate) target: ResourceTarget,

    /// Signal data, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) data: Option<String>,

    /// File with the signal data
    #[arg(long, value_name = "FILE")]
    pub(crate) data_file: Option<String>,
}

/// `kiln stack resource mark`.
#[derive(Debug, Subcommand)]
pub(crate) enum MarkCommand {
    /// Mark a resource as unhealthy: the next update replaces it
    Unhealthy(MarkUnhealthy),
}

/// Arguments of `kiln stack resource mark unhealthy`.
#[derive(Debug, Args)]
pub(crate) struct MarkUnhealthy {
    /// Name or id of the stack
    #[arg(value_name = "STACK")]
    pub(crate) stack: String,

    /// Name or physical id of the resource
    #[arg(value_name = "RESOURCE")]
    pub(crate) resource: String,

    /// Reason for the mark
    #[arg(value_name = "REASON", default_value = "", hide_default_value = true)]
    pub(crate) reason: String,

    /// Remove the mark
    #[arg(long)]
    pub(crate) reset: bool,
}

pub(crate) async fn run(subcommand: ResourceCommand, client: &mut Client<'_, '_>) -> Result<()> {
    match subcommand {
        ResourceCommand::List(list) => list.run(client).await,
        ResourceCommand::Show(show) => {
            let ResourceTarget { stack, resource: name } = &show.target;
            let resource = resource(client, stack, name, &show.with_attr).await?;
            client.console.show(Details::of(&resource), &show.output_format)
        }
        ResourceCommand::Metadata(ResourceMetadata { target, output_format }) => {
            let metadata = metadata(client, &target.stack, &target.resource).await?;
            client.console.raw(&metadata, &output_format, ShowFormat::Json)
        }
        ResourceCommand::Signal(signal) => signal.run(client).await,
        ResourceCommand::Mark(MarkCommand::Unhealthy(unhealthy)) => unhealthy.run(client).await,
    }
}

/// Reads a resource.
pub(crate) async fn resource(
    client: &Client<'_, '_>,
    typed: &str,
    name: &str,
    attributes: &[String],
) -> Result<Value> {
    let not_found = || format!("Stack or resource not found: {typed} {name}");
    let stack = client.heat.find(typed).await.or_not_found(not_found)?;
    let asked: Query = attributes.iter().map(|name| ("with_attr".into(), name.clone())).collect();
    let answer = client.heat.get(&stack.path(&["resources", name]), asked).await;
    Ok(answer.or_not_found(not_found)?["resource"].clone())
}

/// The metadata of a resource.
pub(crate) async fn metadata(client: &Client<'_, '_>, typed: &str, name: &str) -> Result<Value> {
    let not_found = || format!("Stack {typed} or resource {name} not found.");
    let stack = client.heat.find(typed).await.or_not_found(not_found)?;
    let answer = client.heat.get(&stack.path(&["resources", name, "metadata"]), Query::new()).await;
    Ok(answer.or_not_found(not_found)?["metadata"].clone())
}

impl ResourceSignal {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let ResourceSignal { target, data, data_file } = &self;
        let ResourceTarget { stack: typed, resource } = target;
        let text = match (data, data_file) {
            (Some(_), Some(_)) => {
                return Err(ClientError::new("Should only specify one of data or data-file"));
            }
            (Some(data), None) => Some(data.clone()),
            (None, Some(file)) => Some(text_of(&client.heat.session, file).await?.1),
            (None, None) => None,
        };
        let data = text.as_deref().map(signal_data).transpose()?;
        let not_found = || format!("Stack {typed} or resource {resource} not found.");
        let stack = client.heat.find(typed).await.or_not_found(not_found)?;
        client.heat.signal(&stack, resource, data.as_ref()).await.or_not_found(not_found)
    }
}

/// Parses signal data, which must be a JSON object.
fn signal_data(text: &str) -> Result<Value> {
    match serde_json::from_str::<Value>(text) {
        Ok(data) if data.is_object() => Ok(data),
        Ok(_) => Err(ClientError::new("Data should be a JSON dict")),
        Err(error) => Err(ClientError::new(format!(
            "Data should be in JSON format: {}",
            why_no_json(text, &error)
        ))),
    }
}

/// A JSON syntax error in the words of Python.
fn why_no_json(text: &str, error: &serde_json::Error) -> String {
    let (line, column) = (error.line().max(1), error.column().max(1));
    let before: usize =
        text.split_inclusive('\n').take(line - 1).map(|line| line.chars().count()).sum();
    // Python reports the position of a missing value, and other missing tokens by name.
    let what = match error.to_string() {
        told if told.starts_with("expected value") || told.starts_with("expected ident") => {
            "Expecting value".to_owned()
        }
        told if told.starts_with("EOF while parsing a value") => "Expecting value".to_owned(),
        told if told.starts_with("trailing characters") => "Extra data".to_owned(),
        told if told.starts_with("expected `:`") => "Expecting ':' delimiter".to_owned(),
        told if told.starts_with("expected `,`") => "Expecting ',' delimiter".to_owned(),
        told if told.starts_with("key must be a string") => {
            "Expecting property name enclosed in double quotes".to_owned()
        }
        told => told.split(" at line").next().unwrap_or(&told).to_owned(),
    };
    let start = match &*what {
        "Expecting value" if error.to_string().starts_with("expected ident") => {
            word_start(text, line, column)
        }
        _ => column,
    };
    format!("{what}: line {line} column {start} (char {})", before + start - 1)
}

/// The column at which the word at a column begins.
fn word_start(text: &str, line: usize, column: usize) -> usize {
    let line = text.split('\n').nth(line - 1).unwrap_or_default();
    let chars: Vec<char> = line.chars().collect();
    let mut at = column.min(chars.len());
    while at > 1 && chars[at - 2].is_alphanumeric() {
        at -= 1;
    }
    at.max(1)
}

impl MarkUnhealthy {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let MarkUnhealthy { stack: typed, resource, reason, reset } = &self;
        let not_found = || format!("Stack or resource not found: {typed} {resource}");
        let stack = client.heat.find(typed).await.or_not_found(not_found)?;
        let mut body = json!({ "mark_unhealthy": !reset });
        if !reason.is_empty() {
            body["resource_status_reason"] = reason.as_str().into();
        }
        let path = stack.path(&["resources", resource]);
        let answer =
            client.heat.call(Method::PATCH, &path, Query::new(), Some(body.to_string())).await;
        answer.or_not_found(not_found).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_is_told_in_pythons_words() {
        for (text, expected) in [
            ("not json", "Expecting value: line 1 column 1 (char 0)"),
            ("", "Expecting value: line 1 column 1 (char 0)"),
            ("{\"a\" 1}", "Expecting ':' delimiter: line 1 column 6 (char 5)"),
            ("{} x", "Extra data: line 1 column 4 (char 3)"),
        ] {
            let told = signal_data(text).unwrap_err().text;
            assert_eq!(told, format!("Data should be in JSON format: {expected}"), "{text}");
        }
        assert_eq!(signal_data("[1]").unwrap_err().text, "Data should be a JSON dict");
    }
}
