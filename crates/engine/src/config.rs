//! What an operator decides about the engine, with the defaults of the reference.

use crate::alarms::{NoWebhooks, WebhookClient};
use crate::global_environment::SharedGlobalEnvironment;
use crate::metrics::Metrics;
use crate::notification::NotificationListener;
use crate::site_mark::SiteMark;
use crate::template_cache::TemplateCache;
use crate::template_fetcher::{NoFetcher, TemplateFetcher};
use crate::wakeup::WakeupChannel;
use crate::workers::WorkPriority;
use kiln_resources::op::GuestAccess;
use kiln_resources::registry::Registry;
use kiln_template::QueryLimits;
use std::sync::Arc;
use std::time::Duration;

/// How many bytes of values a tree may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteLimits {
    /// A single value: a property, the metadata, an entry of a resource's data, an object as its service shows it, an output.
    pub value: usize,
    /// A resource.
    pub resource: usize,
    /// A root stack with its nested stacks.
    pub tree: usize,
    /// The signals that a resource keeps.
    pub signals: usize,
    /// The number of signals that a resource keeps.
    pub max_signals: usize,
}

impl ByteLimits {
    /// Limits a resource to what fits into a row of the store, with room for its encoding. Returns whether that is less than
    /// before.
    pub fn fit_into_rows(&mut self, max_row_bytes: usize) -> bool {
        let former = self.resource;
        self.resource = former.min(max_row_bytes / 4 * 3);
        self.resource < former
    }
}

impl Default for ByteLimits {
    fn default() -> ByteLimits {
        ByteLimits {
            value: 4 << 20,
            resource: 16 << 20,
            tree: 64 << 20,
            signals: 1 << 20,
            max_signals: 4096,
        }
    }
}

/// How an engine works.
#[derive(Clone, Debug)]
pub struct Config {
    /// The resource types.
    pub types: &'static Registry,
    /// What resource types mean to the operator.
    pub global: Arc<SharedGlobalEnvironment>,
    /// How those outside reach what is in stacks.
    pub outside: Arc<GuestAccess>,
    /// The region that the service is in; nothing if the operator does not say.
    pub region: Option<Arc<str>>,
    /// How long an action on a stack may take by default.
    pub action_timeout: Duration,
    /// How long running operations may go on when another one has failed.
    pub error_wait: Duration,
    /// How often a failed create or delete is retried.
    pub retries: u32,
    /// How deep stacks may be nested.
    pub max_depth: usize,
    /// How many resources a tree may have; `None` for no limit.
    pub max_resources: Option<usize>,
    /// The limits of YAQL queries.
    pub query_limits: QueryLimits,
    /// How many bytes of values a tree may keep.
    pub byte_limits: ByteLimits,
    /// The priority of threads for long work.
    pub work_priority: WorkPriority,
    /// Whether every update compares objects with their definitions.
    pub observe_on_update: bool,
    /// How long a call whose reply was lost may still take effect.
    pub lost_call_window: Duration,
    /// For how long a service of the cloud that is down is waited for; no longer than the action may take.
    pub ride_out: Duration,
    /// How many events of a stack are kept; `None` for all.
    pub max_events: Option<u64>,
    /// How many bytes the events of a tree may have, roughly.
    pub max_event_bytes: u64,
    /// How long the records of a deleted stack are kept; `None` means for ever.
    pub deleted_stack_retention: Option<Duration>,
    /// How often the store is scanned for alarms that are due.
    pub alarm_scan_interval: Duration,
    /// How long samples of metrics are kept: at least as long as any alarm looks back.
    pub metric_retention: Duration,
    /// How long the history of alarms is kept.
    pub alarm_history_retention: Duration,
    /// How many rows a step may change before they are stored: the rest of its work waits until then, so that a
    /// step takes a bounded time and memory however large a tree is.
    pub max_changes_per_step: usize,
    /// Sends the webhooks of alarms.
    pub webhook_client: Arc<dyn WebhookClient>,
    /// Fetches templates that requests name by URL.
    pub template_fetcher: Arc<dyn TemplateFetcher>,
    /// Takes notifications about stacks, once they are durable; without a listener none are made.
    pub listener: Option<Arc<dyn NotificationListener>>,
    /// The channel to other processes on the same store: clones of a configuration share it.
    pub wakeups: WakeupChannel,
    /// Texts that were read lately: clones of a configuration share them.
    pub template_cache: Arc<TemplateCache>,
    /// The mark of the site in the names of its objects.
    pub site_mark: SiteMark,
    /// The metrics of the engine and of the services: clones of a configuration count together.
    pub metrics: Arc<Metrics>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            types: Registry::builtin(),
            global: Arc::default(),
            outside: Arc::default(),
            region: None,
            action_timeout: Duration::from_secs(3600),
            error_wait: Duration::from_secs(240),
            retries: 5,
            max_depth: 5,
            max_resources: Some(1000),
            query_limits: QueryLimits::default(),
            byte_limits: ByteLimits::default(),
            work_priority: WorkPriority::default(),
            observe_on_update: false,
            lost_call_window: Duration::from_secs(30),
            ride_out: Duration::from_secs(15 * 60),
            max_events: Some(1000),
            max_event_bytes: 64 << 20,
            deleted_stack_retention: Some(Duration::from_secs(90 * 86_400)),
            alarm_scan_interval: Duration::from_secs(60),
            metric_retention: Duration::from_secs(2 * 86_400),
            alarm_history_retention: Duration::from_secs(30 * 86_400),
            max_changes_per_step: 10_000,
            webhook_client: Arc::new(NoWebhooks),
            template_fetcher: Arc::new(NoFetcher),
            listener: None,
            wakeups: WakeupChannel::default(),
            template_cache: Arc::default(),
            site_mark: SiteMark::default(),
            metrics: Arc::default(),
        }
    }
}

impl Config {
    /// Whether a region is the one that the service is in. If that is not known, any is.
    pub(crate) fn is_own_region(&self, region: &str) -> bool {
        self.region.as_deref().is_none_or(|own| own == region)
    }
}
