//! Growing pauses between attempts.

use std::time::Duration;

/// Pauses that grow by half each time, up to a longest one.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    /// Pauses from the first to the longest.
    pub const fn new(first: Duration, longest: Duration) -> Backoff {
        Backoff { next: first, longest }
    }

    /// The next pause.
    pub fn next_pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 3 / 2).min(self.longest);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_by_half_up_to_the_longest() {
        let mut backoff = Backoff::new(Duration::from_secs(2), Duration::from_secs(4));
        let seconds = [(); 4].map(|()| backoff.next_pause().as_secs());
        assert_eq!(seconds, [2, 3, 4, 4]);
    }
}
