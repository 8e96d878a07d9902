//! Snapshots and backups of volumes.

use serde_json::{Value, json};

use super::super::microversioned::fault;
use super::super::request::{Answer, Reply, RequestContext, flag, int, set, text};
use super::super::schema::Collection;
use super::super::state::CloudState;
use super::dialect::{CINDER, invalid_volume};
use super::{BACKUPS, SNAPSHOTS, VOLUMES, links, list_collection, metadata, volumes};

pub(super) static SNAPSHOT: Collection = Collection {
    name: SNAPSHOTS,
    path: "snapshots",
    singular: "snapshot",
    plural: "snapshots",
    title: "Snapshot",
    operations: "CSU",
    statuses: (202, 200, 202),
    fields: "name        text cu null
             description text cu null
             volume_id   ref:volume/volumes c !
             force       any  c  false
             metadata    map  cu {}
             status      text r  \"creating\"
             size        int  r  0
             user_id     text r  @user
             project_id  text r  @project",
    make: |ctx, row| {
        let volume = ctx.state.copy(VOLUMES, text(row, "volume_id"));
        let status = text(&volume, "status");
        let forced = ctx.version >= 66 || flag(row, "force") || row["force"] == json!("True");
        if status != "available" && !(status == "in-use" && forced) {
            let id = text(&volume, "id");
            let message =
                format!("Volume {id} status must be available, but current status is: {status}.");
            return Err(invalid_volume(&message));
        }
        let most = ctx.state.quota("volume", &ctx.caller.project, "snapshots", 10);
        let used = ctx.state.table(SNAPSHOTS).count("project_id", &ctx.caller.project);
        if usize::try_from(most).is_ok_and(|most| used >= most) {
            let message = format!(
                "SnapshotLimitExceeded: Maximum number of snapshots allowed ({most}) exceeded"
            );
            return Err(fault(413, message));
        }
        row.remove("force");
        set(row, "size", int(&volume, "size"));
        set(row, "created_at", ctx.state.timestamp_micros());
        set(row, "updated_at", Value::Null);
        ctx.state.when_built(SNAPSHOTS, text(row, "id"), json!({ "status": "available" }));
        Ok(())
    },
    show: |_, row| {
        set(row, "os-extended-snapshot-attributes:progress", "100%");
        let project = row.remove("project_id").unwrap_or_default();
        set(row, "os-extended-snapshot-attributes:project_id", project);
    },
    ..Collection::new(&CINDER)
};

pub(super) static BACKUP: Collection = Collection {
    name: BACKUPS,
    path: "backups",
    singular: "backup",
    plural: "backups",
    title: "Backup",
    operations: "CSU",
    statuses: (202, 200, 202),
    fields: "name              text cu null
             description       text cu null
             volume_id         ref:volume/volumes c !
             snapshot_id       text c  null
             container         text c  null
             incremental       any  c  false
             force             any  c  false
             availability_zone text c  null
             metadata          map  cu {}
             status            text r  \"creating\"
             size              int  r  0
             object_count      int  r  0
             fail_reason       text r  null
             user_id           text r  @user
             project_id        text r  @project",
    make: |ctx, row| {
        let volume = ctx.state.copy(VOLUMES, text(row, "volume_id"));
        let status = text(&volume, "status").to_owned();
        let id = text(&volume, "id").to_owned();
        let forced = flag(row, "force") || row["force"] == json!("True");
        if status == "in-use" && !forced {
            let message = "Backing up an in-use volume must use the force flag.";
            return Err(invalid_volume(message));
        }
        if !["available", "in-use"].contains(&status.as_str()) {
            let message = format!(
                "Volume to be backed up must be available or in-use, but the current status is \"{status}\"."
            );
            return Err(invalid_volume(&message));
        }
        let most = ctx.state.quota("volume", &ctx.caller.project, "backups", 10);
        let used = ctx.state.table(BACKUPS).count("project_id", &ctx.caller.project);
        if usize::try_from(most).is_ok_and(|most| used >= most) {
            let message =
                format!("BackupLimitExceeded: Maximum number of backups allowed ({most}) exceeded");
            return Err(fault(413, message));
        }
        row.remove("force");
        let incremental = flag(row, "incremental");
        row.remove("incremental");
        set(row, "is_incremental", incremental);
        set(row, "has_dependent_backups", false);
        set(row, "size", int(&volume, "size"));
        set(row, "created_at", ctx.state.timestamp_micros());
        set(row, "updated_at", Value::Null);
        set(row, "_bootable", volume["bootable"].clone());
        ctx.state.set(VOLUMES, &id, json!({ "status": "backing-up" }));
        ctx.state.when_built(VOLUMES, &id, json!({ "status": status }));
        let ready = json!({ "status": "available", "container": "volumebackups" });
        ctx.state.when_built(BACKUPS, text(row, "id"), ready);
        Ok(())
    },
    show: |ctx, row| {
        let id = text(row, "id").to_owned();
        set(row, "links", links(ctx, "backups", &id));
        let project = row.remove("project_id").unwrap_or_default();
        set(row, "os-backup-project-attr:project_id", project);
    },
    ..Collection::new(&CINDER)
};

pub(super) fn serve(ctx: &mut RequestContext<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    Some(match (method, path) {
        ("GET", ["snapshots"]) => list_collection(ctx, &SNAPSHOT, true),
        ("GET", ["snapshots", "detail"]) => list_collection(ctx, &SNAPSHOT, true),
        ("DELETE", ["snapshots", id]) => delete_snapshot(ctx, id),
        ("POST", ["snapshots", id, "action"]) => reset(ctx, &SNAPSHOT, id),
        (_, ["snapshots", id, "metadata", key @ ..]) => {
            metadata(ctx, &SNAPSHOT, method, id, key.first().copied())
        }
        ("GET", ["backups"]) => list_collection(ctx, &BACKUP, false),
        ("GET", ["backups", "detail"]) => list_collection(ctx, &BACKUP, true),
        ("DELETE", ["backups", id]) => delete_backup(ctx, id),
        ("POST", ["backups", id, "restore"]) => restore(ctx, id),
        ("POST", ["backups", id, "action"]) => reset(ctx, &BACKUP, id),
        _ => return None,
    })
}

fn reset(ctx: &mut RequestContext<'_>, collection: &'static Collection, id: &str) -> Answer {
    ctx.find(collection, id)?;
    if !ctx.caller.is_admin {
        return Err(fault(
            403,
            "Policy doesn't allow volume_extension:reset_status to be performed.",
        ));
    }
    if let Some(status) = ctx.body["os-reset_status"]["status"].as_str().map(str::to_owned) {
        ctx.state.set(collection.name, id, json!({ "status": status }));
    } else {
        ctx.state.remove_when_built(collection.name, id);
    }
    Ok(Reply::empty(202))
}

fn delete_snapshot(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = ctx.find(&SNAPSHOT, id)?;
    if !["available", "error"].contains(&text(&row, "status")) {
        let message =
            "Invalid snapshot: Snapshot status must be one of 'available', 'error' values";
        return Err(fault(400, message));
    }
    ctx.state.set(SNAPSHOTS, id, json!({ "status": "deleting" }));
    ctx.state.remove_when_built(SNAPSHOTS, id);
    Ok(Reply::empty(202))
}

fn delete_backup(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = ctx.find(&BACKUP, id)?;
    if !["available", "error"].contains(&text(&row, "status")) {
        return Err(fault(400, "Invalid backup: Backup status must be available or error"));
    }
    ctx.state.set(BACKUPS, id, json!({ "status": "deleting" }));
    ctx.state.remove_when_built(BACKUPS, id);
    Ok(Reply::empty(202))
}

fn restore(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let backup = ctx.find(&BACKUP, id)?;
    let status = text(&backup, "status");
    if status != "available" {
        let message = format!(
            "Invalid backup: Backup status must be available, but current status is {status}"
        );
        return Err(fault(400, message));
    }
    let wanted = ctx.body["restore"].clone();
    let volume = match wanted["volume_id"].as_str() {
        Some(volume) => {
            let volume = ctx.find(&volumes::VOLUME, volume)?;
            if text(&volume, "status") != "available" {
                return Err(invalid_volume("Volume to be restored to must be available"));
            }
            if int(&volume, "size") < int(&backup, "size") {
                let message = format!(
                    "volume size {} is too small to restore backup of size {}.",
                    int(&volume, "size"),
                    int(&backup, "size")
                );
                return Err(invalid_volume(&message));
            }
            volume
        }
        None => {
            let name = wanted["name"].as_str().map(str::to_owned);
            let name = name.unwrap_or_else(|| format!("restore_backup_{id}"));
            let description = "auto-created_from_restore_from_backup";
            let wanted =
                json!({ "size": backup["size"], "name": name, "description": description });
            volumes::internal(ctx, wanted)?
        }
    };
    let key = text(&volume, "id").to_owned();
    ctx.state.set(
        VOLUMES,
        &key,
        json!({ "status": "restoring-backup", "bootable": backup["_bootable"] }),
    );
    ctx.state.set(BACKUPS, id, json!({ "status": "restoring" }));
    ctx.state.step_when_built("volume/restored", &format!("{id}/{key}"));
    let restore = json!({ "backup_id": id, "volume_id": key, "volume_name": volume["name"] });
    Ok(Reply::json(202, json!({ "restore": restore })))
}

/// Finishes the restoration of a backup.
pub(super) fn restored(state: &mut CloudState, key: &str) {
    if let Some((backup, volume)) = key.split_once('/') {
        state.set(BACKUPS, backup, json!({ "status": "available" }));
        state.set(VOLUMES, volume, json!({ "status": "available" }));
    }
}
