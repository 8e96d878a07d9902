//! Notifications: tells operators what happens to stacks, in the form of oslo.messaging.
//!
//! The engine hands over what is durable ([`NotificationListener`](kiln_engine::notification::NotificationListener)); it waits in a bounded
//! queue, and a task of its own sends it: to the log, or to a broker. A broker that is slow or gone slows no
//! stack down: what does not fit into the queue is dropped, the oldest first, and counted.
//!
//! Only `rabbit.rs` knows which library speaks AMQP.
#![forbid(unsafe_code)]

mod address;
mod level;
mod message;
mod queue;
mod rabbit;
mod sender;
mod settings;
mod tls;

pub use address::{Address, BadAddress, Host};
pub use level::Level;
pub use sender::Bus;
pub use settings::{Driver, Settings};
pub use tls::Tls;
