//! Tasks: a panic in one is a defect that is logged, and ends that task alone.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;
use tokio::task::JoinHandle;
use tracing::Instrument;

/// Runs a future to its end. A panic in it is logged and ends it; returns whether it ended by itself.
pub(crate) async fn catch_panic(name: &'static str, task: impl Future<Output = ()>) -> bool {
    let mut task = std::pin::pin!(task);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(context))) {
        Ok(Poll::Ready(())) => Poll::Ready(true),
        Ok(Poll::Pending) => Poll::Pending,
        Err(_) => {
            tracing::error!(task = name, "a task panicked: this is a defect, please report it");
            Poll::Ready(false)
        }
    })
    .await
}

/// Starts a task whose panics are logged.
#[allow(clippy::disallowed_methods, reason = "this is the wrapper that all others use")]
pub(crate) fn spawn(
    name: &'static str,
    task: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<()> {
    tokio::spawn(async move { _ = catch_panic(name, task).await }.in_current_span())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_ends_its_task_alone() {
        assert!(catch_panic("calm", async {}).await);
        assert!(!catch_panic("broken", async { panic!("on purpose") }).await);
        spawn("broken", async { panic!("on purpose") }).await.unwrap();
    }
}
