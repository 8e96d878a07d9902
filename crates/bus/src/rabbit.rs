//! A connection to RabbitMQ, as far as publishing needs one. The only file that knows the library.

use crate::address::Host;
use crate::{Settings, Tls};
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
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Something to be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Post {
    /// Under which key, which is also the name of the queue that it goes to if nobody else wants it.
    pub(crate) key: String,
    pub(crate) body: Vec<u8>,
}

/// Why something was not published, or may not have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// What should be declared is there, and other than it should be.
    IsOther(String),
    /// Anything else; another try may help.
    Lost(String),
}

/// A connection that is ready for publishing.
pub(crate) struct Line {
    channel: Channel,
    connection: Connection,
    /// How many messages the broker has confirmed.
    confirmed: watch::Receiver<u64>,
    published: u64,
    /// What was declared on this connection.
    declared: BTreeSet<String>,
    /// Why the broker ended it.
    farewell: Farewell,
}

/// Why the broker ended something: its code, and what it said.
type Farewell = Arc<Mutex<Option<(u16, String)>>>;

/// The code of brokers for what is there and other than it should be.
const PRECONDITION_FAILED: u16 = 406;

impl Line {
    /// Connects to a broker.
    pub(crate) async fn open(settings: &Settings, host: &Host) -> Result<Line, Trouble> {
        let arguments = arguments(settings, host)?;
        within(settings.patience, Line::connect(&arguments)).await
    }

    async fn connect(arguments: &OpenConnectionArguments) -> Result<Line, Trouble> {
        let farewell = Farewell::default();
        let connection = Connection::open(arguments).await.map_err(lost)?;
        connection.register_callback(Ending(farewell.clone())).await.map_err(lost)?;
        let channel = connection.open_channel(None).await.map_err(lost)?;
        let (tell, confirmed) = watch::channel(0);
        let confirms = Confirms { tell, ahead: BTreeSet::new(), farewell: farewell.clone() };
        channel.register_callback(confirms).await.map_err(lost)?;
        channel.confirm_select(ConfirmSelectArguments::default()).await.map_err(lost)?;
        Ok(Line {
            channel,
            connection,
            confirmed,
            published: 0,
            declared: BTreeSet::new(),
            farewell,
        })
    }

    /// Makes sure that an exchange is there.
    pub(crate) async fn declare_exchange(&mut self, settings: &Settings) -> Result<(), Trouble> {
        let name = &settings.exchange;
        let arguments = ExchangeDeclareArguments::of_type(name, ExchangeType::Topic)
            .durable(settings.is_durable)
            .auto_delete(settings.is_auto_delete)
            .finish();
        let declared = self.channel.exchange_declare(arguments);
        let declared = within(settings.patience, async { declared.await.map_err(lost) }).await;
        declared.map_err(|trouble| self.undeclared(trouble))
    }

    /// Makes sure that a queue is there.
    pub(crate) async fn declare_queue(
        &mut self,
        settings: &Settings,
        name: &str,
    ) -> Result<(), Trouble> {
        let mut table = FieldTable::new();
        if settings.is_quorum
            && let Ok(key) = "x-queue-type".try_into()
        {
            table.insert(key, "quorum".into());
        }
        let arguments = QueueDeclareArguments::new(name)
            .durable(settings.is_durable || settings.is_quorum)
            .auto_delete(settings.is_auto_delete)
            .arguments(table)
            .finish();
        let declared = self.channel.queue_declare(arguments);
        let declared =
            within(settings.patience, async { declared.await.map(drop).map_err(lost) }).await;
        declared.map_err(|trouble| self.undeclared(trouble))
    }

    /// Has a queue get what is published under its name.
    pub(crate) async fn bind(&mut self, settings: &Settings, name: &str) -> Result<(), Trouble> {
        let bound =
            self.channel.queue_bind(QueueBindArguments::new(name, &settings.exchange, name));
        let bound = within(settings.patience, async { bound.await.map_err(lost) }).await;
        bound.map_err(|trouble| self.explained(trouble))?;
        self.declared.insert(name.to_owned());
        Ok(())
    }

    /// Whether a queue is known to be there.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    /// Publishes, and waits until the broker has confirmed all of it.
    pub(crate) async fn publish(
        &mut self,
        settings: &Settings,
        posts: &[Post],
    ) -> Result<(), Trouble> {
        let published = within(settings.patience, async {
            for post in posts {
                let arguments = BasicPublishArguments::new(&settings.exchange, &post.key);
                let sent = self.channel.basic_publish(properties(), post.body.clone(), arguments);
                sent.await.map_err(lost)?;
                self.published += 1;
            }
            let all = self.published;
            let confirmed = self.confirmed.wait_for(|count| *count >= all).await;
            let ended = |_| Trouble::Lost("the connection ended before all was confirmed".into());
            confirmed.map(drop).map_err(ended)
        });
        published.await.map_err(|trouble| self.explained(trouble))
    }

    /// Takes leave.
    pub(crate) async fn close(self, patience: Duration) {
        // A broker that does not answer is left without a word.
        _ = tokio::time::timeout(patience, async {
            _ = self.channel.close().await;
            _ = self.connection.close().await;
        })
        .await;
    }

    /// What went wrong, in the broker's own words if it said any.
    fn explained(&self, trouble: Trouble) -> Trouble {
        match self.said() {
            Some((code, why)) => Trouble::Lost(format!("{code} {why}")),
            None => trouble,
        }
    }

    /// Why something cannot be declared.
    fn undeclared(&self, trouble: Trouble) -> Trouble {
        match self.said() {
            Some((PRECONDITION_FAILED, why)) => Trouble::IsOther(why),
            Some((code, why)) => Trouble::Lost(format!("{code} {why}")),
            None => trouble,
        }
    }

    fn said(&self) -> Option<(u16, String)> {
        self.farewell.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn arguments(settings: &Settings, host: &Host) -> Result<OpenConnectionArguments, Trouble> {
    let place =
        if host.name.contains(':') { format!("[{}]", host.name) } else { host.name.clone() };
    let mut arguments = OpenConnectionArguments::new(&place, host.port, &host.user, &host.password);
    arguments.virtual_host(&settings.address.virtual_host);
    arguments.connection_name(&settings.publisher);
    if let Some(tls) = &settings.tls {
        arguments.tls_adaptor(adaptor(tls, host)?);
    }
    Ok(arguments.finish())
}

fn adaptor(tls: &Tls, host: &Host) -> Result<TlsAdaptor, Trouble> {
    match tls.connector() {
        Ok(connector) => Ok(TlsAdaptor::new(connector, host.name.clone())),
        Err(why) => Err(Trouble::Lost(why)),
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

fn lost(error: Error) -> Trouble {
    Trouble::Lost(error.to_string())
}

async fn within<T>(
    patience: Duration,
    done: impl Future<Output = Result<T, Trouble>>,
) -> Result<T, Trouble> {
    let late = |_| Trouble::Lost("the broker does not answer in time".into());
    tokio::time::timeout(patience, done).await.map_err(late)?
}

/// Hears why a connection ends.
struct Ending(Farewell);

#[async_trait]
impl ConnectionCallback for Ending {
    async fn close(&mut self, _: &Connection, close: Close) -> Result<(), Error> {
        note(&self.0, close.reply_code(), close.reply_text());
        Ok(())
    }

    async fn blocked(&mut self, _: &Connection, reason: String) {
        tracing::warn!("the broker takes no notifications for now: {reason}");
    }

    async fn unblocked(&mut self, _: &Connection) {}

    async fn secret_updated(&mut self, _: &Connection) {}
}

fn note(farewell: &Farewell, code: u16, text: &str) {
    *farewell.lock().unwrap_or_else(PoisonError::into_inner) = Some((code, text.to_owned()));
}

/// Hears what was confirmed. When the channel ends, so does this, and whoever waits sees that.
struct Confirms {
    /// Up to which message all are confirmed.
    tell: watch::Sender<u64>,
    /// Those behind it that are, too.
    ahead: BTreeSet<u64>,
    farewell: Farewell,
}

impl Confirms {
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
impl ChannelCallback for Confirms {
    async fn close(&mut self, _: &Channel, close: CloseChannel) -> Result<(), Error> {
        note(&self.farewell, close.reply_code(), close.reply_text());
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
        // It is not confirmed, so it is published again when patience ends.
    }

    async fn publish_return(&mut self, _: &Channel, _: Return, _: BasicProperties, _: Vec<u8>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_confirmed_alone_or_together_in_any_order() {
        let (tell, confirmed) = watch::channel(0);
        let mut confirms = Confirms { tell, ahead: BTreeSet::new(), farewell: Farewell::default() };
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
