//! Key pairs, which belong to users and are found by name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::super::microversioned;
use super::super::request::{Answer, Reply, RequestContext, object, text};
use super::super::schema::Collection;
use super::super::state::CloudState;
use super::super::table::Obj;
use super::dialect::{NOVA, fault};
use super::{KEYPAIRS, is_own, limit};

pub(super) static KEYPAIR: Collection = Collection {
    name: KEYPAIRS,
    path: "os-keypairs",
    singular: "keypair",
    plural: "keypairs",
    title: "Keypair",
    operations: "",
    index: &["user_id"],
    ..Collection::new(&NOVA)
};

/// The key pairs of a new cloud: one that public documents use, of the user `demo`.
pub(super) fn seed(state: &mut CloudState) {
    let user = crate::identity::user_id("demo");
    let public = format!("ssh-rsa {} dxl-key", STANDARD.encode("a key of the simulated cloud"));
    let row = json!({
        "id": state.next_number(), "name": "dxl-key", "public_key": public, "fingerprint": fingerprint(&public),
        "user_id": user, "type": "ssh", "created_at": state.timestamp_micros(), "deleted": false,
        "deleted_at": null, "updated_at": null,
    });
    state.put(KEYPAIRS, &key(&user, "dxl-key"), object(row));
}

pub(super) fn serve(ctx: &mut RequestContext<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    Some(match (method, path) {
        ("GET", ["os-keypairs"]) => Ok(list_keypairs(ctx)),
        ("POST", ["os-keypairs"]) => create(ctx),
        ("GET", ["os-keypairs", name]) => {
            find(ctx, name).map(|row| Reply::ok(json!({ "keypair": render(ctx, row, true) })))
        }
        ("DELETE", ["os-keypairs", name]) => find(ctx, name).map(|row| {
            ctx.state.remove(KEYPAIRS, &key(text(&row, "user_id"), name));
            Reply::empty(if ctx.version >= 2 { 204 } else { 202 })
        }),
        _ => return None,
    })
}

fn key(user: &str, name: &str) -> String {
    format!("{user}/{name}")
}

/// Returns the user whose keys are requested; administrators may request those of another user.
fn whose(ctx: &RequestContext<'_>) -> String {
    let other = ctx.request.query("user_id").filter(|_| ctx.caller.is_admin && ctx.version >= 10);
    other.unwrap_or(&ctx.caller.user).to_owned()
}

fn find(ctx: &RequestContext<'_>, name: &str) -> Result<Obj, super::Refusal> {
    let user = whose(ctx);
    let row = ctx.state.get(KEYPAIRS, &key(&user, name)).filter(|row| is_own(ctx, row));
    row.cloned().ok_or_else(|| fault(404, format!("Keypair {name} not found for user {user}")))
}

/// Reports whether the user has a key pair with this name.
pub(super) fn has(ctx: &RequestContext<'_>, name: &str) -> bool {
    ctx.state.get(KEYPAIRS, &key(&ctx.caller.user, name)).is_some()
}

fn list_keypairs(ctx: &RequestContext<'_>) -> Reply {
    let rows: Vec<Value> = ctx
        .state
        .table(KEYPAIRS)
        .with("user_id", &whose(ctx))
        .into_iter()
        .map(|row| json!({ "keypair": render(ctx, row.clone(), false) }))
        .collect();
    Reply::ok(json!({ "keypairs": rows }))
}

fn render(ctx: &RequestContext<'_>, mut row: Obj, full: bool) -> Obj {
    let brief = ["name", "public_key", "fingerprint", "type"];
    row.retain(|name, _| full || brief.contains(&name.as_str()));
    if ctx.version < 2 {
        row.remove("type");
    }
    row
}

fn create(ctx: &mut RequestContext<'_>) -> Answer {
    let sent = ctx.sent(&KEYPAIR)?;
    let known = ["name", "public_key", "type", "user_id"];
    if let Some(strange) = sent.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(microversioned::unknown("keypair", &[strange], &sent));
    }
    let Some(name) = sent.get("name").and_then(Value::as_str).filter(|name| !name.is_empty())
    else {
        return Err(microversioned::missing("keypair", "name", &sent));
    };
    let user = sent.get("user_id").and_then(Value::as_str).filter(|_| ctx.caller.is_admin);
    let user = user.unwrap_or(&ctx.caller.user).to_owned();
    if ctx.state.get(KEYPAIRS, &key(&user, name)).is_some() {
        return Err(fault(409, format!("Key pair '{name}' already exists.")));
    }
    let most = limit(ctx.state, &user, "key_pairs");
    if usize::try_from(most)
        .is_ok_and(|most| ctx.state.table(KEYPAIRS).count("user_id", &user) >= most)
    {
        return Err(fault(403, "Quota exceeded, too many key pairs."));
    }
    let kind = sent.get("type").and_then(Value::as_str).unwrap_or("ssh");
    let supplied = sent.get("public_key").and_then(Value::as_str);
    if ctx.version >= 92 && supplied.is_none() {
        return Err(microversioned::missing("keypair", "public_key", &sent));
    }
    if let Some(supplied) = supplied
        && !is_key(kind, supplied)
    {
        return Err(fault(400, "Keypair data is invalid: failed to generate fingerprint"));
    }
    let drawn = ctx.state.random.hex(64);
    let public = supplied.map_or_else(
        || format!("ssh-rsa {} Generated-by-Nova", STANDARD.encode(&drawn)),
        str::to_owned,
    );
    let mut row = object(json!({
        "id": ctx.state.next_number(), "name": name, "public_key": public, "fingerprint": fingerprint(&public),
        "user_id": user, "type": kind, "created_at": ctx.state.timestamp_micros(), "deleted": false,
        "deleted_at": null, "updated_at": null,
    }));
    ctx.state.put(KEYPAIRS, &key(&user, name), row.clone());
    row.retain(|name, _| {
        ["name", "public_key", "fingerprint", "user_id", "type"].contains(&name.as_str())
    });
    if supplied.is_none() {
        let private = format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n",
            STANDARD.encode(ctx.state.random.hex(256))
        );
        row.insert("private_key".to_owned(), json!(private));
    }
    if ctx.version < 2 {
        row.remove("type");
    }
    let status = if ctx.version >= 2 { 201 } else { 200 };
    Ok(Reply::json(status, json!({ "keypair": row })))
}

fn is_key(kind: &str, key: &str) -> bool {
    match kind {
        "x509" => key.contains("-----BEGIN CERTIFICATE-----"),
        _ => {
            let mut strings = key.split_whitespace();
            let first = strings.next().unwrap_or_default();
            let known = first.starts_with("ssh-")
                || first.starts_with("ecdsa-")
                || first.starts_with("sk-");
            known && strings.next().is_some()
        }
    }
}

fn fingerprint(key: &str) -> String {
    let hash = Sha256::digest(key.as_bytes());
    let pairs: Vec<String> = hash[..16].iter().map(|byte| hex::encode([*byte])).collect();
    pairs.join(":")
}
