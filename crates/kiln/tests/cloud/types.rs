//! Every type of resource: created, updated, checked and deleted, with nothing left behind.
//!
//! A case is a file of templates: the first is created, each further one, behind a line `# then`, is an update. A line
//! `# as admin` at the top has the administrator do it; `# leaves COLLECTION` is said of what outlives its stack. What is
//! in the folder `files` is sent along. What the cases show is written down in `docs/resource-types.md`: `dev/types`
//! renews it.

use super::kiln_process::{KilnProcess, Who};
use super::life::{check, delete, ended, expect, path, update};
use super::side::side_by_side;
use super::table::{Table, compare};
use serde_json::{Value as Json, json};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[tokio::test]
async fn every_type_lives_and_leaves_nothing_behind() {
    let table = RefCell::new(Table::new());
    let only = std::env::var_os("KILN_CASE").unwrap_or_default().to_string_lossy().into_owned();
    let cases: Vec<PathBuf> =
        cases().into_iter().filter(|path| name(path).contains(&only)).collect();
    let count = cases.len();
    let ends = side_by_side(cases, async |kiln, path| {
        run(kiln, &path, &table).await.map_err(|why| format!("{}: {why}", name(&path)))
    });
    let wrong: Vec<String> = ends.await.into_iter().filter_map(Result::err).collect();
    let table = table.into_inner();
    println!("{count} cases, {} types, {} wrong", table.len(), wrong.len());
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

pub(crate) async fn run(
    kiln: &KilnProcess,
    path: &Path,
    table: &RefCell<Table>,
) -> Result<(), String> {
    let text = std::fs::read_to_string(path).expect("a case");
    let who = if text.starts_with("# as admin") { Who::Admin } else { Who::Demo };
    let steps: Vec<&str> = text.split("\n# then\n").collect();
    let stack = name(path).replace(['/', '_'], "-");
    let before = kiln.objects().await;
    let lived = live(kiln, who, &stack, &steps, table).await;
    let deleted = delete(kiln, who, &stack).await;
    let kinds = lived?;
    deleted?;
    let kept = text.lines().next().and_then(|line| line.strip_prefix("# leaves "));
    let left = kiln.changed_besides(&before, kept).await;
    if !left.is_empty() {
        return Err(left.join(", "));
    }
    for kind in kinds {
        table.borrow_mut().entry(kind).or_default().deleted = true;
    }
    Ok(())
}

pub(crate) fn request(template: &str) -> Json {
    let files = std::fs::read_dir(folder().join("files")).expect("a folder").flatten();
    let files = files.map(|entry| {
        let text = std::fs::read_to_string(entry.path()).expect("a file");
        (entry.file_name().display().to_string(), Json::from(text))
    });
    let files: serde_json::Map<String, Json> = files.collect();
    json!({ "template": template, "files": files, "timeout_mins": 10 })
}

async fn live(
    kiln: &KilnProcess,
    who: Who,
    stack: &str,
    steps: &[&str],
    table: &RefCell<Table>,
) -> Result<BTreeSet<String>, String> {
    let mut body = request(steps[0]);
    body["stack_name"] = stack.into();
    expect(kiln.ask(who, "POST", "/stacks", Some(body)).await, "create")?;
    ended(kiln, who, stack, "CREATE_COMPLETE").await?;
    let mut kinds = BTreeSet::new();
    for (name, kind, _) in resources(kiln, who, stack).await {
        let attributes = attributes(kiln, who, stack, &name).await?;
        let mut table = table.borrow_mut();
        let seen = table.entry(kind.clone()).or_default();
        seen.created = true;
        seen.attributes |= attributes;
        kinds.insert(kind);
    }
    // An update without changes sends no call.
    let changes = kiln.changes().await;
    update(kiln, who, stack, &request(steps[0])).await?;
    if kiln.changes().await != changes {
        return Err("an update that changes nothing calls the cloud".into());
    }
    // Nor is it changed when it is compared with what there is.
    let mut same = request(steps[0]);
    same["converge"] = true.into();
    update(kiln, who, stack, &same).await?;
    if kiln.changes().await != changes {
        return Err("an update that converges finds what is not there".into());
    }
    for step in &steps[1..] {
        let before = resources(kiln, who, stack).await;
        update(kiln, who, stack, &request(step)).await?;
        for (name, kind, id) in resources(kiln, who, stack).await {
            let is_updated = before.iter().any(|it| it.0 == name && it.1 == kind && it.2 == id);
            table.borrow_mut().entry(kind.clone()).or_default().updated |= is_updated;
            kinds.insert(kind);
        }
    }
    check(kiln, who, stack).await?;
    for (_, kind, _) in resources(kiln, who, stack).await {
        table.borrow_mut().entry(kind).or_default().checked = true;
    }
    Ok(kinds)
}

/// Name, type and physical id of every resource.
pub(crate) async fn resources(
    kiln: &KilnProcess,
    who: Who,
    stack: &str,
) -> Vec<(String, String, String)> {
    let reply =
        kiln.ask(who, "GET", &format!("/stacks/{stack}/resources?nested_depth=5"), None).await;
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
async fn attributes(kiln: &KilnProcess, who: Who, stack: &str, name: &str) -> Result<bool, String> {
    let path = path(kiln, who, stack).await;
    let reply = kiln.ask(who, "GET", &format!("{path}/resources/{name}"), None).await;
    if reply.status == 404 {
        // It is in a nested stack.
        return Ok(false);
    }
    let body = expect(reply, "show")?;
    let attributes = body["resource"]["attributes"].as_object();
    Ok(attributes.is_some_and(|all| all.values().any(|value| !value.is_null())))
}
