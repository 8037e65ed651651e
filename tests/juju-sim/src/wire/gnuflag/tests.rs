//! Rows were compared with juju/gnuflag 1.0.0.

use super::*;

fn spec() -> Spec<'static> {
    Spec::new()
        .checked(&["r", "relation"], |id| if id == "x" { Err("invalid relation id".into()) } else { Ok(()) })
        .flag(&["app"])
        .flag(&["a", "all"])
        .output()
}

fn show(argv: &[&str]) -> String {
    match spec().parse(argv) {
        Ok(parsed) => format!("{:?} {:?}", parsed.values, parsed.args),
        Err(Stop::Help) => "help".into(),
        Err(Stop::Usage(text)) => text,
    }
}

#[test]
fn options_and_arguments_mix() {
    for (argv, expected) in [
        (&["-r", "peers:3", "-", "lockstep/1"][..], r#"{"r": "peers:3"} ["-", "lockstep/1"]"#),
        (&["-", "--relation=3", "--app"], r#"{"app": "true", "r": "3"} ["-"]"#),
        (&["--relation", "3", "key", "--format", "json"], r#"{"format": "json", "r": "3"} ["key"]"#),
        (&["-r3"], r#"{"r": "3"} []"#),
        (&["-r=3"], r#"{"r": "=3"} []"#),
        (&["--r", "3"], r#"{"r": "3"} []"#),
        (&["-ar3", "-r", "4"], r#"{"a": "true", "r": "4"} []"#),
        (&["-an"], r#"{"a": "true"} []"#),
        (&["--relation="], r#"{"r": ""} []"#),
        (&["-r", "--app"], r#"{"r": "--app"} []"#),
        (&["--app=false", "--all=T"], r#"{"a": "true", "app": "false"} []"#),
        (&["--", "blocked", "-x", "--app"], r#"{} ["blocked", "-x", "--app"]"#),
        (&["", "a=-b"], r#"{} ["", "a=-b"]"#),
        (&["-o", "f", "--output", "g"], r#"{"o": "g"} []"#),
        (&["-h"], "help"),
        (&["x", "--help", "--nope"], "help"),
    ] {
        assert_eq!(show(argv), expected, "{argv:?}");
    }
}

#[test]
fn errors_have_the_literal_texts() {
    for (argv, expected) in [
        (&["--nope"][..], "option provided but not defined: --nope"),
        (&["-n"], "option provided but not defined: -n"),
        (&["-an", "x"], "option provided but not defined: -n"),
        (&["--n"], "option provided but not defined: -n"),
        (&["---n"], "option provided but not defined: ---n"),
        (&["-r"], "option needs an argument: -r"),
        (&["--relation"], "option needs an argument: --relation"),
        (&["--format", "bad"], r#"invalid value "bad" for option --format: unknown format "bad""#),
        (&["-r", "x"], r#"invalid value "x" for option -r: invalid relation id"#),
        (&["--relation=x"], r#"invalid value "x" for option --relation: invalid relation id"#),
        (
            &["--app=2"],
            r#"invalid value "2" for option --app: strconv.ParseBool: parsing "2": invalid syntax"#,
        ),
        (&["-a=1"], r#"invalid value "=1" for option -a: strconv.ParseBool: parsing "=1": invalid syntax"#),
        (&["--=3"], r#"empty option in argument "--=3""#),
    ] {
        assert_eq!(show(argv), expected, "{argv:?}");
    }
}

#[test]
fn surplus_arguments_are_named() {
    let parsed = spec().parse(&["key", "x", "y"]).unwrap();
    assert_eq!(parsed.at_most(3), Ok(()));
    assert_eq!(parsed.at_most(9), Ok(()));
    assert_eq!(parsed.at_most(2), Err(Stop::Usage(r#"unrecognized args: ["y"]"#.into())));
    assert_eq!(parsed.at_most(1), Err(Stop::Usage(r#"unrecognized args: ["x" "y"]"#.into())));
}

#[test]
fn results_are_found_by_any_name() {
    let parsed = spec().parse(&["-r", "3", "--all", "--format=yaml"]).unwrap();
    assert_eq!((parsed.value("relation"), parsed.value("r")), (Some("3"), Some("3")));
    assert!(parsed.is_set("a") && parsed.is_set("all") && !parsed.is_set("app"));
    assert_eq!(parsed.format(Format::Smart), Format::Yaml);
    assert_eq!(parsed.value("nope"), None);
}
