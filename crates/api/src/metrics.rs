//! Metrics of the requests that the APIs answer, for Prometheus.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::time::Duration;

/// The upper bounds of the latency buckets, in seconds.
const BUCKETS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];

/// The methods that have a label of their own: a client that makes up methods does not make up time series.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    status: u16,
}

/// The counters of requests.
#[derive(Clone, Debug)]
pub struct Metrics {
    requests: Family<RequestLabels, Counter>,
    seconds: Histogram,
}

impl Metrics {
    /// Counts a request that was answered.
    pub fn count(&self, method: &str, status: u16, took: Duration) {
        let method = METHODS.into_iter().find(|known| *known == method).unwrap_or("other");
        self.requests.get_or_create(&RequestLabels { method, status }).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    /// Adds the counters to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("kiln_http_requests", "Requests answered", self.requests.clone());
        let help = "How long requests took";
        registry.register("kiln_http_request_seconds", help, self.seconds.clone());
    }
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics { requests: Family::default(), seconds: Histogram::new(BUCKETS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;

    #[test]
    fn requests_are_counted_by_method_and_status() {
        let (metrics, mut registry) = (Metrics::default(), Registry::default());
        metrics.register(&mut registry);
        for method in ["GET", "GET", "BREW"] {
            metrics.count(method, 200, Duration::from_millis(2));
        }
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "kiln_http_requests_total{method=\"GET\",status=\"200\"} 2",
            "kiln_http_requests_total{method=\"other\",status=\"200\"} 1",
            "kiln_http_request_seconds_bucket{le=\"0.001\"} 0",
            "kiln_http_request_seconds_bucket{le=\"0.0025\"} 3",
            "kiln_http_request_seconds_count 3",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
