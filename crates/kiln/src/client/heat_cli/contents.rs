//! `heat` commands for the contents of a stack: events, hooks, outputs, resources.

use super::super::Client;
use super::super::error::{ClientError, OrNotFound, Result};
use super::super::heat::query;
use super::super::stack::event::{event, events, log, name_stack};
use super::super::stack::hook::waiting;
use super::super::stack::list::pairs;
use super::super::stack::output::{error_of, output_of, resolved};
use super::super::stack::resource::{self, with_stack_names};
use super::list::HeatPage;
use super::print;
use super::stack::OneStack;
use clap::{Args, ValueEnum};
use serde_json::Value;

/// Output formats of event lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum EventFormat {
    /// A table
    #[default]
    Table,
    /// Log lines
    Log,
}

/// Arguments of `heat event-list`.
#[derive(Debug, Args)]
pub(crate) struct EventList {
    #[command(flatten)]
    target: OneStack,

    /// Show only events of this resource
    #[arg(short, long, value_name = "RESOURCE")]
    resource: Option<String>,

    /// Filters; may be repeated
    #[arg(short, long, value_name = "KEY=VALUE;KEY=VALUE")]
    filters: Vec<String>,

    #[command(flatten)]
    page: HeatPage,

    /// Include nested stacks down to this depth
    #[arg(short, long, value_name = "DEPTH")]
    nested_depth: Option<String>,

    /// Output format: log or table
    #[arg(short = 'F', long = "format", value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true)]
    form: EventFormat,
}

/// The columns of event lists.
const EVENT: [&str; 5] =
    ["resource_name", "id", "resource_status_reason", "resource_status", "event_time"];

impl EventList {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        if self.resource.is_some() && self.nested_depth.is_some() {
            return Err(ClientError::new("--nested-depth cannot be specified with --resource"));
        }
        let depth = depth(self.nested_depth.as_deref())?;
        let stack = client.heat.stack(&self.target.stack).await?;
        let mut asked = pairs(&self.filters)?;
        asked.extend(query([("sort_dir", "asc")]));
        asked.extend(self.page.limit.map(|limit| ("limit".to_owned(), limit.to_string())));
        asked.extend(self.page.marker.map(|marker| ("marker".to_owned(), marker)));
        asked.extend(depth.map(|depth| ("nested_depth".to_owned(), depth.to_string())));
        let events = events(client, &stack, self.resource.as_deref(), asked).await?;
        match self.form {
            EventFormat::Log => log(client, &events),
            EventFormat::Table => list_events(client, events, depth),
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
    print::list(client, &columns, &events, None)
}

fn depth(word: Option<&str>) -> Result<Option<u32>> {
    let number = |word: &str| {
        word.parse().map_err(|_| ClientError::new(format!("--nested-depth invalid value {word}")))
    };
    word.map(number).transpose()
}

/// Arguments of `heat event-show`.
#[derive(Debug, Args)]
pub(crate) struct EventShow {
    #[command(flatten)]
    one: OneResource,

    /// Id of the event
    #[arg(value_name = "EVENT")]
    event: String,
}

impl EventShow {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let event = event(client, &self.one.stack, &self.one.resource, &self.event).await?;
        print::details(client, &event)
    }
}

/// Arguments of `heat hook-poll`.
#[derive(Debug, Args)]
pub(crate) struct HookPoll {
    #[command(flatten)]
    target: OneStack,

    /// Include nested stacks down to this depth
    #[arg(short, long, value_name = "DEPTH")]
    nested_depth: Option<String>,
}

impl HookPoll {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let depth = depth(self.nested_depth.as_deref())?;
        let events = waiting(client, &self.target.stack, depth).await?;
        list_events(client, events, depth)
    }
}

/// Output formats of `heat output-show` and `heat deployment-output-show`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    /// The value alone
    #[default]
    Raw,
    /// The whole object as JSON
    Json,
}

/// Arguments of `heat output-show`.
#[derive(Debug, Args)]
pub(crate) struct OutputShow {
    #[command(flatten)]
    target: OneStack,

    /// Name of the output
    #[arg(value_name = "OUTPUT NAME")]
    output: Option<String>,

    /// Output format: raw (the value alone) or json (the whole output)
    #[arg(short = 'F', long = "format", value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true)]
    form: OutputFormat,

    /// Show all outputs
    #[arg(short, long)]
    all: bool,

    /// Show all details of the outputs
    #[arg(long)]
    with_detail: bool,
}

impl OutputShow {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        if self.all {
            for output in resolved(client, &self.target.stack).await? {
                self.print(client, &output)?;
            }
            return Ok(());
        }
        let Some(name) = &self.output else {
            return Err(ClientError::new("Output None not found."));
        };
        let output = output_of(client, &self.target.stack, name).await;
        let output = output.or_not_found(|| format!("Output {name} not found."))?;
        self.print(client, &output)
    }

    fn print(&self, client: &mut Client<'_, '_>, output: &Value) -> Result<()> {
        if self.with_detail {
            return print::details(client, output);
        }
        match (error_of(output), self.form) {
            (Some(error), OutputFormat::Raw) => Err(error),
            (_, OutputFormat::Json) => print::value(client, output),
            (None, OutputFormat::Raw) => print::value(client, &output["output_value"]),
        }
    }
}

/// Arguments of `heat resource-list`.
#[derive(Debug, Args)]
pub(crate) struct ResourceList {
    #[command(flatten)]
    target: OneStack,

    /// Include nested stacks down to this depth
    #[arg(short, long, value_name = "DEPTH")]
    nested_depth: Option<String>,

    /// Filter; may be repeated
    #[arg(short, long, value_name = "KEY=VALUE")]
    filter: Vec<String>,

    /// Show more details of each resource
    #[arg(long)]
    with_detail: bool,
}

impl ResourceList {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let depth = depth(self.nested_depth.as_deref())?;
        let stack = client.heat.stack(&self.target.stack).await?;
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
        print::list(client, &columns, &resources, Some("updated_time"))
    }
}

/// A stack and one of its resources.
#[derive(Debug, Args)]
pub(crate) struct OneResource {
    /// Name or id of the stack
    #[arg(value_name = "NAME or ID")]
    stack: String,

    /// Name of the resource
    #[arg(value_name = "RESOURCE")]
    resource: String,
}

impl OneResource {
    pub(super) async fn metadata(self, client: &mut Client<'_, '_>) -> Result<()> {
        let metadata = resource::metadata(client, &self.stack, &self.resource).await;
        let metadata = metadata.or_not_found(|| no_resource(&self.stack, &self.resource))?;
        print::document(client, &metadata)
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

    /// Attribute to show as well; may be repeated
    #[arg(short = 'a', long, value_name = "ATTRIBUTE")]
    with_attr: Vec<String>,
}

impl ResourceShow {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let OneResource { stack, resource } = &self.one;
        let shown = resource::resource(client, stack, resource, &self.with_attr).await?;
        print::details(client, &shown)
    }
}

/// Arguments of `heat resource-signal`.
#[derive(Debug, Args)]
pub(crate) struct ResourceSignal {
    #[command(flatten)]
    one: OneResource,

    /// Signal data, as a JSON object
    #[arg(short = 'D', long, value_name = "DATA")]
    data: Option<String>,

    /// File with the signal data
    #[arg(short = 'f', long, value_name = "FILE")]
    data_file: Option<String>,
}

impl ResourceSignal {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let OneResource { stack, resource } = self.one;
        let words = no_resource(&stack, &resource);
        let signal = resource::ResourceSignal {
            target: resource::ResourceTarget { stack, resource },
            data: self.data,
            data_file: self.data_file,
        };
        signal.run(client).await.or_not_found(|| words)
    }
}
