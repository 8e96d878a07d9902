//! The task of one tree: tells its owner what happens, and does what its owner wants.

use super::clock::{Chance, now};
use super::{Glance, Inner};
use crate::ids::CommandId;
use crate::machine::{Command, Input};
use crate::owner::{Order, Owner};
use crate::store::{CommandRow, Lease};
use crate::tree::{OpId, Tree};
use kiln_cloud::{CallError, Reply};
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

/// More changes than this are written down before more is looked at.
const ENOUGH: usize = 10_000;

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
        loop {
            let (batch, orders) = self.owner.flush();
            if let Some(project) = self.owner.take_users() {
                remove_users(self.engine.clone(), &project).await;
            }
            if let Some(batch) = batch
                && !self.engine.committer.commit(batch).await
            {
                return;
            }
            let (tree, commands) = (self.owner.tree(), self.commands);
            self.glance.send_if_modified(|seen| {
                let new = glance(tree, self.owner.is_busy(), commands);
                let is_new = *seen != new;
                *seen = new;
                is_new
            });
            self.dismiss_when_gone();
            // Whoever does not wait any more need not be told.
            self.waiting.drain(..).for_each(|waiting| _ = waiting.send(()));
            orders.into_iter().for_each(|order| self.send(order));
            let Some(mail) = self.next().await else {
                self.owner.wake(now(), &mut self.chance);
                continue;
            };
            if !self.take(mail) {
                return;
            }
            // What comes at the same time is written at the same time.
            let mut looks = 0;
            while self.owner.count_changes() < ENOUGH && looks < LOOKS {
                let Ok(mail) = self.post.try_recv() else {
                    looks += 1;
                    tokio::task::yield_now().await;
                    continue;
                };
                if !self.take(mail) {
                    return;
                }
            }
        }
    }

    /// When the whole tree is deleted, nobody has to act for its user any more.
    fn dismiss_when_gone(&mut self) {
        let Some(credential) = self.owner.take_last_credential() else { return };
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

/// Removes the project of a tree's users. If that cannot be done, it is left to the operator.
async fn remove_users(engine: Arc<Inner>, project: &str) {
    const TRIES: u32 = 5;
    for attempt in 1..=TRIES {
        match engine.transport.remove_users(project).await {
            Ok(()) => return,
            Err(error) if attempt == TRIES => {
                tracing::warn!("the project {project} of a stack's users stays: {error}");
            }
            Err(_) => tokio::time::sleep(Duration::from_secs(1 << attempt)).await,
        }
    }
}

fn glance(tree: &Tree, is_busy: bool, commands: u64) -> Glance {
    let (state, reason) = tree.root_state();
    Glance { state, reason, is_busy, commands }
}
