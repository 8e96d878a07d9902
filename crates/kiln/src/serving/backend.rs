//! The custom authentication backend: an operator's program, called over HTTP.

use async_trait::async_trait;
use kiln_api::auth::Backend;
use kiln_api::caller::Caller;
use kiln_template::{Secret, Value};
use std::time::Duration;

/// The timeout of a call to the backend, after which the caller is rejected.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A backend that accepts a caller by answering with a status from 200 to 299.
pub(crate) struct HttpBackend {
    pub(crate) client: reqwest::Client,
    pub(crate) url: String,
}

#[async_trait]
impl Backend for HttpBackend {
    async fn accepts(&self, caller: &Caller) -> bool {
        let mut request = self
            .client
            .post(&self.url)
            .timeout(TIMEOUT)
            .header("X-Auth-User", &caller.user_name)
            .header("X-Project-Id", &caller.project_id);
        // The backend belongs to the operator and needs the credentials to decide.
        if let Some(password) = revealed(caller.password.as_ref()) {
            request = request.header("X-Auth-Key", password);
        }
        if let Some(token) = revealed(caller.token.as_ref()) {
            request = request.header("X-Auth-Token", token);
        }
        match request.send().await {
            Ok(response) => response.status().is_success(),
            Err(error) => {
                tracing::error!(url = %self.url, error = %error.without_url(), "cannot reach the authentication backend");
                false
            }
        }
    }
}

fn revealed(secret: Option<&Secret>) -> Option<String> {
    match secret?.expose() {
        Value::Text(text) => Some(text.to_string()),
        _ => None,
    }
}
