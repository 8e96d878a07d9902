//! A limit on the requests of each project.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Instant;

/// How many projects are remembered; those without a request in the last second are dropped first.
const MAX_PROJECTS: usize = 10_000;

/// A token bucket for each project: this many requests a second, and as many at once.
#[derive(Debug)]
pub struct RateLimit {
    per_second: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    since: Instant,
}

impl RateLimit {
    /// A limit of this many requests a second.
    pub fn new(per_second: u32) -> RateLimit {
        RateLimit { per_second: f64::from(per_second.max(1)), buckets: Mutex::default() }
    }

    /// Takes a token for a request of a project; false if there is none left.
    pub fn allows(&self, project: &str, now: Instant) -> bool {
        let mut buckets = self.buckets.lock();
        if buckets.len() >= MAX_PROJECTS && !buckets.contains_key(project) {
            // After a second without requests a bucket is full, like that of an unknown project.
            buckets.retain(|_, bucket| now.duration_since(bucket.since).as_secs_f64() < 1.0);
        }
        let full = Bucket { left: self.per_second, since: now };
        let bucket = buckets.entry(project.to_owned()).or_insert(full);
        let passed = now.duration_since(bucket.since).as_secs_f64();
        bucket.left = (bucket.left + passed * self.per_second).min(self.per_second);
        bucket.since = now;
        let is_allowed = bucket.left >= 1.0;
        if is_allowed {
            bucket.left -= 1.0;
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_project_has_its_share_and_no_more() {
        let (rate, start) = (RateLimit::new(2), Instant::now());
        let at = |project: &str, millis: u64| {
            rate.allows(project, start + Duration::from_millis(millis))
        };
        assert_eq!([at("a", 0), at("a", 0), at("a", 0)], [true, true, false]);
        assert!(at("b", 0), "another project has its own");
        assert_eq!([at("a", 500), at("a", 500)], [true, false]);
        assert_eq!([at("a", 5000), at("a", 5000), at("a", 5000)], [true, true, false]);
    }
}
