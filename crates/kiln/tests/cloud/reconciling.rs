//! A database that is restored from a backup, and the objects in the cloud that it does not know.

use super::kiln_process::{KilnProcess, Who};
use super::life::expect;
use crate::attacks::target::Target;
use serde_json::{Value as Json, json};

const TEMPLATE: &str = "\
heat_template_version: 2021-04-16
resources:
  net: {type: OS::Neutron::Net}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.0.0.0/24}}
  port: {type: OS::Neutron::Port, properties: {network: {get_resource: net}}, depends_on: subnet}
  router: {type: OS::Neutron::Router}
  interface: {type: OS::Neutron::RouterInterface, properties: {router: {get_resource: router}, subnet: {get_resource: subnet}}}
  rules: {type: OS::Neutron::SecurityGroup}
  volume: {type: OS::Cinder::Volume, properties: {size: 1}}
  server: {type: OS::Nova::Server, properties: {flavor: m1.small, image: cirros, networks: [{port: {get_resource: port}}]}}
";

async fn create(kiln: &KilnProcess, stack: &str) {
    let body = json!({ "stack_name": stack, "template": TEMPLATE, "timeout_mins": 10 });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    let (state, reason) = kiln.rest(Who::Demo, stack).await.expect("a stack");
    assert_eq!(state, "CREATE_COMPLETE", "{reason}");
}

/// Runs a command of the program beside the configuration.
fn run(kiln: &KilnProcess, arguments: &[&str]) -> String {
    let run = kiln.directory.run(&[arguments, &["--config", "kiln.conf"]].concat());
    assert_eq!(run.status, 0, "{arguments:?}: {}{}", run.out, run.err);
    run.out
}

/// What changed in the cloud. Trusts carry no mark that could be read: they stay, and lead to nothing.
async fn changed(kiln: &KilnProcess, before: &super::kiln_process::Objects) -> Vec<String> {
    let mut changed = kiln.changed_since(before).await;
    changed.retain(|it| !it.contains("OS-TRUST"));
    changed
}

// The services of the cloud answer while a command runs.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_restored_database_does_not_know_is_found_by_its_mark_and_removed() {
    let mut target = Target::with_files("", &[]).await;
    let kiln = &mut target.kiln;
    create(kiln, "kept").await;
    run(kiln, &["db", "backup", "copy.db"]);
    let backup = jiff::Timestamp::from_second(kiln_engine::now().micros() / 1_000_000);
    let since = backup.expect("a time").to_string();
    // Objects of others, one of them with a name of the same form.
    for name in ["mine", "web-net-abcdefghijkl"] {
        let body = json!({ "network": { "name": name } });
        let reply = kiln.cloud(Who::Demo, "POST", "/network/v2.0/networks", Some(body)).await;
        assert_eq!(reply.status, 201, "{}", reply.body);
    }
    // The first list of security groups makes that of the service user's project.
    assert_eq!(run(kiln, &["admin", "orphans", "-f", "json"]).trim(), "[]");
    let before = kiln.objects().await;
    for stack in ["new-1", "new-2", "new-3"] {
        create(kiln, stack).await;
    }
    kiln.process.kill().expect("it is killed");
    kiln.process.wait().expect("it is gone");
    let restored = run(kiln, &["db", "restore", "copy.db"]);
    assert!(restored.contains("kiln.db.before-restore"), "{restored}");
    let with_new = kiln.objects().await;
    assert_ne!(before, with_new);

    let listed: Json =
        serde_json::from_str(&run(kiln, &["admin", "orphans", "-f", "json"])).expect("JSON");
    let listed = listed.as_array().expect("a list");
    // Everything but the router interface, which is a port of the router.
    assert_eq!(listed.len(), 3 * 7, "{listed:#?}");
    let would = run(kiln, &["admin", "reconcile", "--since", &since]);
    assert!(
        would.ends_with("21 objects. Nothing was changed; --remove deletes them.\n"),
        "{would}"
    );
    assert_eq!(changed(kiln, &with_new).await, Vec::<String>::new());

    let removed = run(kiln, &["admin", "reconcile", "--since", &since, "--remove"]);
    assert!(removed.ends_with("21 of 21 objects removed.\n"), "{removed}");
    assert_eq!(changed(kiln, &before).await, Vec::<String>::new(), "left, or not ours");
    assert_eq!(run(kiln, &["admin", "orphans", "-f", "json"]).trim(), "[]");
}
