//! The transport to an OpenStack cloud: tokens, catalogue, versions, and the calls themselves.

mod batched_list;
mod delegation;
mod discovery;
mod endpoint;
mod key;
mod login;
mod shared_poll;

pub use discovery::{ServiceEndpoint, version_of};
pub use login::{Login, StackDomain};

use crate::bounded::BoundedMap;
use crate::http::{CALL_TIMEOUT, Exchange, build};
use crate::limits::{CallLimits, DEFAULT_MAX_CALLS, Lane};
use crate::{
    Call, CallError, CallPath, Credential, HttpRequest, Method, PendingDelegation, Reply, Service,
    Sharing, Tls, Transport, UserToken, delete, get, metrics,
};
use async_trait::async_trait;
use key::CallKey;
use login::Token;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

/// How a cloud is reached.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The root of the identity service, with or without its version.
    pub auth_url: String,
    /// The region; without one, the first endpoint of a service is used.
    pub region: Option<String>,
    /// Which endpoints are used: `public`, `internal` or `admin`.
    pub interface: String,
    /// The engine's own account, the trustee of the users' trusts.
    pub trustee: Option<Login>,
    /// The roles that users delegate to it; all of the user's roles if there are none here.
    pub roles: Vec<String>,
    /// The domain in which stacks have their users, if there is one.
    pub stack_domain: Option<StackDomain>,
    /// Endpoints that replace those of the catalogue.
    pub endpoints: BTreeMap<Service, String>,
    /// How connections are encrypted.
    pub tls: Tls,
    /// What is different for single services.
    pub services: BTreeMap<Service, ServiceSettings>,
    /// Whether the trusts of users may be delegated further.
    pub allows_redelegation: bool,
    /// How many calls to one service may be in flight at once.
    pub max_calls: usize,
}

impl Settings {
    /// The settings for the cloud of an identity service.
    pub fn new(auth_url: impl Into<String>) -> Settings {
        Settings {
            auth_url: auth_url.into(),
            region: None,
            interface: "public".into(),
            trustee: None,
            roles: Vec::new(),
            stack_domain: None,
            endpoints: BTreeMap::new(),
            tls: Tls::default(),
            services: BTreeMap::new(),
            allows_redelegation: false,
            max_calls: DEFAULT_MAX_CALLS,
        }
    }

    /// The region and the interface in which services of a catalogue type are found.
    fn place(&self, catalogue_type: &str) -> (Option<&str>, &str) {
        let mut services = self.services.iter();
        let is_it = |service: &Service| service.catalogue_types().contains(&catalogue_type);
        let own = services.find(|(service, _)| is_it(service)).map(|(_, own)| own);
        let region = own.and_then(|own| own.region.as_deref()).or(self.region.as_deref());
        let interface = own.and_then(|own| own.interface.as_deref()).unwrap_or(&self.interface);
        (region, interface)
    }
}

/// What is different for one service.
#[derive(Clone, Debug, Default)]
pub struct ServiceSettings {
    /// The region.
    pub region: Option<String>,
    /// Which endpoints are used: `public`, `internal` or `admin`.
    pub interface: Option<String>,
    /// How connections are encrypted.
    pub tls: Option<Tls>,
    /// The highest microversion that may be asked for.
    pub max_microversion: Option<String>,
}

/// Makes calls to an OpenStack cloud.
pub struct OpenStack {
    client: reqwest::Client,
    /// The clients of services with TLS settings of their own.
    clients: BTreeMap<Service, reqwest::Client>,
    settings: Settings,
    /// The user id of the engine's own account.
    trustee: OnceCell<Arc<str>>,
    /// The tokens by credential. A session is locked during a login, so that concurrent callers log in once.
    sessions: Mutex<BoundedMap<Credential, Arc<Session>>>,
    /// The highest microversion of the service at an endpoint.
    highest: Mutex<BoundedMap<String, Arc<OnceCell<Option<String>>>>>,
    /// Replies that may be old. One is locked during its call, so that concurrent callers make one call.
    replies: Mutex<BoundedMap<CallKey, Arc<CachedReply>>>,
    /// Lists of objects that are not ready yet.
    polls: shared_poll::Polls,
    /// Calls for parts of a list that are about to be made as one.
    batches: batched_list::Batches,
    /// The limits on calls in flight.
    limits: CallLimits,
}

type Session = tokio::sync::Mutex<Option<Arc<Token>>>;
type CachedReply = tokio::sync::Mutex<Option<(Instant, Result<Reply, CallError>)>>;

/// How long a reply that may be old is kept.
const MAX_REPLY_AGE: Duration = Duration::from_secs(60);

/// How many such replies are kept; the oldest are dropped.
const MAX_REPLIES: usize = 4096;

/// The client id for the messaging service, which tells the messages of one client from those of others.
const MESSAGING_CLIENT: &str = "6b696c6e-0000-4000-8000-000000000000";

/// How many sessions are kept; the oldest are dropped.
const MAX_SESSIONS: usize = 10_000;

/// How many endpoints are remembered with their versions.
const MAX_ENDPOINTS: usize = 1_000;

impl OpenStack {
    /// A transport to the cloud of these settings.
    pub fn new(settings: Settings) -> Result<OpenStack, CallError> {
        let impossible = |error: reqwest::Error| CallError::Impossible(error.to_string());
        let build = |tls: &Tls| {
            let client = crate::client_builder()
                .timeout(CALL_TIMEOUT)
                .connect_timeout(Duration::from_secs(10));
            tls.configure(client).and_then(|client| client.build()).map_err(impossible)
        };
        let client = build(&settings.tls)?;
        let apart = settings.services.iter().filter_map(|(it, own)| Some((*it, own.tls.as_ref()?)));
        let clients = apart.map(|(service, tls)| Ok((service, build(tls)?)));
        let clients = clients.collect::<Result<_, CallError>>()?;
        let limits = CallLimits::new(settings.max_calls);
        Ok(OpenStack {
            client,
            clients,
            settings,
            trustee: OnceCell::new(),
            sessions: Mutex::new(BoundedMap::new(MAX_SESSIONS)),
            highest: Mutex::new(BoundedMap::new(MAX_ENDPOINTS)),
            replies: Mutex::new(BoundedMap::new(MAX_REPLIES)),
            polls: Mutex::new(BoundedMap::new(shared_poll::MAX_POLLS)),
            batches: Mutex::default(),
            limits,
        })
    }

    /// The HTTP client for a service.
    fn client(&self, service: Service) -> &reqwest::Client {
        self.clients.get(&service).unwrap_or(&self.client)
    }

    /// The token of a credential's session; logs in if there is none that is valid for a while.
    async fn token(
        &self,
        credential: &Credential,
        patience: Duration,
    ) -> Result<Arc<Token>, CallError> {
        let session = self.sessions.lock().get_or_insert_with(credential, Arc::default);
        let mut session = session.lock().await;
        if let Some(token) = session.as_ref().filter(|token| token.is_valid()) {
            return Ok(token.clone());
        }
        let admission = self.limits.admit_login(&credential.project, patience).await;
        let admission = admission.map_err(login::of_identity)?;
        let token = self.log_in(credential).await;
        admission.end(&token.as_ref().map(|_| Reply::default()).map_err(Clone::clone));
        let token = Arc::new(token.map_err(as_unauthorized)?);
        *session = Some(token.clone());
        Ok(token)
    }

    /// Drops a token that was refused.
    async fn drop_token(&self, credential: &Credential, refused: &Token) {
        let session = self.sessions.lock().get(credential).cloned();
        if let Some(session) = session {
            let mut session = session.lock().await;
            if session.as_ref().is_some_and(|token| token.secret == refused.secret) {
                *session = None;
            }
        }
    }

    /// The URL below which a service's calls are.
    fn root(&self, token: &Token, service: Service) -> Result<String, CallError> {
        let configured = self.settings.endpoints.get(&service);
        let listed = || service.catalogue_types().iter().find_map(|it| token.endpoints.get(*it));
        // A token for a domain may have an empty catalogue, but the identity service's address is configured.
        let identity = || (service == Service::Identity).then_some(&self.settings.auth_url);
        match configured.or_else(listed).or_else(identity) {
            Some(endpoint) => Ok(endpoint::version_root(service, endpoint)),
            None => Err(CallError::Impossible(format!(
                "The cloud has no service of type {} ({}){}. Next: ask its operator, or use a template \
                 that does without.",
                service.catalogue_type(),
                service.project(),
                self.settings
                    .region
                    .as_ref()
                    .map_or(String::new(), |it| format!(" in region {it}")),
            ))),
        }
    }

    /// The header with the microversion that a call is written for.
    async fn microversion(
        &self,
        token: &Token,
        root: &str,
        call: &HttpRequest,
    ) -> Result<Option<(&'static str, String)>, CallError> {
        let wanted = call.microversion.as_deref().or_else(|| call.service.microversion());
        let Some(wanted) = wanted else {
            return Ok(None);
        };
        let document = endpoint::version_document(root);
        let known = self.highest.lock().get_or_insert_with(&document, Arc::default);
        let read = || async {
            // Some services require a token even for their version document.
            let client = self.client(call.service);
            let request = client.get(&document).header("X-Auth-Token", token.secret.expose());
            let exchange = Exchange { service: call.service, is_text: false, made_for: None };
            match exchange.run(request).await {
                Ok(reply) => Ok(endpoint::highest(&reply.body)),
                // A service without a version document has one version only.
                Err(CallError::Refused(reply)) if reply.status < 500 => Ok(None),
                // Without its version the call could mean something else.
                Err(CallError::Refused(reply)) => {
                    let why = format!("its version document is HTTP {}", reply.status);
                    Err(CallError::NotSent(why))
                }
                Err(error) => Err(login::not_sent(error)),
            }
        };
        let Some(highest) = known.get_or_try_init(read).await? else { return Ok(None) };
        let limit = self.settings.services.get(&call.service);
        let limit = limit.and_then(|own| own.max_microversion.as_deref()).unwrap_or(highest);
        let version = endpoint::lower(wanted, endpoint::lower(highest, limit)).to_owned();
        Ok(Some(endpoint::microversion_header(call.service, &version)))
    }

    async fn send_with(
        &self,
        token: &Token,
        project: &Arc<str>,
        call: &Call,
        lane: Lane,
    ) -> Result<Reply, CallError> {
        let service = call.request.service;
        let root = self.root(token, service)?;
        let mut request = build(self.client(service), &root, &call.request)?
            .header("X-Auth-Token", token.secret.expose());
        if let Some((name, value)) = self.microversion(token, &root, &call.request).await? {
            request = request.header(name, value);
        }
        if service == Service::Messaging {
            request = request.header("Client-ID", MESSAGING_CLIENT);
        }
        let admission = self.limits.admit(&call.request, lane, project, call.patience).await?;
        let made_for = call.made_for();
        let exchange = Exchange { service, is_text: call.request.is_text, made_for };
        let reply = exchange.run(request).await;
        admission.end(&reply);
        reply
    }

    /// Makes a call under a credential; logs in again if its token was refused.
    async fn call(
        &self,
        credential: &Credential,
        call: &Call,
        lane: Lane,
    ) -> Result<Reply, CallError> {
        let (project, patience) = (&credential.project, call.patience);
        let token = self.token(credential, patience).await?;
        let reply = self.send_with(&token, project, call, lane).await;
        // A token may be revoked before it expires; a call that was refused for that has changed nothing.
        if matches!(&reply, Err(CallError::Refused(reply)) if reply.status == 401) {
            self.drop_token(credential, &token).await;
            metrics::count_retry(call.request.service);
            let token = self.token(credential, patience).await?;
            return self.send_with(&token, project, call, lane).await;
        }
        reply
    }

    /// The reply to a call for which an old one will do.
    async fn cached_call(&self, credential: &Credential, call: &Call) -> Result<Reply, CallError> {
        let key = CallKey::new(credential, &call.request);
        let cached = self.replies.lock().get_or_insert_with(&key, Arc::default);
        let asked_at = Instant::now();
        let mut cached = cached.lock().await;
        // A reply to a call that began after this one is as good as a new one, even if it is an error.
        if let Some((started, reply)) = cached.as_ref()
            && (*started >= asked_at || is_cacheable(reply) && started.elapsed() < MAX_REPLY_AGE)
        {
            return reply.clone();
        }
        let started = Instant::now();
        let reply = self.call(credential, call, Lane::Shared).await;
        *cached = Some((started, reply.clone()));
        reply
    }
}

/// Whether a reply may serve later callers: an object that does not exist now may exist then.
fn is_cacheable(reply: &Result<Reply, CallError>) -> bool {
    let Ok(reply) = reply else { return false };
    let members = reply.body.as_object().into_iter().flatten();
    let mut lists = members.filter_map(|(_, it)| it.as_array()).peekable();
    !reply.body.is_null() && (lists.peek().is_none() || lists.any(|list| !list.is_empty()))
}

/// A refused login in the form of a 401 of the service itself: a user whom the identity service does not find is not an
/// object that does not exist.
fn as_unauthorized(error: CallError) -> CallError {
    match error {
        CallError::Refused(reply) if matches!(reply.status, 400 | 403 | 404) => {
            CallError::Refused(Reply { status: 401, ..reply })
        }
        other => other,
    }
}

#[async_trait]
impl Transport for OpenStack {
    async fn send(&self, credential: &Credential, call: Call) -> Result<Reply, CallError> {
        let credential = call.credential().unwrap_or(credential);
        let is_read = matches!(call.request.method, Method::Get | Method::Head);
        match &call.sharing {
            Sharing::PollTogether(list) if is_read => {
                self.shared_poll(credential, &call, list).await
            }
            Sharing::BatchBy(objects) if is_read => {
                self.batched_list(credential, &call, objects).await
            }
            Sharing::MayBeOld if is_read => self.cached_call(credential, &call).await,
            _ => self.call(credential, &call, Lane::Single).await,
        }
    }

    async fn delete_user_project(&self, project: &str) -> Result<(), CallError> {
        let admin = Credential::stack_domain();
        let list = get(Service::Identity, "/projects").query("name", project);
        let found = self.send(&admin, list).await?;
        let found = found.body["projects"].as_array().cloned().unwrap_or_default();
        let ids =
            found.iter().filter(|it| it["name"] == project).filter_map(|it| it["id"].as_str());
        for id in ids {
            let path = CallPath::from("/projects").id(id);
            match self.send(&admin, delete(Service::Identity, path)).await {
                Err(CallError::Refused(reply)) if reply.status == 404 => {}
                removed => _ = removed?,
            }
        }
        Ok(())
    }

    fn needs_delegation(&self, user: &UserToken) -> bool {
        user.delegated.is_none() && user.password.is_none()
    }

    async fn delegate(
        &self,
        user: &UserToken,
        pending: &PendingDelegation,
    ) -> Result<Credential, CallError> {
        if user.delegated.is_some() {
            return Ok(user.credential());
        }
        let credential = self.create_delegation(user, pending).await?;
        // While the user's own token is valid, no login is needed.
        if let Ok(token) = self.validate_token(&user.token).await {
            let session = Arc::new(Session::new(Some(Arc::new(token))));
            self.sessions.lock().insert(credential.clone(), session);
        }
        Ok(credential)
    }

    async fn find_delegations(
        &self,
        pending: &PendingDelegation,
    ) -> Result<Vec<Credential>, CallError> {
        self.delegations_for(pending).await
    }

    async fn accepts(&self, credential: &Credential) -> bool {
        let refused = |error| matches!(error, CallError::Refused(reply) if reply.status == 401);
        !self.token(credential, Duration::ZERO).await.is_err_and(refused)
    }

    async fn revoke(&self, credential: &Credential) -> Result<(), CallError> {
        if !credential.needs_revoking() {
            return Ok(());
        }
        let deleted = self.delete_delegation(credential).await;
        self.sessions.lock().remove(credential);
        match deleted {
            // The trust, or the user who could delete it, is gone already.
            Err(CallError::Refused(reply)) if matches!(reply.status, 401 | 404) => Ok(()),
            deleted => deleted,
        }
    }
}
