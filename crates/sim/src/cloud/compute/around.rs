//! What is told about the service itself: limits, quotas, hosts, zones, consoles.

use serde_json::{Map, Value, json};

use super::super::ask::{Answer, Reply, Turn, object, text};
use super::super::table::Obj;
use super::dialect::fault;
use super::{HOSTS, QUOTAS, SERVERS, limit, usage};

pub(super) fn serve(turn: &mut Turn<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    Some(match (method, path) {
        ("GET", ["limits"]) => Ok(limits(turn)),
        ("GET", ["extensions"]) => Ok(Reply::ok(json!({ "extensions": [] }))),
        (_, ["os-quota-sets", project, rest @ ..]) => quotas(turn, method, project, rest),
        ("GET", ["os-availability-zone"]) => Ok(Reply::ok(zones(false))),
        ("GET", ["os-availability-zone", "detail"]) => Ok(Reply::ok(zones(true))),
        ("GET", ["os-hypervisors"]) => admin(turn).map(|()| hypervisors(turn, false)),
        ("GET", ["os-hypervisors", "detail"]) => admin(turn).map(|()| hypervisors(turn, true)),
        ("GET", ["os-hypervisors", "statistics"]) => admin(turn)
            .map(|()| Reply::ok(json!({ "hypervisor_statistics": { "count": HOSTS.len() } }))),
        ("GET", ["os-services"]) => admin(turn).map(|()| services(turn)),
        ("GET", ["os-hosts"]) => admin(turn).map(|()| hosts()),
        ("GET", ["os-tenant-networks" | "os-networks" | "os-floating-ips" | "images", ..]) => {
            Err(fault(404, "The resource could not be found."))
        }
        _ => return None,
    })
}

fn admin(turn: &Turn<'_>) -> Result<(), super::Refusal> {
    if turn.who.is_admin {
        return Ok(());
    }
    Err(fault(403, "Policy doesn't allow os_compute_api:os-hypervisors:list to be performed."))
}

fn limits(turn: &Turn<'_>) -> Reply {
    let project =
        turn.ask.query("tenant_id").filter(|_| turn.who.is_admin).unwrap_or(&turn.who.project);
    let of = |name: &str| limit(turn.world, project, name);
    let used = usage(turn.world, project);
    let absolute = json!({
        "maxTotalInstances": of("instances"), "maxTotalCores": of("cores"), "maxTotalRAMSize": of("ram"),
        "maxServerMeta": of("metadata_items"), "maxTotalKeypairs": of("key_pairs"),
        "maxServerGroups": of("server_groups"), "maxServerGroupMembers": of("server_group_members"),
        "maxPersonality": 5, "maxPersonalitySize": 10_240, "maxImageMeta": 128,
        "maxSecurityGroups": -1, "maxSecurityGroupRules": -1, "maxTotalFloatingIps": -1,
        "totalInstancesUsed": used.0, "totalCoresUsed": used.1, "totalRAMUsed": used.2,
        "totalSecurityGroupsUsed": 0, "totalFloatingIpsUsed": 0, "totalServerGroupsUsed": 0,
    });
    Reply::ok(json!({ "limits": { "rate": [], "absolute": absolute } }))
}

fn quotas(turn: &mut Turn<'_>, method: &str, project: &str, rest: &[&str]) -> Answer {
    let forbidden =
        || fault(403, "Policy doesn't allow os_compute_api:os-quota-sets:update to be performed.");
    if project != turn.who.project && !turn.who.is_admin {
        return Err(forbidden());
    }
    match method {
        "GET" => {}
        "PUT" if turn.who.is_admin => {
            let sent = object(turn.body["quota_set"].clone());
            for (name, value) in &sent {
                if name == "force" || name == "tenant_id" {
                    continue;
                }
                if !QUOTAS.iter().any(|(own, _)| own == name) {
                    return Err(super::super::fault_body::unknown("quota_set", &[name], &sent));
                }
                let limit = value.as_i64().or_else(|| value.as_str()?.parse().ok());
                let Some(limit) = limit.filter(|limit| *limit >= -1) else {
                    return Err(super::super::fault_body::wrong(
                        name,
                        value,
                        "It is not a whole number from -1.",
                    ));
                };
                let used = usage(turn.world, project);
                let used = match name.as_str() {
                    "instances" => used.0,
                    "cores" => used.1,
                    "ram" => used.2,
                    _ => 0,
                };
                if limit >= 0 && limit < used && sent.get("force") != Some(&json!(true)) {
                    return Err(fault(
                        400,
                        format!(
                            "Quota limit {limit} for {name} must be greater than or equal to already used and reserved {used}."
                        ),
                    ));
                }
                turn.world.set_quota("compute", project, name, limit);
            }
        }
        "DELETE" if turn.who.is_admin => {
            turn.world.reset_quota("compute", project);
            return Ok(Reply::empty(202));
        }
        _ => return Err(forbidden()),
    }
    let used = usage(turn.world, project);
    let mut shown = Map::new();
    for (name, usual) in QUOTAS {
        let value = match rest {
            ["defaults"] => json!(turn.world.every_quota.unwrap_or(*usual)),
            ["detail"] => {
                let used = match *name {
                    "instances" => used.0,
                    "cores" => used.1,
                    "ram" => used.2,
                    _ => 0,
                };
                json!({ "limit": limit(turn.world, project, name), "in_use": used, "reserved": 0 })
            }
            _ => json!(limit(turn.world, project, name)),
        };
        shown.insert((*name).to_owned(), value);
    }
    if method == "GET" {
        shown.insert("id".to_owned(), json!(project));
    }
    Ok(Reply::ok(json!({ "quota_set": shown })))
}

fn zones(detailed: bool) -> Value {
    let hosts = |_: ()| {
        let service =
            json!({ "nova-compute": { "active": true, "available": true, "updated_at": null } });
        let all: Map<String, Value> =
            HOSTS.iter().map(|host| ((*host).to_owned(), service.clone())).collect();
        Value::from(all)
    };
    let hosts = if detailed { hosts(()) } else { Value::Null };
    json!({ "availabilityZoneInfo": [{ "zoneName": "nova", "zoneState": { "available": true }, "hosts": hosts }] })
}

fn hypervisors(turn: &Turn<'_>, detailed: bool) -> Reply {
    let rows: Vec<Value> = HOSTS
        .iter()
        .enumerate()
        .map(|(at, host)| {
            let mut row = json!({ "id": at + 1, "hypervisor_hostname": host, "state": "up", "status": "enabled" });
            if detailed {
                let on = |server: &&Obj| text(server, "OS-EXT-SRV-ATTR:host") == *host;
                let running = turn.world.table(SERVERS).iter().filter(on).count();
                row["running_vms"] = json!(running);
                row["vcpus"] = json!(64);
                row["memory_mb"] = json!(262_144);
                row["local_gb"] = json!(2_048);
                row["hypervisor_type"] = json!("QEMU");
                row["hypervisor_version"] = json!(8_000_000);
                row["host_ip"] = json!("127.0.0.1");
                row["service"] = json!({ "id": at + 1, "host": host, "disabled_reason": null });
            }
            row
        })
        .collect();
    Reply::ok(json!({ "hypervisors": rows }))
}

fn services(turn: &Turn<'_>) -> Reply {
    let row = |binary: &str, host: &str, at: usize| {
        json!({
            "id": at + 1, "binary": binary, "host": host, "zone": if binary == "nova-compute" { "nova" } else { "internal" },
            "status": "enabled", "state": "up", "updated_at": turn.world.stamp_micros(), "disabled_reason": null,
            "forced_down": false,
        })
    };
    let mut rows: Vec<Value> =
        HOSTS.iter().enumerate().map(|(at, host)| row("nova-compute", host, at)).collect();
    rows.push(row("nova-scheduler", "controller", HOSTS.len()));
    rows.push(row("nova-conductor", "controller", HOSTS.len() + 1));
    Reply::ok(json!({ "services": rows }))
}

fn hosts() -> Reply {
    let row = |host: &&str| json!({ "host_name": host, "service": "compute", "zone": "nova" });
    let rows: Vec<Value> = HOSTS.iter().map(row).collect();
    Reply::ok(json!({ "hosts": rows }))
}

/// The address of a console.
pub(super) fn remote_console(turn: &mut Turn<'_>, server: &Obj) -> Reply {
    let wish = turn.body["remote_console"].clone();
    let url = format!(
        "{}/console/{}?token={}",
        turn.ask.base,
        text(server, "id"),
        turn.world.random.hex(32)
    );
    let console = json!({ "protocol": wish["protocol"], "type": wish["type"], "url": url });
    Reply::ok(json!({ "remote_console": console }))
}
