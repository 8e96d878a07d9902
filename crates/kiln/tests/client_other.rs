//! The client commands for everything but stacks: types, versions, functions, software configuration.

use crate::client_auth::{PASSWORD, cloud};
use crate::client_fake::{Asked, Fake, nothing, ok, refused, run};
use crate::test_directory::{Run, TestDirectory, prints};
use serde_json::{Value, json};

fn fails(run: &Run, why: &str) {
    assert_eq!((run.status, &*run.err), (1, &*format!("{why}\n")), "{}", run.out);
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn last_body(heat: &Fake) -> Value {
    heat.asked().last().map(|asked| asked.body.clone()).unwrap_or_default()
}

#[test]
fn versions_functions_and_types_are_listed() {
    let directory = TestDirectory::with(&[]);
    let heat = Fake::heat(|asked| match &*asked.path {
        "/template_versions" => ok(json!({"template_versions": [
            {"version": "a.1", "type": "cfn", "aliases": []},
            {"version": "h.2", "type": "hot", "aliases": ["h.x", "h.y"]},
        ]})),
        "/template_versions/h.2/functions" => {
            ok(json!({"template_functions": [{"functions": "get_attr", "description": "Gets."}]}))
        }
        "/resource_types" if asked.query.contains("with_description") => {
            ok(json!({"resource_types": [{"resource_type": "B", "description": "A b\nof sorts"}]}))
        }
        "/resource_types" => ok(json!({"resource_types": ["B", "A"]})),
        "/resource_types/A" => ok(json!({"resource_type": "A", "properties": {"z": 1, "a": 2}})),
        "/resource_types/A/template" => ok(json!({"Version": "1", "Outputs": {}})),
        "/services" => ok(json!({"services": [{"hostname": "h", "status": "up"}]})),
        "/build_info" => ok(json!({"api": {"revision": "r"}})),
        _ => refused(404, "NotFound", "x"),
    });
    prints(
        &heat.run(&directory, &words("orchestration template version list")),
        0,
        "\
+---------+------+---------+
| Version | Type | Aliases |
+---------+------+---------+
| a.1     | cfn  |         |
| h.2     | hot  | h.x,h.y |
+---------+------+---------+
",
    );
    let json = heat.run(
        &directory,
        &words("orchestration template version list -f json --noindent -c Aliases"),
    );
    prints(&json, 0, "[{\"Aliases\": []}, {\"Aliases\": [\"h.x\", \"h.y\"]}]\n");
    let functions = heat.run(
        &directory,
        &words("orchestration template function list h.2 --with_conditions -f value"),
    );
    prints(&functions, 0, "get_attr Gets.\n");
    assert_eq!(
        *heat.lines().last().expect("a line"),
        "GET /template_versions/h.2/functions?with_condition_func=True"
    );
    prints(
        &heat.run(&directory, &words("orchestration resource type list --filter name=.* -f value")),
        0,
        "A\nB\n",
    );
    assert_eq!(*heat.lines().last().expect("a line"), "GET /resource_types?name=.*");
    let long = heat.run(&directory, &words("orchestration resource type list --long -f csv"));
    prints(&long, 0, "\"Resource Type\",\"Description\"\n\"B\",\"A b\nof sorts\"\n");
    let shown = heat.run(&directory, &words("orchestration resource type show A"));
    prints(&shown, 0, "resource_type: A\nproperties:\n  a: 2\n  z: 1\n");
    let template =
        heat.run(&directory, &words("orchestration resource type show A --template-type CFN"));
    prints(&template, 0, "Version: '1'\nOutputs: {}\n");
    assert_eq!(
        *heat.lines().last().expect("a line"),
        "GET /resource_types/A/template?template_type=cfn"
    );
    prints(
        &heat.run(&directory, &words("orchestration service list -f value -c Hostname -c Status")),
        0,
        "h up\n",
    );
    prints(
        &heat.run(&directory, &words("orchestration build info -f yaml")),
        0,
        "api:\n  revision: r\n",
    );
    for (command, why) in [
        ("resource type show No", "Resource type not found: No"),
        ("resource type show A --template-type x", "Template type invalid: x"),
        (
            "resource type show A --template-type hot --long",
            "Cannot use --template-type and --long in one time.",
        ),
        ("template function list no", "Template version not found: no"),
    ] {
        let words: Vec<&str> = ["orchestration"].into_iter().chain(command.split(' ')).collect();
        fails(&heat.run(&directory, &words), why);
    }
}

#[test]
fn a_template_is_checked_by_the_service() {
    let directory =
        TestDirectory::with(&[("t.yaml", "heat_template_version: 2021-04-16\n"), ("e.yaml", "")]);
    let heat =
        Fake::heat(|_| ok(json!({"Description": "x", "Parameters": {"b": {"Type": "String"}}})));
    let command = "orchestration template validate -t t.yaml -e e.yaml --show-nested --ignore-errors 99001 --parameter a=1";
    prints(
        &heat.run(&directory, &words(command)),
        0,
        "Description: x\nParameters:\n  b:\n    Type: String\n",
    );
    assert_eq!(heat.lines(), ["POST /validate?show_nested=True&ignore_errors=99001"]);
    let body = last_body(&heat);
    assert_eq!((&body["parameters"], &body["environment"]), (&json!({"a": "1"}), &json!({})));
    assert_eq!(body["environment_files"].as_array().map(Vec::len), Some(1));
    let container = "orchestration template validate -t t.yaml -e e.yaml -s box";
    heat.run(&directory, &words(container));
    let expected = json!({
        "parameters": {}, "template": {"heat_template_version": "2021-04-16"}, "files": {}, "environment": {},
        "environment_files": ["e.yaml"], "files_container": "box",
    });
    assert_eq!(last_body(&heat), expected);
}

#[test]
fn software_is_configured() {
    let definition = "inputs: [{name: who, default: world}]\noptions: {retries: 2}\n";
    let directory = TestDirectory::with(&[("defn.yaml", definition), ("script.sh", "echo hi\n")]);
    let config = json!({"id": "c", "name": "n", "group": "script", "config": "echo hi\n", "inputs": [], "creation_time": "t"});
    let heat = Fake::heat(move |asked| match (&*asked.method, &*asked.path) {
        ("POST", "/validate") => ok(json!({})),
        ("POST", "/software_configs") | ("GET", "/software_configs/c") => {
            ok(json!({"software_config": config}))
        }
        ("GET", "/software_configs") => ok(json!({"software_configs": [config]})),
        ("DELETE", "/software_configs/c") => nothing(204),
        _ => refused(404, "NotFound", "x"),
    });
    let command = "software config create --group script --definition-file defn.yaml --config-file script.sh n -f yaml";
    let made = heat.run(&directory, &words(command));
    assert!(
        made.out.starts_with("id: c\nname: n\ngroup: script\nconfig: 'echo hi\n"),
        "{}{}",
        made.out,
        made.err
    );
    let inputs = json!([{"name": "who", "default": "world"}]);
    let properties = json!({"group": "script", "config": "echo hi\n", "inputs": inputs, "options": {"retries": 2}});
    let resource = json!({"type": "OS::Heat::SoftwareConfig", "properties": properties});
    let template = json!({"heat_template_version": "2013-05-23", "resources": {"n": resource}});
    assert_eq!(heat.asked()[0].body, json!({ "template": template }));
    let mut expected = properties;
    expected["name"] = "n".into();
    assert_eq!(heat.asked()[1].body, expected);
    prints(
        &heat.run(&directory, &words("software config list --limit 1 -f value")),
        0,
        "c n script t\n",
    );
    prints(&heat.run(&directory, &words("software config show c --config-only")), 0, "echo hi\n\n");
    let shown = heat.run(&directory, &words("software config show c -f json --noindent"));
    assert!(shown.out.ends_with("\"options\": null, \"creation_time\": \"t\"}\n"), "{}", shown.out);
    fails(&heat.run(&directory, &words("software config show x")), "Configuration not found: x");
    let deleted = heat.run(&directory, &words("software config delete c x"));
    assert_eq!(deleted.out, "Software config with ID x not found\n");
    fails(&deleted, "Unable to delete 1 of the 2 software configs.");
}

/// A service with a deployment `d` of a configuration `c`.
fn deployments(asked: &Asked) -> Option<crate::client_fake::Answer> {
    let deployment = json!({
        "id": "d", "server_id": "s", "config_id": "k", "action": "UPDATE", "status": "FAILED", "input_values": {},
        "status_reason": "why", "creation_time": "t",
        "output_values": {"deploy_stdout": "one\ntwo", "deploy_status_code": 1},
    });
    match (&*asked.method, &*asked.path) {
        ("GET", "/software_configs/c") => ok(json!({"software_config": {
            "group": "script", "config": "x", "options": {}, "outputs": [],
            "inputs": [{"name": "who", "type": "String", "default": "world"}],
        }})),
        ("POST", "/software_configs") => ok(json!({"software_config": {"id": "k"}})),
        ("POST", "/software_deployments") | ("GET", "/software_deployments/d") => {
            ok(json!({ "software_deployment": deployment }))
        }
        ("GET", "/software_deployments") => ok(json!({"software_deployments": [deployment]})),
        ("GET", "/software_deployments/metadata/s") => ok(json!({"metadata": [{"id": "k"}]})),
        ("DELETE", "/software_deployments/d" | "/software_configs/k") => nothing(204),
        _ => refused(404, "NotFound", "x"),
    }
}

#[test]
fn software_is_deployed() {
    let (directory, heat) = (TestDirectory::with(&[]), Fake::heat(deployments));
    let command = "software deployment create --config c --server s --signal-transport NO_SIGNAL \
                   --input-value who=Ada --input-value more=1 name";
    let made = heat.run(&directory, &words(command));
    assert!(made.out.starts_with("action: UPDATE\nconfig_id: k\n"), "{}{}", made.out, made.err);
    let input = |name: &str, description: &str, value: &str| json!({"name": name, "description": description, "type": "String", "value": value});
    let derived = json!({
        "group": "script", "config": "x", "options": {}, "outputs": [], "name": "name",
        "inputs": [
            {"name": "who", "type": "String", "default": "world", "value": "Ada"},
            {"name": "more", "type": "String", "value": "1"},
            input("deploy_server_id", "ID of the server being deployed to", "s"),
            input("deploy_action", "Name of the current action being deployed", "UPDATE"),
            input(
                "deploy_signal_transport",
                "How the server should signal to heat with the deployment output values.",
                "NO_SIGNAL",
            ),
        ],
    });
    assert_eq!(heat.asked()[1].body, derived);
    let expected =
        json!({"config_id": "k", "server_id": "s", "action": "UPDATE", "status": "IN_PROGRESS"});
    assert_eq!(heat.asked()[2].body, expected);
    prints(
        &heat.run(&directory, &words("software deployment list --server s --long -f value")),
        0,
        "d k s UPDATE FAILED t why\n",
    );
    assert_eq!(*heat.lines().last().expect("a line"), "GET /software_deployments?server_id=s");
    let shown = heat.run(
        &directory,
        &words("software deployment show d -f value -c id -c updated_time -c action"),
    );
    prints(&shown, 0, "d\n\nUPDATE\n");
    prints(
        &heat.run(&directory, &words("software deployment metadata show s")),
        0,
        "[\n  {\n    \"id\": \"k\"\n  }\n]\n",
    );
    prints(
        &heat.run(&directory, &words("software deployment output show d --all")),
        0,
        "output_values:\n\n  deploy_stdout: |\n    one\n    two\n  deploy_status_code: 1\n",
    );
    let one = heat.run(&directory, &words("software deployment output show d deploy_status_code"));
    prints(&one, 0, "output_value:\n\n  deploy_status_code: 1\n");
    prints(&heat.run(&directory, &words("software deployment delete d")), 0, "");
    let lines = heat.lines();
    assert_eq!(
        lines[lines.len() - 2..],
        ["DELETE /software_deployments/d", "DELETE /software_configs/k"]
    );
    for (command, why) in [
        ("show x", "Software Deployment not found: x"),
        ("output show x y", "Deployment not found: x"),
        ("output show d", "Error: either <output-name> or --all argument is needed."),
        ("output show d x", "Output x does not exist in deployment d"),
        ("create --server s --config no n", "Software configuration not found: no"),
        (
            "create --server s --signal-transport ZAQAR_SIGNAL n",
            "Unsupported signal transport ZAQAR_SIGNAL",
        ),
    ] {
        let words: Vec<&str> =
            ["software", "deployment"].into_iter().chain(command.split(' ')).collect();
        fails(&heat.run(&directory, &words), why);
    }
}

#[test]
fn a_server_gets_a_url_to_tell_that_it_is_done() {
    let directory = TestDirectory::with(&[]);
    let cloud = cloud(|asked| match (&*asked.method, &*asked.path) {
        ("HEAD" | "POST", "/one/public/v1/p") => nothing(204),
        ("PUT", "/one/public/v1/p/box") => nothing(201),
        _ => {
            let path = asked.path.replacen("/one/public/v1/p", "", 1);
            deployments(&Asked { path, ..asked.clone() })
        }
    });
    let url = cloud.url("");
    let variables = [
        ("OS_AUTH_URL", &*url),
        ("OS_USERNAME", "ana"),
        ("OS_PASSWORD", PASSWORD),
        ("OS_PROJECT_NAME", "shop"),
    ];
    let command = "software deployment create --server s --container box name --debug";
    let made = run(&directory, &words(command), &variables);
    assert_eq!(made.status, 0, "{}", made.err);
    let asked = cloud.asked();
    let key = asked[2].header("x-account-meta-temp-url-key").expect("a key");
    assert!(key.len() == 32 && !made.err.contains(key), "{}", made.err);
    let inputs = &asked
        .iter()
        .find(|asked| asked.path.ends_with("/software_configs"))
        .expect("one")
        .body["inputs"];
    let value = |at: usize| {
        (
            inputs[at]["name"].as_str().expect("a name"),
            inputs[at]["value"].as_str().expect("a value"),
        )
    };
    assert_eq!(value(4), ("deploy_signal_verb", "PUT"));
    let (name, signal) = value(3);
    assert_eq!(name, "deploy_signal_id");
    assert!(signal.starts_with(&cloud.url("/one/public/v1/p/box/name?temp_url_sig=")), "{signal}");
}
