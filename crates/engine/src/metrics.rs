//! The engine's metrics, in the form that Prometheus reads.
//!
//! The machine counts nothing itself: it returns its `Activity`, and the driver of the tree counts that.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// One label with its value.
pub type Label = [(&'static str, &'static str); 1];

/// A counter for each value of a label.
pub type Counters = Family<Label, Counter>;

/// The metrics of the engines and services of a process. Clones count together.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Trees that this engine owns and drives.
    pub(crate) trees_owned: Gauge,
    /// Trees that could not be loaded.
    pub(crate) trees_unreadable: Counter,
    /// Leases that this engine holds, as the store reported at the last renewal.
    pub(crate) leases_held: Gauge,
    /// Trees that were given up because their lease was lost.
    pub(crate) leases_lost: Counter,
    /// Seconds by which this machine's clock is ahead of the store's.
    pub(crate) clock_difference: Gauge<f64, AtomicU64>,
    /// Operations on resources that are under way.
    pub(crate) operations_running: Gauge,
    /// Operations that were started, by `operation`.
    pub(crate) operations_started: Counters,
    /// Operations that failed, by `operation`.
    pub(crate) operations_failed: Counters,
    /// Operations that are tried again after a failure, by `operation`.
    pub(crate) operations_retried: Counters,
    /// States that cannot occur and that were met nevertheless: each failed one stack, and should be reported.
    pub bugs: Counter,
    /// Calls whose reply was lost: it is not known whether they took effect.
    pub(crate) doubts_opened: Counter,
    /// Resources of the trees in memory of which it is not certain whether an object exists.
    pub(crate) doubts_open: Gauge,
    /// Batches of trees that went into one commit.
    pub(crate) commit_batches: Histogram,
    /// Seconds that a commit took.
    pub(crate) commit_seconds: Histogram,
    /// Commits that the store refused, and that were tried again.
    pub(crate) commits_failed: Counter,
    /// Batches that the store does not accept.
    pub(crate) batches_refused: Counter,
    /// Trees that are parked: nothing is done to them for now.
    pub(crate) trees_parked: Gauge,
    /// Commands that could not be decoded.
    pub(crate) commands_unreadable: Counter,
    /// Trusts and application credentials that have yet to be revoked.
    pub(crate) delegations_to_revoke: Gauge,
    /// Webhooks of alarms that wait for their delivery.
    pub(crate) webhooks_waiting: Gauge,
    /// Deliveries of webhooks, by `outcome`: `sent`, `retried` or `failed`.
    pub webhooks: Counters,
    /// Notifications about stacks, by `outcome`: `sent` or `dropped`. The listener counts them.
    pub notifications: Counters,
    /// Calls that send events to users' queues, by `outcome`: `sent`, `failed` or `dropped`.
    pub(crate) event_sink_calls: Counters,
    /// Streams of events that clients of the API are reading.
    pub event_streams: Gauge,
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics {
            trees_owned: Gauge::default(),
            trees_unreadable: Counter::default(),
            leases_held: Gauge::default(),
            leases_lost: Counter::default(),
            clock_difference: Gauge::default(),
            operations_running: Gauge::default(),
            operations_started: Family::default(),
            operations_failed: Family::default(),
            operations_retried: Family::default(),
            bugs: Counter::default(),
            doubts_opened: Counter::default(),
            doubts_open: Gauge::default(),
            commit_batches: Histogram::new(exponential_buckets(1.0, 2.0, 11)),
            commit_seconds: Histogram::new(exponential_buckets(0.0005, 2.0, 15)),
            commits_failed: Counter::default(),
            batches_refused: Counter::default(),
            trees_parked: Gauge::default(),
            commands_unreadable: Counter::default(),
            delegations_to_revoke: Gauge::default(),
            webhooks_waiting: Gauge::default(),
            webhooks: Family::default(),
            notifications: Family::default(),
            event_sink_calls: Family::default(),
            event_streams: Gauge::default(),
        }
    }
}

impl Metrics {
    /// Adds all metrics to a registry, under names that begin with `kiln_`.
    pub fn register(&self, registry: &mut Registry) {
        self.register_trees(registry);
        self.register_operations(registry);
        self.register_messages(registry);
    }

    fn register_trees(&self, registry: &mut Registry) {
        registry.register(
            "kiln_trees_owned",
            "Trees of stacks that this engine owns and drives",
            self.trees_owned.clone(),
        );
        registry.register(
            "kiln_trees_unreadable",
            "Trees of stacks that could not be loaded",
            self.trees_unreadable.clone(),
        );
        registry.register(
            "kiln_leases_held",
            "Leases that this engine holds, at the last renewal",
            self.leases_held.clone(),
        );
        registry.register(
            "kiln_leases_lost",
            "Trees of stacks that were given up because their lease was lost",
            self.leases_lost.clone(),
        );
        registry.register(
            "kiln_clock_difference_seconds",
            "Seconds by which this machine's clock is ahead of the database's",
            self.clock_difference.clone(),
        );
        registry.register(
            "kiln_commit_batches",
            "Batches of trees in one commit",
            self.commit_batches.clone(),
        );
        registry.register(
            "kiln_commit_seconds",
            "Seconds that a commit took",
            self.commit_seconds.clone(),
        );
        registry.register(
            "kiln_commits_failed",
            "Commits that the store refused, and that were tried again",
            self.commits_failed.clone(),
        );
        registry.register(
            "kiln_batches_refused",
            "Changes of stacks that the store does not accept",
            self.batches_refused.clone(),
        );
        registry.register(
            "kiln_trees_parked",
            "Trees of stacks to which nothing is done for now: they cannot be read or written, or a defect stopped the work",
            self.trees_parked.clone(),
        );
        registry.register(
            "kiln_commands_unreadable",
            "Commands that could not be decoded",
            self.commands_unreadable.clone(),
        );
    }

    fn register_operations(&self, registry: &mut Registry) {
        registry.register(
            "kiln_operations_running",
            "Operations on resources that are under way",
            self.operations_running.clone(),
        );
        registry.register(
            "kiln_operations_started",
            "Operations on resources that were started",
            self.operations_started.clone(),
        );
        registry.register(
            "kiln_operations_failed",
            "Operations on resources that failed",
            self.operations_failed.clone(),
        );
        registry.register(
            "kiln_operations_retried",
            "Operations on resources that are tried again after a failure",
            self.operations_retried.clone(),
        );
        registry.register(
            "kiln_bugs",
            "States that cannot occur and were met nevertheless; each failed one stack and should be reported",
            self.bugs.clone(),
        );
        registry.register(
            "kiln_doubts_opened",
            "Calls whose reply was lost, so that it is not known whether they took effect",
            self.doubts_opened.clone(),
        );
        registry.register(
            "kiln_doubts_open",
            "Resources of which it is not certain whether an object exists",
            self.doubts_open.clone(),
        );
        registry.register(
            "kiln_delegations_to_revoke",
            "Trusts and application credentials that have yet to be revoked",
            self.delegations_to_revoke.clone(),
        );
    }

    fn register_messages(&self, registry: &mut Registry) {
        registry.register(
            "kiln_webhooks_waiting",
            "Webhooks of alarms that wait for their delivery",
            self.webhooks_waiting.clone(),
        );
        registry.register("kiln_webhooks", "Deliveries of webhooks", self.webhooks.clone());
        registry.register(
            "kiln_notifications",
            "Notifications about stacks",
            self.notifications.clone(),
        );
        registry.register(
            "kiln_event_sink_calls",
            "Calls that send events to the queues of users",
            self.event_sink_calls.clone(),
        );
        registry.register(
            "kiln_event_streams",
            "Streams of events that clients are reading",
            self.event_streams.clone(),
        );
    }

    /// Counts a commit.
    pub(crate) fn count_commit(&self, batches: usize, took: Duration) {
        self.commit_batches.observe(batches as f64);
        self.commit_seconds.observe(took.as_secs_f64());
    }

    /// Counts something by its outcome.
    pub fn count(counters: &Counters, outcome: &'static str, count: usize) {
        if count > 0 {
            counters.get_or_create(&[("outcome", outcome)]).inc_by(count as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_encoded_with_their_names() {
        let (metrics, mut registry) = (Metrics::default(), Registry::default());
        metrics.register(&mut registry);
        metrics.trees_owned.set(2);
        metrics.count_commit(3, Duration::from_millis(5));
        Metrics::count(&metrics.webhooks, "sent", 4);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        for line in [
            "kiln_trees_owned 2",
            "kiln_commit_batches_count 1",
            "kiln_webhooks_total{outcome=\"sent\"} 4",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}
