//! The image service: Glance, version 2.

mod dialect;
mod images;

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::request::{Answer, RequestContext, flag, object, set, strings, text};
use super::schema::Collection;
use super::services::{Service, Step};
use super::state::CloudState;
use super::table::Obj;

pub(super) use self::dialect::Glance;

pub(super) const IMAGES: &str = "image/images";

static COLLECTIONS: &[&Collection] = &[&images::IMAGE];

pub(super) static SERVICE: Service = Service {
    prefix: "image",
    types: &["image"],
    name: "glance",
    address: "",
    microversions: None,
    dialect: &Glance,
    collections: &[COLLECTIONS],
    serve,
    versions,
    seed,
};

pub(super) static STEPS: &[Step] = &[("image/imported", images::imported)];

fn versions(base: &str, path: &[&str]) -> Option<(u16, Value)> {
    let row = |minor: u32, status: &str| {
        let links = json!([{ "rel": "self", "href": format!("{base}/v2/") }]);
        json!({ "id": format!("v2.{minor}"), "status": status, "links": links })
    };
    let mut rows = vec![row(17, "CURRENT")];
    rows.extend((0..17).rev().filter(|minor| *minor != 8).map(|minor| row(minor, "SUPPORTED")));
    match path {
        [] => Some((300, json!({ "versions": rows }))),
        ["versions"] => Some((200, json!({ "versions": rows }))),
        _ => None,
    }
}

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v2", path @ ..] = parts.as_slice() else {
        return Err(Glance.generic(404, "The resource could not be found."));
    };
    let method = ctx.request.method.clone();
    images::serve(ctx, &method, path)
        .unwrap_or_else(|| Err(Glance.generic(404, "The resource could not be found.")))
}

/// Reports whether the caller can see an image: an own, a public or a shared one.
pub(super) fn sees(ctx: &RequestContext<'_>, row: &Obj) -> bool {
    let open = ["public", "community"].contains(&text(row, "visibility"));
    let members = row.get("_members").and_then(Value::as_object);
    let member = members.is_some_and(|members| members.contains_key(&ctx.caller.project));
    open || ctx.caller.is_admin || text(row, "owner") == ctx.caller.project || member
}

/// Creates the image of a server or a volume, which becomes active after the build time.
pub(super) fn snapshot(
    ctx: &mut RequestContext<'_>,
    name: &str,
    server: &str,
    base: &str,
    disk: Value,
    metadata: &Value,
) -> String {
    let id = ctx.state.uuid();
    let project = ctx.caller.project.clone();
    let mut row = blank(ctx.state, &id, name, &project, "private");
    set(&mut row, "min_disk", disk);
    if !server.is_empty() {
        set(&mut row, "image_type", "snapshot");
        set(&mut row, "instance_uuid", server);
        set(&mut row, "base_image_ref", base);
    }
    if let Some(metadata) = metadata.as_object() {
        row.extend(metadata.clone());
    }
    set(&mut row, "status", "queued");
    ctx.state.put(IMAGES, &id, row);
    ctx.state.step_when_built("image/imported", &id);
    id
}

/// Returns an image without data.
fn blank(state: &CloudState, id: &str, name: &str, project: &str, visibility: &str) -> Obj {
    let timestamp = state.timestamp();
    object(json!({
        "id": id, "name": name, "owner": project, "project_id": project, "visibility": visibility,
        "status": "queued", "container_format": "bare", "disk_format": "qcow2", "min_disk": 0, "min_ram": 0,
        "protected": false, "tags": [], "os_hidden": false, "checksum": null, "os_hash_algo": null,
        "os_hash_value": null, "size": null, "virtual_size": null, "created_at": timestamp, "updated_at": timestamp,
        "_members": {},
    }))
}

/// The images of a new cloud: those of DevStack, and those that public templates use.
const FIRST: &[&str] = &[
    "cirros",
    "cirros-0.6.2-x86_64-disk",
    "cirros-0.3.5",
    "cirros-0.3.5-x86_64-disk",
    "cirros-0.3.5-x86_64-uec",
    "cirros-0.3.4-x86_64-uec",
    "cirros-0.3.2-x86_64-disk",
    "cirros256",
    "ubuntu-22.04",
    "ubuntu-software-config",
    "ubuntu1404",
    "fedora-cloud",
    "fedora-software-config",
    "fedora-20.x86_64",
    "fedora-amd64",
    "fedora-atomic",
    "rhel-atomic",
    "F17-i386-cfntools",
    "F17-x86_64-cfntools",
    "F18-x86_64-cfntools",
    "F19-i386-cfntools",
    "F19-x86_64-cfntools",
    "U10-x86_64-cfntools",
    "Fedora-Cloud-Base-20141203-21.x86_64",
    "F19-x86_64-openshift-origin-broker",
    "F19-x86_64-openshift-origin-node",
    "centos65-x86_64-broker",
    "centos65-x86_64-node",
    "centos-6.5-x86_64-cfntools",
];

fn seed(state: &mut CloudState) {
    let admin = crate::identity::project_id("admin");
    for name in FIRST {
        let id = state.uuid();
        let row = blank(state, &id, name, &admin, "public");
        state.put(IMAGES, &id, row);
        images::fill(state, &id, format!("the image {name}").as_bytes());
    }
}

/// Reports whether the caller may change the image.
fn owns(ctx: &RequestContext<'_>, row: &Obj) -> bool {
    ctx.caller.is_admin || text(row, "owner") == ctx.caller.project
}

/// Renders an image for clients.
fn render(row: &Obj) -> Value {
    let mut rendered = row.clone();
    rendered.retain(|name, _| !name.starts_with('_') && name != "project_id");
    let id = text(row, "id");
    let mut tags = strings(row, "tags");
    tags.sort_unstable();
    set(&mut rendered, "tags", tags);
    set(&mut rendered, "self", format!("/v2/images/{id}"));
    set(&mut rendered, "file", format!("/v2/images/{id}/file"));
    set(&mut rendered, "schema", "/v2/schemas/image");
    set(&mut rendered, "protected", flag(row, "protected"));
    Value::from(rendered)
}
