//! Changes: what snapd does at somebody's request, from its start to its end on the simulated clock.

use serde::Serialize;

use super::{Hold, Snap};
use crate::store::{Channel, Confinement};
use crate::world::Time;

/// Who asked for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Starter {
    /// `hook`, `action`, `exec`, `timer`, `admin` or `auto-refresh`.
    pub by: String,
    /// The unit whose hook, action or command line it was.
    pub unit: Option<String>,
    /// Which one.
    pub hook: Option<String>,
    /// The whole command line; empty for an auto-refresh.
    pub argv: Vec<String>,
}

impl Starter {
    /// snapd itself.
    pub fn auto_refresh() -> Self {
        Self { by: "auto-refresh".to_owned(), ..Self::default() }
    }

    /// For a timeline.
    pub fn describe(&self) -> String {
        match (&self.unit, &self.hook) {
            (Some(unit), Some(hook)) => format!("{unit} in {hook}"),
            (Some(unit), None) => unit.clone(),
            (None, Some(hook)) => format!("{} {hook}", self.by),
            (None, None) => self.by.clone(),
        }
    }
}

/// What a change may alter of a snap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// `41`
    pub revision: String,
    /// The channel that it follows.
    pub tracking: Option<Channel>,
    /// The whole key.
    pub cohort_key: Option<String>,
}

/// One snap that a change moves, or means to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Move {
    /// Which.
    pub snap: String,
    /// None for an installation.
    pub from: Option<Place>,
    /// Where to.
    pub to: Place,
}

impl Move {
    /// Whether another revision comes, and services are restarted.
    pub fn moves_revision(&self) -> bool {
        self.from.as_ref().is_none_or(|from| from.revision != self.to.revision)
    }

    /// `kubelet 41 -> 43`, `kubectl joins …abc==`
    pub fn describe(&self) -> String {
        let snap = &self.snap;
        let Some(from) = &self.from else { return format!("{snap} {} is installed", self.to.revision) };
        let mut parts = Vec::new();
        if from.revision != self.to.revision {
            parts.push(format!("{} -> {}", from.revision, self.to.revision));
        }
        if from.tracking != self.to.tracking {
            let name = |channel: &Option<Channel>| channel.as_ref().map_or("-".to_owned(), |c| c.to_string());
            parts.push(format!("{} -> {}", name(&from.tracking), name(&self.to.tracking)));
        }
        match (&from.cohort_key, &self.to.cohort_key) {
            (old, Some(new)) if old.as_ref() != Some(new) => {
                parts.push(format!("into cohort {}", super::ellipt_left(new, 10)));
            }
            (Some(_), None) => parts.push("out of its cohort".to_owned()),
            (_, _) => {}
        }
        if parts.is_empty() {
            format!("{snap} stays {}", from.revision)
        } else {
            format!("{snap} {}", parts.join(", "))
        }
    }
}

/// What the end of a change does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A snap goes to another place; what is not said stays.
    Go(Box<Target>),
    /// A snap is installed.
    Install(Box<Snap>),
    /// A plug is connected to a slot.
    Connect(String, String),
    /// And no longer.
    Disconnect(String, String),
    /// The services of a snap: enabled or disabled, where that is asked for, and running or not.
    Services(String, Option<bool>, bool),
    /// A snap is removed.
    Remove(String),
    /// A hold on a snap.
    Hold(String, Option<Hold>),
    /// The system's configuration; null takes away.
    Config(Vec<(String, serde_json::Value)>),
}

/// What a refresh makes of a snap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Which.
    pub name: String,
    /// Where to.
    pub place: Place,
    /// The channel that the revision is from.
    pub channel: Option<Channel>,
    /// Version, confinement and size of another revision.
    pub files: Option<(String, Confinement, u64)>,
    /// Services do not come up with it.
    pub crashes: bool,
    /// It becomes a snap of the store: its id and publisher.
    pub adopt: Option<(String, crate::store::Publisher)>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its number.
    pub id: u32,
    /// `refresh-snap`, `auto-refresh`, ...
    pub kind: String,
    /// For people.
    pub summary: String,
    /// Snaps that nothing else may alter meanwhile.
    pub snaps: Vec<String>,
    /// Who asked for it.
    pub by: Starter,
    /// When it began.
    pub spawn: Time,
    /// When it will end, if its machine stays up.
    pub due: Time,
    /// When it ended; none while it runs.
    pub ready: Option<Time>,
    /// Why it failed; then all was undone.
    pub error: Option<String>,
    /// What it moves.
    pub moves: Vec<Move>,
    /// What its end does.
    #[serde(skip)]
    pub effects: Vec<Effect>,
    /// It will fail so.
    #[serde(skip)]
    pub fails: Option<String>,
}

impl Change {
    /// `Doing`, `Done`, `Error`.
    pub fn status(&self) -> &'static str {
        match (self.ready, &self.error) {
            (None, _) => "Doing",
            (Some(_), None) => "Done",
            (Some(_), Some(_)) => "Error",
        }
    }

    /// Whether it brings another revision of a snap.
    pub fn moves_revision(&self) -> bool {
        self.moves.iter().any(Move::moves_revision)
    }

    /// What it does, for a timeline.
    pub fn describe(&self) -> String {
        if self.moves.is_empty() {
            return self.summary.clone();
        }
        self.moves.iter().map(Move::describe).collect::<Vec<_>>().join("; ")
    }
}
