//! Version discovery, which requires no authentication.

use serde_json::{Value, json};

use super::super::request::{Answer, Reply, Request};

pub(in super::super) fn versions(request: &Request<'_>) -> Answer {
    let body = json!({ "versions": { "values": [v3(request)] } });
    let reply = Reply { status: 300, ..Reply::ok(body) };
    Ok(reply.with("location", request.link("")))
}

pub(in super::super) fn version(request: &Request<'_>) -> Answer {
    Ok(Reply::ok(json!({ "version": v3(request) })))
}

fn v3(request: &Request<'_>) -> Value {
    json!({
        "id": "v3.14",
        "status": "stable",
        "updated": "2020-04-07T00:00:00Z",
        "links": [{ "rel": "self", "href": request.link("") }],
        "media-types": [{
            "base": "application/json", "type": "application/vnd.openstack.identity-v3+json",
        }],
    })
}
