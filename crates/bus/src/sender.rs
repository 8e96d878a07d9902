//! What is told goes to the log at once; what is for a broker waits for the task that sends it.

use crate::message::Message;
use crate::queue::{Named, Queue};
use crate::rabbit::{Line, Post, Trouble};
use crate::{Driver, Level, Settings};
use kiln_engine::ids::Ids;
use kiln_engine::notification::{Notification, NotificationListener};
use kiln_engine::runtime::SystemIds;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How many notices are sent at once.
const TOGETHER: usize = 100;

/// A broker that is gone is tried again no less often than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What goes on being wrong is told no more often than this.
const REMINDER: Duration = Duration::from_secs(60);

/// Tells operators what happens to stacks.
pub struct Bus {
    settings: Arc<Settings>,
    queue: Arc<Queue>,
    task: JoinHandle<()>,
}

impl Bus {
    /// Starts a task that sends what it is told.
    pub fn start(settings: Settings) -> Bus {
        let settings = Arc::new(settings);
        let queue = Arc::new(Queue::new(settings.room));
        let sender = Sender::new(settings.clone(), queue.clone());
        Bus { settings, queue, task: tokio::spawn(sender.run()) }
    }

    /// Whoever is to be told.
    pub fn listener(&self) -> Arc<dyn NotificationListener> {
        Arc::new(Ear { settings: self.settings.clone(), queue: self.queue.clone() })
    }

    /// Sends what still waits, unless that takes too long.
    pub async fn close(self, patience: Duration) {
        self.queue.close();
        let abort = self.task.abort_handle();
        if tokio::time::timeout(patience, self.task).await.is_err() {
            abort.abort();
            tracing::warn!("some notifications were not sent: the broker does not take them");
        }
    }
}

/// Writes to the log at once, and has wait what is for the broker.
#[derive(Debug)]
struct Ear {
    settings: Arc<Settings>,
    queue: Arc<Queue>,
}

impl NotificationListener for Ear {
    fn notify(&self, notices: Vec<Notification>) {
        let mut chance = SystemIds::default();
        let named: Vec<Named> = notices.into_iter().map(|it| (chance.next(), it)).collect();
        let drivers = &self.settings.drivers;
        if drivers.contains(&Driver::Log) {
            named.iter().for_each(|(id, it)| log(&Message::of(it, &self.settings, *id)));
        }
        if drivers.iter().any(|driver| *driver != Driver::Log) {
            self.queue.put(named);
        }
    }
}

struct Sender {
    settings: Arc<Settings>,
    queue: Arc<Queue>,
    line: Option<Line>,
    /// The machine of the broker that is tried next.
    next_host: usize,
    /// What is there and other than it should be: it is used as it is.
    as_it_is: BTreeSet<String>,
    /// When it was last told that the broker does not take anything, and that something was dropped.
    told: Option<Instant>,
    told_dropped: Option<Instant>,
    chance: SystemIds,
}

impl Sender {
    fn new(settings: Arc<Settings>, queue: Arc<Queue>) -> Sender {
        Sender {
            settings,
            queue,
            line: None,
            next_host: 0,
            as_it_is: BTreeSet::new(),
            told: None,
            told_dropped: None,
            chance: SystemIds::default(),
        }
    }

    async fn run(mut self) {
        while let Some(notices) = self.queue.take(TOGETHER).await {
            let mut posts = Vec::new();
            for (id, notice) in &notices {
                self.address(&Message::of(notice, &self.settings, *id), &mut posts);
            }
            if !self.publish(&posts).await {
                self.queue.drop_some(notices.len());
            }
            self.tell_dropped();
        }
        if let Some(line) = self.line.take() {
            line.close(self.settings.patience).await;
        }
    }

    /// What is published of a message: once for each topic and form.
    fn address(&mut self, message: &Message, posts: &mut Vec<Post>) {
        for driver in &self.settings.drivers {
            let Driver::Messaging { is_enveloped } = driver else { continue };
            for topic in &self.settings.topics {
                let key = format!("{topic}.{}", message.level.word());
                let body = message.body(*is_enveloped, self.chance.next());
                posts.push(Post { key, body });
            }
        }
    }

    /// Publishes; tries again until it is done, or as often as the operator wants.
    async fn publish(&mut self, posts: &[Post]) -> bool {
        let mut pause = self.settings.pause;
        let mut failures = 0;
        loop {
            let was_connected = self.line.is_some();
            match self.try_to_publish(posts).await {
                Ok(()) => {
                    if self.told.take().is_some() {
                        tracing::warn!("the broker takes notifications again");
                    }
                    return true;
                }
                // The next try leaves it as it is: that is no failure.
                Err(Trouble::IsOther(why)) => {
                    tracing::warn!(
                        "an exchange or a queue for notifications is used as it is: {why}; see \
                         [oslo_messaging_rabbit] amqp_durable_queues"
                    );
                    continue;
                }
                // The connection may have ended long ago: a new one tells more.
                Err(Trouble::Lost(_)) if was_connected => continue,
                Err(Trouble::Lost(why)) => self.tell_lost(&why),
            }
            failures += 1;
            if self.settings.retries.is_some_and(|retries| failures > retries) {
                return false;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            self.tell_dropped();
        }
    }

    async fn try_to_publish(&mut self, posts: &[Post]) -> Result<(), Trouble> {
        let mut line = match self.line.take() {
            Some(line) => line,
            None => self.connect().await?,
        };
        for post in posts {
            if !line.knows(&post.key) {
                self.prepare(&mut line, &post.key).await?;
            }
        }
        line.publish(&self.settings, posts).await?;
        self.line = Some(line);
        Ok(())
    }

    /// Connects to the next machine of the broker, or the next that answers.
    async fn connect(&mut self) -> Result<Line, Trouble> {
        let hosts = self.settings.address.hosts.len();
        let mut trouble = Trouble::Lost("no machine of the broker is named".into());
        for _ in 0..hosts {
            let host = &self.settings.address.hosts[self.next_host % hosts];
            match Line::open(&self.settings, host).await {
                Ok(line) => return Ok(line),
                Err(Trouble::Lost(why)) => trouble = Trouble::Lost(format!("{host}: {why}")),
                Err(other) => trouble = other,
            }
            self.next_host += 1;
        }
        Err(trouble)
    }

    /// Makes sure that there is a queue for what is published under a key, so that it is kept for whoever
    /// comes later.
    async fn prepare(&mut self, line: &mut Line, key: &str) -> Result<(), Trouble> {
        let settings = &self.settings;
        let exchange = format!("exchange {}", settings.exchange);
        let queue = format!("queue {key}");
        if !self.as_it_is.contains(&exchange) {
            let declared = line.declare_exchange(settings).await;
            remember(&mut self.as_it_is, exchange, declared)?;
        }
        if !self.as_it_is.contains(&queue) {
            let declared = line.declare_queue(settings, key).await;
            remember(&mut self.as_it_is, queue, declared)?;
        }
        line.bind(settings, key).await
    }

    fn tell_lost(&mut self, why: &str) {
        if self.told.is_none_or(|told| told.elapsed() >= REMINDER) {
            self.told = Some(Instant::now());
            tracing::warn!("the broker takes no notifications, and stacks go on without: {why}");
        }
    }

    fn tell_dropped(&mut self) {
        if self.told_dropped.is_some_and(|told| told.elapsed() < REMINDER) {
            return;
        }
        let dropped = self.queue.take_dropped();
        if dropped > 0 {
            self.told_dropped = Some(Instant::now());
            tracing::warn!("{dropped} notifications were dropped: too many waited for the broker");
        }
    }
}

/// Remembers what is other than it should be.
fn remember(
    as_it_is: &mut BTreeSet<String>,
    what: String,
    declared: Result<(), Trouble>,
) -> Result<(), Trouble> {
    if let Err(Trouble::IsOther(_)) = &declared {
        as_it_is.insert(what);
    }
    declared
}

/// One line in the log.
fn log(message: &Message) {
    let (event_type, line) = (message.event_type(), message.line());
    match message.level {
        Level::Sample => {}
        Level::Debug => tracing::debug!(target: "notification", event_type, "{line}"),
        Level::Audit | Level::Info => tracing::info!(target: "notification", event_type, "{line}"),
        Level::Warn => tracing::warn!(target: "notification", event_type, "{line}"),
        Level::Error | Level::Critical => {
            tracing::error!(target: "notification", event_type, "{line}");
        }
    }
}
