//! When everything is read instead of what an event makes stale.

use super::cache::Kept;
use crate::juju::{Event, PlainHook};

/// Every so many update-status passes everything is read, so that an event that was lost (a hook
/// skipped with `resolved --no-retry`) is made good. About an hour at Juju's default interval.
const EVERY: u32 = 12;

/// Why this pass reads everything; none if the cache may repeat what is not stale.
pub fn reason(
    event: Option<&Event>,
    kept: Option<&Kept>,
    marked: bool,
    committed_pass: u64,
) -> Option<&'static str> {
    let Some(kept) = kept else {
        return Some("there is no cache that belongs to this unit and build");
    };
    if marked {
        return Some("the hook before was not carried out to its end");
    }
    if kept.pass > committed_pass {
        return Some("the hook before was not committed");
    }
    match event {
        Some(Event::Plain(hook)) => match hook {
            PlainHook::Install => Some("install"),
            PlainHook::Start => Some("start"),
            PlainHook::UpgradeCharm => Some("upgrade-charm"),
            PlainHook::LeaderElected => Some("leader-elected"),
            PlainHook::UpdateStatus => {
                (kept.ticks + 1 >= EVERY).then_some("the twelfth update-status since the last full read")
            }
            PlainHook::ConfigChanged
            | PlainHook::LeaderSettingsChanged
            | PlainHook::Stop
            | PlainHook::Remove => None,
        },
        Some(Event::Relation(_)) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_read_when_the_cache_cannot_be_relied_on() {
        let update = Event::Plain(PlainHook::UpdateStatus);
        let kept = |pass, ticks| Kept { pass, ticks, ..Kept::default() };
        let full = |event: Option<&Event>, kept: Option<Kept>, marked, committed| {
            reason(event, kept.as_ref(), marked, committed).is_some()
        };
        assert!(full(Some(&update), None, false, 0), "lost");
        assert!(full(Some(&update), Some(kept(4, 0)), true, 4), "marked");
        assert!(full(Some(&update), Some(kept(5, 0)), false, 4), "not committed");
        assert!(!full(Some(&update), Some(kept(4, 0)), false, 4));
        assert!(!full(Some(&update), Some(kept(4, 0)), false, 5), "an action committed since");
        assert!(!full(Some(&update), Some(kept(4, 10)), false, 4));
        assert!(full(Some(&update), Some(kept(4, 11)), false, 4), "twelfth");
        for hook in [PlainHook::Start, PlainHook::LeaderElected, PlainHook::UpgradeCharm] {
            assert!(full(Some(&Event::Plain(hook)), Some(kept(4, 0)), false, 4));
        }
        assert!(!full(None, Some(kept(4, 11)), false, 4), "an action");
    }
}
