//! Who asks: what finds it out.

use crate::caller::Caller;
use axum::http::HeaderMap;
use axum::response::Response;

/// Finds out who asks.
#[async_trait::async_trait]
pub trait Authenticator: Send + Sync {
    /// Who asks, by the headers of a request and the project in its path.
    async fn authenticate(
        &self,
        headers: &HeaderMap,
        project: Option<&str>,
    ) -> Result<Caller, Refusal>;
}

/// Why somebody is not let in.
pub struct Refusal(pub Response);

impl Refusal {
    /// The answer that tells it.
    pub fn into_response(self) -> Response {
        self.0
    }
}
