//! The dependency graph: who must be there before whom, and why.
//!
//! Building, ordering and finding rings are linear in resources plus edges.

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::collections::BTreeSet;
use std::fmt::Write;

/// One reason why a resource needs another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The resource that is needed.
    pub to: usize,
    /// Where the template says so; nothing for what a type adds by itself.
    pub span: Option<Span>,
}

/// What each resource needs; resources go by their places in the template.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Where the edges of each resource end.
    ends: Vec<usize>,
    edges: Vec<Edge>,
}

/// Resources that need each other in a ring; the last needs the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The resources of the ring, each with the place that makes it need the next.
    pub steps: Vec<(usize, Option<Span>)>,
}

impl Graph {
    /// A graph with room for some resources, and none yet.
    pub fn with_capacity(resources: usize) -> Graph {
        Graph { ends: Vec::with_capacity(resources), edges: Vec::with_capacity(resources) }
    }

    /// The number of resources.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no resources.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What a resource needs, every one once, in the order found.
    pub fn needs(&self, at: usize) -> &[Edge] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.edges[start..self.ends[at]]
    }

    /// Adds the next resource with what it needs; repetitions are dropped.
    pub fn push(&mut self, edges: &[Edge]) {
        if let [_, _, ..] = edges {
            let mut seen = BTreeSet::new();
            self.edges.extend(edges.iter().filter(|edge| seen.insert(edge.to)).cloned());
        } else {
            self.edges.extend_from_slice(edges);
        }
        self.ends.push(self.edges.len());
    }

    /// The same without any need of some resources.
    pub fn without_needs_of(&self, places: &BTreeSet<usize>) -> Graph {
        let mut graph = Graph::with_capacity(self.len());
        for at in 0..self.len() {
            let needs = self.needs(at).iter().filter(|edge| !places.contains(&edge.to));
            graph.push(&needs.cloned().collect::<Vec<_>>());
        }
        graph
    }

    /// For every resource, who needs it.
    pub fn users(&self) -> Users {
        Users::of(self)
    }

    /// Every resource after what it needs, or the rings that make this impossible.
    pub fn order(&self) -> Result<Vec<usize>, Vec<Cycle>> {
        let users = self.users();
        let mut missing: Vec<usize> = (0..self.len()).map(|at| self.needs(at).len()).collect();
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
                let Some(next) = self.needs(*at).get(*edge) else {
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
            let taken = edge.checked_sub(1).and_then(|edge| self.needs(*at).get(edge));
            (*at, taken.and_then(|edge| edge.span))
        };
        Cycle { steps: path.iter().map(step).collect() }
    }
}

/// Who needs each resource.
#[derive(Clone, Debug, Default)]
pub struct Users {
    starts: Vec<usize>,
    users: Vec<usize>,
}

impl Users {
    fn of(graph: &Graph) -> Users {
        let mut starts = vec![0; graph.len() + 1];
        for edge in &graph.edges {
            starts[edge.to + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut users = vec![0; starts[graph.len()]];
        for from in 0..graph.len() {
            for edge in graph.needs(from) {
                users[next[edge.to]] = from;
                next[edge.to] += 1;
            }
        }
        Users { starts, users }
    }

    /// Who needs a resource.
    pub fn get(&self, at: usize) -> &[usize] {
        &self.users[self.starts[at]..self.starts[at + 1]]
    }
}

impl Cycle {
    /// The refusal, with every edge and its place.
    pub fn diagnostic<'n>(&self, name: impl Fn(usize) -> &'n str) -> Diagnostic {
        let mut members = String::new();
        let mut labels = Vec::new();
        for (at, (user, span)) in self.steps.iter().enumerate() {
            let next = name(self.steps[(at + 1) % self.steps.len()].0);
            let name = name(*user);
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

    fn graph(needs: &[&[usize]]) -> Graph {
        let mut graph = Graph::default();
        for needs in needs {
            let edges: Vec<Edge> = needs.iter().map(|to| Edge { to: *to, span: None }).collect();
            graph.push(&edges);
        }
        graph
    }

    fn rings(graph: &Graph) -> Vec<Vec<usize>> {
        let cycles = graph.order().unwrap_err();
        cycles.iter().map(|cycle| cycle.steps.iter().map(|(at, _)| *at).collect()).collect()
    }

    #[test]
    fn what_is_needed_comes_first_and_ties_keep_their_order() {
        let graph = graph(&[&[2], &[], &[1], &[]]);
        assert_eq!(graph.order().unwrap(), [1, 3, 2, 0]);
    }

    #[test]
    fn what_is_needed_twice_counts_once() {
        let graph = graph(&[&[], &[0, 0], &[1, 0, 1]]);
        let needs = |at| graph.needs(at).iter().map(|edge| edge.to).collect::<Vec<usize>>();
        assert_eq!([needs(0), needs(1), needs(2)], [vec![], vec![0], vec![1, 0]]);
        assert_eq!(graph.users().get(0), [1, 2]);
    }

    #[test]
    fn every_ring_is_told_once_and_alone() {
        let graph = graph(&[&[1], &[4, 2], &[3], &[1], &[], &[5]]);
        assert_eq!(rings(&graph), [vec![1, 2, 3], vec![5]]);
    }

    #[test]
    fn a_long_ring_does_not_exhaust_the_stack() {
        let mut graph = Graph::default();
        for at in 0..200_000 {
            graph.push(&[Edge { to: (at + 1) % 200_000, span: None }]);
        }
        assert_eq!(graph.order().unwrap_err()[0].steps.len(), 200_000);
    }
}
