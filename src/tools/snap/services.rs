//! `snap services`, and what starts and stops them.

use super::{MOVE_LIMIT, NOTE_LIMIT, Reach, Snap, args, text};
use crate::snap::{Service, SnapName, Trouble};
use std::collections::BTreeMap;

const HEADER: [&str; 4] = ["Service", "Startup", "Current", "Notes"];

impl Snap {
    /// The services of all snaps on this machine. All of them, since to name a snap that has none or
    /// is not there is an error.
    pub fn services(&self) -> Result<BTreeMap<SnapName, Vec<Service>>, Trouble> {
        Ok(self.read(args(&["services"]), Reach::Local, parse_services)?.0)
    }

    /// Starts the services of a snap, now and at every boot.
    pub fn start(&self, name: &SnapName) -> Result<(), Trouble> {
        self.run(args(&["start", "--enable", name.as_str()]), Reach::Change(NOTE_LIMIT)).map(|_| ())
    }

    /// Stops them and starts those that are enabled.
    pub fn restart(&self, name: &SnapName) -> Result<(), Trouble> {
        self.run(args(&["restart", name.as_str()]), Reach::Change(NOTE_LIMIT)).map(|_| ())
    }

    /// Stops them, now and at every boot.
    pub fn stop(&self, name: &SnapName) -> Result<(), Trouble> {
        self.run(args(&["stop", "--disable", name.as_str()]), Reach::Change(NOTE_LIMIT)).map(|_| ())
    }

    /// Removes a snap with all its data.
    pub fn remove(&self, name: &SnapName) -> Result<(), Trouble> {
        self.run(args(&["remove", "--purge", name.as_str()]), Reach::Change(MOVE_LIMIT)).map(|_| ())
    }
}

/// Reads the table of `snap services`. Those of parallel instances are left out.
pub fn parse_services(stdout: &str) -> Result<BTreeMap<SnapName, Vec<Service>>, String> {
    let mut services: BTreeMap<SnapName, Vec<Service>> = BTreeMap::new();
    for ([name, startup, current, notes], _) in text::rows(stdout, &HEADER)? {
        let (snap, app) = name.split_once('.').ok_or_else(|| format!("{name:?} is no service"))?;
        let Ok(snap) = snap.parse::<SnapName>() else { continue };
        let on_demand = |note: &str| note == "user" || note.ends_with("-activated");
        let service = Service {
            snap: snap.clone(),
            app: app.to_owned(),
            enabled: startup == "enabled",
            active: current == "active",
            on_demand: notes.split(',').any(on_demand),
        };
        services.entry(snap).or_default().push(service);
    }
    Ok(services)
}
