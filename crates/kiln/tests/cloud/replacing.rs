//! Replacements that take over what only one object can have: a port its address, a server its fixed address.

use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, ended, expect, path};
use serde_json::{Value as Json, json};

const WHO: Who = Who::Demo;
const STACK: &str = "replacing";

const NETWORK: &str = "
  net: {type: OS::Neutron::Net}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.60.0.0/24}}
";

fn template(resources: &str) -> Json {
    let text = format!("heat_template_version: 2021-04-16\nresources:{NETWORK}{resources}");
    json!({ "template": text, "timeout_mins": 5 })
}

/// A port with an address and a hardware address; another hardware address needs another port.
fn port(mac: &str, more: &str) -> Json {
    template(&format!(
        "  it: {{type: OS::Neutron::Port, properties: {{network: {{get_resource: net}}, mac_address: '{mac}', fixed_ips: [{{subnet: {{get_resource: subnet}}, ip_address: 10.60.0.9}}]}}}}\n{more}"
    ))
}

fn server(key: &str, network: &str, more: &str) -> Json {
    template(&format!(
        "  it: {{type: OS::Nova::Server, properties: {{flavor: m1.small, image: cirros, {key} networks: [{{{network}, fixed_ip: 10.60.0.9}}]}}}}\n{more}"
    ))
}

/// Fails after everything else.
const FAILS: &str =
    "  bad: {type: OS::Heat::TestResource, depends_on: it, properties: {fail: true}}\n";

async fn create(kiln: &KilnProcess, body: &Json) {
    let mut body = body.clone();
    body["stack_name"] = STACK.into();
    expect(kiln.ask(WHO, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    ended(kiln, WHO, STACK, "CREATE_COMPLETE").await.expect("made");
}

async fn update(kiln: &KilnProcess, body: &Json, rolls_back: bool, wanted: &str) {
    let mut body = body.clone();
    body["disable_rollback"] = (!rolls_back).into();
    let path = path(kiln, WHO, STACK).await;
    expect(kiln.ask(WHO, "PUT", &path, Some(body)).await, "update").expect("an update");
    ended(kiln, WHO, STACK, wanted).await.expect(wanted);
}

async fn id_of(kiln: &KilnProcess) -> String {
    let path = format!("{}/resources/it", path(kiln, WHO, STACK).await);
    let shown = kiln.ask(WHO, "GET", &path, None).await.body;
    shown["resource"]["physical_resource_id"].as_str().expect("an id").to_owned()
}

/// The devices and ports that have the address.
async fn holders(kiln: &KilnProcess) -> Vec<(String, String)> {
    let ports = kiln.cloud(WHO, "GET", "/network/v2.0/ports", None).await.body;
    let all = ports["ports"].as_array().cloned().unwrap_or_default();
    let has = |port: &&Json| port["fixed_ips"].to_string().contains("\"10.60.0.9\"");
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    all.iter().filter(has).map(|port| (text(&port["device_id"]), text(&port["id"]))).collect()
}

#[tokio::test]
async fn a_port_passes_its_address_on_and_gets_it_back() {
    let kiln = KilnProcess::start(&[]).await;
    let before = kiln.objects().await;
    let (old, new) = ("fa:16:3e:00:00:01", "fa:16:3e:00:00:02");
    create(&kiln, &port(old, "")).await;
    let first = id_of(&kiln).await;
    // The replacement is created, then something else fails: all goes back.
    update(&kiln, &port(new, FAILS), true, "ROLLBACK_COMPLETE").await;
    assert_eq!(id_of(&kiln).await, first);
    assert_eq!(holders(&kiln).await, [(String::new(), first.clone())]);
    // The replacement itself cannot be created.
    let fault = json!([{ "method": "POST", "path": "*/ports", "kind": { "status": 400 } }]);
    kiln.set_faults(fault).await;
    update(&kiln, &port(new, ""), false, "UPDATE_FAILED").await;
    kiln.set_faults(json!([])).await;
    update(&kiln, &port(old, ""), false, "UPDATE_COMPLETE").await;
    assert_eq!(id_of(&kiln).await, first);
    assert_eq!(holders(&kiln).await, [(String::new(), first.clone())]);
    // Nothing fails.
    update(&kiln, &port(new, ""), false, "UPDATE_COMPLETE").await;
    let second = id_of(&kiln).await;
    assert_ne!(second, first);
    assert_eq!(holders(&kiln).await, [(String::new(), second)]);
    delete(&kiln, WHO, STACK).await.expect("gone");
    assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_server_passes_its_fixed_address_on_and_gets_it_back() {
    let kiln = KilnProcess::start(&[]).await;
    let before = kiln.objects().await;
    for network in ["network: {get_resource: net}", "subnet: {get_resource: subnet}"] {
        let (old, new) = ("", "key_name: key,");
        create(&kiln, &server(old, network, "")).await;
        let first = id_of(&kiln).await;
        let devices = async || -> Vec<String> {
            holders(&kiln).await.into_iter().map(|(device, _)| device).collect()
        };
        assert_eq!(devices().await, std::slice::from_ref(&first));
        update(&kiln, &server(new, network, FAILS), true, "ROLLBACK_COMPLETE").await;
        assert_eq!(id_of(&kiln).await, first, "{network}");
        assert_eq!(devices().await, std::slice::from_ref(&first), "{network}");
        update(&kiln, &server(new, network, ""), false, "UPDATE_COMPLETE").await;
        let second = id_of(&kiln).await;
        assert_ne!(second, first);
        assert_eq!(devices().await, [second], "{network}");
        delete(&kiln, WHO, STACK).await.expect("gone");
        assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new(), "{network}");
    }
}

/// Every update replaces the handle, although nothing about it is updated.
#[tokio::test]
async fn a_handle_that_is_always_replaced_has_no_event_of_an_update() {
    let kiln = KilnProcess::start(&[]).await;
    let body = template("  it: {type: OS::Heat::UpdateWaitConditionHandle}\n");
    create(&kiln, &body).await;
    let first = id_of(&kiln).await;
    update(&kiln, &body, false, "UPDATE_COMPLETE").await;
    assert_ne!(id_of(&kiln).await, first);
    let path = format!("{}/resources/it/events", path(&kiln, WHO, STACK).await);
    let events = kiln.ask(WHO, "GET", &path, None).await.body;
    let states = events["events"].as_array().expect("a list").iter();
    let mut states: Vec<&str> = states.filter_map(|it| it["resource_status"].as_str()).collect();
    states.sort_unstable();
    assert_eq!(
        states,
        [
            "CREATE_COMPLETE",
            "CREATE_COMPLETE",
            "CREATE_IN_PROGRESS",
            "CREATE_IN_PROGRESS",
            "DELETE_COMPLETE",
            "DELETE_IN_PROGRESS"
        ]
    );
    delete(&kiln, WHO, STACK).await.expect("deleted");
}
