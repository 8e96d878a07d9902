//! A cloud of things: they have a name, a value, a size, and needs. It does what it is told, when it
//! gets round to it, and counts what should not have been asked of it.

use kiln_cloud::{Call, Marker, Method, Reply, Service, delete, get, patch, post};
use kiln_resources::declare::*;
use kiln_resources::op::{Op, Progress, Stop};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// A thing in the cloud.
#[derive(Clone, Debug, PartialEq)]
pub struct Thing {
    pub name: String,
    pub value: String,
    pub size: i64,
    pub needs: Vec<String>,
    /// How many looks it takes until it is ready.
    pub looks: u32,
}

#[derive(Default)]
pub struct Cloud {
    pub things: BTreeMap<String, Thing>,
    made: u64,
    /// What no engine should ask for.
    pub violations: Vec<String>,
}

impl Cloud {
    pub fn act(&mut self, call: &Call) -> Reply {
        let id = call.path.strip_prefix("/things/").unwrap_or_default().to_owned();
        match (call.method, id.as_str()) {
            (Method::Post, _) => self.create(call.body.as_ref().unwrap()),
            (Method::Get, "") => {
                let name = call.query.iter().find(|(key, _)| key == "name").map(|(_, name)| name);
                let things = self.things.iter().filter(|(_, thing)| Some(&thing.name) == name);
                let things: Vec<Json> = things.map(|(id, thing)| shown(id, thing)).collect();
                Reply { status: 200, body: json!({ "things": things }) }
            }
            (Method::Get, id) => match self.things.get_mut(id) {
                Some(thing) => {
                    thing.looks = thing.looks.saturating_sub(1);
                    Reply { status: 200, body: json!({ "thing": shown(id, thing) }) }
                }
                None => missing(),
            },
            (Method::Patch, id) => match self.things.get_mut(id) {
                Some(thing) => {
                    let body = &call.body.as_ref().unwrap()["thing"];
                    thing.value = body["value"].as_str().unwrap().to_owned();
                    thing.needs = texts(&body["needs"]);
                    Reply { status: 200, body: json!({ "thing": shown(id, thing) }) }
                }
                None => missing(),
            },
            (Method::Delete, id) => self.delete(id),
            _ => Reply { status: 405, body: Json::Null },
        }
    }

    fn create(&mut self, body: &Json) -> Reply {
        let body = &body["thing"];
        let needs = texts(&body["needs"]);
        if let Some(need) = needs.iter().find(|need| !self.things.contains_key(*need)) {
            self.violations.push(format!("{} needs {need}, which is not there", body["name"]));
            return Reply { status: 400, body: json!({ "message": "what it needs is not there" }) };
        }
        self.made += 1;
        let id = format!("t{}", self.made);
        let thing = Thing {
            name: body["name"].as_str().unwrap().to_owned(),
            value: body["value"].as_str().unwrap().to_owned(),
            size: body["size"].as_i64().unwrap(),
            needs,
            looks: (self.made % 3) as u32,
        };
        let reply = json!({ "thing": shown(&id, &thing) });
        self.things.insert(id, thing);
        Reply { status: 201, body: reply }
    }

    fn delete(&mut self, id: &str) -> Reply {
        if !self.things.contains_key(id) {
            return missing();
        }
        let users = self.things.values().filter(|it| it.needs.iter().any(|need| need == id));
        let users: Vec<&str> = users.map(|thing| thing.name.as_str()).collect();
        if !users.is_empty() {
            self.violations.push(format!("{id} goes while {users:?} need it"));
        }
        self.things.remove(id);
        Reply { status: 204, body: Json::Null }
    }
}

fn missing() -> Reply {
    Reply { status: 404, body: json!({ "message": "it is not there" }) }
}

fn shown(id: &str, thing: &Thing) -> Json {
    let status = if thing.looks == 0 { "ready" } else { "building" };
    json!({ "id": id, "name": thing.name, "value": thing.value, "size": thing.size, "status": status })
}

fn texts(list: &Json) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

// --- the resource type ---

/// `Test::Thing`: a thing in the cloud.
pub fn thing() -> ResourceType {
    ResourceType::new("Test::Thing")
        .about("A thing in the cloud of the simulation.")
        .props([
            prop("value", Str).updatable().default("-"),
            prop("size", Int).default(1),
            prop("needs", List).updatable().default_empty(),
        ])
        .attrs([attr("value", Str)])
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .found_by(marker)
}

fn marker(op: &Op) -> Marker {
    let name = op.context().physical_name.to_string();
    Marker {
        list: get(Service::Compute, "/things").query("name", name.clone()),
        objects: "/things".into(),
        field: "/name".into(),
        value: name.into(),
        envelope: Some("thing".into()),
        path: "/things/".into(),
        id: "/id".into(),
    }
}

fn needs(op: &Op) -> Vec<String> {
    let needs = op.prop("needs").as_list().unwrap_or_default();
    needs.iter().filter_map(|need| need.as_text().map(|text| text.to_string())).collect()
}

async fn create(op: &mut Op) -> Result<(), Stop> {
    let size = match op.prop("size") {
        Value::Int(size) => size.as_i64().unwrap_or(0),
        _ => 0,
    };
    let body = json!({ "thing": {
        "name": &*op.context().physical_name,
        "value": op.text("value"),
        "size": size,
        "needs": needs(op),
    }});
    let reply = op.call("create", post(Service::Compute, "/things", body)).await?;
    let id = reply.text("/thing/id").unwrap_or_default().to_owned();
    op.set_id(id.as_str());
    let path = format!("/things/{id}");
    let reply = op.until(get(Service::Compute, path), ready).await?;
    let value = reply.text("/thing/value").unwrap_or_default();
    op.set_shown(map([("value", Value::from(value))]));
    Ok(())
}

fn ready(reply: &Reply) -> Progress {
    match reply.text("/thing/status") {
        Some("ready") => Progress::Ready,
        _ => Progress::NotYet,
    }
}

async fn update(op: &mut Op) -> Result<(), Stop> {
    let body = json!({ "thing": { "value": op.text("value"), "needs": needs(op) } });
    let path = format!("/things/{}", op.id().map_or("", |id| id));
    op.call("change", patch(Service::Compute, path, body)).await?;
    let value = op.prop("value").clone();
    op.set_shown(map([("value", value)]));
    Ok(())
}

async fn remove(op: &mut Op) -> Result<(), Stop> {
    let Some(id) = op.id().cloned() else { return Ok(()) };
    op.remove("delete", delete(Service::Compute, format!("/things/{id}"))).await?;
    op.clear_id();
    Ok(())
}
