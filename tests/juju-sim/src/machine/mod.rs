//! Programs of a machine that are not Juju's: links in the machine's `usr/bin` that call through the machine's own
//! socket, inside hooks and outside.
//!
//! `snap`, `systemd-run`, `systemctl` and `juju-exec` are on every machine; a scenario may add programs with fixed
//! answers, which win.

mod systemd;

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::agent::files::link;
use crate::sim::Sim;
use crate::snapd::{Client, Presence, Reply, Turn};
use crate::tools::Call;
use crate::world::{Stub, World};

pub use systemd::{Transient, parse_span};

/// Programs that every machine has.
pub const PROGRAMS: [&str; 4] = ["juju-exec", "snap", "systemctl", "systemd-run"];

/// Answers a call of such a program, but for `juju-exec`, which the simulator itself runs.
pub(crate) fn call(world: &mut World, client: &Client, call: &Call) -> Turn {
    let stub = world.machines.get(&client.machine).and_then(|m| m.programs.get(&call.tool));
    if let Some(Stub { exit, stdout, stderr }) = stub.cloned() {
        return Turn::Done(Reply { code: exit, stdout, stderr, problem: None });
    }
    match call.tool.as_str() {
        "snap" => crate::snapd::call(world, client, &call.args),
        "systemd-run" => {
            Turn::Done(systemd::run(world, &client.machine, client.by.unit.as_deref(), &call.args))
        }
        "systemctl" => Turn::Done(systemd::ctl(world, &client.machine, &call.args)),
        name => Turn::Done(Reply {
            code: 127,
            stderr: format!("{name}: not found\n"),
            problem: Some("no such program".to_owned()),
            ..Reply::default()
        }),
    }
}

impl Sim {
    /// Puts a program with a fixed answer on a machine.
    pub fn install_program(&mut self, machine: &str, name: &str, stub: Stub) -> Result<()> {
        let bin = self.paths(machine).programs();
        fs_err::create_dir_all(&bin)?;
        link(self.tool(), &bin.join(Path::new(name)))?;
        let of = self.world.machines.get_mut(machine).with_context(|| format!("no machine {machine}"))?;
        of.programs.insert(name.to_owned(), stub);
        Ok(())
    }

    /// Links for the programs that a machine has now.
    pub(crate) fn link_programs(&self, machine: &str) -> Result<()> {
        let bin = self.paths(machine).programs();
        fs_err::create_dir_all(&bin)?;
        let of = self.world.machines.get(machine);
        let absent = of.is_some_and(|m| m.snapd.presence == Presence::Absent);
        for name in PROGRAMS {
            let place = bin.join(name);
            let stub = of.is_some_and(|m| m.programs.contains_key(name));
            match (place.symlink_metadata().is_ok(), name == "snap" && absent && !stub) {
                (false, false) => link(self.tool(), &place)?,
                (true, true) => fs_err::remove_file(&place)?,
                (_, _) => {}
            }
        }
        Ok(())
    }
}
