//! Times in the formats of logs and signatures.

/// A time in UTC, by its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timestamp {
    year: i64,
    month: i64,
    day: i64,
    seconds: u64,
}

impl Timestamp {
    /// Returns the time of a number of seconds since 1970.
    pub(crate) fn from_unix(seconds: u64) -> Timestamp {
        // Counting years from March makes the leap day the last day.
        let days = i64::try_from(seconds / 86_400).unwrap_or(0) + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = era * 400 + year + i64::from(month <= 2);
        Timestamp { year, month, day, seconds: seconds % 86_400 }
    }

    /// `2026-11-16 12:59:24`.
    pub(crate) fn for_logs(&self) -> String {
        let (hours, minutes, seconds) = self.clock();
        format!(
            "{:04}-{:02}-{:02} {hours:02}:{minutes:02}:{seconds:02}",
            self.year, self.month, self.day
        )
    }

    /// `20261116T125924Z`.
    pub(crate) fn for_signatures(&self) -> String {
        let (hours, minutes, seconds) = self.clock();
        format!(
            "{:04}{:02}{:02}T{hours:02}{minutes:02}{seconds:02}Z",
            self.year, self.month, self.day
        )
    }

    fn clock(&self) -> (u64, u64, u64) {
        (self.seconds / 3_600, self.seconds / 60 % 60, self.seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_dates() {
        assert_eq!(Timestamp::from_unix(0).for_logs(), "1970-01-01 00:00:00");
        assert_eq!(Timestamp::from_unix(951_827_696).for_logs(), "2000-02-29 12:34:56");
        assert_eq!(Timestamp::from_unix(1_794_833_964).for_signatures(), "20261116T125924Z");
    }
}
