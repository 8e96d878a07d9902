//! Volumes and their actions.

use serde_json::{Value, json};

use super::super::image::{self, IMAGES};
use super::super::microversioned::fault;
use super::super::request::{
    Answer, Done, Refusal, Reply, RequestContext, int, list, object, set, text,
};
use super::super::rest;
use super::super::schema::Collection;
use super::super::state::CloudState;
use super::super::table::Obj;
use super::dialect::{CINDER, invalid_input, invalid_volume};
use super::{BACKUPS, SNAPSHOTS, TYPES, VOLUMES, backups, links, list_collection, metadata};

pub(super) static VOLUME: Collection = Collection {
    name: VOLUMES,
    path: "volumes",
    singular: "volume",
    plural: "volumes",
    title: "Volume",
    operations: "CSUD",
    statuses: (202, 200, 202),
    index: &["status"],
    fields: "name                text cu null
             description         text cu null
             display_name        text cu -
             display_description text cu -
             size                any  c  null
             availability_zone   text c  null
             volume_type         text c  null
             imageRef            text c  -
             image_id            text c  -
             snapshot_id         text c  null
             source_volid        text c  null
             backup_id           text c  -
             metadata            map  cu {}
             multiattach         any  c  false
             consistencygroup_id text c  null
             group_id            text c  -
             scheduler_hints     any  c  -
             source_replica      any  c  -
             status              text r  \"creating\"
             attachments         list r  []
             user_id             text r  @user
             project_id          text r  @project
             encrypted           bool r  false
             replication_status  text r  null
             migration_status    text r  null
             bootable            text r  \"false\"",
    make,
    remove: |ctx, row| {
        deletable(ctx, row)?;
        Ok(())
    },
    show,
    ..Collection::new(&CINDER)
};

fn show(ctx: &RequestContext<'_>, row: &mut Obj) {
    let id = text(row, "id").to_owned();
    set(row, "links", links(ctx, "volumes", &id));
    let project = row.remove("project_id").unwrap_or_default();
    set(row, "os-vol-tenant-attr:tenant_id", project);
    let named =
        row.get("volume_type").and_then(Value::as_str).and_then(|id| ctx.state.get(TYPES, id));
    let name = named.map(|kind| kind["name"].clone());
    if let Some(name) = name {
        set(row, "volume_type", name);
    }
    if ctx.caller.is_admin {
        set(row, "os-vol-host-attr:host", "controller@lvm#lvm");
        set(row, "os-vol-mig-status-attr:migstat", Value::Null);
        set(row, "os-vol-mig-status-attr:name_id", Value::Null);
    }
}

fn make(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    for (old, new) in [("display_name", "name"), ("display_description", "description")] {
        if let Some(value) = row.remove(old) {
            set(row, new, value);
        }
    }
    let source = source(ctx, row)?;
    let size = match row.get("size") {
        Some(Value::Null) | None => source,
        Some(supplied) => supplied.as_i64().or_else(|| supplied.as_str()?.parse().ok()),
    };
    let Some(size) = size.filter(|size| *size > 0) else {
        let supplied = crate::python::repr(row.get("size").unwrap_or(&Value::Null));
        let message = format!(
            "Volume size '{}' must be an integer and greater than 0",
            supplied.trim_matches('\'')
        );
        return Err(invalid_input(&message));
    };
    if let Some(least) = source.filter(|least| size < *least) {
        let collection =
            if row["snapshot_id"].is_null() { "original volume size" } else { "snapshot size" };
        let message = format!(
            "Volume size '{size}'GB cannot be smaller than the {collection} {least}GB. They must be >= {collection}."
        );
        return Err(invalid_input(&message));
    }
    set(row, "size", size);
    kind(ctx, row)?;
    zone(row)?;
    room_for(ctx, size)?;
    if let Some(image) =
        row.remove("imageRef").or_else(|| row.remove("image_id")).filter(Value::is_string)
    {
        from_image(ctx, row, image.as_str().unwrap_or_default(), size)?;
    }
    let now = ctx.state.timestamp_micros();
    set(row, "created_at", now);
    set(row, "updated_at", Value::Null);
    let multiattach =
        super::super::check::parse_bool(row["multiattach"].as_str().unwrap_or_default());
    let multiattach = row["multiattach"].as_bool().or(multiattach).unwrap_or(false);
    set(row, "multiattach", multiattach);
    for gone in ["scheduler_hints", "source_replica", "backup_id"] {
        row.remove(gone);
    }
    let id = text(row, "id").to_owned();
    ready(ctx.state, &id);
    Ok(())
}

/// Finishes the creation of a volume, which fails if this request injects a build failure.
pub(super) fn ready(state: &mut CloudState, id: &str) {
    let status = if state.fail_builds { "error" } else { "available" };
    state.when_built(VOLUMES, id, json!({ "status": status }));
}

/// Returns the size of the source of a volume, if it has one.
fn source(ctx: &RequestContext<'_>, row: &mut Obj) -> Result<Option<i64>, Refusal> {
    if let Some(id) = row["snapshot_id"].as_str() {
        let snapshot = ctx.find(&backups::SNAPSHOT, id)?;
        if text(&snapshot, "status") != "available" {
            let message =
                "Invalid snapshot: Originating snapshot status must be one of 'available' values";
            return Err(fault(400, message));
        }
        let origin = ctx.state.copy(VOLUMES, text(&snapshot, "volume_id"));
        set(row, "bootable", if text(&origin, "bootable") == "true" { "true" } else { "false" });
        return Ok(Some(int(&snapshot, "size")));
    }
    if let Some(id) = row["source_volid"].as_str() {
        let origin = ctx.find(&VOLUME, id)?;
        let states = ["available", "in-use"];
        if !states.contains(&text(&origin, "status")) {
            return Err(invalid_volume(
                "Source volume status must be one of 'available', 'in-use'",
            ));
        }
        let bootable = origin["bootable"].clone();
        set(row, "bootable", bootable);
        return Ok(Some(int(&origin, "size")));
    }
    if let Some(id) = row.get("backup_id").and_then(Value::as_str) {
        let backup = ctx.find(&backups::BACKUP, id)?;
        return Ok(Some(int(&backup, "size")));
    }
    Ok(None)
}

fn kind(ctx: &RequestContext<'_>, row: &mut Obj) -> Done {
    let Some(wanted) =
        row["volume_type"].as_str().filter(|wanted| !wanted.is_empty()).map(str::to_owned)
    else {
        let default = ctx
            .state
            .table(TYPES)
            .with("name", "lvmdriver-1")
            .first()
            .map(|kind| kind["id"].clone());
        set(row, "volume_type", default);
        return Ok(());
    };
    let id = type_id(ctx, &wanted)?;
    set(row, "volume_type", id);
    Ok(())
}

/// Finds the id of a volume type by name or id.
pub(super) fn type_id(ctx: &RequestContext<'_>, wanted: &str) -> Result<String, Refusal> {
    let by_name = ctx.state.table(TYPES).with("name", wanted);
    let found = ctx.state.get(TYPES, wanted).or_else(|| by_name.first().copied());
    let found = found.filter(|kind| super::may_use(ctx, kind));
    found.map(|kind| text(kind, "id").to_owned()).ok_or_else(|| {
        let by = if super::super::check::is_uuid(wanted) { "" } else { "with name " };
        fault(404, format!("Volume type {by}{wanted} could not be found."))
    })
}

fn zone(row: &mut Obj) -> Done {
    match row["availability_zone"].as_str() {
        None => set(row, "availability_zone", "nova"),
        Some("nova") => {}
        Some(other) => {
            let message = format!("Availability zone '{other}' is invalid.");
            return Err(fault(400, message));
        }
    }
    Ok(())
}

/// Checks the quotas for one more volume of this size.
pub(super) fn room_for(ctx: &RequestContext<'_>, size: i64) -> Done {
    let project = &ctx.caller.project;
    let own = ctx.state.table(VOLUMES).with("project_id", project);
    let most = ctx.state.quota("volume", project, "volumes", 10);
    if usize::try_from(most).is_ok_and(|most| own.len() >= most) {
        let message = format!(
            "VolumeLimitExceeded: Maximum number of volumes allowed ({most}) exceeded for quota 'volumes'."
        );
        return Err(fault(413, message));
    }
    let used: i64 = own.iter().map(|volume| int(volume, "size")).sum();
    let most = ctx.state.quota("volume", project, "gigabytes", 1_000);
    if most >= 0 && used + size > most {
        let message = format!(
            "VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested \
             {size}G, quota is {most}G and {used}G has been consumed."
        );
        return Err(fault(413, message));
    }
    Ok(())
}

fn from_image(ctx: &RequestContext<'_>, row: &mut Obj, id: &str, size: i64) -> Done {
    let id = id.rsplit('/').next().unwrap_or_default();
    let found = ctx.state.get(IMAGES, id).filter(|image| image::sees(ctx, image)).cloned();
    let Some(found) = found else {
        return Err(fault(400, "Invalid image identifier or unable to access requested image."));
    };
    if text(&found, "status") != "active" {
        return Err(invalid_input(&format!("Image {id} is not active.")));
    }
    let least = int(&found, "min_disk");
    if size < least {
        let message = format!(
            "Volume size {size}GB cannot be smaller than the image minDisk size {least}GB."
        );
        return Err(invalid_input(&message));
    }
    set(row, "bootable", "true");
    let about = json!({
        "image_id": id, "image_name": found["name"], "disk_format": found["disk_format"],
        "container_format": found["container_format"], "min_disk": found["min_disk"].to_string(),
        "min_ram": found["min_ram"].to_string(), "size": found["size"].to_string(), "checksum": found["checksum"],
    });
    set(row, "volume_image_metadata", about);
    Ok(())
}

/// The statuses in which a volume can be deleted.
const DELETABLE: &[&str] =
    &["available", "error", "error_restoring", "error_extending", "error_managing"];

fn deletable(ctx: &RequestContext<'_>, row: &Obj) -> Done {
    let snapshots = ctx.state.table(SNAPSHOTS).count("volume_id", text(row, "id"));
    if DELETABLE.contains(&text(row, "status"))
        && snapshots == 0
        && list(row, "attachments").is_empty()
    {
        return Ok(());
    }
    Err(invalid_volume(
        "Volume status must be available or error or error_restoring or error_extending or error_managing and must not \
         be migrating, attached, belong to a group, have snapshots, awaiting a transfer, or be disassociated from \
         snapshots after volume transfer.",
    ))
}

pub(super) fn serve(ctx: &mut RequestContext<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    let ["volumes", rest @ ..] = path else { return None };
    Some(match (method, rest) {
        ("GET", []) => list_collection(ctx, &VOLUME, false),
        ("GET", ["detail"]) => list_collection(ctx, &VOLUME, true),
        ("DELETE", [id]) => delete(ctx, id, false),
        ("POST", [id, "action"]) => act(ctx, id),
        (_, [id, "metadata", key @ ..]) => metadata(ctx, &VOLUME, method, id, key.first().copied()),
        ("GET", [id, "encryption"]) => {
            ctx.find(&VOLUME, id).map(|_| Reply::ok(json!({ "encryption_key_id": null })))
        }
        _ => return None,
    })
}

fn delete(ctx: &mut RequestContext<'_>, id: &str, force: bool) -> Answer {
    let row = ctx.find(&VOLUME, id)?;
    if !force && ctx.request.query("cascade").is_some() {
        for snapshot in ctx.state.with(SNAPSHOTS, "volume_id", id) {
            ctx.state.remove(SNAPSHOTS, text(&snapshot, "id"));
        }
    }
    if !force {
        deletable(ctx, &row)?;
    }
    ctx.state.set(VOLUMES, id, json!({ "status": "deleting" }));
    ctx.state.remove_when_built(VOLUMES, id);
    Ok(Reply::empty(202))
}

fn act(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = ctx.find(&VOLUME, id)?;
    let Some((name, what)) = ctx.body.as_object().and_then(|body| body.iter().next()) else {
        return Err(fault(400, "There is no such action."));
    };
    let (name, what) = (name.clone(), what.clone());
    let set_fields = |ctx: &mut RequestContext<'_>, fields: Value| {
        ctx.state.set(VOLUMES, id, fields);
        Ok(Reply::empty(202))
    };
    match name.as_str() {
        "os-extend" => extend(ctx, id, &row, &what),
        "os-retype" => retype(ctx, id, &row, &what),
        "os-update_readonly_flag" => {
            if text(&row, "status") != "available" {
                let message = format!(
                    "Volume {id} status must be available to update readonly flag, but current status is: {}.",
                    text(&row, "status")
                );
                return Err(invalid_volume(&message));
            }
            let readonly = what["readonly"].as_bool().unwrap_or_default();
            let word = if readonly { "True" } else { "False" };
            ctx.state.edit(VOLUMES, id, |row| row.set_entry("metadata", "readonly", json!(word)));
            Ok(Reply::empty(202))
        }
        "os-reserve" if text(&row, "status") == "available" => {
            set_fields(ctx, json!({ "status": "attaching" }))
        }
        "os-unreserve" => set_fields(ctx, json!({ "status": "available" })),
        "os-begin_detaching" if text(&row, "status") == "in-use" => {
            set_fields(ctx, json!({ "status": "detaching" }))
        }
        "os-roll_detaching" => set_fields(ctx, json!({ "status": "in-use" })),
        "os-reserve" | "os-begin_detaching" => {
            let message = format!(
                "Volume {id} status must be available, but current status is: {}.",
                text(&row, "status")
            );
            Err(invalid_volume(&message))
        }
        "os-attach" => {
            super::attach::finish(
                ctx.state,
                id,
                what["instance_uuid"].as_str().unwrap_or_default(),
            );
            Ok(Reply::empty(202))
        }
        "os-detach" | "os-force_detach" => {
            ctx.state.set(VOLUMES, id, json!({ "status": "available", "attachments": [] }));
            Ok(Reply::empty(202))
        }
        "os-initialize_connection" => Ok(Reply::ok(
            json!({ "connection_info": { "driver_volume_type": "iscsi", "data": {} } }),
        )),
        "os-terminate_connection" => Ok(Reply::empty(202)),
        "os-set_bootable" => {
            let bootable = what["bootable"] == json!(true) || what["bootable"] == json!("True");
            ctx.state.set(
                VOLUMES,
                id,
                json!({ "bootable": if bootable { "true" } else { "false" } }),
            );
            Ok(Reply::empty(200))
        }
        "os-set_image_metadata" => {
            ctx.state.set(VOLUMES, id, json!({ "volume_image_metadata": what["metadata"] }));
            Ok(Reply::ok(json!({ "metadata": what["metadata"] })))
        }
        "os-show_image_metadata" => {
            let about = row.get("volume_image_metadata").cloned().unwrap_or_else(|| json!({}));
            Ok(Reply::ok(json!({ "metadata": about })))
        }
        "os-reset_status" if ctx.caller.is_admin => {
            let status = what["status"].clone();
            set_fields(ctx, json!({ "status": status }))
        }
        "os-force_delete" if ctx.caller.is_admin => delete(ctx, id, true),
        "os-volume_upload_image" => upload(ctx, id, &row, &what),
        other => Err(fault(400, format!("There is no such action: {other}"))),
    }
}

fn extend(ctx: &mut RequestContext<'_>, id: &str, row: &Obj, what: &Value) -> Answer {
    let status = text(row, "status");
    let online = ctx.version >= 42 && status == "in-use";
    if status != "available" && !online {
        let message =
            format!("Volume {id} status must be 'available' to extend, currently {status}.");
        return Err(invalid_volume(&message));
    }
    let (size, old) = (what["new_size"].as_i64().unwrap_or_default(), int(row, "size"));
    if size <= old {
        let message = format!(
            "New size for extend must be greater than current size. (current: {old}, extended: {size})."
        );
        return Err(invalid_input(&message));
    }
    let most = ctx.state.quota("volume", &ctx.caller.project, "gigabytes", 1_000);
    let own = ctx.state.table(VOLUMES).with("project_id", &ctx.caller.project);
    let used: i64 = own.iter().map(|volume| int(volume, "size")).sum();
    if most >= 0 && used + size - old > most {
        let message = format!(
            "VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested \
             {}G, quota is {most}G and {used}G has been consumed.",
            size - old
        );
        return Err(fault(413, message));
    }
    let status = status.to_owned();
    ctx.state.set(VOLUMES, id, json!({ "status": "extending" }));
    ctx.state.when_built(VOLUMES, id, json!({ "status": status, "size": size }));
    Ok(Reply::empty(202))
}

fn retype(ctx: &mut RequestContext<'_>, id: &str, row: &Obj, what: &Value) -> Answer {
    let kind = type_id(ctx, what["new_type"].as_str().unwrap_or_default())?;
    let status = text(row, "status").to_owned();
    if !["available", "in-use"].contains(&status.as_str()) {
        let message = format!(
            "Volume {id} status must be available or in-use to retype, but current status is: {status}."
        );
        return Err(invalid_volume(&message));
    }
    if row["volume_type"] == json!(kind) {
        return Err(invalid_input(&format!("New volume_type same as original: {kind}.")));
    }
    ctx.state.set(VOLUMES, id, json!({ "status": "retyping" }));
    ctx.state.when_built(VOLUMES, id, json!({ "status": status, "volume_type": kind }));
    Ok(Reply::empty(202))
}

fn upload(ctx: &mut RequestContext<'_>, id: &str, row: &Obj, what: &Value) -> Answer {
    let name = what["image_name"].as_str().unwrap_or_default().to_owned();
    let image = image::snapshot(ctx, &name, "", "", row["size"].clone(), &Value::Null);
    let status = row["status"].clone();
    ctx.state.set(VOLUMES, id, json!({ "status": "uploading" }));
    ctx.state.when_built(VOLUMES, id, json!({ "status": status }));
    let info = json!({
        "id": id, "image_id": image, "image_name": name, "status": "uploading", "size": row["size"],
        "disk_format": what["disk_format"], "container_format": what["container_format"],
    });
    Ok(Reply::json(202, json!({ "os-volume_upload_image": info })))
}

/// Creates a volume for the cloud itself, for a server or from a backup.
pub(super) fn internal(ctx: &mut RequestContext<'_>, sent: Value) -> Result<Obj, Refusal> {
    rest::create(ctx, &VOLUME, &object(sent))
}

/// Counts the volumes, gigabytes, snapshots and backups of a project.
pub(super) fn counted(ctx: &RequestContext<'_>, project: &str) -> (i64, i64, i64, i64) {
    let count = |table: &str| {
        i64::try_from(ctx.state.table(table).count("project_id", project)).unwrap_or(i64::MAX)
    };
    let own = ctx.state.table(VOLUMES).with("project_id", project);
    let gigabytes = own.iter().map(|volume| int(volume, "size")).sum();
    (count(VOLUMES), gigabytes, count(SNAPSHOTS), count(BACKUPS))
}
