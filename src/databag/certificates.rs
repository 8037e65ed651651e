//! `receive-ca-cert`: certificates of authorities that COS's certificates are signed by.
//!
//! canonical/charmlibs `interfaces/certificate_transfer`. In version 1 the remote application databag
//! has `certificates`, a JSON list of PEM texts; in version 0 each remote unit databag has `certificate`,
//! `ca` and `chain`. A provider speaks version 1 only to who tells that it understands it.

use super::Fault;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// In both application databags.
const VERSION: &str = "version";
const CERTIFICATES: &str = "certificates";
/// In unit databags of version 0; a certificate there may be the server's own, which harms nothing.
const OLD: [&str; 3] = ["certificate", "ca", "chain"];
/// The keys of a remote databag that are kept.
pub const KEYS: [&str; 4] = [CERTIFICATES, "certificate", "ca", "chain"];
/// All certificates of a bundle; real ones have a handful.
const MOST: usize = 1000;
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// What the leader writes into the own application databag.
pub fn app_bag() -> BTreeMap<String, String> {
    BTreeMap::from([(VERSION.to_owned(), "1".to_owned())])
}

/// The certificates in one remote databag, and what is wrong with it.
pub fn read(bag: &BTreeMap<String, String>) -> (BTreeSet<String>, Vec<Fault>) {
    let (mut found, mut faults) = (BTreeSet::new(), Vec::new());
    if let Some(text) = bag.get(CERTIFICATES) {
        match serde_json::from_str::<Vec<String>>(text) {
            Ok(texts) => {
                for (index, text) in texts.iter().enumerate().take(MOST) {
                    add(text, &format!("$.{CERTIFICATES}[{index}]"), &mut found, &mut faults);
                }
            }
            Err(_) => faults.push(Fault::new(format!("$.{CERTIFICATES}"), "is not a list of texts")),
        }
        return (found, faults);
    }
    for key in OLD {
        let Some(text) = bag.get(key) else { continue };
        // `chain` is a JSON list of texts in some writers, one text in others.
        let texts = match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(items)) => {
                items.iter().filter_map(Value::as_str).take(MOST).map(str::to_owned).collect()
            }
            Ok(_) | Err(_) => vec![text.clone()],
        };
        for text in texts {
            add(&text, &format!("$.{key}"), &mut found, &mut faults);
        }
    }
    (found, faults)
}

/// Adds each certificate of a text, line ends made equal, so that one certificate of two writers is one.
fn add(text: &str, path: &str, found: &mut BTreeSet<String>, faults: &mut Vec<Fault>) {
    let before = found.len();
    let mut any = false;
    for part in text.split(BEGIN).skip(1).take(MOST) {
        let Some((body, _)) = part.split_once(END) else { continue };
        let lines: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
        if lines.is_empty() || !lines.iter().all(|line| line.chars().all(base64)) {
            continue;
        }
        any = true;
        found.insert(format!("{BEGIN}\n{}\n{END}\n", lines.join("\n")));
    }
    if !any && found.len() == before && !text.trim().is_empty() {
        faults.push(Fault::new(path, "holds no certificate"));
    }
}

/// The bundle of certificates as one file; none where there is none.
pub fn bundle(certificates: &BTreeSet<String>) -> Option<String> {
    (!certificates.is_empty()).then(|| certificates.iter().map(String::as_str).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pem(body: &str) -> String {
        format!("{BEGIN}\n{body}\n{END}")
    }

    fn bag(pairs: &[(&str, String)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    }

    #[test]
    fn both_versions_give_one_sorted_bundle_without_repeats() {
        let new = bag(&[(CERTIFICATES, json!([pem("Yg=="), pem("YQ==")]).to_string())]);
        let (found, faults) = read(&new);
        assert_eq!(faults, []);
        assert_eq!(bundle(&found).unwrap(), format!("{}\n{}\n", pem("YQ=="), pem("Yg==")));
        let old = bag(&[
            ("ca", pem("YQ==").replace('\n', "\r\n")),
            ("chain", json!([pem("YQ=="), pem("Yg==")]).to_string()),
            ("certificate", format!("{}\n{}", pem("YQ=="), pem("Yg=="))),
        ]);
        assert_eq!(read(&old), (found, vec![]));
        assert_eq!(bundle(&BTreeSet::new()), None);
    }

    #[test]
    fn what_is_no_certificate_is_named_and_the_others_stay() {
        let mixed = bag(&[(CERTIFICATES, json!([pem("YQ=="), "x", pem("$(id)"), BEGIN]).to_string())]);
        let (found, faults) = read(&mixed);
        assert_eq!(found.len(), 1);
        let paths: Vec<&str> = faults.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(paths, ["$.certificates[1]", "$.certificates[2]", "$.certificates[3]"]);
        let (found, faults) = read(&bag(&[(CERTIFICATES, "{}".to_owned())]));
        assert_eq!((found.len(), faults.len()), (0, 1));
        assert_eq!(read(&BTreeMap::new()), (BTreeSet::new(), vec![]));
    }
}
