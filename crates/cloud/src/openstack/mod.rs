//! An OpenStack cloud: tokens, catalogue, versions, and the calls themselves.

mod endpoint;
mod login;

pub use login::Login;

use crate::http::{PATIENCE, exchange, request};
use crate::{Call, CallError, Credential, Method, Proof, Reply, Service, Transport, Visitor};
use async_trait::async_trait;
use login::Token;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How a cloud is reached.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The root of the identity service, with or without its version.
    pub auth_url: String,
    /// The region; nothing takes the first endpoint there is.
    pub region: Option<String>,
    /// Which endpoints are used: `public`, `internal` or `admin`.
    pub interface: String,
    /// Who runs the engine: users put their trust in it.
    pub trustee: Option<Login>,
    /// The roles that are delegated to it; nothing means all that the user has.
    pub roles: Vec<String>,
    /// Endpoints that the catalogue has not, or has wrong.
    pub endpoints: BTreeMap<Service, String>,
    /// Certificates of authorities that are trusted beside the usual ones, in PEM.
    pub authorities: Vec<u8>,
    /// Whether any certificate is taken.
    pub is_insecure: bool,
}

impl Settings {
    /// A cloud with this identity service.
    pub fn new(auth_url: impl Into<String>) -> Settings {
        Settings {
            auth_url: auth_url.into(),
            region: None,
            interface: "public".into(),
            trustee: None,
            roles: Vec::new(),
            endpoints: BTreeMap::new(),
            authorities: Vec::new(),
            is_insecure: false,
        }
    }
}

/// Makes calls to an OpenStack cloud.
pub struct OpenStack {
    client: reqwest::Client,
    settings: Settings,
    /// The id of whoever runs the engine.
    trustee: tokio::sync::OnceCell<Arc<str>>,
    /// Who is logged in. A session is locked while somebody logs in, so that it is done once.
    sessions: Mutex<HashMap<Credential, Arc<Session>>>,
    /// The highest microversion of the service at an endpoint.
    highest: Mutex<HashMap<String, Option<String>>>,
    /// Answers that may be old.
    answers: Mutex<HashMap<(Credential, String), (Instant, Reply)>>,
}

type Session = tokio::sync::Mutex<Option<Arc<Token>>>;

/// How long an answer that may be old is kept, and how many are.
const KEPT_ANSWERS: (Duration, usize) = (Duration::from_secs(60), 4096);

/// Queues want to know who puts messages in, to tell them from those of others; nobody of us does.
const CLIENT: &str = "6b696c6e-0000-4000-8000-000000000000";

/// Sessions are forgotten when there are more than this.
const MAX_SESSIONS: usize = 10_000;

impl OpenStack {
    /// A cloud that can be reached like this.
    pub fn new(settings: Settings) -> Result<OpenStack, CallError> {
        let impossible = |error: reqwest::Error| CallError::Impossible(error.to_string());
        let mut client = crate::client_builder()
            .timeout(PATIENCE)
            .connect_timeout(Duration::from_secs(10))
            .tls_danger_accept_invalid_certs(settings.is_insecure);
        if !settings.authorities.is_empty() {
            let authorities = reqwest::Certificate::from_pem_bundle(&settings.authorities);
            for authority in authorities.map_err(impossible)? {
                client = client.add_root_certificate(authority);
            }
        }
        let client = client.build().map_err(impossible)?;
        let (trustee, sessions, highest, answers) = Default::default();
        Ok(OpenStack { client, settings, trustee, sessions, highest, answers })
    }

    /// The token of a session; logs in if there is none, or none that lasts.
    async fn token(&self, by: &Credential) -> Result<Arc<Token>, CallError> {
        let session = {
            let mut sessions = lock(&self.sessions);
            if sessions.len() > MAX_SESSIONS {
                sessions.clear();
            }
            sessions.entry(by.clone()).or_default().clone()
        };
        let mut session = session.lock().await;
        if let Some(token) = session.as_ref().filter(|token| token.lasts()) {
            return Ok(token.clone());
        }
        let token = Arc::new(self.log_in(by).await?);
        *session = Some(token.clone());
        Ok(token)
    }

    /// Forgets a token that was refused.
    async fn forget(&self, by: &Credential, refused: &Token) {
        let session = lock(&self.sessions).get(by).cloned();
        if let Some(session) = session {
            let mut session = session.lock().await;
            if session.as_ref().is_some_and(|token| token.text == refused.text) {
                *session = None;
            }
        }
    }

    /// The root below which a service's calls are.
    fn root(&self, token: &Token, service: Service) -> Result<String, CallError> {
        let given = self.settings.endpoints.get(&service);
        let listed = || service.catalogue_types().iter().find_map(|it| token.endpoints.get(*it));
        match given.or_else(listed) {
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

    /// The header that asks for the microversion that a call is written for.
    async fn microversion(
        &self,
        token: &Token,
        root: &str,
        call: &Call,
    ) -> Option<(&'static str, String)> {
        let wanted = call.microversion.or_else(|| call.service.microversion())?;
        let document = endpoint::version_document(root);
        let known = lock(&self.highest).get(&document).cloned();
        let highest = match known {
            Some(highest) => highest,
            None => {
                // Some services tell strangers nothing, not even their versions.
                let request = self.client.get(&document).header("X-Auth-Token", &token.text);
                let reply = exchange(request).await.ok()?;
                let highest = endpoint::highest(&reply.body);
                lock(&self.highest).insert(document, highest.clone());
                highest
            }
        };
        let version = endpoint::lower(wanted, highest.as_deref()?).to_owned();
        Some(endpoint::microversion_header(call.service, &version))
    }

    async fn send_as(&self, token: &Token, call: &Call) -> Result<Reply, CallError> {
        let root = self.root(token, call.service)?;
        let mut request = request(&self.client, &root, call).header("X-Auth-Token", &token.text);
        if let Some((name, value)) = self.microversion(token, &root, call).await {
            request = request.header(name, value);
        }
        if call.service == Service::Messaging {
            request = request.header("Client-ID", CLIENT);
        }
        exchange(request).await
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl Transport for OpenStack {
    async fn send(&self, by: &Credential, call: Call) -> Result<Reply, CallError> {
        let is_kept = call.may_be_old && matches!(call.method, Method::Get | Method::Head);
        let key = is_kept.then(|| (by.clone(), format!("{call:?} {:?}", call.query)));
        if let Some(key) = &key
            && let Some((asked, reply)) = lock(&self.answers).get(key)
            && asked.elapsed() < KEPT_ANSWERS.0
        {
            return Ok(reply.clone());
        }
        let token = self.token(by).await?;
        let mut answer = self.send_as(&token, &call).await;
        // A token may end before its time; a call that was refused for that has done nothing.
        if matches!(&answer, Err(CallError::Refused(reply)) if reply.status == 401) {
            self.forget(by, &token).await;
            let token = self.token(by).await?;
            answer = self.send_as(&token, &call).await;
        }
        if let (Some(key), Ok(reply)) = (key, &answer) {
            let mut answers = lock(&self.answers);
            if answers.len() >= KEPT_ANSWERS.1 {
                answers.clear();
            }
            answers.insert(key, (Instant::now(), reply.clone()));
        }
        answer
    }

    async fn deputise(&self, visitor: &Visitor) -> Result<Credential, CallError> {
        if visitor.lent.is_some() {
            return Ok(visitor.credential());
        }
        let credential = self.delegated(visitor).await?;
        // While the visitor's own token lasts, nobody has to log in.
        if let Ok(token) = self.examined(&visitor.token).await {
            let session = Arc::new(Session::new(Some(Arc::new(token))));
            lock(&self.sessions).insert(credential.clone(), session);
        }
        Ok(credential)
    }

    async fn dismiss(&self, credential: &Credential) -> Result<(), CallError> {
        let Proof::Trust(id) = &credential.proof else { return Ok(()) };
        if credential.is_borrowed {
            return Ok(());
        }
        let revoked = self.revoke(credential, id).await;
        lock(&self.sessions).remove(credential);
        match revoked {
            Err(CallError::Refused(reply)) if reply.status == 404 => Ok(()),
            revoked => revoked,
        }
    }
}
