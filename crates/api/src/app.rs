//! What serves requests.

use crate::auth::Authenticator;
use crate::aws::ReplayGuard;
use crate::caller::Caller;
use crate::cfn::Prices;
use crate::fault::Fault;
use crate::long_poll::LongPolls;
use crate::metrics::Metrics;
use crate::policy::{Policy, Target};
use crate::rate_limit::RateLimit;
use crate::url_policy;
use kiln_engine::error_type::ErrorType;
use kiln_engine::service::Service;
use kiln_resources::op::Domain;
use std::path::PathBuf;
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
    pub rate: Option<RateLimit>,
    /// Who waits for metadata to change.
    pub long_polls: LongPolls,
    /// Signatures that were answered.
    pub replay_guard: ReplayGuard,
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
    /// What the addresses of templates must begin with to be fetched; nothing else is.
    pub fetch_allowed: Vec<String>,
    /// The scheme under which clients reach the API.
    pub scheme: &'static str,
    /// Whether the headers of a proxy in front of the API are believed.
    pub trusts_proxy: bool,
    /// The origins whose pages may send requests.
    pub origins: Vec<String>,
    /// A file: as long as it is there, `/healthcheck` says that no requests should be sent here.
    pub health_file: Option<PathBuf>,
    /// The domain of the users of stacks.
    pub stack_domain: Option<Domain>,
    /// The role that such users have.
    pub stack_user_role: String,
    /// What resources cost, if the operator says so.
    pub prices: Option<Arc<Prices>>,
}

impl Options {
    /// Whether a caller is a user of some stack, and no more than that.
    pub fn is_guest(&self, caller: &Caller) -> bool {
        caller.roles.contains(&self.stack_user_role)
    }

    /// If a caller is a user of a stack: the name of the project of that stack's users.
    pub fn guest_in(&self, caller: &Caller) -> Option<Arc<str>> {
        let is_there = match self.stack_domain.as_ref()? {
            Domain::Id(id) => **id == *caller.project_domain_id,
            Domain::Name(name) => **name == *caller.project_domain_name,
            // They are in the project of their stack, and see it for that.
            Domain::Owner => false,
        };
        (is_there && self.is_guest(caller)).then(|| caller.project_name.as_str().into())
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            max_body_bytes: 1_048_576,
            revision: "unknown".into(),
            fetch_timeout: Duration::from_secs(60),
            fetch_allowed: Vec::new(),
            scheme: "http",
            trusts_proxy: false,
            origins: Vec::new(),
            stack_domain: None,
            stack_user_role: "heat_stack_user".into(),
            prices: None,
            health_file: None,
        }
    }
}

impl App {
    /// Lets a caller pass, or not.
    pub(crate) fn allow(&self, rule: &str, caller: &Caller, project: &str) -> Result<(), Fault> {
        let target = Target::project(project);
        self.policy
            .check(rule, caller, &target)
            .map_err(|forbidden| Fault::new(ErrorType::Forbidden, forbidden.to_string()))
    }

    /// A new id.
    pub(crate) fn new_id(&self) -> Uuid {
        use kiln_engine::ids::Ids;
        kiln_engine::runtime::SystemIds::default().next()
    }

    /// A template from elsewhere, or why it is not had.
    pub(crate) async fn fetch(&self, url: &str) -> Result<Arc<str>, String> {
        let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
        if !["http", "https"].contains(&scheme) {
            return Err(format!("Invalid URL scheme {scheme}"));
        }
        let failed = || format!("Failed to retrieve template from {url}");
        // Whoever fetches what users name can be made to ask anybody: operators say whom.
        let Some(address) = url_policy::allowed(&self.options.fetch_allowed, url) else {
            tracing::info!(
                url,
                "a template is not fetched: its address is not among those allowed"
            );
            return Err(failed());
        };
        let limit = self.service.rules().max_template_bytes;
        let fetched = tokio::time::timeout(self.options.fetch_timeout, fetch(address, limit)).await;
        match fetched {
            Ok(Ok(Fetched::Text(text))) => Ok(text),
            Ok(Ok(Fetched::TooLong)) => {
                Err(format!("Template exceeds maximum allowed size ({limit} bytes)"))
            }
            Ok(Ok(Fetched::Elsewhere) | Err(_)) | Err(_) => Err(failed()),
        }
    }
}

/// What is at an address.
enum Fetched {
    Text(Arc<str>),
    TooLong,
    /// It is elsewhere, or nowhere. Redirects are not followed: they may lead anywhere.
    Elsewhere,
}

async fn fetch(url: reqwest::Url, limit: usize) -> Result<Fetched, reqwest::Error> {
    let mut response = url_policy::client()?.get(url).send().await?;
    if !response.status().is_success() {
        return Ok(Fetched::Elsewhere);
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > limit {
            return Ok(Fetched::TooLong);
        }
    }
    Ok(Fetched::Text(String::from_utf8_lossy(&bytes).into()))
}
