//! OS::Monasca::Notification: what is left of a way for Monasca to send notifications.

use crate::declare::*;

pub(super) fn notification() -> ResourceType {
    ResourceType::new("OS::Monasca::Notification")
        .about("What is left of a way for Monasca to send notifications.")
        .placeholder()
        .since("5.0.0")
        .changed("7.0.0")
        .deprecated("22.0.0")
        .hidden("25.0.0")
}
