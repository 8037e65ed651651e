//! Charms and relations that the controller takes or refuses.
#![expect(clippy::unwrap_used, reason = "only tests call this")]

use std::io::Write;

use crate::support::{Bed, PRINCIPAL, SUBORDINATE, Script};
use juju_sim::sim::Outcome;

fn refused(bed: &Bed, metadata: &str, files: &[(&str, &str)]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = Script { metadata, files }.write(dir.path());
    let mut options = juju_sim::sim::Options::new(bed.dir.path().join("other"));
    options.tool = Some(env!("CARGO_BIN_EXE_juju-sim-tool").into());
    let mut sim = juju_sim::sim::Sim::new(options).unwrap();
    format!("{:#}", sim.add_charm("x", &path).unwrap_err())
}

#[test]
fn a_charm_that_juju_refuses_is_refused() {
    let bed = Bed::new("3.6.9");
    let no_container = SUBORDINATE.replace(", scope: container", "");
    for (metadata, files, text) in [
        (
            no_container.as_str(),
            &[][..],
            "subordinate charm \"keep\" lacks \"requires\" relation with container scope",
        ),
        (PRINCIPAL, &[("config.yaml", "")], "invalid config: empty configuration"),
        (PRINCIPAL, &[("manifest.yaml", "bases: []")], "charm does not define any bases"),
        (PRINCIPAL, &[("actions.yaml", "Show: {}")], "bad action name Show"),
    ] {
        let error = refused(&bed, metadata, files);
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn a_charm_for_a_newer_juju_is_refused_at_deploy() {
    let metadata = format!("{PRINCIPAL}assumes: [juju >= 3.6]\n");
    let mut bed = Bed::new("3.1.6");
    let path = Script { metadata: &metadata, files: &[] }.write(&bed.dir.path().join("app"));
    bed.sim.add_charm("app", &path).unwrap();
    let error = format!("{:#}", bed.try_steps("  - deploy: {charm: app}").unwrap_err());
    assert!(error.contains("charm requires Juju version >= 3.6, model has version 3.1.6"), "{error}");
}

#[test]
fn a_packed_charm_is_unpacked_with_its_links() {
    let mut bed = Bed::new("3.6.9");
    let path = bed.dir.path().join("app.charm");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    let plain = zip::write::SimpleFileOptions::default();
    let manifest = "bases: [{name: ubuntu, channel: '22.04', architectures: [amd64]}]";
    for (name, text, mode) in [
        ("metadata.yaml", PRINCIPAL, 0o644),
        ("manifest.yaml", manifest, 0o644),
        ("app", "#!/bin/sh\necho as ${0##*/}\n", 0o755),
    ] {
        zip.start_file(name, plain.unix_permissions(mode)).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.add_symlink("hooks/install", "../app", plain).unwrap();
    zip.finish().unwrap();
    bed.sim.add_charm("app", &path).unwrap();
    bed.deploy_known("app", 1).settle();
    assert_eq!(bed.printed("app/0"), ["as install"]);
    let charm = bed.sim.paths_of("app/0").unwrap().charm("app/0");
    assert_eq!(std::fs::read_to_string(charm.join("revision")).unwrap().trim(), "0");
}

#[test]
fn relations_that_juju_refuses_are_refused() {
    let mut bed = Bed::new("3.6.9");
    let metadata = PRINCIPAL.replace("{interface: sql}", "{interface: sql, limit: 1}");
    bed.deploy(&metadata, &[], 1).deploy_known("db", 1).deploy(SUBORDINATE, &[], 0);
    bed.steps("  - deploy: {charm: db, application: other}\n  - integrate: [app, db]");
    for (ends, text) in [
        ("[app:db, db:sql]", "relation already exists"),
        (
            "[app:db, other:sql]",
            "establishing a new relation for app:db would exceed its maximum relation limit of 1",
        ),
        ("[app:web, db:sql]", "no relations found between \"app:web\" and \"db:sql\""),
        ("[app:nope, db:sql]", "application \"app\" has no \"nope\" relation"),
        ("[app, app]", "cannot relate application \"app\" with itself"),
        ("[gone, db]", "application \"gone\" not found"),
    ] {
        let error = format!("{:#}", bed.try_steps(&format!("  - integrate: {ends}")).unwrap_err());
        assert!(error.contains(text), "{error}");
    }
    for (step, text) in [
        ("add-unit: {application: keep}", "application is a subordinate"),
        ("deploy: {charm: db, application: db-2}", "invalid application name \"db-2\""),
        ("config: {application: app, set: {no: 1}}", "unknown option \"no\""),
        ("refresh: {application: app, charm: db}", "is not \"app\""),
        ("remove-relation: {relation: [app:peers]}", "is a peer relation"),
    ] {
        let error = format!("{:#}", bed.try_steps(&format!("  - {step}")).unwrap_err());
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn a_refresh_that_drops_a_related_endpoint_is_refused() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[], 1).deploy_known("db", 1).steps("  - integrate: [app, db]");
    let metadata = PRINCIPAL.replace("requires:\n  db: {interface: sql}\n", "");
    let path = Script { metadata: &metadata, files: &[] }.write(&bed.dir.path().join("new"));
    let step = format!("  - refresh: {{application: app, path: {}}}", path.display());
    let error = format!("{:#}", bed.try_steps(&step).unwrap_err());
    assert!(error.contains("would break relation \"app:db db:sql\""), "{error}");
}

#[test]
fn two_subordinates_beside_one_principal_see_each_other() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(SUBORDINATE, &[("hooks/cos-agent-relation-joined", "echo $JUJU_REMOTE_UNIT")], 0);
    let nrpe = "name: nrpe\nsummary: s\ndescription: d\nsubordinate: true\nprovides:\n  cos-agent: {interface: cos_agent}\nrequires:\n  node: {interface: juju-info, scope: container}\n";
    bed.deploy(nrpe, &[], 0).deploy_known("k8s", 2);
    bed.steps("  - integrate: [k8s:cos-agent, keep]\n  - integrate: [k8s:juju-info, nrpe:node]\n  - integrate: [nrpe:cos-agent, keep:cos-agent]\n  - settle: {}");
    for principal in ["k8s/0", "k8s/1"] {
        let keep = bed.sim.unit_named(&format!("keep@{principal}")).unwrap();
        let nrpe = bed.sim.unit_named(&format!("nrpe@{principal}")).unwrap();
        let mut seen = bed.printed(&keep);
        seen.sort();
        assert_eq!(seen, [principal.to_owned(), nrpe]);
    }
}

#[test]
fn removing_a_real_principal_waits_for_its_subordinates() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[], 1).deploy(SUBORDINATE, &[], 0);
    bed.steps("  - integrate: [app:juju-info, keep:node]\n  - settle: {}\n  - remove-application: {application: app}\n  - settle: {}\n  - expect: [{exists: {application: app, not: true}}, {exists: {unit: keep/0, not: true}}, {exists: {application: keep}}]");
    assert!(bed.sim.world.machines.is_empty());
    assert!(bed.records().all(|r| !matches!(r.outcome, Outcome::Failed(_))));
}

#[test]
fn a_unit_that_never_ran_a_hook_is_removed_at_once() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[], 1)
        .steps("  - remove-unit: {unit: app/0}\n  - expect: [{exists: {unit: app/0, not: true}}]");
}

#[test]
fn an_agent_that_dies_in_a_call_takes_its_hook_along() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/start", "juju-log a; juju-log b")], 1);
    bed.steps("  - fault: {unit: app/0, hook: start, at-call: {call: 2, do: [{agent-restart: {unit: app/0}}]}}\n  - settle: {retries: 0}\n  - expect: [{hook-failed: {unit: app/0, hook: start}}]");
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/start", "juju-log a; juju-log b")], 1);
    bed.steps("  - fault: {unit: app/0, hook: start, at-call: {call: 2, do: [{machine-dead: {unit: app/0}}]}}\n  - settle: {}\n  - expect: [{hooks: {unit: app/0, lacks: [update-status]}}]\n  - reboot: {unit: app/0}\n  - settle: {}\n  - expect: [{agent-status: {unit: app/0, is: idle}}]");
}
