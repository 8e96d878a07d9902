//! The faults that clients get.

use crate::test_api::TestApi;
use async_trait::async_trait;
use kiln_api::Options;
use kiln_cloud::{Call, CallError, Credential, Reply as CloudReply, Transport};
use kiln_engine::Rules;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Barrier;

const NOTHING: &str = "heat_template_version: 2021-04-16";

/// The status, type and message of a fault.
fn fault(reply: &crate::test_api::Reply) -> (u16, String, Option<String>) {
    let body = reply.json();
    assert_eq!(body["code"], reply.status);
    assert_eq!(body["error"]["traceback"], Json::Null);
    let text = |value: &Json| value.as_str().map(str::to_owned);
    (reply.status, text(&body["error"]["type"]).unwrap(), text(&body["error"]["message"]))
}

#[tokio::test]
async fn bad_requests_have_their_answers() {
    let api = TestApi::new();
    let malformed = "The server could not comply with the request since it is either malformed or \
                     otherwise incorrect.";
    let template = |name: Json| json!({"stack_name": name, "template": NOTHING});
    let cases = [
        (json!({}), "HTTPBadRequest", "No stack name specified"),
        (json!({"stack_name": "a"}), "HTTPBadRequest", "No template specified"),
        (template(json!(7)), "StackValidationFailed", "Invalid stack name 7, must be a string"),
        (
            template(json!("1a")),
            "StackValidationFailed",
            "Invalid stack name 1a must contain only alphanumeric or \"_-.\" characters, must start \
             with alpha and must be 255 characters or less.",
        ),
        (
            json!({"stack_name": "a", "template": NOTHING, "timeout_mins": "x"}),
            "HTTPBadRequest",
            "Only integer is acceptable by 'timeout_mins'.",
        ),
        (
            json!({"stack_name": "a", "template": NOTHING, "parameters": null}),
            "HTTPBadRequest",
            malformed,
        ),
        (
            json!({"stack_name": "a", "template": NOTHING, "tags": "x".repeat(81)}),
            "HTTPBadRequest",
            &format!("Invalid tag, \"{}\" is longer than 80 characters", "x".repeat(81)),
        ),
        (
            json!({"stack_name": "a", "template": NOTHING, "environment": {"wrong": {}}}),
            "HTTPBadRequest",
            "Environment not in valid format: environment has wrong section \"wrong\"",
        ),
        (
            json!({"stack_name": "a", "template": "[1"}),
            "HTTPBadRequest",
            "Template not in valid format",
        ),
        (
            json!({"stack_name": "a", "template": NOTHING, "parameters": {"p": 1}}),
            "UnknownUserParameter",
            "The Parameter (p) was not defined in template.",
        ),
        (
            json!({"stack_name": "a", "template": {"resources": {}}}),
            "InvalidTemplateVersion",
            "The template version is invalid: Template version was not provided",
        ),
        (
            json!({"stack_name": "a", "template": NOTHING, "converge": true}),
            "HTTPBadRequest",
            "converge flag only supported in stack update (or update preview) request.",
        ),
    ];
    for (body, kind, message) in cases {
        let reply = api.send("demo", "POST", "/demo/stacks", Some(body.clone())).await;
        let (status, found, said) = fault(&reply);
        assert_eq!((status, found.as_str()), (400, kind), "{body}: {reply:?}");
        let said = said.unwrap_or_default();
        assert!(said.starts_with(message), "{body}: {said}");
    }
    for (field, kind) in [("disable_rollback", "ValueError"), ("files", "ValueError")] {
        let body = json!({"stack_name": "a", "template": NOTHING, field: "maybe"});
        let reply = api.send("demo", "POST", "/demo/stacks", Some(body)).await;
        assert_eq!(fault(&reply), (400, kind.to_owned(), None));
    }
}

#[tokio::test]
async fn bodies_are_read_by_the_rules() {
    let api = TestApi::new();
    let path = "/v1/demo/stacks";
    let reply = api.raw("demo", "POST", path, "").await;
    assert_eq!(fault(&reply).0, 400);
    let reply = api.raw("demo", "POST", path, " {}").await;
    assert_eq!(fault(&reply).0, 400, "a blank before the brace counts as no body");
    let reply = api.raw("demo", "POST", path, "{\"a\": ").await;
    let (status, kind, message) = fault(&reply);
    assert_eq!((status, kind.as_str()), (400, "HTTPBadRequest"));
    assert_eq!(message.as_deref(), Some("Expecting value: line 1 column 7 (char 6)"));
    let reply = api.raw("demo", "GET", path, "{}").await;
    assert_eq!(fault(&reply).0, 400, "a list takes no body");
    let huge = format!("{{\"a\": \"{}\"}}", "x".repeat(1 << 20));
    let reply = api.raw("demo", "POST", path, &huge).await;
    let (status, kind, message) = fault(&reply);
    assert_eq!((status, kind.as_str()), (400, "RequestLimitExceeded"));
    let expected = format!(
        "Request limit exceeded: JSON body size ({} bytes) exceeds maximum allowed size (1048576 \
         bytes).",
        huge.len()
    );
    assert_eq!(message, Some(expected));
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(fault(&api.raw("demo", "POST", path, &deep).await).0, 400);
}

#[tokio::test]
async fn methods_versions_and_paths_that_there_are_not() {
    let api = TestApi::new();
    let reply = api.raw("demo", "PUT", "/v1/demo/stacks", "").await;
    assert_eq!((reply.status, reply.header("allow")), (405, "GET,POST"));
    assert_eq!(fault(&reply).1, "HTTPMethodNotAllowed");
    let reply = api.raw("demo", "HEAD", "/v1/demo/stacks", "").await;
    assert_eq!(reply.status, 405);
    let reply = api.raw("", "OPTIONS", "/v1/demo/stacks", "").await;
    assert_eq!((reply.status, reply.header("allow")), (204, "GET,POST"));
    for path in ["/v1/demo/stacks/", "/v1/demo/nothing", "/v1/demo", "/other"] {
        let reply = api.raw("demo", "GET", path, "").await;
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.json()["code"], "404 Not Found", "{path}");
    }
    for path in ["/", "/versions", "/v2/demo/stacks", "/v1.1/x"] {
        let reply = api.raw("", "GET", path, "").await;
        assert_eq!(reply.status, 300, "{path}");
        let link = &reply.json()["versions"][0]["links"][0]["href"];
        assert_eq!(link, "http://kiln.example:8004/v1/");
    }
    assert_eq!(api.raw("demo", "GET", "/v1.0//demo//stacks", "").await.status, 200);
    assert_eq!(api.raw("", "GET", "/healthcheck", "").await.status, 200);
    assert_eq!(api.raw("demo", "GET", "/v1/%ff/stacks", "").await.status, 400);
    let reply = api.raw("demo", "GET", "/v1/demo/build_info", "").await;
    assert!(reply.header("x-openstack-request-id").starts_with("req-"));
}

#[tokio::test]
async fn stacks_of_others_are_not_there() {
    let api = TestApi::new();
    let path = api.create("mine", NOTHING).await;
    let foreign = path.replacen("/demo/", "/other/", 1);
    let reply = api.send("other", "GET", &foreign, None).await;
    let (status, kind, message) = fault(&reply);
    assert_eq!((status, kind.as_str()), (404, "EntityNotFound"));
    assert_eq!(message.as_deref(), Some("The Stack (mine) could not be found."));
    assert_eq!(api.send("other", "GET", "/other/stacks/mine", None).await.status, 404);
    assert_eq!(api.send("admin", "GET", &path, None).await.status, 200, "administrators see all");
    let renamed = path.replace("/mine/", "/yours/");
    assert_eq!(api.get(&renamed).await.status, 404, "the name has to fit");
}

#[tokio::test]
async fn names_are_taken_once_and_quotas_hold() {
    let api = TestApi::with(Rules { max_stacks: Some(1), ..Rules::default() });
    api.create("one", NOTHING).await;
    let body = |name: &str| Some(json!({"stack_name": name, "template": NOTHING}));
    let reply = api.send("demo", "POST", "/demo/stacks", body("one")).await;
    let (status, kind, message) = fault(&reply);
    assert_eq!((status, kind.as_str()), (409, "StackExists"));
    assert_eq!(message.as_deref(), Some("The Stack (one) already exists."));
    let reply = api.send("demo", "POST", "/demo/stacks", body("two")).await;
    let (status, kind, message) = fault(&reply);
    assert_eq!((status, kind.as_str()), (400, "RequestLimitExceeded"));
    let expected = "Request limit exceeded: You have reached the maximum stacks per tenant, 1. Please \
                    delete some stacks.";
    assert_eq!(message.as_deref(), Some(expected));
}

/// A cloud with one flavor, which answers its first calls when all of them have come.
struct Gate {
    calls: AtomicUsize,
    barrier: Barrier,
}

/// How many requests come at the same time.
const AT_ONCE: usize = 60;

#[async_trait]
impl Transport for Gate {
    async fn send(&self, _: &Credential, _: Call) -> Result<CloudReply, CallError> {
        if self.calls.fetch_add(1, Ordering::SeqCst) < AT_ONCE {
            self.barrier.wait().await;
        }
        let flavor = json!({ "id": "m1", "name": "m1" });
        let body = json!({ "flavor": flavor, "flavors": [flavor] });
        Ok(CloudReply { status: 200, body, ..CloudReply::default() })
    }
}

#[tokio::test]
async fn quotas_hold_when_requests_come_together() {
    let gate = Gate { calls: AtomicUsize::new(0), barrier: Barrier::new(AT_ONCE) };
    let rules = Rules { max_stacks: Some(32), ..Rules::default() };
    let api = TestApi::on(Arc::new(gate), rules, Options::default(), Vec::new());
    for number in 0..20 {
        api.create(&format!("old-{number}"), NOTHING).await;
    }
    let flavor = "parameters: {f: {type: string, default: m1, constraints: [{custom_constraint: nova.flavor}]}}";
    let template = format!("{NOTHING}\n{flavor}\n");
    let create = async |number: usize| {
        let body = json!({ "stack_name": format!("new-{number}"), "template": template });
        let reply = api.send("demo", "POST", "/demo/stacks", Some(body)).await;
        if reply.status != 201 {
            let (status, kind, message) = fault(&reply);
            assert_eq!((status, kind.as_str()), (400, "RequestLimitExceeded"), "{message:?}");
            let expected = "Request limit exceeded: You have reached the maximum stacks per tenant, 32. \
                            Please delete some stacks.";
            assert_eq!(message.as_deref(), Some(expected));
        }
        usize::from(reply.status == 201)
    };
    let created = futures_util::future::join_all((0..AT_ONCE).map(create)).await;
    assert_eq!(created.into_iter().sum::<usize>(), 12);
    let listed = api.get("/demo/stacks").await.json();
    assert_eq!(listed["stacks"].as_array().map(Vec::len), Some(32));
}
