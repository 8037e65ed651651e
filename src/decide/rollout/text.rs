//! Every status text of the rollout: the part to act on first, no clock times, at most what
//! `juju status` shows where the names are of usual length.

use super::super::status::cut;
use super::super::upgrade::Checked;
use super::grants::{Elsewhere, Wait};
use super::members::Member;
use super::target::{Note, Reason};
use super::way::Way;
use crate::databag::granted::Grant;
use crate::databag::node::Exempt;
use crate::databag::target::Target;
use crate::databag::{Line, Unread};
use crate::juju::{AppName, Level, Status, UnitName};
use crate::observed::Rollout;
use crate::snap::{Installed, Place, Relocation, Revision, SnapName, Trouble, TroubleKind};
use std::collections::BTreeSet;

fn blocked(line: String) -> Status {
    Status::new(Level::Blocked, line)
}

fn waiting(line: String) -> Status {
    Status::new(Level::Waiting, line)
}

fn active(line: String) -> Status {
    Status::new(Level::Active, line)
}

fn names<'a>(names: impl IntoIterator<Item = &'a SnapName>) -> String {
    names.into_iter().map(SnapName::as_str).collect::<Vec<_>>().join(" ")
}

/// Names of checks.
pub fn list(checks: &BTreeSet<Line>) -> String {
    checks.iter().map(Line::as_str).collect::<Vec<_>>().join(",")
}

/// A closed gate: what the first failed check found, how many more there are, and the command that
/// passes it over. The command is never cut, also beside ` (+N more)` of other statuses.
pub fn gate(held: &[&Checked], app: &AppName) -> Option<Status> {
    const ROOM: usize = 108;
    let first = held.first()?;
    let tail = format!("{}; juju run {app}/leader override-checks checks={}", more(held.len()), first.name);
    let line = cut(&first.found.short, ROOM.saturating_sub(tail.len())) + &tail;
    Some(if held.iter().all(|check| check.found.passes) { waiting(line) } else { blocked(line) })
}

/// All checks have passed, and this leader may not have met everybody.
pub fn upgrade_waits() -> Status {
    waiting("the upgrade begins after this leader's first update-status".to_owned())
}

/// The checks that this upgrade goes on without, until it ends.
pub fn overridden(target: &Target) -> Option<Status> {
    let checks = list(&target.overridden);
    (!checks.is_empty()).then(|| active(format!("target {}: checks overridden: {checks}", target.id)))
}

/// The packed file is asked for and not there.
pub fn no_packed(app: &AppName) -> Status {
    blocked(format!("channel=charm, and this charm has no snaps.yaml: juju config {app} channel=CHANNEL"))
}

/// The packed file is wrong.
pub fn packed_wrong(fault: &str) -> Status {
    blocked(format!("snaps.yaml of this charm, {fault}"))
}

/// A key of the peers application databag that cannot be read.
pub fn app_unread(key: &str, unread: &Unread) -> Status {
    match unread {
        Unread::Newer(fault) => {
            waiting(format!("juju refresh of this unit is waited for: {key} is of a newer charm ({fault})"))
        }
        Unread::Broken(fault) => {
            blocked(format!("peers databag, {key} {fault}; nothing is granted or moved"))
        }
    }
}

/// A key of another unit that cannot be read.
pub fn peer_unread(unit: &UnitName, key: &str, unread: &Unread) -> Status {
    match unread {
        Unread::Newer(fault) => {
            waiting(format!("juju refresh of this unit is waited for: {unit} {key} is newer ({fault})"))
        }
        Unread::Broken(fault) => blocked(format!("{unit}, {key} {fault}; it counts as unfinished")),
    }
}

/// The machine's snaps cannot be listed.
pub fn no_list(trouble: &Trouble) -> Status {
    waiting(format!("cannot list snaps: {}", trouble.text))
}

/// The changes of snapd cannot be listed.
pub fn no_changes(trouble: &Trouble) -> Status {
    waiting(format!("cannot list changes of snapd: {}", trouble.text))
}

/// A change is in flight.
pub fn busy(name: &SnapName, own: bool) -> Status {
    if own {
        Status::new(Level::Maintenance, format!("{name}: snapd is at work"))
    } else {
        waiting(format!("{name}: snapd is at work on a change that is not ours"))
    }
}

/// This unit has failed. The commands first: a cause may be long.
pub fn failed_here(unit: &UnitName, cause: Option<&Line>, target: &Target) -> Status {
    let app = unit.application();
    let cause = cause.map_or("failed", Line::as_str);
    let (id, others) = (&target.id, others(target.rollback));
    blocked(format!("failed: juju run {app}/leader retry-unit unit={unit}, {others}: {cause} (target {id})"))
}

/// The other ways on after a failure: on the way back there is none back.
fn others(back: bool) -> &'static str {
    if back { "or skip-unit" } else { "skip-unit or rollback" }
}

/// A stored key cannot be read yet.
pub fn key_unread(name: &SnapName) -> Status {
    waiting(format!("{name}: cannot read its cohort key yet"))
}

/// A trouble of one snap, as a cause.
pub fn trouble(name: &SnapName, trouble: &Trouble) -> String {
    match &trouble.kind {
        TroubleKind::RunningApps { pids } if !pids.is_empty() => {
            let pids: Vec<String> = pids.iter().map(ToString::to_string).collect();
            format!("{name}: has running apps, pids {}", pids.join(" "))
        }
        TroubleKind::StoreUnreachable => format!("{name}: the store does not answer"),
        TroubleKind::Busy
        | TroubleKind::RunningApps { .. }
        | TroubleKind::TooManyRequests
        | TroubleKind::SnapdUnavailable
        | TroubleKind::Unfinished
        | TroubleKind::OutOfTime
        | TroubleKind::NotInstalled
        | TroubleKind::NotFound
        | TroubleKind::RevisionNotAvailable
        | TroubleKind::ChannelNotAvailable
        | TroubleKind::NotForArchitecture
        | TroubleKind::NotAvailableAsSpecified
        | TroubleKind::NeedsClassic
        | TroubleKind::Sideloaded
        | TroubleKind::Disabled
        | TroubleKind::Epoch
        | TroubleKind::DiskFull
        | TroubleKind::AccessDenied
        | TroubleKind::NotSupported
        | TroubleKind::Usage
        | TroubleKind::NoSuchChange
        | TroubleKind::ChangeFailed
        | TroubleKind::NoSnapCommand
        | TroubleKind::NotUnderstood
        | TroubleKind::Other => format!("{name}: {}", trouble.text),
    }
}

/// A transient trouble.
pub fn tried_again(line: &str) -> Status {
    waiting(format!("{line}; tried again by itself"))
}

/// A move begins.
pub fn moving(rollout: &Rollout, to: &Relocation) -> Status {
    let installed = rollout.snapd.installed.as_ref().ok().and_then(|all| all.get(&to.name));
    let from = installed.map(|snap| format!(" from {}", snap.revision)).unwrap_or_default();
    let place = match &to.to {
        Place::Cohort(_) => "into its cohort".to_owned(),
        Place::Revision(revision) => format!("to revision {revision}"),
    };
    let tracks = installed.and_then(|snap| snap.tracking.as_ref());
    let channel = to.channel.as_ref().filter(|channel| !tracks.is_some_and(|now| now.is(channel)));
    let channel = channel.map(|channel| format!(" on {channel}")).unwrap_or_default();
    Status::new(Level::Maintenance, format!("refreshing {}{from} {place}{channel}", to.name))
}

/// A grant is about to be carried out.
pub fn granted(grant: &Grant) -> Status {
    Status::new(Level::Maintenance, format!("may move to target {}", grant.target))
}

/// The services are waited for.
pub fn until_well(why: &str) -> Status {
    Status::new(Level::Maintenance, format!("refreshed; waiting until it is healthy: {why}"))
}

/// The unit waits for its turn.
pub fn its_turn(target: &Target, way: Option<&Way>) -> Status {
    waiting(match way {
        Some(way) => format!("waits for its turn: {way}"),
        None => format!("waits for its turn to join target {}", target.id),
    })
}

/// What this unit runs.
pub fn runs(installed: &Installed) -> Status {
    let version = installed.version.as_deref().unwrap_or("unknown version");
    active(format!("{} {version} ({})", installed.name, installed.revision))
}

/// A snap that is not moved here.
pub fn exempt(name: &SnapName, why: Exempt, revision: Revision) -> Status {
    active(match why {
        Exempt::Sideloaded => format!("{name} is a local build ({revision}) and not kept in step"),
        Exempt::Held => format!("{name} is held by somebody else and not moved (option adopt-held)"),
        Exempt::MovedBack => {
            format!("{name} was moved back by somebody else and is left (option adopt-held)")
        }
    })
}

/// Managed snaps on a machine without a role.
pub fn no_role<'a>(app: &AppName, snaps: impl IntoIterator<Item = &'a SnapName>) -> Status {
    let snaps = names(snaps);
    active(format!("not kept in step: {snaps}; juju integrate PRINCIPAL:juju-info {app}:ROLE"))
}

/// Another unit owns the machine.
pub fn owned(by: &UnitName) -> Status {
    active(format!("{by} keeps this machine in step"))
}

/// Another application owns the machine.
pub fn foreign_owner(by: &str) -> Status {
    blocked(format!("{by} keeps this machine in step: remove one of the two from it"))
}

/// The application is related to an offer of its own, here known by that name.
pub fn itself(app: &AppName, known_as: Option<&AppName>) -> Status {
    let offer = known_as.map_or("OFFER", AppName::as_str);
    blocked(format!("{app} follows itself: juju remove-relation {app}:follow-cohorts {offer}"))
}

/// The databag of the application followed cannot be read.
pub fn source_unread(key: &str, unread: &Unread) -> Status {
    match unread {
        Unread::Newer(fault) => waiting(format!("follow-cohorts, {key} is of a newer charm ({fault})")),
        Unread::Broken(fault) => blocked(format!("follow-cohorts, {key} {fault}")),
    }
}

/// The store was asked for heads in vain.
pub fn store_silent() -> Status {
    waiting("the store does not answer: new revisions are not seen; asked again by itself".to_owned())
}

/// A snap that is missing and for which nobody names a channel.
pub fn homeless(name: &SnapName, app: &AppName) -> Status {
    blocked(format!("{name} is missing, from where? juju config {app} snaps=\"OTHERS {name}=CHANNEL\""))
}

/// A snap that could not be installed.
pub fn not_installed(name: &SnapName, trouble: &Trouble) -> Status {
    blocked(format!("cannot install {name}: {}", trouble.text))
}

/// A command about holds that failed.
pub fn not_held(trouble: &Trouble) -> Status {
    waiting(format!("cannot hold snaps: {}", trouble.text))
}

/// snapd has no holds.
pub fn no_holds() -> Status {
    active("snapd is older than 2.58 and holds no snaps: its own refreshes may move this node".to_owned())
}

/// A grant without an answer.
pub fn overdue(grant: &Grant) -> Status {
    let (unit, app) = (&grant.unit, grant.unit.application());
    blocked(format!(
        "{unit} does not answer; if it is dead: juju run {app}/leader skip-unit unit={unit} force=true"
    ))
}

/// Two members that completed one target and differ.
pub fn differ(name: &SnapName, one: (&UnitName, Revision), other: (&UnitName, Revision)) -> Status {
    let ((unit, revision), (other, than)) = (one, other);
    blocked(format!("{name} differs in one target: {unit} has {revision}, {other} has {than}"))
}

/// Why nobody (more) may go. None: there is nothing to be told.
pub fn wait(wait: &Wait, app: &AppName) -> Option<Status> {
    let because = |why: &Option<Line>| why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    Some(match wait {
        Wait::Others | Wait::Leaving => return None,
        Wait::FirstUpdateStatus => {
            waiting("nobody moves before this leader's first update-status".to_owned())
        }
        Wait::Unlisted(unit) => waiting(format!("{unit} may move and is not listed; it is waited for")),
        // The commands first: a cause may be long, and is in the unit's own status too.
        Wait::Failed { unit, cause, back } => blocked(format!(
            "{unit} failed: juju run {app}/leader retry-unit unit={unit}, {}{}",
            others(*back),
            because(cause)
        )),
        Wait::Build(unit) => {
            waiting(format!("{unit} runs another charm build; its charm refresh is waited for"))
        }
        Wait::Elsewhere(unit, away) => {
            let Elsewhere { name, tracks, wanted } = away.as_ref();
            blocked(format!(
                "{unit}: {name} tracks {tracks}, not {wanted}; juju config {app} channel={tracks}"
            ))
        }
        Wait::Window => active("the next turn waits for the refresh-window".to_owned()),
        Wait::Off => active("cohort-refresh is off: nobody moves".to_owned()),
        Wait::Source => waiting("the application at follow-cohorts has not completed yet".to_owned()),
        Wait::Paused => waiting(format!("paused; go on with: juju run {app}/leader resume-upgrade")),
        Wait::Unhealthy(unit, why) => {
            waiting(format!("control-plane unit {unit} is not healthy{}; nobody else moves", because(why)))
        }
        Wait::Unreported(units) => {
            let first = units.first().map(ToString::to_string).unwrap_or_default();
            waiting(format!("no unit beside {first} yet{}; workers wait for it", more(units.len())))
        }
        Wait::NoGoal => waiting("goal-state cannot be read; the second role waits".to_owned()),
    })
}

fn more(count: usize) -> String {
    if count > 1 { format!(" (+{})", count - 1) } else { String::new() }
}

/// Principals that were waited for long enough.
pub fn passed(units: &[UnitName]) -> Option<Status> {
    let first = units.first()?;
    Some(active(format!("no unit beside {first}{}; the rollout goes on without", more(units.len()))))
}

/// What is to be told about targets. None: nothing.
pub fn note(note: &Note, app: &AppName) -> Option<Status> {
    Some(match note {
        Note::Channels(name, units) => {
            let list: Vec<String> = units.iter().map(|(unit, channel)| format!("{unit} {channel}")).collect();
            blocked(format!("control-plane channels of {name} differ: {}", list.join(", ")))
        }
        Note::Unknown(name) => {
            blocked(format!("the store does not know {name}: juju config {app} snaps=\"OTHERS\""))
        }
        Note::NoKeys(TroubleKind::OutOfTime) => return None,
        Note::NoKeys(_) => waiting("the store makes no cohort keys now; asked again by itself".to_owned()),
        Note::Announced(reason) => active(format!("{}; juju run {app}/leader refresh-cohorts", why(reason))),
        Note::Refused(name) => {
            active(format!("{name}: the channel's head was rolled back from and is not taken"))
        }
        Note::Early => return None,
    })
}

/// What a target is made for, in words.
pub fn why(reason: &Reason) -> String {
    if reason.first {
        return "first cohort".to_owned();
    }
    if reason.followed {
        return "keys of the application followed".to_owned();
    }
    if let Some(new) = reason.news.first() {
        let head = &new.head;
        let more = more(reason.news.len());
        return format!(
            "new: {} {} ({}) on {}{more}",
            new.name, head.version, head.revision, new.architecture
        );
    }
    if !reason.missing.is_empty() {
        return format!("no cohort yet for {}", names(&reason.missing));
    }
    format!("cohort keys older than 60 days: {}", names(&reason.old))
}

/// How far the rollout is. `held`: another one is wanted, and has to wait.
pub fn progress(
    target: &Target,
    members: &[&Member<'_>],
    granted: &[Grant],
    worst: Option<&Status>,
    held: bool,
) -> Status {
    let done = members.iter().filter(|member| member.has_completed(&target.id)).count();
    let count = format!("{done} of {} in step", members.len());
    match worst {
        Some(worst) if worst.level == Level::Blocked => blocked(format!("{}; {count}", worst.line)),
        Some(_) | None if done == members.len() && !held => active(format!("{count} (target {})", target.id)),
        Some(_) | None => match granted.first() {
            Some(grant) => {
                let who = format!("{}{}", grant.unit, more(granted.len()));
                Status::new(Level::Maintenance, format!("{who} moves; {count} (target {})", target.id))
            }
            None => match worst {
                Some(worst) => Status::new(worst.level, format!("{}; {count}", worst.line)),
                None => waiting(format!("{count} (target {})", target.id)),
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::rollout::tests::fixture::{name, target, unit};

    /// Longest names that are usual: three digits of a unit, the longest managed snap.
    #[test]
    fn every_line_fits_what_juju_status_shows() {
        let (far, app) = (unit(123), "lockstep".parse().unwrap());
        let snap = name("kube-controller-manager");
        let trouble = Trouble {
            kind: TroubleKind::RunningApps { pids: vec![1_234_567, 1_234_568] },
            command: String::new(),
            text: String::new(),
        };
        let grant = Grant {
            unit: far.clone(),
            principal: None,
            role: crate::databag::node::Role::Worker,
            target: target(123).id,
            serial: 1000,
            more: crate::databag::More::new(),
        };
        let cause = self::trouble(&snap, &trouble);
        let lines = [
            busy(&snap, true),
            busy(&snap, false),
            key_unread(&snap),
            tried_again(&cause),
            granted(&grant),
            until_well("kube-controller-manager.daemon is not active"),
            its_turn(&target(123), None),
            exempt(&snap, Exempt::MovedBack, Revision::Store(12345)),
            exempt(&snap, Exempt::Held, Revision::Store(12345)),
            no_role(&app, [&snap]),
            owned(&far),
            foreign_owner("lockstep-b/12"),
            itself(&app, Some(&app)),
            homeless(&snap, &app),
            store_silent(),
            no_holds(),
            overdue(&grant),
            differ(&snap, (&far, Revision::Store(12345)), (&far, Revision::Store(12346))),
            passed(&[far.clone(), far.clone()]).unwrap(),
            note(&Note::Unknown(snap.clone()), &app).unwrap(),
            note(&Note::NoKeys(TroubleKind::StoreUnreachable), &app).unwrap(),
            note(&Note::Refused(snap.clone()), &app).unwrap(),
        ];
        let waits = [
            Wait::FirstUpdateStatus,
            Wait::Unlisted(far.clone()),
            Wait::Failed { unit: far.clone(), cause: None, back: false },
            Wait::Build(far.clone()),
            Wait::Window,
            Wait::Off,
            Wait::Source,
            Wait::Paused,
            Wait::Unhealthy(far.clone(), Some("kube-apiserver.daemon is not active".into())),
            Wait::Unreported(vec![far.clone(), far]),
            Wait::NoGoal,
        ];
        for status in lines.into_iter().chain(waits.iter().filter_map(|wait| super::wait(wait, &app))) {
            assert!(status.line.len() <= 120, "{}: {}", status.line.len(), status.line);
        }
    }
}
