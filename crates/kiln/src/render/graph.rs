//! Graphs of resources: as a tree, for Graphviz, and as JSON.
//!
//! All formats take linear time in resources plus edges.

use super::{FAINT, printable, styled};
use kiln_template::{Definition, Edge};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io;

/// Deeper subtrees are printed as separate trees, so that indents stay short.
const MAX_DEPTH: usize = 24;

/// An acyclic graph to draw.
pub(crate) struct GraphDrawing<'a> {
    /// The resources and their graph.
    pub(crate) definition: &'a Definition,
    /// The resources in topological order.
    pub(crate) order: Vec<usize>,
}

impl GraphDrawing<'_> {
    /// Writes a tree from roots, which no resource needs, to leaves; each resource is expanded once.
    pub(crate) fn tree(&self, out: &mut dyn io::Write, is_styled: bool) -> io::Result<()> {
        let all = self.definition.graph().len();
        let mut is_needed = vec![false; all];
        for at in 0..all {
            self.needs(at).iter().for_each(|edge| is_needed[edge.to] = true);
        }
        let mut drawn = vec![false; all];
        for top in self.places().filter(|at| !is_needed[*at]) {
            // A subtree that is too deep becomes a root itself, right after its root.
            let mut roots = vec![top];
            while let Some(root) = roots.pop() {
                if !std::mem::replace(&mut drawn[root], true) {
                    self.line(out, is_styled, "", root, "")?;
                    self.branches(out, is_styled, root, &mut drawn, &mut roots)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the graph for Graphviz: edges go from a resource to its dependencies.
    pub(crate) fn dot(&self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "digraph stack {{\n  rankdir=LR;\n  node [shape=box];")?;
        for at in self.places() {
            let name = quoted(self.name(at));
            let label = quoted(&format!("{}\n{}", self.name(at), self.kind(at)));
            writeln!(out, "  {name} [label={label}];")?;
        }
        for at in self.places() {
            let name = quoted(self.name(at));
            for edge in self.needs(at) {
                writeln!(out, "  {name} -> {};", quoted(self.name(edge.to)))?;
            }
        }
        writeln!(out, "}}")
    }

    /// The graph as JSON, with an order in which resources can be created.
    pub(crate) fn json(&self) -> Value {
        let name = |at: usize| self.name(at);
        let resource = |at: usize| {
            let needs: Vec<&str> = self.needs(at).iter().map(|edge| name(edge.to)).collect();
            json!({ "name": name(at), "type": self.kind(at), "needs": needs })
        };
        json!({
            "resources": self.places().map(resource).collect::<Vec<Value>>(),
            "order": self.order.iter().map(|at| name(*at)).collect::<Vec<&str>>(),
        })
    }

    /// Writes the dependencies of a root below it.
    fn branches(
        &self,
        out: &mut dyn io::Write,
        is_styled: bool,
        root: usize,
        drawn: &mut [bool],
        roots: &mut Vec<usize>,
    ) -> io::Result<()> {
        // The path from the root: resources, and the index of the next dependency of each.
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        let mut lines = String::new();
        while let Some((at, next)) = path.last_mut() {
            let needs = self.needs(*at);
            let Some(edge) = needs.get(*next) else {
                path.pop();
                outdent(&mut lines);
                continue;
            };
            *next += 1;
            let (to, is_last) = (edge.to, *next == needs.len());
            let is_deep = path.len() >= MAX_DEPTH && !self.needs(to).is_empty();
            let note = match (drawn[to], is_deep) {
                (true, _) => " (above)",
                (false, true) => " (below)",
                (false, false) => "",
            };
            let branch = [&*lines, if is_last { "└── " } else { "├── " }].concat();
            self.line(out, is_styled, &branch, to, note)?;
            if note.is_empty() {
                drawn[to] = true;
                lines.push_str(if is_last { "    " } else { "│   " });
                path.push((to, 0));
            } else if !drawn[to] {
                roots.push(to);
            }
        }
        Ok(())
    }

    fn line(
        &self,
        out: &mut dyn io::Write,
        is_styled: bool,
        branch: &str,
        at: usize,
        note: &str,
    ) -> io::Result<()> {
        let note = match note {
            "" => format!(" ({})", printable(self.kind(at))),
            note => note.to_owned(),
        };
        let branch = styled(is_styled && !branch.is_empty(), FAINT, branch);
        let name = printable(self.name(at));
        writeln!(out, "{branch}{name}{}", styled(is_styled, FAINT, &note))
    }

    /// The indices of the resources in the order of the template.
    fn places(&self) -> impl Iterator<Item = usize> {
        self.definition.resources().map(|(at, _)| at)
    }

    fn needs(&self, at: usize) -> &[Edge] {
        self.definition.graph().dependencies(at)
    }

    fn name(&self, at: usize) -> &str {
        self.definition.resource_at(at).map_or("", |resource| &resource.name)
    }

    fn kind(&self, at: usize) -> &str {
        self.definition.resource_at(at).map_or("", |resource| &resource.type_name.value)
    }
}

/// Removes one indent of four characters.
fn outdent(lines: &mut String) {
    let at = lines.char_indices().rev().nth(3).map_or(0, |(at, _)| at);
    lines.truncate(at);
}

/// Text quoted for Graphviz.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => _ = write!(out, "&#{};", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
