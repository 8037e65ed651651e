//! Who and where this unit is: the variables that the unit agent sets for every hook.

use super::{AppName, UnitName};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The environment as it was at the start, read once in `main`.
pub type Variables = BTreeMap<String, String>;

/// The variables that are the same in every hook, action and `juju exec` of a unit.
/// Source: juju/juju `worker/uniter/runner/context/context.go` `HookVars`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// `JUJU_UNIT_NAME`, such as `lockstep/0`.
    pub unit: UnitName,
    /// `JUJU_PRINCIPAL_UNIT`; none in a principal charm.
    pub principal_unit: Option<UnitName>,
    /// `JUJU_MODEL_NAME`.
    pub model: String,
    /// `JUJU_MODEL_UUID`.
    pub model_uuid: String,
    /// `JUJU_MACHINE_ID`, such as `3` or `3/lxd/0`.
    pub machine: String,
    /// `JUJU_VERSION` of the agent, such as `3.6.9` or `4.0-beta5`.
    pub juju_version: JujuVersion,
    /// `JUJU_CHARM_DIR`.
    pub charm_dir: PathBuf,
    /// What precedes `/var/lib/juju/agents/` in `charm_dir`: nothing on a real machine. Every
    /// absolute path of ours lies below it.
    pub root: PathBuf,
}

impl Context {
    /// Reads the variables. The error names the variable that is missing or wrong.
    pub fn from_variables(variables: &Variables) -> Result<Self, String> {
        let get = |name: &str| variables.get(name).filter(|value| !value.is_empty());
        let need = |name: &str| get(name).ok_or_else(|| format!("{name} is not set"));
        let unit = need("JUJU_UNIT_NAME")?;
        let principal = get("JUJU_PRINCIPAL_UNIT")
            .map(|name| name.parse().map_err(|error| format!("JUJU_PRINCIPAL_UNIT: {error}")));
        let charm_dir = PathBuf::from(need("JUJU_CHARM_DIR").or_else(|_| need("CHARM_DIR"))?);
        Ok(Self {
            unit: unit.parse().map_err(|error| format!("JUJU_UNIT_NAME: {error}"))?,
            principal_unit: principal.transpose()?,
            model: need("JUJU_MODEL_NAME")?.clone(),
            model_uuid: need("JUJU_MODEL_UUID")?.clone(),
            machine: get("JUJU_MACHINE_ID").cloned().unwrap_or_default(),
            juju_version: JujuVersion::parse(get("JUJU_VERSION").map_or("", String::as_str)),
            root: root_of(&charm_dir),
            charm_dir,
        })
    }

    /// The application of this unit.
    pub fn application(&self) -> &AppName {
        self.unit.application()
    }

    /// The directory of ours in the unit agent's own directory, beside the charm directory.
    pub fn own_dir(&self) -> PathBuf {
        self.charm_dir.parent().unwrap_or(&self.charm_dir).join("lockstep")
    }
}

fn root_of(charm_dir: &Path) -> PathBuf {
    let text = charm_dir.to_string_lossy();
    text.find("/var/lib/juju/agents/").and_then(|at| text.get(..at)).unwrap_or_default().into()
}

/// The numbers of an agent's version. Unknown forms are an old version: nothing new is relied on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct JujuVersion {
    /// 3 in `3.6.9`.
    pub major: u32,
    /// 6 in `3.6.9`.
    pub minor: u32,
    /// 9 in `3.6.9`; 0 in `4.0-beta5`.
    pub patch: u32,
}

impl JujuVersion {
    /// Reads `3.6.9`, `3.6.1.1`, `4.0.14`, `4.0-beta5`.
    pub fn parse(text: &str) -> Self {
        let mut parts = text.split(['.', '-']).map_while(|part| part.parse().ok());
        let mut next = || parts.next().unwrap_or(0);
        Self { major: next(), minor: next(), patch: next() }
    }

    /// That version.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(extra: &[(&str, &str)]) -> Variables {
        [
            ("JUJU_UNIT_NAME", "lockstep/0"),
            ("JUJU_PRINCIPAL_UNIT", ""),
            ("JUJU_MODEL_NAME", "prod"),
            ("JUJU_MODEL_UUID", "7d1f3c2a-9b4e-4c55-8a10-3f6e2b9d0c41"),
            ("JUJU_VERSION", "3.6.9"),
            ("JUJU_CHARM_DIR", "/var/lib/juju/agents/unit-lockstep-0/charm"),
        ]
        .iter()
        .chain(extra)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
    }

    #[test]
    fn the_root_is_empty_on_a_real_machine_and_the_prefix_elsewhere() {
        let real = Context::from_variables(&variables(&[])).unwrap();
        assert_eq!(real.root, PathBuf::new());
        assert_eq!(real.principal_unit, None);
        assert_eq!(real.own_dir(), Path::new("/var/lib/juju/agents/unit-lockstep-0/lockstep"));
        let dir = "/tmp/m/3/var/lib/juju/agents/unit-lockstep-0/charm";
        let simulated = Context::from_variables(&variables(&[("JUJU_CHARM_DIR", dir)])).unwrap();
        assert_eq!(simulated.root, Path::new("/tmp/m/3"));
    }

    #[test]
    fn a_missing_or_wrong_variable_is_named() {
        let mut missing = variables(&[]);
        missing.remove("JUJU_MODEL_UUID");
        assert_eq!(Context::from_variables(&missing), Err("JUJU_MODEL_UUID is not set".to_owned()));
        let wrong = Context::from_variables(&variables(&[("JUJU_UNIT_NAME", "lockstep")]));
        assert_eq!(wrong, Err("JUJU_UNIT_NAME: \"lockstep\" is not the name of a unit".to_owned()));
    }

    #[test]
    fn versions_of_every_form_are_read() {
        let table = [
            ("3.6.9", (3, 6, 9)),
            ("3.6.1.1", (3, 6, 1)),
            ("4.0-beta5", (4, 0, 0)),
            ("4.0.14", (4, 0, 14)),
            ("", (0, 0, 0)),
        ];
        for (text, (major, minor, patch)) in table {
            assert_eq!(JujuVersion::parse(text), JujuVersion::new(major, minor, patch), "{text}");
        }
    }
}
