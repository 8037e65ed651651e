//! The `assumes` block of metadata.yaml (juju/charm assumes/parser.go, juju core/assumes).

use serde_json::Value;

use crate::wire::go_text::quote;

/// What the model must offer: all of the entries.
#[derive(Debug, Clone, PartialEq)]
pub struct Assumes(Vec<Expression>);

#[derive(Debug, Clone, PartialEq)]
enum Expression {
    Feature { name: String, bound: Option<Bound> },
    AnyOf(Vec<Expression>),
    AllOf(Vec<Expression>),
}

#[derive(Debug, Clone, PartialEq)]
struct Bound {
    at_least: bool,
    version: Version,
    written: String,
}

/// Major, minor, patch, tag and build. A tag sorts before the release.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    tag: String,
    build: u64,
}

impl Assumes {
    /// The value of the key.
    pub(super) fn parse(value: &Value) -> Result<Self, String> {
        let Some(items) = value.as_array() else {
            return Err(crate::charm::schema::unexpected("metadata: assumes", "list", value));
        };
        let parsed = items.iter().enumerate().map(|(at, item)| {
            expression(item)
                .map_err(|why| format!("parsing expression {} in top level \"assumes\" block: {why}", at + 1))
        });
        parsed.collect::<Result<_, String>>().map(Self)
    }

    /// What a machine model of this Juju version does not offer, one text for each. Features other than `juju` are
    /// not offered.
    pub fn unmet(&self, juju_version: &str) -> Vec<String> {
        let version = version(juju_version);
        self.0.iter().flat_map(|expression| expression.unmet(version.as_ref(), juju_version)).collect()
    }
}

impl Expression {
    fn unmet(&self, version: Option<&Version>, written: &str) -> Vec<String> {
        match self {
            Self::AllOf(all) => all.iter().flat_map(|part| part.unmet(version, written)).collect(),
            Self::AnyOf(any) => {
                let failures: Vec<Vec<String>> =
                    any.iter().map(|part| part.unmet(version, written)).collect();
                if failures.iter().any(Vec::is_empty) { Vec::new() } else { failures.concat() }
            }
            Self::Feature { name, .. } if name != "juju" => {
                vec![format!("charm requires feature {} but model does not support it", quote(name))]
            }
            Self::Feature { bound: None, .. } => Vec::new(),
            Self::Feature { bound: Some(bound), .. } => {
                let offered = version.map(Version::key);
                let wanted = Some(bound.version.key());
                if (offered >= wanted) == bound.at_least {
                    return Vec::new();
                }
                let sign = if bound.at_least { ">=" } else { "<" };
                let wanted = &bound.written;
                vec![format!("charm requires Juju version {sign} {wanted}, model has version {written}")]
            }
        }
    }
}

impl Version {
    fn key(&self) -> (u64, u64, bool, &str, u64, u64) {
        (self.major, self.minor, self.tag.is_empty(), &self.tag, self.patch, self.build)
    }
}

fn expression(item: &Value) -> Result<Expression, String> {
    match item {
        Value::String(text) => feature(text.trim()),
        Value::Object(map) => {
            let mut entries = map.iter();
            let (Some((key, value)), None) = (entries.next(), entries.next()) else {
                return Err("malformed composite expression".to_owned());
            };
            let build = match key.as_str() {
                "any-of" if !value.is_null() => Expression::AnyOf,
                "all-of" if !value.is_null() => Expression::AllOf,
                _ => {
                    let wanted = "expected an \"any-of\" or \"all-of\" block";
                    return Err(format!("malformed composite expression; {wanted}"));
                }
            };
            let key = quote(key);
            let Some(items) = value.as_array() else {
                return Err(format!("malformed {key} expression; expected a list of sub-expressions"));
            };
            let parts: Result<_, String> = items.iter().map(expression).collect();
            parts.map(build).map_err(|why| format!("parsing {key} expression: {why}"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Err("expected a feature, \"any-of\" or \"all-of\" expression".to_owned())
        }
    }
}

/// `feature`, `feature >= X` or `feature < X`.
fn feature(text: &str) -> Result<Expression, String> {
    let malformed = || format!("malformed feature expression {}", quote(text));
    if is_feature_name(text) {
        return Ok(Expression::Feature { name: text.to_owned(), bound: None });
    }
    let (name, rest, at_least) = match (text.split_once(">="), text.split_once('<')) {
        (Some((name, rest)), _) => (name, rest, true),
        (None, Some((name, rest))) => (name, rest, false),
        (None, None) => return Err(malformed()),
    };
    let (name, written) = (name.trim_end(), rest.trim_start());
    if !is_feature_name(name) || written.is_empty() || written.contains(char::is_whitespace) {
        return Err(malformed());
    }
    let Some(version) = version(written) else {
        return Err(format!("{}: invalid version {}", malformed(), quote(written)));
    };
    Ok(Expression::Feature {
        name: name.to_owned(),
        bound: Some(Bound { at_least, version, written: written.to_owned() }),
    })
}

/// `^[a-z][a-z0-9-]*?[a-z0-9]+$`
fn is_feature_name(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// `1`, `1.2`, `1.2.3`, `1.2-tag3`, and a build after a dot at the end of the last two.
fn version(text: &str) -> Option<Version> {
    let number = |text: &str| {
        let fits = (1..=9).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        fits.then(|| text.parse::<u64>().ok()).flatten()
    };
    let mut parts = text.split('.');
    let major = number(parts.next()?)?;
    let (minor, tag, mut patch) = match parts.next() {
        None => (0, String::new(), None),
        Some(second) => match second.split_once('-') {
            None => (number(second)?, String::new(), None),
            Some((minor, tagged)) => {
                let end = tagged.find(|c: char| c.is_ascii_digit()).unwrap_or(tagged.len());
                let (tag, in_tag) = tagged.split_at_checked(end)?;
                if tag.is_empty() || !tag.bytes().all(|b| b.is_ascii_lowercase()) {
                    return None;
                }
                let in_tag = if in_tag.is_empty() { 0 } else { number(in_tag)? };
                (number(minor)?, tag.to_owned(), Some(in_tag))
            }
        },
    };
    if patch.is_none() {
        patch = parts.next().map(number).unwrap_or(Some(0));
    }
    let build = parts.next().map(number).unwrap_or(Some(0))?;
    parts.next().is_none().then_some(Version { major, minor, patch: patch?, tag, build })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unmet_assumptions_are_named() {
        for (assumes, juju, expected) in [
            (json!(["juju"]), "2.9.50", ""),
            (json!(["juju >= 3.1"]), "3.1.0", ""),
            (json!(["juju >= 3.1"]), "3.6.1.1", ""),
            (json!(["juju>=3.1"]), "2.9.50", "charm requires Juju version >= 3.1, model has version 2.9.50"),
            (json!(["juju < 4"]), "4.0.1", "charm requires Juju version < 4, model has version 4.0.1"),
            (
                json!(["juju >= 4.0"]),
                "4.0-beta5",
                "charm requires Juju version >= 4.0, model has version 4.0-beta5",
            ),
            (json!(["juju >= 4.0-beta4"]), "4.0-beta5", ""),
            (json!([{"any-of": ["k8s-api", "juju >= 3"]}]), "3.6.9", ""),
            (
                json!([{"all-of": ["k8s-api"]}]),
                "3.6.9",
                "charm requires feature \"k8s-api\" but model does not support it",
            ),
        ] {
            assert_eq!(Assumes::parse(&assumes).unwrap().unmet(juju).join("; "), expected, "{assumes}");
        }
    }

    #[test]
    fn malformed_blocks_are_refused() {
        let first = "parsing expression 1 in top level \"assumes\" block: ";
        for (assumes, expected) in [
            (json!(["juju > 3"]), "malformed feature expression \"juju > 3\""),
            (json!(["juju >= x"]), "malformed feature expression \"juju >= x\": invalid version \"x\""),
            (json!([3]), "expected a feature, \"any-of\" or \"all-of\" expression"),
            (json!([{"any-of": [], "all-of": []}]), "malformed composite expression"),
            (
                json!([{"none-of": []}]),
                "malformed composite expression; expected an \"any-of\" or \"all-of\" block",
            ),
            (json!([{"any-of": 1}]), "malformed \"any-of\" expression; expected a list of sub-expressions"),
            (json!([{"any-of": ["J"]}]), "parsing \"any-of\" expression: malformed feature expression \"J\""),
        ] {
            assert_eq!(Assumes::parse(&assumes).unwrap_err(), format!("{first}{expected}"));
        }
    }
}
