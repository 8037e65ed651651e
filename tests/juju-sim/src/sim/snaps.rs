//! What a scenario does to the store and to snapd on machines: each as a method, each with a line in the timeline.

use anyhow::{Context as _, Result, anyhow};

use super::Sim;
use crate::snapd::{AutoRefresh, Presence, SnapSpec, Starter};
use crate::store::{Publish, StoreFault};

impl Sim {
    /// A revision is published, in a channel if one is given.
    pub fn publish(&mut self, publish: &Publish) -> Result<()> {
        let now = self.world.clock;
        let mut publish = publish.clone();
        if let Some(names) = &mut publish.offered_to {
            for name in names {
                if !self.world.machines.contains_key(name) {
                    *name = self.machine_named(None, Some(name))?;
                }
            }
        }
        self.world.store.publish(&publish, now).map_err(|e| anyhow!("publish {}: {e}", publish.snap))?;
        let version = publish.version.as_ref().map_or(String::new(), |v| format!(", version {v}"));
        let arch = publish.arch.as_ref().map_or(String::new(), |a| format!(", {a}"));
        let place = publish.channel.as_ref().map_or("uploaded".to_owned(), |c| format!("in {c}"));
        let part = if publish.offered_to.is_some() { ", for some machines" } else { "" };
        self.say(format!("store: {} {} {place}{version}{arch}{part}", publish.snap, publish.revision));
        Ok(())
    }

    /// A channel is closed: who follows it gets what the next safer one has.
    pub fn close_channel(&mut self, snap: &str, channel: &str, arch: Option<&str>) -> Result<()> {
        self.world.store.close(snap, channel, arch).map_err(anyhow::Error::msg)?;
        self.say(format!("store: {channel} of {snap} is closed"));
        Ok(())
    }

    /// From now on this goes wrong, before all that does so already.
    pub fn store_fault(&mut self, fault: StoreFault) {
        let times = fault.times.map_or(String::new(), |times| format!(", {times} times"));
        let machine = fault.machine.as_ref().map_or(String::new(), |m| format!(", for machine {m}"));
        self.say(format!("store: {:?}{machine}{times}", fault.outage));
        self.world.store.faults.insert(0, fault);
    }

    /// Nothing goes wrong any more.
    pub fn store_is_back(&mut self) {
        self.world.store.faults.clear();
        self.world.store.slow = 0;
        self.say("store: all is well");
    }

    /// Puts snaps on a machine, or changes what is given of those that are there.
    pub fn set_up_snaps(&mut self, machine: &str, specs: &[SnapSpec]) -> Result<()> {
        for spec in specs {
            self.world.set_up_snap(machine, spec).map_err(anyhow::Error::msg)?;
        }
        let of = self.world.machines.get(machine).with_context(|| format!("no machine {machine}"))?;
        let shown = specs.iter().filter_map(|spec| of.snapd.snaps.get(&spec.name));
        let shown: Vec<String> = shown.map(|snap| format!("{} {}", snap.name, snap.revision)).collect();
        self.say(format!("machine {machine} has {}", shown.join(", ")));
        Ok(())
    }

    /// snapd on these machines refreshes by itself: at that moment from now, then every so often (0: only once).
    pub fn auto_refresh(&mut self, machines: &[String], wait: u64, every: u64) -> Result<()> {
        let next = self.world.clock.plus(wait);
        for id in machines {
            let of = self.world.machines.get_mut(id).with_context(|| format!("no machine {id}"))?;
            of.snapd.auto_refresh = Some(AutoRefresh { every, next });
        }
        let when = if wait == 0 { "now".to_owned() } else { format!("in {} s", wait / 1000) };
        self.say(format!("auto-refresh {when} on {}", machines_shown(machines)));
        self.move_clock(0)
    }

    /// snapd comes, goes, or is taken away.
    pub fn set_snapd(&mut self, machines: &[String], presence: Presence) -> Result<()> {
        for id in machines {
            let of = self.world.machines.get_mut(id).with_context(|| format!("no machine {id}"))?;
            of.snapd.presence = presence;
            if presence == Presence::Up {
                self.world.resume_changes(id);
            }
            self.link_programs(id)?;
        }
        self.say(format!(
            "snapd is {} on {}",
            format!("{presence:?}").to_lowercase(),
            machines_shown(machines)
        ));
        Ok(())
    }

    /// An admin runs a command on a machine, as root.
    pub fn admin(&mut self, machine: &str, args: &[String]) -> Result<(u8, String, String)> {
        self.say(format!("machine {machine}: {}", args.join(" ")));
        self.run_on(machine, args, Starter { by: "admin".to_owned(), ..Starter::default() })
    }
}

fn machines_shown(machines: &[String]) -> String {
    match machines {
        [one] => format!("machine {one}"),
        many => format!("machines {}", many.join(", ")),
    }
}
