//! Notifications about stacks for operators, in the format of oslo.messaging.
//!
//! The engine hands over durable events ([`NotificationListener`](kiln_engine::NotificationListener)). They wait in a bounded queue, and a
//! background task sends them to a broker; the log is written at once. A slow or unreachable broker does not delay stacks:
//! when the queue is full, the oldest notifications are dropped and counted.
//!
//! The broker is also a carrier of the wakeups, by which processes tell each other what waits for them in the store.
//!
//! Only `rabbit.rs` and `wakeup.rs` use the AMQP library.

#![forbid(unsafe_code)]

mod address;
mod config;
mod level;
mod message;
mod queue;
mod rabbit;
mod sender;
mod tls;
mod wakeup;

pub use address::{Address, BadAddress, Host};
pub use config::{BusConfig, Driver};
pub use level::Level;
pub use rabbit::check_connection;
pub use sender::Bus;
pub use tls::Tls;
pub use wakeup::carry_wakeups;
