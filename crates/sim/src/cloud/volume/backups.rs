//! Snapshots and backups of volumes.

use serde_json::{Value, json};

use super::super::ask::{Answer, Reply, Turn, flag, int, set, text};
use super::super::fault_body::fault;
use super::super::schema::{Collection, plain};
use super::super::world::World;
use super::dialect::{Cinder, invalid_volume};
use super::{BACKUPS, SNAPSHOTS, VOLUMES, links, listed, metadata, volumes};

pub(super) static SNAPSHOT: Collection = Collection {
    name: SNAPSHOTS,
    path: "snapshots",
    one: "snapshot",
    many: "snapshots",
    title: "Snapshot",
    verbs: "CSU",
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
    make: |turn, row| {
        let volume = turn.world.copy(VOLUMES, text(row, "volume_id"));
        let status = text(&volume, "status");
        let forced = turn.version >= 66 || flag(row, "force") || row["force"] == json!("True");
        if status != "available" && !(status == "in-use" && forced) {
            let id = text(&volume, "id");
            let message =
                format!("Volume {id} status must be available, but current status is: {status}.");
            return Err(invalid_volume(&message));
        }
        let most = turn.world.quota("volume", &turn.who.project, "snapshots", 10);
        let used = turn.world.table(SNAPSHOTS).count("project_id", &turn.who.project);
        if usize::try_from(most).is_ok_and(|most| used >= most) {
            let message = format!(
                "SnapshotLimitExceeded: Maximum number of snapshots allowed ({most}) exceeded"
            );
            return Err(fault(413, message));
        }
        row.remove("force");
        set(row, "size", int(&volume, "size"));
        set(row, "created_at", turn.world.stamp_micros());
        set(row, "updated_at", Value::Null);
        turn.world.when_built(SNAPSHOTS, text(row, "id"), json!({ "status": "available" }));
        Ok(())
    },
    show: |_, row| {
        set(row, "os-extended-snapshot-attributes:progress", "100%");
        let project = row.remove("project_id").unwrap_or_default();
        set(row, "os-extended-snapshot-attributes:project_id", project);
    },
    ..plain(&Cinder)
};

pub(super) static BACKUP: Collection = Collection {
    name: BACKUPS,
    path: "backups",
    one: "backup",
    many: "backups",
    title: "Backup",
    verbs: "CSU",
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
    make: |turn, row| {
        let volume = turn.world.copy(VOLUMES, text(row, "volume_id"));
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
        let most = turn.world.quota("volume", &turn.who.project, "backups", 10);
        let used = turn.world.table(BACKUPS).count("project_id", &turn.who.project);
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
        set(row, "created_at", turn.world.stamp_micros());
        set(row, "updated_at", Value::Null);
        set(row, "_bootable", volume["bootable"].clone());
        turn.world.set(VOLUMES, &id, json!({ "status": "backing-up" }));
        turn.world.when_built(VOLUMES, &id, json!({ "status": status }));
        let ready = json!({ "status": "available", "container": "volumebackups" });
        turn.world.when_built(BACKUPS, text(row, "id"), ready);
        Ok(())
    },
    show: |turn, row| {
        let id = text(row, "id").to_owned();
        set(row, "links", links(turn, "backups", &id));
        let project = row.remove("project_id").unwrap_or_default();
        set(row, "os-backup-project-attr:project_id", project);
    },
    ..plain(&Cinder)
};

pub(super) fn serve(turn: &mut Turn<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    Some(match (method, path) {
        ("GET", ["snapshots"]) => listed(turn, &SNAPSHOT, true),
        ("GET", ["snapshots", "detail"]) => listed(turn, &SNAPSHOT, true),
        ("DELETE", ["snapshots", id]) => delete_snapshot(turn, id),
        ("POST", ["snapshots", id, "action"]) => reset(turn, &SNAPSHOT, id),
        (_, ["snapshots", id, "metadata", key @ ..]) => {
            metadata(turn, &SNAPSHOT, method, id, key.first().copied())
        }
        ("GET", ["backups"]) => listed(turn, &BACKUP, false),
        ("GET", ["backups", "detail"]) => listed(turn, &BACKUP, true),
        ("DELETE", ["backups", id]) => delete_backup(turn, id),
        ("POST", ["backups", id, "restore"]) => restore(turn, id),
        ("POST", ["backups", id, "action"]) => reset(turn, &BACKUP, id),
        _ => return None,
    })
}

fn reset(turn: &mut Turn<'_>, of: &'static Collection, id: &str) -> Answer {
    turn.find(of, id)?;
    if !turn.who.is_admin {
        return Err(fault(
            403,
            "Policy doesn't allow volume_extension:reset_status to be performed.",
        ));
    }
    if let Some(status) = turn.body["os-reset_status"]["status"].as_str().map(str::to_owned) {
        turn.world.set(of.name, id, json!({ "status": status }));
    } else {
        turn.world.remove_when_built(of.name, id);
    }
    Ok(Reply::empty(202))
}

fn delete_snapshot(turn: &mut Turn<'_>, id: &str) -> Answer {
    let row = turn.find(&SNAPSHOT, id)?;
    if !["available", "error"].contains(&text(&row, "status")) {
        let message =
            "Invalid snapshot: Snapshot status must be one of 'available', 'error' values";
        return Err(fault(400, message));
    }
    turn.world.set(SNAPSHOTS, id, json!({ "status": "deleting" }));
    turn.world.remove_when_built(SNAPSHOTS, id);
    Ok(Reply::empty(202))
}

fn delete_backup(turn: &mut Turn<'_>, id: &str) -> Answer {
    let row = turn.find(&BACKUP, id)?;
    if !["available", "error"].contains(&text(&row, "status")) {
        return Err(fault(400, "Invalid backup: Backup status must be available or error"));
    }
    turn.world.set(BACKUPS, id, json!({ "status": "deleting" }));
    turn.world.remove_when_built(BACKUPS, id);
    Ok(Reply::empty(202))
}

fn restore(turn: &mut Turn<'_>, id: &str) -> Answer {
    let backup = turn.find(&BACKUP, id)?;
    let status = text(&backup, "status");
    if status != "available" {
        let message = format!(
            "Invalid backup: Backup status must be available, but current status is {status}"
        );
        return Err(fault(400, message));
    }
    let wish = turn.body["restore"].clone();
    let volume = match wish["volume_id"].as_str() {
        Some(volume) => {
            let volume = turn.find(&volumes::VOLUME, volume)?;
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
            let name = wish["name"].as_str().map(str::to_owned);
            let name = name.unwrap_or_else(|| format!("restore_backup_{id}"));
            volumes::internal(turn, json!({ "size": backup["size"], "name": name }))?
        }
    };
    let key = text(&volume, "id").to_owned();
    turn.world.set(
        VOLUMES,
        &key,
        json!({ "status": "restoring-backup", "bootable": backup["_bootable"] }),
    );
    turn.world.set(BACKUPS, id, json!({ "status": "restoring" }));
    turn.world.step_when_built("volume/restored", &format!("{id}/{key}"));
    let restore = json!({ "backup_id": id, "volume_id": key, "volume_name": volume["name"] });
    Ok(Reply::json(202, json!({ "restore": restore })))
}

/// The volume holds what the backup held.
pub(super) fn restored(world: &mut World, key: &str) {
    if let Some((backup, volume)) = key.split_once('/') {
        world.set(BACKUPS, backup, json!({ "status": "available" }));
        world.set(VOLUMES, volume, json!({ "status": "available" }));
    }
}
