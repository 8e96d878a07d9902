//! Carrying calls out.

use crate::{Call, CallError, Reply};
use async_trait::async_trait;

/// Carries calls out.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Makes a call. A reply with a status of 400 or more is [`CallError::Refused`]; what is not certain
    /// to have been kept from the service is [`CallError::Lost`].
    async fn send(&self, call: Call) -> Result<Reply, CallError>;
}

/// No cloud at all: for stacks that need none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCloud;

#[async_trait]
impl Transport for NoCloud {
    async fn send(&self, call: Call) -> Result<Reply, CallError> {
        Err(CallError::NotSent(format!("there is no cloud to take {call:?}")))
    }
}
