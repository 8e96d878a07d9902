//! Real time and random ids: the one place where the engine gets them.

//!
//! Machines' clocks differ, and each can be set while a process runs. So the processes of one site agree on the clock of
//! their store: this process counts time by a clock that nobody sets and that goes on while the machine sleeps, and
//! [`follow_store_clock`] tells it what that means by the store's clock.

use crate::ids::Ids;
use crate::metrics::Metrics;
use crate::store::{Store, StoreError};
use crate::time::Time;
use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often a process compares its time with the store's.
const COMPARE_INTERVAL: Duration = Duration::from_secs(5);

/// Differences up to this one may as well be due to how long the store took to answer.
const TOLERANCE: Duration = Duration::from_millis(50);

/// A machine's clock that differs from the store's by more than this is reported.
const REPORTED_DIFFERENCE: Duration = Duration::from_secs(2);

/// The time when the machine started, in microseconds; `UNKNOWN` until the first look at a clock.
static STARTED: AtomicI64 = AtomicI64::new(UNKNOWN);
const UNKNOWN: i64 = i64::MIN;

/// The current time: that of the store if this process follows it, else that of the machine when the process started.
pub fn now() -> Time {
    let started = match STARTED.load(Ordering::Relaxed) {
        UNKNOWN => {
            let started = machine_time().micros().saturating_sub(uptime_micros());
            let stored =
                STARTED.compare_exchange(UNKNOWN, started, Ordering::Relaxed, Ordering::Relaxed);
            stored.err().unwrap_or(started)
        }
        started => started,
    };
    Time::from_micros(started.saturating_add(uptime_micros()))
}

/// The time by the machine's clock, which may be set while the process runs.
#[allow(clippy::disallowed_methods, reason = "this is the edge where time comes from")]
pub(crate) fn machine_time() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// For how long the machine has been running, asleep or not.
fn uptime_micros() -> i64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: ClockId = ClockId::Boottime;
    // Elsewhere the monotonic clock is the best that there is.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: ClockId = ClockId::Monotonic;
    let uptime = clock_gettime(CLOCK);
    uptime.tv_sec.saturating_mul(1_000_000).saturating_add(uptime.tv_nsec / 1_000)
}

/// Makes the time of this process that of the store, and returns by how many seconds the machine's clock differs.
pub async fn follow_store_clock(store: &dyn Store) -> Result<f64, StoreError> {
    let (asked, before) = (uptime_micros(), now());
    let told = store.time().await?;
    let took = uptime_micros() - asked;
    // The store looked at its clock between the question and its answer.
    let (then, uncertain) = (told.micros() - took / 2, took / 2);
    let difference = (then - before.micros()).abs();
    if difference > uncertain + i64::try_from(TOLERANCE.as_micros()).unwrap_or(i64::MAX) {
        STARTED.store(then - asked, Ordering::Relaxed);
    }
    Ok((machine_time().micros() - now().micros()) as f64 / 1e6)
}

/// Follows the store's clock from now on, and reports a clock of this machine that differs.
pub async fn keep_following_store_clock(store: Arc<dyn Store>, metrics: Arc<Metrics>) {
    let mut reported = 0.0_f64;
    loop {
        match follow_store_clock(&*store).await {
            Ok(ahead) => {
                metrics.clock_difference.set(ahead);
                let limit = REPORTED_DIFFERENCE.as_secs_f64();
                if ahead.abs() > limit && (ahead - reported).abs() > limit {
                    tracing::warn!(
                        seconds_ahead = ahead.round(),
                        "this machine's clock differs from the database's: Kiln goes by the database's; set this \
                         machine's clock, or the database server's"
                    );
                    reported = ahead;
                }
            }
            Err(error) => tracing::debug!(%error, "the store's clock cannot be read: retrying"),
        }
        tokio::time::sleep(COMPARE_INTERVAL).await;
    }
}

/// Random ids from the system. The bytes are read in advance, because each read is slow.
pub struct SystemIds {
    buffer: Box<[u8; 4096]>,
    used: usize,
}

impl Default for SystemIds {
    fn default() -> SystemIds {
        SystemIds { buffer: Box::new([0; 4096]), used: 4096 }
    }
}

impl Ids for SystemIds {
    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.used == self.buffer.len() {
                self.refill();
            }
            *byte = std::mem::take(&mut self.buffer[self.used]);
            self.used += 1;
        }
    }
}

impl SystemIds {
    fn refill(&mut self) {
        // Without random bytes ids and passwords would repeat: the thread waits until there are some.
        while getrandom::fill(&mut self.buffer[..]).is_err() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        self.used = 0;
    }
}
