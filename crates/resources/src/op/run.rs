//! Running an operation: turn by turn, without a runtime.

use super::{Context, Op, OpError, Step};
use crate::behaviour::OperationKind;
use crate::declare::{Members, ResourceType, Value};
use crate::guard::guarded;
use kiln_cloud::{Call, CallError, Reply};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{self, Poll, Waker};

/// What an operation wants from the world.
#[derive(Clone, Debug, PartialEq)]
pub enum Demand {
    /// Make a call that changes something: note that the step begins, make it durable, make the call,
    /// note the reply.
    Call {
        /// The step.
        step: Arc<str>,
        /// The call.
        call: Call,
    },
    /// Make a call that changes nothing.
    Read(Call),
    /// Wait until a moment, in microseconds since 1970.
    Until(i64),
    /// So many random bytes.
    Random(usize),
    /// The resource with this reference id.
    Sibling(Arc<str>),
    /// The metadata of the resource with this reference id, when it is not what was seen last; or
    /// nothing but waking, if it has not changed until a moment.
    Watch {
        /// The reference id.
        reference: Arc<str>,
        /// What was seen last.
        seen: Option<Value>,
        /// The moment, in microseconds since 1970.
        until: i64,
    },
}

/// Another resource of the stack, as an operation sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sibling {
    /// Its name in the template.
    pub name: Arc<str>,
    /// The properties, of the kinds that the schema says, defaults filled in.
    pub properties: Arc<Members>,
    /// What it keeps for itself.
    pub data: Arc<Members>,
    /// The metadata, as those who read it see it.
    pub metadata: Value,
}

/// What the world answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To a call.
    Reply(Result<Reply, CallError>),
    /// The moment has come.
    Woken,
    /// Random bytes.
    Bytes(Vec<u8>),
    /// The metadata of another resource, if there is one.
    Metadata(Option<Value>),
    /// Another resource, if there is one.
    Sibling(Option<Sibling>),
}

/// What an operation says of its resource: to be kept before its next demand is fulfilled.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// The id that the service gave to the object; nothing if there is no object any more.
    Id(Option<Arc<str>>),
    /// Something the resource keeps for itself; null forgets it.
    Data(Arc<str>, Value),
    /// The metadata.
    Metadata(Value),
    /// The metadata of another resource of the stack, found by its reference id.
    MetadataOf(Arc<str>, Value),
    /// What the service shows of the object.
    Remote(Value),
    /// The properties that the object shows otherwise than they should be, with what it shows.
    Drifted(Members),
    /// The id of the project of the stack's users; empty if it is about to be made.
    UsersProject(Arc<str>),
    /// How far a step is.
    Step(Arc<str>, Step),
}

/// What a turn came to.
#[derive(Clone, Debug, PartialEq)]
pub enum OpPoll {
    /// The operation goes on when this is fulfilled.
    Demands(Demand),
    /// The operation has ended.
    Finished(Result<(), OpError>),
}

/// What an operation and whoever runs it share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) now: i64,
    pub(crate) demand: Option<Demand>,
    pub(crate) answer: Option<Answer>,
    pub(crate) notes: Vec<Note>,
}

/// An operation under way.
pub struct RunningOperation {
    future: Pin<Box<dyn Future<Output = Result<(), OpError>> + Send>>,
    shared: Arc<Mutex<Shared>>,
}

impl RunningOperation {
    /// An operation that is about to start.
    pub fn new(
        resource_type: &'static ResourceType,
        operation: OperationKind,
        context: Context,
    ) -> RunningOperation {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let op = Op::new(context, resource_type, shared.clone());
        let behaviour = &resource_type.behaviour;
        let handler = behaviour.handler(operation);
        let first = behaviour
            .snapshot
            .filter(|_| operation == OperationKind::Delete && op.context().snapshot_before_delete);
        let future = Box::pin(async move {
            let mut op = op;
            op.look_up_names(operation).await?;
            if matches!(operation, OperationKind::Delete | OperationKind::ResolveDoubt) {
                op.find_doubtful().await?;
            }
            if let Some(copy) = first.filter(|_| op.id().is_some()) {
                copy(&mut op).await?;
            }
            if let Some(handler) = handler
                && let Err(stop) = handler(&mut op).await
            {
                return Err(op.judged(operation, stop).await);
            }
            op.settle().await
        });
        RunningOperation { future, shared }
    }

    /// Lets the operation go on until it wants something or ends, and gives what it said meanwhile.
    ///
    /// The first turn takes no answer; every further one takes the answer to the last demand.
    pub fn poll(&mut self, now: i64, answer: Option<Answer>) -> (OpPoll, Vec<Note>) {
        {
            let mut shared = self.lock();
            shared.now = now;
            shared.answer = answer;
        }
        let mut context = task::Context::from_waker(Waker::noop());
        let polled = guarded("operation", || self.future.as_mut().poll(&mut context));
        let mut shared = self.lock();
        let notes = std::mem::take(&mut shared.notes);
        let turn = match polled {
            Ok(Poll::Ready(result)) => OpPoll::Finished(result),
            Ok(Poll::Pending) => match shared.demand.take() {
                Some(demand) => OpPoll::Demands(demand),
                None => {
                    OpPoll::Finished(Err(broken("waits for something that it did not ask for")))
                }
            },
            Err(failure) => OpPoll::Finished(Err(OpError::Failed(failure))),
        };
        (turn, notes)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn broken(what: &str) -> OpError {
    OpError::failed(
        "InternalError",
        format!("the resource type's operation {what}: please report this"),
    )
}
