//! The broker of notifications and wake-ups.

use super::finding::Finding;
use crate::config::Settings;
use kiln_bus::BusConfig;

/// The findings about the broker: one for each of its nodes.
pub(super) async fn check(settings: &Settings) -> Vec<Finding> {
    let sends = |bus: &&BusConfig| {
        bus.drivers.iter().any(|it| matches!(it, kiln_bus::Driver::Messaging { .. }))
    };
    let notifications = settings.notifications.as_ref().filter(sends);
    let Some(config) = settings.broker.as_ref().or(notifications) else {
        return vec![Finding::skipped("broker", "none is configured; notifications are not sent")];
    };
    let mut findings = Vec::new();
    for host in &config.address.hosts {
        findings.push(match kiln_bus::check_connection(config, host).await {
            Ok(()) => Finding::ok("broker", format!("{host} accepts the login")),
            Err(why) => Finding::warning(
                "broker",
                format!("{host} cannot be used: {why}"),
                "start it, or correct [DEFAULT] transport_url; until then notifications wait, and processes poll the \
                 database",
            ),
        });
    }
    findings
}
