//! The options of rollouts, as types.

use super::duration::{self, Bounds};
use super::window::Windows;
use crate::databag::node::Role;
use crate::databag::target::{Wish, Wishes};
use crate::snap::{Channel, KubernetesOrder, Packed, SnapName};
use serde_json::Value;
use std::collections::BTreeMap;

/// `cohort-check-interval`.
pub const CHECK_INTERVAL: Bounds = Bounds { least: 10 * 60, most: Some(7 * 24 * 3600) };
/// `grant-timeout`.
pub const GRANT_TIMEOUT: Bounds = Bounds { least: 5 * 60, most: None };
/// `ready-timeout`.
pub const READY_TIMEOUT: Bounds = Bounds { least: 60, most: None };

/// What a rollout goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolloutOptions {
    /// The managed snaps, and the channel that `snaps` names for one.
    pub snaps: BTreeMap<SnapName, Option<Channel>>,
    /// `channel`.
    pub channel: WantedChannel,
    /// `role`.
    pub role: Option<Role>,
    /// `cohort-refresh`.
    pub cohort_refresh: CohortRefresh,
    /// `cohort-check-interval`, in seconds.
    pub check_interval: u64,
    /// `refresh-window`.
    pub window: Windows,
    /// `worker-parallelism`.
    pub worker_parallelism: usize,
    /// `pause-after-unit-refresh`.
    pub pause: Pause,
    /// `grant-timeout`, in seconds.
    pub grant_timeout: u64,
    /// `ready-timeout`, in seconds.
    pub ready_timeout: u64,
    /// `hold-snaps`.
    pub hold_snaps: bool,
    /// `adopt-held`.
    pub adopt_held: bool,
    /// `install-missing`.
    pub install_missing: bool,
    /// Whether `on-removal` is `restore`.
    pub restore_on_removal: bool,
    /// `kubeconfig`; none: the usual places.
    pub kubeconfig: Option<String>,
}

/// The option `channel`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WantedChannel {
    /// Empty: what each snap tracks.
    Tracked,
    /// That channel.
    Channel(Channel),
    /// What the packed `snaps.yaml` says.
    Charm,
}

/// The option `cohort-refresh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CohortRefresh {
    /// As soon as the store has something new.
    Auto,
    /// Only by `refresh-cohorts`.
    Manual,
    /// Not at all.
    Off,
}

/// The option `pause-after-unit-refresh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Nowhere.
    None,
    /// After the first unit of each role.
    First,
    /// After every unit.
    All,
}

impl Default for RolloutOptions {
    fn default() -> Self {
        Self::of(&BTreeMap::new())
    }
}

impl RolloutOptions {
    /// What these values that are not at their default mean. All of them have been checked.
    pub fn of(good: &BTreeMap<String, Value>) -> Self {
        let text = |name: &str| good.get(name).and_then(Value::as_str);
        let truth = |name: &str, default| good.get(name).and_then(Value::as_bool).unwrap_or(default);
        let span = |name: &str, bounds: Bounds, default| {
            text(name).and_then(|text| duration::parse(text, bounds)).unwrap_or(default)
        };
        let number = good.get("worker-parallelism").and_then(Value::as_u64).unwrap_or(1);
        Self {
            snaps: text("snaps").and_then(snaps).unwrap_or_else(default_snaps),
            channel: text("channel").and_then(channel).unwrap_or(WantedChannel::Tracked),
            role: match text("role") {
                Some("control-plane") => Some(Role::ControlPlane),
                Some("worker") => Some(Role::Worker),
                Some(_) | None => None,
            },
            cohort_refresh: match text("cohort-refresh") {
                Some("manual") => CohortRefresh::Manual,
                Some("off") => CohortRefresh::Off,
                Some(_) | None => CohortRefresh::Auto,
            },
            check_interval: span("cohort-check-interval", CHECK_INTERVAL, 3600),
            window: text("refresh-window").and_then(Windows::parse).unwrap_or_default(),
            worker_parallelism: usize::try_from(number).unwrap_or(1).max(1),
            pause: match text("pause-after-unit-refresh") {
                Some("first") => Pause::First,
                Some("all") => Pause::All,
                Some(_) | None => Pause::None,
            },
            grant_timeout: span("grant-timeout", GRANT_TIMEOUT, 30 * 60),
            ready_timeout: span("ready-timeout", READY_TIMEOUT, 10 * 60),
            hold_snaps: truth("hold-snaps", true),
            adopt_held: truth("adopt-held", false),
            install_missing: truth("install-missing", false),
            restore_on_removal: text("on-removal") != Some("keep"),
            kubeconfig: text("kubeconfig").filter(|path| !path.is_empty()).map(str::to_owned),
        }
    }
}

impl RolloutOptions {
    /// What is in force on a unit: in a charm of its own an empty `channel` is `charm`, and then the
    /// snaps of the packed file are managed too.
    pub fn on(mut self, as_principal: bool, packed: Option<&Packed>) -> Self {
        if as_principal && self.channel == WantedChannel::Tracked {
            self.channel = WantedChannel::Charm;
        }
        if self.channel == WantedChannel::Charm {
            for name in packed.into_iter().flat_map(BTreeMap::keys) {
                self.snaps.entry(name.clone()).or_insert(None);
            }
        }
        self
    }

    /// Where the options want managed snaps. An entry of `snaps` beats `channel`, which never speaks of
    /// cdk-addons: that follows its own rules, and moves by an entry of its own only.
    pub fn wishes(&self, packed: Option<&Packed>) -> Wishes {
        let of = |channel: &Channel| Wish { channel: channel.clone(), revisions: BTreeMap::new() };
        let wish = |(name, own): (&SnapName, &Option<Channel>)| {
            let wish = match (own, &self.channel) {
                (Some(channel), _) => of(channel),
                (None, WantedChannel::Tracked) => return None,
                (None, WantedChannel::Channel(_)) if name.as_str() == "cdk-addons" => return None,
                (None, WantedChannel::Channel(channel)) => of(channel),
                (None, WantedChannel::Charm) => {
                    let packed = packed?.get(name)?;
                    Wish { channel: packed.channel.clone(), revisions: packed.revisions.clone() }
                }
            };
            Some((name.clone(), wish))
        };
        self.snaps.iter().filter_map(wish).collect()
    }
}

fn default_snaps() -> BTreeMap<SnapName, Option<Channel>> {
    KubernetesOrder::NAMES.iter().filter_map(|name| Some((name.parse().ok()?, None))).collect()
}

/// `name` or `name=channel`, by blanks; each name once.
pub fn snaps(text: &str) -> Option<BTreeMap<SnapName, Option<Channel>>> {
    let mut snaps = BTreeMap::new();
    for word in text.split_whitespace() {
        let (name, channel) = match word.split_once('=') {
            Some((name, channel)) => (name, Some(channel.parse().ok()?)),
            None => (word, None),
        };
        if snaps.insert(name.parse().ok()?, channel).is_some() {
            return None;
        }
    }
    Some(snaps)
}

/// Empty, `charm`, or a channel.
pub fn channel(text: &str) -> Option<WantedChannel> {
    match text.trim() {
        "" => Some(WantedChannel::Tracked),
        "charm" => Some(WantedChannel::Charm),
        text => text.parse().ok().map(WantedChannel::Channel),
    }
}
