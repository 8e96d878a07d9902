//! What a stack may keep is limited, and so is what a list reads.

use crate::counting_store::CountingStore;
use crate::test_api::{TestApi, Tokens};
use kiln_api::Options;
use kiln_cloud::NoCloud;
use kiln_engine::{ByteLimits, Config, Rules, StackId};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// A template whose resource `big` joins a parameter, and whose other resources copy the result.
fn copies(joined: usize, copies: usize) -> String {
    let parts = vec!["{get_param: p}"; joined].join(", ");
    let mut template = format!(
        "heat_template_version: 2018-08-31\nparameters: {{p: {{type: string}}}}\nresources:\n  big: {{type: \
         OS::Heat::Value, properties: {{value: {{list_join: ['', [{parts}]]}}}}}}\n"
    );
    for at in 0..copies {
        template.push_str(&format!(
            "  c{at}: {{type: OS::Heat::Value, properties: {{value: {{get_attr: [big, value]}}}}}}\n"
        ));
    }
    template
}

async fn create(api: &TestApi, template: &str, parameter: usize) -> (String, Json) {
    let path = api
        .create_with(json!({
            "stack_name": "s", "template": template, "parameters": {"p": "x".repeat(parameter)}
        }))
        .await;
    let stack = api.get(&path).await.json();
    (path, stack["stack"].clone())
}

#[tokio::test]
async fn a_value_above_the_limit_fails_its_resource() {
    let api = TestApi::new();
    let (path, stack) = create(&api, &copies(40, 3), 256 << 10).await;
    assert_eq!(stack["stack_status"], "CREATE_FAILED");
    let reason = stack["stack_status_reason"].as_str().unwrap();
    assert!(
        reason.starts_with(
            "Resource CREATE failed: RequestLimitExceeded: resources.big.properties.value: Request limit exceeded: the \
             value is 10485765 bytes, the limit [kiln] max_value_bytes is 4194304. Next step: "
        ),
        "{reason}"
    );
    let body = json!({
        "stack_name": "t", "template": copies(40, 3), "parameters": {"p": "x".repeat(256 << 10)}
    });
    let preview = api.send("demo", "POST", "/demo/stacks/preview", Some(body)).await;
    assert_eq!(preview.status, 400);
    assert!(preview.text.contains("the limit [kiln] max_value_bytes is 4194304"), "{preview:?}");
    delete(&api, &path).await;
}

/// Deletes the only stack, and waits until it is gone.
async fn delete(api: &TestApi, path: &str) {
    assert_eq!(api.send("demo", "DELETE", path, None).await.status, 204);
    api.rest(path).await;
    assert_eq!(api.get("/demo/stacks").await.json()["stacks"], json!([]));
}

#[tokio::test]
async fn a_stack_above_a_limit_that_was_lowered_can_be_updated_and_deleted() {
    let api = TestApi::new();
    let (path, stack) = create(&api, &copies(1, 5), 100_000).await;
    assert_eq!(stack["stack_status"], "CREATE_COMPLETE");
    let byte_limits =
        ByteLimits { value: 1000, resource: 2000, tree: 10_000, ..ByteLimits::default() };
    let api = api.with_config(|config| Config { byte_limits, ..config }).await;
    let change = async |copied: usize, length: usize| {
        let body = json!({"template": copies(1, copied), "parameters": {"p": "y".repeat(length)}});
        let reply = api.send("demo", "PUT", &path, Some(body)).await;
        assert_eq!(reply.status, 202, "{reply:?}");
        api.rest(&path).await;
        api.status(&path).await
    };
    // What becomes no larger is accepted, and what becomes larger is not.
    assert_eq!(change(5, 100_000).await, "UPDATE_COMPLETE");
    assert_eq!(change(5, 100_001).await, "UPDATE_FAILED");
    assert_eq!(change(4, 90_000).await, "UPDATE_COMPLETE");
    assert_eq!(change(4, 100).await, "UPDATE_COMPLETE");
    assert_eq!(change(4, 2000).await, "UPDATE_FAILED");
    delete(&api, &path).await;
}

#[tokio::test]
async fn snapshots_count_against_the_limit_of_their_stack() {
    let byte_limits = ByteLimits { tree: 400_000, ..ByteLimits::default() };
    let api = TestApi::configured(Rules::default(), Options::default(), |config| Config {
        byte_limits,
        ..config
    });
    let (path, _) = create(&api, &copies(1, 0), 100_000).await;
    let mut states = Vec::new();
    for _ in 0..5 {
        let reply = api.send("demo", "POST", &format!("{path}/snapshots"), Some(json!({}))).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        api.rest(&path).await;
        let id = reply.json()["id"].as_str().unwrap().to_owned();
        let snapshot = api.get(&format!("{path}/snapshots/{id}")).await.json();
        states.push(snapshot["snapshot"]["status"].as_str().unwrap().to_owned());
        let reason = snapshot["snapshot"]["status_reason"].as_str().unwrap();
        assert_eq!(
            states[states.len() - 1] == "FAILED",
            reason.contains("max_stack_bytes"),
            "{reason}"
        );
    }
    assert_eq!((states[0].as_str(), states[4].as_str()), ("COMPLETE", "FAILED"));
    delete(&api, &path).await;
}

#[tokio::test]
async fn failed_updates_do_not_make_a_stack_grow_without_end() {
    let api = TestApi::configured(Rules::default(), Options::default(), |config| Config {
        max_resources: Some(6),
        ..config
    });
    let template = |value: usize, fails: bool| {
        format!(
            "heat_template_version: 2018-08-31\nresources:\n  r: {{type: OS::Heat::TestResource, properties: {{value: \
             v{value}, fail: {fails}, update_replace: true}}}}\n"
        )
    };
    let path = api.create("s", &template(0, false)).await;
    let root = path.rsplit('/').next().and_then(|id| uuid::Uuid::parse_str(id).ok()).unwrap();
    for at in 1..20 {
        let body = json!({"template": template(at, true)});
        assert_eq!(api.send("demo", "PUT", &path, Some(body)).await.status, 202);
        api.rest(&path).await;
        assert_eq!(api.status(&path).await, "UPDATE_FAILED");
        let rows = api.app.service.store().resources(&[StackId(root)]).await.unwrap();
        assert!(rows.len() <= 12, "{} resources after {at} updates", rows.len());
    }
    let stack = api.get(&path).await.json();
    let reason = stack["stack"]["stack_status_reason"].as_str().unwrap();
    assert!(reason.contains("Maximum resources per stack exceeded"), "{reason}");
    delete(&api, &path).await;
}

#[tokio::test]
async fn the_copies_of_a_value_count_each() {
    let api = TestApi::new();
    let (path, stack) = create(&api, &copies(15, 30), 256 << 10).await;
    assert_eq!(stack["stack_status"], "CREATE_FAILED");
    let reason = stack["stack_status_reason"].as_str().unwrap();
    assert!(reason.contains("the limit [kiln] max_stack_bytes is 67108864"), "{reason}");
    // The stack is full, and can be updated to something smaller.
    let body = json!({"template": copies(1, 1), "parameters": {"p": "x"}});
    let reply = api.send("demo", "PUT", &path, Some(body)).await;
    assert_eq!(reply.status, 202, "{reply:?}");
    api.rest(&path).await;
    assert_eq!(api.status(&path).await, "UPDATE_COMPLETE");
}

#[tokio::test]
async fn outputs_are_limited_one_by_one_and_together() {
    let api = TestApi::new();
    let template = copies(8, 0)
        + "outputs:\n  fits: {value: {get_attr: [big, value]}}\n  twice: {value: {list_join: ['', [{get_attr: [big, \
           value]}, {get_attr: [big, value]}, {get_attr: [big, value]}]]}}\n"
        + &(0..40)
            .map(|at| format!("  o{at}: {{value: {{get_attr: [big, value]}}}}\n"))
            .collect::<String>();
    let (_, stack) = create(&api, &template, 256 << 10).await;
    assert_eq!(stack["stack_status"], "CREATE_COMPLETE");
    let outputs = stack["outputs"].as_array().unwrap();
    let output = |name: &str| outputs.iter().find(|it| it["output_key"] == name).unwrap();
    assert!(output("fits")["output_error"].is_null());
    let error = |name: &str| output(name)["output_error"].as_str().unwrap().to_owned();
    assert!(error("twice").contains("max_value_bytes"), "{}", error("twice"));
    assert!(error("o39").contains("max_stack_bytes"), "{}", error("o39"));
    let bytes: usize = outputs.iter().map(|it| it["output_value"].to_string().len()).sum();
    assert!(bytes <= 65 << 20, "{bytes}");
}

const HANDLE: &str = "heat_template_version: 2018-08-31
resources:
  h: {type: OS::Heat::WaitConditionHandle}
";

#[tokio::test]
async fn a_handle_keeps_so_many_bytes_of_signals() {
    let api = TestApi::new();
    let path = api.create("s", HANDLE).await;
    let signal = |at: usize| json!({"id": at.to_string(), "data": "x".repeat(200 << 10)});
    for at in 0..5 {
        let reply =
            api.send("demo", "POST", &format!("{path}/resources/h/signal"), Some(signal(at))).await;
        assert_eq!(reply.status, 200, "{at}: {reply:?}");
        api.rest(&path).await;
    }
    let reply =
        api.send("demo", "POST", &format!("{path}/resources/h/signal"), Some(signal(9))).await;
    assert_eq!(reply.status, 400, "{reply:?}");
    let fault = reply.json();
    assert_eq!(fault["error"]["type"], "RequestLimitExceeded");
    let message = fault["error"]["message"].as_str().unwrap();
    assert!(message.contains("[kiln] max_signal_bytes_per_resource is 1048576"), "{message}");
    let metadata = api.get(&format!("{path}/resources/h/metadata")).await.json();
    assert_eq!(metadata["metadata"].as_object().unwrap().len(), 5);
}

/// The bytes of the row of the handle, and the number and the bytes of the rows of its signals.
async fn stored(api: &TestApi, path: &str) -> (usize, usize, usize) {
    let store = api.app.service.store();
    let root = path.rsplit('/').next().and_then(|id| uuid::Uuid::parse_str(id).ok()).unwrap();
    let handle = store.resources(&[StackId(root)]).await.unwrap().remove(0);
    let signals = store.resources(&[StackId(handle.id.0)]).await.unwrap();
    (handle.body.len(), signals.len(), signals.iter().map(|row| row.body.len()).sum())
}

#[tokio::test]
async fn a_signal_is_written_once_however_many_come_after_it() {
    let api = TestApi::new();
    let path = api.create("s", HANDLE).await;
    let signal = async |at: usize| {
        let details = json!({"id": format!("{at:04}"), "reason": "r", "data": "small"});
        let url = format!("{path}/resources/h/signal");
        assert_eq!(api.send("demo", "POST", &url, Some(details)).await.status, 200);
        api.rest(&path).await;
    };
    for at in 0..10 {
        signal(at).await;
    }
    let (handle, count, bytes) = stored(&api, &path).await;
    assert_eq!(count, 10);
    for at in 10..200 {
        signal(at).await;
    }
    let (later_handle, later_count, later_bytes) = stored(&api, &path).await;
    assert_eq!(later_count, 200);
    // The handle has the number and the size of its signals, which take two bytes more.
    assert!(later_handle <= handle + 4, "{handle} bytes, then {later_handle}");
    assert_eq!(later_bytes, bytes * 20);
    // A repeated signal replaces the first one.
    signal(7).await;
    assert_eq!(stored(&api, &path).await.1, 200);
    let metadata = api.get(&format!("{path}/resources/h/metadata")).await.json();
    let ids: Vec<&String> = metadata["metadata"].as_object().unwrap().keys().collect();
    assert_eq!((ids.len(), ids[0].as_str(), ids[199].as_str()), (200, "0000", "0199"));
    // Nothing of the signals is left behind.
    let store = api.app.service.store();
    let root = path.rsplit('/').next().and_then(|id| uuid::Uuid::parse_str(id).ok()).unwrap();
    let handle = store.resources(&[StackId(root)]).await.unwrap().remove(0);
    assert_eq!(api.send("demo", "DELETE", &path, None).await.status, 204);
    api.rest(&path).await;
    assert_eq!(store.resources(&[StackId(handle.id.0)]).await.unwrap(), []);
}

#[tokio::test]
async fn a_wait_condition_shows_the_data_of_its_signals() {
    let api = TestApi::new();
    let template = format!(
        "{HANDLE}  w: {{type: OS::Heat::WaitCondition, properties: {{handle: {{get_resource: h}}, count: 3, timeout: \
         60}}}}\noutputs: {{o: {{value: {{get_attr: [w, data]}}}}}}\n"
    );
    let path = api.create("s", HANDLE).await;
    let reply = api.send("demo", "PUT", &path, Some(json!({"template": template}))).await;
    assert_eq!(reply.status, 202, "{reply:?}");
    for at in 0..3 {
        let details = json!({"id": at.to_string(), "data": format!("d{at}")});
        let signal = format!("{path}/resources/h/signal");
        assert_eq!(api.send("demo", "POST", &signal, Some(details)).await.status, 200);
    }
    api.rest(&path).await;
    let stack = api.get(&path).await.json();
    assert_eq!(stack["stack"]["stack_status"], "UPDATE_COMPLETE");
    let data = r#"{"0": "d0", "1": "d1", "2": "d2"}"#;
    assert_eq!(stack["stack"]["outputs"][0]["output_value"], data);
}

fn counted() -> (TestApi, Arc<CountingStore>) {
    let store = Arc::new(CountingStore::default());
    let parts = (store.clone() as _, Arc::new(NoCloud) as _, Arc::new(Tokens) as _);
    (TestApi::assembled(parts, Rules::default(), Options::default(), Vec::new()), store)
}

#[tokio::test]
async fn a_signal_reads_as_much_however_many_came_before_it() {
    let (api, store) = counted();
    let path = api.create("s", HANDLE).await;
    let mut read = Vec::new();
    for at in 0..100 {
        let before = store.resource_rows();
        let details = json!({"id": at.to_string(), "data": "small"});
        let url = format!("{path}/resources/h/signal");
        assert_eq!(api.send("demo", "POST", &url, Some(details)).await.status, 200);
        read.push(store.resource_rows() - before);
    }
    assert_eq!(read, vec![read[0]; 100]);
}

#[tokio::test]
async fn lists_of_software_read_a_few_bodies_at_a_time() {
    let (api, store) = counted();
    for at in 0..100 {
        let body = json!({"name": format!("c{at}"), "config": "x".repeat(10_000)});
        let reply = api.send("demo", "POST", "/demo/software_configs", Some(body)).await;
        assert_eq!(reply.status, 200, "{reply:?}");
    }
    store.reset_largest_read();
    let list = api.get("/demo/software_configs").await.json();
    assert_eq!(list["software_configs"].as_array().unwrap().len(), 100);
    assert!(store.largest_read() < 20 * 10_100, "{} bytes at once", store.largest_read());
}

#[tokio::test]
async fn lists_of_stacks_and_events_read_no_bodies() {
    let (api, store) = counted();
    let (path, _) = create(&api, &copies(1, 50), 100_000).await;
    store.reset_largest_read();
    let events = api.get(&format!("{path}/events")).await.json();
    assert!(events["events"].as_array().unwrap().len() > 100);
    assert_eq!(api.get("/demo/stacks").await.json()["stacks"].as_array().unwrap().len(), 1);
    assert_eq!(store.largest_read(), 0);
}

#[tokio::test]
async fn a_long_list_of_resources_is_sent_in_pieces() {
    let api = TestApi::new();
    let (path, stack) = create(&api, &copies(1, 100), 100_000).await;
    assert_eq!(stack["stack_status"], "CREATE_COMPLETE");
    let reply = api.get(&format!("{path}/resources?with_detail=true")).await;
    assert_eq!(reply.header("content-length"), "");
    let resources = reply.json();
    let resources = resources["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 101);
    assert_eq!(resources[100]["attributes"]["value"].as_str().unwrap().len(), 100_000);
}

#[tokio::test]
async fn a_list_with_details_reads_a_page_of_resources_at_a_time() {
    let (api, store) = counted();
    let (path, _) = create(&api, &copies(1, 120), 30_000).await;
    store.reset_largest_read();
    let resources = api.get(&format!("{path}/resources?with_detail=true&type=Value")).await.json();
    let resources = resources["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 121);
    let length = |at: usize| resources[at]["attributes"]["value"].as_str().unwrap().len();
    assert!((0..121).all(|at| length(at) == 30_000));
    assert!(store.largest_read() < 41 * 31_000, "{} bytes at once", store.largest_read());
}
