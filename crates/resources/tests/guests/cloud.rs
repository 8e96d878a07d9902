//! A cloud in small: an identity service, an object store, queues, and what the orchestration service keeps.

use crate::driving::World;
use kiln_cloud::{Auth, Call, CallError, Method, Reply, Service};
use kiln_resources::declare::Value;
use kiln_resources::op::{Answer, Sibling};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// What there is, by what it is and its name or id.
#[derive(Default)]
pub(crate) struct Cloud {
    pub(crate) things: BTreeMap<(&'static str, String), Json>,
    pub(crate) number: usize,
    pub(crate) temp_key: Option<String>,
    /// What a watched resource shows, one after the other.
    pub(crate) shows: Vec<Value>,
    pub(crate) sibling: Option<Sibling>,
    /// What is left in a mailbox at the second look.
    pub(crate) letter: Option<Json>,
    pub(crate) looks: usize,
}

impl Cloud {
    /// How many things of each kind there are.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for (kind, _) in self.things.keys() {
            *counts.entry(*kind).or_insert(0) += 1;
        }
        counts
    }

    /// What there is but for the project of the users.
    pub(crate) fn left(&self) -> Vec<String> {
        let left = self.things.keys().filter(|(kind, _)| *kind != "project");
        left.map(|(kind, name)| format!("{kind} {name}")).collect()
    }

    pub(crate) fn one(&self, kind: &str) -> &Json {
        let mut all = self.things.iter().filter(|((known, _), _)| *known == kind);
        let (_, thing) = all.next().unwrap_or_else(|| panic!("no {kind}"));
        assert!(all.next().is_none(), "several of {kind}");
        thing
    }

    fn add(&mut self, kind: &'static str, one: &str, mut thing: Json) -> Result<Reply, CallError> {
        let is_taken = |(known, it): (&(&'static str, String), &Json)| {
            known.0 == kind && !thing["name"].is_null() && it["name"] == thing["name"]
        };
        if self.things.iter().any(is_taken) {
            return refused(409);
        }
        self.number += 1;
        let id = format!("{kind}-{}", self.number);
        thing["id"] = id.as_str().into();
        self.things.insert((kind, id), thing.clone());
        Ok(Reply::new(201, json!({ one: thing })))
    }

    fn list(&self, kind: &'static str, many: &str, field: &str, value: &str) -> Json {
        let all = self.things.iter().filter(|((known, _), _)| *known == kind);
        let found: Vec<&Json> = all.map(|(_, it)| it).filter(|it| it[field] == value).collect();
        json!({ many: found })
    }

    fn remove(&mut self, kind: &'static str, name: &str) -> Result<Reply, CallError> {
        match self.things.remove(&(kind, name.to_owned())) {
            Some(_) => Ok(Reply::new(204, Json::Null)),
            None => refused(404),
        }
    }

    fn identity(&mut self, call: &Call) -> Result<Reply, CallError> {
        let parts: Vec<&str> = call
            .request
            .path
            .checked()
            .expect("a path")
            .trim_start_matches('/')
            .split('/')
            .collect();
        let is_owner = call.credential().is_some_and(|by| by.auth == Auth::StackDomain);
        let query = |name: &str| {
            let found = call.request.query.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str()).unwrap_or_default()
        };
        let body = call.request.body.clone().unwrap_or_default();
        let good = |body: Json| Ok(Reply::new(200, body));
        match (call.request.method, &parts[..], is_owner) {
            (Method::Get, ["auth", "domains"], true) => {
                good(json!({ "domains": [{ "id": "d1", "name": "heat" }] }))
            }
            (Method::Get, ["auth", "catalog"], false) => good(catalogue()),
            (Method::Post, ["auth", "tokens"], false) => {
                let mut reply = Reply::new(201, Json::Null);
                reply.headers.insert("x-subject-token".into(), "tok".into());
                Ok(reply)
            }
            (Method::Get, ["roles"], true) => {
                good(json!({ "roles": [{ "id": "r1", "name": query("name") }] }))
            }
            (Method::Get, ["projects"], true) => {
                good(self.list("project", "projects", "name", query("name")))
            }
            (Method::Post, ["projects"], true) => {
                self.add("project", "project", body["project"].clone())
            }
            (Method::Get, ["users"], true) => {
                good(self.list("user", "users", "name", query("name")))
            }
            (Method::Post, ["users"], true) => {
                assert_eq!(body["user"]["domain_id"], "d1");
                self.add("user", "user", body["user"].clone())
            }
            (Method::Patch, ["users", id], true) => {
                let user = self.things.get_mut(&("user", (*id).to_owned())).expect("a user");
                user["enabled"] = body["user"]["enabled"].clone();
                good(Json::Null)
            }
            (Method::Delete, ["users", id], true) => {
                // Keys go with their user.
                self.things.retain(|_, thing| thing["user_id"] != *id);
                self.remove("user", id)
            }
            (Method::Put, ["projects", project, "users", user, "roles", "r1"], true) => {
                assert!(self.things.contains_key(&("project", (*project).to_owned())));
                let user = self.things.get_mut(&("user", (*user).to_owned())).expect("a user");
                user["role"] = (*project).into();
                good(Json::Null)
            }
            (Method::Get, ["credentials"], true) => {
                good(self.list("key", "credentials", "user_id", query("user_id")))
            }
            (Method::Post, ["credentials"], true) => {
                self.add("key", "credential", body["credential"].clone())
            }
            (Method::Delete, ["credentials", id], true) => self.remove("key", id),
            _ => panic!("nobody expected {call:?}, by the owner: {is_owner}"),
        }
    }

    fn objects(&mut self, call: &Call) -> Result<Reply, CallError> {
        let path = call.request.path.checked().expect("a path").trim_start_matches('/').to_owned();
        let good = |body: Json| Ok(Reply::new(200, body));
        match (call.request.method, path.split_once('/')) {
            (Method::Head, _) => {
                let mut reply = Reply::new(204, Json::Null);
                let key =
                    self.temp_key.clone().map(|key| ("x-account-meta-temp-url-key".into(), key));
                reply.headers.extend(key);
                reply.headers.insert("content-location".into(), "http://swift/v1/AUTH_a".into());
                Ok(reply)
            }
            (Method::Post, _) => {
                self.temp_key = Some(call.request.headers[0].1.clone());
                good(Json::Null)
            }
            (Method::Put, None) => {
                self.things.insert(("container", path), Json::Null);
                good(Json::Null)
            }
            (Method::Put, Some(_)) => {
                let body = call.request.body.clone().unwrap_or_default();
                self.things.insert(("object", path), body);
                good(Json::Null)
            }
            (Method::Get, None) => {
                let start = format!("{path}/");
                let names = self.things.keys().filter(|(kind, _)| *kind == "object");
                let names = names.filter_map(|(_, name)| name.strip_prefix(&start));
                good(names.map(|name| json!({ "name": name })).collect())
            }
            (Method::Get, Some(_)) => {
                self.looks += 1;
                let told = self.letter.clone().filter(|_| self.looks > 1);
                match self.things.get(&("object", path)) {
                    Some(thing) => good(told.unwrap_or_else(|| thing.clone())),
                    None => refused(404),
                }
            }
            (Method::Delete, None) => {
                let start = format!("{path}/");
                let is_inside =
                    |(kind, name): &(&str, String)| *kind == "object" && name.starts_with(&start);
                if self.things.keys().any(is_inside) {
                    return refused(409);
                }
                self.remove("container", &path)
            }
            (Method::Delete, Some(_)) => self.remove("object", &path),
            _ => panic!("nobody expected {call:?}"),
        }
    }

    fn queues(&mut self, call: &Call) -> Result<Reply, CallError> {
        let by = call.credential().expect("a user of the stack");
        assert!(matches!(by.auth, Auth::Password(_)));
        let name =
            call.request.path.checked().expect("a path").trim_start_matches("/queues/").to_owned();
        match (call.request.method, name.split_once('/')) {
            (Method::Put, None) => {
                self.things.insert(("queue", name), Json::Null);
                Ok(Reply::new(201, Json::Null))
            }
            (Method::Delete, None) => {
                // Whoever removes a queue that is not there hears nothing of it.
                self.things.remove(&("queue", name));
                Ok(Reply::new(204, Json::Null))
            }
            (Method::Get, Some((_, "messages"))) => {
                self.looks += 1;
                let told = self.letter.clone().filter(|_| self.looks > 1);
                let told: Vec<Json> =
                    told.into_iter().map(|body| json!({ "body": body })).collect();
                Ok(Reply::new(200, json!({ "messages": told, "links": [] })))
            }
            (Method::Post, Some((_, "messages"))) => Ok(Reply::new(201, Json::Null)),
            _ => panic!("nobody expected {call:?}"),
        }
    }

    fn kept(&mut self, call: &Call) -> Result<Reply, CallError> {
        let (path, good) =
            (call.request.path.checked().expect("a path"), |body: Json| Ok(Reply::new(200, body)));
        if path.starts_with("/software_deployments/metadata/") {
            let all = self.things.iter().filter(|((kind, _), _)| *kind == "config");
            let all: Vec<&Json> = all.map(|(_, thing)| &thing["software_config"]).collect();
            return good(json!({ "metadata": all }));
        }
        let (kind, id) = match path.split_once("s/").expect("an id") {
            ("/software_config", id) => ("config", id),
            ("/software_deployment", id) => ("deployment", id),
            _ => panic!("nobody expected {call:?}"),
        };
        let key = (kind, id.to_owned());
        match call.request.method {
            Method::Put if kind == "deployment" => {
                let given = &call.request.body.as_ref().expect("a body")["software_deployment"];
                let row = self.things.entry(key).or_insert_with(|| json!({}));
                for (name, value) in given.as_object().expect("an object") {
                    row[name] = value.clone();
                }
                good(Json::Null)
            }
            Method::Put => {
                let body = call.request.body.clone().unwrap_or_default();
                self.things.entry(key).or_insert(body);
                good(Json::Null)
            }
            Method::Get if id == "source" => good(source()),
            Method::Get if kind == "deployment" => {
                let row = self.things.get(&key).cloned();
                row.map_or_else(|| refused(404), |row| good(json!({ "software_deployment": row })))
            }
            Method::Delete => self.remove(kind, id),
            _ => panic!("nobody expected {call:?}"),
        }
    }
}

fn refused(status: u16) -> Result<Reply, CallError> {
    Err(CallError::Refused(Reply::new(status, json!({ "message": "no" }))))
}

/// A configuration in the template.
fn source() -> Json {
    json!({ "hidden": [], "software_config": {
        "name": "install", "group": "script", "config": "echo $word", "options": {},
        "inputs": [{ "name": "word", "type": "String", "default": "x" },
                   { "name": "disk", "type": "String", "replace_on_change": true }],
        "outputs": [{ "name": "result", "type": "String" }],
    } })
}

fn catalogue() -> Json {
    let entry = |kind: &str, url: &str| {
        let endpoint = json!({ "interface": "public", "region_id": "One", "url": url });
        let other = json!({ "interface": "internal", "region_id": "One", "url": "http://no" });
        json!({ "type": kind, "endpoints": [other, endpoint] })
    };
    json!({ "catalog": [
        entry("cloudformation", "http://cfn:8000/v1"),
        entry("orchestration", "http://heat:8004/v1/owner"),
    ] })
}

impl World for Cloud {
    fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
        match call.request.service {
            Service::Identity => self.identity(call),
            Service::ObjectStore => self.objects(call),
            Service::Messaging => self.queues(call),
            Service::Orchestration => self.kept(call),
            Service::Compute => Ok(Reply::new(200, Json::Null)),
            _ => panic!("nobody expected {call:?}"),
        }
    }

    fn metadata(&mut self, _: &str, seen: Option<&Value>) -> Option<Answer> {
        let at = match seen {
            None => 0,
            Some(seen) => self.shows.iter().position(|shown| shown == seen)? + 1,
        };
        self.shows.get(at).map(|shown| Answer::Metadata(Some(shown.clone())))
    }

    fn sibling(&mut self, _: &str) -> Option<Sibling> {
        self.sibling.clone()
    }
}
