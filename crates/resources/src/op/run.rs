//! Running an operation demand by demand, without a runtime.

use super::{Compared, Context, FailureClass, Op, OpError, Step};
use crate::behaviour::OperationKind;
use crate::declare::{Members, ResourceType, Value};
use crate::guard::guarded;
use kiln_cloud::{Call, CallError, Reply};
use parking_lot::{Mutex, MutexGuard};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll, Waker};

/// What an operation waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Demand {
    /// A call that changes something: the runner records that the step begins, makes that durable, makes
    /// the call, and records the reply.
    Call {
        /// The step.
        step: Arc<str>,
        /// The call.
        call: Call,
    },
    /// A call that changes nothing.
    Read(Call),
    /// A point in time, in microseconds since 1970.
    Until(i64),
    /// This many random bytes.
    Random(usize),
    /// The resource with this reference.
    Sibling(Arc<str>),
    /// The metadata of the resource with this reference, as soon as it differs from the last value; or
    /// [`Answer::Woken`] if it has not changed by a point in time.
    Watch {
        /// The reference.
        reference: Arc<str>,
        /// The last value.
        seen: Option<Value>,
        /// The point in time, in microseconds since 1970.
        until: i64,
    },
}

/// Another resource of the stack or of its tree, as an operation sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sibling {
    /// Its name in the template.
    pub name: Arc<str>,
    /// Whether both belong to the same stack, not only to the same tree.
    pub is_in_same_stack: bool,
    /// The properties, converted by the schema, with defaults.
    pub properties: Arc<Members>,
    /// The resource's own data.
    pub data: Arc<Members>,
    /// The metadata that readers see.
    pub metadata: Value,
}

/// The answer to a demand.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The reply to a call.
    Reply(Result<Reply, CallError>),
    /// The point in time has come.
    Woken,
    /// Random bytes.
    Bytes(Vec<u8>),
    /// The metadata of another resource, if there is one.
    Metadata(Option<Value>),
    /// Another resource, if there is one.
    Sibling(Option<Sibling>),
}

/// A change of the resource's record that an operation reports; it is durable before the next demand is fulfilled.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// The physical id; `None` if there is no object any more.
    Id(Option<Arc<str>>),
    /// An entry of the resource's data; null removes it.
    Data(Arc<str>, Value),
    /// The metadata.
    Metadata(Value),
    /// The metadata of another resource of the stack, found by its reference.
    MetadataOf(Arc<str>, Value),
    /// The object in the service's last reply.
    Remote(Value),
    /// How the properties of the definition compare with the object.
    Compared(Compared),
    /// The id of the project of the stack's users; empty if it is about to be created.
    UsersProject(Arc<str>),
    /// The state of a step.
    Step(Arc<str>, Step),
    /// What the operation waits for although its service should have done it by now; `None` if it does not wait any more.
    Waiting(Option<Arc<str>>),
}

/// The result of polling an operation.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "it is taken apart at once, and never kept")]
pub enum OpPoll {
    /// The operation continues when this demand is fulfilled.
    Demands(Demand),
    /// The operation has finished.
    Finished(Result<(), OpError>),
}

/// The state that an operation shares with its runner.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) now: i64,
    pub(crate) demand: Option<Demand>,
    pub(crate) answer: Option<Answer>,
    pub(crate) notes: Vec<Note>,
}

/// An operation in progress.
pub struct RunningOperation {
    future: Pin<Box<dyn Future<Output = Result<(), OpError>> + Send>>,
    shared: Arc<Mutex<Shared>>,
}

impl RunningOperation {
    /// An operation that was not polled yet.
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

    /// Runs the operation until its next demand or its end, and returns the notes that it left meanwhile.
    ///
    /// The first poll takes no answer; every further one takes the answer to the last demand.
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

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock()
    }
}

fn broken(what: &str) -> OpError {
    OpError::failed(
        FailureClass::InternalError,
        format!("the resource type's operation {what}: please report this"),
    )
}
