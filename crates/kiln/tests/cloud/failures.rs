//! What becomes of objects after a failure: a healthy object stays, what a failed update left half done is repaired, and
//! whatever is given up nevertheless has an event that says why.

use super::kiln_process::{KilnProcess, Who};
use super::life::{self, delete, ended, expect, path};
use super::side::side_by_side;
use super::types::{cases, name, request, resources};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::registry::Registry;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

const WHO: Who = Who::Demo;
const STACK: &str = "failing";

fn template(resources: &str) -> Json {
    let text = format!("heat_template_version: 2021-04-16\nresources:\n{resources}");
    json!({ "template": text, "timeout_mins": 10 })
}

async fn create(kiln: &KilnProcess, body: &Json, wanted: &str) {
    let mut body = body.clone();
    body["stack_name"] = STACK.into();
    expect(kiln.ask(WHO, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    ended(kiln, WHO, STACK, wanted).await.expect(wanted);
}

async fn update(kiln: &KilnProcess, body: &Json, wanted: &str) {
    let path = path(kiln, WHO, STACK).await;
    let reply = kiln.ask(WHO, "PUT", &path, Some(body.clone())).await;
    expect(reply, "update").expect("an update");
    ended(kiln, WHO, STACK, wanted).await.expect(wanted);
}

async fn show(kiln: &KilnProcess, resource: &str) -> Json {
    let path = format!("{}/resources/{resource}", path(kiln, WHO, STACK).await);
    kiln.ask(WHO, "GET", &path, None).await.body["resource"].clone()
}

async fn id_of(kiln: &KilnProcess, resource: &str) -> String {
    let shown = show(kiln, resource).await;
    shown["physical_resource_id"].as_str().unwrap_or_else(|| panic!("{shown}")).to_owned()
}

/// The reasons of all events of a resource.
async fn reasons(kiln: &KilnProcess, resource: &str) -> Vec<String> {
    let path = format!("{}/resources/{resource}/events", path(kiln, WHO, STACK).await);
    let events = kiln.ask(WHO, "GET", &path, None).await.body;
    let text = |event: &Json| event["resource_status_reason"].as_str().unwrap_or("").to_owned();
    events["events"].as_array().into_iter().flatten().map(text).collect()
}

/// What a preview says of a resource.
async fn forecast(kiln: &KilnProcess, body: &Json, resource: &str) -> Option<String> {
    let path = format!("{}/preview", path(kiln, WHO, STACK).await);
    let reply = kiln.ask(WHO, "PUT", &path, Some(body.clone())).await;
    let changes = expect(reply, "preview").expect("a preview")["resource_changes"].clone();
    let fates = changes.as_object().cloned().unwrap_or_default();
    let has =
        |all: &Json| all.as_array().into_iter().flatten().any(|it| it["resource_name"] == resource);
    fates.iter().find(|(_, all)| has(all)).map(|(fate, _)| fate.clone())
}

async fn volume(kiln: &KilnProcess, id: &str) -> Json {
    kiln.cloud(WHO, "GET", &format!("/volume/v3/volumes/{id}"), None).await.body["volume"].clone()
}

fn refuse(method: &str, path: &str, status: u16) -> Json {
    json!([{ "method": method, "path": path, "kind": { "status": status } }])
}

const REPAIRED: &str = "Update status to COMPLETE for FAILED resource neither update nor replace.";

// --- updates ---

fn volume_of(properties: &str) -> Json {
    template(&format!("  it: {{type: OS::Cinder::Volume, properties: {properties}}}\n"))
}

#[tokio::test]
async fn a_volume_that_could_not_shrink_is_kept() {
    let kiln = KilnProcess::start(&[]).await;
    let (large, small) = (volume_of("{size: 2, name: data}"), volume_of("{size: 1, name: data}"));
    create(&kiln, &large, "CREATE_COMPLETE").await;
    let id = id_of(&kiln, "it").await;
    update(&kiln, &small, "UPDATE_FAILED").await;
    assert_eq!(id_of(&kiln, "it").await, id);
    assert_eq!(forecast(&kiln, &large, "it").await.as_deref(), Some("unchanged"));
    update(&kiln, &large, "UPDATE_COMPLETE").await;
    assert_eq!(id_of(&kiln, "it").await, id);
    assert_eq!(show(&kiln, "it").await["resource_status_reason"], REPAIRED);
    // A rollback keeps it as well.
    let mut with_rollback = small.clone();
    with_rollback["disable_rollback"] = false.into();
    update(&kiln, &with_rollback, "ROLLBACK_COMPLETE").await;
    assert_eq!(id_of(&kiln, "it").await, id);
    delete(&kiln, WHO, STACK).await.expect("gone");
}

#[tokio::test]
async fn what_a_failed_update_has_changed_is_changed_back() {
    let kiln = KilnProcess::start(&[]).await;
    let old = volume_of("{size: 2, name: data, metadata: {a: b}, read_only: false}");
    create(&kiln, &old, "CREATE_COMPLETE").await;
    let id = id_of(&kiln, "it").await;
    // Everything but the size is changed before the update fails.
    let new =
        volume_of("{size: 1, name: other, metadata: {c: d}, read_only: true, description: x}");
    update(&kiln, &new, "UPDATE_FAILED").await;
    assert_eq!(volume(&kiln, &id).await["name"], "other");
    assert_eq!(forecast(&kiln, &old, "it").await.as_deref(), Some("updated"));
    update(&kiln, &old, "UPDATE_COMPLETE").await;
    assert_eq!(id_of(&kiln, "it").await, id);
    let found = volume(&kiln, &id).await;
    assert_eq!((&found["name"], &found["size"]), (&json!("data"), &json!(2)));
    assert_eq!(found["metadata"]["a"], "b", "{found}");
    assert!(found["metadata"]["c"].is_null(), "{found}");
    assert_ne!(found["metadata"]["readonly"], "True", "{found}");
    assert_ne!(found["description"], "x", "{found}");
    delete(&kiln, WHO, STACK).await.expect("gone");
}

#[tokio::test]
async fn a_healthy_object_inside_a_nested_stack_is_kept() {
    let kiln = KilnProcess::start(&[]).await;
    let inner = "heat_template_version: 2021-04-16\nparameters: {size: {type: number}}\nresources:\n  it: {type: OS::Cinder::Volume, properties: {size: {get_param: size}}}\noutputs: {id: {value: {get_resource: it}}}\n";
    let of = |size: u32| {
        let mut body =
            template(&format!("  nest: {{type: inner.yaml, properties: {{size: {size}}}}}\n"));
        body["files"] = json!({ "inner.yaml": inner });
        body
    };
    create(&kiln, &of(2), "CREATE_COMPLETE").await;
    let ids = async || {
        let all = resources(&kiln, WHO, STACK).await;
        let mut ids: Vec<String> = all.into_iter().map(|(_, _, id)| id).collect();
        ids.sort();
        ids
    };
    let before = ids().await;
    update(&kiln, &of(1), "UPDATE_FAILED").await;
    update(&kiln, &of(2), "UPDATE_COMPLETE").await;
    assert_eq!(ids().await, before);
    delete(&kiln, WHO, STACK).await.expect("gone");
}

#[tokio::test]
async fn an_object_that_cannot_be_read_is_left_alone() {
    let kiln = KilnProcess::start(&[]).await;
    let (large, small) = (volume_of("{size: 2}"), volume_of("{size: 1}"));
    create(&kiln, &large, "CREATE_COMPLETE").await;
    let id = id_of(&kiln, "it").await;
    update(&kiln, &small, "UPDATE_FAILED").await;
    kiln.set_faults(refuse("GET", "*/volumes/*", 403)).await;
    update(&kiln, &large, "UPDATE_FAILED").await;
    kiln.set_faults(json!([])).await;
    update(&kiln, &large, "UPDATE_COMPLETE").await;
    assert_eq!(id_of(&kiln, "it").await, id);
    delete(&kiln, WHO, STACK).await.expect("gone");
}

#[tokio::test]
async fn an_object_that_broke_in_a_failed_update_is_replaced_and_that_is_told() {
    let kiln = KilnProcess::start(&[]).await;
    let (large, small) = (volume_of("{size: 2}"), volume_of("{size: 1}"));
    create(&kiln, &large, "CREATE_COMPLETE").await;
    for (status, words) in
        [(json!({ "status": "error" }), "its object is in error"), (Json::Null, "does not exist")]
    {
        let id = id_of(&kiln, "it").await;
        update(&kiln, &small, "UPDATE_FAILED").await;
        kiln.meddle("volume/volumes", &id, status).await;
        assert_eq!(forecast(&kiln, &large, "it").await.as_deref(), Some("replaced"));
        update(&kiln, &large, "UPDATE_COMPLETE").await;
        assert_ne!(id_of(&kiln, "it").await, id);
        let all = reasons(&kiln, "it").await;
        let is_told = |reason: &String| {
            reason.starts_with("The Resource it requires replacement: ") && reason.contains(words)
        };
        assert!(all.iter().any(is_told), "{all:?}");
    }
    delete(&kiln, WHO, STACK).await.expect("gone");
}

// --- creates, checks, deletes ---

const SERVER: &str = "  it: {type: OS::Nova::Server, properties: {flavor: m1.small, image: cirros, networks: [{network: private}], tags: [a]}}\n";

#[tokio::test]
async fn what_was_created_in_part_is_completed_and_what_was_not_is_created() {
    let kiln = KilnProcess::start(&[]).await;
    let body = template(SERVER);
    // There is no object.
    kiln.set_faults(refuse("POST", "*/servers", 400)).await;
    create(&kiln, &body, "CREATE_FAILED").await;
    kiln.set_faults(json!([])).await;
    update(&kiln, &body, "UPDATE_COMPLETE").await;
    let all = reasons(&kiln, "it").await;
    assert!(!all.iter().any(|reason| reason.contains("requires replacement")), "{all:?}");
    delete(&kiln, WHO, STACK).await.expect("gone");
    // The object is in error.
    kiln.set_faults(json!([{ "method": "POST", "path": "*/servers", "kind": "build_failure" }]))
        .await;
    create(&kiln, &body, "CREATE_FAILED").await;
    kiln.set_faults(json!([])).await;
    let id = id_of(&kiln, "it").await;
    update(&kiln, &body, "UPDATE_COMPLETE").await;
    assert_ne!(id_of(&kiln, "it").await, id);
    let all = reasons(&kiln, "it").await;
    assert!(all.iter().any(|reason| reason.contains("its object is in error")), "{all:?}");
    delete(&kiln, WHO, STACK).await.expect("gone");
    // The object is well, and something is missing.
    kiln.set_faults(refuse("PUT", "*/tags", 400)).await;
    create(&kiln, &body, "CREATE_FAILED").await;
    kiln.set_faults(json!([])).await;
    let id = id_of(&kiln, "it").await;
    update(&kiln, &body, "UPDATE_COMPLETE").await;
    assert_eq!(id_of(&kiln, "it").await, id);
    assert_eq!(show(&kiln, "it").await["attributes"]["tags"], json!(["a"]));
    delete(&kiln, WHO, STACK).await.expect("gone");
}

#[tokio::test]
async fn what_cannot_be_read_is_replaced_after_a_failure_and_that_is_told() {
    let kiln = KilnProcess::start(&[]).await;
    let of = |fail: bool| {
        template(&format!("  it: {{type: OS::Heat::TestResource, properties: {{fail: {fail}}}}}\n"))
    };
    create(&kiln, &of(false), "CREATE_COMPLETE").await;
    let id = id_of(&kiln, "it").await;
    update(&kiln, &of(true), "UPDATE_FAILED").await;
    assert_eq!(id_of(&kiln, "it").await, id);
    update(&kiln, &of(false), "UPDATE_COMPLETE").await;
    assert_ne!(id_of(&kiln, "it").await, id);
    let all = reasons(&kiln, "it").await;
    let told =
        "The Resource it requires replacement: it failed, and objects of this type cannot be read";
    assert!(all.iter().any(|reason| reason == told), "{all:?}");
    delete(&kiln, WHO, STACK).await.expect("gone");
}

#[tokio::test]
async fn what_is_marked_unhealthy_is_replaced() {
    let kiln = KilnProcess::start(&[]).await;
    let body = volume_of("{size: 1}");
    create(&kiln, &body, "CREATE_COMPLETE").await;
    let id = id_of(&kiln, "it").await;
    let path = path(&kiln, WHO, STACK).await;
    let mark = json!({ "mark_unhealthy": true, "resource_status_reason": "it smells" });
    let reply = kiln.ask(WHO, "PATCH", &format!("{path}/resources/it"), Some(mark)).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    update(&kiln, &body, "UPDATE_COMPLETE").await;
    assert_ne!(id_of(&kiln, "it").await, id);
    let all = reasons(&kiln, "it").await;
    assert!(all.iter().any(|reason| reason == "it smells"), "{all:?}");
    delete(&kiln, WHO, STACK).await.expect("gone");
}

#[tokio::test]
async fn what_could_not_be_deleted_is_used_again() {
    let kiln = KilnProcess::start(&[]).await;
    let net = "  net: {type: OS::Neutron::Net}\n";
    let both =
        template(&format!("{net}  it: {{type: OS::Cinder::Volume, properties: {{size: 1}}}}\n"));
    create(&kiln, &both, "CREATE_COMPLETE").await;
    let id = id_of(&kiln, "it").await;
    kiln.set_faults(refuse("DELETE", "*/volumes/*", 403)).await;
    update(&kiln, &template(net), "UPDATE_FAILED").await;
    kiln.set_faults(json!([])).await;
    update(&kiln, &both, "UPDATE_COMPLETE").await;
    assert_eq!(id_of(&kiln, "it").await, id);
    assert_eq!(show(&kiln, "it").await["resource_status"], "UPDATE_COMPLETE");
    delete(&kiln, WHO, STACK).await.expect("gone");
}

// --- every type ---

#[tokio::test]
async fn no_type_loses_a_healthy_object_to_a_failed_update() {
    let only = std::env::var_os("KILN_CASE").unwrap_or_default().to_string_lossy().into_owned();
    let cases: Vec<PathBuf> =
        cases().into_iter().filter(|path| name(path).contains(&only)).collect();
    let ends = side_by_side(cases, async |kiln, path| {
        survive(kiln, &path).await.map_err(|why| format!("{}: {why}", name(&path)))
    });
    let mut failures = 0;
    let mut wrong = Vec::new();
    for end in ends.await {
        match end {
            Ok(count) => failures += count,
            Err(why) => wrong.push(why),
        }
    }
    println!("{failures} failed updates, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!only.is_empty() || failures > 100, "only {failures} updates failed");
}

/// Creates the first template of a case; then each update of the case fails in several ways, and the stack is brought back
/// by another update or by a rollback. Returns how many updates failed.
async fn survive(kiln: &KilnProcess, path: &std::path::Path) -> Result<usize, String> {
    let text = std::fs::read_to_string(path).expect("a case");
    let who = if text.starts_with("# as admin") { Who::Admin } else { Who::Demo };
    let steps: Vec<&str> = text.split("\n# then\n").collect();
    let stack = format!("failing-{}", name(path).replace(['/', '_'], "-"));
    let lived = fail_all(kiln, who, &stack, &steps).await;
    kiln.set_faults(json!([])).await;
    // A volume that keeps its type needs a second try: the type can be deleted after the volume.
    if delete(kiln, who, &stack).await.is_err() {
        delete(kiln, who, &stack).await?;
    }
    lived
}

async fn fail_all(
    kiln: &KilnProcess,
    who: Who,
    stack: &str,
    steps: &[&str],
) -> Result<usize, String> {
    if steps.len() < 2 {
        return Ok(0);
    }
    let first = request(steps[0]);
    let mut new = first.clone();
    new["stack_name"] = stack.into();
    expect(kiln.ask(who, "POST", "/stacks", Some(new)).await, "create")?;
    ended(kiln, who, stack, "CREATE_COMPLETE").await?;
    let mut ids = ids(kiln, who, stack).await;
    let path = path(kiln, who, stack).await;
    let mut failures = 0;
    for (method, when, rolls_back) in [
        ("PUT", json!("always"), false),
        ("PATCH", json!("always"), false),
        ("POST", json!("always"), false),
        ("PUT", json!({ "first": 1 }), true),
        ("PATCH", json!({ "first": 1 }), true),
        ("POST", json!({ "first": 1 }), true),
    ] {
        let fault = json!([{ "method": method, "when": when, "kind": { "status": 400 } }]);
        kiln.set_faults(fault.clone()).await;
        let mut body = request(steps[1]);
        body["disable_rollback"] = (!rolls_back).into();
        let reply = kiln.ask(who, "PUT", &path, Some(body)).await;
        if reply.status >= 400 {
            // What a request asks of the cloud fails, too.
            kiln.set_faults(json!([])).await;
            continue;
        }
        let (status, reason) = kiln.rest(who, stack).await.ok_or("the stack is gone")?;
        kiln.set_faults(json!([])).await;
        let told = format!("{fault}: {status}: {reason}");
        match status.as_str() {
            // No call was refused: the next try begins with the first template again.
            "UPDATE_COMPLETE" => {
                // Some changes cannot be undone, such as the size of a volume.
                if life::update(kiln, who, stack, &first).await.is_err() {
                    return Ok(failures);
                }
                ids = self::ids(kiln, who, stack).await;
                continue;
            }
            "UPDATE_FAILED" if !rolls_back => {
                let reply = kiln.ask(who, "PUT", &path, Some(first.clone())).await;
                expect(reply, "update back")?;
                match ended(kiln, who, stack, "UPDATE_COMPLETE").await {
                    Ok(()) => {}
                    // What was enlarged cannot be made smaller: the object stays, and the update fails.
                    Err(why) if why.contains("must be larger") => {
                        let now = self::ids(kiln, who, stack).await;
                        return if now == ids { Ok(failures + 1) } else { Err(why) };
                    }
                    Err(why) => return Err(format!("{told}; then {why}")),
                }
            }
            "ROLLBACK_COMPLETE" if rolls_back => {}
            _ => return Err(told),
        }
        failures += 1;
        let now = self::ids(kiln, who, stack).await;
        let lost: Vec<_> = ids.iter().filter(|(name, id)| now.get(*name) != Some(id)).collect();
        if !lost.is_empty() {
            return Err(format!("{told}: others in place of {lost:?}: {now:?}"));
        }
    }
    Ok(failures)
}

/// The physical ids of all resources whose objects can be read.
async fn ids(kiln: &KilnProcess, who: Who, stack: &str) -> BTreeMap<(String, String), String> {
    let types = Registry::builtin();
    let can_be_read = |kind: &str| {
        let resource_type = types.get(kind);
        resource_type.is_none_or(|it| it.behaviour.handler(OperationKind::Observe).is_some())
    };
    let all = resources(kiln, who, stack).await.into_iter();
    all.filter(|(_, kind, _)| can_be_read(kind))
        .map(|(name, kind, id)| ((name, kind), id))
        .collect()
}
