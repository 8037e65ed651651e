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

    /// `2025-11-05`
    pub fn date(self) -> String {
        let (year, month, day) = civil(self.0 / 86_400_000);
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// `2025-11-05T12:00:00Z`
    pub fn rfc3339(self) -> String {
        format!("{}T{}Z", self.date(), self.clock())
    }

    /// Reads `2025-11-05T12:00:00Z`; other zones are not understood.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
        let numbers = |text: &str, by: char| -> Option<[u64; 3]> {
            let parts: Vec<u64> = text.split(by).map(|part| part.parse().ok()).collect::<Option<_>>()?;
            parts.try_into().ok()
        };
        let [year, month, day] = numbers(date, '-')?;
        let [hour, minute, second] = numbers(clock, ':')?;
        if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let shifted = if month > 2 { month - 3 } else { month + 9 };
        let year = if month > 2 { year } else { year - 1 };
        let of_era = year % 400 * 365 + year % 400 / 4 - year % 400 / 100 + (153 * shifted + 2) / 5 + day - 1;
        let days = year / 400 * 146_097 + of_era - 719_468;
        Some(Self((days * 86_400 + hour * 3600 + minute * 60 + second) * 1000))
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
        assert_eq!(Time::START.rfc3339(), "2025-11-05T12:00:00Z");
        for time in [Time::START, Time(1_709_164_800_000), Time(1_735_689_599_000)] {
            assert_eq!(Time::parse_rfc3339(&time.rfc3339()), Some(time));
        }
        assert_eq!(Time::parse_rfc3339("tomorrow"), None);
        assert_eq!(Time::START.plus(86_400_000).to_string(), "+1d 12:00:00");
        assert_eq!(Time(1_709_164_800_000).stamp(), "2024-02-29 00:00:00Z");
    }
}
