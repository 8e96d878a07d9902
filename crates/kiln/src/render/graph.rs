//! Graphs of resources: as a tree, for Graphviz, and for programs.
//!
//! All of them are linear in resources plus edges.

use super::{FAINT, printable, styled};
use kiln_template::definition::Definition;
use kiln_template::graph::Edge;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io;

/// Deeper trees are taken up again at the left, so that indents stay short.
const MAX_DEPTH: usize = 24;

/// A graph without rings, to be drawn.
pub(crate) struct Drawing<'a> {
    /// The resources and their graph.
    pub(crate) definition: &'a Definition,
    /// The resources, each after what it needs.
    pub(crate) order: Vec<usize>,
}

impl Drawing<'_> {
    /// Writes a tree from what nothing needs to what needs nothing; each resource in full once.
    pub(crate) fn tree(&self, out: &mut dyn io::Write, is_styled: bool) -> io::Result<()> {
        let all = self.definition.graph().len();
        let mut is_needed = vec![false; all];
        for at in 0..all {
            self.needs(at).iter().for_each(|edge| is_needed[edge.to] = true);
        }
        let mut drawn = vec![false; all];
        for top in self.places().filter(|at| !is_needed[*at]) {
            // What lies too deep below one root is a root itself, right after it.
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

    /// Writes the graph for Graphviz: edges go from a resource to what it needs.
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

    /// The graph for programs, with an order in which resources can be made.
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

    /// Writes what a root needs below it.
    fn branches(
        &self,
        out: &mut dyn io::Write,
        is_styled: bool,
        root: usize,
        drawn: &mut [bool],
        roots: &mut Vec<usize>,
    ) -> io::Result<()> {
        // From the root to where we are: a resource, and which of its needs is next.
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

    /// The places of the resources in the order of the template.
    fn places(&self) -> impl Iterator<Item = usize> {
        self.definition.resources().map(|(at, _)| at)
    }

    fn needs(&self, at: usize) -> &[Edge] {
        self.definition.graph().needs(at)
    }

    fn name(&self, at: usize) -> &str {
        self.definition.resource_at(at).map_or("", |resource| &resource.name)
    }

    fn kind(&self, at: usize) -> &str {
        self.definition.resource_at(at).map_or("", |resource| &resource.type_name.value)
    }
}

/// Takes one indent, which is four characters, away.
fn outdent(lines: &mut String) {
    let at = lines.char_indices().rev().nth(3).map_or(0, |(at, _)| at);
    lines.truncate(at);
}

/// Text as Graphviz takes it.
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
