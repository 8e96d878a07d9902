//! A small cloud: objects in collections, and the few things that they do by themselves.
//!
//! Objects are slow: what they become, they become when they were looked at once more.

use crate::driving::World;
use kiln_cloud::{Call, CallError, Method, Reply, Service};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// A collection of objects, by the service and the path.
type Key = (&'static str, String);

#[derive(Default)]
pub(crate) struct Cloud {
    pub(crate) objects: BTreeMap<Key, Vec<Json>>,
    /// What objects become at the next look but one: fields, or nothing if they go.
    becoming: BTreeMap<(Key, String), (u32, Option<Json>)>,
    /// The calls that change something.
    pub(crate) told: Vec<String>,
    made: u32,
}

pub(super) type Answer = Result<Reply, CallError>;

pub(super) fn ok(body: Json) -> Answer {
    Ok(Reply::new(200, body))
}

pub(super) fn refuse(status: u16, message: &str) -> Answer {
    Err(CallError::Refused(Reply::new(status, json!({ "refusal": { "message": message } }))))
}

/// What stands around one object of a collection, and around many.
fn envelopes(path: &str) -> (&'static str, &'static str) {
    match path {
        "/servers" => ("server", "servers"),
        "/flavors" => ("flavor", "flavors"),
        "/os-keypairs" => ("keypair", "keypairs"),
        "/os-server-groups" => ("server_group", "server_groups"),
        "/os-aggregates" => ("aggregate", "aggregates"),
        "/networks" => ("network", "networks"),
        "/subnets" => ("subnet", "subnets"),
        "/ports" => ("port", "ports"),
        "/floatingips" => ("floatingip", "floatingips"),
        "/security-groups" => ("security_group", "security_groups"),
        "/qos/policies" => ("policy", "policies"),
        "/volumes" => ("volume", "volumes"),
        "/backups" => ("backup", "backups"),
        "/types" => ("volume_type", "volume_types"),
        "/qos-specs" => ("qos_specs", "qos_specs"),
        "/projects" => ("project", "projects"),
        "/users" => ("user", "users"),
        "/images" => ("", "images"),
        other => panic!("nobody knows {other}"),
    }
}

impl Cloud {
    /// A cloud with what the cases lean on.
    pub(crate) fn new() -> Cloud {
        let mut cloud = Cloud::default();
        let mut have = |service: Service, path: &str, object: Json| {
            cloud.collection(service, path).push(object);
        };
        for id in ["small", "large"] {
            have(Service::Compute, "/flavors", json!({ "id": id, "name": format!("m1.{id}") }));
        }
        for id in ["image-1", "image-2"] {
            let image = json!({ "id": id, "name": id, "status": "active" });
            have(Service::Image, "/images", image);
        }
        for id in ["net-1", "net-2"] {
            let subnet = format!("sub{id}");
            have(Service::Network, "/networks", json!({ "id": id, "name": format!("name-{id}") }));
            let subnet = json!({ "id": subnet, "name": subnet, "network_id": id });
            have(Service::Network, "/subnets", subnet);
        }
        let outside = json!({ "id": "outside", "name": "public", "router:external": true });
        have(Service::Network, "/networks", outside);
        for (number, id) in ["port-1", "port-2"].into_iter().enumerate() {
            let port = json!({ "id": id, "name": id, "network_id": "net-1", "device_id": "",
                "mac_address": format!("00:{number}"),
                "fixed_ips": [{ "ip_address": format!("10.9.0.{number}"), "subnet_id": "subnet-1" }] });
            have(Service::Network, "/ports", port);
        }
        for id in ["fip-1", "fip-2"] {
            let address = json!({ "id": id, "port_id": null, "floating_ip_address": "172.24.4.9" });
            have(Service::Network, "/floatingips", address);
        }
        for id in ["volume-1", "volume-2"] {
            let volume = json!({ "id": id, "name": id, "status": "available", "attachments": [],
                "size": 1, "volume_type": "fast" });
            have(Service::Volume, "/volumes", volume);
        }
        for name in ["fast", "slow"] {
            let kind = json!({ "id": format!("type-{name}"), "name": name });
            have(Service::Volume, "/types", kind);
        }
        have(Service::Volume, "/qos-specs", json!({ "id": "qos-1", "name": "qos", "specs": {} }));
        have(
            Service::Volume,
            "/backups",
            json!({ "id": "backup-1", "name": "b", "status": "available" }),
        );
        for id in ["p1", "p2"] {
            have(
                Service::Identity,
                "/projects",
                json!({ "id": id, "name": format!("project {id}") }),
            );
        }
        for id in ["server-1", "server-2"] {
            let server = json!({ "id": id, "name": id, "status": "ACTIVE", "addresses": {} });
            have(Service::Compute, "/servers", server);
            let port = json!({ "id": format!("port-of-{id}"), "name": "", "network_id": "net-2",
                "device_id": id, "mac_address": "00:ff",
                "fixed_ips": [{ "ip_address": "10.8.0.1", "subnet_id": "subnet-2" }] });
            have(Service::Network, "/ports", port);
        }
        cloud
    }

    pub(super) fn key(service: Service, path: &str) -> Key {
        (service.project(), path.to_owned())
    }

    pub(crate) fn collection(&mut self, service: Service, path: &str) -> &mut Vec<Json> {
        self.objects.entry(Cloud::key(service, path)).or_default()
    }

    /// How many objects there are, of whichever kind.
    pub(crate) fn population(&self) -> usize {
        self.objects.values().map(Vec::len).sum()
    }

    pub(crate) fn get(&mut self, service: Service, path: &str, id: &str) -> Option<&mut Json> {
        self.collection(service, path).iter_mut().find(|it| is_called(it, id))
    }

    /// An object becomes something when it was looked at so often.
    pub(super) fn become_later(
        &mut self,
        service: Service,
        path: &str,
        id: &str,
        what: Option<Json>,
    ) {
        self.becoming.insert((Cloud::key(service, path), id.to_owned()), (1, what));
    }

    fn look(&mut self, service: Service, path: &str, id: &str) {
        let key = (Cloud::key(service, path), id.to_owned());
        let Some((left, what)) = self.becoming.get_mut(&key) else { return };
        if *left > 0 {
            *left -= 1;
            return;
        }
        let what = what.take();
        self.becoming.remove(&key);
        match what {
            Some(fields) => merge(self.get(service, path, id), &fields),
            None => self.collection(service, path).retain(|it| !is_called(it, id)),
        }
    }

    pub(super) fn fresh(&mut self, prefix: &str) -> String {
        self.made += 1;
        format!("{prefix}-{:04}", self.made)
    }

    /// Adds an object, with an id if it has none.
    pub(super) fn add(&mut self, service: Service, path: &str, mut object: Json) -> Json {
        let (one, _) = envelopes(path);
        match path {
            "/os-aggregates" => {
                self.made += 1;
                object["id"] = self.made.into();
            }
            "/os-keypairs" => {
                self.made += 1;
                object["id"] = self.made.into();
                object["fingerprint"] = "aa:bb".into();
            }
            _ if object["id"].is_null() => {
                object["id"] = self.fresh(if one.is_empty() { "image" } else { one }).into();
            }
            _ => {}
        }
        self.collection(service, path).push(object.clone());
        object
    }

    fn list(&mut self, call: &Call, path: &str) -> Answer {
        // What is listed goes on its way as well.
        let (one, many) = envelopes(path);
        let filters: Vec<&(String, String)> = call
            .request
            .query
            .iter()
            .filter(|(name, _)| !matches!(&**name, "is_public" | "user_id"))
            .collect();
        let fits = |object: &&Json| {
            let mut names: Vec<&str> = filters.iter().map(|(name, _)| &**name).collect();
            names.dedup();
            names.iter().all(|name| {
                let shown = match &object[*name] {
                    Json::String(text) => text.clone(),
                    other => other.to_string(),
                };
                filters.iter().any(|(filter, value)| filter == name && *value == shown)
            })
        };
        if call.request.service == Service::Compute {
            let known = ["name", "is_public", "user_id"];
            let unknown = filters.iter().find(|(name, _)| !known.contains(&&**name));
            assert!(unknown.is_none(), "{call:?} has a filter that nobody knows: {unknown:?}");
        }
        let all = self.collection(call.request.service, path).iter().filter(fits);
        let all: Vec<Json> = all
            .map(|it| if one == "keypair" { json!({ "keypair": it }) } else { it.clone() })
            .collect();
        ok(json!({ many: all }))
    }

    fn rest(&mut self, call: &Call, path: &str, id: Option<&str>) -> Answer {
        let (one, _) = envelopes(path);
        let sent = call.request.body.clone().unwrap_or_default();
        let object = if one.is_empty() { sent.clone() } else { sent[one].clone() };
        let wrapped =
            |object: Json| ok(if one.is_empty() { object } else { json!({ one: object }) });
        match (call.request.method, id) {
            (Method::Get, None) => self.list(call, path),
            (Method::Post, None) => {
                self.may_be_made(call.request.service, path, &object)?;
                let object = self.completed(path, &sent, object);
                let made = self.add(call.request.service, path, object);
                self.made_one(call.request.service, path, &made);
                wrapped(made)
            }
            (method, Some(id)) => {
                if method == Method::Get {
                    self.look(call.request.service, path, id);
                }
                let Some(found) = self.get(call.request.service, path, id) else {
                    return refuse(404, &format!("there is no {path}/{id}"));
                };
                match method {
                    Method::Get => wrapped(found.clone()),
                    Method::Put | Method::Patch if one.is_empty() => {
                        patched(found, &sent);
                        wrapped(found.clone())
                    }
                    Method::Put | Method::Patch => {
                        merge(Some(found), &object);
                        wrapped(found.clone())
                    }
                    _ => {
                        self.remove(call.request.service, path, id);
                        ok(Json::Null)
                    }
                }
            }
            _ => refuse(405, "that cannot be done"),
        }
    }

    fn remove(&mut self, service: Service, path: &str, id: &str) {
        match path {
            "/servers" => {
                merge(self.get(service, path, id), &json!({ "OS-EXT-STS:task_state": "deleting" }));
                self.become_later(service, path, id, None);
                self.leave_ports(id);
            }
            "/volumes" => self.become_later(service, path, id, None),
            _ => self.collection(service, path).retain(|it| !is_called(it, id)),
        }
    }
}

/// Whether an object goes by an id; key pairs go by their names.
fn is_called(object: &Json, id: &str) -> bool {
    match &object["id"] {
        Json::String(own) => own == id,
        Json::Number(number) if object["fingerprint"].is_null() => number.to_string() == id,
        _ => object["name"] == id,
    }
}

pub(super) fn merge(object: Option<&mut Json>, fields: &Json) {
    let (Some(object), Some(fields)) = (object, fields.as_object()) else { return };
    for (name, value) in fields {
        object[name] = value.clone();
    }
}

fn patched(object: &mut Json, steps: &Json) {
    for step in steps.as_array().into_iter().flatten() {
        let name = step["path"].as_str().unwrap_or_default().trim_start_matches('/').to_owned();
        let there = object.get(&name).is_some();
        match step["op"].as_str() {
            Some("add") => object[&name] = step["value"].clone(),
            Some("replace") if there => object[&name] = step["value"].clone(),
            Some("remove") if there => {
                _ = object.as_object_mut().map(|object: &mut Map<_, _>| object.shift_remove(&name));
            }
            _ => panic!("{step} cannot be done to {object}"),
        }
    }
}

impl World for Cloud {
    fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
        let path = call
            .request
            .path
            .checked()
            .expect("a path")
            .trim_end_matches("/detail")
            .replace("%20", " ");
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        if call.request.method != Method::Get {
            self.told.push(format!("{} {}", call.request.method, call.request.path));
        }
        if let Some(answer) = self.special(call, &parts) {
            return answer;
        }
        match parts.as_slice() {
            ["qos", "policies", rest @ ..] => {
                self.rest(call, "/qos/policies", rest.first().copied())
            }
            [kind] => self.rest(call, &format!("/{kind}"), None),
            [kind, id] => self.rest(call, &format!("/{kind}"), Some(id)),
            _ => panic!("nobody expected {call:?}"),
        }
    }
}
