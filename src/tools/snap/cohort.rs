//! `snap create-cohort`.

use super::{Reach, Snap};
use crate::snap::{CohortKey, SnapName, Trouble};
use std::collections::{BTreeMap, BTreeSet};

impl Snap {
    /// Makes a new key for each of the snaps, installed here or not; nothing on the machine changes.
    /// All or nothing: one name that the store does not know is [`NotFound`](crate::snap::TroubleKind::NotFound) for all,
    /// and which one it is is not told. Each call makes other keys.
    pub fn create_cohort(
        &self,
        names: &BTreeSet<SnapName>,
    ) -> Result<BTreeMap<SnapName, CohortKey>, Trouble> {
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut args = vec!["create-cohort".to_owned()];
        args.extend(names.iter().map(ToString::to_string));
        let parse = |text: &str| {
            let mut keys = parse_cohorts(text)?;
            keys.retain(|name, _| names.contains(name));
            match names.iter().find(|name| !keys.contains_key(*name)) {
                Some(missing) => Err(format!("no key for {missing}")),
                None => Ok(keys),
            }
        };
        Ok(self.read(args, Reach::Store, parse)?.0)
    }
}

/// Reads the keys: YAML of exactly this form, as yaml.v2 writes it (a key with no blank in it is
/// never folded, but may be quoted). An empty text holds none.
///
/// ```text
/// cohorts:
///   kubelet:
///     cohort-key: MSB0ZXN0...
/// ```
pub fn parse_cohorts(stdout: &str) -> Result<BTreeMap<SnapName, CohortKey>, String> {
    let mut keys = BTreeMap::new();
    let mut lines = stdout.lines().filter(|line| !line.trim().is_empty());
    match lines.next() {
        None | Some("cohorts: {}") => return Ok(keys),
        Some("cohorts:") => {}
        // It may hold a key: the line itself is not told.
        Some(_) => return Err("it does not begin with \"cohorts:\"".to_owned()),
    }
    while let Some(line) = lines.next() {
        let name = line.strip_prefix("  ").and_then(|text| text.strip_suffix(':'));
        let name = name.map(unquoted).and_then(|name| name.parse::<SnapName>().ok());
        let name = name.ok_or("a name of a snap is not where it should be")?;
        let key = lines.next().and_then(|line| line.strip_prefix("    cohort-key: "));
        let key = key.ok_or_else(|| format!("{name} has no cohort-key"))?;
        let key = unquoted(key).parse().map_err(|error| format!("{name}: {error}"))?;
        if keys.insert(name.clone(), key).is_some() {
            return Err(format!("{name} is there twice"));
        }
    }
    Ok(keys)
}

/// The value between quotes. Escapes need no care: a key has no quotes and no backslashes.
fn unquoted(text: &str) -> &str {
    let text = text.trim_end();
    let between = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    between('"').or_else(|| between('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_known_form_is_read() {
        let one = parse_cohorts("cohorts:\n  kubelet:\n    cohort-key: \"123\"\n\n").unwrap();
        assert_eq!(one.values().map(CohortKey::expose).collect::<Vec<_>>(), ["123"]);
        assert!(parse_cohorts("").unwrap().is_empty());
        for bad in [
            "cohort:\n",
            "cohorts:\n  kubelet:\n",
            "cohorts:\n  kubelet:\n    key: K\n",
            "cohorts:\n  kubelet:\n    cohort-key: \n",
            "cohorts:\n  kubelet:\n    cohort-key: ''\n",
            "cohorts:\n  kubelet:\n    cohort-key: a b\n",
            "cohorts:\n  kubelet:\n    cohort-key: -K\n",
            "cohorts:\n  --amend:\n    cohort-key: K\n",
            "cohorts:\n  kubelet:\n    cohort-key: K\n    more: 1\n",
            "cohorts:\n  kubelet:\n    cohort-key: K\n  kubelet:\n    cohort-key: K\n",
            "cohorts:\n  kubelet: {cohort-key: K}\n",
        ] {
            assert!(parse_cohorts(bad).is_err(), "{bad}");
        }
    }
}
