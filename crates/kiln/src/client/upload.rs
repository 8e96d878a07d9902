//! What is sent with a template: the files it refers to, environments and parameters.
//!
//! The template library resolves names and collects files; this module supplies the contents,
//! from this machine or over HTTP, and builds the request body.

use super::error::{ClientError, Result};
use super::session::HeatSession;
use crate::load::disk::Disk;
use crate::load::working_directory;
use clap::Args;
use kiln_template::document::{Map, Node};
use kiln_template::environment::merge::merge_on_client;
use kiln_template::files::{
    FileLimits, FileReader, Gatherer, ReadError, arguments::parse_parameter_files,
    arguments::parse_parameters, url,
};
use kiln_template::print::{self, Keys};
use kiln_template::{Diagnostic, FileId, Limits, Members, Sources, Value, codes, read};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

/// The version keys of templates.
const VERSION_KEYS: [&str; 3] =
    ["AWSTemplateFormatVersion", "HeatTemplateFormatVersion", "heat_template_version"];

/// The options for environments and parameters.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct UploadArgs {
    /// Environment file; may be repeated, later files take precedence
    #[arg(short, long = "environment", value_name = "FILE")]
    pub(crate) environments: Vec<String>,

    /// Value of a parameter; may be repeated
    #[arg(long = "parameter", value_name = "KEY=VALUE")]
    pub(crate) parameters: Vec<String>,

    /// File whose content is the value of a parameter, relative to the template
    #[arg(long = "parameter-file", value_name = "KEY=FILE")]
    pub(crate) parameter_files: Vec<String>,

    /// Object container with all files; only the template is sent then
    #[arg(short = 's', long = "files-container", value_name = "CONTAINER")]
    pub(crate) files_container: Option<String>,
}

/// A template with its files, environments and parameters.
#[derive(Debug)]
pub(crate) struct Upload {
    /// The members of a request's body.
    members: Members,
}

impl Upload {
    /// Reads a template, if one is given, with its files, environments and parameters.
    pub(crate) async fn gather(
        session: &HeatSession,
        template: Option<&str>,
        given: &UploadArgs,
    ) -> Result<Upload> {
        let here = working_directory()
            .map_err(|_| ClientError::new("the working directory is unknown"))?;
        let mut shelf = FetchedFiles::new();
        let template = template.map(|typed| url::from_path(&here, typed));
        if let Some(url) = &template {
            shelf.open_template(session, url).await?;
        }
        let environments: Vec<String> =
            given.environments.iter().map(|typed| url::from_path(&here, typed)).collect();
        if given.files_container.is_some() {
            return shelf.alone(template.as_deref(), given);
        }
        for url in &environments {
            shelf.open(session, url).await?;
        }
        // Remote files are fetched between two attempts: the first one reports the URLs.
        loop {
            let done = shelf.gather(template.as_deref(), &environments, given);
            let wanted = shelf.wanted.take();
            if wanted.is_empty() {
                return done;
            }
            for url in wanted {
                let fetched = session.fetch(&url, false).await.map_err(|problem| problem.text);
                shelf.fetched.insert(url, fetched);
            }
        }
    }

    /// Sets hooks on resources that are given by path, such as `group/*/server`.
    pub(crate) fn hook(&mut self, paths: &[String], hook: &str) {
        if paths.is_empty() {
            return;
        }
        let environment = self.members.entry("environment".into()).or_insert_with(empty);
        for path in paths {
            let mut level = member(environment, "resource_registry");
            level = member(level, "resources");
            for part in path.split('/') {
                level = member(level, part);
            }
            *member(level, "hooks") = hook.into();
        }
    }

    /// Adds files.
    pub(crate) fn add_files(&mut self, files: &Value) {
        let all = self.members.entry("files".into()).or_insert_with(empty);
        if let (Value::Map(all), Some(files)) = (all, files.as_map()) {
            let all = Arc::make_mut(all);
            for (name, content) in files {
                all.entry(name.clone()).or_insert_with(|| content.clone());
            }
        }
    }

    /// The request body, with additional members before and after.
    pub(crate) fn body(
        self,
        before: Vec<(&'static str, Value)>,
        after: Vec<(&'static str, Value)>,
    ) -> String {
        let named = |(name, value): (&'static str, Value)| (Arc::from(name), value);
        let all =
            before.into_iter().map(named).chain(self.members).chain(after.into_iter().map(named));
        print::json(&Value::Map(Arc::new(all.collect())), Keys::Ordered)
    }
}

/// Reads a file that the command line names.
pub(crate) async fn text_of(session: &HeatSession, typed: &str) -> Result<(String, String)> {
    let here =
        working_directory().map_err(|_| ClientError::new("the working directory is unknown"))?;
    let url = url::from_path(&here, typed);
    let mut shelf = FetchedFiles::new();
    shelf.open(session, &url).await?;
    let bytes = shelf.read(&url).map_err(|error| ClientError::new(error.reason))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| ClientError::new(format!("{typed} is not valid UTF-8.")))?;
    Ok((url, text))
}

/// Parses a document of plain data.
pub(crate) fn parsed(text: &str) -> Result<Value> {
    let limits = Limits { max_bytes: 64 << 20, ..Limits::default() };
    let (node, found) = read::read(FileId::default(), text, &limits);
    match node {
        Some(node) => Ok(Value::from(&node)),
        None => Err(ClientError::new(
            found.last().map_or_else(String::new, |last| last.message.clone()),
        )),
    }
}

/// The source of files: this machine, or files that were fetched before.
struct FetchedFiles {
    disk: Disk,
    limits: FileLimits,
    fetched: BTreeMap<String, Result<Vec<u8>, String>>,
    /// The URLs to fetch before the next attempt.
    wanted: RefCell<Vec<String>>,
}

impl FetchedFiles {
    fn new() -> FetchedFiles {
        let limits = FileLimits::default();
        let disk = Disk::new(limits.max_file_bytes);
        FetchedFiles { disk, limits, fetched: BTreeMap::new(), wanted: RefCell::default() }
    }

    /// Reads a file or URL that the command line names.
    async fn open(&mut self, session: &HeatSession, url: &str) -> Result<()> {
        if is_http(url) {
            let bytes = session.fetch(url, false).await?;
            self.fetched.insert(url.to_owned(), Ok(bytes));
            return Ok(());
        }
        self.disk.open(url, url).map(drop).map_err(|_| unreadable(url))
    }

    /// Reads a template; one that needs authentication is fetched again with the user's token.
    async fn open_template(&mut self, session: &HeatSession, url: &str) -> Result<()> {
        match self.open(session, url).await {
            Err(first) if is_http(url) => {
                let bytes = session.fetch(url, true).await.map_err(|_| first)?;
                self.fetched.insert(url.to_owned(), Ok(bytes));
                Ok(())
            }
            other => other,
        }
    }

    fn gather(
        &self,
        template: Option<&str>,
        environments: &[String],
        given: &UploadArgs,
    ) -> Result<Upload> {
        let base = template.unwrap_or("file:///");
        let mut parameters = given_parameters(&given.parameters)?;
        let contents = parse_parameter_files(&given.parameter_files, base)
            .map_err(|malformed| ClientError::new(malformed.to_string()))?;
        let mut sources = Sources::new();
        let mut gathering = Gatherer::new(self, &mut sources, &self.limits);
        let tree = template.and_then(|url| gathering.template(url));
        let trees: Vec<Node> =
            environments.iter().filter_map(|url| gathering.environment(url)).collect();
        for (name, url) in contents {
            if let Some(content) = gathering.content(&url) {
                parameters.insert(name, content.into());
            }
        }
        let gathered = gathering.finish();
        if let Some(fault) = gathered.diagnostics.iter().find(|found| found.is_error()) {
            return Err(refused(fault, &sources));
        }
        if let Some(url) = template {
            check_template(url, tree.as_ref())?;
        }
        let files =
            gathered.files.into_iter().map(|(url, text)| (Arc::from(url), Value::from(text)));
        let environment = merge_on_client(trees).map_or_else(empty, |tree| Value::from(&tree));
        let mut members = Members::new();
        members.insert("parameters".into(), Value::Map(Arc::new(parameters)));
        members.insert("template".into(), tree.as_ref().map(Value::from).unwrap_or_default());
        members.insert("files".into(), Value::Map(Arc::new(files.collect())));
        members.insert("environment".into(), environment);
        if !environments.is_empty() {
            members.insert("environment_files".into(), names(environments));
        }
        Ok(Upload { members })
    }

    /// The template text for the service, with the names of files in a container.
    fn alone(&self, template: Option<&str>, given: &UploadArgs) -> Result<Upload> {
        let mut tree = None;
        if let Some(url) = template {
            let bytes = self.read(url).map_err(|error| ClientError::new(error.reason))?;
            let (node, found) = read::read_bytes(FileId::default(), &bytes, &self.limits.document);
            if let Some(fault) = found.iter().find(|found| found.is_error()) {
                return Err(ClientError::new(format!(
                    "Error parsing template {url} {}",
                    fault.message
                )));
            }
            check_template(url, node.as_ref())?;
            tree = node;
        }
        let mut members = Members::new();
        let parameters = given_parameters(&given.parameters)?;
        members.insert("parameters".into(), Value::Map(Arc::new(parameters)));
        members.insert("template".into(), tree.as_ref().map(Value::from).unwrap_or_default());
        members.insert("files".into(), empty());
        members.insert("environment".into(), empty());
        if !given.environments.is_empty() {
            members.insert("environment_files".into(), names(&given.environments));
        }
        let container = given.files_container.clone().map(Value::from).unwrap_or_default();
        members.insert("files_container".into(), container);
        Ok(Upload { members })
    }
}

impl FileReader for FetchedFiles {
    fn read(&self, url: &str) -> Result<Vec<u8>, ReadError> {
        if !is_http(url) {
            return self.disk.read(url);
        }
        match self.fetched.get(url) {
            Some(Ok(bytes)) => Ok(bytes.clone()),
            Some(Err(reason)) => Err(ReadError { reason: reason.clone() }),
            None => {
                self.wanted.borrow_mut().push(url.to_owned());
                Err(ReadError { reason: "not fetched yet".into() })
            }
        }
    }
}

/// Parses parameters of the command line.
pub(crate) fn given_parameters(words: &[String]) -> Result<Members> {
    match words {
        [] => Ok(Members::new()),
        words => {
            parse_parameters(words).map_err(|malformed| ClientError::new(malformed.to_string()))
        }
    }
}

/// Rejects a document that is not a template before it is sent.
fn check_template(url: &str, tree: Option<&Node>) -> Result<()> {
    let is_template = |map: &Map| map.iter().any(|entry| VERSION_KEYS.contains(&&*entry.key));
    match tree {
        None => Err(ClientError::new(format!("Could not fetch template from {url}"))),
        Some(tree) if tree.is_null() => {
            Err(ClientError::new(format!("Could not fetch template from {url}"))
                .hint("The file is empty."))
        }
        Some(tree) if tree.as_map().is_some_and(is_template) => Ok(()),
        Some(_) => {
            let text = format!("Error parsing template {url} Template format version not found.");
            Err(ClientError::new(text)
                .hint("A template begins with a line such as heat_template_version: 2021-04-16"))
        }
    }
}

/// The reference client's message for a file that cannot be opened.
fn unreadable(url: &str) -> ClientError {
    let Some(path) = url::to_path(url) else {
        return ClientError::new(format!("<urlopen error unknown url type: {url}>"))
            .hint("Only paths and URLs with file, http or https can be read.");
    };
    let reason = match File::open(&path).and_then(|file| file.metadata()) {
        Ok(about) if about.is_dir() => "[Errno 21] Is a directory".to_owned(),
        Ok(_) => "[Errno 5] Input/output error".to_owned(),
        Err(error) => {
            let text = error.to_string();
            let words = text.split(" (os error").next().unwrap_or(&text);
            format!("[Errno {}] {words}", error.raw_os_error().unwrap_or_default())
        }
    };
    ClientError::new(format!("<urlopen error {reason}: '{path}'>"))
        .hint("Check the name of the file.")
}

/// The first error of the collected files.
fn refused(fault: &Diagnostic, sources: &Sources) -> ClientError {
    let message = fault.message.strip_prefix("Environment not in valid format: ");
    let message = message.unwrap_or(&fault.message);
    let place = fault.span().filter(|_| fault.code == &codes::SYNTAX).and_then(|span| {
        let place = sources.locate(span)?;
        let (line, column) = (place.line, place.column);
        Some(format!(" (line {line}, column {column})"))
    });
    let problem = ClientError::new(format!("{message}{}", place.unwrap_or_default()));
    match &fault.help {
        Some(help) => problem.hint(help.clone()),
        None if fault.span().is_some() => {
            problem.hint("`kiln validate` shows the location and all other errors.")
        }
        None => problem,
    }
}

fn is_http(url: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

fn names(names: &[String]) -> Value {
    Value::list(names.iter().map(|name| name.as_str().into()))
}

fn empty() -> Value {
    Value::Map(Arc::default())
}

/// A member of a map, created if it is missing; values of other types are replaced by a map.
fn member<'a>(value: &'a mut Value, key: &str) -> &'a mut Value {
    if !matches!(value, Value::Map(_)) {
        *value = empty();
    }
    let Value::Map(members) = value else { return value };
    Arc::make_mut(members).entry(key.into()).or_insert_with(empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_put_into_the_environment() {
        let mut upload = Upload { members: Members::new() };
        upload.hook(&["a/b/*c".into(), "top".into()], "pre-create");
        assert_eq!(
            upload.body(vec![("x", 1.into())], vec![("y", Value::Null)]),
            r#"{"x": 1, "environment": {"resource_registry": {"resources": {"a": {"b": {"*c": {"hooks": "pre-create"}}}, "top": {"hooks": "pre-create"}}}}, "y": null}"#
        );
    }
}
