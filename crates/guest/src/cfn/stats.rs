//! cfn-push-stats: how much of the machine is in use, reported to the CloudWatch API.

use super::{api, haproxy, metadata, signal};
use crate::files;
use crate::host::Host;
use crate::options::{Flag, Given, switch, value};
use std::path::Path;

pub(crate) const FLAGS: &[Flag] = &[
    value("watch", None, "The name of the alarm."),
    value("credential-file", None, "The file with the key to sign with."),
    switch("verbose", Some('v'), "Taken and not needed."),
    value("memory-units", None, "bytes, kilobytes, megabytes or gigabytes."),
    value("disk-units", None, "bytes, kilobytes, megabytes or gigabytes."),
    value("disk-path", None, "The folder whose disk is looked at."),
    switch("mem-util", None, "Memory in use, in percent."),
    switch("mem-used", None, "Memory in use."),
    switch("mem-avail", None, "Memory that is free."),
    switch("swap-util", None, "Swap space in use, in percent."),
    switch("swap-used", None, "Swap space in use."),
    switch("disk-space-util", None, "Disk space in use, in percent."),
    switch("disk-space-used", None, "Disk space in use."),
    switch("disk-space-avail", None, "Disk space that is free."),
    switch("cpu-util", None, "Processors in use, in percent."),
    switch("service-failure", None, "Something failed."),
    switch("heartbeat", None, "A sign of life."),
    switch("haproxy", None, "What HAProxy tells of itself, and nothing else."),
    switch("haproxy-latency", None, "How long the servers of HAProxy take, and nothing else."),
    value("metric", None, "The name of a figure of one's own."),
    value("units", None, "What it is counted in."),
    value("value", None, "The figure."),
];

/// A figure: name, unit, value.
pub(super) type Figure = (String, String, f64);

/// Where the key is, if nothing else is said.
const KEY: &str = "/etc/cfn/cfn-credentials";

pub(crate) fn main(host: &Host, given: &Given) -> i32 {
    let path = given.get("credential-file").unwrap_or(KEY);
    // Images call this every minute, whether there is somebody to tell or not.
    let Some(key) = metadata::key_in(host, path) else {
        host.warn(format!("nobody is told: there is no key in {path}"));
        return 0;
    };
    let url = match api::cloudwatch(host) {
        Ok(url) => url,
        Err(problem) => {
            host.warn(format!("nobody is told: {problem}"));
            return 0;
        }
    };
    let figures = if given.has("haproxy") || given.has("haproxy-latency") {
        haproxy::figures(host, !given.has("haproxy")).map(|all| ("AWS/ELB", all))
    } else {
        Ok(("system/linux", figures(host, given)))
    };
    let report = figures
        .map(|(space, figures)| report(space, &figures, &signal::who(host), given.get("watch")));
    let told = report.and_then(|report| {
        let report: Vec<(&str, &str)> = report.iter().map(|(name, it)| (&**name, &**it)).collect();
        api::call(host, &url, &key, "monitoring", &report)
    });
    match told {
        Ok(_) => 0,
        Err(problem) => {
            host.error(problem.to_string());
            1
        }
    }
}

/// The parameters of a report: every figure is of a server, and for an alarm if one is named.
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

fn figures(host: &Host, given: &Given) -> Vec<Figure> {
    let mut all: Vec<Figure> = Vec::new();
    let memory = files::text(Path::new("/proc/meminfo")).unwrap_or_default();
    let of = |name: &str| memory_of(&memory, name);
    let (total, swap) = (of("MemTotal"), of("SwapTotal"));
    let available = of("MemAvailable").max(of("MemFree"));
    let (used, swap_used) = (total - available, swap - of("SwapFree"));
    let memory_unit = unit(given.get("memory-units"));
    let mut add = |flag: &str, name: &str, unit: &str, value: f64| {
        if given.has(flag) {
            all.push((name.to_owned(), unit.to_owned(), value));
        }
    };
    add("mem-util", "MemoryUtilization", "Percent", percent(used, total));
    add("mem-used", "MemoryUsed", memory_unit.0, used / memory_unit.1);
    add("mem-avail", "MemoryAvailable", memory_unit.0, available / memory_unit.1);
    add("swap-util", "SwapUtilization", "Percent", percent(swap_used, swap));
    add("swap-used", "SwapUsed", memory_unit.0, swap_used / memory_unit.1);
    let path = host.path(given.get("disk-path").unwrap_or("/"));
    if let Ok(disk) = rustix::fs::statvfs(&path) {
        let bytes = |blocks: u64| blocks as f64 * disk.f_frsize as f64;
        let (total, free) = (bytes(disk.f_blocks), bytes(disk.f_bavail));
        let disk_unit = unit(given.get("disk-units"));
        add("disk-space-util", "DiskSpaceUtilization", "Percent", percent(total - free, total));
        add("disk-space-used", "DiskSpaceUsed", disk_unit.0, (total - free) / disk_unit.1);
        add("disk-space-avail", "DiskSpaceAvailable", disk_unit.0, free / disk_unit.1);
    }
    if given.has("cpu-util") {
        add("cpu-util", "CPUUtilization", "Percent", processors());
    }
    add("service-failure", "ServiceFailure", "Counter", 1.0);
    add("heartbeat", "Heartbeat", "Counter", 1.0);
    if let (Some(name), Some(value)) = (given.get("metric"), given.get("value")) {
        let value = value.parse().unwrap_or(0.0);
        all.push((name.to_owned(), given.get("units").unwrap_or("Count").to_owned(), value));
    }
    all
}

/// A figure of the list of memory, in bytes.
fn memory_of(list: &str, name: &str) -> f64 {
    let mut lines = list.lines().filter_map(|line| line.split_once(':'));
    let found = lines.find(|(known, _)| *known == name);
    let kilobytes = found.and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) * 1024.0
}

fn percent(part: f64, of: f64) -> f64 {
    if of > 0.0 { 100.0 * part / of } else { 0.0 }
}

fn unit(name: Option<&str>) -> (&'static str, f64) {
    match name {
        Some("bytes") => ("Bytes", 1.0),
        Some("kilobytes") => ("Kilobytes", 1024.0),
        Some("gigabytes") => ("Gigabytes", 1024.0 * 1024.0 * 1024.0),
        _ => ("Megabytes", 1024.0 * 1024.0),
    }
}

/// How much of a second the processors work.
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
