//! The key manager: Barbican, version 1.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::request::{Answer, Content, Refusal, Reply, RequestContext, list, object, set, text};
use super::schema::Collection;
use super::services::{Service, Step};
use super::state::CloudState;
use super::table::Obj;

static BARBICAN: ErrorStyle = ErrorStyle { form: ErrorForm::Described, missing: "", bad: 400 };

const SECRETS: &str = "key-manager/secrets";
const ORDERS: &str = "key-manager/orders";
const CONTAINERS: &str = "key-manager/containers";

const fn kept(name: &'static str) -> Collection {
    Collection {
        name,
        operations: "",
        fields: "name text r \"\"\n project_id text r \"\"",
        ..Collection::new(&BARBICAN)
    }
}

static SECRET: Collection = kept(SECRETS);
static ORDER: Collection = kept(ORDERS);
static CONTAINER: Collection = kept(CONTAINERS);

pub(super) static SERVICE: Service = Service {
    prefix: "key-manager",
    types: &["key-manager"],
    name: "barbican",
    address: "",
    microversions: None,
    dialect: &BARBICAN,
    collections: &[&[&SECRET, &ORDER, &CONTAINER]],
    serve,
    versions: |base, path| {
        let row = json!({
            "id": "v1", "status": "CURRENT", "min_version": "1.0", "max_version": "1.1",
            "links": [{ "rel": "self", "href": format!("{base}/v1/") }],
        });
        match path {
            [] => Some((300, json!({ "versions": [row] }))),
            ["v1"] => Some((200, json!({ "version": row }))),
            _ => None,
        }
    },
    seed: |_| (),
};

pub(super) static STEPS: &[Step] = &[("key-manager/ordered", ordered)];

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let method = ctx.request.method.clone();
    match (method.as_str(), parts.as_slice()) {
        ("POST", ["v1", "secrets"]) => create_secret(ctx),
        ("GET", ["v1", "secrets"]) => list_entities(ctx, SECRETS, "secrets"),
        ("GET", ["v1", "secrets", id]) => secret(ctx, id),
        ("GET", ["v1", "secrets", id, "payload"]) => payload(ctx, id),
        ("PUT", ["v1", "secrets", id]) => fill(ctx, id),
        (_, ["v1", "secrets", id, "metadata", rest @ ..]) => metadata(ctx, &method, id, rest.first().copied()),
        ("POST", ["v1", "orders"]) => create_order(ctx),
        ("GET", ["v1", "orders"]) => list_entities(ctx, ORDERS, "orders"),
        ("POST", ["v1", "containers"]) => create_container(ctx),
        ("GET", ["v1", "containers"]) => list_entities(ctx, CONTAINERS, "containers"),
        ("GET", ["v1", kind @ ("orders" | "containers"), id]) => {
            let (table, word) = table(kind);
            find(ctx, table, word, id).map(|row| Reply::ok(render(ctx, kind, &row)))
        }
        ("DELETE", ["v1", kind @ ("secrets" | "orders" | "containers"), id]) => {
            let (table, word) = table(kind);
            find(ctx, table, word, id).map(|_| {
                ctx.state.remove(table, id);
                Reply::empty(204)
            })
        }
        ("POST" | "DELETE", ["v1", "containers", id, "consumers"]) => consumers(ctx, &method, id),
        ("GET", ["v1", "containers", id, "consumers"]) => find(ctx, CONTAINERS, "container", id)
            .map(|row| Reply::ok(json!({ "consumers": row["consumers"], "total": list(&row, "consumers").len() }))),
        _ => Err(refuse(404, "Not Found.")),
    }
}

fn table(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "secrets" => (SECRETS, "secret"),
        "orders" => (ORDERS, "order"),
        _ => (CONTAINERS, "container"),
    }
}

fn find(ctx: &RequestContext<'_>, table: &str, word: &str, id: &str) -> Result<Obj, Refusal> {
    let row = ctx.state.get(table, id).filter(|row| ctx.owns(row)).cloned();
    row.ok_or_else(|| {
        refuse(404, format!("Not Found. Sorry but your {word} is in another castle."))
    })
}

fn reference(ctx: &RequestContext<'_>, kind: &str, id: &str) -> String {
    format!("{}{}/v1/{kind}/{id}", ctx.request.base, ctx.request.service)
}

/// Returns the fields that every object has.
fn fresh(ctx: &mut RequestContext<'_>, status: &str) -> Obj {
    let timestamp = ctx.state.timestamp_seconds();
    object(json!({
        "id": ctx.state.uuid(), "project_id": ctx.caller.project, "creator_id": ctx.caller.user, "status": status,
        "created": timestamp, "updated": timestamp, "_base": format!("{}{}", ctx.request.base, ctx.request.service),
    }))
}

const SECRET_FIELDS: &[&str] = &[
    "name",
    "expiration",
    "algorithm",
    "bit_length",
    "mode",
    "secret_type",
    "payload",
    "payload_content_type",
    "payload_content_encoding",
];

fn create_secret(ctx: &mut RequestContext<'_>) -> Answer {
    let sent =
        ctx.body.as_object().cloned().map(Obj::from).ok_or_else(|| refuse(400, "Invalid JSON"))?;
    if let Some(strange) = sent.keys().find(|name| !SECRET_FIELDS.contains(&name.as_str())) {
        return Err(refuse(
            400,
            format!(
                "Provided object does not match schema 'Secret': Additional properties are not allowed ('{strange}' was unexpected)."
            ),
        ));
    }
    let kind = text(&sent, "payload_content_type");
    if sent.get("payload").is_some_and(|payload| !payload.is_null()) {
        if kind.is_empty() {
            return Err(refuse(
                400,
                "Provided object does not match schema 'Secret': If 'payload' is supplied, \
                                    'payload_content_type' must also be supplied.",
            ));
        }
        if kind == "application/octet-stream" && STANDARD.decode(text(&sent, "payload")).is_err() {
            return Err(refuse(
                400,
                "Provided object does not match schema 'Secret': Invalid payload for payload_content_encoding.",
            ));
        }
    }
    let mut row = fresh(ctx, "ACTIVE");
    for name in SECRET_FIELDS {
        set(&mut row, name, sent.get(*name).cloned().unwrap_or_default());
    }
    if row["secret_type"].is_null() {
        set(&mut row, "secret_type", "opaque");
    }
    let id = text(&row, "id").to_owned();
    ctx.state.add(SECRETS, row);
    let link = reference(ctx, "secrets", &id);
    Ok(Reply::json(201, json!({ "secret_ref": link })).with("location", link))
}

/// Renders an object for clients, with references in place of ids.
fn render(ctx: &RequestContext<'_>, kind: &str, row: &Obj) -> Value {
    let mut rendered = row.clone();
    rendered.retain(|name, _| {
        !name.starts_with('_')
            && !name.starts_with("payload")
            && name != "id"
            && name != "project_id"
    });
    let word = kind.trim_end_matches('s');
    set(&mut rendered, &format!("{word}_ref"), reference(ctx, kind, text(row, "id")));
    if kind == "secrets" {
        let held = row.get("payload").is_some_and(|payload| !payload.is_null());
        if held {
            set(&mut rendered, "content_types", json!({ "default": row["payload_content_type"] }));
        }
    }
    Value::from(rendered)
}

fn list_entities(ctx: &mut RequestContext<'_>, table: &str, kind: &str) -> Answer {
    let named = ctx.request.query("name");
    let number = |name: &str, usual: usize| {
        ctx.request.query(name).and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let all: Vec<Value> = ctx
        .state
        .table(table)
        .iter()
        .filter(|row| text(row, "project_id") == ctx.caller.project)
        .filter(|row| named.is_none_or(|name| text(row, "name") == name))
        .map(|row| render(ctx, kind, row))
        .collect();
    let total = all.len();
    let (offset, limit) = (number("offset", 0), number("limit", 10));
    let rows: Vec<Value> = all.into_iter().skip(offset).take(limit).collect();
    let mut body = json!({ kind: rows, "total": total });
    if offset + limit < total {
        body["next"] = json!(format!(
            "{}?limit={limit}&offset={}",
            reference(ctx, kind, "").trim_end_matches('/'),
            offset + limit
        ));
    }
    Ok(Reply::ok(body))
}

fn secret(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let accepts = ctx.request.header("accept").unwrap_or_default();
    if !accepts.is_empty() && !accepts.contains("json") && !accepts.contains("*/*") {
        return payload(ctx, id);
    }
    find(ctx, SECRETS, "secret", id).map(|row| Reply::ok(render(ctx, "secrets", &row)))
}

fn payload(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = find(ctx, SECRETS, "secret", id)?;
    if row["payload"].is_null() {
        return Err(refuse(404, "Not Found. Sorry but your secret has no payload."));
    }
    let kind = text(&row, "payload_content_type").to_owned();
    let held = text(&row, "payload");
    let bytes = match kind.as_str() {
        "application/octet-stream" => STANDARD.decode(held).unwrap_or_default(),
        _ => held.as_bytes().to_vec(),
    };
    Ok(Reply { status: 200, headers: Vec::new(), body: Content::Bytes(kind, bytes) })
}

fn fill(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = find(ctx, SECRETS, "secret", id)?;
    if !row["payload"].is_null() {
        return Err(refuse(409, "Secret already has data, cannot modify it."));
    }
    let kind = ctx.request.header("content-type").unwrap_or("text/plain").to_owned();
    let held = match kind.as_str() {
        "application/octet-stream" if ctx.request.header("content-encoding") != Some("base64") => {
            STANDARD.encode(&ctx.request.bytes)
        }
        _ => String::from_utf8_lossy(&ctx.request.bytes).into_owned(),
    };
    ctx.state.set(SECRETS, id, json!({ "payload": held, "payload_content_type": kind }));
    Ok(Reply::empty(204))
}

fn metadata(ctx: &mut RequestContext<'_>, method: &str, id: &str, key: Option<&str>) -> Answer {
    let row = find(ctx, SECRETS, "secret", id)?;
    let mut own = row.get("_metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    let reply = match (method, key) {
        ("GET", None) => return Ok(Reply::ok(json!({ "metadata": own }))),
        ("GET", Some(key)) => return Ok(Reply::ok(json!({ "key": key, "value": own.get(key) }))),
        ("PUT", None) => {
            own = ctx.body["metadata"].as_object().cloned().unwrap_or_default();
            Reply::json(
                201,
                json!({ "metadata_ref": reference(ctx, "secrets", &format!("{id}/metadata")) }),
            )
        }
        ("POST" | "PUT", _) => {
            own.insert(
                ctx.body["key"].as_str().unwrap_or_default().to_owned(),
                ctx.body["value"].clone(),
            );
            Reply::json(201, ctx.body.clone())
        }
        ("DELETE", Some(key)) => {
            own.remove(key);
            Reply::empty(204)
        }
        _ => return Err(refuse(405, "Method Not Allowed")),
    };
    ctx.state.set(SECRETS, id, json!({ "_metadata": own }));
    Ok(reply)
}

fn create_order(ctx: &mut RequestContext<'_>) -> Answer {
    let sent = object(ctx.body.clone());
    let kind = text(&sent, "type").to_owned();
    if !["key", "asymmetric", "certificate"].contains(&kind.as_str()) {
        return Err(refuse(
            400,
            format!(
                "Provided object does not match schema 'Order': '{kind}' is not one of ['key', 'asymmetric', 'certificate']"
            ),
        ));
    }
    if !sent.get("meta").is_some_and(Value::is_object) {
        return Err(refuse(
            400,
            "Provided object does not match schema 'Order': 'meta' is a required property",
        ));
    }
    let mut row = fresh(ctx, "PENDING");
    set(&mut row, "type", kind);
    set(&mut row, "meta", sent["meta"].clone());
    let id = text(&row, "id").to_owned();
    ctx.state.add(ORDERS, row);
    ctx.state.step_when_built("key-manager/ordered", &id);
    let link = reference(ctx, "orders", &id);
    Ok(Reply::json(202, json!({ "order_ref": link })).with("location", link))
}

/// Finishes an order by creating the secret.
fn ordered(state: &mut CloudState, id: &str) {
    let order = state.copy(ORDERS, id);
    if order.is_empty() {
        return;
    }
    let base = text(&order, "_base").to_owned();
    let make = |state: &mut CloudState, kind: &str, name: Value| {
        let payload = STANDARD.encode(state.random.hex(32));
        let secret = state.uuid();
        let meta = &order["meta"];
        let timestamp = state.timestamp_seconds();
        state.add(SECRETS, object(json!({
            "id": secret, "project_id": order["project_id"], "creator_id": order["creator_id"], "status": "ACTIVE",
            "created": timestamp, "updated": timestamp, "name": name, "algorithm": meta["algorithm"],
            "bit_length": meta["bit_length"], "mode": meta["mode"], "expiration": meta["expiration"],
            "secret_type": kind, "payload": payload, "payload_content_type": "application/octet-stream",
        })));
        format!("{base}/v1/secrets/{secret}")
    };
    if text(&order, "type") == "key" {
        let secret = make(state, "symmetric", order["meta"]["name"].clone());
        state.set(ORDERS, id, json!({ "status": "ACTIVE", "secret_ref": secret }));
        return;
    }
    let refs: Vec<Value> = ["private_key", "public_key"]
        .iter()
        .map(|name| {
            let kind = if *name == "private_key" { "private" } else { "public" };
            json!({ "name": name, "secret_ref": make(state, kind, json!(name)) })
        })
        .collect();
    let container = state.uuid();
    let timestamp = state.timestamp_seconds();
    state.add(CONTAINERS, object(json!({
        "id": container, "project_id": order["project_id"], "creator_id": order["creator_id"], "status": "ACTIVE",
        "created": timestamp, "updated": timestamp, "name": order["meta"]["name"], "type": "rsa", "secret_refs": refs,
        "consumers": [],
    })));
    let container = format!("{base}/v1/containers/{container}");
    state.set(ORDERS, id, json!({ "status": "ACTIVE", "container_ref": container }));
}

fn create_container(ctx: &mut RequestContext<'_>) -> Answer {
    let sent = object(ctx.body.clone());
    let kind = text(&sent, "type").to_owned();
    if !["generic", "rsa", "certificate"].contains(&kind.as_str()) {
        return Err(refuse(
            400,
            format!(
                "Provided object does not match schema 'Container': '{kind}' is not one of ['generic', 'rsa', 'certificate']"
            ),
        ));
    }
    for one in list(&sent, "secret_refs") {
        let id =
            one["secret_ref"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        if ctx.state.get(SECRETS, id).is_none_or(|row| !ctx.owns(row)) {
            return Err(refuse(404, "Not Found. Sorry but your secret is in another castle."));
        }
    }
    let mut row = fresh(ctx, "ACTIVE");
    set(&mut row, "name", sent.get("name").cloned().unwrap_or_default());
    set(&mut row, "type", kind);
    set(&mut row, "secret_refs", list(&sent, "secret_refs").to_vec());
    set(&mut row, "consumers", json!([]));
    let id = text(&row, "id").to_owned();
    ctx.state.add(CONTAINERS, row);
    let link = reference(ctx, "containers", &id);
    Ok(Reply::json(201, json!({ "container_ref": link })).with("location", link))
}

fn consumers(ctx: &mut RequestContext<'_>, method: &str, id: &str) -> Answer {
    let row = find(ctx, CONTAINERS, "container", id)?;
    let mut own = list(&row, "consumers").to_vec();
    let sent = json!({ "name": ctx.body["name"], "URL": ctx.body["URL"] });
    own.retain(|consumer| *consumer != sent);
    if method == "POST" {
        own.push(sent);
    }
    ctx.state.set(CONTAINERS, id, json!({ "consumers": own }));
    let row = ctx.state.copy(CONTAINERS, id);
    Ok(Reply::ok(render(ctx, "containers", &row)))
}
