//! An OpenStack cloud: tokens, catalogue, versions, and the calls themselves.

mod endpoint;
mod lent;
mod login;
mod pending;
mod together;

pub use login::{Login, StackDomain};

use crate::budget::{Budgets, CALLS, For};
use crate::http::{PATIENCE, exchange, exchange_as, request};
use crate::{
    Call, CallError, Credential, Method, Promise, Reply, Service, Transport, Visitor, delete, get,
};
use async_trait::async_trait;
use login::Token;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

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
    /// The domain of the users of stacks, if there is one.
    pub stack_domain: Option<StackDomain>,
    /// Endpoints that the catalogue has not, or has wrong.
    pub endpoints: BTreeMap<Service, String>,
    /// Certificates of authorities that are trusted beside the usual ones, in PEM.
    pub authorities: Vec<u8>,
    /// Whether any certificate is taken.
    pub is_insecure: bool,
    /// How many calls to one service may be under way at once.
    pub calls: usize,
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
            stack_domain: None,
            endpoints: BTreeMap::new(),
            authorities: Vec::new(),
            is_insecure: false,
            calls: CALLS,
        }
    }
}

/// Makes calls to an OpenStack cloud.
pub struct OpenStack {
    client: reqwest::Client,
    settings: Settings,
    /// The id of whoever runs the engine.
    trustee: OnceCell<Arc<str>>,
    /// Who is logged in. A session is locked while somebody logs in, so that it is done once.
    sessions: Mutex<HashMap<Credential, Arc<Session>>>,
    /// The highest microversion of the service at an endpoint.
    highest: Mutex<HashMap<String, Arc<OnceCell<Option<String>>>>>,
    /// Answers that may be old. One is locked while somebody asks for it, so that it is asked for once.
    answers: Mutex<HashMap<(Credential, String), Arc<Kept>>>,
    /// Objects that are not ready yet.
    lists: pending::Lists,
    /// Lists that are about to be asked for.
    rounds: together::Rounds,
    /// How many more calls may be under way.
    budgets: Budgets,
}

type Session = tokio::sync::Mutex<Option<Arc<Token>>>;
type Kept = tokio::sync::Mutex<Option<(Instant, Result<Reply, CallError>)>>;

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
        let budgets = Budgets::new(settings.calls);
        let (trustee, sessions, highest, answers, lists, rounds) = Default::default();
        Ok(OpenStack {
            client,
            settings,
            trustee,
            sessions,
            highest,
            answers,
            lists,
            rounds,
            budgets,
        })
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
        let token = Arc::new(self.log_in(by).await.map_err(unknown_here)?);
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
        // A token for a domain may list nothing; where it came from is known.
        let identity = || (service == Service::Identity).then_some(&self.settings.auth_url);
        match given.or_else(listed).or_else(identity) {
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
    ) -> Result<Option<(&'static str, String)>, CallError> {
        let wanted = call.microversion.as_deref().or_else(|| call.service.microversion());
        let Some(wanted) = wanted else {
            return Ok(None);
        };
        let document = endpoint::version_document(root);
        let known = lock(&self.highest).entry(document.clone()).or_default().clone();
        let ask = || async {
            // Some services tell strangers nothing, not even their versions.
            let request = self.client.get(&document).header("X-Auth-Token", &token.text);
            match exchange(request).await {
                Ok(reply) => Ok(endpoint::highest(&reply.body)),
                // It has nothing to say of its versions, and so has only one.
                Err(CallError::Refused(reply)) if reply.status < 500 => Ok(None),
                // Without knowing that, the call would mean something else.
                Err(CallError::Refused(reply)) => {
                    let why = format!("it answers with HTTP {} what it can do", reply.status);
                    Err(CallError::NotSent(why))
                }
                Err(error) => Err(login::lost(error)),
            }
        };
        let Some(highest) = known.get_or_try_init(ask).await? else { return Ok(None) };
        let version = endpoint::lower(wanted, highest).to_owned();
        Ok(Some(endpoint::microversion_header(call.service, &version)))
    }

    async fn send_as(&self, token: &Token, call: &Call, whom: For) -> Result<Reply, CallError> {
        let root = self.root(token, call.service)?;
        let mut request = request(&self.client, &root, call).header("X-Auth-Token", &token.text);
        if let Some((name, value)) = self.microversion(token, &root, call).await? {
            request = request.header(name, value);
        }
        if call.service == Service::Messaging {
            request = request.header("Client-ID", CLIENT);
        }
        let _place = self.budgets.place(call.service, whom).await;
        exchange_as(request, call.is_text).await
    }

    /// Makes a call in somebody's name.
    async fn make(&self, by: &Credential, call: &Call, whom: For) -> Result<Reply, CallError> {
        let token = self.token(by).await?;
        let answer = self.send_as(&token, call, whom).await;
        // A token may end before its time; a call that was refused for that has done nothing.
        if matches!(&answer, Err(CallError::Refused(reply)) if reply.status == 401) {
            self.forget(by, &token).await;
            let token = self.token(by).await?;
            return self.send_as(&token, call, whom).await;
        }
        answer
    }

    /// The answer to a call for which an old one will do.
    async fn answer(&self, by: &Credential, call: &Call) -> Result<Reply, CallError> {
        let key = (by.clone(), format!("{call:?} {:?}", call.query));
        let kept = {
            let mut answers = lock(&self.answers);
            if answers.len() >= KEPT_ANSWERS.1 {
                answers.clear();
            }
            answers.entry(key).or_default().clone()
        };
        let came = Instant::now();
        let mut kept = kept.lock().await;
        // What was asked since is as good as asking now, whatever came of it.
        if let Some((asked, answer)) = kept.as_ref()
            && (*asked >= came || is_worth_keeping(answer) && asked.elapsed() < KEPT_ANSWERS.0)
        {
            return answer.clone();
        }
        let asked = Instant::now();
        let answer = self.make(by, call, For::Many).await;
        *kept = Some((asked, answer.clone()));
        answer
    }
}

/// Whether somebody who comes later may be given an answer: what is not there now may be there then.
fn is_worth_keeping(answer: &Result<Reply, CallError>) -> bool {
    let Ok(reply) = answer else { return false };
    let members = reply.body.as_object().into_iter().flatten();
    let mut lists = members.filter_map(|(_, it)| it.as_array()).peekable();
    !reply.body.is_null() && (lists.peek().is_none() || lists.any(|list| !list.is_empty()))
}

/// A login that was refused, as a refusal of the service itself would be told: that somebody is not found by the
/// identity service does not mean that an object is not there.
fn unknown_here(error: CallError) -> CallError {
    match error {
        CallError::Refused(reply) if matches!(reply.status, 400 | 403 | 404) => {
            CallError::Refused(Reply { status: 401, ..reply })
        }
        other => other,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl Transport for OpenStack {
    async fn send(&self, by: &Credential, mut call: Call) -> Result<Reply, CallError> {
        let other = call.by.take();
        let by = other.as_deref().unwrap_or(by);
        match (call.method, &call.marker, call.together) {
            (Method::Get, Some(list), _) => self.look(by, &call, list).await,
            (Method::Get, _, Some(objects)) => self.ask_together(by, &call, objects).await,
            (Method::Get | Method::Head, ..) if call.may_be_old => self.answer(by, &call).await,
            _ => self.make(by, &call, For::One).await,
        }
    }

    async fn remove_users(&self, project: &str) -> Result<(), CallError> {
        let owner = Credential::of_stack_domain();
        let list = get(Service::Identity, "/projects").query("name", project);
        let found = self.send(&owner, list).await?;
        let found = found.body["projects"].as_array().cloned().unwrap_or_default();
        let ids =
            found.iter().filter(|it| it["name"] == project).filter_map(|it| it["id"].as_str());
        for id in ids {
            match self.send(&owner, delete(Service::Identity, format!("/projects/{id}"))).await {
                Err(CallError::Refused(reply)) if reply.status == 404 => {}
                removed => _ = removed?,
            }
        }
        Ok(())
    }

    fn borrows(&self, visitor: &Visitor) -> bool {
        visitor.lent.is_none() && visitor.password.is_none()
    }

    async fn deputise(
        &self,
        visitor: &Visitor,
        promise: &Promise,
    ) -> Result<Credential, CallError> {
        if visitor.lent.is_some() {
            return Ok(visitor.credential());
        }
        let credential = self.delegated(visitor, promise).await?;
        // While the visitor's own token lasts, nobody has to log in.
        if let Ok(token) = self.examined(&visitor.token).await {
            let session = Arc::new(Session::new(Some(Arc::new(token))));
            lock(&self.sessions).insert(credential.clone(), session);
        }
        Ok(credential)
    }

    async fn find_lent(&self, promise: &Promise) -> Result<Vec<Credential>, CallError> {
        self.lent_on(promise).await
    }

    async fn holds(&self, credential: &Credential) -> bool {
        let refused = |error| matches!(error, CallError::Refused(reply) if reply.status == 401);
        !self.token(credential).await.is_err_and(refused)
    }

    async fn dismiss(&self, credential: &Credential) -> Result<(), CallError> {
        if !credential.is_lent() {
            return Ok(());
        }
        let given_back = self.give_back(credential).await;
        lock(&self.sessions).remove(credential);
        match given_back {
            // There is nothing left to give back, or to log in with.
            Err(CallError::Refused(reply)) if matches!(reply.status, 401 | 404) => Ok(()),
            given_back => given_back,
        }
    }
}
