//! The published vulnerabilities of Heat, tried here: one test for each (see docs/security.md).

use crate::test_api::TestApi;
use kiln_api::{Options, UrlFetcher};
use kiln_engine::{Config, Rules};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const CANARY: &str = "canary-7f03b2";

const EMPTY: &str = "heat_template_version: 2021-04-16\n";

/// OSSA-2013-034: the user of a server created and updated stacks over the CloudFormation API.
#[tokio::test]
async fn cve_2013_6426_a_server_cannot_change_stacks() {
    let api = TestApi::new();
    let path = api.create("known", EMPTY).await;
    let template = "TemplateBody=heat_template_version%3A%202021-04-16%0Adescription%3A%20taken%0A";
    for query in [
        format!("Action=CreateStack&StackName=made&{template}"),
        format!("Action=UpdateStack&StackName=known&{template}"),
        "Action=DeleteStack&StackName=known".to_owned(),
    ] {
        let reply = api.cfn("stack-user", &query).await;
        assert_eq!(reply.status, 403, "{query}: {reply:?}");
    }
    let stacks = api.get("/demo/stacks").await.json()["stacks"].clone();
    assert_eq!(stacks.as_array().map(Vec::len), Some(1), "{stacks}");
    assert_ne!(api.get(&path).await.json()["stack"]["description"], "taken");
}

/// OSSA-2013-035: the project in the path was used instead of the project of the token.
#[tokio::test]
async fn cve_2013_6428_the_project_in_the_path_is_not_believed() {
    let api = TestApi::new();
    let path = api.create("s", EMPTY).await;
    for path in ["/demo/stacks", &*path, &format!("{path}/template")] {
        let reply = api.send("other", "GET", path, None).await;
        assert_eq!(reply.status, 403, "{path}: {reply:?}");
        assert_eq!(reply.json()["error"]["type"], "HTTPForbidden");
    }
    let own = path.replacen("/demo/", "/other/", 1);
    assert_eq!(api.send("other", "GET", &own, None).await.status, 404);
    let body = json!({"stack_name": "made", "template": EMPTY});
    assert_eq!(api.send("other", "POST", "/demo/stacks", Some(body)).await.status, 403);
}

/// OSSA-2014-016: the URL of a provider template of another project was listed as a resource type.
#[tokio::test]
async fn cve_2014_3801_provider_templates_of_others_are_not_listed() {
    let api = TestApi::new();
    let url = format!("http://templates.example/{CANARY}.yaml");
    let template = "heat_template_version: 2021-04-16\nresources: {r: {type: My::Type}}\n";
    let body = json!({
        "stack_name": "s",
        "template": template,
        "environment": {"resource_registry": {"My::Type": url}},
        "files": {&url: "heat_template_version: 2021-04-16\n"},
    });
    // While the stack is created as well as afterwards.
    let created = api.send("demo", "POST", "/demo/stacks", Some(body));
    let listed = api.send("other", "GET", "/other/resource_types", None);
    let (created, during) = tokio::join!(created, listed);
    assert_eq!(created.status, 201, "{created:?}");
    let after = api.send("other", "GET", "/other/resource_types", None).await;
    for reply in [during, after] {
        assert_eq!(reply.status, 200, "{reply:?}");
        assert!(!reply.text.contains(CANARY) && !reply.text.contains("My::Type"));
    }
}

/// OSSA-2016-003: the service read local files, such as /dev/zero, that a template named.
#[tokio::test]
async fn cve_2015_5295_local_files_are_not_read() {
    let api = TestApi::new();
    let answer = async |file: &str| {
        let url = format!("file://{file}");
        let direct =
            format!("heat_template_version: 2021-04-16\nresources: {{r: {{type: \"{url}\"}}}}\n");
        let mapped = "heat_template_version: 2021-04-16\nresources: {r: {type: My::Type}}\n";
        let environment = json!({"resource_registry": {"My::Type": url}});
        let mut answers = Vec::new();
        for body in [
            json!({"template": direct}),
            json!({"template": mapped, "environment": environment}),
            json!({"template_url": url}),
        ] {
            for path in ["/demo/validate", "/demo/stacks"] {
                let mut body = body.clone();
                if path == "/demo/stacks" {
                    body["stack_name"] = "s".into();
                }
                let reply = api.send("demo", "POST", path, Some(body)).await;
                assert_eq!(reply.status, 400, "{path} {file}: {reply:?}");
                answers.push(reply.text.replace(file, "FILE"));
            }
        }
        answers
    };
    let missing = answer("/no/such/file").await;
    for file in ["/dev/zero", "/etc/passwd"] {
        assert_eq!(answer(file).await, missing, "the answer does not tell whether {file} exists");
    }
}

/// OSSA-2016-013: the answer to a template URL told which hosts and ports of the service's network are open.
#[tokio::test]
async fn cve_2016_9185_addresses_cannot_be_probed() {
    let fetcher = UrlFetcher::new(Vec::new(), true, Duration::from_secs(60));
    let api = TestApi::configured(Rules::default(), Options::default(), |config| Config {
        template_fetcher: Arc::new(fetcher),
        ..config
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let open = listener.local_addr().unwrap();
    let answer = async |address: String| {
        let mut answers = Vec::new();
        for url in [format!("http://{address}/x.yaml"), format!("https://{address}/x.yaml")] {
            let template = format!(
                "heat_template_version: 2021-04-16\nresources: {{r: {{type: \"{url}\"}}}}\n"
            );
            let nested = json!({
                "HeatTemplateFormatVersion": "2012-12-12",
                "Resources": {"r": {
                    "Type": "AWS::CloudFormation::Stack",
                    "Properties": {"TemplateURL": url},
                }},
            });
            for body in [
                json!({"stack_name": "s", "template_url": url}),
                json!({"stack_name": "s", "template": template}),
                json!({"stack_name": "s", "template": nested}),
            ] {
                let reply = api.send("demo", "POST", "/demo/stacks", Some(body)).await;
                assert_eq!(reply.status, 400, "{url}: {reply:?}");
                answers.push(reply.text.replace(&address, "ADDRESS"));
            }
        }
        answers
    };
    assert_eq!(answer(open.to_string()).await, answer("127.0.0.1:1".into()).await);
    let nothing = std::future::poll_fn(|context| {
        std::task::Poll::Ready(listener.poll_accept(context).is_pending())
    });
    assert!(nothing.await, "the address was called");
}

const HIDDEN: &str = r#"
heat_template_version: 2021-04-16
parameters:
  password: {type: string, hidden: true}
resources:
  keeper: {type: OS::Heat::Value, properties: {value: {get_param: password}}}
"#;

/// A stack with a hidden parameter.
async fn with_hidden(api: &TestApi) -> String {
    let environment = json!({"parameters": {"password": CANARY}});
    let body = json!({"stack_name": "s", "template": HIDDEN, "environment": environment});
    api.create_with(body).await
}

/// CVE-2023-1625: the environment of a stack showed its hidden parameters.
#[tokio::test]
async fn cve_2023_1625_the_environment_hides_hidden_parameters() {
    let api = TestApi::new();
    let path = with_hidden(&api).await;
    let reply = api.get(&format!("{path}/environment")).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(reply.text.contains("password") && !reply.text.contains(CANARY), "{reply:?}");
}

/// CVE-2024-7319: what `stack abandon` returns showed them still.
#[tokio::test]
async fn cve_2024_7319_an_abandoned_stack_hides_hidden_parameters() {
    let api = TestApi::new();
    let path = with_hidden(&api).await;
    for (method, part) in [("GET", "export"), ("DELETE", "abandon")] {
        let reply = api.send("demo", method, &format!("{path}/{part}"), None).await;
        assert_eq!(reply.status, 200, "{part}: {reply:?}");
        assert!(reply.text.contains("password"), "{part}: {reply:?}");
        assert!(!reply.text.contains(CANARY), "{part}: {reply:?}");
    }
}

/// OSSN-0093: format strings of YAQL reached into the objects of the interpreter.
#[tokio::test]
async fn ossn_0093_format_strings_do_not_reach_into_objects() {
    let api = TestApi::new();
    for expression in [
        "'{0.__class__}'.format(1)",
        "format('{0.__class__.__mro__}', 1)",
        "'{0[a]}'.format({a => 1})",
    ] {
        let template = json!({
            "heat_template_version": "2021-04-16",
            "outputs": {"o": {"value": {"yaql": {"expression": expression, "data": {}}}}},
        });
        let body = json!({"stack_name": "s", "template": template});
        let reply = api.send("demo", "POST", "/demo/stacks", Some(body)).await;
        assert!(!reply.text.contains("class '"), "{expression}: {reply:?}");
        if reply.status == 201 {
            let shown = api.get("/demo/stacks/s/outputs/o").await;
            let value = &shown.json()["output"]["output_value"];
            assert!(value.is_null(), "{expression}: {shown:?}");
            let url = reply.header("location").split_once("/v1").unwrap().1.to_owned();
            api.send("demo", "DELETE", &url, None).await;
            api.rest(&url).await;
        }
    }
}
