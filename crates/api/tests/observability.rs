//! The view of operators: the answers while a service cannot be reached, and the log of a stack that fails.

use crate::test_api::TestApi;
use async_trait::async_trait;
use kiln_api::Options;
use kiln_cloud::{Call, CallError, Credential, PendingDelegation, Reply, Transport, UserToken};
use kiln_engine::Rules;
use serde_json::json;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// A cloud whose identity service cannot be reached.
struct Unreachable;

#[async_trait]
impl Transport for Unreachable {
    async fn send(&self, _: &Credential, _: Call) -> Result<Reply, CallError> {
        Err(CallError::NotSent("connection refused".into()))
    }

    fn has_cloud(&self) -> bool {
        false
    }

    fn needs_delegation(&self, _: &UserToken) -> bool {
        true
    }

    async fn delegate(
        &self,
        _: &UserToken,
        _: &PendingDelegation,
    ) -> Result<Credential, CallError> {
        Err(CallError::NotSent("connection refused".into()))
    }
}

const NOTHING: &str = "heat_template_version: 2021-04-16";

#[tokio::test]
async fn a_stack_is_not_created_while_the_identity_service_cannot_be_reached() {
    let api = TestApi::on(Arc::new(Unreachable), Rules::default(), Options::default(), Vec::new());
    let body = json!({"stack_name": "a", "template": NOTHING});
    let reply = api.send("demo", "POST", "/demo/stacks", Some(body)).await;
    let error = &reply.json()["error"];
    assert_eq!((reply.status, error["type"].as_str()), (503, Some("HTTPServiceUnavailable")));
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("connection refused"), "{message}");
    let template = "heat_template_version%3A%202021-04-16";
    let query = format!("Action=CreateStack&StackName=a&TemplateBody={template}");
    let reply = api.cfn("demo", &query).await;
    assert_eq!(reply.status, 503, "{reply:?}");
    assert!(reply.text.contains("<Code>ServiceUnavailable</Code>"), "{reply:?}");
}

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

const FAILING: &str = "heat_template_version: 2021-04-16
parameters: {pin: {type: string, hidden: true}}
resources:
  safe: {type: OS::Barbican::Secret, properties: {payload: {get_param: pin}, payload_content_type: text/plain}}
";

#[tokio::test]
async fn the_log_of_a_stack_that_fails_has_the_cause_and_the_request_but_no_secret() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let api = TestApi::new();
    let body = json!({
        "stack_name": "failing", "template": FAILING, "parameters": {"pin": "hunter2"},
    });
    let reply = api.send("demo", "POST", "/demo/stacks", Some(body)).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    let request = reply.header("x-openstack-request-id").to_owned();
    let path = reply.header("location").to_owned();
    let path = path.split_once("/v1").map(|(_, path)| path.to_owned()).expect("a path");
    api.rest(&path).await;
    let id = path.rsplit('/').next().expect("an id").to_owned();
    let text = String::from_utf8(log.0.lock().unwrap().clone()).expect("UTF-8");
    let failed: Vec<&str> = text.lines().filter(|it| it.contains("operation failed")).collect();
    assert!(!failed.is_empty(), "{text}");
    for part in [&*id, "resource=\"safe\"", "OS::Barbican::Secret", &*request, "error="] {
        assert!(failed[0].contains(part), "{part}: {}", failed[0]);
    }
    let states = text.lines().filter(|it| it.contains("stack state changed"));
    let states: Vec<&str> = states.filter(|it| it.contains("CREATE_FAILED")).collect();
    assert!(states.iter().any(|it| it.contains(&*request) && it.contains(&*id)), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}
