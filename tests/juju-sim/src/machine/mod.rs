//! Programs of a machine that are not Juju's: links in the machine's `usr/bin` that call through the machine's own
//! socket, inside hooks and outside.
//!
//! `snap`, `systemd-run`, `systemctl` and `juju-exec` are on every machine, `kubectl` and `k8s` where their snaps are;
//! a scenario may add programs with fixed answers, which win.

pub(crate) mod collector;
mod systemd;

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::agent::files::{link, write_atomically};
use crate::kube::{Access, hostname};
use crate::sim::Sim;
use crate::snapd::{Client, Presence, Reply, Turn};
use crate::tools::Call;
use crate::world::{Machine, Stub, World};

pub use systemd::{Transient, parse_span};

/// Programs that every machine has.
pub const PROGRAMS: [&str; 4] = ["juju-exec", "snap", "systemctl", "systemd-run"];
/// Programs of the Kubernetes cluster.
pub(crate) const KUBE_PROGRAMS: [&str; 2] = ["k8s", "kubectl"];

/// Whether a program can be called on a machine.
pub(crate) fn has(machine: &Machine, name: &str) -> bool {
    machine.programs.contains_key(name)
        || match name {
            "snap" => machine.snapd.presence != Presence::Absent,
            collector::PROGRAM => machine.snapd.snaps.contains_key(collector::SNAP),
            name if KUBE_PROGRAMS.contains(&name) => machine.has_kubectl(name),
            name => PROGRAMS.contains(&name),
        }
}

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
        "k8s" | "kubectl" => crate::kube::call(world, client, &call.tool, &call.args),
        collector::PROGRAM => Turn::Done(collector::call(&call.args)),
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

    /// Links for the programs that a machine has now, and the files by which it knows itself and its cluster.
    pub(crate) fn link_programs(&self, machine: &str) -> Result<()> {
        let paths = self.paths(machine);
        let bin = paths.programs();
        fs_err::create_dir_all(&bin)?;
        let Some(of) = self.world.machines.get(machine) else { return Ok(()) };
        for name in PROGRAMS.into_iter().chain(KUBE_PROGRAMS) {
            let place = bin.join(name);
            match (place.symlink_metadata().is_ok(), has(of, name)) {
                (false, true) => link(self.tool(), &place)?,
                (true, false) => fs_err::remove_file(&place)?,
                (_, _) => {}
            }
        }
        self.link_collector(machine)?;
        let name = format!("{}\n", hostname(&self.world.model.uuid, machine));
        for place in ["etc/hostname", "proc/sys/kernel/hostname"] {
            put(&paths.root.join(place), &name)?;
        }
        put(&paths.root.join("proc/sys/kernel/arch"), &format!("{}\n", kernel_arch(&of.arch)))?;
        for (place, access) in &of.kube.kubeconfigs {
            let place = paths.root.join(place.trim_start_matches('/'));
            match access {
                Access::Absent => match fs_err::remove_file(&place) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                    _ => {}
                },
                access @ (Access::Admin | Access::Node | Access::Nothing | Access::Unauthorized) => {
                    put(&place, &kubeconfig(&self.world, machine, *access))?
                }
            }
        }
        Ok(())
    }
}

/// What a kernel calls an architecture.
fn kernel_arch(arch: &str) -> &str {
    match arch {
        "amd64" => "x86_64",
        "arm64" => "aarch64",
        "ppc64el" => "ppc64le",
        other => other,
    }
}

/// Writes a file that may be there already.
fn put(place: &Path, text: &str) -> Result<()> {
    if fs_err::read_to_string(place).is_ok_and(|there| there == text) {
        return Ok(());
    }
    if let Some(dir) = place.parent() {
        fs_err::create_dir_all(dir)?;
    }
    write_atomically(place, text).map_err(Into::into)
}

/// A kubeconfig as a charm writes it. What its bearer may do is known to the simulator alone.
fn kubeconfig(world: &World, machine: &str, access: Access) -> String {
    let address = world.api_server(machine).map_or("10.1.255.1:6443".to_owned(), |(_, address)| address);
    let user = format!("{access:?}").to_lowercase();
    format!(
        "apiVersion: v1\nclusters:\n- cluster:\n    server: https://{address}\n  name: juju-cluster\ncontexts:\n\
         - context:\n    cluster: juju-cluster\n    user: {user}\n  name: juju-context\n\
         current-context: juju-context\nkind: Config\npreferences: {{}}\nusers:\n- name: {user}\n  user:\n    \
         token: {user}::simulated\n"
    )
}
