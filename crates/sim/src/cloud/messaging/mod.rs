//! The messaging service: Zaqar, version 2.

mod messages;
mod shared;

use serde_json::{Value, json};

use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::patch;
use super::request::{Answer, Refusal, Reply, RequestContext, object, set, text};
use super::schema::Collection;
use super::services::Service;
use super::table::Obj;

static ZAQAR: ErrorStyle =
    ErrorStyle { form: ErrorForm::Described, missing: "does not exist.", bad: 400 };

const QUEUES: &str = "messaging/queues";
const MESSAGES: &str = "messaging/messages";
const CLAIMS: &str = "messaging/claims";
const SUBSCRIPTIONS: &str = "messaging/subscriptions";

const fn kept(name: &'static str) -> Collection {
    Collection {
        name,
        operations: "",
        index: &["queue"],
        fields: "name text r \"\"\n project_id text r \"\"",
        ..Collection::new(&ZAQAR)
    }
}

static QUEUE: Collection = kept(QUEUES);
static MESSAGE: Collection = kept(MESSAGES);
static CLAIM: Collection = kept(CLAIMS);
static SUBSCRIPTION: Collection = kept(SUBSCRIPTIONS);

pub(super) static SERVICE: Service = Service {
    prefix: "messaging",
    types: &["messaging"],
    name: "zaqar",
    address: "",
    microversions: None,
    dialect: &ZAQAR,
    collections: &[&[&QUEUE, &MESSAGE, &CLAIM, &SUBSCRIPTION]],
    serve,
    versions: |base, path| match path {
        [] => Some((
            300,
            json!({ "versions": [{
            "id": "2", "status": "CURRENT", "updated": "2014-9-24T04:06:47Z", "links": [{ "href": format!("{base}/v2/"), "rel": "self" }],
            "media-types": [{ "base": "application/json", "type": "application/vnd.openstack.messaging-v2+json" }],
        }] }),
        )),
        ["v2", "ping"] => Some((200, json!({}))),
        _ => None,
    },
    seed: |_| (),
};

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v2", path @ ..] = parts.as_slice() else { return Err(refuse(404, "Not Found")) };
    if ctx.caller.user.is_empty() {
        // Without a token, only a signed request is served, and only for its scope.
        ctx.caller.project = shared::project(ctx).ok_or_else(|| {
            Refusal::new(401, "Unauthorized", "The request you have made requires authentication.")
        })?;
    }
    let needs_client = matches!(path, ["queues", _, "messages" | "claims", ..]);
    if needs_client && ctx.request.header("client-id").is_none() {
        return Err(refuse(400, "The header Client-ID is missing: it has to be a UUID."));
    }
    let method = ctx.request.method.clone();
    match (method.as_str(), path) {
        ("GET", ["queues"]) => Ok(list_queues(ctx)),
        ("PUT", ["queues", name]) => put(ctx, name),
        ("GET", ["queues", name]) => queue(ctx, name).map(|row| Reply::ok(row["metadata"].clone())),
        ("PATCH", ["queues", name]) => change(ctx, name),
        ("DELETE", ["queues", name]) => Ok(delete(ctx, name)),
        ("GET", ["queues", name, "stats"]) => Ok(messages::stats(ctx, name)),
        ("POST", ["queues", name, "purge"]) => {
            messages::purge(ctx, name);
            Ok(Reply::empty(204))
        }
        ("POST", ["queues", name, "share"]) => shared::share(ctx, name),
        (_, ["queues", name, "messages", rest @ ..]) => messages::serve(ctx, &method, name, rest),
        (_, ["queues", name, "claims", rest @ ..]) => {
            messages::claims(ctx, &method, name, rest.first().copied())
        }
        (_, ["queues", name, "subscriptions", rest @ ..]) => {
            subscriptions(ctx, &method, name, rest.first().copied())
        }
        ("GET", ["health"]) => Ok(Reply::ok(json!({}))),
        _ => Err(refuse(404, "Not Found")),
    }
}

fn key(ctx: &RequestContext<'_>, name: &str) -> String {
    format!("{}/{name}", ctx.caller.project)
}

/// Finds a queue; queues exist implicitly, so an unknown one is empty.
fn queue(ctx: &RequestContext<'_>, name: &str) -> Result<Obj, Refusal> {
    let row = ctx.state.get(QUEUES, &key(ctx, name)).cloned();
    Ok(row.unwrap_or_else(|| fresh(ctx, name)))
}

fn fresh(ctx: &RequestContext<'_>, name: &str) -> Obj {
    object(json!({ "name": name, "project_id": ctx.caller.project, "metadata": {
        "_max_messages_post_size": 262_144, "_default_message_ttl": 3_600, "_default_message_delay": 0,
        "_dead_letter_queue": null, "_dead_letter_queue_messages_ttl": null, "_max_claim_count": null,
        "_enable_encrypt_messages": false,
    } }))
}

fn list_queues(ctx: &RequestContext<'_>) -> Reply {
    let own = ctx.state.table(QUEUES).with("project_id", &ctx.caller.project);
    let rows: Vec<Value> = own
        .iter()
        .map(|row| json!({ "name": row["name"], "href": format!("/v2/queues/{}", text(row, "name")) }))
        .collect();
    Reply::ok(json!({ "queues": rows, "links": [{ "rel": "next", "href": "/v2/queues" }] }))
}

fn put(ctx: &mut RequestContext<'_>, name: &str) -> Answer {
    let fits = name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if !fits {
        return Err(Refusal::new(
            400,
            "Invalid API request",
            "Queue names are more than 64 bytes or contain other than letters, digits, underscores, and hyphens.",
        ));
    }
    let there = ctx.state.get(QUEUES, &key(ctx, name)).is_some();
    let mut row = fresh(ctx, name);
    for (name, value) in object(ctx.body.clone()) {
        row.set_entry("metadata", &name, value);
    }
    ctx.state.put(QUEUES, &key(ctx, name), row);
    let reply = Reply::empty(if there { 204 } else { 201 });
    Ok(reply.with("location", format!("/v2/queues/{name}")))
}

/// Patches the metadata of a queue; the paths begin with `/metadata/`.
fn change(ctx: &mut RequestContext<'_>, name: &str) -> Answer {
    let Some(mut row) = ctx.state.get(QUEUES, &key(ctx, name)).cloned() else {
        return Err(refuse(404, format!("Queue {name} does not exist.")));
    };
    let changes = patch::read(&ctx.body).map_err(|reason| refuse(400, reason))?;
    patch::apply(&mut row, changes);
    ctx.state.put(QUEUES, &key(ctx, name), row.clone());
    Ok(Reply::ok(row["metadata"].clone()))
}

fn delete(ctx: &mut RequestContext<'_>, name: &str) -> Reply {
    messages::purge(ctx, name);
    let queue = key(ctx, name);
    for row in ctx.state.with(SUBSCRIPTIONS, "queue", &queue) {
        ctx.state.remove(SUBSCRIPTIONS, text(&row, "id"));
    }
    ctx.state.remove(QUEUES, &queue);
    Reply::empty(204)
}

fn subscriptions(
    ctx: &mut RequestContext<'_>,
    method: &str,
    name: &str,
    id: Option<&str>,
) -> Answer {
    let queue = key(ctx, name);
    let seconds = ctx.now() / 1_000_000;
    let own: Vec<Obj> = ctx.state.with(SUBSCRIPTIONS, "queue", &queue);
    let render = |row: &Obj| {
        let age = seconds - row["_made"].as_i64().unwrap_or_default();
        json!({
            "id": row["id"], "source": name, "subscriber": row["subscriber"], "ttl": row["ttl"], "age": age,
            "options": row["options"], "confirmed": true,
        })
    };
    let find = |id: &str| {
        let row = own.iter().find(|row| text(row, "id") == id).cloned();
        row.ok_or_else(|| {
            refuse(404, format!("Subscription {id} for queue {name} does not exist."))
        })
    };
    match (method, id) {
        ("GET", None) => {
            let rows: Vec<Value> = own.iter().map(render).collect();
            let href = format!("/v2/queues/{name}/subscriptions");
            Ok(Reply::ok(
                json!({ "subscriptions": rows, "links": [{ "rel": "next", "href": href }] }),
            ))
        }
        ("GET", Some(id)) => find(id).map(|row| Reply::ok(render(&row))),
        ("POST", None) => {
            let subscriber = ctx.body["subscriber"].as_str().unwrap_or_default().to_owned();
            let scheme = subscriber.split(':').next().unwrap_or_default();
            if !["http", "https", "mailto", "trust+http", "trust+https"].contains(&scheme) {
                return Err(Refusal::new(
                    400,
                    "Invalid API request",
                    "The subscriber type of subscription must be supported in the list ('http', 'https', 'mailto', 'trust+http', 'trust+https').",
                ));
            }
            if own.iter().any(|row| text(row, "subscriber") == subscriber) {
                return Err(refuse(
                    409,
                    "Such subscription already exists. Subscriptions are unique by project + queue + subscriber URI.",
                ));
            }
            let id = ctx.state.random.hex(24);
            let row = object(json!({
                "id": id, "queue": queue, "project_id": ctx.caller.project, "name": name, "subscriber": subscriber,
                "ttl": ctx.body["ttl"].as_i64().unwrap_or(3_600), "_made": seconds,
                "options": ctx.body.get("options").cloned().unwrap_or_else(|| json!({})),
            }));
            ctx.state.add(SUBSCRIPTIONS, row);
            Ok(Reply::json(201, json!({ "subscription_id": id })))
        }
        ("PATCH", Some(id)) => {
            let mut row = find(id)?;
            for field in ["subscriber", "ttl", "options"] {
                if let Some(value) = ctx.body.get(field) {
                    set(&mut row, field, value.clone());
                }
            }
            ctx.state.put(SUBSCRIPTIONS, id, row);
            Ok(Reply::empty(204))
        }
        ("DELETE", Some(id)) => {
            // Deleting an unknown subscription is not an error.
            ctx.state.remove(SUBSCRIPTIONS, id);
            Ok(Reply::empty(204))
        }
        ("PUT", Some(_)) => Ok(Reply::empty(204)),
        _ => Err(refuse(405, "Method Not Allowed")),
    }
}

/// Returns the ids in the query.
fn ids(ctx: &RequestContext<'_>) -> Vec<String> {
    let asked = ctx.request.query("ids").unwrap_or_default();
    asked.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect()
}
