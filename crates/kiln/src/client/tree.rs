//! A live tree of resources on the terminal.

use super::console::Console;
use super::error::Result;
use super::events::Paths;
use super::format::wrap::width;
use super::heat::text;
use crate::render::{BOLD, FAINT, GREEN, RED, YELLOW, printable, styled};
use serde_json::Value;
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthChar;

/// The states of the resources of a stack, and the size of the last drawing.
pub(crate) struct ProgressTree {
    paths: Paths,
    /// States by path; the paths of children begin with their parent's.
    nodes: BTreeMap<Vec<String>, NodeState>,
    /// The number of lines that were drawn last.
    drawn: usize,
}

#[derive(Clone, Debug, Default)]
struct NodeState {
    status: String,
    reason: String,
}

impl ProgressTree {
    /// A tree with this root; the resources reveal the paths of nested stacks.
    pub(crate) fn new(name: &str, resources: &[Value]) -> ProgressTree {
        let nodes = BTreeMap::from([(vec![name.to_owned()], NodeState::default())]);
        let mut paths = Paths::default();
        paths.learn(resources);
        ProgressTree { paths, nodes, drawn: 0 }
    }

    /// Marks everything as done, also resources without events.
    pub(crate) fn complete(&mut self, action: &str) {
        for (path, state) in &mut self.nodes {
            if path.len() == 1 || action == "DELETE" {
                state.status = format!("{action}_COMPLETE");
            }
        }
    }

    /// Records an event.
    pub(crate) fn add(&mut self, event: &Value) {
        let path = self.paths.of(event).split('.').map(str::to_owned).collect();
        let node = self.nodes.entry(path).or_default();
        node.status = text(event, "resource_status").to_owned();
        node.reason = text(event, "resource_status_reason").to_owned();
    }

    /// Draws the tree over the previous drawing.
    pub(crate) fn draw(&mut self, console: &mut Console<'_, '_>) -> Result<()> {
        let (columns, lines) = console.size();
        let shown = self.lines(columns, lines.saturating_sub(1).max(2), console.is_styled());
        let mut out = String::new();
        if self.drawn > 0 {
            // Moves to the first line of the previous drawing and clears everything below.
            out.push_str(&format!("\x1b[{}A\x1b[J", self.drawn));
        }
        for line in &shown {
            out.push_str(line);
            out.push('\n');
        }
        self.drawn = shown.len();
        console.write(&out)?;
        console.flush()
    }

    /// The lines of the tree; if there are too many, finished resources are only counted.
    fn lines(&self, columns: usize, room: usize, is_styled: bool) -> Vec<String> {
        let line =
            |(path, state): (&Vec<String>, &NodeState)| drawn(path, state, columns, is_styled);
        if self.nodes.len() <= room {
            return self.nodes.iter().map(line).collect();
        }
        let is_root = |path: &Vec<String>| path.len() == 1;
        let busy = self.nodes.iter().filter(|(path, state)| is_root(path) || !is_done(state));
        let mut lines: Vec<String> = busy.take(room.saturating_sub(1)).map(line).collect();
        let rest = format!("  … and {} more", self.nodes.len() - lines.len());
        lines.push(styled(is_styled, FAINT, &rest).into_owned());
        lines
    }
}

fn is_done(state: &NodeState) -> bool {
    state.status.ends_with("_COMPLETE")
}

fn drawn(path: &[String], state: &NodeState, columns: usize, is_styled: bool) -> String {
    let (mark, style) = match &*state.status {
        status if status.ends_with("_COMPLETE") => ("✓", GREEN),
        status if status.ends_with("_FAILED") => ("✗", RED),
        "" => ("·", FAINT),
        _ => ("…", YELLOW),
    };
    let name = path.last().map_or("", String::as_str);
    let reason = if mark == "✗" { format!(": {}", state.reason) } else { String::new() };
    let indent = "  ".repeat(path.len().saturating_sub(1));
    let text = printable(&format!("{name} {}{reason}", state.status)).into_owned();
    let text = fitted(&text, columns.saturating_sub(indent.len() + 3));
    let (name, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
    let name =
        if path.len() == 1 { styled(is_styled, BOLD, name).into_owned() } else { name.to_owned() };
    format!("{indent}{} {name}{}", styled(is_styled, style, mark), styled(is_styled, FAINT, rest))
}

/// Cuts text to a number of columns: a wrapped line would break the drawing.
fn fitted(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used < columns
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(resource: &str, status: &str) -> Value {
        json!({
            "id": "1", "resource_name": resource, "resource_status": status,
            "physical_resource_id": if resource == "web" { "i" } else { "" },
            "resource_status_reason": "because",
            "links": [{"rel": "stack", "href": "http://h/v1/p/stacks/web/i"}],
        })
    }

    #[test]
    fn resources_are_shown_below_their_stack() {
        let mut tree = ProgressTree::new("web", &[]);
        assert_eq!(tree.lines(40, 10, false), ["· web "]);
        for (name, status) in [
            ("web", "CREATE_IN_PROGRESS"),
            ("net", "CREATE_IN_PROGRESS"),
            ("net", "CREATE_COMPLETE"),
            ("vm", "CREATE_FAILED"),
        ] {
            tree.add(&event(name, status));
        }
        assert_eq!(
            tree.lines(40, 10, false),
            [
                "… web CREATE_IN_PROGRESS",
                "  ✓ net CREATE_COMPLETE",
                "  ✗ vm CREATE_FAILED: because"
            ]
        );
        assert_eq!(tree.lines(12, 2, false), ["… web CREA…", "  … and 2 more"]);
        tree.complete("DELETE");
        assert_eq!(tree.lines(40, 10, false)[2], "  ✓ vm DELETE_COMPLETE");
    }
}
