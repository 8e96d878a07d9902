//! The task of one tree: tells its owner what happens, and does what its owner wants.

use super::clock::{SystemIds, now};
use super::event_sinks::{DELIVERY_GRACE, EventSinkPoster};
use super::{Inner, TreeStatus};
use crate::ids::CommandId;
use crate::machine::{Command, Input};
use crate::notification::Outbox;
use crate::owner::{Order, Owner};
use crate::store::{CommandRow, Lease};
use crate::tree::{OpId, Tree};
use kiln_cloud::{CallError, Credential, Reply, Transport};
use kiln_resources::op::Answer;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// What a tree's task is told.
pub(crate) enum Message {
    /// Somebody wants something, and may wait until it is under way.
    Command(CommandId, Box<Command>, Option<oneshot::Sender<()>>),
    /// A call was answered.
    Answer(OpId, u64, Result<Reply, CallError>),
    /// What a user lent was given back.
    Revoked(Arc<Credential>),
    /// The tree belongs to somebody else, or the engine stops.
    Release,
}

pub(crate) struct Driver {
    engine: Arc<Inner>,
    owner: Owner,
    ids: SystemIds,
    inbox: mpsc::UnboundedSender<Message>,
    receiver: mpsc::UnboundedReceiver<Message>,
    status: watch::Sender<TreeStatus>,
    commands: u64,
    /// Who waits until the commands that were taken are under way.
    waiters: Vec<oneshot::Sender<()>>,
    /// What is being given back.
    revoking: Vec<Arc<Credential>>,
    /// Where events are handed in that are sent to the user's queues, once there was one.
    event_sinks: Option<EventSinkPoster>,
}

/// Timers do not go further than this.
const MAX_SLEEP: Duration = Duration::from_secs(86_400);

/// How often to look for more before something is written down: a commit takes far longer.
const MAX_POLLS: usize = 8;

impl Driver {
    pub(crate) fn new(
        engine: Arc<Inner>,
        lease: Lease,
        tree: Tree,
        commands: Vec<CommandRow>,
        inbox: mpsc::UnboundedSender<Message>,
        receiver: mpsc::UnboundedReceiver<Message>,
    ) -> (Driver, watch::Receiver<TreeStatus>) {
        let mut ids = SystemIds::default();
        let status = status(&tree, true, 0);
        let owner = Owner::new(tree, lease.fence, now(), &mut ids);
        let (status, seen) = watch::channel(status);
        let mut driver = Driver {
            engine,
            owner,
            ids,
            inbox,
            receiver,
            status,
            commands: 0,
            waiters: Vec::new(),
            revoking: Vec::new(),
            event_sinks: None,
        };
        for row in commands {
            if let Ok(command) = Command::decode(&row.body) {
                driver.handle(Message::Command(row.id, Box::new(command), None));
            }
        }
        (driver, seen)
    }

    pub(crate) async fn run(mut self) {
        while self.commit_changes().await {
            if self.owner.has_changes() {
                // There is more to write down; who has something to say meanwhile is heard.
                if let Ok(inbox) = self.receiver.try_recv()
                    && !self.handle(inbox)
                {
                    return;
                }
                continue;
            }
            let Some(inbox) = self.next_message().await else {
                self.owner.wake(now(), &mut self.ids);
                continue;
            };
            if !self.handle(inbox) || !self.handle_pending().await {
                return;
            }
        }
    }

    /// Writes down what changed, then does what may be done; whether the tree is still ours. While it is
    /// being written, more of a large tree is looked at.
    async fn commit_changes(&mut self) -> bool {
        let (batch, orders) = self.owner.flush();
        let (outbox, by) = self.owner.take_outbox();
        if let Some(project) = self.owner.take_users() {
            remove_user_project(self.engine.clone(), &project).await;
        }
        let status = status(self.owner.tree(), self.owner.is_busy(), self.commands);
        let to_revoke = self.owner.to_revoke();
        let waiters = std::mem::take(&mut self.waiters);
        if let Some(batch) = batch {
            let written = self.engine.committer.submit(batch).await;
            if self.owner.has_queued_tasks() {
                // Whoever writes begins before we go on.
                tokio::task::yield_now().await;
                self.owner.go_on(now(), &mut self.ids);
            }
            if !written.await.unwrap_or(false) {
                return false;
            }
        }
        self.status.send_if_modified(|seen| {
            let is_new = *seen != status;
            *seen = status;
            is_new
        });
        let sent = self.publish(outbox, by);
        self.revoke_delegations(to_revoke, sent);
        // Whoever does not wait any more need not be told.
        waiters.into_iter().for_each(|waiters| _ = waiters.send(()));
        orders.into_iter().for_each(|order| self.start_call(order));
        true
    }

    /// Takes what comes at the same time, to be written at the same time; whether to go on.
    async fn handle_pending(&mut self) -> bool {
        let mut polls = 0;
        while !self.owner.has_queued_tasks() && polls < MAX_POLLS {
            let Ok(inbox) = self.receiver.try_recv() else {
                polls += 1;
                tokio::task::yield_now().await;
                continue;
            };
            if !self.handle(inbox) {
                return false;
            }
        }
        true
    }

    /// Tells others what is durable now. What it gives ends when that was tried, if it takes a while.
    fn publish(&mut self, outbox: Outbox, by: Arc<Credential>) -> Option<watch::Receiver<()>> {
        if let Some(listener) = &self.engine.config.listener
            && !outbox.notifications.is_empty()
        {
            listener.notify(outbox.notifications);
        }
        if outbox.events.is_empty() {
            return None;
        }
        let event_sinks =
            self.event_sinks.get_or_insert_with(|| EventSinkPoster::start(self.engine.clone()));
        Some(event_sinks.post(&outbox.sinks, &outbox.events, by))
    }

    /// Gives back what nobody needs any more. A delegation is remembered until that is done: if the engine dies meanwhile,
    /// the next one that takes up the tree tries again.
    fn revoke_delegations(
        &mut self,
        to_revoke: Vec<Arc<Credential>>,
        sent: Option<watch::Receiver<()>>,
    ) {
        for delegation in to_revoke {
            if self.revoking.contains(&delegation) {
                continue;
            }
            self.revoking.push(delegation.clone());
            let (engine, inbox) = (self.engine.clone(), self.inbox.clone());
            let sent = sent.clone();
            tokio::spawn(async move {
                if let Some(mut sent) = sent {
                    // The last events are sent with it; whoever does not take them is not waited for.
                    _ = tokio::time::timeout(DELIVERY_GRACE, sent.changed()).await;
                }
                revoke(&*engine.transport, &delegation).await;
                // A tree that was given up hears of it when somebody tries again.
                _ = inbox.send(Message::Revoked(delegation));
            });
        }
    }

    /// The next piece of inbox; nothing if it is time to look at what is due.
    async fn next_message(&mut self) -> Option<Message> {
        let wake = match self.owner.next_wake() {
            Some(wake) => wake.since(now()).max(Duration::from_micros(1)),
            None => Duration::MAX,
        };
        // A tree in which nothing happens is not kept in memory: whoever wants something of it next
        // takes it up again.
        let is_needed = self.owner.is_busy() || self.owner.has_revocations();
        let idle = if is_needed { Duration::MAX } else { self.engine.settings.idle_timeout };
        let pause = wake.min(idle).min(MAX_SLEEP);
        tokio::select! {
            biased;
            inbox = self.receiver.recv() => inbox,
            () = tokio::time::sleep(pause) => (pause == idle).then_some(Message::Release),
        }
    }

    /// Takes a piece of inbox; whether to go on.
    fn handle(&mut self, inbox: Message) -> bool {
        match inbox {
            Message::Command(id, command, waiters) => {
                self.commands += 1;
                self.waiters.extend(waiters);
                self.owner.input(Input::Command(id, command), now(), &mut self.ids);
            }
            Message::Answer(op, order, answer) => {
                self.owner.answer(op, order, Answer::Reply(answer), now(), &mut self.ids);
            }
            Message::Revoked(credential) => {
                self.revoking.retain(|it| *it != credential);
                self.owner.revoked(&credential);
            }
            Message::Release => return false,
        }
        true
    }

    fn start_call(&self, order: Order) {
        let (engine, inbox) = (self.engine.clone(), self.inbox.clone());
        tokio::spawn(async move {
            let answer = engine.transport.send(&order.by, order.call).await;
            // A tree that was given up hears of it from the record.
            _ = inbox.send(Message::Answer(order.op, order.number, answer));
        });
    }
}

/// Removes the project of a tree's users. If that cannot be done, it is left to the operator.
async fn remove_user_project(engine: Arc<Inner>, project: &str) {
    const TRIES: u32 = 5;
    for attempt in 1..=TRIES {
        match engine.transport.delete_user_project(project).await {
            Ok(()) => return,
            Err(error) if attempt == TRIES => {
                tracing::warn!("the project {project} of a stack's users stays: {error}");
            }
            Err(_) => tokio::time::sleep(Duration::from_secs(1 << attempt)).await,
        }
    }
}

fn status(tree: &Tree, is_busy: bool, commands: u64) -> TreeStatus {
    let (state, reason) = tree.root_state();
    TreeStatus {
        state,
        reason,
        is_busy,
        commands,
        has_delegations_to_revoke: tree.has_revocations(),
    }
}

/// Gives back what a user lent, however long the identity service cannot be reached. What it refuses is as good as
/// given back: nobody else could do better.
async fn revoke(transport: &dyn Transport, delegation: &Credential) {
    const LONGEST: Duration = Duration::from_secs(60);
    let mut pause = Duration::from_millis(500);
    loop {
        match transport.revoke(delegation).await {
            Ok(()) => return,
            Err(CallError::Refused(reply)) if reply.status < 500 && reply.status != 429 => {
                let said = reply.error_text().unwrap_or_default();
                tracing::warn!("what {delegation:?} lent is not taken back: {said}");
                return;
            }
            Err(CallError::Impossible(why)) => {
                tracing::warn!("what {delegation:?} lent cannot be given back: {why}");
                return;
            }
            Err(error) => {
                tracing::warn!("what {delegation:?} lent cannot be given back yet: {error}")
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST);
    }
}
