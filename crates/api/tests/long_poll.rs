//! Waiting for metadata to change.

use crate::test_api::{Reply, TestApi};
use serde_json::json;

const TEMPLATE: &str = r#"
heat_template_version: 2021-04-16
parameters:
  word: {type: string, default: one}
resources:
  value: {type: OS::Heat::Value, properties: {value: x}, metadata: {word: {get_param: word}}}
"#;

/// Asks for metadata, telling what is known.
async fn request(api: &TestApi, path: &str, known: &str) -> Reply {
    api.knowing("demo", &format!("/v1{path}"), known).await
}

#[tokio::test]
async fn a_tag_says_what_is_known() {
    let api = TestApi::new();
    let path = api.create("s", TEMPLATE).await;
    let metadata = format!("{path}/resources/value/metadata");
    let first = api.get(&metadata).await;
    assert_eq!((first.status, first.json()), (200, json!({"metadata": {"word": "one"}})));
    assert_eq!(first.header("x-kiln-wait"), "60");
    let tag = first.header("etag").to_owned();
    let same = request(&api, &metadata, &tag).await;
    assert_eq!((same.status, same.text.as_str(), same.header("etag")), (304, "", tag.as_str()));
    assert_eq!(request(&api, &metadata, "\"other\"").await.status, 200);
    let waited = request(&api, &format!("{metadata}?wait=1"), &tag).await;
    assert_eq!(waited.status, 304, "nothing happened");
    assert_eq!(api.get(&format!("{metadata}?wait=soon")).await.status, 400);

    let change = json!({"template": TEMPLATE, "parameters": {"word": "two"}});
    let url = format!("{metadata}?wait=60");
    let (changed, updated) =
        tokio::join!(request(&api, &url, &tag), api.send("demo", "PUT", &path, Some(change)),);
    assert_eq!(updated.status, 202);
    assert_eq!(changed.json(), json!({"metadata": {"word": "two"}}));
    assert_ne!(changed.header("etag"), tag);
}

#[tokio::test]
async fn what_is_deployed_on_a_server_is_told_at_once() {
    let api = TestApi::new();
    let path = "/demo/software_deployments/metadata/server-1";
    let empty = api.get(path).await;
    assert_eq!(empty.json(), json!({"metadata": []}));
    let tag = empty.header("etag").to_owned();
    let made = api.send("demo", "POST", "/demo/software_configs", Some(json!({"name": "c"}))).await;
    let config = made.json()["software_config"]["id"].clone();
    let body = json!({"config_id": config, "server_id": "server-1"});
    let url = format!("{path}?wait=60");
    let (one, another, stranger, _) = tokio::join!(
        request(&api, &url, &tag),
        request(&api, &url, &tag),
        api.knowing("other", "/v1/other/software_deployments/metadata/server-1?wait=1", &tag),
        api.send("demo", "POST", "/demo/software_deployments", Some(body)),
    );
    assert_eq!(one.json()["metadata"][0]["id"], config);
    assert_eq!(one.text, another.text);
    assert_eq!(stranger.status, 304, "those of others are not told");
}

/// Clients that wait for the same server do not share what only one of them may see.
#[tokio::test]
async fn those_who_may_only_read_are_told_without_credentials() {
    let api = TestApi::new();
    let url = "/v1/demo/software_deployments/metadata/server-1?wait=60";
    let tag = api.get("/demo/software_deployments/metadata/server-1").await;
    let tag = tag.header("etag").to_owned();
    let input = json!({"name": "deploy_password", "value": "swordfish"});
    let body = json!({"name": "c", "inputs": [input]});
    let made = api.send("demo", "POST", "/demo/software_configs", Some(body)).await;
    let config = made.json()["software_config"]["id"].clone();
    let body = json!({"config_id": config, "server_id": "server-1"});
    let (member, reader, _) = tokio::join!(
        api.knowing("demo", url, &tag),
        api.knowing("reader", url, &tag),
        api.send("demo", "POST", "/demo/software_deployments", Some(body)),
    );
    assert!(member.text.contains("swordfish"), "{member:?}");
    assert_eq!(reader.json()["metadata"][0]["id"], config);
    assert!(!reader.text.contains("swordfish"), "{reader:?}");
}

#[tokio::test]
async fn the_older_api_waits_for_those_who_ask_it_to() {
    let api = TestApi::new();
    let path = api.create("s", TEMPLATE).await;
    let query = "Action=DescribeStackResource&ContentType=JSON&StackName=s&LogicalResourceId=value";
    let detail = |reply: Reply| {
        reply.json()["DescribeStackResourceResponse"]["DescribeStackResourceResult"]["StackResourceDetail"].clone()
    };
    let plain = detail(api.cfn("demo", query).await);
    assert!(plain.get("MetadataTag").is_none(), "{plain}");
    let first = detail(api.cfn("demo", &format!("{query}&Wait=0")).await);
    assert_eq!(first["MetadataWait"], "60", "{first}");
    let tag = first["MetadataTag"].as_str().unwrap().replace('"', "%22");
    let change = json!({"template": TEMPLATE, "parameters": {"word": "two"}});
    let waiting = format!("{query}&Wait=60&Known={tag}");
    let (changed, _) =
        tokio::join!(api.cfn("demo", &waiting), api.send("demo", "PUT", &path, Some(change)),);
    assert!(detail(changed)["Metadata"].to_string().contains("two"));
}
