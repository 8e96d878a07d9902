//! The metadata of a resource, from the CloudFormation API or from the cache; and the tool that prints it.

use super::api;
use crate::collect::source::RESOURCE_DETAIL;
use crate::error::{GuestError, Result};
use crate::files;
use crate::host::{Host, Level};
use crate::ini::Ini;
use crate::json::{self, Style};
use crate::options::{Args, Flag, switch, value};
use serde_json::Value;

pub(crate) const FLAGS: &[Flag] = &[
    value("stack", Some('s'), "The stack."),
    value("resource", Some('r'), "The resource."),
    value("access-key", None, "The access key."),
    value("secret-key", None, "The secret of the access key."),
    value("credential-file", Some('f'), "A file with the access key and its secret."),
    value("region", None, "Accepted for compatibility and ignored."),
    value("url", Some('u'), "Accepted for compatibility and ignored."),
    value("key", Some('k'), "Print only the value at this path."),
    switch("verbose", Some('v'), "Print debug messages."),
];

const CACHE: &str = "/var/cache/heat-cfntools";
const DELIVERED: &str = "/var/lib/heat-cfntools/cfn-init-data";

/// The requested resource and the key to sign with.
#[derive(Debug, Clone, Default)]
pub(crate) struct MetadataQuery<'w> {
    pub(crate) stack: Option<&'w str>,
    pub(crate) resource: Option<&'w str>,
    pub(crate) key: Option<(String, String)>,
}

/// The metadata, and whether it differs from the cached one.
pub(crate) struct FetchedMetadata {
    pub(crate) metadata: Value,
    pub(crate) has_changed: bool,
}

/// Runs the tool.
pub(crate) fn main(host: &mut Host, args: &Args) -> i32 {
    if args.has("verbose") {
        host.level = Level::Debug;
    }
    let (Some(stack), Some(resource)) = (args.get("stack"), args.get("resource")) else {
        host.error("--stack and --resource are required");
        return 1;
    };
    let query =
        MetadataQuery { stack: Some(stack), resource: Some(resource), key: key(host, args) };
    match find(host, &query) {
        Ok(found) => {
            let selected = match args.get("key") {
                Some(key) => {
                    let steps = steps(key);
                    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
                    json::find(&found.metadata, &steps).cloned()
                }
                None => Some(found.metadata),
            };
            match selected {
                Some(Value::String(text)) => host.print(&text),
                Some(value) => host.print(&json::print(&value, Style::Line)),
                None => {}
            }
            0
        }
        Err(error) => {
            host.error(error.to_string());
            1
        }
    }
}

/// Splits a path at its dots, except within quotes.
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

/// Returns the key in the arguments, or in the file that they name.
pub(crate) fn key(host: &Host, args: &Args) -> Option<(String, String)> {
    match (args.get("access-key"), args.get("secret-key")) {
        (Some(id), Some(secret)) => Some((id.to_owned(), secret.to_owned())),
        _ => key_in(host, args.get("credential-file")?),
    }
}

/// Reads a key from a file.
pub(crate) fn key_in(host: &Host, path: &str) -> Option<(String, String)> {
    let ini = Ini::parse(&files::text(&host.path(path))?);
    let value = |name: &str| ini.rows().find(|(_, key, _)| *key == name).map(|it| it.2.to_owned());
    let (id, secret) = (value("AWSAccessKeyId")?, value("AWSSecretKey")?);
    (!id.is_empty() && !secret.is_empty()).then_some((id, secret))
}

/// Returns the metadata: from the API if there is a key, else from the cache, else from the first boot. If the API
/// fails, the cache and the first boot are used as well.
pub(crate) fn find(host: &Host, query: &MetadataQuery<'_>) -> Result<FetchedMetadata> {
    let remote = match (&query.key, query.stack, query.resource) {
        (Some(key), Some(stack), Some(resource)) => Some(fetch(host, key, stack, resource)),
        _ => None,
    };
    let (metadata, is_new) = match remote {
        Some(Ok(metadata)) => (metadata, true),
        Some(Err(error)) => {
            host.warn(error.to_string());
            (cached_or_delivered(host, query.resource).ok_or(error)?, false)
        }
        None => {
            let nothing = || GuestError::new(format!("no metadata: {DELIVERED} does not exist"));
            (cached_or_delivered(host, query.resource).ok_or_else(nothing)?, false)
        }
    };
    let last_cached = last_cached(host, query.resource);
    let has_changed = last_cached.as_ref() != Some(&metadata);
    if has_changed || is_new {
        store(host, query.resource, &metadata)?;
    }
    Ok(FetchedMetadata { metadata, has_changed })
}

fn paths(host: &Host, resource: Option<&str>) -> Vec<std::path::PathBuf> {
    let folder = host.path(CACHE);
    let own = resource.and_then(|it| files::inside(&folder, &format!("last_metadata_{it}")).ok());
    own.into_iter().chain([folder.join("last_metadata")]).collect()
}

fn last_cached(host: &Host, resource: Option<&str>) -> Option<Value> {
    let path = paths(host, resource).into_iter().next()?;
    serde_json::from_str(&files::text(&path)?).ok()
}

fn cached_or_delivered(host: &Host, resource: Option<&str>) -> Option<Value> {
    let paths = paths(host, resource).into_iter().chain([host.path(DELIVERED)]);
    paths.filter_map(|path| files::text(&path)).find_map(|text| serde_json::from_str(&text).ok())
}

fn store(host: &Host, resource: Option<&str>, metadata: &Value) -> Result<()> {
    files::private_folder(&host.path(CACHE))?;
    let text = metadata.to_string();
    paths(host, resource).iter().try_for_each(|path| files::write(path, text.as_bytes(), 0o600))
}

/// Requests the metadata from the CloudFormation API.
fn fetch(host: &Host, key: &(String, String), stack: &str, resource: &str) -> Result<Value> {
    let url = api::cloudformation(host)?;
    let parameters = [
        ("Action", "DescribeStackResource"),
        ("ContentType", "JSON"),
        ("LogicalResourceId", resource),
        ("StackName", stack),
        ("Version", "2010-05-15"),
    ];
    let body = api::call(host, &url, key, "cloudformation", &parameters)?;
    match body.pointer(RESOURCE_DETAIL).and_then(|detail| detail.get("Metadata")) {
        Some(Value::String(text)) => serde_json::from_str(text)
            .map_err(|error| GuestError::new(format!("the metadata of {resource}: {error}"))),
        Some(value) => Ok(value.clone()),
        None => Err(GuestError::new(format!("{url} returned no metadata for {resource}"))),
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
