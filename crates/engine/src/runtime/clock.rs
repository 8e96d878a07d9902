//! Real time and random ids: the one place where the engine gets them.

use crate::ids::Ids;
use crate::time::Time;
use std::time::{SystemTime, UNIX_EPOCH};

/// The current time.
#[allow(clippy::disallowed_methods, reason = "this is the edge where time comes from")]
pub fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
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
