//! Messages and claims.

use serde_json::{Value, json};

use super::super::error_style::refuse;
use super::super::request::{Answer, Reply, RequestContext, int, object, strings, text};
use super::super::table::Obj;
use super::{CLAIMS, MESSAGES, ids, key};

/// Returns the messages of a queue that have not expired, oldest first.
fn alive(ctx: &mut RequestContext<'_>, name: &str) -> Vec<Obj> {
    let seconds = ctx.now() / 1_000_000;
    let queue = key(ctx, name);
    let all = ctx.state.with(MESSAGES, "queue", &queue);
    let (dead, alive): (Vec<Obj>, Vec<Obj>) =
        all.into_iter().partition(|row| int(row, "_ends") <= seconds);
    for row in dead {
        ctx.state.remove(MESSAGES, text(&row, "id"));
    }
    alive
}

/// Reports whether the message is claimed.
fn is_claimed(ctx: &RequestContext<'_>, row: &Obj) -> bool {
    int(row, "_claim_ends") > ctx.now() / 1_000_000
}

fn render(ctx: &RequestContext<'_>, name: &str, row: &Obj) -> Value {
    let seconds = ctx.now() / 1_000_000;
    let id = text(row, "id");
    let mut rendered = json!({
        "id": id, "href": format!("/v2/queues/{name}/messages/{id}"), "ttl": row["ttl"], "body": row["body"],
        "age": seconds - int(row, "_made"),
    });
    if is_claimed(ctx, row) {
        rendered["claim_id"] = row["_claim"].clone();
        let claim = text(row, "_claim");
        rendered["href"] = json!(format!("/v2/queues/{name}/messages/{id}?claim_id={claim}"));
    }
    rendered
}

pub(super) fn purge(ctx: &mut RequestContext<'_>, name: &str) {
    let queue = key(ctx, name);
    for row in ctx.state.with(MESSAGES, "queue", &queue) {
        ctx.state.remove(MESSAGES, text(&row, "id"));
    }
    for row in ctx.state.with(CLAIMS, "queue", &queue) {
        ctx.state.remove(CLAIMS, text(&row, "id"));
    }
}

pub(super) fn stats(ctx: &mut RequestContext<'_>, name: &str) -> Reply {
    let all = alive(ctx, name);
    let claimed = all.iter().filter(|row| is_claimed(ctx, row)).count();
    let counts = json!({ "claimed": claimed, "free": all.len() - claimed, "total": all.len() });
    Reply::ok(json!({ "messages": counts }))
}

pub(super) fn serve(
    ctx: &mut RequestContext<'_>,
    method: &str,
    name: &str,
    rest: &[&str],
) -> Answer {
    let missing = || refuse(404, format!("Queue {name} does not have such a message."));
    match (method, rest) {
        ("POST", []) => post(ctx, name),
        ("GET", []) if ctx.request.query("ids").is_some() => {
            let wanted = ids(ctx);
            let all = alive(ctx, name);
            let rows: Vec<Value> = all
                .iter()
                .filter(|row| wanted.iter().any(|id| id == text(row, "id")))
                .map(|row| render(ctx, name, row))
                .collect();
            Ok(Reply::ok(json!({ "messages": rows })))
        }
        ("GET", []) => Ok(list_messages(ctx, name)),
        ("GET", [id]) => {
            let all = alive(ctx, name);
            let row = all.iter().find(|row| text(row, "id") == *id).ok_or_else(missing)?;
            Ok(Reply::ok(render(ctx, name, row)))
        }
        ("DELETE", [id]) => delete(ctx, name, id),
        ("DELETE", []) => {
            if let Some(count) =
                ctx.request.query("pop").and_then(|count| count.parse::<usize>().ok())
            {
                let all = alive(ctx, name);
                let free: Vec<&Obj> =
                    all.iter().filter(|row| !is_claimed(ctx, row)).take(count).collect();
                let rows: Vec<Value> = free.iter().map(|row| render(ctx, name, row)).collect();
                let gone: Vec<String> = free.iter().map(|row| text(row, "id").to_owned()).collect();
                gone.iter().for_each(|id| drop(ctx.state.remove(MESSAGES, id)));
                return Ok(Reply::ok(json!({ "messages": rows })));
            }
            for id in ids(ctx) {
                ctx.state.remove(MESSAGES, &id);
            }
            Ok(Reply::empty(204))
        }
        _ => Err(refuse(405, "Method Not Allowed")),
    }
}

fn post(ctx: &mut RequestContext<'_>, name: &str) -> Answer {
    let Some(sent) = ctx.body["messages"].as_array().cloned().filter(|sent| !sent.is_empty())
    else {
        return Err(refuse(400, "No messages to enqueu."));
    };
    if super::super::request::Request::header(ctx.request, "content-length")
        .is_some_and(|size| size.parse::<u64>().is_ok_and(|size| size > 262_144))
    {
        return Err(refuse(400, "Message collection size is too large. Max size 262144"));
    }
    let row = super::queue(ctx, name)?;
    let usual = row["metadata"]["_default_message_ttl"].as_i64().unwrap_or(3_600);
    let queue = key(ctx, name);
    if ctx.state.get(super::QUEUES, &queue).is_none() {
        ctx.state.put(super::QUEUES, &queue, row);
    }
    let seconds = ctx.now() / 1_000_000;
    let client = ctx.request.header("client-id").unwrap_or_default().to_owned();
    let mut links = Vec::new();
    for message in sent {
        let id = ctx.state.random.hex(24);
        let ttl = message["ttl"].as_i64().unwrap_or(usual);
        ctx.state.add(MESSAGES, object(json!({
            "id": id, "queue": queue, "project_id": ctx.caller.project, "ttl": ttl, "body": message["body"],
            "_made": seconds, "_ends": seconds + ttl, "_client": client,
        })));
        links.push(format!("/v2/queues/{name}/messages/{id}"));
    }
    Ok(Reply::json(201, json!({ "resources": links })))
}

fn list_messages(ctx: &mut RequestContext<'_>, name: &str) -> Reply {
    let yes =
        |word: &str| ctx.request.query(word).is_some_and(|text| text.eq_ignore_ascii_case("true"));
    let (echo, claimed) = (yes("echo"), yes("include_claimed"));
    let limit = ctx.request.query("limit").and_then(|text| text.parse().ok()).unwrap_or(10_usize);
    let after =
        ctx.request.query("marker").and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    let client = ctx.request.header("client-id").unwrap_or_default().to_owned();
    let all = alive(ctx, name);
    let rows: Vec<Value> = all
        .iter()
        .filter(|row| echo || text(row, "_client") != client)
        .filter(|row| claimed || !is_claimed(ctx, row))
        .skip(after)
        .take(limit)
        .map(|row| render(ctx, name, row))
        .collect();
    let next = format!("/v2/queues/{name}/messages?marker={}&limit={limit}", after + rows.len());
    Reply::ok(json!({ "messages": rows, "links": [{ "rel": "next", "href": next }] }))
}

/// Deletes a message; a claimed one only together with its claim.
fn delete(ctx: &mut RequestContext<'_>, name: &str, id: &str) -> Answer {
    let all = alive(ctx, name);
    if let Some(row) = all.iter().find(|row| text(row, "id") == id) {
        let with = ctx.request.query("claim_id").unwrap_or_default();
        if is_claimed(ctx, row) && text(row, "_claim") != with {
            return Err(refuse(
                403,
                format!(
                    "Message {id} could not be deleted: a claim was specified, but the message is not claimed by it."
                ),
            ));
        }
        ctx.state.remove(MESSAGES, id);
    }
    Ok(Reply::empty(204))
}

pub(super) fn claims(
    ctx: &mut RequestContext<'_>,
    method: &str,
    name: &str,
    id: Option<&str>,
) -> Answer {
    let seconds = ctx.now() / 1_000_000;
    let missing = |id: &str| refuse(404, format!("Claim {id} does not exist."));
    match (method, id) {
        ("POST", None) => {
            let ttl = ctx.body["ttl"].as_i64().unwrap_or(300);
            let limit =
                ctx.request.query("limit").and_then(|text| text.parse().ok()).unwrap_or(10_usize);
            let all = alive(ctx, name);
            let free: Vec<String> = all
                .iter()
                .filter(|row| !is_claimed(ctx, row))
                .take(limit)
                .map(|row| text(row, "id").to_owned())
                .collect();
            if free.is_empty() {
                return Ok(Reply::empty(204));
            }
            let claim = ctx.state.random.hex(24);
            for id in &free {
                ctx.state.set(
                    MESSAGES,
                    id,
                    json!({ "_claim": claim, "_claim_ends": seconds + ttl }),
                );
            }
            let row = json!({
                "id": claim, "queue": key(ctx, name), "project_id": ctx.caller.project, "ttl": ttl,
                "_made": seconds, "_ends": seconds + ttl, "messages": free,
            });
            ctx.state.add(CLAIMS, object(row));
            let rows: Vec<Value> =
                free.iter().map(|id| render(ctx, name, &ctx.state.copy(MESSAGES, id))).collect();
            let location = format!("/v2/queues/{name}/claims/{claim}");
            Ok(Reply::json(201, json!({ "messages": rows })).with("location", location))
        }
        (_, None) => Err(refuse(405, "Method Not Allowed")),
        (method, Some(id)) => {
            let row = ctx.state.get(CLAIMS, id).filter(|row| int(row, "_ends") > seconds).cloned();
            let row = row.ok_or_else(|| missing(id))?;
            let held = strings(&row, "messages");
            match method {
                "GET" => {
                    let rows: Vec<Value> = held
                        .iter()
                        .filter_map(|id| ctx.state.get(MESSAGES, id))
                        .map(|row| render(ctx, name, row))
                        .collect();
                    let age = seconds - int(&row, "_made");
                    let href = format!("/v2/queues/{name}/claims/{id}");
                    Ok(Reply::ok(
                        json!({ "ttl": row["ttl"], "age": age, "messages": rows, "href": href }),
                    ))
                }
                "PATCH" => {
                    let ttl = ctx.body["ttl"].as_i64().unwrap_or(300);
                    ctx.state.set(CLAIMS, id, json!({ "ttl": ttl, "_ends": seconds + ttl }));
                    for message in held {
                        ctx.state.set(MESSAGES, &message, json!({ "_claim_ends": seconds + ttl }));
                    }
                    Ok(Reply::empty(204))
                }
                "DELETE" => {
                    for message in held {
                        ctx.state.set(MESSAGES, &message, json!({ "_claim_ends": 0 }));
                    }
                    ctx.state.remove(CLAIMS, id);
                    Ok(Reply::empty(204))
                }
                _ => Err(refuse(405, "Method Not Allowed")),
            }
        }
    }
}
