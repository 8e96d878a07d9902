//! The state that all requests share.

use crate::auth::Authenticator;
use crate::aws::ReplayGuard;
use crate::body::{BodyBytes, BodyLimits};
use crate::caller::Caller;
use crate::cfn::Prices;
use crate::event_streams::EventStreams;
use crate::fault::Fault;
use crate::long_poll::LongPolls;
use crate::metrics::Metrics;
use crate::policy::{Forbidden, SharedPolicy, Target};
use crate::rate_limit::RateLimit;
use kiln_engine::{ErrorType, Service};
use kiln_resources::op::Domain;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// The state that all requests share.
pub struct App {
    /// The service that runs the requests.
    pub service: Service,
    /// The authenticator.
    pub auth: Arc<dyn Authenticator>,
    /// The policy, which may be replaced while requests are served.
    pub policy: Arc<SharedPolicy>,
    /// The operator's options.
    pub options: Options,
    /// The metrics of requests.
    pub metrics: Metrics,
    /// The limit on the requests of each project; none if there is no limit.
    pub rate: Option<RateLimit>,
    /// The clients that wait for metadata to change.
    pub long_polls: LongPolls,
    /// The open event streams.
    pub event_streams: EventStreams,
    /// The guard against replayed signatures.
    pub replay_guard: ReplayGuard,
    /// The bodies that are held.
    pub body_bytes: BodyBytes,
}

/// The operator's options for the APIs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The maximum length of a body.
    pub max_body_bytes: usize,
    /// The maximum length of all bodies that are held at the same time, which is at least that of one.
    pub max_bodies_bytes: usize,
    /// The maximum number of open event streams of a project; no limit if zero.
    pub max_streams_per_project: usize,
    /// The maximum number of open event streams; no limit if zero.
    pub max_streams: usize,
    /// How often the caller of an event stream is authenticated again.
    pub stream_check_interval: Duration,
    /// How often an event stream without events says that it is still there.
    pub stream_keep_alive: Duration,
    /// How long the client of an event stream may read nothing.
    pub stream_send_timeout: Duration,
    /// The revision that `build_info` shows.
    pub revision: String,
    /// The scheme under which clients reach the API.
    pub scheme: &'static str,
    /// Whether the headers of a proxy in front of the API are believed.
    pub trusts_proxy: bool,
    /// The origins whose pages may send requests.
    pub origins: Vec<String>,
    /// A file: while it exists, `/healthcheck` tells load balancers to send no requests.
    pub health_file: Option<PathBuf>,
    /// The domain of the users of stacks.
    pub stack_domain: Option<Domain>,
    /// The role that such users have.
    pub stack_user_role: String,
    /// Whether signatures of versions 0 and 1, and those of version 2 without a time, are good for changes.
    pub allows_old_signatures: bool,
    /// The prices of resources, if the operator has a list.
    pub prices: Option<Arc<Prices>>,
}

impl Options {
    /// Whether a caller is a stack user, with no other rights.
    pub fn is_guest(&self, caller: &Caller) -> bool {
        caller.roles.contains(&self.stack_user_role)
    }

    /// If a caller is a stack user: the name of the project in which that stack has its users.
    pub fn guest_in(&self, caller: &Caller) -> Option<Arc<str>> {
        let is_there = match self.stack_domain.as_ref()? {
            Domain::Id(id) => **id == *caller.project_domain_id,
            Domain::Name(name) => **name == *caller.project_domain_name,
            // Their project is that of their stack, and they see it for that reason.
            Domain::Owner => false,
        };
        (is_there && self.is_guest(caller)).then(|| caller.project_name.as_str().into())
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            max_body_bytes: 1_048_576,
            max_bodies_bytes: 134_217_728,
            max_streams_per_project: 32,
            max_streams: 2000,
            stream_check_interval: Duration::from_secs(3),
            stream_keep_alive: Duration::from_secs(15),
            stream_send_timeout: Duration::from_secs(60),
            revision: "unknown".into(),
            scheme: "http",
            trusts_proxy: false,
            origins: Vec::new(),
            stack_domain: None,
            stack_user_role: "heat_stack_user".into(),
            allows_old_signatures: false,
            prices: None,
            health_file: None,
        }
    }
}

impl App {
    /// Checks a policy rule for a caller and a project.
    pub(crate) fn allow(&self, rule: &str, caller: &Caller, project: &str) -> Result<(), Fault> {
        self.allows(rule, caller, project)
            .map_err(|forbidden| Fault::new(ErrorType::Forbidden, forbidden.to_string()))
    }

    pub(crate) fn allows(
        &self,
        rule: &str,
        caller: &Caller,
        project: &str,
    ) -> Result<(), Forbidden> {
        self.policy.get().check(rule, caller, &Target::project(project))
    }

    pub(crate) fn body_limits(&self) -> BodyLimits {
        let each = self.options.max_body_bytes;
        BodyLimits { each, sum: self.options.max_bodies_bytes.max(each) }
    }

    /// A new id.
    pub(crate) fn new_id(&self) -> Uuid {
        use kiln_engine::Ids;
        kiln_engine::SystemIds::default().next()
    }

    /// Fetches a template; the error says why not.
    pub(crate) async fn fetch(&self, url: &str) -> Result<Arc<str>, String> {
        let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
        if !["http", "https"].contains(&scheme) {
            return Err(format!("Invalid URL scheme {scheme}"));
        }
        let limit = self.service.rules().max_template_bytes;
        self.service.config().template_fetcher.fetch(url, limit).await
    }
}
