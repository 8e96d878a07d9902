//! A cloud of things: they have a name, a value, a size, and needs. It does what it is told, when it
//! gets round to it, and counts what should not have been asked of it.
//!
//! Some values have a meaning, so that a story can go wrong on purpose: `refused` is refused, `broken`
//! never gets ready, `slow` takes a minute, `stuck` cannot be removed while things stick, nor can its
//! copies, and of `shy` things there are no copies.

use kiln_cloud::{Call, CallPath, Marker, Method, Reply, Service, delete, get, patch, post};
use kiln_resources::behaviour::{OperationKind, SignalOutcome};
use kiln_resources::declare::*;
use kiln_resources::op::{Compared, FailureClass, Op, OpError, Progress};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// A thing in the cloud.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thing {
    pub name: String,
    pub value: String,
    pub size: i64,
    pub needs: Vec<String>,
    /// How many looks it takes until it is ready.
    pub looks: u32,
    /// Whether it was put to rest.
    pub rests: bool,
    /// Of a stack: what is done with it, and how often something was.
    pub action: String,
    pub acts: u32,
}

/// A copy of a thing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Copy {
    pub name: String,
    pub value: String,
    /// How many looks it takes until it is ready.
    pub looks: u32,
    /// The stack that it belongs to, and goes with.
    pub of: String,
}

#[derive(Default)]
pub struct Cloud {
    pub things: BTreeMap<String, Thing>,
    pub copies: BTreeMap<String, Copy>,
    /// The names of all things that there ever were.
    pub names: BTreeSet<String>,
    made: u64,
    /// How many more things are not made because of a conflict.
    pub conflicts: u32,
    /// How many more calls are answered with 503.
    pub outage: u32,
    /// Things of this value are not shown to anybody any more once they are needed.
    pub is_blind_to: Option<String>,
    /// Whether what is stuck cannot be removed.
    pub is_sticky: bool,
    /// What was changed, in order: `make x`, `change x`, `rest x`, `wake x`, `remove x`.
    pub deeds: Vec<String>,
    /// What no engine should ask for.
    pub violations: Vec<String>,
}

impl Cloud {
    pub fn act(&mut self, call: &Call) -> Reply {
        if self.outage > 0 {
            self.outage -= 1;
            return refused(503);
        }
        if let Some(path) = call.request.path.checked().expect("a path").strip_prefix("/stacks") {
            return self.act_on_stacks(call, path);
        }
        if let Some(id) = call.request.path.checked().expect("a path").strip_prefix("/copies") {
            return self.act_on_copies(call, id.trim_start_matches('/'));
        }
        let id = call
            .request
            .path
            .checked()
            .unwrap()
            .strip_prefix("/things/")
            .unwrap_or_default()
            .to_owned();
        if let Some(id) = id.strip_suffix("/hush") {
            let Some(thing) = self.things.get(id) else { return missing() };
            self.deeds.push(format!("hush {}", thing.value));
            return Reply::new(204, Json::Null);
        }
        match (call.request.method, id.as_str()) {
            (Method::Post, _) => self.create(call.request.body.as_ref().unwrap()),
            (Method::Get, "") => {
                let name =
                    call.request.query.iter().find(|(key, _)| key == "name").map(|(_, name)| name);
                let things = self.things.iter().filter(|(_, thing)| Some(&thing.name) == name);
                let things: Vec<Json> = things.map(|(id, thing)| shown(id, thing)).collect();
                Reply::new(200, json!({ "things": things }))
            }
            (Method::Get, id) => match self.things.get_mut(id) {
                Some(thing) => {
                    thing.looks = thing.looks.saturating_sub(1);
                    let is_hidden = self.is_blind_to.as_ref() == Some(&thing.value);
                    let mut thing = shown(id, thing);
                    let is_user = |it: &&Thing| it.needs.iter().any(|need| need == id);
                    let users = self.things.values().filter(is_user).count();
                    thing["users"] = users.into();
                    match is_hidden && users > 0 {
                        true => refused(500),
                        false => Reply::new(200, json!({ "thing": thing })),
                    }
                }
                None => missing(),
            },
            (Method::Patch, id) => match self.things.get_mut(id) {
                Some(thing) => {
                    let body = &call.request.body.as_ref().unwrap()["thing"];
                    let reply = change(thing, body, &mut self.deeds);
                    reply.unwrap_or_else(|| Reply::new(200, json!({ "thing": shown(id, thing) })))
                }
                None => missing(),
            },
            (Method::Delete, id) => self.delete(id),
            _ => Reply::new(405, Json::Null),
        }
    }

    fn act_on_copies(&mut self, call: &Call, id: &str) -> Reply {
        let shown = |id: &str, copy: &Copy| {
            let status = if copy.looks == 0 { "ready" } else { "building" };
            json!({ "id": id, "name": copy.name, "status": status })
        };
        match (call.request.method, id) {
            (Method::Post, _) => self.copy(&call.request.body.as_ref().unwrap()["copy"]),
            (Method::Get, "") => {
                let copies: Vec<Json> = self.copies.iter().map(|(id, it)| shown(id, it)).collect();
                Reply::new(200, json!({ "copies": copies }))
            }
            (Method::Get, id) => match self.copies.get_mut(id) {
                Some(copy) => {
                    copy.looks = copy.looks.saturating_sub(1);
                    Reply::new(200, json!({ "copy": shown(id, copy) }))
                }
                None => missing(),
            },
            (Method::Delete, id) => match self.copies.get(id) {
                Some(copy) if copy.value == "stuck" && self.is_sticky => refused(400),
                Some(_) => {
                    self.copies.remove(id);
                    Reply::new(204, Json::Null)
                }
                None => missing(),
            },
            _ => Reply::new(405, Json::Null),
        }
    }

    fn copy(&mut self, body: &Json) -> Reply {
        let thing = body["of"].as_str().and_then(|id| self.things.get(id));
        let Some(thing) = thing else {
            return missing();
        };
        if thing.value == "shy" {
            return refused(400);
        }
        self.deeds.push(format!("copy {}", thing.value));
        let value = thing.value.clone();
        let id = self.next_id("c");
        let name = body["name"].as_str().unwrap().to_owned();
        let looks = (self.made % 3) as u32;
        self.copies.insert(id.clone(), Copy { name, value, looks, of: String::new() });
        // Another form than that of the list, as some services have it.
        Reply::new(202, json!({ "copy_id": id }))
    }

    fn create(&mut self, body: &Json) -> Reply {
        let body = &body["thing"];
        let needs = texts(&body["needs"]);
        if let Some(need) = needs.iter().find(|need| !self.things.contains_key(*need)) {
            self.violations.push(format!("{} needs {need}, which is not there", body["name"]));
            return Reply::new(400, json!({ "message": "what it needs is not there" }));
        }
        let value = body["value"].as_str().unwrap();
        if value == "refused" {
            return refused(400);
        }
        if self.conflicts > 0 {
            self.conflicts -= 1;
            return refused(409);
        }
        self.deeds.push(format!("make {value}"));
        let id = self.next_id("t");
        let thing = Thing {
            name: body["name"].as_str().unwrap().to_owned(),
            value: value.to_owned(),
            size: body["size"].as_i64().unwrap(),
            needs,
            looks: if value == "slow" { 20 } else { (self.made % 3) as u32 },
            ..Thing::default()
        };
        self.names.insert(thing.name.clone());
        let reply = json!({ "thing": shown(&id, &thing) });
        self.things.insert(id, thing);
        Reply::new(201, reply)
    }

    pub fn next_id(&mut self, kind: &str) -> String {
        self.made += 1;
        format!("{kind}{}", self.made)
    }

    pub fn delete(&mut self, id: &str) -> Reply {
        let Some(thing) = self.things.get(id) else { return missing() };
        if thing.value == "stuck" && self.is_sticky {
            return refused(400);
        }
        self.deeds.push(format!("remove {}", thing.value));
        let users = self.things.values().filter(|it| it.needs.iter().any(|need| need == id));
        let users: Vec<&str> = users.map(|thing| thing.name.as_str()).collect();
        if !users.is_empty() {
            self.violations.push(format!("{id} goes while {users:?} need it"));
        }
        self.things.remove(id);
        Reply::new(204, Json::Null)
    }
}

/// Changes a thing; gives a reply if it may not become that.
fn change(thing: &mut Thing, body: &Json, deeds: &mut Vec<String>) -> Option<Reply> {
    if let Some(rests) = body["rests"].as_bool() {
        thing.rests = rests;
        let deed = if rests { "rest" } else { "wake" };
        deeds.push(format!("{deed} {}", thing.value));
        return None;
    }
    let value = body["value"].as_str().unwrap();
    if value == "refused" {
        return Some(refused(400));
    }
    deeds.push(format!("change {} to {value}", thing.value));
    thing.value = value.to_owned();
    thing.needs = texts(&body["needs"]);
    None
}

pub fn refused(status: u16) -> Reply {
    Reply::new(status, json!({ "message": "the cloud refuses" }))
}

pub fn missing() -> Reply {
    Reply::new(404, json!({ "message": "it is not there" }))
}

fn shown(id: &str, thing: &Thing) -> Json {
    let status = match thing.looks {
        _ if thing.value == "broken" => "error",
        0 => "ready",
        _ => "building",
    };
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
        .plain_data(["copy"])
        .about("A thing in the cloud of the simulation.")
        .props([
            prop("value", Str, "For tests.").updatable().default("-"),
            prop("size", Int, "For tests.").default(1),
            prop("colour", Str, "For tests.").immutable().default("grey"),
            prop("needs", List, "For tests.").updatable().default_empty(),
            prop("source", Str, "For tests.").updatable(),
        ])
        .attrs([attr("users", Int, "For tests."), attr("value", Str, "For tests.")])
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Suspend, |op| Box::pin(rest(op, true)))
        .on(OperationKind::Resume, |op| Box::pin(rest(op, false)))
        .on(OperationKind::Check, |op| Box::pin(look(op)))
        .on(OperationKind::Cancel, |op| Box::pin(hush(op)))
        .suspendable()
        .checkable()
        .copied(|op| Box::pin(copy(op)), |op| Box::pin(forget(op)))
        .restores_with(|properties, saved| {
            let copy = saved.data.get("copy").cloned().unwrap_or_default();
            properties.insert("source".into(), copy);
        })
        .restorable()
        .snapshot_on_delete()
        .finder(|op| Some(marker(op)))
}

/// `Test::Panics`: a type with a fault of its own.
pub fn panics() -> ResourceType {
    ResourceType::new("Test::Panics")
        .about("A type whose operations break down.")
        .creates(|_| Box::pin(async { panic!("a fault of the type") }))
}

/// `Test::Fragile`: a type that breaks down wherever its property says.
pub fn fragile() -> ResourceType {
    fn breaks(properties: &Members, place: &str) {
        let at = properties.get("at").and_then(Value::as_text);
        assert!(at.is_none_or(|at| &**at != place), "a fault in {place}");
    }
    ResourceType::new("Test::Fragile")
        .about("A type that breaks down on purpose.")
        .props([prop("at", Str, "For tests.").updatable()])
        .attrs([attr("value", Str, "For tests.")])
        .reference(|view| {
            breaks(view.properties, "reference");
            view.name.into()
        })
        .attributes(|view, _, _| {
            breaks(view.properties, "attribute");
            Ok(Some(Value::Null))
        })
        .on_signal(|view, _| {
            breaks(view.properties, "signal");
            Ok(SignalOutcome::default())
        })
        .replaced_if(|change| {
            breaks(change.after, "replacement");
            false
        })
        .creates(|_| Box::pin(async { Ok(()) }))
        .updates(|_| Box::pin(async { Ok(()) }))
}

/// `Test::FragileGroup`: a group that breaks down when it makes up its members.
pub fn fragile_group() -> ResourceType {
    ResourceType::new("Test::FragileGroup")
        .about("A group that breaks down on purpose.")
        .staged(|_| panic!("a fault in stages"))
}

/// `Test::Homing`: a type whose objects hand something on to whoever takes their place, and back.
pub fn homing() -> ResourceType {
    async fn knows_whom_it_follows(op: &mut Op) -> Result<(), OpError> {
        let is_first = op.prop("size").equals(&1.into()) && op.id().is_none();
        if op.context().predecessor.is_some() == is_first {
            return Err(OpError::failed(
                FailureClass::from_name("Lost"),
                "it does not know whose place it takes",
            ));
        }
        let name = op.context().physical_name.clone();
        op.set_id(name);
        Ok(())
    }
    ResourceType::new("Test::Homing")
        .about("A type whose objects hand something on.")
        .props([prop("size", Int, "For tests.").default(1)])
        .creates(|op| Box::pin(knows_whom_it_follows(op)))
        .updates(|op| Box::pin(knows_whom_it_follows(op)))
        .restored_on_rollback()
        .kept_on_failed_check()
}

/// `Test::Wordy`: a type that has a lot to say when it fails.
pub fn wordy() -> ResourceType {
    ResourceType::new("Test::Wordy")
        .about("A type that fails with a text of ten megabytes.")
        .creates(|_| {
            Box::pin(async {
                Err(OpError::failed(FailureClass::from_name("Wordy"), "word ".repeat(2 << 20)))
            })
        })
}

fn marker(op: &Op) -> Marker {
    let name = op.context().physical_name.to_string();
    Marker {
        list: get(Service::Compute, "/things").query("name", name.clone()),
        objects: "/things".into(),
        field: "/name".into(),
        value: name.into(),
        envelope: Some("thing".into()),
        path: "/things".into(),
        id: "/id".into(),
    }
}

fn needs(op: &Op) -> Vec<String> {
    let needs = op.prop("needs").as_list().unwrap_or_default();
    needs.iter().filter_map(|need| need.as_text().map(|text| text.to_string())).collect()
}

async fn create(op: &mut Op) -> Result<(), OpError> {
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
    let path = CallPath::from("/things").id(&id);
    let reply = op.until(get(Service::Compute, path), ready).await?;
    show(op, &reply);
    Ok(())
}

fn show(op: &mut Op, reply: &Reply) {
    let value = Value::from(reply.text("/thing/value").unwrap_or_default());
    let users = reply.body["thing"]["users"].as_i64().unwrap_or_default();
    op.set_remote(map([("value", value), ("users", users.into())]));
}

fn ready(reply: &Reply) -> Progress {
    match reply.text("/thing/status") {
        Some("ready") => Progress::Ready,
        Some("error") => Progress::Failed("it is broken".into()),
        _ => Progress::NotYet,
    }
}

/// A thing hears that nobody waits for it any more. It may be gone.
async fn hush(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = op.id().cloned() else { return Ok(()) };
    let path = CallPath::from("/things").id(&id).then("/hush");
    op.call("hush", post(Service::Compute, path, json!({}))).await.map(drop)
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let body = json!({ "thing": { "value": op.text("value"), "needs": needs(op) } });
    let path = CallPath::from("/things").id(op.id().map_or("", |id| id));
    op.call("change", patch(Service::Compute, path.clone(), body)).await?;
    let reply = op.read(get(Service::Compute, path)).await?;
    show(op, &reply);
    Ok(())
}

fn marker_of_copy(op: &Op) -> Marker {
    Marker {
        list: get(Service::Compute, "/copies"),
        objects: "/copies".into(),
        field: "/name".into(),
        value: op.copy_name().into(),
        envelope: Some("copy".into()),
        path: "/copies".into(),
        id: "/id".into(),
    }
}

async fn copy(op: &mut Op) -> Result<(), OpError> {
    let body = json!({ "copy": { "name": op.copy_name(), "of": op.id().map(|id| &**id) } });
    let call = post(Service::Compute, "/copies", body).marker(marker_of_copy(op));
    let id = op.copy("copy", call, "/copy_id").await?;
    op.set_data("copy", &*id);
    let look = get(Service::Compute, CallPath::from("/copies").id(&id));
    let is_ready = |reply: &Reply| match reply.text("/copy/status") {
        Some("ready") => Progress::Ready,
        _ => Progress::NotYet,
    };
    op.until(look, is_ready).await.map(drop)
}

async fn forget(op: &mut Op) -> Result<(), OpError> {
    let marker = marker_of_copy(op);
    op.remove_copies(&marker).await
}

async fn rest(op: &mut Op, rests: bool) -> Result<(), OpError> {
    let path = CallPath::from("/things").id(op.id().map_or("", |id| id));
    let body = json!({ "thing": { "rests": rests } });
    op.call("rest", patch(Service::Compute, path, body)).await.map(drop)
}

async fn look(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = op.id() else {
        return Err(OpError::failed(FailureClass::NotFound, "it is not there"));
    };
    let path = CallPath::from("/things").id(id);
    let reply = op.read(get(Service::Compute, path)).await?;
    show(op, &reply);
    let shown = reply.text("/thing/value").unwrap_or_default();
    let mut compared = Compared::default();
    match op.text("value") == Some(shown) {
        true => compared.same.push("value".into()),
        false => _ = compared.drifted.insert("value".into(), Value::from(shown)),
    }
    op.set_compared(compared);
    Ok(())
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = op.id().cloned() else { return Ok(()) };
    op.remove("delete", delete(Service::Compute, CallPath::from("/things").id(&id))).await?;
    op.clear_id();
    Ok(())
}
