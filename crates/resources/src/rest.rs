//! Plain types: an object that is made with POST, changed with PUT or PATCH, read with GET and removed
//! with DELETE. Their declaration says what is special about them ([`Plain`]); the rest is here.

use crate::behaviour::Behaviour;
use crate::declare::{ResourceType, Value};
use crate::op::{Op, Progress, Stop};
use crate::wire;
use kiln_cloud::{Call, Marker, Method, Reply, Service, delete, get, post};
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

/// What a plain type's service needs to be told.
#[derive(Clone, Copy, Debug)]
pub struct Plain {
    /// The service.
    pub service: Service,
    /// The path of all objects.
    pub path: &'static str,
    /// What stands around one object.
    pub one: &'static str,
    /// What stands around many.
    pub many: &'static str,
    /// The properties that are sent as they are; `name` is one of them.
    pub fields: &'static [&'static str],
    /// How an object is changed.
    pub change: Method,
}

impl ResourceType {
    /// Its objects are plain.
    pub fn plain(mut self, plain: Plain) -> ResourceType {
        self.behaviour = Behaviour {
            create: Some(|op| Box::pin(create(op))),
            update: Some(|op| Box::pin(update(op))),
            delete: Some(|op| Box::pin(remove(op))),
            check: Some(|op| Box::pin(check(op))),
            finder: Some(marker),
            plain: Some(plain),
            ..self.behaviour
        };
        self
    }
}

fn plain(op: &Op) -> Result<Plain, Stop> {
    op.plain().ok_or_else(|| Stop::failed("InternalError", "the type does not say what it is"))
}

/// Whether the user chose the name of the object: then it need not be unique.
fn is_named(op: &Op) -> bool {
    op.text("name").is_some()
}

/// What is written on an object whose name is not unique.
fn label(op: &Op) -> String {
    format!("kiln {}", op.context().physical_name)
}

/// An object is found by its name if that is ours, else by what is written on it.
fn marker(op: &Op) -> Marker {
    let (path, many, one, service) = match op.plain() {
        Some(plain) => (plain.path, plain.many, plain.one, plain.service),
        None => ("", "", "", Service::Compute),
    };
    let (field, value) = match is_named(op) {
        true => ("description", label(op)),
        false => ("name", op.context().physical_name.to_string()),
    };
    Marker {
        list: get(service, path).query(field, value.clone()),
        objects: format!("/{many}"),
        field: format!("/{field}"),
        value: value.into(),
        envelope: Some(one.into()),
        path: format!("{path}/"),
        id: "/id".into(),
    }
}

fn body(op: &Op, plain: &Plain, is_sent: impl Fn(&str) -> bool) -> Json {
    let mut fields = Map::new();
    for name in plain.fields.iter().filter(|name| is_sent(name)) {
        let value = op.prop(name);
        if !value.is_null() {
            fields.insert((*name).into(), wire::json(value));
        }
    }
    json!({ plain.one: fields })
}

async fn create(op: &mut Op) -> Result<(), Stop> {
    let plain = plain(op)?;
    let mut body = body(op, &plain, |_| true);
    match is_named(op) {
        true => body[plain.one]["description"] = label(op).into(),
        false => body[plain.one]["name"] = (*op.context().physical_name).into(),
    }
    let reply = op.call("create", post(plain.service, plain.path, body)).await?;
    let Some(id) = reply.text(&format!("/{}/id", plain.one)).map(Arc::<str>::from) else {
        return Err(Stop::failed("Error", "the service did not say which object it made"));
    };
    op.set_id(id);
    until_ready(op, &plain).await
}

async fn until_ready(op: &mut Op, plain: &Plain) -> Result<(), Stop> {
    let status = format!("/{}/status", plain.one);
    let reply =
        op.until(get(plain.service, path(op, plain)), |reply| progress(reply, &status)).await?;
    show(op, plain, &reply);
    Ok(())
}

/// Services that tell of a status tell of these; objects without one are ready at once.
fn progress(reply: &Reply, status: &str) -> Progress {
    match reply.text(status) {
        Some("BUILD" | "PENDING_CREATE" | "PENDING_UPDATE") => Progress::NotYet,
        Some("ERROR") => Progress::Failed("Went to status ERROR due to \"Unknown\"".into()),
        _ => Progress::Ready,
    }
}

fn show(op: &mut Op, plain: &Plain, reply: &Reply) {
    let shown = reply.body.get(plain.one).map_or(Value::Null, wire::value);
    op.set_shown(shown);
}

fn path(op: &Op, plain: &Plain) -> String {
    format!("{}/{}", plain.path, op.id().map_or("", |id| id))
}

async fn update(op: &mut Op) -> Result<(), Stop> {
    let plain = plain(op)?;
    let body = body(op, &plain, |name| op.changes(name));
    if body[plain.one].as_object().is_some_and(|fields| !fields.is_empty()) {
        let mut call = post(plain.service, path(op, &plain), body);
        call.method = plain.change;
        op.call("change", call).await?;
    }
    until_ready(op, &plain).await
}

async fn remove(op: &mut Op) -> Result<(), Stop> {
    let plain = plain(op)?;
    if op.id().is_none() {
        return Ok(());
    }
    let path = path(op, &plain);
    op.remove("delete", delete(plain.service, path.clone())).await?;
    until_gone(op, get(plain.service, path)).await?;
    op.clear_id();
    Ok(())
}

/// A service may need time to remove an object.
async fn until_gone(op: &mut Op, call: Call) -> Result<(), Stop> {
    loop {
        match op.read(call.clone()).await {
            Err(Stop::Failed(failure)) if &*failure.class == "NotFound" => return Ok(()),
            Err(stop) => return Err(stop),
            Ok(_) => op.pause(std::time::Duration::from_millis(500)).await?,
        }
    }
}

async fn check(op: &mut Op) -> Result<(), Stop> {
    let plain = plain(op)?;
    let reply = op.read(get(plain.service, path(op, &plain))).await?;
    show(op, &plain, &reply);
    Ok(())
}
