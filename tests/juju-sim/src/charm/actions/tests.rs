//! Rows were compared with juju/charm v12 and its gojsonschema.

use super::*;

const TEXT: &str = "\
snap-shot:
  description: Take one.
  params:
    outfile: {type: string, default: out, description: Where}
    level: {type: integer, minimum: 1, maximum: 9}
    ratio: {type: number}
    force: {type: boolean}
    names: {type: array, items: {type: string}}
    how: {type: object, properties: {fast: {type: boolean, default: true}}}
    mode: {type: string, enum: [a, b]}
  required: [level]
bare:
strict:
  additionalProperties: false
  parallel: true
  execution-group: g
";

fn action(name: &str) -> Action {
    Actions::parse("lockstep", TEXT).unwrap().actions[name].clone()
}

fn validate(name: &str, params: Value, undeclared: Undeclared) -> String {
    let params = params.as_object().unwrap().clone();
    action(name).validate(&params, undeclared).err().unwrap_or_default()
}

#[test]
fn actions_have_params() {
    let snapshot = action("snap-shot");
    assert_eq!(snapshot.description, "Take one.");
    assert_eq!(snapshot.required(), ["level"]);
    let (name, outfile) = snapshot.params().find(|(name, _)| *name == "outfile").unwrap();
    assert_eq!((name, &outfile["default"]), ("outfile", &json!("out")));
    assert_eq!((action("bare").description.as_str(), action("bare").params().count()), ("No description", 0));
    let strict = action("strict");
    assert_eq!(strict.additional_properties(), Some(false));
    assert!(strict.parallel && strict.execution_group == "g" && !strict.schema.contains_key("parallel"));
}

#[test]
fn params_are_checked_by_type() {
    let one = |fault: &str| format!("validation failed: {fault}");
    for (params, expected) in [
        (
            json!({"level": 3, "outfile": "x", "ratio": 1, "force": true, "names": ["a"], "mode": "a"}),
            String::new(),
        ),
        (json!({"level": 3.0, "ratio": 0.5, "how": {"fast": false}}), String::new()),
        (json!({}), one("(root) : \"level\" property is missing and required, given {}")),
        (json!({"level": "3"}), one("(root).level : must be of type integer, given \"3\"")),
        (json!({"level": 1.5}), one("(root).level : must be of type integer, given 1.5")),
        (json!({"level": 0}), one("(root).level : must be greater than 1, given \"0\"")),
        (json!({"level": 10}), one("(root).level : must be lower than 9, given \"10\"")),
        (json!({"level": 1, "outfile": 5}), one("(root).outfile : must be of type string, given 5")),
        (json!({"level": 1, "force": "true"}), one("(root).force : must be of type boolean, given \"true\"")),
        (json!({"level": 1, "names": "a"}), one("(root).names : must be of type array, given \"a\"")),
        (json!({"level": 1, "names": [1]}), one("(root).names.0 : must be of type string, given 1")),
        (json!({"level": 1, "how": {"fast": 1}}), one("(root).how.fast : must be of type boolean, given 1")),
        (
            json!({"level": 1, "mode": "c"}),
            one("(root).mode : must match one of the enum values [\"a\",\"b\"], given \"c\""),
        ),
        (json!({"level": null}), one("(root).level : must be of type integer, given null")),
    ] {
        assert_eq!(validate("snap-shot", params.clone(), Undeclared::Accepted), expected, "{params}");
    }
}

#[test]
fn undeclared_params_depend_on_the_version_and_the_file() {
    let refused = "validation failed: (root) : additional property \"x\" is not allowed, given {\"x\":1}";
    assert_eq!(validate("bare", json!({"x": 1}), Undeclared::Accepted), "");
    assert_eq!(validate("bare", json!({"x": 1}), Undeclared::Rejected), refused);
    assert_eq!(validate("strict", json!({"x": 1}), Undeclared::Accepted), refused);
    let open = Actions::parse("c", "a: {additionalProperties: true}").unwrap().actions["a"].clone();
    assert_eq!(open.validate(json!({"x": 1}).as_object().unwrap(), Undeclared::Rejected), Ok(()));
}

#[test]
fn defaults_fill_what_is_missing() {
    let filled =
        |params: Value| Value::Object(action("snap-shot").with_defaults(params.as_object().unwrap()));
    assert_eq!(filled(json!({})), json!({"outfile": "out", "how": {"fast": true}}));
    assert_eq!(filled(json!({"outfile": "", "how": {}})), json!({"outfile": "", "how": {"fast": true}}));
}

#[test]
fn bad_files_are_refused() {
    for (text, expected) in [
        ("Bad: {}", "bad action name Bad"),
        ("a-: {}", "bad action name a-"),
        ("juju: {}", "cannot use action name juju: \"juju\" is a reserved name"),
        ("juju-x: {}", "cannot use action name juju-x: the \"juju-\" prefix is reserved"),
        ("a: {description: 1}", "value for schema key \"description\" must be a string"),
        ("a: {title: []}", "value for schema key \"title\" must be a string"),
        ("a: {required: x}", "value for schema key \"required\" must be a YAML list"),
        ("a: {parallel: 'yes'}", "value for schema key \"parallel\" must be a bool"),
        ("a: {execution-group: 1}", "value for schema key \"execution-group\" must be a string"),
        ("a: {params: x}", "params failed to parse as a map"),
        ("a: {params: {x: {$ref: y}}}", "schema key \"$ref\" not compatible with this version of juju"),
        ("a: {x: {$schema: y}}", "schema key \"$schema\" not compatible with this version of juju"),
        ("a: {params: {yes: {}}}", "map keyed with non-string value"),
        (
            "a: x",
            "yaml: unmarshal errors:\n  line 1: cannot unmarshal !!str `x` into map[string]interface {}",
        ),
        (
            "a: {params: {x: {pattern: y}}}",
            "invalid params schema for action schema a: juju-sim: schema keyword not supported: pattern",
        ),
    ] {
        assert_eq!(Actions::parse("lockstep", text).unwrap_err(), expected, "{text}");
    }
    assert!(Actions::parse("juju-qa", "juju-x: {}").is_ok());
    assert_eq!(Actions::parse("lockstep", "").unwrap(), Actions::default());
}
