//! The leadership lease: 60 s, renewed every 30 s by a living holder.

use super::Refused;
use crate::world::{Life, Time, World};

const LEASE: u64 = 60_000;
const PROMISE: u64 = 30_000;

impl World {
    /// Whether the agent of a unit runs, and so renews a lease or can claim one.
    pub fn agent_runs(&self, unit: &str) -> bool {
        self.units
            .get(unit)
            .is_some_and(|u| u.uniter.up && self.machines.get(&u.machine).is_some_and(|m| m.up))
    }

    /// Leases whose holder is dead run out; living holders renew theirs.
    pub fn tend_leases(&mut self) {
        let now = self.clock;
        let apps: Vec<String> = self.applications.keys().cloned().collect();
        for app in apps {
            let Some(holder) = self.leader_of(&app).map(str::to_owned) else { continue };
            let gone = !self.units.contains_key(&holder);
            let renews = self.agent_runs(&holder);
            let Some(application) = self.applications.get_mut(&app) else { continue };
            let lease = &mut application.lease;
            if gone || (!renews && lease.expires.is_some_and(|end| end <= now)) {
                lease.holder = None;
                lease.expires = None;
                lease.promised_until = None;
            } else if renews {
                lease.expires = Some(now.plus(LEASE));
            }
            if self.leader_of(&app).is_none() {
                let candidates: Vec<String> = self
                    .units
                    .values()
                    .filter(|u| {
                        u.application == app && u.life == Life::Alive && !u.scripted && u.uniter.installed
                    })
                    .map(|u| u.name.clone())
                    .filter(|name| self.agent_runs(name))
                    .collect();
                if let Some(next) = self.rng.pick(candidates) {
                    self.claim_lease(&next);
                }
            }
        }
    }

    /// The agent of a unit claims a lease that nobody holds.
    pub fn claim_lease(&mut self, unit: &str) {
        let now = self.clock;
        let app = Self::app_of(unit);
        if let Some(application) = self.applications.get_mut(app)
            && application.lease.holder.is_none()
        {
            application.lease.holder = Some(unit.to_owned());
            application.lease.expires = Some(now.plus(LEASE));
            application.lease.promised_until = None;
        }
    }

    /// `is-leader`: True promises 30 s.
    pub fn ask_leadership(&mut self, unit: &str) -> bool {
        if !self.is_leader(unit) {
            return false;
        }
        let now = self.clock;
        if let Some(application) = self.applications.get_mut(Self::app_of(unit)) {
            application.lease.promised_until = Some(now.plus(PROMISE));
        }
        true
    }

    /// Moves the lease. Juju keeps its promises, so the clock first moves on to the end of one that is still open;
    /// gives the time that it was moved on to.
    pub fn move_lease(&mut self, to: &str) -> Result<Option<Time>, Refused> {
        let app = Self::app_of(to).to_owned();
        if !self.units.contains_key(to) {
            return Err(format!("unit \"{to}\" not found"));
        }
        let able =
            self.units.get(to).is_some_and(|u| u.life == Life::Alive && (u.scripted || self.agent_runs(to)));
        if !able {
            return Err(format!("\"{to}\" cannot lead: it is dying, or its agent does not run"));
        }
        let now = self.clock;
        let lease = &self.application(&app)?.lease;
        if lease.holder.as_deref() == Some(to) {
            return Ok(None);
        }
        let waited = lease.promised_until.filter(|end| *end > now && lease.holder.is_some());
        if let Some(end) = waited {
            self.clock = end;
        }
        if let Some(application) = self.applications.get_mut(&app) {
            application.lease.holder = None;
        }
        self.claim_lease(to);
        Ok(waited)
    }
}
