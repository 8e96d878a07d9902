//! Calls of stacks to the orchestration service that are for this very service: answered here, without a
//! network in between and without a token.
//!
//! Who asks is who asked for the stack, with the roles they had then: rules are checked as for anybody else.
//! Configurations that belong to resources need no rule of their own, since the stack was allowed.

mod alarms;

use crate::app::App;
use crate::caller::{Caller, Scope};
use crate::fault::Fault;
use crate::native::software::config;
use crate::query::percent;
use crate::serve::{self, Known};
use async_trait::async_trait;
use axum::body::{Body, to_bytes};
use axum::http::{Request as HttpRequest, header};
use axum::response::Response as HttpResponse;
use kiln_cloud::{
    ActingFor, Call, CallError, CallLimits, Credential, DEFAULT_MAX_CALLS, Lane, Method,
    PendingDelegation, Reply, Service, Transport, UserToken,
};
use kiln_engine::error_type::ErrorType;
use kiln_engine::service::{RequestError, Requester, SoftwareObject};
use kiln_resources::wire;
use kiln_template::Value;
use serde_json::{Value as Json, json};
use std::sync::{Arc, OnceLock, Weak};
use uuid::Uuid;

/// Carries calls to this service out, and hands all others on.
pub struct Own {
    // Whatever serves holds the engine, and the engine holds this.
    app: OnceLock<Weak<App>>,
    beyond: Arc<dyn Transport>,
    stacks_are_elsewhere: bool,
    limits: CallLimits,
}

/// Replies longer than this are not read.
const MAX_REPLY: usize = 64 << 20;

impl Own {
    /// A transport that hands on whatever is not for this service; it is not there yet.
    pub fn before(beyond: Arc<dyn Transport>) -> Own {
        let limits = CallLimits::new(DEFAULT_MAX_CALLS);
        Own { app: OnceLock::new(), beyond, stacks_are_elsewhere: false, limits }
    }

    /// Hands calls about stacks on as well.
    pub fn with_stacks_elsewhere(self, are_elsewhere: bool) -> Own {
        Own { stacks_are_elsewhere: are_elsewhere, ..self }
    }

    /// Says what serves; the first one counts.
    pub fn serves(&self, app: &Arc<App>) {
        _ = self.app.set(Arc::downgrade(app));
    }
}

#[async_trait]
impl Transport for Own {
    fn has_cloud(&self) -> bool {
        self.beyond.has_cloud()
    }

    fn needs_delegation(&self, visitor: &UserToken) -> bool {
        self.beyond.needs_delegation(visitor)
    }

    async fn delegate(
        &self,
        visitor: &UserToken,
        promise: &PendingDelegation,
    ) -> Result<Credential, CallError> {
        self.beyond.delegate(visitor, promise).await
    }

    async fn find_delegations(
        &self,
        promise: &PendingDelegation,
    ) -> Result<Vec<Credential>, CallError> {
        self.beyond.find_delegations(promise).await
    }

    async fn accepts(&self, credential: &Credential) -> bool {
        self.beyond.accepts(credential).await
    }

    async fn delete_user_project(&self, project: &str) -> Result<(), CallError> {
        self.beyond.delete_user_project(project).await
    }

    async fn revoke(&self, credential: &Credential) -> Result<(), CallError> {
        self.beyond.revoke(credential).await
    }

    async fn send(&self, by: &Credential, call: Call) -> Result<Reply, CallError> {
        if call.request.service == Service::Alarming {
            let _permit = self.limits.acquire(call.request.service, Lane::Single).await;
            return self.alarming(by, call).await;
        }
        let kept = kept(&call);
        if call.request.service != Service::Orchestration
            || (kept.is_none() && self.stacks_are_elsewhere)
        {
            return self.beyond.send(by, call).await;
        }
        // A call about a stack may lead to another one: nobody who has a place waits for a second.
        let _permit = match kept {
            Some(_) => self.limits.acquire(call.request.service, Lane::Single).await,
            None => None,
        };
        let Some(app) = self.app.get().and_then(Weak::upgrade) else {
            return Err(CallError::NotSent("the service starts or stops".into()));
        };
        if let Some(region) = &call.request.region
            && !app.service.config().is_own_region(region)
        {
            return nowhere(region, &call);
        }
        let Some(behalf) = call.made_for().cloned() else {
            return Err(CallError::NotSent("nobody says on whose behalf".into()));
        };
        let answered = match &kept {
            Some(Kind::Config(id)) => Some(config_call(&app, &behalf, id, &call).await),
            Some(Kind::Deployment(id)) => Some(deployment_call(&app, &behalf, id, &call).await),
            Some(Kind::Server(id)) => Some(server_call(&app, &behalf, id).await),
            Some(Kind::Rule(id)) => Some(alarms::rule_call(&app, &behalf, id, &call).await),
            None => None,
        };
        let response = match answered {
            Some(Ok(body)) => return Ok(Reply::new(200, body)),
            Some(Err(refusal)) => Fault::from(refusal).into_response(),
            None => serve::answer(app, request(&call, &behalf, by)?).await,
        };
        reply(response).await
    }
}

impl Own {
    /// A call about an alarm: for the alarming service if there is one, else for this one.
    async fn alarming(&self, by: &Credential, call: Call) -> Result<Reply, CallError> {
        let sent = self.beyond.send(by, call.clone()).await;
        let Err(CallError::Impossible(_)) = &sent else { return sent };
        match (self.app.get().and_then(Weak::upgrade), call.made_for()) {
            (Some(app), Some(behalf)) => alarms::alarming_call(&app, behalf, &call).await,
            _ => sent,
        }
    }
}

/// The answer for a region in which there is no service: whoever looks for something there learns that
/// nothing is.
fn nowhere(region: &str, call: &Call) -> Result<Reply, CallError> {
    if call.request.method == Method::Get && call.request.path == "/stacks" {
        return Ok(Reply::new(200, json!({ "stacks": [] })));
    }
    let body = json!({ "message": kiln_cloud::no_such_region(region) });
    Err(CallError::Refused(Reply::new(404, body)))
}

// --- what is kept beside stacks ---

/// What a call is about that needs no rule of its own.
enum Kind {
    Config(String),
    Deployment(String),
    /// All that a server has to apply.
    Server(String),
    /// The rule of an alarm.
    Rule(String),
}

fn kept(call: &Call) -> Option<Kind> {
    if let Some(id) = call.request.path.strip_prefix("/watch_rules/") {
        return Some(Kind::Rule(id.to_owned()));
    }
    let (_, path) = call.request.path.split_once("/software_")?;
    let (kind, id) = path.split_once('/')?;
    match (kind, id.split_once('/')) {
        ("configs", None) => Some(Kind::Config(id.to_owned())),
        ("deployments", None) => Some(Kind::Deployment(id.to_owned())),
        ("deployments", Some(("metadata", server))) => Some(Kind::Server(percent::decode(server))),
        _ => None,
    }
}

/// Whoever asked for the stack, as far as what belongs to its resources is concerned.
fn requester(behalf: &ActingFor) -> Requester {
    Requester {
        project: behalf.project.clone(),
        user_name: behalf.user_name.clone(),
        is_admin: false,
        stack_user_project: None,
        visitor: UserToken::default(),
        author: behalf.created_by.clone(),
        may_use: Arc::new(|_| true),
    }
}

async fn deployment_call(
    app: &App,
    behalf: &ActingFor,
    id: &str,
    call: &Call,
) -> Result<Json, RequestError> {
    let requester = requester(behalf);
    match call.request.method {
        Method::Put => {
            let body = call.request.body.as_ref().unwrap_or(&Json::Null);
            let given = wire::value(&body["software_deployment"]);
            let (Ok(id), Some(given)) = (Uuid::parse_str(id), given.as_map()) else {
                return Err(RequestError::new(ErrorType::HttpBadRequest, "this is no deployment"));
            };
            app.service.put_deployment(&requester, id, given).await?;
            Ok(Json::Null)
        }
        Method::Delete => app.service.delete_deployment(&requester, id).await.map(|()| Json::Null),
        _ => {
            let kept = app.service.deployment(&requester, id).await?;
            Ok(json!({ "software_deployment": wire::json(&Value::Map(kept.body)) }))
        }
    }
}

async fn server_call(app: &App, behalf: &ActingFor, server: &str) -> Result<Json, RequestError> {
    let configs = app.service.server_configs(&requester(behalf), server).await?;
    let configs: Vec<Json> = configs.iter().map(|kept| wire::json(&config(kept))).collect();
    Ok(json!({ "metadata": configs }))
}

async fn config_call(
    app: &App,
    behalf: &ActingFor,
    id: &str,
    call: &Call,
) -> Result<Json, RequestError> {
    let requester = requester(behalf);
    match call.request.method {
        Method::Put => {
            let body = call.request.body.as_ref().unwrap_or(&Json::Null);
            let config = wire::value(&body["software_config"]);
            let hidden = body["hidden"].as_array().into_iter().flatten();
            let hidden: Vec<&str> = hidden.filter_map(Json::as_str).collect();
            let (Ok(id), Some(config)) = (Uuid::parse_str(id), config.as_map()) else {
                return Err(RequestError::new(
                    ErrorType::HttpBadRequest,
                    "this is no configuration",
                ));
            };
            app.service.put_config(&requester, id, config, &hidden).await?;
            Ok(Json::Null)
        }
        Method::Delete => app.service.delete_config(&requester, id).await.map(|()| Json::Null),
        _ => app.service.config_by_id(&requester, id).await.map(|kept| shown(&kept)),
    }
}

/// A configuration as resources see it, hidden parts laid open and told of.
fn shown(kept: &SoftwareObject) -> Json {
    let hidden = kept.body.iter().filter(|(_, value)| matches!(value, Value::Secret(_)));
    let hidden: Vec<&str> = hidden.map(|(name, _)| &**name).collect();
    json!({ "software_config": wire::json(&Value::Map(kept.body.clone())), "hidden": hidden })
}

// --- everything else ---

fn request(
    call: &Call,
    behalf: &ActingFor,
    by: &Credential,
) -> Result<HttpRequest<Body>, CallError> {
    let author = &behalf.created_by;
    let caller = Caller {
        user_id: author.user_id.to_string(),
        user_name: behalf.user_name.to_string(),
        user_domain_id: author.user_domain.to_string(),
        project_id: behalf.project.to_string(),
        project_name: author.project_name.to_string(),
        project_domain_id: author.project_domain.to_string(),
        scope: Scope::Project,
        roles: author.roles.iter().map(|role| role.to_string()).collect(),
        is_admin_project: author.is_admin_project,
        lent: Some(Arc::new(by.clone())),
        ..Caller::default()
    };
    let pairs = call
        .request
        .query
        .iter()
        .map(|(name, value)| format!("{}={}", percent::encode(name), percent::encode(value)));
    let query: Vec<String> = pairs.collect();
    let path = format!(
        "/v1/{}{}?{}",
        percent::encode(&behalf.project),
        call.request.path,
        query.join("&")
    );
    let body = call.request.body.as_ref().map(Json::to_string).unwrap_or_default();
    HttpRequest::builder()
        .method(call.request.method.to_string().as_str())
        .uri(path)
        .header(header::ACCEPT, "application/json")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CONTENT_LENGTH, body.len())
        .extension(Known(Arc::new(caller)))
        .body(Body::from(body))
        .map_err(|error| CallError::NotSent(error.to_string()))
}

async fn reply(response: HttpResponse) -> Result<Reply, CallError> {
    let status = response.status().as_u16();
    let bytes = to_bytes(response.into_body(), MAX_REPLY).await;
    let bytes = bytes.map_err(|error| CallError::Lost(error.to_string()))?;
    let text = || Json::String(String::from_utf8_lossy(&bytes).into_owned());
    let body = match bytes.is_empty() {
        true => Json::Null,
        false => serde_json::from_slice(&bytes).unwrap_or_else(|_| text()),
    };
    let reply = Reply::new(status, body);
    if status >= 400 { Err(CallError::Refused(reply)) } else { Ok(reply) }
}
