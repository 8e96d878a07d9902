//! The task of one tree: hands what happens to the tree's owner, and does what the owner decides.

use super::clock::{SystemIds, now};
use super::commit::Committed;
use super::event_sinks::{DELIVERY_GRACE, EventSinkPoster};
use super::held_lease::HeldLease;
use super::observe::Observer;
use super::{Inner, TreeStatus, delegation, spawn};
use crate::ids::{CommandId, RecipeId};
use crate::machine::{Command, Input};
use crate::notification::Outbox;
use crate::owner::{Order, Owner};
use crate::record::CommandRefusal;
use crate::request_id::RequestId;
use crate::store::{EventRow, StoreError};
use crate::tree::{OpId, Tree};
use crate::wakeup::Wakeup;
use kiln_cloud::{CallError, Credential, Reply, pass_fence, with_fence, with_request_id};
use kiln_resources::op::Answer;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tracing::Instrument;

/// A message to the task of a tree.
pub(crate) enum Message {
    /// A command, or why it cannot be decoded. The request that submitted it may wait until it is under way.
    Command(CommandId, Result<Box<Command>, StoreError>, Option<oneshot::Sender<()>>),
    /// The reply to a call.
    Answer(OpId, u64, Result<Reply, CallError>),
    /// A trust or an application credential was revoked.
    Revoked(Arc<Credential>),
    /// The tree is released to an engine that has fewer, unless a call is under way.
    HandOver,
    /// The tree is released: another engine owns it, nothing happens in it, or this engine stops.
    Release,
}

/// A command, or why it cannot be decoded, and the request that waits for it.
type Delivery = (CommandId, Result<Box<Command>, StoreError>, Option<oneshot::Sender<()>>);

/// How the task of a tree ended.
pub(crate) enum RunEnd {
    /// The tree is released: this engine does not own it any more, or does not need it in memory.
    Released,
    /// The store does not accept what was to be written, for this reason; and the command that it came of, if that is certain.
    Refused(Arc<str>, Option<CommandId>),
}

/// What a driver begins with.
pub(crate) struct Begin {
    pub(crate) tree: Tree,
    /// The commands that wait for the tree.
    pub(crate) commands: Vec<Delivery>,
    /// The commands that lead to what the store does not accept.
    pub(crate) refused: Vec<(CommandId, Arc<str>)>,
    /// Whether each command is carried out and committed before the next one is begun.
    pub(crate) is_careful: bool,
}

pub(crate) struct Driver {
    engine: Arc<Inner>,
    lease: Arc<HeldLease>,
    owner: Owner,
    ids: SystemIds,
    inbox: mpsc::UnboundedSender<Message>,
    receiver: mpsc::UnboundedReceiver<Message>,
    status: watch::Sender<TreeStatus>,
    commands: u64,
    /// The commands that wait for the one before to be committed; `None` if they need not wait.
    queue: Option<VecDeque<Delivery>>,
    /// The requests that wait until their commands are under way.
    waiters: Vec<oneshot::Sender<()>>,
    /// The delegations that are being revoked.
    revoking: Vec<Arc<Credential>>,
    /// The task that sends events to the user's queues, once there was such a queue.
    event_sinks: Option<EventSinkPoster>,
    /// Logs and counts what the owner does.
    observer: Observer,
    /// The project of the tree.
    project: Arc<str>,
    /// The recipe of the root, and how many bytes of texts and parameters it has.
    recipe: (RecipeId, usize),
}

/// The memory of a tree in which nothing happens, as long as that is so.
struct IdleShare {
    engine: Arc<Inner>,
    bytes: usize,
    /// Whether such trees take more memory than they may.
    is_too_much: bool,
}

impl IdleShare {
    fn new(engine: &Arc<Inner>, tree: &Tree) -> IdleShare {
        let bytes = tree.memory_bytes();
        let before = engine.idle_bytes.fetch_add(bytes, Ordering::Relaxed);
        let is_too_much = before.saturating_add(bytes) > engine.settings.max_idle_bytes;
        IdleShare { engine: engine.clone(), bytes, is_too_much }
    }
}

impl Drop for IdleShare {
    fn drop(&mut self) {
        self.engine.idle_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// No timer is longer.
const MAX_SLEEP: Duration = Duration::from_secs(86_400);

/// The steps of a tree with more bytes of values than this may be long.
const LARGE_TREE: usize = 256 << 10;

/// How often the inbox is polled for more before a commit, which takes far longer.
const MAX_POLLS: usize = 8;

impl Driver {
    pub(crate) fn new(
        engine: Arc<Inner>,
        lease: Arc<HeldLease>,
        begin: Begin,
        inbox: mpsc::UnboundedSender<Message>,
        receiver: mpsc::UnboundedReceiver<Message>,
    ) -> (Driver, watch::Receiver<TreeStatus>) {
        let Begin { tree, commands, refused, is_careful } = begin;
        let mut ids = SystemIds::default();
        let status = tree_status(&tree, true, 0);
        let observer = Observer::new(engine.config.metrics.clone(), &tree);
        let project = tree.project.clone();
        let recipe = &tree.stack(tree.root_key()).recipe;
        let recipe = (recipe.id, recipe.text_bytes());
        let owner = Owner::with_activity(tree, lease.fence(), now(), &mut ids);
        let (status, watcher) = watch::channel(status);
        let mut driver = Driver {
            engine,
            lease,
            owner,
            ids,
            inbox,
            receiver,
            status,
            commands: 0,
            queue: is_careful.then(VecDeque::new),
            waiters: Vec::new(),
            revoking: Vec::new(),
            event_sinks: None,
            observer,
            project,
            recipe,
        };
        for (id, why) in refused {
            let refusal = CommandRefusal::NotStored(why);
            driver.owner.refuse_command(id, &refusal, now(), &mut driver.ids);
        }
        for (id, command, waiter) in commands {
            driver.handle(Message::Command(id, command, waiter));
        }
        (driver, watcher)
    }

    pub(crate) async fn run(mut self) -> RunEnd {
        loop {
            if let Err(end) = self.commit_changes().await {
                return end;
            }
            if self.owner.has_changes() {
                // More changes have to be committed; messages are handled in between.
                if let Ok(message) = self.receiver.try_recv()
                    && !self.step(|driver| driver.handle(message)).await
                {
                    return RunEnd::Released;
                }
                continue;
            }
            if let Some(next) = self.queue.as_mut().and_then(VecDeque::pop_front) {
                self.step(|driver| driver.take_command(next)).await;
                continue;
            }
            let Some(message) = self.next_message().await else {
                self.step(|driver| driver.owner.wake(now(), &mut driver.ids)).await;
                continue;
            };
            if !self.step(|driver| driver.handle(message)).await || !self.handle_pending().await {
                return RunEnd::Released;
            }
        }
    }

    /// Commits what changed, then makes the calls that were decided. An error is the end of the task.
    /// While the store commits, the next part of a large tree is processed.
    async fn commit_changes(&mut self) -> Result<(), RunEnd> {
        let (batch, orders) = self.step(|driver| driver.owner.flush()).await;
        let (outbox, by) = self.owner.take_outbox();
        if let Some(project) = self.owner.take_users() {
            remove_user_project(&self.engine, &project).await;
        }
        let status = tree_status(self.owner.tree(), self.owner.is_busy(), self.commands);
        let to_revoke = self.owner.to_revoke();
        let waiters = std::mem::take(&mut self.waiters);
        self.observer.observe(&mut self.owner);
        if let Some(batch) = batch {
            let changes = self.observer.state_changes(&batch, self.owner.tree());
            let command = batch.done.first().copied().filter(|_| self.queue.is_some());
            let event_bytes = batch.events.iter().map(EventRow::byte_size).sum();
            let written = self.engine.committer.submit(self.project.clone(), batch).await;
            if self.owner.has_queued_tasks() {
                // The committer starts before this task continues.
                tokio::task::yield_now().await;
                self.step(|driver| driver.owner.go_on(now(), &mut driver.ids)).await;
            }
            match written.await.unwrap_or(Committed::NotOwned) {
                Committed::Written => {}
                Committed::NotOwned => {
                    tracing::warn!("the tree has a new owner: this engine gives it up");
                    return Err(RunEnd::Released);
                }
                Committed::Refused(why) => return Err(RunEnd::Refused(why, command)),
            }
            changes.iter().for_each(|change| change.log());
            let max_event_bytes = self.engine.config.max_event_bytes;
            self.engine.new_events.count(event_bytes, max_event_bytes);
            self.engine.config.wakeups.send(Wakeup::Change(self.owner.tree().root));
        }
        self.status.send_if_modified(|seen| {
            let is_new = *seen != status;
            *seen = status;
            is_new
        });
        let sent = self.publish(outbox, by);
        self.revoke_delegations(to_revoke, sent);
        // A request that does not wait any more has dropped its receiver.
        waiters.into_iter().for_each(|waiter| _ = waiter.send(()));
        orders.into_iter().for_each(|order| self.start_call(order));
        Ok(())
    }

    /// Handles the messages that come at the same time, so that one commit has all of them; returns whether to
    /// continue.
    async fn handle_pending(&mut self) -> bool {
        let mut polls = 0;
        while !self.owner.has_queued_tasks() && polls < MAX_POLLS {
            let Ok(message) = self.receiver.try_recv() else {
                polls += 1;
                tokio::task::yield_now().await;
                continue;
            };
            if !self.step(|driver| driver.handle(message)).await {
                return false;
            }
        }
        true
    }

    /// Does a step. One of a tree with large values may be long: it is done in the project's share of the threads for that.
    async fn step<T: Send>(&mut self, step: impl FnOnce(&mut Driver) -> T + Send) -> T {
        match self.has_large_values() {
            true => {
                let share = self.engine.workers.share(self.project.clone());
                share.work_on(usize::MAX, || step(self)).await
            }
            false => step(self),
        }
    }

    /// Whether the tree has so many bytes of values that its steps may be long.
    fn has_large_values(&mut self) -> bool {
        let tree = self.owner.tree();
        let recipe = &tree.stack(tree.root_key()).recipe;
        if self.recipe.0 != recipe.id {
            self.recipe = (recipe.id, recipe.text_bytes());
        }
        tree.value_bytes().saturating_add(self.recipe.1) > LARGE_TREE
    }

    /// Publishes what is durable now. The receiver ends when the events were sent to the user's queues, or could
    /// not be; there is none if there are no events for them.
    fn publish(&mut self, outbox: Outbox, by: Arc<Credential>) -> Option<watch::Receiver<()>> {
        if let Some(listener) = &self.engine.config.listener
            && !outbox.notifications.is_empty()
        {
            listener.notify(outbox.notifications);
        }
        if outbox.events.is_empty() {
            return None;
        }
        let start = || EventSinkPoster::start(self.engine.clone());
        Some(self.event_sinks.get_or_insert_with(start).post(&outbox.sinks, &outbox.events, by))
    }

    /// Revokes the delegations that are not needed any more. Each is stored with the tree until it was revoked: if
    /// this engine dies meanwhile, the next owner of the tree tries again.
    fn revoke_delegations(
        &mut self,
        to_revoke: Vec<Arc<Credential>>,
        sent: Option<watch::Receiver<()>>,
    ) {
        for credential in to_revoke {
            if self.revoking.contains(&credential) {
                continue;
            }
            self.revoking.push(credential.clone());
            self.observer.count_revoking(self.revoking.len());
            let (engine, inbox) = (self.engine.clone(), self.inbox.clone());
            let sent = sent.clone();
            let revoke = async move {
                if let Some(mut sent) = sent {
                    // The last events are sent with the credential; a queue that does not answer is not waited for.
                    _ = tokio::time::timeout(DELIVERY_GRACE, sent.changed()).await;
                }
                delegation::revoke(&*engine.transport, &credential).await;
                // A tree that was released has no inbox: its next owner revokes again, without effect.
                _ = inbox.send(Message::Revoked(credential));
            };
            spawn("revoke", with_fence(self.lease.clone(), revoke));
        }
    }

    /// The next message; `None` if a timer is due.
    async fn next_message(&mut self) -> Option<Message> {
        let wake = match self.owner.next_wake() {
            Some(wake) => wake.since(now()).max(Duration::from_micros(1)),
            None => Duration::MAX,
        };
        // A tree in which nothing happens is not kept in memory: the next command loads it again.
        let is_needed = self.owner.is_busy() || self.owner.has_revocations();
        let idle_share = (!is_needed).then(|| IdleShare::new(&self.engine, self.owner.tree()));
        let idle = match &idle_share {
            None => Duration::MAX,
            Some(share) if share.is_too_much => Duration::ZERO,
            Some(_) => self.engine.settings.idle_timeout,
        };
        let pause = wake.min(idle).min(MAX_SLEEP);
        tokio::select! {
            biased;
            message = self.receiver.recv() => message,
            () = tokio::time::sleep(pause) => (pause == idle).then_some(Message::Release),
        }
    }

    /// Handles a message; returns whether to continue.
    fn handle(&mut self, message: Message) -> bool {
        match message {
            Message::Command(id, command, waiter) => match &mut self.queue {
                Some(queue) => queue.push_back((id, command, waiter)),
                None => self.take_command((id, command, waiter)),
            },
            Message::Answer(op, order, answer) => {
                let _step = tracing::info_span!("step", op = op.0).entered();
                self.observer.count_answer(&answer);
                self.owner.answer(op, order, Answer::Reply(answer), now(), &mut self.ids);
            }
            Message::Revoked(credential) => {
                self.revoking.retain(|it| *it != credential);
                self.observer.count_revoking(self.revoking.len());
                self.owner.revoked(&credential);
            }
            Message::HandOver => {
                return self.is_in_the_middle();
            }
            Message::Release => return false,
        }
        true
    }

    /// Whether the next owner of the tree would have to find out what this one was doing.
    fn is_in_the_middle(&self) -> bool {
        self.owner.has_calls()
            || self.owner.has_changes()
            || self.owner.has_queued_tasks()
            || !self.waiters.is_empty()
            || !self.revoking.is_empty()
    }

    /// Begins to carry out a command.
    fn take_command(&mut self, (id, command, waiter): Delivery) {
        let command = match command {
            Ok(command) => command,
            Err(error) => {
                self.engine.config.metrics.commands_unreadable.inc();
                return self.refuse(id, &error);
            }
        };
        self.commands += 1;
        self.waiters.extend(waiter);
        let request_id = RequestId::from(id);
        let _step = tracing::info_span!("step", %request_id).entered();
        self.owner.input(Input::Command(id, command), now(), &mut self.ids);
    }

    /// A command that is damaged leaves the queue, and an event says so. A command that a newer version wrote stays
    /// there, for an engine of that version.
    fn refuse(&mut self, id: CommandId, error: &StoreError) {
        match error {
            StoreError::Newer { .. } => {
                tracing::warn!(command = %id, %error, "a command is left in the queue");
            }
            _ => {
                tracing::error!(command = %id, %error, "a command is not carried out");
                let refusal = CommandRefusal::Unreadable(error.to_string());
                self.owner.refuse_command(id, &refusal, now(), &mut self.ids);
            }
        }
    }

    /// Makes a call in a task of its own.
    fn start_call(&self, order: Order) {
        let (engine, inbox) = (self.engine.clone(), self.inbox.clone());
        let info = order.info.clone();
        let span = tracing::info_span!(
            "operation",
            stack = %info.stack,
            resource = &*info.resource,
            resource_type = &*info.type_name,
            operation = info.operation,
            op = info.op.0,
            request_id = info.request.map(tracing::field::display),
        );
        let call = async move {
            let sent = async {
                pass_fence(&order.call.request).await?;
                engine.transport.send(&order.by, order.call).await
            };
            // Services log the id of the request that asked for the operation.
            let answer = match info.request {
                Some(request) => with_request_id(request.to_string(), sent).await,
                None => sent.await,
            };
            if let Err(CallError::Fenced) = answer {
                tracing::warn!("a call was not sent: another engine may own the stack");
                return;
            }
            // A tree that was released learns the fate of the call from the record and the mark.
            _ = inbox.send(Message::Answer(order.op, order.number, answer));
        };
        spawn("call", with_fence(self.lease.clone(), call).instrument(span));
    }
}

/// Removes the project of a deleted tree's users. If that fails repeatedly, it is left to the operator.
async fn remove_user_project(engine: &Inner, project: &str) {
    const MAX_ATTEMPTS: u32 = 5;
    for attempt in 1..=MAX_ATTEMPTS {
        match engine.transport.delete_user_project(project).await {
            Ok(()) => return,
            Err(error) if attempt == MAX_ATTEMPTS => {
                tracing::warn!(project, %error, "could not delete the project of a stack's users: it stays");
            }
            Err(error) => {
                tracing::info!(project, %error, attempt, "could not delete the project of a stack's users: retrying");
                tokio::time::sleep(Duration::from_secs(1 << attempt)).await;
            }
        }
    }
}

fn tree_status(tree: &Tree, is_busy: bool, commands: u64) -> TreeStatus {
    let (state, reason) = tree.root_state();
    TreeStatus {
        state,
        reason,
        is_busy,
        commands,
        has_delegations_to_revoke: tree.has_revocations(),
    }
}
