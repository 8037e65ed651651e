//! Names of snaps.

use super::{SnapTextError, as_string};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The name of a snap: 2 to 40 of lower case letters, digits and single dashes, with a letter, and no
/// dash at either end (snapcore/snapd `snap/naming/validate.go`). Parallel instances (`name_key`)
/// are no names: nothing here manages them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SnapName(String);

impl SnapName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SnapName {
    type Err = SnapTextError;

    fn from_str(text: &str) -> Result<Self, SnapTextError> {
        let fault = |why| Err(SnapTextError::new(text, "the name of a snap", why));
        if !(2..=40).contains(&text.len()) {
            return fault("it must have 2 to 40 characters");
        }
        if !text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            return fault("only a-z, 0-9 and dashes are allowed");
        }
        if !text.bytes().any(|b| b.is_ascii_lowercase()) {
            return fault("it must have a letter");
        }
        if text.split('-').any(str::is_empty) {
            return fault("dashes must be single and between other characters");
        }
        // `snap set system` and its like mean the configuration of the machine.
        if text == "system" {
            return fault("it stands for the system's configuration");
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SnapName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

as_string!(SnapName);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_snapd() {
        for good in ["kubelet", "kube-proxy", "k8s", "0ad", "a0", &"a".repeat(40)] {
            assert_eq!(good.parse::<SnapName>().unwrap().to_string(), good);
        }
        let long = "a".repeat(41);
        let bad = [
            "", "a", &long, "-kubelet", "kubelet-", "a--b", "12-34", "Kubelet", "k8s_one", "a/b", "a.snap",
            "ä-b", "a b", "a\nb", "system", "--hold",
        ];
        for bad in bad {
            assert!(bad.parse::<SnapName>().is_err(), "{bad}");
        }
        let error = "--hold".parse::<SnapName>().unwrap_err().to_string();
        let expected =
            "\"--hold\" is not the name of a snap: dashes must be single and between other characters";
        assert_eq!(error, expected);
    }

    #[test]
    fn serde_validates() {
        assert!(serde_json::from_str::<SnapName>("\"kubelet\"").is_ok());
        assert!(serde_json::from_str::<SnapName>("\"--amend\"").is_err());
    }
}
