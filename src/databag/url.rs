//! Where COS takes metrics and log lines: the URL in a remote unit's databag.

use super::Fault;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Longer ones are no use to anybody.
const LONGEST: usize = 2048;

/// An `http` or `https` URL with a host and without user information, which would be a secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Url(String);

impl Url {
    /// The URL as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads `{"url": "..."}`, as both interfaces write it.
    ///
    /// # Errors
    /// What is wrong, and where; never the text itself.
    pub fn read(text: &str) -> Result<Self, Fault> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| Fault::new("$", format!("is not JSON: {error}")))?;
        let url = value.get("url").ok_or_else(|| Fault::new("$", "has no field url"))?;
        let url = url.as_str().ok_or_else(|| Fault::new("$.url", "is not a text"))?;
        Self::try_from(url.to_owned()).map_err(|why| Fault::new("$.url", why))
    }
}

impl TryFrom<String> for Url {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        if text.len() > LONGEST {
            return Err("is too long for a URL");
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("has a blank or a character that a URL cannot have");
        }
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        let rest = rest.ok_or("is neither http:// nor https://")?;
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.contains('@') {
            return Err("has user information, which would not stay a secret");
        }
        if host.is_empty() || host.starts_with(':') {
            return Err("has no host");
        }
        Ok(Self(text))
    }
}

impl From<Url> for String {
    fn from(url: Url) -> Self {
        url.0
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_with_a_host_and_no_user_is_a_url() {
        for good in [
            "http://10.1.4.7:3100/loki/api/v1/push",
            "https://cos.example/p-0/api/v1/write",
            "http://[::1]:9",
        ] {
            let text = serde_json::json!({"url": good}).to_string();
            assert_eq!(Url::read(&text).unwrap().as_str(), good);
        }
        for (bad, path, reason) in [
            (r#"{"url": "file:///etc/passwd"}"#, "$.url", "is neither http:// nor https://"),
            (
                r#"{"url": "http://a:b@host/"}"#,
                "$.url",
                "has user information, which would not stay a secret",
            ),
            (r#"{"url": "http://:80/"}"#, "$.url", "has no host"),
            (r#"{"url": "http:///x"}"#, "$.url", "has no host"),
            (r#"{"url": "http://a b"}"#, "$.url", "has a blank or a character that a URL cannot have"),
            (r#"{"url": 7}"#, "$.url", "is not a text"),
            (r#"{}"#, "$", "has no field url"),
            ("[]", "$", "has no field url"),
            ("{", "$", "is not JSON: EOF while parsing an object at line 1 column 1"),
        ] {
            assert_eq!(Url::read(bad), Err(Fault::new(path, reason)), "{bad}");
        }
        let long = format!("http://{}", "a".repeat(LONGEST));
        assert!(Url::try_from(long).is_err());
    }
}
