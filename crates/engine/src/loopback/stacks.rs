//! Stacks that a stack creates beside itself (`OS::Heat::Stack`).

use super::{Local, decoded};
use crate::error_type::ErrorType;
use crate::machine::StackSettings;
use crate::partial_tree::TreePart;
use crate::service::{Patch, RequestError, StackRequest, TemplateSource};
use crate::state::{Action, Status};
use crate::store::{SnapshotRow, StackField, StackQuery, StackRow};
use crate::view::{StackView, View};
use kiln_cloud::Method;
use kiln_resources::wire;
use kiln_template::print::{self, Keys};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Answers a call about stacks.
pub(super) async fn stack_call(local: &Local<'_>) -> Result<Json, RequestError> {
    let path = local.path.trim_matches('/');
    let segments: Vec<String> = path.split('/').map(decoded).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    match (local.method(), segments.as_slice()) {
        (Method::Get, ["stacks"]) => local.list().await,
        (Method::Post, ["stacks"]) => local.create().await,
        (Method::Get, ["stacks", name, id]) => local.show(name, id).await,
        (Method::Put, ["stacks", name, id]) => local.update(name, id).await,
        (Method::Delete, ["stacks", name, id]) => local.delete(name, id).await,
        (Method::Post, ["stacks", name, id, "actions"]) => local.run_action(name, id).await,
        (method, ["stacks", name, id, "snapshots", rest @ ..]) => {
            local.snapshot_call(method, name, id, rest).await
        }
        _ => Err(RequestError::new(ErrorType::HttpNotFound, "The resource could not be found.")),
    }
}

impl Local<'_> {
    fn allow(&self, rule: &str) -> Result<(), RequestError> {
        self.host.allow(rule, self.user)
    }

    fn requester(&self) -> crate::service::Requester {
        self.host.requester(self.user, self.credential)
    }

    async fn live_stack(&self, name: &str, id: &str) -> Result<StackRow, RequestError> {
        self.service.find_live_stack(&self.requester(), name, id).await
    }

    async fn list(&self) -> Result<Json, RequestError> {
        self.allow("stacks:index")?;
        let name = self.query("name").map(|name| (StackField::Name, vec![Arc::from(name)]));
        let query = StackQuery {
            filters: name.into_iter().collect(),
            descending: true,
            ..StackQuery::default()
        };
        let page = self.service.list(&self.requester(), query, false, false).await?;
        Ok(json!({ "stacks": page.stacks.iter().map(listed).collect::<Vec<Json>>() }))
    }

    async fn create(&self) -> Result<Json, RequestError> {
        self.allow("stacks:create")?;
        let name = self.body()["stack_name"].as_str().unwrap_or_default();
        let makers = match self.user.stack_id.as_deref() {
            Some(maker) => self.service.makers_with(maker).await?,
            None => 0,
        };
        let request = StackRequest { makers, ..request(self.body())? };
        let id = self.service.create(&self.requester(), name, request).await?;
        Ok(json!({ "stack": { "id": id.to_string() } }))
    }

    async fn show(&self, name: &str, id: &str) -> Result<Json, RequestError> {
        self.allow("stacks:show")?;
        let stack = self.service.find_stack(&self.requester(), name, id).await?;
        let view = self.service.part_for_call(&stack, TreePart::Outputs).await?;
        let shown = detailed(&stack, &view);
        if view.is_incomplete() {
            return detailed(&stack, &self.service.part_for_call(&stack, TreePart::All).await?);
        }
        shown
    }

    async fn update(&self, name: &str, id: &str) -> Result<Json, RequestError> {
        self.allow("stacks:update")?;
        let (request, requester) = (request(self.body())?, self.requester());
        let stack = self.live_stack(name, id).await?;
        self.service.update(&requester, &stack, request, &Patch::default()).await?;
        Ok(Json::Null)
    }

    async fn delete(&self, name: &str, id: &str) -> Result<Json, RequestError> {
        self.allow("stacks:delete")?;
        let stack = self.service.find_stack(&self.requester(), name, id).await?;
        self.service.delete(&stack).await?;
        Ok(Json::Null)
    }

    async fn run_action(&self, name: &str, id: &str) -> Result<Json, RequestError> {
        let actions = self.body().as_object();
        let wanted = actions.and_then(|actions| actions.keys().next()).map(String::as_str);
        let (action, rule) = match wanted {
            Some("check") => (Action::Check, "actions:check"),
            Some("resume") => (Action::Resume, "actions:resume"),
            Some("suspend") => (Action::Suspend, "actions:suspend"),
            _ => return Err(RequestError::new(ErrorType::HttpBadRequest, "No action specified")),
        };
        self.allow(rule)?;
        let stack = self.live_stack(name, id).await?;
        self.service.run_on_each(&stack, action).await?;
        Ok(Json::Null)
    }

    async fn snapshot_call(
        &self,
        method: Method,
        name: &str,
        id: &str,
        rest: &[&str],
    ) -> Result<Json, RequestError> {
        let rule = match (method, rest) {
            (Method::Post, []) => "stacks:snapshot",
            (Method::Get, []) => "stacks:list_snapshots",
            (Method::Get, [_]) => "stacks:show_snapshot",
            (Method::Delete, [_]) => "stacks:delete_snapshot",
            _ => {
                return Err(RequestError::new(
                    ErrorType::HttpNotFound,
                    "The resource could not be found.",
                ));
            }
        };
        self.allow(rule)?;
        let (service, requester) = (self.service, self.requester());
        let stack = self.live_stack(name, id).await?;
        match (method, rest) {
            (Method::Delete, [snapshot]) => {
                service.delete_snapshot(&requester, &stack, snapshot).await?;
                Ok(Json::Null)
            }
            (_, [snapshot]) => {
                let row = service.snapshot(&requester, &stack, snapshot).await?;
                Ok(json!({ "snapshot": snapshot_json(&row)? }))
            }
            (Method::Post, _) => {
                let name = self.body()["name"].as_str().map(Arc::from);
                snapshot_json(&service.take_snapshot(&requester, &stack, name).await?)
            }
            _ => {
                let rows = service.snapshots(&requester, &stack).await?;
                let rows: Result<Vec<Json>, RequestError> =
                    rows.iter().map(snapshot_json).collect();
                Ok(json!({ "snapshots": rows? }))
            }
        }
    }
}

/// The stack that a body describes.
fn request(body: &Json) -> Result<StackRequest, RequestError> {
    let Some(template) = body["template"].as_str() else {
        return Err(RequestError::new(ErrorType::HttpBadRequest, "No template specified"));
    };
    let parameters = wire::value(&body["parameters"]);
    let parameters = parameters.as_map().into_iter().flatten();
    let files = body["files"].as_object().into_iter().flatten();
    let minutes = match &body["timeout_mins"] {
        Json::String(text) => text.trim().parse().ok(),
        number => number.as_u64(),
    };
    let timeout = minutes.filter(|minutes| *minutes > 0);
    let settings = StackSettings {
        timeout: timeout.map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
        is_rolled_back: Some(body["disable_rollback"] == false),
        ..StackSettings::default()
    };
    Ok(StackRequest {
        template: TemplateSource::Text(template.into()),
        parameters: parameters.map(|(name, value)| (name.clone(), value.clone().into())).collect(),
        files: files
            .filter_map(|(name, text)| Some((name.as_str().into(), text.as_str()?.into())))
            .collect(),
        settings,
        ..StackRequest::default()
    })
}

fn listed(stack: &StackRow) -> Json {
    json!({
        "id": stack.id.to_string(),
        "stack_name": *stack.summary.name,
        "stack_status": stack.summary.state.to_string(),
        "stack_status_reason": *stack.summary.reason,
        "creation_time": stack.summary.created.to_string(),
        "updated_time": stack.summary.updated.map(|time| time.to_string()),
        "updated_micros": stack.summary.updated.map(|time| time.micros()),
        "deletion_time": stack.summary.deleted.map(|time| time.to_string()),
    })
}

fn detailed(stack: &StackRow, view: &View) -> Result<Json, RequestError> {
    let Some(seen) = view.stack(stack.id) else {
        return Err(RequestError::not_found("Stack", &stack.summary.name));
    };
    let mut shown = listed(stack);
    let description =
        seen.description().map_or_else(|| "No description".into(), |it| wire::json(&it));
    let settings = seen.settings();
    let parameters = seen.parameters().into_iter();
    let more = json!({
        "capabilities": [],
        "description": description,
        "disable_rollback": !settings.is_rolled_back.unwrap_or(false),
        "notification_topics": [],
        "parameters": parameters.map(|(name, text)| (name.to_string(), text)).collect::<BTreeMap<_, _>>(),
        "parent": null,
        "stack_owner": *stack.user_name,
        "stack_user_project_id": **seen.users().unwrap_or(&stack.project),
        "tags": stack.summary.tags.iter().map(|tag| &**tag).collect::<Vec<&str>>(),
        "template_description": description,
        "timeout_mins": settings.timeout.map(|it| it.as_secs() / 60),
    });
    if let (Some(shown), Json::Object(more)) = (shown.as_object_mut(), more) {
        shown.extend(more);
    }
    if !stack.summary.state.is(Action::Delete, Status::Complete) {
        shown["outputs"] = outputs(&seen);
    }
    Ok(json!({ "stack": shown }))
}

/// The outputs of a stack. The author of a template asks for them to be shown, even if a value is hidden elsewhere.
fn outputs(seen: &StackView<'_>) -> Json {
    let outputs = seen.outputs();
    let shown = outputs.iter().map(|output| {
        let mut shown =
            json!({ "output_key": *output.name, "description": wire::json(&output.description) });
        match &output.value {
            Ok(value) => shown["output_value"] = wire::json(&value.exposed()),
            Err(message) => {
                shown["output_value"] = Json::Null;
                shown["output_error"] = message.as_str().into();
            }
        }
        shown
    });
    shown.collect()
}

fn snapshot_json(row: &SnapshotRow) -> Result<Json, RequestError> {
    let data = crate::snapshot::read_snapshot(row).map_err(RequestError::from)?;
    // Hidden parameters stay hidden, as in the API.
    let data: Json = serde_json::from_str(&print::json(&data, Keys::Ordered)).unwrap_or_default();
    Ok(json!({
        "id": row.id.to_string(),
        "name": row.name.as_deref(),
        "action": row.state.action.name(),
        "status": row.state.status.name(),
        "status_reason": *row.reason,
        "data": data,
        "creation_time": row.created.to_string(),
    }))
}
