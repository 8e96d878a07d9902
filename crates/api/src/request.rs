//! An authorised request: its caller and its parts.

use crate::App;
use crate::caller::Caller;
use crate::fault::Fault;
use crate::query::{Query, flag, percent};
use axum::http::HeaderMap;
use kiln_cloud::CreatedBy;
use kiln_engine::store::StackRow;
use kiln_engine::{RequestError, Requester, Service, StackView, Status, TreePart, View, WorkShare};
use kiln_template::{Members, Value};
use std::sync::Arc;

/// An authorised request.
pub struct Request {
    /// The state that all requests share.
    pub app: Arc<App>,
    /// The caller.
    pub caller: Arc<Caller>,
    /// Whether the caller is an administrator.
    pub is_admin: bool,
    /// The parts of the path that vary.
    pub path: Vec<(&'static str, String)>,
    /// The parameters.
    pub query: Query,
    /// The object in the body.
    pub body: Option<Arc<Members>>,
    /// The URL of the API: scheme, host and version, without a slash at the end.
    pub base: String,
    /// The `Accept` header.
    pub accept: String,
    /// The last event that the client of a stream has seen.
    pub last_event: Option<String>,
    /// The headers by which the caller of an event stream is authenticated again.
    pub stream_headers: Option<HeaderMap>,
    /// The tag of the metadata that the client knows.
    pub known: Option<String>,
}

impl Request {
    /// A request of a caller, without a path, query or body.
    pub(crate) fn from_caller(app: Arc<App>, caller: Arc<Caller>) -> Request {
        Request {
            is_admin: app.policy.get().is_admin(&caller),
            app,
            caller,
            path: Vec::new(),
            query: Query::default(),
            body: None,
            base: String::new(),
            accept: String::new(),
            last_event: None,
            stream_headers: None,
            known: None,
        }
    }

    /// A part of the path.
    pub fn part(&self, name: &str) -> &str {
        let part = self.path.iter().find(|(known, _)| *known == name);
        part.map_or("", |(_, value)| value.as_str())
    }

    /// The service that runs the request.
    pub fn service(&self) -> &Service {
        &self.app.service
    }

    /// The share of the caller's project of the threads for long work.
    pub(crate) fn share(&self) -> WorkShare {
        self.service().workers().share(self.caller.project_id.as_str())
    }

    /// Does work on so many bytes: if it is long, on a thread that serves no sockets.
    pub(crate) async fn work_on<T>(&self, bytes: usize, work: impl FnOnce() -> T) -> T {
        self.share().work_on(bytes, work).await
    }

    /// The requester for the service.
    pub fn requester(&self) -> Requester {
        let (policy, caller) = (self.app.policy.get(), self.caller.clone());
        let catalog = self.caller.clone();
        Requester {
            project: caller.project_id.as_str().into(),
            user_name: caller.user_name.as_str().into(),
            is_admin: self.is_admin,
            stack_user_project: self.app.options.guest_in(&caller),
            user_token: self.caller.user_token(),
            created_by: Arc::new(CreatedBy {
                user_id: caller.user_id.as_str().into(),
                user_name: caller.user_name.as_str().into(),
                user_domain: caller.user_domain_id.as_str().into(),
                project_name: caller.project_name.as_str().into(),
                project_domain: caller.project_domain_id.as_str().into(),
                roles: caller.roles.iter().map(|role| role.as_str().into()).collect(),
                is_admin_project: caller.is_admin_project,
            }),
            may_use: Arc::new(move |kind| policy.allows_type(&caller, kind)),
            has_service: Arc::new(move |service| catalog.has_service(service)),
        }
    }

    // --- credentials ---

    /// Whether the caller may have the credentials that a stack makes for its servers: signed URLs, passwords, keys. That
    /// is who may update the stack, and a stack user, which reads its own resource alone.
    pub fn may_have_credentials(&self) -> bool {
        self.app.options.is_guest(&self.caller)
            || self.app.allows("stacks:update", &self.caller, &self.caller.project_id).is_ok()
    }

    /// The value of an output. The author of a template asks for it to be shown, even if it is hidden elsewhere; to those
    /// who may only read the stack, hidden values are not shown.
    pub fn visible_output(&self, value: &Value) -> Value {
        if self.may_have_credentials() { value.exposed() } else { value.clone() }
    }

    // --- the body ---

    /// The object in the body.
    pub fn object(&self) -> Result<&Members, Fault> {
        self.body.as_deref().ok_or_else(Fault::malformed)
    }

    /// A member of the body, unless it is null.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.body.as_deref()?.get(name).filter(|value| !value.is_null())
    }

    /// A yes or no in the body.
    pub fn field_flag(&self, name: &str) -> Result<Option<bool>, Fault> {
        self.field(name).map(|value| flag(name, value)).transpose()
    }

    // --- the stack in the path ---

    /// The stack that the path names, deleted or not.
    pub async fn stack(&self) -> Result<StackRow, Fault> {
        let (name, id) = (self.part("stack_name"), self.part("stack_id"));
        Ok(self.service().find_stack(&self.requester(), name, id).await?)
    }

    /// The stack that the path names.
    pub async fn live_stack(&self) -> Result<StackRow, Fault> {
        let (name, id) = (self.part("stack_name"), self.part("stack_id"));
        Ok(self.service().find_live_stack(&self.requester(), name, id).await?)
    }

    /// Reads a part of the stack that the path names, deleted or not, and no more of its tree than it takes.
    pub async fn read<T>(
        &self,
        part: TreePart<'_>,
        show: impl Fn(&StackRow, &StackView<'_>) -> Result<T, Fault> + Send,
    ) -> Result<T, Fault> {
        let stack = self.stack().await?;
        self.read_stack(&stack, part, show).await
    }

    /// Reads a part of a stack, and no more of its tree than it takes.
    pub async fn read_stack<T>(
        &self,
        stack: &StackRow,
        part: TreePart<'_>,
        show: impl Fn(&StackRow, &StackView<'_>) -> Result<T, Fault> + Send,
    ) -> Result<T, Fault> {
        let show_of = |view: &View| show_seen(stack, view, &show);
        let view = self.service().part(stack, part).await?;
        let result = self.work_on(view.bytes(), || show_of(&view)).await;
        if !view.is_incomplete() {
            return result;
        }
        let view = self.service().view(stack).await?;
        self.work_on(view.bytes(), || show_of(&view)).await
    }

    /// Reads outputs of a stack, with the objects that they show as they are now. While an action is in progress, the stored
    /// attributes are those of its operations.
    pub async fn read_outputs<T>(
        &self,
        stack: &StackRow,
        show: impl Fn(&StackRow, &StackView<'_>) -> Result<T, Fault> + Send,
    ) -> Result<T, Fault> {
        let service = self.service();
        let show_of = |view: &View| show_seen(stack, view, &show);
        let mut view = service.part(stack, TreePart::Outputs).await?;
        view.record_attributes();
        let mut result = self.work_on(view.bytes(), || show_of(&view)).await;
        if view.is_incomplete() {
            view = service.view(stack).await?;
            view.record_attributes();
            result = self.work_on(view.bytes(), || show_of(&view)).await;
        }
        let is_at_rest = stack.summary.state.status != Status::InProgress;
        if !is_at_rest || !service.refresh_evaluated(&mut view).await {
            return result;
        }
        self.work_on(view.bytes(), || show_of(&view)).await
    }

    /// Reads a resource of the stack that the path names, with its object as it is now.
    pub async fn read_live<T>(
        &self,
        resource: &str,
        show: impl Fn(&StackRow, &StackView<'_>) -> Result<T, Fault> + Send,
    ) -> Result<T, Fault> {
        let (stack, service) = (self.stack().await?, self.service());
        let show_of = |view: &View| show_seen(&stack, view, &show);
        let mut view = service.part(&stack, TreePart::Resource(resource)).await?;
        service.refresh_resource(&mut view, stack.id, resource).await;
        let result = self.work_on(view.bytes(), || show_of(&view)).await;
        if !view.is_incomplete() {
            return result;
        }
        let mut view = service.view(&stack).await?;
        service.refresh_resource(&mut view, stack.id, resource).await;
        self.work_on(view.bytes(), || show_of(&view)).await
    }

    // --- links ---

    /// The address of a stack.
    pub fn stack_url(&self, stack: &StackRow) -> String {
        self.url(&stack.project, &stack.summary.name, &stack.id.to_string())
    }

    /// The address of a stack of a project.
    pub fn url(&self, project: &str, name: &str, id: &str) -> String {
        let (name, id) = (percent::encode(name), percent::encode(id));
        format!("{}/{}/stacks/{name}/{id}", self.base, percent::encode(project))
    }
}

/// Shows a stack as a view has it: its row may have been read at another moment than the rest of its tree.
fn show_seen<T>(
    stack: &StackRow,
    view: &View,
    show: impl Fn(&StackRow, &StackView<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let Some(seen) = view.stack(stack.id) else {
        return Err(RequestError::not_found("Stack", &stack.summary.name).into());
    };
    show(&StackRow { summary: seen.summary().clone(), ..stack.clone() }, &seen)
}

/// A link.
pub(crate) fn link(rel: &str, href: impl Into<String>) -> Value {
    Value::map([("href", Value::from(href.into())), ("rel", rel.into())])
}

/// A time as clients see it.
pub(crate) fn moment(time: kiln_engine::Time) -> Value {
    time.to_string().into()
}
