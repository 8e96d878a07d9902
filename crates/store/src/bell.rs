//! PostgreSQL as the carrier of the bell: `NOTIFY` and `LISTEN`.

use kiln_engine::CarriedBell;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions};
use std::str::FromStr;
use std::time::Duration;

/// The channel on which the processes of a database hear each other.
const CHANNEL: &str = "kiln_bell";

/// How long a message may take, and the pause before another attempt to listen.
const TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Carries the rings of this process to the other processes on a PostgreSQL database, and theirs to this one. It ends when the
/// bell is gone.
pub(crate) async fn carry(url: &str, mut bell: CarriedBell) -> Result<(), sqlx::Error> {
    let options = PgConnectOptions::from_str(url)?;
    // One connection listens, and one speaks.
    let pool = PgPoolOptions::new().max_connections(2).acquire_timeout(TIMEOUT);
    let pool = pool.connect_lazy_with(options);
    let mut listener = None;
    let mut is_silent = false;
    loop {
        let heard = match &mut listener {
            None => Heard::Connected(listen(&pool).await),
            Some(listener) => tokio::select! {
                heard = next(listener) => heard,
                message = bell.outgoing() => match message {
                    Some(message) => Heard::Told(tell(&pool, &message).await),
                    None => return Ok(()),
                },
            },
        };
        match heard {
            Heard::Message(message) => bell.incoming(&message),
            Heard::Told(Ok(())) => {}
            Heard::Connected(Ok(connected)) => {
                if std::mem::take(&mut is_silent) {
                    tracing::info!("the processes on this database hear each other again");
                }
                listener = Some(connected);
                bell.missed();
            }
            Heard::Lost(error) | Heard::Told(Err(error)) | Heard::Connected(Err(error)) => {
                if !std::mem::replace(&mut is_silent, true) {
                    tracing::warn!(%error, "the processes on this database do not hear each other: they poll it");
                }
                listener = None;
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        }
    }
}

/// What happened next.
enum Heard {
    /// A message of some process came.
    Message(String),
    /// A message was sent, or not.
    Told(Result<(), sqlx::Error>),
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

async fn next(listener: &mut PgListener) -> Heard {
    match listener.try_recv().await {
        Ok(Some(message)) => Heard::Message(message.payload().to_owned()),
        Ok(None) => Heard::Lost(sqlx::Error::WorkerCrashed),
        Err(error) => Heard::Lost(error),
    }
}

async fn tell(pool: &PgPool, message: &str) -> Result<(), sqlx::Error> {
    let sent = sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(message).execute(pool);
    sent.await.map(drop)
}
