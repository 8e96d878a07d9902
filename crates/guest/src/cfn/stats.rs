//! cfn-push-stats: reports the utilization of the machine to the CloudWatch API.

use super::{api, haproxy, metadata, signal};
use crate::files;
use crate::host::Host;
use crate::options::{Args, Flag, switch, value};
use std::path::Path;

pub(crate) const FLAGS: &[Flag] = &[
    value("watch", None, "The name of the alarm."),
    value("credential-file", None, "The file with the access key and secret."),
    switch("verbose", Some('v'), "Accepted for compatibility and ignored."),
    value("memory-units", None, "bytes, kilobytes, megabytes or gigabytes."),
    value("disk-units", None, "bytes, kilobytes, megabytes or gigabytes."),
    value("disk-path", None, "The directory whose file system is measured."),
    switch("mem-util", None, "Memory utilization, in percent."),
    switch("mem-used", None, "Used memory."),
    switch("mem-avail", None, "Available memory."),
    switch("swap-util", None, "Swap utilization, in percent."),
    switch("swap-used", None, "Used swap space."),
    switch("disk-space-util", None, "Disk utilization, in percent."),
    switch("disk-space-used", None, "Used disk space."),
    switch("disk-space-avail", None, "Available disk space."),
    switch("cpu-util", None, "CPU utilization, in percent."),
    switch("service-failure", None, "Report a service failure."),
    switch("heartbeat", None, "Report a heartbeat."),
    switch("haproxy", None, "Report only the statistics of HAProxy."),
    switch("haproxy-latency", None, "Report only the latency of HAProxy's servers."),
    value("metric", None, "The name of a custom metric."),
    value("units", None, "The unit of the custom metric."),
    value("value", None, "The value of the custom metric."),
];

/// A metric: name, unit, value.
pub(super) type Figure = (String, String, f64);

/// The default file with the key.
const KEY: &str = "/etc/cfn/cfn-credentials";

pub(crate) fn main(host: &Host, args: &Args) -> i32 {
    let path = args.get("credential-file").unwrap_or(KEY);
    // Images run this every minute, even if no stack collects metrics.
    let Some(key) = metadata::key_in(host, path) else {
        host.warn(format!("metrics are not reported: no access key in {path}"));
        return 0;
    };
    let url = match api::cloudwatch(host) {
        Ok(url) => url,
        Err(error) => {
            host.warn(format!("metrics are not reported: {error}"));
            return 0;
        }
    };
    let figures = if args.has("haproxy") || args.has("haproxy-latency") {
        haproxy::figures(host, !args.has("haproxy")).map(|all| ("AWS/ELB", all))
    } else {
        Ok(("system/linux", figures(host, args)))
    };
    let report = figures.map(|(space, figures)| {
        report(space, &figures, &signal::server_id(host), args.get("watch"))
    });
    let outcome = report.and_then(|report| {
        let report: Vec<(&str, &str)> = report.iter().map(|(name, it)| (&**name, &**it)).collect();
        api::call(host, &url, &key, "monitoring", &report)
    });
    match outcome {
        Ok(_) => 0,
        Err(error) => {
            host.error(error.to_string());
            1
        }
    }
}

/// Builds the parameters of a report: every metric has the dimensions of the server and, if one is named, of the
/// alarm.
fn report(
    namespace: &str,
    figures: &[Figure],
    server: &str,
    alarm: Option<&str>,
) -> Vec<(String, String)> {
    let mut report: Vec<(String, String)> =
        [("Action", "PutMetricData"), ("ContentType", "JSON"), ("Namespace", namespace)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
    let dimensions = [Some(("InstanceId", server)), alarm.map(|alarm| ("AlarmName", alarm))];
    for (number, (name, unit, value)) in (1..).zip(figures) {
        let figure = format!("MetricData.member.{number}");
        report.push((format!("{figure}.MetricName"), name.clone()));
        report.push((format!("{figure}.Unit"), unit.clone()));
        report.push((format!("{figure}.Value"), value.to_string()));
        for (number, (name, value)) in (1..).zip(dimensions.into_iter().flatten()) {
            let dimension = format!("{figure}.Dimensions.member.{number}");
            report.push((format!("{dimension}.Name"), name.to_owned()));
            report.push((format!("{dimension}.Value"), value.to_owned()));
        }
    }
    report
}

fn figures(host: &Host, args: &Args) -> Vec<Figure> {
    let mut all: Vec<Figure> = Vec::new();
    let memory = files::text(Path::new("/proc/meminfo")).unwrap_or_default();
    let bytes_of = |name: &str| memory_of(&memory, name);
    let (total, swap) = (bytes_of("MemTotal"), bytes_of("SwapTotal"));
    let available = bytes_of("MemAvailable").max(bytes_of("MemFree"));
    let (used, swap_used) = (total - available, swap - bytes_of("SwapFree"));
    let memory_unit = unit(args.get("memory-units"));
    let mut add = |flag: &str, name: &str, unit: &str, value: f64| {
        if args.has(flag) {
            all.push((name.to_owned(), unit.to_owned(), value));
        }
    };
    add("mem-util", "MemoryUtilization", "Percent", percent(used, total));
    add("mem-used", "MemoryUsed", memory_unit.0, used / memory_unit.1);
    add("mem-avail", "MemoryAvailable", memory_unit.0, available / memory_unit.1);
    add("swap-util", "SwapUtilization", "Percent", percent(swap_used, swap));
    add("swap-used", "SwapUsed", memory_unit.0, swap_used / memory_unit.1);
    let path = host.path(args.get("disk-path").unwrap_or("/"));
    if let Ok(disk) = rustix::fs::statvfs(&path) {
        let bytes = |blocks: u64| blocks as f64 * disk.f_frsize as f64;
        let (total, free) = (bytes(disk.f_blocks), bytes(disk.f_bavail));
        let disk_unit = unit(args.get("disk-units"));
        add("disk-space-util", "DiskSpaceUtilization", "Percent", percent(total - free, total));
        add("disk-space-used", "DiskSpaceUsed", disk_unit.0, (total - free) / disk_unit.1);
        add("disk-space-avail", "DiskSpaceAvailable", disk_unit.0, free / disk_unit.1);
    }
    if args.has("cpu-util") {
        add("cpu-util", "CPUUtilization", "Percent", processors());
    }
    add("service-failure", "ServiceFailure", "Counter", 1.0);
    add("heartbeat", "Heartbeat", "Counter", 1.0);
    if let (Some(name), Some(value)) = (args.get("metric"), args.get("value")) {
        let value = value.parse().unwrap_or(0.0);
        all.push((name.to_owned(), args.get("units").unwrap_or("Count").to_owned(), value));
    }
    all
}

/// Returns a value of `/proc/meminfo` in bytes.
fn memory_of(list: &str, name: &str) -> f64 {
    let mut lines = list.lines().filter_map(|line| line.split_once(':'));
    let found = lines.find(|(known, _)| *known == name);
    let kilobytes = found.and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) * 1024.0
}

fn percent(part: f64, total: f64) -> f64 {
    if total > 0.0 { 100.0 * part / total } else { 0.0 }
}

fn unit(name: Option<&str>) -> (&'static str, f64) {
    match name {
        Some("bytes") => ("Bytes", 1.0),
        Some("kilobytes") => ("Kilobytes", 1024.0),
        Some("gigabytes") => ("Gigabytes", 1024.0 * 1024.0 * 1024.0),
        _ => ("Megabytes", 1024.0 * 1024.0),
    }
}

/// Measures the CPU utilization over one second.
fn processors() -> f64 {
    let sample = || {
        let text = files::text(Path::new("/proc/stat")).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default().to_owned();
        let numbers: Vec<f64> = line.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        let idle: f64 = numbers.iter().skip(3).take(2).sum();
        (numbers.iter().sum::<f64>(), idle)
    };
    let before = sample();
    std::thread::sleep(std::time::Duration::from_secs(1));
    let after = sample();
    let total = after.0 - before.0;
    percent(total - (after.1 - before.1), total)
}
