//! Classic words for what is inside a stack: events, hooks, outputs, resources.

use super::super::Client;
use super::super::heat::query;
use super::super::problem::{OrNotFound, Problem, Result};
use super::super::stack::event::{event, events, log, name_stack};
use super::super::stack::hook::waiting;
use super::super::stack::list::pairs;
use super::super::stack::output::{error_of, output_of, resolved};
use super::super::stack::resource::{self, with_stack_names};
use super::look;
use clap::{Args, ValueEnum};
use serde_json::Value;

/// How events are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A table
    #[default]
    Table,
    /// Lines of a log
    Log,
}

/// Arguments of `heat event-list`.
#[derive(Debug, Args)]
pub(crate) struct EventList {
    /// The stack, by name or id
    #[arg(value_name = "NAME or ID")]
    stack: String,

    /// Only those of this resource
    #[arg(short, long, value_name = "RESOURCE")]
    resource: Option<String>,

    /// Only those with these properties; may be given several times
    #[arg(short, long, value_name = "KEY=VALUE;KEY=VALUE")]
    filters: Vec<String>,

    /// At most so many
    #[arg(short, long, value_name = "LIMIT")]
    limit: Option<usize>,

    /// Only those after this one, by id
    #[arg(short, long, value_name = "ID")]
    marker: Option<String>,

    /// So many levels of nested stacks too
    #[arg(short, long, value_name = "DEPTH")]
    nested_depth: Option<String>,

    /// How events are shown: log or table
    #[arg(short = 'F', long = "format", value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true)]
    form: Form,
}

/// The members of events that are listed.
const EVENT: [&str; 5] =
    ["resource_name", "id", "resource_status_reason", "resource_status", "event_time"];

impl EventList {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        if self.resource.is_some() && self.nested_depth.is_some() {
            return Err(Problem::new("--nested-depth cannot be specified with --resource"));
        }
        let depth = depth(self.nested_depth.as_deref())?;
        let stack = client.heat.stack(&self.stack).await?;
        let mut asked = pairs(&self.filters)?;
        asked.extend(query([("sort_dir", "asc")]));
        asked.extend(self.limit.map(|limit| ("limit".to_owned(), limit.to_string())));
        asked.extend(self.marker.map(|marker| ("marker".to_owned(), marker)));
        asked.extend(depth.map(|depth| ("nested_depth".to_owned(), depth.to_string())));
        let events = events(client, &stack, self.resource.as_deref(), asked).await?;
        match self.form {
            Form::Log => log(client, &events),
            Form::Table => list_events(client, events, depth),
        }
    }
}

fn list_events(
    client: &mut Client<'_, '_>,
    mut events: Vec<Value>,
    depth: Option<u32>,
) -> Result<()> {
    let mut columns = EVENT.to_vec();
    if depth.is_some() {
        columns.push("stack_name");
        events.iter_mut().for_each(name_stack);
    }
    look::list(client, &columns, &events, None)
}

fn depth(word: Option<&str>) -> Result<Option<u32>> {
    let number = |word: &str| {
        word.parse().map_err(|_| Problem::new(format!("--nested-depth invalid value {word}")))
    };
    word.map(number).transpose()
}

/// Arguments of `heat event-show`.
#[derive(Debug, Args)]
pub(crate) struct EventShow {
    /// The stack, by name or id
    #[arg(value_name = "NAME or ID")]
    stack: String,

    /// The resource
    #[arg(value_name = "RESOURCE")]
    resource: String,

    /// The event, by id
    #[arg(value_name = "EVENT")]
    event: String,
}

impl EventShow {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let event = event(client, &self.stack, &self.resource, &self.event).await?;
        look::details(client, &event)
    }
}

/// Arguments of `heat hook-poll`.
#[derive(Debug, Args)]
pub(crate) struct HookPoll {
    /// The stack, by name or id
    #[arg(value_name = "NAME or ID")]
    stack: String,

    /// So many levels of nested stacks too
    #[arg(short, long, value_name = "DEPTH")]
    nested_depth: Option<String>,
}

impl HookPoll {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let depth = depth(self.nested_depth.as_deref())?;
        let events = waiting(client, &self.stack, depth).await?;
        list_events(client, events, depth)
    }
}

/// How an output is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum OutputForm {
    /// Its value
    #[default]
    Raw,
    /// All of it
    Json,
}

/// Arguments of `heat output-show`.
#[derive(Debug, Args)]
pub(crate) struct OutputShow {
    /// The stack, by name or id
    #[arg(value_name = "NAME or ID")]
    stack: String,

    /// The output
    #[arg(value_name = "OUTPUT NAME")]
    output: Option<String>,

    /// What is printed: raw for the value alone, json for all of it
    #[arg(short = 'F', long = "format", value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true)]
    form: OutputForm,

    /// Print all outputs
    #[arg(short, long)]
    all: bool,

    /// Show outputs with their descriptions
    #[arg(long)]
    with_detail: bool,
}

impl OutputShow {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        if self.all {
            for output in resolved(client, &self.stack).await? {
                self.print(client, &output)?;
            }
            return Ok(());
        }
        let Some(name) = &self.output else { return Err(Problem::new("Output None not found.")) };
        let output = output_of(client, &self.stack, name).await;
        let output = output.or_not_found(|| format!("Output {name} not found."))?;
        self.print(client, &output)
    }

    fn print(&self, client: &mut Client<'_, '_>, output: &Value) -> Result<()> {
        if self.with_detail {
            return look::details(client, output);
        }
        match (error_of(output), self.form) {
            (Some(error), OutputForm::Raw) => Err(error),
            (_, OutputForm::Json) => look::value(client, output),
            (None, OutputForm::Raw) => look::value(client, &output["output_value"]),
        }
    }
}

/// Arguments of `heat resource-list`.
#[derive(Debug, Args)]
pub(crate) struct ResourceList {
    /// The stack, by name or id
    #[arg(value_name = "NAME or ID")]
    stack: String,

    /// So many levels of nested stacks too
    #[arg(short, long, value_name = "DEPTH")]
    nested_depth: Option<String>,

    /// Only those with this property; may be given several times
    #[arg(short, long, value_name = "KEY=VALUE")]
    filter: Vec<String>,

    /// Tell more of each resource
    #[arg(long)]
    with_detail: bool,
}

impl ResourceList {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let depth = depth(self.nested_depth.as_deref())?;
        let stack = client.heat.stack(&self.stack).await?;
        let mut asked = pairs(&self.filter)?;
        asked.extend(depth.map(|depth| ("nested_depth".to_owned(), depth.to_string())));
        if self.with_detail {
            asked.extend(query([("with_detail", "True")]));
        }
        let mut resources = client.heat.resources(&stack, asked).await?;
        let mut columns = resource::COLUMNS.to_vec();
        if depth.is_some() || self.with_detail {
            columns.push("stack_name");
            with_stack_names(&mut resources);
        }
        look::list(client, &columns, &resources, Some("updated_time"))
    }
}

/// A resource.
#[derive(Debug, Args)]
pub(crate) struct OneResource {
    /// The stack, by name or id
    #[arg(value_name = "NAME or ID")]
    stack: String,

    /// The resource
    #[arg(value_name = "RESOURCE")]
    resource: String,
}

impl OneResource {
    pub(super) async fn metadata(self, client: &mut Client<'_, '_>) -> Result<()> {
        let metadata = resource::metadata(client, &self.stack, &self.resource).await;
        let metadata = metadata.or_not_found(|| no_resource(&self.stack, &self.resource))?;
        look::document(client, &metadata)
    }
}

fn no_resource(stack: &str, resource: &str) -> String {
    format!("Stack or resource not found: {stack} {resource}")
}

/// Arguments of `heat resource-show`.
#[derive(Debug, Args)]
pub(crate) struct ResourceShow {
    #[command(flatten)]
    one: OneResource,

    /// Show this attribute too; may be given several times
    #[arg(short = 'a', long, value_name = "ATTRIBUTE")]
    with_attr: Vec<String>,
}

impl ResourceShow {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let OneResource { stack, resource } = &self.one;
        let shown = resource::resource(client, stack, resource, &self.with_attr).await?;
        look::details(client, &shown)
    }
}

/// Arguments of `heat resource-signal`.
#[derive(Debug, Args)]
pub(crate) struct ResourceSignal {
    #[command(flatten)]
    one: OneResource,

    /// What to tell the resource: a JSON object
    #[arg(short = 'D', long, value_name = "DATA")]
    data: Option<String>,

    /// A file with what to tell the resource
    #[arg(short = 'f', long, value_name = "FILE")]
    data_file: Option<String>,
}

impl ResourceSignal {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let OneResource { stack, resource } = self.one;
        let words = no_resource(&stack, &resource);
        let signal =
            resource::Signal { stack, resource, data: self.data, data_file: self.data_file };
        signal.run(client).await.or_not_found(|| words)
    }
}
