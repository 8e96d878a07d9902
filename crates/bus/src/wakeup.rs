//! RabbitMQ as the carrier of wake-ups: every process has a queue of its own on one fanout exchange.
//!
//! Wake-ups are hints (see [`WakeupChannel`](kiln_engine::WakeupChannel)): nothing is stored on the broker, and nothing waits for it.

use crate::BusConfig;
use crate::rabbit::{PublishError, arguments, connection_lost, with_timeout};
use amqprs::BasicProperties;
use amqprs::channel::{
    BasicConsumeArguments, BasicPublishArguments, Channel, ConsumerMessage,
    ExchangeDeclareArguments, ExchangeType, QueueBindArguments, QueueDeclareArguments,
};
use amqprs::connection::Connection;
use kiln_engine::CarriedWakeups;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// The exchange that the processes on a broker's virtual host listen to.
const EXCHANGE: &str = "kiln_wakeup";

/// The longest pause between attempts to reach the broker.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// Carries the wake-ups of this process to the other processes at a broker, and theirs to this one. It ends when the channel is gone.
pub async fn carry_wakeups(config: BusConfig, mut wakeups: CarriedWakeups) {
    let (mut next_host, mut pause, mut is_silent) = (0, config.pause, false);
    loop {
        let error = match connect(&config, &mut next_host).await {
            Ok(connection) => {
                if std::mem::take(&mut is_silent) {
                    tracing::info!("wake-ups come through the broker again");
                }
                pause = config.pause;
                wakeups.missed();
                match carry(&config, connection, &mut wakeups).await {
                    Ok(()) => return,
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        if !std::mem::replace(&mut is_silent, true) {
            let (PublishError::Lost(error) | PublishError::Mismatch(error)) = error;
            tracing::warn!(
                error,
                "wake-ups do not come through the broker: the database is polled instead"
            );
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// A connection that speaks and listens.
struct WakeupConnection {
    channel: Channel,
    messages: UnboundedReceiver<ConsumerMessage>,
    /// The connection lasts as long as this.
    connection: Connection,
}

/// Connects to the next node of the broker that answers.
async fn connect(
    config: &BusConfig,
    next_host: &mut usize,
) -> Result<WakeupConnection, PublishError> {
    let hosts = &config.address.hosts;
    let mut error = PublishError::Lost("the address names no node of the broker".into());
    for _ in 0..hosts.len() {
        let host = &hosts[*next_host % hosts.len()];
        let opened = async {
            let connection = Connection::open(&arguments(config, host)?).await;
            listen(connection.map_err(connection_lost)?).await
        };
        match with_timeout(config.timeout, opened).await {
            Ok(connection) => return Ok(connection),
            Err(failed) => error = failed,
        }
        *next_host += 1;
    }
    Err(error)
}

async fn listen(connection: Connection) -> Result<WakeupConnection, PublishError> {
    let channel = connection.open_channel(None).await.map_err(connection_lost)?;
    let exchange = ExchangeDeclareArguments::of_type(EXCHANGE, ExchangeType::Fanout).finish();
    channel.exchange_declare(exchange).await.map_err(connection_lost)?;
    // The queue has a name that the broker chooses, and goes with the connection.
    let queue = QueueDeclareArguments::exclusive_server_named();
    let declared = channel.queue_declare(queue).await.map_err(connection_lost)?;
    let missing = || PublishError::Lost("the broker named no queue".into());
    let (queue, _, _) = declared.ok_or_else(missing)?;
    let bind = QueueBindArguments::new(&queue, EXCHANGE, "");
    channel.queue_bind(bind).await.map_err(connection_lost)?;
    let consume = BasicConsumeArguments::new(&queue, "").manual_ack(false).finish();
    let (_, messages) = channel.basic_consume_rx(consume).await.map_err(connection_lost)?;
    Ok(WakeupConnection { channel, messages, connection })
}

/// Carries wake-ups until the channel is gone, or the connection is lost.
async fn carry(
    config: &BusConfig,
    mut connection: WakeupConnection,
    wakeups: &mut CarriedWakeups,
) -> Result<(), PublishError> {
    loop {
        tokio::select! {
            message = connection.messages.recv() => {
                let lost = || PublishError::Lost("the connection was closed".into());
                let content = message.ok_or_else(lost)?.content.unwrap_or_default();
                wakeups.incoming(&String::from_utf8_lossy(&content));
            }
            message = wakeups.outgoing() => {
                let Some(message) = message else {
                    // A broker that does not answer is not waited for.
                    _ = tokio::time::timeout(config.timeout, connection.connection.close()).await;
                    return Ok(());
                };
                let publish = connection.channel.basic_publish(
                    BasicProperties::default(),
                    message.into_bytes(),
                    BasicPublishArguments::new(EXCHANGE, ""),
                );
                publish.await.map_err(connection_lost)?;
            }
        }
    }
}
