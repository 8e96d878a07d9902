//! The dependency graph: which resource depends on which, and where the template says so.
//!
//! Building, ordering and finding cycles are linear in resources plus edges.

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A dependency of a resource on another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The index of the resource that is depended on.
    pub to: usize,
    /// The span in the template; none for a dependency that the resource type adds.
    pub span: Option<Span>,
}

/// The dependencies of each resource; a resource is its index in the template.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Where the edges of each resource end.
    ends: Vec<usize>,
    edges: Vec<Edge>,
}

/// A cycle of resources; the last depends on the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The resources of the cycle, each with the span of its dependency on the next.
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

    /// The dependencies of a resource without duplicates, in the order found.
    pub fn dependencies(&self, at: usize) -> &[Edge] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.edges[start..self.ends[at]]
    }

    /// Adds the next resource with its dependencies; duplicates are dropped.
    pub fn push(&mut self, edges: &[Edge]) {
        if let [_, _, ..] = edges {
            let mut seen = BTreeSet::new();
            self.edges.extend(edges.iter().filter(|edge| seen.insert(edge.to)).cloned());
        } else {
            self.edges.extend_from_slice(edges);
        }
        self.ends.push(self.edges.len());
    }

    /// The same graph without the dependencies on some resources.
    pub(crate) fn without_dependencies_on(&self, indexes: &BTreeSet<usize>) -> Graph {
        let mut graph = Graph::with_capacity(self.len());
        for at in 0..self.len() {
            let dependencies =
                self.dependencies(at).iter().filter(|edge| !indexes.contains(&edge.to));
            graph.push(&dependencies.cloned().collect::<Vec<_>>());
        }
        graph
    }

    /// The dependents of every resource.
    pub fn dependents(&self) -> Dependents {
        Dependents::new(self)
    }

    /// Every resource after its dependencies, or the cycles that make this impossible.
    pub fn order(&self) -> Result<Vec<usize>, Vec<Cycle>> {
        let dependents = self.dependents();
        let mut missing: Vec<usize> =
            (0..self.len()).map(|at| self.dependencies(at).len()).collect();
        let mut order: Vec<usize> = (0..self.len()).filter(|at| missing[*at] == 0).collect();
        let mut next = 0;
        while let Some(&done) = order.get(next) {
            next += 1;
            for &user in dependents.get(done) {
                missing[user] -= 1;
                if missing[user] == 0 {
                    order.push(user);
                }
            }
        }
        if order.len() == self.len() { Ok(order) } else { Err(self.cycles(&missing)) }
    }

    /// Cycles among the resources that could not be ordered: every resource is in at most one of
    /// them.
    fn cycles(&self, missing: &[usize]) -> Vec<Cycle> {
        #[derive(Clone, Copy, PartialEq)]
        enum VisitMark {
            New,
            OnPath,
            Done,
        }
        let mut marks: Vec<VisitMark> = missing
            .iter()
            .map(|n| if *n == 0 { VisitMark::Done } else { VisitMark::New })
            .collect();
        let mut cycles = Vec::new();
        for start in 0..self.len() {
            if marks[start] != VisitMark::New {
                continue;
            }
            // Depth first, with the path and the next edge of each of its members held here.
            let mut path: Vec<(usize, usize)> = vec![(start, 0)];
            marks[start] = VisitMark::OnPath;
            while let Some((at, edge)) = path.last_mut() {
                let Some(next) = self.dependencies(*at).get(*edge) else {
                    marks[*at] = VisitMark::Done;
                    path.pop();
                    continue;
                };
                *edge += 1;
                match marks[next.to] {
                    VisitMark::Done => {}
                    VisitMark::New => {
                        marks[next.to] = VisitMark::OnPath;
                        path.push((next.to, 0));
                    }
                    VisitMark::OnPath => {
                        let first = path.iter().position(|(on, _)| *on == next.to).unwrap_or(0);
                        cycles.push(self.cycle(&path[first..]));
                        for (on, _) in path.drain(..) {
                            marks[on] = VisitMark::Done;
                        }
                    }
                }
            }
        }
        cycles
    }

    fn cycle(&self, path: &[(usize, usize)]) -> Cycle {
        let step = |(at, edge): &(usize, usize)| {
            let taken = edge.checked_sub(1).and_then(|edge| self.dependencies(*at).get(edge));
            (*at, taken.and_then(|edge| edge.span))
        };
        Cycle { steps: path.iter().map(step).collect() }
    }
}

/// The dependents of each resource.
#[derive(Clone, Debug, Default)]
pub struct Dependents {
    starts: Vec<usize>,
    dependents: Vec<usize>,
}

impl Dependents {
    fn new(graph: &Graph) -> Dependents {
        let mut starts = vec![0; graph.len() + 1];
        for edge in &graph.edges {
            starts[edge.to + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut dependents = vec![0; starts[graph.len()]];
        for from in 0..graph.len() {
            for edge in graph.dependencies(from) {
                dependents[next[edge.to]] = from;
                next[edge.to] += 1;
            }
        }
        Dependents { starts, dependents }
    }

    /// The dependents of a resource.
    pub fn get(&self, at: usize) -> &[usize] {
        &self.dependents[self.starts[at]..self.starts[at + 1]]
    }
}

impl Cycle {
    /// The error, with every edge and its span.
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
        diagnostic.help("remove one of these references or depends_on entries")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(dependencies: &[&[usize]]) -> Graph {
        let mut graph = Graph::default();
        for dependencies in dependencies {
            let edges: Vec<Edge> =
                dependencies.iter().map(|to| Edge { to: *to, span: None }).collect();
            graph.push(&edges);
        }
        graph
    }

    fn cycles_of(graph: &Graph) -> Vec<Vec<usize>> {
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
        let dependencies =
            |at| graph.dependencies(at).iter().map(|edge| edge.to).collect::<Vec<usize>>();
        assert_eq!(
            [dependencies(0), dependencies(1), dependencies(2)],
            [vec![], vec![0], vec![1, 0]]
        );
        assert_eq!(graph.dependents().get(0), [1, 2]);
    }

    #[test]
    fn every_ring_is_told_once_and_alone() {
        let graph = graph(&[&[1], &[4, 2], &[3], &[1], &[], &[5]]);
        assert_eq!(cycles_of(&graph), [vec![1, 2, 3], vec![5]]);
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
