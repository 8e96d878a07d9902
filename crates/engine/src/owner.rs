//! The owner of a tree: the machine with the operations that it runs.
//!
//! It does no I/O: it returns what is to be stored and the calls that are to be made after that, and takes their
//! results as inputs. The simulation and the runtime differ only in how they carry that out.

use crate::activity::{Activity, OperationInfo};
use crate::ids::{CommandId, Ids};
use crate::machine::{Bug, Effect, Input, Machine, Reached, Run};
use crate::notification::Outbox;
use crate::record::CommandRefusal;
use crate::state::{Action, Status};
use crate::store::Batch;
use crate::time::Time;
use crate::tree::{Env, OpId, Slot, Tree};
use kiln_cloud::{Call, Credential};
use kiln_resources::op::{Answer, Demand, Note, OpPoll, RunningOperation, users_project_name};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// A tree and its running operations.
pub struct Owner {
    machine: Machine,
    fence: u64,
    running: BTreeMap<OpId, Live>,
    /// Operations that wait for a moment.
    sleepers: BTreeSet<(Time, OpId)>,
    /// Operations that wait for a resource's metadata to change.
    watchers: BTreeMap<Slot, BTreeSet<OpId>>,
    /// The calls that may be made once the changes are durable.
    orders: Vec<Order>,
    /// The number of the last order.
    ordered: u64,
}

/// A call that an operation asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Its number: an answer names the order that it answers.
    pub number: u64,
    /// The operation that wants it.
    pub op: OpId,
    /// The step of the journal, if the call changes something.
    pub step: Option<Arc<str>>,
    /// The call to be made.
    pub call: Call,
    /// In whose name.
    pub by: Arc<Credential>,
    /// The operation, as logs name it.
    pub(crate) info: Arc<OperationInfo>,
}

/// A running operation.
struct Live {
    info: Arc<OperationInfo>,
    stage: Stage,
    slot: Slot,
    /// The step whose call is being made.
    calling: Option<Arc<str>>,
    /// The order whose answer it waits for.
    order: Option<u64>,
    /// The time and the resource that it waits for.
    sleeps_until: Option<Time>,
    watches: Option<Slot>,
    /// It is being stopped, and may wait until then for the reply to its call.
    stops_at: Option<Time>,
}

/// How far an operation has come. One that runs takes far more memory than one that is about to, and a
/// step may begin a hundred thousand that end with their first turn.
enum Stage {
    Begun(Box<Run>),
    Running(RunningOperation),
}

impl Stage {
    fn turn(&mut self, now: Time, answer: Option<Answer>) -> (OpPoll, Vec<Note>) {
        match self {
            Stage::Running(running) => running.poll(now.micros(), answer),
            Stage::Begun(run) => {
                let context = std::mem::take(&mut run.context);
                let mut running = RunningOperation::new(run.resource_type, run.kind, context);
                let came_to = running.poll(now.micros(), answer);
                *self = Stage::Running(running);
                came_to
            }
        }
    }
}

/// How long an operation that is to be stopped may wait for the reply to its call.
const LAST_WORD: Duration = Duration::from_secs(1);

/// What has to be done with operations before a turn is over.
enum Todo {
    Step(Input),
    Turn(OpId, Option<Answer>),
}

impl Owner {
    /// The owner of a tree; resumes all actions and operations.
    pub fn new(tree: Tree, fence: u64, now: Time, ids: &mut dyn Ids) -> Owner {
        Owner::run_machine(Machine::new(tree), fence, now, ids)
    }

    /// The same, for a driver that takes what is done ([`Owner::take_activity`]).
    pub(crate) fn with_activity(tree: Tree, fence: u64, now: Time, ids: &mut dyn Ids) -> Owner {
        let mut machine = Machine::new(tree);
        machine.activity.enable();
        Owner::run_machine(machine, fence, now, ids)
    }

    fn run_machine(mut machine: Machine, fence: u64, now: Time, ids: &mut dyn Ids) -> Owner {
        let effects = machine.resume(&mut Env { now, ids });
        let mut owner = Owner {
            machine,
            fence,
            running: BTreeMap::new(),
            sleepers: BTreeSet::new(),
            watchers: BTreeMap::new(),
            orders: Vec::new(),
            ordered: 0,
        };
        let mut todo = VecDeque::new();
        owner.perform(effects, now, &mut todo);
        owner.run_queue(todo, now, ids);
        owner
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        self.machine.tree()
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Takes the states that cannot occur and that the machine has met nevertheless.
    pub fn take_bugs(&mut self) -> Vec<Bug> {
        self.machine.take_bugs()
    }

    /// Takes the counts of the transitions since the last time.
    pub fn take_reached(&mut self) -> Reached {
        std::mem::take(&mut self.machine.reached)
    }

    /// The tree, for previews.
    pub fn tree_mut(&mut self) -> &mut Tree {
        &mut self.machine.tree
    }

    /// Applies an input.
    pub fn input(&mut self, input: Input, now: Time, ids: &mut dyn Ids) {
        self.run_queue(VecDeque::from([Todo::Step(input)]), now, ids);
    }

    /// Takes a command out of the queue that cannot be carried out, with an event that says why.
    pub(crate) fn refuse_command(
        &mut self,
        id: CommandId,
        refusal: &CommandRefusal,
        now: Time,
        ids: &mut dyn Ids,
    ) {
        self.machine.tree.refuse_command(&mut Env { now, ids }, id, refusal);
    }

    /// Takes the answer to an order of an operation. An answer that no operation waits for, such as a duplicate,
    /// changes nothing.
    pub fn answer(&mut self, op: OpId, order: u64, answer: Answer, now: Time, ids: &mut dyn Ids) {
        let Some(live) = self.running.get_mut(&op) else { return };
        if live.order.take_if(|it| *it == order).is_none() {
            return;
        }
        let mut todo = VecDeque::new();
        if let (Some(step), Answer::Reply(Ok(reply))) = (live.calling.take(), &answer) {
            todo.push_back(Todo::Step(Input::StepReplied(op, step, reply.clone())));
        }
        todo.push_back(Todo::Turn(op, Some(answer)));
        self.run_queue(todo, now, ids);
    }

    /// Fires all timers that are due.
    pub fn wake(&mut self, now: Time, ids: &mut dyn Ids) {
        let mut todo = VecDeque::new();
        while let Some((time, op)) = self.sleepers.first().copied().filter(|(it, _)| *it <= now) {
            self.sleepers.remove(&(time, op));
            let Some(live) = self.running.get_mut(&op) else { continue };
            if live.stops_at == Some(time) {
                self.give_up(op, &mut todo);
            } else if live.sleeps_until == Some(time) {
                live.sleeps_until = None;
                todo.push_back(Todo::Turn(op, Some(Answer::Woken)));
            }
        }
        if self.machine.next_wake().is_some_and(|time| time <= now) {
            todo.push_back(Todo::Step(Input::Tick));
        }
        self.run_queue(todo, now, ids);
    }

    /// Whether a call is under way, or ordered.
    pub fn has_calls(&self) -> bool {
        self.running.values().any(|live| live.order.is_some())
    }

    /// Whether the machine has more to do once the changes so far are on their way to the store.
    pub fn has_queued_tasks(&self) -> bool {
        self.machine.has_queued_tasks()
    }

    /// Lets the machine go on with that.
    pub fn go_on(&mut self, now: Time, ids: &mut dyn Ids) {
        self.input(Input::Continue, now, ids);
    }

    /// When to call [`Owner::wake`] next.
    pub fn next_wake(&self) -> Option<Time> {
        let sleeper = self.sleepers.first().map(|(time, _)| *time);
        [sleeper, self.machine.next_wake()].into_iter().flatten().min()
    }

    /// The rows that are to be stored, and the calls that may be made after that.
    pub fn flush(&mut self) -> (Option<Batch>, Vec<Order>) {
        let batch =
            self.machine.tree.has_changes().then(|| self.machine.tree.take_batch(self.fence));
        (batch, std::mem::take(&mut self.orders))
    }

    /// Takes the notifications and events that are sent after the last flush is committed, with the credential for that.
    pub(crate) fn take_outbox(&mut self) -> (Outbox, Arc<Credential>) {
        (self.machine.tree.take_outbox(), self.machine.tree.credential.clone())
    }

    /// The trusts and application credentials that have to be revoked now.
    pub(crate) fn to_revoke(&self) -> Vec<Arc<Credential>> {
        self.machine.tree.to_revoke()
    }

    /// Takes the name of the project of the tree's stack users, once, when the whole tree is deleted. The project is deleted
    /// before that is committed, so that an engine that adopts the tree after a crash deletes it again.
    pub(crate) fn take_users(&mut self) -> Option<String> {
        let is_gone = self.machine.tree.root_state().0.is(Action::Delete, Status::Complete);
        self.machine.tree.users.take_if(|_| is_gone)?;
        Some(users_project_name(&self.machine.tree.project, self.machine.tree.root.0))
    }

    /// Records that a trust or an application credential was revoked.
    pub fn revoked(&mut self, credential: &Credential) {
        self.machine.tree.revoked(credential);
    }

    /// Whether a trust or an application credential has yet to be revoked.
    pub(crate) fn has_revocations(&self) -> bool {
        self.machine.tree.has_revocations()
    }

    /// Takes what was done since the last time, for logs and metrics.
    pub(crate) fn take_activity(&mut self) -> Vec<Activity> {
        self.machine.activity.take()
    }

    /// Whether changes have yet to be stored.
    pub fn has_changes(&self) -> bool {
        self.machine.tree.has_changes()
    }

    /// Whether an action or an operation is in progress.
    pub(crate) fn is_busy(&self) -> bool {
        self.machine.tree.has_work()
    }

    fn run_queue(&mut self, mut todo: VecDeque<Todo>, now: Time, ids: &mut dyn Ids) {
        while let Some(next) = todo.pop_front() {
            match next {
                Todo::Step(input) => {
                    let effects = self.machine.step(input, &mut Env { now, ids });
                    self.perform(effects, now, &mut todo);
                }
                Todo::Turn(op, answer) => self.turn(op, answer, now, ids, &mut todo),
            }
        }
    }

    fn perform(&mut self, effects: Vec<Effect>, now: Time, todo: &mut VecDeque<Todo>) {
        for effect in effects {
            match effect {
                Effect::Run(run) => {
                    let op = run.op;
                    self.start_operation(run);
                    todo.push_back(Todo::Turn(op, None));
                }
                Effect::Stop(op) => self.stop(op, now, todo),
                Effect::Changed(slot) => {
                    for op in self.watchers.remove(&slot).unwrap_or_default() {
                        let metadata = self.machine.tree.watched_value(slot);
                        todo.push_back(Todo::Turn(op, Some(Answer::Metadata(metadata))));
                    }
                }
            }
        }
    }

    fn start_operation(&mut self, run: Box<Run>) {
        let (op, slot) = (run.op, run.slot);
        let info = Arc::new(self.machine.operation_info(&run));
        self.machine.activity.record(Activity::Started(info.clone()));
        let live = Live {
            info,
            stage: Stage::Begun(run),
            slot,
            calling: None,
            order: None,
            sleeps_until: None,
            watches: None,
            stops_at: None,
        };
        self.running.insert(op, live);
    }

    /// Lets an operation go on until it demands something, or ends.
    fn turn(
        &mut self,
        op: OpId,
        answer: Option<Answer>,
        now: Time,
        ids: &mut dyn Ids,
        todo: &mut VecDeque<Todo>,
    ) {
        self.stop_waiting(op);
        let Some(live) = self.running.get_mut(&op) else { return };
        let (info, slot) = (live.info.clone(), live.slot);
        let (turn, notes) = live.stage.turn(now, answer);
        let is_stopping = live.stops_at.is_some();
        self.report_notes(op, notes, todo);
        match turn {
            OpPoll::Finished(result) => {
                let result = result.map_err(|error| self.machine.tree.mask_error(slot, error));
                let error = result.as_ref().err().and_then(crate::activity::error_text);
                self.machine.activity.record(Activity::Ended(info, error));
                self.forget(op);
                todo.push_back(Todo::Step(Input::Ended(op, result)));
            }
            OpPoll::Demands(_) if is_stopping => self.give_up(op, todo),
            OpPoll::Demands(demand) => self.demanded(op, demand, now, ids, todo),
        }
    }

    /// Removes the timers and watches of an operation that goes on.
    fn stop_waiting(&mut self, op: OpId) {
        let Some(live) = self.running.get_mut(&op) else { return };
        if let Some(time) = live.sleeps_until.take() {
            self.sleepers.remove(&(time, op));
        }
        if let Some(watchers) = live.watches.take().and_then(|slot| self.watchers.get_mut(&slot)) {
            watchers.remove(&op);
        }
    }

    fn report_notes(&mut self, op: OpId, notes: Vec<Note>, todo: &mut VecDeque<Todo>) {
        if !notes.is_empty() {
            todo.push_back(Todo::Step(Input::Notes(op, notes)));
        }
    }

    fn demanded(
        &mut self,
        op: OpId,
        demand: Demand,
        now: Time,
        ids: &mut dyn Ids,
        todo: &mut VecDeque<Todo>,
    ) {
        let Some(live) = self.running.get_mut(&op) else { return };
        match demand {
            Demand::Call { step, call } => {
                live.calling = Some(step.clone());
                todo.push_back(Todo::Step(Input::StepBegun(op, step.clone())));
                self.order(op, Some(step), call);
            }
            Demand::Read(call) => self.order(op, None, call),
            Demand::Until(micros) => {
                let time = Time::from_micros(micros);
                if time <= now {
                    todo.push_back(Todo::Turn(op, Some(Answer::Woken)));
                } else {
                    live.sleeps_until = Some(time);
                    self.sleepers.insert((time, op));
                }
            }
            Demand::Random(count) => {
                let mut bytes = vec![0; count.min(1 << 20)];
                ids.fill(&mut bytes);
                todo.push_back(Todo::Turn(op, Some(Answer::Bytes(bytes))));
            }
            Demand::Sibling(reference) => {
                let sibling = self.machine.tree.sibling(live.slot, &reference);
                todo.push_back(Todo::Turn(op, Some(Answer::Sibling(sibling))));
            }
            Demand::Watch { reference, seen, until } => {
                let Some(watched) = self.machine.tree.find_sibling(live.slot, &reference) else {
                    todo.push_back(Todo::Turn(op, Some(Answer::Metadata(None))));
                    return;
                };
                let metadata = self.machine.tree.watched_value(watched);
                if metadata != seen {
                    todo.push_back(Todo::Turn(op, Some(Answer::Metadata(metadata))));
                } else {
                    let until = Time::from_micros(until);
                    live.watches = Some(watched);
                    live.sleeps_until = Some(until);
                    self.sleepers.insert((until, op));
                    self.watchers.entry(watched).or_default().insert(op);
                }
            }
        }
    }

    fn order(&mut self, op: OpId, step: Option<Arc<str>>, call: Call) {
        let Some(live) = self.running.get_mut(&op) else { return };
        self.ordered += 1;
        live.order = Some(self.ordered);
        let info = live.info.clone();
        let by = self.machine.tree.credential.clone();
        let call = call.acting_for(self.machine.tree.acting_for_resource(live.slot));
        self.orders.push(Order { number: self.ordered, op, step, call, by, info });
    }

    /// Stops an operation: at once, or after the reply to the call that it makes.
    fn stop(&mut self, op: OpId, now: Time, todo: &mut VecDeque<Todo>) {
        match self.running.get_mut(&op) {
            Some(live) if live.calling.is_some() => {
                let until = now + LAST_WORD;
                live.stops_at = Some(until);
                self.sleepers.insert((until, op));
            }
            _ => self.give_up(op, todo),
        }
    }

    fn give_up(&mut self, op: OpId, todo: &mut VecDeque<Todo>) {
        if let Some(live) = self.running.get(&op) {
            self.machine.activity.record(Activity::Stopped(live.info.clone()));
        }
        self.forget(op);
        todo.push_back(Todo::Step(Input::Stopped(op)));
    }

    /// Drops an operation with its timers and watches.
    fn forget(&mut self, op: OpId) {
        self.stop_waiting(op);
        let Some(live) = self.running.remove(&op) else { return };
        if let Some(time) = live.stops_at {
            self.sleepers.remove(&(time, op));
        }
        // A call that was not made yet is not made any more.
        if let Some(number) = live.order {
            self.orders.retain(|order| order.number != number);
        }
    }
}
