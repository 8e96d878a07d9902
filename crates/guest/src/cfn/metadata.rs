//! Metadata of a resource: asked of the CloudFormation API, or what was last seen of it; and the tool that prints it.

use super::api;
use crate::files;
use crate::host::{Host, Level};
use crate::ini::Ini;
use crate::json::{self, Style};
use crate::options::{Flag, Given, switch, value};
use crate::problem::{Problem, Result};
use serde_json::Value;

pub(crate) const FLAGS: &[Flag] = &[
    value("stack", Some('s'), "The stack."),
    value("resource", Some('r'), "The resource."),
    value("access-key", None, "The key to sign with."),
    value("secret-key", None, "The secret of that key."),
    value("credential-file", Some('f'), "A file with both."),
    value("region", None, "Taken and not needed."),
    value("url", Some('u'), "Taken and not needed."),
    value("key", Some('k'), "Print this part alone."),
    switch("verbose", Some('v'), "Say more."),
];

const CACHE: &str = "/var/cache/heat-cfntools";
const DELIVERED: &str = "/var/lib/heat-cfntools/cfn-init-data";

/// Who asks for the metadata of what.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted<'w> {
    pub(crate) stack: Option<&'w str>,
    pub(crate) resource: Option<&'w str>,
    pub(crate) key: Option<(String, String)>,
}

/// Metadata, and whether it is not what was seen last.
pub(crate) struct Found {
    pub(crate) metadata: Value,
    pub(crate) has_changed: bool,
}

/// The tool.
pub(crate) fn main(host: &mut Host, given: &Given) -> i32 {
    if given.has("verbose") {
        host.level = Level::Debug;
    }
    let (Some(stack), Some(resource)) = (given.get("stack"), given.get("resource")) else {
        host.error("--stack and --resource are needed");
        return 1;
    };
    let wanted = Wanted { stack: Some(stack), resource: Some(resource), key: key(host, given) };
    match find(host, &wanted) {
        Ok(found) => {
            let shown = match given.get("key") {
                Some(key) => {
                    let steps = steps(key);
                    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
                    json::find(&found.metadata, &steps).cloned()
                }
                None => Some(found.metadata),
            };
            match shown {
                Some(Value::String(text)) => host.print(&text),
                Some(value) => host.print(&json::print(&value, Style::Line)),
                None => {}
            }
            0
        }
        Err(problem) => {
            host.error(problem.to_string());
            1
        }
    }
}

/// The steps of a path: dots part them, quotes protect dots.
fn steps(path: &str) -> Vec<String> {
    let mut steps = vec![String::new()];
    let mut quote = None;
    for char in path.chars() {
        match (quote, char) {
            (None, '.') => steps.push(String::new()),
            (None, '\'' | '"') => quote = Some(char),
            (Some(open), char) if open == char => quote = None,
            (_, char) => {
                if let Some(step) = steps.last_mut() {
                    step.push(char);
                }
            }
        }
    }
    steps
}

/// The key that arguments tell, or a file that they name.
pub(crate) fn key(host: &Host, given: &Given) -> Option<(String, String)> {
    match (given.get("access-key"), given.get("secret-key")) {
        (Some(id), Some(secret)) => Some((id.to_owned(), secret.to_owned())),
        _ => key_in(host, given.get("credential-file")?),
    }
}

/// The key in a file.
pub(crate) fn key_in(host: &Host, path: &str) -> Option<(String, String)> {
    let ini = Ini::parse(&files::text(&host.path(path))?);
    let value = |name: &str| ini.rows().find(|(_, key, _)| *key == name).map(|it| it.2.to_owned());
    let (id, secret) = (value("AWSAccessKeyId")?, value("AWSSecretKey")?);
    (!id.is_empty() && !secret.is_empty()).then_some((id, secret))
}

/// Metadata: from the API if there is a key, else what was last seen, else what was delivered at the first boot.
/// What the API does not answer is looked for in the same places.
pub(crate) fn find(host: &Host, wanted: &Wanted<'_>) -> Result<Found> {
    let remote = match (&wanted.key, wanted.stack, wanted.resource) {
        (Some(key), Some(stack), Some(resource)) => Some(ask(host, key, stack, resource)),
        _ => None,
    };
    let (metadata, is_new) = match remote {
        Some(Ok(metadata)) => (metadata, true),
        Some(Err(problem)) => {
            host.warn(problem.to_string());
            (seen(host, wanted.resource).ok_or(problem)?, false)
        }
        None => {
            let nothing =
                || Problem::new(format!("there is no metadata: {DELIVERED} is not there"));
            (seen(host, wanted.resource).ok_or_else(nothing)?, false)
        }
    };
    let last = last(host, wanted.resource);
    let has_changed = last.as_ref() != Some(&metadata);
    if has_changed || is_new {
        keep(host, wanted.resource, &metadata)?;
    }
    Ok(Found { metadata, has_changed })
}

fn paths(host: &Host, resource: Option<&str>) -> Vec<std::path::PathBuf> {
    let folder = host.path(CACHE);
    let own = resource.and_then(|it| files::inside(&folder, &format!("last_metadata_{it}")).ok());
    own.into_iter().chain([folder.join("last_metadata")]).collect()
}

fn last(host: &Host, resource: Option<&str>) -> Option<Value> {
    let path = paths(host, resource).into_iter().next()?;
    serde_json::from_str(&files::text(&path)?).ok()
}

fn seen(host: &Host, resource: Option<&str>) -> Option<Value> {
    let paths = paths(host, resource).into_iter().chain([host.path(DELIVERED)]);
    paths.filter_map(|path| files::text(&path)).find_map(|text| serde_json::from_str(&text).ok())
}

fn keep(host: &Host, resource: Option<&str>, metadata: &Value) -> Result<()> {
    files::private_folder(&host.path(CACHE))?;
    let text = metadata.to_string();
    paths(host, resource).iter().try_for_each(|path| files::write(path, text.as_bytes(), 0o600))
}

/// Asks the CloudFormation API.
fn ask(host: &Host, key: &(String, String), stack: &str, resource: &str) -> Result<Value> {
    let url = api::cloudformation(host)?;
    let parameters = [
        ("Action", "DescribeStackResource"),
        ("ContentType", "JSON"),
        ("LogicalResourceId", resource),
        ("StackName", stack),
        ("Version", "2010-05-15"),
    ];
    let body = api::call(host, &url, key, "cloudformation", &parameters)?;
    let pointer =
        "/DescribeStackResourceResponse/DescribeStackResourceResult/StackResourceDetail/Metadata";
    match body.pointer(pointer) {
        Some(Value::String(text)) => serde_json::from_str(text)
            .map_err(|error| Problem::new(format!("the metadata of {resource}: {error}"))),
        Some(value) => Ok(value.clone()),
        None => Err(Problem::new(format!("{url} tells nothing of the metadata of {resource}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_protect_dots() {
        assert_eq!(steps("a.b.'c.d'"), ["a", "b", "c.d"]);
        assert_eq!(steps("x"), ["x"]);
    }
}
