//! Calls of which it is not known whether they took effect, for every type: nothing of others is touched, nothing is there
//! twice, nothing is left, and every stack can be deleted.
//!
//! A case is a type's template, with names of its objects or without, and a way in which the first call that creates something
//! in each collection goes wrong. Beside it there is a stack of the same template, whose objects have the same names. When the
//! stack is deleted, the reply to the first DELETE of each object is lost.

use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, expect};
use super::side::with_clouds;
use super::types::{cases, name, request};
use kiln_resources::registry::Registry;
use kiln_template::document::{Data, Node};
use kiln_template::{Limits, Sources, yaml};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What becomes of the names and descriptions that a template gives to objects.
#[derive(Clone, Copy, Debug)]
enum Naming {
    Absent,
    Name,
    NameAndDescription,
}

const NAMINGS: [Naming; 3] = [Naming::Absent, Naming::Name, Naming::NameAndDescription];

/// The ways in which a call goes wrong.
fn faults() -> [(&'static str, Json); 4] {
    [
        ("its reply is lost", json!("lost")),
        ("it is lost", json!("dropped")),
        ("it comes late", json!({ "late": 300 })),
        ("it is carried out and answered 500", json!({ "failed": 500 })),
    ]
}

struct Case {
    path: PathBuf,
    naming: Naming,
    fault: (&'static str, Json),
}

/// What a case came to.
enum End {
    Complete,
    /// The stack failed, and left nothing.
    Failed(String),
    /// The stack failed, and its reason named the object that it leaves, because nothing proves whose it is.
    Left(String),
    /// The template is not valid with such names.
    NotValid,
    Wrong(String),
}

/// How many types have a case in the usual tests.
const ONE_OF: usize = 4;

/// One combination for some of the types; `dev/test doubts` has all of them.
#[tokio::test]
async fn no_lost_call_touches_or_leaves_an_object() {
    let only = std::env::var_os("KILN_CASE").unwrap_or_default().to_string_lossy().into_owned();
    let is_all = std::env::var_os("KILN_DOUBTS").is_some_and(|it| it == "all");
    let mut all = Vec::new();
    let count = NAMINGS.len() * faults().len();
    let paths = cases().into_iter().filter(|path| name(path).contains(&only));
    for (number, path) in paths.enumerate() {
        for (at, naming) in NAMINGS.into_iter().enumerate() {
            for (of, fault) in faults().into_iter().enumerate() {
                let is_next =
                    number % ONE_OF == 0 && (number / ONE_OF) % count == at * faults().len() + of;
                if is_all || is_next {
                    all.push(Case { path: path.clone(), naming, fault });
                }
            }
        }
    }
    let count = all.len();
    let run = async |kiln: &KilnProcess, case: Case| {
        let told = format!("{}, {:?}, {}", name(&case.path), case.naming, case.fault.0);
        let end = live(kiln, &case).await;
        if let End::Wrong(why) = &end {
            println!("wrong: {told}: {why}");
        }
        (told, end)
    };
    let is_spoilt = |(_, end): &(String, End)| matches!(end, End::Wrong(_) | End::Left(_));
    let ends = with_clouds(&["--quiet", "1"], all, run, is_spoilt);
    let (mut complete, mut not_valid, mut left, mut wrong) = (0, 0, Vec::new(), Vec::new());
    let mut failed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (told, end) in ends.await {
        match end {
            End::Complete => complete += 1,
            End::NotValid => not_valid += 1,
            End::Left(why) => left.push(format!("{told}: {why}")),
            End::Failed(why) => failed.entry(why).or_default().push(told),
            End::Wrong(why) => wrong.push(format!("{told}: {why}")),
        }
    }
    let failures: usize = failed.values().map(Vec::len).sum();
    println!(
        "{count} cases: {complete} complete, {failures} failed and left nothing, {} left an object and named it, \
         {not_valid} not valid, {} wrong",
        left.len(),
        wrong.len()
    );
    left.iter().for_each(|told| println!("left and named: {told}"));
    for (why, told) in &failed {
        println!("{} failed: {why} ({})", told.len(), told.join("; "));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn live(kiln: &KilnProcess, case: &Case) -> End {
    let text = std::fs::read_to_string(&case.path).expect("a case");
    let who = if text.starts_with("# as admin") { Who::Admin } else { Who::Demo };
    let kept = text.lines().next().and_then(|line| line.strip_prefix("# leaves "));
    let first = text.split("\n# then\n").next().unwrap_or_default();
    let mut body = request(first);
    body["template"] = named(&case.path, first, case.naming);
    kiln.set_faults(json!([])).await;
    let before = kiln.objects().await;
    let end = beside_theirs(kiln, who, &body, &case.fault.1, kept).await;
    kiln.set_faults(json!([])).await;
    for stack in ["mine", "theirs"] {
        if let Err(why) = delete(kiln, who, stack).await {
            return End::Wrong(format!("{stack} cannot be deleted: {why}"));
        }
    }
    let left = kiln.changed_besides(&before, kept).await;
    match end {
        End::Wrong(_) | End::Left(_) => end,
        _ if !left.is_empty() => End::Wrong(format!("after both: {}", left.join(", "))),
        end => end,
    }
}

/// Creates a stack, another one whose calls go wrong, and deletes that one: the first one's objects are as before.
async fn beside_theirs(
    kiln: &KilnProcess,
    who: Who,
    body: &Json,
    fault: &Json,
    kept: Option<&str>,
) -> End {
    if let Err(why) = create(kiln, who, "theirs", body).await {
        // Some names are not valid, and some types need the ones of their templates.
        return if why.contains("is refused") { End::NotValid } else { End::Failed(why) };
    }
    let with_theirs = kiln.objects().await;
    // The guests of the test post messages as well: those arrive.
    let arrives = json!({ "path": "*/messages", "kind": { "slow": 0 } });
    let goes_wrong = json!({ "method": "POST", "when": "first_of_path", "kind": fault });
    kiln.set_faults(json!([arrives, goes_wrong])).await;
    let created = create(kiln, who, "mine", body).await;
    kiln.set_faults(json!([{ "method": "DELETE", "when": "first_of_path", "kind": "lost" }])).await;
    if let Err(why) = delete(kiln, who, "mine").await {
        return End::Wrong(format!("it cannot be deleted: {why}"));
    }
    kiln.set_faults(json!([])).await;
    let changed = kiln.changed_besides(&with_theirs, kept).await;
    if !changed.is_empty() {
        let created = created.err().unwrap_or_default();
        let is_named = |change: &String| {
            let id = change.rsplit(' ').next().unwrap_or_default();
            change.starts_with("left: ") && created.contains(id)
        };
        if changed.iter().all(is_named) {
            return End::Left(created);
        }
        return End::Wrong(format!("changed beside it: {} ({created})", changed.join(", ")));
    }
    match created {
        Ok(()) => End::Complete,
        Err(why) => End::Failed(why),
    }
}

async fn create(kiln: &KilnProcess, who: Who, stack: &str, body: &Json) -> Result<(), String> {
    let mut body = body.clone();
    body["stack_name"] = stack.into();
    expect(kiln.ask(who, "POST", "/stacks", Some(body)).await, "create")?;
    match kiln.rest(who, stack).await {
        Some((status, _)) if status == "CREATE_COMPLETE" => Ok(()),
        Some((_, reason)) => Err(reason),
        None => Err("the stack is gone".to_owned()),
    }
}

/// A template whose objects have such names.
fn named(path: &Path, text: &str, naming: Naming) -> Json {
    let mut sources = Sources::new();
    let file = sources.add("case.yaml", text);
    let (document, found) = yaml::read(file, text, &Limits::default());
    let mut template =
        document.as_ref().map(json_of).unwrap_or_else(|| panic!("{path:?}: {found:?}"));
    let Some(resources) = template["resources"].as_object_mut() else { return template };
    for (name, resource) in resources {
        let kind = resource["type"].as_str().unwrap_or_default();
        let Some(resource_type) = Registry::builtin().get(kind) else { continue };
        let has = |property: &str| resource_type.schema.property(property);
        let Some(of_name) = has("name") else { continue };
        let properties = resource.as_object_mut().expect("a resource").entry("properties");
        let properties = properties.or_insert_with(|| json!({}));
        let Some(properties) = properties.as_object_mut() else { continue };
        match naming {
            Naming::Absent if !of_name.required => _ = properties.remove("name"),
            Naming::Absent => {}
            Naming::Name => _ = properties.insert("name".into(), format!("same-{name}").into()),
            Naming::NameAndDescription => {
                properties.insert("name".into(), format!("same-{name}").into());
                if has("description").is_some() {
                    properties.insert("description".into(), "the same".into());
                }
            }
        }
    }
    template
}

fn json_of(node: &Node) -> Json {
    match &node.data {
        Data::Null => Json::Null,
        Data::Bool(flag) => (*flag).into(),
        Data::Int(number) => serde_json::from_str(&number.to_string()).expect("a number"),
        Data::Float(number) => (*number).into(),
        Data::Text(text) => text.to_string().into(),
        Data::List(items) => items.iter().map(json_of).collect(),
        Data::Map(map) => {
            let entries = map.iter().map(|entry| (entry.key.to_string(), json_of(&entry.value)));
            Json::Object(entries.collect::<Map<String, Json>>())
        }
    }
}
