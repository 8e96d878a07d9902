//! `/v3/OS-REVOKE/events`.

use serde_json::{Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::{Revocation, Revoked};
use super::super::request::{Answer, Reply, Request};
use super::super::time::Moment;

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("list_revoke_events", Target::default())?;
    let since = match request.query("since") {
        None => Moment(i64::MIN),
        Some(text) => Moment::read(text)
            .ok_or_else(|| ApiError::bad(format!("invalidate date format {text}")))?,
    };
    let events: Vec<Value> = request.identity.read(|state| {
        let live = |event: &&Revocation| event.until >= request.now && event.at >= since;
        state.revocations.iter().filter(live).map(show).collect()
    });
    let links = json!({ "next": null, "self": request.link("OS-REVOKE/events"), "previous": null });
    Ok(Reply::ok(json!({ "events": events, "links": links })))
}

fn show(event: &Revocation) -> Value {
    let (key, id) = match &event.of {
        Revoked::Token(id, _) => ("audit_id", id),
        Revoked::User(id) => ("user_id", id),
        Revoked::Project(id) => ("project_id", id),
        Revoked::Trust(id) => ("OS-TRUST:trust_id", id),
    };
    json!({ key: id, "issued_before": event.at.zulu(), "revoked_at": event.at.zulu() })
}
