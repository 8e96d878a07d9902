//! The files of the global environment, which an operator keeps in a directory, and the templates that they name.
//!
//! Only the resource registry of such a file counts, as in Heat. The files are loaded in the order of their names, so
//! that the last one wins. A file that cannot be used is left out as a whole.

use kiln_resources::environment::shipped;
use kiln_template::environment::{Environment, GlobalEnvironment, Setting, Statements};
use kiln_template::files::url;
use kiln_template::{Diagnostic, FileId, Files, Limits, Sources, Span, lower, read};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The directories of a global environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EnvironmentDirs {
    /// The directory of the environment files.
    pub(crate) environments: Option<PathBuf>,
    /// The directory that relative names of templates belong to.
    pub(crate) templates: Option<PathBuf>,
}

/// The text of a file, or why it cannot be read.
type FileText = Result<Arc<str>, String>;

/// The contents of all files of a global environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EnvironmentTexts {
    /// The environment files, in the order in which they are loaded.
    files: Vec<(PathBuf, FileText)>,
    /// The templates that are files, by the names that the registry has for them.
    templates: BTreeMap<Arc<str>, (PathBuf, FileText)>,
}

/// A global environment, and what is wrong with its files.
pub(crate) struct LoadedEnvironment {
    pub(crate) environment: GlobalEnvironment,
    /// Errors of files that were left out, each with its place.
    pub(crate) errors: Vec<String>,
    /// What does not work although the files were loaded, each with its place.
    pub(crate) warnings: Vec<String>,
}

impl EnvironmentDirs {
    /// Reads all files.
    pub(crate) fn read(&self) -> EnvironmentTexts {
        let files = self.environments.as_deref().map(read_directory).unwrap_or_default();
        let mut texts = EnvironmentTexts { files, templates: BTreeMap::new() };
        for name in texts.load().environment.template_names() {
            if let Some(path) = self.template_path(&name) {
                let text = read_text(&path);
                texts.templates.insert(name, (path, text));
            }
        }
        texts
    }

    /// The path of a template; nothing for a URL of another machine.
    fn template_path(&self, name: &str) -> Option<PathBuf> {
        if let Some(path) = url::to_path(name) {
            return Some(path.into());
        }
        if name.contains("://") {
            return None;
        }
        Some(self.templates.as_deref().unwrap_or(Path::new("")).join(name))
    }
}

impl EnvironmentTexts {
    /// The environment that the files make over the shipped one.
    pub(crate) fn load(&self) -> LoadedEnvironment {
        let mut sources = Sources::new();
        let mut loaded =
            LoadedEnvironment { environment: shipped(), errors: Vec::new(), warnings: Vec::new() };
        let mut entries = Vec::new();
        for (path, text) in &self.files {
            let name = path.display().to_string();
            let text = match text {
                Ok(text) => text,
                Err(why) => {
                    loaded.errors.push(format!("{name}: {why}"));
                    continue;
                }
            };
            let file = sources.add(name.as_str(), text.clone());
            let (environment, found) = Environment::read(file, text, &Limits::default());
            if found.iter().any(Diagnostic::is_error) {
                loaded.errors.extend(found.iter().map(|it| placed(it, &name, &sources)));
                continue;
            }
            loaded.warnings.extend(ignored_sections(&environment, &name));
            loaded.environment.load(&environment.resource_registry);
            add_entries(&environment.resource_registry, &mut entries);
        }
        loaded.warnings.extend(self.template_warnings(&entries, &mut sources));
        let text = |(name, (_, text)): (&Arc<str>, &(PathBuf, FileText))| {
            Some((name.clone(), text.as_ref().ok()?.clone()))
        };
        let templates: Files = self.templates.iter().filter_map(text).collect();
        loaded.environment.set_templates(templates);
        loaded
    }

    /// Warnings about templates that cannot be read or used, at the entries that name them.
    fn template_warnings(
        &self,
        entries: &[(Arc<str>, Option<Span>)],
        sources: &mut Sources,
    ) -> Vec<String> {
        let mut warnings = Vec::new();
        for (name, (path, text)) in &self.templates {
            let path = path.display();
            let entry = entries.iter().rev().find(|(it, _)| it == name).and_then(|(_, span)| *span);
            let place = entry.and_then(|span| sources.locate(span));
            let place = place.map(|it| format!("{it}: ")).unwrap_or_default();
            match text {
                Err(why) => warnings.push(format!("{place}the template {path}: {why}")),
                Ok(text) => {
                    let file = sources.add(path.to_string(), text.clone());
                    let flaws = template_errors(file, text);
                    let flaws = flaws.iter().map(|it| placed(it, &path.to_string(), sources));
                    warnings.extend(flaws.collect::<Vec<_>>());
                }
            }
        }
        warnings
    }
}

/// The files of a directory in the order of their names, without hidden ones; none if it does not exist.
fn read_directory(directory: &Path) -> Vec<(PathBuf, FileText)> {
    let failed = |error: io::Error| vec![(directory.to_owned(), Err(error.to_string()))];
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(error) => return failed(error),
        Ok(entries) => entries,
    };
    let mut paths = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) if entry.file_name().as_encoded_bytes().starts_with(b".") => {}
            Ok(entry) => paths.push(entry.path()),
            Err(error) => return failed(error),
        }
    }
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), read_text(&path))).collect()
}

/// Reads a file that is not longer than a template may be.
fn read_text(path: &Path) -> FileText {
    let why = |error: io::Error| error.to_string();
    let found = fs::metadata(path).map_err(why)?;
    if !found.is_file() {
        return Err("this is not a file; files in directories below are not read".to_owned());
    }
    let most = Limits::default().max_bytes as u64;
    if found.len() > most {
        return Err(format!("the file has {} bytes, of which {most} are permitted", found.len()));
    }
    let bytes = fs::read(path).map_err(why)?;
    let text =
        read::decode(FileId::default(), &bytes).map_err(|refusal| refusal.message.clone())?;
    Ok(text.as_ref().into())
}

/// A finding in one line, with its place.
fn placed(found: &Diagnostic, file: &str, sources: &Sources) -> String {
    let place = found.span().and_then(|span| sources.locate(span));
    let place = place.map_or(file.to_owned(), |place| place.to_string());
    let help = found.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    format!("{place}: {}{help}", found.text())
}

/// Warnings about the sections that a global environment cannot have.
fn ignored_sections(environment: &Environment, file: &str) -> Vec<String> {
    let sections = [
        ("parameters", environment.parameters.is_empty()),
        ("parameter_defaults", environment.parameter_defaults.is_empty()),
        ("event_sinks", environment.event_sinks.is_empty()),
    ];
    let given = sections.into_iter().filter(|(_, is_empty)| !is_empty);
    let warning = |(section, _)| {
        format!(
            "{file}: `{section}` is for the environments of users; a global environment only \
             changes resource types, so remove the section"
        )
    };
    given.map(warning).collect()
}

/// Adds the entries of a registry that name templates, with their places.
fn add_entries(statements: &Statements, to: &mut Vec<(Arc<str>, Option<Span>)>) {
    for (key, statement) in statements {
        match &statement.setting {
            Setting::Inner(inner) => add_entries(inner, to),
            Setting::Type(target) => {
                to.extend([key, target].map(|name| (name.clone(), statement.span)));
            }
            _ => {}
        }
    }
}

/// The errors of a template that can be told without its use.
fn template_errors(file: FileId, text: &str) -> Vec<Diagnostic> {
    let (node, mut found) = read::read(file, text, &Limits::default());
    if let Some(node) = node {
        found.extend(lower::template(node).1.into_ordered());
    }
    found.retain(Diagnostic::is_error);
    found
}
