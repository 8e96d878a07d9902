//! Attacks: hostile archives, services and metadata.

mod archives;
mod metadata;
mod services;
