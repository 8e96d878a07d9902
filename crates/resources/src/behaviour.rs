//! What a resource type does, beside what its schema says.
//!
//! Operations that change something are handlers over [`Op`]; everything else is a pure function of
//! the resource's recorded state. Every part is optional, with a default that suits most types.

use crate::declare::{Members, Value};
use crate::op::{FailureClass, Op, OpError};
use crate::rest::{self, RestSpec};
use crate::scaling::Cooldown;
use kiln_cloud::Marker;
use kiln_template::functions::Fault;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// What an operation does with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Creates the object.
    Create,
    /// Changes the object.
    Update,
    /// Deletes the object.
    Delete,
    /// Checks that the object exists and is healthy.
    Check,
    /// Reads the object again, so that attributes are up to date.
    Refresh,
    /// Suspends the object.
    Suspend,
    /// Resumes the object.
    Resume,
    /// Copies the object for a snapshot.
    Snapshot,
    /// Deletes the copy that belongs to a snapshot.
    DeleteSnapshot,
    /// Finds out whether a lost call created an object, and deletes duplicates.
    ResolveDoubt,
    /// Reads the object and compares it with the definition, to find drift.
    Observe,
    /// Tells the object's service that an operation on it was stopped.
    Cancel,
}

/// An operation: an async function, boxed.
pub type Handler = for<'o> fn(&'o mut Op) -> OperationFuture<'o>;

/// The future of a handler.
pub type OperationFuture<'o> = Pin<Box<dyn Future<Output = Result<(), OpError>> + Send + 'o>>;

/// Returns the mark by which a resource's object is found after a lost call; `None` if there is no mark.
pub type Finder = fn(&Op) -> Option<Marker>;

/// Computes the value of `get_resource` for a resource.
pub type ReferenceFn = fn(&View<'_>) -> Value;

/// Computes an attribute, and follows the path into its value. `None` if there is no such attribute.
pub type AttributeFn = fn(&View<'_>, &str, &[Value]) -> Result<Option<Value>, Fault>;

/// Decides whether a change needs a replacement although every changed property is updatable. It is called
/// on every update, also on one that changes nothing.
pub type ReplacementFn = fn(&DefinitionChange<'_>) -> bool;

/// Computes the next stage of a group's nested stack.
pub type StageFn = fn(&mut Group<'_>) -> Result<Stage, OpError>;

/// Computes the outcome of a signal.
pub type SignalFn = fn(&View<'_>, &Signal<'_>) -> Result<SignalOutcome, String>;

/// Changes the properties of the template when a stack is restored to a snapshot.
pub type RestoreFn = fn(&mut Members, &SnapshotRecord<'_>);

/// Computes the metadata that readers see of a resource in the nested stack, from its name and its recorded
/// metadata. `None` if readers see the recorded metadata.
pub type NestedMetadataFn = fn(&View<'_>, &str, &Value) -> Option<Value>;

/// Computes the cooldown of a group after a successful create or update.
pub type CooldownFn = fn(&View<'_>) -> Cooldown;

/// What a resource type does.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    /// Creates the object.
    pub create: Option<Handler>,
    /// Changes the object.
    pub update: Option<Handler>,
    /// Deletes the object.
    pub delete: Option<Handler>,
    /// Checks that the object exists and is healthy.
    pub check: Option<Handler>,
    /// Reads the object for its attributes, if [`Behaviour::check`] does more than that.
    pub refresh: Option<Handler>,
    /// Reads the object and compares it with the definition, if neither the generic code nor [`Behaviour::check`]
    /// suffices.
    pub observe: Option<Handler>,
    /// The properties that [`Behaviour::observe`] compares.
    pub observed: &'static [&'static str],
    /// Suspends the object.
    pub suspend: Option<Handler>,
    /// Resumes the object.
    pub resume: Option<Handler>,
    /// Copies the object for a snapshot.
    pub snapshot: Option<Handler>,
    /// Deletes the copy that belongs to a snapshot.
    pub delete_snapshot: Option<Handler>,
    /// Tells the object's service that an operation on it was stopped. It runs after the operation, and may fail.
    pub cancel: Option<Handler>,
    /// Changes the properties so that the resource is created from its copy when the stack is restored.
    pub restore: Option<RestoreFn>,
    /// Returns the mark by which the object is found after a lost call.
    pub finder: Option<Finder>,
    /// The REST interface of the type's objects, if generic handlers suffice.
    pub rest: Option<Arc<RestSpec>>,
    /// Computes the reference; by default it is the physical id.
    pub reference: Option<ReferenceFn>,
    /// Computes attributes; by default they are members of the service's last reply.
    pub attribute: Option<AttributeFn>,
    /// Decides whether a change needs a replacement.
    pub replaces: Option<ReplacementFn>,
    /// Whether every update of the stack updates the object, too, although its definition is the same.
    pub updates_always: bool,
    /// Whether a rollback updates a replaced object before it is used again, so that the object regains what
    /// its replacement took over. The replacement is the predecessor of that update.
    pub restored_on_rollback: bool,
    /// Computes the stages of a group, whose nested stack has a generated template.
    pub stages: Option<StageFn>,
    /// Handles a signal.
    pub signal: Option<SignalFn>,
    /// Where signals are kept.
    pub signals_kept_in: SignalStorage,
    /// Computes the metadata that readers see; by default it is the recorded metadata.
    pub metadata: Option<ReferenceFn>,
    /// Computes the metadata that readers see of resources in the nested stack.
    pub nested_metadata: Option<NestedMetadataFn>,
    /// Computes the cooldown after a successful create or update of a group; [`Cooldown::after_resize`]
    /// writes it into the group's metadata.
    pub cooldown: Option<CooldownFn>,
}

impl Behaviour {
    /// The handler of an operation; without one there is nothing to do.
    pub fn handler(&self, operation: OperationKind) -> Option<Handler> {
        match operation {
            OperationKind::Create => self.create,
            OperationKind::Update => self.update,
            OperationKind::Delete => self.delete,
            OperationKind::Check => self.check,
            OperationKind::Refresh => self.refresh.or(self.check),
            OperationKind::Suspend => self.suspend,
            OperationKind::Resume => self.resume,
            OperationKind::Snapshot => self.snapshot,
            OperationKind::DeleteSnapshot => self.delete_snapshot,
            OperationKind::Cancel => self.cancel,
            OperationKind::ResolveDoubt => None,
            OperationKind::Observe if self.observe.is_some() => self.observe,
            OperationKind::Observe if self.rest.is_some() => Some(|op| Box::pin(rest::observe(op))),
            // Without a REST interface only the object's existence and health can be observed.
            OperationKind::Observe => self.check,
        }
    }
}

/// The recorded state of a resource, as the pure functions of its type see it.
pub struct View<'a> {
    /// Its name in the template.
    pub name: &'a str,
    /// The name of its object.
    pub physical_name: &'a str,
    /// The id that its service gave to the object.
    pub physical_id: Option<&'a str>,
    /// The properties, converted by the schema, with defaults.
    pub properties: &'a Members,
    /// The resource's own data.
    pub data: &'a Members,
    /// The metadata.
    pub metadata: &'a Value,
    /// The object in the service's last reply.
    pub remote: &'a Value,
    /// The resource's ARN.
    pub arn: &'a str,
    /// Its nested stack.
    pub nested: Option<&'a dyn NestedStack>,
    /// The other resources of its stack.
    pub siblings: &'a dyn Siblings,
}

/// A nested stack, as its parent resource sees it.
pub trait NestedStack {
    /// The names of its current members without the failed ones, by time of creation, then by name.
    fn members(&self) -> Vec<Arc<str>>;

    /// The reference of a member; `None` if there is no such member.
    fn reference(&self, member: &str) -> Option<Value>;

    /// An attribute of a member.
    fn attribute(&self, member: &str, attribute: &str, path: &[Value]) -> Result<Value, Fault>;

    /// An output; `None` if there is no such output.
    fn output(&self, name: &str) -> Option<Result<Value, Fault>>;

    /// The stack's ARN.
    fn arn(&self) -> String;
}

/// The other resources of a stack.
pub trait Siblings {
    /// The name of the resource with this reference.
    fn by_reference(&self, reference: &str) -> Option<Arc<str>>;

    /// The properties, converted by the schema, with defaults.
    fn properties(&self, name: &str) -> Option<Arc<Members>>;

    /// The metadata.
    fn metadata(&self, name: &str) -> Option<Value>;

    /// The number of a group's current members.
    fn size(&self, name: &str) -> Option<usize>;

    /// Whether its last action completed.
    fn is_complete(&self, name: &str) -> bool;

    /// An attribute; `None` if it is not known.
    fn attribute(&self, _name: &str, _attribute: &str) -> Option<Value> {
        None
    }

    /// A parameter of the stack; `None` if there is none.
    fn parameter(&self, _name: &str) -> Option<Value> {
        None
    }

    /// The type of the resource with this name in the template, whether it was created or not: the name of
    /// the built-in type that it maps to, or the name as written.
    fn type_name(&self, _name: &str) -> Option<Arc<str>> {
        None
    }

    /// The groups of these types in the template. For each member in service, the result has the value of
    /// the first of these attributes that has one.
    fn groups(&self, _kinds: &[&str], _attributes: &[&str]) -> Vec<InService> {
        Vec::new()
    }
}

/// The members of a group that are in service.
#[derive(Clone, Debug, Default)]
pub struct InService {
    /// The properties of the group.
    pub properties: Arc<Members>,
    /// An attribute's value for each member, by time of creation, then by name.
    ///
    /// A member is in service from its creation until it fails, is removed, or is replaced. A member that is
    /// being updated is not in service, unless the group would have none then.
    pub members: Vec<Value>,
}

/// A change of a resource's definition.
pub struct DefinitionChange<'a> {
    /// The properties before.
    pub before: &'a Members,
    /// The properties after.
    pub after: &'a Members,
    /// The names of the changed properties.
    pub changed: &'a [Arc<str>],
    /// Whether the metadata in the template changed.
    pub metadata_changed: bool,
}

/// A resource in a snapshot.
pub struct SnapshotRecord<'a> {
    /// The id of the object that was copied.
    pub physical_id: Option<&'a str>,
    /// The resource's data at that time, with the id of its copy if there is one.
    pub data: &'a Members,
}

/// A group whose next stage is computed.
pub struct Group<'a> {
    /// Its name in the template.
    pub name: &'a str,
    /// Create or update. A resize is an update with a wanted size.
    pub operation: OperationKind,
    /// Its reference, which is the same on create and later.
    pub reference: &'a str,
    /// The new properties, with defaults.
    pub properties: &'a Members,
    /// The update policy, with defaults.
    pub update_policy: &'a Members,
    /// The resource's own data.
    pub data: &'a Members,
    /// Its members, including failed ones, by time of creation, then by name.
    pub members: &'a [GroupMember],
    /// Whether the group is new and has no nested stack yet.
    pub is_new: bool,
    /// The size that a scaling policy requested.
    pub wanted_size: Option<usize>,
    /// The maximum number of members; a larger group is refused before its members are generated.
    pub max_size: usize,
    /// The other resources of its stack.
    pub siblings: &'a dyn Siblings,
    /// The timeout of the action that it is part of.
    pub timeout: Duration,
    /// Generates a short id for a new member.
    pub new_id: &'a mut dyn FnMut() -> String,
}

/// The message for a stack that would have too many resources.
pub const TOO_MANY: &str = "Request limit exceeded: Maximum resources per stack exceeded.";

impl Group<'_> {
    /// Fails if the group may not have this many members. Call it before members are generated.
    pub fn check_size(&self, size: usize) -> Result<(), OpError> {
        if size <= self.max_size {
            Ok(())
        } else {
            Err(OpError::failed(FailureClass::RequestLimitExceeded, TOO_MANY))
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
    /// Its reference.
    pub reference: Value,
    /// Whether its last action failed.
    pub is_failed: bool,
}

/// One step of a group's rolling update or batched create: the nested stack as it should be next.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// Its template.
    pub template: Value,
    /// The file with its template, if the template is one of the stack's files.
    pub file: Option<Arc<str>>,
    /// The values of its parameters.
    pub parameters: Members,
    /// Type mappings inside the nested stack; its environment takes precedence.
    pub aliases: Vec<(Arc<str>, Arc<str>)>,
    /// Changes of the resource's data; null removes an entry.
    pub data: Members,
    /// The timeout of the nested stack's action, if it is not that of its parent.
    pub timeout: Option<Duration>,
    /// How long to wait before the next stage.
    pub pause: Duration,
    /// Whether it is the last stage.
    pub is_last: bool,
}

/// A signal to a resource.
pub struct Signal<'a> {
    /// The body of the signal.
    pub details: &'a Value,
    /// When it was received, in microseconds since 1970.
    pub now: i64,
    /// Whether an operation is in progress on the resource.
    pub is_busy: bool,
}

/// Where a resource keeps its signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignalStorage {
    /// Signals are not kept.
    #[default]
    Nowhere,
    /// Each signal is a member of the metadata, under its id.
    Metadata,
    /// The last signal is in the data. An operation that watches the resource sees the data, not the metadata.
    Data,
}

/// The outcome of a signal.
#[derive(Clone, Debug, Default)]
pub struct SignalOutcome {
    /// The signal as the metadata keeps it, with its id there.
    pub signal: Option<(Arc<str>, Value)>,
    /// Changes of the resource's data; null removes an entry.
    pub data: Members,
    /// The event's reason after `Signal: `; by default it is the body of the signal.
    pub reason: Option<String>,
    /// Whether the signal has no effect: there is no event unless there is a reason.
    pub is_ignored: bool,
    /// A group to resize.
    pub resize: Option<Resize>,
    /// The name of a resource to replace, together with its dependants.
    pub replace: Option<Arc<str>>,
}

/// The resize of a group.
#[derive(Clone, Debug)]
pub struct Resize {
    /// The group's name.
    pub group: Arc<str>,
    /// The size.
    pub size: usize,
    /// The group's metadata during the resize.
    pub metadata: Value,
    /// The cooldown, which starts when the resize completes: the metadata is [`Cooldown::after_resize`] then,
    /// or [`Cooldown::after_failure`].
    pub cooldown: Cooldown,
}
