//! Programs of a machine that are not Juju's (a simulated snapd or kubectl would live here): links in the machine's
//! `usr/bin` that call through the machine's own socket, also outside a hook.
//!
//! So far there are only programs with fixed answers.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::agent::files::link;
use crate::sim::Sim;
use crate::tools::{Answer, Call};
use crate::world::{Stub, World};

/// Whether a machine has any such program.
pub fn any(world: &World, machine: &str) -> bool {
    world.machines.get(machine).is_some_and(|m| !m.programs.is_empty())
}

/// Answers a call of such a program.
pub fn call(world: &mut World, machine: &str, call: &Call) -> Answer {
    match world.machines.get(machine).and_then(|m| m.programs.get(&call.tool)) {
        Some(stub) => Answer {
            code: stub.exit,
            stdout: stub.stdout.clone().into_bytes(),
            stderr: stub.stderr.clone().into_bytes(),
            ..Answer::default()
        },
        None => Answer {
            code: 127,
            stderr: format!("{}: not found\n", call.tool).into_bytes(),
            problem: Some(format!("{}: no such program", crate::tools::shown(call))),
            ..Answer::default()
        },
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
}
