//! Every type of resource: created, updated, checked and deleted, with nothing left behind.
//!
//! A case is a file of templates: the first is created, each further one, behind a line `# then`, is an update. A line
//! `# as admin` at the top has the administrator do it. What the cases show is written down in
//! `docs/resource-types.md`: `dev/types` renews it.

use super::life::{check, delete, ended, expect, path, update};
use super::world::{Who, World};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What was seen of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) created: bool,
    pub(crate) updated: bool,
    pub(crate) checked: bool,
    pub(crate) deleted: bool,
    pub(crate) attributes: bool,
}

/// The types that were seen.
pub(crate) type Table = BTreeMap<String, Seen>;

#[tokio::test]
async fn every_type_lives_and_leaves_nothing_behind() {
    let world = World::start(&[]).await;
    let mut table = Table::new();
    let mut wrong = Vec::new();
    let only = std::env::var_os("KILN_CASE").unwrap_or_default().to_string_lossy().into_owned();
    let cases: Vec<PathBuf> =
        cases().into_iter().filter(|path| name(path).contains(&only)).collect();
    for path in &cases {
        if let Err(why) = run(&world, path, &mut table).await {
            wrong.push(format!("{}: {why}", name(path)));
        }
    }
    println!("{} cases, {} types, {} wrong", cases.len(), table.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if only.is_empty() {
        compare(&table);
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cloud/types")
}

pub(crate) fn name(path: &Path) -> String {
    path.strip_prefix(folder()).unwrap_or(path).with_extension("").display().to_string()
}

pub(crate) fn cases() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    found.extend(path.extension().is_some_and(|it| it == "yaml").then_some(path))
                }
            }
        }
    }
    found.sort();
    found
}

pub(crate) async fn run(world: &World, path: &Path, table: &mut Table) -> Result<(), String> {
    let text = std::fs::read_to_string(path).expect("a case");
    let who = if text.starts_with("# as admin") { Who::Admin } else { Who::Demo };
    let steps: Vec<&str> = text.split("\n# then\n").collect();
    let stack = name(path).replace(['/', '_'], "-");
    let before = world.objects().await;
    let lived = live(world, who, &stack, &steps, table).await;
    let deleted = delete(world, who, &stack).await;
    let kinds = lived?;
    deleted?;
    let left = world.changed_since(&before).await;
    if !left.is_empty() {
        return Err(left.join(", "));
    }
    for kind in kinds {
        table.entry(kind).or_default().deleted = true;
    }
    Ok(())
}

fn request(template: &str) -> Json {
    json!({ "template": template, "timeout_mins": 10 })
}

async fn live(
    world: &World,
    who: Who,
    stack: &str,
    steps: &[&str],
    table: &mut Table,
) -> Result<BTreeSet<String>, String> {
    let mut body = request(steps[0]);
    body["stack_name"] = stack.into();
    expect(world.ask(who, "POST", "/stacks", Some(body)).await, "create")?;
    ended(world, who, stack, "CREATE_COMPLETE").await?;
    let mut kinds = BTreeSet::new();
    for (name, kind, _) in resources(world, who, stack).await {
        let seen = table.entry(kind.clone()).or_default();
        seen.created = true;
        seen.attributes |= attributes(world, who, stack, &name).await?;
        kinds.insert(kind);
    }
    // What does not change is left alone.
    let changes = world.changes().await;
    update(world, who, stack, &request(steps[0])).await?;
    if world.changes().await != changes {
        return Err("an update that changes nothing calls the cloud".into());
    }
    for step in &steps[1..] {
        let before = resources(world, who, stack).await;
        update(world, who, stack, &request(step)).await?;
        for (name, kind, id) in resources(world, who, stack).await {
            let is_updated = before.iter().any(|it| it.0 == name && it.1 == kind && it.2 == id);
            table.entry(kind.clone()).or_default().updated |= is_updated;
            kinds.insert(kind);
        }
    }
    check(world, who, stack).await?;
    for (_, kind, _) in resources(world, who, stack).await {
        table.entry(kind).or_default().checked = true;
    }
    Ok(kinds)
}

/// Name, type and physical id of every resource.
async fn resources(world: &World, who: Who, stack: &str) -> Vec<(String, String, String)> {
    let reply =
        world.ask(who, "GET", &format!("/stacks/{stack}/resources?nested_depth=5"), None).await;
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let all = reply.body["resources"].as_array().cloned().unwrap_or_default();
    all.iter()
        .map(|it| {
            (
                text(&it["resource_name"]),
                text(&it["resource_type"]),
                text(&it["physical_resource_id"]),
            )
        })
        .collect()
}

/// Whether a resource tells something of itself.
async fn attributes(world: &World, who: Who, stack: &str, name: &str) -> Result<bool, String> {
    let path = path(world, who, stack).await;
    let reply = world.ask(who, "GET", &format!("{path}/resources/{name}"), None).await;
    if reply.status == 404 {
        // It is in a nested stack.
        return Ok(false);
    }
    let body = expect(reply, "show")?;
    let attributes = body["resource"]["attributes"].as_object();
    Ok(attributes.is_some_and(|all| all.values().any(|value| !value.is_null())))
}

/// Compares what was seen with the table in the documentation, or renews that.
fn compare(table: &Table) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/resource-types.md");
    let text = page(table);
    if std::env::var_os("KILN_RENEW").is_some() {
        std::fs::write(path, text).expect("the page is written");
        return;
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(kept, text, "docs/resource-types.md is not what was seen: run dev/types");
}

fn page(table: &Table) -> String {
    let mut text = String::from(
        "# Resource types\n\nMade by `dev/types`: what the tests saw of each type on the simulated cloud.\n\n\
         | type | create | attributes | update | check | delete |\n|---|---|---|---|---|---|\n",
    );
    let mark = |seen: bool| if seen { "yes" } else { "–" };
    for (kind, seen) in table.iter().filter(|(kind, _)| kind.contains("::")) {
        text.push_str(&format!(
            "| {kind} | {} | {} | {} | {} | {} |\n",
            mark(seen.created),
            mark(seen.attributes),
            mark(seen.updated),
            mark(seen.checked),
            mark(seen.deleted),
        ));
    }
    text
}
