//! Request ids: `req-` and a UUID, as OpenStack's services give them.
//!
//! A request of a user has an id, which every call that is made for it carries as its *global* request id. A service
//! writes it to its logs beside its own, so that one id finds the lines of all services.

use std::sync::Arc;
use tracing::Instrument;

/// The header of request ids, in requests and in replies.
pub const REQUEST_ID_HEADER: &str = "x-openstack-request-id";

tokio::task_local! {
    static CURRENT: Arc<str>;
}

/// Runs a future whose calls carry a global request id.
pub async fn with_request_id<F: Future>(id: impl Into<Arc<str>>, future: F) -> F::Output {
    CURRENT.scope(id.into(), future).await
}

/// The global request id of the request that is being answered, if one is.
pub fn current_request_id() -> Option<Arc<str>> {
    CURRENT.try_with(Clone::clone).ok()
}

/// A future for another task that works for the current request: with its global request id, and in its span.
pub fn in_current_request<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let id = current_request_id();
    let future = async move {
        match id {
            Some(id) => with_request_id(id, future).await,
            None => future.await,
        }
    };
    future.in_current_span()
}

/// A new request id.
pub fn new_request_id() -> String {
    let mut bytes = [0; 16];
    // Without randomness the ids are all alike, which is a nuisance for readers of logs and nothing else.
    _ = getrandom::fill(&mut bytes);
    let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
    format!("req-{id}")
}

/// Whether a text is a request id.
pub fn is_request_id(text: &str) -> bool {
    let Some(id) = text.strip_prefix("req-") else { return false };
    id.len() == 36 && uuid::Uuid::try_parse(id).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_form_that_services_accept() {
        assert!(is_request_id(&new_request_id()));
        assert_ne!(new_request_id(), new_request_id());
        for text in ["", "req-", "req-1", "6b696c6e-0000-4000-8000-000000000000"] {
            assert!(!is_request_id(text), "{text}");
        }
        assert!(!is_request_id("req-6b696c6e000040008000000000000000"));
        assert!(!is_request_id("req-6b696c6e-0000-4000-8000-00000000000\n"));
    }

    #[tokio::test]
    async fn calls_learn_the_id_of_the_request_that_they_are_made_for() {
        assert_eq!(current_request_id(), None);
        let seen = with_request_id("req-1", async { current_request_id() }).await;
        assert_eq!(seen.as_deref(), Some("req-1"));
    }

    #[tokio::test]
    #[allow(clippy::disallowed_methods, reason = "the test waits for its task")]
    async fn a_task_for_a_request_has_its_id() {
        let task = || tokio::spawn(in_current_request(async { current_request_id() }));
        let seen = with_request_id("req-1", async { task().await }).await;
        assert_eq!(seen.unwrap().as_deref(), Some("req-1"));
        assert_eq!(task().await.unwrap(), None);
    }
}
