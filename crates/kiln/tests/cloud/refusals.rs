//! Mistakes that only the cloud, or the stack as a whole, can tell: what Heat refuses at the request is refused there, and what
//! fails later has Heat's class and words.

use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, ended, expect, path};
use serde_json::{Value as Json, json};

fn template(resources: &Json) -> Json {
    json!({ "heat_template_version": "2021-04-16", "resources": resources })
}

/// The message with which a stack of these resources is refused.
async fn refusal(kiln: &KilnProcess, resources: Json) -> String {
    let body = json!({ "stack_name": "no", "timeout_mins": 5, "template": template(&resources) });
    let reply = kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await;
    assert_eq!(reply.status, 400, "{resources}: {}", reply.body);
    reply.body["error"]["message"].as_str().unwrap_or_default().to_owned()
}

/// The reason of a resource `it` in a stack that was created and failed. The stack is deleted.
async fn failure(kiln: &KilnProcess, who: Who, resources: Json) -> String {
    let body = json!({ "stack_name": "fails", "template": template(&resources) });
    expect(kiln.ask(who, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    ended(kiln, who, "fails", "CREATE_FAILED").await.expect("a failure");
    let place = format!("{}/resources/it", path(kiln, who, "fails").await);
    let shown = kiln.ask(who, "GET", &place, None).await.body;
    delete(kiln, who, "fails").await.expect("gone");
    shown["resource"]["resource_status_reason"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn what_the_cloud_forbids_is_refused_before_anything_is_made() {
    let kiln = KilnProcess::start(&[]).await;
    let metadata: Json = (0..129).map(|at| (at.to_string(), json!("x"))).collect();
    let networks = json!([{ "network": "private" }]);
    let server = json!({ "image": "cirros", "flavor": "m1.tiny", "networks": networks, "metadata": metadata });
    let lease = json!({
        "name": "mine", "start_date": "2030-01-01 00:00", "end_date": "2030-01-02 00:00",
        "reservations": [{ "resource_type": "physical:host", "min": 1, "max": 1 }],
    });
    let database = |more: Json| {
        let mut properties = json!({ "flavor": "m1.tiny", "size": 1 });
        properties.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        json!({ "it": { "type": "OS::Trove::Instance", "properties": properties } })
    };
    for (resources, words) in [
        (
            json!({ "it": { "type": "OS::Nova::Server", "properties": server } }),
            "Instance metadata must not contain greater than 128 entries.",
        ),
        (
            json!({ "it": { "type": "OS::Heat::Delay", "properties": { "min_wait": 290, "max_jitter": 11 } } }),
            "OS::Heat::Delay maximum delay 301.0s exceeds stack timeout.",
        ),
        (
            json!({ "it": { "type": "OS::Blazar::Lease", "properties": lease } }),
            "Couldn't find any host in Blazar. You must create a host before creating a lease.",
        ),
        (
            database(json!({ "datastore_type": "mysql", "datastore_version": "5" })),
            "Datastore version 5 for datastore type mysql is not valid. Allowed versions are 8.0.",
        ),
        (
            database(json!({ "datastore_version": "8.0" })),
            "Not allowed - datastore_version without datastore_type.",
        ),
        (
            json!({ "it": { "type": "OS::Neutron::AddressScope", "properties": { "tenant_id": "no-such" } } }),
            "You are not authorized to perform the requested action",
        ),
        (
            json!({ "it": { "type": "AWS::AutoScaling::AutoScalingGroup", "properties": {
                "InstanceId": "no-such", "MinSize": 1, "MaxSize": 1, "AvailabilityZones": ["nova"],
            } } }),
            "InstanceId",
        ),
        (
            json!({
                "server": { "type": "OS::Nova::Server", "properties": { "image": "cirros", "flavor": "m1.tiny", "networks": networks } },
                "config": { "type": "OS::Heat::SoftwareConfig" },
                "it": { "type": "OS::Heat::SoftwareDeployment", "properties": {
                    "server": { "get_resource": "server" }, "config": { "get_resource": "config" },
                } },
            }),
            "Resource server's property user_data_format should be set to SOFTWARE_CONFIG",
        ),
    ] {
        let message = refusal(&kiln, resources).await;
        assert!(message.contains(words), "{message}");
    }
}

#[tokio::test]
async fn what_fails_later_has_the_class_of_heat() {
    let kiln = KilnProcess::start(&[]).await;
    let port = |address: &str| {
        json!({ "it": { "type": "OS::Neutron::Port", "properties": {
            "network": "private", "fixed_ips": [{ "ip_address": address }],
        } } })
    };
    let reason = failure(&kiln, Who::Demo, port("192.0.2.1")).await;
    assert!(reason.starts_with("InvalidIpForNetworkClient: resources.it: "), "{reason}");
    assert!(reason.contains("\nNeutron server returns request_ids: ['req-"), "{reason}");
    let reason = failure(&kiln, Who::Demo, port("10.0.0.1")).await;
    assert!(reason.starts_with("IpAddressAlreadyAllocatedClient: resources.it: "), "{reason}");
    let router = json!({ "it": { "type": "OS::Neutron::Router", "properties": { "l3_agent_ids": ["no-such"] } } });
    let reason = failure(&kiln, Who::Admin, router).await;
    assert!(reason.starts_with("NotFound: resources.it: "), "{reason}");
    let user =
        json!({ "it": { "type": "AWS::IAM::User", "properties": { "Policies": ["no-such"] } } });
    let reason = failure(&kiln, Who::Demo, user).await;
    assert!(reason.starts_with("InvalidTemplateAttribute: resources.it: "), "{reason}");
}

#[tokio::test]
async fn a_security_group_of_ec2_can_lose_its_rules_for_egress() {
    let kiln = KilnProcess::start(&[]).await;
    let of = |more: Json| {
        let mut properties = json!({ "GroupDescription": "mine" });
        properties.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        let it = json!({ "type": "AWS::EC2::SecurityGroup", "properties": properties });
        json!({ "stack_name": "group", "template": template(&json!({ "it": it })) })
    };
    let reply = kiln.ask(Who::Demo, "POST", "/stacks", Some(of(json!({})))).await;
    expect(reply, "create").expect("a stack");
    ended(&kiln, Who::Demo, "group", "CREATE_COMPLETE").await.expect("a stack");
    let place = path(&kiln, Who::Demo, "group").await;
    let shown = kiln.ask(Who::Demo, "GET", &format!("{place}/resources/it"), None).await.body;
    let id = shown["resource"]["physical_resource_id"].as_str().expect("an id").to_owned();
    let place_of_group = format!("/network/v2.0/security-groups/{id}");
    let egress = async || {
        let group = kiln.cloud(Who::Demo, "GET", &place_of_group, None).await.body;
        let rules = group["security_group"]["security_group_rules"].clone();
        rules.as_array().expect("rules").iter().filter(|it| it["direction"] == "egress").count()
    };
    assert_eq!(egress().await, 2, "a new group lets everything out");
    let update = of(json!({ "SecurityGroupEgress": [] }));
    expect(kiln.ask(Who::Demo, "PUT", &place, Some(update)).await, "update").expect("an update");
    ended(&kiln, Who::Demo, "group", "UPDATE_COMPLETE").await.expect("an update");
    assert_eq!(egress().await, 0);
    delete(&kiln, Who::Demo, "group").await.expect("gone");
}
