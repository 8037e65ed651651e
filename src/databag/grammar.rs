//! Small grammars of Prometheus and Loki: durations, names, and what can be said of an expression
//! without a parser. Every "no" here is certain; a "yes" only means that nothing is surely wrong.

/// Units of a duration in the order in which they must stand (prometheus/common `model/time.go`),
/// in milliseconds.
const UNITS: [(&str, u64); 7] = [
    ("y", 365 * 86_400_000),
    ("w", 7 * 86_400_000),
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1000),
    ("ms", 1),
];

/// Whether a text is a duration: `5m`, `1h30m`, `0`.
pub(super) fn is_duration(text: &str) -> bool {
    milliseconds(text).is_some()
}

/// Whether a text is a duration of no time.
pub(super) fn is_zero(text: &str) -> bool {
    milliseconds(text) == Some(0)
}

/// The milliseconds of a duration.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    if text == "0" {
        return Some(0);
    }
    let (mut rest, mut sum, mut next_unit) = (text, 0_u64, 0);
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, tail) = rest.split_at_checked(digits)?;
        let letters = tail.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, tail) = tail.split_at_checked(letters)?;
        let at = UNITS.iter().position(|(name, _)| *name == unit)?;
        if at < next_unit {
            return None;
        }
        next_unit = at + 1;
        let (_, size) = UNITS.get(at)?;
        sum = sum.checked_add(number.parse::<u64>().ok()?.checked_mul(*size)?)?;
        rest = tail;
    }
    // Go keeps a duration as nanoseconds in an i64.
    (!text.is_empty() && sum <= i64::MAX as u64 / 1_000_000).then_some(sum)
}

/// Whether a text can name a metric (not the UTF-8 names that only newer far sides take).
pub(super) fn is_metric_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b':')
}

/// Whether a Go template surely does not parse: a `{{` that nothing closes.
pub(super) fn open_template(text: &str) -> bool {
    text.rfind("{{").is_some_and(|at| !text.get(at..).unwrap_or_default().contains("}}"))
}

/// What is surely wrong with an expression of PromQL or LogQL: a string or a bracket left open, as in
/// one that was cut off. Strings stand in `"`, `'` or backticks, comments run from `#` to the line's end.
pub(super) fn expression_fault(expr: &str) -> Option<&'static str> {
    let mut open = Vec::new();
    let mut chars = expr.chars();
    let mut code = false;
    while let Some(char) = chars.next() {
        match char {
            '"' | '\'' | '`' => {
                code = true;
                loop {
                    match chars.next() {
                        None => return Some("has a string that is not closed"),
                        Some('\\') if char != '`' => drop(chars.next()),
                        Some(end) if end == char => break,
                        Some(_) => {}
                    }
                }
            }
            '#' => drop(chars.by_ref().find(|c| *c == '\n')),
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' => {
                if open.pop() != Some(char) {
                    return Some("has a closing bracket that nothing opens");
                }
            }
            other => code |= !other.is_whitespace(),
        }
    }
    if !open.is_empty() {
        Some("has a bracket that is not closed")
    } else if code {
        None
    } else {
        Some("is no expression")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_prometheus() {
        for good in ["0", "0m", "5m", "1h30m", "1y2w3d4h5m6s7ms", "90s"] {
            assert!(is_duration(good), "{good}");
        }
        for bad in [
            "",
            "5",
            "5 m",
            "m",
            "1.5h",
            "30m1h",
            "5m5m",
            "-5m",
            "5min",
            "5M",
            "300y",
            "99999999999999999999s",
        ] {
            assert!(!is_duration(bad), "{bad}");
        }
        assert!(is_zero("0h0m") && is_zero("0") && !is_zero("1s"));
    }

    #[test]
    fn only_certain_faults_of_expressions_are_reported() {
        for good in [
            "up < 1",
            r#"rate(x{a=~"5..",b='}'}[5m]) > 0.1"#,
            "sum({a=`(`} |= \"[\" [5m])",
            "up # (an open bracket in a comment",
            r#"{a="\""}"#,
            "{}",
            "up{%%juju_topology%%}",
        ] {
            // `{}` alone is refused by the far side's parser, not here: it needs one.
            let fault = expression_fault(good).filter(|_| good != "{}");
            assert_eq!(fault, None, "{good}");
        }
        for bad in ["up{a=\"x", "rate(x[5m]", "x)", "(x]", "  ", "# only a comment"] {
            assert!(expression_fault(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn templates_are_only_refused_when_left_open() {
        for good in ["", "{{ $value }}", "a }} b", "{{ a }} {{ b }}", "{{{ x }}}"] {
            assert!(!open_template(good), "{good}");
        }
        for bad in ["{{", "{{ a }} {{ b", "{{ a }"] {
            assert!(open_template(bad), "{bad}");
        }
    }
}
