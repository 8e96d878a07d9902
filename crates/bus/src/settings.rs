//! What an operator decides about notifications.

use crate::{Address, Level, Tls};
use std::time::Duration;

/// What an operator decides about notifications.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How they are sent, each in its turn.
    pub drivers: Vec<Driver>,
    /// What the queues' names begin with; one message is sent for each.
    pub topics: Vec<String>,
    /// The broker.
    pub address: Address,
    /// How the connection to it is encrypted, if it is.
    pub tls: Option<Tls>,
    /// The exchange.
    pub exchange: String,
    /// The level of what went well.
    pub level: Level,
    /// Who sends them.
    pub publisher: String,
    /// Whether the exchange and the queues outlive the broker's process.
    pub is_durable: bool,
    /// Whether the exchange and the queues go with those who use them.
    pub is_auto_delete: bool,
    /// Whether the queues are replicated by the broker. They outlive its process then.
    pub is_quorum: bool,
    /// How often what could not be sent is tried again; nothing means for ever.
    pub retries: Option<u32>,
    /// How many notifications wait at most.
    pub room: usize,
    /// How long the broker may take to confirm what it was sent.
    pub patience: Duration,
    /// How long to wait before a broker is tried again for the first time; then longer and longer.
    pub pause: Duration,
}

/// How notifications are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// To a broker.
    Messaging {
        /// In an envelope, version 2.0.
        is_enveloped: bool,
    },
    /// To the log.
    Log,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            drivers: Vec::new(),
            topics: vec!["notifications".to_owned()],
            address: Address::default(),
            tls: None,
            exchange: "heat".to_owned(),
            level: Level::Info,
            publisher: "orchestration.localhost".to_owned(),
            is_durable: false,
            is_auto_delete: false,
            is_quorum: false,
            retries: None,
            room: 10_000,
            patience: Duration::from_secs(15),
            pause: Duration::from_secs(1),
        }
    }
}
