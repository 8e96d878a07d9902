//! Findings in the order in which Heat would have reported them.
//!
//! Heat stops at its first error, and clients see that one. Kiln finds them all; the stage
//! says which of them Heat would have reported.

use crate::diagnostic::Diagnostic;

/// The checks of Heat, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Text, version.
    Read,
    /// Definitions of parameters.
    ParameterDefinitions,
    /// Sections, and the keys of resources.
    Sections,
    /// Fields of resources and the form of their functions.
    ResourceDefinitions,
    /// Values of parameters.
    ParameterValues,
    /// Parameter groups.
    ParameterGroups,
    /// Conditions.
    Conditions,
    /// Resource types and names.
    Types,
    /// References between resources.
    References,
    /// Outputs and the form of their functions.
    OutputDefinitions,
    /// Properties and what the functions in them name.
    Properties,
    /// What the functions in outputs name.
    OutputValues,
}

/// A growing list of findings.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    found: Vec<(Stage, Diagnostic)>,
}

impl Findings {
    /// None yet.
    pub fn new() -> Findings {
        Findings::default()
    }

    /// Adds one.
    pub fn add(&mut self, stage: Stage, diagnostic: Diagnostic) {
        self.found.push((stage, diagnostic));
    }

    /// Adds several of one stage.
    pub fn extend(&mut self, stage: Stage, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        self.found.extend(diagnostics.into_iter().map(|diagnostic| (stage, diagnostic)));
    }

    /// Adds all of another list.
    pub fn append(&mut self, other: Findings) {
        self.found.extend(other.found);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|(_, diagnostic)| diagnostic.is_error())
    }

    /// The findings so far, in the order they were made.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.found.iter().map(|(_, diagnostic)| diagnostic)
    }

    /// Those that satisfy a condition.
    pub fn filter(mut self, keep: impl Fn(&Diagnostic) -> bool) -> Findings {
        self.found.retain(|(_, diagnostic)| keep(diagnostic));
        self
    }

    /// Changes every finding.
    pub fn map(self, change: impl Fn(Diagnostic) -> Diagnostic) -> Findings {
        let found = self.found.into_iter().map(|(stage, diagnostic)| (stage, change(diagnostic)));
        Findings { found: found.collect() }
    }

    /// The same findings, all at one stage.
    pub fn at_stage(self, stage: Stage) -> Findings {
        Findings {
            found: self.found.into_iter().map(|(_, diagnostic)| (stage, diagnostic)).collect(),
        }
    }

    /// Those of one stage.
    pub fn only(mut self, stage: Stage) -> Findings {
        self.found.retain(|(at, _)| *at == stage);
        self
    }

    /// Those of all stages but one.
    pub fn except(mut self, stage: Stage) -> Findings {
        self.found.retain(|(at, _)| *at != stage);
        self
    }

    /// All of them: the error that Heat would have reported first comes first.
    pub fn into_ordered(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|(stage, _)| *stage);
        self.found.into_iter().map(|(_, diagnostic)| diagnostic).collect()
    }
}
