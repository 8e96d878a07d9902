//! Messages and claims on them.

use serde_json::{Value, json};

use super::super::ask::{Answer, Reply, Turn, int, object, text, words};
use super::super::forms::refuse;
use super::super::table::Obj;
use super::{CLAIMS, MESSAGES, ids, key};

/// The messages of a queue that are still alive, oldest first.
fn alive(turn: &mut Turn<'_>, name: &str) -> Vec<Obj> {
    let seconds = turn.now() / 1_000_000;
    let queue = key(turn, name);
    let all = turn.world.with(MESSAGES, "queue", &queue);
    let (dead, alive): (Vec<Obj>, Vec<Obj>) =
        all.into_iter().partition(|row| int(row, "_ends") <= seconds);
    for row in dead {
        turn.world.remove(MESSAGES, text(&row, "id"));
    }
    alive
}

/// Whether somebody has claimed the message.
fn is_claimed(turn: &Turn<'_>, row: &Obj) -> bool {
    int(row, "_claim_ends") > turn.now() / 1_000_000
}

fn shown(turn: &Turn<'_>, name: &str, row: &Obj) -> Value {
    let seconds = turn.now() / 1_000_000;
    let id = text(row, "id");
    let mut shown = json!({
        "id": id, "href": format!("/v2/queues/{name}/messages/{id}"), "ttl": row["ttl"], "body": row["body"],
        "age": seconds - int(row, "_made"),
    });
    if is_claimed(turn, row) {
        shown["claim_id"] = row["_claim"].clone();
        let claim = text(row, "_claim");
        shown["href"] = json!(format!("/v2/queues/{name}/messages/{id}?claim_id={claim}"));
    }
    shown
}

pub(super) fn purge(turn: &mut Turn<'_>, name: &str) {
    let queue = key(turn, name);
    for row in turn.world.with(MESSAGES, "queue", &queue) {
        turn.world.remove(MESSAGES, text(&row, "id"));
    }
    for row in turn.world.with(CLAIMS, "queue", &queue) {
        turn.world.remove(CLAIMS, text(&row, "id"));
    }
}

pub(super) fn stats(turn: &mut Turn<'_>, name: &str) -> Reply {
    let all = alive(turn, name);
    let claimed = all.iter().filter(|row| is_claimed(turn, row)).count();
    let counts = json!({ "claimed": claimed, "free": all.len() - claimed, "total": all.len() });
    Reply::ok(json!({ "messages": counts }))
}

pub(super) fn serve(turn: &mut Turn<'_>, method: &str, name: &str, rest: &[&str]) -> Answer {
    let missing = || refuse(404, format!("Queue {name} does not have such a message."));
    match (method, rest) {
        ("POST", []) => post(turn, name),
        ("GET", []) if turn.ask.query("ids").is_some() => {
            let wanted = ids(turn);
            let all = alive(turn, name);
            let rows: Vec<Value> = all
                .iter()
                .filter(|row| wanted.iter().any(|id| id == text(row, "id")))
                .map(|row| shown(turn, name, row))
                .collect();
            Ok(Reply::ok(json!({ "messages": rows })))
        }
        ("GET", []) => Ok(listed(turn, name)),
        ("GET", [id]) => {
            let all = alive(turn, name);
            let row = all.iter().find(|row| text(row, "id") == *id).ok_or_else(missing)?;
            Ok(Reply::ok(shown(turn, name, row)))
        }
        ("DELETE", [id]) => delete(turn, name, id),
        ("DELETE", []) => {
            if let Some(count) = turn.ask.query("pop").and_then(|count| count.parse::<usize>().ok())
            {
                let all = alive(turn, name);
                let free: Vec<&Obj> =
                    all.iter().filter(|row| !is_claimed(turn, row)).take(count).collect();
                let rows: Vec<Value> = free.iter().map(|row| shown(turn, name, row)).collect();
                let gone: Vec<String> = free.iter().map(|row| text(row, "id").to_owned()).collect();
                gone.iter().for_each(|id| drop(turn.world.remove(MESSAGES, id)));
                return Ok(Reply::ok(json!({ "messages": rows })));
            }
            for id in ids(turn) {
                turn.world.remove(MESSAGES, &id);
            }
            Ok(Reply::empty(204))
        }
        _ => Err(refuse(405, "Method Not Allowed")),
    }
}

fn post(turn: &mut Turn<'_>, name: &str) -> Answer {
    let Some(sent) = turn.body["messages"].as_array().cloned().filter(|sent| !sent.is_empty())
    else {
        return Err(refuse(400, "No messages to enqueu."));
    };
    if super::super::ask::Ask::header(turn.ask, "content-length")
        .is_some_and(|size| size.parse::<u64>().is_ok_and(|size| size > 262_144))
    {
        return Err(refuse(400, "Message collection size is too large. Max size 262144"));
    }
    let row = super::queue(turn, name)?;
    let usual = row["metadata"]["_default_message_ttl"].as_i64().unwrap_or(3_600);
    let queue = key(turn, name);
    if turn.world.get(super::QUEUES, &queue).is_none() {
        turn.world.put(super::QUEUES, &queue, row);
    }
    let seconds = turn.now() / 1_000_000;
    let client = turn.ask.header("client-id").unwrap_or_default().to_owned();
    let mut links = Vec::new();
    for message in sent {
        let id = turn.world.random.hex(24);
        let ttl = message["ttl"].as_i64().unwrap_or(usual);
        turn.world.add(MESSAGES, object(json!({
            "id": id, "queue": queue, "project_id": turn.who.project, "ttl": ttl, "body": message["body"],
            "_made": seconds, "_ends": seconds + ttl, "_client": client,
        })));
        links.push(format!("/v2/queues/{name}/messages/{id}"));
    }
    Ok(Reply::json(201, json!({ "resources": links })))
}

fn listed(turn: &mut Turn<'_>, name: &str) -> Reply {
    let yes =
        |word: &str| turn.ask.query(word).is_some_and(|text| text.eq_ignore_ascii_case("true"));
    let (echo, claimed) = (yes("echo"), yes("include_claimed"));
    let limit = turn.ask.query("limit").and_then(|text| text.parse().ok()).unwrap_or(10_usize);
    let after = turn.ask.query("marker").and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    let client = turn.ask.header("client-id").unwrap_or_default().to_owned();
    let all = alive(turn, name);
    let rows: Vec<Value> = all
        .iter()
        .filter(|row| echo || text(row, "_client") != client)
        .filter(|row| claimed || !is_claimed(turn, row))
        .skip(after)
        .take(limit)
        .map(|row| shown(turn, name, row))
        .collect();
    let next = format!("/v2/queues/{name}/messages?marker={}&limit={limit}", after + rows.len());
    Reply::ok(json!({ "messages": rows, "links": [{ "rel": "next", "href": next }] }))
}

/// A claimed message goes only with its claim.
fn delete(turn: &mut Turn<'_>, name: &str, id: &str) -> Answer {
    let all = alive(turn, name);
    if let Some(row) = all.iter().find(|row| text(row, "id") == id) {
        let with = turn.ask.query("claim_id").unwrap_or_default();
        if is_claimed(turn, row) && text(row, "_claim") != with {
            return Err(refuse(
                403,
                format!(
                    "Message {id} could not be deleted: a claim was specified, but the message is not claimed by it."
                ),
            ));
        }
        turn.world.remove(MESSAGES, id);
    }
    Ok(Reply::empty(204))
}

pub(super) fn claims(turn: &mut Turn<'_>, method: &str, name: &str, id: Option<&str>) -> Answer {
    let seconds = turn.now() / 1_000_000;
    let missing = |id: &str| refuse(404, format!("Claim {id} does not exist."));
    match (method, id) {
        ("POST", None) => {
            let ttl = turn.body["ttl"].as_i64().unwrap_or(300);
            let limit =
                turn.ask.query("limit").and_then(|text| text.parse().ok()).unwrap_or(10_usize);
            let all = alive(turn, name);
            let free: Vec<String> = all
                .iter()
                .filter(|row| !is_claimed(turn, row))
                .take(limit)
                .map(|row| text(row, "id").to_owned())
                .collect();
            if free.is_empty() {
                return Ok(Reply::empty(204));
            }
            let claim = turn.world.random.hex(24);
            for id in &free {
                turn.world.set(
                    MESSAGES,
                    id,
                    json!({ "_claim": claim, "_claim_ends": seconds + ttl }),
                );
            }
            let row = json!({
                "id": claim, "queue": key(turn, name), "project_id": turn.who.project, "ttl": ttl,
                "_made": seconds, "_ends": seconds + ttl, "messages": free,
            });
            turn.world.add(CLAIMS, object(row));
            let rows: Vec<Value> =
                free.iter().map(|id| shown(turn, name, &turn.world.copy(MESSAGES, id))).collect();
            let location = format!("/v2/queues/{name}/claims/{claim}");
            Ok(Reply::json(201, json!({ "messages": rows })).with("location", location))
        }
        (_, None) => Err(refuse(405, "Method Not Allowed")),
        (method, Some(id)) => {
            let row = turn.world.get(CLAIMS, id).filter(|row| int(row, "_ends") > seconds).cloned();
            let row = row.ok_or_else(|| missing(id))?;
            let held = words(&row, "messages");
            match method {
                "GET" => {
                    let rows: Vec<Value> = held
                        .iter()
                        .filter_map(|id| turn.world.get(MESSAGES, id))
                        .map(|row| shown(turn, name, row))
                        .collect();
                    let age = seconds - int(&row, "_made");
                    let href = format!("/v2/queues/{name}/claims/{id}");
                    Ok(Reply::ok(
                        json!({ "ttl": row["ttl"], "age": age, "messages": rows, "href": href }),
                    ))
                }
                "PATCH" => {
                    let ttl = turn.body["ttl"].as_i64().unwrap_or(300);
                    turn.world.set(CLAIMS, id, json!({ "ttl": ttl, "_ends": seconds + ttl }));
                    for message in held {
                        turn.world.set(MESSAGES, &message, json!({ "_claim_ends": seconds + ttl }));
                    }
                    Ok(Reply::empty(204))
                }
                "DELETE" => {
                    for message in held {
                        turn.world.set(MESSAGES, &message, json!({ "_claim_ends": 0 }));
                    }
                    turn.world.remove(CLAIMS, id);
                    Ok(Reply::empty(204))
                }
                _ => Err(refuse(405, "Method Not Allowed")),
            }
        }
    }
}
