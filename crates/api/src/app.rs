//! What serves requests.

use crate::auth::Authenticator;
use crate::caller::Caller;
use crate::fault::Fault;
use crate::metrics::Metrics;
use crate::policy::{Policy, Target};
use crate::rate::Rate;
use kiln_engine::service::Service;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// What serves requests.
pub struct App {
    /// What takes requests about stacks.
    pub service: Service,
    /// Who finds out who asks.
    pub auth: Arc<dyn Authenticator>,
    /// Who may do what.
    pub policy: Arc<Policy>,
    /// What the operator decided.
    pub options: Options,
    /// What is counted.
    pub metrics: Metrics,
    /// How many requests a project may send; nothing means any number.
    pub rate: Option<Rate>,
}

/// What an operator decides about the API.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long a body may be.
    pub max_body_bytes: usize,
    /// What `build_info` tells.
    pub revision: String,
    /// How long fetching a template may take.
    pub fetch_timeout: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            max_body_bytes: 1_048_576,
            revision: "unknown".into(),
            fetch_timeout: Duration::from_secs(60),
        }
    }
}

impl App {
    /// Lets a caller pass, or not.
    pub(crate) fn allow(&self, rule: &str, caller: &Caller, project: &str) -> Result<(), Fault> {
        let target = Target::project(project);
        self.policy
            .check(rule, caller, &target)
            .map_err(|forbidden| Fault::new("Forbidden", forbidden.to_string()))
    }

    /// A new id.
    pub(crate) fn new_id(&self) -> Uuid {
        use kiln_engine::ids::Ids;
        kiln_engine::runtime::Chance::default().next()
    }

    /// A template from elsewhere.
    pub(crate) async fn fetch(&self, url: &str) -> Result<Arc<str>, Fault> {
        let bad = |why: &str| Fault::bad(format!("Could not retrieve template: {why}"));
        let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
        if !["http", "https"].contains(&scheme) {
            return Err(bad(&format!("Invalid URL scheme {scheme}")));
        }
        // Fetching on behalf of users is for operators to allow; nothing is allowed yet.
        Err(bad(&format!("Failed to retrieve template from {url}")))
    }
}
