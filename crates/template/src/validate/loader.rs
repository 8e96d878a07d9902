//! The templates of a tree: each is read once.

use super::nested::NestedTemplate;
use crate::codes;
use crate::definition::Files;
use crate::diagnostic::Diagnostic;
use crate::document::Node;
use crate::environment::{GlobalEnvironment, Owner};
use crate::eval::Budget;
use crate::findings::{Findings, Stage};
use crate::limits::Limits;
use crate::lower;
use crate::parameters;
use crate::source::Sources;
use crate::suggest;
use crate::template::Template;
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A template that was read, or why it could not be.
#[derive(Clone)]
pub(super) enum Loaded {
    Template(Arc<Template>, Findings),
    Unreadable(Vec<Diagnostic>),
}

/// The maximum size, in bytes, of the intermediate results of a whole tree's expressions.
const BUDGET: usize = 1 << 30;

/// A template's name, and the registry's entry that led to it.
pub(super) type Use = (Arc<str>, Vec<Arc<str>>);

/// Reads the templates of a tree, each once, and counts its resources.
pub(super) struct Loader<'s> {
    pub(super) sources: &'s mut Sources,
    files: Arc<Files>,
    /// Files that were read before.
    documents: IndexMap<Arc<str>, Node>,
    pub(super) limits: Limits,
    /// Templates of the request and of the operator, by their names.
    loaded: IndexMap<(Owner, Arc<str>), Loaded>,
    /// Templates in use as types.
    pub(super) children: BTreeMap<Use, Arc<NestedTemplate>>,
    /// The budget of all expressions of the tree.
    pub(super) budget: Budget,
    suggestions: usize,
    /// Why templates could not be fetched, by URL.
    pub(super) unfetched: BTreeMap<Arc<str>, Arc<str>>,
    /// The URLs of templates that are not among the files.
    pub(super) missing: BTreeSet<Arc<str>>,
    /// Resources of the tree so far.
    pub(super) resources: usize,
}

impl<'s> Loader<'s> {
    pub(super) fn new(
        sources: &'s mut Sources,
        files: Arc<Files>,
        documents: IndexMap<Arc<str>, Node>,
        limits: Limits,
    ) -> Loader<'s> {
        Loader {
            sources,
            files,
            documents,
            limits,
            loaded: IndexMap::new(),
            children: BTreeMap::new(),
            budget: Budget::new(BUDGET),
            suggestions: 0,
            unfetched: BTreeMap::new(),
            missing: BTreeSet::new(),
            resources: 0,
        }
    }

    /// Reads every file that is a template, used or not; their parameter definitions must be right.
    pub(super) fn preload(&mut self) -> Findings {
        let mut findings = Findings::new();
        let files = self.files.clone();
        for (url, text) in files.iter() {
            if !crate::version::KEYS.iter().any(|key| text.contains(key)) {
                continue;
            }
            match self.load(url) {
                Some(Loaded::Template(_, flaws)) => {
                    findings.append(flaws.clone().only(Stage::ParameterDefinitions));
                }
                Some(Loaded::Unreadable(problems)) => {
                    let versions =
                        problems.iter().filter(|problem| problem.code == &codes::BAD_VERSION);
                    findings.extend(Stage::ParameterDefinitions, versions.cloned());
                }
                None => {}
            }
        }
        findings
    }

    /// The name that was probably meant. The number of suggestions is limited: each compares all
    /// names.
    pub(super) fn suggest<'n>(
        &mut self,
        word: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Option<&'n str> {
        self.suggestions += 1;
        if self.suggestions > suggest::MAX_SUGGESTIONS {
            None
        } else {
            suggest::closest(word, names)
        }
    }

    /// The kinds of all parameters that the root or a template among the files declares.
    pub(super) fn parameter_kinds(
        &self,
        root: Option<&Template>,
    ) -> BTreeMap<Arc<str>, parameters::ParameterType> {
        let nested = self.loaded.values().filter_map(|loaded| match loaded {
            Loaded::Template(template, _) => Some(&**template),
            Loaded::Unreadable(_) => None,
        });
        // The root's declarations count before all others.
        let mut kinds = BTreeMap::new();
        for template in root.into_iter().chain(nested) {
            for parameter in template.parameters.values() {
                kinds.entry(parameter.name.clone()).or_insert(parameter.kind);
            }
        }
        kinds
    }

    /// Why a template is not there, in Heat's words. A URL among such templates can be fetched.
    pub(super) fn absence(&mut self, url: &str) -> String {
        let scheme = match url.split_once(':') {
            Some((scheme, _))
                if scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c)) =>
            {
                scheme
            }
            _ => "",
        };
        match (scheme, self.unfetched.get(url)) {
            ("http" | "https", Some(reason)) => reason.to_string(),
            ("http" | "https", None) => {
                self.missing.insert(url.into());
                format!("Failed to retrieve template from {url}")
            }
            _ => format!("Invalid URL scheme {scheme}"),
        }
    }

    /// A template among the files of the request.
    pub(super) fn load(&mut self, url: &Arc<str>) -> Option<&Loaded> {
        let key = (Owner::User, url.clone());
        if !self.loaded.contains_key(&key) {
            let text = self.files.get(url)?;
            let loaded = match self.documents.swap_remove(url) {
                Some(document) => lower_template(document, Vec::new()),
                None => {
                    let file = self.sources.add(url.clone(), text.clone());
                    read_template(file, url, text, &self.limits)
                }
            };
            self.loaded.insert(key.clone(), loaded);
        }
        self.loaded.get(&key)
    }

    /// A template that an entry of the operator's registry names, and that did not come with the request.
    pub(super) fn load_global(
        &mut self,
        url: &Arc<str>,
        global: &GlobalEnvironment,
    ) -> Option<&Loaded> {
        let key = (Owner::Operator, url.clone());
        if !self.loaded.contains_key(&key) {
            let text = global.template(url)?;
            let file = self.sources.add(url.clone(), text.clone());
            let limits = Limits { max_bytes: usize::MAX, ..self.limits };
            self.loaded.insert(key.clone(), read_template(file, url, text, &limits));
        }
        self.loaded.get(&key)
    }
}

fn read_template(file: crate::FileId, url: &str, text: &str, limits: &Limits) -> Loaded {
    let (node, mut problems) = crate::read::read(file, text, limits);
    let Some(node) = node else {
        for problem in &mut problems {
            if problem.code == &codes::SYNTAX {
                problem.message = format!("Error parsing template {url} {}", problem.message);
                problem.kind = "StackValidationFailed";
            }
        }
        return Loaded::Unreadable(problems);
    };
    lower_template(node, problems)
}

fn lower_template(document: Node, problems: Vec<Diagnostic>) -> Loaded {
    let (template, mut findings) = lower::template(document);
    findings.extend(Stage::Read, problems);
    match template {
        Some(template) => Loaded::Template(Arc::new(template), findings),
        None => Loaded::Unreadable(
            findings
                .into_ordered()
                .into_iter()
                .map(|problem| match problem.code {
                    code if code == &codes::BAD_VERSION => problem,
                    _ => Diagnostic { kind: "StackValidationFailed", ..problem },
                })
                .collect(),
        ),
    }
}
