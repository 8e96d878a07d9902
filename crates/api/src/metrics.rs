//! What is counted of requests, in the form that Prometheus reads.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The upper bounds of the buckets of durations, in seconds.
const BUCKETS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];

/// What was counted.
#[derive(Debug, Default)]
pub struct Metrics {
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    requests: BTreeMap<(String, u16), u64>,
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum: f64,
}

impl Metrics {
    /// Counts a request.
    pub fn count(&self, method: &str, status: u16, took: Duration) {
        // Whoever makes up methods does not make up rows.
        let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"];
        let method = if known.contains(&method) { method } else { "other" };
        let seconds = took.as_secs_f64();
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted.requests.entry((method.to_owned(), status)).or_default() += 1;
        counted.count += 1;
        counted.sum += seconds;
        for (at, bound) in BUCKETS.iter().enumerate() {
            if seconds <= *bound {
                counted.buckets[at] += 1;
            }
        }
    }

    /// Everything, as text.
    pub fn text(&self) -> String {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        out.push_str("# HELP kiln_http_requests_total Requests answered.\n");
        out.push_str("# TYPE kiln_http_requests_total counter\n");
        for ((method, status), count) in &counted.requests {
            _ = writeln!(
                out,
                "kiln_http_requests_total{{method=\"{method}\",status=\"{status}\"}} {count}"
            );
        }
        out.push_str("# HELP kiln_http_request_seconds How long requests took.\n");
        out.push_str("# TYPE kiln_http_request_seconds histogram\n");
        for (bound, count) in BUCKETS.iter().zip(counted.buckets) {
            _ = writeln!(out, "kiln_http_request_seconds_bucket{{le=\"{bound}\"}} {count}");
        }
        let (count, sum) = (counted.count, counted.sum);
        _ = writeln!(out, "kiln_http_request_seconds_bucket{{le=\"+Inf\"}} {count}");
        _ = writeln!(out, "kiln_http_request_seconds_sum {sum}");
        _ = writeln!(out, "kiln_http_request_seconds_count {count}");
        out
    }
}
