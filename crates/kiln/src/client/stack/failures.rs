//! The failed resources of a stack and its nested stacks.

use super::super::Client;
use super::super::error::Result;
use super::super::heat::{Query, StackId, link, path, stack_of, text};
use super::target::StackTarget;
use crate::render::printable;
use clap::{Args, Subcommand};
use serde_json::Value;

/// The number of lines of a long text that are shown: the last ones.
const LINES: usize = 10;
/// The maximum nesting depth.
const DEPTH: usize = 20;

/// `kiln stack failures`.
#[derive(Debug, Subcommand)]
pub(crate) enum FailuresCommand {
    /// List the failed resources with their reasons
    List(FailuresList),
}

/// Arguments of `kiln stack failures list`.
#[derive(Debug, Args)]
pub(crate) struct FailuresList {
    #[command(flatten)]
    target: StackTarget,

    /// Show long values in full
    #[arg(long)]
    long: bool,
}

/// A failed resource and its path.
struct FailedResource {
    path: Vec<String>,
    resource: Value,
}

pub(crate) async fn run(
    FailuresCommand::List(list): FailuresCommand,
    client: &mut Client<'_, '_>,
) -> Result<()> {
    let stack = client.heat.show(&list.target.stack, false).await?;
    if !text(&stack, "stack_status").ends_with("FAILED") {
        return Ok(());
    }
    let name = text(&stack, "stack_name");
    let root = StackId::new(name, text(&stack, "id"));
    let mut failed = Vec::new();
    walk(client, root, vec![name.to_owned()], &mut failed).await?;
    for FailedResource { path, resource } in failed {
        let outputs = deployment_outputs(client, &resource).await;
        let text = told(&path.join("."), &resource, outputs.as_ref(), list.long);
        client.console.write(&text)?;
    }
    Ok(())
}

/// Collects the failed resources of a stack; a failed nested stack is replaced by its own failures.
async fn walk(
    client: &Client<'_, '_>,
    stack: StackId,
    path: Vec<String>,
    failed: &mut Vec<FailedResource>,
) -> Result<()> {
    if path.len() > DEPTH {
        return Ok(());
    }
    for resource in client.heat.resources(&stack, Query::new()).await? {
        if !text(&resource, "resource_status").ends_with("FAILED") {
            continue;
        }
        let mut path = path.clone();
        path.push(text(&resource, "resource_name").to_owned());
        let before = failed.len();
        if let Some(nested) = link(&resource, "nested").and_then(stack_of) {
            match Box::pin(walk(client, nested, path.clone(), failed)).await {
                // The nested stack may have been deleted meanwhile.
                Err(problem) if problem.is_not_found() => {}
                other => other?,
            }
        }
        if failed.len() == before {
            failed.push(FailedResource { path, resource });
        }
    }
    Ok(())
}

/// The outputs of a deployment, if the resource is one.
async fn deployment_outputs(client: &Client<'_, '_>, resource: &Value) -> Option<Value> {
    let kind = text(resource, "resource_type");
    if !["OS::Heat::SoftwareDeployment", "OS::Heat::StructuredDeployment"].contains(&kind) {
        return None;
    }
    let id = text(resource, "physical_resource_id");
    let answer = client.heat.get(&path(&["software_deployments", id]), Query::new()).await.ok()?;
    Some(answer["software_deployment"]["output_values"].clone())
}

/// The report on a failed resource.
fn told(path: &str, resource: &Value, outputs: Option<&Value>, long: bool) -> String {
    let line = |name: &str, key: &str| format!("  {name}: {}\n", printable(text(resource, key)));
    let mut out = format!("{}:\n", printable(path));
    out += &line("resource_type", "resource_type");
    out += &line("physical_resource_id", "physical_resource_id");
    out += &line("status", "resource_status");
    out += &block("status_reason", text(resource, "resource_status_reason"), long);
    for name in ["deploy_stdout", "deploy_stderr"] {
        if let Some(text) = outputs.and_then(|outputs| outputs[name].as_str()) {
            out += &block(name, text, long);
        }
    }
    out
}

/// A text of several lines, cut to the last ones unless `--long` is set.
pub(crate) fn block(name: &str, text: &str, long: bool) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let hidden = if long { 0 } else { lines.len().saturating_sub(LINES) };
    let mut out = format!("  {name}: |\n");
    if hidden > 0 {
        out += "    ...\n";
    }
    for line in &lines[hidden..] {
        out += &format!("    {}\n", printable(line));
    }
    if hidden > 0 {
        out += "    (truncated, view all with --long)\n";
    }
    out
}
