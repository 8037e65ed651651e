//! Rows were compared with juju/cmd 3.0.2 and yaml.v2 2.4.0.

use serde_json::json;

use super::*;

fn all(output: &Output) -> [String; 3] {
    [Format::Json, Format::Smart, Format::Yaml].map(|format| render(output, format))
}

#[test]
fn each_shape_has_its_form_in_each_format() {
    for (value, json, smart, yaml) in [
        (json!(null), "null\n", "", ""),
        (json!(""), "\"\"\n", "", "\"\"\n"),
        (json!([]), "[]\n", "", "[]\n"),
        (json!(["a/0", "a/1"]), "[\"a/0\",\"a/1\"]\n", "a/0\na/1\n", "- a/0\n- a/1\n"),
        (json!({}), "{}\n", "{}\n", "{}\n"),
        (json!(true), "true\n", "True\n", "true\n"),
        (json!(false), "false\n", "False\n", "false\n"),
        (json!("active"), "\"active\"\n", "active\n", "active\n"),
        (json!(45), "45\n", "45\n", "45\n"),
        (json!(45.0), "45\n", "45\n", "45\n"),
        (json!(0.5), "0.5\n", "0.5\n", "0.5\n"),
        (
            json!({"b": null, "a": true}),
            "{\"a\":true,\"b\":null}\n",
            "a: true\nb: null\n",
            "a: true\nb: null\n",
        ),
    ] {
        assert_eq!(all(&value.clone().into()), [json, smart, yaml], "{value}");
    }
    assert_eq!(all(&Output::NilMap), ["null\n", "{}\n", "{}\n"]);
}

#[test]
fn json_escapes_html_and_control_characters() {
    let value = json!({"b<": "a&b>\u{2028}\u{2029}\u{1}\u{7f}\u{8}\u{c}\n\"\\é🙂", "a": [1, -2, 1e21]});
    assert_eq!(
        render(&value.into(), Format::Json),
        "{\"a\":[1,-2,1e+21],\"b\\u003c\":\"a\\u0026b\\u003e\\u2028\\u2029\\u0001\u{7f}\\b\\f\\n\\\"\\\\é🙂\"}\n"
    );
}

#[test]
fn yaml_quotes_what_would_read_as_something_else() {
    for (text, expected) in [
        ("x", "x"),
        ("a b", "a b"),
        ("10.0.0.7/32", "10.0.0.7/32"),
        ("yes", "\"yes\""),
        ("1", "\"1\""),
        ("1.5", "\"1.5\""),
        ("0x10", "\"0x10\""),
        ("2025-11-05", "\"2025-11-05\""),
        ("2025-11-05 15:29:12Z", "2025-11-05 15:29:12Z"),
        ("2025-11-05T15:29:12Z", "\"2025-11-05T15:29:12Z\""),
        ("~", "\"~\""),
        ("null", "\"null\""),
        ("12:30", "\"12:30\""),
        ("-x", "-x"),
        ("- x", "'- x'"),
        ("a: b", "'a: b'"),
        ("a #b", "'a #b'"),
        ("it's", "it's"),
        ("'x", "'''x'"),
        ("{x", "'{x'"),
        (" x", "' x'"),
        ("a\tb", "\"a\\tb\""),
        ("🙂", "\"\\U0001F642\""),
        ("é", "é"),
        ("a\nb", "|-\n  a\n  b"),
        ("a\n", "|\n  a"),
        (" a\n", "|2\n   a"),
        ("a \nb", "\"a \\nb\""),
    ] {
        assert_eq!(
            render(&json!({ "k": text }).into(), Format::Yaml),
            format!("k: {expected}\n"),
            "{text:?}"
        );
    }
}

#[test]
fn yaml_nests_and_sorts_naturally() {
    let value = json!({
        "x10": {"a": ["p", ["q", "r"], {"s": 1, "t": []}]},
        "x9": [], "X": {}, "-": [[]], "yes": "no", "": "",
    });
    assert_eq!(
        render(&value.into(), Format::Smart),
        "\"\": \"\"\n'-':\n- []\nX: {}\nx9: []\nx10:\n  a:\n  - p\n  - - q\n    - r\n  - s: 1\n    t: []\n\"yes\": \"no\"\n"
    );
}
