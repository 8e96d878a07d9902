//! Metrics of the calls to a cloud, for Prometheus.

use crate::{CallError, Method, Reply, Service};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::sync::LazyLock;
use std::time::Duration;

/// The upper bounds of the latency buckets, in seconds.
const BUCKETS: [f64; 10] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0, 60.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    service: &'static str,
    method: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ServiceLabels {
    service: &'static str,
}

type ByService<M> = Family<ServiceLabels, M>;

struct Metrics {
    calls: Family<CallLabels, Counter>,
    seconds: Family<ServiceLabels, Histogram, fn() -> Histogram>,
    waiting: ByService<Gauge>,
    down: ByService<Gauge>,
    retries: ByService<Counter>,
    lost: ByService<Counter>,
}

static METRICS: LazyLock<Metrics> = LazyLock::new(|| Metrics {
    calls: Family::default(),
    seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
    waiting: Family::default(),
    down: Family::default(),
    retries: Family::default(),
    lost: Family::default(),
});

/// Adds the metrics of all calls of this process to a registry.
pub fn register(registry: &mut Registry) {
    let metrics = &*METRICS;
    registry.register("kiln_cloud_calls", "Calls to the cloud", metrics.calls.clone());
    let help = "How long calls to the cloud took";
    registry.register("kiln_cloud_call_seconds", help, metrics.seconds.clone());
    let help = "Calls that wait because the limit of calls in flight is reached";
    registry.register("kiln_cloud_calls_waiting", help, metrics.waiting.clone());
    let help = "Whether a service is down, so that one call at a time is tried";
    registry.register("kiln_cloud_service_down", help, metrics.down.clone());
    let help = "Calls that were made again after a new login";
    registry.register("kiln_cloud_retries", help, metrics.retries.clone());
    let help = "Calls that were sent and got no reply";
    registry.register("kiln_cloud_lost_replies", help, metrics.lost.clone());
}

fn labels(service: Service) -> ServiceLabels {
    ServiceLabels { service: service.catalogue_type() }
}

/// Counts a call that has ended.
pub(crate) fn count_call(
    service: Service,
    method: Method,
    reply: &Result<Reply, CallError>,
    took: Duration,
) {
    let status = status_class(reply);
    let call = CallLabels { service: service.catalogue_type(), method: method.name(), status };
    METRICS.calls.get_or_create(&call).inc();
    METRICS.seconds.get_or_create(&labels(service)).observe(took.as_secs_f64());
    if let Err(CallError::Lost(_)) = reply {
        METRICS.lost.get_or_create(&labels(service)).inc();
    }
}

/// Counts a call that is made again.
pub(crate) fn count_retry(service: Service) {
    METRICS.retries.get_or_create(&labels(service)).inc();
}

/// Shows whether a service is down.
pub(crate) fn set_down(service: Service, is_down: bool) {
    METRICS.down.get_or_create(&labels(service)).set(is_down.into());
}

fn status_class(reply: &Result<Reply, CallError>) -> &'static str {
    match reply {
        Ok(reply) | Err(CallError::Refused(reply)) => match reply.status {
            ..200 => "1xx",
            200..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            500.. => "5xx",
        },
        Err(
            CallError::NotSent(_)
            | CallError::Impossible(_)
            | CallError::Down(_)
            | CallError::Fenced,
        ) => "not_sent",
        Err(CallError::Lost(_)) => "lost",
    }
}

/// Counts a call as waiting until it is dropped.
pub(crate) struct Waiting(Service);

impl Waiting {
    pub(crate) fn new(service: Service) -> Waiting {
        METRICS.waiting.get_or_create(&labels(service)).inc();
        Waiting(service)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        METRICS.waiting.get_or_create(&labels(self.0)).dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;
    use serde_json::Value;

    #[test]
    fn calls_are_counted_by_service_method_and_status() {
        let lost = Err(CallError::Lost("the connection broke".into()));
        let refused = Err(CallError::Refused(Reply::new(503, Value::Null)));
        let took = Duration::from_millis(3);
        for reply in [Ok(Reply::new(200, Value::Null)), lost, refused] {
            count_call(Service::Workflow, Method::Get, &reply, took);
        }
        let waiting = Waiting::new(Service::Workflow);
        let mut registry = Registry::default();
        register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "kiln_cloud_calls_total{service=\"workflowv2\",method=\"GET\",status=\"2xx\"} 1",
            "kiln_cloud_calls_total{service=\"workflowv2\",method=\"GET\",status=\"lost\"} 1",
            "kiln_cloud_calls_total{service=\"workflowv2\",method=\"GET\",status=\"5xx\"} 1",
            "kiln_cloud_lost_replies_total{service=\"workflowv2\"} 1",
            "kiln_cloud_calls_waiting{service=\"workflowv2\"} 1",
            "kiln_cloud_call_seconds_count{service=\"workflowv2\"} 3",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        drop(waiting);
    }
}
