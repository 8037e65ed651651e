//! Whether Prometheus takes a scrape job. It refuses a configuration as a whole, so a job that it would
//! refuse is left out before.
//!
//! Fields: prometheus/prometheus `config/config.go`. What promtool 2.42 and the collector 0.130 say of each fault is known;
//! expressions (`regex`) are not read here, the collector's own validation finds those. Discovery and
//! files are refused: in the snap's sandbox nothing of them can be read.

use crate::databag::{Fault, grammar, json};
use serde_json::{Map, Value};

type Object = Map<String, Value>;
type Check = fn(&str, &Value) -> Result<(), Fault>;

const FIELDS: &[(&str, Check)] = &[
    ("authorization", authorization),
    ("basic_auth", basic_auth),
    ("bearer_token", text),
    ("body_size_limit", text),
    ("enable_compression", truth),
    ("enable_http2", truth),
    ("fallback_scrape_protocol", protocol),
    ("follow_redirects", truth),
    ("honor_labels", truth),
    ("honor_timestamps", truth),
    ("label_limit", count),
    ("label_name_length_limit", count),
    ("label_value_length_limit", count),
    ("metric_relabel_configs", relabel),
    ("metrics_path", metrics_path),
    ("no_proxy", text),
    ("params", params),
    ("proxy_from_environment", truth),
    ("proxy_url", text),
    ("relabel_configs", relabel),
    ("sample_limit", count),
    ("scheme", scheme),
    ("scrape_interval", duration),
    ("scrape_protocols", protocols),
    ("scrape_timeout", duration),
    ("static_configs", static_configs),
    ("target_limit", count),
    ("tls_config", tls_config),
    ("track_timestamps_staleness", truth),
];
const TLS: &[(&str, Check)] = &[
    ("ca", text),
    ("cert", text),
    ("insecure_skip_verify", truth),
    ("key", text),
    ("max_version", tls_version),
    ("min_version", tls_version),
    ("server_name", text),
];
const AUTHORIZATION: &[(&str, Check)] = &[("credentials", text), ("type", text)];
const BASIC_AUTH: &[(&str, Check)] = &[("password", text), ("username", text)];
const STATIC: &[(&str, Check)] = &[("labels", labels), ("targets", targets)];
const RELABEL: &[(&str, Check)] = &[
    ("action", action),
    ("modulus", count),
    ("regex", scalar),
    ("replacement", scalar),
    ("separator", text),
    ("source_labels", texts),
    ("target_label", text),
];
const ACTIONS: [&str; 11] = [
    "replace",
    "keep",
    "drop",
    "keepequal",
    "dropequal",
    "hashmod",
    "labelmap",
    "labeldrop",
    "labelkeep",
    "lowercase",
    "uppercase",
];
const PROTOCOLS: [&str; 5] = [
    "OpenMetricsText0.0.1",
    "OpenMetricsText1.0.0",
    "PrometheusProto",
    "PrometheusText0.0.4",
    "PrometheusText1.0.0",
];
const TLS_VERSIONS: [&str; 4] = ["TLS10", "TLS11", "TLS12", "TLS13"];
/// At most one of them may be there.
const CREDENTIALS: [&str; 3] = ["authorization", "basic_auth", "bearer_token"];
/// YAML has a limit for keys that are not marked as such; no name comes near it.
const LONGEST_KEY: usize = 512;

/// Checks a job; gives its name and its other fields. A field that is null is not there.
pub(super) fn job(path: &str, mut job: Object) -> Result<(String, Object), Fault> {
    let name = match job.remove("job_name") {
        Some(Value::String(name)) if !name.is_empty() && name.len() <= LONGEST_KEY => name,
        Some(Value::Null) | None => return Err(Fault::new(path, "has no job_name")),
        Some(_) => return Err(Fault::new(format!("{path}.job_name"), "is not a name")),
    };
    // The name says which job it is, where the admin knows no numbers.
    let named = |fault: Fault| Fault::new(fault.path, format!("{} (job {})", fault.reason, shown(&name)));
    job.retain(|_, value| !value.is_null());
    fields(path, &job, FIELDS).and_then(|()| together(path, &job)).map_err(named)?;
    Ok((name, job))
}

/// A job's name as it may stand in a message.
fn shown(name: &str) -> String {
    name.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn together(path: &str, job: &Object) -> Result<(), Fault> {
    let given: Vec<&str> = CREDENTIALS.into_iter().filter(|field| job.contains_key(*field)).collect();
    if let [_, second, ..] = given.as_slice() {
        return Err(Fault::new(json::child(path, second), "stands beside other credentials"));
    }
    let proxied = job.contains_key("proxy_url");
    if job.contains_key("no_proxy") && !proxied {
        return Err(Fault::new(json::child(path, "no_proxy"), "stands without a proxy_url"));
    }
    if job.get("proxy_from_environment") == Some(&Value::Bool(true))
        && (proxied || job.contains_key("no_proxy"))
    {
        return Err(Fault::new(json::child(path, "proxy_from_environment"), "stands beside another proxy"));
    }
    let span = |field| job.get(field).and_then(Value::as_str).and_then(grammar::milliseconds);
    if let (Some(timeout), interval) = (span("scrape_timeout"), span("scrape_interval"))
        && timeout > interval.unwrap_or(super::INTERVAL)
    {
        return Err(Fault::new(json::child(path, "scrape_timeout"), "is longer than the interval"));
    }
    Ok(())
}

fn fields(path: &str, object: &Object, known: &[(&str, Check)]) -> Result<(), Fault> {
    for (field, value) in object {
        let place = json::child(path, field);
        match known.iter().find(|(name, _)| name == field) {
            Some((_, check)) => check(&place, value)?,
            None if field.ends_with("_sd_configs") => {
                return Err(Fault::new(place, "is discovery, which is not supported"));
            }
            None if field.ends_with("_file") => {
                return Err(Fault::new(place, "is a file, which the collector cannot read"));
            }
            None => return Err(Fault::new(place, "is no field that is known here")),
        }
    }
    Ok(())
}

fn fault<T>(path: &str, value: &Value, wanted: &str) -> Result<T, Fault> {
    Err(Fault::new(path, format!("is {}, not {wanted}", json::kind_of(value))))
}

fn object<'a>(path: &str, value: &'a Value) -> Result<&'a Object, Fault> {
    value.as_object().map_or_else(|| fault(path, value, "an object"), Ok)
}

fn items<'a>(path: &str, value: &'a Value) -> Result<&'a [Value], Fault> {
    value.as_array().map_or_else(|| fault(path, value, "a list"), |items| Ok(items.as_slice()))
}

fn text(path: &str, value: &Value) -> Result<(), Fault> {
    if value.is_string() { Ok(()) } else { fault(path, value, "a text") }
}

fn scalar(path: &str, value: &Value) -> Result<(), Fault> {
    if value.is_number() { Ok(()) } else { text(path, value) }
}

fn truth(path: &str, value: &Value) -> Result<(), Fault> {
    if value.is_boolean() { Ok(()) } else { fault(path, value, "true or false") }
}

fn count(path: &str, value: &Value) -> Result<(), Fault> {
    if value.is_u64() { Ok(()) } else { fault(path, value, "a whole number") }
}

fn texts(path: &str, value: &Value) -> Result<(), Fault> {
    for (index, item) in items(path, value)?.iter().enumerate() {
        text(&format!("{path}[{index}]"), item)?;
    }
    Ok(())
}

fn protocol(path: &str, value: &Value) -> Result<(), Fault> {
    one_of(path, value, &PROTOCOLS, "is no protocol that is known here")
}

fn protocols(path: &str, value: &Value) -> Result<(), Fault> {
    for (index, item) in items(path, value)?.iter().enumerate() {
        protocol(&format!("{path}[{index}]"), item)?;
    }
    Ok(())
}

fn tls_version(path: &str, value: &Value) -> Result<(), Fault> {
    one_of(path, value, &TLS_VERSIONS, "is no version such as TLS12")
}

fn one_of(path: &str, value: &Value, known: &[&str], fault: &str) -> Result<(), Fault> {
    if value.as_str().is_some_and(|text| known.contains(&text)) {
        Ok(())
    } else {
        Err(Fault::new(path, fault))
    }
}

fn duration(path: &str, value: &Value) -> Result<(), Fault> {
    text(path, value)?;
    let given = value.as_str().unwrap_or_default();
    if grammar::is_duration(given) && !grammar::is_zero(given) {
        Ok(())
    } else {
        Err(Fault::new(path, "is no duration such as 30s"))
    }
}

fn scheme(path: &str, value: &Value) -> Result<(), Fault> {
    if matches!(value.as_str(), Some("http" | "https")) {
        Ok(())
    } else {
        Err(Fault::new(path, "is neither http nor https"))
    }
}

fn metrics_path(path: &str, value: &Value) -> Result<(), Fault> {
    match value.as_str() {
        Some(text) if text.starts_with('/') => Ok(()),
        _ => Err(Fault::new(path, "is no path that begins with /")),
    }
}

fn action(path: &str, value: &Value) -> Result<(), Fault> {
    // Prometheus takes them in any case of letters.
    let action = value.as_str().unwrap_or_default().to_lowercase();
    if ACTIONS.contains(&action.as_str()) {
        Ok(())
    } else {
        Err(Fault::new(path, "is no action of relabelling"))
    }
}

fn key(path: &str, name: &str) -> Result<(), Fault> {
    if name.is_empty() || name.len() > LONGEST_KEY || name.chars().any(char::is_control) {
        return Err(Fault::new(path, "has a name that is empty, too long, or has control characters"));
    }
    Ok(())
}

fn params(path: &str, value: &Value) -> Result<(), Fault> {
    for (name, value) in object(path, value)? {
        key(path, name)?;
        texts(&json::child(path, name), value)?;
    }
    Ok(())
}

fn labels(path: &str, value: &Value) -> Result<(), Fault> {
    for (name, value) in object(path, value)? {
        let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let rest = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !first || !rest || name.len() > LONGEST_KEY {
            return Err(Fault::new(path, "has a name that is no label's"));
        }
        scalar(&json::child(path, name), value)?;
    }
    Ok(())
}

fn targets(path: &str, value: &Value) -> Result<(), Fault> {
    for (index, target) in items(path, value)?.iter().enumerate() {
        let path = format!("{path}[{index}]");
        text(&path, target)?;
        let target = target.as_str().unwrap_or_default();
        let plain =
            target.bytes().all(|byte| byte.is_ascii_graphic()) && !target.contains(['/', '@', '?', '#']);
        if target.is_empty() || !plain {
            return Err(Fault::new(path, "is not host:port"));
        }
    }
    Ok(())
}

fn static_configs(path: &str, value: &Value) -> Result<(), Fault> {
    each(path, value, STATIC)
}

fn relabel(path: &str, value: &Value) -> Result<(), Fault> {
    each(path, value, RELABEL)
}

fn each(path: &str, value: &Value, known: &[(&str, Check)]) -> Result<(), Fault> {
    for (index, item) in items(path, value)?.iter().enumerate() {
        let path = format!("{path}[{index}]");
        fields(&path, object(&path, item)?, known)?;
    }
    Ok(())
}

fn tls_config(path: &str, value: &Value) -> Result<(), Fault> {
    fields(path, object(path, value)?, TLS)
}

fn authorization(path: &str, value: &Value) -> Result<(), Fault> {
    fields(path, object(path, value)?, AUTHORIZATION)
}

fn basic_auth(path: &str, value: &Value) -> Result<(), Fault> {
    fields(path, object(path, value)?, BASIC_AUTH)
}
