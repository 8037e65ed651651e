//! `snap connections`, `connect`, `disconnect`. Of interfaces only what a collector of logs needs.

use super::flags::Flags;
use super::text::{row, wide};
use super::{Client, Reply, Turn, until_ready};
use crate::snapd::{Effect, NewChange, Snapd};
use crate::world::World;

/// Slots of snapd's own.
const SYSTEM: [&str; 4] = ["home", "log-observe", "network-bind", "system-files"];

pub(super) fn connections(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let Some(snapd) = world.snapd(&client.machine) else { return Reply::default().into() };
    let [name] = flags.args.as_slice() else {
        return Reply::not_simulated("snap connections of all snaps").into();
    };
    let Some(snap) = snapd.snaps.get(name) else {
        return Reply::fail(1, &format!("snap \"{name}\" not found")).into();
    };
    let mut rows = vec![row(&["Interface", "Plug", "Slot", "Notes"])];
    for plug in &snap.plugs {
        let full = format!("{name}:{plug}");
        let slots: Vec<&String> =
            snapd.connections.iter().filter(|(p, _)| *p == full).map(|(_, s)| s).collect();
        for slot in &slots {
            let notes = if slot.starts_with(':') { "-" } else { "manual" };
            rows.push(row(&[interface(plug), &full, slot, notes]));
        }
        if slots.is_empty() {
            rows.push(row(&[interface(plug), &full, "-", "-"]));
        }
    }
    if rows.len() == 1 { Reply::default() } else { Reply::out(wide(&rows)) }.into()
}

/// The interface of a plug, as it is shown.
fn interface(plug: &str) -> &str {
    match plug {
        "logs" => "content[logs]",
        "etc-otelcol-config" => "system-files",
        other => other,
    }
}

pub(super) fn connect(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let (plug, slot) = match ends(world.snapd(&client.machine), &flags) {
        Ok(ends) => ends,
        Err(text) => return Reply::fail(1, &text).into(),
    };
    let summary = format!("Connect {plug} to {slot}");
    change(world, client, "connect-snap", summary, Effect::Connect(plug, slot))
}

pub(super) fn disconnect(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let (plug, slot) = match ends(world.snapd(&client.machine), &flags) {
        Ok(ends) => ends,
        Err(text) => return Reply::fail(1, &text).into(),
    };
    let there =
        world.snapd(&client.machine).is_some_and(|s| s.connections.contains(&(plug.clone(), slot.clone())));
    if !there {
        let text = format!("cannot disconnect {plug} from {slot}, it is not connected");
        return Reply::fail(1, &text).into();
    }
    let summary = format!("Disconnect {plug} from {slot}");
    change(world, client, "disconnect-snap", summary, Effect::Disconnect(plug, slot))
}

/// Plug and slot, both of which must be there.
fn ends(snapd: Option<&Snapd>, flags: &Flags) -> Result<(String, String), String> {
    let [plug, slot] = flags.args.as_slice() else {
        return Err("a plug and a slot are needed: no other form is simulated".to_owned());
    };
    let (snap, name) = plug.split_once(':').ok_or_else(|| format!("invalid value: {plug:?}"))?;
    let snaps = snapd.map(|snapd| &snapd.snaps).ok_or("no machine")?;
    let of = snaps.get(snap).ok_or_else(|| format!("snap \"{snap}\" is not installed"))?;
    if !of.plugs.iter().any(|plug| plug == name) {
        return Err(format!("snap \"{snap}\" has no plug named \"{name}\""));
    }
    match slot.split_once(':') {
        Some(("", system)) if SYSTEM.contains(&system) => {}
        Some((owner, shown)) => {
            let of = snaps.get(owner).ok_or_else(|| format!("snap \"{owner}\" is not installed"))?;
            if !of.log_slots.contains_key(shown) {
                return Err(format!("snap \"{owner}\" has no slot named \"{shown}\""));
            }
        }
        None => return Err(format!("invalid value: {slot:?}")),
    }
    Ok((plug.clone(), slot.clone()))
}

fn change(world: &mut World, client: &Client, kind: &'static str, summary: String, effect: Effect) -> Turn {
    let millis = world.snap_times.metadata;
    let new = NewChange { kind, summary, effects: vec![effect], millis, ..NewChange::default() };
    let id = world.begin_change(&client.machine, &client.by, new);
    until_ready(world, &client.machine, id, |_| Reply::default())
}

/// The fstab of what is mounted for the plug `logs` of a snap; none where nothing is. Of two directories of one name
/// the second gets `-2`, by the order of the connections.
pub(crate) fn fstab(snapd: &Snapd, snap: &str) -> Option<String> {
    let revision = &snapd.snaps.get(snap)?.revision;
    let plug = format!("{snap}:logs");
    let mut used: Vec<String> = Vec::new();
    let mut text = String::new();
    for (_, slot) in snapd.connections.iter().filter(|(p, _)| *p == plug) {
        let (owner, name) = slot.split_once(':')?;
        for source in snapd.snaps.get(owner)?.log_slots.get(name).into_iter().flatten() {
            let last = source.rsplit('/').next().unwrap_or_default();
            let times = used.iter().filter(|other| *other == last).count();
            used.push(last.to_owned());
            let place = if times == 0 { last.to_owned() } else { format!("{last}-{}", times + 1) };
            let target = format!("/snap/{snap}/{revision}/shared-logs/{place}");
            text.push_str(&format!("{source} {target} none bind,ro 0 0\n"));
        }
    }
    (!text.is_empty()).then_some(text)
}
