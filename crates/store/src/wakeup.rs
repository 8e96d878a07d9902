//! PostgreSQL as the carrier of wake-ups: `NOTIFY` and `LISTEN`.

use kiln_engine::CarriedWakeups;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions};
use std::str::FromStr;
use std::time::Duration;

/// The channel that the processes on a database listen to.
const CHANNEL: &str = "kiln_wakeup";

/// How long a message may take, and the pause before another attempt to listen.
const TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Carries the wake-ups of this process to the other processes on a PostgreSQL database, and theirs to this one. It ends when the
/// channel is gone.
pub(crate) async fn carry(url: &str, mut wakeups: CarriedWakeups) -> Result<(), sqlx::Error> {
    let options = PgConnectOptions::from_str(url)?;
    // One connection listens, and one speaks.
    let pool = PgPoolOptions::new().max_connections(2).acquire_timeout(TIMEOUT);
    let pool = pool.connect_lazy_with(options);
    let mut listener = None;
    let mut is_silent = false;
    loop {
        let step = match &mut listener {
            None => Next::Connected(listen(&pool).await),
            Some(listener) => tokio::select! {
                step = receive(listener) => step,
                message = wakeups.outgoing() => match message {
                    Some(message) => Next::Sent(notify(&pool, &message).await),
                    None => return Ok(()),
                },
            },
        };
        match step {
            Next::Message(message) => wakeups.incoming(&message),
            Next::Sent(Ok(())) => {}
            Next::Connected(Ok(connected)) => {
                if std::mem::take(&mut is_silent) {
                    tracing::info!("wake-ups come through the database again");
                }
                listener = Some(connected);
                wakeups.missed();
            }
            Next::Lost(error) | Next::Sent(Err(error)) | Next::Connected(Err(error)) => {
                if !std::mem::replace(&mut is_silent, true) {
                    tracing::warn!(%error, "wake-ups do not come through the database: it is polled instead");
                }
                listener = None;
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        }
    }
}

/// What happened next.
enum Next {
    /// A message of some process came.
    Message(String),
    /// A message was sent, or not.
    Sent(Result<(), sqlx::Error>),
    /// The listener is connected, or not.
    Connected(Result<PgListener, sqlx::Error>),
    /// The listener lost its connection.
    Lost(sqlx::Error),
}

async fn listen(pool: &PgPool) -> Result<PgListener, sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

async fn receive(listener: &mut PgListener) -> Next {
    match listener.try_recv().await {
        Ok(Some(message)) => Next::Message(message.payload().to_owned()),
        Ok(None) => Next::Lost(sqlx::Error::WorkerCrashed),
        Err(error) => Next::Lost(error),
    }
}

async fn notify(pool: &PgPool, message: &str) -> Result<(), sqlx::Error> {
    let sent = sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(message).execute(pool);
    sent.await.map(drop)
}
