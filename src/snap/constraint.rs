//! Constraints on versions, as Poetry writes them: `^1.33, <1.35`, `~1.34`, `1.34.*`, `^1.2 || ^2.0`.
//!
//! Own code, since the usual crates read them in another way: there a bare version is a caret, two
//! numbers are no version, and a pre-release is outside of everything.

use super::{SnapTextError, as_string};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A version as far as constraints go by it: numbers and a pre-release. What stands behind a `+` is
/// left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    release: Vec<u64>,
    /// The kind of pre-release (`a`, `b`, `rc`) and its number; none for a final release.
    pre: Option<(u8, u64)>,
}

impl Version {
    /// Reads a version such as `1.34.2`, `v1.34.0-rc.1` or `1.34.0+k3s1`; none for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let text = match text.split_once('+') {
            Some((version, local)) => {
                let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
                (!local.is_empty() && local.chars().all(plain)).then_some(version)?
            }
            None => text,
        };
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (release, pre) = text.split_at_checked(end)?;
        // `1.34.rc1`: the dot parts the numbers from the word.
        let release = if pre.is_empty() { release } else { release.strip_suffix('.').unwrap_or(release) };
        let numbers = release.split('.').map(|part| part.parse().ok());
        let release = numbers.collect::<Option<Vec<u64>>>()?;
        let pre = if pre.is_empty() { None } else { Some(pre_release(pre)?) };
        Some(Self { release, pre })
    }

    /// Whether it comes after the other one.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        self.compare(other).is_gt()
    }

    fn of(release: Vec<u64>) -> Self {
        Self { release, pre: None }
    }

    /// The number at that place, zero where there is none.
    fn at(&self, place: usize) -> u64 {
        self.release.get(place).copied().unwrap_or(0)
    }

    /// The numbers up to that place, the last one raised.
    fn raised(&self, place: usize) -> Self {
        let mut release: Vec<u64> = (0..=place).map(|place| self.at(place)).collect();
        if let Some(last) = release.last_mut() {
            *last = last.saturating_add(1);
        }
        Self::of(release)
    }

    fn compare_release(&self, other: &Self) -> Ordering {
        let places = self.release.len().max(other.release.len());
        let differing = (0..places).map(|place| self.at(place).cmp(&other.at(place)));
        differing.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.compare_release(other).then(match (self.pre, other.pre) {
            (None, None) => Ordering::Equal,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => one.cmp(&other),
        })
    }
}

/// `-rc.1`, `rc1`, `-alpha.0`, `b2`.
fn pre_release(text: &str) -> Option<(u8, u64)> {
    let parts = |c: char| matches!(c, '-' | '.' | '_');
    let text = text.trim_start_matches(parts);
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (word, number) = text.split_at_checked(end)?;
    let kind = match word {
        "a" | "alpha" => 0,
        "b" | "beta" => 1,
        "c" | "rc" | "pre" | "preview" => 2,
        _ => return None,
    };
    let number = number.trim_start_matches(parts);
    let number = if number.is_empty() { Some(0) } else { number.parse().ok() };
    Some((kind, number?))
}

/// Which versions are meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Constraint {
    text: String,
    /// One of these must hold with all of its terms.
    alternatives: Vec<Vec<Term>>,
}

/// A stretch of versions, or all but it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    least: Option<(Version, bool)>,
    most: Option<(Version, bool)>,
    not: bool,
}

impl Constraint {
    /// Whether that version is meant.
    pub fn allows(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|terms| terms.iter().all(|term| term.allows(version)))
    }
}

impl Term {
    fn between(least: Version, most: Version) -> Self {
        Self { least: Some((least, true)), most: Some((most, false)), not: false }
    }

    fn allows(&self, version: &Version) -> bool {
        let above = self.least.as_ref().is_none_or(|(least, itself)| match version.compare(least) {
            Ordering::Greater => true,
            Ordering::Equal => *itself,
            Ordering::Less => false,
        });
        let below = self.most.as_ref().is_none_or(|(most, itself)| match version.compare(most) {
            // A pre-release of the version that is excluded is excluded too.
            Ordering::Less => *itself || most.pre.is_some() || version.compare_release(most).is_ne(),
            Ordering::Equal => *itself,
            Ordering::Greater => false,
        });
        (above && below) != self.not
    }

    fn parse(operator: &str, text: &str) -> Option<Self> {
        let any = Self { least: None, most: None, not: false };
        if let Some(stem) = text.strip_suffix('*') {
            let mut term = match stem.strip_suffix('.') {
                None if stem.is_empty() => any,
                Some(stem) => {
                    let version = Version::parse(stem).filter(|version| version.pre.is_none())?;
                    let most = version.raised(version.release.len().checked_sub(1)?);
                    Self::between(version, most)
                }
                None => return None,
            };
            term.not = operator == "!=";
            return matches!(operator, "" | "=" | "==" | "!=").then_some(term);
        }
        let version = Version::parse(text)?;
        let last = version.release.len().checked_sub(1)?;
        let one = |itself| Some((version.clone(), itself));
        Some(match operator {
            "" | "=" | "==" => Self { least: one(true), most: one(true), not: false },
            "!=" => Self { least: one(true), most: one(true), not: true },
            ">" => Self { least: one(false), ..any },
            ">=" => Self { least: one(true), ..any },
            "<" => Self { most: one(false), ..any },
            "<=" => Self { most: one(true), ..any },
            "^" => {
                let place = (0..=last).find(|place| version.at(*place) != 0).unwrap_or(last);
                Self::between(version.clone(), version.raised(place))
            }
            "~" => Self::between(version.clone(), version.raised(last.min(1))),
            // One number alone cannot be compatible with anything.
            "~=" => Self::between(version.clone(), version.raised(last.checked_sub(1)?)),
            _ => return None,
        })
    }
}

/// The terms of one alternative: comma or blank is and, and blanks are free behind an operator.
fn terms(text: &str) -> Option<Vec<Term>> {
    let is_operator = |c: char| matches!(c, '<' | '>' | '=' | '!' | '~' | '^');
    let parts = |c: char| c == ',' || c.is_whitespace();
    let mut terms = Vec::new();
    let mut rest = text.trim_matches(parts);
    while !rest.is_empty() {
        let (operator, after) =
            rest.split_at_checked(rest.find(|c| !is_operator(c)).unwrap_or(rest.len()))?;
        let after = after.trim_start();
        let end = after.find(|c| is_operator(c) || parts(c)).unwrap_or(after.len());
        let (version, after) = after.split_at_checked(end)?;
        terms.push(Term::parse(operator, version)?);
        rest = after.trim_start_matches(parts);
    }
    (!terms.is_empty()).then_some(terms)
}

impl FromStr for Constraint {
    type Err = SnapTextError;

    fn from_str(text: &str) -> Result<Self, SnapTextError> {
        let alternatives = text.split("||").map(terms).collect::<Option<Vec<_>>>();
        let wrong = || SnapTextError::new(text, "a constraint on versions", "as in ^1.33, <1.35");
        // Any white space parts terms; the text is shown, so it stays on one line.
        let shown = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Self { text: shown, alternatives: alternatives.ok_or_else(wrong)? })
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

as_string!(Constraint);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_mean_what_they_mean_to_poetry() {
        let table: [(&str, &[&str], &[&str]); 33] = [
            ("^1.33", &["1.33.0", "1.99", "1.34.0+k3s1", "v1.34.0", "1.34.0-rc.1"], &["2.0", "1.32.9"]),
            ("^0.2.3", &["0.2.5"], &["0.3.0"]),
            ("^0.0.3", &["0.0.3"], &["0.0.4"]),
            ("^0", &["0.5"], &["1.0"]),
            ("^0.0", &["0.0.9"], &["0.1.0"]),
            ("~1.34", &["1.34.0", "1.34.9"], &["1.35.0"]),
            ("~1.34.2", &["1.34.9"], &["1.34.1", "1.35.0"]),
            ("~1", &["1.9"], &["2.0"]),
            ("~=1.34.2", &["1.34.9"], &["1.35.0"]),
            ("~=1.34", &["1.35.0"], &["2.0"]),
            (">=1.33,<1.35", &["1.33", "1.34.0"], &["1.35.0", "1.32.9"]),
            (">=1.33 <1.35", &["1.33", "1.34.0"], &["1.35.0", "1.32.9"]),
            ("^1.33, < 1.35", &["1.33", "1.34.0"], &["1.35.0", "1.32.9"]),
            (">= 1.33 , <1.35", &["1.33"], &["1.35.0"]),
            ("^1.2 || ^2.0", &["1.5", "2.5"], &["3.0"]),
            ("1.34", &["1.34", "1.34.0"], &["1.34.1"]),
            ("=1.34.0", &["1.34", "1.34.0"], &["1.34.1"]),
            ("==1.34.0", &["1.34", "1.34.0"], &["1.34.1"]),
            ("1.34.*", &["1.34.0", "1.34.9"], &["1.35", "1.33.9"]),
            ("==1.34.*", &["1.34.0"], &["1.35"]),
            ("!=1.34.*", &["1.35"], &["1.34.2"]),
            ("*", &["1.34", "0.1", "1.34.0-rc.1"], &[]),
            ("!=1.34.1", &["1.34.0"], &["1.34.1"]),
            (">1.34", &["1.34.1"], &["1.34.0"]),
            ("<=1.34", &["1.34.0"], &["1.34.1"]),
            (">2", &["2.0.1"], &["2", "2.0"]),
            (">=1.34", &["1.34.0"], &["1.34.0-rc.1"]),
            (">=1.33", &["1.34.0-rc.1"], &["1.33.0-beta.2"]),
            ("^1.34", &["1.34.0+k3s1", "v1.34.0"], &["1.34.0-rc.1"]),
            ("<1.34", &["1.33.9"], &["1.34.0-alpha.0", "1.34.0"]),
            (">=1.34.0-rc.1", &["1.34.0-rc.2", "1.34.0"], &["1.34.0-rc.0", "1.34.0-beta.9"]),
            ("<1.34.0-rc.1", &["1.34.0-rc.0"], &["1.34.0-rc.1", "1.34.0"]),
            (">=1.33,", &["1.33"], &["1.32"]),
        ];
        for (constraint, allowed, refused) in table {
            let constraint: Constraint = constraint.parse().unwrap();
            for (versions, expected) in [(allowed, true), (refused, false)] {
                for text in versions {
                    let version = Version::parse(text).unwrap();
                    assert_eq!(constraint.allows(&version), expected, "{constraint} with {text}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_version_or_no_constraint_is_refused() {
        for text in ["16/1.34", "1.34.2-0ubuntu1", "", "v", "1..2", "1.34.x", "1.34+", "latest", "1.34-"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
        for text in
            ["1.34.x", "", " ", "^", "^1.34 ||", "~=1", ">=1.*", "=<1.34", "1.*.2", "^1.34 and <2", "^*"]
        {
            assert!(text.parse::<Constraint>().is_err(), "{text}");
        }
        let huge = "9".repeat(40);
        assert!(Version::parse(&huge).is_none() && huge.parse::<Constraint>().is_err());
    }
}
