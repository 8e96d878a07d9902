//! The sender: notifications for the log are written at once, those for a broker are queued for a background task.

use crate::message::Message;
use crate::queue::{Queue, QueuedNotification};
use crate::rabbit::{BrokerConnection, Publication, PublishError};
use crate::{BusConfig, Driver, Level};
use kiln_engine::{Counters, Ids, Metrics, Notification, NotificationListener, SystemIds};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The number of notifications that are published together.
const BATCH_SIZE: usize = 100;

/// The maximal pause between attempts to reach a broker.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The minimal interval between log lines about the same trouble.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The outcomes that notifications are counted by.
const SENT: &str = "sent";
const DROPPED: &str = "dropped";

/// Publishes notifications about stacks.
pub struct Bus {
    config: Arc<BusConfig>,
    queue: Arc<Queue>,
    counters: Counters,
    task: JoinHandle<()>,
}

impl Bus {
    /// Starts the background task. Each notification is counted once, as `sent` or `dropped`.
    #[allow(clippy::disallowed_methods, reason = "the bus owns its only task, which `close` ends")]
    pub fn start(config: BusConfig, counters: Counters) -> Bus {
        let config = Arc::new(config);
        let queue = Arc::new(Queue::new(config.capacity));
        let sender = Sender::new(config.clone(), queue.clone(), counters.clone());
        Bus { config, queue, counters, task: tokio::spawn(sender.run()) }
    }

    /// Returns the listener for the engine.
    pub fn listener(&self) -> Arc<dyn NotificationListener> {
        Arc::new(QueueListener {
            config: self.config.clone(),
            queue: self.queue.clone(),
            counters: self.counters.clone(),
        })
    }

    /// Publishes the queued notifications, unless that takes too long.
    pub async fn close(self, timeout: Duration) {
        self.queue.close();
        let abort = self.task.abort_handle();
        if tokio::time::timeout(timeout, self.task).await.is_err() {
            abort.abort();
            let unsent = self.queue.take_unsent();
            Metrics::count(&self.counters, DROPPED, unsent);
            tracing::warn!(
                unsent,
                "some notifications were not sent: the broker does not accept them"
            );
        }
    }
}

/// Logs notifications at once and queues those for the broker.
#[derive(Debug)]
struct QueueListener {
    config: Arc<BusConfig>,
    queue: Arc<Queue>,
    counters: Counters,
}

impl NotificationListener for QueueListener {
    fn notify(&self, notices: Vec<Notification>) {
        let mut ids = SystemIds::default();
        let named: Vec<QueuedNotification> =
            notices.into_iter().map(|it| (ids.next(), it)).collect();
        let drivers = &self.config.drivers;
        if drivers.contains(&Driver::Log) {
            named.iter().for_each(|(id, it)| log(&Message::new(it, &self.config, *id)));
        }
        if drivers.iter().any(|driver| *driver != Driver::Log) {
            Metrics::count(&self.counters, DROPPED, self.queue.put(named));
        } else {
            Metrics::count(&self.counters, SENT, named.len());
        }
    }
}

struct Sender {
    config: Arc<BusConfig>,
    queue: Arc<Queue>,
    counters: Counters,
    connection: Option<BrokerConnection>,
    /// The node of the broker to try next.
    next_host: usize,
    /// Exchanges and queues with other attributes than the declared ones; they are used as they are.
    mismatched: BTreeSet<String>,
    /// The times of the last log lines about an unreachable broker and about dropped notifications.
    logged_unreachable: Option<Instant>,
    logged_dropped: Option<Instant>,
    ids: SystemIds,
}

impl Sender {
    fn new(config: Arc<BusConfig>, queue: Arc<Queue>, counters: Counters) -> Sender {
        Sender {
            config,
            queue,
            counters,
            connection: None,
            next_host: 0,
            mismatched: BTreeSet::new(),
            logged_unreachable: None,
            logged_dropped: None,
            ids: SystemIds::default(),
        }
    }

    async fn run(mut self) {
        while let Some(notices) = self.queue.take(BATCH_SIZE).await {
            let mut publications = Vec::new();
            for (id, notice) in &notices {
                self.add_publications(&Message::new(notice, &self.config, *id), &mut publications);
            }
            let is_sent = self.publish(&publications).await;
            let outcome = if is_sent { SENT } else { DROPPED };
            Metrics::count(&self.counters, outcome, self.queue.finish(is_sent));
            self.log_dropped();
        }
        if let Some(connection) = self.connection.take() {
            connection.close(self.config.timeout).await;
        }
    }

    /// Adds the publications of a message: one for each topic and driver.
    fn add_publications(&mut self, message: &Message, publications: &mut Vec<Publication>) {
        for driver in &self.config.drivers {
            let Driver::Messaging { is_enveloped } = driver else { continue };
            for topic in &self.config.topics {
                let key = format!("{topic}.{}", message.level.word());
                let body = message.body(*is_enveloped, self.ids.next());
                publications.push(Publication { key, body });
            }
        }
    }

    /// Publishes with retries, up to the configured number. Returns whether it succeeded.
    async fn publish(&mut self, publications: &[Publication]) -> bool {
        let mut pause = self.config.pause;
        let mut failures = 0;
        loop {
            let was_connected = self.connection.is_some();
            match self.try_to_publish(publications).await {
                Ok(()) => {
                    if self.logged_unreachable.take().is_some() {
                        tracing::warn!("the broker accepts notifications again");
                    }
                    return true;
                }
                // The next attempt uses the existing one, so this is not a failure.
                Err(PublishError::Mismatch(why)) => {
                    tracing::warn!(
                        "an exchange or a queue for notifications is used as it is: {why}; see \
                         [oslo_messaging_rabbit] amqp_durable_queues"
                    );
                    continue;
                }
                // The connection may have ended long ago; a new one shows the current error.
                Err(PublishError::Lost(_)) if was_connected => continue,
                Err(PublishError::Lost(why)) => self.log_unreachable(&why),
            }
            failures += 1;
            if self.config.retries.is_some_and(|retries| failures > retries) {
                return false;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
            self.log_dropped();
        }
    }

    async fn try_to_publish(&mut self, publications: &[Publication]) -> Result<(), PublishError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        for publication in publications {
            if !connection.has_declared(&publication.key) {
                self.prepare(&mut connection, &publication.key).await?;
            }
        }
        connection.publish(&self.config, publications).await?;
        self.connection = Some(connection);
        Ok(())
    }

    /// Connects to the next node of the broker that answers.
    async fn connect(&mut self) -> Result<BrokerConnection, PublishError> {
        let hosts = self.config.address.hosts.len();
        let mut error = PublishError::Lost("the address names no node of the broker".into());
        for _ in 0..hosts {
            let host = &self.config.address.hosts[self.next_host % hosts];
            match BrokerConnection::open(&self.config, host).await {
                Ok(connection) => return Ok(connection),
                Err(PublishError::Lost(why)) => {
                    error = PublishError::Lost(format!("{host}: {why}"))
                }
                Err(other) => error = other,
            }
            self.next_host += 1;
        }
        Err(error)
    }

    /// Declares and binds the queue for a routing key, so that messages are stored for later consumers.
    async fn prepare(
        &mut self,
        connection: &mut BrokerConnection,
        key: &str,
    ) -> Result<(), PublishError> {
        let config = &self.config;
        let exchange = format!("exchange {}", config.exchange);
        let queue = format!("queue {key}");
        if !self.mismatched.contains(&exchange) {
            let declared = connection.declare_exchange(config).await;
            record_mismatch(&mut self.mismatched, exchange, declared)?;
        }
        if !self.mismatched.contains(&queue) {
            let declared = connection.declare_queue(config, key).await;
            record_mismatch(&mut self.mismatched, queue, declared)?;
        }
        connection.bind(config, key).await
    }

    fn log_unreachable(&mut self, why: &str) {
        if self.logged_unreachable.is_none_or(|logged| logged.elapsed() >= LOG_INTERVAL) {
            self.logged_unreachable = Some(Instant::now());
            tracing::warn!(
                "cannot publish notifications, retrying (stacks are not affected): {why}"
            );
        }
    }

    fn log_dropped(&mut self) {
        if self.logged_dropped.is_some_and(|logged| logged.elapsed() < LOG_INTERVAL) {
            return;
        }
        let dropped = self.queue.take_dropped();
        if dropped > 0 {
            self.logged_dropped = Some(Instant::now());
            tracing::warn!(
                "{dropped} notifications were dropped: the broker did not accept them in time"
            );
        }
    }
}

/// Records an exchange or queue with other attributes.
fn record_mismatch(
    mismatched: &mut BTreeSet<String>,
    what: String,
    declared: Result<(), PublishError>,
) -> Result<(), PublishError> {
    if let Err(PublishError::Mismatch(_)) = &declared {
        mismatched.insert(what);
    }
    declared
}

/// Writes a log line.
fn log(message: &Message) {
    let (event_type, line) = (message.event_type(), message.log_line());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Address;
    use crate::queue::tests::notice;

    fn counted(counters: &Counters) -> [u64; 2] {
        [SENT, DROPPED].map(|outcome| counters.get_or_create(&[("outcome", outcome)]).get())
    }

    fn notices(count: usize) -> Vec<Notification> {
        (0..count).map(|_| notice("a").1).collect()
    }

    fn unreachable(config: BusConfig) -> BusConfig {
        BusConfig {
            drivers: vec![Driver::Log, Driver::Messaging { is_enveloped: true }],
            address: Address::parse("rabbit://kiln:secret@127.0.0.1:1/").unwrap(),
            pause: Duration::from_millis(1),
            ..config
        }
    }

    #[tokio::test]
    async fn notifications_in_the_log_are_counted_as_sent() {
        let counters = Counters::default();
        let config = BusConfig { drivers: vec![Driver::Log], ..BusConfig::default() };
        let bus = Bus::start(config, counters.clone());
        bus.listener().notify(notices(3));
        bus.close(Duration::from_secs(60)).await;
        assert_eq!(counted(&counters), [3, 0]);
    }

    #[tokio::test]
    async fn notifications_that_the_broker_never_gets_are_counted_as_dropped() {
        let counters = Counters::default();
        let config = unreachable(BusConfig { retries: Some(1), ..BusConfig::default() });
        let bus = Bus::start(config, counters.clone());
        bus.listener().notify(notices(3));
        bus.close(Duration::from_secs(60)).await;
        assert_eq!(counted(&counters), [0, 3]);
    }

    #[tokio::test]
    async fn notifications_are_counted_once_if_the_queue_is_full_and_the_process_stops() {
        let counters = Counters::default();
        let config = unreachable(BusConfig { capacity: 2, ..BusConfig::default() });
        let bus = Bus::start(config, counters.clone());
        bus.listener().notify(notices(5));
        assert_eq!(counted(&counters), [0, 3]);
        bus.close(Duration::from_millis(50)).await;
        assert_eq!(counted(&counters), [0, 5]);
    }
}
