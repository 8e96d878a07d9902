//! Quotas, limits and availability zones.

use serde_json::{Map, Value, json};

use super::super::microversioned::fault;
use super::super::request::{Answer, Reply, RequestContext};
use super::volumes;

const QUOTAS: &[(&str, i64)] = &[
    ("volumes", 10),
    ("snapshots", 10),
    ("gigabytes", 1_000),
    ("backups", 10),
    ("backup_gigabytes", 1_000),
    ("groups", 10),
    ("per_volume_gigabytes", -1),
];

pub(super) fn serve(ctx: &mut RequestContext<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    Some(match (method, path) {
        ("GET", ["limits"]) => Ok(limits(ctx)),
        ("GET", ["os-availability-zone"]) => Ok(Reply::ok(json!({ "availabilityZoneInfo": [
            { "zoneName": "nova", "zoneState": { "available": true } },
        ] }))),
        ("GET", ["extensions"]) => Ok(Reply::ok(json!({ "extensions": [] }))),
        ("GET", ["os-services"]) => {
            let row = |binary: &str| {
                json!({
                    "binary": binary, "host": "controller", "zone": "nova", "status": "enabled", "state": "up",
                    "updated_at": ctx.state.timestamp_micros(),
                })
            };
            let rows = [row("cinder-scheduler"), row("cinder-volume"), row("cinder-backup")];
            Ok(Reply::ok(json!({ "services": rows })))
        }
        (_, ["os-quota-sets", project, ..]) => quotas(ctx, method, project),
        _ => return None,
    })
}

fn limits(ctx: &RequestContext<'_>) -> Reply {
    let collection = |name: &str| {
        let usual = QUOTAS.iter().find(|(own, _)| *own == name).map_or(-1, |(_, usual)| *usual);
        ctx.state.quota("volume", &ctx.caller.project, name, usual)
    };
    let used = volumes::counted(ctx, &ctx.caller.project);
    let absolute = json!({
        "maxTotalVolumes": collection("volumes"), "maxTotalVolumeGigabytes": collection("gigabytes"),
        "maxTotalSnapshots": collection("snapshots"), "maxTotalBackups": collection("backups"),
        "maxTotalBackupGigabytes": collection("backup_gigabytes"), "totalVolumesUsed": used.0,
        "totalGigabytesUsed": used.1, "totalSnapshotsUsed": used.2, "totalBackupsUsed": used.3,
        "totalBackupGigabytesUsed": 0,
    });
    Reply::ok(json!({ "limits": { "rate": [], "absolute": absolute } }))
}

fn quotas(ctx: &mut RequestContext<'_>, method: &str, project: &str) -> Answer {
    let may = project == ctx.caller.project && method == "GET";
    if !may && !ctx.caller.is_admin {
        return Err(fault(
            403,
            "Policy doesn't allow volume_extension:quotas:update to be performed.",
        ));
    }
    match method {
        "PUT" => {
            let sent = ctx.body["quota_set"].as_object().cloned().unwrap_or_default();
            for (name, value) in sent {
                let limit = value.as_i64().or_else(|| value.as_str()?.parse().ok());
                match limit {
                    Some(limit) => ctx.state.set_quota("volume", project, &name, limit),
                    None if name == "tenant_id" => {}
                    None => {
                        let message = format!("{name} must be an integer: {value}");
                        return Err(fault(400, message));
                    }
                }
            }
        }
        "DELETE" => {
            ctx.state.reset_quota("volume", project);
            return Ok(Reply::empty(200));
        }
        _ => {}
    }
    let used = volumes::counted(ctx, project);
    let detailed = ctx.request.query("usage").is_some_and(|word| word.eq_ignore_ascii_case("true"));
    let mut rendered = Map::new();
    for (name, usual) in QUOTAS {
        let limit = ctx.state.quota("volume", project, name, *usual);
        let used = match *name {
            "volumes" => used.0,
            "gigabytes" => used.1,
            "snapshots" => used.2,
            "backups" => used.3,
            _ => 0,
        };
        let value = if detailed {
            json!({ "limit": limit, "in_use": used, "reserved": 0 })
        } else {
            json!(limit)
        };
        rendered.insert((*name).to_owned(), value);
    }
    if method == "GET" {
        rendered.insert("id".to_owned(), Value::from(project));
    }
    Ok(Reply::ok(json!({ "quota_set": rendered })))
}
