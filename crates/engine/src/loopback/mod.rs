//! Calls of stacks to this very service, answered without a network in between.
//!
//! A resource type makes calls to an orchestration service, and the service is usually the one that runs the stack. The
//! requester of such a call is the user of the stack, with the roles at the time of the user's last request, and the
//! same policy rules are checked as for a request over HTTP. Software configurations and alarms that belong to a
//! resource need no rule of their own, since the stack was allowed.

mod alarms;
mod software;
mod stacks;

use crate::service::{RequestError, Requester, Service};
use async_trait::async_trait;
use kiln_cloud::{
    ActingFor, Admission, Call, CallError, CallLimits, Credential, DEFAULT_MAX_CALLS, Lane, Method,
    PendingDelegation, Reply, Service as CloudService, Transport, UserToken,
};
use percent_encoding::percent_decode_str;
use serde_json::{Value as Json, json};
use std::sync::{Arc, OnceLock, Weak};

/// The service behind a loopback, and the policy of its requests.
pub trait Host: Send + Sync {
    /// The service.
    fn service(&self) -> &Service;

    /// The requester of a call: the user of a stack.
    fn requester(&self, user: &ActingFor, credential: &Credential) -> Requester;

    /// Checks a policy rule, such as `stacks:create`, for the user of a stack.
    fn allow(&self, rule: &str, user: &ActingFor) -> Result<(), RequestError>;
}

/// A transport that answers the calls to this service and hands all others to the next transport.
pub struct Loopback {
    // The host holds the engine, and the engine holds this.
    host: OnceLock<Weak<dyn Host>>,
    upstream: Arc<dyn Transport>,
    has_remote_stacks: bool,
    limits: CallLimits,
}

impl Loopback {
    /// A loopback in front of another transport. It answers no calls before it is connected.
    pub fn new(upstream: Arc<dyn Transport>) -> Loopback {
        let limits = CallLimits::new(DEFAULT_MAX_CALLS);
        Loopback { host: OnceLock::new(), upstream, has_remote_stacks: false, limits }
    }

    /// Sets whether calls about stacks go to the next transport as well.
    pub fn with_remote_stacks(self, has_remote_stacks: bool) -> Loopback {
        Loopback { has_remote_stacks, ..self }
    }

    /// Connects the loopback to the service that answers its calls. Only the first connection has an effect.
    pub fn connect<H: Host + 'static>(&self, host: &Arc<H>) {
        let host: Weak<dyn Host> = Arc::<H>::downgrade(host);
        _ = self.host.set(host);
    }

    fn host(&self) -> Option<Arc<dyn Host>> {
        self.host.get().and_then(Weak::upgrade)
    }

    /// Waits for a place among the calls in flight.
    async fn place(&self, credential: &Credential, call: &Call) -> Result<Admission, CallError> {
        let (request, project) = (&call.request, &credential.project);
        self.limits.admit(request, Lane::Single, project, call.patience).await
    }

    /// Answers a call about an alarm: by the alarming service if there is one, else by this one.
    async fn alarming(&self, credential: &Credential, call: Call) -> Result<Reply, CallError> {
        let sent = self.upstream.send(credential, call.clone()).await;
        let Err(CallError::Impossible(_)) = &sent else { return sent };
        match (self.host(), call.made_for()) {
            (Some(host), Some(user)) => {
                let local = Local::new(&*host, user, credential, &call)?;
                alarms::alarming_call(&local).await
            }
            _ => sent,
        }
    }
}

#[async_trait]
impl Transport for Loopback {
    fn has_cloud(&self) -> bool {
        self.upstream.has_cloud()
    }

    fn needs_delegation(&self, user: &UserToken) -> bool {
        self.upstream.needs_delegation(user)
    }

    async fn delegate(
        &self,
        user: &UserToken,
        pending: &PendingDelegation,
    ) -> Result<Credential, CallError> {
        self.upstream.delegate(user, pending).await
    }

    async fn find_delegations(
        &self,
        pending: &PendingDelegation,
    ) -> Result<Vec<Credential>, CallError> {
        self.upstream.find_delegations(pending).await
    }

    async fn accepts(&self, credential: &Credential) -> bool {
        self.upstream.accepts(credential).await
    }

    async fn delete_user_project(&self, project: &str) -> Result<(), CallError> {
        self.upstream.delete_user_project(project).await
    }

    async fn revoke(&self, credential: &Credential) -> Result<(), CallError> {
        self.upstream.revoke(credential).await
    }

    async fn send(&self, credential: &Credential, call: Call) -> Result<Reply, CallError> {
        let service = call.request.service;
        if service == CloudService::Alarming {
            let _place = self.place(credential, &call).await?;
            return self.alarming(credential, call).await;
        }
        let target = Target::of(call.request.path.checked()?);
        let is_stack = matches!(target, Target::Stack);
        if service != CloudService::Orchestration || (is_stack && self.has_remote_stacks) {
            return self.upstream.send(credential, call).await;
        }
        // A call about a stack may lead to another one: it must not wait for a second permit while it holds the first.
        let _place = match is_stack {
            true => None,
            false => Some(self.place(credential, &call).await?),
        };
        let Some(host) = self.host() else {
            return Err(CallError::NotSent("the service starts or stops".into()));
        };
        if let Some(region) = &call.request.region
            && !host.service().config().is_own_region(region)
        {
            return reply_for_region(region, &call);
        }
        let Some(user) = call.made_for().cloned() else {
            return Err(CallError::NotSent("the call is made for no user".into()));
        };
        let local = Local::new(&*host, &user, credential, &call)?;
        let answered = match &target {
            Target::Config(id) => software::config_call(&local, id).await,
            Target::Deployment(id) => software::deployment_call(&local, id).await,
            Target::ServerConfigs(id) => software::server_call(&local, id).await,
            Target::AlarmRule(id) => alarms::rule_call(&local, id).await,
            Target::Stack => stacks::stack_call(&local).await,
        };
        answered.map(|body| Reply::new(200, body)).map_err(refused)
    }
}

/// A call, the service that answers it, and for whom.
struct Local<'a> {
    host: &'a dyn Host,
    service: &'a Service,
    user: &'a ActingFor,
    credential: &'a Credential,
    call: &'a Call,
    path: &'a str,
}

impl<'a> Local<'a> {
    fn new(
        host: &'a dyn Host,
        user: &'a ActingFor,
        credential: &'a Credential,
        call: &'a Call,
    ) -> Result<Local<'a>, CallError> {
        let path = call.request.path.checked()?;
        Ok(Local { host, service: host.service(), user, credential, call, path })
    }

    fn method(&self) -> Method {
        self.call.request.method
    }

    /// The body; null if there is none.
    fn body(&self) -> &Json {
        self.call.request.body.as_ref().unwrap_or(&Json::Null)
    }

    /// A query parameter.
    fn query(&self, name: &str) -> Option<&str> {
        let found = self.call.request.query.iter().find(|(it, _)| it == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The owner of the objects of a resource: the user of the stack, without further rights.
    fn owner(&self) -> Requester {
        Requester {
            project: self.user.project.clone(),
            user_name: self.user.user_name.clone(),
            is_admin: false,
            stack_user_project: None,
            user_token: UserToken::default(),
            created_by: self.user.created_by.clone(),
            may_use: Arc::new(|_| true),
            has_service: Arc::new(|_| true),
        }
    }
}

/// The object of a call.
enum Target {
    Config(String),
    Deployment(String),
    /// All configurations that a server has to apply.
    ServerConfigs(String),
    AlarmRule(String),
    /// A stack, or the list of them.
    Stack,
}

impl Target {
    fn of(path: &str) -> Target {
        if let Some(id) = path.strip_prefix("/watch_rules/") {
            return Target::AlarmRule(decoded(id));
        }
        let Some((kind, id)) =
            path.split_once("/software_").and_then(|(_, path)| path.split_once('/'))
        else {
            return Target::Stack;
        };
        match (kind, id.split_once('/')) {
            ("configs", None) => Target::Config(decoded(id)),
            ("deployments", None) => Target::Deployment(decoded(id)),
            ("deployments", Some(("metadata", server))) => Target::ServerConfigs(decoded(server)),
            _ => Target::Stack,
        }
    }
}

/// A segment of a path with its escapes resolved.
fn decoded(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

/// The reply for a region without a service: no stack is found there.
fn reply_for_region(region: &str, call: &Call) -> Result<Reply, CallError> {
    if call.request.method == Method::Get && call.request.path == "/stacks" {
        return Ok(Reply::new(200, json!({ "stacks": [] })));
    }
    let body = json!({ "message": kiln_cloud::no_such_region(region) });
    Err(CallError::Refused(Reply::new(404, body)))
}

/// A refusal in the form in which the API shows it.
fn refused(error: RequestError) -> CallError {
    let status = error.error_type.status();
    let mut body = json!({ "code": status, "error": { "type": error.error_type.name() } });
    match error.message {
        Some(message) => body["error"]["message"] = message.into(),
        None => body["explanation"] = "The server has failed to answer the request.".into(),
    }
    CallError::Refused(Reply::new(status, body))
}
