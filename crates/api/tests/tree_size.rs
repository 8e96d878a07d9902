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

// --- stacks that contain themselves ---

/// A template of resources of these types.
fn of_types(kinds: &[&str]) -> String {
    let resources =
        kinds.iter().enumerate().map(|(at, kind)| format!("  r{at}: {{type: '{kind}'}}\n"));
    format!("heat_template_version: 2021-04-16\nresources:\n{}", resources.collect::<String>())
}

/// Everything refuses a tree that is too deep; whether a validation does depends on how far it looks inside, as in Heat.
async fn assert_too_deep(body: Json, validated: u16) {
    let api = limited(Some(1000));
    for (way, reply) in every_way(&api, &body).await {
        let status = if way == "validate" { validated } else { 400 };
        assert_eq!(reply.status, status, "{way}: {reply:?}");
        let message = reply.json()["error"]["message"].to_string();
        assert!(status == 200 || message.contains(TOO_DEEP), "{way}: {message}");
    }
}

#[tokio::test]
async fn templates_that_contain_themselves_are_too_deep() {
    let itself = of_types(&["f.yaml"]);
    let each_other = [of_types(&["g.yaml"]), of_types(&["f.yaml"])];
    let scaled = "heat_template_version: 2021-04-16\nresources:\n  a: {type: OS::Heat::AutoScalingGroup, properties: \
                  {min_size: 1, max_size: 1, resource: {type: f.yaml}}}\n";
    let url = "heat_template_version: 2021-04-16\nresources:\n  a: {type: AWS::CloudFormation::Stack, properties: \
               {TemplateURL: f.yaml}}\n";
    let grouped = "heat_template_version: 2021-04-16\nresources:\n  a: {type: OS::Heat::ResourceGroup, properties: \
                   {count: 2, resource_def: {type: f.yaml}}}\n";
    for files in [
        json!({"f.yaml": itself}),
        json!({"f.yaml": each_other[0], "g.yaml": each_other[1]}),
        json!({"f.yaml": scaled}),
        json!({"f.yaml": url}),
        json!({"f.yaml": grouped}),
    ] {
        assert_too_deep(json!({"template": of_types(&["f.yaml"]), "files": files}), 400).await;
    }
}

#[tokio::test]
async fn types_that_are_mapped_to_each_other_are_too_deep_or_not_found() {
    // The entry that led to a template does not hold inside it, so a type that is mapped to a template with itself is not
    // found there.
    let files = json!({"a.yaml": of_types(&["My::A"]), "b.yaml": of_types(&["My::A"])});
    for (registry, validated) in
        [(json!({"My::A": "a.yaml"}), 200), (json!({"My::*": "a.yaml"}), 400)]
    {
        let body = json!({
            "template": of_types(&["My::A"]), "files": files, "environment": {"resource_registry": registry},
        });
        for (way, reply) in every_way(&limited(Some(1000)), &body).await {
            let status = if way == "validate" { validated } else { 400 };
            assert_eq!(reply.status, status, "{way}: {reply:?}");
            let message = reply.json()["error"]["message"].to_string();
            assert!(
                status == 200 || message.contains("The Resource Type (My::A) could not be found."),
                "{way}: {message}"
            );
        }
    }
    let files = json!({"a.yaml": of_types(&["b.yaml"]), "b.yaml": of_types(&["a.yaml"])});
    let registry = json!({"My::A": "a.yaml"});
    let body = json!({
        "template": of_types(&["My::A"]), "files": files, "environment": {"resource_registry": registry},
    });
    assert_too_deep(body, 400).await;
}

#[tokio::test]
async fn ten_of_each_at_every_depth_are_too_many_before_they_are_too_deep() {
    let files: serde_json::Map<String, Json> = (0..5)
        .map(|depth| {
            let next = format!("l{}.yaml", depth + 1);
            (format!("l{depth}.yaml"), of_types(&[&*next; 10]).into())
        })
        .chain([("l5.yaml".to_owned(), of_types(&["OS::Heat::None"; 10]).into())])
        .collect();
    let body = json!({"template": of_types(&["l1.yaml"; 10]), "files": files});
    for (way, reply) in every_way(&limited(Some(1000)), &body).await {
        assert_eq!(reply.status, 400, "{way}: {reply:?}");
        assert!(reply.text.contains(TOO_MANY), "{way}: {reply:?}");
    }
}

#[tokio::test]
async fn without_a_limit_of_the_operator_there_is_still_one() {
    // 20 + 20 x 20 + 400 x 300 resources.
    let files = json!({"a.yaml": of_types(&["b.yaml"; 20]), "b.yaml": file(300)});
    let body = json!({"stack_name": "s", "template": of_types(&["a.yaml"; 20]), "files": files});
    let reply = limited(None).send("demo", "POST", "/demo/stacks", Some(body)).await;
    assert_eq!(reply.status, 400, "{reply:?}");
    assert!(reply.text.contains(TOO_MANY), "{reply:?}");
}

#[tokio::test]
async fn a_remote_stack_with_its_own_template_is_too_deep() {
    let itself = "heat_template_version: 2021-04-16\nresources:\n  s: {type: OS::Heat::Stack, properties: {template: \
                  {get_file: f.yaml}}}\n";
    assert_too_deep(json!({"template": itself, "files": {"f.yaml": itself}}), 200).await;
    let ten: String = (0..10)
        .map(|at| {
            format!("  s{at}: {{type: OS::Heat::Stack, properties: {{template: {{get_file: g.yaml}}}}}}\n")
        })
        .collect();
    let wide = format!("heat_template_version: 2021-04-16\nresources:\n{ten}");
    assert_too_deep(json!({"template": wide, "files": {"g.yaml": wide}}), 200).await;
}

// --- trees that exist ---

const SCALING: &str = r#"
heat_template_version: 2021-04-16
resources:
  asg:
    type: OS::Heat::AutoScalingGroup
    properties: {min_size: 1, max_size: 9, desired_capacity: 2, resource: {type: f.yaml}}
  up:
    type: OS::Heat::ScalingPolicy
    properties: {auto_scaling_group_id: {get_resource: asg}, adjustment_type: change_in_capacity, scaling_adjustment: 1}
"#;

/// How many resources of a tree are there, whatever their stacks are.
async fn count(api: &TestApi, path: &str) -> usize {
    let listed = api.get(&format!("{path}/resources?nested_depth=5")).await.json();
    let resources = listed["resources"].as_array().unwrap().iter();
    resources
        .filter(|it| {
            it["resource_status"]
                .as_str()
                .is_some_and(|status| ["CREATE_COMPLETE", "UPDATE_COMPLETE"].contains(&status))
        })
        .count()
}

#[tokio::test]
async fn a_tree_at_its_limit_does_not_scale_up() {
    // The group, the policy, two members and their resources; one member more has six.
    let at_limit = 2 + 2 * (1 + 5);
    for (limit, grown) in [(at_limit + 5, at_limit), (at_limit + 6, at_limit + 6)] {
        let api = limited(Some(limit));
        let body = json!({"stack_name": "s", "template": SCALING, "files": {"f.yaml": file(5)}});
        let path = api.create_with(body).await;
        assert_eq!(api.status(&path).await, "CREATE_COMPLETE");
        let signalled =
            api.send("demo", "POST", &format!("{path}/resources/up/signal"), None).await;
        assert_eq!(signalled.status, 200, "{signalled:?}");
        api.rest(&path).await;
        assert_eq!(count(&api, &path).await, grown);
        assert_eq!(api.send("demo", "DELETE", &path, None).await.status, 204);
        api.rest(&path).await;
        assert_eq!(api.get("/demo/stacks").await.json()["stacks"], json!([]));
    }
}

#[tokio::test]
async fn a_tree_above_its_limit_can_become_smaller_and_be_deleted() {
    let large = TestApi::new();
    let path = large.create("s", &grid(4, 5)).await;
    let api = large.with_config(|config| Config { max_resources: Some(10), ..config }).await;
    let change = |body: String| {
        let (api, path) = (&api, &path);
        async move {
            let reply = api.send("demo", "PUT", path, Some(json!({"template": body}))).await;
            api.rest(path).await;
            (reply.status, api.status(path).await, count(api, path).await)
        }
    };
    assert_eq!(change(grid(4, 6)).await, (400, "CREATE_COMPLETE".to_owned(), 26));
    assert_eq!(change(grid(4, 4)).await, (202, "UPDATE_COMPLETE".to_owned(), 22));
    assert_eq!(change(grid(4, 5)).await, (400, "UPDATE_COMPLETE".to_owned(), 22));
    let other = stack("  another: {type: OS::Heat::None}\n");
    assert_eq!(change(other).await, (202, "UPDATE_COMPLETE".to_owned(), 2));
    assert_eq!(change(grid(4, 4)).await, (400, "UPDATE_COMPLETE".to_owned(), 2));
    assert_eq!(api.send("demo", "DELETE", &path, None).await.status, 204);
    api.rest(&path).await;
    assert_eq!(api.get("/demo/stacks").await.json()["stacks"], json!([]));
}
