//! The literal answers of the hook tools, without a process.
//!
//! The model: `k8s/0` and `k8s/1` are principals with `keep/0` and `keep/1` beside them, related by `cos-agent`
//! (container scope) and `peers`; `db` is related by `db` (global scope). `keep/0` runs a hook in which it has joined
//! `k8s/0`, `keep/1` and `db/0`.

use std::collections::BTreeMap;

use super::{Answer, Call, call, names};
use crate::agent::commit::commit;
use crate::agent::context::{Context, Job};
use crate::charm::actions::Actions;
use crate::charm::config::Config;
use crate::controller::Deploy;
use crate::world::{
    ActionRun, Charm, EndpointDef, HookInfo, HookKind, Level, Model, Owner, Role, StatusInfo, Version, World,
};

struct Bench {
    world: World,
    context: Context,
}

fn charm(name: &str, scripted: bool, endpoints: &[(&str, Role, &str, bool)]) -> Charm {
    let config = "options:\n  channel: {default: 1.32/stable}\n  size: {type: int, default: 45}\n  part: {type: float, default: 0.5}\n  on: {type: boolean, default: true}\n  note: {type: string}\n";
    Charm {
        name: name.to_owned(),
        revision: 0,
        scripted,
        subordinate: name == "keep",
        endpoints: endpoints
            .iter()
            .map(|(name, role, interface, container)| {
                let def = EndpointDef {
                    role: *role,
                    interface: (*interface).to_owned(),
                    container: *container,
                    limit: None,
                };
                ((*name).to_owned(), def)
            })
            .collect(),
        config: Config::parse(config).unwrap(),
        actions: Actions::default(),
        assumes: None,
        version: String::new(),
        source: None,
    }
}

fn deploy(world: &mut World, charm: Charm, units: u32) {
    let application = charm.name.clone();
    world.deploy(Deploy { charm, application, units, to: Vec::new(), config: BTreeMap::new() }).unwrap();
}

impl Bench {
    fn new(juju: &str) -> Self {
        let model = Model { name: "harbor".to_owned(), uuid: "7d1f3c2a".to_owned() };
        let mut world = World::new(Version::parse(juju).unwrap(), model, 1);
        deploy(&mut world, charm("k8s", true, &[("cos-agent", Role::Provides, "cos_agent", false)]), 2);
        let endpoints = [
            ("cos-agent", Role::Requires, "cos_agent", true),
            ("peers", Role::Peer, "keep_peers", false),
            ("db", Role::Requires, "sql", false),
        ];
        deploy(&mut world, charm("keep", false, &endpoints), 0);
        deploy(&mut world, charm("db", true, &[("db", Role::Provides, "sql", false)]), 1);
        world.integrate("k8s:cos-agent", "keep:cos-agent").unwrap();
        world.integrate("keep", "db").unwrap();
        for unit in ["keep/0", "keep/1"] {
            let agent = &mut world.units.get_mut(unit).unwrap().uniter;
            agent.endpoints = ["cos-agent", "peers", "db"].map(str::to_owned).into();
            world.enter_scopes(unit);
        }
        world.claim_lease("keep/0");
        for (relation, remote) in [(1, "k8s/0"), (0, "keep/1"), (2, "db/0")] {
            let state = world.units.get_mut("keep/0").unwrap().uniter.relations.get_mut(&relation).unwrap();
            state.created = true;
            state.members.insert(remote.to_owned(), 0);
        }
        let hook = HookInfo::plain(HookKind::ConfigChanged);
        let context = Context::new(&mut world, "keep/0", Job::Hook(hook));
        Self { world, context }
    }

    fn hook(
        &mut self,
        kind: HookKind,
        relation: u32,
        endpoint: &str,
        app: &str,
        unit: Option<&str>,
    ) -> &mut Self {
        let hook = HookInfo::of_relation(kind, relation, endpoint, Some(app));
        let hook = unit.into_iter().fold(hook, HookInfo::unit);
        self.context = Context::new(&mut self.world, "keep/0", Job::Hook(hook));
        self
    }

    fn fresh(&mut self) -> &mut Self {
        let job = self.context.job.clone();
        self.context = Context::new(&mut self.world, "keep/0", job);
        self
    }

    fn set(&mut self, relation: u32, owner: Owner, key: &str, value: &str) {
        let bag = self.world.relations.get_mut(&relation).unwrap().bag_mut(&owner).unwrap();
        World::write_bag(bag, &BTreeMap::from([(key.to_owned(), value.to_owned())]));
    }

    fn answer(&mut self, line: &[&str], stdin: Option<&str>) -> Answer {
        let call = Call {
            tool: line[0].to_owned(),
            args: line[1..].iter().map(|arg| (*arg).to_owned()).collect(),
            cwd: "/".to_owned(),
            stdin: stdin.map(|text| text.as_bytes().to_vec()),
        };
        super::call(&mut self.world, &mut self.context, &call)
    }

    /// Exit status and output, as one text; words are separated by blanks.
    fn run(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        shown(&self.answer(&words, None))
    }

    #[track_caller]
    fn check(&mut self, cases: &[(&str, &str)]) {
        for (line, expected) in cases {
            assert_eq!(self.run(line), *expected, "{line}");
        }
    }

    fn commit(&mut self) -> Result<(), String> {
        commit(&mut self.world, &self.context).map(|_| ())
    }
}

fn shown(answer: &Answer) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    match answer.code {
        0 => format!("{}{}", text(&answer.stdout), text(&answer.stderr)),
        code => format!("{code} {}{}", text(&answer.stdout), text(&answer.stderr)),
    }
}

#[test]
fn relation_ids_are_listed_by_endpoint() {
    let mut bench = Bench::new("3.6.9");
    bench.check(&[
        ("relation-ids --format=json peers", "[\"peers:0\"]\n"),
        ("relation-ids peers --format json", "[\"peers:0\"]\n"),
        ("relation-ids peers", "peers:0\n"),
        ("relation-ids --format=json nothing", "[]\n"),
        ("relation-ids", "2 ERROR no endpoint name specified\n"),
        ("relation-ids a b", "2 ERROR unrecognized args: [\"b\"]\n"),
    ]);
    bench.hook(HookKind::RelationCreated, 0, "peers", "keep", None);
    bench.check(&[("relation-ids --format=json", "[\"peers:0\"]\n")]);
}

#[test]
fn ids_and_units_are_sorted_as_strings() {
    let mut bench = Bench::new("3.6.9");
    for id in [9, 10] {
        bench.context.known.insert(id, "db".to_owned());
    }
    bench.context.members.insert(9, ["a/10", "a/2", "a/1"].map(str::to_owned).into());
    bench.check(&[
        ("relation-ids --format=json db", "[\"db:10\",\"db:2\",\"db:9\"]\n"),
        ("relation-list --format=json -r db:9", "[\"a/1\",\"a/10\",\"a/2\"]\n"),
        ("relation-list -r db:9", "a/1\na/10\na/2\n"),
    ]);
}

#[test]
fn the_relation_option_is_read_from_its_last_colon() {
    let mut bench = Bench::new("3.6.9");
    bench.check(&[
        ("relation-list -r 0 --format=json", "[\"keep/1\"]\n"),
        ("relation-list -r=0", "2 ERROR invalid value \"=0\" for option -r: invalid relation id\n"),
        ("relation-list --relation=0 --format=json", "[\"keep/1\"]\n"),
        ("relation-list --relation whatever:0 --format=json", "[\"keep/1\"]\n"),
        ("relation-list -r peers:9", "2 ERROR invalid value \"peers:9\" for option -r: relation not found\n"),
        (
            "relation-list --relation peers:9",
            "2 ERROR invalid value \"peers:9\" for option --relation: relation not found\n",
        ),
        ("relation-list -r x", "2 ERROR invalid value \"x\" for option -r: invalid relation id\n"),
        ("relation-list", "2 ERROR no relation id specified\n"),
        ("relation-list -r", "2 ERROR option needs an argument: -r\n"),
        ("relation-list --app --format=json -r 1", "\"k8s\"\n"),
        ("relation-list --app --format=json -r 0", "\"keep\"\n"),
        ("relation-list --nope", "2 ERROR option provided but not defined: --nope\n"),
        (
            "relation-list --format bad -r 0",
            "2 ERROR invalid value \"bad\" for option --format: unknown format \"bad\"\n",
        ),
    ]);
}

#[test]
fn only_a_fault_of_the_charm_is_a_problem() {
    let mut bench = Bench::new("3.6.9");
    let problem =
        |bench: &mut Bench, line: &str| bench.answer(&line.split(' ').collect::<Vec<_>>(), None).problem;
    assert_eq!(problem(&mut bench, "relation-list -r peers:9"), None);
    assert_eq!(problem(&mut bench, "relation-get -r 1 - k8s/1"), None);
    assert_eq!(
        problem(&mut bench, "relation-list --nope a").as_deref(),
        Some("relation-list --nope a: option provided but not defined: --nope")
    );
    assert_eq!(problem(&mut bench, "relation-lst -r 1").as_deref(), Some("relation-lst -r 1: unknown tool"));
    assert_eq!(problem(&mut bench, "secret-ids").as_deref(), Some("secret-ids: not simulated"));
}

#[test]
fn members_are_the_units_that_were_joined() {
    let mut bench = Bench::new("3.6.9");
    bench.world.units.get_mut("keep/0").unwrap().uniter.relations.get_mut(&0).unwrap().members.clear();
    bench.fresh().check(&[("relation-list -r 0 --format=json", "[]\n")]);
    bench.hook(HookKind::RelationJoined, 0, "peers", "keep", Some("keep/1"));
    bench.check(&[("relation-list --format=json", "[\"keep/1\"]\n")]);
    bench
        .world
        .units
        .get_mut("keep/0")
        .unwrap()
        .uniter
        .relations
        .get_mut(&0)
        .unwrap()
        .members
        .insert("keep/1".into(), 0);
    bench.hook(HookKind::RelationDeparted, 0, "peers", "keep", Some("keep/1"));
    bench.check(&[("relation-list --format=json", "[]\n")]);
}

#[test]
fn a_broken_relation_is_hidden_by_newer_versions() {
    for (juju, listed) in [("3.4.3", "[\"db:2\"]\n"), ("3.4.4", "[]\n"), ("4.0.1", "[]\n")] {
        let mut bench = Bench::new(juju);
        bench.hook(HookKind::RelationBroken, 2, "db", "db", None);
        bench.check(&[
            ("relation-ids --format=json db", listed),
            ("relation-list --format=json", "[]\n"),
            (
                "relation-get --format=json -r db:2 - db",
                "2 ERROR expected unit name, got application name \"db\"\n",
            ),
            ("relation-get --format=json -r db:2 --app - db", "{}\n"),
            ("relation-ids --format=json peers", "[\"peers:0\"]\n"),
        ]);
    }
}

#[test]
fn private_address_is_gone_in_4_0() {
    let own = |juju| Bench::new(juju).run("relation-get --format=json -r peers:0 - keep/1");
    assert_eq!(
        own("3.6.9"),
        "{\"egress-subnets\":\"10.1.0.11/32\",\"ingress-address\":\"10.1.0.11\",\"private-address\":\"10.1.0.11\"}\n"
    );
    assert_eq!(own("4.0.1"), "{\"egress-subnets\":\"10.1.0.11/32\",\"ingress-address\":\"10.1.0.11\"}\n");
}

#[test]
fn relation_get_answers_null_and_empty_maps() {
    let mut bench = Bench::new("3.6.9");
    bench.set(1, Owner::Unit("k8s/0".into()), "config", "<a> & \"b\"");
    bench.check(&[
        ("relation-get --format=json -r 1 config k8s/0", "\"\\u003ca\\u003e \\u0026 \\\"b\\\"\"\n"),
        ("relation-get -r 1 config k8s/0", "<a> & \"b\"\n"),
        ("relation-get --format=json -r 1 nothing k8s/0", "null\n"),
        ("relation-get -r 1 nothing k8s/0", ""),
        ("relation-get --format=json -r 1 --app - k8s", "{}\n"),
        ("relation-get --format=json -r 1 --app - k8s/0", "{}\n"),
        ("relation-get -r 1 - k8s", "2 ERROR expected unit name, got application name \"k8s\"\n"),
        ("relation-get -r 1 - 7", "2 ERROR invalid unit name \"7\"\n"),
        ("relation-get -r 1", "2 ERROR no unit or application specified\n"),
    ]);
    bench.hook(HookKind::RelationChanged, 1, "cos-agent", "k8s", None);
    bench.check(&[("relation-get --format=json", "{}\n")]);
}

#[test]
fn other_databags_are_refused() {
    let mut bench = Bench::new("3.6.9");
    bench.check(&[
        (
            "relation-get -r 1 - k8s/1",
            "1 ERROR cannot read settings for unit \"k8s/1\" in relation \"keep:cos-agent k8s:cos-agent\": unit \"k8s/1\": settings not found\n",
        ),
        ("relation-get -r 1 - db/0", "1 ERROR permission denied\n"),
        ("relation-get -r 1 --app - db", "1 ERROR permission denied\n"),
    ]);
}

#[test]
fn a_follower_reads_its_application_only_among_peers() {
    let mut bench = Bench::new("3.6.9");
    bench.set(0, Owner::App("keep".into()), "target", "12");
    bench.check(&[
        ("relation-get --format=json -r 0 --app - keep", "{\"target\":\"12\"}\n"),
        ("relation-get --format=json -r 2 --app - keep", "{}\n"),
    ]);
    bench.world.move_lease("keep/1").unwrap();
    bench.fresh().check(&[
        ("relation-get --format=json -r 0 --app - keep", "{\"target\":\"12\"}\n"),
        ("relation-get --format=json -r 2 --app - keep", "1 ERROR permission denied\n"),
        ("relation-set -r 0 --app a=1", "1 ERROR cannot write relation settings\n"),
        ("relation-set -r 0 --app", "1 ERROR cannot write relation settings\n"),
        ("status-set --application active", "1 ERROR this unit is not the leader\n"),
        ("status-get --application", "1 ERROR finding application status: this unit is not the leader\n"),
        (
            "leader-set a=1",
            "1 ERROR cannot write leadership settings: cannot write settings: not the leader\n",
        ),
    ]);
}

#[test]
fn a_vanished_relation_is_refused_in_the_words_of_its_version() {
    for (juju, refused) in [("3.6.9", "permission denied"), ("4.0.1", "relation not found")] {
        let mut bench = Bench::new(juju);
        bench.world.remove_relation(2, true).unwrap();
        assert_eq!(bench.run("relation-get -r 2 - db/0"), format!("1 ERROR {refused}\n"));
        assert_eq!(
            bench.run("relation-set -r 2 a=1"),
            format!("1 ERROR cannot read relation settings: {refused}\n")
        );
        assert_eq!(
            bench.run("relation-set -r 2 --app a=1"),
            format!("1 ERROR cannot read relation application settings: {refused}\n")
        );
        assert_eq!(bench.run("network-get db -r 2"), "1 ERROR relation 2 not found\n");
        assert_eq!(bench.run("relation-ids --format=json db"), "[\"db:2\"]\n");
    }
}

#[test]
fn a_relation_that_vanishes_before_the_commit_fails_it() {
    let mut bench = Bench::new("3.6.9");
    bench.check(&[("relation-set -r 2 a=1", ""), ("relation-set -r 0 b=1", ""), ("state-set c=1", "")]);
    bench.world.remove_relation(2, true).unwrap();
    assert_eq!(bench.commit(), Err("permission denied".to_owned()));
    assert_eq!(bench.world.relations[&0].units["keep/0"].bag.values.get("b"), None);
    assert!(bench.world.units["keep/0"].state.is_empty());
}

#[test]
fn reading_the_own_bag_alone_touches_the_relation() {
    let mut bench = Bench::new("3.6.9");
    bench.run("relation-get -r 2 - keep/0");
    let version = bench.world.relations[&2].units["keep/0"].bag.version;
    assert_eq!(bench.commit(), Ok(()));
    assert_eq!(bench.world.relations[&2].units["keep/0"].bag.version, version);
    bench.world.remove_relation(2, true).unwrap();
    assert_eq!(bench.commit(), Err("permission denied".to_owned()));
}

#[test]
fn pending_writes_are_read_back_from_own_bags_only() {
    let mut bench = Bench::new("3.6.9");
    bench.set(0, Owner::Unit("keep/0".into()), "old", "x");
    bench.check(&[
        ("relation-set -r 0 old= new=y", ""),
        ("relation-get --format=json -r 0 old keep/0", "null\n"),
        ("relation-get --format=json -r 0 new keep/0", "\"y\"\n"),
        ("relation-set -r 0 --app t=1", ""),
        ("relation-get --format=json -r 0 --app - keep", "{\"t\":\"1\"}\n"),
        ("state-set s=1", ""),
        ("state-get --format=json", "{\"s\":\"1\"}\n"),
        ("open-port 80", ""),
        ("opened-ports --format=json", "[]\n"),
    ]);
    assert_eq!(bench.world.relations[&0].units["keep/0"].bag.values["old"], "x");
    bench.commit().unwrap();
    let bag = &bench.world.relations[&0].units["keep/0"].bag;
    assert_eq!((bag.values.get("old"), bag.values["new"].as_str(), bag.version), (None, "y", 2));
    assert_eq!(bench.world.units["keep/0"].ports.iter().collect::<Vec<_>>(), ["80/tcp"]);
    bench.fresh().check(&[("relation-set -r 0 new=y gone=", "")]);
    bench.commit().unwrap();
    assert_eq!(
        bench.world.relations[&0].units["keep/0"].bag.version, 2,
        "nothing changed, so no version either"
    );
}

#[test]
fn arguments_of_relation_set_are_trimmed_and_the_file_is_exact() {
    let mut bench = Bench::new("3.6.9");
    let file = |bench: &mut Bench, text: &str| {
        shown(&bench.answer(&["relation-set", "-r", "0", "--file", "-", "k=v"], Some(text)))
    };
    assert_eq!(shown(&bench.answer(&["relation-set", "-r", "0", " a = b c "], None)), "");
    assert_eq!(file(&mut bench, r#"{"x": " y ", "k": "file", "n": 1, "t": true, "z": null}"#), "");
    assert_eq!(
        bench
            .run("relation-get --format=json -r 0 - keep/0")
            .replace("\"egress-subnets\":\"10.1.0.10/32\",\"ingress-address\":\"10.1.0.10\",", "..."),
        "{\"a\":\"b c\",...\"k\":\"v\",\"n\":\"1\",\"private-address\":\"10.1.0.10\",\"t\":\"true\",\"x\":\" y \"}\n"
    );
    assert_eq!(
        file(&mut bench, r#"{"x": {"y": 1}}"#),
        "1 ERROR yaml: unmarshal errors:\n  line 1: cannot unmarshal !!map into string\n"
    );
    assert_eq!(
        file(&mut bench, "foo=bar"),
        "1 ERROR yaml: unmarshal errors:\n  line 1: cannot unmarshal !!str `foo=bar` into map[string]string\n"
    );
    assert_eq!(file(&mut bench, ""), "");
    assert_eq!(
        file(&mut bench, r#"{"x": "\ud83d\ude00"}"#),
        "1 ERROR yaml: found invalid Unicode character escape code\n"
    );
    assert_eq!(file(&mut bench, "{\"x\": \"\u{7f}\"}"), "1 ERROR yaml: control characters are not allowed\n");
    assert_eq!(bench.run("relation-set -r 0 a=1 a=2"), "2 ERROR key \"a\" specified more than once\n");
    assert_eq!(bench.run("relation-set -r 0 x"), "2 ERROR expected \"key=value\", got \"x\"\n");
}

#[test]
fn standard_input_is_asked_for_once_the_tool_wants_it() {
    let mut bench = Bench::new("3.6.9");
    assert!(bench.answer(&["relation-set", "-r", "0", "--file", "-"], None).wants_stdin);
    assert!(bench.answer(&["state-set", "--file", "-"], None).wants_stdin);
}

#[test]
fn leadership_that_is_lost_before_the_commit_fails_the_whole_hook() {
    for (juju, text) in [
        ("3.6.9", "checking leadership continuity: \"keep/0\" is not leader of \"keep\""),
        ("4.0.1", "updating unit and application settings for \"keep/0\": permission denied"),
    ] {
        let mut bench = Bench::new(juju);
        bench.check(&[
            ("relation-set -r 0 --app a=1", ""),
            ("relation-set -r 0 b=1", ""),
            ("state-set c=1", ""),
        ]);
        bench.world.move_lease("keep/1").unwrap();
        assert_eq!(bench.commit(), Err(text.to_owned()));
        assert!(!bench.world.relations[&0].units["keep/0"].bag.values.contains_key("b"));
        assert!(bench.world.units["keep/0"].state.is_empty());
    }
}

#[test]
fn leadership_is_promised_and_its_loss_sticks() {
    let mut bench = Bench::new("3.6.9");
    bench.check(&[("is-leader --format=json", "true\n"), ("is-leader", "True\n")]);
    let asked = bench.world.clock;
    assert_eq!(bench.world.move_lease("keep/1"), Ok(Some(asked.plus(30_000))), "the promise is kept first");
    bench.check(&[("is-leader --format=json", "false\n")]);
    bench.world.move_lease("keep/0").unwrap();
    bench.check(&[
        ("is-leader --format=json", "false\n"),
        ("relation-set -r 0 --app a=1", "1 ERROR cannot write relation settings\n"),
    ]);
    bench.fresh().check(&[("is-leader", "True\n")]);
}

#[test]
fn members_are_cached_until_their_own_hook() {
    let mut bench = Bench::new("3.6.9");
    bench.set(0, Owner::Unit("keep/1".into()), "a", "1");
    bench.check(&[("relation-get -r 0 a keep/1", "1\n")]);
    bench.set(0, Owner::Unit("keep/1".into()), "a", "2");
    bench.fresh().check(&[("relation-get -r 0 a keep/1", "1\n")]);
    bench.hook(HookKind::RelationChanged, 0, "peers", "keep", Some("keep/1"));
    bench.check(&[("relation-get a", "2\n")]);
}

#[test]
fn applications_are_read_once_a_hook() {
    let mut bench = Bench::new("3.6.9");
    bench.set(2, Owner::App("db".into()), "a", "1");
    bench.check(&[("relation-get -r 2 --app a db", "1\n")]);
    bench.set(2, Owner::App("db".into()), "a", "2");
    bench.check(&[("relation-get -r 2 --app a db", "1\n")]);
    bench.fresh().check(&[("relation-get -r 2 --app a db", "2\n")]);
}

#[test]
fn config_keeps_its_types() {
    let mut bench = Bench::new("3.6.9");
    bench.check(&[
        ("config-get --format=json", "{\"channel\":\"1.32/stable\",\"on\":true,\"part\":0.5,\"size\":45}\n"),
        (
            "config-get --format=json --all",
            "{\"channel\":\"1.32/stable\",\"note\":null,\"on\":true,\"part\":0.5,\"size\":45}\n",
        ),
        ("config-get --format=json note", "null\n"),
        ("config-get --format=json nothing", "null\n"),
        ("config-get --all size", "2 ERROR cannot use argument --all together with key \"size\"\n"),
        ("config-get size", "45\n"),
        ("config-get on", "True\n"),
    ]);
    bench
        .world
        .configure("keep", &BTreeMap::from([("note".to_owned(), "".into()), ("size".to_owned(), 3.into())]))
        .unwrap();
    bench.check(&[("config-get --format=json size", "45\n")]);
    bench
        .fresh()
        .check(&[("config-get --format=json size", "3\n"), ("config-get --format=json note", "\"\"\n")]);
}

#[test]
fn state_tells_nothing_from_an_empty_text() {
    let mut bench = Bench::new("3.6.9");
    bench.check(&[
        ("state-get --format=json", "null\n"),
        ("state-get", "{}\n"),
        ("state-get --format=json a", "\"\"\n"),
        ("state-get --strict a", "1 ERROR \"a\" not found\n"),
        ("state-set a= b=1", ""),
        ("state-get --format=json", "{\"a\":\"\",\"b\":\"1\"}\n"),
        ("state-get --strict --format=json a", "\"\"\n"),
        ("state-delete b", ""),
        ("state-delete never", ""),
    ]);
    bench.commit().unwrap();
    assert_eq!(bench.world.units["keep/0"].state, BTreeMap::from([("a".to_owned(), String::new())]));
    let long = |n: usize| "x".repeat(n);
    assert_eq!(
        bench.run(&format!("state-set {}=1", long(257))),
        "1 ERROR max allowed key length (256) exceeded\n"
    );
    assert_eq!(
        bench.run(&format!("state-set a={}", long(65537))),
        "1 ERROR max allowed value length (65536) exceeded\n"
    );
    for n in 0..33 {
        assert_eq!(bench.run(&format!("state-set k{n}={}", long(65536))), "");
    }
    assert_eq!(bench.commit(), Err("persisting charm state: max allowed size (2097152) exceeded".to_owned()));
}

#[test]
fn a_large_databag_is_refused_from_4_0_12_on() {
    for (juju, fits) in [("4.0.11", true), ("4.0.12", false)] {
        let mut bench = Bench::new(juju);
        let value = "x".repeat(600 << 10);
        bench.answer(&["relation-set", "-r", "0", &format!("a={value}")], None);
        assert_eq!(bench.commit().is_ok(), fits, "{juju}");
    }
}

#[test]
fn the_log_has_levels_and_a_relation_prefix() {
    let mut bench = Bench::new("3.6.9");
    bench.check(&[
        ("juju-log -l ERROR it broke", ""),
        ("juju-log --debug x", ""),
        ("juju-log -l LOUD x", ""),
        ("juju-log", "2 ERROR no message specified\n"),
        ("juju-log -- -x", ""),
    ]);
    bench.hook(HookKind::RelationChanged, 0, "peers", "keep", Some("keep/1"));
    bench.check(&[("juju-log hello", "")]);
    let lines: Vec<(Level, &str)> =
        bench.world.log.iter().map(|line| (line.level, line.text.as_str())).collect();
    assert_eq!(
        lines,
        [
            (Level::Error, "it broke"),
            (Level::Debug, "x"),
            (Level::Warning, "Specified log level of \"LOUD\" is not valid"),
            (Level::Info, "x"),
            (Level::Info, "-x"),
            (Level::Info, "peers:0: hello"),
        ]
    );
}

#[test]
fn statuses_are_set_at_once_and_read_once() {
    let mut bench = Bench::new("3.6.9");
    bench.check(&[
        ("status-get --format=json", "{\"status\":\"waiting\"}\n"),
        ("status-set active ready", ""),
        ("status-get", "waiting\n"),
        (
            "status-set foo",
            "2 ERROR invalid status \"foo\", expected one of [maintenance blocked waiting active]\n",
        ),
        (
            "status-set error",
            "2 ERROR invalid status \"error\", expected one of [maintenance blocked waiting active]\n",
        ),
        ("status-set", "2 ERROR invalid args, require <status> [message]\n"),
        ("status-set active a b", "2 ERROR unrecognized args: [\"b\"]\n"),
        ("status-set -- blocked -x", ""),
    ]);
    assert_eq!(bench.world.units["keep/0"].workload, StatusInfo::new("blocked", "-x", bench.world.clock));
    bench.fresh().check(&[
        (
            "status-get --include-data --format=json",
            "{\"message\":\"-x\",\"status\":\"blocked\",\"status-data\":{}}\n",
        ),
        ("status-set --application waiting", ""),
        ("status-get --application", "waiting\n"),
    ]);
    assert!(bench.run("status-get --application --include-data --format=json").starts_with(
        "{\"application-status\":{\"message\":\"\",\"status\":\"waiting\",\"status-data\":{},\"units\":{\"keep/0\":{\"message\":\"-x\""
    ));
    bench.check(&[
        ("application-version-set", "2 ERROR no version specified\n"),
        ("application-version-set -- 1.2", ""),
    ]);
    assert_eq!(bench.world.units["keep/0"].version.as_deref(), Some("1.2"));
}

#[test]
fn an_application_without_a_status_shows_its_worst_unit() {
    let mut bench = Bench::new("3.6.9");
    let now = bench.world.clock;
    for (unit, status) in [("keep/0", "active"), ("keep/1", "blocked")] {
        bench.world.units.get_mut(unit).unwrap().set_workload(status, "", now);
    }
    assert_eq!(bench.world.app_status("keep").status, "blocked");
}

#[test]
fn goal_state_hides_subordinates_from_a_subordinate() {
    let mut bench = Bench::new("3.6.9");
    bench.world.units.get_mut("k8s/1").unwrap().life = crate::world::Life::Dying;
    assert_eq!(
        bench.run("goal-state --format=json"),
        "{\"relations\":{\"cos-agent\":{\"k8s\":{\"since\":\"2025-11-05 12:00:00Z\",\"status\":\"joined\"},\"k8s/0\":{\"since\":\"2025-11-05 12:00:00Z\",\"status\":\"active\"},\"k8s/1\":{\"since\":\"2025-11-05 12:00:00Z\",\"status\":\"dying\"}},\"db\":{\"db\":{\"since\":\"2025-11-05 12:00:00Z\",\"status\":\"joined\"},\"db/0\":{\"since\":\"2025-11-05 12:00:00Z\",\"status\":\"active\"}}},\"units\":{}}\n"
    );
    bench.check(&[(
        "goal-state --format smart",
        "2 ERROR invalid value \"smart\" for option --format: unknown format \"smart\"\n",
    )]);
}

#[test]
fn networks_are_shown() {
    let mut bench = Bench::new("3.6.9");
    bench.check(&[
        ("network-get peers --ingress-address", "10.1.0.10\n"),
        ("network-get peers --egress-subnets --format=json", "[\"10.1.0.10/32\"]\n"),
        ("network-get nothing", "1 ERROR no network config found for binding \"nothing\"\n"),
        ("network-get", "2 ERROR no arguments specified\n"),
        ("unit-get private-address", "10.1.0.10\n"),
        ("unit-get color", "2 ERROR unknown setting \"color\"\n"),
    ]);
    assert!(bench.run("network-get peers --format=json").contains("\"ingress-addresses\":[\"10.1.0.10\"]"));
}

#[test]
fn action_tools_need_an_action() {
    let mut bench = Bench::new("3.6.9");
    bench.check(&[
        ("action-get", "1 ERROR not running an action\n"),
        ("action-set a=1", "1 ERROR not running an action\n"),
        ("action-fail", "1 ERROR not running an action\n"),
    ]);
    let params = BTreeMap::from([("a".to_owned(), serde_json::json!({"b": "c"}))]);
    let action = ActionRun {
        id: 4,
        unit: "keep/0".to_owned(),
        name: "show".to_owned(),
        params,
        status: String::new(),
        message: String::new(),
        results: serde_json::Value::Null,
        log: Vec::new(),
    };
    bench.world.actions.insert(4, action);
    bench.context = Context::new(&mut bench.world, "keep/0", Job::Action(4));
    bench.check(&[
        ("action-get --format=json", "{\"a\":{\"b\":\"c\"}}\n"),
        ("action-get --format=json a.b", "\"c\"\n"),
        ("action-get --format=json a.x", "null\n"),
        ("action-set x.y=1 x.z=2 w=3", ""),
        ("action-set A=1", "2 ERROR key \"A\" must start and end with lowercase alphanumeric, and contain only lowercase alphanumeric, hyphens and periods\n"),
        ("action-set stdout=1", "2 ERROR cannot set reserved action key \"stdout\"\n"),
        ("action-set x", "2 ERROR argument \"x\" must be of the form key...=value\n"),
        ("action-log half way", ""),
        ("action-fail", ""),
        ("juju-reboot", "1 ERROR juju-reboot is not supported when running an action.\n"),
    ]);
    assert_eq!(bench.context.results.to_string(), "{\"w\":\"3\",\"x\":{\"y\":\"1\",\"z\":\"2\"}}");
    assert_eq!(
        bench.context.failed.as_deref(),
        Some("action failed without reason given, check action for errors")
    );
    assert_eq!(bench.world.actions[&4].log, ["half way"]);
}

#[test]
fn tools_come_and_go_with_versions() {
    let has = |juju: &str, tool: &str| names(&Version::parse(juju).unwrap()).contains(&tool);
    for (tool, v31, v362, v40) in [
        ("relation-get", true, true, true),
        ("relation-model-get", false, true, true),
        ("leader-get", true, true, false),
        ("add-metric", true, true, false),
    ] {
        assert_eq!((has("3.1.10", tool), has("3.6.2", tool), has("4.0.1", tool)), (v31, v362, v40), "{tool}");
    }
    let mut bench = Bench::new("4.0.1");
    assert_eq!(bench.run("leader-get"), "1 ERROR bad request: unknown command: leader-get\n");
    assert_eq!(Bench::new("3.6.9").run("relation-model-get -r 1 --format=json"), "{\"uuid\":\"7d1f3c2a\"}\n");
}

#[test]
fn every_tool_of_every_version_is_known() {
    for juju in ["3.1.0", "3.6.9", "4.0.14"] {
        let mut bench = Bench::new(juju);
        for tool in names(&Version::parse(juju).unwrap()) {
            let call_ = Call { tool: tool.to_owned(), ..Call::default() };
            let answer = call(&mut bench.world, &mut bench.context, &call_);
            assert!(!String::from_utf8_lossy(&answer.stderr).contains("unknown command"), "{tool}");
        }
    }
}

#[test]
fn ports_of_another_unit_on_the_machine_are_refused_at_the_commit() {
    let mut bench = Bench::new("3.6.9");
    bench.world.units.get_mut("k8s/0").unwrap().ports.insert("80/tcp".to_owned());
    bench.check(&[("open-port 80/tcp", ""), ("open-port what", "2 ERROR invalid port or range \"what\", expected <port>[/<protocol>] or <from>-<to>[/<protocol>]\n")]);
    assert!(bench.commit().unwrap_err().contains("port range conflicts"));
}
