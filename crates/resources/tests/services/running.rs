//! What runs: databases, clusters, containers, leases.

use super::rest::Rest;
use super::{drive, kind, made, update};
use crate::driving::World;
use kiln_cloud::{Call, CallError, Method, Reply};
use kiln_resources::behaviour::OperationKind;
use serde_json::{Value as Json, json};

// --- databases, clusters, containers ---

#[test]
fn databases_and_users_of_an_instance_follow_the_template() {
    let name = "OS::Trove::Instance";
    let mut world = Rest::of(kind(name).behaviour.rest.as_deref())
        .with("/flavors/f1", json!({ "id": "f1", "name": "f1" }))
        .with("/instances/7", json!({ "id": "7", "flavor": { "id": "f1" } }))
        .with("/instances/7/databases/old", json!({ "name": "old" }));
    let mut drive = drive(
        kind(name),
        r#"{"flavor": "f1", "size": 1, "databases": [{"name": "old"}],
            "users": [{"name": "joe", "password": "a", "databases": ["old"]}]}"#,
    );
    drive.context.physical_id = Some("7".into());
    update(
        &mut drive,
        kind(name),
        r#"{"flavor": "f1", "size": 2, "databases": [{"name": "new"}],
            "users": [{"name": "joe", "password": "b", "databases": ["new"]}]}"#,
    );
    world.answers = vec![(Method::Get, "/users", json!({ "users": [{ "name": "joe" }] }))];
    drive.run(kind(name), OperationKind::Update, &mut world);
    assert_eq!(drive.result(), &Ok(()));
    assert_eq!(
        world.told,
        [
            "POST /instances/7/action",
            "DELETE /instances/7/databases/old",
            "POST /instances/7/databases",
            "PUT /instances/7/users/joe",
            "DELETE /instances/7/users/joe/databases/old",
            "PUT /instances/7/users/joe/databases",
        ]
    );
}

#[test]
fn a_clusters_update_is_over_when_it_shows_what_was_wanted() {
    /// A service that begins only at the third look.
    struct Late(usize);
    impl World for Late {
        fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
            if call.request.method != Method::Get {
                return Ok(Reply::new(202, Json::Null));
            }
            self.0 += 1;
            let (status, nodes) = match self.0 {
                1 | 2 => ("UPDATE_COMPLETE", 1),
                3 | 4 => ("UPDATE_IN_PROGRESS", 2),
                _ => ("UPDATE_COMPLETE", 2),
            };
            Ok(Reply::new(200, json!({ "status": status, "node_count": nodes })))
        }
    }
    let name = "OS::Magnum::Cluster";
    let template = r#""cluster_template": "00000000000000000000000000000001""#;
    let mut drive = drive(kind(name), &format!(r#"{{{template}, "node_count": 1}}"#));
    drive.context.physical_id = Some("1".into());
    update(&mut drive, kind(name), &format!(r#"{{{template}, "node_count": 2}}"#));
    let mut late = Late(0);
    drive.run(kind(name), OperationKind::Update, &mut late);
    assert_eq!((drive.result(), late.0), (&Ok(()), 5));
}

#[test]
fn a_container_is_what_zun_wants_to_hear_of_it() {
    let name = "OS::Zun::Container";
    let mut world = Rest::of(kind(name).behaviour.rest.as_deref());
    world.finish = Some(|object| object["status"] = "Stopped".into());
    let network = r#"{"network": "00000000000000000000000000000001", "fixed_ip": "10.0.0.5"}"#;
    let properties = format!(
        r#"{{"image": "cirros", "restart_policy": "on-failure:2", "networks": [{network}],
             "mounts": [{{"mount_path": "/a", "volume_size": 1}}]}}"#
    );
    let drive = made(name, &properties, &mut world);
    assert_eq!(drive.result(), &Ok(()), "one that is done with its work is done");
    let sent = world.only("/containers");
    assert_eq!(sent["restart_policy"], json!({ "Name": "on-failure", "MaximumRetryCount": "2" }));
    assert_eq!(sent["mounts"], json!([{ "size": "1", "destination": "/a" }]));
    let net = json!({ "network": "00000000000000000000000000000001", "v4-fixed-ip": "10.0.0.5" });
    assert_eq!(sent["nets"], json!([net]));
}

#[test]
fn addresses_of_a_container_are_told_by_the_names_of_networks_too() {
    let name = "OS::Zun::Container";
    let mut world = Rest::of(kind(name).behaviour.rest.as_deref());
    world.finish = Some(|object| {
        object["status"] = "Running".into();
        object["addresses"] = json!({ "net-1": [{ "addr": "10.0.0.5" }] });
    });
    world.answers.push((
        Method::Get,
        "/networks/net-1",
        json!({ "network": { "name": "inside" } }),
    ));
    let drive = made(name, r#"{"image": "cirros"}"#, &mut world);
    let addresses = drive.shown.as_map().and_then(|shown| shown.get("addresses")).cloned();
    let told = r#"{"net-1": [{"addr": "10.0.0.5"}], "inside": [{"addr": "10.0.0.5"}]}"#;
    assert_eq!(addresses, Some(crate::stack::json(told)));
}

#[test]
fn reservations_say_what_their_kind_knows() {
    let mut world = Rest::of(kind("OS::Blazar::Lease").behaviour.rest.as_deref());
    let properties = r#"{"name": "l", "start_date": "2030-01-01 00:00", "end_date": "2030-01-02 00:00",
        "reservations": [{"resource_type": "physical:host", "min": 1, "max": 2, "amount": 3, "vcpus": null}]}"#;
    made("OS::Blazar::Lease", properties, &mut world);
    let told = json!([{ "resource_type": "physical:host", "min": 1, "max": 2 }]);
    assert_eq!(world.only("/leases")["reservations"], told);
}
