//! The names of hooks that Juju knows for a charm (juju/charm hooks/hooks.go, meta.go `Hooks`).

use std::collections::BTreeSet;

use super::metadata::Metadata;

/// Hooks of the unit itself.
pub const UNIT: [&str; 14] = [
    "install",
    "start",
    "config-changed",
    "upgrade-charm",
    "stop",
    "remove",
    "collect-metrics",
    "meter-status-changed",
    "leader-elected",
    "leader-deposed",
    "leader-settings-changed",
    "update-status",
    "pre-series-upgrade",
    "post-series-upgrade",
];

/// Hooks about secrets.
pub const SECRET: [&str; 4] = ["secret-changed", "secret-expired", "secret-remove", "secret-rotate"];

/// What follows the name of an endpoint.
pub const RELATION: [&str; 5] =
    ["relation-created", "relation-joined", "relation-changed", "relation-departed", "relation-broken"];

const STORAGE: [&str; 2] = ["storage-attached", "storage-detaching"];
const WORKLOAD: [&str; 3] = ["pebble-change-updated", "pebble-custom-notice", "pebble-ready"];

/// All names of hooks that this charm can have.
pub fn known(metadata: &Metadata) -> BTreeSet<String> {
    let endpoints: Vec<String> = metadata.endpoints.iter().map(|endpoint| endpoint.name.clone()).collect();
    let mut names: BTreeSet<String> = UNIT.iter().chain(&SECRET).map(|name| (*name).to_owned()).collect();
    let groups: [(&[String], &[&str]); 3] =
        [(&endpoints, &RELATION), (&metadata.storage, &STORAGE), (&metadata.containers, &WORKLOAD)];
    for (owners, kinds) in groups {
        names.extend(owners.iter().flat_map(|owner| kinds.iter().map(move |kind| format!("{owner}-{kind}"))));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_endpoint_and_storage_has_its_hooks() {
        let metadata = Metadata::parse(
            "name: a\nsummary: s\ndescription: d\npeers: {p: i}\nstorage: {data: {type: filesystem}}\ncontainers: {c: {}}\n",
        )
        .unwrap();
        let names = known(&metadata);
        assert_eq!(names.len(), UNIT.len() + SECRET.len() + RELATION.len() + STORAGE.len() + WORKLOAD.len());
        for name in
            ["install", "secret-rotate", "p-relation-broken", "data-storage-attached", "c-pebble-ready"]
        {
            assert!(names.contains(name), "{name}");
        }
    }
}
