//! Simulated time: milliseconds since 1970, and how people read it.

use std::fmt;

use serde::Serialize;

/// A moment of simulated time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Time(
    /// Milliseconds since 1970-01-01.
    pub u64,
);

impl Time {
    /// When every model begins: 2025-11-05 12:00:00.
    pub const START: Self = Self(1_762_344_000_000);

    /// As much later.
    #[must_use]
    pub fn plus(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// What the file `run/clock` holds, without the newline.
    pub fn unix(self) -> String {
        match self.0 % 1000 {
            0 => format!("{}", self.0 / 1000),
            millis => format!("{}.{millis:03}", self.0 / 1000),
        }
    }

    /// The form in `goal-state`.
    pub fn stamp(self) -> String {
        let (year, month, day) = civil(self.0 / 86_400_000);
        format!("{year:04}-{month:02}-{day:02} {}Z", self.clock())
    }

    fn clock(self) -> String {
        let seconds = self.0 / 1000 % 86_400;
        format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }
}

impl fmt::Display for Time {
    /// The time of day, with a day number once the first day is over.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0 / 86_400_000 - Self::START.0 / 86_400_000;
        if days > 0 {
            write!(f, "+{days}d ")?;
        }
        write!(f, "{}", self.clock())
    }
}

/// Year, month and day of a number of days since 1970 (H. Hinnant's civil_from_days for the years after 1970).
fn civil(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let era = z / 146_097;
    let doe = z % 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + u64::from(month <= 2), month, doy - (153 * mp + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn a_time_is_read_by_people_and_by_charms() {
        assert_eq!(Time::START.stamp(), "2025-11-05 12:00:00Z");
        assert_eq!(Time::START.unix(), "1762344000");
        assert_eq!(Time::START.plus(1_250).unix(), "1762344001.250");
        assert_eq!(Time::START.plus(86_400_000).to_string(), "+1d 12:00:00");
        assert_eq!(Time(1_709_164_800_000).stamp(), "2024-02-29 00:00:00Z");
    }
}
