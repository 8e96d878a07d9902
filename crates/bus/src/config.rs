//! The configuration of notifications.

use crate::{Address, Level, Tls};
use std::time::Duration;

/// The configuration of notifications.
#[derive(Clone, Debug)]
pub struct BusConfig {
    /// The drivers.
    pub drivers: Vec<Driver>,
    /// The prefixes of the queue names; every message is sent once for each.
    pub topics: Vec<String>,
    /// The address of the broker.
    pub address: Address,
    /// The TLS configuration; absent for an unencrypted connection.
    pub tls: Option<Tls>,
    /// The name of the exchange.
    pub exchange: String,
    /// The priority of notifications about successes.
    pub level: Level,
    /// The publisher id.
    pub publisher: String,
    /// Whether the exchange and the queues survive a restart of the broker.
    pub is_durable: bool,
    /// Whether the exchange and the queues are deleted when they are no longer used.
    pub is_auto_delete: bool,
    /// Whether the queues are replicated by the broker; such queues also survive a restart.
    pub is_quorum: bool,
    /// The number of retries for a failed message; absent for unlimited retries.
    pub retries: Option<u32>,
    /// The maximal number of queued notifications.
    pub capacity: usize,
    /// The time limit for confirmations of the broker.
    pub timeout: Duration,
    /// The first pause before a retry; each pause is twice the previous one.
    pub pause: Duration,
}

/// A driver for notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Publishes to a broker.
    Messaging {
        /// Whether the message has an envelope, version 2.0.
        is_enveloped: bool,
    },
    /// Writes to the log.
    Log,
}

impl Default for BusConfig {
    fn default() -> BusConfig {
        BusConfig {
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
            capacity: 10_000,
            timeout: Duration::from_secs(15),
            pause: Duration::from_secs(1),
        }
    }
}
