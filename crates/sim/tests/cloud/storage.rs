//! The block storage service and the image service.

use serde_json::{Value, json};

use super::test_cloud::TestCloud;

impl TestCloud {
    fn cinder(&self) -> String {
        format!("/volume/v3/{}", self.demo_project())
    }

    fn volume_status(&self, id: &str) -> Value {
        self.get(&format!("{}/volumes/{id}", self.cinder()))["volume"]["status"].clone()
    }
}

#[test]
fn what_a_version_tells_of_itself_is_not_for_strangers() {
    let cloud = TestCloud::new();
    let nobody = cloud.ask("", "GET", "/volume/v3/", Value::Null).expect("an answer");
    nobody.has(401);
    assert_eq!(cloud.get("/volume/v3/")["versions"][0]["version"], "3.71");
}

#[test]
fn volumes_are_made_grown_copied_and_removed() {
    let cloud = TestCloud::new();
    let v3 = cloud.cinder();
    let root = cloud.ask("", "GET", "/volume/", Value::Null).unwrap().has(300).body;
    assert_eq!(root["versions"][0]["version"], "3.71");
    let id = cloud.make(
        &format!("{v3}/volumes"),
        "volume",
        json!({ "size": 1, "name": "v", "metadata": { "a": "b" } }),
    );
    assert_eq!(cloud.volume_status(&id), "creating");
    cloud.demo(&format!("DELETE {v3}/volumes/{id}"), Value::Null).has(400);
    cloud.later(11);
    assert_eq!(cloud.volume_status(&id), "available");
    let act = |body: Value| cloud.demo(&format!("POST {v3}/volumes/{id}/action"), body);
    act(json!({ "os-extend": { "new_size": 1 } })).fault(
        400, "badRequest",
        "Invalid input received: New size for extend must be greater than current size. (current: 1, extended: 1).",
    );
    act(json!({ "os-extend": { "new_size": 3 } })).has(202);
    assert_eq!(cloud.volume_status(&id), "extending");
    cloud.later(11);
    act(json!({ "os-retype": { "new_type": "__DEFAULT__", "migration_policy": "never" } }))
        .has(202);
    cloud.later(11);
    act(json!({ "os-update_readonly_flag": { "readonly": true } })).has(202);
    let shown = cloud.get(&format!("{v3}/volumes/{id}"))["volume"].clone();
    assert_eq!((&shown["size"], &shown["volume_type"]), (&json!(3), &json!("__DEFAULT__")));
    assert_eq!(shown["metadata"], json!({ "a": "b", "readonly": "True" }));
    cloud
        .demo(&format!("PUT {v3}/volumes/{id}/metadata"), json!({ "metadata": { "c": "d" } }))
        .has(200);
    cloud.demo(&format!("PUT {v3}/volumes/{id}"), json!({ "volume": { "name": "w" } })).has(200);
    assert_eq!(
        cloud.get(&format!("{v3}/volumes/detail?name=w"))["volumes"][0]["metadata"],
        json!({ "c": "d" })
    );

    let snapshot = cloud.make(&format!("{v3}/snapshots"), "snapshot", json!({ "volume_id": id }));
    cloud.later(11);
    cloud.demo(&format!("DELETE {v3}/volumes/{id}"), Value::Null).has(400);
    let copy = cloud.make(&format!("{v3}/volumes"), "volume", json!({ "snapshot_id": snapshot }));
    assert_eq!(cloud.get(&format!("{v3}/volumes/{copy}"))["volume"]["size"], 3);
    let backup = cloud.make(&format!("{v3}/backups"), "backup", json!({ "volume_id": id }));
    assert_eq!(cloud.volume_status(&id), "backing-up");
    cloud.later(11);
    let restored = cloud
        .demo(&format!("POST {v3}/backups/{backup}/restore"), json!({ "restore": {} }))
        .has(202)
        .body;
    let restored = restored["restore"]["volume_id"].as_str().unwrap().to_owned();
    assert_eq!(cloud.volume_status(&restored), "restoring-backup");
    let shown = cloud.demo(&format!("GET {v3}/volumes/{restored}"), Value::Null).has(200).body;
    assert_eq!(shown["volume"]["description"], "auto-created_from_restore_from_backup");
    cloud.later(11);
    assert_eq!(cloud.volume_status(&restored), "available");
    for path in [format!("backups/{backup}"), format!("snapshots/{snapshot}")] {
        cloud.demo(&format!("DELETE {v3}/{path}"), Value::Null).has(202);
        cloud.later(11);
        cloud.demo(&format!("GET {v3}/{path}"), Value::Null).has(404);
    }
    for volume in [id, copy, restored] {
        cloud.demo(&format!("DELETE {v3}/volumes/{volume}"), Value::Null).has(202);
    }
    cloud.later(11);
    assert_eq!(cloud.count("volume/volumes"), 0);
}

#[test]
fn cinder_refuses_what_it_refuses() {
    let cloud = TestCloud::new();
    let v3 = cloud.cinder();
    let ask =
        |fields: Value| cloud.demo(&format!("POST {v3}/volumes"), json!({ "volume": fields }));
    ask(json!({})).fault(
        400,
        "badRequest",
        "Invalid input received: Volume size 'None' must be an integer and greater than 0",
    );
    ask(json!({ "size": 1, "volume_type": "nope" })).fault(
        404,
        "itemNotFound",
        "Volume type with name nope could not be found.",
    );
    ask(json!({ "size": 1, "snapshot_id": "nope" })).fault(
        404,
        "itemNotFound",
        "Snapshot nope could not be found.",
    );
    assert!(
        ask(json!({ "size": 1, "colour": "red" }))
            .has(400)
            .text
            .contains("'colour' was unexpected")
    );
    ask(json!({ "size": 2_000 })).has(413);
    for _ in 0..10 {
        ask(json!({ "size": 1 })).has(202);
    }
    ask(json!({ "size": 1 })).fault(
        413,
        "overLimit",
        "VolumeLimitExceeded: Maximum number of volumes allowed (10) exceeded for quota 'volumes'.",
    );
    cloud.demo(&format!("GET {v3}/volumes/nope"), Value::Null).fault(
        404,
        "itemNotFound",
        "Volume nope could not be found.",
    );
}

#[test]
fn types_and_quality_are_for_administrators() {
    let cloud = TestCloud::new();
    let v3 = cloud.cinder();
    let kind = json!({ "volume_type": { "name": "t", "os-volume-type-access:is_public": false, "extra_specs": { "a": "b" } } });
    cloud.demo(&format!("POST {v3}/types"), kind.clone()).has(403);
    let made = cloud.admin(&format!("POST {v3}/types"), kind.clone()).has(200).body;
    let id = made["volume_type"]["id"].as_str().unwrap().to_owned();
    cloud.admin(&format!("POST {v3}/types"), kind).fault(
        409,
        "conflictingRequest",
        "Volume Type t already exists.",
    );
    cloud.demo(&format!("GET {v3}/types/{id}"), Value::Null).has(404);
    let access = json!({ "addProjectAccess": { "project": cloud.demo_project() } });
    cloud.admin(&format!("POST {v3}/types/{id}/action"), access).has(202);
    cloud.demo(&format!("GET {v3}/types/{id}"), Value::Null).has(200);
    cloud
        .admin(&format!("POST {v3}/types/{id}/extra_specs"), json!({ "extra_specs": { "c": "d" } }))
        .has(200);
    cloud.admin(&format!("DELETE {v3}/types/{id}/extra_specs/a"), Value::Null).has(202);
    let encryption = json!({ "encryption": { "provider": "luks", "key_size": 256 } });
    cloud.admin(&format!("POST {v3}/types/{id}/encryption"), encryption.clone()).has(200);
    cloud.admin(&format!("POST {v3}/types/{id}/encryption"), encryption).has(400);
    cloud.admin(&format!("DELETE {v3}/types/{id}/encryption/x"), Value::Null).has(202);
    let made = cloud
        .admin(
            &format!("POST {v3}/qos-specs"),
            json!({ "qos_specs": { "name": "q", "read_iops_sec": "5" } }),
        )
        .has(200);
    let specs = made.body["qos_specs"]["id"].as_str().unwrap().to_owned();
    assert_eq!(made.body["qos_specs"]["specs"], json!({ "read_iops_sec": "5" }));
    cloud
        .admin(&format!("GET {v3}/qos-specs/{specs}/associate?vol_type_id={id}"), Value::Null)
        .has(202);
    cloud.admin(&format!("DELETE {v3}/qos-specs/{specs}"), Value::Null).has(400);
    cloud.admin(&format!("GET {v3}/qos-specs/{specs}/disassociate_all"), Value::Null).has(202);
    cloud
        .admin(
            &format!("PUT {v3}/qos-specs/{specs}/delete_keys"),
            json!({ "keys": ["read_iops_sec"] }),
        )
        .has(202);
    cloud.admin(&format!("DELETE {v3}/qos-specs/{specs}"), Value::Null).has(202);
    cloud.admin(&format!("DELETE {v3}/types/{id}"), Value::Null).has(202);
    let quotas = format!("{v3}/os-quota-sets/{}", cloud.demo_project());
    cloud.admin(&format!("PUT {quotas}"), json!({ "quota_set": { "volumes": 3 } })).has(200);
    assert_eq!(cloud.get(&quotas)["quota_set"]["volumes"], 3);
    assert_eq!(cloud.get(&format!("{v3}/limits"))["limits"]["absolute"]["maxTotalVolumes"], 3);
    cloud.get(&format!("{v3}/os-availability-zone"));
}

#[test]
fn images_are_made_filled_shared_and_removed() {
    let cloud = TestCloud::new();
    let images = "/image/v2/images";
    let schema = cloud.get("/image/v2/schemas/image");
    assert_eq!(schema["properties"]["os_hidden"]["type"], json!(["null", "boolean"]));
    let fields = json!({ "name": "i", "disk_format": "qcow2", "container_format": "bare", "os_distro": "x", "tags": ["t"] });
    let made = cloud.demo(&format!("POST {images}"), fields).has(201).body;
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!(
        (&made["status"], &made["visibility"], &made["os_distro"]),
        (&json!("queued"), &json!("shared"), &json!("x"))
    );
    let import = json!({ "method": { "name": "web-download", "uri": "http://example.com/i" } });
    cloud.demo(&format!("POST {images}/{id}/import"), import).has(202);
    assert_eq!(cloud.get(&format!("{images}/{id}"))["status"], "importing");
    cloud.later(11);
    assert_eq!(cloud.get(&format!("{images}/{id}"))["status"], "active");
    assert!(
        cloud.get(&format!("{images}/{id}")).get("stores").is_none(),
        "there is only one store"
    );
    let kind = [("Content-Type", "application/openstack-images-v2.1-json-patch")];
    let patch = json!([{ "op": "replace", "path": "/name", "value": "j" }, { "op": "remove", "path": "/os_distro" },
        { "op": "add", "path": "/colour", "value": "red" }]);
    let shown = cloud.demo_with(&format!("PATCH {images}/{id}"), &kind, patch).has(200).body;
    assert_eq!(
        (&shown["name"], &shown["colour"], &shown["os_distro"]),
        (&json!("j"), &json!("red"), &Value::Null)
    );
    cloud.demo(&format!("PUT {images}/{id}/tags/u"), Value::Null).has(204);
    cloud.demo(&format!("DELETE {images}/{id}/tags/t"), Value::Null).has(204);
    cloud.demo(&format!("POST {images}/{id}/actions/deactivate"), Value::Null).has(204);
    cloud.demo(&format!("POST {images}/{id}/actions/reactivate"), Value::Null).has(204);
    cloud.demo(&format!("POST {images}/{id}/members"), json!({ "member": "p" })).has(200);
    cloud.demo(&format!("POST {images}/{id}/members"), json!({ "member": "p" })).has(409);
    assert_eq!(cloud.get(&format!("{images}/{id}/members"))["members"][0]["member_id"], "p");
    cloud.demo(&format!("DELETE {images}/{id}/members/p"), Value::Null).has(204);
    let page = cloud.demo(&format!("POST {images}"), json!({ "visibility": "public" })).has(403);
    assert!(page.text.contains("<h1>403 Forbidden</h1>"), "{}", page.text);
    let all = cloud.get(&format!("{images}?limit=2"));
    assert_eq!(all["images"].as_array().unwrap().len(), 2);
    assert!(all["next"].as_str().unwrap().starts_with("/v2/images?limit=2&marker="));
    cloud.demo(&format!("DELETE {images}/{id}"), Value::Null).has(204);
    cloud.demo(&format!("GET {images}/{id}"), Value::Null).has(404);
    let cirros = cloud.image("cirros");
    cloud.demo(&format!("DELETE {images}/{cirros}"), Value::Null).has(403);
    cloud.demo(&format!("GET {images}/{cirros}/file"), Value::Null).has(200);
    cloud.ask("", "GET", "/image/", Value::Null).unwrap().has(300);
}
