//! Generic handlers for objects that are created with POST, changed with PUT or PATCH, read with GET and
//! deleted with DELETE. The declaration describes the interface ([`RestSpec`]).
//!
//! A type with special needs has handlers of its own that call these.

mod drift;
mod fields;
mod spec;

pub(crate) use drift::can_be_compared;
pub use drift::observe;
pub(crate) use fields::field;
pub use spec::{FieldAdjuster, ListSuffix, Readiness, RestSpec, UpdateMethod};

use crate::behaviour::OperationKind;
use crate::declare::{Name, Value};
use crate::op::{FailureClass, Op, OpError, Progress};
use crate::wire;
use fields::fields;
use kiln_cloud::{Call, CallPath, Marker, Method, Reply, Service, delete, get, post};
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

fn spec_of(op: &Op) -> Result<Arc<RestSpec>, OpError> {
    op.rest_spec().ok_or_else(|| {
        OpError::failed(FailureClass::InternalError, "the type does not say what it is")
    })
}

// --- names and marks ---

/// Whether its objects have names.
fn has_name(op: &Op) -> bool {
    op.resource_type().schema.property("name").is_some()
        && !op.rest_spec().is_some_and(|spec| spec.unsent.iter().any(|it| it == "name"))
}

/// The mark of an object whose name is not unique.
pub fn label(op: &Op) -> String {
    format!("kiln {}", op.context().physical_name)
}

/// The value by which an object is found.
struct Mark {
    /// The field with the value.
    field: String,
    value: String,
    /// Whether the field is a list of strings.
    is_tag: bool,
}

impl Mark {
    fn new(field: impl Into<String>, value: impl Into<String>) -> Mark {
        Mark { field: field.into(), value: value.into(), is_tag: false }
    }

    /// Puts the mark on an object.
    fn put(self, fields: &mut Map<String, Json>) {
        match fields.get_mut(&self.field) {
            Some(Json::Array(tags)) if self.is_tag => tags.push(self.value.into()),
            _ if self.is_tag => _ = fields.insert(self.field, json!([self.value])),
            _ => _ = fields.insert(self.field, self.value.into()),
        }
    }
}

/// The mark of the object: its name if Kiln chose it, else a label in another field. An object that is found by fields
/// that are unique has none.
fn mark(op: &Op, spec: &RestSpec) -> Option<Mark> {
    if !spec.unique.is_empty() {
        return None;
    }
    let name = || fields::field(spec, "name").into_owned();
    if has_name(op) && op.text("name").is_none() {
        return Some(Mark::new(name(), &*op.context().physical_name));
    }
    let is_free = |field: &&Name| spec.marks_then_renames || !is_chosen(op, field);
    if let Some(field) = spec.mark_field.as_ref().filter(is_free) {
        return Some(Mark::new(field.to_string(), label(op)));
    }
    if let Some(field) = &spec.mark_tag {
        return Some(Mark { is_tag: true, ..Mark::new(field.to_string(), label(op)) });
    }
    if spec.marks_then_renames && has_name(op) {
        return Some(Mark::new(name(), &*op.context().physical_name));
    }
    // The user chose every field: the object is a new one with its name.
    let chosen = if has_name(op) { op.text("name") } else { None };
    chosen.map(|chosen| Mark::new(name(), chosen))
}

/// Whether others can have objects with the mark of the resource's object, because it consists of values from the template.
/// Then only an object that did not exist before can be the resource's.
pub(crate) fn has_weak_mark(op: &Op) -> bool {
    let is_unique = op.rest_spec().is_some_and(|spec| !spec.unique.is_empty());
    // Some types find their objects in a way of their own, such as by a tag.
    let is_by_name = || {
        let name = op.nonempty_text("name");
        op.own_marker().is_some_and(|marker| name.is_some_and(|name| marker.value == *name))
    };
    is_unique || is_chosen(op, "name") && is_by_name()
}

/// Whether the template has a value for a field. A field without a property is always free for the mark.
fn is_chosen(op: &Op, field: &str) -> bool {
    op.declares(field) && op.nonempty_text(field).is_some()
}

/// The marker by which the object is found.
pub fn marker(op: &Op) -> Option<Marker> {
    let spec = op.rest_spec()?;
    let path = collection(op, &spec);
    let mut list = get(spec.service, path.clone());
    let (field, value) = if spec.unique.is_empty() {
        let Mark { field, value, .. } = mark(op, &spec)?;
        if spec.list_suffix.is_none() {
            list = list.query(field.clone(), value.clone());
        }
        (format!("/{field}"), value.into())
    } else {
        let mut all = new_fields(op, &spec);
        all.retain(|name, _| spec.unique.iter().any(|unique| unique == name));
        (String::new(), Json::Object(all))
    };
    if let Some(behind) = &spec.list_suffix {
        list.request.path = behind.below(path.clone());
        for (name, value) in &behind.query {
            list = list.query(name, value);
        }
    }
    Some(Marker {
        list: versioned(&spec, list),
        objects: if spec.list_envelope.is_empty() {
            String::new()
        } else {
            format!("/{}", spec.list_envelope)
        },
        field,
        value,
        envelope: (!spec.envelope.is_empty()).then(|| spec.envelope.to_string()),
        path,
        id: format!("/{}", spec.id),
    })
}

/// The path of the collection.
pub fn collection(op: &Op, spec: &RestSpec) -> CallPath {
    CallPath::from("").filled(&spec.path, |name| op.text(name))
}

/// The path of the resource's object, if its type has a REST interface; an invalid path otherwise.
pub fn own_path(op: &Op) -> CallPath {
    op.rest_spec().map_or(CallPath::from("").id(""), |spec| path(op, &spec))
}

/// The path of the resource's object.
pub fn path(op: &Op, spec: &RestSpec) -> CallPath {
    collection(op, spec).id_or_url(op.id().map_or("", |id| id))
}

fn versioned(spec: &RestSpec, call: Call) -> Call {
    match &spec.microversion {
        Some(version) => call.microversion(&**version),
        None => call,
    }
}

/// The object in a reply.
fn object<'r>(spec: &RestSpec, body: &'r Json) -> &'r Json {
    if spec.envelope.is_empty() { body } else { &body[&*spec.envelope] }
}

fn enveloped(spec: &RestSpec, fields: Map<String, Json>) -> Json {
    if spec.envelope.is_empty() || spec.bare_requests {
        Json::Object(fields)
    } else {
        json!({ &*spec.envelope: fields })
    }
}

// --- create ---

/// Creates the object, and waits until it is ready.
pub async fn create(op: &mut Op) -> Result<(), OpError> {
    let spec = spec_of(op)?;
    let fields = new_fields(op, &spec);
    create_with(op, fields).await
}

/// Creates an object with these fields, and waits until it is ready.
pub async fn create_with(op: &mut Op, fields: Map<String, Json>) -> Result<(), OpError> {
    let spec = spec_of(op)?;
    let mut told = None;
    if op.id().is_none() {
        let body = enveloped(&spec, fields);
        let call = versioned(&spec, post(spec.service, collection(op, &spec), body));
        let reply = send(op, &spec, "create", call).await?;
        let id = object(&spec, &reply.body)[&*spec.id].clone();
        let id = match id {
            Json::String(id) => id,
            Json::Number(number) => number.to_string(),
            _ => {
                return Err(OpError::failed(
                    FailureClass::Error,
                    "the service did not say which object it made",
                ));
            }
        };
        op.set_id(id);
        told = Some(reply);
    }
    afterwards(op, &spec, told).await?;
    unmark(op).await
}

/// Gives the field with the mark the value from the template, so that users do not see the mark.
pub(crate) async fn unmark(op: &mut Op) -> Result<(), OpError> {
    let spec = spec_of(op)?;
    let Some(call) = change(op, &spec, unmarked(op, &spec)) else { return Ok(()) };
    let reply = send(op, &spec, "dress", call).await?;
    match is_complete(&spec, &reply) {
        true => show(op, &spec, &reply),
        false => until_ready(op).await?,
    }
    Ok(())
}

/// The field in which a new object has its mark, with the user's value, or none.
fn unmarked(op: &Op, spec: &RestSpec) -> Map<String, Json> {
    let Some(mark) = mark(op, spec).filter(|mark| spec.marks_then_renames && !mark.is_tag) else {
        return Map::new();
    };
    let mut wanted = wanted_fields(op, spec);
    let value = match wanted.remove(&mark.field) {
        Some(value) if value == mark.value => return Map::new(),
        Some(value) if !value.is_null() => value,
        _ => no_text(spec.service),
    };
    Map::from_iter([(mark.field, value)])
}

/// How a service is told that a field has no text.
fn no_text(service: Service) -> Json {
    match service {
        Service::Identity | Service::LoadBalancer | Service::Network => "".into(),
        _ => Json::Null,
    }
}

/// The fields of a new object.
pub fn new_fields(op: &Op, spec: &RestSpec) -> Map<String, Json> {
    let mut new = wanted_fields(op, spec);
    if let Some(mark) = mark(op, spec) {
        mark.put(&mut new);
    }
    new
}

/// The fields that a new object should have in the end.
fn wanted_fields(op: &Op, spec: &RestSpec) -> Map<String, Json> {
    let schema = &op.resource_type().schema.properties;
    let mut new = fields(spec, schema, &op.context().properties, false, |_| true);
    for (field, value) in &spec.constant_fields {
        new.insert(field.to_string(), value.clone());
    }
    if has_name(op) && op.text("name").is_none() {
        let name = fields::field(spec, "name").into_owned();
        new.insert(name, (*op.context().physical_name).into());
    }
    if let Some(shape) = spec.adjust_fields {
        shape(op, OperationKind::Create, &mut new);
    }
    new
}

async fn send(op: &mut Op, spec: &RestSpec, step: &str, call: Call) -> Result<Reply, OpError> {
    op.call_until_accepted(step, call, &spec.retried_statuses).await
}

/// Runs after a create or an update, then waits until the object is ready. `told` is the service's reply.
async fn afterwards(op: &mut Op, spec: &RestSpec, told: Option<Reply>) -> Result<(), OpError> {
    if let Some(after) = spec.after_write {
        let before = op.context().journal.iter().count();
        after(op).await?;
        if op.context().journal.iter().count() > before {
            return until_ready(op).await;
        }
    }
    match told.filter(|reply| is_complete(spec, reply)) {
        Some(reply) => {
            show(op, spec, &reply);
            Ok(())
        }
        None => until_ready(op).await,
    }
}

/// Whether a reply to a create or an update has the whole object, which is ready: Neutron's need not be read again.
fn is_complete(spec: &RestSpec, reply: &Reply) -> bool {
    let (object, status) = (object(spec, &reply.body), &*spec.readiness.status);
    spec.service == Service::Network
        && object.is_object()
        && (status.is_empty() || object[status].is_string())
        && progress(spec, reply) == Progress::Ready
}

/// Waits until the object is ready, and keeps it from the reply.
pub async fn until_ready(op: &mut Op) -> Result<(), OpError> {
    let spec = spec_of(op)?;
    let call = versioned(&spec, get(spec.service, path(op, &spec)));
    let reply = op.until(call, |reply| progress(&spec, reply)).await?;
    show(op, &spec, &reply);
    Ok(())
}

fn progress(spec: &RestSpec, reply: &Reply) -> Progress {
    let Readiness { status: field, waiting, done, failed, reason, because, unknown, .. } =
        &spec.readiness;
    let object = object(spec, &reply.body);
    let Some(status) = object[&**field].as_str().filter(|_| !field.is_empty()) else {
        return Progress::Ready;
    };
    let is = |names: &[_]| names.iter().any(|name| name == status);
    let why = match &object[&**reason] {
        Json::String(why) if !why.is_empty() => why,
        _ if because.is_empty() => "Unknown",
        _ => because,
    };
    if is(failed) {
        Progress::Failed(format!("Went to status {status} due to \"{why}\""))
    } else if is(done) || (done.is_empty() && !is(waiting)) {
        Progress::Ready
    } else if waiting.is_empty() || is(waiting) {
        Progress::NotYet
    } else {
        let what = if unknown.is_empty() { &spec.envelope } else { unknown };
        let why = if why == because { "Unknown" } else { why };
        Progress::Unknown(format!("{what} - Unknown status {status} due to \"{why}\""))
    }
}

fn show(op: &mut Op, spec: &RestSpec, reply: &Reply) {
    let object = object(spec, &reply.body);
    if spec.attribute_paths.is_empty() || !object.is_object() {
        return op.set_remote(wire::value(object));
    }
    let mut object = object.clone();
    for (attribute, place) in &spec.attribute_paths {
        let found = object.pointer(&format!("/{}", place.replace('.', "/")));
        object[&**attribute] = found.cloned().unwrap_or_default();
    }
    op.set_remote(wire::value(&object));
}

// --- update ---

/// Changes the object, and waits until it is ready.
pub async fn update(op: &mut Op) -> Result<(), OpError> {
    let spec = spec_of(op)?;
    let fields = changed_fields(op, &spec);
    update_with(op, fields).await
}

/// Changes these fields of the object, and waits until it is ready.
pub async fn update_with(op: &mut Op, fields: Map<String, Json>) -> Result<(), OpError> {
    let spec = spec_of(op)?;
    let told = match change(op, &spec, fields) {
        Some(call) => Some(send(op, &spec, "change", call).await?),
        None => None,
    };
    afterwards(op, &spec, told).await
}

/// The fields that an update changes.
pub fn changed_fields(op: &Op, spec: &RestSpec) -> Map<String, Json> {
    let schema = &op.resource_type().schema.properties;
    let mut fields = fields(spec, schema, &op.context().properties, true, |it| op.changes(it));
    if has_name(op) && op.changes("name") && op.text("name").is_none() {
        let name = fields::field(spec, "name").into_owned();
        fields.insert(name, (*op.context().physical_name).into());
    }
    // An update of the tags keeps the mark among them.
    let ours = mark(op, spec).filter(|mark| mark.is_tag && fields.contains_key(&mark.field));
    if let Some(mark) = ours {
        mark.put(&mut fields);
    }
    if let Some(shape) = spec.adjust_fields {
        shape(op, OperationKind::Update, &mut fields);
    }
    fields
}

/// The call that changes an object; `None` if there is nothing to change.
pub fn change(op: &Op, spec: &RestSpec, fields: Map<String, Json>) -> Option<Call> {
    if fields.is_empty() {
        return None;
    }
    let fields = fields.into_iter().map(|(name, value)| {
        let other = spec.update_field_names.iter().find(|(field, _)| **field == name);
        (other.map_or(name, |(_, other)| other.to_string()), value)
    });
    let fields: Map<String, Json> = fields.collect();
    let mut call = post(spec.service, path(op, spec), Json::Null);
    call.request.method =
        if spec.update_method == UpdateMethod::Put { Method::Put } else { Method::Patch };
    call.request.body = Some(match &spec.update_method {
        UpdateMethod::Never => return None,
        UpdateMethod::Put | UpdateMethod::Patch => enveloped(spec, fields),
        UpdateMethod::JsonPatch(content) => {
            call = call.header("Content-Type", content.clone());
            let replacement = |(name, value): (String, Json)| match value {
                Json::Null => json!({ "op": "remove", "path": format!("/{name}") }),
                value => json!({ "op": "replace", "path": format!("/{name}"), "value": value }),
            };
            fields.into_iter().map(replacement).collect()
        }
    });
    Some(versioned(spec, call))
}

// --- delete ---

/// Deletes the object, and waits until it is not found any more.
pub async fn remove(op: &mut Op) -> Result<(), OpError> {
    let spec = spec_of(op)?;
    if op.id().is_none() {
        return Ok(());
    }
    let path = path(op, &spec);
    let call = versioned(&spec, delete(spec.service, path.clone()));
    match send(op, &spec, "delete", call).await {
        Err(stop) if stop.is_not_found() => {}
        Err(stop) => return Err(stop),
        Ok(_) if spec.awaits_deletion => {
            until_gone(op, versioned(&spec, get(spec.service, path)), |reply| {
                let status = object(&spec, &reply.body)[&*spec.readiness.status].as_str();
                match progress(&spec, reply) {
                    _ if status
                        .is_some_and(|it| spec.readiness.gone.iter().any(|gone| gone == it)) =>
                    {
                        Progress::Ready
                    }
                    // A status in progress may belong to the deletion.
                    Progress::Failed(why) => Progress::Failed(why),
                    _ => Progress::NotYet,
                }
            })
            .await?;
        }
        Ok(_) => {}
    }
    op.clear_id();
    Ok(())
}

/// Waits until an object is not found any more, or its deletion fails.
pub async fn until_gone(
    op: &mut Op,
    call: Call,
    mut progress: impl FnMut(&Reply) -> Progress,
) -> Result<(), OpError> {
    let is_gone = |reply: &Reply| match reply.status {
        404 => Progress::Ready,
        _ => progress(reply),
    };
    op.until_answered(call, is_gone).await.map(drop)
}

// --- check ---

/// Checks that the object exists and is healthy, and records drift.
pub async fn check(op: &mut Op) -> Result<(), OpError> {
    let spec = spec_of(op)?;
    if op.id().is_none() {
        return Ok(());
    }
    let reply = op.read(versioned(&spec, get(spec.service, path(op, &spec)))).await?;
    let compared = drift::compare(op, &spec, object(&spec, &reply.body));
    show(op, &spec, &reply);
    op.set_compared(compared);
    match progress(&spec, &reply) {
        Progress::Failed(why) | Progress::Unknown(why) => {
            Err(OpError::failed(FailureClass::Error, why))
        }
        _ => Ok(()),
    }
}

/// Reads the object; `None` if it does not exist.
pub async fn look(op: &mut Op) -> Result<Option<Value>, OpError> {
    let spec = spec_of(op)?;
    match op.read(versioned(&spec, get(spec.service, path(op, &spec)))).await {
        Ok(reply) => Ok(Some(wire::value(object(&spec, &reply.body)))),
        Err(stop) if stop.is_not_found() => Ok(None),
        Err(stop) => Err(stop),
    }
}
