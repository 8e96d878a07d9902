//! The durable context in which a resource's operations run.
//!
//! An operation is an ordinary async function over [`Op`]. It does nothing by itself: what it wants
//! from the world it demands, and whoever runs it ([`RunningOperation`]) fulfils the demand, after what the
//! operation said before is durable. So an operation can be stopped at any demand and run again from
//! its top, in another process if need be: steps that were finished answer from the journal, and for
//! a step that was begun and whose end is not known, the object it makes is looked for by its mark.
//!
//! Three rules follow for whoever writes one: no effect outside of the methods here, no randomness
//! or time of day but from here, and names of steps that are unique and do not change.

mod calls;
mod copy;
mod error;
mod journal;
mod names;
mod run;
mod stack;

pub use error::{Failure, OpError};
pub use journal::{Journal, Step};
pub use run::{Answer, Demand, Note, OpPoll, RunningOperation, Sibling};
pub use stack::{Domain, GuestAccess, StackContext, owner_of_users_project, users_project_name};

use crate::declare::{Members, ResourceType, Value};
use crate::property_access::{seconds, text, word};
use crate::rest::RestSpec;
use calls::Fate;
use kiln_cloud::{Call, Marker, Method, Reply};
use kiln_template::definition::Files;
use run::Shared;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What an operation gets to know of its resource before it starts.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The resource's name in the template.
    pub resource: Arc<str>,
    /// The name that its object should have: unique, and known before there is an object.
    pub physical_name: Arc<str>,
    /// The id that its service gave to the object.
    pub physical_id: Option<Arc<str>>,
    /// The properties, of the kinds that the schema says, defaults filled in.
    pub properties: Arc<Members>,
    /// The properties before an update.
    pub previous_properties: Arc<Members>,
    /// The names of the properties that an update changes.
    pub changed: Arc<[Arc<str>]>,
    /// What the resource keeps for itself.
    pub data: Arc<Members>,
    /// The metadata.
    pub metadata: Value,
    /// What was done before the operation was interrupted.
    pub journal: Journal,
    /// The name that a copy of the object should have: unique, and known before there is a copy.
    pub copy_name: Arc<str>,
    /// A copy of the object is made before it is removed.
    pub snapshot_before_delete: bool,
    /// An earlier operation left it open whether there is an object.
    pub is_doubtful: bool,
    /// How long a call that was lost may still take effect.
    pub lost_call_window: Duration,
    /// The id of the object whose place this one takes: of the one that it replaces, or of the one that it
    /// comes back for.
    pub predecessor: Option<Arc<str>>,
    /// Where it is, and how those outside reach it.
    pub stack: StackContext,
    /// The files that came with the stack.
    pub files: Arc<Files>,
}

/// An operation on a resource.
pub struct Op {
    context: Context,
    resource_type: &'static ResourceType,
    /// Whether something was done of which it is not known how it ended.
    doubts: bool,
    /// What it made beside the resource's own object: how it is found, and its id.
    beside: Vec<(Marker, Arc<str>)>,
    /// The steps of which an earlier try may have had its effect.
    repeated: Vec<Arc<str>>,
    /// What the service showed of the object.
    remote: Value,
    shared: Arc<Mutex<Shared>>,
}

/// What came of watching another resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Watched {
    /// Its metadata is this now.
    Changed(Value),
    /// There is no such resource.
    Missing,
    /// The deadline came before a change.
    TimedOut,
}

/// How far an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is what it should be.
    Ready,
    /// It needs more time.
    NotYet,
    /// It will never be: the service says so in these words.
    Failed(String),
    /// Its state is one that nobody knows.
    Unknown(String),
}

/// The step that stands for a doubt: begun with it, and settled.
const DOUBT: &str = "doubt";

impl Op {
    // --- what it knows ---

    /// The type of its resource.
    pub fn resource_type(&self) -> &'static ResourceType {
        self.resource_type
    }

    /// What is special about its type, if that is a plain one.
    pub fn rest_spec(&self) -> Option<Arc<RestSpec>> {
        self.resource_type.behaviour.rest.clone()
    }

    /// How its object is found if it is not certain that it exists.
    fn own_marker(&self) -> Option<Marker> {
        self.resource_type.behaviour.finder.and_then(|find| find(self))
    }

    /// What the operation knows of its resource.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Where its resource is, and how those outside reach it.
    pub fn stack(&self) -> &StackContext {
        &self.context.stack
    }

    /// The ARN of its resource.
    pub fn arn(&self) -> String {
        let StackContext { project, name: stack, id: stack_id, .. } = self.stack();
        let resource = &self.context.resource;
        format!("arn:openstack:heat::{project}:stacks/{stack}/{stack_id}/resources/{resource}")
    }

    /// A property; null if it was not given and has no default.
    pub fn prop(&self, name: &str) -> &Value {
        self.context.properties.get(name).unwrap_or(&Value::Null)
    }

    /// A property that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        text(&self.context.properties, name)
    }

    /// A property that is a text, unless it is empty: a null that was written for a text is an empty one.
    pub fn nonempty_text(&self, name: &str) -> Option<&str> {
        word(&self.context.properties, name)
    }

    /// A property that is a number, as a length of time in seconds.
    pub fn seconds(&self, name: &str) -> Duration {
        seconds(self.prop(name))
    }

    /// Whether an update changes a property.
    pub fn changes(&self, name: &str) -> bool {
        self.context.changed.iter().any(|changed| &**changed == name)
    }

    /// The id that the service gave to the object, if there is one.
    pub fn id(&self) -> Option<&Arc<str>> {
        self.context.physical_id.as_ref()
    }

    /// Something that the resource keeps for itself.
    pub fn data(&self, key: &str) -> Option<&Value> {
        self.context.data.get(key)
    }

    /// What the service showed of the object when the operation looked last; null if it has not.
    pub fn remote(&self) -> &Value {
        &self.remote
    }

    // --- what it says ---

    /// Says which id the service gave to the object. It is durable before anything else is done.
    pub fn set_id(&mut self, id: impl Into<Arc<str>>) {
        let id = id.into();
        self.context.physical_id = Some(id.clone());
        self.note(Note::Id(Some(id)));
    }

    /// Says that there is no object any more.
    pub fn clear_id(&mut self) {
        self.context.physical_id = None;
        self.note(Note::Id(None));
    }

    /// Keeps something for the resource; a null forgets it.
    pub fn set_data(&mut self, key: impl Into<Arc<str>>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        let data = Arc::make_mut(&mut self.context.data);
        if value.is_null() {
            data.shift_remove(&key);
        } else {
            data.insert(key.clone(), value.clone());
        }
        self.note(Note::Data(key, value));
    }

    /// Sets the metadata.
    pub fn set_metadata(&mut self, metadata: Value) {
        self.context.metadata = metadata.clone();
        self.note(Note::Metadata(metadata));
    }

    /// Says that there is, or will be in a moment, a project for the users of the stack; its id, if it is
    /// known. It goes with the stack.
    pub fn set_users_project(&mut self, project: impl Into<Arc<str>>) {
        let project = project.into();
        self.context.stack.users_project = Some(project.clone());
        self.note(Note::UsersProject(project));
    }

    /// Sets the metadata of another resource of the stack, found by its reference id.
    pub fn set_metadata_of(&mut self, reference: &str, metadata: Value) {
        self.note(Note::MetadataOf(reference.into(), metadata));
    }

    /// Keeps what the service shows of the object: attributes are answered from it.
    pub fn set_remote(&mut self, shown: Value) {
        self.remote = shown.clone();
        self.note(Note::Remote(shown));
    }

    /// Says which properties the object shows otherwise than they should be, with what it shows.
    pub fn set_drifted(&mut self, drifted: Members) {
        self.note(Note::Drifted(drifted));
    }

    fn note(&self, note: Note) {
        self.lock().notes.push(note);
    }

    // --- what it asks for ---

    /// Waits so long, counted from when the step was first reached.
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

    /// The moment so long after the step was first reached, in microseconds since 1970.
    pub fn deadline(&mut self, step: &str, length: Duration) -> i64 {
        if let Some(Step::Until(until)) = self.context.journal.step(step) {
            return *until;
        }
        let until = self.lock().now.saturating_add(micros(length));
        self.context.journal.set(step, Step::Until(until));
        self.note(Note::Step(step.into(), Step::Until(until)));
        until
    }

    /// Waits so long; after an interruption it starts anew.
    pub async fn pause(&mut self, length: Duration) -> Result<(), OpError> {
        let until = self.lock().now.saturating_add(micros(length));
        match self.demand(Demand::Until(until)).await {
            Answer::Woken => Ok(()),
            _ => Err(wrong_answer()),
        }
    }

    /// Random bytes from the system. Other ones after an interruption: keep what must not change.
    pub async fn random(&mut self, bytes: usize) -> Result<Vec<u8>, OpError> {
        match self.demand(Demand::Random(bytes)).await {
            Answer::Bytes(bytes) => Ok(bytes),
            _ => Err(wrong_answer()),
        }
    }

    /// The metadata of another resource of the stack, found by its reference id: at once if it is not
    /// what was seen last, else as soon as it changes, or when the deadline has come.
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

    /// Another resource, found by its reference id, as it is now: of this stack, or of one around or inside it.
    pub async fn sibling(&mut self, reference: &str) -> Result<Option<Sibling>, OpError> {
        match self.demand(Demand::Sibling(reference.into())).await {
            Answer::Sibling(sibling) => Ok(sibling),
            _ => Err(wrong_answer()),
        }
    }

    /// The moment so long from now, in microseconds since 1970. Another one after an interruption.
    pub fn from_now(&self, length: Duration) -> i64 {
        self.lock().now.saturating_add(micros(length))
    }

    // --- doubt ---

    /// Looks for what a call made whose reply was lost.
    async fn find_lost(
        &mut self,
        step: &str,
        call: &Call,
        fate: Fate,
    ) -> Result<Option<Reply>, OpError> {
        self.repeated.push(step.into());
        match call.request.method {
            Method::Post if !call.recovery.is_repeatable => {}
            // A change that is carried out late must not undo a newer one: it is given time to happen
            // before it is asked for again.
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
        let mut list = self.read(marker.list.clone()).await?;
        if marker.found(&list).is_empty() && call.recovery.is_exclusive {
            self.pause(self.context.lost_call_window).await?;
            list = self.read(marker.list.clone()).await?;
        }
        let Some(object) = marker.found(&list).first().copied() else { return Ok(None) };
        let reply = marker.reply(object);
        self.context.journal.set(step, Step::Replied(reply.clone()));
        self.note(Note::Step(step.into(), Step::Replied(reply.clone())));
        Ok(Some(reply))
    }

    /// Remembers that something was done of which it is not known how it ended, until [`Op::settle`].
    fn doubt(&mut self) {
        if !std::mem::replace(&mut self.doubts, true) {
            self.note(Note::Step(DOUBT.into(), Step::Begun));
        }
    }

    /// Takes over an object that an interrupted operation may have made, so that it can be removed.
    pub(crate) async fn find_doubtful(&mut self) -> Result<(), OpError> {
        if !self.context.is_doubtful {
            return Ok(());
        }
        self.doubt();
        let Some(marker) = self.own_marker() else { return Ok(()) };
        let list = self.read(marker.list.clone()).await?;
        if self.context.physical_id.is_none()
            && let Some(object) = marker.found(&list).first()
            && let Some(id) = marker.id_of(object)
        {
            self.set_id(id);
        }
        Ok(())
    }

    /// After a call whose fate is not known, waits until it can no longer take effect, and removes
    /// whatever it made beside the resource's own object.
    pub(crate) async fn settle(&mut self) -> Result<(), OpError> {
        if !self.doubts {
            return Ok(());
        }
        let own = self.own_marker().map(|marker| (marker, self.context.physical_id.clone()));
        let beside = self.beside.iter().map(|(marker, id)| (marker.clone(), Some(id.clone())));
        let made: Vec<(Marker, Option<Arc<str>>)> = own.into_iter().chain(beside).collect();
        if made.is_empty() {
            return Ok(());
        }
        self.wait("settle", self.context.lost_call_window).await?;
        for (marker, kept) in made {
            self.remove_all(&marker, kept.as_deref(), "settle").await?;
        }
        self.doubts = false;
        self.note(Note::Step(DOUBT.into(), Step::Settled));
        Ok(())
    }

    /// Removes everything that carries a mark, but for one.
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

fn micros(length: Duration) -> i64 {
    i64::try_from(length.as_micros()).unwrap_or(i64::MAX)
}

fn wrong_answer() -> OpError {
    OpError::failed(
        "InternalError",
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

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a demand to whoever runs the operation, and waits for the answer.
    async fn demand(&mut self, demand: Demand) -> Answer {
        self.lock().demand = Some(demand);
        std::future::poll_fn(|_| match self.lock().answer.take() {
            Some(answer) => std::task::Poll::Ready(answer),
            None => std::task::Poll::Pending,
        })
        .await
    }
}
