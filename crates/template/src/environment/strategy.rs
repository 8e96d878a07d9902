//! How a file's parameter values combine with those of earlier files.

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::document::Map;
use crate::source::Span;
use crate::suggest;
use indexmap::IndexMap;
use std::sync::Arc;

/// The key of a file's own default strategy.
const DEFAULT: &str = "default";

/// How a value combines with an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The later value overwrites the earlier one.
    #[default]
    Overwrite,
    /// Texts and lists are appended; maps are updated by their top-level members.
    Merge,
    /// The same, and maps are merged all the way down.
    DeepMerge,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 3] = [Strategy::Overwrite, Strategy::Merge, Strategy::DeepMerge];

    /// The name in environments.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Overwrite => "overwrite",
            Strategy::Merge => "merge",
            Strategy::DeepMerge => "deep_merge",
        }
    }

    /// The strategy of a name.
    pub fn from_name(name: &str) -> Option<Strategy> {
        Strategy::ALL.into_iter().find(|strategy| strategy.name() == name)
    }
}

/// The `parameter_merge_strategies` of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strategies {
    /// By parameter, and under `default`; none for an unknown strategy.
    named: IndexMap<Arc<str>, (Option<Strategy>, Span)>,
}

impl Strategies {
    /// Reads the section; an unknown word falls back on the file's default and is warned about.
    pub(super) fn read(map: &Map, found: &mut Vec<Diagnostic>) -> Strategies {
        let mut named = IndexMap::new();
        for entry in map {
            let word = entry.value.as_text().map_or("", |text| text);
            let strategy = Strategy::from_name(word);
            if strategy.is_none() {
                let message = format!("unknown merge strategy for \"{}\" is ignored", entry.key);
                let help = suggest::help(word, Strategy::ALL.map(Strategy::name));
                let fault = Diagnostic::warning(&codes::MERGE_STRATEGY_INVALID, message);
                found.push(fault.at(entry.value.span).help(help));
            }
            named.insert(entry.key.clone(), (strategy, entry.value.span));
        }
        Strategies { named }
    }

    /// The strategy for a parameter: its own, else the file's default, else to overwrite.
    pub fn get(&self, parameter: &str) -> Strategy {
        let get = |name| self.named.get(name).and_then(|(strategy, _)| *strategy);
        get(parameter).or_else(|| get(DEFAULT)).unwrap_or_default()
    }

    /// The span of the file's strategy for this parameter.
    pub(crate) fn span_of(&self, parameter: &str) -> Option<Span> {
        self.named.get(parameter).map(|(_, span)| *span)
    }
}
