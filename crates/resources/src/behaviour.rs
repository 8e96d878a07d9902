//! What a resource type does, beside what its schema says.
//!
//! Operations that change something are handlers over [`Op`]; everything else is a pure function of
//! what is known. What is not given has a default that suits most types.

use crate::declare::{Members, Value};
use crate::op::{Op, OpError};
use crate::rest::{self, RestSpec};
use crate::scaling::Cooldown;
use kiln_cloud::Marker;
use kiln_template::functions::Fault;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// What is done with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Its object is made.
    Create,
    /// Its object is changed.
    Update,
    /// Its object is removed.
    Delete,
    /// Its object is compared with what it should be.
    Check,
    /// Its object is looked at, for what its service shows of it now.
    Refresh,
    /// Its object is put to rest.
    Suspend,
    /// Its object is woken.
    Resume,
    /// A copy of its object is made.
    Snapshot,
    /// A copy of its object is removed.
    DeleteSnapshot,
    /// It is found out whether there is an object, and whether there is one too many.
    ResolveDoubt,
    /// Its object is read, to see whether it is what it was made to be.
    Observe,
}

/// An operation: an async function, boxed.
pub type Handler = for<'o> fn(&'o mut Op) -> OperationFuture<'o>;

/// An operation under way.
pub type OperationFuture<'o> = Pin<Box<dyn Future<Output = Result<(), OpError>> + Send + 'o>>;

/// Tells how a resource's object is found if it is not certain that it exists; nothing if it cannot be.
pub type Finder = fn(&Op) -> Option<Marker>;

/// What a resource is called by others; the name of the resource if there is nothing better.
pub type ReferenceFn = fn(&View<'_>) -> Value;

/// An attribute; the path goes into it. Nothing if there is no such attribute.
pub type AttributeFn = fn(&View<'_>, &str, &[Value]) -> Result<Option<Value>, Fault>;

/// Whether a change needs another object, although each property may be changed. It is asked on every
/// update, also on one that changes nothing.
pub type ReplacementFn = fn(&DefinitionChange<'_>) -> bool;

/// What the resource's nested stack should be next.
pub type StageFn = fn(&mut Group<'_>) -> Result<Stage, OpError>;

/// What comes of a signal.
pub type SignalFn = fn(&View<'_>, &Signal<'_>) -> Result<SignalOutcome, String>;

/// What the properties in the template become when a stack goes back to a snapshot.
pub type RestoreFn = fn(&mut Members, &SnapshotRecord<'_>);

/// What the metadata of a resource inside its nested stack is to those who read it, given its name and its
/// own metadata; nothing if it is that.
pub type NestedMetadataFn = fn(&View<'_>, &str, &Value) -> Option<Value>;

/// How long a group is left alone after a create or an update of it ended well.
pub type CooldownFn = fn(&View<'_>) -> Cooldown;

/// What a resource type does.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    /// Makes the object.
    pub create: Option<Handler>,
    /// Changes the object.
    pub update: Option<Handler>,
    /// Removes the object.
    pub delete: Option<Handler>,
    /// Compares the object with what it should be.
    pub check: Option<Handler>,
    /// Puts the object to rest.
    pub suspend: Option<Handler>,
    /// Wakes the object.
    pub resume: Option<Handler>,
    /// Makes a copy of the object.
    pub snapshot: Option<Handler>,
    /// Removes a copy of the object.
    pub delete_snapshot: Option<Handler>,
    /// Has the resource made of its copy when the stack goes back to a snapshot.
    pub restore: Option<RestoreFn>,
    /// How the object is found if it is not certain that it exists.
    pub finder: Option<Finder>,
    /// What is special about a plain type.
    pub rest: Option<Arc<RestSpec>>,
    /// What it is called by others; the id of the object if nothing is said.
    pub reference: Option<ReferenceFn>,
    /// Its attributes; those that the service shows if nothing is said.
    pub attribute: Option<AttributeFn>,
    /// Whether a change needs another object.
    pub replaces: Option<ReplacementFn>,
    /// Whether an object that was replaced is updated when a rollback goes back to it, so that it gets
    /// back what its replacement took: the replacement is its predecessor then.
    pub restored_on_rollback: bool,
    /// For types whose resources are nested stacks of a template that the engine makes up.
    pub stages: Option<StageFn>,
    /// What comes of a signal.
    pub signal: Option<SignalFn>,
    /// Whether what it is told is in what it keeps for itself, and not in its metadata: whoever watches it
    /// sees that.
    pub signals_in_data: bool,
    /// What its metadata is to those who read it; the metadata itself if nothing is said.
    pub metadata: Option<ReferenceFn>,
    /// What the metadata of resources inside its nested stack is to those who read it.
    pub nested_metadata: Option<NestedMetadataFn>,
    /// How long a group is left alone after a create or an update of it ended well: its metadata
    /// then is what [`Cooldown::after_resize`] makes of it.
    pub cooldown: Option<CooldownFn>,
}

impl Behaviour {
    /// The handler of a verb; without one there is nothing to do.
    pub fn handler(&self, operation: OperationKind) -> Option<Handler> {
        match operation {
            OperationKind::Create => self.create,
            OperationKind::Update => self.update,
            OperationKind::Delete => self.delete,
            OperationKind::Check | OperationKind::Refresh => self.check,
            OperationKind::Suspend => self.suspend,
            OperationKind::Resume => self.resume,
            OperationKind::Snapshot => self.snapshot,
            OperationKind::DeleteSnapshot => self.delete_snapshot,
            OperationKind::ResolveDoubt => None,
            OperationKind::Observe if self.rest.is_some() => Some(|op| Box::pin(rest::observe(op))),
            // That it is there is all that can be told.
            OperationKind::Observe => self.check,
        }
    }
}

/// What is known of a resource.
pub struct View<'a> {
    /// Its name in the template.
    pub name: &'a str,
    /// The name that its object has.
    pub physical_name: &'a str,
    /// The id that its service gave to the object.
    pub physical_id: Option<&'a str>,
    /// The properties, of the kinds that the schema says, defaults filled in.
    pub properties: &'a Members,
    /// What the resource keeps for itself.
    pub data: &'a Members,
    /// The metadata.
    pub metadata: &'a Value,
    /// What its service shows of the object.
    pub remote: &'a Value,
    /// The ARN of the resource.
    pub arn: &'a str,
    /// Its nested stack.
    pub nested: Option<&'a dyn NestedStack>,
    /// The other resources of its stack.
    pub siblings: &'a dyn Siblings,
}

/// A nested stack, seen from the resource that holds it.
pub trait NestedStack {
    /// Its members: those that count, the failed ones left out. In the order that groups go by:
    /// by creation, then by name.
    fn members(&self) -> Vec<Arc<str>>;

    /// What a member is called by others; nothing if there is no such member.
    fn reference(&self, member: &str) -> Option<Value>;

    /// An attribute of a member.
    fn attribute(&self, member: &str, attribute: &str, path: &[Value]) -> Result<Value, Fault>;

    /// An output; nothing if there is no such output.
    fn output(&self, name: &str) -> Option<Result<Value, Fault>>;

    /// The stack's ARN.
    fn arn(&self) -> String;
}

/// The other resources of a stack.
pub trait Siblings {
    /// The name of the resource that is called so by others.
    fn by_reference(&self, reference: &str) -> Option<Arc<str>>;

    /// The properties, of the kinds that the schema says, defaults filled in.
    fn properties(&self, name: &str) -> Option<Arc<Members>>;

    /// The metadata.
    fn metadata(&self, name: &str) -> Option<Value>;

    /// The number of members of a group that count.
    fn size(&self, name: &str) -> Option<usize>;

    /// Whether the last thing done with it ended well.
    fn is_complete(&self, name: &str) -> bool;

    /// An attribute; nothing if it is not known.
    fn attribute(&self, _name: &str, _attribute: &str) -> Option<Value> {
        None
    }

    /// A parameter of the stack; nothing if there is none.
    fn parameter(&self, _name: &str) -> Option<Value> {
        None
    }

    /// The type of the resource that the template has by this name, be it made or not: of a built-in one,
    /// or as written.
    fn type_name(&self, _name: &str) -> Option<Arc<str>> {
        None
    }

    /// The groups of some types that the template has a place for. Of each member in service, the first
    /// of some attributes that has a value is told.
    fn groups(&self, _kinds: &[&str], _attributes: &[&str]) -> Vec<InService> {
        Vec::new()
    }
}

/// What is in service of a group.
#[derive(Clone, Debug, Default)]
pub struct InService {
    /// The properties of the group.
    pub properties: Arc<Members>,
    /// What its members tell, by creation and then by name.
    ///
    /// A member is in service from when it is made until it fails, is not wanted any more, or somebody has
    /// taken its place. While it is changed it is not, unless that left nobody.
    pub members: Vec<Value>,
}

/// A change of a resource's definition.
pub struct DefinitionChange<'a> {
    /// What they were.
    pub before: &'a Members,
    /// What they are to be.
    pub after: &'a Members,
    /// The names of those that differ.
    pub changed: &'a [Arc<str>],
    /// Whether the metadata in the template differs.
    pub metadata_changed: bool,
}

/// What a snapshot tells of a resource.
pub struct SnapshotRecord<'a> {
    /// The id of the object that was copied.
    pub physical_id: Option<&'a str>,
    /// What the resource kept for itself then; its copy's id among it, if there is a copy.
    pub data: &'a Members,
}

/// A group whose nested stack is to be brought closer to what it should be.
pub struct Group<'a> {
    /// Its name in the template.
    pub name: &'a str,
    /// Whether it is being created or updated. A resize is an update with a wanted size.
    pub operation: OperationKind,
    /// What it is called by others; it must be the same on create and ever after.
    pub reference: &'a str,
    /// The properties that it is to have, defaults filled in.
    pub properties: &'a Members,
    /// The update policy, defaults filled in.
    pub update_policy: &'a Members,
    /// What the resource keeps for itself.
    pub data: &'a Members,
    /// The members there are, with the failed ones; by creation, then by name.
    pub members: &'a [GroupMember],
    /// Whether the group was just made and has no stack yet.
    pub is_new: bool,
    /// The size that a scaling policy asks for.
    pub wanted_size: Option<usize>,
    /// The most members that it may have: no member is made up if there would be more.
    pub max_size: usize,
    /// The other resources of its stack.
    pub siblings: &'a dyn Siblings,
    /// The length of the action that it is part of.
    pub timeout: Duration,
    /// Draws a short id for a new member.
    pub new_id: &'a mut dyn FnMut() -> String,
}

/// What is told of a stack that would have more resources than it may have.
pub const TOO_MANY: &str = "Request limit exceeded: Maximum resources per stack exceeded.";

impl Group<'_> {
    /// Whether the group may have so many members. To be asked before they are made up.
    pub fn check_size(&self, size: usize) -> Result<(), OpError> {
        match size <= self.max_size {
            true => Ok(()),
            false => Err(OpError::failed("RequestLimitExceeded", TOO_MANY)),
        }
    }
}

/// A member of a group.
#[derive(Clone, Debug)]
pub struct GroupMember {
    /// Its name.
    pub name: Arc<str>,
    /// Its definition in the nested stack's template.
    pub definition: Value,
    /// What it is called by others.
    pub reference: Value,
    /// Whether the last thing done with it failed.
    pub is_failed: bool,
}

/// What a nested stack should be next.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// Its template.
    pub template: Value,
    /// The file that is its template, if there is one: it is among those that came with the stack.
    pub file: Option<Arc<str>>,
    /// The values of its parameters.
    pub parameters: Members,
    /// Types that are known by another name in it, unless its environment says otherwise.
    pub aliases: Vec<(Arc<str>, Arc<str>)>,
    /// What the resource keeps for itself from now on; null forgets.
    pub data: Members,
    /// How long an action on it may take, if not as long as on the stack around it.
    pub timeout: Option<Duration>,
    /// How long to wait before the next stage.
    pub pause: Duration,
    /// Whether nothing is left to be done after it.
    pub is_last: bool,
}

/// A signal to a resource.
pub struct Signal<'a> {
    /// What was sent along.
    pub details: &'a Value,
    /// When it came, in microseconds since 1970.
    pub now: i64,
    /// Whether something is being done with the resource.
    pub is_busy: bool,
}

/// What comes of a signal.
#[derive(Clone, Debug, Default)]
pub struct SignalOutcome {
    /// The new metadata, if it changes.
    pub metadata: Option<Value>,
    /// What the resource keeps for itself from now on; null forgets.
    pub data: Members,
    /// What to tell in the event, behind `Signal: `; nothing tells what was sent along.
    pub reason: Option<String>,
    /// Nothing came of it: no event, unless there is a reason to tell.
    pub is_ignored: bool,
    /// A group that is to have another size.
    pub resize: Option<Resize>,
    /// The name of a resource that is to be made anew, with all that depend on it.
    pub replace: Option<Arc<str>>,
}

/// A group that is to have another size.
#[derive(Clone, Debug)]
pub struct Resize {
    /// The group's name.
    pub group: Arc<str>,
    /// The size.
    pub size: usize,
    /// The group's metadata while it happens.
    pub metadata: Value,
    /// How long the group is left alone then: counted from when it has happened, so the metadata is
    /// what [`Cooldown::after_resize`] makes of it at that time. After a failure: [`Cooldown::after_failure`].
    pub cooldown: Cooldown,
}
