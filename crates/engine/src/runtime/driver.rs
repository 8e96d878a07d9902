//! The task of one tree: tells its owner what happens, and does what its owner wants.

use super::clock::{Chance, now};
use super::{Glance, Inner};
use crate::ids::CommandId;
use crate::machine::{Command, Input};
use crate::owner::{Order, Owner};
use crate::store::{CommandRow, Lease};
use crate::tree::{OpId, Tree};
use kiln_cloud::{CallError, Credential, Reply};
use kiln_resources::op::Answer;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// What a tree's task is told.
pub(crate) enum Mail {
    /// Somebody wants something, and may wait until it is under way.
    Command(CommandId, Box<Command>, Option<oneshot::Sender<()>>),
    /// A call was answered.
    Answer(OpId, Result<Reply, CallError>),
    /// The tree belongs to somebody else, or the engine stops.
    Leave,
}

pub(crate) struct Driver {
    engine: Arc<Inner>,
    owner: Owner,
    chance: Chance,
    mail: mpsc::UnboundedSender<Mail>,
    post: mpsc::UnboundedReceiver<Mail>,
    glance: watch::Sender<Glance>,
    commands: u64,
    /// Who waits until the commands that were taken are under way.
    waiting: Vec<oneshot::Sender<()>>,
}

/// Timers do not go further than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(86_400);

/// How often to look for more before something is written down: a commit takes far longer.
const LOOKS: usize = 8;

impl Driver {
    pub(crate) fn new(
        engine: Arc<Inner>,
        lease: Lease,
        tree: Tree,
        commands: Vec<CommandRow>,
        mail: mpsc::UnboundedSender<Mail>,
        post: mpsc::UnboundedReceiver<Mail>,
    ) -> (Driver, watch::Receiver<Glance>) {
        let mut chance = Chance::default();
        let glance = glance(&tree, true, 0);
        let owner = Owner::new(tree, lease.fence, now(), &mut chance);
        let (glance, seen) = watch::channel(glance);
        let waiting = Vec::new();
        let mut driver = Driver { engine, owner, chance, mail, post, glance, commands: 0, waiting };
        for row in commands {
            if let Ok(command) = Command::decode(&row.body) {
                driver.take(Mail::Command(row.id, Box::new(command), None));
            }
        }
        (driver, seen)
    }

    pub(crate) async fn run(mut self) {
        while self.write_down().await {
            if self.owner.has_changes() {
                // There is more to write down; who has something to say meanwhile is heard.
                if let Ok(mail) = self.post.try_recv()
                    && !self.take(mail)
                {
                    return;
                }
                continue;
            }
            let Some(mail) = self.next().await else {
                self.owner.wake(now(), &mut self.chance);
                continue;
            };
            if !self.take(mail) || !self.take_what_comes().await {
                return;
            }
        }
    }

    /// Writes down what changed, then does what may be done; whether the tree is still ours. While it is
    /// being written, more of a large tree is looked at.
    async fn write_down(&mut self) -> bool {
        let (batch, orders) = self.owner.flush();
        let glance = glance(self.owner.tree(), self.owner.is_busy(), self.commands);
        let gone = self.owner.take_last_credential();
        let waiting = std::mem::take(&mut self.waiting);
        if let Some(batch) = batch {
            let written = self.engine.committer.hand_in(batch).await;
            if self.owner.is_behind() {
                // Whoever writes begins before we go on.
                tokio::task::yield_now().await;
                self.owner.go_on(now(), &mut self.chance);
            }
            if !written.await.unwrap_or(false) {
                return false;
            }
        }
        self.glance.send_if_modified(|seen| {
            let is_new = *seen != glance;
            *seen = glance;
            is_new
        });
        if let Some(credential) = gone {
            self.dismiss(credential);
        }
        // Whoever does not wait any more need not be told.
        waiting.into_iter().for_each(|waiting| _ = waiting.send(()));
        orders.into_iter().for_each(|order| self.send(order));
        true
    }

    /// Takes what comes at the same time, to be written at the same time; whether to go on.
    async fn take_what_comes(&mut self) -> bool {
        let mut looks = 0;
        while !self.owner.is_behind() && looks < LOOKS {
            let Ok(mail) = self.post.try_recv() else {
                looks += 1;
                tokio::task::yield_now().await;
                continue;
            };
            if !self.take(mail) {
                return false;
            }
        }
        true
    }

    /// When the whole tree is deleted, nobody has to act for its user any more.
    fn dismiss(&self, credential: Arc<Credential>) {
        let engine = self.engine.clone();
        tokio::spawn(async move {
            if let Err(error) = engine.transport.dismiss(&credential).await {
                tracing::warn!("what {credential:?} lent cannot be given back: {error}");
            }
        });
    }

    /// The next piece of mail; nothing if it is time to look at what is due.
    async fn next(&mut self) -> Option<Mail> {
        let wake = match self.owner.next_wake() {
            Some(wake) => wake.since(now()).max(Duration::from_micros(1)),
            None => Duration::MAX,
        };
        // A tree in which nothing happens is not kept in memory: whoever wants something of it next
        // takes it up again.
        let idle = if self.owner.is_busy() { Duration::MAX } else { self.engine.settings.idle };
        let pause = wake.min(idle).min(LONGEST_PAUSE);
        tokio::select! {
            biased;
            mail = self.post.recv() => mail,
            () = tokio::time::sleep(pause) => (pause == idle).then_some(Mail::Leave),
        }
    }

    /// Takes a piece of mail; whether to go on.
    fn take(&mut self, mail: Mail) -> bool {
        match mail {
            Mail::Command(id, command, waiting) => {
                self.commands += 1;
                self.waiting.extend(waiting);
                self.owner.input(Input::Command(id, command), now(), &mut self.chance);
            }
            Mail::Answer(op, answer) => {
                self.owner.answer(op, Answer::Reply(answer), now(), &mut self.chance);
            }
            Mail::Leave => return false,
        }
        true
    }

    fn send(&self, order: Order) {
        let (engine, mail) = (self.engine.clone(), self.mail.clone());
        tokio::spawn(async move {
            let answer = engine.call(&order.by, order.call).await;
            // A tree that was given up hears of it from the record.
            _ = mail.send(Mail::Answer(order.op, answer));
        });
    }
}

fn glance(tree: &Tree, is_busy: bool, commands: u64) -> Glance {
    let (state, reason) = tree.root_state();
    Glance { state, reason, is_busy, commands }
}
