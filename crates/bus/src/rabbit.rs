//! The connection to RabbitMQ for publishing notifications.

use crate::address::Host;
use crate::{BusConfig, Tls};
use amqprs::callbacks::{ChannelCallback, ConnectionCallback};
use amqprs::channel::{
    BasicPublishArguments, Channel, ConfirmSelectArguments, ExchangeDeclareArguments, ExchangeType,
    QueueBindArguments, QueueDeclareArguments,
};
use amqprs::connection::{Connection, OpenConnectionArguments};
use amqprs::error::Error;
use amqprs::tls::TlsAdaptor;
use amqprs::{
    Ack, BasicProperties, Cancel, Close, CloseChannel, DELIVERY_MODE_PERSISTENT, FieldTable, Nack,
    Return,
};
use async_trait::async_trait;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// A message to be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Publication {
    /// The routing key, which is also the name of the queue that stores the message for later consumers.
    pub(crate) key: String,
    pub(crate) body: Vec<u8>,
}

/// The reason why a message was not, or may not have been, published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PublishError {
    /// An existing exchange or queue has other attributes than the declared ones.
    Mismatch(String),
    /// Any other error; a retry may help.
    Lost(String),
}

/// An open connection with a channel for publishing.
pub(crate) struct BrokerConnection {
    channel: Channel,
    connection: Connection,
    /// The number of messages that the broker has confirmed.
    confirmed: watch::Receiver<u64>,
    published: u64,
    /// The queues that were declared on this connection.
    declared: BTreeSet<String>,
    /// The reason why the broker closed the connection.
    close_reason: CloseReason,
}

/// The reason why the broker closed the connection or the channel: its code and text.
type CloseReason = Arc<Mutex<Option<(u16, String)>>>;

/// The AMQP code for an existing exchange or queue with other attributes.
const PRECONDITION_FAILED: u16 = 406;

/// Checks that a node of a broker can be reached and accepts the login; the error says why not.
pub async fn check_connection(config: &BusConfig, host: &Host) -> Result<(), String> {
    match BrokerConnection::open(config, host).await {
        Ok(connection) => {
            connection.close(config.timeout).await;
            Ok(())
        }
        Err(PublishError::Mismatch(why) | PublishError::Lost(why)) => Err(why),
    }
}

impl BrokerConnection {
    /// Connects to a broker.
    pub(crate) async fn open(
        config: &BusConfig,
        host: &Host,
    ) -> Result<BrokerConnection, PublishError> {
        let arguments = arguments(config, host)?;
        with_timeout(config.timeout, BrokerConnection::connect(&arguments)).await
    }

    async fn connect(
        arguments: &OpenConnectionArguments,
    ) -> Result<BrokerConnection, PublishError> {
        let close_reason = CloseReason::default();
        let connection = Connection::open(arguments).await.map_err(connection_lost)?;
        connection
            .register_callback(ConnectionObserver(close_reason.clone()))
            .await
            .map_err(connection_lost)?;
        let channel = connection.open_channel(None).await.map_err(connection_lost)?;
        let (tell, confirmed) = watch::channel(0);
        let confirms =
            ConfirmTracker { tell, ahead: BTreeSet::new(), close_reason: close_reason.clone() };
        channel.register_callback(confirms).await.map_err(connection_lost)?;
        channel.confirm_select(ConfirmSelectArguments::default()).await.map_err(connection_lost)?;
        Ok(BrokerConnection {
            channel,
            connection,
            confirmed,
            published: 0,
            declared: BTreeSet::new(),
            close_reason,
        })
    }

    /// Declares the exchange.
    pub(crate) async fn declare_exchange(
        &mut self,
        config: &BusConfig,
    ) -> Result<(), PublishError> {
        let name = &config.exchange;
        let arguments = ExchangeDeclareArguments::of_type(name, ExchangeType::Topic)
            .durable(config.is_durable)
            .auto_delete(config.is_auto_delete)
            .finish();
        let declared = self.channel.exchange_declare(arguments);
        let declared =
            with_timeout(config.timeout, async { declared.await.map_err(connection_lost) }).await;
        declared.map_err(|error| self.declaration_error(error))
    }

    /// Declares a queue.
    pub(crate) async fn declare_queue(
        &mut self,
        config: &BusConfig,
        name: &str,
    ) -> Result<(), PublishError> {
        let mut table = FieldTable::new();
        if config.is_quorum
            && let Ok(key) = "x-queue-type".try_into()
        {
            table.insert(key, "quorum".into());
        }
        let arguments = QueueDeclareArguments::new(name)
            .durable(config.is_durable || config.is_quorum)
            .auto_delete(config.is_auto_delete)
            .arguments(table)
            .finish();
        let declared = self.channel.queue_declare(arguments);
        let declared = with_timeout(config.timeout, async {
            declared.await.map(drop).map_err(connection_lost)
        })
        .await;
        declared.map_err(|error| self.declaration_error(error))
    }

    /// Binds a queue to its name as the routing key.
    pub(crate) async fn bind(
        &mut self,
        config: &BusConfig,
        name: &str,
    ) -> Result<(), PublishError> {
        let bound = self.channel.queue_bind(QueueBindArguments::new(name, &config.exchange, name));
        let bound =
            with_timeout(config.timeout, async { bound.await.map_err(connection_lost) }).await;
        bound.map_err(|error| self.explain(error))?;
        self.declared.insert(name.to_owned());
        Ok(())
    }

    /// Reports whether a queue has been declared.
    pub(crate) fn has_declared(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    /// Publishes messages and waits until the broker has confirmed all of them.
    pub(crate) async fn publish(
        &mut self,
        config: &BusConfig,
        publications: &[Publication],
    ) -> Result<(), PublishError> {
        let published = with_timeout(config.timeout, async {
            for publication in publications {
                let arguments = BasicPublishArguments::new(&config.exchange, &publication.key);
                let sent =
                    self.channel.basic_publish(properties(), publication.body.clone(), arguments);
                sent.await.map_err(connection_lost)?;
                self.published += 1;
            }
            let all = self.published;
            let confirmed = self.confirmed.wait_for(|count| *count >= all).await;
            let ended = |_| {
                PublishError::Lost("the connection ended before all messages were confirmed".into())
            };
            confirmed.map(drop).map_err(ended)
        });
        published.await.map_err(|error| self.explain(error))
    }

    /// Closes the connection.
    pub(crate) async fn close(self, timeout: Duration) {
        // A broker that does not answer is not waited for.
        _ = tokio::time::timeout(timeout, async {
            _ = self.channel.close().await;
            _ = self.connection.close().await;
        })
        .await;
    }

    /// Adds the broker's own explanation to an error, if there is one.
    fn explain(&self, error: PublishError) -> PublishError {
        match self.close_reason() {
            Some((code, why)) => PublishError::Lost(format!("{code} {why}")),
            None => error,
        }
    }

    /// Returns the error for a failed declaration.
    fn declaration_error(&self, error: PublishError) -> PublishError {
        match self.close_reason() {
            Some((PRECONDITION_FAILED, why)) => PublishError::Mismatch(why),
            Some((code, why)) => PublishError::Lost(format!("{code} {why}")),
            None => error,
        }
    }

    fn close_reason(&self) -> Option<(u16, String)> {
        self.close_reason.lock().take()
    }
}

pub(crate) fn arguments(
    config: &BusConfig,
    host: &Host,
) -> Result<OpenConnectionArguments, PublishError> {
    let place =
        if host.name.contains(':') { format!("[{}]", host.name) } else { host.name.clone() };
    let mut arguments = OpenConnectionArguments::new(&place, host.port, &host.user, &host.password);
    arguments.virtual_host(&config.address.virtual_host);
    arguments.connection_name(&config.publisher);
    if let Some(tls) = &config.tls {
        arguments.tls_adaptor(adaptor(tls, host)?);
    }
    Ok(arguments.finish())
}

fn adaptor(tls: &Tls, host: &Host) -> Result<TlsAdaptor, PublishError> {
    match tls.connector() {
        Ok(connector) => Ok(TlsAdaptor::new(connector, host.name.clone())),
        Err(why) => Err(PublishError::Lost(why)),
    }
}

fn properties() -> BasicProperties {
    BasicProperties::default()
        .with_content_type("application/json")
        .with_content_encoding("utf-8")
        .with_delivery_mode(DELIVERY_MODE_PERSISTENT)
        .with_priority(0)
        .finish()
}

pub(crate) fn connection_lost(error: Error) -> PublishError {
    PublishError::Lost(error.to_string())
}

pub(crate) async fn with_timeout<T>(
    timeout: Duration,
    done: impl Future<Output = Result<T, PublishError>>,
) -> Result<T, PublishError> {
    let late = |_| PublishError::Lost("the broker does not answer in time".into());
    tokio::time::timeout(timeout, done).await.map_err(late)?
}

/// Records why the connection is closed.
struct ConnectionObserver(CloseReason);

#[async_trait]
impl ConnectionCallback for ConnectionObserver {
    async fn close(&mut self, _: &Connection, close: Close) -> Result<(), Error> {
        record_close(&self.0, close.reply_code(), close.reply_text());
        Ok(())
    }

    async fn blocked(&mut self, _: &Connection, reason: String) {
        tracing::warn!("the broker has blocked the connection: {reason}");
    }

    async fn unblocked(&mut self, _: &Connection) {}

    async fn secret_updated(&mut self, _: &Connection) {}
}

fn record_close(close_reason: &CloseReason, code: u16, text: &str) {
    *close_reason.lock() = Some((code, text.to_owned()));
}

/// Tracks confirmations. It is dropped with the channel, which wakes the waiting publisher.
struct ConfirmTracker {
    /// The number of the message up to which all are confirmed.
    tell: watch::Sender<u64>,
    /// The confirmed messages after that one.
    ahead: BTreeSet<u64>,
    close_reason: CloseReason,
}

impl ConfirmTracker {
    fn confirmed(&mut self, tag: u64, is_multiple: bool) {
        self.tell.send_modify(|count| {
            if is_multiple { *count = tag.max(*count) } else { _ = self.ahead.insert(tag) }
        });
        self.tell.send_modify(|count| {
            while self.ahead.remove(&(*count + 1)) {
                *count += 1;
            }
            self.ahead.retain(|tag| *tag > *count);
        });
    }
}

#[async_trait]
impl ChannelCallback for ConfirmTracker {
    async fn close(&mut self, _: &Channel, close: CloseChannel) -> Result<(), Error> {
        record_close(&self.close_reason, close.reply_code(), close.reply_text());
        Ok(())
    }

    async fn cancel(&mut self, _: &Channel, _: Cancel) -> Result<(), Error> {
        Ok(())
    }

    async fn flow(&mut self, _: &Channel, is_active: bool) -> Result<bool, Error> {
        Ok(is_active)
    }

    async fn publish_ack(&mut self, _: &Channel, ack: Ack) {
        self.confirmed(ack.delivery_tag(), ack.mutiple());
    }

    async fn publish_nack(&mut self, _: &Channel, _: Nack) {
        // Without a confirmation, the message is published again after the timeout.
    }

    async fn publish_return(&mut self, _: &Channel, _: Return, _: BasicProperties, _: Vec<u8>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_confirmed_alone_or_together_in_any_order() {
        let (tell, confirmed) = watch::channel(0);
        let mut confirms =
            ConfirmTracker { tell, ahead: BTreeSet::new(), close_reason: CloseReason::default() };
        let mut after = |tag, is_multiple| {
            confirms.confirmed(tag, is_multiple);
            *confirmed.borrow()
        };
        assert_eq!(after(2, false), 0);
        assert_eq!(after(1, false), 2);
        assert_eq!(after(4, false), 2);
        assert_eq!(after(6, true), 6);
        assert_eq!(after(3, false), 6);
        assert_eq!(after(7, false), 7);
    }
}
