//! What stopped a stack: the resources that failed, wherever they are nested.

use super::super::Client;
use super::super::heat::{Query, StackId, link, path, stack_of, text};
use super::super::problem::Result;
use crate::render::printable;
use clap::{Args, Subcommand};
use serde_json::Value;

/// So many lines of a long text are shown, the last ones.
const LINES: usize = 10;
/// Stacks inside each other beyond this are not looked into.
const DEPTH: usize = 20;

/// `kiln stack failures`.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the resources that failed, with the reasons
    List(List),
}

/// Arguments of `kiln stack failures list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// The stack, by name or id
    #[arg(value_name = "STACK")]
    stack: String,

    /// Show long texts in full
    #[arg(long)]
    long: bool,
}

/// A resource that failed, and the way to it.
struct Failed {
    path: Vec<String>,
    resource: Value,
}

pub(crate) async fn run(Verb::List(list): Verb, client: &mut Client<'_, '_>) -> Result<()> {
    let stack = client.heat.show(&list.stack, false).await?;
    if !text(&stack, "stack_status").ends_with("FAILED") {
        return Ok(());
    }
    let name = text(&stack, "stack_name");
    let root = StackId::new(name, text(&stack, "id"));
    let mut failed = Vec::new();
    walk(client, root, vec![name.to_owned()], &mut failed).await?;
    for Failed { path, resource } in failed {
        let outputs = deployment_outputs(client, &resource).await;
        let text = told(&path.join("."), &resource, outputs.as_ref(), list.long);
        client.console.write(&text)?;
    }
    Ok(())
}

/// Gathers what failed in a stack: in a nested stack, if there it is known better.
async fn walk(
    client: &Client<'_, '_>,
    stack: StackId,
    path: Vec<String>,
    failed: &mut Vec<Failed>,
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
                // The nested stack may be gone by now.
                Err(problem) if problem.is_not_found() => {}
                other => other?,
            }
        }
        if failed.len() == before {
            failed.push(Failed { path, resource });
        }
    }
    Ok(())
}

/// What a deployment put out, if the resource is one.
async fn deployment_outputs(client: &Client<'_, '_>, resource: &Value) -> Option<Value> {
    let kind = text(resource, "resource_type");
    if !["OS::Heat::SoftwareDeployment", "OS::Heat::StructuredDeployment"].contains(&kind) {
        return None;
    }
    let id = text(resource, "physical_resource_id");
    let answer = client.heat.get(&path(&["software_deployments", id]), Query::new()).await.ok()?;
    Some(answer["software_deployment"]["output_values"].clone())
}

/// What is told of a resource that failed.
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

/// A text of several lines, cut to the last ones unless all are wanted.
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
