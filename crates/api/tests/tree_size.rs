//! The limit of resources counts the whole tree, in every request that would make or change one.

use crate::test_api::{Reply, TestApi};
use kiln_api::Options;
use kiln_engine::{Config, Rules};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

const TOO_MANY: &str = "Request limit exceeded: Maximum resources per stack exceeded.";
const TOO_DEEP: &str = "Request limit exceeded: Recursion depth exceeds 5.";

/// An API with a limit of resources.
fn limited(max_resources: Option<usize>) -> TestApi {
    TestApi::configured(Rules::default(), Options::default(), |config| Config {
        max_resources,
        ..config
    })
}

fn stack(resources: &str) -> String {
    format!(
        "heat_template_version: 2021-04-16\nresources:\n  small: {{type: OS::Heat::None}}\n{resources}"
    )
}

fn group(count: &str, member: &str) -> String {
    format!(
        "{{type: OS::Heat::ResourceGroup, properties: {{count: {count}, resource_def: {member}}}}}"
    )
}

/// A group of groups, with the small resource of [`stack`].
fn grid(a: usize, b: usize) -> String {
    let inner = group(&b.to_string(), "{type: OS::Heat::None}");
    stack(&format!("  g: {}\n", group(&a.to_string(), &inner)))
}

/// Sends a template in every way that there is: to create, preview and validate a stack, to update one, and to preview that.
async fn every_way(api: &TestApi, body: &Json) -> BTreeMap<&'static str, Reply> {
    let path = api.create("old", &stack("")).await;
    let mut new = body.clone();
    new["stack_name"] = "new".into();
    let send = |method, path: String, body: &Json| {
        let body = body.clone();
        async move { api.send("demo", method, &path, Some(body)).await }
    };
    BTreeMap::from([
        ("preview", send("POST", "/demo/stacks/preview".into(), &new).await),
        ("create", send("POST", "/demo/stacks".into(), &new).await),
        ("validate", send("POST", "/demo/validate".into(), body).await),
        ("preview of update", send("PUT", format!("{path}/preview"), body).await),
        ("update", send("PUT", path.clone(), body).await),
    ])
}

async fn assert_refused_everywhere(api: &TestApi, body: Json, why: &str) {
    for (way, reply) in every_way(api, &body).await {
        assert_eq!(reply.status, 400, "{way}: {reply:?}");
        let error = &reply.json()["error"];
        assert_eq!(error["type"], "RequestLimitExceeded", "{way}: {reply:?}");
        assert_eq!(error["message"], why, "{way}: {reply:?}");
    }
}

async fn assert_accepted_everywhere(api: &TestApi, body: Json) {
    for (way, reply) in every_way(api, &body).await {
        assert!((200..300).contains(&reply.status), "{way}: {reply:?}");
    }
}

#[tokio::test]
async fn groups_in_groups_are_refused_before_they_are_expanded() {
    for (a, b) in [(40, 40), (999, 999), (1_000_000, 1), (1, 1_000_000_000)] {
        assert_refused_everywhere(&limited(Some(1000)), json!({"template": grid(a, b)}), TOO_MANY)
            .await;
    }
}

#[tokio::test]
async fn the_limit_itself_is_accepted_and_one_more_is_not() {
    // One small resource, one group, 4 groups, 4 x 5 members.
    assert_accepted_everywhere(&limited(Some(26)), json!({"template": grid(4, 5)})).await;
    assert_refused_everywhere(&limited(Some(25)), json!({"template": grid(4, 5)}), TOO_MANY).await;
    assert_accepted_everywhere(&limited(None), json!({"template": grid(4, 5)})).await;
}

#[tokio::test]
async fn counts_of_parameters_and_of_member_names_are_counted() {
    let template = stack(&format!(
        "  g: {}\nparameters:\n  n: {{type: number, default: 40}}\n",
        group("{get_param: n}", &group("{get_param: n}", "{type: OS::Heat::None}"))
    ));
    assert_refused_everywhere(&limited(Some(1000)), json!({"template": template}), TOO_MANY).await;
    // 0 + 1 + ... + 9 members in 10 groups.
    let template =
        stack(&format!("  g: {}\n", group("10", &group("'%index%'", "{type: OS::Heat::None}"))));
    let body = json!({"template": template});
    assert_accepted_everywhere(&limited(Some(57)), body.clone()).await;
    assert_refused_everywhere(&limited(Some(56)), body, TOO_MANY).await;
}

/// A file with a number of resources.
fn file(count: usize) -> String {
    let names = (0..count).map(|at| format!("  r{at}: {{type: OS::Heat::None}}\n"));
    format!("heat_template_version: 2021-04-16\nresources:\n{}", names.collect::<String>())
}

#[tokio::test]
async fn whatever_nests_in_whatever_counts() {
    let scaled = |size: usize, member: &str| {
        format!(
            "{{type: OS::Heat::AutoScalingGroup, properties: {{min_size: {size}, max_size: {size}, resource: {member}}}}}"
        )
    };
    let chain = |count: usize, kind: &str| {
        let kinds = vec![kind; count].join(", ");
        format!("{{type: OS::Heat::ResourceChain, properties: {{resources: [{kinds}]}}}}")
    };
    let url = "{type: AWS::CloudFormation::Stack, properties: {TemplateURL: f.yaml}}";
    let servers: Vec<String> = (0..10).map(|at| format!("s{at}: x")).collect();
    let deployments = format!(
        "{{type: OS::Heat::SoftwareDeploymentGroup, properties: {{config: c, servers: {{{}}}}}}}",
        servers.join(", ")
    );
    // What there is besides the small resource, and how many resources that has.
    let cases = [
        (scaled(3, &scaled(4, "{type: OS::Heat::None}")), 1 + 3 + 3 * 4),
        (group("3", &scaled(4, "{type: f.yaml}")), 1 + 3 + 3 * 4 * (1 + 5)),
        (scaled(3, &group("4", "{type: f.yaml}")), 1 + 3 + 3 * 4 * (1 + 5)),
        (chain(7, "f.yaml"), 1 + 7 * (1 + 5)),
        (
            group(
                "3",
                "{type: OS::Heat::ResourceChain, properties: {resources: [f.yaml, 'OS::Heat::None']}}",
            ),
            1 + 3 * (1 + (1 + 5) + 1),
        ),
        (url.to_owned(), 1 + 5),
        (group("6", url), 1 + 6 * (1 + 5)),
        ("{type: f.yaml}".to_owned(), 1 + 5),
        (deployments, 1 + 10),
    ];
    for (resource, count) in cases {
        let template = stack(&format!("  big: {resource}\n"));
        let body = json!({"template": template, "files": {"f.yaml": file(5)}});
        let replies = every_way(&limited(Some(count + 1)), &body).await;
        for (way, reply) in replies {
            assert!(reply.status < 300, "{resource} {way}: {reply:?}");
        }
        let replies = every_way(&limited(Some(count)), &body).await;
        for (way, reply) in replies {
            assert_eq!(reply.status, 400, "{resource} {way}: {reply:?}");
            assert!(reply.text.contains(TOO_MANY), "{resource} {way}: {reply:?}");
        }
    }
}
