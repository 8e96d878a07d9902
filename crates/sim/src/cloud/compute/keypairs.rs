//! Key pairs: they belong to users and are found by name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::super::ask::{Answer, Reply, Turn, object, text};
use super::super::fault_body;
use super::super::schema::{Collection, plain};
use super::super::table::Obj;
use super::dialect::{Nova, fault};
use super::{KEYPAIRS, is_own, limit};

pub(super) static KEYPAIR: Collection = Collection {
    name: KEYPAIRS,
    path: "os-keypairs",
    one: "keypair",
    many: "keypairs",
    title: "Keypair",
    verbs: "",
    index: &["user_id"],
    ..plain(&Nova)
};

pub(super) fn serve(turn: &mut Turn<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    Some(match (method, path) {
        ("GET", ["os-keypairs"]) => Ok(listed(turn)),
        ("POST", ["os-keypairs"]) => create(turn),
        ("GET", ["os-keypairs", name]) => {
            find(turn, name).map(|row| Reply::ok(json!({ "keypair": shown(turn, row, true) })))
        }
        ("DELETE", ["os-keypairs", name]) => find(turn, name).map(|row| {
            turn.world.remove(KEYPAIRS, &key(text(&row, "user_id"), name));
            Reply::empty(if turn.version >= 2 { 204 } else { 202 })
        }),
        _ => return None,
    })
}

fn key(user: &str, name: &str) -> String {
    format!("{user}/{name}")
}

/// Whose keys are asked for: administrators may ask for another user's.
fn whose(turn: &Turn<'_>) -> String {
    let other = turn.ask.query("user_id").filter(|_| turn.who.is_admin && turn.version >= 10);
    other.unwrap_or(&turn.who.user).to_owned()
}

fn find(turn: &Turn<'_>, name: &str) -> Result<Obj, super::Refusal> {
    let user = whose(turn);
    let row = turn.world.get(KEYPAIRS, &key(&user, name)).filter(|row| is_own(turn, row));
    row.cloned().ok_or_else(|| fault(404, format!("Keypair {name} not found for user {user}")))
}

/// Whether the user has a key of this name.
pub(super) fn has(turn: &Turn<'_>, name: &str) -> bool {
    turn.world.get(KEYPAIRS, &key(&turn.who.user, name)).is_some()
}

fn listed(turn: &Turn<'_>) -> Reply {
    let rows: Vec<Value> = turn
        .world
        .table(KEYPAIRS)
        .with("user_id", &whose(turn))
        .into_iter()
        .map(|row| json!({ "keypair": shown(turn, row.clone(), false) }))
        .collect();
    Reply::ok(json!({ "keypairs": rows }))
}

fn shown(turn: &Turn<'_>, mut row: Obj, full: bool) -> Obj {
    let brief = ["name", "public_key", "fingerprint", "type"];
    row.retain(|name, _| full || brief.contains(&name.as_str()));
    if turn.version < 2 {
        row.remove("type");
    }
    row
}

fn create(turn: &mut Turn<'_>) -> Answer {
    let sent = turn.sent(&KEYPAIR)?;
    let known = ["name", "public_key", "type", "user_id"];
    if let Some(strange) = sent.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(fault_body::unknown("keypair", &[strange], &sent));
    }
    let Some(name) = sent.get("name").and_then(Value::as_str).filter(|name| !name.is_empty())
    else {
        return Err(fault_body::missing("keypair", "name", &sent));
    };
    let user = sent.get("user_id").and_then(Value::as_str).filter(|_| turn.who.is_admin);
    let user = user.unwrap_or(&turn.who.user).to_owned();
    if turn.world.get(KEYPAIRS, &key(&user, name)).is_some() {
        return Err(fault(409, format!("Key pair '{name}' already exists.")));
    }
    let most = limit(turn.world, &user, "key_pairs");
    if usize::try_from(most)
        .is_ok_and(|most| turn.world.table(KEYPAIRS).count("user_id", &user) >= most)
    {
        return Err(fault(403, "Quota exceeded, too many key pairs."));
    }
    let kind = sent.get("type").and_then(Value::as_str).unwrap_or("ssh");
    let given = sent.get("public_key").and_then(Value::as_str);
    if turn.version >= 92 && given.is_none() {
        return Err(fault_body::missing("keypair", "public_key", &sent));
    }
    if let Some(given) = given
        && !is_key(kind, given)
    {
        return Err(fault(400, "Keypair data is invalid: failed to generate fingerprint"));
    }
    let drawn = turn.world.random.hex(64);
    let public = given.map_or_else(
        || format!("ssh-rsa {} Generated-by-Nova", STANDARD.encode(&drawn)),
        str::to_owned,
    );
    let mut row = object(json!({
        "id": turn.world.number(), "name": name, "public_key": public, "fingerprint": fingerprint(&public),
        "user_id": user, "type": kind, "created_at": turn.world.stamp_micros(), "deleted": false,
        "deleted_at": null, "updated_at": null,
    }));
    turn.world.put(KEYPAIRS, &key(&user, name), row.clone());
    row.retain(|name, _| {
        ["name", "public_key", "fingerprint", "user_id", "type"].contains(&name.as_str())
    });
    if given.is_none() {
        let private = format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n",
            STANDARD.encode(turn.world.random.hex(256))
        );
        row.insert("private_key".to_owned(), json!(private));
    }
    if turn.version < 2 {
        row.remove("type");
    }
    let status = if turn.version >= 2 { 201 } else { 200 };
    Ok(Reply::json(status, json!({ "keypair": row })))
}

fn is_key(kind: &str, key: &str) -> bool {
    match kind {
        "x509" => key.contains("-----BEGIN CERTIFICATE-----"),
        _ => {
            let mut words = key.split_whitespace();
            let first = words.next().unwrap_or_default();
            let known = first.starts_with("ssh-")
                || first.starts_with("ecdsa-")
                || first.starts_with("sk-");
            known && words.next().is_some()
        }
    }
}

fn fingerprint(key: &str) -> String {
    let hash = Sha256::digest(key.as_bytes());
    let pairs: Vec<String> = hash[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(":")
}
