//! Programs of a machine while they run: they may wait for the store or for a change, and meanwhile other things
//! happen.

use anyhow::Result;

use super::Sim;
use super::fault::{Fault, KillBy};
use super::serve::Run;
use crate::machine;
use crate::process::Caller;
use crate::snapd::{Client, Reply, Turn};
use crate::tools::Call;

/// How a call of a program ends.
pub(super) enum Called {
    /// It says something.
    Reply(Reply),
    /// The hook that called it is killed meanwhile.
    Killed(KillBy),
    /// Its caller has ended it.
    Gone,
}

/// The hook that a program is called from.
pub(super) struct Inside<'a> {
    pub(super) caller: &'a Caller,
    pub(super) faults: &'a [Fault],
    pub(super) run: &'a mut Run,
}

/// A wait that is longer may be too long for its caller: whether it is still there is looked at in real time.
const PATIENT: u64 = 60_000;
/// The same where nothing is under way but a question.
const CURIOUS: u64 = 5_000;
/// How long, in real time, a caller is given to end a program, after every part of a long wait.
const HANGS_UP: i64 = 250;

impl Sim {
    /// Runs a program of a machine to its end.
    pub(super) fn program(
        &mut self,
        client: &Client,
        call: &Call,
        mut inside: Option<Inside<'_>>,
    ) -> Result<Called> {
        let stub =
            self.world.machines.get(&client.machine).is_some_and(|m| m.programs.contains_key(&call.tool));
        if call.tool == "juju-exec" && !stub {
            return self.juju_exec(client, call).map(Called::Reply);
        }
        // A place below the directory that stands for the machine's `/` is a place of the machine.
        let args = call.args.iter().map(|arg| self.without_scratch(&client.machine, arg)).collect();
        let inner = Call { args, ..call.clone() };
        let call = if machine::KUBE_PROGRAMS.contains(&call.tool.as_str()) { &inner } else { call };
        let first = self.world.machines.get(&client.machine).map_or(0, |m| m.snapd.next_change);
        let mut done = false;
        let mut turn = machine::call(&mut self.world, client, call);
        loop {
            match turn {
                Turn::Done(reply) => {
                    if call.tool == "snap" {
                        let starts =
                            call.args.first().is_some_and(|verb| verb == "start" || verb == "restart");
                        self.after_snap(&client.machine, starts)?;
                    }
                    if let Some(by) = self.within(inside.as_mut(), &mut done)? {
                        return Ok(Called::Killed(by));
                    }
                    return Ok(Called::Reply(reply));
                }
                Turn::Until(at, then) => {
                    let changes = self.world.machines.get(&client.machine).map(|m| &m.snapd);
                    let changing = changes.is_some_and(|s| s.running().any(|c| c.id >= first));
                    let wait = at.0.saturating_sub(self.world.clock.0);
                    if wait > 0 {
                        self.pass(wait / 2, changing, inside.as_ref())?;
                        if changing && let Some(by) = self.within(inside.as_mut(), &mut done)? {
                            return Ok(Called::Killed(by));
                        }
                        let gone =
                            self.pass(at.0.saturating_sub(self.world.clock.0), changing, inside.as_ref())?;
                        if let Some(by) = inside.as_ref().and_then(|_| self.running.last_mut()?.kill.take()) {
                            return Ok(Called::Killed(by));
                        }
                        if gone {
                            return Ok(Called::Gone);
                        }
                    }
                    turn = then(&mut self.world);
                }
            }
        }
    }

    /// Time passes in a call; true if the caller has ended the program meanwhile.
    fn pass(&mut self, wait: u64, changing: bool, inside: Option<&Inside<'_>>) -> Result<bool> {
        let end = self.world.clock.plus(wait);
        let watched = inside.filter(|_| wait * 2 > if changing { PATIENT } else { CURIOUS });
        let part = match (watched.is_some(), changing) {
            (false, _) => wait,
            (true, true) => (wait / 20).max(10_000),
            (true, false) => 20_000,
        };
        while self.world.clock < end {
            let left = end.0.saturating_sub(self.world.clock.0);
            self.move_clock(left.min(part.max(1)))?;
            if inside.is_some() {
                self.interleave()?;
            }
            if let Some(inside) = watched
                && inside.caller.gone(HANGS_UP)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What faults make happen while a call is under way; each does so once.
    fn within(&mut self, inside: Option<&mut Inside<'_>>, done: &mut bool) -> Result<Option<KillBy>> {
        match inside.filter(|_| !std::mem::replace(done, true)) {
            Some(Inside { caller, faults, run }) => self.faults_within(&caller.call, faults, run),
            None => Ok(None),
        }
    }
}
