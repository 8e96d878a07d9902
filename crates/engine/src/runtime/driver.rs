//! The task of one tree: tells its owner what happens, and does what its owner wants.

use super::clock::{Chance, now};
use super::posting::{GRACE, Posting};
use super::{Glance, Inner};
use crate::ids::CommandId;
use crate::machine::{Command, Input};
use crate::notice::News;
use crate::owner::{Order, Owner};
use crate::store::{CommandRow, Lease};
use crate::tree::{OpId, Tree};
use kiln_cloud::{CallError, Credential, Reply, Transport};
use kiln_resources::op::Answer;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// What a tree's task is told.
pub(crate) enum Mail {
    /// Somebody wants something, and may wait until it is under way.
    Command(CommandId, Box<Command>, Option<oneshot::Sender<()>>),
    /// A call was answered.
    Answer(OpId, u64, Result<Reply, CallError>),
    /// What a user lent was given back.
    Repaid(Arc<Credential>),
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
    /// What is being given back.
    repaying: Vec<Arc<Credential>>,
    /// Where events are handed in that are sent to the user's queues, once there was one.
    posting: Option<Posting>,
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
        let mut driver = Driver {
            engine,
            owner,
            chance,
            mail,
            post,
            glance,
            commands: 0,
            waiting: Vec::new(),
            repaying: Vec::new(),
            posting: None,
        };
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
        let (news, by) = self.owner.take_news();
        if let Some(project) = self.owner.take_users() {
            remove_users(self.engine.clone(), &project).await;
        }
        let glance = glance(self.owner.tree(), self.owner.is_busy(), self.commands);
        let debts = self.owner.to_revoke();
        let waiting = std::mem::take(&mut self.waiting);
        if let Some(batch) = batch {
            let written = self.engine.committer.hand_in(batch).await;
            if self.owner.has_queued_tasks() {
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
        let posted = self.tell(news, by);
        self.repay(debts, posted);
        // Whoever does not wait any more need not be told.
        waiting.into_iter().for_each(|waiting| _ = waiting.send(()));
        orders.into_iter().for_each(|order| self.send(order));
        true
    }

    /// Takes what comes at the same time, to be written at the same time; whether to go on.
    async fn take_what_comes(&mut self) -> bool {
        let mut looks = 0;
        while !self.owner.has_queued_tasks() && looks < LOOKS {
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

    /// Tells others what is durable now. What it gives ends when that was tried, if it takes a while.
    fn tell(&mut self, news: News, by: Arc<Credential>) -> Option<watch::Receiver<()>> {
        if let Some(listener) = &self.engine.config.listener
            && !news.notices.is_empty()
        {
            listener.hear(news.notices);
        }
        if news.events.is_empty() {
            return None;
        }
        let posting = self.posting.get_or_insert_with(|| Posting::start(self.engine.clone()));
        Some(posting.hand_in(&news.sinks, &news.events, by))
    }

    /// Gives back what nobody needs any more. A debt is remembered until that is done: if the engine dies meanwhile,
    /// the next one that takes up the tree tries again.
    fn repay(&mut self, debts: Vec<Arc<Credential>>, posted: Option<watch::Receiver<()>>) {
        for debt in debts {
            if self.repaying.contains(&debt) {
                continue;
            }
            self.repaying.push(debt.clone());
            let (engine, mail) = (self.engine.clone(), self.mail.clone());
            let posted = posted.clone();
            tokio::spawn(async move {
                if let Some(mut posted) = posted {
                    // The last events are sent with it; whoever does not take them is not waited for.
                    _ = tokio::time::timeout(GRACE, posted.changed()).await;
                }
                give_back(&*engine.transport, &debt).await;
                // A tree that was given up hears of it when somebody tries again.
                _ = mail.send(Mail::Repaid(debt));
            });
        }
    }

    /// The next piece of mail; nothing if it is time to look at what is due.
    async fn next(&mut self) -> Option<Mail> {
        let wake = match self.owner.next_wake() {
            Some(wake) => wake.since(now()).max(Duration::from_micros(1)),
            None => Duration::MAX,
        };
        // A tree in which nothing happens is not kept in memory: whoever wants something of it next
        // takes it up again.
        let is_needed = self.owner.is_busy() || self.owner.has_revocations();
        let idle = if is_needed { Duration::MAX } else { self.engine.settings.idle };
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
            Mail::Answer(op, order, answer) => {
                self.owner.answer(op, order, Answer::Reply(answer), now(), &mut self.chance);
            }
            Mail::Repaid(credential) => {
                self.repaying.retain(|it| *it != credential);
                self.owner.revoked(&credential);
            }
            Mail::Leave => return false,
        }
        true
    }

    fn send(&self, order: Order) {
        let (engine, mail) = (self.engine.clone(), self.mail.clone());
        tokio::spawn(async move {
            let answer = engine.transport.send(&order.by, order.call).await;
            // A tree that was given up hears of it from the record.
            _ = mail.send(Mail::Answer(order.op, order.number, answer));
        });
    }
}

/// Removes the project of a tree's users. If that cannot be done, it is left to the operator.
async fn remove_users(engine: Arc<Inner>, project: &str) {
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

fn glance(tree: &Tree, is_busy: bool, commands: u64) -> Glance {
    let (state, reason) = tree.root_state();
    Glance { state, reason, is_busy, commands, owes: tree.has_revocations() }
}

/// Gives back what a user lent, however long the identity service cannot be reached. What it refuses is as good as
/// given back: nobody else could do better.
async fn give_back(transport: &dyn Transport, debt: &Credential) {
    const LONGEST: Duration = Duration::from_secs(60);
    let mut pause = Duration::from_millis(500);
    loop {
        match transport.revoke(debt).await {
            Ok(()) => return,
            Err(CallError::Refused(reply)) if reply.status < 500 && reply.status != 429 => {
                let said = reply.error_text().unwrap_or_default();
                tracing::warn!("what {debt:?} lent is not taken back: {said}");
                return;
            }
            Err(CallError::Impossible(why)) => {
                tracing::warn!("what {debt:?} lent cannot be given back: {why}");
                return;
            }
            Err(error) => tracing::warn!("what {debt:?} lent cannot be given back yet: {error}"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST);
    }
}
