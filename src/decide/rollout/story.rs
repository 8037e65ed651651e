//! One log line for each grant, report, skip, rollback and target, with the target's id, so that the
//! debug log tells the story of a rollout.

use super::grants::News;
use super::target::Reason;
use super::text;
use crate::databag::progress::{Progress, State};
use crate::databag::target::{Target, Wishes};
use tracing::Level;

/// A line and its level.
pub type Told = (Level, String);

/// A new target.
pub fn made(target: &Target, reason: &Reason) -> Told {
    (Level::INFO, format!("target {}: made, {}", target.id, text::why(reason)))
}

/// A new target of another channel.
pub fn upgrade(target: &Target, changes: &Wishes) -> Told {
    let to: Vec<String> = changes.iter().map(|(name, wish)| format!("{name} to {}", wish.channel)).collect();
    let overridden = match text::list(&target.overridden) {
        none if none.is_empty() => none,
        checks => format!(", checks overridden: {checks}"),
    };
    (Level::INFO, format!("target {}: made, upgrade of {}{overridden}", target.id, to.join(", ")))
}

/// The options ask for what was there before.
pub fn asked_back(target: &Target, from: &Target) -> Told {
    (Level::WARN, format!("target {}: the options ask for what was before target {}", target.id, from.id))
}

/// An admin went back.
pub fn went_back(target: &Target, from: &Target) -> Told {
    (Level::WARN, format!("target {}: rollback from target {}", target.id, from.id))
}

/// What happened to a grant.
pub fn news(news: &News) -> Told {
    match news {
        News::Granted(grant) => {
            let (target, unit, role, serial) = (&grant.target, &grant.unit, grant.role, grant.serial);
            (Level::INFO, format!("target {target}: granted to {unit} ({role}), serial {serial}"))
        }
        News::Answered(grant, state) => {
            let (target, unit, serial) = (&grant.target, &grant.unit, grant.serial);
            (Level::INFO, format!("target {target}: {unit} is {state}, serial {serial} has ended"))
        }
        News::Gone(grant) => {
            let (target, unit, serial) = (&grant.target, &grant.unit, grant.serial);
            (Level::WARN, format!("target {target}: {unit} is gone, serial {serial} has ended"))
        }
        News::Revived(unit) => (Level::INFO, format!("{unit} reports again and is no longer skipped")),
    }
}

/// This unit's own report, where it tells something else than before.
pub fn report(before: Option<&Progress>, now: &Progress) -> Option<Told> {
    // That a unit which waits has read the next target is no news.
    let same = before.is_some_and(|before| {
        let waits = now.state == State::Ready || before.target == now.target;
        (before.state, before.serial) == (now.state, now.serial) && waits
    });
    let target = now.target.as_ref().filter(|_| !same)?;
    let was = before.map_or_else(|| "new".to_owned(), |before| before.state.to_string());
    let cause = now.cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default();
    let level = if now.state == State::Failed { Level::WARN } else { Level::INFO };
    Some((level, format!("target {target}: {was} -> {}, serial {}{cause}", now.state, now.serial)))
}
