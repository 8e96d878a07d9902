//! The compute service.

use serde_json::{Value, json};

use super::test_cloud::{Answer, TestCloud};

const V21: &str = "/compute/v2.1";
const NO_HOST: &str = "No valid host was found. There are not enough hosts available.";
const NEWEST: &[(&str, &str)] = &[("OpenStack-API-Version", "compute 2.96")];

impl TestCloud {
    /// Sends a request as the user `demo`, with the newest microversion.
    #[track_caller]
    pub fn nova(&self, what: &str, body: Value) -> Answer {
        let (method, path) = what.split_once(' ').unwrap();
        self.demo_with(&format!("{method} {V21}/{path}"), NEWEST, body)
    }

    pub fn image(&self, name: &str) -> String {
        let found = self.get(&format!("/image/v2/images?name={name}"));
        found["images"][0]["id"].as_str().unwrap().to_owned()
    }

    pub fn private(&self) -> String {
        let found = self.get("/network/v2.0/networks?name=private");
        found["networks"][0]["id"].as_str().unwrap().to_owned()
    }

    /// Creates a server and returns its id; it is still being built.
    #[track_caller]
    pub fn server(&self, fields: Value) -> String {
        let mut server = json!({
            "name": "s", "flavorRef": "42", "imageRef": self.image("cirros"), "networks": [{ "uuid": self.private() }],
        });
        for (name, value) in fields.as_object().unwrap() {
            server[name] = value.clone();
        }
        let made = self.nova("POST servers", json!({ "server": server })).has(202).body;
        made["server"]["id"].as_str().unwrap().to_owned()
    }

    /// Creates a running server and returns its id.
    #[track_caller]
    pub fn running(&self) -> String {
        let id = self.server(json!({}));
        self.later(11);
        assert_eq!(self.status(&id), "ACTIVE");
        id
    }

    #[track_caller]
    pub fn shown(&self, id: &str) -> Value {
        self.nova(&format!("GET servers/{id}"), Value::Null).has(200).body["server"].clone()
    }

    #[track_caller]
    fn status(&self, id: &str) -> String {
        self.shown(id)["status"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn act(&self, id: &str, body: Value) -> Answer {
        self.nova(&format!("POST servers/{id}/action"), body)
    }
}

impl Answer {
    /// Asserts an error in the format of Nova and Cinder.
    #[track_caller]
    pub fn fault(self, status: u16, name: &str, message: &str) {
        assert_eq!(self.body[name]["message"], message, "{}", self.text);
        assert_eq!(self.body[name]["code"], status);
        self.has(status);
    }
}

#[test]
fn versions_and_microversions_are_told() {
    let cloud = TestCloud::new();
    let root = cloud.ask("", "GET", "/compute/", Value::Null).unwrap().has(200).body;
    assert_eq!(root["versions"][0]["version"], "2.96");
    let answer = cloud.demo(&format!("GET {V21}/flavors"), Value::Null).has(200);
    assert_eq!(answer.headers["openstack-api-version"], "compute 2.1");
    assert!(answer.headers.contains_key("x-compute-request-id"));
    let answer = cloud.nova("GET flavors", Value::Null).has(200);
    assert_eq!(answer.headers["openstack-api-version"], "compute 2.96");
    cloud
        .demo_with(
            &format!("GET {V21}/flavors"),
            &[("OpenStack-API-Version", "compute 2.999")],
            Value::Null,
        )
        .fault(
            406,
            "notAcceptable",
            "Version 2.999 is not supported by the API. Minimum is 2.1 and maximum is 2.96.",
        );
}

#[test]
fn a_server_is_built_and_goes_with_its_port() {
    let cloud = TestCloud::new();
    let before = cloud.count("network/ports");
    let id = cloud.server(json!({ "metadata": { "a": "b" }, "tags": ["t"], "key_name": null }));
    let server = cloud.shown(&id);
    assert_eq!((&server["status"], &server["addresses"]), (&json!("BUILD"), &json!({})));
    cloud.later(11);
    let server = cloud.shown(&id);
    assert_eq!(server["status"], "ACTIVE");
    let address = &server["addresses"]["private"][0];
    assert_eq!((&address["version"], &address["OS-EXT-IPS:type"]), (&json!(4), &json!("fixed")));
    assert_eq!(server["flavor"]["original_name"], "m1.nano");
    assert_eq!(server["security_groups"], json!([{ "name": "default" }]));
    assert_eq!(cloud.count("network/ports"), before + 1);
    let ports = cloud.get(&format!("/network/v2.0/ports?device_id={id}"));
    assert_eq!(ports["ports"][0]["device_owner"], "compute:nova");
    assert_eq!(ports["ports"][0]["status"], "ACTIVE");
    cloud.nova(&format!("DELETE servers/{id}"), Value::Null).has(204);
    assert_eq!(cloud.shown(&id)["OS-EXT-STS:task_state"], "deleting");
    cloud.later(11);
    cloud.nova(&format!("GET servers/{id}"), Value::Null).fault(
        404,
        "itemNotFound",
        &format!("Instance {id} could not be found."),
    );
    assert_eq!(cloud.count("network/ports"), before);
}

#[test]
fn the_usage_of_a_project_grows_with_the_hours_of_its_servers() {
    let cloud = TestCloud::new();
    let project = cloud.demo_project();
    let url = format!("/compute/v2.1/os-simple-tenant-usage/{project}?start=2026-01-01T00:00:00");
    assert_eq!(cloud.get(&url), json!({ "tenant_usage": {} }));
    let id = cloud.server(json!({}));
    cloud.later(7200);
    let usage = cloud.get(&url)["tenant_usage"].clone();
    assert_eq!(usage["server_usages"][0]["instance_id"], json!(id));
    assert_eq!(
        (&usage["total_hours"], &usage["server_usages"][0]["uptime"]),
        (&json!(2.0), &json!(7200))
    );
    assert_eq!(
        usage["total_memory_mb_usage"],
        json!(2.0 * usage["server_usages"][0]["memory_mb"].as_f64().unwrap_or_default())
    );
}

#[test]
fn what_makes_no_sense_is_refused_in_novas_words() {
    let cloud = TestCloud::new();
    let image = cloud.image("cirros");
    let ask = |fields: Value| cloud.nova("POST servers", json!({ "server": fields }));
    let good = json!({ "name": "s", "flavorRef": "42", "imageRef": image, "networks": "auto" });
    let with = |name: &str, value: Value| {
        let mut server = good.clone();
        server[name] = value;
        ask(server)
    };
    with("flavorRef", json!("nope")).fault(400, "badRequest", "Flavor nope could not be found.");
    with("imageRef", json!("nope")).fault(400, "badRequest", "Can not find requested image");
    with("key_name", json!("nope")).fault(400, "badRequest", "Invalid key_name provided.");
    with("networks", json!([{ "uuid": "nope" }])).fault(
        400,
        "badRequest",
        "Network nope could not be found.",
    );
    with("networks", json!([{ "port": "nope" }])).fault(
        400,
        "badRequest",
        "Port id nope could not be found.",
    );
    with("availability_zone", json!("mars")).fault(
        400,
        "badRequest",
        "The requested availability zone is not available",
    );
    with("imageRef", json!("")).fault(400, "badRequest", "Invalid imageRef provided.");
    let refused = with("colour", json!("red")).has(400);
    assert!(
        refused.text.contains("Additional properties are not allowed ('colour' was unexpected)")
    );
    let refused = ask(json!({ "name": "s", "flavorRef": "42", "imageRef": image })).has(400);
    assert!(refused.text.contains("'networks' is a required property"));
    let refused = with("metadata", json!({ "a": 5 })).has(400);
    assert!(refused.text.contains("5 is not of type 'string'"));
    for _ in 0..10 {
        with("networks", json!("none")).has(202);
    }
    with("networks", json!("none")).fault(
        403,
        "forbidden",
        "Quota exceeded for instances: Requested 1, but already used 10 of 10 instances",
    );
}

#[test]
fn a_project_without_networks_gets_one() {
    let cloud = TestCloud::new();
    let server = json!({ "server": {
        "name": "s", "flavorRef": "42", "networks": "auto", "imageRef": cloud.image("cirros"),
    } });
    let newest = |body: Value| {
        let token = cloud.admin_token();
        cloud.ask_with(token, "POST", &format!("{V21}/servers"), NEWEST, body).unwrap()
    };
    newest(server.clone()).has(202);
    newest(server).has(202);
    let nets =
        cloud.admin("GET /network/v2.0/networks?name=auto_allocated_network", Value::Null).body;
    assert_eq!(nets["networks"].as_array().unwrap().len(), 1);
}

#[test]
fn a_server_takes_a_port_and_gives_it_back() {
    let cloud = TestCloud::new();
    let port = cloud.make("/network/v2.0/ports", "port", json!({ "network_id": cloud.private() }));
    let id = cloud.server(json!({ "networks": [{ "port": port }] }));
    cloud.nova("POST servers", json!({ "server": {
        "name": "t", "flavorRef": "42", "imageRef": cloud.image("cirros"), "networks": [{ "port": port }],
    } })).fault(409, "conflictingRequest", &format!("Port {port} is still in use."));
    cloud.later(11);
    cloud.nova(&format!("DELETE servers/{id}"), Value::Null).has(204);
    cloud.later(11);
    let shown = cloud.get(&format!("/network/v2.0/ports/{port}"))["port"].clone();
    assert_eq!((&shown["device_id"], &shown["status"]), (&json!(""), &json!("DOWN")));
}

#[test]
fn interfaces_come_and_go() {
    let cloud = TestCloud::new();
    let id = cloud.running();
    let path = format!("servers/{id}/os-interface");
    let body = json!({ "interfaceAttachment": { "net_id": cloud.private() } });
    let made = cloud.nova(&format!("POST {path}"), body).has(200).body;
    let port = made["interfaceAttachment"]["port_id"].as_str().unwrap().to_owned();
    let all = cloud.nova(&format!("GET {path}"), Value::Null).has(200).body;
    assert_eq!(all["interfaceAttachments"].as_array().unwrap().len(), 2);
    cloud.nova(&format!("DELETE {path}/{port}"), Value::Null).has(202);
    cloud.later(11);
    cloud.nova(&format!("GET {path}/{port}"), Value::Null).has(404);
    cloud.demo(&format!("GET /network/v2.0/ports/{port}"), Value::Null).has(404);
}

#[test]
fn actions_change_the_state_and_only_from_the_right_one() {
    let cloud = TestCloud::new();
    let id = cloud.running();
    for (action, busy, after) in [
        (json!({ "suspend": null }), "ACTIVE", "SUSPENDED"),
        (json!({ "resume": null }), "SUSPENDED", "ACTIVE"),
        (json!({ "os-stop": null }), "ACTIVE", "SHUTOFF"),
        (json!({ "os-start": null }), "SHUTOFF", "ACTIVE"),
        (json!({ "reboot": { "type": "SOFT" } }), "REBOOT", "ACTIVE"),
        (json!({ "resize": { "flavorRef": "1" } }), "RESIZE", "VERIFY_RESIZE"),
        (json!({ "revertResize": null }), "REVERT_RESIZE", "ACTIVE"),
        (json!({ "resize": { "flavorRef": "1" } }), "RESIZE", "VERIFY_RESIZE"),
    ] {
        cloud.act(&id, action).has(202);
        assert_eq!(cloud.status(&id), busy);
        cloud.later(11);
        assert_eq!(cloud.status(&id), after);
    }
    cloud.act(&id, json!({ "suspend": null })).fault(
        409,
        "conflictingRequest",
        &format!("Cannot 'suspend' instance {id} while it is in vm_state resized"),
    );
    cloud.act(&id, json!({ "confirmResize": null })).has(204);
    assert_eq!(cloud.shown(&id)["flavor"]["original_name"], "m1.tiny");
    cloud.act(&id, json!({ "confirmResize": null })).has(409);
    let rebuild =
        json!({ "rebuild": { "imageRef": cloud.image("ubuntu-22.04"), "metadata": { "n": "1" } } });
    cloud.act(&id, rebuild).has(202);
    assert_eq!(cloud.status(&id), "REBUILD");
    cloud.later(11);
    let shown = cloud.shown(&id);
    assert_eq!(
        (&shown["image"]["id"], &shown["metadata"]),
        (&json!(cloud.image("ubuntu-22.04")), &json!({ "n": "1" }))
    );
    cloud.act(&id, json!({ "changePassword": { "adminPass": "x" } })).has(202);
    cloud.act(&id, json!({ "os-getConsoleOutput": {} })).has(200);
    cloud.act(&id, json!({ "nonsense": {} })).has(400);
    let image =
        cloud.act(&id, json!({ "createImage": { "name": "copy" } })).has(202).body["image_id"]
            .clone();
    let image = image.as_str().unwrap();
    assert_eq!(cloud.get(&format!("/image/v2/images/{image}"))["status"], "queued");
    cloud.later(11);
    assert_eq!(cloud.get(&format!("/image/v2/images/{image}"))["status"], "active");
    assert_eq!(cloud.shown(&id)["OS-EXT-STS:task_state"], Value::Null);
    let console = json!({ "remote_console": { "protocol": "vnc", "type": "novnc" } });
    cloud.nova(&format!("POST servers/{id}/remote-consoles"), console).has(200);
}

#[test]
fn a_server_that_cannot_be_built_says_why() {
    use kiln_sim::cloud::{FaultKind, FaultRule, FaultWhen};
    let cloud = TestCloud::with(|options| {
        options.faults.rules = vec![FaultRule {
            service: Some("compute".to_owned()),
            method: Some("POST".to_owned()),
            path: Some("*/servers".to_owned()),
            when: FaultWhen::First(1),
            kind: FaultKind::BuildFailure,
        }];
    });
    let id = cloud.server(json!({}));
    cloud.later(11);
    let shown = cloud.shown(&id);
    assert_eq!(shown["status"], "ERROR");
    assert_eq!(shown["fault"]["message"], NO_HOST);
    assert_eq!(cloud.count("network/ports"), 2, "only those of the first router");
    cloud.running();
}

#[test]
fn no_hypervisor_has_room_for_a_giant() {
    let cloud = TestCloud::with(|options| options.quota = Some(-1));
    let flavor =
        json!({ "flavor": { "name": "giant", "ram": 1_000_000_000, "vcpus": 1, "disk": 1 } });
    let made = cloud.admin(&format!("POST {V21}/flavors"), flavor).has(200).body;
    let giant = made["flavor"]["id"].as_str().unwrap();
    let id = cloud.server(json!({ "flavorRef": giant }));
    cloud.later(11);
    assert_eq!(cloud.shown(&id)["fault"]["message"], NO_HOST);
    // A running server keeps its status.
    let id = cloud.running();
    cloud.act(&id, json!({ "resize": { "flavorRef": giant } })).has(202);
    assert_eq!(cloud.status(&id), "RESIZE");
    cloud.later(11);
    let shown = cloud.shown(&id);
    assert_eq!((&shown["status"], &shown["flavor"]["ram"]), (&json!("ACTIVE"), &json!(192)));
}

#[test]
fn servers_boot_from_volumes_and_have_more_of_them() {
    let cloud = TestCloud::new();
    let disk = json!([{
        "source_type": "image", "destination_type": "volume", "uuid": cloud.image("cirros"), "boot_index": 0,
        "volume_size": 2, "delete_on_termination": true,
    }]);
    let id = cloud.server(json!({ "imageRef": "", "block_device_mapping_v2": disk }));
    cloud.later(11);
    let shown = cloud.shown(&id);
    let boot = shown["os-extended-volumes:volumes_attached"][0]["id"].as_str().unwrap().to_owned();
    let volumes = format!("/volume/v3/{}/volumes", cloud.demo_project());
    let volume = cloud.get(&format!("{volumes}/{boot}"))["volume"].clone();
    assert_eq!((&volume["status"], &volume["bootable"]), (&json!("in-use"), &json!("true")));
    let extra = cloud.make(&volumes, "volume", json!({ "size": 1 }));
    let path = format!("servers/{id}/os-volume_attachments");
    let body = json!({ "volumeAttachment": { "volumeId": extra } });
    cloud.nova(&format!("POST {path}"), body.clone()).has(400);
    cloud.later(11);
    let made = cloud.nova(&format!("POST {path}"), body).has(200).body;
    assert_eq!(made["volumeAttachment"]["device"], "/dev/vdb");
    assert_eq!(cloud.get(&format!("{volumes}/{extra}"))["volume"]["status"], "attaching");
    cloud.later(11);
    let volume = cloud.get(&format!("{volumes}/{extra}"))["volume"].clone();
    assert_eq!(
        (&volume["status"], &volume["attachments"][0]["server_id"]),
        (&json!("in-use"), &json!(id))
    );
    cloud.demo(&format!("DELETE {volumes}/{extra}"), Value::Null).has(400);
    cloud.nova(&format!("DELETE {path}/{extra}"), Value::Null).has(202);
    assert_eq!(cloud.get(&format!("{volumes}/{extra}"))["volume"]["status"], "detaching");
    cloud.later(11);
    assert_eq!(cloud.get(&format!("{volumes}/{extra}"))["volume"]["status"], "available");
    cloud.nova(&format!("GET {path}/{extra}"), Value::Null).has(404);
    cloud.nova(&format!("DELETE servers/{id}"), Value::Null).has(204);
    cloud.later(11);
    cloud.demo(&format!("GET {volumes}/{boot}"), Value::Null).has(404);
}

#[test]
fn servers_are_labelled_listed_and_renamed() {
    let cloud = TestCloud::new();
    let id = cloud.running();
    cloud.nova(&format!("PUT servers/{id}"), json!({ "server": { "name": "new" } })).has(200);
    cloud
        .nova(&format!("POST servers/{id}/metadata"), json!({ "metadata": { "a": "1" } }))
        .has(200);
    cloud.nova(&format!("PUT servers/{id}/metadata/b"), json!({ "meta": { "b": "2" } })).has(200);
    cloud.nova(&format!("DELETE servers/{id}/metadata/a"), Value::Null).has(204);
    cloud.nova(&format!("PUT servers/{id}/tags"), json!({ "tags": ["x"] })).has(200);
    let shown = cloud.shown(&id);
    assert_eq!(
        (&shown["name"], &shown["metadata"], &shown["tags"]),
        (&json!("new"), &json!({ "b": "2" }), &json!(["x"]))
    );
    let list = |query: &str| {
        let found = cloud.nova(&format!("GET servers/detail?{query}"), Value::Null).has(200).body;
        found["servers"].as_array().unwrap().len()
    };
    assert_eq!(
        (list("name=ne"), list("name=zz"), list("status=ACTIVE"), list("status=ERROR")),
        (1, 0, 1, 0)
    );
    let group = json!({ "addSecurityGroup": { "name": "nope" } });
    cloud.act(&id, group).has(404);
}

#[test]
fn flavors_keys_groups_aggregates_and_quotas() {
    let cloud = TestCloud::new();
    let flavor = json!({ "flavor": { "name": "f", "ram": 64, "vcpus": 1, "disk": 1, "os-flavor-access:is_public": false } });
    cloud.demo(&format!("POST {V21}/flavors"), flavor.clone()).has(403);
    let made = cloud.admin(&format!("POST {V21}/flavors"), flavor.clone()).has(200).body;
    let id = made["flavor"]["id"].as_str().unwrap().to_owned();
    cloud.admin(&format!("POST {V21}/flavors"), flavor).fault(
        409,
        "conflictingRequest",
        "Flavor with name f already exists.",
    );
    cloud.nova(&format!("GET flavors/{id}"), Value::Null).fault(
        404,
        "itemNotFound",
        &format!("Flavor {id} could not be found."),
    );
    let access = json!({ "addTenantAccess": { "tenant": cloud.demo_project() } });
    cloud.admin(&format!("POST {V21}/flavors/{id}/action"), access).has(200);
    cloud.nova(&format!("GET flavors/{id}"), Value::Null).has(200);
    cloud
        .admin(
            &format!("POST {V21}/flavors/{id}/os-extra_specs"),
            json!({ "extra_specs": { "k": "v" } }),
        )
        .has(200);
    assert_eq!(
        cloud.nova(&format!("GET flavors/{id}"), Value::Null).body["flavor"]["extra_specs"],
        json!({ "k": "v" })
    );
    cloud.admin(&format!("DELETE {V21}/flavors/{id}/os-extra_specs/k"), Value::Null).has(200);
    cloud.admin(&format!("DELETE {V21}/flavors/{id}"), Value::Null).has(202);

    let key = json!({ "keypair": { "name": "k", "public_key": "ssh-rsa AAAA me" } });
    cloud.nova("POST os-keypairs", key.clone()).has(201);
    cloud.nova("POST os-keypairs", key).fault(
        409,
        "conflictingRequest",
        "Key pair 'k' already exists.",
    );
    let refused = cloud.nova("POST os-keypairs", json!({ "keypair": { "name": "l" } })).has(400);
    assert!(refused.text.contains("'public_key' is a required property"));
    let old = cloud
        .demo(&format!("POST {V21}/os-keypairs"), json!({ "keypair": { "name": "l" } }))
        .has(200)
        .body;
    assert!(old["keypair"]["private_key"].is_string());
    assert_eq!(
        cloud.nova("GET os-keypairs/k", Value::Null).has(200).body["keypair"]["public_key"],
        "ssh-rsa AAAA me"
    );
    cloud.nova("DELETE os-keypairs/k", Value::Null).has(204);
    cloud.nova("GET os-keypairs/k", Value::Null).has(404);

    let group = json!({ "server_group": { "name": "g", "policy": "anti-affinity" } });
    let group = cloud.nova("POST os-server-groups", group).has(200).body["server_group"].clone();
    let group_id = group["id"].as_str().unwrap();
    let body = json!({
        "server": { "name": "s", "flavorRef": "42", "imageRef": cloud.image("cirros"), "networks": "none" },
        "os:scheduler_hints": { "group": group_id },
    });
    let server = cloud.nova("POST servers", body).has(202).body["server"]["id"].clone();
    let shown = cloud.nova(&format!("GET os-server-groups/{group_id}"), Value::Null).has(200).body;
    assert_eq!(shown["server_group"]["members"], json!([server]));
    cloud.nova(&format!("DELETE os-server-groups/{group_id}"), Value::Null).has(204);

    let made = cloud
        .admin(&format!("POST {V21}/os-aggregates"), json!({ "aggregate": { "name": "a" } }))
        .has(200)
        .body;
    let path = format!("{V21}/os-aggregates/{}", made["aggregate"]["id"]);
    for (body, status) in [
        (json!({ "add_host": { "host": "compute-1" } }), 200),
        (json!({ "add_host": { "host": "compute-1" } }), 409),
        (json!({ "add_host": { "host": "nope" } }), 404),
        (json!({ "set_metadata": { "metadata": { "a": "b" } } }), 200),
    ] {
        cloud.admin(&format!("POST {path}/action"), body).has(status);
    }
    cloud.admin(&format!("DELETE {path}"), Value::Null).has(400);
    cloud
        .admin(&format!("POST {path}/action"), json!({ "remove_host": { "host": "compute-1" } }))
        .has(200);
    cloud.admin(&format!("DELETE {path}"), Value::Null).has(200);

    let quotas = format!("{V21}/os-quota-sets/{}", cloud.demo_project());
    cloud.admin(&format!("PUT {quotas}"), json!({ "quota_set": { "cores": 99 } })).has(200);
    assert_eq!(cloud.get(&quotas)["quota_set"]["cores"], 99);
    cloud.admin(&format!("DELETE {quotas}"), Value::Null).has(202);
    assert_eq!(cloud.get(&quotas)["quota_set"]["cores"], 20);
    assert_eq!(cloud.get(&format!("{V21}/limits"))["limits"]["absolute"]["totalInstancesUsed"], 1);
    for path in ["os-hypervisors/detail", "os-services", "os-hosts", "os-availability-zone/detail"]
    {
        cloud.admin(&format!("GET {V21}/{path}"), Value::Null).has(200);
    }
    cloud.get(&format!("{V21}/os-availability-zone"));
    cloud.demo(&format!("GET {V21}/nonsense"), Value::Null).has(404);
}
