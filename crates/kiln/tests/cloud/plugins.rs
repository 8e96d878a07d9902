//! Types that an operator describes in YAML, from end to end; and files that cannot be used.

use super::kiln_process::{KilnProcess, Who};
use super::life::{check, delete, ended, expect, update};
use crate::test_directory::{Run, TestDirectory};
use serde_json::{Value as Json, json};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/types");

const TEMPLATE: &str = "\
heat_template_version: 2021-04-16
parameters: {shared: {type: boolean, default: false}, prefix: {type: string, default: 10.1.0.0/16}}
resources:
  pool:
    type: Acme::Network::Pool
    properties: {name: numbers, prefixes: [{get_param: prefix}], scope: blue}
  scope:
    type: Acme::Network::AddressScope
    properties: {name: blue, shared: {get_param: shared}}
  disk:
    type: Acme::Storage::Disk
    properties: {size: 1}
outputs:
  owner: {value: {get_attr: [scope, owner]}}
  size: {value: {get_attr: [disk, size]}}
  prefixes: {value: {get_attr: [pool, prefixes]}}
";

fn request(parameters: Json) -> Json {
    json!({ "template": TEMPLATE, "parameters": parameters, "timeout_mins": 2 })
}

#[tokio::test]
async fn types_of_files_live_like_built_in_ones() {
    let kiln = KilnProcess::start(&["--plugin-dir", FOLDER]).await;
    let who = Who::Admin;
    types_are_shown(&kiln).await;
    let before = kiln.objects().await;
    let mut new = request(json!({}));
    new["stack_name"] = "acme".into();
    // The name of the scope is looked up when the pool is made: it has to be there by then.
    expect(kiln.ask(who, "POST", "/stacks", Some(new)).await, "create").expect("accepted");
    ended(&kiln, who, "acme", "CREATE_COMPLETE").await.expect("made");
    let outputs = outputs(&kiln).await;
    assert_eq!(outputs["size"], 1);
    assert_eq!(outputs["prefixes"], json!(["10.1.0.0/16"]));
    assert_eq!(outputs["owner"].as_str().map(str::len), Some(32), "{outputs}");

    let calls = kiln.changes().await;
    update(&kiln, who, "acme", &request(json!({}))).await.expect("nothing to do");
    assert_eq!(kiln.changes().await, calls);
    let other = json!({ "shared": true, "prefix": "10.0.0.0/8" });
    update(&kiln, who, "acme", &request(other)).await.expect("changed");
    assert_eq!(self::outputs(&kiln).await["prefixes"], json!(["10.0.0.0/8"]));
    let scopes = kiln.cloud(who, "GET", "/network/v2.0/address-scopes", None).await;
    let scope = &scopes.body["address_scopes"][0];
    assert_eq!((&scope["name"], &scope["shared"]), (&json!("blue"), &json!(true)));
    check(&kiln, who, "acme").await.expect("well");
    delete(&kiln, who, "acme").await.expect("gone");
    assert_eq!(kiln.changed_since(&before).await, [""; 0]);
}

async fn outputs(kiln: &KilnProcess) -> Json {
    let shown = kiln.ask(Who::Admin, "GET", "/stacks/acme", None).await.body;
    let all = shown["stack"]["outputs"].as_array().cloned().unwrap_or_default();
    let pair = |it: &Json| {
        (it["output_key"].as_str().unwrap_or_default().to_owned(), it["output_value"].clone())
    };
    all.iter().map(pair).collect::<serde_json::Map<_, _>>().into()
}

async fn types_are_shown(kiln: &KilnProcess) {
    let ask = async |path: &str| kiln.ask(Who::Demo, "GET", path, None).await.body;
    let listed = ask("/resource_types?name=^Acme").await;
    let names = ["Acme::Network::AddressScope", "Acme::Network::Pool", "Acme::Storage::Disk"];
    assert_eq!(listed["resource_types"], json!(names));
    let schema = ask("/resource_types/Acme::Network::AddressScope").await;
    assert_eq!(schema["properties"]["ip_version"]["default"], 4);
    assert_eq!(schema["properties"]["name"]["update_allowed"], true);
    assert_eq!(schema["support_status"]["version"], "1.0");
    assert_eq!(schema["attributes"]["ip_version"]["type"], "integer");
    let template = ask("/resource_types/Acme::Storage::Disk/template?template_type=hot").await;
    assert_eq!(template["resources"]["Disk"]["type"], "Acme::Storage::Disk");
    let wrong = "\
heat_template_version: 2021-04-16
resources: {scope: {type: Acme::Network::AddressScope, properties: {ip_version: 5}}}
";
    let body = json!({ "template": wrong, "stack_name": "wrong" });
    let refused = kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.to_string().contains("5 is not an allowed value"), "{}", refused.body);
}

const WRONG: &str = "\
types:
  Acme::Disk:
    service: volumev3
    path: /volumes
    envelope: volume
    properties:
      size: {typ: integer}
      name: {type: string}
";

fn fails_to_start(run: &Run) {
    assert_eq!(run.status, 2, "{}{}", run.out, run.err);
    assert_eq!(run.out, "");
    for line in [
        "error[K1101]: the property `size` has no `typ`",
        "error[K1101]: the property `size` has no `type`",
        "types/disk.yaml:7:14",
        "help: did you mean `type`?",
        "kiln: 2 mistakes in the files with resource types; nothing was started.",
    ] {
        assert!(run.err.contains(line), "{line} is not in\n{}", run.err);
    }
}

#[test]
fn a_file_that_is_wrong_is_told_and_nothing_is_started() {
    let conf = "[DEFAULT]\nplugin_dirs = missing, types\n";
    let directory = TestDirectory::with(&[
        ("types/disk.yaml", WRONG),
        ("types/notes.txt", "not a type"),
        ("kiln.conf", conf),
        ("t.yaml", "heat_template_version: 2021-04-16\n"),
    ]);
    fails_to_start(&directory.run(&["dev", "--free-ports", "--exit", "--plugin-dir", "types"]));
    fails_to_start(&directory.run(&["server", "--config", "kiln.conf", "--once"]));
    fails_to_start(&directory.run(&["validate", "t.yaml", "--plugin-dir", "types"]));
    let run = directory.run(&["dev", "--free-ports", "--exit", "--plugin-dir", "missing"]);
    assert_eq!(run.status, 2);
    assert!(run.err.starts_with("kiln: cannot read the plug-in directory missing"), "{}", run.err);
}

#[test]
fn a_server_and_validation_know_the_types_of_files() {
    let template = "\
heat_template_version: 2021-04-16
resources: {disk: {type: Acme::Storage::Disk, properties: {size: 1}}}
";
    let conf = format!("[DEFAULT]\nplugin_dirs = {FOLDER}\n");
    let directory = TestDirectory::with(&[("t.yaml", template), ("kiln.conf", &conf)]);
    let run = directory.run(&["validate", "t.yaml"]);
    assert_eq!(run.status, 1, "{}", run.out);
    let run = directory.run(&["validate", "t.yaml", "--plugin-dir", FOLDER]);
    assert_eq!(run.status, 0, "{}{}", run.out, run.err);
    let engine = ["server", "--config", "kiln.conf", "--once", "--role", "engine"];
    let run = directory.run(&engine);
    assert_eq!(run.status, 0, "{}{}", run.out, run.err);
}
