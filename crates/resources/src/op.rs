//! The durable context in which a resource's operations run.
//!
//! An operation is an ordinary async function over [`Op`]. It has no effects of its own: it demands calls,
//! time and random bytes, and its runner ([`RunningOperation`]) fulfils a demand after everything that the
//! operation reported before is durable. So an operation can be stopped at any demand and run again from
//! the top, also in another process: finished steps are answered from the journal, and if a step was begun
//! and its end is not known, the object that it creates is searched for by its mark.
//!
//! Three rules follow for handlers: no effects except through these methods, no randomness or clock except
//! from here, and names of steps that are unique and never change.

mod backoff;
mod calls;
mod copy;
mod error;
mod failure_class;
mod journal;
mod names;
mod rejections;
mod run;
mod stack;

pub use backoff::Backoff;
pub use error::{Failure, OpError, rejection};
pub use failure_class::FailureClass;
pub use journal::{Journal, Step};
pub use run::{Answer, Demand, Note, OpPoll, RunningOperation, Sibling};
pub use stack::{Domain, GuestAccess, StackContext, owner_of_users_project, users_project_name};

use crate::declare::{Members, ResourceType, Value};
use crate::property_access::{count, items, seconds, section, text, word};
use crate::rest::{self, RestSpec};
use calls::Fate;
use kiln_cloud::{Call, Marker, Method, Reply};
use kiln_template::Files;
use parking_lot::{Mutex, MutexGuard};
use run::Shared;
use serde_json::Value as Json;
use std::sync::Arc;
use std::time::Duration;

/// The state of a resource at the start of an operation.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The resource's name in the template.
    pub resource: Arc<str>,
    /// The name for its object, which is unique and known before the object exists.
    pub physical_name: Arc<str>,
    /// The id of the object in its service.
    pub physical_id: Option<Arc<str>>,
    /// The properties, converted by the schema, with defaults.
    pub properties: Arc<Members>,
    /// The properties before an update.
    pub previous_properties: Arc<Members>,
    /// The names of the properties that an update changes.
    pub changed: Arc<[Arc<str>]>,
    /// The resource's own data.
    pub data: Arc<Members>,
    /// The metadata.
    pub metadata: Value,
    /// The steps that were recorded before the operation was interrupted.
    pub journal: Journal,
    /// The name for a copy of the object, which is unique and known before the copy exists.
    pub copy_name: Arc<str>,
    /// Whether the object is copied before it is deleted.
    pub snapshot_before_delete: bool,
    /// Whether an earlier create or update failed half-way.
    pub is_half_done: bool,
    /// Whether an earlier operation left a doubt about the object's existence.
    pub is_doubtful: bool,
    /// How long a lost call may still take effect.
    pub lost_call_window: Duration,
    /// For how long a service that is down or busy is waited for; the first minute is waited in any case.
    pub ride_out: Duration,
    /// The id of the object that this one replaces; on a rollback, the id of the replacement.
    pub predecessor: Option<Arc<str>>,
    /// Whether the resource replaces another, or its own replacement on a rollback. That one need not have an object.
    pub is_replacement: bool,
    /// The stack of the resource, and how guests reach the services.
    pub stack: StackContext,
    /// The files of the stack.
    pub files: Arc<Files>,
}

/// An operation on a resource.
pub struct Op {
    context: Context,
    resource_type: &'static ResourceType,
    /// Whether the end of a call is not known.
    doubts: bool,
    /// Objects that were created beside the resource's own: their marks and ids.
    beside: Vec<(Marker, Arc<str>)>,
    /// The steps whose earlier attempt may have taken effect.
    repeated: Vec<Arc<str>>,
    /// The object in the service's last reply.
    remote: Value,
    shared: Arc<Mutex<Shared>>,
}

/// How the properties of a definition compare with an object. A property in neither part was not compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// The properties with other values in the object, and those values.
    pub drifted: Members,
    /// The properties with the same values in the object.
    pub same: Vec<Arc<str>>,
}

/// The result of watching another resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Watched {
    /// Its metadata changed to this.
    Changed(Value),
    /// There is no such resource.
    Missing,
    /// The deadline passed without a change.
    TimedOut,
}

/// The progress of an object towards the wanted state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It reached the state.
    Ready,
    /// It needs more time.
    NotYet,
    /// It will never reach the state, for this reason.
    Failed(String),
    /// Its state is not documented.
    Unknown(String),
}

/// The step that records a doubt: begun with the doubt, settled when it is resolved.
const DOUBT: &str = "doubt";

/// The entry of the resource's data with the ids of the objects that have its mark and existed before its own. It is there
/// while the resource's object is created, if the mark alone is no proof.
const EXISTED_BEFORE: &str = "existed_before";

impl Op {
    // --- state ---

    /// The type of the resource.
    pub fn resource_type(&self) -> &'static ResourceType {
        self.resource_type
    }

    /// The REST interface of the type, if it has one.
    pub fn rest_spec(&self) -> Option<Arc<RestSpec>> {
        self.resource_type.behaviour.rest.clone()
    }

    /// The mark by which its object is found after a lost call.
    pub(crate) fn own_marker(&self) -> Option<Marker> {
        self.resource_type.behaviour.finder.and_then(|find| find(self))
    }

    /// The state of the resource.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The stack of the resource, and how guests reach the services.
    pub fn stack(&self) -> &StackContext {
        &self.context.stack
    }

    /// The ARN of its resource.
    pub fn arn(&self) -> String {
        let StackContext { project, name: stack, id: stack_id, .. } = self.stack();
        let resource = &self.context.resource;
        format!("arn:openstack:heat::{project}:stacks/{stack}/{stack_id}/resources/{resource}")
    }

    /// A property; null if it has neither a value nor a default.
    pub fn prop(&self, name: &str) -> &Value {
        self.context.properties.get(self.declared(name)).unwrap_or(&Value::Null)
    }

    /// A property before an update; null if it had no value, and on create.
    pub fn previous(&self, name: &str) -> &Value {
        self.context.previous_properties.get(self.declared(name)).unwrap_or(&Value::Null)
    }

    /// A property that is a string.
    pub fn text(&self, name: &str) -> Option<&str> {
        text(&self.context.properties, self.declared(name))
    }

    /// A property that is a string, unless it is empty: a null in a template becomes an empty string.
    pub fn nonempty_text(&self, name: &str) -> Option<&str> {
        word(&self.context.properties, self.declared(name))
    }

    /// A property that is a list; empty if there is none.
    pub fn items(&self, name: &str) -> &[Value] {
        items(&self.context.properties, self.declared(name))
    }

    /// A property that is a map.
    pub fn section(&self, name: &str) -> Option<&Members> {
        section(&self.context.properties, self.declared(name))
    }

    /// A property that is a count; a negative number counts as zero.
    pub fn count(&self, name: &str) -> Option<usize> {
        count(&self.context.properties, self.declared(name))
    }

    /// A property that is a number of seconds, as a duration.
    pub fn seconds(&self, name: &str) -> Duration {
        seconds(self.prop(name))
    }

    /// Whether an update changes a property.
    pub fn changes(&self, name: &str) -> bool {
        let name = self.declared(name);
        self.context.changed.iter().any(|changed| &**changed == name)
    }

    /// Whether the type declares a property. Handlers that several types share ask before they read it.
    pub fn declares(&self, name: &str) -> bool {
        let schema = &self.resource_type.schema;
        schema.any_property || schema.property(name).is_some()
    }

    /// The name of a declared property. Another name is a mistake in a handler, which would read null forever: in
    /// debug builds it panics, so that a test finds it.
    fn declared<'n>(&self, name: &'n str) -> &'n str {
        debug_assert!(
            self.declares(name),
            "{} does not declare the property {name:?}",
            self.resource_type.name()
        );
        name
    }

    /// The physical id, if there is an object.
    pub fn id(&self) -> Option<&Arc<str>> {
        self.context.physical_id.as_ref()
    }

    /// An entry of the resource's data.
    pub fn data(&self, key: &str) -> Option<&Value> {
        self.context.data.get(key)
    }

    /// The object in the last reply that this operation kept; null if there was none.
    pub fn remote(&self) -> &Value {
        &self.remote
    }

    // --- changes of the recorded state ---

    /// Records the physical id. It is durable before the next demand is fulfilled.
    pub fn set_id(&mut self, id: impl Into<Arc<str>>) {
        let id = id.into();
        self.context.physical_id = Some(id.clone());
        self.note(Note::Id(Some(id)));
    }

    /// Records that there is no object any more.
    pub fn clear_id(&mut self) {
        self.context.physical_id = None;
        self.note(Note::Id(None));
    }

    /// Sets an entry of the resource's data; null removes it.
    pub fn set_data(&mut self, key: impl Into<Arc<str>>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        let data = Arc::make_mut(&mut self.context.data);
        merge_data(data, [(key.clone(), value.clone())]);
        self.note(Note::Data(key, value));
    }

    /// Sets the metadata.
    pub fn set_metadata(&mut self, metadata: Value) {
        self.context.metadata = metadata.clone();
        self.note(Note::Metadata(metadata));
    }

    /// Records the project of the stack's users; an empty id if it is about to be created. The project is
    /// deleted with the stack.
    pub fn set_users_project(&mut self, project: impl Into<Arc<str>>) {
        let project = project.into();
        self.context.stack.users_project = Some(project.clone());
        self.note(Note::UsersProject(project));
    }

    /// Sets the metadata of another resource of the stack, found by its reference id.
    pub fn set_metadata_of(&mut self, reference: &str, metadata: Value) {
        self.note(Note::MetadataOf(reference.into(), metadata));
    }

    /// Keeps the object from a reply of the service: attributes are members of it.
    pub fn set_remote(&mut self, shown: Value) {
        self.remote = shown.clone();
        self.note(Note::Remote(shown));
    }

    /// Records how the properties of the definition compare with the object.
    pub fn set_compared(&mut self, compared: Compared) {
        self.note(Note::Compared(compared));
    }

    fn note(&self, note: Note) {
        self.lock().notes.push(note);
    }

    // --- demands ---

    /// Waits until this long after the step was first reached.
    pub async fn wait(&mut self, step: &str, length: Duration) -> Result<(), OpError> {
        if length.is_zero() {
            return Ok(());
        }
        let until = self.deadline(step, length);
        match self.demand(Demand::Until(until)).await {
            Answer::Woken => Ok(()),
            _ => Err(wrong_answer()),
        }
    }

    /// The time this long after the step was first reached, in microseconds since 1970.
    pub fn deadline(&mut self, step: &str, length: Duration) -> i64 {
        if let Some(Step::Until(until)) = self.context.journal.step(step) {
            return *until;
        }
        let until = self.lock().now.saturating_add(micros(length));
        self.context.journal.set(step, Step::Until(until));
        self.note(Note::Step(step.into(), Step::Until(until)));
        until
    }

    /// Waits this long; an interruption starts the wait again.
    pub async fn pause(&mut self, length: Duration) -> Result<(), OpError> {
        let until = self.lock().now.saturating_add(micros(length));
        self.pause_until(until).await
    }

    /// Waits until a moment, in microseconds since 1970; not at all if it has passed.
    pub async fn pause_until(&mut self, until: i64) -> Result<(), OpError> {
        if until <= self.lock().now {
            return Ok(());
        }
        match self.demand(Demand::Until(until)).await {
            Answer::Woken => Ok(()),
            _ => Err(wrong_answer()),
        }
    }

    /// Random bytes from the system. After an interruption they are different: record what must not change.
    pub async fn random(&mut self, bytes: usize) -> Result<Vec<u8>, OpError> {
        match self.demand(Demand::Random(bytes)).await {
            Answer::Bytes(bytes) => Ok(bytes),
            _ => Err(wrong_answer()),
        }
    }

    /// The metadata of another resource of the stack, found by its reference: at once if it differs from
    /// the last value, else when it changes or the deadline passes.
    pub async fn watch(
        &mut self,
        reference: &str,
        seen: Option<&Value>,
        deadline: i64,
    ) -> Result<Watched, OpError> {
        let (reference, seen) = (reference.into(), seen.cloned());
        match self.demand(Demand::Watch { reference, seen, until: deadline }).await {
            Answer::Metadata(Some(metadata)) => Ok(Watched::Changed(metadata)),
            Answer::Metadata(None) => Ok(Watched::Missing),
            Answer::Woken => Ok(Watched::TimedOut),
            _ => Err(wrong_answer()),
        }
    }

    /// The current state of another resource of the tree, found by its reference.
    pub async fn sibling(&mut self, reference: &str) -> Result<Option<Sibling>, OpError> {
        match self.demand(Demand::Sibling(reference.into())).await {
            Answer::Sibling(sibling) => Ok(sibling),
            _ => Err(wrong_answer()),
        }
    }

    /// The time this long from now, in microseconds since 1970. After an interruption it is different.
    pub fn from_now(&self, length: Duration) -> i64 {
        self.lock().now.saturating_add(micros(length))
    }

    // --- doubt ---

    /// Searches for the object that a call with a lost reply created.
    async fn find_lost(
        &mut self,
        step: &str,
        call: &Call,
        fate: Fate,
    ) -> Result<Option<Reply>, OpError> {
        self.repeated.push(step.into());
        match call.request.method {
            Method::Post if !call.recovery.is_repeatable => {}
            // A late change must not undo a newer one: the lost call gets time to take effect before it is
            // repeated.
            Method::Post | Method::Put | Method::Patch => {
                if fate == Fate::Lost {
                    self.pause(self.context.lost_call_window).await?;
                }
                return Ok(None);
            }
            Method::Get | Method::Head | Method::Delete => return Ok(None),
        }
        self.doubt();
        let marker = call.recovery.marker.as_deref().cloned().or_else(|| self.own_marker());
        let Some(marker) = marker else { return Ok(None) };
        let is_own = call.recovery.marker.is_none();
        let mut list = self.read(marker.list.clone()).await?;
        if self.candidates(&marker, &list, is_own).is_empty() && call.recovery.is_exclusive {
            self.pause(self.context.lost_call_window).await?;
            list = self.read(marker.list.clone()).await?;
        }
        let Some(object) = self.candidates(&marker, &list, is_own).first().copied() else {
            return Ok(None);
        };
        let reply = marker.reply(object);
        self.context.journal.set(step, Step::Replied(reply.clone()));
        self.note(Note::Step(step.into(), Step::Replied(reply.clone())));
        Ok(Some(reply))
    }

    /// Records that the end of a call is not known, until [`Op::settle`].
    fn doubt(&mut self) {
        if !std::mem::replace(&mut self.doubts, true) {
            self.note(Note::Step(DOUBT.into(), Step::Begun));
        }
    }

    /// Takes over an object that an interrupted operation may have created, so that it can be deleted.
    pub(crate) async fn find_doubtful(&mut self) -> Result<(), OpError> {
        if !self.context.is_doubtful {
            return Ok(());
        }
        self.doubt();
        let Some(marker) = self.own_marker() else { return Ok(()) };
        let list = self.read(marker.list.clone()).await?;
        if self.context.physical_id.is_none()
            && let Some(object) = self.candidates(&marker, &list, true).first()
            && let Some(id) = marker.id_of(object)
        {
            self.set_id(id);
        }
        Ok(())
    }

    /// After a call with an unknown end, waits until it can no longer take effect, and deletes what it
    /// created beside the resource's own object.
    pub(crate) async fn settle(&mut self) -> Result<(), OpError> {
        if !self.doubts {
            return Ok(());
        }
        let is_weak = rest::has_weak_mark(self);
        let own = self.own_marker().map(|marker| (marker, self.context.physical_id.clone()));
        let beside = self.beside.iter().map(|(marker, id)| (marker.clone(), Some(id.clone())));
        let made: Vec<(Marker, Option<Arc<str>>)> = own.into_iter().chain(beside).collect();
        if made.is_empty() {
            return Ok(());
        }
        self.wait("settle", self.context.lost_call_window).await?;
        for (at, (marker, kept)) in made.into_iter().enumerate() {
            if at == 0 && is_weak {
                self.refuse_several(&marker, kept.as_deref()).await?;
            } else {
                self.remove_all(&marker, kept.as_deref(), "settle").await?;
            }
        }
        self.forget_others();
        self.doubts = false;
        self.note(Note::Step(DOUBT.into(), Step::Settled));
        Ok(())
    }

    // --- objects of others ---

    /// Records which objects exist already, before a call that creates the resource's own, if its mark is no proof.
    async fn remember_others(&mut self, call: &Call) -> Result<(), OpError> {
        let creates = call.request.method == Method::Post
            && !call.recovery.is_repeatable
            && call.recovery.marker.is_none()
            && self.context.physical_id.is_none();
        if !creates || self.data(EXISTED_BEFORE).is_some() || !rest::has_weak_mark(self) {
            return Ok(());
        }
        let Some(marker) = self.own_marker() else { return Ok(()) };
        let list = self.read(marker.list.clone()).await?;
        let ids = marker.found(&list).into_iter().filter_map(|object| marker.id_of(object));
        let ids: Vec<Value> = ids.map(Value::from).collect();
        self.set_data(EXISTED_BEFORE, Value::list(ids));
        Ok(())
    }

    /// Removes that record when the resource's object is known.
    fn forget_others(&mut self) {
        if self.data(EXISTED_BEFORE).is_some() {
            self.set_data(EXISTED_BEFORE, Value::Null);
        }
    }

    /// The objects in a list that have a mark and can be the resource's: if the mark is no proof, only those that did not
    /// exist before.
    fn candidates<'r>(&self, marker: &Marker, list: &'r Reply, is_own: bool) -> Vec<&'r Json> {
        let mut found = marker.found(list);
        if is_own && rest::has_weak_mark(self) {
            let Some(Value::List(former)) = self.data(EXISTED_BEFORE) else { return Vec::new() };
            let is_former =
                |id: &str| former.iter().any(|it| it.as_text().is_some_and(|it| **it == *id));
            found.retain(|object| marker.id_of(object).is_some_and(|id| !is_former(&id)));
        }
        found
    }

    /// Fails if others than the resource's object may have been created for it and nothing proves that they were.
    async fn refuse_several(&mut self, marker: &Marker, kept: Option<&str>) -> Result<(), OpError> {
        if kept.is_none() {
            return Ok(());
        }
        let list = self.read(marker.list.clone()).await?;
        let found = self.candidates(marker, &list, true);
        let ids: Vec<String> =
            found.into_iter().filter_map(|object| marker.id_of(object)).collect();
        let others: Vec<&str> =
            ids.iter().map(String::as_str).filter(|id| kept != Some(id)).collect();
        if others.is_empty() {
            return Ok(());
        }
        let message = format!(
            "A call was lost, and there are further new objects like this one: {}. Next: delete those that are not needed, \
             and update the stack.",
            others.join(", ")
        );
        Err(OpError::failed(FailureClass::Error, message))
    }

    /// Deletes all objects with a mark except one.
    async fn remove_all(
        &mut self,
        marker: &Marker,
        kept: Option<&str>,
        step: &str,
    ) -> Result<(), OpError> {
        let list = self.read(marker.list.clone()).await?;
        let found = marker.found(&list);
        let ids: Vec<String> =
            found.into_iter().filter_map(|object| marker.id_of(object)).collect();
        for id in ids.iter().filter(|id| kept != Some(id)) {
            self.remove(&format!("{step} {id}"), marker.removal(id)).await?;
        }
        Ok(())
    }
}

/// Applies changes to a resource's data; null removes an entry.
pub fn merge_data(data: &mut Members, changes: impl IntoIterator<Item = (Arc<str>, Value)>) {
    for (key, value) in changes {
        if value.is_null() {
            data.shift_remove(&key);
        } else {
            data.insert(key, value);
        }
    }
}

fn micros(length: Duration) -> i64 {
    i64::try_from(length.as_micros()).unwrap_or(i64::MAX)
}

fn wrong_answer() -> OpError {
    OpError::failed(
        FailureClass::InternalError,
        "a demand was answered with something else: please report this",
    )
}

impl Op {
    pub(crate) fn new(
        context: Context,
        resource_type: &'static ResourceType,
        shared: Arc<Mutex<Shared>>,
    ) -> Op {
        let doubts = context.journal.step(DOUBT) == Some(&Step::Begun);
        Op {
            context,
            resource_type,
            doubts,
            beside: Vec::new(),
            repeated: Vec::new(),
            remote: Value::Null,
            shared,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock()
    }

    /// Passes a demand to the runner and waits for the answer.
    async fn demand(&mut self, demand: Demand) -> Answer {
        self.lock().demand = Some(demand);
        std::future::poll_fn(|_| match self.lock().answer.take() {
            Some(answer) => std::task::Poll::Ready(answer),
            None => std::task::Poll::Pending,
        })
        .await
    }
}
