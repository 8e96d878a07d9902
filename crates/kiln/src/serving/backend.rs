//! An operator's own way to know callers: a program of theirs that is asked over HTTP.

use async_trait::async_trait;
use kiln_api::auth::Backend;
use kiln_api::caller::Caller;
use kiln_template::Value;
use kiln_template::value::Secret;
use std::time::Duration;

/// Whoever has not answered by then has said no.
const PATIENCE: Duration = Duration::from_secs(10);

/// A program that is asked whether a caller is let in: yes if it answers with a status from 200 to 299.
pub(crate) struct Asked {
    pub(crate) client: reqwest::Client,
    pub(crate) url: String,
}

#[async_trait]
impl Backend for Asked {
    async fn accepts(&self, caller: &Caller) -> bool {
        let mut request = self
            .client
            .post(&self.url)
            .timeout(PATIENCE)
            .header("X-Auth-User", &caller.user_name)
            .header("X-Project-Id", &caller.project_id);
        // The program is the operator's, and has to know them to decide.
        if let Some(password) = revealed(caller.password.as_ref()) {
            request = request.header("X-Auth-Key", password);
        }
        if let Some(token) = revealed(caller.token.as_ref()) {
            request = request.header("X-Auth-Token", token);
        }
        match request.send().await {
            Ok(response) => response.status().is_success(),
            Err(error) => {
                tracing::error!(url = %self.url, error = %error.without_url(), "the backend for authentication cannot be asked");
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
