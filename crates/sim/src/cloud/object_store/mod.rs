//! The object store: Swift, version 1.

mod accounts;
mod objects;
mod temp_url;

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::request::{Answer, Refusal, Reply, RequestContext, set, text};
use super::schema::Collection;
use super::services::Service;
use super::table::Obj;

static SWIFT: ErrorStyle = ErrorStyle { form: ErrorForm::Page, missing: "", bad: 400 };

pub(super) const ACCOUNTS: &str = "object-store/accounts";
pub(super) const CONTAINERS: &str = "object-store/containers";
pub(super) const OBJECTS: &str = "object-store/objects";

static ACCOUNT: Collection = Collection {
    name: ACCOUNTS,
    operations: "",
    fields: "name text r \"\"",
    ..Collection::new(&SWIFT)
};
static CONTAINER: Collection = Collection {
    name: CONTAINERS,
    operations: "",
    fields: "name text r \"\"\n project_id text r \"\"",
    ..Collection::new(&SWIFT)
};
static OBJECT: Collection = Collection {
    name: OBJECTS,
    operations: "",
    index: &["container"],
    fields: "name text r \"\"\n project_id text r \"\"",
    ..Collection::new(&SWIFT)
};

pub(super) static SERVICE: Service = Service {
    prefix: "object-store",
    types: &["object-store"],
    name: "swift",
    address: "/v1/AUTH_%(project_id)s",
    microversions: None,
    dialect: &SWIFT,
    collections: &[&[&ACCOUNT, &CONTAINER, &OBJECT]],
    serve,
    versions: |_, path| match path {
        ["info"] => Some((200, info())),
        _ => None,
    },
    seed: |_| (),
};

fn info() -> Value {
    json!({
        "swift": { "version": "2.38.0", "account_listing_limit": 10_000, "container_listing_limit": 10_000,
            "max_container_name_length": 256, "max_object_name_length": 1024, "max_file_size": 5_368_709_122_i64,
            "max_meta_count": 90, "max_meta_name_length": 128, "max_meta_value_length": 256 },
        "tempurl": { "methods": ["GET", "HEAD", "PUT", "POST", "DELETE"],
            "allowed_digests": ["sha1", "sha256", "sha512"] },
        "bulk_delete": { "max_deletes_per_request": 10_000, "max_failed_deletes": 1_000 },
        "container_quotas": {}, "versioned_writes": { "allowed_flags": ["x-versions-location"] }, "slo": {},
    })
}

/// The account, the container and the object in a path.
struct ObjectPath {
    account: String,
    container: String,
    object: String,
}

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v1", account, rest @ ..] = parts.as_slice() else {
        return Err(refuse(404, "The resource could not be found."));
    };
    let Some(project) = account.strip_prefix("AUTH_") else {
        return Err(refuse(404, "The resource could not be found."));
    };
    let target = ObjectPath {
        account: project.to_owned(),
        container: rest.first().map(|part| (*part).to_owned()).unwrap_or_default(),
        object: rest.get(1..).map(|rest| rest.join("/")).unwrap_or_default(),
    };
    let method = ctx.request.method.clone();
    allowed(ctx, &target, &method)?;
    match (target.container.is_empty(), target.object.is_empty()) {
        (true, _) => accounts::account(ctx, &target, &method),
        (false, true) => accounts::container(ctx, &target, &method),
        (false, false) => objects::serve(ctx, &target, &method),
    }
}

/// Authorizes the request: the caller owns the account, the ACL of the container permits it, or the URL is signed.
fn allowed(ctx: &RequestContext<'_>, target: &ObjectPath, method: &str) -> Result<(), Refusal> {
    if ctx.caller.project == target.account || ctx.caller.is_admin {
        return Ok(());
    }
    if temp_url::is_valid(ctx, target, method) {
        return Ok(());
    }
    let container = ctx.state.copy(CONTAINERS, &container_key(target));
    let reads = ["GET", "HEAD"].contains(&method);
    let acl = if reads {
        header(&container, "x-container-read")
    } else {
        header(&container, "x-container-write")
    };
    let open = acl.split(',').map(str::trim).any(|entry| {
        let listing = target.object.is_empty();
        let word = if listing { ".rlistings" } else { ".r:*" };
        (entry == word && reads)
            || entry == "*:*"
            || (!ctx.caller.project.is_empty()
                && entry.split(':').next() == Some(&ctx.caller.project))
    });
    if open {
        return Ok(());
    }
    if ctx.caller.user.is_empty() {
        Err(SWIFT.generic(401, "This server could not verify that you are authorized to access the document you requested."))
    } else {
        Err(SWIFT.generic(403, "Access was denied to this resource."))
    }
}

fn container_key(target: &ObjectPath) -> String {
    format!("{}/{}", target.account, target.container)
}

fn object_key(target: &ObjectPath) -> String {
    format!("{}/{}/{}", target.account, target.container, target.object)
}

/// Returns a stored header of an object.
fn header<'a>(row: &'a Obj, name: &str) -> &'a str {
    row.get("headers").and_then(|headers| headers[name].as_str()).unwrap_or_default()
}

/// Stores the headers of a request; an empty header or `X-Remove-…` removes the stored one.
fn keep(ctx: &RequestContext<'_>, row: &mut Obj, kind: &str, others: &[&str]) {
    let mut kept = row.get("headers").and_then(Value::as_object).cloned().unwrap_or_default();
    let prefix = format!("x-{kind}-meta-");
    let removal = format!("x-remove-{kind}-");
    for (name, value) in &ctx.request.headers {
        if let Some(rest) = name.strip_prefix(&removal) {
            kept.remove(&format!("x-{kind}-{rest}"));
        } else if name.starts_with(&prefix) || others.contains(&name.as_str()) {
            if value.is_empty() {
                drop(kept.remove(name))
            } else {
                drop(kept.insert(name.clone(), json!(value)))
            }
        }
    }
    set(row, "headers", kept);
}

/// Adds the stored headers to a reply.
fn with_headers(mut reply: Reply, row: &Obj) -> Reply {
    let headers = row.get("headers").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, value) in headers {
        reply = reply.with(&name, value.as_str().unwrap_or_default());
    }
    reply
}

/// Formats the current time for headers.
fn timestamp(ctx: &RequestContext<'_>) -> String {
    format!("{}.{:05}", ctx.now() / 1_000_000, ctx.now() % 1_000_000 / 10)
}

/// Returns the size of an object in bytes.
fn size(row: &Obj) -> u64 {
    row.get("bytes").and_then(Value::as_u64).unwrap_or_default()
}

/// Returns the objects of a container, by name.
fn contents(ctx: &RequestContext<'_>, target: &ObjectPath) -> Vec<Obj> {
    let mut rows = ctx.state.with(OBJECTS, "container", &container_key(target));
    rows.sort_by(|one, other| text(one, "name").cmp(text(other, "name")));
    rows
}
