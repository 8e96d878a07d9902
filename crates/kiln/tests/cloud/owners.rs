//! Users of stacks where there is no domain for them: they are in the projects of those whose stacks they are.

use super::trusts::Site;
use kiln_sim::identity::project_id;
use serde_json::{Value as Json, json};

const TEMPLATE: &str = "heat_template_version: 2021-04-16
resources:
  handle: {type: AWS::CloudFormation::WaitConditionHandle}
  condition:
    type: AWS::CloudFormation::WaitCondition
    properties: {Handle: {get_resource: handle}, Timeout: 300}
outputs:
  address: {value: {get_resource: handle}}
  told: {value: {get_attr: [condition, Data]}}
";

/// A port without a listener.
fn free_port() -> u16 {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    socket.local_addr().expect("an address").port()
}

/// The names of the users that there are, but for those that were there from the beginning.
async fn users(site: &Site) -> Vec<String> {
    let reply = site.ask(&site.admin, "GET", "/users", None).await;
    let all = reply["users"].as_array().expect("users").iter();
    let names = all.map(|user| user["name"].as_str().unwrap_or_default().to_owned());
    names.filter(|name| name.starts_with("waiting-")).collect()
}

#[tokio::test]
async fn a_guest_signals_and_reads_nothing_without_a_domain_of_its_own() {
    let mut site = Site::new(true).await;
    let port = free_port();
    site.start_with(&format!(
        "[DEFAULT]\nheat_waitcondition_server_url = http://127.0.0.1:{port}/v1/waitcondition\n\
         [heat_api_cfn]\nbind_host = 127.0.0.1\nbind_port = {port}\n\
         [kiln]\nstack_users_in_projects = true\n"
    ));
    let demo = site.log_in_by_name("demo", "demo").await;
    let body = json!({ "stack_name": "waiting", "template": TEMPLATE });
    let made = site.request(&demo, "POST", "/stacks").json(&body).send().await.expect("a reply");
    assert_eq!(made.status(), 201, "{:?}", made.text().await);

    let output = |stack: &Json, name: &str| {
        let outputs = stack["outputs"].as_array().cloned().unwrap_or_default();
        let found = outputs.into_iter().find(|it| it["output_key"] == name);
        found.map(|it| it["output_value"].clone()).unwrap_or_default()
    };
    let address = loop {
        let address = output(&site.stack(&demo, "waiting").await, "address");
        if let Some(address) = address.as_str().filter(|it| it.starts_with("http")) {
            break address.to_owned();
        }
    };
    let [user] = users(&site).await.try_into().expect("one user");
    assert!(user.starts_with("waiting-handle-"), "{user}");

    // Its key opens no more than that: not even what its stack is.
    let (_, query) = address.split_once('?').expect("a signature");
    let listed = format!("http://127.0.0.1:{port}/v1/?Action=ListStacks&{query}");
    let refused = site.client.get(listed).send().await.expect("a reply");
    assert_eq!(refused.status(), 403);
    let said = json!({ "Status": "SUCCESS", "Reason": "up", "UniqueId": "1", "Data": "hello" });
    let told = site.client.put(&address).json(&said).send().await.expect("a reply");
    assert_eq!(told.status(), 200, "{:?}", told.text().await);
    site.until(&demo, "waiting", "CREATE_COMPLETE").await;
    let stack = site.stack(&demo, "waiting").await;
    assert_eq!(output(&stack, "told"), r#"{"1": "hello"}"#);
    assert_eq!(stack["stack_user_project_id"], project_id("demo"));

    let path = format!("/stacks/waiting/{}", stack["id"].as_str().unwrap_or_default());
    let deleted = site.request(&demo, "DELETE", &path).send().await.expect("a reply");
    assert_eq!(deleted.status(), 204);
    while !users(&site).await.is_empty() {}
    // The project is its owner's, and stays.
    let project = format!("/projects/{}", project_id("demo"));
    let project = site.ask(&site.admin, "GET", &project, None).await;
    assert_eq!(project["project"]["name"], "demo");
}
