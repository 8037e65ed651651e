//! Spans of time: a number with the unit m, h or d.

/// The spans that an option accepts, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The shortest.
    pub least: u64,
    /// The longest, where there is one.
    pub most: Option<u64>,
}

/// The longest span of all: a year.
const LONGEST: u64 = 366 * 24 * 3600;

/// Reads a span, in seconds; none where it is no span or out of bounds.
pub fn parse(text: &str, bounds: Bounds) -> Option<u64> {
    let text = text.trim();
    let unit = match text.chars().last()? {
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        _ => return None,
    };
    let digits = text.get(..text.len() - 1)?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let seconds = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    (bounds.least..=bounds.most.unwrap_or(LONGEST)).contains(&seconds).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_a_unit_and_bounds() {
        let bounds = Bounds { least: 600, most: Some(7 * 86400) };
        let table = [
            ("10m", Some(600)),
            ("1h", Some(3600)),
            ("7d", Some(604_800)),
            (" 90m ", Some(5400)),
            ("9m", None),
            ("8d", None),
            ("600", None),
            ("600s", None),
            ("-1h", None),
            ("+1h", None),
            ("1.5h", None),
            ("h", None),
            ("", None),
            ("1ü", None),
            ("99999999999999999999d", None),
        ];
        for (text, seconds) in table {
            assert_eq!(parse(text, bounds), seconds, "{text:?}");
        }
        assert_eq!(parse("400d", Bounds { least: 60, most: None }), None);
    }
}
