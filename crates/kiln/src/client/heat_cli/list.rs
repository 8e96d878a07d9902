//! `heat stack-list`, whose output most other `heat` commands print last.

use super::super::Client;
use super::super::error::{ClientError, OrNotFound, Result};
use super::super::format::text::quoted_list;
use super::super::heat::{Query, query, text};
use super::super::stack::list::pairs;
use super::print;
use clap::Args;
use serde_json::Value;

/// The part of a list that is shown.
#[derive(Debug, Args)]
pub(super) struct HeatPage {
    /// Maximum number of rows
    #[arg(short, long, value_name = "LIMIT")]
    pub(super) limit: Option<usize>,

    /// Show only rows after the one with this id
    #[arg(short, long, value_name = "ID")]
    pub(super) marker: Option<String>,
}

/// Arguments of `heat stack-list`.
#[derive(Debug, Args)]
pub(crate) struct StackList {
    /// Include deleted stacks
    #[arg(short = 's', long)]
    show_deleted: bool,

    /// Include nested stacks
    #[arg(short = 'n', long)]
    show_nested: bool,

    /// Include hidden stacks
    #[arg(short = 'a', long)]
    show_hidden: bool,

    /// Filters; may be repeated
    #[arg(short, long, value_name = "KEY=VALUE;KEY=VALUE")]
    filters: Vec<String>,

    /// Show only stacks with all of these tags
    #[arg(short, long, value_name = "TAG,TAG")]
    tags: Option<String>,

    /// Show only stacks with any of these tags
    #[arg(long, value_name = "TAG,TAG")]
    tags_any: Option<String>,

    /// Show only stacks that do not have all of these tags
    #[arg(long, value_name = "TAG,TAG")]
    not_tags: Option<String>,

    /// Show only stacks that have none of these tags
    #[arg(long, value_name = "TAG,TAG")]
    not_tags_any: Option<String>,

    #[command(flatten)]
    page: HeatPage,

    /// Sort keys: stack_name, stack_status, creation_time, updated_time
    #[arg(short = 'k', long, value_name = "KEY;KEY")]
    sort_keys: Vec<String>,

    /// Sort direction: asc or desc
    #[arg(short = 'd', long, value_name = "DIRECTION")]
    sort_dir: Option<String>,

    /// List the stacks of all projects (administrators only)
    #[arg(short, long)]
    global_tenant: bool,

    /// Show the owner of each stack
    #[arg(short = 'o', long)]
    show_owner: bool,
}

const SORT_KEYS: [&str; 4] = ["stack_name", "stack_status", "creation_time", "updated_time"];

impl StackList {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let keys: Vec<String> =
            self.sort_keys.iter().flat_map(|keys| keys.split(';')).map(str::to_owned).collect();
        if let Some(key) = keys.iter().find(|key| !SORT_KEYS.contains(&&***key)) {
            let known = quoted_list(SORT_KEYS);
            let text = format!("Sorting key '{key}' not one of the supported keys: {known}");
            return Err(ClientError::new(text));
        }
        let mut asked = pairs(&self.filters)?;
        let flags = [
            (self.show_deleted, "show_deleted"),
            (self.show_nested, "show_nested"),
            (self.show_hidden, "show_hidden"),
            (self.global_tenant, "global_tenant"),
        ];
        for (_, name) in flags.into_iter().filter(|(on, _)| *on) {
            asked.extend(query([(name, "True")]));
        }
        for (name, value) in [
            ("tags", &self.tags),
            ("tags_any", &self.tags_any),
            ("not_tags", &self.not_tags),
            ("not_tags_any", &self.not_tags_any),
            ("marker", &self.page.marker),
            ("sort_dir", &self.sort_dir),
        ] {
            asked.extend(value.as_ref().map(|value| (name.to_owned(), value.clone())));
        }
        asked.extend(keys.iter().map(|key| ("sort_keys".to_owned(), key.clone())));
        let stacks = client.heat.stacks(asked, self.page.limit).await?;
        let mut columns = COLUMNS.to_vec();
        if self.show_nested {
            columns.push("parent");
        }
        if self.show_owner || self.global_tenant {
            columns.push("stack_owner");
        }
        if self.show_deleted {
            columns.push("deletion_time");
        }
        with_project(&mut columns, &stacks);
        let sort = keys.is_empty().then_some("creation_time");
        print::list(client, &columns, &stacks, sort)
    }
}

const COLUMNS: [&str; 5] = ["id", "stack_name", "stack_status", "creation_time", "updated_time"];

fn with_project(columns: &mut Vec<&str>, stacks: &[Value]) {
    if stacks.iter().any(|stack| !text(stack, "project").is_empty()) {
        columns.push("project");
    }
}

/// Prints the list of all stacks, as most `heat` commands do at their end.
pub(super) async fn list_all(client: &mut Client<'_, '_>) -> Result<()> {
    let stacks =
        client.heat.stacks(Query::new(), None).await.or_not_found(|| "Stacks not found".into())?;
    let mut columns = COLUMNS.to_vec();
    with_project(&mut columns, &stacks);
    print::list(client, &columns, &stacks, Some("creation_time"))
}
