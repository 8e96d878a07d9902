//! No response contains a hidden value.

use crate::test_api::TestApi;
use kiln_api::routes::ROUTES;
use serde_json::json;

const CANARY: &str = "canary-58c1a7";

const TEMPLATE: &str = r#"
heat_template_version: 2021-04-16
parameters:
  open: {type: string}
  password: {type: string, hidden: true}
resources:
  keeper:
    type: OS::Heat::Value
    metadata: {secret: {get_param: password}}
    properties: {value: {get_param: password}}
  inside:
    type: child.yaml
    properties: {given: {get_param: password}}
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: 1
      resource_def: {type: child.yaml, properties: {given: {get_param: password}}}
  config:
    type: OS::Heat::SoftwareConfig
    properties:
      config: {str_replace: {template: "pw=X", params: {X: {get_param: password}}}}
outputs:
  innocent: {value: {get_param: open}}
"#;

const CHILD: &str = r#"
heat_template_version: 2021-04-16
parameters:
  given: {type: string, hidden: true}
resources:
  value: {type: OS::Heat::Value, properties: {value: {get_param: given}}}
"#;

#[tokio::test]
async fn a_hidden_value_is_in_no_answer() {
    let api = TestApi::new();
    let path = api
        .create_with(json!({
            "stack_name": "s",
            "template": TEMPLATE,
            "files": {"child.yaml": CHILD},
            "environment": {"parameters": {"open": "yes"}},
            "parameters": {"password": CANARY},
        }))
        .await;
    assert_eq!(api.status(&path).await, "CREATE_COMPLETE", "{:?}", api.get(&path).await);
    let listed = api.get(&format!("{path}/resources?nested_depth=5&with_detail=true")).await;
    let resources = listed.json()["resources"].as_array().unwrap().clone();
    assert!(resources.len() >= 7, "{resources:#?}");

    let mut asked = 0;
    let mut look = async |path: &str| {
        for token in ["demo", "admin"] {
            let reply = api.send(token, "GET", path, None).await;
            assert!(!reply.text.contains(CANARY), "{path}: {}", reply.text);
            asked += 1;
        }
    };
    for resource in resources.iter().filter(|it| it["resource_name"] == "config") {
        let id = resource["physical_resource_id"].as_str().unwrap();
        look(&format!("/demo/software_configs/{id}")).await;
    }
    let mut stacks = vec![path.clone()];
    for resource in &resources {
        for link in resource["links"].as_array().unwrap() {
            let href = link["href"].as_str().unwrap().split_once("/v1").unwrap().1.to_owned();
            match link["rel"].as_str().unwrap() {
                "nested" => stacks.push(href),
                "self" => {
                    for part in ["", "?with_attr=value", "/metadata", "/events"] {
                        look(&format!("{href}{part}")).await;
                    }
                }
                _ => {}
            }
        }
    }
    assert!(stacks.len() >= 3, "{stacks:?}");
    let prefix = "/{tenant_id}/stacks/{stack_name}/{stack_id}";
    for stack in &stacks {
        for route in ROUTES.iter().filter(|it| it.method == "GET") {
            let Some(rest) = route.path.strip_prefix(prefix) else { continue };
            if !rest.contains('{') {
                look(&format!("{stack}{rest}")).await;
            }
        }
        let events = api.get(&format!("{stack}/events?nested_depth=5")).await.json();
        for event in events["events"].as_array().unwrap() {
            let href = event["links"][0]["href"].as_str().unwrap();
            look(href.split_once("/v1").unwrap().1).await;
        }
    }
    look("/demo/stacks?show_nested=true").await;
    look("/demo/stacks/detail").await;
    assert!(asked > 100, "{asked}");
}

/// The author of an output wants its value to be shown: the reference does that, too.
#[tokio::test]
async fn an_output_tells_what_it_is_made_of() {
    let api = TestApi::new();
    let template = r#"
heat_template_version: 2021-04-16
parameters: {password: {type: string, hidden: true}}
outputs: {told: {value: {get_param: password}}}
"#;
    let parameters = json!({"password": CANARY});
    let body = json!({"stack_name": "s", "template": template, "parameters": parameters});
    let path = api.create_with(body).await;
    let told = api.get(&format!("{path}/outputs/told")).await.json();
    assert_eq!(told["output"]["output_value"], CANARY);
}

/// An error message names the parameter without its value.
#[tokio::test]
async fn a_hidden_value_is_in_no_refusal() {
    let api = TestApi::new();
    let template = r#"
heat_template_version: 2021-04-16
parameters:
  password: {type: string, hidden: true, constraints: [{length: {max: 3}}, {allowed_values: [a, b]}]}
  number: {type: number, hidden: true}
  json: {type: json, hidden: true}
resources:
  r: {type: OS::Heat::RandomString, properties: {length: {get_param: number}}}
"#;
    for (name, value) in [("password", CANARY), ("number", CANARY), ("json", CANARY)] {
        let mut parameters = json!({"password": "a", "number": 1, "json": {}});
        parameters[name] = value.into();
        let body = json!({"stack_name": "s", "template": template, "parameters": parameters});
        for path in ["/demo/stacks", "/demo/validate"] {
            let reply = api.send("demo", "POST", path, Some(body.clone())).await;
            assert!(!reply.text.contains(CANARY), "{path} {name}: {}", reply.text);
        }
        let reply = api.send("demo", "POST", "/demo/stacks", Some(body)).await;
        assert_eq!(reply.status, 400, "{name}: {reply:?}");
    }
}
