//! What is special about the objects of the small cloud.

use super::cloud::{Answer, Cloud, merge, ok, refuse};
use kiln_cloud::{Call, CallError, Method, Service};
use serde_json::{Value as Json, json};

impl Cloud {
    /// Refuses what cannot be made.
    pub(super) fn may_be_made(
        &mut self,
        service: Service,
        path: &str,
        object: &Json,
    ) -> Result<(), CallError> {
        let is_unique = matches!(path, "/os-keypairs" | "/flavors" | "/os-aggregates" | "/types");
        let name = object["name"].clone();
        if is_unique && self.collection(service, path).iter().any(|it| it["name"] == name) {
            return refuse(409, "there is one already").map(drop);
        }
        if path == "/servers" {
            for network in object["networks"].as_array().into_iter().flatten() {
                let Some(port) = network["port"].as_str() else { continue };
                let port = self.get(Service::Network, "/ports", port).expect("the port is there");
                if port["device_id"] != "" {
                    return refuse(409, "the port is in use").map(drop);
                }
            }
        }
        Ok(())
    }

    /// An object as it is when it was just made.
    pub(super) fn completed(&mut self, path: &str, sent: &Json, mut object: Json) -> Json {
        match path {
            "/servers" => {
                object["status"] = "BUILD".into();
                object["hints"] = sent["os:scheduler_hints"].clone();
                object["flavor"] = json!({ "original_name": self.flavor(&object["flavorRef"]) });
                object["addresses"] = json!({});
            }
            "/volumes" => {
                object["status"] = "creating".into();
                object["attachments"] = json!([]);
            }
            "/images" => object["status"] = "queued".into(),
            "/backups" => object["status"] = "creating".into(),
            "/os-aggregates" => {
                object["hosts"] = json!([]);
                object["metadata"] = json!({});
            }
            "/ports" => {
                let address = self.fresh("10.0.0");
                let asked = object["fixed_ips"][0].clone();
                let subnet = asked["subnet_id"].as_str().unwrap_or("subnet-1").to_owned();
                let address = asked["ip_address"].as_str().unwrap_or(&address).to_owned();
                object["fixed_ips"] = json!([{ "ip_address": address, "subnet_id": subnet }]);
                object["mac_address"] = format!("mac of {address}").into();
                object["device_id"] = "".into();
            }
            "/qos-specs" => {
                let mut specs = object.clone();
                _ = specs.as_object_mut().map(|specs| specs.shift_remove("name"));
                object = json!({ "name": object["name"], "specs": specs });
            }
            _ => {}
        }
        object
    }

    fn flavor(&mut self, id: &Json) -> String {
        let id = id.as_str().expect("a flavor");
        let flavor = self.get(Service::Compute, "/flavors", id).expect("the flavor is there");
        flavor["name"].as_str().expect("a name").to_owned()
    }

    /// What happens once an object was made.
    pub(super) fn made_one(&mut self, service: Service, path: &str, object: &Json) {
        let id = object["id"].as_str().unwrap_or_default().to_owned();
        match path {
            "/servers" => {
                let status = if object["name"] == "broken" {
                    json!({ "status": "ERROR", "fault": { "message": "No valid host", "code": 500 } })
                } else {
                    json!({ "status": "ACTIVE" })
                };
                self.become_later(service, path, &id, Some(status));
                self.connect(&id, object);
            }
            "/volumes" | "/backups" => {
                self.become_later(service, path, &id, Some(json!({ "status": "available" })));
            }
            _ => {}
        }
    }

    /// Connects a new server. Ports that the compute service makes go with the server.
    fn connect(&mut self, server: &str, object: &Json) {
        let networks = object["networks"].as_array().cloned();
        for network in networks.unwrap_or_else(|| vec![json!({ "uuid": "net-1" })]) {
            let port = match network["port"].as_str() {
                Some(port) => port.to_owned(),
                None => self.own_port(&network),
            };
            self.attach(server, &port);
        }
    }

    fn own_port(&mut self, network: &Json) -> String {
        let port = json!({ "network_id": network["uuid"], "made_by": "nova",
            "fixed_ips": [{ "ip_address": network["fixed_ip"], "subnet_id": "subnet-1" }] });
        let port = self.completed("/ports", &Json::Null, port);
        let port = self.add(Service::Network, "/ports", port);
        port["id"].as_str().expect("an id").to_owned()
    }

    fn attach(&mut self, server: &str, port: &str) {
        let port = self.get(Service::Network, "/ports", port).expect("the port is there");
        port["device_id"] = server.into();
        let network = format!("name-{}", port["network_id"].as_str().unwrap_or_default());
        let address = port["fixed_ips"][0]["ip_address"].clone();
        let server = self.get(Service::Compute, "/servers", server).expect("the server is there");
        let mut all = server["addresses"][&network].as_array().cloned().unwrap_or_default();
        all.push(json!({ "addr": address }));
        server["addresses"][&network] = all.into();
    }

    /// A server that goes leaves its ports; those that were made with it go as well.
    pub(super) fn leave_ports(&mut self, server: &str) {
        let ports = self.collection(Service::Network, "/ports");
        ports.retain(|port| port["device_id"] != server || port["made_by"] != "nova");
        for port in ports.iter_mut().filter(|port| port["device_id"] == server) {
            port["device_id"] = "".into();
        }
        for volume in self.collection(Service::Volume, "/volumes") {
            let left = volume["attachments"].as_array().into_iter().flatten();
            let left: Vec<Json> = left.filter(|it| it["server_id"] != server).cloned().collect();
            if left.is_empty() && volume["status"] == "in-use" {
                volume["status"] = "available".into();
            }
            volume["attachments"] = left.into();
        }
    }

    /// Answers what is no plain call.
    pub(super) fn special(&mut self, call: &Call, parts: &[&str]) -> Option<Answer> {
        let sent = call.request.body.clone().unwrap_or_default();
        Some(match (call.request.service, call.request.method, parts) {
            (Service::Compute, _, ["servers", id, rest @ ..]) if !rest.is_empty() => {
                self.of_server(call.request.method, id, rest, &sent)
            }
            (Service::Compute, _, ["flavors", id, rest @ ..]) if !rest.is_empty() => {
                self.of_flavor(id, rest, &sent)
            }
            (Service::Compute, _, ["os-aggregates", id, "action"]) => self.of_aggregate(id, &sent),
            (_, _, ["os-quota-sets", project]) => self.quota(call.request.method, project, &sent),
            (Service::Volume, _, ["volumes", id, what]) => self.of_volume(id, what, &sent),
            (Service::Volume, _, ["backups", _, "restore"]) => self.restore(&sent),
            (Service::Volume, _, ["types", id, rest @ ..]) if !rest.is_empty() => {
                self.of_type(call.request.method, id, rest, &sent)
            }
            (Service::Volume, _, ["qos-specs", id, what]) => self.of_qos(id, what, call, &sent),
            (Service::Volume, Method::Put, ["qos-specs", id]) => {
                let specs = self.get(Service::Volume, "/qos-specs", id).expect("it is there");
                merge(Some(&mut specs["specs"]), &sent["qos_specs"]);
                ok(json!({ "qos_specs": sent["qos_specs"] }))
            }
            (Service::Image, _, ["images", id, rest @ ..]) if !rest.is_empty() => {
                self.of_image(call.request.method, id, rest, &sent)
            }
            _ => return None,
        })
    }

    fn of_server(&mut self, method: Method, id: &str, rest: &[&str], sent: &Json) -> Answer {
        if self.get(Service::Compute, "/servers", id).is_none() {
            return refuse(404, "there is no such server");
        }
        match (method, rest) {
            (Method::Post, ["action"]) => self.server_action(id, sent),
            (Method::Put, ["tags"]) | (Method::Put, ["metadata"]) => {
                merge(self.get(Service::Compute, "/servers", id), sent);
                ok(sent.clone())
            }
            (Method::Get, ["os-interface"]) => {
                ok(json!({ "interfaceAttachments": self.interfaces(id) }))
            }
            (Method::Post, ["os-interface"]) => {
                let port = match sent["interfaceAttachment"]["port_id"].as_str() {
                    Some(port) => port.to_owned(),
                    None => self.own_port(&json!({ "uuid": "net-1" })),
                };
                let taken =
                    self.get(Service::Network, "/ports", &port).expect("a port")["device_id"] != "";
                if taken {
                    return refuse(409, "the port is in use");
                }
                self.attach(id, &port);
                ok(json!({ "interfaceAttachment": { "port_id": port } }))
            }
            (Method::Delete, ["os-interface", port]) => self.detach_port(id, port),
            (_, ["os-volume_attachments", rest @ ..]) => {
                self.of_attachments(method, id, rest, sent)
            }
            _ => panic!("nobody expected {method} {rest:?}"),
        }
    }

    fn interfaces(&mut self, server: &str) -> Vec<Json> {
        let ports = self.collection(Service::Network, "/ports").iter();
        let ports = ports.filter(|port| port["device_id"] == server);
        ports
            .map(|port| {
                json!({ "port_id": port["id"], "net_id": port["network_id"],
                        "fixed_ips": port["fixed_ips"], "mac_addr": port["mac_address"] })
            })
            .collect()
    }

    fn detach_port(&mut self, server: &str, id: &str) -> Answer {
        let Some(port) = self.get(Service::Network, "/ports", id) else {
            return refuse(404, "there is no such port");
        };
        if port["device_id"] != server {
            return refuse(404, "the port is elsewhere");
        }
        port["device_id"] = "".into();
        if port["made_by"] == "nova" {
            self.collection(Service::Network, "/ports").retain(|it| it["id"] != id);
        }
        ok(Json::Null)
    }

    fn server_action(&mut self, id: &str, sent: &Json) -> Answer {
        let (action, what) = sent.as_object().expect("an action").iter().next().expect("an action");
        let flavor = what["flavorRef"].is_string().then(|| self.flavor(&what["flavorRef"]));
        if action == "createImage" {
            let image = json!({ "name": what["name"], "status": "queued" });
            let image = self.add(Service::Image, "/images", image)["id"].clone();
            let id = image.as_str().expect("an id").to_owned();
            self.become_later(Service::Image, "/images", &id, Some(json!({ "status": "active" })));
            return ok(json!({ "image_id": image }));
        }
        let server = self.get(Service::Compute, "/servers", id).expect("it is there");
        let status = server["status"].as_str().unwrap_or_default().to_owned();
        let allowed = match action.as_str() {
            "confirmResize" => status == "VERIFY_RESIZE",
            "resume" => status == "SUSPENDED",
            _ => status == "ACTIVE",
        };
        if !allowed {
            return refuse(409, &format!("cannot {action} while {status}"));
        }
        let (now, later) = match action.as_str() {
            // There is no room for it anywhere.
            "resize" if what["flavorRef"] == "huge" => (json!({ "status": "RESIZE" }), "ACTIVE"),
            "resize" => (
                json!({ "status": "RESIZE", "flavor": { "original_name": flavor } }),
                "VERIFY_RESIZE",
            ),
            "rebuild" => {
                (json!({ "status": "REBUILD", "image": { "id": what["imageRef"] } }), "ACTIVE")
            }
            "suspend" => (json!({ "OS-EXT-STS:task_state": "suspending" }), "SUSPENDED"),
            "resume" => (json!({ "OS-EXT-STS:task_state": "resuming" }), "ACTIVE"),
            "confirmResize" => (json!({}), "ACTIVE"),
            "changePassword" => (json!({ "password": what["adminPass"] }), "ACTIVE"),
            other => panic!("nobody expected {other}"),
        };
        merge(Some(server), &now);
        let later = json!({ "status": later, "OS-EXT-STS:task_state": null });
        self.become_later(Service::Compute, "/servers", id, Some(later));
        ok(Json::Null)
    }

    fn of_attachments(
        &mut self,
        method: Method,
        server: &str,
        rest: &[&str],
        sent: &Json,
    ) -> Answer {
        let volume = rest.first().map_or_else(
            || sent["volumeAttachment"]["volumeId"].as_str().unwrap_or_default().to_owned(),
            |id| (*id).to_owned(),
        );
        let volumes = self.collection(Service::Volume, "/volumes");
        let is_here = |volume: &Json| {
            volume["attachments"]
                .as_array()
                .is_some_and(|all| all.iter().any(|it| it["server_id"] == server))
        };
        let shown = |volume: &Json| json!({ "volumeId": volume["id"], "serverId": server });
        let found = volumes.iter_mut().find(|it| it["id"] == volume.as_str());
        match (method, rest.first(), found) {
            (Method::Get, None, _) => {
                let all: Vec<Json> = volumes.iter().filter(|it| is_here(it)).map(shown).collect();
                ok(json!({ "volumeAttachments": all }))
            }
            (Method::Get, _, Some(volume)) if is_here(volume) => {
                ok(json!({ "volumeAttachment": shown(volume) }))
            }
            (Method::Post, _, Some(volume)) if volume["status"] == "available" => {
                let device = sent["volumeAttachment"]["device"].clone();
                volume["attachments"] = json!([{ "server_id": server, "device": device }]);
                volume["status"] = "attaching".into();
                let (body, id) = (shown(volume), volume["id"].as_str().expect("an id").to_owned());
                let later = json!({ "status": "in-use" });
                self.become_later(Service::Volume, "/volumes", &id, Some(later));
                ok(json!({ "volumeAttachment": body }))
            }
            (Method::Post, _, Some(_)) => refuse(400, "the volume is in use"),
            (Method::Delete, _, Some(volume)) if is_here(volume) => {
                volume["attachments"] = json!([]);
                volume["status"] = "detaching".into();
                let id = volume["id"].as_str().expect("an id").to_owned();
                let later = json!({ "status": "available" });
                self.become_later(Service::Volume, "/volumes", &id, Some(later));
                ok(Json::Null)
            }
            _ => refuse(404, "there is no such attachment"),
        }
    }

    fn of_flavor(&mut self, id: &str, rest: &[&str], sent: &Json) -> Answer {
        let flavor = self.get(Service::Compute, "/flavors", id).expect("it is there");
        match rest {
            ["os-extra_specs"] => {
                let mut specs = flavor.get("extra_specs").cloned().unwrap_or_else(|| json!({}));
                merge(Some(&mut specs), &sent["extra_specs"]);
                flavor["extra_specs"] = specs;
            }
            ["os-extra_specs", key] => {
                let specs = flavor["extra_specs"].as_object_mut();
                if specs.and_then(|specs| specs.shift_remove(*key)).is_none() {
                    return refuse(404, "there is no such key");
                }
            }
            _ => return access(flavor, sent),
        }
        ok(Json::Null)
    }

    fn of_aggregate(&mut self, id: &str, sent: &Json) -> Answer {
        let Some(aggregate) = self.get(Service::Compute, "/os-aggregates", id) else {
            return refuse(404, "there is no such aggregate");
        };
        let mut hosts = aggregate["hosts"].as_array().cloned().unwrap_or_default();
        if let Some(metadata) = sent.get("set_metadata") {
            merge(Some(&mut aggregate["metadata"]), &metadata["metadata"]);
        }
        if let Some(host) = sent.get("add_host").map(|it| it["host"].clone()) {
            if hosts.contains(&host) {
                return refuse(409, "it is a member");
            }
            hosts.push(host);
        }
        if let Some(host) = sent.get("remove_host").map(|it| it["host"].clone()) {
            if !hosts.contains(&host) {
                return refuse(404, "it is no member");
            }
            hosts.retain(|it| *it != host);
        }
        aggregate["hosts"] = hosts.into();
        ok(json!({ "aggregate": aggregate }))
    }

    fn quota(&mut self, method: Method, project: &str, sent: &Json) -> Answer {
        let quotas = self.objects.entry(("quotas", String::new())).or_default();
        let known = quotas.iter().position(|it| it["project"] == project);
        match method {
            Method::Put => {
                known.map(|at| quotas.remove(at));
                quotas.push(json!({ "project": project, "limits": sent["quota_set"] }));
                ok(sent.clone())
            }
            Method::Delete => {
                known.map(|at| quotas.remove(at));
                ok(Json::Null)
            }
            _ => ok(json!({ "quota_set": { "volumes": { "in_use": 3, "limit": 10 } } })),
        }
    }

    fn of_volume(&mut self, id: &str, what: &str, sent: &Json) -> Answer {
        let Some(volume) = self.get(Service::Volume, "/volumes", id) else {
            return refuse(404, "there is no such volume");
        };
        let later = match what {
            "metadata" => {
                merge(Some(volume), sent);
                return ok(sent.clone());
            }
            _ if sent.get("os-update_readonly_flag").is_some() => {
                if volume["status"] != "available" {
                    return refuse(400, "the volume is in use");
                }
                volume["readonly"] = sent["os-update_readonly_flag"]["readonly"].clone();
                return ok(Json::Null);
            }
            _ if sent.get("os-retype").is_some() => {
                let kind = sent["os-retype"]["new_type"].as_str().unwrap_or_default();
                let later = json!({ "status": volume["status"], "volume_type": kind.trim_start_matches("type-") });
                volume["status"] = "retyping".into();
                later
            }
            _ => {
                let size = sent["os-extend"]["new_size"].clone();
                let later = json!({ "status": volume["status"], "size": size });
                volume["status"] = "extending".into();
                later
            }
        };
        self.become_later(Service::Volume, "/volumes", id, Some(later));
        ok(Json::Null)
    }

    fn restore(&mut self, sent: &Json) -> Answer {
        let id = match sent["restore"]["volume_id"].as_str() {
            Some(id) => {
                let volume = self.get(Service::Volume, "/volumes", id).expect("it is there");
                if volume["status"] != "available" {
                    return refuse(400, "the volume is in use");
                }
                volume["status"] = "restoring-backup".into();
                id.to_owned()
            }
            None => {
                let volume = json!({ "name": sent["restore"]["name"], "status": "restoring-backup",
                    "attachments": [], "size": 1 });
                let made = self.add(Service::Volume, "/volumes", volume);
                made["id"].as_str().expect("an id").to_owned()
            }
        };
        let later = json!({ "status": "available", "filled": true });
        self.become_later(Service::Volume, "/volumes", &id, Some(later));
        ok(json!({ "restore": { "volume_id": id } }))
    }

    fn of_type(&mut self, method: Method, id: &str, rest: &[&str], sent: &Json) -> Answer {
        let kind = self.get(Service::Volume, "/types", id).expect("it is there");
        match (method, rest) {
            (Method::Post, ["extra_specs"]) => {
                let mut specs = kind.get("extra_specs").cloned().unwrap_or_else(|| json!({}));
                merge(Some(&mut specs), &sent["extra_specs"]);
                kind["extra_specs"] = specs;
            }
            (Method::Delete, ["extra_specs", key]) => {
                let specs = kind["extra_specs"].as_object_mut();
                if specs.and_then(|specs| specs.shift_remove(*key)).is_none() {
                    return refuse(404, "there is no such key");
                }
            }
            (_, ["action"]) => return access(kind, sent),
            (Method::Get, ["encryption"]) => {
                return ok(kind.get("encryption").cloned().unwrap_or_else(|| json!({})));
            }
            (Method::Post, ["encryption"]) => {
                if kind.get("encryption").is_some() {
                    return refuse(400, "it is encrypted already");
                }
                kind["encryption"] = sent["encryption"].clone();
                kind["encryption"]["encryption_id"] = "e1".into();
                return ok(json!({ "encryption": kind["encryption"] }));
            }
            (Method::Put, ["encryption", "e1"]) => {
                merge(Some(&mut kind["encryption"]), &sent["encryption"]);
            }
            (Method::Delete, ["encryption", "e1"]) => {
                _ = kind.as_object_mut().map(|kind| kind.shift_remove("encryption"));
            }
            _ => panic!("nobody expected {method} {rest:?}"),
        }
        ok(Json::Null)
    }

    fn of_qos(&mut self, id: &str, what: &str, call: &Call, sent: &Json) -> Answer {
        let Some(specs) = self.get(Service::Volume, "/qos-specs", id) else {
            return refuse(404, "there are no such specs");
        };
        let mut tied = specs["tied"].as_array().cloned().unwrap_or_default();
        let kind = Json::from(call.request.query.first().map(|(_, value)| value.clone()));
        match what {
            "associate" if !tied.contains(&kind) => tied.push(kind),
            "disassociate" => tied.retain(|it| *it != kind),
            "disassociate_all" => tied.clear(),
            "delete_keys" => {
                for key in sent["keys"].as_array().into_iter().flatten() {
                    let all = specs["specs"].as_object_mut().expect("specs");
                    if all.shift_remove(key.as_str().unwrap_or_default()).is_none() {
                        return refuse(400, "there is no such key");
                    }
                }
            }
            _ => {}
        }
        specs["tied"] = tied.into();
        ok(Json::Null)
    }

    fn of_image(&mut self, method: Method, id: &str, rest: &[&str], sent: &Json) -> Answer {
        let Some(image) = self.get(Service::Image, "/images", id) else {
            return refuse(404, "there is no such image");
        };
        let words = |image: &Json, name: &str| image[name].as_array().cloned().unwrap_or_default();
        match (method, rest) {
            (Method::Post, ["import"]) => {
                if image["status"] != "queued" {
                    return refuse(409, "it has its content");
                }
                image["status"] = "importing".into();
                let later = Some(json!({ "status": "active" }));
                self.become_later(Service::Image, "/images", id, later);
            }
            (Method::Post, ["actions", how]) => {
                let status = if *how == "deactivate" { "deactivated" } else { "active" };
                image["status"] = status.into();
            }
            (Method::Put, ["tags", tag]) => {
                let mut tags = words(image, "tags");
                tags.push((*tag).into());
                image["tags"] = tags.into();
            }
            (Method::Delete, [list, word]) => {
                let mut all = words(image, list);
                all.retain(|it| it != word);
                image[*list] = all.into();
            }
            (Method::Post, ["members"]) => {
                let mut members = words(image, "members");
                if members.contains(&sent["member"]) {
                    return refuse(409, "it is a member");
                }
                members.push(sent["member"].clone());
                image["members"] = members.into();
            }
            _ => panic!("nobody expected {method} {rest:?}"),
        }
        ok(Json::Null)
    }
}

/// Lets a project see something, or no longer.
fn access(object: &mut Json, sent: &Json) -> Answer {
    let (action, what) = sent.as_object().expect("an action").iter().next().expect("an action");
    let who = what.as_object().expect("somebody").values().next().cloned().unwrap_or_default();
    let mut all = object["access"].as_array().cloned().unwrap_or_default();
    match action.starts_with("add") {
        true if all.contains(&who) => return refuse(409, "it has access"),
        true => all.push(who),
        false if !all.contains(&who) => return refuse(404, "it has no access"),
        false => all.retain(|it| *it != who),
    }
    object["access"] = all.into();
    ok(Json::Null)
}
