//! What the interfaces in the style of AWS have in common: CloudFormation's and CloudWatch's.
//!
//! A request names an action; parameters stand behind the question mark or in a form; whoever asks has
//! signed it. Answers are XML, or JSON for those who ask for it. An action is a row of its interface's
//! table: nobody reaches one without a caller who may use it.

mod call;
mod cbor;
mod encoding;
mod fault;
mod params;
mod render;
mod signature;
mod spent;

pub use fault::{AwsFault, Code};
pub use params::Params;
pub(crate) use render::{Form, XML, escape};
pub use spent::{Spent, keep_exchanging};

use crate::app::{App, Options};
use crate::ask::Ask;
use crate::body::Carried;
use crate::caller::Caller;
use crate::fault::no_route;
use crate::query::percent;
use crate::serve::{accounted, health, origin, text, versions};
use axum::body::Body;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use call::Call;
use encoding::unpacked;
use kiln_engine::runtime::now;
use kiln_template::Value;
use signature::{Signature, signer};
use spent::FRESH;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

/// What carries out an action: gives what stands in `{Action}Result`.
pub type Handler = fn(Ask, Params) -> Pin<Box<dyn Future<Output = Result<Value, AwsFault>> + Send>>;

/// The scheme under which clients reach an interface: put to a request by whoever listens.
#[derive(Clone, Copy, Debug)]
pub struct Scheme(pub &'static str);

/// An interface: its actions, and how their rules are called.
pub struct Interface {
    /// What the names of its rules begin with, before the colon.
    pub scope: &'static str,
    /// Its actions, sorted by name.
    pub actions: &'static [Action],
}

/// Something that can be asked of an interface.
pub struct Action {
    /// Its name.
    pub name: &'static str,
    /// What it does to the world.
    pub effect: Effect,
    /// What carries it out.
    pub handler: Handler,
}

/// What an action does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// Something.
    Changes,
    /// Something is told, as others may tell the very same: servers of a group have one key.
    Reports,
}

/// A row of a table of actions: `action!("ListStacks", Reads, stacks::list)`.
macro_rules! action {
    ($name:literal, $effect:ident, $handler:path) => {
        $crate::aws::Action {
            name: $name,
            effect: $crate::aws::Effect::$effect,
            handler: |ask, params| Box::pin($handler(ask, params)),
        }
    };
}
pub(crate) use action;

/// Answers a request to an interface by whatever routes it, once its body is unpacked.
pub(crate) async fn answer<F>(
    app: Arc<App>,
    request: Request<Body>,
    route: impl FnOnce(Arc<App>, Request<Carried>) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    let broken = || AwsFault::bare(Code::InternalFailure).into_response(Form::Xml);
    let routed = |app: Arc<App>, request| async move {
        match unpacked(request, app.options.max_body_bytes) {
            Ok(request) => route(app, request).await,
            Err((fault, form)) => fault.into_response(form),
        }
    };
    accounted(app, request, broken, routed).await
}

impl Interface {
    /// Answers what all interfaces answer alike: versions, health, actions.
    pub(crate) async fn route(&self, app: Arc<App>, request: Request<Carried>) -> Response {
        let path = percent::decode(request.uri().path());
        let parts: Vec<&str> = path.splitn(4, '/').collect();
        let is_other_version = |part: &str| {
            let number = part.strip_prefix('v');
            number.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
                && !["v1", "v1.0"].contains(&part)
        };
        match parts.as_slice() {
            ["", "" | "versions"] => versions(&place(&app, &request)),
            ["", "healthcheck"] => health(&app.options).into_response(),
            // Tools of AWS leave the slash out where the address of an interface ends without one.
            ["", "v1"] | ["", "v1", ""] => self.act(app, &request, Asked::of(&request)).await,
            ["", "v1", "stacks", ..] => {
                let asked = Asked { action: None, ..Asked::of(&request) };
                self.act(app, &request, asked).await
            }
            ["", "v1", "service", _] if Call::of(&request).is_some() => {
                self.act(app, &request, Asked::of(&request)).await
            }
            ["", version, ..] if is_other_version(version) => versions(&place(&app, &request)),
            _ => no_route(text(request.headers(), &ACCEPT).unwrap_or_default()),
        }
    }

    /// Carries out the action that is asked for.
    async fn act(&self, app: Arc<App>, request: &Request<Carried>, asked: Asked) -> Response {
        let Asked { action, signed: params, form, more } = asked;
        if request.body().is_none() {
            return AwsFault::bare(Code::RequestLimitExceeded).into_response(form);
        }
        let signature = Signature::of(request, &params).ok();
        let signed = signature.as_ref().and_then(|it| it.time);
        let now = now();
        if signed.is_some_and(|time| now.since(time) > FRESH || time.since(now) > FRESH) {
            return AwsFault::bare(Code::RequestExpired).into_response(form);
        }
        let key = signature.filter(|it| it.time.is_some()).map(|it| it.key());
        let ask = match admitted(app.clone(), request, &params, form).await {
            Ok(ask) => ask,
            Err(refused) => return refused,
        };
        let Some(action) = self.actions.iter().find(|it| Some(it.name) == action.as_deref()) else {
            return AwsFault::bare(Code::InvalidAction).into_response(form);
        };
        if let Err(fault) = self.allow(&ask, action) {
            return fault.into_response(form);
        }
        let params = match more.unwrap_or(Ok(params)) {
            Ok(params) => params,
            Err(fault) => return fault.into_response(form),
        };
        if let Some(key) = key {
            match app.spent.lets_in(&**app.service.store(), key, action.effect, now).await {
                Ok(true) => {}
                Ok(false) => {
                    let why = "This signature was used already: sign the request anew.";
                    return AwsFault::new(Code::RequestExpired, why).into_response(form);
                }
                Err(error) => {
                    tracing::warn!("a signature cannot be noted as used: {error}");
                    return AwsFault::bare(Code::ServiceUnavailable).into_response(form);
                }
            }
        }
        match (action.handler)(ask, params).await {
            Ok(result) => render::answered(action.name, &result, form),
            Err(fault) => {
                if let Some(key) = key.filter(|_| fault.is_ours()) {
                    app.spent.forget(&**app.service.store(), &key, action.effect).await;
                }
                fault.into_response(form)
            }
        }
    }

    /// Lets the caller pass, or not. Whoever acts for no project has nothing to do here.
    fn allow(&self, ask: &Ask, action: &Action) -> Result<(), AwsFault> {
        let rule = format!("{}:{}", self.scope, action.name);
        let project = ask.caller.project_id.as_str();
        match project.is_empty() || ask.app.allow(&rule, &ask.caller, project).is_err() {
            false => Ok(()),
            true => {
                let why = format!("Action {} not allowed for user", action.name);
                Err(AwsFault::new(Code::AccessDenied, why))
            }
        }
    }
}

/// What is asked for.
struct Asked {
    /// The name of the action.
    action: Option<String>,
    /// The parameters that may have a signature in them.
    signed: Params,
    /// Those of the action, if they are others; or why they cannot be read.
    more: Option<Result<Params, AwsFault>>,
    /// How to answer.
    form: Form,
}

impl Asked {
    fn of(request: &Request<Carried>) -> Asked {
        if let Some(call) = Call::of(request) {
            let (action, more) = (Some(call.action.to_owned()), Some(call.params(request)));
            return Asked { action, signed: Params::default(), more, form: call.form };
        }
        let signed = Params::of(request);
        let (action, form) = (signed.get("Action").map(str::to_owned), Form::of(&signed));
        Asked { action, signed, more: None, form }
    }
}

/// Where the interface is, as the client knows it.
fn place(app: &App, request: &Request<Carried>) -> String {
    match request.extensions().get::<Scheme>() {
        Some(Scheme(scheme)) => {
            origin(request.headers(), &Options { scheme, ..app.options.clone() })
        }
        None => origin(request.headers(), &app.options),
    }
}

/// Who asks, if they are known, and do not ask too often.
pub(crate) async fn admitted(
    app: Arc<App>,
    request: &Request<Carried>,
    params: &Params,
    form: Form,
) -> Result<Ask, Response> {
    let caller = match signer(&app, request, params).await {
        Ok(caller) => caller,
        // Whoever says who they are, but signs nothing, has a token.
        Err(fault) if fault.is_unsigned() && request.headers().contains_key("x-auth-user") => {
            by_token(&app, request.headers()).await?
        }
        Err(fault) => return Err(fault.into_response(form)),
    };
    let rate = app.rate.as_ref();
    if rate.is_some_and(|rate| !rate.allows(&caller.project_id, Instant::now())) {
        return Err(AwsFault::bare(Code::Throttling).into_response(form));
    }
    Ok(Ask::by(app, Arc::new(caller)))
}

async fn by_token(app: &App, headers: &HeaderMap) -> Result<Caller, Response> {
    use axum::response::IntoResponse;
    app.auth.authenticate(headers, None).await.map_err(IntoResponse::into_response)
}
