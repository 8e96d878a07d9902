//! The dependency graph of resources for Graphviz.

use super::super::heat::{link, text};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The graph: a node for each resource, a box for each nested stack, an arrow to each dependent.
pub(super) fn graph(resources: &[Value]) -> String {
    // Resources by the URLs of their stacks.
    let mut inside: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for resource in resources {
        inside.entry(link(resource, "stack").unwrap_or_default()).or_default().push(resource);
    }
    // The root stack, then nested stacks in the order of their parent resources.
    let root = resources.first().and_then(|first| link(first, "stack")).unwrap_or_default();
    let owned = resources.iter().filter_map(|it| Some((link(it, "nested")?, Some(it))));
    let stacks: Vec<(&str, Option<&Value>)> = std::iter::once((root, None)).chain(owned).collect();
    let of = |stack: &str| inside.get(stack).map(Vec::as_slice).unwrap_or_default();
    let mut out = String::from(
        "digraph G {\n  graph [\n    fontsize=10 fontname=\"Verdana\" compound=true rankdir=LR\n  ]\n",
    );
    for (stack, owner) in &stacks {
        nodes(&mut out, stack, of(stack), *owner);
    }
    out.push('\n');
    for resource in resources {
        let nested = link(resource, "nested").unwrap_or_default();
        if let Some(first) = of(nested).first() {
            let (from, to, cluster) = (name(resource), name(first), cluster(nested));
            _ = write!(
                out,
                "  {from} -> {to} [\n    color=dimgray lhead={cluster} arrowhead=none\n  ];\n"
            );
        }
    }
    out.push('\n');
    for (stack, _) in &stacks {
        arrows(&mut out, of(stack));
    }
    out.push_str("\n}\n");
    out
}

/// Writes the resources of a stack; those of a nested stack in a box.
fn nodes(out: &mut String, stack: &str, resources: &[&Value], owner: Option<&Value>) {
    if resources.is_empty() {
        return;
    }
    let Some(owner) = owner else {
        resources.iter().for_each(|resource| node(out, resource, "  "));
        return;
    };
    let label = escaped(text(owner, "resource_name"));
    _ = write!(out, "\n  subgraph {} {{\n    label=\"{label}\";\n", cluster(stack));
    resources.iter().for_each(|resource| node(out, resource, "    "));
    out.push_str("\n  }\n");
}

fn node(out: &mut String, resource: &Value, indent: &str) {
    let [label, kind] = ["resource_name", "resource_type"].map(|key| escaped(text(resource, key)));
    let failed = text(resource, "resource_status").ends_with("FAILED");
    let style = if failed { "style=filled color=red" } else { "" };
    _ = writeln!(out, "{indent}{} [label=\"{label}\n{kind}\" {style}];", name(resource));
}

/// Writes arrows from the resources of a stack to their dependents.
fn arrows(out: &mut String, resources: &[&Value]) {
    let by_name: BTreeMap<&str, &Value> =
        resources.iter().map(|resource| (text(resource, "resource_name"), *resource)).collect();
    for resource in resources {
        let needing = resource["required_by"].as_array().into_iter().flatten();
        for other in needing.filter_map(Value::as_str).filter_map(|name| by_name.get(name)) {
            _ = writeln!(out, "  {} -> {};", name(resource), name(other));
        }
    }
}

/// The node name of a resource.
fn name(resource: &Value) -> String {
    format!("r_{}", digest(link(resource, "self").unwrap_or_default()))
}

/// The name of the box of a nested stack.
fn cluster(stack: &str) -> String {
    format!("cluster_stack_{}", digest(stack))
}

fn digest(text: &str) -> String {
    hex::encode(&Sha256::digest(text.as_bytes())[..10])
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
