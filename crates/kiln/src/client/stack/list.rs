//! Listing stacks.

use super::super::Client;
use super::super::error::{ClientError, Result};
use super::super::format::Listing;
use super::super::format::options::ListArgs;
use super::super::heat::{Query, query};
use super::target::Page;
use clap::Args;
use serde_json::Value;
use std::cmp::Ordering;

/// Arguments of `kiln stack list`.
#[derive(Debug, Args)]
pub(crate) struct StackList {
    /// Include deleted stacks
    #[arg(long)]
    deleted: bool,

    /// Include nested stacks
    #[arg(long)]
    nested: bool,

    /// Include hidden stacks
    #[arg(long)]
    hidden: bool,

    /// Filter, such as status=FAILED; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    property: Vec<String>,

    /// Name or id of a project (administrators only)
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// Name or id of the project's domain
    #[arg(long, value_name = "DOMAIN")]
    project_domain: Option<String>,

    /// Show only stacks with these comma-separated tags
    #[arg(long, value_name = "TAG,TAG")]
    tags: Option<String>,

    /// How tags are matched: any, not or not-any [default: all tags must match]
    #[arg(long, value_name = "MODE")]
    tag_mode: Option<String>,

    #[command(flatten)]
    page: Page,

    /// Sort keys, such as stack_name:asc,creation_time:desc
    #[arg(long, value_name = "KEY[:DIRECTION]")]
    sort: Vec<String>,

    /// List the stacks of all projects (administrators only)
    #[arg(long)]
    all_projects: bool,

    /// Omit the times
    #[arg(long)]
    short: bool,

    /// Show more details, including the owner; lists all projects
    #[arg(long)]
    long: bool,

    #[command(flatten)]
    output_format: ListArgs,
}

impl StackList {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let mut asked = self.query()?;
        if let Some(project) = &self.project {
            let domain = self.project_domain.as_deref();
            let id = client.heat.session.project_id(project, domain).await;
            asked.push(("tenant".into(), id));
        }
        let mut stacks = client.heat.stacks(asked, self.page.limit).await?;
        // The last `--sort` wins.
        if let Some(sort) = self.sort.last() {
            sort_by(&mut stacks, sort)?;
        }
        client.console.list(self.listing(&stacks), &self.output_format)
    }

    fn query(&self) -> Result<Query> {
        let mut asked = Query::new();
        let mut flag = |on: bool, name: &str| {
            if on {
                asked.extend(query([(name, "True")]));
            }
        };
        flag(self.deleted, "show_deleted");
        flag(self.nested, "show_nested");
        flag(self.hidden, "show_hidden");
        flag(self.all_projects || self.long, "global_tenant");
        if let Some(marker) = &self.page.marker {
            asked.push(("marker".into(), marker.clone()));
        }
        if let Some(tags) = &self.tags {
            let name = match self.tag_mode.as_deref() {
                None => "tags",
                Some("any") => "tags_any",
                Some("not") => "not_tags",
                Some("not-any") => "not_tags_any",
                Some(_) => {
                    let text = "tag mode must be one of \"any\", \"not\", \"not-any\"";
                    return Err(ClientError::new(text));
                }
            };
            asked.push((name.into(), tags.clone()));
        }
        asked.extend(pairs(&self.property)?);
        Ok(asked)
    }

    fn listing(&self, stacks: &[Value]) -> Listing {
        let mut columns = vec![("ID", "id"), ("Stack Name", "stack_name")];
        if stacks.iter().any(|stack| stack.get("project").is_some()) {
            columns.push(("Project", "project"));
        }
        if self.long {
            columns.push(("Stack Owner", "stack_owner"));
        }
        columns.push(("Stack Status", "stack_status"));
        if !self.short {
            columns.extend([("Creation Time", "creation_time"), ("Updated Time", "updated_time")]);
        }
        if self.nested {
            columns.push(("Parent", "parent"));
        }
        if self.deleted {
            columns.push(("Deletion Time", "deletion_time"));
        }
        Listing::of(&columns, stacks)
    }
}

/// Parses `key=value` arguments into query parameters; an argument may contain several, separated by `;`.
pub(crate) fn pairs(words: &[String]) -> Result<Query> {
    let pair = |word: &str| match word.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => {
            Err(ClientError::new(format!("Malformed parameter({word}). Use the key=value format.")))
        }
    };
    match words {
        [only] => only.split(';').map(pair).collect(),
        several => several.iter().map(|word| pair(word)).collect(),
    }
}

/// Sorts objects by keys such as `stack_name:asc,creation_time:desc`; the first is the primary key.
pub(crate) fn sort_by(objects: &mut [Value], sort: &str) -> Result<()> {
    let mut keys = Vec::new();
    for word in sort.split(',') {
        let (key, direction) = word.split_once(':').unwrap_or((word, "asc"));
        let is_descending = match direction {
            "" | "asc" => false,
            "desc" => true,
            other => {
                return Err(ClientError::new(format!(
                    "'{other}' is not a valid sort direction for sort key {key}, use 'asc' or 'desc' instead"
                )));
            }
        };
        if objects.first().is_some_and(|first| first.get(key).is_none()) {
            let known = objects.first().and_then(Value::as_object).into_iter().flatten();
            let known: Vec<&str> = known.map(|(key, _)| key.as_str()).collect();
            return Err(ClientError::new(format!("Resource doesn't have field {key}"))
                .hint(format!("It has {}.", known.join(", "))));
        }
        keys.push((key, is_descending));
    }
    for (key, is_descending) in keys.into_iter().rev() {
        objects.sort_by(|a, b| {
            let order = compare(&a[key], &b[key]);
            if is_descending { order.reverse() } else { order }
        });
    }
    Ok(())
}

/// The order of values of one key; missing values come first.
fn compare(a: &Value, b: &Value) -> Ordering {
    match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) => a.cmp(b),
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (None, None) => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn objects_are_sorted_by_several_keys() {
        let mut all =
            [json!({"a": "x", "b": 1}), json!({"a": null, "b": 2}), json!({"a": "x", "b": 3})];
        sort_by(&mut all, "a:desc,b").unwrap();
        assert_eq!(
            json!(all),
            json!([{"a": "x", "b": 1}, {"a": "x", "b": 3}, {"a": null, "b": 2}])
        );
        assert_eq!(sort_by(&mut all, "c").unwrap_err().text, "Resource doesn't have field c");
        assert_eq!(
            sort_by(&mut all, "a:up").unwrap_err().text,
            "'up' is not a valid sort direction for sort key a, use 'asc' or 'desc' instead"
        );
    }

    #[test]
    fn pairs_are_split_at_the_first_sign() {
        let pairs = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            super::pairs(&words).map_err(|problem| problem.text)
        };
        assert_eq!(pairs(&["a=1;b=x=y"]), Ok(query([("a", "1"), ("b", "x=y")])));
        assert_eq!(pairs(&["a=1;b", "c=2"]), Ok(query([("a", "1;b"), ("c", "2")])));
        assert!(pairs(&["a"]).unwrap_err().starts_with("Malformed parameter(a)."));
    }
}
