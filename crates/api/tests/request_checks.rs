//! What is decided at the request: mistakes in nested templates, types that the cloud does not have, templates at URLs.
//! The messages are those that Heat answered with.

use crate::test_api::TestApi;
use async_trait::async_trait;
use axum::http::HeaderMap;
use kiln_api::auth::{Authenticator, Rejection, SignatureError};
use kiln_api::caller::{Caller, Scope};
use kiln_api::{Options, UrlFetcher};
use kiln_cloud::{Call, CallError, Credential, Reply as CloudReply, Transport};
use kiln_engine::{Config, MemoryStore, Rules};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The status, type and message of the answer to a request that creates a stack.
async fn created(api: &TestApi, body: &Json) -> (u16, String, String) {
    let reply = api.send("demo", "POST", "/demo/stacks", Some(body.clone())).await;
    let error = &reply.json()["error"];
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    (reply.status, text("type"), text("message"))
}

fn failed(message: &str) -> (u16, String, String) {
    (400, "StackValidationFailed".into(), message.into())
}

/// A request for a stack with one resource `g`, written in the flow style.
fn one(name: &str, resource: &str, files: Json) -> Json {
    let template = format!("heat_template_version: 2021-04-16\nresources:\n  g: {resource}\n");
    json!({"stack_name": name, "template": template, "files": files})
}

// --- nested templates ---

const PART: &str = "heat_template_version: 2021-04-16
parameters: {l: {type: string, default: BAD}}
resources:
  random: {type: OS::Heat::RandomString, properties: {length: {get_param: l}}}
";

#[tokio::test]
async fn values_in_nested_templates_are_checked_before_anything_is_created() {
    let api = TestApi::new();
    let files = json!({"p.yaml": PART});
    let text = "Value 'BAD' is not an integer";
    for (resource, path) in [
        ("{type: p.yaml}", "g<p.yaml>"),
        (
            "{type: OS::Heat::ResourceGroup, properties: {count: 2, resource_def: {type: p.yaml}}}",
            "g<nested_stack>.resources.0<p.yaml>",
        ),
        (
            "{type: OS::Heat::AutoScalingGroup, properties: {min_size: 1, max_size: 2, resource: {type: p.yaml}}}",
            "g<nested_stack>.resources.member<p.yaml>",
        ),
        (
            "{type: OS::Heat::ResourceChain, properties: {resources: [p.yaml]}}",
            "g<nested_stack>.resources.0<p.yaml>",
        ),
    ] {
        let answer = created(&api, &one("s", resource, files.clone())).await;
        let message = format!("ValueError: : resources.{path}.resources.random: : {text}");
        assert_eq!(answer, failed(&message), "{resource}");
    }
    let range = one("s", "{type: p.yaml, properties: {l: 5000}}", files.clone());
    let message = "Property error: : resources.g<p.yaml>.resources.random.properties.length: : 5000 is \
                   out of range (min: 1, max: 512)";
    assert_eq!(created(&api, &range).await, failed(message));
    // What has no members has no mistakes, and a value that is not known yet is none.
    let none = [
        "{type: OS::Heat::ResourceGroup, properties: {count: 0, resource_def: {type: p.yaml}}}",
        "{type: OS::Heat::AutoScalingGroup, properties: {min_size: 0, max_size: 2, resource: {type: p.yaml}}}",
    ];
    for (at, resource) in none.into_iter().enumerate() {
        let answer = created(&api, &one(&format!("s{at}"), resource, files.clone())).await;
        assert_eq!(answer.0, 201, "{resource}: {answer:?}");
    }
    let later = "heat_template_version: 2021-04-16
resources:
  v: {type: OS::Heat::Value, properties: {type: number, value: 7}}
  g:
    type: OS::Heat::ResourceGroup
    properties: {count: 1, resource_def: {type: p.yaml, properties: {l: {get_attr: [v, value]}}}}
";
    let answer =
        created(&api, &json!({"stack_name": "later", "template": later, "files": files})).await;
    assert_eq!(answer.0, 201, "{answer:?}");
}

#[tokio::test]
async fn an_update_that_breaks_a_nested_template_touches_nothing() {
    let api = TestApi::new();
    let good = PART.replace("BAD", "8");
    let path = api.create_with(one("s", "{type: p.yaml}", json!({"p.yaml": good}))).await;
    let body = one("s", "{type: p.yaml}", json!({"p.yaml": PART}));
    let reply = api.send("demo", "PUT", &path, Some(body)).await;
    assert_eq!(reply.status, 400, "{reply:?}");
    let message = reply.json()["error"]["message"].clone();
    assert_eq!(
        message,
        "ValueError: : resources.g<p.yaml>.resources.random: : Value 'BAD' is not an integer"
    );
    let shown = api.send("demo", "GET", &path, None).await.json();
    assert_eq!(shown["stack"]["stack_status"], "CREATE_COMPLETE");
}

#[tokio::test]
async fn hidden_values_are_checked_inside_groups_and_not_shown() {
    let api = TestApi::new();
    let template = "heat_template_version: 2021-04-16
parameters: {salt: {type: string, hidden: true}}
resources:
  g:
    type: OS::Heat::ResourceGroup
    properties:
      count: 1
      resource_def: {type: OS::Heat::RandomString, properties: {salt: {get_param: salt}, length: 8}}
";
    let body = json!({"stack_name": "s", "template": template, "parameters": {"salt": "x"}});
    let answer = created(&api, &body).await;
    assert_eq!(answer.0, 201, "{answer:?}");
}

#[tokio::test]
async fn a_type_that_no_group_can_have_is_refused_as_heat_refuses_it() {
    let api = TestApi::new();
    let unknown = "The Resource Type (No::Such) could not be found.";
    for (resource, message) in [
        (
            "{type: OS::Heat::ResourceGroup, properties: {resource_def: {type: 'No::Such'}}}",
            unknown.to_owned(),
        ),
        (
            "{type: OS::Heat::ResourceChain, properties: {resources: ['No::Such']}}",
            unknown.to_owned(),
        ),
        (
            "{type: OS::Heat::AutoScalingGroup, properties: {min_size: 1, max_size: 1, resource: {type: 'No::Such'}}}",
            format!("resources.g<nested_stack>: : {unknown}"),
        ),
    ] {
        let answer = created(&api, &one("s", resource, json!({}))).await;
        assert_eq!(answer, failed(&message), "{resource}");
    }
}

#[tokio::test]
async fn a_template_for_one_resource_is_compared_with_the_template_for_all() {
    let api = TestApi::new();
    let facade = "heat_template_version: 2021-04-16
parameters: {one: {type: string, default: a}, two: {type: string}}
outputs: {here-it-is: {value: a}}
";
    let other =
        "heat_template_version: 2021-04-16\nparameters: {one: {type: string, default: a}}\n";
    let silent = "heat_template_version: 2021-04-16\nparameters: {two: {type: string}}\n";
    for (concrete, message) in [
        (other, "Required property two for facade OS::Thingy missing in provider"),
        (silent, "Attribute here-it-is for facade OS::Thingy missing in provider"),
    ] {
        let mut body = one(
            "s",
            "{type: OS::Thingy, properties: {two: x}}",
            json!({"facade.yaml": facade, "concrete.yaml": concrete}),
        );
        if concrete == other {
            body = one(
                "s",
                "{type: OS::Thingy}",
                json!({"facade.yaml": facade, "concrete.yaml": concrete}),
            );
        }
        body["environment"] = json!({"resource_registry": {
            "OS::Thingy": "facade.yaml",
            "resources": {"g": {"OS::Thingy": "concrete.yaml"}},
        }});
        assert_eq!(created(&api, &body).await, failed(message));
    }
}

// --- services ---

/// A user whose catalogue has some services.
struct Catalogue;

#[async_trait]
impl Authenticator for Catalogue {
    async fn authenticate(&self, _: &HeaderMap, _: Option<&str>) -> Result<Caller, Rejection> {
        let kinds = ["compute", "network", "identity", "orchestration", "block-storage"];
        let services: Vec<Json> = kinds.iter().map(|kind| json!({"type": kind})).collect();
        Ok(Caller {
            user_id: "u".into(),
            project_id: "demo".into(),
            scope: Scope::Project,
            roles: ["member".into(), "reader".into()].into_iter().collect(),
            catalog: Arc::new(Json::from(services)),
            ..Caller::default()
        })
    }

    async fn authenticate_signed(&self, _: &Json) -> Result<Caller, SignatureError> {
        Err(SignatureError::Wrong)
    }
}

/// A cloud that only lists extensions, and counts how often it is asked for them.
#[derive(Default)]
struct Extensions(AtomicUsize);

#[async_trait]
impl Transport for Extensions {
    async fn send(&self, _: &Credential, call: Call) -> Result<CloudReply, CallError> {
        assert_eq!(call.request.path.to_string(), "/extensions");
        self.0.fetch_add(1, Ordering::SeqCst);
        let body = json!({"extensions": [{"alias": "router"}, {"alias": "security-group"}]});
        Ok(CloudReply { status: 200, body, ..CloudReply::default() })
    }
}

#[tokio::test]
async fn types_whose_service_is_missing_are_refused_and_not_listed() {
    let cloud = Arc::new(Extensions::default());
    let parts = (
        Arc::new(MemoryStore::new()) as Arc<dyn kiln_engine::store::Store>,
        cloud.clone() as Arc<dyn Transport>,
        Arc::new(Catalogue) as Arc<dyn Authenticator>,
    );
    let api = TestApi::assembled(parts, Rules::default(), Options::default(), Vec::new());
    let share = "{type: OS::Manila::Share, properties: {share_protocol: NFS, size: 1}}";
    let manila = "HEAT-E99001 Service manila is not available for resource type OS::Manila::Share, \
                  reason: manila sharev2 endpoint is not in service catalog.";
    let firewall = "HEAT-E99001 Service neutron is not available for resource type \
                    OS::Neutron::FirewallRule, reason: Required extension fwaas in neutron service is \
                    not available.";
    let rule = "{type: OS::Neutron::FirewallRule}";
    // Kiln has alarms of its own, but not of this kind.
    let aodh = "HEAT-E99001 Service aodh is not available for resource type OS::Aodh::EventAlarm, reason: \
                aodh alarming endpoint is not in service catalog.";
    let event = "{type: OS::Aodh::EventAlarm}";
    for (resource, message) in [(share, manila), (rule, firewall), (event, aodh)] {
        let body = one("s", resource, json!({}));
        let expected = (400, "ResourceTypeUnavailable".to_owned(), message.to_owned());
        assert_eq!(created(&api, &body).await, expected);
        for path in ["/demo/stacks/preview", "/demo/validate"] {
            let reply = api.send("demo", "POST", path, Some(body.clone())).await;
            assert_eq!(reply.status, 400, "{path}: {reply:?}");
            assert_eq!(reply.json()["error"]["message"], message, "{path}");
            assert_eq!(reply.json()["error"]["type"], "ResourceTypeUnavailable", "{path}");
        }
    }
    let part = format!("heat_template_version: 2021-04-16\nresources:\n  g: {share}\n");
    let body = one("s", "{type: p.yaml}", json!({"p.yaml": part}));
    let message = format!("ResourceTypeUnavailable: : resources.g<p.yaml>: : {manila}");
    assert_eq!(created(&api, &body).await, failed(&message));
    let listed = api.send("demo", "GET", "/demo/resource_types", None).await.json();
    let listed: Vec<&str> =
        listed["resource_types"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    for (kind, is_there) in [
        ("OS::Manila::Share", false),
        ("OS::Neutron::FirewallRule", false),
        ("OS::Neutron::VPNService", false),
        ("OS::Neutron::Router", true),
        ("OS::Nova::Server", true),
        ("OS::Cinder::Volume", true),
        ("OS::Heat::SoftwareConfig", true),
        ("OS::Aodh::Alarm", true),
        ("OS::Aodh::EventAlarm", false),
    ] {
        assert_eq!(listed.contains(&kind), is_there, "{kind}");
        let reply = api.send("demo", "GET", &format!("/demo/resource_types/{kind}"), None).await;
        assert_eq!(reply.status == 200, is_there, "{kind}: {reply:?}");
    }
    let reply = api.send("demo", "GET", "/demo/resource_types/OS::Manila::Share", None).await;
    assert_eq!(
        reply.json()["error"]["message"],
        "HEAT-E99001 Service manila is not available for resource type OS::Manila::Share, reason: Service \
         endpoint not in service catalog."
    );
    assert_eq!(cloud.0.load(Ordering::SeqCst), 1, "the list of extensions is requested once");
}

// --- templates at URLs ---

const REMOTE: &str = "heat_template_version: 2021-04-16
parameters: {p: {type: string, default: x}}
resources: {r: {type: OS::Heat::Value, properties: {value: {get_param: p}}}}
outputs: {o: {value: {get_attr: [r, value]}}}
";

/// A server of templates: its URL, and how often it was asked.
async fn templates() -> (String, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let (counted, listener) = (count.clone(), tokio::net::TcpListener::bind("127.0.0.1:0").await);
    let listener = listener.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (inner, value) = (format!("{url}/ok.yaml"), PART.to_owned());
    let outer =
        format!("heat_template_version: 2021-04-16\nresources: {{deep: {{type: '{inner}'}}}}\n");
    let router = axum::Router::new()
        .route(
            "/ok.yaml",
            axum::routing::get(move || async move {
                counted.fetch_add(1, Ordering::SeqCst);
                REMOTE
            }),
        )
        .route("/outer.yaml", axum::routing::get(move || async move { outer.clone() }))
        .route("/value.yaml", axum::routing::get(move || async move { value.clone() }))
        .route("/text.yaml", axum::routing::get(|| async { "just text" }))
        .route("/bad.yaml", axum::routing::get(|| async { "[1" }));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, count)
}

fn fetching(url: &str) -> TestApi {
    let prefixes = vec![format!("{url}/")];
    TestApi::configured(Rules::default(), Options::default(), |config| Config {
        template_fetcher: Arc::new(UrlFetcher::new(prefixes, true, Duration::from_secs(60))),
        ..config
    })
}

fn nested(url: &str, more: &str) -> String {
    format!("{{type: AWS::CloudFormation::Stack, properties: {{TemplateURL: '{url}'{more}}}}}")
}

#[tokio::test]
async fn nested_templates_are_fetched_once_and_kept_with_the_stack() {
    let (url, count) = templates().await;
    let api = fetching(&url);
    let ok = format!("{url}/ok.yaml");
    let mut mapped = one("c", "{type: My::T}", json!({}));
    mapped["environment"] = json!({"resource_registry": {"My::T": ok}});
    let bodies = [
        one("a", &nested(&ok, ", Parameters: {p: y}"), json!({})),
        one("b", &format!("{{type: '{ok}'}}"), json!({})),
        mapped,
        one("d", &format!("{{type: '{url}/outer.yaml'}}"), json!({})),
    ];
    for body in bodies {
        let before = count.load(Ordering::SeqCst);
        let path = api.create_with(body.clone()).await;
        let shown = api.send("demo", "GET", &path, None).await.json();
        assert_eq!(shown["stack"]["stack_status"], "CREATE_COMPLETE", "{shown}");
        assert_eq!(count.load(Ordering::SeqCst), before + 1, "{body}");
        let files = api.send("demo", "GET", &format!("{path}/files"), None).await.json();
        assert_eq!(files[&ok], REMOTE, "{files}");
        // Nothing that happens to the stack later needs the server.
        let reply = api
            .send("demo", "POST", &format!("{path}/actions"), Some(json!({"check": null})))
            .await;
        assert!(reply.status < 400, "{reply:?}");
        assert_eq!(count.load(Ordering::SeqCst), before + 1, "{body}");
    }
}

#[tokio::test]
async fn what_cannot_be_fetched_or_read_is_refused_at_once() {
    let (url, _) = templates().await;
    let api = fetching(&url);
    let rule = "(allowed are public addresses, and the prefixes in [kiln] fetch_allowed)";
    let gone = |url: &str| format!("Failed to retrieve template from {url} {rule}");
    let (none, closed) = (format!("{url}/none.yaml"), "http://127.0.0.1:1/x.yaml");
    let inside = "resources.g<nested_stack>";
    let fetch = |url: &str, why: &str| {
        format!("ValueError: : {inside}: : Could not fetch remote template '{url}': {why}")
    };
    for (resource, message) in [
        (nested(&none, ""), fetch(&none, &gone(&none))),
        (nested(closed, ""), fetch(closed, &gone(closed))),
        (nested("ftp://h/x.yaml", ""), fetch("ftp://h/x.yaml", "Invalid URL scheme ftp")),
        (
            nested(&format!("{url}/ok.yaml"), ", Parameters: {q: y}"),
            format!(
                "UnknownUserParameter: : {inside}: : The Parameter (q) was not defined in template."
            ),
        ),
        (
            nested(&format!("{url}/text.yaml"), ""),
            format!("ValueError: : {inside}: : The template is not a JSON object or YAML mapping."),
        ),
        (
            nested(&format!("{url}/value.yaml"), ""),
            format!("ValueError: : {inside}.resources.random: : Value 'BAD' is not an integer"),
        ),
        (
            format!("{{type: '{none}'}}"),
            format!("Could not fetch remote template \"{none}\": {}", gone(&none)),
        ),
        (
            format!("{{type: '{url}/text.yaml'}}"),
            "The template is not a JSON object or YAML mapping.".to_owned(),
        ),
    ] {
        let answer = created(&api, &one("s", &resource, json!({}))).await;
        assert_eq!(answer, failed(&message), "{resource}");
    }
    let answer = created(&api, &one("s", &nested(&format!("{url}/bad.yaml"), ""), json!({}))).await;
    let start = format!("ValueError: : {inside}: : Error parsing template {url}/bad.yaml ");
    assert!(answer.0 == 400 && answer.2.starts_with(&start), "{answer:?}");
}

// --- rules of types ---

#[tokio::test]
async fn mistakes_that_no_schema_shows_are_refused_at_once() {
    let api = TestApi::new();
    for (resource, message) in [
        (
            "{type: OS::Heat::AutoScalingGroup, properties: {min_size: 3, max_size: 2, resource: {type: OS::Heat::None}}}",
            "MinSize can not be greater than MaxSize",
        ),
        (
            "{type: OS::Heat::AutoScalingGroup, properties: {min_size: 1, max_size: 2, desired_capacity: 3, resource: {type: OS::Heat::None}}}",
            "DesiredCapacity must be between MinSize and MaxSize",
        ),
        (
            "{type: OS::Heat::AccessPolicy, properties: {AllowedResources: [nope]}}",
            "AccessPolicy resource nope not in stack",
        ),
        (
            "{type: AWS::AutoScaling::LaunchConfiguration, properties: {ImageId: i}}",
            "If without InstanceId, ImageId and InstanceType are required.",
        ),
        (
            "{type: AWS::AutoScaling::AutoScalingGroup, properties: {AvailabilityZones: [], MinSize: 3, MaxSize: 2, LaunchConfigurationName: x}}",
            "MinSize can not be greater than MaxSize",
        ),
        (
            "{type: AWS::AutoScaling::AutoScalingGroup, properties: {AvailabilityZones: [], MinSize: 1, MaxSize: 2}}",
            "Either 'InstanceId' or 'LaunchConfigurationName' must be provided.",
        ),
        (
            "{type: OS::Heat::InstanceGroup, properties: {AvailabilityZones: [], Size: 1, LaunchConfigurationName: nope}}",
            "ValueError: : resources.g: : LaunchConfigurationName (nope) reference can not be found.",
        ),
        (
            "{type: OS::Heat::InstanceGroup, properties: {AvailabilityZones: [], Size: 1, LaunchConfigurationName: g}}",
            "ValueError: : resources.g: : LaunchConfigurationName (g) requires a reference to the configuration not just the name of the resource.",
        ),
        (
            "{type: OS::Nova::Server, properties: {flavor: f}}",
            "Neither image nor bootable volume is specified for instance g",
        ),
        (
            "{type: OS::Nova::Server, properties: {flavor: f, image: i, networks: [{fixed_ip: 10.0.0.1}]}}",
            "One of the properties \"network\", \"port\", \"allocate_network\" or \"subnet\" should be set for the specified network of server \"g\".",
        ),
        (
            "{type: OS::Heat::SoftwareComponent, properties: {configs: [{tool: a}, {tool: b, actions: [UPDATE]}]}}",
            "Defining more than one configuration for the same action in SoftwareComponent \"g\" is not allowed.",
        ),
    ] {
        let answer = created(&api, &one("s", resource, json!({}))).await;
        assert_eq!(answer, failed(message), "{resource}");
    }
    let conflict = "{type: AWS::EC2::Instance, properties: {ImageId: i, InstanceType: f, SecurityGroups: [a], NetworkInterfaces: [b]}}";
    let message = "Cannot define the following properties at the same time: \
                   SecurityGroups/SecurityGroupIds, NetworkInterfaces.";
    let expected = (400, "ResourcePropertyConflict".to_owned(), message.to_owned());
    assert_eq!(created(&api, &one("s", conflict, json!({}))).await, expected);
}

// --- time ---

#[tokio::test]
async fn queries_know_the_time_in_properties_and_outputs() {
    let api = TestApi::new();
    let template = "heat_template_version: 2021-04-16
resources:
  v: {type: OS::Heat::Value, properties: {value: {yaql: {expression: now().year, data: {}}}}}
outputs:
  property: {value: {get_attr: [v, value]}}
  year: {value: {yaql: {expression: now().year, data: {}}}}
  zone: {value: {yaql: {expression: localtz().hours, data: {}}}}
  random: {value: {yaql: {expression: random() < 2, data: {}}}}
";
    let path = api.create_with(json!({"stack_name": "s", "template": template})).await;
    let shown = api.send("demo", "GET", &path, None).await.json();
    assert_eq!(shown["stack"]["stack_status"], "CREATE_COMPLETE", "{shown}");
    let outputs = shown["stack"]["outputs"].as_array().unwrap();
    let output = |name: &str| {
        let found = outputs.iter().find(|it| it["output_key"] == name);
        found.map(|it| it["output_value"].clone()).unwrap()
    };
    let year: i64 = kiln_engine::now().to_string()[..4].parse().unwrap();
    for name in ["property", "year"] {
        let found = output(name).as_i64().unwrap();
        assert!((year - 1..=year).contains(&found), "{name}: {shown}");
    }
    assert_eq!(output("zone"), json!(0.0));
    assert_eq!(output("random"), json!(true));
}
