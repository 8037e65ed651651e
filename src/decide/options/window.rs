//! `refresh-window`: when a node's turn may begin. `Sat,Sun 02:00-05:00 UTC`, several by `;`.

use crate::juju::Timestamp;

const DAY: u64 = 24 * 3600;
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// The windows; none means always.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Windows(Vec<Window>);

/// One window on some days of the week.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Window {
    /// On which days it opens, Monday first.
    days: [bool; 7],
    /// Seconds of the day when it opens.
    opens: u64,
    /// How long it is open; it may go on into the next day.
    length: u64,
}

impl Windows {
    /// Reads the option; none where it is not understood.
    pub fn parse(text: &str) -> Option<Self> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        parts.map(Window::parse).collect::<Option<Vec<_>>>().map(Self)
    }

    /// Whether a turn may begin at that time.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.0.is_empty() || self.0.iter().any(|window| window.is_open(now))
    }
}

impl Window {
    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (days, times) = match words.as_slice() {
            [days, times, "UTC"] => (parse_days(days)?, *times),
            [times, "UTC"] => ([true; 7], *times),
            _ => return None,
        };
        let (opens, closes) = times.split_once('-')?;
        let (opens, closes) = (parse_time(opens)?, parse_time(closes)?);
        if opens == closes || opens == DAY {
            return None;
        }
        let length = if closes > opens { closes - opens } else { closes + DAY - opens };
        Some(Self { days, opens, length })
    }

    fn is_open(&self, now: Timestamp) -> bool {
        let today = now.0 / DAY;
        // One that opened yesterday may still be open.
        [Some(today), today.checked_sub(1)].into_iter().flatten().any(|day| {
            let opened = day * DAY + self.opens;
            self.opens_on(day) && now.0 >= opened && now.0 < opened + self.length
        })
    }

    /// 1970 began on a Thursday.
    fn opens_on(&self, day: u64) -> bool {
        usize::try_from((day + 3) % 7).ok().and_then(|day| self.days.get(day)).copied().unwrap_or(false)
    }
}

/// `Sat,Sun` or `Mon-Fri`.
fn parse_days(text: &str) -> Option<[bool; 7]> {
    let mut days = [false; 7];
    let place = |name: &str| DAYS.iter().position(|day| name.eq_ignore_ascii_case(day));
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (place(first)?, place(last)?);
        let length = (last + 7 - first) % 7;
        for step in 0..=length {
            *days.get_mut((first + step) % 7)? = true;
        }
    }
    Some(days)
}

/// `02:00`, up to `24:00`, in seconds.
fn parse_time(text: &str) -> Option<u64> {
    let (hours, minutes) = text.split_once(':')?;
    let two = |digits: &str| {
        let plain = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| digits.parse::<u64>().ok()).flatten()
    };
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    let seconds = hours * 3600 + minutes * 60;
    (minutes < 60 && seconds <= DAY).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Saturday, 2026-01-03 00:00 UTC.
    const SATURDAY: u64 = 1_767_398_400;

    fn open(window: &str, hours: u64, minutes: u64) -> bool {
        let now = Timestamp(SATURDAY + hours * 3600 + minutes * 60);
        Windows::parse(window).unwrap().is_open(now)
    }

    #[test]
    fn a_window_is_open_on_its_days_only_and_may_cross_midnight() {
        assert!(open("", 13, 0));
        let weekend = "Sat,Sun 02:00-05:00 UTC";
        assert!(!open(weekend, 1, 59) && open(weekend, 2, 0) && open(weekend, 4, 59) && !open(weekend, 5, 0));
        assert!(open(weekend, 24 + 3, 0) && !open(weekend, 48 + 3, 0));
        let night = "Sat 22:00-02:00 UTC";
        assert!(!open(night, 1, 0) && open(night, 23, 0) && open(night, 25, 59) && !open(night, 26, 0));
        assert!(!open("Mon-Fri 00:00-24:00 UTC", 23, 59) && open("Mon-Fri 00:00-24:00 UTC", 48, 0));
        assert!(open("fri-mon 10:00-11:00 UTC", 24 + 10, 0) && !open("fri-mon 10:00-11:00 UTC", 72 + 10, 0));
        let several = "Mon 01:00-02:00 UTC; 05:00-06:00 UTC;";
        assert!(open(several, 5, 30) && open(several, 48 + 1, 30) && !open(several, 1, 30));
    }

    #[test]
    fn what_is_no_window_is_refused() {
        for bad in [
            "always",
            "Sat 02:00-05:00",
            "Sat 02:00-05:00 CET",
            "Sat 2:00-5:00 UTC",
            "Sat 02:00-02:00 UTC",
            "Sat 24:00-02:00 UTC",
            "Sat 02:60-05:00 UTC",
            "Sat 02:00-25:00 UTC",
            "Sab 02:00-05:00 UTC",
            "Sat, 02:00-05:00 UTC",
            "Sat Sun 02:00-05:00 UTC",
            "Sat 02:00 UTC",
            "Sat 02:0é-05:00 UTC",
        ] {
            assert_eq!(Windows::parse(bad), None, "{bad}");
        }
    }
}
