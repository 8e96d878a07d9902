//! Real time and real chance: the one place where the engine asks for them.

use crate::ids::Ids;
use crate::time::Time;
use std::time::{SystemTime, UNIX_EPOCH};

/// What time it is.
#[allow(clippy::disallowed_methods, reason = "this is the edge where time comes from")]
pub fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// Chance from the system, drawn in advance because asking for it is slow.
pub struct Chance {
    drawn: Box<[u8; 4096]>,
    used: usize,
}

impl Default for Chance {
    fn default() -> Chance {
        Chance { drawn: Box::new([0; 4096]), used: 4096 }
    }
}

impl Ids for Chance {
    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.used == self.drawn.len() {
                self.draw();
            }
            *byte = std::mem::take(&mut self.drawn[self.used]);
            self.used += 1;
        }
    }
}

impl Chance {
    fn draw(&mut self) {
        // A system without chance is no place to go on: ids and passwords would repeat.
        while getrandom::fill(&mut self.drawn[..]).is_err() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        self.used = 0;
    }
}
