//! No route forgets to ask whether the caller may.

use crate::test_api::TestApi;
use kiln_api::policy::{Policy, defaults};
use kiln_api::routes::{BodyNeed, ROUTES, Rule};
use serde_json::json;

/// Every route with its rule, asked by people who may not.
#[tokio::test]
async fn nobody_passes_a_route_that_they_have_no_right_to() {
    let api = TestApi::new();
    for route in ROUTES {
        let path = concrete(route.path);
        let body = match (route.body, route.path) {
            (BodyNeed::Any, path) if path.ends_with("/actions") => r#"{"check": null}"#,
            (BodyNeed::Object, _) => "{}",
            _ => "",
        };
        let reply = api.raw("nobody", route.method, &path, body).await;
        let said = reply.json()["error"]["message"].clone();
        assert_eq!(reply.status, 403, "{} {path}: {reply:?}", route.method);
        let said = said.as_str().unwrap_or_default();
        assert!(
            said.starts_with("You are not authorized to use "),
            "{} {path}: {said}",
            route.method
        );
        let unknown = api.raw("unknown", route.method, &path, body).await;
        assert_eq!(unknown.status, 401, "{} {path}", route.method);
        // Another project in the path is refused whatever the roles are.
        let foreign = path.replacen("/demo/", "/other/", 1);
        let reply = api.raw("demo", route.method, &foreign, body).await;
        assert_eq!(reply.status, 403, "{} {foreign}: {reply:?}", route.method);
        assert_eq!(reply.json()["error"]["type"], "HTTPForbidden");
    }
}

#[test]
fn every_route_has_rules_that_there_are() {
    let known: Vec<&str> = defaults::all().map(|row| row.name).collect();
    for route in ROUTES {
        let rules = match route.rule {
            Rule::Named(rule) => vec![rule],
            Rule::OfBody(_, rules) => rules.to_vec(),
        };
        for rule in rules {
            assert!(known.contains(&rule), "{} {}: {rule}", route.method, route.path);
        }
    }
}

/// The route table of the reference, where it is at hand.
#[test]
fn every_route_of_the_reference_is_there() {
    let Some(file) = crate::shared("facts/routes.txt") else {
        return eprintln!("the record of the reference is not here");
    };
    let text = std::fs::read_to_string(file).unwrap();
    let mut missing = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("heat-api ")) {
        let mut words = line.split_whitespace().skip(1);
        let (Some(method), Some(path)) = (words.next(), words.next()) else { continue };
        let Some(path) = path.strip_prefix("/v1") else { continue };
        let path = path.replace("{stack_name:arn\\x3A.*}", "{arn}");
        if !ROUTES.iter().any(|route| route.method == method && route.path == path) {
            missing.push(format!("{method} {path}"));
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

/// A type that the caller may not use is refused wherever it comes from.
#[tokio::test]
async fn nested_templates_and_groups_are_no_way_around_the_rules_for_types() {
    let api = TestApi::new();
    let refusal = "You are not authorized to use resource_types:OS::Nova::Flavor.";
    let flavor = "{type: OS::Nova::Flavor, properties: {ram: 1, vcpus: 1}}";
    let child = format!("heat_template_version: 2021-04-16\nresources: {{f: {flavor}}}\n");
    let group = "{type: OS::Heat::ResourceGroup, properties: {count: 1, resource_def: DEF}}";
    let computed = "{type: {get_param: kind}, properties: {ram: 1, vcpus: 1}}";
    let cases = [
        ("nested", "{type: child.yaml}".to_owned()),
        ("group", group.replace("DEF", flavor)),
        ("computed", group.replace("DEF", computed)),
        ("alias", "{type: My::Thing, properties: {ram: 1, vcpus: 1}}".to_owned()),
    ];
    for (name, resource) in cases {
        let template = format!(
            "heat_template_version: 2021-04-16\n\
             parameters: {{kind: {{type: string, default: 'OS::Nova::Flavor'}}}}\n\
             resources: {{r: {resource}}}\n"
        );
        let body = json!({
            "stack_name": name,
            "template": template,
            "files": {"child.yaml": child},
            "environment": {"resource_registry": {"My::Thing": "OS::Nova::Flavor"}},
        });
        let reply = api.send("demo", "POST", "/demo/stacks", Some(body)).await;
        let told = match reply.status {
            201 => {
                let path = reply.header("location").split_once("/v1").unwrap().1.to_owned();
                api.rest(&path).await;
                api.get(&path).await.text
            }
            _ => reply.text,
        };
        assert!(told.contains(refusal), "{name}: {told}");
    }
}

/// A path with values in place of what varies.
pub(crate) fn concrete(path: &str) -> String {
    let parts = path.split('/').map(|part| match part {
        "{tenant_id}" => "demo".to_owned(),
        "{arn}" => "arn:openstack:heat::demo:stacks%2Fa%2Fb".to_owned(),
        part if part.starts_with('{') => match part.trim_matches(['{', '}']).split_once(':') {
            Some((_, choices)) => choices.split('|').next().unwrap_or_default().to_owned(),
            None => "thing".to_owned(),
        },
        part => part.to_owned(),
    });
    format!("/v1{}", parts.collect::<Vec<_>>().join("/"))
}

/// An operator may let more people continue a stack without a change, and no more than that.
#[tokio::test]
async fn a_patch_is_a_change_by_what_it_names() {
    let api = TestApi::new();
    let path = api.create("patched", "heat_template_version: 2021-04-16\n").await;
    let text = "stacks:update_no_change: 'role:reader'\nstacks:update_patch: 'role:member'\n";
    let policy = Policy::load("policy.yaml", text, Default::default()).expect("a policy");
    api.app.policy.replace(policy);
    for (body, status) in [
        (json!({}), 202),
        (json!({"existing": true}), 202),
        (json!({"disable_rollback": false}), 403),
        (json!({"converge": false}), 403),
        (json!({"tags": ""}), 403),
        (json!({"tags": null}), 403),
        (json!({"timeout_mins": 0}), 403),
        (json!({"clear_parameters": []}), 403),
        (json!({"parameters": {}}), 403),
        (json!({"environment": {}}), 403),
        (json!({"files": {}}), 403),
        (json!({"template": null}), 403),
        (json!({"template": ""}), 403),
    ] {
        let reply = api.send("reader", "PATCH", &path, Some(body.clone())).await;
        assert_eq!(reply.status, status, "{body}: {}", reply.text);
        api.rest(&path).await;
    }
    let reply = api.send("demo", "PATCH", &path, Some(json!({"tags": "a"}))).await;
    assert_eq!(reply.status, 202, "{}", reply.text);
}
