//! The collector of COS on a machine: the program that validates its configurations, the files that snapd keeps for
//! it, and what must be so when its service starts.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use crate::agent::files::link;
use crate::sim::Sim;
use crate::snapd::{Reply, fstab};

/// The snap.
pub(crate) const SNAP: &str = "opentelemetry-collector";
/// Its program.
pub(crate) const PROGRAM: &str = "otelcol";
const PLACE: &str = "snap/opentelemetry-collector/current/bin/otelcol";
const CONFIG: &str = "etc/otelcol/config.d";

/// `otelcol validate --config=FILE`
pub(super) fn call(args: &[String]) -> Reply {
    let file = match args {
        [verb, file] if verb == "validate" => file.strip_prefix("--config="),
        _ => None,
    };
    let Some(file) = file else {
        let text = format!("otelcol {}: not simulated", args.join(" "));
        return Reply { code: 1, stderr: format!("{text}\n"), problem: Some(text), ..Reply::default() };
    };
    match fs_err::read_to_string(file).map_err(|error| error.to_string()).and_then(|text| fault(&text)) {
        Ok(()) => Reply::default(),
        // The real one may quote values.
        Err(why) => Reply { code: 1, stderr: format!("Error: {why}\n"), ..Reply::default() },
    }
}

/// What is wrong with a configuration, of what can be known without being a collector.
fn fault(text: &str) -> Result<(), String> {
    let body: String =
        text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    let config: Value = serde_json::from_str(&body).map_err(|error| error.to_string())?;
    let at = |place: &str| config.pointer(place).cloned().unwrap_or_default();
    let ids = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let pipelines = at("/service/pipelines");
    let pipelines = pipelines.as_object().ok_or("no pipelines")?;
    let mut used = vec![("extensions", ids(&at("/service/extensions")))];
    for (id, pipeline) in pipelines {
        for section in ["receivers", "processors", "exporters"] {
            let named = ids(pipeline.get(section).unwrap_or(&Value::Null));
            if named.is_empty() && section != "processors" {
                return Err(format!("{id} has no {section}"));
            }
            used.push((section, named));
        }
    }
    for (section, ids) in used {
        let defined = at(&format!("/{section}"));
        if let Some(id) = ids.iter().find(|id| defined.get(id.as_str()).is_none()) {
            return Err(format!("references {section} {id:?} which is not configured"));
        }
    }
    texts(&config)
}

/// Every text: a reference is none of ours, and an expression has no open bracket.
fn texts(value: &Value) -> Result<(), String> {
    match value {
        Value::String(text) if text.replace("$$", "").contains('$') => Err("a reference".to_owned()),
        Value::Object(fields) => {
            let regex = fields.get("regex").and_then(Value::as_str).unwrap_or_default();
            if regex.matches('(').count() != regex.matches(')').count() {
                return Err(format!("error parsing regexp: missing closing ): {regex}"));
            }
            fields.values().try_for_each(texts)
        }
        Value::Array(items) => items.iter().try_for_each(texts),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => Ok(()),
    }
}

impl Sim {
    /// Files that are there as long as the snap is.
    pub(super) fn link_collector(&self, machine: &str) -> Result<()> {
        let root = self.paths(machine).root;
        let Some(of) = self.world.machines.get(machine) else { return Ok(()) };
        let place = root.join(PLACE);
        match (place.symlink_metadata().is_ok(), of.snapd.snaps.contains_key(SNAP)) {
            (false, true) => {
                if let Some(dir) = place.parent() {
                    fs_err::create_dir_all(dir)?;
                }
                link(self.tool(), &place)?;
            }
            (true, false) => {
                fs_err::remove_dir_all(root.join("snap").join(SNAP))?;
                forget(&root.join("var/snap").join(SNAP))?;
            }
            (_, _) => {}
        }
        let table = root.join(format!("var/lib/snapd/mount/snap.{SNAP}.fstab"));
        match fstab(&of.snapd, SNAP) {
            Some(text) => super::put(&table, &text),
            None if table.exists() => fs_err::remove_file(&table).map_err(Into::into),
            None => Ok(()),
        }
    }

    /// Once a `snap` command has ended the files are as it made them. A collector that was started has a
    /// configuration, each of its files is one, and nobody else may read it.
    pub(crate) fn after_snap(&mut self, machine: &str, starts: bool) -> Result<()> {
        self.link_collector(machine)?;
        if !starts {
            return Ok(());
        }
        let Some(snap) = self.world.machines.get(machine).and_then(|of| of.snapd.snaps.get(SNAP)) else {
            return Ok(());
        };
        if !snap.services.values().any(|service| service.active) {
            return Ok(());
        }
        let dir = self.paths(machine).root.join(CONFIG);
        let mut count = 0;
        for entry in fs_err::read_dir(&dir).into_iter().flatten() {
            let entry = entry?;
            count += 1;
            let text = fs_err::read_to_string(entry.path())?;
            let ours = text.starts_with("# lockstep ");
            let mode = entry.metadata()?.permissions().mode() & 0o777;
            if ours && mode != 0o600 {
                self.problems.push(format!("{}: mode {mode:o}", entry.path().display()));
            }
            if ours && let Err(why) = fault(&text) {
                self.problems.push(format!("{}: {why}", entry.path().display()));
            }
        }
        if count == 0 {
            self.problems
                .push(format!("machine {machine}: the collector runs with a configuration of its own"));
        }
        Ok(())
    }
}

fn forget(dir: &Path) -> Result<()> {
    match fs_err::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}
