//! The dependency graph: who must be there before whom, and why.
//!
//! Building, ordering and finding rings are linear in resources plus edges.

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use indexmap::IndexSet;
use std::fmt::Write;
use std::sync::Arc;

/// One reason why a resource needs another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The resource that is needed.
    pub to: usize,
    /// Where the template says so; nothing for what a type adds by itself.
    pub span: Option<Span>,
}

/// Resources and what each of them needs, in the order of the template.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    names: IndexSet<Arc<str>>,
    needs: Vec<Vec<Edge>>,
}

/// Resources that need each other in a ring; the last needs the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The resources of the ring, each with the place that makes it need the next.
    pub steps: Vec<(Arc<str>, Option<Span>)>,
}

impl Graph {
    /// A graph of these resources without edges.
    pub fn new(names: impl IntoIterator<Item = Arc<str>>) -> Graph {
        let names: IndexSet<Arc<str>> = names.into_iter().collect();
        let needs = vec![Vec::new(); names.len()];
        Graph { names, needs }
    }

    /// The number of resources.
    pub fn len(&self) -> usize {
        self.needs.len()
    }

    /// Whether there are no resources.
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// The place of a name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.get_index_of(name)
    }

    /// The name at a place.
    pub fn name(&self, at: usize) -> &Arc<str> {
        &self.names[at]
    }

    /// What a resource needs, every one once, in the order found.
    pub fn needs(&self, at: usize) -> &[Edge] {
        &self.needs[at]
    }

    /// Sets what a resource needs; repetitions are dropped.
    pub fn set_needs(&mut self, at: usize, edges: impl IntoIterator<Item = Edge>) {
        let mut edges: Vec<Edge> = edges.into_iter().collect();
        if edges.len() > 1 {
            let mut seen = std::collections::BTreeSet::new();
            edges.retain(|edge| seen.insert(edge.to));
        }
        self.needs[at] = edges;
    }

    /// For every resource, who needs it.
    pub fn needed_by(&self) -> Vec<Vec<usize>> {
        let mut users = vec![Vec::new(); self.len()];
        for (from, edges) in self.needs.iter().enumerate() {
            for edge in edges {
                users[edge.to].push(from);
            }
        }
        users
    }

    /// Every resource after what it needs, or the rings that make this impossible.
    pub fn order(&self) -> Result<Vec<usize>, Vec<Cycle>> {
        let users = Users::of(self);
        let mut missing: Vec<usize> = self.needs.iter().map(Vec::len).collect();
        let mut order: Vec<usize> = (0..self.len()).filter(|at| missing[*at] == 0).collect();
        let mut next = 0;
        while let Some(&done) = order.get(next) {
            next += 1;
            for &user in users.get(done) {
                missing[user] -= 1;
                if missing[user] == 0 {
                    order.push(user);
                }
            }
        }
        if order.len() == self.len() { Ok(order) } else { Err(self.cycles(&missing)) }
    }

    /// Rings among the resources that could not be ordered: every resource in at most one of them.
    fn cycles(&self, missing: &[usize]) -> Vec<Cycle> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            OnPath,
            Done,
        }
        let mut marks: Vec<Mark> =
            missing.iter().map(|n| if *n == 0 { Mark::Done } else { Mark::New }).collect();
        let mut cycles = Vec::new();
        for start in 0..self.len() {
            if marks[start] != Mark::New {
                continue;
            }
            // Depth first, with the path and the next edge of each of its members held here.
            let mut path: Vec<(usize, usize)> = vec![(start, 0)];
            marks[start] = Mark::OnPath;
            while let Some((at, edge)) = path.last_mut() {
                let Some(next) = self.needs[*at].get(*edge) else {
                    marks[*at] = Mark::Done;
                    path.pop();
                    continue;
                };
                *edge += 1;
                match marks[next.to] {
                    Mark::Done => {}
                    Mark::New => {
                        marks[next.to] = Mark::OnPath;
                        path.push((next.to, 0));
                    }
                    Mark::OnPath => {
                        let first = path.iter().position(|(on, _)| *on == next.to).unwrap_or(0);
                        cycles.push(self.ring(&path[first..]));
                        for (on, _) in path.drain(..) {
                            marks[on] = Mark::Done;
                        }
                    }
                }
            }
        }
        cycles
    }

    fn ring(&self, path: &[(usize, usize)]) -> Cycle {
        let step = |(at, edge): &(usize, usize)| {
            let taken = edge.checked_sub(1).and_then(|edge| self.needs[*at].get(edge));
            (self.names[*at].clone(), taken.and_then(|edge| edge.span))
        };
        Cycle { steps: path.iter().map(step).collect() }
    }
}

/// Who needs each resource, in one piece of memory.
struct Users {
    starts: Vec<usize>,
    users: Vec<usize>,
}

impl Users {
    fn of(graph: &Graph) -> Users {
        let mut starts = vec![0; graph.len() + 1];
        for edge in graph.needs.iter().flatten() {
            starts[edge.to + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut users = vec![0; starts[graph.len()]];
        for (from, edges) in graph.needs.iter().enumerate() {
            for edge in edges {
                users[next[edge.to]] = from;
                next[edge.to] += 1;
            }
        }
        Users { starts, users }
    }

    fn get(&self, at: usize) -> &[usize] {
        &self.users[self.starts[at]..self.starts[at + 1]]
    }
}

impl Cycle {
    /// The refusal, with every edge and its place.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut members = String::new();
        let mut labels = Vec::new();
        for (at, (name, span)) in self.steps.iter().enumerate() {
            let (next, _) = &self.steps[(at + 1) % self.steps.len()];
            let comma = if at == 0 { "" } else { ", " };
            _ = write!(members, "{comma}Resource \"{name}\": {{Resource \"{next}\"}}");
            if let Some(span) = span {
                labels.push((*span, format!("`{name}` needs `{next}`")));
            }
        }
        let message = format!("Circular Dependency Found: {{{members}}}");
        let mut diagnostic = Diagnostic::error(&codes::CYCLE, message);
        for (span, text) in labels {
            diagnostic = diagnostic.label(span, text);
        }
        diagnostic.help("take one of these references or depends_on entries away")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &[&str])]) -> Graph {
        let mut graph = Graph::new(edges.iter().map(|(name, _)| Arc::from(*name)));
        for (at, (_, needs)) in edges.iter().enumerate() {
            let needs: Vec<Edge> = needs
                .iter()
                .map(|need| Edge { to: graph.position(need).unwrap(), span: None })
                .collect();
            graph.set_needs(at, needs);
        }
        graph
    }

    fn rings(graph: &Graph) -> Vec<Vec<String>> {
        let cycles = graph.order().unwrap_err();
        let names = |cycle: &Cycle| cycle.steps.iter().map(|(name, _)| name.to_string()).collect();
        cycles.iter().map(names).collect()
    }

    #[test]
    fn what_is_needed_comes_first_and_ties_keep_their_order() {
        let graph = graph(&[("a", &["c"]), ("b", &[]), ("c", &["b"]), ("d", &[])]);
        let order: Vec<_> =
            graph.order().unwrap().into_iter().map(|at| &**graph.name(at)).collect();
        assert_eq!(order, ["b", "d", "c", "a"]);
    }

    #[test]
    fn every_ring_is_told_once_and_alone() {
        let graph = graph(&[
            ("outside", &["a"]),
            ("a", &["x", "b"]),
            ("b", &["c"]),
            ("c", &["a"]),
            ("x", &[]),
            ("self", &["self"]),
        ]);
        assert_eq!(rings(&graph), [vec!["a", "b", "c"], vec!["self"]]);
    }

    #[test]
    fn a_long_ring_does_not_exhaust_the_stack() {
        let mut graph = Graph::new((0..200_000).map(|n| n.to_string().into()));
        for at in 0..graph.len() {
            let to = (at + 1) % graph.len();
            graph.set_needs(at, [Edge { to, span: None }]);
        }
        assert_eq!(graph.order().unwrap_err()[0].steps.len(), 200_000);
    }
}
