//! What was done, what went wrong with it, and what must not have happened.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The ledger of a run.
pub(super) struct Ledger {
    began: Instant,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    counts: BTreeMap<&'static str, u64>,
    faults: BTreeMap<String, u64>,
    violations: Vec<Violation>,
    slowest: (Duration, String),
    /// When the cloud was not well: from, and until if that is over.
    bad_times: Vec<(Instant, Option<Instant>)>,
}

/// Something that must not happen.
#[derive(Clone)]
pub(super) struct Violation {
    /// Its kind: lost, stuck, orphan…
    pub(super) kind: &'static str,
    pub(super) what: String,
    /// When, since the beginning.
    pub(super) after: Duration,
    /// The lines of the logs that explain it.
    pub(super) lines: Vec<String>,
}

impl Ledger {
    pub(super) fn new() -> Ledger {
        Ledger { began: Instant::now(), inner: Mutex::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts something that was done.
    pub(super) fn count(&self, what: &'static str) {
        *self.inner().counts.entry(what).or_default() += 1;
    }

    /// Counts something that was made to go wrong.
    pub(super) fn struck(&self, fault: String) {
        *self.inner().faults.entry(fault).or_default() += 1;
    }

    pub(super) fn violated(&self, kind: &'static str, what: String, lines: Vec<String>) {
        let violation = Violation { kind, what, after: self.began.elapsed(), lines };
        eprintln!("!! {:>6.1} s  {kind}: {}", violation.after.as_secs_f64(), violation.what);
        self.inner().violations.push(violation);
    }

    /// Notes how long something took.
    pub(super) fn took(&self, time: Duration, what: impl FnOnce() -> String) {
        let mut inner = self.inner();
        if time > inner.slowest.0 {
            inner.slowest = (time, what());
        }
    }

    pub(super) fn cloud_is_bad(&self) {
        self.inner().bad_times.push((Instant::now(), None));
    }

    pub(super) fn cloud_is_well(&self) {
        if let Some((_, end @ None)) = self.inner().bad_times.last_mut() {
            *end = Some(Instant::now());
        }
    }

    /// Whether the cloud has been well since then.
    pub(super) fn was_well_since(&self, then: Instant) -> bool {
        self.inner().bad_times.iter().all(|(_, end)| end.is_some_and(|end| end < then))
    }

    pub(super) fn violations(&self) -> Vec<Violation> {
        self.inner().violations.clone()
    }

    /// The figures, as a table of two columns.
    pub(super) fn table(&self) -> Vec<(String, String)> {
        let inner = self.inner();
        let counts =
            inner.counts.iter().map(|(what, count)| ((*what).to_owned(), count.to_string()));
        let faults =
            inner.faults.iter().map(|(what, count)| (format!("fault: {what}"), count.to_string()));
        let (time, what) = &inner.slowest;
        let slowest =
            ("slowest action".to_owned(), format!("{:.1} s ({what})", time.as_secs_f64()));
        counts.chain(faults).chain([slowest]).collect()
    }
}
