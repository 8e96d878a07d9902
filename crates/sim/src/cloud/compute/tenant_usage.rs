//! What projects used of the cloud, which the first page of the dashboard shows.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::request::{Answer, Reply, RequestContext, text};
use super::super::state::format_time;
use super::SERVERS;
use super::dialect::fault;

pub(super) fn serve(ctx: &mut RequestContext<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    match (method, path) {
        ("GET", ["os-simple-tenant-usage"]) => Some(all(ctx)),
        ("GET", ["os-simple-tenant-usage", project]) => Some(one(ctx, project)),
        _ => None,
    }
}

/// The usage of one project; an empty object if it has used nothing.
fn one(ctx: &RequestContext<'_>, project: &str) -> Answer {
    if project != ctx.caller.project && !ctx.caller.is_admin {
        return Err(forbidden("show"));
    }
    let usage = usage(ctx, project, true).unwrap_or_else(|| json!({}));
    Ok(Reply::ok(json!({ "tenant_usage": usage })))
}

fn all(ctx: &RequestContext<'_>) -> Answer {
    if !ctx.caller.is_admin {
        return Err(forbidden("list"));
    }
    let detailed = ctx.request.query("detailed") == Some("1");
    let servers = ctx.state.table(SERVERS).iter();
    let mut projects: Vec<String> =
        servers.map(|server| text(server, "project_id").to_owned()).collect();
    projects.sort();
    projects.dedup();
    let usages = projects.iter().filter_map(|project| usage(ctx, project, detailed));
    Ok(Reply::ok(json!({ "tenant_usages": usages.collect::<Vec<_>>() })))
}

fn forbidden(action: &str) -> super::Refusal {
    let rule = format!("os_compute_api:os-simple-tenant-usage:{action}");
    fault(403, format!("Policy doesn't allow {rule} to be performed."))
}

/// The usage of a project until now: hours, and hours times cores, memory and disk.
fn usage(ctx: &RequestContext<'_>, project: &str, detailed: bool) -> Option<Value> {
    let servers = ctx.state.table(SERVERS).with("project_id", project);
    if servers.is_empty() {
        return None;
    }
    let (mut hours, mut cores, mut memory, mut disk) = (0.0, 0.0, 0.0, 0.0);
    let mut details = Vec::new();
    for server in servers {
        let started: Timestamp = text(server, "created").parse().unwrap_or_default();
        let seconds = (ctx.state.now - started.as_microsecond()).max(0) / 1_000_000;
        let own = seconds as f64 / 3600.0;
        let size = |name: &str| server["_flavor"][name].as_i64().unwrap_or_default();
        hours += own;
        cores += own * size("vcpus") as f64;
        memory += own * size("ram") as f64;
        disk += own * size("disk") as f64;
        details.push(json!({
            "hours": own, "flavor": server["_flavor"]["name"], "instance_id": server["id"], "name": server["name"],
            "tenant_id": project, "memory_mb": size("ram"), "local_gb": size("disk"), "vcpus": size("vcpus"),
            "started_at": format_time(started.as_microsecond(), "%Y-%m-%dT%H:%M:%S.%6f"), "ended_at": null,
            "state": text(server, "status").to_lowercase(), "uptime": seconds,
        }));
    }
    let time = |name: &str| ctx.request.query(name).map(str::to_owned);
    let mut usage = json!({
        "tenant_id": project, "total_hours": hours, "total_vcpus_usage": cores, "total_memory_mb_usage": memory,
        "total_local_gb_usage": disk, "start": time("start"),
        "stop": time("end").unwrap_or_else(|| ctx.state.timestamp_micros()),
    });
    if detailed {
        usage["server_usages"] = details.into();
    }
    Some(usage)
}
