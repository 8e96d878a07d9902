//! Drives operations turn by turn, against a made-up world with a clock of its own.

use kiln_cloud::{Call, CallError, Method, Reply};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::ResourceType;
use kiln_resources::declare::{Members, Value};
use kiln_resources::op::{
    Answer, Context, Demand, Note, OpError, OpPoll, RunningOperation, Sibling, Step,
};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// When the clock starts: a moment like any other.
pub(crate) const START: i64 = 1_794_790_658_000_000;

/// The other side of an operation.
pub(crate) trait World {
    /// Answers a call, whether it changes something or not.
    fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
        panic!("nobody expected {call:?}")
    }

    /// The metadata that a handle has at some time; `seen` is answered with what comes later.
    fn metadata(&mut self, _reference: &str, _seen: Option<&Value>) -> Option<Answer> {
        None
    }

    /// What is known of another resource.
    fn sibling(&mut self, _reference: &str) -> Option<Sibling> {
        None
    }
}

/// A world in which nothing is called and nobody signals.
pub(crate) struct Nothing;
impl World for Nothing {}

/// A world in which configurations and alarms can be kept, and of which these are there already.
#[derive(Default)]
pub(crate) struct Configs(pub(crate) BTreeMap<String, Json>);

impl World for Configs {
    fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
        let path = ["/software_configs/", "/watch_rules/"]
            .iter()
            .find_map(|kind| call.request.path.checked().expect("a path").strip_prefix(kind));
        let id = path.unwrap_or_else(|| panic!("nobody expected {call:?}")).to_owned();
        let lost = || CallError::Refused(Reply::new(404, Json::Null));
        let body = match (call.request.method, &call.request.body) {
            (Method::Put, Some(body)) => {
                self.0.insert(id, body.clone());
                Json::Null
            }
            (Method::Get, None) => self.0.get(&id).cloned().ok_or_else(lost)?,
            (Method::Delete, None) => self.0.remove(&id).map(|_| Json::Null).ok_or_else(lost)?,
            _ => panic!("nobody expected {call:?}"),
        };
        Ok(Reply::new(200, body))
    }
}

/// Where an operation is interrupted: at the demand of that number, counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seam {
    /// Before the demand is fulfilled.
    Before(usize),
    /// After the demand was fulfilled, and before anybody heard of it.
    After(usize),
}

/// A resource and what was done with it.
pub(crate) struct Drive {
    pub(crate) context: Context,
    pub(crate) now: i64,
    pub(crate) ended: Option<Result<(), OpError>>,
    pub(crate) demands: Vec<Demand>,
    pub(crate) others: Vec<(Arc<str>, Value)>,
    pub(crate) shown: Value,
    pub(crate) drifted: Members,
    /// What it said that it waits for.
    pub(crate) waits: Vec<Option<Arc<str>>>,
    random: u64,
}

impl Drive {
    /// A resource with these properties and nothing done yet.
    pub(crate) fn new(properties: Members) -> Drive {
        let context = Context {
            resource: "x".into(),
            physical_name: "stack-x-abcdefghijkl".into(),
            properties: properties.into(),
            lost_call_window: std::time::Duration::from_secs(60),
            ..Context::default()
        };
        let (ended, demands, others, shown) = (None, Vec::new(), Vec::new(), Value::Null);
        let drifted = Members::new();
        let waits = Vec::new();
        Drive { context, now: START, ended, demands, others, shown, drifted, waits, random: 0 }
    }

    /// Runs an operation to its end.
    pub(crate) fn run(
        &mut self,
        kind: &ResourceType,
        operation: OperationKind,
        world: &mut dyn World,
    ) {
        self.until(kind, operation, world, None);
    }

    /// Runs an operation to its end, interrupted once.
    pub(crate) fn run_through(
        &mut self,
        kind: &ResourceType,
        operation: OperationKind,
        world: &mut dyn World,
        seam: Seam,
    ) {
        self.until(kind, operation, world, Some(seam));
        if self.ended.is_none() {
            self.until(kind, operation, world, None);
        }
    }

    /// Runs an operation until it is interrupted, and leaves it at that.
    pub(crate) fn run_until(
        &mut self,
        kind: &ResourceType,
        operation: OperationKind,
        world: &mut dyn World,
        seam: Seam,
    ) {
        self.until(kind, operation, world, Some(seam));
        assert!(self.ended.is_none(), "{operation:?} was over before {seam:?}");
    }

    /// What the operation came to.
    pub(crate) fn result(&self) -> &Result<(), OpError> {
        self.ended.as_ref().expect("the operation has not ended")
    }

    /// What went wrong, as users are told.
    pub(crate) fn failure(&self) -> String {
        match self.result() {
            Err(OpError::Failed(failure)) => failure.to_string(),
            other => panic!("no failure: {other:?}"),
        }
    }

    /// The same without what to do next.
    pub(crate) fn what_failed(&self) -> String {
        let failure = self.failure();
        failure.split(". Next: ").next().unwrap_or_default().to_owned()
    }

    fn until(
        &mut self,
        kind: &ResourceType,
        operation: OperationKind,
        world: &mut dyn World,
        seam: Option<Seam>,
    ) {
        let mut running = RunningOperation::new(
            Box::leak(Box::new(kind.clone())),
            operation,
            self.context.clone(),
        );
        let mut answer = None;
        for number in 0.. {
            assert!(number < 10_000, "{operation:?} never ends");
            let (turn, notes) = running.poll(self.now, answer.take());
            notes.into_iter().for_each(|note| self.keep(note));
            match turn {
                OpPoll::Finished(result) => {
                    self.ended = Some(result);
                    return;
                }
                OpPoll::Demands(demand) => {
                    self.demands.push(demand.clone());
                    if let Demand::Call { step, .. } = &demand {
                        self.context.journal.set(step, Step::Begun);
                    }
                    if seam == Some(Seam::Before(number)) {
                        return;
                    }
                    let fulfilled = self.fulfil(&demand, world);
                    if seam == Some(Seam::After(number)) {
                        return;
                    }
                    if let (Demand::Call { step, .. }, Answer::Reply(Ok(reply))) =
                        (&demand, &fulfilled)
                    {
                        self.context.journal.set(step, Step::Replied(reply.clone()));
                    }
                    answer = Some(fulfilled);
                }
            }
        }
    }

    fn fulfil(&mut self, demand: &Demand, world: &mut dyn World) -> Answer {
        match demand {
            Demand::Call { call, .. } | Demand::Read(call) => Answer::Reply(world.call(call)),
            Demand::Until(moment) => {
                self.now = self.now.max(*moment);
                Answer::Woken
            }
            Demand::Sibling(reference) => Answer::Sibling(world.sibling(reference)),
            Demand::Random(bytes) => Answer::Bytes((0..*bytes).map(|_| self.byte()).collect()),
            Demand::Watch { reference, seen, until } => {
                world.metadata(reference, seen.as_ref()).unwrap_or_else(|| {
                    self.now = self.now.max(*until);
                    Answer::Woken
                })
            }
        }
    }

    /// Not random, but spread as if it were.
    fn byte(&mut self) -> u8 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed >> 56) as u8
    }

    fn keep(&mut self, note: Note) {
        match note {
            Note::Id(id) => {
                let before = &self.context.physical_id;
                assert!(
                    id.is_none() || before.is_none() || *before == id,
                    "{before:?} became {id:?}"
                );
                self.context.physical_id = id;
            }
            Note::Data(key, value) => {
                let data = Arc::make_mut(&mut self.context.data);
                if value.is_null() {
                    data.shift_remove(&key);
                } else {
                    data.insert(key, value);
                }
            }
            Note::Metadata(metadata) => self.context.metadata = metadata,
            Note::MetadataOf(reference, metadata) => self.others.push((reference, metadata)),
            Note::Compared(compared) => self.drifted = compared.drifted,
            Note::Remote(shown) => self.shown = shown,
            Note::UsersProject(project) => self.context.stack.users_project = Some(project),
            Note::Waiting(for_what) => self.waits.push(for_what),
            Note::Step(step, how) => self.context.journal.set(&step, how),
        }
    }
}
