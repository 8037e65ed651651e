//! manifest.yaml: the bases that the charm is built for (juju/charm manifest.go, base.go).

use serde_json::{Map, Value};

use super::schema::{self, unexpected};
use crate::wire::go_text::quote;
use crate::wire::yaml_v2;

/// The part of manifest.yaml that Juju reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The first is the default of a deployment.
    pub bases: Vec<Base>,
}

/// One base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// `ubuntu`
    pub name: String,
    /// `24.04`, without the risk that may be written behind it.
    pub channel: String,
    /// None means all.
    pub architectures: Vec<String>,
}

const SYSTEMS: [&str; 6] = ["ubuntu", "centos", "windows", "osx", "opensuse", "genericlinux"];
const ARCHITECTURES: [&str; 7] = ["amd64", "i386", "armhf", "arm64", "ppc64el", "s390x", "riscv64"];
const RISKS: [&str; 4] = ["stable", "candidate", "beta", "edge"];

impl Manifest {
    /// Read and check the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let raw = raw(text).map_err(|why| format!("manifest: {why}"))?;
        let listed = raw.get("bases").unwrap_or(&Value::Null);
        let Some(items) = listed.as_array() else {
            return Err(format!("manifest: coerce: {}", schema_text("", "list", listed)));
        };
        let bases: Result<_, String> = items.iter().enumerate().map(|(at, item)| base(item, at)).collect();
        bases.map(|bases| Self { bases }).map_err(|why| format!("manifest: {why}"))
    }
}

/// Juju crashes on a file without content; here that is a missing list.
fn raw(text: &str) -> Result<Map<String, Value>, String> {
    let Some(root) = yaml_v2::document(text.as_bytes())? else {
        return Ok(Map::new());
    };
    root.entries_as("map[interface {}]interface {}")?;
    if root.is_null() { Ok(Map::new()) } else { root.object() }
}

fn base(item: &Value, at: usize) -> Result<Base, String> {
    let coerce = |why: String| format!("coerce: {why}");
    let Value::Object(map) = item else {
        return Err(coerce(schema_text(&format!("[{at}]: "), "map", item)));
    };
    let text = |key: &str| match map.get(key) {
        None => Ok(None),
        Some(value) => schema::as_string(value, &format!("[{at}].{key}")).map(Some).map_err(coerce),
    };
    let name = text("name")?.unwrap_or_default();
    let channel = text("channel")?;
    let architectures = match map.get("architectures") {
        None => Vec::new(),
        Some(Value::Array(items)) => {
            let path = |n: usize| format!("[{at}].architectures[{n}]");
            let names =
                items.iter().enumerate().map(|(n, item)| schema::as_string(item, &path(n)).map_err(coerce));
            names.map(|name| name.map(|name| architecture(&name))).collect::<Result<_, _>>()?
        }
        Some(other) => {
            return Err(coerce(unexpected(&format!("[{at}].architectures"), "list", other)));
        }
    };
    let track = match &channel {
        Some(channel) => {
            track(channel).map_err(|why| format!("parsing channel {}: {why}", quote(channel)))?
        }
        None => String::new(),
    };
    if name.is_empty() {
        return Err("base without name not valid".to_owned());
    }
    if !SYSTEMS.contains(&name.as_str()) {
        return Err(format!("os {} not valid", quote(&name)));
    }
    if channel.is_none() {
        return Err("channel not valid".to_owned());
    }
    if let Some(bad) = architectures.iter().find(|name| !ARCHITECTURES.contains(&name.as_str())) {
        return Err(format!("architecture {} not valid", quote(bad)));
    }
    Ok(Base { name, channel: track, architectures })
}

/// The track of `track`, `risk`, `track/risk`, `risk/branch` or `track/risk/branch`.
fn track(channel: &str) -> Result<String, String> {
    if channel.is_empty() {
        return Err("empty channel not valid".to_owned());
    }
    let parts: Vec<&str> = channel.split('/').collect();
    let is_risk = |text: &str| RISKS.contains(&text);
    let (track, risk, branch) = match parts.as_slice() {
        [risk] if is_risk(risk) => (None, Some(*risk), None),
        [track] => (Some(*track), None, None),
        [risk, branch] if is_risk(risk) => (None, Some(*risk), Some(*branch)),
        [track, risk] => (Some(*track), Some(*risk), None),
        [track, risk, branch] => (Some(*track), Some(*risk), Some(*branch)),
        _ => {
            return Err(format!("channel is malformed and has too many components {}", quote(channel)));
        }
    };
    let invalid = |what: &str| Err(format!("{what} in channel {} not valid", quote(channel)));
    if risk.is_some_and(|risk| !is_risk(risk)) {
        return invalid("risk");
    }
    if track == Some("") {
        return invalid("track");
    }
    if branch == Some("") {
        return invalid("branch");
    }
    Ok(track.unwrap_or_default().to_owned())
}

/// Juju's name for what `uname -m` says.
fn architecture(name: &str) -> String {
    let x86 = |name: &str| ["386", "486", "586", "686"].iter().any(|family| name.contains(family));
    match name {
        _ if name.contains("amd64") || name.contains("x86_64") => "amd64",
        _ if x86(name) => "i386",
        _ if name.ends_with("arm") || name.contains("armv") => "armhf",
        _ if name.contains("aarch64") => "arm64",
        _ if name.contains("ppc64") => "ppc64el",
        _ if name.contains("s390x") => "s390x",
        _ if name.contains("riscv64") => "riscv64",
        other => other,
    }
    .to_owned()
}

fn schema_text(path: &str, wanted: &str, got: &Value) -> String {
    format!("{path}expected {wanted}, got {}", crate::wire::go_text::typed_literal(got))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bases_are_read() {
        let text = "charmcraft-version: '3'\nbases:\n- name: ubuntu\n  channel: '24.04'\n  architectures: [amd64, x86_64, arm, i686]\n\
                    - {name: centos, channel: 7/stable}\nanalysis: {attributes: []}\n";
        let bases = Manifest::parse(text).unwrap().bases;
        assert_eq!(bases[0].channel, "24.04");
        assert_eq!(bases[0].architectures, ["amd64", "amd64", "armhf", "i386"]);
        assert_eq!((bases[1].name.as_str(), bases[1].channel.as_str()), ("centos", "7"));
    }

    #[test]
    fn bad_bases_are_refused() {
        for (base, expected) in [
            ("{name: ubuntu, channel: 24.04}", "coerce: [0].channel: expected string, got float64(24.04)"),
            ("{channel: '24.04'}", "base without name not valid"),
            ("{name: debian, channel: '12'}", "os \"debian\" not valid"),
            ("{name: ubuntu}", "channel not valid"),
            ("{name: ubuntu, channel: ''}", "parsing channel \"\": empty channel not valid"),
            ("{name: ubuntu, channel: 1/x}", "parsing channel \"1/x\": risk in channel \"1/x\" not valid"),
            ("{name: ubuntu, channel: '1', architectures: [vax]}", "architecture \"vax\" not valid"),
            ("ubuntu", "coerce: [0]: expected map, got string(\"ubuntu\")"),
        ] {
            assert_eq!(
                Manifest::parse(&format!("bases: [{base}]")).unwrap_err(),
                format!("manifest: {expected}")
            );
        }
        assert_eq!(Manifest::parse("x: 1").unwrap_err(), "manifest: coerce: expected list, got nothing");
    }
}
