//! OS::Glance::WebImage: an image that the image service downloads from a URL.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError, Progress};
use crate::property_access::{items, open, section, text};
use crate::rest::{self, RestSpec};
use crate::wire;
use kiln_cloud::{CallPath, Reply, delete, get, patch, post, put};
use kiln_template::print;
use serde_json::{Map, Value as Json, json};

const UUID: &str =
    "^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$";

/// The content type of changes.
const PATCH: &str = "application/openstack-images-v2.1-json-patch";

/// The property that a new image is found by.
const MARK: &str = "kiln";

pub(super) fn web_image() -> ResourceType {
    ResourceType::new("OS::Glance::WebImage")
        .about("An image that the image service downloads from a URL.")
        .service(Service::Image)
        .entity("images")
        .detects_drift()
        .since("12.0.0")
        .props([
            prop(
                "active",
                Bool,
                "Whether the image can be used; a deactivated image cannot be downloaded.",
            )
            .updatable()
            .default(true)
            .since("16.0.0"),
            prop(
                "architecture",
                Str,
                "Processor architecture that the image needs, such as `x86_64`.",
            )
            .updatable(),
            prop(
                "container_format",
                Str,
                "Format of the envelope around the disk, `bare` if there is none.",
            )
            .required()
            .one_of(["ami", "ari", "aki", "bare", "ovf", "ova", "docker"]),
            prop("disk_format", Str, "Format of the disk in the image, such as `qcow2`.")
                .required()
                .one_of([
                    "ami", "ari", "aki", "vhd", "vhdx", "vmdk", "raw", "qcow2", "vdi", "iso",
                    "ploop",
                ]),
            prop(
                "extra_properties",
                Map,
                "Further properties of the image as keys with values, such as `hw_disk_bus`.",
            )
            .updatable()
            .default_empty()
            .since("17.0.0"),
            prop("id", Str, "UUID that the image gets; the service chooses one if omitted."),
            prop("kernel_id", Str, "ID of the kernel image that the image boots with.")
                .updatable()
                .pattern(UUID),
            prop("location", Str, "URL from which the image service downloads the content.")
                .required(),
            prop(
                "members",
                List,
                "IDs of the projects with which an image of visibility `shared` is shared.",
            )
            .updatable()
            .since("16.0.0")
            .each(item(Str)),
            prop("min_disk", Int, "Smallest disk in GiB that a server needs to boot the image.")
                .default(0)
                .min(0),
            prop("min_ram", Int, "Least memory in MiB that a server needs to boot the image.")
                .default(0)
                .min(0),
            prop(
                "name",
                Str,
                "Name of the image; made from the stack and resource names if omitted.",
            ),
            prop(
                "os_distro",
                Str,
                "Short name of the operating system in the image, such as `ubuntu`.",
            )
            .updatable(),
            prop(
                "os_version",
                Str,
                "Version of the operating system in the image, such as `24.04`.",
            )
            .updatable(),
            prop("owner", Str, "ID of the project that owns the image.").updatable(),
            prop("protected", Bool, "Whether the image is protected from deletion.")
                .updatable()
                .default(false),
            prop("ramdisk_id", Str, "ID of the RAM disk image that the image boots with.")
                .updatable()
                .pattern(UUID),
            prop("tags", List, "Words by which the image can be found.").updatable(),
            prop(
                "visibility",
                Str,
                "Who can see the image, from its own project only to everybody.",
            )
            .updatable()
            .default("private")
            .one_of(["public", "private", "community", "shared"]),
        ])
        .check(check)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .on(OperationKind::Check, |op| Box::pin(look(op)))
        .rest(
            RestSpec::new(Service::Image, "/images", "")
                .list_envelope("images")
                .unsent(["active", "extra_properties", "location", "members"])
                .mark_field(MARK)
                .adjust_fields(adjust_fields),
        )
}

fn check(properties: &Members) -> Result<(), PropertyError> {
    let (container, disk) = (text(properties, "container_format"), text(properties, "disk_format"));
    let is_amazon = |format: Option<&str>| matches!(format, Some("ami" | "ari" | "aki"));
    if let (Some(container), Some(disk)) = (container, disk)
        && container != disk
        && (is_amazon(Some(container)) || is_amazon(Some(disk)))
    {
        return Err(PropertyError::new(
            "container_format and disk_format must be the same if one of them is ami, ari or aki.",
        ));
    }
    if !items(properties, "members").is_empty()
        && text(properties, "visibility").is_some_and(|it| it != "shared")
    {
        return Err(PropertyError::new("An image has members only if its visibility is shared."));
    }
    Ok(())
}

/// Puts the extra properties beside the other fields, where the service expects them.
fn adjust_fields(op: &Op, operation: OperationKind, fields: &mut Map<String, Json>) {
    if operation == OperationKind::Create {
        fields.extend(extra(&op.context().properties));
    }
}

fn extra(members: &Members) -> Map<String, Json> {
    let extra = section(members, "extra_properties").into_iter().flatten();
    extra.map(|(name, value)| (name.to_string(), print::plain(open(value)).into())).collect()
}

fn path(op: &Op) -> CallPath {
    CallPath::from("/images").id(op.id().map_or("", |id| id))
}

// --- create ---

async fn create(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else {
        return Err(OpError::failed(FailureClass::InternalError, "an image is a plain object"));
    };
    let body = Json::Object(rest::new_fields(op, &spec));
    let made = op.call("create", post(Service::Image, "/images", body)).await?;
    let Some(id) = made.text("/id").map(str::to_owned) else {
        return Err(OpError::failed(
            FailureClass::Error,
            "the service did not say which image it made",
        ));
    };
    op.set_id(id);
    import(op).await?;
    until_active(op).await?;
    set_members(op).await?;
    unmark(op).await?;
    if op.prop("active").equals(&Value::Bool(false)) {
        activate(op, "deactivate").await?;
    }
    look(op).await
}

/// Removes the mark, which users would see as a property of the image.
async fn unmark(op: &mut Op) -> Result<(), OpError> {
    let now = op.read(get(Service::Image, path(op))).await?;
    if now.body.get(MARK).is_none() {
        return Ok(());
    }
    let steps = json!([{ "op": "remove", "path": format!("/{MARK}") }]);
    match op
        .call("unmark", patch(Service::Image, path(op), steps).header("Content-Type", PATCH))
        .await
    {
        // An earlier attempt whose reply was lost has removed it.
        Err(stop) if stop.is_conflict() && op.may_be_done("unmark") => Ok(()),
        done => done.map(drop),
    }
}

/// Starts the download. The service refuses it for an image that has its content already or is downloading.
async fn import(op: &mut Op) -> Result<(), OpError> {
    let location = op.nonempty_text("location").unwrap_or_default();
    let body = json!({ "method": { "name": "web-download", "uri": location } });
    let call = post(Service::Image, path(op).then("/import"), body).may_be_repeated();
    match op.call("import", call).await {
        Err(stop) if stop.is_conflict() => {
            let now = op.read(get(Service::Image, path(op))).await?;
            if now.text("/status") == Some("queued") { Err(stop) } else { Ok(()) }
        }
        done => done.map(drop),
    }
}

async fn until_active(op: &mut Op) -> Result<Reply, OpError> {
    op.until(get(Service::Image, path(op)), |reply| match reply.text("/status") {
        // An interrupted attempt may have deactivated the image.
        Some("active" | "deactivated") => Progress::Ready,
        Some(status @ ("killed" | "deleted" | "pending_delete")) => {
            Progress::Failed(format!("Went to status {status} due to \"Unknown\""))
        }
        Some("queued") if has_failed(reply) => {
            Progress::Failed("Went to status queued due to \"the download failed\"".into())
        }
        _ => Progress::NotYet,
    })
    .await
}

/// Whether the download failed: the image is queued again, and lists the stores that failed.
fn has_failed(reply: &Reply) -> bool {
    reply.text("/os_glance_failed_import").is_some_and(|stores| !stores.is_empty())
}

async fn activate(op: &mut Op, how: &str) -> Result<(), OpError> {
    let call = post(Service::Image, path(op).then("/actions").id(how), Json::Null);
    op.call(how, call.may_be_repeated()).await.map(drop)
}

async fn look(op: &mut Op) -> Result<(), OpError> {
    let shown = op.read(get(Service::Image, path(op))).await?;
    op.set_remote(wire::value(&shown.body));
    match shown.text("/status") {
        Some(status @ ("killed" | "deleted" | "pending_delete")) => {
            let message = format!("'status': expected 'active', got '{status}'");
            Err(OpError::failed(FailureClass::Error, message))
        }
        _ => Ok(()),
    }
}

// --- update ---

async fn update(op: &mut Op) -> Result<(), OpError> {
    if op.changes("active") {
        let is_active = op.prop("active").equals(&Value::Bool(true));
        activate(op, if is_active { "reactivate" } else { "deactivate" }).await?;
    }
    if op.changes("tags") {
        set_tags(op).await?;
    }
    change_fields(op).await?;
    if op.changes("members") {
        set_members(op).await?;
    }
    look(op).await
}

fn words(members: &Members, name: &str) -> Vec<String> {
    items(members, name).iter().map(|it| print::plain(open(it))).collect()
}

async fn set_tags(op: &mut Op) -> Result<(), OpError> {
    let (old, new) =
        (words(&op.context().previous_properties, "tags"), words(&op.context().properties, "tags"));
    let path = |tag: &str, op: &Op| path(op).then("/tags").id(tag);
    for tag in old.iter().filter(|tag| !new.contains(tag)) {
        let call = delete(Service::Image, path(tag, op));
        op.remove(&format!("untag {tag}"), call).await?;
    }
    for tag in new.iter().filter(|tag| !old.contains(tag)) {
        let call = put(Service::Image, path(tag, op), Json::Null);
        op.call(&format!("tag {tag}"), call).await?;
    }
    Ok(())
}

/// The fields of a JSON patch; null removes a field.
fn changed_fields(op: &Op) -> Map<String, Json> {
    const FIELDS: [&str; 8] = [
        "architecture",
        "kernel_id",
        "os_distro",
        "os_version",
        "owner",
        "protected",
        "ramdisk_id",
        "visibility",
    ];
    let changed = FIELDS.into_iter().filter(|name| op.changes(name));
    let mut fields: Map<String, Json> =
        changed.map(|name| (name.to_owned(), wire::json(op.prop(name)))).collect();
    if op.changes("extra_properties") {
        let (old, new) =
            (extra(&op.context().previous_properties), extra(&op.context().properties));
        let gone = old.keys().filter(|name| !new.contains_key(*name)).cloned();
        fields.extend(gone.map(|name| (name, Json::Null)).collect::<Vec<_>>());
        fields.extend(new.into_iter().filter(|(name, value)| old.get(name) != Some(value)));
    }
    fields
}

async fn change_fields(op: &mut Op) -> Result<(), OpError> {
    let fields = changed_fields(op);
    if fields.is_empty() {
        return Ok(());
    }
    let now = op.read(get(Service::Image, path(op))).await?;
    let mut steps = Vec::new();
    for (name, value) in fields {
        let there = now.body.get(&name).is_some_and(|it| !it.is_null());
        let place = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        match (value, there) {
            (Json::Null, false) => {}
            (Json::Null, true) => steps.push(json!({ "op": "remove", "path": place })),
            (value, true) => {
                steps.push(json!({ "op": "replace", "path": place, "value": value }));
            }
            (value, false) => steps.push(json!({ "op": "add", "path": place, "value": value })),
        }
    }
    if steps.is_empty() {
        return Ok(());
    }
    let call = patch(Service::Image, path(op), steps.into()).header("Content-Type", PATCH);
    op.call("change", call).await.map(drop)
}

async fn set_members(op: &mut Op) -> Result<(), OpError> {
    let (old, new) = (
        words(&op.context().previous_properties, "members"),
        words(&op.context().properties, "members"),
    );
    let all = path(op).then("/members");
    for member in old.iter().filter(|member| !new.contains(member)) {
        let call = delete(Service::Image, all.clone().id(member));
        op.remove(&format!("refuse {member}"), call).await?;
    }
    for member in new.iter().filter(|member| !old.contains(member)) {
        let call = post(Service::Image, all.clone(), json!({ "member": member })).may_be_repeated();
        match op.call(&format!("admit {member}"), call).await {
            // The project is a member already.
            Err(stop) if stop.is_conflict() => {}
            done => _ = done?,
        }
    }
    Ok(())
}
