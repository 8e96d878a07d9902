//! Events of a stack.

use super::super::Client;
use super::super::error::{ClientError, Result};
use super::super::event_stream::EventStream;
use super::super::events::Paths;
use super::super::format::options::{Columns, ListFormat, ShowArgs};
use super::super::format::{Details, Listing};
use super::super::heat::{Query, StackId, link, list, query, stack_name_of, text};
use super::list::{pairs, sort_by};
use super::resource::ResourceTarget;
use super::target::{Page, StackTarget};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;
use std::time::Duration;

/// The default polling interval of `--follow`.
const FOLLOW: Duration = Duration::from_secs(5);

/// `kiln stack event`.
#[derive(Debug, Subcommand)]
pub(crate) enum EventCommand {
    /// List the events of a stack, oldest first
    List(EventList),
    /// Show an event
    Show(EventShow),
}

/// Output formats of event lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum EventFormat {
    /// Log lines
    #[default]
    Log,
    /// A table
    Table,
    /// Comma-separated values
    Csv,
    /// A JSON array of objects
    Json,
    /// A line for each row, with spaces between the values
    Value,
    /// A YAML sequence of mappings
    Yaml,
}

/// Arguments of `kiln stack event list`.
#[derive(Debug, Args)]
pub(crate) struct EventList {
    #[command(flatten)]
    target: StackTarget,

    /// Show only events of this resource
    #[arg(long, value_name = "RESOURCE")]
    resource: Option<String>,

    /// Filter, such as resource_status=FAILED; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    filter: Vec<String>,

    #[command(flatten)]
    page: Page,

    /// Include nested stacks down to this depth
    #[arg(long, value_name = "DEPTH")]
    nested_depth: Option<u32>,

    /// Sort key, such as event_time:desc; may be repeated
    #[arg(long, value_name = "KEY[:DIRECTION]")]
    sort: Vec<String>,

    /// Print events as they happen, until interrupted
    #[arg(long)]
    follow: bool,

    /// Polling interval while following, in seconds
    #[arg(long, value_name = "SECONDS", hide = true)]
    poll: Option<f64>,

    /// Output format: log, table, csv, json, value or yaml
    #[arg(short = 'f', long = "format", value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true, help_heading = "Output options")]
    shape: EventFormat,

    #[command(flatten)]
    columns: Columns,
}

impl EventList {
    async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        if self.resource.is_some() && self.nested_depth.is_some() {
            return Err(ClientError::new("--nested-depth cannot be specified with --resource"));
        }
        if self.follow && self.shape != EventFormat::Log {
            return Err(ClientError::new("--follow can only be specified with --format log"));
        }
        let stack = client.heat.find(&self.target.stack).await?;
        let mut asked = pairs(&self.filter)?;
        // Events with equal keys keep their order, so they are requested in the right order.
        let is_descending = self
            .sort
            .first()
            .is_some_and(|sort| sort.split(',').next().is_some_and(|it| it.ends_with(":desc")));
        asked.extend(query([("sort_dir", if is_descending { "desc" } else { "asc" })]));
        if let Some(depth) = self.nested_depth {
            asked.push(("nested_depth".into(), depth.to_string()));
        }
        if self.follow {
            return self.follow(client, &stack, asked).await;
        }
        if let Some(limit) = self.page.limit {
            asked.push(("limit".into(), limit.to_string()));
        }
        if let Some(marker) = &self.page.marker {
            asked.push(("marker".into(), marker.clone()));
        }
        let mut events = events(client, &stack, self.resource.as_deref(), asked).await?;
        match &*self.sort {
            [] => events.sort_by(|a, b| text(a, "event_time").cmp(text(b, "event_time"))),
            keys => sort_by(&mut events, &keys.join(","))?,
        }
        let form = match self.shape {
            EventFormat::Log => return log(client, &events),
            EventFormat::Table => ListFormat::Table,
            EventFormat::Csv => ListFormat::Csv,
            EventFormat::Json => ListFormat::Json,
            EventFormat::Value => ListFormat::Value,
            EventFormat::Yaml => ListFormat::Yaml,
        };
        let with_stack = self.nested_depth.is_some_and(|depth| depth > 0);
        client.console.list_as(listing(events, with_stack), form, &self.columns)
    }

    async fn follow(
        &self,
        client: &mut Client<'_, '_>,
        stack: &StackId,
        asked: Query,
    ) -> Result<()> {
        let mut paths = Paths::default();
        let mut marker = self.page.marker.clone();
        let mut event_stream =
            if self.poll.is_some() { EventStream::disabled() } else { EventStream::default() };
        let depth = self.nested_depth.unwrap_or(0).to_string();
        let pause = self
            .poll
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .unwrap_or(FOLLOW);
        loop {
            let mut asked = asked.clone();
            asked.extend(marker.iter().map(|marker| ("marker".into(), marker.clone())));
            match events(client, stack, self.resource.as_deref(), asked).await {
                Ok(events) => {
                    for event in &events {
                        client.console.line(&paths.line(event))?;
                        marker = Some(text(event, "id").to_owned());
                    }
                }
                Err(problem) if problem.may_pass() => {}
                Err(problem) => return Err(problem),
            }
            let nested = query([("nested_depth", &*depth)]);
            event_stream.wait(&client.heat, stack, nested, marker.as_deref(), pause).await;
        }
    }
}

/// Prints events as log lines.
pub(crate) fn log(client: &mut Client<'_, '_>, events: &[Value]) -> Result<()> {
    let mut paths = Paths::default();
    let lines: String = events.iter().map(|event| paths.line(event) + "\n").collect();
    client.console.write(&lines)
}

/// Prints events as a list.
fn listing(mut events: Vec<Value>, with_stack: bool) -> Listing {
    let mut names = vec![
        "resource_name",
        "id",
        "resource_status",
        "resource_status_reason",
        "event_time",
        "physical_resource_id",
    ];
    if with_stack {
        names.push("stack_name");
        events.iter_mut().for_each(name_stack);
    }
    names.push("logical_resource_id");
    let columns: Vec<(&str, &str)> = names.iter().map(|name| (*name, *name)).collect();
    Listing::of(&columns, &events)
}

/// Adds the name of its stack to an event.
pub(crate) fn name_stack(event: &mut Value) {
    let name = link(event, "stack").and_then(stack_name_of).map(str::to_owned);
    event["stack_name"] = name.into();
}

/// The events of a stack, or of one of its resources.
pub(crate) async fn events(
    client: &Client<'_, '_>,
    stack: &StackId,
    resource: Option<&str>,
    asked: Query,
) -> Result<Vec<Value>> {
    match resource {
        None => client.heat.events(stack, asked).await,
        Some(name) => {
            let path = stack.path(&["resources", name, "events"]);
            Ok(list(&client.heat.get(&path, asked).await?, "events"))
        }
    }
}

/// Arguments of `kiln stack event show`.
#[derive(Debug, Args)]
pub(crate) struct EventShow {
    #[command(flatten)]
    target: ResourceTarget,

    /// Id of the event
    #[arg(value_name = "EVENT")]
    event: String,

    #[command(flatten)]
    output_format: ShowArgs,
}

/// Reads an event.
pub(crate) async fn event(
    client: &Client<'_, '_>,
    typed: &str,
    resource: &str,
    id: &str,
) -> Result<Value> {
    let stack = client.heat.find(typed).await?;
    let path = stack.path(&["resources", resource, "events", id]);
    Ok(client.heat.get(&path, Query::new()).await?["event"].clone())
}

pub(crate) async fn run(subcommand: EventCommand, client: &mut Client<'_, '_>) -> Result<()> {
    match subcommand {
        EventCommand::List(list) => list.run(client).await,
        EventCommand::Show(EventShow { target, event: id, output_format }) => {
            let event = event(client, &target.stack, &target.resource, &id).await?;
            client.console.show(Details::of(&event), &output_format)
        }
    }
}
