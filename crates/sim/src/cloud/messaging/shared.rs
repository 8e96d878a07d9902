//! Signed requests: the signature grants the signed operations without a token.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::super::error_style::refuse;
use super::super::request::{Answer, Refusal, Reply, RequestContext, object, strings};
use super::super::state::{CloudState, format_time};

/// Returns the signing key, which is drawn once.
fn secret(state: &mut CloudState) -> String {
    if !state.notes.contains_key("messaging/key") {
        let key = state.random.hex(64);
        state.notes.insert("messaging/key".to_owned(), json!(key));
    }
    state.notes["messaging/key"].as_str().unwrap_or_default().to_owned()
}

fn signature(key: &str, paths: &str, methods: &str, project: &str, expires: &str) -> String {
    let text = format!("{paths}\\n{methods}\\n{project}\\n{expires}");
    let Ok(mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return String::new() };
    hex::encode(mac.chain_update(text).finalize().into_bytes())
}

fn wrong(message: &str) -> Refusal {
    refuse(400, message)
}

/// Signs access to a queue.
pub(super) fn share(ctx: &mut RequestContext<'_>, name: &str) -> Answer {
    let sent = object(ctx.body.clone());
    let mut paths = strings(&sent, "paths");
    if paths.is_empty() {
        paths = vec!["messages".to_owned()];
    }
    let known = ["messages", "subscriptions", "claims"];
    if paths.iter().any(|path| !known.contains(&path.as_str())) {
        return Err(wrong("Paths must be one of messages, subscriptions, claims."));
    }
    let mut paths: Vec<String> =
        paths.iter().map(|path| format!("/v2/queues/{name}/{path}")).collect();
    paths.sort_unstable();
    let mut methods = strings(&sent, "methods");
    if methods.is_empty() {
        methods = vec!["GET".to_owned()];
    }
    methods.sort_unstable();
    let tomorrow = format_time(ctx.now() + 86_400_000_000, "%Y-%m-%dT%H:%M:%S");
    let expires = sent.get("expires").and_then(Value::as_str).map_or(tomorrow, str::to_owned);
    let project = ctx.caller.project.clone();
    let key = secret(ctx.state);
    let signed = signature(&key, &paths.join(","), &methods.join(","), &project, &expires);
    Ok(Reply::ok(json!({
        "paths": paths, "methods": methods, "expires": expires, "project": project, "signature": signed,
    })))
}

/// Returns the project of a valid signature for this method and path that has not expired.
pub(super) fn project(ctx: &mut RequestContext<'_>) -> Option<String> {
    let request = ctx.request;
    let (signed, expires) = (request.header("url-signature")?, request.header("url-expires")?);
    let (methods, paths) = (request.header("url-methods")?, request.header("url-paths")?);
    let project = request.header("x-project-id")?.to_owned();
    let key = secret(ctx.state);
    if signature(&key, paths, methods, &project, expires) != signed {
        return None;
    }
    if *expires.trim_end_matches('Z') < *format_time(ctx.now(), "%Y-%m-%dT%H:%M:%S") {
        return None;
    }
    let here = format!("/{}", request.path.join("/"));
    let covered =
        paths.split(',').any(|path| here == path || here.starts_with(&format!("{path}/")));
    (covered && methods.split(',').any(|method| method == request.method)).then_some(project)
}
