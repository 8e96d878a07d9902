//! Fences: a call that changes something is sent only while its sender owns what it works on.
//!
//! An engine that slept, or that could not reach its database, may have lost its trees to another engine while its calls
//! waited. The engine runs a call with a fence, and the transport asks the fence last of all, after every queue.

use crate::{CallError, HttpRequest, Method};
use async_trait::async_trait;
use std::sync::Arc;

/// Tells whether calls may be sent.
#[async_trait]
pub trait Fence: Send + Sync {
    /// Whether a call may be sent now. While that is uncertain, this waits.
    async fn is_open(&self) -> bool;
}

tokio::task_local! {
    static CURRENT: Arc<dyn Fence>;
}

/// Runs a future whose calls are sent only while the fence is open.
pub async fn with_fence<F: Future>(fence: Arc<dyn Fence>, future: F) -> F::Output {
    CURRENT.scope(fence, future).await
}

/// Checks that a request may be sent now. A request that only reads may always be sent.
pub async fn pass_fence(request: &HttpRequest) -> Result<(), CallError> {
    if matches!(request.method, Method::Get | Method::Head) {
        return Ok(());
    }
    let Ok(fence) = CURRENT.try_with(Clone::clone) else { return Ok(()) };
    if fence.is_open().await { Ok(()) } else { Err(CallError::Fenced) }
}
