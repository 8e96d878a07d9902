//! Which versions there are. Nobody has to log in to know.

use serde_json::{Value, json};

use super::super::ask::{Answer, Ask, Reply};

pub(in super::super) fn versions(ask: &Ask<'_>) -> Answer {
    let body = json!({ "versions": { "values": [v3(ask)] } });
    let reply = Reply { status: 300, ..Reply::ok(body) };
    Ok(reply.with("location", ask.link("")))
}

pub(in super::super) fn version(ask: &Ask<'_>) -> Answer {
    Ok(Reply::ok(json!({ "version": v3(ask) })))
}

fn v3(ask: &Ask<'_>) -> Value {
    json!({
        "id": "v3.14",
        "status": "stable",
        "updated": "2020-04-07T00:00:00Z",
        "links": [{ "rel": "self", "href": ask.link("") }],
        "media-types": [{
            "base": "application/json", "type": "application/vnd.openstack.identity-v3+json",
        }],
    })
}
