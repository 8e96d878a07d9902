//! Changing stacks, and what can be seen of them on the way.

use crate::test_api::TestApi;
use serde_json::{Value as Json, json};

const TEMPLATE: &str = r#"
heat_template_version: 2021-04-16
description: Two values
parameters:
  first: {type: string, default: one}
  second: {type: string, default: two}
  fixed: {type: string, default: x, immutable: true}
resources:
  a: {type: OS::Heat::Value, properties: {value: {get_param: first}}}
  b: {type: OS::Heat::Value, depends_on: a, properties: {value: {get_param: second}}}
  c: {type: child.yaml, depends_on: b}
outputs:
  both: {value: [{get_attr: [a, value]}, {get_attr: [b, value]}]}
"#;

const CHILD: &str = r#"
heat_template_version: 2021-04-16
resources:
  inner: {type: OS::Heat::RandomString}
"#;

async fn stack(api: &TestApi) -> String {
    let body = json!({
        "stack_name": "s",
        "template": TEMPLATE,
        "files": {"child.yaml": CHILD},
        "parameters": {"first": "1"},
        "tags": "red,blue",
    });
    api.create_with(body).await
}

fn names(list: &Json, key: &str) -> Vec<String> {
    let mut names: Vec<String> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it[key].as_str().unwrap_or_default().to_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_stack_is_changed_in_whole_and_in_part() {
    let api = TestApi::new();
    let path = stack(&api).await;
    let both = async || {
        api.get(&format!("{path}/outputs/both")).await.json()["output"]["output_value"].clone()
    };
    assert_eq!(both().await, json!(["1", "two"]));

    let patch = json!({"parameters": {"second": "2"}});
    let reply = api.send("demo", "PATCH", &path, Some(patch)).await;
    assert_eq!((reply.status, reply.json()["code"].clone()), (202, json!("202 Accepted")));
    api.rest(&path).await;
    assert_eq!(api.status(&path).await, "UPDATE_COMPLETE");
    assert_eq!(both().await, json!(["1", "2"]), "the first is kept");
    assert_eq!(api.get(&path).await.json()["stack"]["tags"], json!(["red", "blue"]));

    let patch = json!({"clear_parameters": ["first"]});
    assert_eq!(api.send("demo", "PATCH", &path, Some(patch)).await.status, 202);
    api.rest(&path).await;
    assert_eq!(both().await, json!(["one", "2"]));

    let put = json!({"template": TEMPLATE, "files": {"child.yaml": CHILD}});
    assert_eq!(api.send("demo", "PUT", &path, Some(put)).await.status, 202);
    api.rest(&path).await;
    assert_eq!(both().await, json!(["one", "two"]), "nothing is kept");
    assert_eq!(api.get(&path).await.json()["stack"]["tags"], json!([]));

    let reply = api.send("demo", "PUT", &path, Some(json!({}))).await;
    assert_eq!(reply.json()["error"]["message"], "No template specified");
    let patch = json!({"parameters": {"fixed": "y"}});
    let reply = api.send("demo", "PATCH", &path, Some(patch)).await;
    assert_eq!(reply.json()["error"]["type"], "ImmutableParameterModified");
    // An update that changes nothing needs the right to update as well, which a reader does not have.
    assert_eq!(api.send("reader", "PATCH", &path, Some(json!({}))).await.status, 403);
}

#[tokio::test]
async fn resources_are_listed_filtered_and_shown() {
    let api = TestApi::new();
    let path = stack(&api).await;
    let list = async |query: &str| {
        let reply = api.get(&format!("{path}/resources{query}")).await;
        names(&reply.json()["resources"], "resource_name")
    };
    assert_eq!(list("").await, ["a", "b", "c"]);
    assert_eq!(list("?nested_depth=1").await, ["a", "b", "c", "inner"]);
    assert_eq!(list("?type=child").await, ["c"]);
    assert_eq!(list("?name=a&name=c").await, ["a", "c"]);
    assert_eq!(list("?status=COMPLETE&action=CREATE").await, ["a", "b", "c"]);
    assert_eq!(list("?status=FAILED").await, Vec::<String>::new());
    let reply = api.get(&format!("{path}/resources?colour=red")).await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["message"], "Invalid filter parameters ['colour']");

    let shown = api.get(&format!("{path}/resources/a")).await.json()["resource"].clone();
    assert_eq!(shown["resource_status"], "CREATE_COMPLETE");
    assert_eq!(shown["required_by"], json!(["b"]));
    assert_eq!(shown["attributes"], json!({"value": "1"}));
    assert_eq!(shown["resource_type"], "OS::Heat::Value");
    let nested = api.get(&format!("{path}/resources?nested_depth=1")).await.json();
    let nested = nested["resources"].as_array().unwrap();
    let inner = nested.iter().find(|it| it["resource_name"] == "inner").unwrap();
    assert_eq!(inner["parent_resource"], "c");
    let holder = nested.iter().find(|it| it["resource_name"] == "c").unwrap();
    assert_eq!(holder["links"][2]["rel"], "nested");
    assert_eq!(holder["resource_type"], "child.yaml");
    let reply = api.get(&format!("{path}/resources/none")).await;
    assert_eq!(reply.json()["error"]["type"], "ResourceNotFound");
    assert_eq!(
        reply.json()["error"]["message"],
        "The Resource (none) could not be found in Stack s."
    );
}

#[tokio::test]
async fn events_are_listed_paged_and_shown() {
    let api = TestApi::new();
    let path = stack(&api).await;
    let events = async |query: &str| {
        let reply = api.get(&format!("{path}/events{query}")).await;
        reply.json()["events"].as_array().cloned().unwrap_or_else(|| panic!("{reply:?}"))
    };
    let all = events("?sort_dir=asc").await;
    let told: Vec<String> = all
        .iter()
        .map(|it| format!("{} {}", it["resource_name"], it["resource_status"]).replace('"', ""))
        .collect();
    assert_eq!(told[0], "s CREATE_IN_PROGRESS");
    assert_eq!(told[1], "a CREATE_IN_PROGRESS");
    assert_eq!(told.last().unwrap(), "s CREATE_COMPLETE");
    let newest = events("?limit=1").await;
    assert_eq!(newest[0]["id"], all.last().unwrap()["id"]);
    let marker = all[1]["id"].as_str().unwrap();
    let page = events(&format!("?sort_dir=asc&limit=2&marker={marker}")).await;
    assert_eq!([&page[0]["id"], &page[1]["id"]], [&all[2]["id"], &all[3]["id"]]);
    assert_eq!(events("?limit=0").await.len(), 0);
    assert_eq!(events("?resource_name=a&resource_status=COMPLETE").await.len(), 1);
    assert_eq!(events("?resource_type=OS::Heat::Stack").await.len(), 2);
    let nested = events("?nested_depth=2").await;
    assert!(nested.iter().any(|it| it["resource_name"] == "inner"));
    assert_eq!(nested[0]["links"][3]["rel"], "root_stack");

    let one = all.iter().find(|it| it["resource_name"] == "a").unwrap();
    let href = one["links"][0]["href"].as_str().unwrap().split_once("/v1").unwrap().1.to_owned();
    let shown = api.get(&href).await.json()["event"].clone();
    assert_eq!(shown["resource_type"], "OS::Heat::Value");
    assert_eq!(shown["resource_properties"], json!({"value": "1"}));
    let reply = api.get(&format!("{path}/resources/none/events")).await;
    assert_eq!(reply.json()["error"]["message"], "No events found for resource none");
}

#[tokio::test]
async fn actions_run_and_bad_ones_are_refused() {
    let api = TestApi::new();
    let path = stack(&api).await;
    let act =
        async |body: Json| api.send("demo", "POST", &format!("{path}/actions"), Some(body)).await;
    for (action, state) in [
        ("suspend", "SUSPEND_COMPLETE"),
        ("resume", "RESUME_COMPLETE"),
        ("check", "CHECK_COMPLETE"),
    ] {
        let reply = act(json!({action: null})).await;
        assert_eq!((reply.status, reply.text.as_str()), (200, "null"));
        api.rest(&path).await;
        assert_eq!(api.status(&path).await, state);
    }
    let message = async |body| act(body).await.json()["error"]["message"].clone();
    assert_eq!(message(json!({})).await, "No action specified");
    assert_eq!(message(json!({"check": 1, "resume": 1})).await, "Multiple actions specified");
    assert_eq!(message(json!({"dance": null})).await, "Invalid action dance specified");
    assert_eq!(
        message(json!({"cancel_update": null})).await,
        "Cancelling update when stack is CHECK_COMPLETE is not supported."
    );
}

#[tokio::test]
async fn a_resource_is_signalled_and_marked() {
    let api = TestApi::new();
    let path = stack(&api).await;
    let reply = api.send("demo", "POST", &format!("{path}/resources/a/signal"), None).await;
    assert_eq!(reply.json()["error"]["message"], "signal is not supported for resource.");
    let mark = async |body: Json| {
        api.send("demo", "PATCH", &format!("{path}/resources/a"), Some(body)).await
    };
    assert_eq!(
        mark(json!({"mark_unhealthy": true, "resource_status_reason": "bad"})).await.status,
        200
    );
    api.rest(&path).await;
    let shown = api.get(&format!("{path}/resources/a")).await.json()["resource"].clone();
    assert_eq!(shown["resource_status"], "CHECK_FAILED");
    assert_eq!(shown["resource_status_reason"], "bad");
    let reply = mark(json!({"other": 1})).await;
    assert_eq!(
        reply.json()["error"]["message"],
        "Invalid keys in resource mark unhealthy {'other'}"
    );
    let reply = mark(json!({})).await;
    let expected = "Missing mandatory (mark_unhealthy) key from mark unhealthy request";
    assert_eq!(reply.json()["error"]["message"], expected);
}

#[tokio::test]
async fn a_signal_that_the_action_does_not_allow_is_refused_and_leaves_an_event() {
    let api = TestApi::new();
    let template = "heat_template_version: 2021-04-16\nresources:\n  h: {type: OS::Heat::WaitConditionHandle}\n";
    let path = api.create_with(json!({"stack_name": "s", "template": template})).await;
    let suspend = json!({"suspend": null});
    api.send("demo", "POST", &format!("{path}/actions"), Some(suspend)).await;
    api.rest(&path).await;
    let reply = api.send("demo", "POST", &format!("{path}/resources/h/signal"), None).await;
    let refused = "Signal resource during SUSPEND is not supported.";
    assert_eq!((reply.status, reply.json()["error"]["message"].clone()), (400, refused.into()));
    api.rest(&path).await;
    let events = api.get(&format!("{path}/resources/h/events")).await.json()["events"].clone();
    let last = &events.as_array().expect("events")[0];
    assert_eq!(last["resource_status"], "SUSPEND_COMPLETE");
    assert_eq!(last["resource_status_reason"], "Cannot signal resource during SUSPEND");
}

#[tokio::test]
async fn a_nested_stack_shows_the_timeout_of_its_root() {
    let api = TestApi::new();
    let body = json!({
        "stack_name": "s",
        "template": TEMPLATE,
        "files": {"child.yaml": CHILD},
        "timeout_mins": 10,
    });
    let path = api.create_with(body).await;
    let resource = api.get(&format!("{path}/resources/c")).await.json()["resource"].clone();
    let links = resource["links"].as_array().expect("links").clone();
    let nested = links.iter().find(|link| link["rel"] == "nested").expect("a nested stack");
    let (_, nested) = nested["href"].as_str().expect("a URL").split_once("/v1").expect("a path");
    assert_eq!(api.get(nested).await.json()["stack"]["timeout_mins"], 10);
}

#[tokio::test]
async fn a_stream_tells_events_until_the_stack_rests_and_goes_on_from_the_last_one_seen() {
    let api = TestApi::new();
    let path = stack(&api).await;
    let url = format!("/v1{path}/events?nested_depth=3");
    let text = api.stream("demo", &url, None).await;
    let ids: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    assert!(ids.len() >= 8, "{text}");
    assert!(text.ends_with("event: rest\ndata: \"CREATE_COMPLETE\"\n\n"), "{text}");
    let rest = api.stream("demo", &url, Some(ids[3])).await;
    let later: Vec<&str> = rest.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    assert_eq!(later, ids[4..]);
}

#[tokio::test]
async fn streams_are_counted_while_clients_read_them() {
    let api = TestApi::new();
    let url = format!("/v1{}/events", stack(&api).await);
    let count = || api.app.service.config().metrics.event_streams.get();
    let (one, other) =
        (api.open_stream("demo", &url, None).await, api.open_stream("demo", &url, None).await);
    assert_eq!(count(), 2);
    drop(one);
    assert_eq!(count(), 1, "a client has disconnected");
    axum::body::to_bytes(other.into_body(), usize::MAX).await.expect("a body");
    assert_eq!(count(), 0, "the stack rests");
}

#[tokio::test]
async fn stacks_are_listed_by_page_filter_and_tag() {
    let api = TestApi::new();
    for number in 0..5 {
        let tags = if number % 2 == 0 { "even" } else { "odd,last" };
        api.create_with(json!({
            "stack_name": format!("s{number}"),
            "template": "heat_template_version: 2021-04-16",
            "tags": tags,
        }))
        .await;
    }
    let list = async |query: &str| api.get(&format!("/demo/stacks{query}")).await.json();
    let all = async |query: &str| names(&list(query).await["stacks"], "stack_name");
    assert_eq!(all("").await.len(), 5);
    assert_eq!(all("?tags=odd,last").await, ["s1", "s3"]);
    assert_eq!(all("?not_tags=odd").await, ["s0", "s2", "s4"]);
    assert_eq!(all("?name=s1&name=s2").await, ["s1", "s2"]);
    assert_eq!(all("?status=CREATE_COMPLETE&limit=2").await.len(), 2);
    assert_eq!(all("?status=NONSENSE").await.len(), 0);
    let page = list("?sort_keys=stack_name&limit=2&with_count=true").await;
    assert_eq!(page["count"], 5);
    assert_eq!(page["stacks"][0]["stack_name"], "s0");
    let next = page["links"][0]["href"].as_str().unwrap().split_once("/v1").unwrap().1;
    let page = api.get(next).await.json();
    assert_eq!(page["stacks"][0]["stack_name"], "s2");
    assert_eq!(list("").await["stacks"][0].get("project"), None);
    let reply = api.send("admin", "GET", "/admin/stacks", None).await;
    assert_eq!(reply.json()["stacks"][0]["project"], "demo");
    let reply = api.get("/demo/stacks?global_tenant=true").await;
    assert_eq!(reply.status, 403);
    assert_eq!(
        reply.json()["error"]["message"],
        "You are not authorized to use stacks:global_index."
    );
}

#[tokio::test]
async fn an_adopted_stack_counts_as_changed_and_a_restored_one_has_no_tags() {
    let api = TestApi::new();
    let body = json!({"stack_name": "s", "template": EMPTY, "tags": "red"});
    let path = api.create_with(body).await;
    assert_eq!(api.get(&path).await.json()["stack"]["updated_time"], Json::Null);
    let snapshot = api.send("demo", "POST", &format!("{path}/snapshots"), Some(json!({}))).await;
    api.rest(&path).await;
    let id = snapshot.json()["id"].as_str().unwrap().to_owned();
    let restore = format!("{path}/snapshots/{id}/restore");
    assert_eq!(api.send("demo", "POST", &restore, None).await.status, 202);
    api.rest(&path).await;
    let shown = api.get(&path).await.json();
    assert_eq!(shown["stack"]["stack_status"], "RESTORE_COMPLETE");
    assert_eq!(shown["stack"]["tags"], json!([]));

    let export = api.send("demo", "DELETE", &format!("{path}/abandon"), None).await.text;
    api.rest(&path).await;
    let path = api.create_with(json!({"stack_name": "t", "adopt_stack_data": export})).await;
    let shown = api.get(&path).await.json();
    assert_eq!(shown["stack"]["stack_status"], "ADOPT_COMPLETE");
    assert_ne!(shown["stack"]["updated_time"], Json::Null);
}

const EMPTY: &str = "heat_template_version: 2021-04-16";

#[tokio::test]
async fn stacks_are_found_by_settings_that_no_index_knows() {
    let api = TestApi::new();
    for (name, timeout, is_disabled) in [("a", 5, true), ("b", 7, false), ("c", 7, true)] {
        let body = json!({"stack_name": name, "template": EMPTY, "timeout_mins": timeout,
                          "disable_rollback": is_disabled});
        api.create_with(body).await;
    }
    api.create("d", EMPTY).await;
    let answer = async |query: &str| {
        let sorted = format!("/demo/stacks?sort_keys=stack_name&sort_dir=asc&{query}");
        api.get(&sorted).await.json()
    };
    let names = |answer: &Json| -> Vec<String> {
        let stacks = answer["stacks"].as_array().unwrap().iter();
        stacks.map(|stack| stack["stack_name"].as_str().unwrap().to_owned()).collect()
    };
    for (query, found) in [
        ("disable_rollback=False", "b"),
        ("disable_rollback=0", "b"),
        ("disable_rollback=1", "a c d"),
        ("disable_rollback=true", "a c d"),
        ("disable_rollback=", "a b c d"),
        ("disable_rollback=0&disable_rollback=1", "a b c d"),
        ("timeout_mins=7", "b c"),
        ("timeout_mins=07", "b c"),
        ("timeout_mins=7.0", "b c"),
        ("timeout_mins=x", ""),
        ("timeout_mins=5&timeout_mins=7", "a b c"),
        ("timeout_mins=7&disable_rollback=1", "c"),
        ("stack_user_project_id=demo", "a b c d"),
        ("stack_user_project_id=other", ""),
        ("timeout_mins=7&limit=1", "b"),
    ] {
        assert_eq!(names(&answer(query).await).join(" "), found, "{query}");
    }
    let page = answer("timeout_mins=7&limit=1&with_count=true").await;
    assert_eq!(page["count"], 2);
    let next = page["links"][0]["href"].as_str().unwrap();
    let next = api.get(next.split_once("/v1").unwrap().1).await.json();
    assert_eq!(names(&next), ["c"]);
}
