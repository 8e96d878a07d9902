//! The books: what the service knows against what is in the cloud, and what is left when everything was deleted.

use super::api::Client;
use super::cloud::Objects;
use super::experiment::Experiment;
use super::random::Random;
use super::stack::Stack;
use super::templates::FOREIGN;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The collections in which every object belongs to a resource.
const COLLECTIONS: [&str; 6] = [
    "network.networks",
    "network.subnets",
    "network.routers",
    "compute.servers",
    "compute.keypairs",
    "volume.volumes",
];

/// How often the cloud is looked at until nothing is left, and the pause between: trusts are revoked after their stack is
/// gone.
const LOOKS: usize = 60;
const PAUSE: Duration = Duration::from_millis(500);

/// Creates objects of another user in the cloud, with the names of the stacks' objects.
pub(super) async fn add_foreign_objects(user: &super::cloud::CloudUser) -> io::Result<()> {
    let volume = json!({ "volume": { "name": FOREIGN, "size": 1 } });
    let path = format!("/volume/v3/{}/volumes", user.project);
    for (path, body) in [
        (path.as_str(), volume.clone()),
        (path.as_str(), volume),
        ("/network/v2.0/networks", json!({ "network": { "name": FOREIGN } })),
    ] {
        let (status, reply) = user.ask("POST", path, Some(&body)).await?;
        if status >= 300 {
            return Err(io::Error::other(format!("{path}: {status} {reply}")));
        }
    }
    // They are ready when they are first looked at.
    let mut is_ready = false;
    while !is_ready {
        let (_, listed) = user.ask("GET", &format!("{path}/detail"), None).await?;
        let all = listed["volumes"].as_array().into_iter().flatten();
        is_ready = all.filter(|volume| volume["status"] == "available").count() == 2;
    }
    // The cloud makes a project's default group when it is first looked for.
    user.ask("GET", "/network/v2.0/security-groups", None).await.map(drop)
}

/// Compares what the service knows with what is in the cloud, while the stacks are there.
pub(super) async fn compare(experiment: &Arc<Experiment>) -> io::Result<()> {
    let mut random = Random::new(experiment.options.seed, 0);
    let client = Client::new(experiment.site.apis(), &experiment.demo).map_err(io::Error::other)?;
    let mut known = BTreeSet::new();
    let (_, listed) = client.read(&mut random, "/stacks?limit=1000").await;
    for stack in listed["stacks"].as_array().into_iter().flatten() {
        let text = |name: &str| stack[name].as_str().unwrap_or_default();
        let path =
            format!("/stacks/{}/{}/resources?nested_depth=5", text("stack_name"), text("id"));
        let (_, resources) = client.read(&mut random, &path).await;
        let resources = resources["resources"].as_array().into_iter().flatten();
        known.extend(
            resources.filter_map(|it| Some(it["physical_resource_id"].as_str()?.to_owned())),
        );
    }
    let now = experiment.admin.objects().await?;
    for collection in COLLECTIONS {
        let there = now.get(collection).cloned().unwrap_or_default();
        let before = experiment.before.get(collection).cloned().unwrap_or_default();
        for id in there.difference(&before) {
            experiment.ledger.count("objects compared with the books");
            // The keys of objects may have their project in front.
            if !known.iter().any(|known| id == known || id.ends_with(&format!("/{known}"))) {
                let lines = experiment.site.log_lines(id, 12);
                experiment.ledger.violated(
                    "orphan",
                    format!("{collection} {id} is in no stack"),
                    lines,
                );
            }
        }
    }
    Ok(())
}

/// Deletes what is left of the stacks, and compares the cloud with what it was before.
pub(super) async fn clear(experiment: &Arc<Experiment>, stacks: Vec<Stack>) -> io::Result<()> {
    let mut deleting = tokio::task::JoinSet::new();
    for stack in stacks {
        deleting.spawn(stack.delete());
    }
    while deleting.join_next().await.is_some() {}
    let mut different = Vec::new();
    for _ in 0..LOOKS {
        different = difference(&experiment.before, &experiment.admin.objects().await?);
        if different.is_empty() {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    for (kind, collection, id) in different {
        let lines = experiment.site.log_lines(&id, 12);
        experiment.ledger.violated(kind, format!("{collection} {id}"), lines);
    }
    Ok(())
}

/// The objects that one of two clouds has and the other has not.
fn difference(before: &Objects, after: &Objects) -> Vec<(&'static str, String, String)> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let of = |objects: &Objects| objects.get(name).cloned().unwrap_or_default();
        let (before, after) = (of(before), of(after));
        found.extend(after.difference(&before).map(|id| ("left behind", name.clone(), id.clone())));
        found.extend(
            before.difference(&after).map(|id| ("foreign object gone", name.clone(), id.clone())),
        );
    }
    found
}

/// Checks that the objects of another user are unchanged.
pub(super) async fn foreign_objects(experiment: &Experiment) -> io::Result<Value> {
    let mut all = Vec::new();
    let volumes = format!("/volume/v3/{}/volumes/detail?name={FOREIGN}", experiment.demo.project);
    for (path, many) in
        [(volumes.as_str(), "volumes"), ("/network/v2.0/networks?name=data", "networks")]
    {
        let (_, listed) = experiment.demo.ask("GET", path, None).await?;
        all.extend(listed[many].as_array().cloned().unwrap_or_default());
    }
    Ok(Value::from(all))
}
