//! Templates whose files are in a container of the object store: `--files-container`.

use crate::clients::{Dev, clients};
use crate::server::wait;
use serde_json::{Value, json};
use std::process::Command;

const TEMPLATE: &str = "\
heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties: {count: 2, resource_def: {type: lib/child.yaml}}
  own: {type: My::Own}
outputs:
  group: {value: {get_attr: [group, word]}}
  own: {value: {get_attr: [own, word]}}
  data: {value: {get_file: data.json}}
";

const CHILD: &str = "\
heat_template_version: 2021-04-16
parameters: {word: {type: string, default: here}}
resources: {value: {type: OS::Heat::Value, properties: {value: {get_param: word}}}}
outputs: {word: {value: {get_attr: [value, value]}}}
";

const ENVIRONMENT: &str = "\
resource_registry: {'My::Own': lib/child.yaml}
parameter_defaults: {}
";

/// A text that would be printed in another form if a reader parsed it as the data that it looks like.
const DATA: &str = "{ \"b\":1.50,\n\"a\":[] }";

/// Puts files into a container of the object store as the user `demo`.
async fn fill(clouds: &str, container: &str, files: &[(&str, &str)]) {
    let url = clouds.lines().find_map(|line| line.trim().strip_prefix("auth_url: "));
    let url = url.expect("an address").trim_matches('"');
    let client = kiln_cloud::client_builder().build().expect("a client");
    let domain = json!({"id": "default"});
    let user = json!({"name": "demo", "password": "demo", "domain": domain});
    let body = json!({"auth": {
        "identity": {"methods": ["password"], "password": {"user": user}},
        "scope": {"project": {"name": "demo", "domain": domain}},
    }});
    let login = client.post(format!("{url}/auth/tokens")).json(&body).send().await;
    let login = login.expect("a login");
    let token = login.headers()["x-subject-token"].to_str().expect("a token").to_owned();
    let about: Value = login.json().await.expect("a body");
    let catalogue = about["token"]["catalog"].as_array().expect("a catalogue");
    let store = catalogue.iter().find(|it| it["type"] == "object-store").expect("a store");
    let root = store["endpoints"][0]["url"].as_str().expect("an address");
    let put = async |path: String, body: String| {
        let request = client.put(format!("{root}/{path}")).header("x-auth-token", &token);
        let status = request.body(body).send().await.expect("an answer").status();
        assert!(status.is_success(), "{path}: {status}");
    };
    put(container.to_owned(), String::new()).await;
    for (name, text) in files {
        put(format!("{container}/{name}"), (*text).to_owned()).await;
    }
}

#[test]
fn a_stack_is_made_of_what_is_in_a_container() {
    let dev = Dev::start_with(&[]);
    let directory = dev.directory();
    directory.put("stack.yaml", TEMPLATE.as_bytes());
    let clouds = std::fs::read_to_string(dev.clouds()).expect("clouds");
    let files = [("lib/child.yaml", CHILD), ("env.yaml", ENVIRONMENT), ("data.json", DATA)];
    let large = "x".repeat(1_048_577);
    wait(async {
        fill(&clouds, "box", &files).await;
        fill(&clouds, "large", &[("x", &large)]).await;
    });
    let kiln = |words: &[&str]| {
        let mut command = directory.command(words);
        command.env("OS_CLIENT_CONFIG_FILE", dev.clouds()).env("OS_CLOUD", "kiln");
        crate::test_directory::Run::from(command.output().expect("an end"))
    };
    let create = |container: &str, name: &str| {
        let words = ["stack", "create", "-t", "stack.yaml", "-e", "env.yaml", "--wait"];
        kiln(&[&words[..], &["--files-container", container, name]].concat())
    };
    let made = create("box", "one");
    assert_eq!(made.status, 0, "{}{}", made.out, made.err);
    let output = |stack: &str, name: &str| {
        let words = ["stack", "output", "show", stack, name, "-f", "json", "-c", "output_value"];
        let shown: Value = serde_json::from_str(&kiln(&words).out).expect("JSON");
        shown["output_value"].clone()
    };
    let shown = |stack: &str| {
        assert_eq!(output(stack, "group"), json!(["here", "here"]));
        assert_eq!(output(stack, "own"), "here");
        assert_eq!(output(stack, "data"), DATA);
    };
    shown("one");
    let words = ["stack", "update", "one", "-t", "stack.yaml", "-e", "env.yaml", "--wait"];
    let changed = kiln(&[&words[..], &["-s", "box"]].concat());
    assert_eq!(changed.status, 0, "{}{}", changed.out, changed.err);
    let words = ["orchestration", "template", "validate", "-t", "stack.yaml", "-s", "box"];
    let checked = kiln(&[&words[..], &["-e", "env.yaml"]].concat());
    assert_eq!(checked.status, 0, "{}{}", checked.out, checked.err);

    let missing = create("nowhere", "two");
    assert_eq!(missing.status, 1);
    let told = "ERROR: Could not fetch files from container nowhere, reason: ";
    assert!(missing.err.starts_with(told), "{}", missing.err);
    let much = create("large", "two");
    let told = "ERROR: Total size of files to download (1048577 bytes) exceeds maximum allowed \
                (1048576 bytes).\n";
    assert!(much.status == 1 && much.err.starts_with(told), "{}", much.err);

    let Some(clients) = clients() else { return };
    let mut stock = Command::new(clients.join("bin/openstack"));
    stock.args(["stack", "create", "-t", "stack.yaml", "-e", "env.yaml", "--wait", "-s", "box"]);
    stock.arg("stock").current_dir(directory.path());
    stock.env("OS_CLIENT_CONFIG_FILE", dev.clouds()).env("OS_CLOUD", "kiln");
    let made = stock.output().expect("the stock client");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    shown("stock");
}
