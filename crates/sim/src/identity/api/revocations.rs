//! `/v3/OS-REVOKE/events`: which tokens are void.

use serde_json::{Value, json};

use super::super::ask::{Answer, Ask, Reply};
use super::super::problem::Problem;
use super::super::records::{Revocation, Revoked};
use super::super::rights::Target;
use super::super::time::Moment;

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("list_revoke_events", Target::default())?;
    let since = match ask.query("since") {
        None => Moment(i64::MIN),
        Some(text) => Moment::read(text)
            .ok_or_else(|| Problem::bad(format!("invalidate date format {text}")))?,
    };
    let events: Vec<Value> = ask.identity.look(|state| {
        let live = |event: &&Revocation| event.until >= ask.now && event.at >= since;
        state.revocations.iter().filter(live).map(show).collect()
    });
    let links = json!({ "next": null, "self": ask.link("OS-REVOKE/events"), "previous": null });
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
