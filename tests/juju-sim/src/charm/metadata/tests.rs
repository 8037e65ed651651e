//! Rows were compared with juju/charm v12.

use super::*;

const HEAD: &str = "name: lockstep\nsummary: s\ndescription: d\n";

fn parse(more: &str) -> Result<Metadata, String> {
    Metadata::parse(&format!("{HEAD}{more}"))
}

fn bases() -> Manifest {
    Manifest::parse("bases: [{name: ubuntu, channel: '24.04'}]").unwrap()
}

#[test]
fn endpoints_are_strings_or_maps() {
    let metadata = parse(
        "subordinate: true\nfuture-key: 1\nprovides: {g: grafana_dashboard}\nrequires:\n  cos-agent:\n    interface: cos_agent\n\
         \x20   scope: container\n    limit: 2\n    optional: true\n  juju-info: {interface: juju-info, scope: container}\n\
         peers:\n  peers: {interface: lockstep_peers, limit: }\nassumes: [juju >= 3.1]\n",
    )
    .unwrap();
    let names: Vec<_> =
        metadata.endpoints.iter().map(|endpoint| (endpoint.name.as_str(), endpoint.role)).collect();
    assert_eq!(
        names,
        [
            ("g", Role::Provides),
            ("cos-agent", Role::Requires),
            ("juju-info", Role::Requires),
            ("peers", Role::Peers)
        ]
    );
    let expected = Endpoint {
        name: "cos-agent".into(),
        role: Role::Requires,
        interface: "cos_agent".into(),
        scope: Scope::Container,
        limit: Some(2),
        optional: true,
    };
    assert_eq!(metadata.endpoint("cos-agent"), Some(&expected));
    assert_eq!(metadata.endpoint("peers").unwrap().scope, Scope::Global);
    assert_eq!(metadata.check(Some(&bases())), Ok(()));
    assert_eq!(metadata.check(None), Err("assumes in metadata v1 not valid".into()));
    assert_eq!(metadata.check(Some(&Manifest::default())), Err("assumes in metadata v1 not valid".into()));
}

#[test]
fn wrong_values_are_refused() {
    for (text, expected) in [
        ("{}", "metadata: name: expected string, got nothing"),
        (
            "- a",
            "yaml: unmarshal errors:\n  line 1: cannot unmarshal !!seq into map[interface {}]interface {}",
        ),
        ("name: a", "metadata: summary: expected string, got nothing"),
        ("name: a\nsummary: s", "metadata: description: expected string, got nothing"),
        ("name: a\nsummary: no\ndescription: d", "metadata: summary: expected string, got bool(false)"),
        ("name: 1\nsummary: s\ndescription: d", "metadata: name: expected string, got int(1)"),
        (
            "x",
            "yaml: unmarshal errors:\n  line 1: cannot unmarshal !!str `x` into map[interface {}]interface {}",
        ),
    ] {
        assert_eq!(Metadata::parse(text).unwrap_err(), expected);
    }
    for (more, expected) in [
        ("subordinate: maybe", "metadata: subordinate: expected bool, got string(\"maybe\")"),
        ("requires: {a: {scope: container}}", "metadata: requires.a.interface: expected string, got nothing"),
        (
            "requires: {a: {interface: i, scope: unit}}",
            "metadata: requires.a.scope: unexpected value \"unit\"",
        ),
        ("requires: {a: {interface: i, limit: x}}", "metadata: requires.a.limit: unexpected value \"x\""),
        (
            "requires: {a: {interface: i, optional: x}}",
            "metadata: requires.a.optional: expected bool, got string(\"x\")",
        ),
        ("peers: []", "metadata: peers: expected map, got []interface {}([]interface {}{})"),
        ("deployment: {}", "charm with deployment metadata must declare at least one series"),
        ("categories: x", "metadata: categories: expected list, got string(\"x\")"),
        ("tags: [1]", "metadata: tags[0]: expected string, got int(1)"),
        (
            "charm-user: me",
            "parsing charm-user: invalid charm-user \"me\" expected one of root, sudoer or non-root",
        ),
        (
            "assumes: [x y]",
            "parsing expression 1 in top level \"assumes\" block: malformed feature expression \"x y\"",
        ),
        (
            "series: [jammy]\nassumes: [juju]",
            "ambiguous metadata: keys \"series\" cannot be used with \"assumes\"",
        ),
        (
            "containers: {}\nmin-juju-version: 3.1.0\nseries: []",
            "ambiguous metadata: keys \"min-juju-version\", \"series\" cannot be used with \"containers\"",
        ),
        (
            "deployment: {}\ncontainers: {}",
            "ambiguous metadata: keys \"deployment\" cannot be used with \"containers\"",
        ),
    ] {
        assert_eq!(parse(more).unwrap_err(), expected, "{more}");
    }
}

#[test]
fn the_whole_is_checked() {
    for (more, expected) in [
        ("requires: {a: i}\nprovides: {a: i}", "charm \"lockstep\" using a duplicated relation name: \"a\""),
        ("provides: {juju: i}", "charm \"lockstep\" using a reserved relation name: \"juju\""),
        ("requires: {juju-x: i}", "charm \"lockstep\" using a reserved relation name: \"juju-x\""),
        (
            "provides: {a: juju-info}",
            "charm \"lockstep\" relation \"a\" using a reserved interface: \"juju-info\"",
        ),
        ("peers: {a: juju}", "charm \"lockstep\" relation \"a\" using a reserved interface: \"juju\""),
        (
            "subordinate: true",
            "subordinate charm \"lockstep\" lacks \"requires\" relation with container scope",
        ),
        (
            "subordinate: true\nprovides: {a: {interface: i, scope: container}}\nrequires: {b: i}",
            "subordinate charm \"lockstep\" lacks \"requires\" relation with container scope",
        ),
        ("series: [jammy]", "metadata v2 manifest.yaml with series slice not valid"),
        ("min-juju-version: 3.1.0", "min-juju-version in metadata v2 not valid"),
    ] {
        assert_eq!(parse(more).unwrap().check(Some(&bases())).unwrap_err(), expected, "{more}");
    }
    for (more, name) in [("requires: {a: juju-info}", "lockstep"), ("provides: {juju-x: juju-y}", "juju-qa")]
    {
        let metadata = parse(more).unwrap();
        assert_eq!(Metadata { name: name.into(), ..metadata }.check(Some(&bases())), Ok(()));
    }
}

#[test]
fn names_follow_the_rule() {
    for (name, fits) in [
        ("lockstep", true),
        ("k8s", true),
        ("a-b2", true),
        ("a-2b", true),
        ("a", true),
        ("a-2", false),
        ("2a", false),
        ("A", false),
        ("a--b", false),
        ("-a", false),
        ("a-", false),
        ("", false),
        ("a_b", false),
    ] {
        assert_eq!(is_charm_name(name), fits, "{name}");
    }
    assert_eq!(Metadata::parse("").unwrap().check(Some(&bases())).unwrap_err(), "name \"\" not valid");
    let bad = Metadata { name: "a-2".into(), ..parse("").unwrap() };
    assert_eq!(bad.check(Some(&bases())).unwrap_err(), "name \"a-2\" not valid");
}
