//! A client of the orchestration API that asks any of the API processes, and another one if the first does not answer.

use super::cloud::CloudUser;
use super::random::Random;
use serde_json::Value;
use std::time::Duration;

/// How long a client waits for a reply. The service answers within five seconds, whatever happens to its database.
const TIMEOUT: Duration = Duration::from_secs(12);

/// What became of a request.
pub(super) enum Outcome {
    /// It was answered, and not with an error of the service.
    Answered(u16, Value),
    /// Nobody knows whether it was carried out.
    Unknown,
}

/// A client.
pub(super) struct Client {
    http: reqwest::Client,
    apis: Vec<String>,
    token: String,
    project: String,
}

impl Client {
    pub(super) fn new(apis: Vec<String>, user: &CloudUser) -> reqwest::Result<Client> {
        let http = kiln_cloud::client_builder().timeout(TIMEOUT).build()?;
        Ok(Client { http, apis, token: user.token.clone(), project: user.project.clone() })
    }

    /// Sends a request to one of the processes, once.
    pub(super) async fn send(
        &self,
        random: &mut Random,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Outcome {
        let api = random.pick(&self.apis).map_or("", String::as_str);
        let method = method.parse().unwrap_or(reqwest::Method::GET);
        let url = format!("{api}/{}{path}", self.project);
        let mut request = self.http.request(method, url).header("X-Auth-Token", &self.token);
        request = request.header("Accept", "application/json");
        if let Some(body) = body {
            request = request.json(body);
        }
        let Ok(reply) = request.send().await else { return Outcome::Unknown };
        let status = reply.status().as_u16();
        let Ok(text) = reply.text().await else { return Outcome::Unknown };
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        match status {
            // Without its database or the identity service, the service does not know either.
            500.. => Outcome::Unknown,
            _ => Outcome::Answered(status, body),
        }
    }

    /// Reads something, from whichever process answers.
    pub(super) async fn read(&self, random: &mut Random, path: &str) -> (u16, Value) {
        loop {
            match self.send(random, "GET", path, None).await {
                Outcome::Answered(status, body) => return (status, body),
                Outcome::Unknown => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }
}
