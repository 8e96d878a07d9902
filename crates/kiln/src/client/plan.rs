//! `kiln plan` and `kiln apply`: what would be done, and doing exactly that.

use super::Client;
use super::connection::Connection;
use super::error::{ClientError, Result};
use super::heat::{Query, path, text};
use super::upload::{Upload, UploadArgs};
use clap::{Args, ValueEnum};
use kiln_template::Value as Data;
use reqwest::Method;
use serde_json::{Value, json};

/// How a plan is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// For people
    #[default]
    Text,
    /// As JSON
    Json,
}

/// Arguments of `kiln plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Name or id of the stack, or the name of a new one
    #[arg(value_name = "STACK")]
    stack: String,

    /// Path or URL of the template
    #[arg(short, long, value_name = "TEMPLATE", conflicts_with = "delete")]
    template: Option<String>,

    #[command(flatten)]
    args: UploadArgs,

    /// Keep the current template, environment and parameters except for those that are given
    #[arg(long, conflicts_with = "delete")]
    existing: bool,

    /// Plan to delete the stack
    #[arg(long)]
    delete: bool,

    /// Compare with the actual state of the resources
    #[arg(long, conflicts_with = "delete")]
    converge: bool,

    /// Output format: text or json
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    format: PlanFormat,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

impl PlanArgs {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let body = if self.delete {
            json!({"action": "delete"}).to_string()
        } else {
            super::stack::change::need_template(self.template.is_some(), self.existing)?;
            let upload =
                Upload::gather(&client.heat.session, self.template.as_deref(), &self.args).await?;
            let mut after: Vec<(&'static str, Data)> = Vec::new();
            if self.existing {
                after.push(("existing", true.into()));
            }
            if self.converge {
                after.push(("converge", true.into()));
            }
            upload.body(Vec::new(), after)
        };
        let path = path(&["stacks", &self.stack, "plans"]);
        let answer = client.heat.call(Method::POST, &path, Query::new(), Some(body)).await?;
        let plan = &answer["plan"];
        match self.format {
            PlanFormat::Json => {
                let text = serde_json::to_string_pretty(plan).unwrap_or_default();
                client.console.line(&text)
            }
            PlanFormat::Text => print(client, plan),
        }
    }
}

/// Arguments of `kiln apply`.
#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// Id of the plan
    #[arg(value_name = "PLAN")]
    plan: String,

    /// Digest of the plan that was reviewed; another plan is refused
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,

    /// Go on where a value that was not known makes the replacement of a resource necessary
    #[arg(long)]
    allow_replace: bool,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

impl ApplyArgs {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let mut body = json!({"allow_replace": self.allow_replace});
        if let Some(digest) = &self.digest {
            body["digest"] = json!(digest);
        }
        let answer = client.heat.post(&path(&["plans", &self.plan, "apply"]), &body).await?;
        let stack = &answer["stack"];
        let name = text(stack, "stack_name");
        if name.is_empty() {
            return Err(ClientError::new("The response does not name the stack."));
        }
        client.console.line(&format!("The plan is being applied to the stack {name}."))?;
        client.console.line(&format!("Follow it with: kiln stack event list --follow {name}"))
    }
}

/// The symbol of an action, and its colour.
fn symbol(action: &str) -> (&'static str, &'static str) {
    match action {
        "create" => ("+", "\x1b[32m"),
        "update" => ("~", "\x1b[33m"),
        "replace" => ("±", "\x1b[35m"),
        "delete" => ("-", "\x1b[31m"),
        _ => ("!", "\x1b[31m"),
    }
}

/// Prints a plan for people: what stays as it is is counted only.
fn print(client: &mut Client<'_, '_>, plan: &Value) -> Result<()> {
    let is_styled = client.console.is_styled();
    let steps = plan["resources"].as_array().cloned().unwrap_or_default();
    for step in steps.iter().filter(|step| step["action"] != "no-op") {
        let action = text(step, "action");
        let (symbol, colour) = symbol(action);
        let line = format!("{symbol} {} ({})", text(step, "path"), text(step, "resource_type"));
        let line = match is_styled {
            true => format!("{colour}{line}\x1b[0m"),
            false => line,
        };
        client.console.line(&line)?;
        for line in details(action, step) {
            client.console.line(&format!("    {line}"))?;
        }
    }
    let summary = &plan["summary"];
    client.console.line(&format!("{} ({} unchanged)", text(summary, "text"), summary["no_op"]))?;
    let id = text(plan, "id");
    client.console.line(&format!("Apply it with: kiln apply {id}"))
}

fn details(action: &str, step: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let labels = [
        ("because", "because "),
        ("refusal", "refused: "),
        ("inside_unknown", "not known inside: "),
    ];
    for (name, label) in labels {
        if let Some(why) = step[name].as_str() {
            lines.push(format!("{label}{why}"));
        }
    }
    if step["keeps_object"] == true {
        lines.push("its object is kept".to_owned());
    }
    for change in step["changes"].as_array().into_iter().flatten() {
        let (name, after) = (text(change, "path"), value(&change["after"]));
        let name = name.strip_prefix("properties.").unwrap_or(name);
        let mut line = match action {
            "create" => format!("{name}: {after}"),
            _ => format!("{name}: {} -> {after}", value(&change["before"])),
        };
        if change["forces_replacement"] == true {
            line.push_str(" (forces the replacement)");
        }
        let causes = change["causes"].as_array().into_iter().flatten();
        let causes: Vec<String> = causes.map(|cause| cause_of(cause, change)).collect();
        if !causes.is_empty() {
            line.push_str(&format!(" # {}", causes.join(", ")));
        }
        lines.push(line);
    }
    lines
}

fn cause_of(cause: &Value, change: &Value) -> String {
    let (name, attribute) = (text(cause, "name"), text(cause, "attribute"));
    match text(cause, "kind") {
        "parameter" => format!("parameter {name}"),
        "resource" if attribute.is_empty() => format!("resource {name}"),
        "resource" => format!("attribute {attribute} of {name}"),
        "file" => format!("file {name}"),
        "template" => match change["location"]["line"].as_u64() {
            Some(line) => format!("line {line} of {}", text(&change["location"], "file")),
            None => "the template".to_owned(),
        },
        "object" => "changed outside of the stack".to_owned(),
        _ => "its parent".to_owned(),
    }
}

/// A value in one line; what is not known says why.
fn value(value: &Value) -> String {
    match value.as_object().filter(|members| members.len() == 1).and_then(|it| it.get("unknown")) {
        Some(Value::String(why)) => format!("({why})"),
        _ => value.to_string(),
    }
}
