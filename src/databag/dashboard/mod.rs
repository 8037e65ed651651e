//! Dashboards: decoded once to be sure that they are sound, and rewritten where uid or tag is missing.
//!
//! One unsound dashboard makes grafana-k8s drop every dashboard of the relation, or fail its hook
//! (canonical/grafana-k8s-operator `grafana_dashboard.py`). So each is decoded in full before it is sent;
//! the facts are small and are kept by digest ([`Memo`]), so that it happens once a change.

mod codec;
mod memo;

pub use codec::{MAX_DECODED, MAX_ENCODED, encode};
pub use memo::Memo;

use super::Digest;
use super::json::{self, Kind, Object};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The tag that says which charm a dashboard is from begins with this.
const CHARM_TAG: &str = "charm: ";

/// What a leader has to know of a sound dashboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// `title`, else `dashboard.title`; none where missing, null or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The uid if it is one of this system: exactly 40 hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Any other uid: to be replaced, but it still tells dashboards apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_uid: Option<String>,
    /// The version, which decides between equal uids at the far side; 0 where it is missing.
    pub version: i64,
    /// The object has a `dashboard` object in it. Only the title knows of that; uid and tags are set on
    /// the outer object, as the reference does.
    pub wrapped: bool,
    /// It may pass as it came: a good uid, a `charm: ` tag, nothing to mend.
    pub as_it_is: bool,
    /// Digest of the decoded text: equal dashboards of two encoders have one.
    pub content: Digest,
}

/// A sound dashboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The JSON text.
    pub json: String,
    /// What is to be known of it.
    pub facts: Facts,
}

/// Decodes a dashboard and checks all that the far side needs.
///
/// # Errors
/// What is wrong with it; without the content.
pub fn decode(encoded: &str) -> Result<Decoded, String> {
    let json = codec::decode(encoded)?;
    json::check_depth_and_text(&json).map_err(|error| format!("decodes to no JSON: {error}"))?;
    let object = Object::read(&json).map_err(|fault| format!("decoded {}", fault.reason))?;
    let facts = facts(&object, &json)?;
    Ok(Decoded { json, facts })
}

fn facts(object: &Object<'_>, json: &str) -> Result<Facts, String> {
    let inner = object
        .present("dashboard")
        .filter(|value| json::kind(value) == Kind::Object)
        .and_then(|value| Object::read(value.get()).ok());
    let title = match title(object, "$.title")? {
        Some(title) => Some(title),
        None => match &inner {
            Some(inner) => self::title(inner, "$.dashboard.title")?,
            None => None,
        },
    };
    let uid = object.present("uid").and_then(text).filter(|uid| !uid.is_empty());
    let good_uid = |uid: &String| uid.len() == 40 && uid.bytes().all(|byte| byte.is_ascii_hexdigit());
    let charm_tag =
        tags(object)?.iter().any(|tag| matches!(tag, Tag::Text(tag) if tag.starts_with(CHARM_TAG)));
    if let Some(templating) = object.present("templating") {
        let list = (json::kind(templating) == Kind::Object)
            .then(|| Object::read(templating.get()).ok())
            .flatten()
            .and_then(|templating| templating.get("list").map(json::kind));
        if list != Some(Kind::List) {
            return Err("decodes to an object whose $.templating has no list".to_owned());
        }
    }
    let null_templating = object.get("templating").is_some_and(|value| json::kind(value) == Kind::Null);
    let version = object.present("version");
    Ok(Facts {
        title,
        as_it_is: uid.as_ref().is_some_and(good_uid) && charm_tag && !null_templating,
        foreign_uid: uid.clone().filter(|uid| !good_uid(uid)),
        uid: uid.filter(good_uid),
        version: version.and_then(|v| v.get().parse().ok()).unwrap_or(0),
        wrapped: inner.is_some(),
        content: Digest::of(json),
    })
}

fn title(object: &Object<'_>, path: &str) -> Result<Option<String>, String> {
    match object.present("title") {
        None => Ok(None),
        Some(value) => match text(value) {
            Some(title) => Ok(Some(title).filter(|title| !title.is_empty())),
            None => Err(format!("decodes to an object whose {path} is {}, not a text", json::kind(value))),
        },
    }
}

/// An entry of `tags`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Tag {
    Text(String),
    Other(serde::de::IgnoredAny),
}

fn tags(object: &Object<'_>) -> Result<Vec<Tag>, String> {
    let bad = || "decodes to an object whose $.tags is not a list of texts".to_owned();
    let Some(value) = object.present("tags") else {
        return Ok(Vec::new());
    };
    let tags: Vec<Tag> = serde_json::from_str(value.get()).map_err(|_| bad())?;
    if tags.iter().any(|tag| matches!(tag, Tag::Other(_))) {
        return Err(bad());
    }
    Ok(tags)
}

fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// Sets uid and, where none begins with `charm: `, the tag, and encodes the dashboard again. All other
/// fields keep their text and place; a null `templating` goes, since the far side dies of it.
///
/// # Errors
/// The text is no object, or the encoder fails.
pub fn rewrite(json: &str, uid: &str, charm: &str) -> Result<String, String> {
    let object = Object::read(json).map_err(|fault| fault.reason)?;
    let mut tags: Vec<String> = tags(&object)?
        .into_iter()
        .filter_map(|tag| match tag {
            Tag::Text(tag) => Some(tag),
            Tag::Other(_) => None,
        })
        .collect();
    if !tags.iter().any(|tag| tag.starts_with(CHARM_TAG)) {
        tags.push(format!("{CHARM_TAG}{charm}"));
    }
    let value = |text: &str| serde_json::Value::from(text).to_string();
    let mut fields: Vec<String> = object
        .0
        .iter()
        .filter(|(name, raw)| match name.as_str() {
            "uid" | "tags" => false,
            "templating" => json::kind(raw) != Kind::Null,
            _ => true,
        })
        .map(|(name, raw)| format!("{}:{}", value(name), raw.get()))
        .collect();
    fields.push(format!(r#""uid":{}"#, value(uid)));
    fields.push(format!(r#""tags":{}"#, serde_json::Value::from(tags)));
    codec::encode(&format!("{{{}}}", fields.join(","))).map_err(|error| format!("cannot be encoded: {error}"))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
