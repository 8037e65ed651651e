//! The fixed order in which a unit moves its snaps.

use super::SnapName;

/// The order of moves on one machine: what other components talk to goes first (the API server may
/// never be older than them), tools and add-ons last, anything else after those, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KubernetesOrder(usize, SnapName);

impl KubernetesOrder {
    /// The names that have a place of their own. Also the default of the option `snaps`.
    pub const NAMES: [&'static str; 7] = [
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubelet",
        "kube-proxy",
        "kubectl",
        "cdk-addons",
    ];

    /// The place of a snap: a key to sort by.
    pub fn of(name: &SnapName) -> Self {
        let place = Self::NAMES.iter().position(|known| *known == name.as_str());
        Self(place.unwrap_or(Self::NAMES.len()), name.clone())
    }

    /// The names in the order of moves.
    pub fn sorted(names: impl IntoIterator<Item = SnapName>) -> Vec<SnapName> {
        let mut places: Vec<Self> = names.into_iter().map(|name| Self::of(&name)).collect();
        places.sort();
        places.into_iter().map(|Self(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_server_moves_first_and_unknown_snaps_last_by_name() {
        let mut names = KubernetesOrder::NAMES.to_vec();
        names.reverse();
        names.extend(["zeta", "alpha"]);
        let names = names.iter().rev().map(|name| name.parse().unwrap());
        let sorted: Vec<String> = KubernetesOrder::sorted(names).iter().map(ToString::to_string).collect();
        assert_eq!(sorted[..7], KubernetesOrder::NAMES);
        assert_eq!(sorted[7..], ["alpha", "zeta"]);
    }
}
