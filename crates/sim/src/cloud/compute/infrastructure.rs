//! Limits, quotas, hosts, availability zones and consoles.

use serde_json::{Map, Value, json};

use super::super::request::{Answer, Reply, RequestContext, object, text};
use super::super::table::Obj;
use super::dialect::fault;
use super::{HOSTS, QUOTAS, SERVERS, limit, usage};

pub(super) fn serve(ctx: &mut RequestContext<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    Some(match (method, path) {
        ("GET", ["limits"]) => Ok(limits(ctx)),
        ("GET", ["extensions"]) => Ok(Reply::ok(json!({ "extensions": [] }))),
        (_, ["os-quota-sets", project, rest @ ..]) => quotas(ctx, method, project, rest),
        ("GET", ["os-availability-zone"]) => Ok(Reply::ok(zones(false))),
        ("GET", ["os-availability-zone", "detail"]) => Ok(Reply::ok(zones(true))),
        ("GET", ["os-hypervisors"]) => admin(ctx).map(|()| hypervisors(ctx, false)),
        ("GET", ["os-hypervisors", "detail"]) => admin(ctx).map(|()| hypervisors(ctx, true)),
        ("GET", ["os-hypervisors", "statistics"]) => admin(ctx)
            .map(|()| Reply::ok(json!({ "hypervisor_statistics": { "count": HOSTS.len() } }))),
        ("GET", ["os-services"]) => admin(ctx).map(|()| services(ctx)),
        ("GET", ["os-hosts"]) => admin(ctx).map(|()| hosts()),
        ("GET", ["os-tenant-networks" | "os-networks" | "os-floating-ips" | "images", ..]) => {
            Err(fault(404, "The resource could not be found."))
        }
        _ => return None,
    })
}

fn admin(ctx: &RequestContext<'_>) -> Result<(), super::Refusal> {
    if ctx.caller.is_admin {
        return Ok(());
    }
    Err(fault(403, "Policy doesn't allow os_compute_api:os-hypervisors:list to be performed."))
}

fn limits(ctx: &RequestContext<'_>) -> Reply {
    let project = ctx
        .request
        .query("tenant_id")
        .filter(|_| ctx.caller.is_admin)
        .unwrap_or(&ctx.caller.project);
    let collection = |name: &str| limit(ctx.state, project, name);
    let used = usage(ctx.state, project);
    let absolute = json!({
        "maxTotalInstances": collection("instances"), "maxTotalCores": collection("cores"), "maxTotalRAMSize": collection("ram"),
        "maxServerMeta": collection("metadata_items"), "maxTotalKeypairs": collection("key_pairs"),
        "maxServerGroups": collection("server_groups"), "maxServerGroupMembers": collection("server_group_members"),
        "maxPersonality": 5, "maxPersonalitySize": 10_240, "maxImageMeta": 128,
        "maxSecurityGroups": -1, "maxSecurityGroupRules": -1, "maxTotalFloatingIps": -1,
        "totalInstancesUsed": used.0, "totalCoresUsed": used.1, "totalRAMUsed": used.2,
        "totalSecurityGroupsUsed": 0, "totalFloatingIpsUsed": 0, "totalServerGroupsUsed": 0,
    });
    Reply::ok(json!({ "limits": { "rate": [], "absolute": absolute } }))
}

fn quotas(ctx: &mut RequestContext<'_>, method: &str, project: &str, rest: &[&str]) -> Answer {
    let forbidden =
        || fault(403, "Policy doesn't allow os_compute_api:os-quota-sets:update to be performed.");
    if project != ctx.caller.project && !ctx.caller.is_admin {
        return Err(forbidden());
    }
    match method {
        "GET" => {}
        "PUT" if ctx.caller.is_admin => {
            let sent = object(ctx.body["quota_set"].clone());
            for (name, value) in &sent {
                if name == "force" || name == "tenant_id" {
                    continue;
                }
                if !QUOTAS.iter().any(|(own, _)| own == name) {
                    return Err(super::super::microversioned::unknown("quota_set", &[name], &sent));
                }
                let limit = value.as_i64().or_else(|| value.as_str()?.parse().ok());
                let Some(limit) = limit.filter(|limit| *limit >= -1) else {
                    return Err(super::super::microversioned::wrong(
                        name,
                        value,
                        "It is not a whole number from -1.",
                    ));
                };
                let used = usage(ctx.state, project);
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
                ctx.state.set_quota("compute", project, name, limit);
            }
        }
        "DELETE" if ctx.caller.is_admin => {
            ctx.state.reset_quota("compute", project);
            return Ok(Reply::empty(202));
        }
        _ => return Err(forbidden()),
    }
    let used = usage(ctx.state, project);
    let mut rendered = Map::new();
    for (name, usual) in QUOTAS {
        let value = match rest {
            ["defaults"] => json!(ctx.state.default_quota.unwrap_or(*usual)),
            ["detail"] => {
                let used = match *name {
                    "instances" => used.0,
                    "cores" => used.1,
                    "ram" => used.2,
                    _ => 0,
                };
                json!({ "limit": limit(ctx.state, project, name), "in_use": used, "reserved": 0 })
            }
            _ => json!(limit(ctx.state, project, name)),
        };
        rendered.insert((*name).to_owned(), value);
    }
    if method == "GET" {
        rendered.insert("id".to_owned(), json!(project));
    }
    Ok(Reply::ok(json!({ "quota_set": rendered })))
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

fn hypervisors(ctx: &RequestContext<'_>, detailed: bool) -> Reply {
    let rows: Vec<Value> = HOSTS
        .iter()
        .enumerate()
        .map(|(at, host)| {
            let mut row = json!({ "id": at + 1, "hypervisor_hostname": host, "state": "up", "status": "enabled" });
            if detailed {
                let on = |server: &&Obj| text(server, "OS-EXT-SRV-ATTR:host") == *host;
                let running = ctx.state.table(SERVERS).iter().filter(on).count();
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

fn services(ctx: &RequestContext<'_>) -> Reply {
    let row = |binary: &str, host: &str, at: usize| {
        json!({
            "id": at + 1, "binary": binary, "host": host, "zone": if binary == "nova-compute" { "nova" } else { "internal" },
            "status": "enabled", "state": "up", "updated_at": ctx.state.timestamp_micros(), "disabled_reason": null,
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

/// Returns the URL of a console.
pub(super) fn remote_console(ctx: &mut RequestContext<'_>, server: &Obj) -> Reply {
    let wanted = ctx.body["remote_console"].clone();
    let url = format!(
        "{}/console/{}?token={}",
        ctx.request.base,
        text(server, "id"),
        ctx.state.random.hex(32)
    );
    let console = json!({ "protocol": wanted["protocol"], "type": wanted["type"], "url": url });
    Reply::ok(json!({ "remote_console": console }))
}
