//! A notification in its wire format: the message, its envelope, and the request context.

use crate::{BusConfig, Level};
use kiln_engine::{Notification, Scaling, Status, Time};
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

/// A notification.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) level: Level,
    /// The fields of the message, without the request context.
    pub(crate) fields: Map<String, Json>,
    /// The request context: the user who caused the notification.
    context: Map<String, Json>,
}

/// The version of the envelope.
const VERSION: &str = "2.0";

impl Message {
    /// Builds the message of a notification, with a unique id.
    pub(crate) fn new(notice: &Notification, config: &BusConfig, id: Uuid) -> Message {
        let status = notice.scaling.as_ref().map_or(notice.state.status, |it| it.status);
        let level = match status {
            Status::Failed => Level::Error,
            Status::InProgress | Status::Complete => config.level,
        };
        let fields = map(json!({
            "message_id": id.to_string(),
            "publisher_id": config.publisher,
            "event_type": event_type(notice, status),
            "priority": level.name(),
            "payload": payload(notice),
            "timestamp": format_time(notice.time),
        }));
        Message { level, fields, context: context(notice) }
    }

    /// Returns the text for the log.
    pub(crate) fn log_line(&self) -> String {
        Json::Object(self.fields.clone()).to_string()
    }

    /// Returns the type of the event.
    pub(crate) fn event_type(&self) -> &str {
        self.fields.get("event_type").and_then(Json::as_str).unwrap_or_default()
    }

    /// Returns the body on the wire. The unique number lets consumers detect duplicates.
    pub(crate) fn body(&self, is_enveloped: bool, unique: Uuid) -> Vec<u8> {
        let mut message = self.fields.clone();
        message.insert("_unique_id".into(), unique.as_simple().to_string().into());
        message.extend(self.context.clone());
        let message = Json::Object(message);
        let body = if is_enveloped {
            json!({ "oslo.version": VERSION, "oslo.message": message.to_string() })
        } else {
            message
        };
        body.to_string().into_bytes()
    }
}

fn map(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(members) => members,
        _ => Map::new(),
    }
}

fn event_type(notice: &Notification, status: Status) -> String {
    let phase = match status {
        Status::InProgress => "start",
        Status::Complete => "end",
        Status::Failed => "error",
    };
    match notice.scaling {
        Some(_) => format!("orchestration.autoscaling.{phase}"),
        None => format!("orchestration.stack.{}.{phase}", notice.state.action.verb()),
    }
}

fn payload(notice: &Notification) -> Json {
    let tags: Vec<&str> = notice.tags.iter().map(|tag| &**tag).collect();
    let mut payload = map(json!({
        "tenant_id": *notice.project,
        // This field holds the name of the user, because existing consumers expect it.
        "user_id": *notice.user_name,
        "user_identity": *notice.user_id,
        "username": *notice.user_name,
        "stack_identity": notice.stack.to_string(),
        "stack_name": *notice.name,
        "state": notice.state.to_string(),
        "state_reason": *notice.reason,
        "create_at": notice.created.to_string(),
        "updated_at": notice.updated.map(|time| time.to_string()),
    }));
    if let Some(description) = &notice.description {
        payload.insert("description".into(), (**description).into());
    }
    payload.insert("tags".into(), tags.into());
    payload.extend(notice.scaling.iter().flat_map(scaling));
    Json::Object(payload)
}

fn scaling(scaling: &Scaling) -> Map<String, Json> {
    let group = &*scaling.group;
    let message = match (&scaling.failure, scaling.status) {
        (Some(failure), _) => failure.to_string(),
        (None, Status::InProgress) => format!("Start resizing the group {group}"),
        (None, _) => format!("End resizing the group {group}"),
    };
    let by = scaling.adjustment;
    map(json!({
        "adjustment_type": *scaling.kind,
        "adjustment": if by.fract() == 0.0 { json!(by as i64) } else { json!(by) },
        "capacity": scaling.capacity,
        "groupname": group,
        "message": message,
    }))
}

/// Returns the request context: the user and the project, but never credentials.
fn context(notice: &Notification) -> Map<String, Json> {
    let created_by = &notice.created_by;
    let known = |text: &str| match text {
        "" => Json::Null,
        text => text.into(),
    };
    let word = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let roles: Vec<&str> = created_by.roles.iter().map(|role| &**role).collect();
    let is_admin = created_by.is_admin_project && roles.contains(&"admin");
    let identity = [
        &*notice.user_id,
        &*notice.project,
        "",
        &*created_by.user_domain,
        &*created_by.project_domain,
    ];
    let context = map(json!({
        "user": known(&notice.user_id),
        "project_id": *notice.project,
        "project": *notice.project,
        "system_scope": null,
        "domain": null,
        "user_domain": known(&created_by.user_domain),
        "project_domain": known(&created_by.project_domain),
        "is_admin": is_admin,
        "read_only": false,
        "show_deleted": false,
        "auth_token": null,
        "request_id": null,
        "global_request_id": null,
        "resource_uuid": null,
        "roles": roles,
        "user_identity": identity.map(word).join(" "),
        "is_admin_project": created_by.is_admin_project,
        "username": *notice.user_name,
        "password": null,
        "aws_creds": null,
        "trust_id": null,
        "trustor_user_id": null,
        "auth_token_info": null,
        "auth_url": null,
        "region_name": null,
        "project_name": known(&created_by.project_name),
    }));
    context.into_iter().map(|(name, value)| (format!("_context_{name}"), value)).collect()
}

/// Formats a time as messages have it: `2031-04-05 06:07:08.123456`.
fn format_time(time: Time) -> String {
    let whole = time.to_string().replace('T', " ");
    let micros = time.micros().rem_euclid(1_000_000);
    format!("{}.{micros:06}", whole.trim_end_matches('Z'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_cloud::CreatedBy;
    use kiln_engine::{Action, StackId, State};
    use std::sync::Arc;

    pub(crate) fn notice() -> Notification {
        Notification {
            time: Time::from_micros(1_933_135_628_123_456),
            project: "7c2f".into(),
            created_by: Arc::new(CreatedBy {
                user_id: "u-17".into(),
                user_name: "ana".into(),
                user_domain: "default".into(),
                project_name: "shop".into(),
                project_domain: "default".into(),
                roles: vec!["member".into(), "reader".into()],
                is_admin_project: true,
            }),
            user_id: "u-17".into(),
            user_name: "ana".into(),
            stack: StackId(Uuid::from_u128(0x8f1f_0a52_3d0e_4a3c_9f59_0a51_c2b7_a111)),
            name: "web".into(),
            state: State::new(Action::Create, Status::InProgress),
            reason: "Stack CREATE started".into(),
            created: Time::from_micros(1_933_135_628_000_000),
            updated: None,
            tags: Vec::new(),
            description: Some("web tier".into()),
            scaling: None,
        }
    }

    fn config() -> BusConfig {
        BusConfig { publisher: "orchestration.node-7".into(), ..BusConfig::default() }
    }

    fn message(notice: &Notification) -> Message {
        let id = Uuid::from_u128(0x2d1c_7a52_6d1d_4d0e_9f50_9d8d_3f0f_6c11);
        Message::new(notice, &config(), id)
    }

    /// The message that consumers receive.
    const EXPECTED: &str = r#"{"message_id":"2d1c7a52-6d1d-4d0e-9f50-9d8d3f0f6c11","publisher_id":"orchestration.node-7","event_type":"orchestration.stack.create.start","priority":"INFO","payload":{"tenant_id":"7c2f","user_id":"ana","user_identity":"u-17","username":"ana","stack_identity":"8f1f0a52-3d0e-4a3c-9f59-0a51c2b7a111","stack_name":"web","state":"CREATE_IN_PROGRESS","state_reason":"Stack CREATE started","create_at":"2031-04-05T06:07:08Z","updated_at":null,"description":"web tier","tags":[]},"timestamp":"2031-04-05 06:07:08.123456","_unique_id":"9f2b0c5e7a5b4d0c8a9f1e2d3c4b5a69","_context_user":"u-17","_context_project_id":"7c2f","_context_project":"7c2f","_context_system_scope":null,"_context_domain":null,"_context_user_domain":"default","_context_project_domain":"default","_context_is_admin":false,"_context_read_only":false,"_context_show_deleted":false,"_context_auth_token":null,"_context_request_id":null,"_context_global_request_id":null,"_context_resource_uuid":null,"_context_roles":["member","reader"],"_context_user_identity":"u-17 7c2f - default default","_context_is_admin_project":true,"_context_username":"ana","_context_password":null,"_context_aws_creds":null,"_context_trust_id":null,"_context_trustor_user_id":null,"_context_auth_token_info":null,"_context_auth_url":null,"_context_region_name":null,"_context_project_name":"shop"}"#;

    #[test]
    fn a_message_is_what_listeners_know() {
        let unique = Uuid::from_u128(0x9f2b_0c5e_7a5b_4d0c_8a9f_1e2d_3c4b_5a69);
        let message = message(&notice());
        assert_eq!(String::from_utf8(message.body(false, unique)).unwrap(), EXPECTED);
        let envelope: Json = serde_json::from_slice(&message.body(true, unique)).unwrap();
        assert_eq!(envelope, json!({ "oslo.version": "2.0", "oslo.message": EXPECTED }));
        assert_eq!(message.event_type(), "orchestration.stack.create.start");
        assert!(message.log_line().ends_with(r#""timestamp":"2031-04-05 06:07:08.123456"}"#));
    }

    #[test]
    fn what_went_wrong_is_an_error_whatever_the_level() {
        let config = BusConfig { level: Level::Audit, ..config() };
        let told = |action, status| {
            let state = State::new(action, status);
            let notice = Notification { state, ..notice() };
            let message = Message::new(&notice, &config, Uuid::nil());
            (message.event_type().to_owned(), message.fields["priority"].clone())
        };
        let expected =
            |event: &str, level: &str| (format!("orchestration.stack.{event}"), json!(level));
        assert_eq!(told(Action::Rollback, Status::Complete), expected("rollback.end", "AUDIT"));
        assert_eq!(told(Action::Update, Status::Failed), expected("update.error", "ERROR"));
    }

    #[test]
    fn what_is_not_known_is_null() {
        let notice = Notification { created_by: Arc::default(), description: None, ..notice() };
        let body: Json =
            serde_json::from_slice(&message(&notice).body(false, Uuid::nil())).unwrap();
        assert_eq!(body["_context_user_identity"], "u-17 7c2f - - -");
        assert_eq!(body["_context_user_domain"], Json::Null);
        assert_eq!(body["_context_roles"], json!([]));
        assert!(body["payload"].get("description").is_none());
    }

    #[test]
    fn a_group_that_is_given_another_size_is_told_of_with_its_stack() {
        let scaling = Scaling {
            status: Status::InProgress,
            kind: "change_in_capacity".into(),
            adjustment: 1.0,
            capacity: 2,
            group: "web-group-k3j2h1".into(),
            failure: None,
        };
        let told = |scaling: Scaling| {
            let message = message(&Notification { scaling: Some(scaling), ..notice() });
            let fields = message.fields.clone();
            let payload = &fields["payload"];
            assert_eq!(payload["stack_name"], "web");
            let part = |name: &str| payload[name].to_string();
            let names = ["adjustment_type", "adjustment", "capacity", "groupname", "message"];
            (message.event_type().to_owned(), message.level, names.map(part).join(" "))
        };
        let rest = r#""change_in_capacity" 1 2 "web-group-k3j2h1""#;
        let start = format!("{rest} \"Start resizing the group web-group-k3j2h1\"");
        let event = |phase: &str| format!("orchestration.autoscaling.{phase}");
        assert_eq!(told(scaling.clone()), (event("start"), Level::Info, start));
        let end = Scaling { status: Status::Complete, ..scaling.clone() };
        let ended = format!("{rest} \"End resizing the group web-group-k3j2h1\"");
        assert_eq!(told(end), (event("end"), Level::Info, ended));
        let (status, failure) = (Status::Failed, Some("it broke".into()));
        let failed = Scaling { status, failure, adjustment: -0.5, ..scaling };
        let text = r#""change_in_capacity" -0.5 2 "web-group-k3j2h1" "it broke""#;
        assert_eq!(told(failed), (event("error"), Level::Error, text.to_owned()));
    }
}
