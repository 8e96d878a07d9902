//! The global environment: an operator's own types, from the files to stacks, and files that cannot be used.

use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, ended, expect, update};
use crate::attacks::target::Target;
use crate::test_directory::TestDirectory;
use serde_json::{Value as Json, json};

/// A server with the image, the flavor and the network that are asked for.
const NESTED: &str = "\
heat_template_version: 2013-05-23
description: A server of this cloud.
parameters:
  image: {type: string}
  flavor: {type: string}
  private_net: {type: string}
resources:
  port: {type: OS::Neutron::Port, properties: {network: {get_param: private_net}}}
  server:
    type: OS::Nova::Server
    properties:
      image: {get_param: image}
      flavor: {get_param: flavor}
      networks: [{port: {get_resource: port}}]
outputs:
  address: {description: The address., value: {get_attr: [port, fixed_ips, 0, ip_address]}}
";

/// A group of one server of a type.
fn group(kind: &str) -> String {
    format!(
        "\
heat_template_version: 2013-05-23
parameters:
  flavor: {{type: string, default: m1.tiny}}
  image: {{type: string, default: cirros-0.3.5-x86_64-disk}}
  network: {{type: string, default: test-net}}
resources:
  server:
    type: OS::Heat::ResourceGroup
    properties:
      count: 1
      resource_def:
        type: {kind}
        properties:
          image: {{get_param: image}}
          flavor: {{get_param: flavor}}
          private_net: {{get_param: network}}
outputs:
  addresses: {{value: {{get_attr: [server, address]}}}}
"
    )
}

/// The network that the samples take for granted.
async fn add_network(kiln: &KilnProcess) {
    let network = json!({ "network": { "name": "test-net" } });
    let made = kiln.cloud(Who::Demo, "POST", "/network/v2.0/networks", Some(network)).await;
    let subnet = json!({ "subnet": {
        "network_id": made.body["network"]["id"], "cidr": "10.9.0.0/24", "ip_version": 4,
    } });
    let made = kiln.cloud(Who::Demo, "POST", "/network/v2.0/subnets", Some(subnet)).await;
    assert_eq!(made.status, 201, "{}", made.body);
}

async fn create(kiln: &KilnProcess, name: &str, mut body: Json) -> Result<(), String> {
    body["stack_name"] = name.into();
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create")?;
    ended(kiln, Who::Demo, name, "CREATE_COMPLETE").await
}

async fn addresses(kiln: &KilnProcess, name: &str) -> Json {
    let shown = kiln.ask(Who::Demo, "GET", &format!("/stacks/{name}"), None).await.body;
    shown["stack"]["outputs"][0]["output_value"].clone()
}

/// The template is found by a `file` URL, and by a name in the directory of templates.
#[tokio::test]
async fn samples_run_on_a_server() {
    let target = Target::with_files(
        "[DEFAULT]\nenvironment_dir = environment.d\ntemplate_dir = templates\n",
        &[
            (
                "environment.d/default.yaml",
                "resource_registry:\n  'OS::NestedServer': nested.yaml\n",
            ),
            ("templates/nested.yaml", NESTED),
        ],
    )
    .await;
    let kiln = &target.kiln;
    add_network(kiln).await;
    let url = "file:///etc/heat/templates/nested.yaml";
    let user = json!({
        "template": group("nested.yaml"),
        "environment": { "resource_registry": { "OS::NestedServer": url } },
        "files": { "nested.yaml": NESTED, url: NESTED },
    });
    create(kiln, "stack01", user).await.expect("the user's environment");
    let global = json!({ "template": group("OS::NestedServer") });
    create(kiln, "stack02", global.clone()).await.expect("the global environment");
    let found = addresses(kiln, "stack02").await;
    assert!(found[0].as_str().is_some_and(|it| it.starts_with("10.9.")), "{found}");

    // A changed template is in force for the next update.
    let changed = NESTED.replace("{get_attr: [port, fixed_ips, 0, ip_address]}", "changed");
    kiln.directory.put("templates/nested.yaml", changed.as_bytes());
    assert!(type_shown(kiln, "OS::NestedServer").await["attributes"]["address"].is_object());
    loop {
        update(kiln, Who::Demo, "stack02", &global).await.expect("updated");
        if addresses(kiln, "stack02").await == json!(["changed"]) {
            break;
        }
    }
    for stack in ["stack01", "stack02"] {
        delete(kiln, Who::Demo, stack).await.expect("deleted");
    }
}

async fn type_shown(kiln: &KilnProcess, name: &str) -> Json {
    kiln.ask(Who::Demo, "GET", &format!("/resource_types/{name}"), None).await.body
}

const FILES: &[(&str, &str)] = &[
    (
        "env.d/10-first.yaml",
        "\
resource_registry:
  My::Text: OS::Heat::None
  My::Server: file:///nowhere/nested.yaml
  OS::Heat::RandomString:
  'OS::Sahara::*':
  resources: {special: {'OS::Heat::Value': OS::Heat::None}}
parameters: {length: 4}
",
    ),
    ("env.d/20-second.conf", "resource_registry: {My::Text: OS::Heat::Value, My::Own: own.yaml}\n"),
    ("env.d/.hidden.yaml", "resource_registry: {My::Hidden: OS::Heat::None}\n"),
    (
        "templates/own.yaml",
        "heat_template_version: 2013-05-23\nparameters: {length: {type: number}}\n",
    ),
];

#[tokio::test]
async fn files_are_loaded_as_the_reference_loads_them() {
    let directory = TestDirectory::with(FILES);
    let arguments = ["--environment-dir", "env.d", "--template-dir", "templates"];
    let kiln = KilnProcess::open(directory, &arguments).await;
    let one = async |kind: &str, environment: Json| {
        let template = json!({
            "heat_template_version": "2021-04-16",
            "resources": { "r": { "type": kind, "properties": { "length": 5 } } },
        });
        let body = json!({ "stack_name": "s", "template": template, "environment": environment });
        kiln.ask(Who::Demo, "POST", "/stacks/preview", Some(body)).await
    };
    // The later file wins, so the type is `OS::Heat::Value`, which has no such property.
    let reply = one("My::Text", json!({})).await;
    assert!(reply.body.to_string().contains("Unknown Property length"), "{}", reply.body);
    let user = json!({ "resource_registry": { "My::Text": "OS::Heat::None" } });
    assert_eq!(one("My::Text", user).await.status, 200);
    assert_eq!(one("My::Own", json!({})).await.status, 200);
    for (kind, why) in [
        (
            "OS::Heat::RandomString",
            "The Resource Type (OS::Heat::RandomString) could not be found.",
        ),
        ("OS::Sahara::Cluster", "could not be found"),
        ("My::Hidden", "could not be found"),
        ("My::Server", "Could not fetch remote template"),
    ] {
        let reply = one(kind, json!({})).await;
        assert_eq!(reply.status, 400, "{}", reply.body);
        assert!(reply.body.to_string().contains(why), "{kind}: {}", reply.body);
    }
    let listed = kiln.ask(Who::Demo, "GET", "/resource_types?name=(My|OS::Heat::R)", None).await;
    let names = ["My::Own", "My::Server", "OS::Heat::ResourceChain", "OS::Heat::ResourceGroup"];
    assert_eq!(listed.body["resource_types"], json!(names));
    assert_eq!(type_shown(&kiln, "My::Own").await["properties"]["length"]["required"], true);
    let gone = kiln.ask(Who::Demo, "GET", "/resource_types/OS::Heat::RandomString", None).await;
    assert_eq!(gone.status, 404, "{}", gone.body);

    // A file that is added while the service runs counts, and a broken one changes nothing.
    kiln.directory.put("env.d/30.yaml", b"resource_registry: {My::Later: OS::Heat::None}\n");
    while one("My::Later", json!({})).await.status != 200 {}
}

#[test]
fn what_is_wrong_has_its_place() {
    let directory = TestDirectory::with(&[
        ("env.d/a.yaml", "resource_registry:\n  A: [\n"),
        ("env.d/b.yaml", "resource_registry: {A: B}\nfoo: 1\n"),
        ("env.d/c.yaml", "resource_registry:\n  resources: {x: {hooks: never}}\n"),
        ("env.d/below/d.yaml", ""),
    ]);
    let run = directory.run(&["dev", "--free-ports", "--exit", "--environment-dir", "env.d"]);
    assert_eq!(run.status, 2, "{}{}", run.out, run.err);
    for line in [
        "env.d/a.yaml:3:1: ",
        "env.d/b.yaml:2:1: ",
        "environment has wrong section \"foo\"",
        "env.d/c.yaml:2:26: Invalid hook type \"never\"",
        "env.d/below: this is not a file; files in directories below are not read",
    ] {
        assert!(run.err.contains(line), "{line} is not in\n{}", run.err);
    }
    let directory = TestDirectory::with(FILES);
    directory.put("templates/own.yaml", b"heat_template_version: 2013-05-23\nresuorces: {}\n");
    let templates = ["--environment-dir", "env.d", "--template-dir", "templates"];
    let run = directory.run(&[&["dev", "--free-ports", "--exit"], &templates[..]].concat());
    assert_eq!(run.status, 0, "{}{}", run.out, run.err);
    for line in [
        "env.d/10-first.yaml: `parameters` is for the environments of users",
        "env.d/10-first.yaml:3:15: the template /nowhere/nested.yaml: No such file",
        "templates/own.yaml:2:1: ",
    ] {
        assert!(run.err.contains(line), "{line} is not in\n{}", run.err);
    }
}

/// A server starts without the files that it cannot use, as Heat does, and says so.
#[test]
fn a_server_starts_without_broken_files() {
    let directory = TestDirectory::with(&[
        ("kiln.conf", "[DEFAULT]\nenvironment_dir = env.d\n"),
        ("env.d/a.yaml", "foo: 1\n"),
    ]);
    let run = directory.run(&["server", "--config", "kiln.conf", "--once", "--role", "engine"]);
    assert_eq!(run.status, 0, "{}{}", run.out, run.err);
    let line = "a file of the global environment is left out: env.d/a.yaml:1:1: ";
    assert!(run.err.contains(line), "{}", run.err);
    directory.put("kiln.conf", b"[DEFAULT]\nenvironment_dir = missing\n");
    let run = directory.run(&["server", "--config", "kiln.conf", "--once", "--role", "engine"]);
    let line = "kiln.conf: line 2: [DEFAULT] environment_dir: missing does not exist";
    assert!(run.err.contains(line), "{}", run.err);
}
